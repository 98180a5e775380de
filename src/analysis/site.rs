//! The site manifests of an environment, and the variables that they set.

use std::collections::{BTreeSet, HashMap as Map};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Analysis;
use super::bodies::CodeBody;
use super::site_files::{SiteFiles, manifest_paths};
pub(super) use super::site_files::{manifests_of, site_manifest};
use crate::lookup::{
    ConfigCache, Data, FoundFunctions, ReadByCode, Session, SessionHost, Settings, SharedResults,
};
use crate::puppet::{ClassRun, Site, is_of_class};
use crate::scope::{Assigned, Knowledge, KnownNodes, Manifests, Node, Scope, top_name};
use crate::syntax::puppet::{self, Dialect};
use crate::text::TextRange;
use crate::value::{HashMap, Value};
use crate::workspace::{
    File, LookupFact, LookupFunction, LookupKey, NodeFact, NodeMatch, Root, Snapshot,
};

/// The manifests of an environment in one snapshot, ready to be run for its nodes.
pub struct SiteManifests {
    root: Arc<str>,
    files: Vec<Arc<File>>,
    site: Site,
    settings: Settings,
    configs: ConfigCache,
    extent: Extent,
    functions: Arc<FoundFunctions>,
    shared: SharedRuns,
    seen: Mutex<Dependencies>,
    /// The stamp of the last snapshot in which nothing uses variables of classes.
    unused_in: Mutex<u64>,
}

/// The scopes to evaluate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// What agents get.
    NodeBlocks,
    /// What `puppet lookup --compile` sees.
    TopScope,
}

/// What manifests do for known nodes, by the place of the node's block.
#[derive(Debug, Default)]
pub(super) struct SharedRuns(Mutex<Map<Option<usize>, SharedResults<Arc<Assigned>>>>);

impl SharedRuns {
    /// Each change is complete even after a panic.
    fn lock(&self) -> MutexGuard<'_, Map<Option<usize>, SharedResults<Arc<Assigned>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of_block<T>(
        &self,
        block: Option<usize>,
        then: impl FnOnce(&mut SharedResults<Arc<Assigned>>) -> T,
    ) -> T {
        then(self.lock().entry(block).or_default())
    }
}

/// Dependencies recorded while manifests were run.
pub(super) struct Dependencies {
    pub(super) snapshot: Snapshot,
    /// Top-level keys that were looked up.
    pub(super) keys: BTreeSet<Arc<str>>,
    /// Files of functions that were called.
    pub(super) functions: BTreeSet<Arc<str>>,
    /// The names of the variables that code had set when it looked something up.
    pub(super) set_by_code: BTreeSet<Arc<str>>,
}

impl std::fmt::Debug for SiteManifests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SiteManifests")
            .field("root", &self.root)
            .field("site", &self.site)
            .finish_non_exhaustive()
    }
}

impl SiteManifests {
    /// The manifests of the environment that a root is in or is.
    #[must_use]
    pub fn of(snapshot: &Snapshot, root: &Root, settings: &Settings) -> SiteManifests {
        let (dir, SiteFiles { files, unseen }) = manifests_around(snapshot, root);
        let configs = ConfigCache::default();
        let sources = files.iter();
        let sources = sources.map(|file| configs.source(file.path(), file.text()));
        SiteManifests {
            root: dir,
            site: followed(Site::new(sources.collect(), unseen), snapshot),
            files: files.into_iter().cloned().collect(),
            settings: super::without_keys(settings).into_owned(),
            configs,
            extent: Extent::NodeBlocks,
            functions: Arc::default(),
            shared: SharedRuns::default(),
            unused_in: Mutex::new(snapshot.stamp()),
            seen: Mutex::new(Dependencies {
                snapshot: snapshot.clone(),
                keys: BTreeSet::new(),
                functions: BTreeSet::new(),
                set_by_code: BTreeSet::new(),
            }),
        }
    }

