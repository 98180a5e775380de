//! The known nodes for a file: the files that describe them, the selected node, and the facts the
//! user has set. If no file describes nodes, they are taken from the names of data files.
//!
//! It opens no file: texts outside of the snapshot come in through [`NodeInputs::outside`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::named_nodes::{NamedNodes, named_nodes, places_of};
use super::node_sources::{DescribedBy, NodeFiles, NodeSources, facts_of_tests};
use super::site::SiteManifests;
use super::{Analysis, NodeFile};
use crate::lookup::{ConfigCache, Place, Settings};
use crate::scope::{
    DEFAULT_ENVIRONMENT, FACTS_OF_TESTS, Imported, KnownNodes, NODES_FILES, NameRule, Node, Nodes,
};
use crate::value::HashMap;
use crate::workspace::{Files, Root, Snapshot, path};

/// Maximum number of cached sets of nodes; environments side by side have one each.
const MAX_CACHED: usize = 8;

/// The nodes that are known for a file.
#[derive(Debug, Default)]
pub struct NodeSet {
    /// The nodes as described by files.
    pub nodes: Nodes,
    /// The same nodes, prepared for lookups.
    pub known: KnownNodes,
    /// Certname of the selected node.
    pub selected: Option<Arc<str>>,
    /// Whether the node is unknown although others are known.
    pub selected_is_stray: bool,
    /// The facts below every node's own.
    pub common: HashMap,
    /// Read errors, in words.
    pub problems: Vec<String>,
    /// Where the nodes come from, highest priority first.
    pub origins: Vec<NodesOrigin>,
    /// The files that describe the nodes, highest priority first, then the file of default facts.
    pub files: Vec<NodeFile>,
    /// Files named like a nodes file that describe no nodes.
    pub passed_over: Vec<Arc<str>>,
    /// The rules for names of nodes.
    pub rules: Vec<NameRule>,
    /// The kind of files that describe them.
    pub described_by: DescribedBy,
    pub(super) of_sites: Arc<NodesOfSites>,
}

/// The nodes of environments as they are described, kept while data and code are edited: see
/// [`Analysis::nodes_of_site`](super::Analysis::nodes_of_site).
///
/// Without it an edit that concerns the classes of nodes binds the facts of all nodes again.
#[derive(Debug, Default)]
pub(super) struct NodesOfSites(Mutex<Vec<(SiteNames, KnownNodes)>>);

/// An environment's name, that of its members, and the names of nodes in its manifests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SiteNames {
    pub(super) environment: Arc<str>,
    pub(super) members_in: Arc<str>,
    pub(super) named: Vec<Arc<str>>,
}

impl NodesOfSites {
    /// The nodes of an environment.
    pub(super) fn of(&self, site: SiteNames, find: impl FnOnce() -> KnownNodes) -> KnownNodes {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, nodes)) = lock().iter().find(|(known, _)| *known == site) {
            return nodes.as_given();
        }
        let found = find();
        let mut known = lock();
        if known.len() >= MAX_CACHED {
            known.remove(0);
        }
        known.push((site, found.as_given()));
        found
    }
}

/// A source of nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodesOrigin {
    /// The file that describes them; `None` if they are taken from the names of data files.
    pub path: Option<Arc<str>>,
    /// How many nodes it gives.
    pub nodes: usize,
    /// Where and when they were imported, if they were.
    pub imported: Option<Arc<Imported>>,
}

/// The user's choice for a workspace folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeChoice {
    /// Certname of the selected node; `None` for any node.
    pub node: Option<Arc<str>>,
    /// Facts that override those of the selected node, or of every node: dotted path and value.
    pub facts: BTreeMap<String, serde_json::Value>,
}

/// The user's settings for nodes.
#[derive(Clone, Copy)]
pub struct NodeInputs<'a> {
    /// Paths of files that describe nodes; later ones take precedence. If one of them can be read,
    /// no nodes file is searched.
    pub nodes_files: &'a [String],
    /// Whether `nodes_files` describe all nodes. Otherwise settings can name more.
    pub are_all: bool,
    /// Path of the file with the facts below every node's own.
    pub facts_file: Option<&'a str>,
    /// The workspace's rules for names of nodes, highest priority first.
    pub rules: &'a [NameRule],
    /// The choice that applies to the file.
    pub choice: Option<&'a NodeChoice>,
    /// The text of a file that the snapshot does not hold.
    pub outside: &'a dyn Fn(&str) -> Option<Arc<str>>,
    /// The environment of nodes that have none of their own.
    pub environment: &'a str,
    /// Puppet's settings, for reading hierarchies.
    pub settings: &'a Settings,
    /// Cached configurations.
    pub configs: &'a ConfigCache,
}

