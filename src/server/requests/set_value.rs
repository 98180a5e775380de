//! The commands of edits by goal: which edits give nodes a value, and what is in the way of one.

use std::sync::Arc;

use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Error, Result};

use super::edits::plan_edit;
use super::execute_command::{file, place};
use super::{View, Wants};
use crate::analysis::Analysis;
use crate::ide::expectation::chosen;
use crate::ide::goal::{
    Goal, Proposal, nodes_of, outcome_json, proposal_json, proposals, value_of, why_not,
    why_not_json,
};
use crate::server::capabilities::{SET_VALUE, WHY_NOT};
use crate::server::connection::Connection;
use crate::server::jobs::Lane;

/// What the arguments ask.
struct Asked {
    key: Arc<str>,
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
    let asked = read(command, arguments).map_err(Error::invalid_params)?;
    let place = file(arguments).unwrap_or_else(|| place(session, arguments));
    let form = session.facts().edits();
    let is_set = command == SET_VALUE;
    let work = move |view: View| {
        let found = view.analyse(&place, |analysis| {
            let edit = |proposal: &Proposal| {
                let edit = plan_edit(&view, &proposal.plan, form, None);
                serde_json::to_value(edit).unwrap_or_default()
            };
            match is_set {
                true => edits(analysis, &place, &asked, &edit),
                false => reasons(analysis, &place, &asked),
            }
        });
        let text: String = found?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    };
    let (lane, wants) = (Lane::Document, Wants::WholeWorkspace);
    let answer = super::answer(session, command, lane, wants, work).await?;
    answer.map_err(|why: String| Error::invalid_params(why))
}

fn read(command: &str, arguments: &Value) -> std::result::Result<Asked, String> {
    let wrong = || match command == WHY_NOT {
        true => format!("'{WHY_NOT}' needs {{\"key\", \"value\", \"node\"}}"),
        false => format!(
            "'{SET_VALUE}' needs {{\"key\", \"value\", \"for\": [node or VARIABLE=VALUE], \"only\"}}"
        ),
    };
    let key = arguments
        .get("key")
        .and_then(Value::as_str)
        .ok_or_else(wrong)?;
    let value = arguments.get("value").ok_or_else(wrong)?;
    // JSON is YAML.
    let value = value_of(&value.to_string())?;
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
    Ok(Asked {
        key: Arc::from(key),
        value,
        conditions,
        only: arguments.get("only") == Some(&Value::Bool(true)),
    })
}

fn edits(
    analysis: Analysis<'_>,
    place: &str,
    asked: &Asked,
    edit: &dyn Fn(&Proposal) -> Value,
) -> std::result::Result<String, String> {
    let view = analysis
        .answering(place)
        .ok_or("there is no hierarchy here")?;
    let which = nodes_of(&asked.conditions)?;
    let wanted = (asked.key.clone(), asked.value.clone());
    let goal = Goal::of(analysis.nodes, wanted, &which, asked.only)?;
    let outcome = proposals(&view, &goal)?;
    let one = |proposal: &Proposal| {
        let edit = json!(edit(proposal));
        format!(
            "{{{},\"edit\":{edit}}}",
            proposal_json(proposal, analysis.snapshot)
        )
    };
    Ok(outcome_json(&goal, &outcome, &one))
}

fn reasons(
    analysis: Analysis<'_>,
    place: &str,
    asked: &Asked,
) -> std::result::Result<String, String> {
    let view = analysis
        .answering(place)
        .ok_or("there is no hierarchy here")?;
    let members = chosen(analysis.nodes, &nodes_of(&asked.conditions)?)?;
    let member = members.first().copied().unwrap_or_default();
    let why = why_not(&view, &asked.key, &asked.value, member)?;
    Ok(why_not_json(&why, analysis.snapshot))
}
