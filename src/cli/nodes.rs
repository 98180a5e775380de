//! The nodes and facts of a command: from the files in its flags, else from those that an editor
//! finds.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;

use super::console;
use super::suggestions::no_node;
use crate::analysis::{
    NodeCache, NodeFile, NodeInputs, NodeSet, Project, has_nodes_extension, name_rules,
};
use crate::disk::{self, DiskFiles};
use crate::lookup::{ConfigCache, Settings};
use crate::scope::{NameRule, Node, Nodes};
use crate::value::{HashMap, LoadErrorKind, SystemError};
use crate::workspace::{FileKind, Files, Snapshot};

/// What to name instead of a file of facts that cannot be read.
const WANTED_FACTS: &str = "name a JSON or YAML file of facts ('--facts', 'factsFile')";

/// The same for a file of nodes.
const WANTED_NODES: &str =
    "name a nodes file, saved facts or a folder of them ('--nodes', 'nodesFiles')";

/// The name of the standard input among files.
const STANDARD_INPUT: &str = "-";

/// Maximum length of what is read from a pipe, in bytes.
const MAX_PIPED: u64 = 1 << 30;

/// The text of the standard input or of a pipe, which can be read only once; `None` for other files.
#[allow(
    clippy::disallowed_methods,
    reason = "cli/ reads the files it is given"
)]
fn piped(path: &str) -> Option<Result<Arc<str>, String>> {
    use std::io::Read as _;
    static READ: Mutex<BTreeMap<String, Result<Arc<str>, String>>> = Mutex::new(BTreeMap::new());
    let is_input = path == STANDARD_INPUT;
    let is_pipe = || std::fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir());
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = read.get(path) {
        return Some(known.clone());
    }
    if !is_input && !is_pipe() {
        return None;
    }
    let mut text = String::new();
    let length = if is_input {
        std::io::stdin()
            .lock()
            .take(MAX_PIPED)
            .read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MAX_PIPED).read_to_string(&mut text))
    };
    let result = length
        .map(|_| Arc::from(text))
        .map_err(|error| disk::failure(&error));
    read.insert(path.to_owned(), result.clone());
    Some(result)
}

/// A file from the command line or the workspace's configuration.
fn file(path: &str, wanted: &str) -> Result<NodeFile, String> {
    if let Some(text) = piped(path) {
        let shown = match path {
            STANDARD_INPUT => "standard input",
            path => path,
        };
        return Ok(NodeFile {
            text: text.map_err(|error| format!("{shown}: {error}: {wanted}"))?,
            path: Arc::from(shown),
        });
    }
    let at = disk::absolute(path);
    let text = DiskFiles::new().text(&at).map_err(|error| {
        let what = match error.kind {
            LoadErrorKind::Io(SystemError::IsDirectory) => "this is a folder",
            LoadErrorKind::Io(SystemError::PermissionDenied) => "no permission to read this file",
            LoadErrorKind::Io(SystemError::NotFound) if DiskFiles::new().kind(&at).is_none() => {
                "there is no such file"
            }
            _ => return error.message(&at),
        };
        format!("{at}: {what}: {wanted}")
    });
    Ok(NodeFile {
        text: text?,
        path: Arc::from(at),
    })
}

/// The named files, and the files of nodes in named folders.
fn listed(paths: &[String]) -> Vec<String> {
    let disk = DiskFiles::new();
    let mut files = Vec::new();
    for path in paths {
        if path == STANDARD_INPUT {
            files.push(path.clone());
            continue;
        }
        let folder = disk::absolute(path);
        if disk.kind(&folder) != Some(FileKind::Directory) {
            files.push(path.clone());
            continue;
        }
        let names = disk.list(&folder).into_iter();
        let is_one = |name: &str, kind| kind == FileKind::File && has_nodes_extension(name);
        let names = names.filter(|(name, kind)| is_one(name, *kind));
        files.extend(names.map(|(name, _)| format!("{folder}/{name}")));
    }
    files
}

