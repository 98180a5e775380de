//! Folding ranges of a document, and selection ranges around a cursor.

use std::sync::Arc;

use super::target::token_at;
use crate::interpolation::{Token, TokenKind};
use crate::syntax::{NodeId, NodeKind, ScalarMap, ScalarStyle, Tree};
use crate::text::TextRange;
use crate::workspace::{File, Format, Snapshot};

/// The kind of a folding range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FoldKind {
    /// A value.
    Value,
    /// Comments on their own lines.
    Comment,
}

/// A folding range of lines, from zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fold {
    /// The line that stays visible.
    pub first: u32,
    /// The last hidden line.
    pub last: u32,
    /// The kind.
    pub kind: FoldKind,
}

/// Maximum number of folding ranges in a document.
const MAX_FOLDS: usize = 20_000;

/// The folding ranges of a file, by line. O(nodes).
#[must_use]
pub fn folds(snapshot: &Snapshot, path: &str) -> Vec<Fold> {
    let Some(file) = snapshot.file(path) else {
        return Vec::new();
    };
    let parse = snapshot.parse_of(file, file.format().unwrap_or(Format::Yaml));
    let tree = &parse.tree;
    let mut found = Vec::new();
    let mut add = |range: TextRange, kind| {
        let text = range.slice(file.text());
        let end = range.start as usize + text.trim_end().len();
        let line = |offset| file.lines().line(offset);
        let (first, last) = (line(range.start as usize), line(end));
        if last > first && found.len() < MAX_FOLDS {
            found.push(Fold { first, last, kind });
        }
    };
    for (id, node) in tree.nodes() {
        match &node.kind {
            NodeKind::Mapping(pairs) => {
                for &(key, value) in pairs {
                    let key = tree.node(key).full_range();
                    add(key.cover(tree.node(value).full_range()), FoldKind::Value);
                }
            }
            NodeKind::Sequence(elements) => {
                for &element in elements {
                    add(tree.node(element).full_range(), FoldKind::Value);
                }
                // In JSON the brackets may have lines of their own.
                if tree.parent(id).is_none() {
                    add(node.range, FoldKind::Value);
                }
            }
            NodeKind::Scalar(_) | NodeKind::Alias { .. } => {}
        }
    }
    for broken in tree.broken() {
        add(broken.range, FoldKind::Value);
    }
    for block in comment_blocks(file, tree) {
        add(block, FoldKind::Comment);
    }
    found.sort_by_key(|fold| (fold.first, std::cmp::Reverse(fold.last)));
    found.dedup_by_key(|fold| fold.first);
    found
}

/// Groups of comments on their own lines.
fn comment_blocks(file: &File, tree: &Tree) -> Vec<TextRange> {
    let text = file.text();
    let mut blocks: Vec<TextRange> = Vec::new();
    for &comment in tree.comments() {
        let before = &text[..comment.start as usize];
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        if !before[line..].trim().is_empty() {
            continue;
        }
        let follows = |block: &TextRange| {
            let between = text.get(block.end as usize..line).unwrap_or("x");
            between.matches('\n').count() == 1 && between.trim().is_empty()
        };
        match blocks.last_mut() {
            Some(block) if follows(block) => *block = block.cover(comment),
            Some(_) | None => blocks.push(comment),
        }
    }
    blocks
}

/// The selection ranges around a byte of a file, the innermost first: a part of a token, the token,
/// the text, the value, the key with its value, and so on.
#[must_use]
pub fn selections(snapshot: &Snapshot, path: &str, offset: usize) -> Vec<TextRange> {
    let Some(file) = snapshot.file(path) else {
        return Vec::new();
    };
    let parse = snapshot.parse_of(file, file.format().unwrap_or(Format::Yaml));
    let tree = &parse.tree;
    let nodes = tree.path_at(offset);
    let mut found = Vec::new();
    if let Some(&inner) = nodes.last() {
        in_scalar(file, tree, inner, offset, &mut found);
    }
    for (at, &node) in nodes.iter().enumerate().rev() {
        found.push(tree.node(node).range);
        found.push(tree.node(node).full_range());
        let around = at
            .checked_sub(1)
            .and_then(|above| tree.node(nodes[above]).as_mapping());
        let entry = around.into_iter().flatten();
        let mut entry = entry.filter(|&&(key, value)| key == node || value == node);
        if let Some(&(key, value)) = entry.next() {
            let key = tree.node(key).full_range();
            found.push(key.cover(tree.node(value).full_range()));
        }
    }
    found.extend(tree.broken().iter().map(|entry| entry.range));
    found.push(TextRange::new(0, file.text().len()));
    growing(found, offset)
}

/// Keeps ranges that contain the one before.
fn growing(ranges: Vec<TextRange>, offset: usize) -> Vec<TextRange> {
    let mut found: Vec<TextRange> = Vec::new();
    for range in ranges {
        let grows = found
            .last()
            .is_none_or(|last| range.contains(*last) && range != *last);
        if grows && range.touches(offset) && !range.is_empty() {
            found.push(range);
        }
    }
    found
}

fn in_scalar(file: &File, tree: &Tree, at: NodeId, offset: usize, found: &mut Vec<TextRange>) {
    let node = tree.node(at);
    let Some(scalar) = node.as_scalar() else {
        return;
    };
    let text: &Arc<str> = &scalar.text;
    if let Some(token) = token_at(file, node, text, offset) {
        let map = ScalarMap::new(file.text(), node);
        let Token {
            inner, function, ..
        } = token.token;
        let place = |range: TextRange| map.source_range(range.as_usize());
        let parts = [function, argument(&token.token)].into_iter().flatten();
        found.extend(parts.map(place).filter(|range| range.touches(offset)));
        found.extend([place(inner), token.range]);
    }
    let is_quoted = matches!(
        scalar.style,
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted | ScalarStyle::JsonString
    );
    if is_quoted && node.range.len() > 2 {
        found.push(TextRange {
            start: node.range.start + 1,
            end: node.range.end - 1,
        });
    }
}

fn argument(token: &Token) -> Option<TextRange> {
    let TokenKind::Call { argument_range, .. } = &token.kind else {
        return None;
    };
    Some(*argument_range)
}
