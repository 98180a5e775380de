//! Edits that take an entry out of a hash or put one into it, for fixes: as the hash is written, in
//! lines or between braces.

use super::context::FileContext;
use crate::syntax::{NodeId, Tree};
use crate::text::{TextEdit, TextRange};
use crate::workspace::{Format, KeyFact};

/// Where an entry stands, from its key to the end of its value.
pub(super) fn entry_range(tree: &Tree, (key, value): (NodeId, NodeId)) -> TextRange {
    let (key, value) = (tree.node(key), tree.node(value));
    key.full_range().cover(value.full_range())
}

/// Whether a mapping is written between braces.
fn is_in_braces(file: &FileContext<'_>, mapping: NodeId) -> bool {
    let range = file.tree().node(mapping).range;
    range.slice(file.file.text()).starts_with('{')
}

/// Takes an entry out of a mapping between braces. Nothing where comments stand around it, or where
/// it is the only one.
pub(super) fn removed_in_braces(
    file: &FileContext<'_>,
    mapping: NodeId,
    at: usize,
) -> Option<TextEdit> {
    let (tree, text) = (file.tree(), file.file.text());
    let pairs = tree.node(mapping).as_mapping()?;
    let range = |at: usize| Some(entry_range(tree, *pairs.get(at)?));
    let own = range(at)?;
    let is_gap = |gap: TextRange| gap.slice(text).trim() == ",";
    let between = |one: TextRange, other: TextRange| {
        (one.end <= other.start).then(|| TextRange::new(one.end as usize, other.start as usize))
    };
    let edit = if let Some(next) = range(at + 1) {
        let gap = between(own, next).filter(|gap| is_gap(*gap))?;
        own.cover(gap)
    } else {
        let before = range(at.checked_sub(1)?)?;
        let gap = between(before, own).filter(|gap| is_gap(*gap))?;
        own.cover(gap)
    };
    is_in_braces(file, mapping).then(|| TextEdit::delete(edit))
}

/// Takes an entry out of a mapping that is written in lines, with its lines. Nothing where more than
/// a comment stands in them, or where it is the only one.
pub(super) fn removed_in_lines(
    file: &FileContext<'_>,
    mapping: NodeId,
    at: usize,
) -> Option<TextEdit> {
    let (tree, text) = (file.tree(), file.file.text());
    let pairs = tree.node(mapping).as_mapping()?;
    let own = entry_range(tree, *pairs.get(at)?);
    let (start, end) = (own.start as usize, own.end as usize);
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    let rest = text[end..line_end].trim();
    let is_alone =
        text[line..start].trim().is_empty() && (rest.is_empty() || rest.starts_with('#'));
    (is_alone && pairs.len() > 1 && !is_in_braces(file, mapping))
        .then(|| TextEdit::delete(TextRange::new(line, line_end)))
}

/// Puts an entry, as it is to be written, behind the last one of a mapping. Nothing behind a value of
/// several lines.
pub(super) fn added(file: &FileContext<'_>, mapping: NodeId, entry: &str) -> Option<TextEdit> {
    let (tree, text) = (file.tree(), file.file.text());
    let last = *tree.node(mapping).as_mapping()?.last()?;
    let range = entry_range(tree, last);
    if range.slice(text).contains('\n') {
        return None;
    }
    let (start, end) = (range.start as usize, range.end as usize);
    if is_in_braces(file, mapping) {
        return Some(TextEdit::insert(end, format!(", {entry}")));
    }
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let indent = &text[line..start];
    if !indent.bytes().all(|byte| byte == b' ') {
        return None;
    }
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
    let rest = text[end..line_end].trim();
    let is_alone = rest.is_empty() || rest.starts_with('#');
    let has_cr = text[..line_end].ends_with('\r');
    let (place, end) = match has_cr {
        true => (line_end - 1, "\r\n"),
        false => (line_end, "\n"),
    };
    is_alone.then(|| TextEdit::insert(place, format!("{end}{indent}{entry}")))
}

/// Takes a topmost entry away: with its lines, or with its comma. Nothing in a file that Puppet does
/// not load, where what it says is not known, and nothing of a key that stands there again.
pub(super) fn removal(file: &FileContext<'_>, key: &KeyFact) -> Option<TextEdit> {
    let tree = file.tree();
    let mut others = file.facts().keys.iter();
    let is_again = others.any(|other| other.name == key.name && other.key != key.key);
    let is_sure = file.facts().error.is_none() && !is_again;
    let root = tree.root().filter(|_| is_sure)?;
    let mut keys = tree.node(root).as_mapping()?.iter();
    let at = keys.position(|(at, _)| tree.node(*at).range == key.key)?;
    match file.format() {
        Format::Yaml => {
            let in_braces = || removed_in_braces(file, root, at);
            let is_only = tree.node(root).as_mapping()?.len() == 1;
            with_lines(file.file.text(), key, is_only).or_else(in_braces)
        }
        Format::Json => removed_in_braces(file, root, at),
        Format::Hocon => None,
    }
}

/// Takes an entry of a block mapping away, with its lines. Where it is the only one, an empty hash is left:
/// Puppet warns at each lookup of a file that holds none.
fn with_lines(text: &str, key: &KeyFact, is_only: bool) -> Option<TextEdit> {
    let start = key.key.start as usize;
    let starts_line = start == 0 || text[..start].ends_with('\n');
    let end = (key.key.end.max(key.value.end)) as usize;
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    // What follows in the line may only be a comment.
    let rest = text[end..line_end].trim();
    let is_alone = rest.is_empty() || rest == ":" || rest.starts_with('#');
    let range = TextRange::new(start, line_end);
    let left = match text[start..line_end].ends_with("\r\n") {
        _ if !is_only => "",
        true => "{}\r\n",
        false => "{}\n",
    };
    (starts_line && is_alone).then(|| TextEdit::replace(range, left))
}
