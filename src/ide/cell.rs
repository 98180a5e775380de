//! Answers for nodes as text for people, for both the command line and the server's documents.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::compare::Difference;
use super::matrix::{Cell, Row, SourceLine};
use crate::lookup::{Alternatives, LookupError};
use crate::page::yaml;
use crate::scope::KnownNodes;
use crate::text::{cut, folded, number_of};
use crate::value::{Value, to_tagged_json};
use crate::workspace::Snapshot;

/// Maximum width of a value in a difference, in characters.
const WIDEST: usize = 100;

/// Maximum number of lines with sources of one answer.
const MAX_ORIGINS: usize = 10;

/// Maximum number of places in one line.
const MAX_PLACES: usize = 10;

/// The label of answers for nodes without known facts.
pub const NO_FACTS: &str = "nodes known only by name, without facts";

fn is_not_set(result: &Result<Value, LookupError>) -> bool {
    result.as_ref().is_err_and(LookupError::is_not_found)
}

/// A cell's answer in one line: the value as JSON without what is `Sensitive`, or a description.
#[must_use]
pub fn outcome_text(cell: &Cell) -> String {
    let json = |value: &Value| to_tagged_json(&value.redacted());
    match (&cell.unknown, &cell.result) {
        (Some(why), result) => match (cell.possible(), &cell.unless) {
            (Some(value), Some(unless)) => format!("{}, unless {unless}", json(value)),
            (None, Some(unless)) if is_not_set(result) => format!("(not set), unless {unless}"),
            (_, _) => format!("unknown: {why}"),
        },
        (None, Ok(value)) => json(value),
        (None, Err(error)) if error.is_not_found() => "(not set)".to_string(),
        (None, Err(error)) => format!("error: {}", error.words()),
    }
}

/// Sources as `file:line`; `name` names a file.
#[must_use]
pub fn sources_text<'a>(
    sources: impl IntoIterator<Item = &'a SourceLine>,
    name: impl Fn(&str) -> &str,
) -> String {
    let sources = sources.into_iter();
    let sources = sources.map(|source| format!("{}:{}", name(&source.file), source.line));
    sources.collect::<Vec<_>>().join(" ")
}

/// The sources of an answer: one line if they are the same for all nodes, else several lines, each
/// with its nodes.
#[must_use]
pub fn origins_text(cell: &Cell, place: &dyn Fn(&SourceLine) -> String) -> (String, Vec<String>) {
    let is_of_nodes = cell.origins.iter().any(|origin| !origin.nodes.is_empty());
    if cell.origins.len() <= 1 || !is_of_nodes {
        let all = cell.sources();
        let mut sources: Vec<String> = all.iter().take(MAX_PLACES).map(|it| place(it)).collect();
        if let Some(left) = all.len().checked_sub(MAX_PLACES).filter(|left| *left > 0) {
            sources.push(format!("and {left} more"));
        }
        return (sources.join(" "), Vec::new());
    }
    let shown = match cell.origins.len() {
        all if all <= MAX_ORIGINS => all,
        _ => MAX_ORIGINS - 1,
    };
    let (first, rest) = cell.origins.split_at(shown);
    let names: Vec<String> = first
        .iter()
        .map(|origin| nodes_text(&origin.nodes))
        .collect();
    let width = names.iter().map(|names| names.chars().count()).max();
    let width = width.unwrap_or_default();
    let mut lines: Vec<String> = Vec::new();
    for (origin, names) in first.iter().zip(names) {
        let sources: Vec<String> = origin.sources.iter().map(place).collect();
        let pad = " ".repeat(width - names.chars().count());
        let line = format!("{names}{pad}  {}", sources.join(" "));
        lines.push(line.trim_end().to_owned());
    }
    if !rest.is_empty() {
        let nodes: usize = rest.iter().map(|origin| origin.nodes.len()).sum();
        lines.push(format!(
            "{} from {} other places",
            counted(nodes),
            rest.len()
        ));
    }
    (String::new(), lines)
}

