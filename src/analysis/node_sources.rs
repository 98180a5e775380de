//! The sources of the known nodes: the files that settings name, nodes files and facts of tests in
//! folders, and the nodes that settings or data files name.
//!
//! It opens no file.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::named_nodes::NamedNodes;
use super::nodes::{NodeChoice, NodeInputs, NodeSet, NodesOrigin};
use super::{NodeFile, PROJECT_FILE};
use crate::scope::{
    FACTS_OF_TESTS, Knowledge, KnownNodes, NODES_FILES, NameRule, Node, Nodes, Told,
};
use crate::value::{HashMap, from_json};
use crate::workspace::path;

#[derive(Debug, Default, PartialEq)]
pub(super) struct NodeSources {
    facts: Option<NodeFile>,
    /// Highest priority first. Shared, so that the lists of two requests are compared in O(1).
    files: Arc<[NodeFile]>,
    /// The nodes that data files are named after, if used.
    pub(super) named: NamedNodes,
    /// Whether the files describe all nodes.
    are_all: bool,
    rules: Vec<NameRule>,
    choice: NodeChoice,
    /// The environment of nodes that have none of their own.
    environment: String,
    passed_over: Vec<Arc<str>>,
    pub(super) described_by: DescribedBy,
}

/// The files of a snapshot that describe nodes.
pub(super) struct NodeFiles<'a> {
    /// A file by its path, if it exists and can be read.
    pub(super) file: &'a dyn Fn(&str) -> Option<NodeFile>,
    /// The facts of tests in the folders: see [`facts_of_tests`].
    pub(super) facts_of_tests: &'a dyn Fn() -> Arc<[NodeFile]>,
    /// Whether a file describes nodes: [`NodeFile::names_nodes`].
    pub(super) names_nodes: &'a dyn Fn(&NodeFile) -> bool,
}

/// What describes the nodes in some folders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DescribedBy {
    /// No file.
    #[default]
    Nothing,
    /// Only the facts that the repository's own tests keep: nodes that data files are named after
    /// are known too.
    FactsOfTests,
    /// Nodes files.
    NodesFile,
}

/// The facts that the tests of some folders keep, highest priority first: one node a file.
/// O(files).
pub(super) fn facts_of_tests(
    folders: &[&Arc<str>],
    list: &dyn Fn(&str) -> Vec<Arc<str>>,
    file: &dyn Fn(&str) -> Option<NodeFile>,
) -> Arc<[NodeFile]> {
    let mut found = Vec::new();
    let mut known: HashSet<Arc<str>> = HashSet::new();
    for folder in folders {
        let facts = path::join(folder, FACTS_OF_TESTS);
        let files = list(&facts).into_iter();
        let files = files.filter_map(|name| file(&path::join(&facts, &name)));
        found.extend(files.filter(|file| known.insert(file.path.clone())));
    }
    found.into()
}

#[derive(Default)]
struct FoundFiles {
    /// Highest priority first.
    files: Arc<[NodeFile]>,
    described_by: DescribedBy,
    passed_over: Vec<Arc<str>>,
}

/// The files that describe nodes in some folders: nodes files, else the facts that tests keep.
fn files_of(folders: &[&Arc<str>], look: &NodeFiles<'_>) -> FoundFiles {
    let (mut files, mut passed_over) = (Vec::<NodeFile>::new(), Vec::<Arc<str>>::new());
    for folder in folders {
        for name in NODES_FILES {
            let at = path::join(folder, name);
            let known = files.iter().map(|file| &file.path).chain(&passed_over);
            if known.into_iter().any(|known| **known == *at) {
                continue;
            }
            let Some(file) = (look.file)(&at) else {
                continue;
            };
            if (look.names_nodes)(&file) {
                files.push(file);
            } else {
                passed_over.push(file.path);
            }
        }
    }
    let (files, described_by) = if files.is_empty() {
        let facts = (look.facts_of_tests)();
        let described_by = if facts.is_empty() {
            DescribedBy::Nothing
        } else {
            DescribedBy::FactsOfTests
        };
        (facts, described_by)
    } else {
        (files.into(), DescribedBy::NodesFile)
    };
    FoundFiles {
        files,
        described_by,
        passed_over,
    }
}

impl NodeSources {
    /// The first of these that exists: the files that the user names, nodes files in some folders,
    /// the facts that tests keep there.
    pub(super) fn of_folders(
        folders: &[&Arc<str>],
        inputs: &NodeInputs<'_>,
        look: &NodeFiles<'_>,
    ) -> NodeSources {
        let named = inputs.nodes_files.iter().rev();
        let named: Vec<NodeFile> = named.filter_map(|at| (look.file)(at)).collect();
        let found = if named.is_empty() {
            if inputs.are_all {
                FoundFiles::default()
            } else {
                files_of(folders, look)
            }
        } else {
            FoundFiles {
                described_by: DescribedBy::NodesFile,
                files: named.into(),
                passed_over: Vec::new(),
            }
        };
        NodeSources {
            facts: inputs.facts_file.and_then(look.file),
            files: found.files,
            named: NamedNodes::default(),
            are_all: inputs.are_all,
            rules: inputs.rules.to_vec(),
            choice: inputs.choice.cloned().unwrap_or_default(),
            environment: inputs.environment.to_owned(),
            passed_over: found.passed_over,
            described_by: found.described_by,
        }
    }

