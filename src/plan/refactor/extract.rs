//! Extracts a value that a file repeats into a new key, and replaces it by aliases.

use std::sync::Arc;

use indexmap::IndexSet;

use super::{EntryCursor, Refactoring, RefactoringKind};
use crate::edit::entry::Sheet;
use crate::edit::{Plan, column};
use crate::syntax::{NodeId, NodeKind, Tree};
use crate::text::{TextEdit, TextRange};
use crate::value::{Value, load_node};
use crate::workspace::LOOKUP_OPTIONS;

/// Maximum number of names to try for the new key.
const MAX_NAMES: usize = 20;

pub(super) fn offer(cursor: &EntryCursor<'_>) -> Option<Refactoring> {
    let tree = cursor.sheet.tree();
    let text = cursor.sheet.text();
    let path = tree.path_at(cursor.offset);
    let id = *path.last()?;
    // The cursor may be on the value's key.
    let id = match tree.parent(id).map(|parent| &tree.node(parent).kind) {
        Some(NodeKind::Mapping(pairs)) => {
            let (_, value) = pairs
                .iter()
                .find(|(key, value)| *key == id || *value == id)?;
            *value
        }
        Some(NodeKind::Sequence(_)) => id,
        Some(NodeKind::Scalar(_) | NodeKind::Alias { .. }) | None => return None,
    };
    let value = load_node(tree, id).ok()?;
    let is_plain = |id: NodeId| tree.stands_alone(tree.node(id).full_range());
    if is_trifle(&value) || !is_plain(id) {
        return None;
    }
    let same = |other: NodeId| {
        is_value(tree, other)
            && is_plain(other)
            && load_node(tree, other).is_ok_and(|other| other == value)
    };
    let all = tree.nodes().map(|(other, _)| other);
    let all: Vec<NodeId> = all.filter(|other| same(*other)).collect();
    if all.len() < 2 {
        return None;
    }
    let name = name(cursor)?;
    let mut plan = Plan::default();
    for id in &all {
        let range = place(&cursor.sheet, *id)?;
        let behind_colon = text[..range.start as usize].ends_with(':');
        let blank = if behind_colon { " " } else { "" };
        let alias = format!("{blank}\"%{{alias('{name}')}}\"");
        plan.add(cursor.at(), TextEdit::replace(range, alias));
    }
    let lines = new_entry(cursor, &name, &value, (id, &all))?;
    plan.add(cursor.at(), cursor.sheet.insertion(&name, &lines));
    plan.intended.push(Arc::from(name.as_str()));
    Some(Refactoring {
        title: format!(
            "Extract this value, which occurs {} times, into '{name}'",
            all.len()
        ),
        kind: RefactoringKind::Extract,
        plan,
    })
}

/// Whether an alias would be longer than the value, or is the value.
fn is_trifle(value: &Value) -> bool {
    let is_short = |text: &str| text.len() < 4 || text.starts_with("%{alias(");
    matches!(value, Value::Undef | Value::Bool(_) | Value::Int(_))
        || value.as_str().is_some_and(is_short)
        || value.as_array().is_some_and(<[Value]>::is_empty)
        || value.as_hash().is_some_and(|hash| hash.is_empty())
}

/// Whether a node is a value of data: no key, and no part of `lookup_options`.
fn is_value(tree: &Tree, id: NodeId) -> bool {
    let mut at = id;
    while let Some(parent) = tree.parent(at) {
        if tree.node(parent).as_mapping().is_some() {
            let Some(key) = tree.key_of(parent, at) else {
                return false;
            };
            let name = tree.scalar_text(key).map(|name| &**name);
            if tree.parent(parent).is_none() && name == Some(LOOKUP_OPTIONS) {
                return false;
            }
        }
        at = parent;
    }
    at != id
}

