//! What an upgrade of Puppet changes: the answers of each key for all nodes in two versions, and for
//! each difference the change of Puppet that causes it.
//!
//! The upgrade is taken in steps, one for each thing that changes. A difference is caused by the first
//! step after which a node of it has another answer. So nothing is guessed from the text of a value.
//!
//! Costs the rows of all keys twice, and for each difference at most a lookup for each step and for
//! each legacy fact that the workspace names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::compare::{Difference, changes, differ};
use super::matrix::{Cell, SourceLine, answer_in, row_of_any};
use crate::analysis::{Analysis, RootView, with_manifest_variables};
use crate::interpolation::{Method, TokenKind, tokens};
use crate::lookup::{
    Alternatives, Cause, ConfigCache, LookupError, PuppetVersion, Request, Settings,
};
use crate::rules::Checker;
use crate::scope::{CoreFact, KnownNodes, Scope, core_fact, top_name};
use crate::value::{Missing, Opaque, Value};
use crate::workspace::{Root, Snapshot};

/// A change of Puppet that gives nodes other answers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum UpgradeCause {
    /// A variable does not exist, which is an error now: its name.
    UndefinedVariable(Arc<str>),
    /// Manifests fail now: Puppet's message.
    Manifests(Arc<str>),
    /// Another check is stricter now: Puppet's message.
    Strict(Arc<str>),
    /// Agents do not send a legacy fact any longer: its name; `None` if only several together matter.
    LegacyFact(Option<Arc<str>>),
    /// `environment_data_provider` of `environment.conf` is ignored.
    DataProvider,
    /// Hashes have another text in strings.
    HashText,
    /// The version behaves otherwise.
    Version,
}

impl UpgradeCause {
    /// The first version with the change.
    #[must_use]
    pub fn since(&self) -> PuppetVersion {
        match self {
            UpgradeCause::DataProvider | UpgradeCause::HashText => PuppetVersion::V9,
            UpgradeCause::UndefinedVariable(_)
            | UpgradeCause::Manifests(_)
            | UpgradeCause::Strict(_)
            | UpgradeCause::LegacyFact(_)
            | UpgradeCause::Version => PuppetVersion::V8,
        }
    }
}

/// What happens to a lookup.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum UpgradeEffect {
    /// It fails, and did not.
    Fails,
    /// It has no value any longer.
    Lost,
    /// It has another value, or one where it had none.
    Changes,
    /// It does not fail any longer.
    Works,
    /// Its value is unknown now.
    Unknown,
}

/// A key with other answers for some nodes, and why.
#[derive(Debug)]
pub struct UpgradeChange {
    /// The answers, each for the same nodes.
    pub difference: Difference,
    /// What happens.
    pub effect: UpgradeEffect,
    /// Why.
    pub cause: UpgradeCause,
}

/// The places that name a legacy fact, by its name.
pub type LegacyFacts = BTreeMap<Arc<str>, BTreeSet<SourceLine>>;

/// A step of the upgrade: Puppet as it is behind it.
struct UpgradeStep {
    /// What changes with it.
    kind: StepKind,
    settings: Settings,
    configs: ConfigCache,
    nodes: KnownNodes,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StepKind {
    Start,
    LegacyFacts,
    Version,
    Ruby,
}

/// An upgrade of a workspace's nodes from one version to another.
pub struct Upgrade<'a> {
    snapshot: &'a Snapshot,
    root: &'a Root,
    environment: &'a str,
    /// The nodes without what manifests set.
    nodes: &'a KnownNodes,
    /// The first is the old version, the last one the new.
    steps: Vec<UpgradeStep>,
    /// The legacy facts that the workspace names, if the upgrade drops them.
    pub legacy_facts: LegacyFacts,
}

impl<'a> Upgrade<'a> {
    /// An upgrade of some nodes, given without what manifests set. `settings` gives Puppet's settings
    /// in a version.
    #[must_use]
    pub fn new(
        (snapshot, root, environment): (&'a Snapshot, &'a Root, &'a str),
        nodes: &'a KnownNodes,
        settings: impl Fn(PuppetVersion) -> Settings,
        (from, to): (PuppetVersion, PuppetVersion),
    ) -> Upgrade<'a> {
        let drops_facts = from < PuppetVersion::V8 && to >= PuppetVersion::V8;
        let mut steps = vec![(StepKind::Start, settings(from))];
        if drops_facts {
            steps.push((StepKind::LegacyFacts, settings(from)));
        }
        for version in PuppetVersion::ALL {
            if version <= from || version > to {
                continue;
            }
            let new = settings(version);
            let ruby = steps.last().map(|(_, before)| before.ruby);
            if let Some(ruby) = ruby.filter(|ruby| *ruby != new.ruby) {
                let same_texts = Settings {
                    ruby,
                    ..new.clone()
                };
                steps.push((StepKind::Version, same_texts));
                steps.push((StepKind::Ruby, new));
            } else {
                steps.push((StepKind::Version, new));
            }
        }
        let mut has_facts = true;
        let steps = steps.into_iter().map(|(kind, settings)| {
            has_facts &= kind != StepKind::LegacyFacts;
            let own = (!has_facts).then(|| nodes.without_legacy_facts(&|_| true));
            let own = own.as_ref().unwrap_or(nodes);
            let with_manifests = with_manifest_variables(own, snapshot, root, &settings);
            UpgradeStep {
                kind,
                nodes: with_manifests.unwrap_or_else(|| own.as_given()),
                configs: ConfigCache::default(),
                settings,
            }
        });
        let mut upgrade = Upgrade {
            snapshot,
            root,
            environment,
            nodes,
            steps: steps.collect(),
            legacy_facts: LegacyFacts::new(),
        };
        if drops_facts {
            upgrade.legacy_facts = legacy_facts(snapshot, &upgrade.steps[0].settings);
        }
        upgrade
    }