/// A key with the number of its different answers.
#[must_use]
pub fn row_title(row: &Row) -> String {
    let total: usize = row.answers.iter().map(|cell| cell.nodes.len()).sum();
    let count_text = match (row.answers.len(), total) {
        (0, _) => "no node is known".to_owned(),
        (1, 0) => "the same for every node".to_owned(),
        (count, 0) => format!("{count} different values, depending on a node's facts"),
        (1, total) => format!("the same for {}", counted(total)),
        (count, total) => format!("{count} different values on {}", counted(total)),
    };
    format!("{} — {count_text}", row.key)
}

/// The name of a single node, else the number of nodes.
#[must_use]
pub fn nodes_text(nodes: &[Arc<str>]) -> String {
    match nodes {
        [only] => only.to_string(),
        nodes => counted(nodes.len()),
    }
}

/// Who gets an answer: nodes, or nodes with certain facts. `is_only` if there is no other answer.
#[must_use]
pub fn audience_text(cell: &Cell, is_only: bool) -> String {
    match (cell.nodes.as_slice(), &cell.condition) {
        ([], _) if is_only => "every node".to_owned(),
        ([], Alternatives::Otherwise) => "every other node".to_owned(),
        ([], condition) => format!("where {}", condition.first()),
        (nodes, _) => nodes_text(nodes),
    }
}

/// The environments of an answer's nodes: ` (staging)`, or ` (2 in staging)` for some of them. Empty if all
/// are in that of the workspace.
#[must_use]
pub fn environments_text(cell: &Cell, known: &KnownNodes) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let members = cell.nodes.iter().filter_map(|name| known.find(name));
    for member in members.filter(|&member| known.is_elsewhere(member)) {
        let environment = known.own_environment(member).unwrap_or_default();
        *counts.entry(environment).or_default() += 1;
    }
    let all = cell.nodes.len();
    let parts = counts.into_iter().map(|(environment, count)| {
        if count == all {
            environment.to_owned()
        } else {
            format!("{count} in {environment}")
        }
    });
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(" ({})", parts.join(", ")),
    }
}

/// Cuts texts to a number of characters, so that they remain distinct: if their starts are the
/// same, the start is left out. O(bytes × groups of similar texts).
#[must_use]
pub fn shorten_distinctly(texts: &[String], most: usize) -> Vec<String> {
    /// The number of characters before the first difference.
    const BEFORE: usize = 12;
    let head = most / 3;
    let mut shown: Vec<String> = texts.iter().map(|text| cut(text, most)).collect();
    // Each round divides a group of equal texts.
    for _ in texts {
        let mut same: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, text) in shown.iter().enumerate() {
            same.entry(text).or_default().push(at);
        }
        let mut changed: Vec<(usize, String)> = Vec::new();
        for group in same.into_values() {
            let first = &texts[group[0]];
            let others = group.iter().map(|&at| &texts[at]);
            let others = others.filter(|text| *text != first);
            let Some(shared) = others.map(|text| shared_start(first, text)).min() else {
                continue;
            };
            let skipped = shared.saturating_sub(BEFORE);
            if skipped <= head {
                continue;
            }
            for at in group {
                let start: String = texts[at].chars().take(head).collect();
                let rest: String = texts[at].chars().skip(skipped).collect();
                let text = format!("{start}…{}", cut(&rest, most.saturating_sub(head + 1)));
                changed.push((at, text));
            }
        }
        changed.retain(|(at, text)| shown[*at] != *text);
        if changed.is_empty() {
            break;
        }
        for (at, text) in changed {
            shown[at] = text;
        }
    }
    shown
}

/// The number of equal characters at the start of two texts.
fn shared_start(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(one, other)| one == other).count()
}

/// A number of nodes, for people.
#[must_use]
pub fn counted(nodes: usize) -> String {
    number_of(nodes, "node")
}

/// The numbers of files and hierarchies: `1084 files, 1 hierarchy`.
#[must_use]
pub fn what_was_read(snapshot: &Snapshot) -> String {
    let roots = snapshot.roots().iter();
    let hierarchies = roots.filter(|root| root.has_hierarchy()).count();
    let hierarchies = match hierarchies {
        1 => "1 hierarchy".to_owned(),
        count => format!("{count} hierarchies"),
    };
    let files = number_of(snapshot.files().count(), "file");
    format!("{files}, {hierarchies}")
}

