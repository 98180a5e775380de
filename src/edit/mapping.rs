//! Edits that remove or add an entry of a mapping, in lines or between braces.

use crate::syntax::{NodeId, Tree};
use crate::text::{TextEdit, TextRange, line_end, line_start};

/// A mapping of a file.
#[derive(Clone, Copy)]
pub struct Mapping<'a> {
    tree: &'a Tree,
    text: &'a str,
    pairs: &'a [(NodeId, NodeId)],
    is_in_braces: bool,
}

/// The range of an entry, from its key to the end of its value.
#[must_use]
pub fn entry_range(tree: &Tree, (key, value): (NodeId, NodeId)) -> TextRange {
    tree.node(key)
        .full_range()
        .cover(tree.node(value).full_range())
}

/// The whole lines of a range; `None` if they contain anything else than a comment behind it.
#[must_use]
pub fn own_lines(text: &str, range: TextRange) -> Option<TextRange> {
    let (start, end) = (range.start as usize, range.end as usize);
    let first = line_start(text, start);
    // A block scalar ends with its last line.
    let last = if text[start..end].ends_with('\n') {
        end
    } else {
        line_end(text, end)
    };
    let is_alone = text[first..start].trim().is_empty() && is_rest(&text[end..last]);
    is_alone.then(|| TextRange::new(first, last))
}

/// Whether only a comment may follow in a line.
fn is_rest(rest: &str) -> bool {
    let rest = rest.trim();
    rest.is_empty() || rest.starts_with('#')
}

impl<'a> Mapping<'a> {
    /// The mapping at a node; `None` if that is something else.
    #[must_use]
    pub fn of(tree: &'a Tree, text: &'a str, id: NodeId) -> Option<Mapping<'a>> {
        let node = tree.node(id);
        Some(Mapping {
            tree,
            text,
            pairs: node.as_mapping()?,
            is_in_braces: node.range.slice(text).starts_with('{'),
        })
    }

    /// Whether it is written between braces.
    #[must_use]
    pub fn is_in_braces(&self) -> bool {
        self.is_in_braces
    }

    fn range(&self, at: usize) -> Option<TextRange> {
        Some(entry_range(self.tree, *self.pairs.get(at)?))
    }

    /// Removes an entry, with its comma or its lines. `None` if it is the only entry, or if its
    /// lines or the gap to the next entry have other content.
    #[must_use]
    pub fn without(&self, at: usize) -> Option<TextEdit> {
        if self.is_in_braces {
            return self.without_comma(at);
        }
        let lines = own_lines(self.text, self.range(at)?)?;
        (self.pairs.len() > 1).then(|| TextEdit::delete(lines))
    }

    fn without_comma(&self, at: usize) -> Option<TextEdit> {
        let own = self.range(at)?;
        // The gap to the next entry, or to the one before the last.
        let (before, behind) = match self.range(at + 1) {
            Some(next) => (own, next),
            None => (self.range(at.checked_sub(1)?)?, own),
        };
        let is_in_order = before.end <= behind.start;
        let gap =
            is_in_order.then(|| TextRange::new(before.end as usize, behind.start as usize))?;
        (gap.slice(self.text).trim() == ",").then(|| TextEdit::delete(own.cover(gap)))
    }

    /// Adds the text of an entry after the last one. `None` if that has several lines.
    #[must_use]
    pub fn with(&self, entry: &str) -> Option<TextEdit> {
        let text = self.text;
        let range = self.range(self.pairs.len().checked_sub(1)?)?;
        if range.slice(text).contains('\n') {
            return None;
        }
        let (start, end) = (range.start as usize, range.end as usize);
        if self.is_in_braces {
            return Some(TextEdit::insert(end, format!(", {entry}")));
        }
        let indent = &text[line_start(text, start)..start];
        let rest = &text[end..line_end(text, end)];
        if !indent.bytes().all(|byte| byte == b' ') || !is_rest(rest) {
            return None;
        }
        let line_break = if rest.ends_with("\r\n") { "\r\n" } else { "\n" };
        let place = end + rest.trim_end_matches(['\r', '\n']).len();
        Some(TextEdit::insert(
            place,
            format!("{line_break}{indent}{entry}"),
        ))
    }
}
