//! Proposals, and what is in the way of a value, written down: the command line and the server say the
//! same.

use super::why_not::WIDEST;
use super::{Goal, WhyNot};
use crate::ide::cell::outcome_text;
use crate::ide::edit::Plan;
use crate::ide::hover::inline;
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
    let gets = match (&why.gets.unknown, &why.gets.result) {
        (None, Ok(value)) => inline(value, WIDEST),
        (_, _) => outcome_text(&why.gets),
    };
    let wanted = match why.has_it {
        true => String::new(),
        false => format!(", not {}", inline(&why.wanted, WIDEST)),
    };
    let first = format!("{key} — {gets}{wanted} for {node}{merged}");
    let mut lines = vec![(first, false)];
    for level in &why.levels {
        let place = match (&level.file, level.line) {
            (Some(file), Some(line)) => format!("{}:{line}", name(file)),
            (Some(file), None) => name(file),
            (None, _) => match &level.path {
                Some(path) => name(path),
                None => level.level.to_string(),
            },
        };
        let is_in_the_way = level.is_in_the_way && !why.has_it;
        let line = (format!("  {place} {}", level.what), is_in_the_way);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if why.levels.is_empty() && !why.has_it {
        lines.push(("  no level sets it for this node".to_owned(), false));
    }
    lines
}
