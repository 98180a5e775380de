//! What an upgrade of Puppet changes: the answers of each key for all nodes in two versions, and for
//! each difference the change of Puppet that causes it.
//!
//! The upgrade is taken in steps, one for each thing that changes. A difference is caused by the first
//! step after which a node of it has another answer. So nothing is guessed from the text of a value.
//!
//! What calls in code look up with a merge of their own is compared too (`calls`).
//!
//! Costs the rows of all keys, a second time for nodes that may have another answer, and for each
//! difference at most a lookup for each step and for each legacy fact that the workspace names.

mod answers;
pub mod calls;
pub mod kept;
mod legacy;
pub mod preview;
pub mod report;
#[cfg(test)]
mod rows_tests;
mod steps;
mod words;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::compare::{Difference, changes, differ};
use super::matrix::{Cell, Row, SourceLine, row_by, row_by_any, row_with_inputs};
use crate::analysis::{Analysis, RootView, is_custom_fact, keys_of_all, with_manifest_variables};
use crate::lookup::{
    Cause, ConfigCache, PuppetVersion, Request, Settings, Strict, VersionDifferences,
};
use crate::scope::{KnownNodes, Scope};
use crate::value::RubyChange;
use crate::workspace::{Root, RootKind, Snapshot, path};
pub use answers::effect;
use answers::{
    answer_of, has_unknown_variable, new_outcome, same_answers, scope_of, undefined_variable,
};
use calls::{CallWithMerge, HieraCall};
use legacy::legacy_uses;
pub use legacy::{LegacyUse, structured_fact};
use steps::{StepKind, UpgradeStep, steps};

/// What is looked up where no key is known.
pub const ANY_KEY: &str = "(any key)";

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
    /// A change of Ruby gives values other texts in strings, or refuses a file.
    Ruby(RubyChange),
    /// Code calls a function of Hiera 3, which every version answers alike, with a warning: its name.
    HieraFunction(Arc<str>),
    /// The version behaves otherwise.
    Version,
}