    /// The same manifests, with caches that others use, too.
    #[must_use]
    pub(super) fn with_configs(self, configs: &ConfigCache) -> SiteManifests {
        SiteManifests {
            configs: configs.clone(),
            ..self
        }
    }

    /// The same manifests without the variables of node blocks, as `puppet lookup --compile` runs
    /// them.
    #[must_use]
    pub fn of_top_scope(self) -> SiteManifests {
        SiteManifests {
            extent: Extent::TopScope,
            site: self.site.with_classes(ClassRun::UntilFailure),
            ..self
        }
    }

    /// Where the manifests set a variable, for any node: file and range.
    #[must_use]
    pub fn assignments(&self, name: &str) -> Vec<(Arc<str>, TextRange)> {
        self.site.assignments(name)
    }

    /// Whether they set variables, declare classes or fail, or may. If not, they need not be run.
    #[must_use]
    pub fn may_matter(&self) -> bool {
        self.site.may_matter()
    }

    /// Whether the results for some nodes are still valid for another snapshot; if so, moves to it. If only data has
    /// changed, they are run again for nodes that may read it: `nodes` have what they did.
    pub(super) fn holds_in(
        &self,
        snapshot: &Snapshot,
        (root, nodes): (&Root, &KnownNodes),
        settings: &Settings,
    ) -> bool {
        let (dir, SiteFiles { files, unseen }) = manifests_around(snapshot, root);
        let same = |one: &Arc<File>, other: &Arc<File>| {
            one.path() == other.path() && Arc::ptr_eq(one.text(), other.text())
        };
        let is_same = dir == self.root
            && self.site.has_unseen() == unseen.is_some()
            && files.len() == self.files.len()
            && files
                .iter()
                .zip(&self.files)
                .all(|(one, other)| same(one, other))
            && settings.strict == self.settings.strict
            && settings.strict_variables == self.settings.strict_variables
            && settings.puppet_version == self.settings.puppet_version
            && Arc::ptr_eq(&settings.backends, &self.settings.backends);
        is_same
            && self.follows_enough(snapshot)
            && (!self.site.depends_on_data() || self.does_the_same(snapshot, nodes))
    }

    /// Whether classes are evaluated if, and only if, something in another snapshot uses their variables. O(tokens of
    /// the changed files) if it is the next one and none does, O(tokens up to the first one) if one does.
    fn follows_enough(&self, snapshot: &Snapshot) -> bool {
        if !self.site.may_have_classes() || self.site.reads_classes() {
            return true;
        }
        if self.site.follows_classes() {
            return snapshot.files().any(uses_classes);
        }
        let delta = snapshot.delta();
        let mut unused = self
            .unused_in
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let uses_one = if *unused == snapshot.stamp() {
            false
        } else if *unused == delta.since {
            let mut files = delta.files.iter();
            files.any(|it| snapshot.file(&it.path).is_some_and(uses_classes))
        } else {
            snapshot.files().any(uses_classes)
        };
        if !uses_one {
            *unused = snapshot.stamp();
        }
        !uses_one
    }

    /// Each change of the record is complete even after a panic.
    pub(super) fn lock(&self) -> MutexGuard<'_, Dependencies> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Manifests for SiteManifests {
    fn may_set(&self, name: &str) -> bool {
        self.site.may_set(name)
    }

    fn may_fail(&self) -> bool {
        self.site.may_fail()
    }

    fn depend_on_data(&self) -> bool {
        self.site.depends_on_data()
    }

    fn assigned(&self, node: &Node, scope: &Scope) -> Arc<Assigned> {
        self.unless_idle(|session| self.run(session, (node, scope)).0)
    }

    fn assigned_among(
        &self,
        nodes: &KnownNodes,
        member: usize,
        (node, scope): (&Node, &Scope),
    ) -> Arc<Assigned> {
        let given = nodes.as_given();
        let of = (member, node, scope);
        self.unless_idle(|session| self.run_among(&self.shared, session, &given, of))
    }
}

