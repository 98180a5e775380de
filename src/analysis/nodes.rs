//! Which nodes are known for a file: which files describe them, how these files are read, which node
//! is selected and which facts the user has set.
//!
//! It opens no file: texts outside of the snapshot come in through [`NodeInputs::outside`].

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::Analysis;
use crate::scope::{
    FACTS_OF_TESTS, KnownNodes, NODES_FILES, Node, Nodes, plain_yaml, read_json_nodes, read_nodes,
};
use crate::value::{HashMap, Value, from_json, load_yaml, symbol_keys_to_strings};
use crate::workspace::{Files as _, Snapshot, path};

/// How many sets of nodes are cached: environments side by side have one each.
const MOST_CACHED: usize = 8;

/// Ends of the names of files that describe nodes.
const ENDINGS: [&str; 4] = [".json", ".yaml", ".yml", ".facts"];

/// The nodes that are known for a file.
#[derive(Debug, Default)]
pub struct NodeSet {
    /// The nodes as their files describe them.
    pub nodes: Nodes,
    /// The same nodes, ready for lookups.
    pub known: KnownNodes,
    /// Certname of the selected node.
    pub selected: Option<Arc<str>>,
    /// The facts below every node's own.
    pub common: HashMap,
    /// What could not be read, in words.
    pub problems: Vec<String>,
}

/// What the user has chosen for a workspace folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeChoice {
    /// Certname of the selected node; none for any node.
    pub node: Option<Arc<str>>,
    /// Facts over those of the selected node, or over every node's: dotted path and value.
    pub facts: BTreeMap<String, serde_json::Value>,
}

/// What the user says of nodes.
#[derive(Clone, Copy)]
pub struct NodeInputs<'a> {
    /// Paths of files that describe nodes, highest priority first.
    pub nodes_files: &'a [String],
    /// Path of the file with the facts below every node's own.
    pub facts_file: Option<&'a str>,
    /// What is chosen for the file.
    pub choice: Option<&'a NodeChoice>,
    /// The text of a file that the snapshot does not hold.
    pub outside: &'a dyn Fn(&str) -> Option<Arc<str>>,
}

/// A file that describes nodes or facts.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeFile {
    /// Its path.
    pub path: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
}

/// What a set of nodes is made from.
#[derive(Debug, Default, PartialEq)]
pub struct NodeSources {
    facts: Option<NodeFile>,
    /// Highest priority first.
    files: Vec<NodeFile>,
    choice: NodeChoice,
}

/// Sets of nodes by their sources, the last used at the end.
#[derive(Debug, Default)]
pub struct NodeCache(Mutex<Vec<(NodeSources, Arc<NodeSet>)>>);

impl NodeCache {
    /// The nodes for a file: O(roots) unless a source has changed.
    #[must_use]
    pub fn nodes(&self, snapshot: &Snapshot, path: &str, inputs: &NodeInputs<'_>) -> Arc<NodeSet> {
        let sources = NodeSources::of(snapshot, path, inputs);
        // Each change of the list is one push or take: it is whole even after a panic.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut cached = lock();
            if let Some(at) = cached.iter().position(|(known, _)| *known == sources) {
                let entry = cached.remove(at);
                let set = entry.1.clone();
                cached.push(entry);
                return set;
            }
        }
        let set = Arc::new(sources.read());
        for problem in &set.problems {
            tracing::warn!("{problem}");
        }
        let mut cached = lock();
        if cached.len() >= MOST_CACHED {
            cached.remove(0);
        }
        cached.push((sources, set.clone()));
        set
    }
}

impl NodeSources {
    /// The sources for a file: the files that the user names; then nodes files in the folders of the
    /// environments that the file belongs to and in the workspace folders around it; where there is
    /// none of these, the facts that the repository's own tests keep. O(roots).
    #[must_use]
    pub fn of(snapshot: &Snapshot, path: &str, inputs: &NodeInputs<'_>) -> NodeSources {
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
        let named = inputs.nodes_files.iter();
        let mut files: Vec<NodeFile> = named.filter_map(|at| file(at)).collect();
        let add = |files: &mut Vec<NodeFile>, at: String| {
            if files.iter().all(|known| *known.path != *at) {
                files.extend(file(&at));
            }
        };
        let folders = folders_of(snapshot, path);
        for folder in &folders {
            for name in NODES_FILES {
                add(&mut files, path::join(folder, name));
            }
        }
        if files.is_empty() {
            for folder in &folders {
                let facts = path::join(folder, FACTS_OF_TESTS);
                for (name, _) in snapshot.list(&facts) {
                    add(&mut files, path::join(&facts, &name));
                }
            }
        }
        NodeSources {
            facts: inputs.facts_file.and_then(file),
            files,
            choice: inputs.choice.cloned().unwrap_or_default(),
        }
    }