impl UpgradeCause {
    /// The first version with the change.
    #[must_use]
    pub fn since(&self) -> PuppetVersion {
        match self {
            UpgradeCause::HieraFunction(_) => PuppetVersion::V7,
            UpgradeCause::DataProvider | UpgradeCause::Ruby(_) => PuppetVersion::V9,
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
    /// The value is the same, with a warning that there was not.
    Warns,
    /// Its value is unknown now.
    Unknown,
    /// Nothing, but all versions warn that the way to it may end.
    Deprecated,
}

/// A key with other answers for some nodes.
#[derive(Debug)]
pub struct UpgradeOutcome {
    /// The answers, each for the same nodes.
    pub difference: Difference,
    /// What happens.
    pub effect: UpgradeEffect,
    /// The merge of a call, as it is written, if it is what the call looks up that changes.
    pub merge: Option<Arc<str>>,
    /// The calls in code with that merge.
    pub calls: Vec<SourceLine>,
    /// The new warning.
    pub warning: Option<Arc<str>>,
    request: Request,
}

/// A key with other answers for some nodes, and why.
#[derive(Debug)]
pub struct UpgradeChange {
    /// What happens.
    pub outcome: UpgradeOutcome,
    /// Why.
    pub cause: UpgradeCause,
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
    /// Whether a warning can appear where a value stays the same.
    may_warn: bool,
    legacy_uses: OnceLock<Vec<LegacyUse>>,
    calls: OnceLock<Vec<CallWithMerge>>,
    hiera_calls: OnceLock<Vec<HieraCall>>,
    differences: VersionDifferences,
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
        // All later steps share these nodes, with what is found out about them.
        let lacking = drops_facts
            .then(|| nodes.without_legacy_facts(&|name| !is_custom_fact(snapshot, name)));
        let steps = steps(&settings, (from, to))
            .into_iter()
            .map(|(kind, settings)| {
                let lacking = lacking.as_ref();
                let own = lacking.filter(|_| kind.lacks_facts(drops_facts));
                let own = own.unwrap_or(nodes);
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
            drops_facts,
            may_warn: false,
            legacy_uses: OnceLock::new(),
            calls: OnceLock::new(),
            hiera_calls: OnceLock::new(),
            differences: VersionDifferences::default(),
        };
        upgrade.may_warn = upgrade.may_warn();
        upgrade
    }

    /// Whether the new version can give a warning that the old one does not, and no error: about a
    /// variable that is gone, and about a `hiera.yaml` of version 4 that is read now.
    fn may_warn(&self) -> bool {
        let [old, new] = [self.before(), self.after()];
        let settings = new.analysis.settings;
        let loses_variables = self.drops_facts && !settings.strict_variables;
        let reads_more =
            old.environment.data_provider.is_some() && settings.puppet_version >= PuppetVersion::V9;
        settings.strict != Strict::Off && (loses_variables || reads_more)
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

    /// The line at which a file is refused, if that is why a lookup fails.
    pub(super) fn refused_place(&self, cell: &Cell) -> Option<SourceLine> {
        let Cause::Data { path, error } = &cell.result.as_ref().err()?.innermost().cause else {
            return None;
        };
        let file = self.snapshot.file(path)?;
        Some(SourceLine {
            file: path.clone(),
            line: file.line(error.range?.start as usize) + 1,
        })
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

    /// The keys that data or code name, in byte order; [`ANY_KEY`] if there are none: a hierarchy that is
    /// refused fails for each.
    #[must_use]
    pub fn keys(&self) -> Vec<Arc<str>> {
        let keys = keys_of_all([&self.before(), &self.after()]).into_iter();
        let named = calls::named_keys(self.snapshot, &|at| self.has_own(at));
        let keys: BTreeSet<Arc<str>> = keys.chain(named).collect();
        match keys.is_empty() {
            true => vec![Arc::from(ANY_KEY)],
            false => keys.into_iter().collect(),
        }
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

    /// The changes of a key with their causes: see [`Upgrade::outcomes`].
    #[must_use]
    pub fn changes(&self, key: &str) -> (Vec<UpgradeChange>, bool) {
        let (outcomes, is_undecided) = self.outcomes(key);
        let changes = outcomes.into_iter().map(|outcome| UpgradeChange {
            cause: self.cause_of(&outcome),
            outcome,
        });
        (changes.collect(), is_undecided)
    }

    /// What happens to a key, those changes for most nodes first, also to what calls in code look up
    /// with a merge of their own; and whether there may be more: a value has a variable in it that may
    /// or may not exist.
    #[must_use]
    pub fn outcomes(&self, key: &str) -> (Vec<UpgradeOutcome>, bool) {
        let (mut outcomes, mut is_undecided) = self.outcomes_by(&Request::key(key).with_sources());
        let of_key = self.calls().iter().filter(|call| *call.key == *key);
        let mut of_key = of_key.peekable();
        while let Some(call) = of_key.next() {
            let mut places = vec![call.place.clone()];
            while let Some(more) = of_key.next_if(|more| more.merge == call.merge) {
                places.push(more.place.clone());
            }
            let request = Request {
                merge: Some(call.merge.clone()),
                ..Request::key(key).with_sources()
            };
            let (found, may_be_more) = self.outcomes_by(&request);
            is_undecided |= may_be_more;
            let news = found
                .into_iter()
                .filter_map(|it| new_outcome(it, &outcomes));
            let news = news.map(|outcome| UpgradeOutcome {
                merge: Some(call.written.clone()),
                calls: places.clone(),
                ..outcome
            });
            let news: Vec<UpgradeOutcome> = news.collect();
            outcomes.extend(news);
        }
        (outcomes, is_undecided)
    }

    /// The answers to a request for one key in both versions; in the new one only those of nodes that
    /// may have another answer or warning there.
    fn rows(&self, request: &Request) -> [Row; 2] {
        let views = [self.before(), self.after()];
        if self.nodes.is_empty() || self.may_warn {
            return views.map(|view| row_by_any(&view, request));
        }
        let key = request.names.first().map_or("", |name| &**name);
        let members: Vec<usize> = (0..self.nodes.len()).collect();
        let (old, inputs) = row_with_inputs(&views[0], key, request, &members);
        let versions = views
            .each_ref()
            .map(|view| (view.session(), view.analysis.nodes));
        let members = self.differences.members(versions.each_ref(), &inputs);
        let new = row_by(&views[1], key, request, &members);
        [old, new]
    }

    /// What happens to the answers to a request for one key.
    fn outcomes_by(&self, request: &Request) -> (Vec<UpgradeOutcome>, bool) {
        let [old, new] = self.rows(request);
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
        let outcomes = differences.filter_map(|it| self.outcome(it, request));
        let mut outcomes: Vec<UpgradeOutcome> = outcomes.collect();
        if self.may_warn {
            outcomes.extend(self.new_warnings([&old, &new], request));
        }
        (outcomes, old.answers.iter().any(has_unknown_variable))
    }

    fn outcome(&self, difference: Difference, request: &Request) -> Option<UpgradeOutcome> {
        let mut effect = effect(&difference.before, &difference.after)?;
        let assigned = |member: usize| self.steps.last()?.nodes.assigned(member);
        let assigned = self.member_of(&difference).and_then(assigned);
        // Without a catalog no lookup of the node has a value.
        if effect == UpgradeEffect::Unknown && assigned.is_some_and(|it| it.failure.is_some()) {
            effect = UpgradeEffect::Fails;
        }
        Some(UpgradeOutcome {
            effect,
            merge: None,
            calls: Vec::new(),
            warning: None,
            request: request.clone(),
            difference,
        })
    }

    /// The warnings that appear where the value stays the same: one for each group of nodes.
    fn new_warnings(&self, [old, new]: [&Row; 2], request: &Request) -> Vec<UpgradeOutcome> {
        let pairs = same_answers(old, new).into_iter();
        let found = pairs.filter_map(|difference| {
            let before = self.warnings(&self.steps[0], &difference, request);
            let after = self.warnings(self.steps.last()?, &difference, request);
            let mut news = after.iter().filter(|warning| !before.contains(warning));
            Some(UpgradeOutcome {
                effect: UpgradeEffect::Warns,
                merge: None,
                calls: Vec::new(),
                warning: Some(Arc::from(news.next()?.as_str())),
                request: request.clone(),
                difference,
            })
        });
        found.collect()
    }

    /// The warnings of a lookup in a step, for the first node of a difference.
    fn warnings(&self, step: &UpgradeStep, of: &Difference, request: &Request) -> Vec<String> {
        let scope = self.scope_in(step, of, self.member_of(of));
        let answer = self.view(step).session().lookup(&scope, request);
        answer.logs.into_iter().map(|log| log.message).collect()
    }

    /// The first node of a difference.
    fn member_of(&self, of: &Difference) -> Option<usize> {
        let name = of.after.nodes.first()?;
        self.nodes.find(name)
    }

    /// The first step behind which a node has another answer, or the warning.
    fn cause_of(&self, outcome: &UpgradeOutcome) -> UpgradeCause {
        let UpgradeOutcome {
            difference,
            request,
            warning,
            ..
        } = outcome;
        let member = self.member_of(difference);
        let Some(warning) = warning else {
            return self.cause(difference, request, member);
        };
        let gives = |step: &&UpgradeStep| {
            let warnings = self.warnings(step, difference, request);
            warnings.iter().any(|it| **it == **warning)
        };
        match self.steps.iter().find(gives).map(|step| step.kind) {
            Some(StepKind::LegacyFacts) => {
                let fact = |member| self.fact_that_warns(request, warning, member);
                UpgradeCause::LegacyFact(member.and_then(fact))
            }
            Some(StepKind::Start | StepKind::Version | StepKind::Ruby(_)) | None => {
                UpgradeCause::DataProvider
            }
        }
    }

    /// The scope of a difference's first node in a step, or of its condition.
    fn scope_in(&self, step: &UpgradeStep, of: &Difference, member: Option<usize>) -> Scope {
        match member {
            Some(member) => step.nodes.scope(member),
            None => scope_of(&of.after.condition),
        }
    }

    fn cause(&self, of: &Difference, request: &Request, member: Option<usize>) -> UpgradeCause {
        let answer = |step: &UpgradeStep| {
            let scope = self.scope_in(step, of, member);
            answer_of(&self.view(step), request, &scope)
        };
        let mut before = answer(&self.steps[0]);
        for step in &self.steps[1..] {
            let after = answer(step);
            if differ(&before, &after) && effect(&before, &after).is_some() {
                return match step.kind {
                    StepKind::Start | StepKind::Version => self.cause_of_version(step, &after),
                    StepKind::LegacyFacts => {
                        let of = |member| self.legacy_fact(request, &before, member);
                        UpgradeCause::LegacyFact(member.and_then(of))
                    }
                    StepKind::Ruby(change) => UpgradeCause::Ruby(change),
                };
            }
            before = after;
        }
        UpgradeCause::Version
    }

    fn cause_of_version(&self, step: &UpgradeStep, after: &Cell) -> UpgradeCause {
        let has_provider = self.view(step).environment.data_provider.is_some();
        if has_provider && step.settings.puppet_version == PuppetVersion::V9 {
            return UpgradeCause::DataProvider;
        }
        if let Some(unknown) = &after.unknown {
            return UpgradeCause::Manifests(Arc::from(unknown.as_str()));
        }
        match &after.result {
            Err(error) if !error.is_not_found() => match undefined_variable(error) {
                Some(name) => UpgradeCause::UndefinedVariable(Arc::from(name)),
                None => UpgradeCause::Strict(Arc::from(error.words())),
            },
            Err(_) | Ok(_) => UpgradeCause::Version,
        }
    }

    /// The only legacy fact that a node needs to lose for another answer.
    fn legacy_fact(&self, request: &Request, before: &Cell, member: usize) -> Option<Arc<str>> {
        self.fact_to_lose(member, &|view, scope| {
            differ(before, &answer_of(view, request, scope))
        })
    }

    /// The same for a warning.
    fn fact_that_warns(&self, request: &Request, warning: &str, member: usize) -> Option<Arc<str>> {
        self.fact_to_lose(member, &|view, scope| {
            let answer = view.session().lookup(scope, request);
            answer.logs.iter().any(|log| log.message == warning)
        })
    }

    /// The first legacy fact of which `decides` says that its loss alone is enough for a node.
    fn fact_to_lose(
        &self,
        member: usize,
        decides: &dyn Fn(&RootView<'_>, &Scope) -> bool,
    ) -> Option<Arc<str>> {
        let step = &self.steps[0];
        let in_data = self.legacy_names(false);
        // Only what site manifests set reaches lookups.
        let in_code = match step.nodes.has_manifests() {
            true => self.legacy_names(true),
            false => BTreeSet::new(),
        };
        let mut names = in_data.iter().chain(in_code.difference(&in_data)).copied();
        let is_enough = |name: &&Arc<str>| {
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
            decides(&view, &nodes.scope(0))
        };
        names.find(is_enough).cloned()
    }

    /// The calls in the environment's code that look a key up with a merge of their own, ordered by key
    /// and merge. O(calls) the first time.
    fn calls(&self) -> &[CallWithMerge] {
        self.calls
            .get_or_init(|| calls::with_merge(self.snapshot, &|at| self.has_own(at)))
    }

    /// The calls of functions of Hiera 3 in the environment's code, in the order of their files, each with
    /// the edit that replaces it. The first time every call costs the rows of its key, and the classes of
    /// all nodes are found out.
    pub fn hiera_calls(&self) -> &[HieraCall] {
        self.hiera_calls
            .get_or_init(|| calls::of_hiera(&self.before(), self.nodes, &|at| self.has_own(at)))
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
