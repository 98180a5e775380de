//! The nodes and the facts of a command: from the files that its flags name, else those that an
//! editor finds.

use std::sync::Arc;

use crate::analysis::{NodeFile, NodeInputs, NodeSources, describes_nodes};
use crate::disk::{self, DiskFiles};
use crate::scope::Nodes;
use crate::value::HashMap;
use crate::workspace::{FileKind, Files, Snapshot};

/// A file that the command line names.
fn file(path: &str) -> Result<NodeFile, String> {
    let at = disk::absolute(path);
    let text = DiskFiles::new().text(&at);
    Ok(NodeFile {
        text: text.map_err(|error| error.message(&at))?,
        path: Arc::from(at),
    })
}

/// The facts of a file; none without one.
pub(super) fn facts(path: Option<&String>) -> Result<HashMap, String> {
    path.map_or_else(|| Ok(HashMap::default()), |path| file(path)?.facts())
}

/// The nodes of several files, or of all files in a folder, over common facts; later files win.
pub(super) fn named(paths: &[String], common: &HashMap) -> Result<Nodes, String> {
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
    for path in &files {
        let nodes = file(path)?.nodes(common)?;
        if files.len() == 1 {
            return Ok(nodes);
        }
        for node in nodes.all() {
            all.insert(node.as_ref().clone());
        }
    }
    Ok(all)
}

/// The nodes that an editor knows for a file of a workspace without a setting, and the files that
/// describe them.
pub(super) fn found(
    snapshot: &Snapshot,
    path: &str,
    facts: Option<&String>,
) -> Result<(Nodes, Vec<String>), String> {
    let facts = facts.map(|path| disk::absolute(path));
    let disk = DiskFiles::new();
    let inputs = NodeInputs {
        nodes_files: &[],
        facts_file: facts.as_deref(),
        choice: None,
        outside: &|at| disk.text(at).ok(),
    };
    let sources = NodeSources::of(snapshot, path, &inputs);
    let read = sources.read();
    match read.problems.into_iter().next() {
        Some(problem) => Err(problem),
        None => Ok((read.nodes, sources.paths().map(str::to_owned).collect())),
    }
}