    /// Paths of the files that describe the nodes.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| &*file.path)
    }

    /// The files that describe the nodes, highest priority first, then that of the default facts.
    #[must_use]
    pub fn into_files(self) -> Vec<NodeFile> {
        self.files.into_iter().chain(self.facts).collect()
    }

    /// Reads the sources. What cannot be read is left out, and named in the problems.
    #[must_use]
    pub fn read(&self) -> NodeSet {
        let mut problems = Vec::new();
        let common = self.facts.as_ref().map(NodeFile::facts);
        let common = common.unwrap_or_else(|| Ok(HashMap::default()));
        let common = common.unwrap_or_else(|problem| {
            problems.push(problem);
            HashMap::default()
        });
        let mut nodes: Vec<Arc<Node>> = Vec::new();
        let mut names: HashSet<Arc<str>> = HashSet::new();
        for file in &self.files {
            match file.nodes(&common) {
                Ok(read) => {
                    let new = read.all().iter();
                    nodes.extend(
                        new.filter(|node| names.insert(node.certname.clone()))
                            .cloned(),
                    );
                }
                Err(problem) => problems.push(problem),
            }
        }
        if let Some(selected) = &self.choice.node
            && !names.contains(selected)
        {
            nodes.push(Arc::new(match common.is_empty() {
                true => Node::named(selected),
                false => Node::new(selected, &common),
            }));
        }
        self.set_facts(&mut nodes);
        let nodes: Nodes = nodes.into_iter().collect();
        NodeSet {
            known: KnownNodes::new(&nodes),
            nodes,
            selected: self.choice.node.clone(),
            common,
            problems,
        }
    }

    /// Sets the facts that the user has chosen.
    fn set_facts(&self, nodes: &mut [Arc<Node>]) {
        let selected = self.choice.node.as_ref();
        let is_meant = |node: &Node| selected.is_none_or(|name| *name == node.certname);
        for (at, value) in &self.choice.facts {
            let at = at.strip_prefix("facts.").unwrap_or(at);
            let Ok(value) = from_json(&value.to_string()) else {
                continue;
            };
            for node in nodes.iter_mut().filter(|node| is_meant(node)) {
                Arc::make_mut(node).facts.set(at, value.clone());
            }
        }
    }
}

/// The folders whose nodes files count for a file, highest priority first.
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

/// Variables that name a node.
const NAMES: [&str; 7] = [
    "trusted.certname",
    "facts.clientcert",
    "clientcert",
    "facts.networking.fqdn",
    "networking.fqdn",
    "facts.fqdn",
    "fqdn",
];

impl Analysis<'_> {
    /// Names of the nodes that have a data file of their own in the hierarchy that governs a file,
    /// ordered by bytes. O(files).
    #[must_use]
    pub fn nodes_with_files(self, path: &str) -> Vec<Arc<str>> {
        let Some(view) = self.governing(path) else {
            return Vec::new();
        };
        let is_name = |name: &str| NAMES.contains(&name.trim_start_matches("::"));
        let places = view.places(&view.layer);
        let places = places.iter();
        let places = places.filter(|place| place.template.variables().any(|name| is_name(name)));
        let places: Vec<_> = places.collect();
        let mut names: BTreeSet<Arc<str>> = BTreeSet::new();
        for file in self.snapshot.files() {
            for place in &places {
                let bound = place.template.bind(file.path()).unwrap_or_default();
                let mut bound = bound.into_iter().filter(|(name, _)| is_name(name));
                names.extend(bound.next().map(|(_, value)| Arc::from(value)));
            }
        }
        names.into_iter().collect()
    }
}

/// Whether a file in a folder of files with nodes is one of them, by its name.
#[must_use]
pub fn describes_nodes(name: &str) -> bool {
    ENDINGS.iter().any(|end| name.ends_with(end))
}

impl NodeSet {
    /// The node of that name; one of which only the common facts are known where no file describes
    /// it.
    #[must_use]
    pub fn node(&self, certname: &str) -> Arc<Node> {
        let unknown = || Arc::new(Node::new(certname, &self.common));
        self.nodes.get(certname).cloned().unwrap_or_else(unknown)
    }
}

impl NodeFile {
    /// The nodes of a nodes file, or of facts that were saved in any form, over common facts.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    pub fn nodes(&self, common: &HashMap) -> Result<Nodes, String> {
        let name = path::name(&self.path);
        let stem = ENDINGS.iter().find_map(|end| name.strip_suffix(end));
        let stem = stem.unwrap_or(name);
        let named = |error: crate::scope::NodesError| format!("{}: {}", self.path, error.message);
        let json = || read_json_nodes(&self.text, stem, common).map_err(named);
        let yaml = || read_nodes(&self.yaml()?, stem, common).map_err(named);
        self.by_name(json, yaml)
    }

    /// The facts of a facts file: a hash of facts, or what `puppet facts` and Puppet's fact cache
    /// wrap one in.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    pub fn facts(&self) -> Result<HashMap, String> {
        let json = || from_json(&self.text).map_err(|error| format!("{}: {error}", self.path));
        let value = self.by_name(json, || self.yaml())?;
        let wrapped = value
            .get("values")
            .filter(|values| values.as_hash().is_some() && value.get("name").is_some());
        let facts = wrapped.unwrap_or(&value).as_hash().cloned();
        // puppet/application/lookup.rb
        facts.ok_or_else(|| {
            format!(
                "Incorrectly formatted data in {} given via the --facts flag (only accepts yaml \
                 and json files)",
                self.path
            )
        })
    }

    /// Reads as JSON or YAML, by the file's name; others are tried as JSON, then as YAML
    /// (puppet/application/lookup.rb).
    fn by_name<T>(
        &self,
        json: impl FnOnce() -> Result<T, String>,
        yaml: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, String> {
        match self.path.rsplit_once('.') {
            Some((_, "json")) => json(),
            Some((_, "yaml" | "yml")) => yaml(),
            Some(_) | None => json().or_else(|_| yaml()),
        }
    }

    fn yaml(&self) -> Result<Value, String> {
        load_yaml(plain_yaml(&self.text).as_bytes())
            .map(symbol_keys_to_strings)
            .map_err(|error| error.message(&self.path))
    }
}
