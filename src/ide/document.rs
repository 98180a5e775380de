//! Read-only documents that commands of an editor open: the matrix of a key, what two nodes differ
//! in, what an unsaved edit changes, who uses a key.
//!
//! Each has a text for people and the same as JSON for programs. Paths are shown as the caller
//! names them.

use std::fmt::Write as _;

use super::call_hierarchy::Call;
use super::cell::{
    counted, cut_apart, difference_json, json_text, nodes_json, outcome_text, row_json,
};
use super::impact::Impact;
use super::matrix::{Cell, Difference, Row, SourceLine};
use crate::value::{Value, dump_for_hover, to_tagged_json};
use crate::workspace::Snapshot;

/// Where lists of nodes are broken, in characters.
const WIDTH: usize = 100;

/// Widest value of a list of changes, in characters: whole values are in the matrix.
const WIDEST: usize = 200;

/// Most nodes that are named below a change; the others are counted.
const MOST_NAMED: usize = 20;

/// A text that nobody edits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Document {
    /// What it is about, for people.
    pub title: String,
    /// The editor's name of its language.
    pub language: &'static str,
    /// The text.
    pub content: String,
    /// The same as JSON, if it was asked for.
    pub data: Option<String>,
}

/// How a file is named in a text.
pub type Named<'a> = &'a dyn Fn(&str) -> String;

/// The matrix of a key: YAML with each answer, whose it is and where it comes from in comments.
#[must_use]
pub fn matrix(row: &Row, named: Named<'_>) -> Document {
    let total: usize = row.answers.iter().map(|cell| cell.nodes.len()).sum();
    let is_of_nodes = row.answers.iter().all(|cell| cell.condition.is_empty());
    let mut content = match (row.answers.len(), is_of_nodes) {
        (0, _) => format!("# {} — no node is known\n", row.key),
        (1, true) => format!("# {} — the same for {}\n", row.key, counted(total)),
        (count, true) => format!("# {} — {count} answers over {}\n", row.key, counted(total)),
        (1, false) => format!("# {} — the same for every node\n", row.key),
        (count, false) => format!(
            "# {} — {count} answers, by what a node's facts say\n",
            row.key
        ),
    };
    for (at, cell) in row.answers.iter().enumerate() {
        content.push_str(if at == 0 { "\n" } else { "\n---\n" });
        whose(&mut content, cell);
        for source in &cell.sources {
            let _ = writeln!(content, "# from {}", place(source, named));
        }
        if let Some(unless) = &cell.unless {
            let _ = writeln!(content, "# unless {}", one_line(unless));
        }
        answer(&mut content, &row.key, cell);
    }
    Document {
        title: format!("Matrix of {}", row.key),
        language: "yaml",
        content,
        data: Some(row_json(row)),
    }
}

/// For whom an answer is, in lines of comments.
fn whose(content: &mut String, cell: &Cell) {
    if !cell.condition.is_empty() {
        let _ = writeln!(content, "# {}", one_line(&cell.condition));
        return;
    }
    let _ = writeln!(content, "# {}", counted(cell.nodes.len()));
    let mut line = String::from("#  ");
    for (at, node) in cell.nodes.iter().enumerate() {
        let is_last = at + 1 == cell.nodes.len();
        let name = format!(" {}{}", one_line(node), if is_last { "" } else { "," });
        if line.chars().count() + name.chars().count() > WIDTH && line.len() > 3 {
            content.push_str(&line);
            content.push('\n');
            line.truncate(3);
        }
        line.push_str(&name);
    }
    if line.len() > 3 {
        content.push_str(&line);
        content.push('\n');
    }
}

/// An answer as YAML; what is no value in comments.
fn answer(content: &mut String, key: &str, cell: &Cell) {
    if let Some(why) = &cell.unknown {
        let _ = writeln!(content, "# unknown: {}", one_line(why));
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
            let _ = writeln!(content, "# Puppet fails: {}", one_line(&error.to_string()));
        }
    }
}

/// What two sides differ in; `from` and `to` are their names.
#[must_use]
pub fn differences(from: &str, to: &str, differences: &[Difference], named: Named<'_>) -> Document {
    let mut content = match differences {
        [] => format!("{from} and {to} get the same values\n"),
        [_] => format!("{from} → {to}: 1 difference\n"),
        all => format!("{from} → {to}: {} differences\n", all.len()),
    };
    for difference in differences {
        content.push('\n');
        // Between two nodes, each side's node is in the first line.
        let sides_differ = difference.before.nodes != difference.after.nodes;
        change(&mut content, difference, named, sides_differ);
    }
    let data: Vec<String> = differences.iter().map(difference_json).collect();
    Document {
        title: format!("{from} → {to}"),
        language: "text",
        content,
        data: Some(format!(
            "{{\"from\":{},\"to\":{},\"differences\":[{}]}}",
            json_text(from),
            json_text(to),
            data.join(",")
        )),
    }
}

