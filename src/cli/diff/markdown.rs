//! Differences as a comment on a pull request: counts first, then each key folded, cut to what the
//! platforms take.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use super::super::terminal::shown;
use super::{gone_text, state};
use crate::ide::cell::{counted, outcome_text, sources_text};
use crate::ide::compare::Difference;
use crate::ide::matrix::Cell;
use crate::text::unified_diff;
use crate::value;

/// What a comment begins with, so that a later run finds it and writes it anew.
const MARKER: &str = "<!-- hiera-ls diff -->";

/// Most bytes of a page: GitHub takes comments of 65,536 characters.
const MOST_BYTES: usize = 60_000;

/// Most bytes of the values of one difference.
const MOST_OF_VALUE: usize = 4_000;

/// Most nodes and places that are named for one difference.
const MOST_NAMED: usize = 20;

/// What was compared.
#[derive(Clone, Copy)]
pub(super) enum Sides<'a> {
    /// Two nodes, or two environments.
    Names(&'a str, &'a str),
    /// A revision or another checkout with what is here now, for so many nodes.
    Versions {
        old: &'a str,
        nodes: usize,
        /// Nodes of the old side that are no longer known.
        gone: &'a [Arc<str>],
    },
}

/// The page of all differences, ordered by key.
pub(super) fn page(differences: &[Difference], sides: Sides<'_>, has_values: bool) -> String {
    let by_key: Vec<&[Difference]> = differences
        .chunk_by(|one, other| one.key == other.key)
        .collect();
    let mut out = format!("{MARKER}\n{}\n", heading(&by_key, sides));
    if let Sides::Versions { gone, .. } = sides
        && let Some(text) = gone_text(gone)
    {
        let _ = writeln!(out, "\nNote: {}.", escaped(&text));
    }
    let mut shown = 0;
    for group in &by_key {
        let block = block(group, has_values);
        if out.len() + block.len() > MOST_BYTES {
            break;
        }
        out += &block;
        shown += 1;
    }
    if shown < by_key.len() {
        let rest = by_key.len() - shown;
        let _ = writeln!(
            out,
            "\n{} not shown: the comment would be too long.",
            keys(rest)
        );
    }
    out
}

fn heading(by_key: &[&[Difference]], sides: Sides<'_>) -> String {
    let count = by_key.len();
    let (old, total) = match (sides, count) {
        (Sides::Names(one, other), 0) => {
            return format!(
                "**Hiera**: {} and {} get the same values.",
                code(one),
                code(other)
            );
        }
        (Sides::Names(one, other), _) => {
            let (one, other) = (code(one), code(other));
            return format!(
                "**Hiera**: {} differ between {one} (−) and {other} (+).\n",
                keys(count)
            );
        }
        (Sides::Versions { old, nodes, .. }, 0) => {
            let nodes = counted(nodes);
            return format!(
                "**Hiera**: no value of {nodes} changes against {}.",
                code(old)
            );
        }
        (Sides::Versions { old, nodes, .. }, _) => (old, nodes),
    };
    let all = by_key.iter().flat_map(|group| group.iter());
    let nodes: BTreeSet<&str> = all
        .clone()
        .flat_map(|one| one.after.nodes.iter())
        .map(|name| &**name)
        .collect();
    let is_set = |cell: &Cell| cell.unknown.is_some() || cell.result.is_ok();
    let of = |before: bool, after: bool| {
        let is_so =
            |one: &&Difference| is_set(&one.before) == before && is_set(&one.after) == after;
        let groups = by_key
            .iter()
            .filter(|group| group.iter().any(|one| is_so(&one)));
        groups.count()
    };
    let kinds = [
        (of(true, true), "with other values"),
        (of(false, true), "newly set"),
        (of(true, false), "no longer set"),
    ];
    let kinds = kinds.iter().filter(|(count, _)| *count > 0);
    let kinds: Vec<String> = kinds
        .map(|(count, kind)| format!("{count} {kind}"))
        .collect();
    format!(
        "**Hiera**: {} change for {} of {} against {} ({}).\n",
        keys(count),
        nodes.len(),
        counted(total),
        code(old),
        kinds.join(", ")
    )
}