impl SiteManifests {
    /// What they do: `run` says it in the environment's session, unless they need not be run.
    fn unless_idle(&self, run: impl FnOnce(Session<'_>) -> Arc<Assigned>) -> Arc<Assigned> {
        // A lookup of one node tells every failure.
        let is_of_agent = self.extent == Extent::NodeBlocks;
        if let Some(unrun) = is_of_agent.then(|| self.site.without_running()).flatten() {
            return Arc::new(unrun);
        }
        let snapshot = self.lock().snapshot.clone();
        self.in_session_of(&snapshot, run).unwrap_or_default()
    }

    /// Evaluates something in the environment's session of a snapshot; `None` if the environment is gone.
    pub(super) fn in_session_of<T>(
        &self,
        snapshot: &Snapshot,
        evaluate: impl FnOnce(Session<'_>) -> T,
    ) -> Option<T> {
        let mut roots = snapshot.roots().environments();
        let root = roots.find(|root| root.dir == self.root)?;
        let nodes = KnownNodes::default();
        let analysis = Analysis::new(snapshot, &self.settings, &self.configs, &nodes);
        let view = analysis.at(root);
        Some(evaluate(view.session()))
    }

    fn host<'a>(&self, session: Session<'a>) -> SessionHost<'a> {
        let host = SessionHost::new(session, Data::Allowed);
        host.with_functions(&self.functions)
    }

    /// What they do for one of some nodes without manifests: `shared` has what they do for others.
    pub(super) fn run_among(
        &self,
        shared: &SharedRuns,
        session: Session<'_>,
        given: &KnownNodes,
        (member, node, scope): (usize, &Node, &Scope),
    ) -> Arc<Assigned> {
        let mut variables = node.variables.keys().filter_map(Value::as_str);
        let is_alone = node.knowledge == Knowledge::Label
            // A known value stays: a fact of that name and value is something else.
            || variables.any(|name| self.site.may_set(name));
        let block = || self.site.block_at(&self.host(session), &node.certname);
        let Some(Ok(block)) = (!is_alone).then(block) else {
            return self.run(session, (node, scope)).0;
        };
        let known = shared.of_block(block, |runs| runs.find(&session, given, member));
        if let Some(known) = known {
            return known;
        }
        let (assigned, read) = self.run(session, (node, scope));
        if let Some(read) = read {
            let result = (member, read.inputs(&session), Arc::clone(&assigned));
            shared.of_block(block, |runs| runs.add(&session, given, result));
        }
        assigned
    }

    /// Shares other results from now on, those of another snapshot.
    pub(super) fn share(&self, other: &SharedRuns) {
        let other = std::mem::take(&mut *other.lock());
        *self.shared.lock() = other;
    }

    /// Runs them for a node, and says what distinguishes it from others of its block, if it can be said.
    fn run(
        &self,
        session: Session<'_>,
        (node, scope): (&Node, &Scope),
    ) -> (Arc<Assigned>, Option<ReadByCode>) {
        let host = self.host(session);
        let certname = (node.knowledge != Knowledge::Label).then_some(&*node.certname);
        let run = self.site.run(&host, scope, certname, &node.variables);
        let mut assigned = run.assigned;
        assigned.is_for_agent = self.extent == Extent::NodeBlocks;
        if self.extent == Extent::TopScope {
            assigned.leave_block();
        }
        let mut reads = host.reads();
        let (functions, set_by_code) = (host.paths(), host.set_by_code());
        if !reads.keys.is_empty() || !functions.is_empty() {
            let mut seen = self.lock();
            seen.keys.extend(reads.keys.iter().cloned());
            seen.functions.extend(functions);
            seen.set_by_code.extend(set_by_code.iter().cloned());
        }
        let read = run.reads.map(|own| {
            reads.variables.extend(own);
            ReadByCode { reads, set_by_code }
        });
        (Arc::new(assigned), read)
    }
}

