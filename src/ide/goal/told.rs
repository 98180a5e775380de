//! Proposals, and what is in the way of a value, written down: the command line and the server say the
//! same.

use super::why_not::WIDEST;
use super::{Goal, InTheWay, Outcome, Proposal, WhyNot};
use crate::ide::cell::{cell_json, difference_json, json_text, nodes_json, outcome_text};
use crate::ide::edit::Plan;
use crate::ide::hover::inline;
use crate::value::to_tagged_json;
use crate::workspace::Snapshot;

/// What a plan does to texts, as a unified diff; `name` names a file by its path.
///
/// # Errors
/// A plan that does not fit the files, in words.
pub fn diff(
    plan: &Plan,
    snapshot: &Snapshot,
    name: &dyn Fn(&str) -> String,
) -> Result<String, String> {
    let changed = plan.changed(snapshot)?.into_iter();
    let diffs = changed.map(|changed| changed.diff(&name(&changed.path)));
    Ok(diffs.collect())
}

/// What came of a goal, as one JSON object; `proposal` tells one.
#[must_use]
pub fn outcome_json(
    goal: &Goal,
    outcome: &Outcome,
    proposal: &dyn Fn(&Proposal) -> String,
) -> String {
    let (proposals, reasons): (Vec<String>, &[String]) = match outcome {
        Outcome::Already => (Vec::new(), &[]),
        Outcome::Proposals(proposals) => (proposals.iter().map(proposal).collect(), &[]),
        Outcome::Nothing(reasons) => (Vec::new(), reasons),
    };
    let reasons: Vec<String> = reasons.iter().map(|reason| json_text(reason)).collect();
    format!(
        "{{\"key\":{},\"value\":{},\"already\":{},\"proposals\":[{}],\"reasons\":[{}]}}",
        json_text(&goal.asked),
        to_tagged_json(&goal.value),
        matches!(outcome, Outcome::Already),
        proposals.join(","),
        reasons.join(",")
    )
}

/// The members of a proposal's JSON object, without its braces.
#[must_use]
pub fn proposal_json(proposal: &Proposal, snapshot: &Snapshot) -> String {
    let files = proposal.plan.paths();
    let files: Vec<String> = files.map(|at| json_text(snapshot.short_name(at))).collect();
    let changes = &proposal.proof.known.changes;
    let changes: Vec<String> = changes.iter().map(difference_json).collect();
    format!(
        "\"title\":{},\"proof\":{},\"nodes\":{},\"others\":{},\"files\":[{}],\"changes\":[{}],\"diff\":{}",
        json_text(&proposal.title),
        json_text(&proposal.words()),
        nodes_json(&proposal.changed),
        nodes_json(&proposal.others),
        files.join(","),
        changes.join(","),
        json_text(
            &diff(&proposal.plan, snapshot, &|at| snapshot
                .short_name(at)
                .to_owned())
            .unwrap_or_default()
        )
    )
}

/// Why no edit is proposed, as lines.
#[must_use]
pub fn reasons_text(goal: &Goal, reasons: &[String]) -> String {
    let first = format!("no edit gives these nodes this value of '{}'", goal.asked);
    let lines = std::iter::once(&first).chain(reasons);
    lines.map(|line| format!("{line}\n")).collect()
}

/// What is in the way of a value, in lines: what the node gets, then what each level does, with whether
/// that is in the way.
#[must_use]
pub fn why_not_lines(
    why: &WhyNot,
    key: &str,
    node: &str,
    name: &dyn Fn(&str) -> String,
) -> Vec<(String, bool)> {
    let merged = match &why.merged {
        Some(how) => format!(", merged by '{how}'"),
        None => String::new(),
    };
    let expected = inline(&why.wanted, WIDEST);
    // The levels below say why.
    let is_open = why.levels.iter().any(|level| level.file.is_none());
    let gets = match (&why.gets.unknown, &why.gets.result) {
        (None, Ok(value)) => inline(value, WIDEST),
        (Some(_), _) if is_open => format!("not known (expected {expected})"),
        (_, _) => outcome_text(&why.gets),
    };
    let wanted = match why.has_it || (why.gets.unknown.is_some() && is_open) {
        true => String::new(),
        false => format!(", not {expected}"),
    };
    let first = format!("{key} — {gets}{wanted} for {node}{merged}");
    let mut lines = vec![(first, false)];
    if !why.has_facts {
        lines.push(("  no facts of this node are known".to_owned(), false));
    }
    let mut told: Vec<(String, &InTheWay)> = Vec::new();
    for level in &why.levels {
        let place = match (&level.file, level.line) {
            (Some(file), Some(line)) => format!("{}:{line}", name(file)),
            (Some(file), None) => name(file),
            (None, _) => match &level.path {
                Some(path) => name(path),
                None => level.level.to_string(),
            },
        };
        let is_new = |(known, other): &(String, &InTheWay)| {
            *known != place
                || other.what != level.what
                || other.is_in_the_way != level.is_in_the_way
        };
        if told.iter().all(is_new) {
            told.push((place, level));
        }
    }
    let is_alike = |(_, one): &(String, &InTheWay), (_, other): &(String, &InTheWay)| {
        let are_open = one.file.is_none() && other.file.is_none();
        are_open && one.level == other.level && one.what == other.what
    };
    for alike in told.chunk_by(is_alike) {
        let more = alike.len() - 1;
        // Two are named.
        let (shown, more) = match more {
            0 | 1 => (alike, String::new()),
            _ => (
                &alike[..1],
                format!(" and {more} more paths of level '{}'", alike[0].1.level),
            ),
        };
        for (place, level) in shown {
            let is_in_the_way = level.is_in_the_way && !why.has_it;
            lines.push((format!("  {place}{more} {}", level.what), is_in_the_way));
        }
    }
    if why.levels.is_empty() && !why.has_it {
        lines.push(("  no level sets it for this node".to_owned(), false));
    }
    lines
}

/// What is in the way of a value, as one JSON object.
#[must_use]
pub fn why_not_json(why: &WhyNot, snapshot: &Snapshot) -> String {
    let levels = why.levels.iter().map(|level| {
        let file = level.file.as_ref();
        let file = file.map_or("null".to_owned(), |at| json_text(snapshot.short_name(at)));
        let line = level
            .line
            .map_or("null".to_owned(), |line| line.to_string());
        format!(
            "{{\"level\":{},\"file\":{file},\"line\":{line},\"in_the_way\":{},\"what\":{}}}",
            json_text(&level.level),
            level.is_in_the_way,
            json_text(&level.what)
        )
    });
    let levels: Vec<String> = levels.collect();
    let merged = why.merged.as_deref().map_or("null".to_owned(), json_text);
    format!(
        "{{\"has_it\":{},\"gets\":{},\"merged\":{merged},\"levels\":[{}]}}",
        why.has_it,
        cell_json(&why.gets),
        levels.join(",")
    )
}
