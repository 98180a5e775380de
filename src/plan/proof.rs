//! The effect of a plan on values: for the known nodes, and for all possible nodes.
//!
//! The known nodes are looked up before and after. Other nodes are distinguished by the files that
//! the plan changes: by the variables in each file's path, and all their combinations without
//! contradictions. The other conditions of an answer must be the same before and after.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexSet;

use crate::analysis::{
    Analysis, ChangeExtent, Environments, RootView, ScopeView, concerns_manifests, difference,
    with_manifest_variables,
};
use crate::edit::Plan;
use crate::ide::cell::counted;
use crate::ide::compare::Difference;
use crate::ide::impact::{Detail, Impact, MAX_KEYS, impact};
use crate::ide::matrix::answer_in;
use crate::lookup::{Alternatives, Answer, Request, UnknownCause};
use crate::regexp::Regexp;
use crate::scope::{KnownNodes, Scope};
use crate::text::few;
use crate::workspace::{File, LOOKUP_OPTIONS, Root, Snapshot, path};

/// Maximum number of scopes to check; beyond it the proof is incomplete.
const MAX_SCOPES: usize = 400;

/// Maximum number of answers to compare, over all keys and scopes: takes some seconds.
const MAX_ANSWERS: usize = 2_000;

/// Maximum number of files with a key that are distinguished.
const MAX_HOLDERS: usize = 200;

/// Maximum number of other environments to check.
const MAX_ENVIRONMENTS: usize = 20;

/// Maximum number of nodes or keys that are named; the rest is counted.
const MAX_NAMED: usize = 3;

/// The effect of a plan.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// The effect on the known nodes.
    pub known: Impact,
    /// The number of known nodes.
    pub nodes: usize,
    /// Changes for unknown nodes, each with a condition.
    pub possible: Vec<Difference>,
    /// The keys in `possible` that also change for nodes unlike the affected known ones.
    pub others: BTreeSet<Arc<str>>,
    /// Whether all keys and all scopes were checked.
    pub is_complete: bool,
    /// Other environments that read the same files, with values that can change.
    pub elsewhere: Vec<Arc<str>>,
    /// Classes outside of the workspace with parameters that can change.
    pub unseen_classes: Vec<Arc<str>>,
    /// Keys that no file sets afterwards.
    pub gone: Vec<Arc<str>>,
}

/// The scope of possible nodes.
#[derive(Clone, Debug)]
struct PossibleScope {
    scope: Scope,
    /// The bound variables and their values.
    bindings: BTreeSet<(Arc<str>, String)>,
    /// The same as a condition.
    condition: Alternatives,
}

impl PossibleScope {
    fn any() -> PossibleScope {
        PossibleScope {
            scope: Scope::open(),
            bindings: BTreeSet::new(),
            condition: Alternatives::None,
        }
    }
}

/// Compares the lookups before and after a plan.
///
/// # Errors
/// Why the plan does not fit the files, for people.
pub fn prove(before: &RootView<'_>, plan: &Plan) -> Result<Proof, String> {
    let mut proof = after(before, plan, |after| compare_views(before, plan, after))?;
    let no_nodes = KnownNodes::default();
    let analysis = Analysis {
        nodes: &no_nodes,
        ..before.analysis
    };
    for root in other_readers(before, plan) {
        let other = analysis.at(root);
        let found = after(&other, plan, |after| compare_views(&other, plan, after))?;
        if !found.changes_nothing() {
            proof.elsewhere.push(Arc::from(path::name(&root.dir)));
        }
    }
    Ok(proof)
}

/// The other environments that read a file of a plan: data of a module or the global layer, or a
/// folder that their hierarchies share.
fn other_readers<'a>(before: &RootView<'a>, plan: &Plan) -> Vec<&'a Root> {
    let analysis = before.analysis;
    let environments = Environments::of(analysis);
    let mut reading: Vec<&Root> = Vec::new();
    for root in plan.paths().flat_map(|at| environments.reading(at)) {
        let is_own = before.environment.dir.as_ref() == Some(&root.dir);
        if !is_own && reading.iter().all(|known| known.dir != root.dir) {
            reading.push(root);
        }
    }
    reading.truncate(MAX_ENVIRONMENTS);
    reading
}

