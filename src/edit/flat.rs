//! Turns the entries of a hash into top-level entries: `a: {b: 1}` into `a::b: 1`.

use crate::syntax::{NodeId, ScalarStyle, Tree, TreeNode};
use crate::text::{TextEdit, line_end, line_start};

/// The edit for the value of a top-level entry in YAML. `None` if it is written in another way, or
/// has an anchor or a tag.
#[must_use]
pub fn flattened(tree: &Tree, text: &str, value: NodeId) -> Option<TextEdit> {
    in_lines(tree, text, value).or_else(|| flattened_in_braces(tree, text, value))
}

/// The key of a value, and its name.
fn key_of(tree: &Tree, value: NodeId) -> Option<(&TreeNode, &str)> {
    let key = tree.key_of(tree.parent(value)?, value)?;
    Some((tree.node(key), tree.scalar_text(key)?))
}

/// The same for a hash in lines.
fn in_lines(tree: &Tree, text: &str, value: NodeId) -> Option<TextEdit> {
    let node = tree.node(value);
    let pairs = node.as_mapping()?;
    let (key, key_name) = key_of(tree, value)?;
    let is_bare = node.anchor.is_none() && node.tag.is_none();
    let start = node.range.start as usize;
    let indent = &text[line_start(text, start)..start];
    // Comments may be above the first entry.
    let below = line_end(text, key.range.end as usize);
    let head = text[key.range.start as usize..below].trim_end();
    let (sign, comment) = head.split_at(head.find('#').unwrap_or(head.len()));
    let is_block = below <= start
        && sign.trim_end().ends_with(':')
        && !indent.is_empty()
        && indent.bytes().all(|byte| byte == b' ');
    if !is_bare || !is_block {
        return None;
    }
    let mut names = Vec::new();
    for &(name, _) in pairs {
        let name = tree.node(name);
        let is_plain = name.as_scalar()?.style == ScalarStyle::Plain && name.tag.is_none();
        is_plain.then(|| names.push(name.range.start as usize))?;
    }
    let mut written = match comment {
        "" => String::new(),
        comment => format!("{comment}\n"),
    };
    let mut offset = below;
    for row in text[below..node.range.end as usize].split_inclusive('\n') {
        let content = match row.strip_prefix(indent) {
            Some(content) => content,
            // Blank lines and comments may have any indentation.
            None if row.trim().is_empty() || row.trim_start().starts_with('#') => {
                row.trim_start_matches(' ')
            }
            None => return None,
        };
        if names.contains(&(offset + row.len() - content.len())) {
            written.push_str(key_name);
            written.push_str("::");
        }
        written.push_str(content);
        offset += row.len();
    }
    Some(TextEdit::replace(key.range.cover(node.range), written))
}

/// The same for a hash in braces without comments, also in JSON.
#[must_use]
pub fn flattened_in_braces(tree: &Tree, text: &str, value: NodeId) -> Option<TextEdit> {
    let node = tree.node(value);
    let (key, key_name) = key_of(tree, value)?;
    let is_bare = node.anchor.is_none() && node.tag.is_none();
    let inner = node.range.slice(text).strip_prefix('{')?;
    let head = &text[key.range.end as usize..node.range.start as usize];
    if !is_bare || head.trim() != ":" {
        return None;
    }
    let mut end = node.range.end as usize - inner.len();
    let mut written = Vec::new();
    for &(name, value) in node.as_mapping()? {
        let gap = if written.is_empty() { "" } else { "," };
        let (name, value) = (tree.node(name), tree.node(value).full_range());
        if text[end..name.full_range().start as usize].trim() != gap || name.tag.is_some() {
            return None;
        }
        let name_text = name.range.slice(text);
        let name_start = usize::from(name.is_quoted());
        let (quote, name_text) = name_text.split_at(name_start);
        let entry = format!("{quote}{key_name}::{name_text}: {}", value.slice(text));
        written.push(entry.trim_end().to_owned());
        end = value.end as usize;
    }
    let rest = text[end..node.range.end as usize].split_whitespace();
    if !matches!(rest.collect::<String>().as_str(), "}" | ",}") {
        return None;
    }
    let root = tree.node(tree.root()?).range;
    let between = match root.slice(text).starts_with('{') {
        true => ", ",
        false if text.contains("\r\n") => "\r\n",
        false => "\n",
    };
    let range = key.range.cover(node.range);
    Some(TextEdit::replace(range, written.join(between)))
}
