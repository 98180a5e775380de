//! Differences as a comment on a pull request: counts first, then each key folded, cut to the
//! limits of the platforms.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use super::super::terminal::{shown, with_shown_files};
use super::{gone_text, state, undecided_text};
use crate::ide::cell::{counted, outcome_text, shorten_distinctly, sources_text};
use crate::ide::compare::Difference;
use crate::ide::matrix::Cell;
use crate::ide::undecided::Undecided;
use crate::page::{code_span, longest_run};
use crate::text::{Hunk, few, hunks, number_of};
use crate::value::{self, Value};

/// The start of a comment, by which a later run finds and replaces it.
const MARKER: &str = "<!-- hiera-ls diff -->";

/// Maximum number of bytes of a page: GitHub takes comments of 65,536 characters.
const MAX_BYTES: usize = 60_000;

/// Maximum number of bytes of the values of one difference.
const MAX_OF_VALUE: usize = 4_000;

/// Maximum number of characters of a line of a value.
const WIDEST: usize = 400;

/// Maximum number of nodes and places named for one difference.
const MAX_NAMED: usize = 20;

/// Maximum number of further names, folded.
const MAX_FOLDED: usize = 200;

/// From how many keys with the same error on the error is printed once.
const FEWEST_ALIKE: usize = 2;

#[derive(Clone, Copy)]
pub(super) enum Sides<'a> {
    /// Two nodes, or two environments.
    Names(&'a str, &'a str),
    /// A revision or another checkout, compared with the current files for this many nodes.
    Versions {
        old: &'a str,
        nodes: usize,
        /// Nodes of the old side that are no longer known.
        gone: &'a [Arc<str>],
        /// Keys of which it is unknown whether they differ.
        undecided: &'a [Undecided],
    },
}

/// How a page mentions nodes.
#[derive(Clone, Copy)]
struct Mentions {
    /// The number of nodes; `None` if nodes are not counted.
    all: Option<usize>,
    /// Whether long lists are included in full, folded.
    is_whole: bool,
}

/// The page of all differences, ordered by key.
pub(super) fn page(differences: &[Difference], sides: Sides<'_>, has_values: bool) -> String {
    let all = match sides {
        Sides::Names(..) => None,
        Sides::Versions { nodes, .. } => Some(nodes),
    };
    let page = |is_whole| page_with(differences, sides, has_values, Mentions { all, is_whole });
    match page(true) {
        (text, 0) => text,
        // Keys matter more than names of nodes.
        (_, _) => {
            let (text, rest) = page(false);
            match rest {
                0 => text,
                rest => format!(
                    "{text}\n{} not shown: the comment would be too long.\n",
                    number_of(rest, "key")
                ),
            }
        }
    }
}

/// The page, and the number of keys that did not fit.
fn page_with(
    differences: &[Difference],
    sides: Sides<'_>,
    has_values: bool,
    nodes: Mentions,
) -> (String, usize) {
    let by_key: Vec<&[Difference]> = differences
        .chunk_by(|one, other| one.key == other.key)
        .collect();
    let mut out = format!("{MARKER}\n{}\n", heading(&by_key, sides));
    if let Sides::Versions {
        gone, undecided, ..
    } = sides
    {
        if let Some(text) = gone_text(gone) {
            let _ = writeln!(out, "\nNote: {}.", escaped(&text));
        }
        for key in undecided.iter().take(MAX_NAMED) {
            let _ = writeln!(out, "\nUnknown: {}.", escaped(&undecided_text(key)));
        }
        if let Some(more @ 1..) = undecided.len().checked_sub(MAX_NAMED) {
            let _ = writeln!(
                out,
                "\nUnknown: {} may differ.",
                number_of(more, "more key")
            );
        }
    }
    let failures = failures(differences);
    for (message, failing) in &failures {
        out += &failure(message, failing, nodes);
    }
    let is_listed_failure = |one: &Difference| {
        failed(&one.after).is_some_and(|message| failures.contains_key(&message))
    };
    let mut rest = 0;
    for group in by_key {
        let group: Vec<&Difference> = group.iter().filter(|one| !is_listed_failure(one)).collect();
        let block = block(&group, has_values, nodes);
        if rest == 0 && out.len() + block.len() <= MAX_BYTES {
            out += &block
        } else {
            rest += 1
        }
    }
    (out, rest)
}

/// The text for an answer that is an error.
fn failed(cell: &Cell) -> Option<String> {
    let error = cell.result.as_ref().err();
    let error = error.filter(|error| cell.unknown.is_none() && !error.is_not_found())?;
    Some(with_shown_files(&error.words()))
}