/// Evaluates the same root after a plan.
///
/// # Errors
/// Why the plan does not fit the files, for people.
pub(super) fn after<T>(
    before: &RootView<'_>,
    plan: &Plan,
    body: impl FnOnce(&RootView<'_>) -> T,
) -> Result<T, String> {
    let Analysis {
        nodes, settings, ..
    } = before.analysis;
    let snapshot = plan.after(before.analysis.snapshot)?;
    let after = before.within(&snapshot, nodes);
    let after = after.ok_or("this would remove the hierarchy")?;
    // The results of a manifest's lookups may change, and the manifest itself.
    let changes_code = plan.paths().any(|at| at.ends_with(".pp"));
    let may_differ = nodes.has_manifests()
        && (nodes.depend_on_data() || changes_code)
        && concerns_manifests(&snapshot);
    let with_variables =
        may_differ.then(|| with_manifest_variables(nodes, &snapshot, after.root, settings));
    let with_variables = with_variables.flatten();
    let again = with_variables.as_ref();
    let again = again.and_then(|nodes| before.within(&snapshot, nodes));
    Ok(body(&again.unwrap_or(after)))
}

fn compare_views(before: &RootView<'_>, plan: &Plan, after: &RootView<'_>) -> Proof {
    let nodes = before.analysis.nodes;
    let is_intended = |difference: &Difference| plan.intended.contains(&difference.key);
    let mut known = if nodes.is_empty() {
        Impact {
            is_complete: true,
            ..Impact::default()
        }
    } else {
        impact(before, after, Detail::Sources)
    };
    known.changes.retain(|change| !is_intended(change));
    let still = known.changes.iter();
    let still: BTreeSet<_> = still.flat_map(|change| &change.after.nodes).collect();
    known.nodes = still.into_iter().cloned().collect();
    let mut keys = ChangeExtent::of(before, after).keys(before, after);
    let is_complete = keys.len() <= MAX_KEYS;
    keys.truncate(MAX_KEYS);
    keys.retain(|key| !plan.intended.contains(key));
    let has = |view: &RootView<'_>, key: &str| view.analysis.snapshot.count_with(key) > 0;
    let gone = plan.intended.iter();
    let gone = gone.filter(|key| has(before, key) && !has(after, key));
    let mut search = ChangeSearch {
        views: [before, after],
        plan,
        proof: Proof {
            nodes: nodes.len(),
            is_complete: known.is_complete && is_complete,
            known,
            unseen_classes: plan.unseen_classes.iter().cloned().collect(),
            gone: gone.cloned().collect(),
            ..Proof::default()
        },
    };
    search.check(keys);
    search.proof
}

/// The search for keys that change for some scope.
struct ChangeSearch<'f> {
    views: [&'f RootView<'f>; 2],
    plan: &'f Plan,
    /// The effect that is known so far.
    proof: Proof,
}

