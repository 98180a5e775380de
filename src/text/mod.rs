//! Positions in a text: byte ranges, lines, positions as the Language Server Protocol counts them,
//! and edits; numbers and lists in sentences.
//!
//! This room must not know YAML, Puppet or LSP types; it counts bytes, UTF-16 units and characters.
//!
//! ```
//! use hiera_ls::text::{LineIndex, Position, PositionEncoding};
//!
//! let index = LineIndex::new("é: 1\nb: 2\n");
//! assert_eq!(index.position(2, PositionEncoding::Utf16), Position { line: 0, character: 1 });
//! assert_eq!(index.position(6, PositionEncoding::Utf8), Position { line: 1, character: 0 });
//! ```

mod diff;
mod edit;
mod line_index;
mod nearest;
mod words;

pub use diff::{Hunk, edits_between, hunks, unified_diff, unified_diff_shown};
pub use edit::TextEdit;
pub use line_index::{LineCounter, LineIndex, Position, PositionEncoding, line_at};
pub use nearest::{nearest, nearest_host, typing_error};
pub use words::{cut, cut_words, few, folded, number_of};

/// The start of the line of an offset.
#[must_use]
pub fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |at| at + 1)
}

/// The end of the line of an offset, with its line break.
#[must_use]
pub fn line_end(text: &str, offset: usize) -> usize {
    let end = text[offset..].find('\n');
    end.map_or(text.len(), |at| offset + at + 1)
}

/// A half-open range of bytes in one text: `start..end`, both offsets in UTF-8 bytes.
///
/// Offsets are 32 bits wide: files over 4 GiB are refused long before (see `workspace`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct TextRange {
    /// First byte of the range.
    pub start: u32,
    /// First byte after the range.
    pub end: u32,
}

impl TextRange {
    /// The range from `start` up to, not including, `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> TextRange {
        debug_assert!(start <= end, "range {start}..{end} runs backwards");
        TextRange {
            start: clamp(start),
            end: clamp(end),
        }
    }

    /// The empty range at `offset`.
    #[must_use]
    pub fn empty(offset: usize) -> TextRange {
        TextRange::new(offset, offset)
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether the range holds no byte.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether `offset` lies in the range or right after it, like a cursor that touches a word.
    #[must_use]
    pub fn touches(self, offset: usize) -> bool {
        self.start as usize <= offset && offset <= self.end as usize
    }

    /// Whether `other` lies within this range.
    #[must_use]
    pub fn contains(self, other: TextRange) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The smallest range that covers both.
    #[must_use]
    pub fn cover(self, other: TextRange) -> TextRange {
        TextRange {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// The same range moved right by `by` bytes.
    #[must_use]
    pub fn shift(self, by: usize) -> TextRange {
        TextRange::new(self.start as usize + by, self.end as usize + by)
    }

    /// The range as indices of a slice.
    #[must_use]
    pub fn as_usize(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The text of the range; empty if the range does not fit the text.
    #[must_use]
    pub fn slice(self, text: &str) -> &str {
        text.get(self.as_usize()).unwrap_or_default()
    }
}

impl std::fmt::Debug for TextRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

fn clamp(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}