impl<'a> NodeInputs<'a> {
    /// Only what the workspace itself tells.
    #[must_use]
    pub fn new(settings: &'a Settings, configs: &'a ConfigCache) -> NodeInputs<'a> {
        NodeInputs {
            nodes_files: &[],
            are_all: false,
            facts_file: None,
            rules: &[],
            choice: None,
            outside: &|_| None,
            environment: DEFAULT_ENVIRONMENT,
            settings,
            configs,
        }
    }
}

/// Caches sets of nodes by their sources, and the results of examining sources.
#[derive(Debug, Default)]
pub struct NodeCache(Mutex<CachedNodes>);

#[derive(Debug, Default)]
struct CachedNodes {
    /// Least recently used first.
    sets: Vec<(NodeSources, Arc<NodeSet>)>,
    /// Whether files found by name describe nodes.
    shapes: Vec<(NodeFile, bool)>,
    named: Vec<(NamedBasis, NamedNodes)>,
    facts: Vec<FactsOfTests>,
    with_manifests: Vec<NodesWithManifests>,
}

/// The facts of tests in some folders.
#[derive(Debug)]
struct FactsOfTests {
    /// See [`Snapshot::facts_of_tests`].
    state: (u64, u64),
    folders: Vec<Arc<str>>,
    files: Arc<[NodeFile]>,
}

/// Nodes as described by files, and the same with the variables that an environment's manifests set.
#[derive(Clone, Debug)]
struct NodesWithManifests {
    described: Arc<NodeSet>,
    manifests: Arc<SiteManifests>,
    set: Arc<NodeSet>,
}

impl NodesWithManifests {
    fn holds_in(&self, snapshot: &Snapshot, root: &Root, settings: &Settings) -> bool {
        let of = (root, &self.set.known);
        self.manifests.holds_in(snapshot, of, settings)
    }
}

/// The inputs that the nodes from file names depend on.
#[derive(Debug)]
struct NamedBasis {
    shape: Option<u64>,
    folder: Arc<str>,
    places: Vec<Arc<[Place]>>,
}

