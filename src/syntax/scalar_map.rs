//! Maps positions in a scalar's decoded text back to the source bytes.
//!
//! Quotes, escapes, folded lines and indentation all make the decoded text differ from the source.
//! A [`ScalarMap`] walks the source the way libyaml's scanner does (`scanner.c`,
//! `yaml_parser_scan_flow_scalar`, `…_plain_scalar`, `…_block_scalar`) and records the source of
//! each part of the text.
//!
//! ```
//! use hiera_ls::syntax::{ScalarMap, parse_yaml};
//!
//! let source = "a: \"\\u0025{x} and\n  %{y}\"\n";
//! let tree = parse_yaml(source).tree;
//! let value = tree.node(tree.entries().next().unwrap().1);
//! assert_eq!(&*value.as_scalar().unwrap().text, "%{x} and %{y}");
//! let map = ScalarMap::new(source, value);
//! assert_eq!(map.source_range(0..4).slice(source), "\\u0025{x}");
//! assert_eq!(map.source_range(9..13).slice(source), "%{y}");
//! ```

use std::ops::Range;

use super::tree::{NodeKind, ScalarStyle, TreeNode};
use crate::text::TextRange;

/// A stretch of decoded text and its source bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct MappedPiece {
    /// Start in the decoded text.
    decoded: u32,
    /// Length of the decoded text.
    length: u32,
    /// Start in the source.
    source: u32,
    /// Length of the source. If it equals `length`, the bytes are the same; otherwise the piece is
    /// one escape or fold and cannot be divided.
    width: u32,
}

/// The source position of each byte of a scalar's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScalarMap {
    pieces: Vec<MappedPiece>,
    /// The position of an empty text, if there is no piece.
    inside: TextRange,
}

impl ScalarMap {
    /// The map of a node of the tree of `source`. A node that is no scalar has an empty map.
    /// O(length of the scalar).
    #[must_use]
    pub fn new(source: &str, node: &TreeNode) -> ScalarMap {
        match &node.kind {
            NodeKind::Scalar(scalar) => {
                ScalarMap::of(source, node.range, scalar.style, &scalar.text)
            }
            NodeKind::Mapping(_) | NodeKind::Sequence(_) | NodeKind::Alias { .. } => ScalarMap {
                pieces: Vec::new(),
                inside: TextRange::empty(node.range.start as usize),
            },
        }
    }

    /// The map of a scalar from its range in `source`, its style and its decoded text. O(length of
    /// the scalar).
    #[must_use]
    pub fn of(source: &str, range: TextRange, style: ScalarStyle, text: &str) -> ScalarMap {
        let bytes = source.as_bytes();
        let (start, end) = (range.start as usize, (range.end as usize).min(bytes.len()));
        let mut pieces = Pieces {
            bytes,
            list: Vec::new(),
            decoded: 0,
        };
        let mut inside = TextRange::empty(start);
        // HOCON joins texts with and without quotes into one string, whose parts are not
        // distinguished.
        let is_quoted = is_one_string(bytes.get(start..end).unwrap_or_default());
        if start < end && style == ScalarStyle::JsonString && !is_quoted {
            if source.get(start..end) == Some(text) {
                pieces.same(start..end);
            } else {
                pieces.push(start..end, text.len());
            }
        } else if start < end {
            match style {
                ScalarStyle::Plain => pieces.flow(start, end, None),
                ScalarStyle::JsonLiteral => pieces.same(start..end),
                ScalarStyle::SingleQuoted => pieces.flow(start + 1, end - 1, Some(b'\'')),
                ScalarStyle::DoubleQuoted => pieces.flow(start + 1, end - 1, Some(b'"')),
                ScalarStyle::JsonString => pieces.json(start + 1, end - 1),
                ScalarStyle::Literal => pieces.block(start, text, false),
                ScalarStyle::Folded => pieces.block(start, text, true),
            }
            inside = match style {
                ScalarStyle::Plain | ScalarStyle::JsonLiteral => TextRange::empty(start),
                ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted | ScalarStyle::JsonString => {
                    TextRange::empty(start + 1)
                }
                ScalarStyle::Literal | ScalarStyle::Folded => TextRange::empty(end),
            };
        }
        ScalarMap {
            pieces: pieces.list,
            inside,
        }
    }

    /// The source range of a range of the decoded text, from the first byte of its first character
    /// to the last byte of its last, including everything between (line breaks, indentation). An
    /// empty range maps to the position before the following character, or after the last one.
    /// O(log length).
    #[must_use]
    pub fn source_range(&self, decoded: Range<usize>) -> TextRange {
        let Some(last) = self.pieces.last() else {
            return self.inside;
        };
        let behind = (last.source + last.width) as usize;
        let start = match self.piece_at(decoded.start) {
            Some(piece) => piece.source_of(decoded.start).0,
            None => behind,
        };
        if decoded.end <= decoded.start {
            return TextRange::empty(start);
        }
        let end = match self.piece_at(decoded.end - 1) {
            Some(piece) => piece.source_of(decoded.end - 1).1,
            None => behind,
        };
        TextRange::new(start, end.max(start))
    }

