//! A fast parser for the plain part of YAML that most data files use: block mappings and lists,
//! scalars on one line, literal and folded blocks, collections in brackets.
//!
//! It passes to a [`Sink`] what libyaml would parse, or stops: at anything else (anchors, tags,
//! several documents, plain and quoted scalars over several lines, every actual or possible error)
//! the caller falls back to the full parser. So it reports no mistakes. Tests compare every sink's
//! result, a tree or a value, with the one from libyaml's events.
//!
//! Floors: a cold `lookup --explain` is 120 times faster than Puppet's, a warm deep lookup 60 times.
//! Without this parser they are 42 and 52 times faster, and opening a workspace takes 1.8 times as
//! long as libyaml's events of its files instead of 0.8 to 1.7 times.

use std::borrow::Cow;

use memchr::memchr;

use super::ScalarStyle;
use super::plain_scalar::{
    PlainEnd, before_blanks, behind_blanks, behind_byte, key, may_start, plain_end, quoted,
    quoted_style,
};
use crate::text::TextRange;

/// Maximum length of a text, in bytes: keeps every count far below the loader's limits.
const LARGEST: usize = 1 << 20;

/// Maximum nesting.
const DEEPEST: usize = 40;

/// Maximum length of a key in bytes; libyaml's own limit is 1,024 characters.
pub(super) const LONGEST_KEY: usize = 1_000;

/// Punctuation allowed in a plain scalar inside brackets.
const PLAIN_IN_BRACKETS: &[u8] = b"_-./@+=*%$()&~^!;<> ";

/// Receives the parts of a text in order: a collection before its parts, a key before its value.
pub(crate) trait Sink {
    /// A key of a mapping. `None` stops the parser.
    fn key(&mut self, scalar: PlainScalar<'_>) -> Option<()>;
    /// A value or an element. `None` stops the parser.
    fn scalar(&mut self, scalar: PlainScalar<'_>) -> Option<()>;
    /// An absent value or element.
    fn absent(&mut self, at: usize);
    fn open(&mut self, at: usize, is_mapping: bool);
    /// End of the innermost collection; `bracket` is the end of its closing bracket, if it has one.
    fn close(&mut self, bracket: Option<usize>);
}

pub(crate) struct PlainScalar<'t> {
    pub(crate) text: Cow<'t, str>,
    /// Its range, including quotes or the block header.
    pub(crate) range: TextRange,
    pub(crate) style: ScalarStyle,
}

/// Passes the content of a text to a sink; `None` if the text is not plain. O(length)
pub(crate) fn read_plain(text: &[u8], sink: &mut impl Sink) -> Option<()> {
    if text.len() > LARGEST || has_control(text) {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    if !text.is_ascii() && text.chars().any(is_special) {
        return None;
    }
    let mut reader = PlainReader {
        text,
        at: 0,
        line: PlainLine::default(),
        depth: 0,
        sink,
    };
    reader.next_line()?;
    if reader.rest() == "---" && reader.line.indent == 0 {
        reader.next_line()?;
    }
    reader.mapping(0)?;
    reader.line.is_end.then_some(())
}

/// Whether there is a control character other than a line feed: tabs have rules of their own, and
/// most others are refused.
fn has_control(bytes: &[u8]) -> bool {
    // Without an early exit, many bytes are checked at once.
    let control = |byte: u8| u8::from(byte < b' ' && byte != b'\n' || byte == 0x7f);
    bytes.iter().fold(0, |found, &byte| found | control(byte)) != 0
}

/// Characters beyond ASCII that break lines, are byte order marks, or are refused.
fn is_special(character: char) -> bool {
    matches!(
        character,
        '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
    )
}

/// The current line; blank lines and comments are skipped.
#[derive(Clone, Copy, Default)]
struct PlainLine {
    /// Columns before the content; a list's dash is included if a node starts after it.
    indent: usize,
    /// Start of the content, which is trimmed at its end.
    start: usize,
    end: usize,
    is_end: bool,
}

struct PlainReader<'t, 's, S> {
    text: &'t str,
    /// Start of the line after `line`.
    at: usize,
    line: PlainLine,
    depth: usize,
    sink: &'s mut S,
}

impl<'t, S: Sink> PlainReader<'t, '_, S> {
    fn rest(&self) -> &'t str {
        &self.text[self.line.start..self.line.end]
    }