/// The flags that describe nodes.
#[derive(Args, Clone, Debug)]
pub(super) struct NodeArguments {
    /// Nodes: a nodes file, saved facts, a folder of such files, or - for standard input; may be given
    /// several times
    /// [default: the workspace's nodes.json or nodes.yaml, else its spec/fixtures/facts]
    #[arg(long, value_name = "FILE")]
    nodes: Vec<String>,
    /// A JSON or YAML file of facts: those of the one node that a command is for, which lie over what
    /// is known of it; else of all nodes, whose own facts lie over them
    #[arg(long, value_name = "FILE")]
    facts: Option<String>,
}

impl NodeArguments {
    /// The sources of the nodes in a workspace.
    pub(super) fn request<'a>(
        &'a self,
        environment: &'a str,
        project: &'a Project,
        (settings, configs): (&'a Settings, &'a ConfigCache),
    ) -> NodeRequest<'a> {
        NodeRequest {
            files: &self.nodes,
            facts: self.facts.as_ref(),
            environment,
            project,
            settings,
            configs,
        }
    }

    /// Whether the flags describe one node, as those of `puppet lookup` do: its name, or facts that
    /// lie below no other nodes.
    pub(super) fn are_for_one(&self, node: Option<&str>) -> bool {
        node.is_some() || (self.facts.is_some() && self.nodes.is_empty())
    }

    /// Whether files of a flag describe all nodes.
    pub(super) fn are_files_given(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// Whether a flag describes nodes.
    pub(super) fn are_given(&self) -> bool {
        !self.nodes.is_empty() || self.facts.is_some()
    }

    /// The same flags with absolute paths.
    ///
    /// # Errors
    /// One of them is standard input.
    #[cfg(feature = "mcp")]
    pub(super) fn absolute(&self) -> Result<NodeArguments, String> {
        if self
            .nodes
            .iter()
            .chain(&self.facts)
            .any(|at| at == STANDARD_INPUT)
        {
            return Err("standard input is where the client speaks: name a file".to_owned());
        }
        Ok(NodeArguments {
            nodes: self.nodes.iter().map(|at| disk::absolute(at)).collect(),
            facts: self.facts.as_ref().map(|at| disk::absolute(at)),
        })
    }

    /// The file of facts.
    pub(super) fn facts(&self) -> Option<&str> {
        self.facts.as_deref()
    }
}

/// Adds to a node what its name means; returns whether it means something.
fn give_meaning(node: &mut Node, rules: &[NameRule]) -> bool {
    let applied = rules.iter().filter(|rule| rule.apply(node)).count();
    applied > 0
}

fn without_problem(found: Arc<NodeSet>) -> Result<Arc<NodeSet>, String> {
    match found.problems.first() {
        Some(problem) => Err(problem.clone()),
        None => Ok(found),
    }
}

/// The sources of a command's nodes.
#[derive(Clone, Copy)]
pub(super) struct NodeRequest<'a> {
    pub(super) files: &'a [String],
    /// The file of common facts from a flag.
    pub(super) facts: Option<&'a String>,
    /// The environment of nodes that have none of their own.
    pub(super) environment: &'a str,
    pub(super) project: &'a Project,
    pub(super) settings: &'a Settings,
    pub(super) configs: &'a ConfigCache,
}

