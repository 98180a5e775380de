//! A fast parser for the plain part of YAML that most data files use: block mappings and lists,
//! scalars on one line, literal blocks, small collections in brackets.
//!
//! It passes to a [`Sink`] what libyaml would parse, or stops: at anything else (anchors, tags,
//! several documents, scalars over several lines, every actual or possible error) the caller falls
//! back to the full parser. So it reports no mistakes. Tests compare every sink's result, a tree or
//! a value, with the one from libyaml's events.
//!
//! Floors: a cold `lookup --explain` is 120 times faster than Puppet's, a warm deep lookup 60 times.
//! Without this parser they are 42 and 52 times faster, and opening a workspace takes 1.8 times as
//! long as libyaml's events of its files instead of 0.8 to 1.7 times.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::ScalarStyle;
use crate::text::TextRange;

/// Maximum length of a text, in bytes: keeps every count far below the loader's limits.
const LARGEST: usize = 1 << 20;

/// Maximum nesting.
const DEEPEST: usize = 40;

/// Maximum length of a key in bytes; libyaml's own limit is 1,024 characters.
const LONGEST_KEY: usize = 1_000;

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
    if text.len() > LARGEST || !text.ends_with(b"\n") || has_control(text) {
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
            // The text ends with a line break.
            let mut end = start + memchr(b'\n', &bytes[start..])?;
            self.at = end + 1;
            match bytes[start] {
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
            let colon = self.offset(content) + key.length + 1;
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
                let is_own =
                    line.indent > indent || of_key && line.indent == indent && is_item(self.rest());
                if line.is_end || !is_own {
                    self.sink.absent(sign);
                    return Some(());
                }
                return self.block();
            }
            Some(b'|') => return self.literal(rest, indent),
            Some(b'"' | b'\'') => {
                let (text, behind) = quoted(rest)?;
                is_comment(behind).then_some(())?;
                let length = rest.len() - behind.len();
                let scalar = self.scalar(rest, length, text, quoted_style(rest));
                self.sink.scalar(scalar)?;
            }
            Some(b'[' | b'{') => {
                let behind = self.flow(rest, 0)?;
                is_comment(behind).then_some(())?;
            }
            Some(_) if !may_start(rest) => return None,
            Some(_) => match plain_end(rest) {
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

    /// `|` or `|-` and the lines below it.
    fn literal(&mut self, header: &str, indent: usize) -> Option<()> {
        let strips = match header {
            "|" => false,
            "|-" => true,
            _ => return None,
        };
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
            if text.is_empty() && blank_lines > 0 {
                return None;
            }
            text.extend(std::iter::repeat_n('\n', blank_lines));
            blank_lines = 0;
            text.push_str(&line[own..]);
            text.push('\n');
            end = self.at + length;
            self.at += length + 1;
        }
        if text.is_empty() {
            return None;
        }
        if strips {
            text.pop();
        }
        self.sink.scalar(PlainScalar {
            text: Cow::Owned(text),
            range: TextRange::new(start, end),
            style: ScalarStyle::Literal,
        })?;
        self.next_line()?;
        self.has_ended(indent).then_some(())
    }

    /// A collection in brackets that ends on its line; returns the text after it.
    fn flow(&mut self, content: &'t str, depth: usize) -> Option<&'t str> {
        if depth > DEEPEST {
            return None;
        }
        let is_hash = content.starts_with('{');
        let close = if is_hash { b'}' } else { b']' };
        self.sink.open(self.offset(content), is_hash);
        let mut rest = behind_blanks(&content[1..]);
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
                b'[' | b'{' => self.flow(rest, depth + 1)?,
                _ => {
                    let (scalar, behind) = self.flow_scalar(rest)?;
                    self.sink.scalar(scalar)?;
                    behind
                }
            };
            rest = behind_blanks(rest);
            if let Some(behind) = behind_byte(rest, b',') {
                rest = behind_blanks(behind);
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
        })?;
        // The scalar must be followed by punctuation.
        matches!(bytes[end], b',' | b']' | b'}' | b':').then_some(())?;
        let text = before_blanks(&content[..end]);
        if text.len() > LONGEST_KEY {
            return None;
        }
        let plain = ScalarStyle::Plain;
        let scalar = self.scalar(content, text.len(), Cow::Borrowed(text), plain);
        Some((scalar, &content[text.len()..]))
    }
}

