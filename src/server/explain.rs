//! How Puppet looks a key up, in the words of `puppet lookup --explain`.

use std::sync::Arc;

use super::features::Explain;
use super::fleet::Fleet;
use crate::lookup::{ConfigCache, Environment, Request, Session, Settings, explain as told};
use crate::scope::{Node, Scope};
use crate::text::TextRange;
use crate::workspace::Snapshot;

/// The explanation, with what is unknown in comment lines below it.
///
/// # Errors
/// Why nothing can be explained, for people.
pub(super) fn explain(
    snapshot: &Snapshot,
    settings: &Settings,
    configs: &ConfigCache,
    fleet: &Fleet,
    what: &Explain,
) -> Result<String, String> {
    let root = snapshot
        .root_of(&what.path)
        .or_else(|| snapshot.roots().environments().next())
        .ok_or("no hierarchy reads this file: there is no hiera.yaml around it")?;
    let key = match (&what.key, what.offset) {
        (Some(key), _) => key.clone(),
        (None, Some(offset)) => {
            key_at(snapshot, &what.path, offset).ok_or("there is no key at this place")?
        }
        (None, None) => return Err("neither a key nor a place was given".to_owned()),
    };
    let files = snapshot.files_for(root);
    let environment = Environment::of_root(snapshot, root);
    let session = Session {
        files: &files,
        environment: &environment,
        settings,
        configs,
    };
    let scope = match what.node.as_ref().or(fleet.selected.as_ref()) {
        None => Scope::open(),
        Some(name) => match fleet.nodes.get(name) {
            Some(node) => {
                let assigned = node.environment.as_deref();
                node.scope(assigned.unwrap_or(&environment.name))
            }
            None => Node::new(name, &fleet.common).scope(&environment.name),
        },
    };
    let answer = session.lookup(&scope, &Request::key(&key).traced());
    let mut text = match (&answer.trace, &answer.result) {
        (_, Err(error)) if !error.class.is_lookup_error() => {
            format!("Error: Could not run: {}", error.message)
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

/// The top-level key whose entry holds a place.
fn key_at(snapshot: &Snapshot, path: &str, offset: usize) -> Option<Arc<str>> {
    let holds = |range: TextRange| range.touches(offset);
    let file = snapshot.file(path)?;
    let keys = file.facts().keys.iter();
    let mut around = keys.filter(|key| holds(key.key.cover(key.value)));
    around.next().map(|key| key.name.clone())
}
