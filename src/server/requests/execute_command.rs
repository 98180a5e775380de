//! `workspace/executeCommand`: the user's choices (a node, facts of a what-if), and read-only
//! documents.
//!
//! A command takes one object of arguments. Choices belong to the workspace folder of `uri`, or to
//! every folder without one; they are applied in [`choose`], where the message arrives, so that
//! they affect every later message. The handler here only checks and answers.

use std::sync::Arc;

use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use super::document;
use super::nodes;
use super::{View, of_workspace};
use crate::analysis::Effect;
use crate::disk;
use crate::lookup::PuppetVersion;
use crate::server::capabilities::{
    CLEAR_FACTS, DIFF, DOCTOR, EXPLAIN, FACTS, HIERARCHIES, IMPACT, MATRIX, NODES, RECIPES, RESCAN,
    REVEAL, SELECT_NODE, SET_FACT, SET_VALUE, UPGRADE, USES, VALUE, WHY_NOT,
};
use crate::server::connection::{Connection, Repeat};
use crate::server::context::PreviewedVersions;
use crate::server::convert;
use crate::workspace::path;

/// Maximum number of segments in a fact's path: no fact is that deep.
const MAX_SEGMENTS: usize = 32;

/// The change that one command makes to the user's choices.
enum Choosing {
    Node(Option<Arc<str>>),
    /// Null resets the fact.
    Fact(String, Value),
    NoFacts,
    /// The version whose changes hovers show; none.
    Preview(Option<PreviewedVersions>),
}

/// Applies a command that chooses; other or invalid ones change nothing.
pub(crate) fn choose(session: &Connection, params: Option<&Value>) {
    let Some(params) = params else {
        return;
    };
    let command = params.get("command").and_then(Value::as_str);
    let arguments = argument(params.get("arguments").and_then(Value::as_array));
    if let Some(Ok(choosing)) = command.and_then(|command| choosing(command, arguments)) {
        let folders = folders(session, arguments);
        session.choose(|choices| {
            for folder in &folders {
                if let Choosing::Preview(versions) = &choosing {
                    choices.set_preview(folder, *versions);
                    continue;
                }
                let choice = choices.entry(folder);
                match &choosing {
                    Choosing::Node(node) => choice.node.clone_from(node),
                    Choosing::Fact(fact, Value::Null) => {
                        choice.facts.remove(fact);
                    }
                    Choosing::Fact(fact, value) => {
                        choice.facts.insert(fact.clone(), value.clone());
                    }
                    Choosing::NoFacts => choice.facts.clear(),
                    Choosing::Preview(_) => {}
                }
            }
        });
        if matches!(choosing, Choosing::Node(_)) {
            session.keep_node(folders);
        }
    }
}

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::ExecuteCommandParams,
) -> Result<Option<Value>> {
    let arguments = argument(Some(&params.arguments)).clone();
    match params.command.as_str() {
        RESCAN => {
            session.disk.look_again(&session.folders());
            session.rescan();
            session.seek(Repeat::Yes);
            Ok(None)
        }
        command @ (SELECT_NODE | SET_FACT | CLEAR_FACTS) => match choosing(command, &arguments) {
            Some(Err(why)) => Err(Error::invalid_params(why)),
            Some(Ok(Choosing::Node(Some(node)))) => {
                check_choice(session, &arguments, node).await.map(|()| None)
            }
            Some(Ok(Choosing::Fact(fact, value))) if !value.is_null() => {
                check_fact(session, &arguments, fact).await
            }
            Some(Ok(_)) | None => Ok(None),
        },
        UPGRADE => match choosing(UPGRADE, &arguments) {
            Some(Err(why)) => Err(Error::invalid_params(why)),
            Some(Ok(Choosing::Preview(Some(_)))) => {
                let token = params.work_done_progress_params.work_done_token;
                let answer = document::answer(session, UPGRADE, &arguments, token).await;
                answer.map(Some)
            }
            Some(Ok(_)) | None => Ok(None),
        },
        NODES => nodes::nodes(session, &arguments).await.map(Some),
        FACTS => nodes::facts(session, &arguments).await.map(Some),
        RECIPES => nodes::recipes(session, &arguments).await.map(Some),
        HIERARCHIES => hierarchies(session, &arguments).await.map(Some),
        command @ (SET_VALUE | WHY_NOT) => {
            let answer = super::set_value::answer(session, command, &arguments).await;
            answer.map(Some)
        }
        command @ (VALUE | REVEAL | EXPLAIN | MATRIX | DIFF | DOCTOR | IMPACT | USES) => {
            let token = params.work_done_progress_params.work_done_token;
            let answer = document::answer(session, command, &arguments, token).await;
            answer.map(Some)
        }
        unknown => Err(Error::invalid_params(format!(
            "unknown command '{unknown}'"
        ))),
    }
}

