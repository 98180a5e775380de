//! Puts a value in the place of what aliases it: a token `%{alias('KEY')}`, or an alias of YAML.

use super::{Cursor, Kind, Offer, order};
use crate::ide::edit::entry::Sheet;
use crate::ide::edit::{Plan, Style};
use crate::interpolation::{Key, Method, TokenKind, tokens};
use crate::syntax::{NodeId, NodeKind};
use crate::text::TextEdit;
use crate::value::{Value, load_node};

pub(super) fn offer(cursor: &Cursor<'_>) -> Option<Offer> {
    let tree = cursor.sheet.tree();
    let path = tree.path_at(cursor.offset);
    let id = *path.last()?;
    let is_key = tree.parent(id).is_some_and(|parent| {
        let pairs = tree.node(parent).as_mapping().unwrap_or_default();
        pairs.iter().any(|(key, _)| *key == id)
    });
    if is_key || tree.node(id).anchor.is_some() || tree.node(id).tag.is_some() {
        return None;
    }
    let (name, value) = match &tree.node(id).kind {
        NodeKind::Alias { name, target } => {
            let value = load_node(tree, (*target)?).ok()?;
            (format!("*{name}"), value)
        }
        NodeKind::Scalar(scalar) => {
            let key = aliased(&scalar.text)?;
            let value = value_of(cursor, &key)?;
            (key, value)
        }
        NodeKind::Mapping(_) | NodeKind::Sequence(_) => return None,
    };
    let edit = replaced(cursor, id, &value)?;
    let mut plan = Plan::default();
    plan.add(cursor.at(), edit);
    Some(Offer {
        title: format!("Inline '{name}'"),
        kind: Kind::Inline,
        plan,
    })
}

/// The key that a whole text is an alias of.
fn aliased(text: &str) -> Option<String> {
    let found = tokens(text);
    let [token] = found.as_slice() else {
        return None;
    };
    let TokenKind::Call {
        method: Method::Alias,
        argument,
        ..
    } = &token.kind
    else {
        return None;
    };
    let key = Key::parse(argument).ok()?;
    let is_top = key.segments.is_empty() && token.range.len() == text.len();
    key.root.as_name().filter(|_| is_top).map(str::to_owned)
}

/// What the only file says that sets a key, if all nodes that read this file read it too.
fn value_of(cursor: &Cursor<'_>, key: &str) -> Option<Value> {
    let snapshot = cursor.analysis().snapshot;
    let mut files = snapshot.iter_files_with(key);
    let (file, None) = (files.next()?, files.next()) else {
        return None;
    };
    let own = file.path() == cursor.at();
    let places = cursor.places();
    let mut always = places
        .iter()
        .filter(|place| order(place) != order(&cursor.reach.place));
    if !own
        && !always.any(|place| {
            cursor
                .always(place)
                .is_some_and(|sheet| sheet.file.path() == file.path())
        })
    {
        return None;
    }
    let sheet = Sheet::of(snapshot, file.path()).ok()?;
    let [entry] = sheet.all(key)[..] else {
        return None;
    };
    load_node(sheet.tree(), entry.value).ok()
}

/// The edit that writes a value where a node stands.
fn replaced(cursor: &Cursor<'_>, id: NodeId, value: &Value) -> Option<TextEdit> {
    let range = cursor.sheet.tree().node(id).full_range();
    if let Some(text) = cursor.sheet.style.scalar(value) {
        return Some(TextEdit::replace(range, text));
    }
    // A list or a hash, as a whole value of an entry on lines of its own.
    if cursor.entry.value == id {
        return cursor.sheet.set(cursor.entry, value).ok().or_else(|| {
            let lines = Style::default().entry("k", value);
            let rest = lines.strip_prefix("k:")?.trim_end().to_owned();
            let rest = cursor.sheet.style.with_ends(&rest);
            Some(TextEdit::replace(
                range,
                rest.trim_start_matches(' ').to_owned(),
            ))
        });
    }
    None
}