/// All differences of one key, folded.
fn block(group: &[Difference], has_values: bool) -> String {
    let Some(first) = group.first() else {
        return String::new();
    };
    let nodes: usize = group.iter().map(|one| one.after.nodes.len()).sum();
    let key = escaped(&first.key);
    let whose = match group {
        [one] if one.before.nodes != one.after.nodes => String::new(),
        [one] if nodes == 1 => format!(" — {}", escaped(&one.after.nodes.concat())),
        _ => format!(" — {}", counted(nodes)),
    };
    let mut out = format!("<details><summary><code>{key}</code>{whose}</summary>\n");
    for one in group {
        out += &body(one, group.len() == 1, has_values);
    }
    out + "\n</details>\n"
}

/// One difference; that of a key's only one has its single node in the summary already.
fn body(difference: &Difference, is_only: bool, has_values: bool) -> String {
    let Difference { before, after, .. } = difference;
    let mut out = String::new();
    if before.nodes == after.nodes && !(is_only && after.nodes.len() == 1) {
        let names = after.nodes.iter().map(|name| code(name));
        let _ = writeln!(out, "\n{}:", few(names.collect()));
    }
    let lines = match has_values {
        true => values(before, after),
        false => format!("-{}\n+{}\n", state(before), state(after)),
    };
    let fence = "`".repeat(longest_run(&lines).max(2) + 1);
    let _ = write!(out, "\n{fence}diff\n{lines}{fence}\n");
    let places = |cell: &Cell| {
        let places = cell.sources().into_iter();
        let places = places.map(|place| code(&sources_text([place], shown)));
        few(places.collect())
    };
    let (old, new) = (places(before), places(after));
    let _ = match (old.is_empty(), new.is_empty()) {
        (true, true) => Ok(()),
        (true, false) => writeln!(out, "\nnow from {new}"),
        (false, true) => writeln!(out, "\nbefore from {old}"),
        (false, false) if old == new => writeln!(out, "\nfrom {new}"),
        (false, false) => writeln!(out, "\nbefore from {old}, now from {new}"),
    };
    out
}

/// Two answers as the lines of a diff.
fn values(before: &Cell, after: &Cell) -> String {
    let [old, new] = [before, after].map(yaml);
    let lines = match old == new {
        // What reads alike is encrypted: only the cipher texts differ.
        true => format!(
            "-{old}+{}\n",
            new.trim_end().to_owned() + " (another cipher text)"
        ),
        false => {
            let hunks = unified_diff(&old, &new);
            let lines = hunks.lines().filter(|line| !line.starts_with("@@"));
            lines.map(|line| format!("{line}\n")).collect()
        }
    };
    if lines.len() <= MOST_OF_VALUE {
        return lines;
    }
    let end = lines.floor_char_boundary(MOST_OF_VALUE);
    let end = lines[..end].rfind('\n').map_or(end, |at| at + 1);
    format!("{}\n…\n", lines[..end].trim_end())
}

/// An answer as YAML, or what is said in its place; whole lines.
fn yaml(cell: &Cell) -> String {
    let text = match (&cell.unknown, &cell.result) {
        (None, Ok(value)) if !value.has_opaque() => {
            let text = value::dump(value);
            let text = text.strip_prefix("---").unwrap_or(&text);
            text.trim_start_matches([' ', '\n']).to_owned()
        }
        (_, _) => outcome_text(cell),
    };
    text.trim_end().to_owned() + "\n"
}

/// A list, cut where it is long.
fn few(names: Vec<String>) -> String {
    let more = names.len().saturating_sub(MOST_NAMED);
    let mut text = names[..names.len() - more].join(", ");
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    text
}

fn keys(count: usize) -> String {
    match count {
        1 => "1 key".to_owned(),
        count => format!("{count} keys"),
    }
}

/// A text as HTML shows it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// A name as code, whatever it holds.
fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    match text.starts_with('`') || text.ends_with('`') {
        true => format!("{fence} {text} {fence}"),
        false => format!("{fence}{text}{fence}"),
    }
}

/// How many backticks stand side by side at most.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|letter| letter != '`');
    runs.map(str::len).max().unwrap_or_default()
}
