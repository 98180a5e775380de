//! Converts byte offsets to lines and columns and back, in the three encodings of LSP 3.17.

/// How a client counts characters within a line (`PositionEncodingKind` in LSP 3.17).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PositionEncoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, the protocol's default.
    #[default]
    Utf16,
    /// Unicode scalar values.
    Utf32,
}

/// A position as line and character, both counted from zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from zero.
    pub line: u32,
    /// Units into the line, in the requested encoding.
    pub character: u32,
}

/// The line starts of one text, and the lines with characters wider than a byte.
///
/// Lines end at `\n`, `\r\n` or a lone `\r`, as in LSP. Building is O(bytes); a query is O(log
/// lines) plus the length of a line that is not ASCII.
#[derive(Clone, Debug)]
pub struct LineIndex {
    /// Byte offset of each line's first byte.
    starts: Vec<u32>,
    /// The text of each line with a non-ASCII character, without its line end.
    wide: std::collections::BTreeMap<u32, Box<str>>,
    /// Byte offset of each line's end, before its line break.
    ends: Vec<u32>,
}

impl LineIndex {
    /// Reads the lines of `text`.
    #[must_use]
    pub fn new(text: &str) -> LineIndex {
        let bytes = text.as_bytes();
        let (mut starts, mut ends, mut wide) =
            (vec![0], Vec::new(), std::collections::BTreeMap::new());
        let mut start = 0;
        let mut at = 0;
        let mut close = |start: usize, end: usize, ends: &mut Vec<u32>| {
            let line = &text[start..end];
            if !line.is_ascii() {
                wide.insert(ends.len() as u32, line.into());
            }
            ends.push(end as u32);
        };
        while at < bytes.len() {
            let width = match bytes[at] {
                b'\n' => 1,
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => 2,
                b'\r' => 1,
                _ => {
                    at += 1;
                    continue;
                }
            };
            close(start, at, &mut ends);
            at += width;
            start = at;
            starts.push(start as u32);
        }
        close(start, bytes.len(), &mut ends);
        LineIndex { starts, wide, ends }
    }

    /// The line (from zero) that holds the byte at `offset`.
    #[must_use]
    pub fn line(&self, offset: usize) -> u32 {
        (self
            .starts
            .partition_point(|&start| start as usize <= offset)
            - 1) as u32
    }

    /// The position of a byte offset. An offset after the text gives its end; one inside a
    /// character that character's start; one inside a line break the line's end.
    #[must_use]
    pub fn position(&self, offset: usize, encoding: PositionEncoding) -> Position {
        let line = self.line(offset);
        let start = self.starts[line as usize] as usize;
        let end = self.ends[line as usize] as usize;
        let mut column = offset.min(end) - start;
        if let Some(text) = self.wide.get(&line) {
            while !text.is_char_boundary(column) {
                column -= 1;
            }
            column = match encoding {
                PositionEncoding::Utf8 => column,
                PositionEncoding::Utf16 => text[..column].encode_utf16().count(),
                PositionEncoding::Utf32 => text[..column].chars().count(),
            };
        }
        Position {
            line,
            character: column as u32,
        }
    }

    /// The byte offset of a position. A line after the text gives the text's end, a character after
    /// the line its end, and a position inside a surrogate pair the start of its character.
    #[must_use]
    pub fn offset(&self, position: Position, encoding: PositionEncoding) -> usize {
        let Some(&start) = self.starts.get(position.line as usize) else {
            return self.ends.last().map_or(0, |&end| end as usize);
        };
        let end = self.ends[position.line as usize];
        let wanted = position.character as usize;
        let column = match self.wide.get(&position.line) {
            None => wanted,
            Some(text) => column_bytes(text, wanted, encoding),
        };
        (start as usize + column).min(end as usize)
    }

    /// The range of a line without its line break; `None` for a line that does not exist.
    #[must_use]
    pub fn line_range(&self, line: u32) -> Option<super::TextRange> {
        let start = *self.starts.get(line as usize)?;
        Some(super::TextRange {
            start,
            end: self.ends[line as usize],
        })
    }
}

/// The number of bytes in the first `wanted` units of `text`, rounded down to a character.
fn column_bytes(text: &str, wanted: usize, encoding: PositionEncoding) -> usize {
    let mut units = 0;
    for (at, character) in text.char_indices() {
        units += match encoding {
            PositionEncoding::Utf8 => character.len_utf8(),
            PositionEncoding::Utf16 => character.len_utf16(),
            PositionEncoding::Utf32 => 1,
        };
        if units > wanted {
            return at;
        }
    }
    text.len()
}

