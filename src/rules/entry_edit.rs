//! Edits that remove or add an entry of a hash, for fixes: in lines or between braces.

use super::context::FileContext;
use super::finding::{Finding, Fix, Safety, Tag};
use crate::syntax::{NodeId, Tree};
use crate::text::{TextEdit, TextRange};
use crate::workspace::{File, Format, KeyFact};

/// The range from an entry's key to the end of its value.
pub(super) fn entry_range(tree: &Tree, (key, value): (NodeId, NodeId)) -> TextRange {
    let (key, value) = (tree.node(key), tree.node(value));
    key.full_range().cover(value.full_range())
}

fn is_in_braces(file: &FileContext<'_>, mapping: NodeId) -> bool {
    let range = file.tree().node(mapping).range;
    range.slice(file.file.text()).starts_with('{')
}

/// The start of the line of a place.
pub(super) fn line_start(text: &str, place: usize) -> usize {
    text[..place].rfind('\n').map_or(0, |at| at + 1)
}

/// The end of the line of a place, with its line break.
fn line_end(text: &str, place: usize) -> usize {
    let end = text[place..].find('\n');
    end.map_or(text.len(), |at| place + at + 1)
}

/// Whether only a comment may follow in a line.
fn is_rest(rest: &str) -> bool {
    let rest = rest.trim();
    rest.is_empty() || rest.starts_with('#')
}

/// Removes an entry from a mapping, with its comma or its lines. `None` if it is the only entry, or
/// if its lines or the gap to the next entry have other content.
pub(super) fn removed(file: &FileContext<'_>, mapping: NodeId, at: usize) -> Option<TextEdit> {
    removed_in_braces(file, mapping, at).or_else(|| removed_in_lines(file, mapping, at))
}

/// Removes an entry from a mapping between braces. `None` if it is the only entry or next to a comment.
fn removed_in_braces(file: &FileContext<'_>, mapping: NodeId, at: usize) -> Option<TextEdit> {
    let (tree, text) = (file.tree(), file.file.text());
    let pairs = tree.node(mapping).as_mapping()?;
    let range = |at: usize| Some(entry_range(tree, *pairs.get(at)?));
    let own = range(at)?;
    // The gap to the next entry, or to the one before the last.
    let (before, behind) = match range(at + 1) {
        Some(next) => (own, next),
        None => (range(at.checked_sub(1)?)?, own),
    };
    let is_in_order = before.end <= behind.start;
    let gap = is_in_order.then(|| TextRange::new(before.end as usize, behind.start as usize))?;
    let is_comma = gap.slice(text).trim() == ",";
    (is_comma && is_in_braces(file, mapping)).then(|| TextEdit::delete(own.cover(gap)))
}

/// Removes an entry from a mapping in lines. `None` if it is the only entry, or if its lines have
/// other content than a comment.
fn removed_in_lines(file: &FileContext<'_>, mapping: NodeId, at: usize) -> Option<TextEdit> {
    let (tree, text) = (file.tree(), file.file.text());
    let pairs = tree.node(mapping).as_mapping()?;
    let own = entry_range(tree, *pairs.get(at)?);
    let (start, end) = (own.start as usize, own.end as usize);
    let (line, line_end) = (line_start(text, start), line_end(text, end));
    let is_alone = text[line..start].trim().is_empty() && is_rest(&text[end..line_end]);
    (is_alone && pairs.len() > 1 && !is_in_braces(file, mapping))
        .then(|| TextEdit::delete(TextRange::new(line, line_end)))
}

/// Adds the text of an entry after the last one of a mapping. `None` if that has several lines.
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
    let indent = &text[line_start(text, start)..start];
    if !indent.bytes().all(|byte| byte == b' ') {
        return None;
    }
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
    let (place, line_break) = match text[..line_end].ends_with('\r') {
        true => (line_end - 1, "\r\n"),
        false => (line_end, "\n"),
    };
    is_rest(&text[end..line_end])
        .then(|| TextEdit::insert(place, format!("{line_break}{indent}{entry}")))
}

/// Marks a finding about an entry without effect, with a fix that removes it. The finding holds as
/// long as `other` has its entry of the key.
pub(super) fn offer_removal(
    finding: &mut Finding,
    file: &FileContext<'_>,
    key: &KeyFact,
    other: &File,
) {
    finding.tags.push(Tag::Unnecessary);
    if let Some(edit) = removal(file, key) {
        let fix = Fix::new(Safety::Unsafe, format!("Remove '{}'", key.name), edit);
        finding.fixes.push(fix.resting_on(other, &key.name));
    }
}

/// Removes a top-level entry, with its lines or its comma. `None` if Puppet refuses the file, which
/// is then not fully known, or if the file repeats the key.
fn removal(file: &FileContext<'_>, key: &KeyFact) -> Option<TextEdit> {
    let tree = file.tree();
    let mut others = file.facts().keys.iter();
    let is_repeated = others.any(|other| other.name == key.name && other.key != key.key);
    let is_sure = file.facts().error.is_none() && !is_repeated;
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

/// Removes an entry of a block mapping with its lines. The only entry is replaced by an empty hash:
/// Puppet warns at each lookup in a file without a hash.
fn with_lines(text: &str, key: &KeyFact, is_only: bool) -> Option<TextEdit> {
    let start = key.key.start as usize;
    let starts_line = line_start(text, start) == start;
    let end = (key.key.end.max(key.value.end)) as usize;
    let line_end = line_end(text, end);
    let rest = &text[end..line_end];
    let is_alone = is_rest(rest) || rest.trim() == ":";
    let range = TextRange::new(start, line_end);
    let left = match text[start..line_end].ends_with("\r\n") {
        _ if !is_only => "",
        true => "{}\r\n",
        false => "{}\n",
    };
    (starts_line && is_alone).then(|| TextEdit::replace(range, left))
}
