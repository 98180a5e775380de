//! The commands for edits by goal: edits that give nodes a value, and the obstacles to a value.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Error, Result};

use super::document::shown;
use super::edits::{EditNote, plan_edit};
use super::execute_command::{file, place};
use super::{Needs, View};
use crate::analysis::{Analysis, quoted};
use crate::ide::document::KeyPlace;
use crate::ide::expectation::chosen;
use crate::plan::goal::{
    Goal, Outcome, OutcomeFields, Proposal, ProposalFields, WhyNotFields, nodes_of, proposals,
    reasons_text, value_of, why_not, why_not_lines,
};
use crate::server::capabilities::{SET_VALUE, WHY_NOT};
use crate::server::connection::Connection;
use crate::server::jobs::Lane;
use crate::server::ordered::position;
use crate::text::Position;

const NO_HIERARCHY: &str = "there is no hierarchy here";

struct ValueRequest {
    key: Option<Arc<str>>,
    /// The position of the key, if it is not named.
    position: Option<Position>,
    value: crate::value::Value,
    conditions: Vec<String>,
    only: bool,
}

/// `hiera.setValue` and `hiera.whyNot`.
pub(super) async fn answer(
    session: &Connection,
    command: &str,
    arguments: &Value,
) -> Result<Value> {
    let request = read(command, arguments).map_err(Error::invalid_params)?;
    let place = file(arguments).unwrap_or_else(|| place(session, arguments));
    let is_set = command == SET_VALUE;
    let work = move |view: View| {
        let offset = request
            .position
            .and_then(|at| view.lines(&place, |lines| lines.offset(at, view.encoding)));
        let key_place = KeyPlace {
            path: Arc::from(place.as_str()),
            key: request.key.clone(),
            offset,
        };
        let key = key_place.top_key(&view.snapshot)?;
        // A named key is used as written.
        let key = match request.key {
            Some(_) => key,
            None => Arc::from(quoted(&key)),
        };
        view.analyse(&place, |analysis| {
            if is_set {
                edits(analysis, &key_place.path, key, &request, &|proposal| {
                    let note = EditNote {
                        label: proposal.words() + &in_brackets(analysis),
                        is_to_confirm: true,
                    };
                    json!(plan_edit(
                        &view,
                        &proposal.plan,
                        view.facts.edits,
                        Some(&note)
                    ))
                })
            } else {
                reasons(analysis, &key_place.path, &key, &request)
            }
        })
    };
    let (lane, needs) = (Lane::Document, Needs::WholeWorkspace);
    let answer = super::answer(session, command, lane, needs, work).await?;
    answer.map_err(|why: String| Error::invalid_params(why))
}

fn read(command: &str, arguments: &Value) -> std::result::Result<ValueRequest, String> {
    let wrong = || {
        if command == WHY_NOT {
            format!(
                "'{WHY_NOT}' needs {{\"key\" or \"position\", \"value\" or \"yaml\", \"node\"}}"
            )
        } else {
            format!(
                "'{SET_VALUE}' needs {{\"key\" or \"position\", \"value\" or \"yaml\", \"for\": [node or \
             VARIABLE=VALUE], \"only\"}}"
            )
        }
    };
    let key = arguments.get("key").and_then(Value::as_str).map(Arc::from);
    let position = arguments.get("position").and_then(position);
    if key.is_none() && position.is_none() {
        return Err(wrong());
    }
    let yaml = arguments.get("yaml").and_then(Value::as_str);
    // JSON is YAML.
    let json = || arguments.get("value").map(Value::to_string);
    let value = yaml.map(str::to_owned).or_else(json).ok_or_else(wrong)?;
    let value = value_of(&value)?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let conditions = match (command == WHY_NOT, arguments.get("for")) {
        (true, _) => vec![arguments.get("node").and_then(text).ok_or_else(wrong)?],
        (false, None | Some(Value::Null)) => Vec::new(),
        (false, Some(Value::Array(all))) => {
            let all: Option<Vec<String>> = all.iter().map(text).collect();
            all.ok_or_else(wrong)?
        }
        (false, Some(one)) => vec![text(one).ok_or_else(wrong)?],
    };
    Ok(ValueRequest {
        key,
        position,
        value,
        conditions,
        only: arguments.get("only") == Some(&Value::Bool(true)),
    })
}

