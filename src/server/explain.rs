//! How Puppet looks a key up, in the words of `puppet lookup --explain`.

use std::sync::Arc;

use crate::analysis::NodeSet;
use crate::lookup::{ConfigCache, Environment, Request, Session, Settings, explain as told};
use crate::scope::{Node, Scope};
use crate::workspace::{Root, Snapshot};

/// The explanation, with what is unknown in comment lines below it. Half-typed files are read as
/// Puppet reads them, so the text is that of the command line.
///
/// # Errors
/// Why nothing can be explained, for people.
pub(super) fn explain(
    snapshot: &Snapshot,
    settings: &Settings,
    configs: &ConfigCache,
    nodes: &NodeSet,
    (path, key): (&str, &str),
    node: Option<&Arc<str>>,
) -> Result<String, String> {
    let root = root_for(snapshot, path)?;
    let files = snapshot.files_for(root);
    let environment = Environment::of_root(snapshot, root);
    let session = Session {
        files: &files,
        environment: &environment,
        settings,
        configs,
    };
    let scope = match node.or(nodes.selected.as_ref()) {
        None => Scope::open(),
        Some(name) => match nodes.nodes.get(name) {
            Some(node) => {
                let assigned = node.environment.as_deref();
                node.scope(assigned.unwrap_or(&environment.name))
            }
            None => Node::new(name, &nodes.common).scope(&environment.name),
        },
    };
    let answer = session.lookup(&scope, &Request::key(key).traced());
    let mut text = match (&answer.trace, &answer.result) {
        (_, Err(error)) if !error.class.is_lookup_error() => {
            format!("Error: Could not run: {error}")
        }
        (Some(trace), _) => told(trace),
        (None, _) => String::new(),
    };
    text.truncate(text.trim_end_matches('\n').len());
    text.push('\n');
    for unknown in &answer.unknown {
        text.push_str(&format!("# unknown: {unknown}\n"));
    }
    Ok(text)
}

/// The root whose hierarchy answers for a file or a folder: its own, else the first environment.
///
/// # Errors
/// That there is none, for people.
pub(super) fn root_for<'a>(snapshot: &'a Snapshot, path: &str) -> Result<&'a Root, String> {
    let root = snapshot.root_of(path);
    root.or_else(|| snapshot.roots().environments().next())
        .ok_or_else(|| "no hierarchy reads this file: there is no hiera.yaml around it".to_owned())
}