/// New errors that several keys share, with their differences: an unreadable file fails every
/// lookup that reads it.
fn failures(differences: &[Difference]) -> BTreeMap<String, Vec<&Difference>> {
    let mut failures: BTreeMap<String, Vec<&Difference>> = BTreeMap::new();
    for one in differences {
        if let Some(message) = failed(&one.after) {
            failures.entry(message).or_default().push(one);
        }
    }
    failures.retain(|_, all| keys_of(all).len() >= FEWEST_ALIKE);
    failures
}

fn keys_of<'a>(differences: &[&'a Difference]) -> BTreeSet<&'a str> {
    differences.iter().map(|one| &*one.key).collect()
}

/// An error of several keys, with their names folded.
fn failure(message: &str, failing: &[&Difference], nodes: Mentions) -> String {
    let names = failing.iter().flat_map(|one| one.after.nodes.iter());
    let count = names.collect::<BTreeSet<_>>().len();
    let all = keys_of(failing);
    let fence = "`".repeat(longest_run(message).max(2) + 1);
    let named: Vec<String> = all.iter().map(|key| code_span(key)).collect();
    let named = few(&named, MAX_FOLDED);
    format!(
        "\n**Lookups of {} fail** for {}:\n\n{fence}text\n{message}\n{fence}\n\n\
         <details><summary>{}</summary>\n\n{named}\n\n</details>\n",
        number_of(all.len(), "key"),
        some_of(count, nodes.all),
        number_of(all.len(), "key"),
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AnswerState {
    Set,
    Missing,
    Failed,
}

impl AnswerState {
    fn of(cell: &Cell) -> AnswerState {
        match &cell.result {
            _ if cell.unknown.is_some() => AnswerState::Set,
            Ok(_) => AnswerState::Set,
            Err(error) if error.is_not_found() => AnswerState::Missing,
            Err(_) => AnswerState::Failed,
        }
    }
}

fn heading(by_key: &[&[Difference]], sides: Sides<'_>) -> String {
    let count = by_key.len();
    let (old, total) = match (sides, count) {
        (Sides::Names(one, other), 0) => {
            return format!(
                "**Hiera**: {} and {} get the same values.",
                code_span(one),
                code_span(other)
            );
        }
        (Sides::Names(one, other), _) => {
            let (one, other) = (code_span(one), code_span(other));
            let verb = if count == 1 { "differs" } else { "differ" };
            return format!(
                "**Hiera**: {} {verb} between {one} (−) and {other} (+).\n",
                number_of(count, "key")
            );
        }
        (
            Sides::Versions {
                old,
                nodes,
                undecided,
                ..
            },
            0,
        ) => {
            let nodes = counted(nodes);
            let changes = match undecided {
                [] => "changes",
                _ => "is known to change",
            };
            return format!(
                "**Hiera**: no value of {nodes} {changes} against {}.",
                code_span(old)
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
    use AnswerState::{Failed, Missing, Set};
    type IsKind = fn(AnswerState, AnswerState) -> bool;
    let kinds: [(&str, IsKind); 5] = [
        ("failing", |_, new| new == Failed),
        ("no longer failing", |old, new| {
            old == Failed && new != Failed
        }),
        ("with other values", |old, new| (old, new) == (Set, Set)),
        ("newly set", |old, new| (old, new) == (Missing, Set)),
        ("no longer set", |old, new| (old, new) == (Set, Missing)),
    ];
    let kinds = kinds.iter().filter_map(|(kind, fits)| {
        let fits =
            |one: &Difference| fits(AnswerState::of(&one.before), AnswerState::of(&one.after));
        let groups = by_key.iter().filter(|group| group.iter().any(fits));
        Some(groups.count())
            .filter(|count| *count > 0)
            .map(|count| format!("{count} {kind}"))
    });
    let kinds: Vec<String> = kinds.collect();
    format!(
        "**Hiera**: {} {} for {} against {} ({}).\n",
        number_of(count, "key"),
        if count == 1 { "changes" } else { "change" },
        some_of(nodes.len(), Some(total)),
        code_span(old),
        kinds.join(", ")
    )
}

/// A number of nodes out of all.
fn some_of(count: usize, all: Option<usize>) -> String {
    match all {
        Some(1) | None => counted(count),
        Some(all) if all == count => format!("all {}", counted(all)),
        Some(all) => format!("{count} of {}", counted(all)),
    }
}

/// All differences of one key, folded.
fn block(group: &[&Difference], has_values: bool, names: Mentions) -> String {
    let Some(first) = group.first() else {
        return String::new();
    };
    let nodes: usize = group.iter().map(|one| one.after.nodes.len()).sum();
    let key = escaped(&first.key);
    let nodes_note = match group {
        [one] if one.before.nodes != one.after.nodes => String::new(),
        [one] if nodes == 1 => format!(" — {}", escaped(&one.after.nodes.concat())),
        _ if names.all == Some(nodes) => format!(" — all {}", counted(nodes)),
        _ => format!(" — {}", counted(nodes)),
    };
    let mut out = format!("<details><summary><code>{key}</code>{nodes_note}</summary>\n");
    for one in group {
        // The summary already contains it.
        let is_in_summary = group.len() == 1 && (nodes == 1 || names.all == Some(nodes));
        if one.before.nodes == one.after.nodes && !is_in_summary {
            out += &nodes_text(&one.after.nodes, names);
        }
        out += &body(one, has_values);
    }
    out + "\n</details>\n"
}

/// The names of nodes, with the rest of a long list folded.
fn nodes_text(nodes: &[Arc<str>], names: Mentions) -> String {
    let all: Vec<String> = nodes.iter().map(|name| code_span(name)).collect();
    let (first, rest) = all.split_at(all.len().min(MAX_NAMED));
    if !names.is_whole || rest.is_empty() {
        return format!("\n{}:\n", few(&all, MAX_NAMED));
    }
    format!(
        "\n{}\n\n<details><summary>and {} more</summary>\n\n{}\n\n</details>\n",
        first.join(", "),
        rest.len(),
        few(rest, MAX_FOLDED)
    )
}

/// One difference: two answers and their sources.
fn body(difference: &Difference, has_values: bool) -> String {
    let Difference { before, after, .. } = difference;
    let mut out = String::new();
    let lines = if has_values {
        values(before, after)
    } else {
        format!("-{}\n+{}\n", state(before), state(after))
    };
    let fence = "`".repeat(longest_run(&lines).max(2) + 1);
    let _ = write!(out, "\n{fence}diff\n{lines}{fence}\n");
    let places = |cell: &Cell| {
        let places = cell.sources().into_iter();
        let places = places.map(|place| code_span(&sources_text([place], shown)));
        few(&places.collect::<Vec<_>>(), MAX_NAMED)
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
        // Equal texts are encrypted values or secrets: only the hidden part differs.
        true => signed('-', &old) + &signed('+', &format!("{} (a different one)", new.trim_end())),
        false => hunks(&old, &new)
            .iter()
            .map(|hunk| keys_around(&old, hunk) + &hunk.lines)
            .collect(),
    };
    let lines = shortened_lines(&lines);
    if lines.len() <= MAX_OF_VALUE {
        return lines;
    }
    let end = lines.floor_char_boundary(MAX_OF_VALUE);
    let end = lines[..end].rfind('\n').map_or(end, |at| at + 1);
    format!("{}\n…\n", lines[..end].trim_end())
}

/// The lines of a text, each after a sign.
fn signed(sign: char, text: &str) -> String {
    text.lines().map(|line| format!("{sign}{line}\n")).collect()
}

/// The keys of the hashes and lists around a hunk, as a line before it; empty at the start of the
/// text.
fn keys_around(text: &str, hunk: &Hunk) -> String {
    // List elements may have the same indentation as their key.
    let depth = |line: &str| {
        let inner = line.trim_start_matches(' ');
        2 * (line.len() - inner.len()) + usize::from(inner.starts_with("- "))
    };
    let lines: Vec<&str> = text.lines().collect();
    let Some(first) = lines.get(hunk.start).filter(|_| hunk.start > 0) else {
        return String::new();
    };
    let mut inner = depth(first);
    let mut keys = Vec::new();
    for line in lines[..hunk.start].iter().rev() {
        if depth(line) < inner {
            inner = depth(line);
            keys.push(line.trim());
        }
    }
    keys.reverse();
    shorten_distinctly(&[format!("@@ {} @@", keys.join(" "))], WIDEST).concat() + "\n"
}

/// Lines of a diff, shortened. For a replaced line, the part that differs stays visible.
fn shortened_lines(lines: &str) -> String {
    let all: Vec<String> = lines.lines().map(str::to_owned).collect();
    let mut out = String::new();
    let mut at = 0;
    while let Some(line) = all.get(at) {
        let is_pair =
            line.starts_with('-') && all.get(at + 1).is_some_and(|next| next.starts_with('+'));
        let together = &all[at..at + 1 + usize::from(is_pair)];
        let (signs, texts): (Vec<String>, Vec<String>) = together
            .iter()
            .map(|line| (line[..1].to_owned(), line[1..].to_owned()))
            .unzip();
        for (sign, text) in signs.iter().zip(shorten_distinctly(&texts, WIDEST)) {
            let _ = writeln!(out, "{sign}{text}");
        }
        at += together.len();
    }
    out
}

/// An answer as YAML, or the text for an error; whole lines.
fn yaml(cell: &Cell) -> String {
    let text = match (&cell.unknown, &cell.result) {
        (None, Ok(Value::Undef)) => "null".to_owned(),
        (None, Ok(value)) if !value.has_opaque() => value::dump_body(&value.redacted()),
        (_, _) => with_shown_files(&outcome_text(cell)),
    };
    text.trim_end().to_owned() + "\n"
}

/// A text escaped for HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