    /// The decoded position of a source byte; for a byte without decoded text (a quote,
    /// indentation) the nearest one after it. O(log length).
    #[must_use]
    pub fn decoded_offset(&self, source: usize) -> usize {
        let next = self
            .pieces
            .partition_point(|piece| (piece.source + piece.width) as usize <= source);
        match self.pieces.get(next) {
            None => self
                .pieces
                .last()
                .map_or(0, |piece| (piece.decoded + piece.length) as usize),
            Some(piece) if piece.width == piece.length => {
                piece.decoded as usize + source.saturating_sub(piece.source as usize)
            }
            Some(piece) => piece.decoded as usize,
        }
    }

    fn piece_at(&self, decoded: usize) -> Option<&MappedPiece> {
        let next = self
            .pieces
            .partition_point(|piece| (piece.decoded + piece.length) as usize <= decoded);
        self.pieces.get(next)
    }
}

impl MappedPiece {
    /// The source bytes of one byte of text.
    fn source_of(&self, decoded: usize) -> (usize, usize) {
        let (start, width) = (self.source as usize, self.width as usize);
        if self.width == self.length {
            let at = start + decoded.saturating_sub(self.decoded as usize);
            (at, at + 1)
        } else {
            (start, start + width)
        }
    }
}

struct Pieces<'s> {
    bytes: &'s [u8],
    list: Vec<MappedPiece>,
    decoded: u32,
}