    /// The root in the old version.
    #[must_use]
    pub fn before(&self) -> RootView<'_> {
        self.view(&self.steps[0])
    }

    /// The root in the new version.
    #[must_use]
    pub fn after(&self) -> RootView<'_> {
        self.view(&self.steps[self.steps.len() - 1])
    }

    fn view<'s>(&'s self, step: &'s UpgradeStep) -> RootView<'s> {
        let UpgradeStep {
            settings,
            configs,
            nodes,
            ..
        } = step;
        let analysis = Analysis::new(self.snapshot, settings, configs, nodes);
        analysis.with_environment(self.environment).at(self.root)
    }

    /// The changes of a key, those for most nodes first; and whether there may be more: a value has a
    /// variable in it that may or may not exist.
    #[must_use]
    pub fn changes(&self, key: &str) -> (Vec<UpgradeChange>, bool) {
        let [old, new] = [self.before(), self.after()].map(|view| row_of_any(&view, key));
        let differences = if self.nodes.is_empty() {
            let answers = new.answers.iter();
            let pairs = answers.filter_map(|after| {
                let mut before = old.answers.iter();
                let before = before.find(|before| before.condition == after.condition)?;
                Difference::between(&new.key, before.clone(), after.clone())
            });
            pairs.collect()
        } else {
            changes(&old, &new)
        };
        let differences = differences.into_iter();
        let changes = differences.filter_map(|it| self.change(it)).collect();
        (changes, old.answers.iter().any(has_unknown_variable))
    }

    fn change(&self, difference: Difference) -> Option<UpgradeChange> {
        let mut effect = effect(&difference.before, &difference.after)?;
        let name = difference.after.nodes.first();
        let member = name.and_then(|name| self.nodes.find(name));
        let assigned = |member: usize| self.steps.last()?.nodes.assigned(member);
        let assigned = member.and_then(assigned);
        // Without a catalog no lookup of the node has a value.
        if effect == UpgradeEffect::Unknown && assigned.is_some_and(|it| it.failure.is_some()) {
            effect = UpgradeEffect::Fails;
        }
        Some(UpgradeChange {
            effect,
            cause: self.cause(&difference, member),
            difference,
        })
    }

    fn cause(&self, difference: &Difference, member: Option<usize>) -> UpgradeCause {
        let condition = &difference.after.condition;
        let answer = |step: &UpgradeStep| {
            let view = self.view(step);
            let scope = match member {
                Some(member) => step.nodes.scope(member),
                None => scope_of(condition),
            };
            answer_of(&view, &difference.key, &scope)
        };
        let mut before = answer(&self.steps[0]);
        for step in &self.steps[1..] {
            let after = answer(step);
            if differ(&before, &after) && effect(&before, &after).is_some() {
                return match step.kind {
                    StepKind::Start | StepKind::Version => self.cause_of_version(step, &after),
                    StepKind::LegacyFacts => {
                        let of = |member| self.legacy_fact(&difference.key, &before, member);
                        UpgradeCause::LegacyFact(member.and_then(of))
                    }
                    StepKind::Ruby => UpgradeCause::HashText,
                };
            }
            before = after;
        }
        UpgradeCause::Version
    }

    fn cause_of_version(&self, step: &UpgradeStep, after: &Cell) -> UpgradeCause {
        if let Some(unknown) = &after.unknown {
            return UpgradeCause::Manifests(Arc::from(unknown.as_str()));
        }
        let has_provider = self.view(step).environment.data_provider.is_some();
        match &after.result {
            Err(error) if !error.is_not_found() => match undefined_variable(error) {
                Some(name) => UpgradeCause::UndefinedVariable(Arc::from(name)),
                None => UpgradeCause::Strict(Arc::from(error.words())),
            },
            Err(_) | Ok(_) if has_provider && step.settings.puppet_version == PuppetVersion::V9 => {
                UpgradeCause::DataProvider
            }
            Err(_) | Ok(_) => UpgradeCause::Version,
        }
    }

    /// The only legacy fact that a node needs to lose for another answer.
    fn legacy_fact(&self, key: &str, before: &Cell, member: usize) -> Option<Arc<str>> {
        let step = &self.steps[0];
        let mut names = self.legacy_facts.keys();
        let decides = |name: &&Arc<str>| {
            let only = self.nodes.only(member);
            let lacking = only.without_legacy_facts(&|other| *other == ***name);
            let settings = &step.settings;
            let nodes = with_manifest_variables(&lacking, self.snapshot, self.root, settings);
            let nodes = nodes.unwrap_or(lacking);
            let view = self.view(step);
            let analysis = Analysis {
                nodes: &nodes,
                ..view.analysis
            };
            let view = analysis.with_environment(self.environment).at(self.root);
            differ(before, &answer_of(&view, key, &nodes.scope(0)))
        };
        names.find(decides).cloned()
    }

    /// The legacy facts that the workspace names and of which it is not known whether a node has them.
    #[must_use]
    pub fn untold_facts(&self) -> Vec<&Arc<str>> {
        let names = self.legacy_facts.keys();
        let is_unknown =
            |name: &&Arc<str>| self.nodes.is_empty() || self.nodes.column(name).unknown.is_some();
        names.filter(is_unknown).collect()
    }
}

