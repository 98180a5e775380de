//! Replaces an alias by its value: a token `%{alias('KEY')}`, or an alias of YAML.

use super::{EntryCursor, Refactoring, RefactoringKind};
use crate::edit::entry::{Sheet, TopEntry};
use crate::edit::{Plan, Style};
use crate::interpolation::{Key, Method, TokenKind, tokens};
use crate::lookup::Place;
use crate::syntax::{NodeId, NodeKind, ScalarStyle};
use crate::text::{TextEdit, TextRange};
use crate::value::{Value, load_node};

pub(super) fn offer(cursor: &EntryCursor<'_>) -> Option<Refactoring> {
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
    let (name, origin, target) = match &tree.node(id).kind {
        NodeKind::Alias { name, target } => (format!("*{name}"), None, (*target)?),
        NodeKind::Scalar(scalar) => {
            let key = aliased(&scalar.text)?;
            let (sheet, entry) = origin(cursor, &key)?;
            (key, Some(sheet), entry.value)
        }
        NodeKind::Mapping(_) | NodeKind::Sequence(_) => return None,
    };
    let sheet = origin.as_ref().unwrap_or(&cursor.sheet);
    let value = load_node(sheet.tree(), target).ok()?;
    let edit = replaced(cursor, id, &value, written(sheet, target))?;
    let mut plan = Plan::default();
    plan.add(cursor.at(), edit);
    Some(Refactoring {
        title: format!("Inline '{name}'"),
        kind: RefactoringKind::Inline,
        plan,
    })
}

/// The key that a text aliases, if it is only that token.
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

/// The entry of a key, if a single file sets it that all readers of this file read too.
fn origin<'a>(cursor: &EntryCursor<'a>, key: &str) -> Option<(Sheet<'a>, TopEntry)> {
    let snapshot = cursor.analysis().snapshot;
    let mut files = snapshot.iter_files_with(key);
    let (file, None) = (files.next()?, files.next()) else {
        return None;
    };
    let is_there = |place: &Place| {
        let is_it = |sheet: Sheet<'_>| sheet.file.path() == file.path();
        place.rank() != cursor.reach.place.rank() && cursor.always(place).is_some_and(is_it)
    };
    if file.path() != cursor.at() && !cursor.places().iter().any(is_there) {
        return None;
    }
    let sheet = Sheet::of(snapshot, file.path()).ok()?;
    let [entry] = sheet.all(key)[..] else {
        return None;
    };
    Some((sheet, entry))
}

/// A value's text in its file, with comments and quotes.
enum InlinedValue {
    /// Text for the same line, after the colon.
    Inline(String),
    /// A block below a top-level key: the text after the colon, and the lines below.
    Block { header: String, below: String },
}

/// The text of a value; `None` if it would load differently below another top-level key.
fn written(sheet: &Sheet<'_>, value: NodeId) -> Option<InlinedValue> {
    let tree = sheet.tree();
    let node = tree.node(value);
    let parts: Vec<NodeId> = match &node.kind {
        NodeKind::Scalar(_) => Vec::new(),
        NodeKind::Sequence(elements) => elements.to_vec(),
        NodeKind::Mapping(pairs) => pairs.iter().flat_map(|pair| [pair.0, pair.1]).collect(),
        NodeKind::Alias { .. } => return None,
    };
    let stands_alone = |part: &NodeId| tree.stands_alone(tree.node(*part).full_range());
    if node.tag.is_some() || !parts.iter().all(stands_alone) {
        return None;
    }
    let text = node.range.slice(sheet.text());
    let style = node.as_scalar().map(|scalar| scalar.style);
    let is_block_scalar = matches!(style, Some(ScalarStyle::Literal | ScalarStyle::Folded));
    let is_flow = text.starts_with(['[', '{']) || (style.is_some() && !is_block_scalar);
    if is_flow {
        let is_inline = !text.is_empty() && !text.contains('\n');
        return is_inline.then(|| InlinedValue::Inline(text.to_owned()));
    }
    let (key, _) = tree.entries().find(|(_, each)| *each == value)?;
    let lines = sheet.lines(TopEntry { key, value })?.slice(sheet.text());
    let (first, below) = lines.split_once('\n')?;
    let is_below = is_block_scalar || !text.is_empty() && below.contains(text.lines().next()?);
    let has_colon = first.contains(':') && !first.starts_with('?');
    let header = text.split_whitespace().next().filter(|_| is_block_scalar);
    (is_below && has_colon).then(|| InlinedValue::Block {
        header: header.unwrap_or_default().to_owned(),
        below: below.replace("\r\n", "\n"),
    })
}

/// The edit that replaces a node by a value.
fn replaced(
    cursor: &EntryCursor<'_>,
    id: NodeId,
    value: &Value,
    written: Option<InlinedValue>,
) -> Option<TextEdit> {
    let sheet = &cursor.sheet;
    let range = sheet.tree().node(id).full_range();
    let is_whole = cursor.entry.value == id;
    match written {
        Some(InlinedValue::Inline(text)) if is_whole => {
            return Some(TextEdit::replace(range, text));
        }
        Some(InlinedValue::Block { header, below }) if is_whole => {
            // The text after the alias stays after the key.
            let (start, end) = (range.start as usize, range.end as usize);
            let before = sheet.text()[..start].trim_end_matches(' ').len();
            let rest = sheet.text()[end..].lines().next().unwrap_or_default();
            let blank = if header.is_empty() { "" } else { " " };
            let below = below.strip_suffix('\n').unwrap_or(&below);
            let lines = format!("{blank}{header}{}\n{below}", rest.trim_end());
            return Some(TextEdit::replace(
                TextRange::new(before, end + rest.len()),
                sheet.style.with_ends(&lines),
            ));
        }
        Some(InlinedValue::Inline(_) | InlinedValue::Block { .. }) | None => {}
    }
    if let Some(text) = sheet.style.scalar(value) {
        return Some(TextEdit::replace(range, text));
    }
    // A list or a hash as an entry's value, on its own lines.
    if is_whole {
        return sheet.set(cursor.entry, value).ok().or_else(|| {
            let lines = Style::default().entry("k", value);
            let rest = lines.strip_prefix("k:")?.trim_end().to_owned();
            let rest = sheet.style.with_ends(&rest);
            // Lines of their own leave no blank after the colon.
            let before = &sheet.text()[..range.start as usize];
            let range = if rest.starts_with(['\n', '\r']) {
                TextRange::new(before.trim_end_matches(' ').len(), range.end as usize)
            } else {
                range
            };
            Some(TextEdit::replace(range, rest.trim_start_matches(' ')))
        });
    }
    None
}