impl Pieces<'_> {
    /// Text that equals its source.
    fn same(&mut self, source: Range<usize>) {
        let length = source.len();
        if let Some(last) = self.list.last_mut()
            && last.width == last.length
            && (last.source + last.width) as usize == source.start
        {
            last.width += length as u32;
            last.length += length as u32;
            self.decoded += length as u32;
        } else {
            self.push(source, length);
        }
    }

    /// Text of `length` bytes for the whole source range.
    fn push(&mut self, source: Range<usize>, length: usize) {
        if length == 0 {
            return;
        }
        self.list.push(MappedPiece {
            decoded: self.decoded,
            length: length as u32,
            source: source.start as u32,
            width: source.len() as u32,
        });
        self.decoded += length as u32;
    }

    /// A line break that is kept: a line feed, except for Unicode's two separators, which are kept
    /// unchanged.
    fn line_break(&mut self, source: Range<usize>) {
        let length = if self.bytes[source.start] == 0xE2 {
            3
        } else {
            1
        };
        self.push(source, length);
    }

    /// The line break at `at`, if there is one.
    fn break_at(&self, at: usize, end: usize) -> Option<Range<usize>> {
        let width = super::builder::break_width(&self.bytes[at..end]);
        (width > 0).then_some(at..at + width)
    }

    /// Plain and quoted scalars: white space around line breaks is folded.
    fn flow(&mut self, start: usize, end: usize, quote: Option<u8>) {
        let mut at = start;
        while at < end {
            let byte = self.bytes[at];
            if byte == b'\'' && quote == Some(b'\'') {
                self.push(at..(at + 2).min(end), 1);
                at += 2;
            } else if byte == b'\\' && quote == Some(b'"') {
                at = match self.break_at((at + 1).min(end), end) {
                    // An escaped line break joins the lines; only further breaks are kept.
                    Some(line_break) => self.blank(line_break.end, end, true),
                    None => self.escape(at, end),
                };
            } else if matches!(byte, b' ' | b'\t') || self.break_at(at, end).is_some() {
                at = self.blank(at, end, false);
            } else {
                self.same(at..at + 1);
                at += 1;
            }
        }
    }

    /// White space and line breaks from `start` on, after an escaped line break or not. Returns
    /// their end.
    fn blank(&mut self, start: usize, end: usize, escaped: bool) -> usize {
        let mut at = start;
        let mut first_break = None;
        let mut more_breaks = Vec::new();
        while at < end {
            if let Some(line_break) = self.break_at(at, end) {
                at = line_break.end;
                if first_break.is_none() && !escaped {
                    first_break = Some(line_break);
                } else {
                    more_breaks.push(line_break);
                }
            } else if matches!(self.bytes[at], b' ' | b'\t') {
                at += 1;
            } else {
                break;
            }
        }
        match first_break {
            Some(first) if self.bytes[first.start] == 0xE2 => self.line_break(first),
            Some(_) if more_breaks.is_empty() => self.push(start..at, 1),
            Some(_) => {}
            None if escaped => {}
            None => self.same(start..at),
        }
        for line_break in more_breaks {
            self.line_break(line_break);
        }
        at
    }

    /// An escape in double quotes; returns its end.
    fn escape(&mut self, at: usize, end: usize) -> usize {
        let (digits, fixed) = match self.bytes.get(at + 1) {
            Some(b'x') => (2, 0),
            Some(b'u') => (4, 0),
            Some(b'U') => (8, 0),
            Some(b'N' | b'_') => (0, 2),
            Some(b'L' | b'P') => (0, 3),
            Some(_) | None => (0, 1),
        };
        let behind = (at + 2 + digits).min(end);
        let length = if digits == 0 {
            fixed
        } else {
            hex(&self.bytes[(at + 2).min(end)..behind])
                .and_then(char::from_u32)
                .map_or(1, char::len_utf8)
        };
        self.push(at..behind, length);
        behind
    }

    /// A JSON string, in which a surrogate pair is one character.
    fn json(&mut self, start: usize, end: usize) {
        let mut at = start;
        while at < end {
            if self.bytes[at] != b'\\' {
                self.same(at..at + 1);
                at += 1;
                continue;
            }
            let (length, width) = super::json_scalar::escape(&self.bytes[at..end]);
            let behind = (at + width).min(end);
            if length == width {
                self.same(at..behind);
            } else {
                self.push(at..behind, length);
            }
            at = behind;
        }
    }

    /// A literal or folded block, including the header. The indentation is derived from the decoded
    /// text.
    fn block(&mut self, start: usize, text: &str, is_folded: bool) {
        let end = self.bytes.len();
        let header = start + super::builder::line_length(&self.bytes[start..]);
        let Some(first) = self.break_at(header, end) else {
            return;
        };
        let indent = self.block_indent(first.end, text);
        let wanted = text.len() as u32;
        let mut at = first.end;
        let mut kept_break: Option<Range<usize>> = None;
        let mut was_blank = false;
        loop {
            let mut breaks = Vec::new();
            let line = loop {
                let spaces = self.bytes[at..end]
                    .iter()
                    .take(indent)
                    .take_while(|&&b| b == b' ')
                    .count();
                match self.break_at(at + spaces, end) {
                    Some(line_break) => {
                        at = line_break.end;
                        breaks.push(line_break);
                    }
                    None => break at + spaces,
                }
            };
            let is_content = line - at == indent && line < end;
            if !is_content || self.decoded >= wanted {
                // The line breaks that remain after chomping.
                for line_break in kept_break.into_iter().chain(breaks) {
                    if self.decoded < wanted {
                        self.line_break(line_break);
                    }
                }
                return;
            }
            let is_blank = matches!(self.bytes[line], b' ' | b'\t');
            if let Some(kept) = kept_break.take() {
                let folds = is_folded && self.bytes[kept.start] != 0xE2 && !was_blank && !is_blank;
                if !folds {
                    self.line_break(kept);
                } else if breaks.is_empty() {
                    self.push(kept.start..line, 1);
                }
            }
            for line_break in breaks {
                self.line_break(line_break);
            }
            was_blank = is_blank;
            at = line;
            while at < end && self.break_at(at, end).is_none() {
                at += 1;
            }
            self.same(line..at);
            kept_break = self.break_at(at, end);
            at = kept_break.as_ref().map_or(end, |kept| kept.end);
        }
    }

    /// The indentation of a block whose first line starts at `at`: that of its first line with
    /// text, minus the spaces at the start of the text.
    fn block_indent(&self, mut at: usize, text: &str) -> usize {
        let end = self.bytes.len();
        let lines_before = text.bytes().take_while(|&b| b == b'\n').count();
        let own_spaces = text[lines_before..]
            .bytes()
            .take_while(|&b| b == b' ')
            .count();
        for _ in 0..lines_before {
            while at < end && self.break_at(at, end).is_none() {
                at += 1;
            }
            at = self
                .break_at(at, end)
                .map_or(end, |line_break| line_break.end);
        }
        let spaces = self.bytes[at..].iter().take_while(|&&b| b == b' ').count();
        // A text of only line breaks has no such line.
        if lines_before == text.len() {
            return usize::MAX;
        }
        spaces.saturating_sub(own_spaces).max(1)
    }
}

/// The number that hexadecimal digits spell.
pub(super) fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0_u32, |number, &digit| {
        Some((number << 4) | char::from(digit).to_digit(16)?)
    })
}

/// Whether the text is a single quoted string: it begins and ends with a quote, and all quotes
/// inside are escaped.
fn is_one_string(text: &[u8]) -> bool {
    let [b'"', inner @ .., b'"'] = text else {
        return false;
    };
    let mut is_escaped = false;
    for &byte in inner {
        if byte == b'"' && !is_escaped {
            return false;
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    !is_escaped
}

#[cfg(test)]
#[path = "scalar_map_tests.rs"]
mod tests;