/// Reverts the choice of an unknown node.
async fn check_choice(session: &Connection, arguments: &Value, node: Arc<str>) -> Result<()> {
    let folders = folders(session, arguments);
    let place = place(session, arguments);
    let chosen = node.clone();
    let work = move |view: View| {
        let known = view.nodes(&place);
        let is_stray = known.selected.as_ref() == Some(&chosen) && known.selected_is_stray;
        let files: Vec<String> = known.paths().map(str::to_owned).collect();
        is_stray.then_some(files)
    };
    let Some(files) = of_workspace(session, SELECT_NODE, work).await? else {
        return Ok(());
    };
    session.choose(|choices| {
        for folder in &folders {
            let choice = choices.entry(folder);
            if choice.node.as_ref() == Some(&node) {
                choice.node = None;
            }
        }
    });
    session.keep_node(folders);
    Err(Error::invalid_params(match files.as_slice() {
        [] => format!("node '{node}' is not known: no data file is named after it"),
        files => format!(
            "node '{node}' is not known: it is not in {}",
            files.join(", ")
        ),
    }))
}

/// Reverts a fact that could never change anything; returns a message for one that changes nothing now.
async fn check_fact(
    session: &Connection,
    arguments: &Value,
    fact: String,
) -> Result<Option<Value>> {
    let folders = folders(session, arguments);
    let place = place(session, arguments);
    let chosen = fact.clone();
    let work = move |view: View| {
        let known = view.nodes_without_overrides(&place);
        view.analyse(&place, |analysis| {
            let view = analysis.answering(&place);
            view.map_or(Effect::Possible, |view| known.effect_of(&view, &chosen))
        })
    };
    let why = match of_workspace(session, SET_FACT, work).await? {
        Effect::Possible => return Ok(None),
        Effect::NotNow(words) => return Ok(Some(json!({ "message": words }))),
        Effect::Never(why) => why,
    };
    session.choose(|choices| {
        for folder in &folders {
            choices.entry(folder).facts.remove(&fact);
        }
    });
    Err(Error::invalid_params(why))
}

/// The object of arguments; null if there is none.
fn argument(arguments: Option<&Vec<Value>>) -> &Value {
    const NONE: &Value = &Value::Null;
    arguments
        .and_then(|arguments| arguments.first())
        .unwrap_or(NONE)
}