    /// Reads the sources. Unreadable ones are left out and listed in the problems.
    pub(super) fn read(&self) -> NodeSet {
        let mut problems = Vec::new();
        let common = self.facts.as_ref().map(NodeFile::facts);
        let common = common.unwrap_or_else(|| Ok(HashMap::default()));
        let common = common.unwrap_or_else(|problem| {
            problems.push(problem);
            HashMap::default()
        });
        let mut merged = MergedNodes::default();
        for file in self.files.iter() {
            match file.nodes(&common) {
                Ok(read) => merged.add_file(&file.path, &read),
                Err(problem) => problems.push(problem),
            }
        }
        for node in &mut merged.nodes {
            if node.told.facts != Told::All {
                *node = with_common(node.clone(), &common);
            }
        }
        let of_files = self.nodes_of_files().into_iter();
        merged.add_names(None, of_files.map(|node| with_common(node, &common)));
        let of_settings = self.names_with_meaning().filter(|_| !self.are_all);
        let of_settings = of_settings.map(Node::named);
        let of_settings = of_settings.map(|node| with_common(Arc::new(node), &common));
        merged.add_names(Some(Arc::from(PROJECT_FILE)), of_settings);
        let MergedNodes {
            mut nodes,
            places,
            origins,
        } = merged;
        let mut selected_is_stray = false;
        if let Some(selected) = &self.choice.node
            && !places.contains_key(selected)
        {
            selected_is_stray = !nodes.is_empty();
            nodes.push(Arc::new(if common.is_empty() {
                Node::named(selected)
            } else {
                Node::new(selected, &common)
            }));
        }
        for node in nodes.iter_mut().filter(|_| !self.rules.is_empty()) {
            let node = Arc::make_mut(node);
            for rule in &self.rules {
                rule.apply(node);
            }
        }
        self.set_facts(&mut nodes);
        let mut nodes: Nodes = nodes.into_iter().collect();
        nodes.imported = origins.iter().find_map(|origin| origin.imported.clone());
        NodeSet {
            known: KnownNodes::in_environment(&nodes, &self.environment),
            nodes,
            selected: self.choice.node.clone(),
            selected_is_stray,
            common,
            problems,
            origins,
            files: self.files.iter().chain(&self.facts).cloned().collect(),
            passed_over: self.passed_over.clone(),
            rules: self.rules.clone(),
            described_by: self.described_by,
            of_sites: Arc::default(),
        }
    }

    /// The names that settings list one by one.
    fn names_with_meaning(&self) -> impl Iterator<Item = &str> {
        let single = self.rules.iter().filter(|rule| rule.pattern.is_none());
        single.map(|rule| &*rule.name)
    }

    /// The nodes that data files are named after. A node known by the first part of its name gets
    /// its full name if settings list exactly one such name.
    fn nodes_of_files(&self) -> Vec<Arc<Node>> {
        let mut full_names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for name in self.names_with_meaning() {
            if let Some((host, _)) = name.split_once('.') {
                full_names.entry(host).or_default().insert(name);
            }
        }
        let renamed = |node: &Arc<Node>| {
            let names = full_names.get(&*node.certname);
            let names =
                names.filter(|names| names.len() == 1 && node.knowledge == Knowledge::Label);
            match names.and_then(BTreeSet::first) {
                Some(name) => Arc::new(Node {
                    facts: node.facts.clone(),
                    variables: node.variables.clone(),
                    environment: node.environment.clone(),
                    ..Node::named(name)
                }),
                None => node.clone(),
            }
        };
        self.named.iter().map(renamed).collect()
    }

    /// Sets the facts that the user has chosen.
    fn set_facts(&self, nodes: &mut [Arc<Node>]) {
        let selected = self.choice.node.as_ref();
        let is_selected = |node: &Node| selected.is_none_or(|name| *name == node.certname);
        for (at, value) in &self.choice.facts {
            let at = at.strip_prefix("facts.").unwrap_or(at);
            let Ok(value) = from_json(&value.to_string()) else {
                continue;
            };
            for node in nodes.iter_mut().filter(|node| is_selected(node)) {
                Arc::make_mut(node).set_fact(at, value.clone());
            }
        }
    }
}

/// Nodes of several sources.
#[derive(Default)]
struct MergedNodes {
    nodes: Vec<Arc<Node>>,
    /// The index of each node, by name.
    places: BTreeMap<Arc<str>, usize>,
    origins: Vec<NodesOrigin>,
}

impl MergedNodes {
    /// Adds the nodes of a file. What files of more priority do not tell of a node is taken from it.
    fn add_file(&mut self, path: &Arc<str>, read: &Nodes) {
        for node in read.all() {
            match self.places.get(&node.certname) {
                Some(&at) => self.nodes[at] = Arc::new(self.nodes[at].over(node)),
                None => self.push(node.clone()),
            }
        }
        self.origins.push(NodesOrigin {
            path: Some(path.clone()),
            nodes: read.all().len(),
            imported: read.imported.clone(),
        });
    }

    /// Adds nodes known by their names, unless a source of more priority has them.
    fn add_names(&mut self, path: Option<Arc<str>>, named: impl Iterator<Item = Arc<Node>>) {
        let before = self.nodes.len();
        for node in named {
            if !self.places.contains_key(&node.certname) {
                self.push(node);
            }
        }
        let nodes = self.nodes.len() - before;
        if nodes > 0 {
            self.origins.push(NodesOrigin {
                path,
                nodes,
                imported: None,
            });
        }
    }

    fn push(&mut self, node: Arc<Node>) {
        self.places.insert(node.certname.clone(), self.nodes.len());
        self.nodes.push(node);
    }
}

/// A node with the common facts, as far as its own do not tell more.
fn with_common(mut node: Arc<Node>, common: &HashMap) -> Arc<Node> {
    for (name, value) in common {
        if let Some(name) = name.as_str()
            && node.facts.get(name).is_none()
        {
            Arc::make_mut(&mut node).set_fact(name, value.clone());
        }
    }
    node
}
