//! The nodes and facts of a command: from the files in its flags, else from those that an editor
//! finds.

use std::sync::Arc;

use crate::analysis::{
    FilesOfFolders, NodeCache, NodeFile, NodeInputs, NodeSet, NodesOrigin, Project,
    describes_nodes, files_of, name_rules,
};
use crate::disk::{self, DiskFiles};
use crate::lookup::{ConfigCache, Settings};
use crate::scope::{KnownNodes, NameRule, Node, Nodes};
use crate::value::{HashMap, LoadErrorKind, SystemError};
use crate::workspace::{FileKind, Files, Snapshot};

/// The purpose of a file.
#[derive(Clone, Copy)]
enum Named {
    Facts,
    Nodes,
}

/// A file from the command line or the workspace's configuration.
fn file(path: &str, named: Named) -> Result<NodeFile, String> {
    let at = disk::absolute(path);
    let wanted = match named {
        Named::Facts => "name a JSON or YAML file of facts ('--facts', 'factsFile')",
        Named::Nodes => {
            "name a nodes file, saved facts or a folder of them ('--nodes', 'nodesFiles')"
        }
    };
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

/// The facts of a file; empty without a file.
fn facts(path: Option<&String>) -> Result<HashMap, String> {
    let none = || Ok(HashMap::default());
    path.map_or_else(none, |path| file(path, Named::Facts)?.facts())
}

/// The nodes of several files, or of all files in a folder, over common facts; later files win.
fn named(paths: &[String], common: &HashMap) -> Result<(Nodes, Vec<NodesOrigin>), String> {
    let disk = DiskFiles::new();
    let mut files = Vec::new();
    for path in paths {
        let folder = disk::absolute(path);
        if disk.kind(&folder) != Some(FileKind::Directory) {
            files.push(path.clone());
            continue;
        }
        let names = disk.list(&folder).into_iter();
        let names = names.filter(|(name, kind)| *kind == FileKind::File && describes_nodes(name));
        files.extend(names.map(|(name, _)| format!("{folder}/{name}")));
    }
    let mut all = Nodes::default();
    let mut origins = Vec::new();
    for path in &files {
        let file = file(path, Named::Nodes)?;
        let nodes = file.nodes(common)?;
        origins.push(NodesOrigin {
            path: Some(file.path),
            nodes: nodes.all().len(),
        });
        if files.len() == 1 {
            return Ok((nodes, origins));
        }
        for node in nodes.all() {
            all.insert(node.as_ref().clone());
        }
    }
    Ok((all, origins))
}

/// Adds to a node what its name means; returns whether it means something.
fn give_meaning(node: &mut Node, rules: &[NameRule]) -> bool {
    let applied = rules.iter().filter(|rule| rule.apply(node)).count();
    applied > 0
}

/// The sources of a command's nodes.
pub(super) struct NodeRequest<'a> {
    pub(super) files: &'a [String],
    /// The file of common facts from a flag.
    pub(super) facts: Option<&'a String>,
    pub(super) project: &'a Project,
    pub(super) settings: &'a Settings,
    pub(super) configs: &'a ConfigCache,
}

/// The nodes of a command, and the files that describe them.
pub(super) struct CommandNodes {
    pub(super) nodes: Nodes,
    pub(super) files: Vec<String>,
}

impl From<&NodeSet> for CommandNodes {
    fn from(set: &NodeSet) -> CommandNodes {
        CommandNodes {
            nodes: set.nodes.clone(),
            files: set.paths().map(str::to_owned).collect(),
        }
    }
}