/// The line (from zero) of `text` that holds the byte at `offset`, like [`LineIndex::line`].
/// O(offset), without allocation.
#[must_use]
pub fn line_at(text: &str, offset: usize) -> u32 {
    let bytes = text.as_bytes();
    let before = &bytes[..offset.min(bytes.len())];
    let feeds = memchr::memchr_iter(b'\n', before).count();
    if memchr::memchr(b'\r', before).is_none() {
        return feeds as u32;
    }
    let returns = before.iter().enumerate();
    // A return before a feed is part of a line break.
    let lone = returns.filter(|&(at, &byte)| byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
    (feeds + lone.count()) as u32
}

/// Counts lines for mostly increasing offsets: O(length of the text) for all of them, without
/// allocation.
#[derive(Debug)]
pub struct LineCounter<'t> {
    text: &'t str,
    offset: usize,
    line: u32,
}

impl<'t> LineCounter<'t> {
    /// Starts at the beginning of a text.
    #[must_use]
    pub fn new(text: &'t str) -> LineCounter<'t> {
        LineCounter {
            text,
            offset: 0,
            line: 0,
        }
    }

    /// The line (from zero) that holds the byte at `offset`, like [`LineIndex::line`]; the offset
    /// must not be inside a line break.
    pub fn line(&mut self, offset: usize) -> u32 {
        match self.text.get(self.offset..) {
            Some(rest) if offset >= self.offset => {
                self.line += line_at(rest, offset - self.offset);
            }
            Some(_) | None => self.line = line_at(self.text, offset),
        }
        self.offset = offset;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_counted_as_all_are() {
        let text = "a\nb\r\nc\rd\n\r\n\r\re\u{e9}\n";
        for text in [
            text,
            &"a\n".repeat(700),
            &"\n".repeat(600),
            &"\r\n\n".repeat(300),
        ] {
            let mut counter = LineCounter::new(text);
            let lines = LineIndex::new(text);
            for offset in 0..text.len() + 3 {
                assert_eq!(line_at(text, offset), lines.line(offset), "{offset}");
                let bytes = text.as_bytes();
                let is_half = bytes.get(offset) == Some(&b'\n') && bytes[..offset].ends_with(b"\r");
                if !is_half {
                    assert_eq!(counter.line(offset), lines.line(offset), "{offset}");
                }
            }
            assert_eq!(counter.line(1), lines.line(1), "back");
        }
    }
    use proptest::prelude::*;

    const ENCODINGS: [PositionEncoding; 3] = [
        PositionEncoding::Utf8,
        PositionEncoding::Utf16,
        PositionEncoding::Utf32,
    ];

    #[test]
    fn a_surrogate_pair_is_never_split() {
        let index = LineIndex::new("a😀b");
        let inside = Position {
            line: 0,
            character: 2,
        };
        assert_eq!(index.offset(inside, PositionEncoding::Utf16), 1);
        assert_eq!(index.position(3, PositionEncoding::Utf16).character, 1);
        assert_eq!(index.position(5, PositionEncoding::Utf16).character, 3);
        assert_eq!(index.position(5, PositionEncoding::Utf32).character, 2);
    }

    #[test]
    fn all_line_breaks_count() {
        let index = LineIndex::new("a\r\nb\rc\n");
        let place = |offset| {
            let position = index.position(offset, PositionEncoding::Utf8);
            (position.line, position.character)
        };
        assert_eq!(index.line(8), 3);
        assert_eq!(place(2), (0, 1));
        assert_eq!(place(7), (3, 0));
    }

    proptest! {
        #[test]
        fn every_character_boundary_survives_the_round_trip(text in "[a-zé😀\n\r]{0,40}") {
            let index = LineIndex::new(&text);
            for (offset, character) in text.char_indices() {
                if character == '\n' && text[..offset].ends_with('\r') {
                    continue;
                }
                for encoding in ENCODINGS {
                    let position = index.position(offset, encoding);
                    prop_assert_eq!(index.offset(position, encoding), offset);
                }
            }
        }

        #[test]
        fn no_place_is_outside_the_text(
            text in "[aé😀\n]{0,20}", line in 0u32..30, character in 0u32..50,
        ) {
            let index = LineIndex::new(&text);
            for encoding in ENCODINGS {
                let offset = index.offset(Position { line, character }, encoding);
                prop_assert!(text.is_char_boundary(offset));
            }
        }
    }
}
