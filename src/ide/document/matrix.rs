//! The document of a key's answers for all nodes.

use std::fmt::Write as _;
use std::sync::Arc;

use super::{Document, DocumentAnswer, one_line, place};
use crate::analysis::{Readable, RootView, all_keys, layers_of};
use crate::ide::cell::{NO_FACTS, counted, environments_text, origins_text, row_title};
use crate::ide::json::json;
use crate::ide::matrix::{Cell, Row, row_of_any, with_facts, with_unseen};
use crate::ide::target::KeyTarget;
use crate::lookup::Alternatives;
use crate::text::folded;
use crate::text::nearest;
use crate::value::{Value, dump_for_hover};
use crate::workspace::{LOOKUP_OPTIONS, Snapshot};

/// Maximum width of lists of nodes, in characters.
const WIDTH: usize = 100;

/// The message for a key that nothing in the workspace sets; `None` for others, and if unknown data
/// may set it.
pub(super) fn missing(view: &RootView<'_>, key: &str) -> Option<String> {
    let root = KeyTarget::named(key)?.root;
    if *root == *LOOKUP_OPTIONS {
        return Some(no_data());
    }
    let may_be_set = || {
        let layers = layers_of(&root);
        let mut places = layers.iter().flat_map(|layer| view.places(layer).to_vec());
        places.any(|place| place.reading.is_none()) || view.has_outside(&root)
    };
    let analysis = view.analysis;
    let is_known = Readable::new(view).holds(&root)
        || analysis.class_parameter(Some(view.root), &root).is_some()
        || view.refused_config().is_some();
    (!is_known && !may_be_set()).then(|| not_set(view, &root))
}

/// The message for a key that is not set, with a similar key.
fn not_set(view: &RootView<'_>, key: &str) -> String {
    let all = all_keys(view);
    let others = all.iter().map(|known| &**known);
    let near = nearest(key, others.filter(|known| *known != key));
    let near = near.map_or_else(String::new, |near| format!(" (did you mean '{near}'?)"));
    format!("no level sets '{key}' for any node{near}")
}

/// The message for `lookup_options` in place of a key.
pub(crate) fn no_data() -> String {
    format!("'{LOOKUP_OPTIONS}' cannot be looked up: it only says how other keys are merged")
}

/// The matrix of a key; a message if no level sets it for any node.
pub(super) fn answer_for(view: &RootView<'_>, key: &str) -> DocumentAnswer {
    if key == LOOKUP_OPTIONS {
        return DocumentAnswer::Message(no_data());
    }
    let (row, document) = document(view, key);
    let mut cells = row.answers.iter().chain(&row.by_facts);
    if row.answers.is_empty() || !cells.all(Cell::is_missing) {
        return DocumentAnswer::Document(document);
    }
    let mut cells = row.answers.iter().chain(&row.by_facts);
    DocumentAnswer::Message(if cells.any(|cell| cell.unless.is_some()) {
        format!(
            "no level in this workspace sets '{}' for any node; levels outside it may",
            row.key
        )
    } else {
        not_set(view, &row.key)
    })
}

/// The matrix of a key: YAML with each answer, and with its nodes and sources in comments. If no
/// nodes are known, the answers for the possible values of facts.
fn document(view: &RootView<'_>, key: &str) -> (Row, Document) {
    let snapshot = view.analysis.snapshot;
    let row = with_facts(view, with_unseen(view, row_of_any(view, key)));
    let mut content = format!("# {}\n", row_title(&row));
    if !view.analysis.what_if.is_empty() {
        let _ = writeln!(content, "# what if: {}", one_line(view.analysis.what_if));
    }
    if view.analysis.nodes.are_names() {
        let _ = writeln!(content, "# {NO_FACTS}");
    }
    let others = match row.answers.len() {
        1 => "every node",
        _ => "every other node",
    };
    for (at, cell) in row.answers.iter().chain(&row.by_facts).enumerate() {
        content.push_str(if at == 0 { "\n" } else { "\n---\n" });
        if cell.condition == Alternatives::Otherwise {
            comment(&mut content, others)
        } else {
            let environments = environments_text(cell, view.analysis.nodes);
            nodes_comment(&mut content, cell, &environments)
        }
        origins(&mut content, cell, snapshot);
        if let Some(unless) = &cell.unless {
            comment(&mut content, &format!("unless {unless}"));
        }
        answer(&mut content, &row.key, cell);
        names(&mut content, cell);
    }
    let cells = row.answers.iter().chain(&row.by_facts);
    let values = cells.map(|cell| cell.result.as_ref().map_or(String::new(), dump_for_hover));
    let document = Document {
        title: format!("Values of {}", row.key),
        language: "yaml",
        content,
        data: Some(json(&row)),
        values: values.collect(),
        ..Document::default()
    };
    (row, document)
}