impl NamedBasis {
    fn is(&self, other: &NamedBasis) -> bool {
        let mut places = self.places.iter().zip(&other.places);
        self.shape.is_some()
            && self.shape == other.shape
            && self.folder == other.folder
            && self.places.len() == other.places.len()
            && places.all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

impl NodeCache {
    /// The nodes for a file, with the variables that its environment's manifests set: O(roots and
    /// files that settings name) unless a source has changed.
    #[must_use]
    pub fn nodes(&self, snapshot: &Snapshot, path: &str, inputs: &NodeInputs<'_>) -> Arc<NodeSet> {
        let described = self.described(snapshot, path, inputs);
        let Some(root) = snapshot
            .root_of(path)
            .filter(|_| !described.known.is_empty())
        else {
            return described;
        };
        let find = || {
            let mut known = self.lock().with_manifests.clone().into_iter();
            let known = known.find(|known| {
                Arc::ptr_eq(&known.described, &described)
                    && known.holds_in(snapshot, root, inputs.settings)
            });
            known.map(|known| known.set)
        };
        if let Some(known) = find() {
            return known;
        }
        let manifests = SiteManifests::of(snapshot, root, inputs.settings);
        let manifests = Arc::new(manifests.with_configs(inputs.configs));
        let set = if manifests.may_matter() {
            Arc::new(described.with_manifests(manifests.clone()))
        } else {
            described.clone()
        };
        // Another request may have made them meanwhile: later ones should find the same.
        if let Some(known) = find() {
            return known;
        }
        let entry = NodesWithManifests {
            described,
            manifests,
            set: set.clone(),
        };
        keep(&mut self.lock().with_manifests, entry);
        set
    }

    /// The nodes for a file as files and settings describe them. O(roots and files that settings
    /// name) unless a source has changed.
    #[must_use]
    pub fn described(
        &self,
        snapshot: &Snapshot,
        path: &str,
        inputs: &NodeInputs<'_>,
    ) -> Arc<NodeSet> {
        let mut sources = self.sources(snapshot, path, inputs);
        if sources.described_by != DescribedBy::NodesFile && !inputs.are_all {
            sources.named = self.named_nodes(snapshot, path, inputs);
        }
        self.set(sources)
    }

    /// The same without the nodes that data files are named after.
    #[must_use]
    pub fn of_files(
        &self,
        snapshot: &Snapshot,
        path: &str,
        inputs: &NodeInputs<'_>,
    ) -> Arc<NodeSet> {
        self.set(self.sources(snapshot, path, inputs))
    }

    fn set(&self, sources: NodeSources) -> Arc<NodeSet> {
        let place = |cached: &CachedNodes| {
            let mut sets = cached.sets.iter();
            sets.position(|(known, _)| *known == sources)
        };
        {
            let mut cached = self.lock();
            if let Some(at) = place(&cached) {
                let (_, set) = cached.sets.remove(at);
                // The next request compares with the newest sources by their pointers.
                cached.sets.push((sources, set.clone()));
                return set;
            }
        }
        let set = Arc::new(sources.read());
        // Another request may have read them meanwhile: later ones should find the same.
        {
            let cached = self.lock();
            if let Some(at) = place(&cached) {
                return cached.sets[at].1.clone();
            }
        }
        for problem in &set.problems {
            tracing::warn!("{problem}");
        }
        for path in &set.passed_over {
            tracing::info!(
                "{path} is not a nodes file (certname: facts, trusted, variables): it is not used"
            );
        }
        for origin in &set.origins {
            match &origin.path {
                Some(path) => tracing::info!("{} nodes are known from {path}", origin.nodes),
                None => tracing::info!("{} nodes are known by the names of files", origin.nodes),
            }
        }
        keep(&mut self.lock().sets, (sources, set.clone()));
        set
    }

    /// Each change of a list is one push or take, so a panic leaves it valid.
    fn lock(&self) -> std::sync::MutexGuard<'_, CachedNodes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sources for a file: those in the folders of its environments and of the workspace around
    /// it. O(roots and files that settings name), and O(facts of tests) if one of these has changed.
    fn sources(&self, snapshot: &Snapshot, path: &str, inputs: &NodeInputs<'_>) -> NodeSources {
        let file = |at: &str| -> Option<NodeFile> {
            let here = snapshot
                .file(at)
                .filter(|file| file.format().is_some() && file.refused().is_none());
            let text = here.map(|file| file.text().clone());
            Some(NodeFile {
                path: Arc::from(at),
                text: text.or_else(|| (inputs.outside)(at))?,
            })
        };
        let list = |folder: &str| {
            let names = snapshot.list(folder).into_iter();
            names.map(|(name, _)| name).collect()
        };
        let folders = folders_of(snapshot, path);
        let look = NodeFiles {
            file: &file,
            facts_of_tests: &|| self.facts_of_tests(snapshot, &folders, &list, &file),
            names_nodes: &|file| self.names_nodes(file),
        };
        NodeSources::of_folders(&folders, inputs, &look)
    }

    /// The facts of tests in some folders, cached until one of them changes.
    fn facts_of_tests(
        &self,
        snapshot: &Snapshot,
        folders: &[&Arc<str>],
        list: &dyn Fn(&str) -> Vec<Arc<str>>,
        file: &dyn Fn(&str) -> Option<NodeFile>,
    ) -> Arc<[NodeFile]> {
        let state = snapshot.facts_of_tests();
        let is_same = |known: &&FactsOfTests| {
            let of_folders = known.folders.iter().eq(folders.iter().copied());
            known.state == state && of_folders
        };
        if let Some(known) = self.lock().facts.iter().find(is_same) {
            return known.files.clone();
        }
        let files = facts_of_tests(folders, list, file);
        let known = FactsOfTests {
            state,
            folders: folders.iter().copied().cloned().collect(),
            files: files.clone(),
        };
        keep(&mut self.lock().facts, known);
        files
    }

    /// Whether a file describes nodes, cached.
    fn names_nodes(&self, file: &NodeFile) -> bool {
        let known = |cached: &CachedNodes| {
            let mut shapes = cached.shapes.iter();
            shapes
                .find(|(known, _)| known == file)
                .map(|(_, is_one)| *is_one)
        };
        if let Some(is_one) = known(&self.lock()) {
            return is_one;
        }
        let is_one = file.names_nodes();
        keep(&mut self.lock().shapes, (file.clone(), is_one));
        is_one
    }

    /// The nodes that data files are named after, cached.
    fn named_nodes(&self, snapshot: &Snapshot, path: &str, inputs: &NodeInputs<'_>) -> NamedNodes {
        let no_nodes = KnownNodes::default();
        let analysis = Analysis::new(snapshot, inputs.settings, inputs.configs, &no_nodes);
        let Some(view) = analysis.answering(path) else {
            return NamedNodes::default();
        };
        let basis = NamedBasis {
            shape: snapshot.shape(),
            folder: view.root.dir.clone(),
            places: places_of(&view),
        };
        let known = |cached: &CachedNodes| {
            let mut named = cached.named.iter();
            named
                .find(|(known, _)| known.is(&basis))
                .map(|(_, nodes)| nodes.clone())
        };
        if let Some(nodes) = known(&self.lock()) {
            return nodes;
        }
        let nodes = named_nodes(analysis, &basis.folder, &basis.places);
        keep(&mut self.lock().named, (basis, nodes.clone()));
        nodes
    }
}

/// Adds to the cache; if it is full, the oldest entry is evicted.
fn keep<T>(cached: &mut Vec<T>, entry: T) {
    if cached.len() >= MAX_CACHED {
        cached.remove(0);
    }
    cached.push(entry);
}

/// Whether the known nodes may depend on the file at a path: settings name it (`named`), or
/// it is in the folder of an environment or of the workspace, under a name of such files.
#[must_use]
pub fn describes_nodes(snapshot: &Snapshot, at: &str, named: &[Arc<str>]) -> bool {
    let environments = snapshot.roots().environments().map(|root| &root.dir);
    let mut folders = environments.chain(snapshot.folders());
    let is_taken = |inside: &str| {
        NODES_FILES.contains(&inside) || path::parent(inside) == Some(FACTS_OF_TESTS)
    };
    named.iter().any(|named| **named == *at)
        || folders.any(|folder| path::within(at, folder).is_some_and(is_taken))
}

/// The nodes files in the folders of environments and of the workspace that are not read as data, such
/// as those of a large fleet. O(environments).
#[must_use]
pub fn large_nodes_files(snapshot: &Snapshot) -> Vec<Arc<str>> {
    let environments = snapshot.roots().environments().map(|root| &root.dir);
    let folders = environments.chain(snapshot.folders());
    let paths = folders.flat_map(|folder| NODES_FILES.map(|name| path::join(folder, name)));
    let files = paths.filter_map(|at| snapshot.file(&at).map(Arc::clone));
    let files = files.filter(|file| file.refused().is_some());
    let paths: BTreeSet<Arc<str>> = files.map(|file| file.path().clone()).collect();
    paths.into_iter().collect()
}

/// The folders whose nodes files apply to a file, highest priority first.
fn folders_of<'a>(snapshot: &'a Snapshot, file: &str) -> Vec<&'a Arc<str>> {
    let root = snapshot.root_of(file);
    let environments = root
        .into_iter()
        .flat_map(|root| snapshot.roots().environments_of(root))
        .map(|environment| &environment.dir);
    let folders = snapshot.folders().iter();
    let around = folders.filter(|folder| path::within(file, folder).is_some());
    environments.chain(around).collect()
}