impl NodeRequest<'_> {
    /// Nodes with the meaning of their names added.
    fn with_meanings(&self, nodes: Nodes) -> Nodes {
        let rules = name_rules(&self.project.nodes);
        if rules.is_empty() {
            return nodes;
        }
        let nodes = nodes.all().iter().cloned().map(|mut node| {
            give_meaning(Arc::make_mut(&mut node), &rules);
            node
        });
        nodes.collect()
    }

    /// A node that is in no file, with the meaning that the workspace's configuration gives its
    /// name; `None` if it gives none.
    pub(super) fn named_node(&self, name: &str) -> Option<Node> {
        let mut node = Node::named(name);
        give_meaning(&mut node, &name_rules(&self.project.nodes)).then_some(node)
    }

    /// The node of `puppet lookup --facts`: the given facts over its known ones, and the meaning of
    /// its name.
    pub(super) fn with_facts(&self, name: &str, given: &HashMap, known: &Nodes) -> Node {
        let mut node = match known.get(name) {
            Some(known) => known.with_facts_over(given),
            None => Node::with_facts(name, given),
        };
        give_meaning(&mut node, &name_rules(&self.project.nodes));
        node
    }

    /// The facts below every node's own.
    pub(super) fn common(&self) -> Result<HashMap, String> {
        let of_project = self.project.facts_file.as_ref().map(|path| &path.0);
        facts(self.facts.or(of_project))
    }

    /// The nodes of the files in the flags, else in the workspace's configuration; `None` if
    /// neither names any.
    fn named(&self) -> Result<Option<NodeSet>, String> {
        let of_project = self.project.nodes_files.iter();
        let of_project: Vec<String> = of_project.map(|path| path.0.clone()).collect();
        let files = match (self.files, of_project.as_slice()) {
            ([], []) => return Ok(None),
            ([], named) | (named, _) => named.to_vec(),
        };
        let (nodes, origins) = named(&files, &self.common()?)?;
        let nodes = self.with_meanings(nodes);
        Ok(Some(NodeSet {
            known: KnownNodes::new(&nodes),
            nodes,
            origins,
            rules: name_rules(&self.project.nodes),
            ..NodeSet::default()
        }))
    }

    /// The same, or else the nodes that an editor would use for a file of a workspace.
    pub(super) fn known(&self, snapshot: &Snapshot, path: &str) -> Result<CommandNodes, String> {
        let found = self.set(snapshot, path)?;
        match found.problems.first() {
            Some(problem) => Err(problem.clone()),
            None => Ok(CommandNodes::from(&*found)),
        }
    }

    /// The same, with sources and read errors.
    pub(super) fn set(&self, snapshot: &Snapshot, path: &str) -> Result<Arc<NodeSet>, String> {
        if let Some(named) = self.named()? {
            return Ok(Arc::new(named));
        }
        // Unreadable facts are an error even if no node is known.
        self.common()?;
        let of_project = self.project.facts_file.as_ref().map(|path| &path.0);
        let facts = self.facts.or(of_project).map(|path| disk::absolute(path));
        let disk = DiskFiles::new();
        let inputs = NodeInputs {
            nodes_files: &[],
            facts_file: facts.as_deref(),
            rules: &name_rules(&self.project.nodes),
            choice: None,
            outside: &|at| disk.text(at).ok(),
            settings: self.settings,
            configs: self.configs,
        };
        Ok(NodeCache::default().nodes(snapshot, path, &inputs))
    }

    /// The nodes of files that an editor finds in some folders without reading the workspace: a
    /// nodes file, or else the facts that tests keep.
    pub(super) fn in_folders(&self, folders: &[&Arc<str>]) -> Result<CommandNodes, String> {
        if let Some(named) = self.named()? {
            return Ok(CommandNodes::from(&named));
        }
        let disk = DiskFiles::new();
        let look = FilesOfFolders {
            file: &|at| {
                let text = disk.text(at).ok()?;
                let path = Arc::from(at);
                Some(NodeFile { path, text })
            },
            list: &|folder| {
                let names = disk.list(folder).into_iter();
                names.map(|(name, _)| name).collect()
            },
            names_nodes: &NodeFile::names_nodes,
        };
        let files = files_of(Vec::new(), folders, &look).files;
        let common = self.common()?;
        let mut nodes = Nodes::default();
        for file in files.iter().rev() {
            for node in file.nodes(&common)?.all() {
                nodes.insert(node.as_ref().clone());
            }
        }
        Ok(CommandNodes {
            nodes: self.with_meanings(nodes),
            files: files.iter().map(|file| file.path.to_string()).collect(),
        })
    }
}