impl ChangeSearch<'_> {
    /// Checks the keys that the plan can affect.
    fn check(&mut self, keys: Vec<Arc<str>>) {
        let ([before, after], plan) = (self.views, self.plan);
        let snapshots = [before.analysis.snapshot, after.analysis.snapshot];
        let merging: Vec<&Arc<str>> = merging_files(snapshots[1], &keys);
        let mut holders: Vec<&Arc<str>> = plan.paths().collect();
        let files = keys.iter();
        let files = files.flat_map(|key| snapshots[1].iter_files_with(key));
        holders.extend(files.map(|file| file.path()));
        holders.extend(merging.iter().copied());
        holders.sort();
        holders.dedup();
        // A new merge can change the result for any combination of files.
        let merged_anew = difference(snapshots[0], snapshots[1]).keys_by_options();
        let (any_way, keys): (Vec<_>, Vec<_>) =
            keys.into_iter().partition(|key| merged_anew.holds(key));
        let any = PossibleScope {
            condition: Alternatives::Words("other facts"),
            ..PossibleScope::any()
        };
        for key in any_way {
            self.proof.possible.push(self.difference(&key, &any));
            self.proof.others.insert(key);
        }
        self.look_up(&keys, &possible_scopes(self.views, plan.paths()));
        let possible = &self.proof.possible;
        let is_found = |key: &&Arc<str>| possible.iter().any(|change| change.key == **key);
        let rest: Vec<Arc<str>> = keys.iter().filter(|key| !is_found(key)).cloned().collect();
        // Keys that look up a changed key may be in unchanged files, and merges combine changed
        // files with others, in their order.
        let depends = !possible.is_empty() || !merging.is_empty();
        if depends && !rest.is_empty() {
            self.proof.is_complete &= holders.len() <= MAX_HOLDERS;
            let holders = holders.into_iter().take(MAX_HOLDERS);
            self.look_up(&rest, &possible_scopes(self.views, holders));
        }
        let possible = &mut self.proof.possible;
        possible.sort_by(|one, other| one.key.cmp(&other.key));
        self.proof.is_complete &= !(before.analysis.is_cancelled)();
    }

    /// Looks up keys in as many scopes as affordable. Records the first scope in which a key
    /// changes; preferably one that the known nodes do not cover.
    fn look_up(&mut self, keys: &[Arc<str>], kinds: &[PossibleScope]) {
        let affordable = (MAX_ANSWERS / keys.len().max(1)).clamp(1, MAX_SCOPES);
        self.proof.is_complete &= kinds.len() < MAX_SCOPES && kinds.len() <= affordable;
        // The levels and options of a scope serve all keys.
        let views = self.views;
        let kinds = kinds.iter().take(affordable);
        let scopes = kinds.map(|kind| (kind, views.map(|view| view.in_scope(&kind.scope))));
        let mut scopes: Vec<(&PossibleScope, [ScopeView<'_>; 2])> = scopes.collect();
        for key in keys {
            if (self.views[0].analysis.is_cancelled)() {
                return;
            }
            let request = Request::key(key);
            let differing = scopes.iter_mut();
            let mut differing =
                differing.filter_map(|(kind, both)| self.differs(&request, both).then_some(*kind));
            let Some(first) = differing.next() else {
                continue;
            };
            let changed = self.changed_nodes(key);
            let mut all = std::iter::once(first).chain(differing);
            let other = all.find(|kind| !self.is_known(&changed, kind));
            let change = self.difference(key, other.unwrap_or(first));
            if other.is_some() {
                self.proof.others.insert(key.clone());
            }
            self.proof.possible.push(change);
        }
    }

    /// For each known node whether it gets another value of a key. O(changes + nodes).
    fn changed_nodes(&self, key: &str) -> Vec<bool> {
        let nodes = self.views[0].analysis.nodes;
        let mut is_changed = vec![false; nodes.len()];
        let changes = self.proof.known.changes.iter();
        let changes = changes.filter(|change| *change.key == *key);
        let names = changes.flat_map(|change| &change.after.nodes);
        for member in names.filter_map(|name| nodes.find(name)) {
            is_changed[member] = true;
        }
        is_changed
    }

    /// Whether the changes for known nodes already cover a scope: a node in it gets another value
    /// of the key, or all known nodes do if the scope is open. O(nodes in the scope).
    fn is_known(&self, is_changed: &[bool], kind: &PossibleScope) -> bool {
        let nodes = self.views[0].analysis.nodes;
        let columns = kind.bindings.iter();
        let columns = columns.map(|(name, value)| (nodes.column(name), value));
        let columns: Vec<_> = columns.collect();
        let members = columns
            .iter()
            .map(|(column, value)| column.members_with(value));
        let Some(fewest) = members.min_by_key(|members| members.len()) else {
            return !nodes.is_empty() && is_changed.iter().all(|is_changed| *is_changed);
        };
        let is_in = |member: usize| {
            let mut columns = columns.iter();
            columns.all(|(column, value)| column.text(member) == **value)
        };
        let mut members = fewest.iter().map(|&member| member as usize);
        members.any(|member| is_changed[member] && is_in(member))
    }

    /// Whether the result changes in a scope.
    fn differs(&self, request: &Request, both: &mut [ScopeView<'_>; 2]) -> bool {
        let [old, new] = both.each_mut().map(|scope| scope.lookup(request));
        // An error may hide further unknown parts.
        let is_open = |answer: &Answer| {
            let error = answer.result.as_ref().err();
            !answer.unknown.is_empty() && error.is_some_and(|error| !error.is_not_found())
        };
        is_open(&old) || is_open(&new) || self.outcome(&old) != self.outcome(&new)
    }

    /// The answers for a scope before and after.
    fn difference(&self, key: &Arc<str>, kind: &PossibleScope) -> Difference {
        let request = Request::key(key).with_sources();
        let cell = |view| answer_in(view, &request, &kind.scope, &kind.condition);
        let [before, after] = self.views.map(cell);
        Difference {
            key: key.clone(),
            before,
            after,
        }
    }

    /// The result of an answer and its unknown parts, without those that depend on changed files.
    fn outcome(&self, answer: &Answer) -> (Result<String, String>, BTreeSet<String>) {
        let result = match &answer.result {
            Ok(value) => Ok(value.inspect()),
            Err(error) => Err(error.to_string()),
        };
        let mut unknown = BTreeSet::new();
        for one in &answer.unknown {
            match &one.cause {
                UnknownCause::Path(possible) => {
                    let files = possible.files.iter();
                    let files = files.filter(|file| !self.plan.changes(file));
                    unknown.extend(files.map(|file| format!("{} {file}", possible.key)));
                }
                UnknownCause::Function { .. } | UnknownCause::Absent { .. } => {
                    unknown.insert(one.to_string());
                }
            }
        }
        (result, unknown)
    }
}

/// The files with an entry of `lookup_options` that may set the merge of one of the keys.
fn merging_files<'s>(snapshot: &'s Snapshot, keys: &[Arc<str>]) -> Vec<&'s Arc<str>> {
    let is_for_one = |pattern: &str| {
        if pattern.starts_with('^') {
            Regexp::new(pattern).is_ok_and(|pattern| {
                let mut keys = keys.iter();
                keys.any(|key| !matches!(pattern.is_match(key), Ok(false)))
            })
        } else {
            keys.iter().any(|key| **key == *pattern)
        }
    };
    let merges = |file: &&Arc<File>| {
        let mut options = file.facts().lookup_options.iter();
        options.any(|option| {
            let text = option.value.slice(file.text());
            // An alias can stand for any options.
            (text.contains("merge") || text.contains('*')) && is_for_one(&option.pattern)
        })
    };
    let files = snapshot.iter_files_with(LOOKUP_OPTIONS);
    files.filter(merges).map(|file| file.path()).collect()
}