/// What an unsaved edit changes, of `of` known nodes; `what` is what is unsaved, for people.
/// Nothing where it changes nothing.
#[must_use]
pub fn impact(impact: &Impact, of: usize, what: &str, named: Named<'_>) -> Option<Document> {
    if impact.changes.is_empty() && impact.is_complete {
        return None;
    }
    let mut keys: Vec<_> = impact.changes.iter().map(|change| &change.key).collect();
    keys.dedup();
    let keys = match keys.len() {
        1 => "1 key".to_owned(),
        count => format!("{count} keys"),
    };
    let mut content = match of {
        0 => format!("{what} changes {keys}\n"),
        of => format!(
            "{what} changes {keys} for {} of {}\n",
            impact.nodes.len(),
            counted(of)
        ),
    };
    if !impact.is_complete {
        content.push_str("it touches more keys than are looked at here: there may be more\n");
    }
    for difference in &impact.changes {
        content.push('\n');
        change(&mut content, difference, named, false);
    }
    let changes: Vec<String> = impact.changes.iter().map(difference_json).collect();
    Some(Document {
        title: format!("What {what} changes"),
        language: "text",
        content,
        data: Some(format!(
            "{{\"complete\":{},\"nodes\":{},\"of\":{of},\"changes\":[{}]}}",
            impact.is_complete,
            nodes_json(&impact.nodes),
            changes.join(",")
        )),
    })
}

/// One change: the key and for how many nodes, the old answer, the new one, the nodes.
fn change(content: &mut String, difference: &Difference, named: Named<'_>, is_of_two: bool) {
    let Difference { key, before, after } = difference;
    let whose = match (after.condition.as_str(), is_of_two) {
        (_, true) => String::new(),
        ("", false) => format!(" — {}", counted(after.nodes.len())),
        (condition, false) => format!(" — {condition}"),
    };
    let _ = writeln!(content, "{key}{whose}");
    let said = cut_apart(&[said(before), said(after)], WIDEST);
    for ((sign, cell), said) in [('-', before), ('+', after)].into_iter().zip(said) {
        let sources = cell.sources.iter().map(|source| place(source, named));
        let sources: Vec<String> = sources.collect();
        let certain = match (&cell.unknown, &cell.result) {
            (Some(why), Ok(_)) => format!(" (not certain: {})", one_line(why)),
            (Some(_), Err(_)) | (None, _) => String::new(),
        };
        let line = format!("  {sign} {said}{certain}  {}", sources.join(" "));
        let _ = writeln!(content, "{}", line.trim_end());
    }
    if !is_of_two && !after.nodes.is_empty() {
        let named: Vec<&str> = after.nodes.iter().map(|node| &**node).collect();
        let more = match named.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let shown = &named[..named.len().min(MOST_NAMED)];
        let _ = writeln!(content, "    {}{more}", shown.join(", "));
    }
}

/// An answer in a line.
fn said(cell: &Cell) -> String {
    match (&cell.unknown, &cell.result) {
        (Some(_), Ok(value)) => to_tagged_json(value),
        (_, _) => outcome_text(cell),
    }
}

/// The lines whose values look a key up.
#[must_use]
pub fn uses(snapshot: &Snapshot, key: &str, calls: &[Call], named: Named<'_>) -> Document {
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut data: Vec<String> = Vec::new();
    for call in calls {
        let Some(file) = snapshot.file(&call.item.path) else {
            continue;
        };
        for token in &call.tokens {
            let line = file.lines().line(token.start as usize) + 1;
            let place = format!("{}:{line}", named(&call.item.path));
            lines.push((place, call.item.key.to_string()));
            data.push(format!(
                "{{\"key\":{},\"file\":{},\"line\":{line}}}",
                json_text(&call.item.key),
                json_text(&call.item.path)
            ));
        }
    }
    let mut content = match lines.len() {
        0 => format!("no value of this workspace looks up {key}\n"),
        1 => format!("{key} — 1 use\n"),
        count => format!("{key} — {count} uses\n"),
    };
    let width = lines.iter().map(|(place, _)| place.chars().count()).max();
    for (place, by) in &lines {
        let pad = width.unwrap_or_default() - place.chars().count();
        let _ = writeln!(content, "  {place}{}  {by}", " ".repeat(pad));
    }
    Document {
        title: format!("Uses of {key}"),
        language: "text",
        content,
        data: Some(format!(
            "{{\"key\":{},\"uses\":[{}]}}",
            json_text(key),
            data.join(",")
        )),
    }
}

fn place(source: &SourceLine, named: Named<'_>) -> String {
    format!("{}:{}", named(&source.file), source.line)
}

/// A text that cannot end the comment that it stands in.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