impl NodeRequest<'_> {
    /// A node that is in no file, with the meaning that the workspace's configuration gives its
    /// name; `None` if it gives none.
    pub(super) fn named_node(&self, name: &str) -> Option<Node> {
        let mut node = Node::named(name);
        give_meaning(&mut node, &name_rules(&self.project.nodes)).then_some(node)
    }

    /// A node as its agent has it: the given facts over its known ones, and the meaning of its name.
    pub(super) fn with_facts(&self, name: &str, given: &HashMap, known: &Nodes) -> Node {
        self.over_known(Node::with_facts(name, given), given, known)
    }

    /// The same as `puppet lookup --facts` has it.
    pub(super) fn looked_up(&self, name: &str, given: &HashMap, known: &Nodes) -> Node {
        self.over_known(Node::looked_up(name, given), given, known)
    }

    fn over_known(&self, unknown: Node, given: &HashMap, known: &Nodes) -> Node {
        let mut node = match known.get(&unknown.certname) {
            Some(known) => known.with_facts_over(given),
            None => unknown,
        };
        give_meaning(&mut node, &name_rules(&self.project.nodes));
        node
    }

    /// The known nodes with the one that a command is for, and its facts of the flag.
    ///
    /// # Errors
    /// A file cannot be read, or no such node is known.
    pub(super) fn with_node(
        &self,
        snapshot: &Snapshot,
        path: &str,
        name: &str,
    ) -> Result<Nodes, String> {
        let given = self.facts.map(|_| self.common()).transpose()?;
        let own = NodeRequest {
            facts: None,
            ..*self
        };
        let known = own.known(snapshot, path)?;
        let mut nodes = known.nodes.clone();
        match given {
            Some(given) => nodes.insert(own.with_facts(name, &given, &known.nodes)),
            None if nodes.get(name).is_some() => {}
            None => match self.named_node(name) {
                Some(node) => nodes.insert(node),
                None => return Err(no_node(name, &known)),
            },
        }
        Ok(nodes)
    }

    fn facts_file(&self) -> Option<&str> {
        let of_project = self.project.facts_file.as_ref().map(|path| &path.0);
        self.facts.or(of_project).map(String::as_str)
    }

    /// The facts of the flag, refused where `puppet lookup --facts` refuses them.
    pub(super) fn given(&self) -> Result<HashMap, String> {
        match self.facts {
            Some(path) => file(path, WANTED_FACTS)?.facts_of_lookup(),
            None => Ok(HashMap::default()),
        }
    }

    /// The facts below every node's own.
    pub(super) fn common(&self) -> Result<HashMap, String> {
        match self.facts_file() {
            Some(path) => file(path, WANTED_FACTS)?.facts(),
            None => Ok(HashMap::default()),
        }
    }

    /// The nodes that an editor would use for a file of a workspace, or those of the flags, without
    /// the variables that manifests set.
    pub(super) fn known(&self, snapshot: &Snapshot, path: &str) -> Result<Arc<NodeSet>, String> {
        let found = self.with_inputs(|inputs| {
            let cache = NodeCache::default();
            cache.described(snapshot, path, inputs)
        });
        without_problem(found?)
    }

    /// The same without the nodes that data files are named after.
    pub(super) fn of_files(&self, snapshot: &Snapshot, path: &str) -> Result<Arc<NodeSet>, String> {
        let found = self.with_inputs(|inputs| {
            let cache = NodeCache::default();
            cache.of_files(snapshot, path, inputs)
        });
        without_problem(found?)
    }

    /// The nodes with the variables that manifests set, and with read errors.
    pub(super) fn set(&self, snapshot: &Snapshot, path: &str) -> Result<Arc<NodeSet>, String> {
        self.with_inputs(|inputs| NodeCache::default().nodes(snapshot, path, inputs))
    }

    /// Calls `find` with the files of the flags, else of the workspace's configuration, each read
    /// once. It is an error if one of them cannot be read.
    fn with_inputs<T>(&self, find: impl FnOnce(&NodeInputs<'_>) -> T) -> Result<T, String> {
        // Facts that Puppet refuses are an error even if no node is known.
        self.common()?;
        let facts = self.facts_file().map(|path| file(path, WANTED_FACTS));
        let facts = facts.transpose()?;
        let of_project = self.project.nodes_files.iter();
        let of_project: Vec<String> = of_project.map(|path| path.0.clone()).collect();
        let are_all = !self.files.is_empty();
        let named = if are_all {
            listed(self.files)
        } else {
            listed(&of_project)
        };
        let named = named.iter().map(|path| file(path, WANTED_NODES));
        let named: Vec<NodeFile> = named.collect::<Result<_, String>>()?;
        let paths: Vec<String> = named.iter().map(|file| file.path.to_string()).collect();
        let disk = DiskFiles::new();
        Ok(find(&NodeInputs {
            nodes_files: &paths,
            are_all,
            facts_file: facts.as_ref().map(|file| &*file.path),
            rules: &name_rules(&self.project.nodes),
            choice: None,
            environment: self.environment,
            outside: &|at| {
                let read = named.iter().chain(&facts).find(|file| *file.path == *at);
                let read = read.map(|file| file.text.clone());
                let unasked = || disk.text(at).ok().filter(|_| !console::is_forbidden(at));
                read.or_else(unasked)
            },
            settings: self.settings,
            configs: self.configs,
        }))
    }
}