/// Adds the sources of an answer, in comments.
pub(super) fn origins(content: &mut String, cell: &Cell, snapshot: &Snapshot) {
    let (_, lines) = origins_text(cell, &|source| place(source, snapshot));
    if lines.is_empty() {
        for source in cell.sources() {
            let _ = writeln!(content, "# from {}", place(source, snapshot));
        }
    }
    for line in lines {
        let _ = writeln!(content, "#   {}", one_line(&line));
    }
}

/// Adds the nodes of an answer, in comments: their number, the environments that they are in, and their
/// names if they fit in one line.
pub(super) fn nodes_comment(content: &mut String, cell: &Cell, environments: &str) {
    if !cell.condition.is_none() {
        comment(content, &cell.condition.to_string());
        return;
    }
    let nodes = counted(cell.nodes.len()) + environments;
    let _ = writeln!(content, "# {}", one_line(&nodes));
    if let [line] = name_lines(cell).as_slice() {
        let _ = writeln!(content, "{line}");
    }
}

/// Adds the names of an answer's nodes that take several lines; below the value, so that it stays visible.
pub(super) fn names(content: &mut String, cell: &Cell) {
    let lines = name_lines(cell);
    if !cell.condition.is_none() || lines.len() < 2 {
        return;
    }
    let _ = writeln!(content, "# the {}:", counted(cell.nodes.len()));
    for line in lines {
        let _ = writeln!(content, "{line}");
    }
}

/// At most `most` names of nodes and the number of the others, broken into lines.
pub(super) fn folded_names(nodes: &[Arc<str>], most: usize) -> Vec<String> {
    let shown = &nodes[..nodes.len().min(most)];
    let more = nodes.len() - shown.len();
    let mut names: Vec<String> = shown
        .iter()
        .map(|name| format!("{},", one_line(name)))
        .collect();
    if let Some(last) = names.last_mut() {
        last.pop();
        if more > 0 {
            last.push_str(&format!(" and {more} more"));
        }
    }
    folded(names.iter().map(String::as_str), " ", WIDTH - 4)
}

/// The names of an answer's nodes in comments, broken into lines.
fn name_lines(cell: &Cell) -> Vec<String> {
    let lines = folded_names(&cell.nodes, usize::MAX).into_iter();
    lines.map(|line| format!("#   {line}")).collect()
}

/// Adds words in comments, broken into lines.
fn comment(content: &mut String, words: &str) {
    let words = one_line(words);
    for (at, line) in folded(words.split(' '), " ", WIDTH - 4).iter().enumerate() {
        let indent = if at == 0 { "" } else { "  " };
        let _ = writeln!(content, "# {indent}{line}");
    }
}

/// Adds an answer as YAML; errors and unknown parts in comments.
pub(super) fn answer(content: &mut String, key: &str, cell: &Cell) {
    // The condition for another answer is more useful than the reason for the uncertainty.
    if let Some(why) = cell.unknown.as_ref().filter(|_| cell.unless.is_none()) {
        comment(content, &format!("unknown: {why}"));
    }
    match &cell.result {
        Ok(value) => {
            let entry = Value::hash([(key, value.clone())]);
            content.push_str(&dump_for_hover(&entry));
            if !content.ends_with('\n') {
                content.push('\n');
            }
        }
        Err(error) if error.is_not_found() => content.push_str("# not set\n"),
        Err(error) => {
            let _ = writeln!(content, "# Puppet fails: {}", one_line(&error.words()));
        }
    }
}