/// The kind of a line in a difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineKind {
    /// The key and its nodes.
    Title,
    /// The old answer.
    Old,
    /// The new answer.
    New,
    /// The sources for some of the nodes.
    Origin,
}

/// A difference as lines, each with the sources to append. `texts` are both answers; `name` names a file.
#[must_use]
pub fn difference_lines(
    difference: &Difference,
    text: &[String],
    name: impl Fn(&str) -> &str,
) -> Vec<(LineKind, String, String)> {
    let Difference { key, before, after } = difference;
    let title = if before.nodes == after.nodes && !after.nodes.is_empty() {
        format!("{key} — {}", nodes_text(&after.nodes))
    } else {
        key.to_string()
    };
    let mut lines = vec![(LineKind::Title, title, String::new())];
    let place = |source: &SourceLine| sources_text([source], &name);
    let sides = [(LineKind::Old, '-', before), (LineKind::New, '+', after)];
    for ((part, sign, cell), text) in sides.into_iter().zip(text) {
        let (sources, origins) = origins_text(cell, &place);
        lines.push((part, format!("  {sign} {text}"), sources));
        let origins = origins.into_iter();
        lines.extend(
            origins.map(|origin| (LineKind::Origin, format!("      {origin}"), String::new())),
        );
    }
    lines
}

/// The answers of a difference, to be shown side by side: cut, but so that they remain distinct.
/// If answers with encrypted or sensitive parts read alike, the second is marked as different.
#[must_use]
pub fn side_texts(difference: &Difference) -> Vec<String> {
    let Difference { before, after, .. } = difference;
    let texts = [outcome_text(before), outcome_text(after)];
    let has_secret = before.result.as_ref().is_ok_and(yaml::has_secret);
    let are_encrypted = has_secret && texts[0] == texts[1];
    let mut texts = shorten_distinctly(&texts, WIDEST);
    if are_encrypted {
        texts[1].push_str(" (a different value)");
    }
    texts
}

/// Adds one side of a difference: its answer and sources.
pub(super) fn side(
    out: &mut String,
    (sign, text): (char, &str),
    cell: &Cell,
    place: &dyn Fn(&SourceLine) -> String,
) {
    let (sources, origins) = origins_text(cell, place);
    let line = format!("  {sign} {text}  {sources}");
    let line = line.trim_end();
    match line.chars().count() > WIDEST {
        // The sources follow a long answer on their own lines.
        true if !sources.is_empty() => {
            let _ = writeln!(out, "  {sign} {text}");
            for sources in folded(sources.split(' '), " ", WIDEST - 6) {
                let _ = writeln!(out, "      {sources}");
            }
        }
        true | false => {
            let _ = writeln!(out, "{line}");
        }
    }
    for origin in origins {
        let _ = writeln!(out, "      {origin}");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn texts_that_differ_late_stay_distinct_when_cut() {
        let long = |end: &str| format!("[\"{}\",{end}]", "x".repeat(100));
        let shown = shorten_distinctly(&[long("1"), long("2"), "[]".into(), long("1")], 40);
        assert_eq!(
            shown,
            [
                "[\"xxxxxxxxxxx…xxxxxxxxxx\",1]",
                "[\"xxxxxxxxxxx…xxxxxxxxxx\",2]",
                "[]",
                "[\"xxxxxxxxxxx…xxxxxxxxxx\",1]",
            ]
        );
        // Two of three texts differ later than the third from both.
        let other = format!("[\"{}y{}\",1]", "x".repeat(50), "x".repeat(50));
        let all = [long("1"), long("2"), other];
        let shown: BTreeSet<String> = shorten_distinctly(&all, 40).into_iter().collect();
        assert_eq!(shown.len(), 3, "{shown:?}");
        // The texts are equal, or differ at their start.
        assert_eq!(
            shorten_distinctly(&[long("1"), long("1")], 10),
            ["[\"xxxxxxx…"; 2]
        );
        let early = ["a".to_string() + &long("1"), long("1")];
        assert_eq!(shorten_distinctly(&early, 8), ["a[\"xxxx…", "[\"xxxxx…"]);
    }
}