    /// The offset of a text that extends to the end of the line's content.
    fn offset(&self, rest: &str) -> usize {
        self.line.end - rest.len()
    }

    /// Advances to the next line with content.
    fn next_line(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            let rest = &bytes[self.at..];
            let indent = rest.iter().take_while(|&&byte| byte == b' ').count();
            let start = self.at + indent;
            let length = memchr(b'\n', &bytes[start..]);
            let mut end = length.map_or(bytes.len(), |length| start + length);
            self.at = (end + 1).min(bytes.len());
            match bytes.get(start)? {
                b'\n' | b'#' => continue,
                // Directives and document markers.
                b'%' if indent == 0 => return None,
                b'.' if indent == 0 && bytes[start..].starts_with(b"...") => return None,
                _ => {}
            }
            while bytes[end - 1] == b' ' {
                end -= 1;
            }
            self.line = PlainLine {
                indent,
                start,
                end,
                is_end: false,
            };
            return Some(());
        }
        self.line = PlainLine {
            is_end: true,
            ..PlainLine::default()
        };
        Some(())
    }

    /// Whether the lines of a node at column `indent` have ended. A deeper line would continue a
    /// scalar, or be an error.
    fn has_ended(&self, indent: usize) -> bool {
        self.line.is_end || self.line.indent <= indent
    }

    /// Parses the node that starts at the current line, at its column.
    fn block(&mut self) -> Option<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let indent = self.line.indent;
        if is_item(self.rest()) {
            self.list(indent)?;
        } else {
            self.mapping(indent)?;
        }
        self.depth -= 1;
        Some(())
    }

    fn mapping(&mut self, indent: usize) -> Option<()> {
        let mut is_empty = true;
        self.sink.open(self.line.start, true);
        while !self.line.is_end && self.line.indent == indent && !is_item(self.rest()) {
            is_empty = false;
            let content = self.rest();
            let key = key(content)?;
            let scalar = self.scalar(content, key.length, key.text, key.style);
            self.sink.key(scalar)?;
            self.line.start = self.offset(key.behind);
            let colon = self.offset(content) + key.colon + 1;
            self.value(indent, colon, true)?;
        }
        self.sink.close(None);
        (self.has_ended(indent) && !is_empty).then_some(())
    }

    fn list(&mut self, indent: usize) -> Option<()> {
        self.sink.open(self.line.start, false);
        while !self.line.is_end && self.line.indent == indent && is_item(self.rest()) {
            let dash = self.line.start + 1;
            let rest = behind_blanks(&self.rest()[1..]);
            let start = self.offset(rest);
            let is_empty = rest.is_empty() || rest.starts_with('#');
            let is_node = !is_empty && (is_item(rest) || key(rest).is_some());
            let column = self.line.indent + start - self.line.start;
            self.line.start = start;
            if is_node {
                // A node of its own, at the column after the dash.
                self.line.indent = column;
                self.block()?;
            } else {
                self.value(indent, dash, false)?;
            }
        }
        self.sink.close(None);
        self.has_ended(indent).then_some(())
    }

    /// Parses the value after a key or a dash at column `indent`, whose sign ends at `sign`;
    /// advances to the line after it.
    fn value(&mut self, indent: usize, sign: usize, of_key: bool) -> Option<()> {
        let rest = self.rest();
        match rest.as_bytes().first() {
            None | Some(b'#') => {
                self.next_line()?;
                let line = self.line;
                let is_item = is_item(self.rest());
                let is_own = line.indent > indent || of_key && line.indent == indent && is_item;
                if line.is_end || !is_own {
                    self.sink.absent(sign);
                    return Some(());
                }
                if is_item || key(self.rest()).is_some() {
                    self.block()
                } else {
                    self.on_line(indent)
                }
            }
            Some(b'|' | b'>') => self.block_scalar(rest, indent),
            Some(_) => self.on_line(indent),
        }
    }

    /// Parses a value that starts in the current line and is no block of its own; advances to the line
    /// after it.
    fn on_line(&mut self, indent: usize) -> Option<()> {
        let rest = self.rest();
        match rest.as_bytes().first() {
            Some(b'"' | b'\'') => {
                let (text, behind) = quoted(rest)?;
                is_comment(behind).then_some(())?;
                let length = rest.len() - behind.len();
                let scalar = self.scalar(rest, length, text, quoted_style(rest));
                self.sink.scalar(scalar)?;
            }
            Some(b'[' | b'{') => {
                let behind = self.flow(rest, indent, 0)?;
                is_comment(behind).then_some(())?;
            }
            _ if !may_start(rest) => return None,
            _ => match plain_end(rest) {
                PlainEnd::Colon(_) => return None,
                PlainEnd::Comment(end) | PlainEnd::Line(end) => {
                    let text = before_blanks(&rest[..end]);
                    let plain = ScalarStyle::Plain;
                    let scalar = self.scalar(rest, text.len(), Cow::Borrowed(text), plain);
                    self.sink.scalar(scalar)?;
                }
            },
        }
        self.next_line()?;
        self.has_ended(indent).then_some(())
    }

    /// A scalar of `length` bytes at the start of the rest of the line.
    fn scalar<'a>(
        &self,
        rest: &str,
        length: usize,
        text: Cow<'a, str>,
        style: ScalarStyle,
    ) -> PlainScalar<'a> {
        let start = self.offset(rest);
        PlainScalar {
            text,
            range: TextRange::new(start, start + length),
            style,
        }
    }

    /// `|`, `|-`, `>` or `>-` and the lines below it.
    fn block_scalar(&mut self, header: &str, indent: usize) -> Option<()> {
        let (style, strips) = match header {
            "|" => (ScalarStyle::Literal, false),
            "|-" => (ScalarStyle::Literal, true),
            ">" => (ScalarStyle::Folded, false),
            ">-" => (ScalarStyle::Folded, true),
            _ => return None,
        };
        let is_folded = style == ScalarStyle::Folded;
        let start = self.offset(header);
        let mut end = self.line.end;
        let mut text = String::new();
        let mut blank_lines = 0;
        let mut own: Option<usize> = None;
        while let Some(length) = memchr(b'\n', &self.text.as_bytes()[self.at..]) {
            let line = &self.text[self.at..self.at + length];
            let spaces = line.len() - behind_blanks(line).len();
            if spaces == line.len() {
                // Blank lines longer than the text's indentation are text.
                if own.is_none_or(|own| spaces > own) && spaces > 0 {
                    return None;
                }
                blank_lines += 1;
                self.at += length + 1;
                continue;
            }
            let own = *own.get_or_insert(spaces);
            if own <= indent {
                return None;
            }
            if spaces < own {
                break;
            }
            // Lines that are indented further are not folded.
            if text.is_empty() && blank_lines > 0 || is_folded && spaces > own {
                return None;
            }
            if !text.is_empty() && !is_folded {
                text.push('\n');
            } else if !text.is_empty() && blank_lines == 0 {
                text.push(' ');
            }
            text.extend(std::iter::repeat_n('\n', blank_lines));
            blank_lines = 0;
            text.push_str(&line[own..]);
            end = self.at + length;
            self.at += length + 1;
        }
        let rest = &self.text.as_bytes()[self.at..];
        let is_last_cut = !rest.is_empty() && memchr(b'\n', rest).is_none();
        if text.is_empty() || is_last_cut {
            return None;
        }
        if !strips {
            text.push('\n');
        }
        self.sink.scalar(PlainScalar {
            text: Cow::Owned(text),
            range: TextRange::new(start, end),
            style,
        })?;
        self.next_line()?;
        self.has_ended(indent).then_some(())
    }

    /// The next part of a collection in brackets of a node at column `indent`, which may be on a later line.
    fn in_flow(&mut self, rest: &'t str, indent: usize) -> Option<&'t str> {
        let next = behind_blanks(rest);
        let is_comment = next.starts_with('#') && next.len() < rest.len();
        if !next.is_empty() && !is_comment {
            return Some(next);
        }
        self.next_line()?;
        (!self.has_ended(indent)).then(|| self.rest())
    }

    /// A collection in brackets of a node at column `indent`; returns the text after it.
    fn flow(&mut self, content: &'t str, indent: usize, depth: usize) -> Option<&'t str> {
        if depth > DEEPEST {
            return None;
        }
        let is_hash = content.starts_with('{');
        let close = if is_hash { b'}' } else { b']' };
        self.sink.open(self.offset(content), is_hash);
        let mut rest = self.in_flow(&content[1..], indent)?;
        loop {
            if let Some(behind) = behind_byte(rest, close) {
                self.sink.close(Some(self.offset(behind)));
                return Some(behind);
            }
            if is_hash {
                let (key, behind) = self.flow_scalar(rest)?;
                // `<<` is not handled here.
                if key.text == "<<" || rest.len() - behind.len() > LONGEST_KEY {
                    return None;
                }
                self.sink.key(key)?;
                rest = behind_blanks(behind_byte(behind_byte(behind, b':')?, b' ')?);
            }
            rest = match rest.as_bytes().first()? {
                b'[' | b'{' => self.flow(rest, indent, depth + 1)?,
                _ => {
                    let (scalar, behind) = self.flow_scalar(rest)?;
                    self.sink.scalar(scalar)?;
                    behind
                }
            };
            rest = self.in_flow(rest, indent)?;
            if let Some(behind) = behind_byte(rest, b',') {
                rest = self.in_flow(behind, indent)?;
            } else {
                behind_byte(rest, close)?;
            }
        }
    }

    /// A scalar in brackets: quoted, or of characters without a meaning there.
    fn flow_scalar(&self, content: &'t str) -> Option<(PlainScalar<'t>, &'t str)> {
        if let Some(b'"' | b'\'') = content.as_bytes().first() {
            let (text, rest) = quoted(content)?;
            let length = content.len() - rest.len();
            let scalar = self.scalar(content, length, text, quoted_style(content));
            return Some((scalar, rest));
        }
        if !may_start(content) {
            return None;
        }
        let bytes = content.as_bytes();
        let continues_scalar = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:".contains(&byte);
        let end = (0..bytes.len()).find(|&at| match bytes[at] {
            b':' => !bytes
                .get(at + 1)
                .is_some_and(|&next| continues_scalar(next)),
            byte => !byte.is_ascii_alphanumeric() && !PLAIN_IN_BRACKETS.contains(&byte),
        });
        let end = end.unwrap_or(bytes.len());
        // What follows must end the scalar.
        match bytes.get(end) {
            None | Some(b',' | b']' | b'}' | b':') => {}
            Some(b'#') if bytes[end - 1] == b' ' => {}
            Some(_) => return None,
        }
        let text = before_blanks(&content[..end]);
        if text.len() > LONGEST_KEY {
            return None;
        }
        let plain = ScalarStyle::Plain;
        let scalar = self.scalar(content, text.len(), Cow::Borrowed(text), plain);
        Some((scalar, &content[text.len()..]))
    }
}

/// Whether a line's content starts with a list's dash.
fn is_item(content: &str) -> bool {
    matches!(content.as_bytes(), [b'-'] | [b'-', b' ', ..])
}

/// Whether only a comment may stand in the rest of a line.
fn is_comment(rest: &str) -> bool {
    rest.is_empty()
        || rest.starts_with(' ')
            && matches!(behind_blanks(rest).as_bytes().first(), None | Some(b'#'))
}

#[cfg(test)]
#[path = "plain_yaml_testing.rs"]
pub(crate) mod testing;