/// Whether a variable in a value may or may not exist.
fn has_unknown_variable(cell: &Cell) -> bool {
    let is_unknown = |part: &Value| {
        let Value::Opaque(opaque) = part else {
            return false;
        };
        matches!(
            &**opaque,
            Opaque::Unknown {
                because: Missing::Variable(_),
                ..
            }
        )
    };
    cell.result
        .as_ref()
        .is_ok_and(|value| value.any(&is_unknown))
}

fn answer_of(view: &RootView<'_>, key: &str, scope: &Scope) -> Cell {
    let request = Request::key(key).with_sources();
    answer_in(view, &request, scope, &Alternatives::None)
}

/// The scope of the first alternative of a condition.
fn scope_of(condition: &Alternatives) -> Scope {
    let mut scope = Scope::open();
    if let Alternatives::AnyOf(all) = condition
        && let Some(bindings) = all.first()
    {
        for (path, value) in bindings {
            scope.bind(path, value);
        }
    }
    scope
}

/// What an answer becomes; `None` if it was unknown, or if only the words of an error are others.
fn effect(before: &Cell, after: &Cell) -> Option<UpgradeEffect> {
    let is_failure = |cell: &Cell| {
        let error = cell.result.as_ref().err();
        error.is_some_and(|error| !error.is_not_found())
    };
    if before.unknown.is_some() {
        return None;
    }
    if after.unknown.is_some() {
        return Some(UpgradeEffect::Unknown);
    }
    match (is_failure(before), is_failure(after)) {
        (true, true) => None,
        (false, true) => Some(UpgradeEffect::Fails),
        (true, false) => Some(UpgradeEffect::Works),
        (false, false) if before.result.is_ok() && after.result.is_err() => {
            Some(UpgradeEffect::Lost)
        }
        (false, false) => Some(UpgradeEffect::Changes),
    }
}

/// The variable that does not exist, if that is the error.
fn undefined_variable(error: &LookupError) -> Option<&str> {
    if let Cause::UndefinedVariable { name, .. } = &error.cause {
        return Some(name);
    }
    let (Cause::Raised(inner) | Cause::OfKey { error: inner, .. }) = &error.cause else {
        return None;
    };
    undefined_variable(inner)
}

/// The places in data and hierarchies that name legacy facts.
fn legacy_facts(snapshot: &Snapshot, settings: &Settings) -> LegacyFacts {
    let checker = Checker::with_settings(snapshot, settings.clone().for_editor());
    let checker = checker
        .with_rules(|rule| rule.code == "legacy-fact")
        .with_all_findings();
    let mut found = LegacyFacts::new();
    for finding in checker.all() {
        let Some(file) = snapshot.file(&finding.path) else {
            continue;
        };
        for token in tokens(finding.range.slice(file.text())) {
            let Some(path) = variable(&token.kind) else {
                continue;
            };
            let name = path.strip_prefix("facts.").unwrap_or(top_name(path));
            if matches!(core_fact(name), CoreFact::Legacy(_)) {
                let place = SourceLine {
                    file: finding.path.clone(),
                    line: file.line(finding.range.start as usize) + 1,
                };
                found.entry(Arc::from(name)).or_default().insert(place);
            }
        }
    }
    found
}

/// The path of the variable that a token reads.
fn variable(token: &TokenKind) -> Option<&str> {
    match token {
        TokenKind::Variable { key } => Some(&key.text),
        TokenKind::Call {
            method: Method::Scope,
            argument,
            ..
        } => Some(argument),
        TokenKind::Call { .. }
        | TokenKind::Empty
        | TokenKind::UnknownMethod { .. }
        | TokenKind::Malformed
        | TokenKind::Unclosed => None,
    }
}

/// The structured fact that replaces a legacy one.
#[must_use]
pub fn structured_fact(name: &str) -> Option<&'static str> {
    match core_fact(name) {
        CoreFact::Legacy(structured) => structured,
        CoreFact::Exists | CoreFact::NoSuchPart(_) | CoreFact::Custom(_) => None,
    }
}
