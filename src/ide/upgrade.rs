//! What an upgrade of Puppet changes: the answers of each key for all nodes in two versions, and for
//! each difference the change of Puppet that causes it.
//!
//! The upgrade is taken in steps, one for each thing that changes. A difference is caused by the first
//! step after which a node of it has another answer. So nothing is guessed from the text of a value.
//!
//! Costs the rows of all keys twice, and for each difference at most a lookup for each step and for
//! each legacy fact that the workspace names.

pub mod preview;
pub mod report;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::compare::{Difference, changes, differ};
use super::matrix::{Cell, SourceLine, answer_in, row_of_any};
use crate::analysis::{Analysis, RootView, with_manifest_variables};
use crate::interpolation::{Method, TokenKind, tokens};
use crate::lookup::{
    Alternatives, Cause, ConfigCache, LookupError, PuppetVersion, Request, Settings,
};
use crate::rules::{Checker, Finding};
use crate::scope::{CoreFact, KnownNodes, Scope, core_fact, top_name};
use crate::value::{Missing, Opaque, Value};
use crate::workspace::{Root, RootKind, Snapshot, path};

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

/// A place that reads a legacy fact.
#[derive(Debug)]
pub struct LegacyUse {
    /// The fact.
    pub name: Arc<str>,
    /// Where it stands.
    pub place: SourceLine,
    /// The variable as it is written, without `%{`, `$` and `}`.
    pub written: Arc<str>,
    /// Whether a manifest reads it. Most manifests decide about catalogs only, not about lookups.
    pub is_code: bool,
    /// Whether it is in the environment itself or a module there. Nothing can be proved of other places.
    pub is_own: bool,
    /// The finding of `legacy-fact`, with its fix.
    pub finding: Finding,
}

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
    drops_facts: bool,
    legacy_uses: OnceLock<Vec<LegacyUse>>,
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
        Upgrade {
            snapshot,
            root,
            environment,
            nodes,
            steps: steps.collect(),
            drops_facts,
            legacy_uses: OnceLock::new(),
        }
    }

    /// The places in data, hierarchies and manifests that read a legacy fact, in the order of their files,
    /// if the upgrade drops them. All files are checked the first time.
    pub fn legacy_uses(&self) -> &[LegacyUse] {
        self.legacy_uses.get_or_init(|| match self.drops_facts {
            true => {
                let settings = &self.steps[0].settings;
                legacy_uses(self.snapshot, settings, &|at| self.has_own(at))
            }
            false => Vec::new(),
        })
    }

    /// Whether a file is in the environment itself or in a module there.
    fn has_own(&self, at: &str) -> bool {
        let inside = path::within(at, &self.root.dir).is_some();
        let view = self.before();
        let root = view.analysis.answering(at).map(|view| view.root);
        inside
            && root.is_none_or(|root| {
                root.dir == self.root.dir || matches!(root.kind, RootKind::Module { .. })
            })
    }

    /// The places that read a legacy fact: those in data and hierarchies, else those in manifests.
    /// O(places).
    #[must_use]
    pub fn legacy_places(&self, name: &str) -> BTreeSet<SourceLine> {
        let places = |is_code| {
            let uses = self.legacy_uses().iter();
            let named = uses.filter(|it| it.is_code == is_code && *it.name == *name);
            named.map(|it| it.place.clone()).collect::<BTreeSet<_>>()
        };
        let in_data = places(false);
        if in_data.is_empty() {
            places(true)
        } else {
            in_data
        }
    }

    /// The names of the legacy facts that data and hierarchies read, or manifests; without repetitions.
    fn legacy_names(&self, is_code: bool) -> BTreeSet<&Arc<str>> {
        let uses = self.legacy_uses().iter();
        let uses = uses.filter(|it| it.is_code == is_code);
        uses.map(|it| &it.name).collect()
    }

    /// The old and the new version.
    #[must_use]
    pub fn versions(&self) -> [PuppetVersion; 2] {
        [0, self.steps.len() - 1].map(|at| self.steps[at].settings.puppet_version)
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
        let in_data = self.legacy_names(false);
        // Only what site manifests set reaches lookups.
        let in_code = match step.nodes.has_manifests() {
            true => self.legacy_names(true),
            false => BTreeSet::new(),
        };
        let mut names = in_data.iter().chain(in_code.difference(&in_data)).copied();
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

    /// The legacy facts that data and hierarchies name and of which it is not known whether a node has
    /// them.
    #[must_use]
    pub fn untold_facts(&self) -> Vec<&Arc<str>> {
        let names = self.legacy_names(false).into_iter();
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
#[must_use]
pub fn effect(before: &Cell, after: &Cell) -> Option<UpgradeEffect> {
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

/// The places that read legacy facts, as the rule finds them.
fn legacy_uses(
    snapshot: &Snapshot,
    settings: &Settings,
    is_own: &dyn Fn(&str) -> bool,
) -> Vec<LegacyUse> {
    let checker = Checker::with_settings(snapshot, settings.clone().for_editor());
    let checker = checker
        .with_rules(|rule| rule.code == "legacy-fact")
        .with_all_findings();
    let uses = checker.all().into_iter().filter_map(|finding| {
        let file = snapshot.file(&finding.path)?;
        let (written, is_code) = match file.facts().code {
            Some(_) => (in_code(finding.range.slice(file.text())), true),
            None => (in_token(finding.range.slice(file.text()))?, false),
        };
        let name = top_name(written.strip_prefix("facts.").unwrap_or(&written));
        matches!(core_fact(name), CoreFact::Legacy(_)).then(|| LegacyUse {
            name: Arc::from(name),
            place: SourceLine {
                file: finding.path.clone(),
                line: file.line(finding.range.start as usize) + 1,
            },
            is_code,
            is_own: is_own(&finding.path),
            written: Arc::from(&*written),
            finding,
        })
    });
    uses.collect()
}

/// The variable that a token reads.
fn in_token(source: &str) -> Option<String> {
    let mut tokens = tokens(source).into_iter();
    tokens.find_map(|token| match token.kind {
        TokenKind::Variable { key } => Some(key.text.to_string()),
        TokenKind::Call {
            method: Method::Scope,
            argument,
            ..
        } => Some(argument.to_string()),
        TokenKind::Call { .. }
        | TokenKind::Empty
        | TokenKind::UnknownMethod { .. }
        | TokenKind::Malformed
        | TokenKind::Unclosed => None,
    })
}

/// The variable that `$name` or `$facts['name']` of a manifest reads, as a token writes it.
fn in_code(source: &str) -> String {
    let name = source.trim_start_matches('$');
    let top = name.trim_start_matches("::");
    match top
        .strip_prefix("facts")
        .filter(|rest| rest.trim_start().starts_with('['))
    {
        Some(part) => {
            let quoted = |c: char| c.is_whitespace() || "[]'\"".contains(c);
            format!("facts.{}", part.trim_matches(quoted))
        }
        None => name.to_owned(),
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