/// The text after a leading ASCII byte.
fn behind_byte(text: &str, byte: u8) -> Option<&str> {
    (text.as_bytes().first() == Some(&byte)).then(|| &text[1..])
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

/// A key at the start of a line's content.
struct KeyAt<'t> {
    text: Cow<'t, str>,
    style: ScalarStyle,
    /// Its bytes, with quotes.
    length: usize,
    /// The text after its colon and blanks.
    behind: &'t str,
}

fn key(content: &str) -> Option<KeyAt<'_>> {
    let (text, style, length) = match content.as_bytes().first()? {
        b'"' | b'\'' => {
            let (text, rest) = quoted(content)?;
            // `<<` is not handled here.
            if text == "<<" {
                return None;
            }
            (text, quoted_style(content), content.len() - rest.len())
        }
        _ if !may_start(content) => return None,
        _ => {
            let PlainEnd::Colon(end) = plain_end(content) else {
                return None;
            };
            let text = &content[..end];
            if text.ends_with(' ') {
                return None;
            }
            (Cow::Borrowed(text), ScalarStyle::Plain, end)
        }
    };
    let rest = behind_byte(&content[length..], b':')?;
    let ends = matches!(rest.as_bytes().first(), None | Some(b' '));
    (ends && length < LONGEST_KEY).then(|| KeyAt {
        text,
        style,
        length,
        behind: behind_blanks(rest),
    })
}

/// The text without leading blanks.
fn behind_blanks(text: &str) -> &str {
    let blanks = text.bytes().position(|byte| byte != b' ');
    &text[blanks.unwrap_or(text.len())..]
}

/// The text without trailing blanks.
fn before_blanks(text: &str) -> &str {
    let end = text.bytes().rposition(|byte| byte != b' ');
    &text[..end.map_or(0, |end| end + 1)]
}

/// The end of a plain scalar outside of brackets.
enum PlainEnd {
    /// A colon followed by a blank or the line's end: the scalar is a key.
    Colon(usize),
    /// The blank before a comment.
    Comment(usize),
    Line(usize),
}

fn plain_end(content: &str) -> PlainEnd {
    let bytes = content.as_bytes();
    // Most scalars are too short for a vectorised search.
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b':' if matches!(bytes.get(at + 1), None | Some(b' ')) => return PlainEnd::Colon(at),
            b'#' if at > 0 && bytes[at - 1] == b' ' => return PlainEnd::Comment(at - 1),
            _ => {}
        }
    }
    PlainEnd::Line(bytes.len())
}

/// Whether a plain scalar can certainly start like this.
fn may_start(content: &str) -> bool {
    match content.as_bytes() {
        [b'-', next, ..] => next.is_ascii_alphanumeric(),
        [first, ..] => {
            first.is_ascii_alphanumeric() || b"_/.+($~^=;\\".contains(first) || *first >= 0x80
        }
        [] => false,
    }
}

fn quoted_style(content: &str) -> ScalarStyle {
    if content.starts_with('"') {
        ScalarStyle::DoubleQuoted
    } else {
        ScalarStyle::SingleQuoted
    }
}

/// A quoted scalar that ends on its line, and the text after it.
fn quoted(content: &str) -> Option<(Cow<'_, str>, &str)> {
    let quote = *content.as_bytes().first()?;
    let inner = &content[1..];
    let end = memchr2(quote, b'\\', inner.as_bytes())?;
    if inner.as_bytes()[end] == quote && inner.as_bytes().get(end + 1) != Some(&b'\'') {
        return Some((Cow::Borrowed(&inner[..end]), &inner[end + 1..]));
    }
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.char_indices();
    while let Some((at, character)) = characters.next() {
        match (character, quote) {
            ('\'', b'\'') => {
                if !inner[at + 1..].starts_with('\'') {
                    return Some((Cow::Owned(text), &inner[at + 1..]));
                }
                characters.next();
                text.push('\'');
            }
            ('"', b'"') => return Some((Cow::Owned(text), &inner[at + 1..])),
            ('\\', b'"') => text.push(match characters.next()?.1 {
                '\\' => '\\',
                '"' => '"',
                'n' => '\n',
                't' => '\t',
                _ => return None,
            }),
            (character, _) => text.push(character),
        }
    }
    None
}

#[cfg(test)]
#[path = "plain_yaml_testing.rs"]
pub(crate) mod testing;