/// The lines of the new entry. Comments in the value under the cursor stay in place; those of the
/// other places are put above.
fn new_entry(
    cursor: &EntryCursor<'_>,
    name: &str,
    value: &Value,
    (id, all): (NodeId, &[NodeId]),
) -> Option<String> {
    let sheet = &cursor.sheet;
    let places: Option<Vec<TextRange>> = all.iter().map(|&other| place(sheet, other)).collect();
    let places = places?.into_iter();
    let mut above: IndexSet<&str> = places.flat_map(|place| sheet.comments_in(place)).collect();
    let own = sheet.comments_in(place(sheet, id)?);
    let kept = as_written(sheet, name, id).filter(|_| !own.is_empty());
    if kept.is_some() {
        above.retain(|comment| !own.contains(comment));
    }
    let above = above.iter().map(|comment| format!("{comment}\n"));
    let entry = kept.unwrap_or_else(|| sheet.style.entry(name, value));
    Some(above.collect::<String>() + &entry)
}

/// An entry with a block of the file as its value, with comments.
fn as_written(sheet: &Sheet<'_>, name: &str, id: NodeId) -> Option<String> {
    let (tree, text) = (sheet.tree(), sheet.text());
    let start = tree.node(id).full_range().start as usize;
    let column = column(text, start);
    let line = start - column;
    let is_first = text[line..start].chars().all(|c| c == ' ');
    if !is_block(sheet, id) || !is_first {
        return None;
    }
    let is_list = matches!(tree.node(id).kind, NodeKind::Sequence(_));
    let indent = if is_list && !sheet.style.indented_lists {
        ""
    } else {
        "  "
    };
    let end = place(sheet, id)?.end as usize;
    let mut lines = format!("{name}:\n");
    for line in text[line..end].lines() {
        let blank = line.len() - line.trim_start_matches(' ').len();
        let line = &line[blank.min(column)..];
        if !line.trim().is_empty() {
            lines.push_str(indent);
        }
        lines.push_str(line);
        lines.push('\n');
    }
    Some(lines)
}

/// Whether a node is a list or a hash in block style.
fn is_block(sheet: &Sheet<'_>, id: NodeId) -> bool {
    let node = sheet.tree().node(id);
    let is_flow = node.range.slice(sheet.text()).starts_with(['[', '{']);
    matches!(node.kind, NodeKind::Sequence(_) | NodeKind::Mapping(_)) && !is_flow
}

/// The range to replace: the value, from the end of its key if it starts on a later line.
fn place(sheet: &Sheet<'_>, id: NodeId) -> Option<TextRange> {
    let (tree, text) = (sheet.tree(), sheet.text());
    let mut range = tree.node(id).full_range();
    if is_block(sheet, id) && !text[..range.end as usize].ends_with('\n') {
        // The comment beside the last element.
        let rest = text[range.end as usize..].lines().next();
        let rest = rest.unwrap_or_default();
        if rest.trim_start().starts_with('#') {
            range.end += rest.trim_end().len() as u32;
        }
    }
    let parent = tree.parent(id);
    let Some(mapping) = parent.filter(|&it| tree.node(it).as_mapping().is_some()) else {
        return Some(range);
    };
    let key = tree.key_of(mapping, id)?;
    let behind = tree.node(key).full_range().end as usize;
    let between = text.get(behind..range.start as usize)?;
    let start = match between.strip_prefix(':') {
        Some(rest) if rest.contains('\n') && rest.trim().is_empty() => behind + 1,
        Some(_) | None => range.start as usize,
    };
    Some(TextRange::new(start, range.end as usize))
}

/// An unused name for the new key.
fn name(cursor: &EntryCursor<'_>) -> Option<String> {
    let base = format!("{}_shared", cursor.key);
    let names = (1..=MAX_NAMES).map(|number| match number {
        1 => base.clone(),
        number => format!("{base}{number}"),
    });
    let is_name = |name: &String| {
        name.chars()
            .all(|c| c.is_ascii_alphanumeric() || "_:".contains(c))
    };
    let snapshot = cursor.analysis().snapshot;
    let is_unused = |name: &String| {
        snapshot.count_with(name) == 0
            && snapshot.references().users(name).next().is_none()
            && snapshot.files_looking_up(name).next().is_none()
    };
    names.filter(is_name).find(is_unused)
}