impl NodeSet {
    /// The same nodes with the variables that manifests set.
    fn with_manifests(&self, manifests: Arc<SiteManifests>) -> NodeSet {
        NodeSet {
            known: self.known.with_manifests(manifests),
            nodes: self.nodes.clone(),
            selected: self.selected.clone(),
            selected_is_stray: self.selected_is_stray,
            common: self.common.clone(),
            problems: self.problems.clone(),
            origins: self.origins.clone(),
            files: self.files.clone(),
            passed_over: self.passed_over.clone(),
            rules: self.rules.clone(),
            described_by: self.described_by,
            of_sites: Arc::clone(&self.of_sites),
        }
    }

    /// Paths of the files that describe the nodes.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let origins = self.origins.iter();
        origins.filter_map(|origin| origin.path.as_deref())
    }

    /// The node of that name; with only the common facts if no file describes it.
    #[must_use]
    pub fn node(&self, certname: &str) -> Arc<Node> {
        let unknown = || Arc::new(Node::new(certname, &self.common));
        self.nodes.get(certname).cloned().unwrap_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lookup::PuppetVersion;
    use crate::value::Value;
    use crate::workspace::{Change, Workspace};

    #[test]
    fn known_sources_are_compared_by_their_newest_lists() {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/w".into()]));
        let levels = "version: 5\nhierarchy: [{name: n, path: 'nodes/%{trusted.certname}.yaml'}]\n";
        workspace.apply(Change::open("/w/hiera.yaml", levels));
        let settings = Settings::for_version(PuppetVersion::V8);
        let configs = ConfigCache::default();
        let (inputs, cache) = (NodeInputs::new(&settings, &configs), NodeCache::default());
        let path = "/w/data/nodes/web01.example.com.yaml";
        let snapshot = workspace.apply(Change::open(path, "k: 1\n"));
        let before = cache.nodes(&snapshot, path, &inputs);
        assert_eq!(before.known.len(), 1);
        // Another file changes no node, but their names are listed again.
        let snapshot = workspace.apply(Change::open("/w/data/other.yaml", "k: 1\n"));
        let after = cache.nodes(&snapshot, path, &inputs);
        assert!(Arc::ptr_eq(&before, &after));
        let cached = cache.lock();
        let newest = cached
            .named
            .last()
            .and_then(|(_, named)| named.iter().next());
        let compared = cached
            .sets
            .last()
            .and_then(|(known, _)| known.named.iter().next());
        let both = newest.zip(compared).expect("the names of files are used");
        assert!(Arc::ptr_eq(both.0, both.1));
    }

    #[test]
    fn facts_of_tests_are_listed_again_after_they_changed() {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/w".into()]));
        let levels = "version: 5\nhierarchy: [{name: n, path: '%{facts.zone}.yaml'}]\n";
        workspace.apply(Change::open("/w/hiera.yaml", levels));
        let fact = |name: &str, zone: &str| {
            let at = format!("/w/spec/fixtures/facts/{name}.json");
            Change::open(at, format!("{{\"zone\": \"{zone}\"}}"))
        };
        workspace.apply(fact("one", "red"));
        workspace.apply(fact("two", "red"));
        let settings = Settings::for_version(PuppetVersion::V8);
        let configs = ConfigCache::default();
        let (inputs, cache) = (NodeInputs::new(&settings, &configs), NodeCache::default());
        let path = "/w/data/red.yaml";
        let zones = |snapshot: &Snapshot| {
            let set = cache.nodes(snapshot, path, &inputs);
            let zones = set.nodes.all().iter().map(|node| {
                let zone = node.facts.get("zone");
                let zone = zone.as_ref().and_then(Value::as_str).unwrap_or_default();
                format!("{}: {zone}", node.certname)
            });
            zones.collect::<Vec<_>>().join(", ")
        };
        let listed = || cache.lock().facts.last().map(|known| known.files.clone());
        let same = |one: &Option<Arc<[NodeFile]>>, other: &Option<Arc<[NodeFile]>>| {
            let both = one.as_ref().zip(other.as_ref());
            both.is_some_and(|(one, other)| Arc::ptr_eq(one, other))
        };
        let snapshot = workspace.apply(Change::open(path, "k: 1\n"));
        assert_eq!(zones(&snapshot), "one: red, two: red");
        let first = listed();
        // An edit elsewhere.
        let snapshot = workspace.apply(Change::open(path, "k: 2\n"));
        assert_eq!(zones(&snapshot), "one: red, two: red");
        assert!(same(&first, &listed()));
        // An edit of a fact, a new file, a removed one.
        let snapshot = workspace.apply(fact("two", "blue"));
        assert_eq!(zones(&snapshot), "one: red, two: blue");
        assert!(!same(&first, &listed()));
        let snapshot = workspace.apply(fact("three", "red"));
        assert_eq!(zones(&snapshot), "one: red, three: red, two: blue");
        let gone = "/w/spec/fixtures/facts/one.json".into();
        let snapshot = workspace.apply(Change::Close { path: gone });
        assert_eq!(zones(&snapshot), "three: red, two: blue");
    }
}