/// The scopes that files distinguish: any node, the readers of each file, and the readers of
/// several. At most `MAX_SCOPES`, those with the fewest files first.
fn possible_scopes<'p>(
    views: [&RootView<'_>; 2],
    paths: impl Iterator<Item = &'p Arc<str>>,
) -> Vec<PossibleScope> {
    let mut bindings: IndexSet<BTreeSet<(Arc<str>, String)>> = IndexSet::new();
    for path in paths {
        for reach in views.iter().flat_map(|view| view.reach(path)) {
            bindings.insert(BTreeSet::from_iter(reach.bindings));
        }
    }
    bindings.shift_remove(&BTreeSet::new());
    // Combine each scope with every single file until there are no new ones.
    let single: Vec<_> = bindings.iter().cloned().collect();
    let mut at = 0;
    while at < bindings.len() && bindings.len() < MAX_SCOPES {
        let one = bindings[at].clone();
        for other in &single {
            let contradicts = |(name, value): &(Arc<str>, String)| {
                let mut known = one.iter();
                known.any(|(known, with)| known == name && with != value)
            };
            if !other.iter().any(contradicts) {
                bindings.insert(one.union(other).cloned().collect());
            }
        }
        at += 1;
    }
    let mut scopes = vec![PossibleScope::any()];
    for bindings in bindings.into_iter().take(MAX_SCOPES - 1) {
        let mut scope = Scope::open();
        for (name, value) in &bindings {
            scope.bind(name, value);
        }
        scopes.push(PossibleScope {
            scope,
            condition: Alternatives::AnyOf(vec![bindings.iter().cloned().collect()]),
            bindings,
        });
    }
    scopes
}