/// Manifests with the classes that they include, if something uses variables of classes.
fn followed(site: Site, snapshot: &Snapshot) -> Site {
    if follows_classes(&site, snapshot) {
        site.with_classes(ClassRun::PastFailures)
    } else {
        site
    }
}

/// Whether the values of nodes may depend on variables of the classes that manifests include. Without
/// that the classes are not evaluated for each node. O(tokens) if manifests declare classes.
fn follows_classes(site: &Site, snapshot: &Snapshot) -> bool {
    site.may_have_classes() && (site.reads_classes() || snapshot.files().any(uses_classes))
}

/// Whether a file has a token with a variable of a class.
fn uses_classes(file: &Arc<File>) -> bool {
    let mut variables = file.facts().variables();
    variables.any(|used| is_of_class(top_name(&used.name)))
}

/// The folder of the environment that a root is in or is, and its manifests.
fn manifests_around<'a>(
    snapshot: &'a Snapshot,
    root: &Root,
) -> (Arc<str>, SiteFiles<&'a Arc<File>>) {
    let Some(environment) = snapshot.roots().environment_of(root) else {
        let (files, unseen) = (Vec::new(), None);
        return (Arc::default(), SiteFiles { files, unseen });
    };
    let files = manifests_of(snapshot, environment);
    (environment.dir.clone(), files)
}

/// What manifests set for a node whose scope so far is `scope`, for files outside of a snapshot.
#[must_use]
pub fn assigned_over(
    session: Session<'_>,
    scope: &Scope,
    certname: &str,
    extent: Extent,
) -> Assigned {
    let environment = session.environment.dir.as_deref();
    let found = environment.map(|dir| manifest_paths(session.files, dir));
    let SiteFiles { files, unseen } = found.unwrap_or_default();
    let sources = files.into_iter().filter_map(|at| {
        let text = session.files.text(&at).ok()?;
        Some(session.configs.source(&at, &text))
    });
    let site = Site::new(sources.collect(), unseen).with_classes(ClassRun::UntilFailure);
    let language = SessionHost::new(session, Data::Allowed);
    let run = site.run(&language, scope, Some(certname), &HashMap::default());
    let mut assigned = run.assigned;
    assigned.is_for_agent = extent == Extent::NodeBlocks;
    if extent == Extent::TopScope {
        assigned.leave_block();
    }
    assigned
}

/// Known nodes with what the manifests of a root's environment do: the variables that they set, and
/// whether they declare classes or fail; `None` if they do nothing of that. The manifests are run for a node when one of their variables is first read.
#[must_use]
pub fn with_manifest_variables(
    nodes: &KnownNodes,
    snapshot: &Snapshot,
    root: &Root,
    settings: &Settings,
) -> Option<KnownNodes> {
    if nodes.is_empty() {
        return None;
    }
    let manifests = SiteManifests::of(snapshot, root, settings);
    manifests
        .may_matter()
        .then(|| nodes.with_manifests(Arc::new(manifests)))
}

/// A manifest that Puppet refuses.
pub struct RefusedManifest {
    /// Where it is.
    pub path: Arc<str>,
    /// The line of the first problem, from 1.
    pub line: u32,
    /// Puppet's message, without the position.
    pub message: String,
}

