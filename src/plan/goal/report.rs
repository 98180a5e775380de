//! Proposals and reasons against a value as text, for both the command line and the server.

use super::why_not::WIDEST;
use super::{Goal, InTheWay, WhyNot};
use crate::edit::Plan;
use crate::ide::cell::outcome_text;
use crate::page::yaml::inline;
use crate::workspace::Snapshot;

/// The unified diff of a plan; `name` names a file for people.
///
/// # Errors
/// Why the plan does not fit the files, for people.
pub fn diff(
    plan: &Plan,
    snapshot: &Snapshot,
    name: &dyn Fn(&str) -> String,
) -> Result<String, String> {
    let changed = plan.changed(snapshot)?.into_iter();
    let diffs = changed.map(|changed| changed.diff(&name(&changed.path)));
    Ok(diffs.collect())
}

/// The reasons for a lack of proposals, as lines.
#[must_use]
pub fn reasons_text(goal: &Goal, reasons: &[String]) -> String {
    let key = &goal.written_key;
    let reasons = reasons.iter().map(|line| format!("{line}\n"));
    let reasons: String = reasons.collect();
    format!("no edit gives these nodes this value of '{key}'\n{reasons}")
}

/// The node's current value, then each level, as lines; with whether the level prevents the wanted value.
#[must_use]
pub fn why_not_lines(
    why: &WhyNot,
    key: &str,
    node: &str,
    name: &dyn Fn(&str) -> String,
) -> Vec<(String, bool)> {
    let merged = why
        .merged
        .as_ref()
        .map(|how| format!(", merged by '{how}'"));
    let merged = merged.unwrap_or_default();
    let expected = inline(&why.wanted, WIDEST);
    // The levels below have the reason.
    let is_open = why.levels.iter().any(|level| level.file.is_none());
    let gets = match (&why.gets.unknown, &why.gets.result) {
        (None, Ok(value)) => inline(value, WIDEST),
        (Some(_), _) if is_open => format!("not known (expected {expected})"),
        (_, _) => outcome_text(&why.gets),
    };
    let wanted = if why.has_it || (why.gets.unknown.is_some() && is_open) {
        String::new()
    } else {
        format!(", not {expected}")
    };
    let first = format!("{key} — {gets}{wanted} for {node}{merged}");
    let mut lines = vec![(first, false)];
    if !why.has_facts {
        lines.push(("  no facts of this node are known".to_owned(), false));
    }
    let mut rows: Vec<(String, &InTheWay)> = Vec::new();
    for level in &why.levels {
        let place = match (&level.file, level.line, &level.path) {
            (Some(file), Some(line), _) => format!("{}:{line}", name(file)),
            (Some(file), None, _) => name(file),
            (None, _, Some(path)) => name(path),
            (None, _, None) => level.level.to_string(),
        };
        let is_new = |(known, other): &(String, &InTheWay)| {
            *known != place
                || other.what != level.what
                || other.is_in_the_way != level.is_in_the_way
        };
        if rows.iter().all(is_new) {
            rows.push((place, level));
        }
    }
    let is_same_level = |(_, one): &(String, &InTheWay), (_, other): &(String, &InTheWay)| {
        let are_open = one.file.is_none() && other.file.is_none();
        are_open && one.level == other.level && one.what == other.what
    };
    for group in rows.chunk_by(is_same_level) {
        let more = group.len() - 1;
        let level = &group[0].1.level;
        // Up to two are named.
        let (shown, more) = match more {
            0 | 1 => (group, String::new()),
            _ => (
                &group[..1],
                format!(" and {more} more paths of level '{level}'"),
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