/// The choice of a command; `None` for a command that does not choose.
fn choosing(command: &str, arguments: &Value) -> Option<std::result::Result<Choosing, String>> {
    match command {
        SELECT_NODE => Some(match arguments.get("certname") {
            Some(Value::Null) => Ok(Choosing::Node(None)),
            Some(Value::String(name)) if !name.is_empty() => {
                Ok(Choosing::Node(Some(name.as_str().into())))
            }
            Some(_) | None => Err(format!(
                "'{SELECT_NODE}' needs {{\"certname\": a node's name or null}}"
            )),
        }),
        SET_FACT => {
            let fact = arguments.get("path").and_then(Value::as_str);
            let value = arguments.get("value").cloned().unwrap_or_default();
            let fits = |fact: &&str| {
                let segments = fact.split('.');
                segments.clone().count() <= MAX_SEGMENTS
                    && segments.into_iter().all(|segment| !segment.is_empty())
            };
            Some(match fact.filter(fits) {
                Some(fact) => Ok(Choosing::Fact(fact.to_owned(), value)),
                None => Err(format!(
                    "'{SET_FACT}' needs {{\"path\": a fact's name with dots, \"value\": its value \
                     or null}}"
                )),
            })
        }
        CLEAR_FACTS => Some(Ok(Choosing::NoFacts)),
        UPGRADE => Some(match arguments.get("to") {
            Some(Value::Null) => Ok(Choosing::Preview(None)),
            to => {
                let to = version(to.cloned()).map(|to| to.unwrap_or(PuppetVersion::V9));
                let from = version(arguments.get("from").cloned());
                from.and_then(|from| Ok(Choosing::Preview(Some((from, to?)))))
            }
        }),
        _ => None,
    }
}

/// A version of Puppet; `None` if none is given.
pub(super) fn version(given: Option<Value>) -> std::result::Result<Option<PuppetVersion>, String> {
    let version = given
        .filter(|given| !given.is_null())
        .map(PuppetVersion::try_from);
    let version = version.transpose();
    version.map_err(|why| format!("'{UPGRADE}' needs versions of Puppet: {why}"))
}

/// The workspace folders of a choice: the innermost around the URI; all without one.
fn folders(session: &Connection, arguments: &Value) -> Vec<String> {
    let mut folders = session.folders();
    if let Some(file) = file(arguments) {
        let around = folders
            .iter()
            .filter(|folder| path::within(&file, folder).is_some());
        if let Some(innermost) = around.max_by_key(|folder| folder.len()) {
            return vec![innermost.clone()];
        }
    }
    if folders.is_empty() {
        // Without a folder, single files are open: they share one choice.
        folders.push("/".to_owned());
    }
    folders
}

pub(super) fn file(arguments: &Value) -> Option<String> {
    convert::path(arguments.get("uri")?.as_str()?)
}

/// The path that an answer is for: the file in the arguments, or else the first folder.
pub(super) fn place(session: &Connection, arguments: &Value) -> String {
    let place = file(arguments).or_else(|| session.folders().into_iter().next());
    place.unwrap_or_else(|| "/".to_owned())
}

/// The configurations of the workspace, the best first, and the one that governs a file.
async fn hierarchies(session: &Connection, arguments: &Value) -> Result<Value> {
    let requested = file(arguments);
    let place = place(session, arguments);
    let work = move |view: View| {
        view.analyse(&place, |analysis| {
            let all = analysis.configurations().iter().map(|config| {
                let reads = requested.as_ref().map(|at| config.reach(at).is_some());
                json!({
                    "uri": disk::file_uri(&config.path),
                    "folder": disk::file_uri(&config.dir),
                    "version": config.version,
                    "files": config.reached,
                    "reads": reads,
                    "used": config.is_used(),
                    "why": config.why(),
                })
            });
            let mut hierarchies: Vec<Value> = all.collect();
            let refused = analysis.refused_configurations().into_iter();
            hierarchies.extend(refused.map(|config| {
                let why = config.why();
                json!({
                    "uri": disk::file_uri(&config.path),
                    "folder": disk::file_uri(&config.dir),
                    "version": null,
                    "files": 0,
                    "reads": requested.as_ref().map(|_| false),
                    "used": true,
                    "error": why,
                    "why": format!("Puppet refuses it: {why}; every lookup fails"),
                })
            }));
            let answering = analysis.answering(&place);
            let hierarchy = answering.and_then(|view| view.root.hiera_yaml.clone());
            json!({
                "hierarchy": hierarchy.map(|at| disk::file_uri(&at)),
                "hierarchies": hierarchies,
            })
        })
    };
    of_workspace(session, HIERARCHIES, work).await
}