/// A proposal with the edit that makes it.
#[derive(Serialize)]
struct WithEdit<'a> {
    #[serde(flatten)]
    proposal: ProposalFields<'a>,
    edit: Value,
}

fn edits(
    analysis: Analysis<'_>,
    place: &str,
    key: Arc<str>,
    request: &ValueRequest,
    edit: &dyn Fn(&Proposal) -> Value,
) -> std::result::Result<Value, String> {
    let view = analysis.answering(place).ok_or(NO_HIERARCHY)?;
    let which = nodes_of(&request.conditions)?;
    let wanted = (key, request.value.clone());
    let goal = Goal::of(analysis.nodes, wanted, &which, request.only)?;
    let outcome = proposals(&view, &goal, &|_| {})?;
    let one = |proposal| WithEdit {
        proposal: ProposalFields::new(proposal, analysis.snapshot),
        edit: edit(proposal),
    };
    let answer = marked(
        analysis,
        value_from(&OutcomeFields::new(&goal, &outcome, one))?,
    );
    Ok(match &outcome {
        Outcome::Proposals(_) => answer,
        Outcome::Already => {
            let message = format!(
                "these nodes already get this value of '{}'",
                goal.written_key
            );
            let message = message + &in_brackets(analysis);
            with(answer, json!({ "message": message }))
        }
        Outcome::Nothing(reasons) => {
            let title = format!("No edit for {}", goal.written_key);
            let text = above(analysis) + &reasons_text(&goal, reasons);
            with(answer, shown(&title, "text", &text))
        }
    })
}

fn reasons(
    analysis: Analysis<'_>,
    place: &str,
    key: &str,
    request: &ValueRequest,
) -> std::result::Result<Value, String> {
    let view = analysis.answering(place).ok_or(NO_HIERARCHY)?;
    let members = chosen(analysis.nodes, &nodes_of(&request.conditions)?)?;
    let member = members.first().copied().unwrap_or_default();
    let why = why_not(&view, key, &request.value, member)?;
    let node = analysis.nodes.certname(member);
    let name = |at: &str| analysis.snapshot.short_name(at).to_owned();
    let lines = why_not_lines(&why, key, node, &name);
    let text: String = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
    let text = above(analysis) + &text;
    let answer = marked(
        analysis,
        value_from(&WhyNotFields::new(&why, analysis.snapshot))?,
    );
    if why.has_it {
        let message = format!("{node} already gets this value of '{key}'");
        let message = message + &in_brackets(analysis);
        return Ok(with(answer, json!({ "message": message })));
    }
    let title = format!("Why {node} does not get a value of {key}");
    Ok(with(answer, shown(&title, "text", &text)))
}

/// A note, as its first line, that an answer depends on overridden facts.
fn above(analysis: Analysis<'_>) -> String {
    match analysis.what_if {
        "" => String::new(),
        facts => format!("what if: {}\n", facts.replace(['\n', '\r'], " ")),
    }
}

/// The same after a sentence.
fn in_brackets(analysis: Analysis<'_>) -> String {
    match analysis.what_if {
        "" => String::new(),
        facts => format!(" (what if: {facts})"),
    }
}

/// The same as data, and in each proposal's text.
fn marked(analysis: Analysis<'_>, mut answer: Value) -> Value {
    if analysis.what_if.is_empty() {
        return answer;
    }
    let proposals = answer.get_mut("proposals").and_then(Value::as_array_mut);
    for proposal in proposals.into_iter().flatten() {
        let proof = proposal.get("proof").and_then(Value::as_str);
        let proof = proof.map(|proof| format!("{proof}{}", in_brackets(analysis)));
        if let (Some(proof), Some(object)) = (proof, proposal.as_object_mut()) {
            object.insert("proof".to_owned(), proof.into());
        }
    }
    with(answer, json!({ "whatIf": analysis.what_if }))
}

fn value_from(fields: &impl Serialize) -> std::result::Result<Value, String> {
    serde_json::to_value(fields).map_err(|error| error.to_string())
}

/// An object with the members of another.
fn with(mut object: Value, more: Value) -> Value {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}