impl Analysis<'_> {
    /// The first of an environment's site manifests that Puppet refuses; then none of them is run.
    /// O(files), plus the text of that manifest.
    #[must_use]
    pub fn refused_manifest(self, root: &Root) -> Option<RefusedManifest> {
        let environment = self.snapshot.roots().environment_of(root)?;
        let mut tops = self.site_bodies(environment).into_iter();
        let file = tops.find(|top| top.code.is_broken)?.file;
        let parse = puppet::parse(file.text(), Dialect::Manifest);
        let problem = parse.problems.first()?;
        // Puppet reports no line for an error at the end of the file.
        let line = match problem.line_and_column(file.text()) {
            Some((line, _)) => line,
            None => file.text().lines().count().max(1),
        };
        Some(RefusedManifest {
            path: Arc::clone(file.path()),
            line: u32::try_from(line).ok()?,
            message: problem.message.clone(),
        })
    }

    /// The variables that the manifests of the environments set for some node.
    #[must_use]
    pub fn site_variables(self) -> BTreeSet<Arc<str>> {
        let environments = self.snapshot.roots().environments();
        let tops = environments.flat_map(|root| self.site_bodies(root));
        let set = tops.flat_map(|top| &top.code.variables);
        set.map(|it| Arc::clone(&it.name)).collect()
    }

    /// The variables that the manifests of every environment set at top scope, perhaps under conditions.
    #[must_use]
    pub fn top_variables(self) -> BTreeSet<Arc<str>> {
        let environments = self.snapshot.roots().environments();
        let of_each = environments.map(|root| -> BTreeSet<Arc<str>> {
            let tops = self.site_bodies(root).into_iter();
            let set = tops.flat_map(|top| &top.code.variables);
            let set = set.filter(|it| !it.in_node_block);
            set.map(|it| Arc::clone(&it.name)).collect()
        });
        of_each.reduce(|all, own| &all & &own).unwrap_or_default()
    }
}

/// The keys of lists of classes that a manifest includes. O(manifests).
#[must_use]
pub fn included_lists(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let tops = snapshot.files().filter_map(CodeBody::top);
    let lists = tops.flat_map(|top| {
        let lookups = top.code.lookups.iter();
        lookups.filter_map(move |lookup| list_included(top, lookup))
    });
    lists.map(|list| Arc::clone(list.key)).collect()
}

/// Whether the only node block is the default block.
pub(super) fn is_for_everyone(blocks: &[&NodeFact]) -> bool {
    match blocks {
        [only] => only.matches.contains(&NodeMatch::Default),
        _ => false,
    }
}

/// A list of classes that a call includes.
#[derive(Clone, Copy)]
pub(super) struct IncludedList<'c> {
    pub(super) key: &'c Arc<str>,
    /// Which levels of the list are included.
    pub(super) levels: ListLevels,
    pub(super) call: TextRange,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum ListLevels {
    All,
    Highest,
}

/// The list of classes that a call includes unconditionally; `None` if it includes none, or if
/// options may remove elements.
pub(super) fn list_included<'c>(
    CodeBody { file, code, .. }: CodeBody<'_>,
    lookup: &'c LookupFact,
) -> Option<IncludedList<'c>> {
    let LookupKey::Literal(key) = &lookup.key else {
        return None;
    };
    let merge = lookup.merge.map(|range| range.slice(file.text()));
    let merge = merge.map(|merge| merge.trim_matches(['\'', '"']));
    let mut includes = code.includes.iter();
    let mut is_included = || {
        includes.any(|it| {
            it.is_of_list(lookup.call) && !it.is_conditional && it.within == lookup.within
        })
    };
    let levels = match lookup.function {
        LookupFunction::HieraInclude => ListLevels::All,
        LookupFunction::HieraArray if is_included() => ListLevels::All,
        LookupFunction::Hiera if is_included() => ListLevels::Highest,
        LookupFunction::Lookup if !lookup.may_knock_out && is_included() => match merge {
            Some("unique" | "deep") => ListLevels::All,
            Some("first") | None => ListLevels::Highest,
            Some(_) => return None,
        },
        _ => return None,
    };
    // Of several keys, only the first one found is used.
    let mut others = code.lookups.iter();
    let is_only = others.all(|it| it.call != lookup.call || it == lookup);
    let is_sure = !lookup.is_conditional && is_only && !key.contains('.');
    is_sure.then_some(IncludedList {
        key,
        levels,
        call: lookup.call,
    })
}

#[cfg(test)]
#[path = "site_tests.rs"]
mod tests;
