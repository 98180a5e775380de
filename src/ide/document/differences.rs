//! The document of the differences between two nodes or two environments.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;

use super::{Document, DocumentAnswer, OnProgress, cancelled, matrix, one_line, place};
use crate::analysis::RootView;
use crate::ide::cell::{counted, outcome_text, side};
use crate::ide::compare::{Difference, compare};
use crate::ide::hover;
use crate::ide::json::json;
use crate::ide::matrix::{Cell, SourceLine};
use crate::lookup::Alternatives;
use crate::page::yaml;
use crate::text::number_of;
use crate::workspace::Snapshot;

/// Maximum width of values in the list of differences, in characters; the matrix has whole values.
const WIDEST: usize = 92;

/// Maximum number of nodes that are named below a difference.
const MAX_NAMED: usize = 12;

/// The differences between two nodes or two environments, given by name.
pub(super) fn document(
    view: &RootView<'_>,
    names: [&Arc<str>; 2],
    key: Option<&Arc<str>>,
    progress: OnProgress<'_>,
) -> Result<DocumentAnswer, String> {
    let analysis = view.analysis;
    let mut differences = Vec::new();
    compare(
        view,
        names,
        key.map_or(&[], std::slice::from_ref),
        &mut |found, done, total| {
            differences.extend(found);
            progress(done, total);
            if (analysis.is_cancelled)() {
                Err(cancelled())
            } else {
                Ok(())
            }
        },
    )?;
    let [from, to] = names;
    if differences.is_empty() {
        let what = key.map_or("the same values".to_owned(), |key| {
            format!("the same value of '{key}'")
        });
        let what_if = match analysis.what_if {
            "" => String::new(),
            what_if => format!(" (what if: {})", one_line(what_if)),
        };
        return Ok(DocumentAnswer::Message(format!(
            "{from} and {to} get {what}{what_if}"
        )));
    }
    let mut document = text(names, &differences, analysis.snapshot);
    document.note_what_if(analysis);
    document.sides = vec![
        one_side(from, to, &differences, analysis.snapshot, |one| &one.before),
        one_side(to, from, &differences, analysis.snapshot, |one| &one.after),
    ];
    Ok(DocumentAnswer::Document(document))
}

/// One side's answers for the differing keys, as YAML with the sources in comments. Both sides have
/// the same order, so that an editor's diff aligns them.
fn one_side(
    name: &str,
    other: &str,
    differences: &[Difference],
    snapshot: &Snapshot,
    side: fn(&Difference) -> &Cell,
) -> Document {
    let mut content = String::new();
    for difference in differences {
        let cell = side(difference);
        if cell.is_missing() {
            continue;
        }
        if !content.is_empty() {
            content.push('\n');
        }
        // Only environments are compared for the same nodes.
        if difference.before.nodes == difference.after.nodes {
            matrix::nodes_comment(&mut content, cell, "");
        }
        matrix::origins(&mut content, cell, snapshot);
        let reads_the_same = answer_text(&difference.before) == answer_text(&difference.after);
        if reads_the_same && has_secrets(cell) {
            let _ = writeln!(content, "# a different value for {other} (encrypted)");
        }
        matrix::answer(&mut content, &difference.key, cell);
        if difference.before.nodes == difference.after.nodes {
            matrix::names(&mut content, cell);
        }
    }
    Document {
        title: format!("{name} (compared with {other})"),
        language: "yaml",
        content,
        ..Document::default()
    }
}

#[derive(Serialize)]
struct DifferencesFields<'a> {
    from: &'a str,
    to: &'a str,
    differences: &'a [Difference],
}

fn text([from, to]: [&Arc<str>; 2], differences: &[Difference], snapshot: &Snapshot) -> Document {
    let count = number_of(differences.len(), "difference");
    let mut content = format!("{from} → {to}: {count}\n");
    for difference in differences {
        content.push('\n');
        // If two nodes are compared, the first line already names them.
        let sides_differ = difference.before.nodes != difference.after.nodes;
        change(&mut content, difference, snapshot, sides_differ);
    }
    Document {
        title: format!("{from} → {to}"),
        language: "text",
        content,
        data: Some(json(&DifferencesFields {
            from,
            to,
            differences,
        })),
        ..Document::default()
    }
}

/// Adds one difference: the key and its number of nodes, the old answer, the new one, the nodes.
pub(super) fn change(
    content: &mut String,
    difference: &Difference,
    snapshot: &Snapshot,
    is_of_two: bool,
) {
    let Difference { key, before, after } = difference;
    let nodes_text = match (&after.condition, is_of_two) {
        (_, true) => String::new(),
        (Alternatives::None, false) => format!(" — {}", counted(after.nodes.len())),
        (condition, false) => format!(" — {condition}"),
    };
    let _ = writeln!(content, "{key}{nodes_text}");
    let sides = [('-', before), ('+', after)].into_iter();
    for ((sign, cell), text) in sides.zip(both(before, after)) {
        let certain = match (&cell.unknown, &cell.unless, &cell.result) {
            (Some(_), Some(unless), Ok(_)) => format!(", unless {}", one_line(unless)),
            (Some(why), None, Ok(value)) if !value.has_opaque() => {
                format!(" (not certain: {})", one_line(why))
            }
            (Some(_), _, _) | (None, _, _) => String::new(),
        };
        let text = format!("{text}{certain}");
        let place = |source: &SourceLine| place(source, snapshot);
        side(content, (sign, &text), cell, &place);
    }
    if let (Ok(old), Ok(new)) = (&before.result, &after.result)
        && let Some(changes) = hover::changes_in_words(old, new, WIDEST)
    {
        let _ = writeln!(content, "    {changes}");
    }
    if !is_of_two && !after.nodes.is_empty() {
        for line in matrix::folded_names(&after.nodes, MAX_NAMED) {
            let _ = writeln!(content, "    {line}");
        }
    }
}

/// Both answers in a line each. Answers that look alike differ in encrypted parts.
fn both(before: &Cell, after: &Cell) -> [String; 2] {
    let [old, mut new] = [answer_text(before), answer_text(after)];
    if old == new && has_secrets(before) {
        new = "a different value (encrypted)".to_owned();
    }
    [old, new]
}

fn has_secrets(cell: &Cell) -> bool {
    cell.result.as_ref().is_ok_and(yaml::has_secret)
}

/// An answer in one line.
fn answer_text(cell: &Cell) -> String {
    match (&cell.unknown, &cell.result) {
        (unknown, Ok(value)) => {
            let shown = yaml::inline(value, WIDEST);
            // For an unknown value, the reason is more useful.
            if unknown.is_none() || !value.has_opaque() || yaml::has_secret(value) {
                shown
            } else {
                outcome_text(cell)
            }
        }
        (_, Err(_)) => outcome_text(cell),
    }
}