impl Proof {
    /// Whether no value changes for any possible node.
    #[must_use]
    pub fn changes_nothing(&self) -> bool {
        self.known.changes.is_empty()
            && self.possible.is_empty()
            && self.is_complete
            && self.elsewhere.is_empty()
            && self.unseen_classes.is_empty()
            && self.gone.is_empty()
    }

    /// The effect in a sentence without a full stop.
    #[must_use]
    pub fn words(&self) -> String {
        let more = if self.is_complete {
            ""
        } else {
            " (only partly checked)"
        };
        let more = format!(
            "{}{more}{}{}",
            self.words_of_gone(),
            self.words_of_elsewhere(),
            self.words_of_unseen()
        );
        if self.known.changes.is_empty() && self.possible.is_empty() {
            return format!("changes no effective value{more}");
        }
        let known = match (self.nodes, self.known.changes.is_empty()) {
            (0, _) => None,
            (nodes, true) => Some(format!("changes no value of the {} known", counted(nodes))),
            (nodes, false) => {
                let keys = names(self.known.changes.iter().map(|change| &change.key));
                let node_names = names(&self.known.nodes);
                let changed = self.known.nodes.len();
                let affected = if changed == 1 && nodes == 1 {
                    format!("{node_names}, the only node")
                } else if changed == nodes {
                    format!("all {}", counted(nodes))
                } else if changed > MAX_NAMED {
                    format!("{changed} of {}", counted(nodes))
                } else {
                    format!("{node_names}, of {}", counted(nodes))
                };
                Some(format!("changes {keys} for {affected}"))
            }
        };
        // Changes for known nodes also affect similar nodes.
        let mut possible = self.possible.iter();
        let first = possible.find(|change| self.others.contains(&change.key));
        let possible = first.map(|first| {
            let keys = names(&self.others);
            let condition = &first.after.condition;
            let nodes_text = if condition.is_none() {
                "of nodes that read none of these files".to_owned()
            } else {
                format!("of a node with {condition}")
            };
            format!("can change {keys} {nodes_text}")
        });
        let parts: Vec<String> = known.into_iter().chain(possible).collect();
        let and = if self.known.changes.is_empty() {
            ", but "
        } else {
            ", and "
        };
        format!("{}{more}", parts.join(and))
    }

    /// The part of the sentence about keys that no file sets afterwards.
    fn words_of_gone(&self) -> String {
        let keys = match self.gone.len() {
            0 => return String::new(),
            1 => "key",
            _ => "keys",
        };
        format!("; removes the {keys} {}", names(&self.gone))
    }

    /// The part of the sentence about classes outside of the workspace.
    fn words_of_unseen(&self) -> String {
        let (classes, are) = match self.unseen_classes.len() {
            0 => return String::new(),
            1 => ("class", "is"),
            _ => ("classes", "are"),
        };
        let all = names(&self.unseen_classes);
        format!("; can change parameters of the {classes} {all}, which {are} not in this workspace")
    }

    /// The part of the sentence about other environments, to append.
    #[must_use]
    pub fn words_of_elsewhere(&self) -> String {
        let (environments, read) = match self.elsewhere.len() {
            0 => return String::new(),
            1 => ("environment", "reads"),
            _ => ("environments", "read"),
        };
        let all = names(&self.elsewhere);
        format!("; can change values in the {environments} {all}, which {read} the same files")
    }
}

/// Some distinct names, and the number of the rest.
fn names<'n>(names: impl IntoIterator<Item = &'n Arc<str>>) -> String {
    let all: IndexSet<&Arc<str>> = names.into_iter().collect();
    few(&Vec::from_iter(all), MAX_NAMED)
}
