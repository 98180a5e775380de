//! A fast reader for the plain part of YAML that most data files keep to: block mappings and lists,
//! scalars on one line, literal blocks, small collections in brackets.
//!
//! It gives the value that libyaml and Psych's rules give, or nothing: at anything else (anchors,
//! tags, several documents, scalars over several lines, whatever is or could be an error) it stops,
//! and the caller reads the text with all the rules. So it says nothing about mistakes.
//!
//! Floor: a cold `lookup --explain` reads 425 KB of YAML. Without this reader that takes 52 ms, 35
//! times less than Puppet's command; the floor is 120.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::{Value, hash_with_capacity};
use crate::syntax::psych::{Resolved, resolve_plain};

/// Largest text that is read here, in bytes: every count that the loader bounds stays far below
/// its bound.
const LARGEST: usize = 1 << 20;

/// Deepest nesting that is read here.
const DEEPEST: usize = 40;

/// Longest key in bytes; libyaml's own bound is 1,024 characters.
const LONGEST_KEY: usize = 1_000;

/// Bytes but for letters and digits that mean nothing but themselves in a plain scalar in brackets.
const PLAIN_IN_BRACKETS: &[u8] = b"_-./@+=*%$()&~^!;<> ";

/// The value of a text, as [`super::load_yaml`] gives it, if the text is plain. No hash in it has a
/// symbol as a key. O(length)
#[must_use]
pub fn load_plain_yaml(text: &[u8]) -> Option<Value> {
    read(text, None)
}

/// What [`load_plain_yaml`] gives for one top-level key, if the text is plain. O(length), but values
/// are made of that key alone, which takes a fraction of the time.
#[must_use]
pub fn load_plain_entry(text: &[u8], key: &str) -> Option<Option<Value>> {
    Some(read(text, Some(key))?.get(key).cloned())
}

/// The value of a text, or as much of it as top-level keys of one name hold.
fn read(text: &[u8], wanted: Option<&str>) -> Option<Value> {
    if text.len() > LARGEST || !text.ends_with(b"\n") || has_control(text) {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    if !text.is_ascii() && text.chars().any(is_special) {
        return None;
    }
    let mut reader = Reader {
        text,
        at: 0,
        line: Line::default(),
        depth: 0,
        wanted,
        makes: true,
        pairs: Vec::new(),
        elements: Vec::new(),
    };
    reader.next_line()?;
    if reader.rest() == "---" && reader.line.indent == 0 {
        reader.next_line()?;
    }
    let value = reader.mapping(0)?;
    reader.line.is_end.then_some(value)
}

/// Whether there is a control character other than a line's end: tabs have rules of their own, and
/// most others are refused.
fn has_control(bytes: &[u8]) -> bool {
    // Without a way out in the middle, many bytes are looked at together.
    let control = |byte: u8| u8::from(byte < b' ' && byte != b'\n' || byte == 0x7f);
    bytes.iter().fold(0, |found, &byte| found | control(byte)) != 0
}

/// Characters beyond ASCII that break lines, mark the order of bytes, or are refused.
fn is_special(character: char) -> bool {
    matches!(
        character,
        '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
    )
}

/// The line that is read next; blank lines and comments are skipped.
#[derive(Clone, Copy, Default)]
struct Line {
    /// Columns before the content; a list's dash counts where a node starts behind it.
    indent: usize,
    /// The content, without blanks at its end.
    start: usize,
    end: usize,
    is_end: bool,
}

struct Reader<'t> {
    text: &'t str,
    /// Where the line after `line` starts.
    at: usize,
    line: Line,
    depth: usize,
    /// The only top-level key that values are made of, if there is one.
    wanted: Option<&'t str>,
    /// Whether values are made of what is read.
    makes: bool,
    /// The entries of open hashes: each hash is made when it is known how large it is.
    pairs: Vec<(Value, Value)>,
    /// The elements of open lists.
    elements: Vec<Value>,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.line.start..self.line.end]
    }

    /// Goes to the next line that holds something.
    fn next_line(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            let rest = &bytes[self.at..];
            let indent = rest.iter().take_while(|&&byte| byte == b' ').count();
            let start = self.at + indent;
            // The text ends with a line's end.
            let mut end = start + memchr(b'\n', &bytes[start..])?;
            self.at = end + 1;
            match bytes[start] {
                b'\n' | b'#' => continue,
                // Directives, and what starts or ends documents.
                b'%' if indent == 0 => return None,
                b'.' if indent == 0 && bytes[start..].starts_with(b"...") => return None,
                _ => {}
            }
            while bytes[end - 1] == b' ' {
                end -= 1;
            }
            self.line = Line {
                indent,
                start,
                end,
                is_end: false,
            };
            return Some(());
        }
        self.line = Line {
            is_end: true,
            ..Line::default()
        };
        Some(())
    }

    /// Whether the lines of a node at column `indent` are over. Deeper ones would go on with a
    /// scalar, or are an error.
    fn has_ended(&self, indent: usize) -> bool {
        self.line.is_end || self.line.indent <= indent
    }

    /// What starts at the current line, at its column.
    fn block(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let indent = self.line.indent;
        let value = if is_item(self.rest()) {
            self.list(indent)
        } else {
            self.mapping(indent)
        };
        self.depth -= 1;
        value
    }

    fn mapping(&mut self, indent: usize) -> Option<Value> {
        let first = self.pairs.len();
        let mut is_empty = true;
        let is_top = self.depth == 0;
        while !self.line.is_end && self.line.indent == indent && !is_item(self.rest()) {
            is_empty = false;
            let (name, rest) = key(self.rest(), self.makes || is_top)?;
            if is_top && let Some(wanted) = self.wanted {
                self.makes = name.as_str() == Some(wanted);
            }
            self.line.start = self.line.end - rest.len();
            let value = self.value(indent, true)?;
            if self.makes {
                self.pairs.push((name, value));
            }
        }
        let is_whole = self.has_ended(indent) && !is_empty;
        let is_made = self.makes || is_top;
        is_whole.then(|| match is_made {
            true => hash_of(self.pairs.drain(first..)),
            false => Value::Undef,
        })
    }

    fn list(&mut self, indent: usize) -> Option<Value> {
        let first = self.elements.len();
        while !self.line.is_end && self.line.indent == indent && is_item(self.rest()) {
            let rest = behind_blanks(&self.rest()[1..]);
            let start = self.line.end - rest.len();
            let is_empty = rest.is_empty() || rest.starts_with('#');
            let is_node = !is_empty && (is_item(rest) || key(rest, false).is_some());
            let column = self.line.indent + start - self.line.start;
            self.line.start = start;
            let element = if is_node {
                // A node of its own, at the column behind the dash.
                self.line.indent = column;
                self.block()?
            } else {
                self.value(indent, false)?
            };
            if self.makes {
                self.elements.push(element);
            }
        }
        self.has_ended(indent).then(|| match self.makes {
            true => Value::array(self.elements.drain(first..)),
            false => Value::Undef,
        })
    }

    /// The value behind a key or a dash at column `indent`; goes on to the line after it.
    fn value(&mut self, indent: usize, of_key: bool) -> Option<Value> {
        let rest = self.rest();
        let value = match rest.as_bytes().first() {
            None | Some(b'#') => {
                self.next_line()?;
                let line = self.line;
                let is_own =
                    line.indent > indent || of_key && line.indent == indent && is_item(self.rest());
                if line.is_end || !is_own {
                    return Some(Value::Undef);
                }
                return self.block();
            }
            Some(b'|') => return self.literal(rest, indent),
            Some(b'"' | b'\'') => {
                let (text, rest) = quoted(rest)?;
                is_comment(rest).then(|| made(text, self.makes))?
            }
            Some(b'[' | b'{') => {
                let (value, rest) = flow(rest, 0)?;
                is_comment(rest).then_some(value)?
            }
            Some(_) if !may_start(rest) => return None,
            Some(_) => match plain_end(rest) {
                PlainEnd::Colon(_) => return None,
                PlainEnd::Comment(end) | PlainEnd::Line(end) => {
                    plain(before_blanks(&rest[..end]), self.makes)?
                }
            },
        };
        self.next_line()?;
        self.has_ended(indent).then_some(value)
    }

    /// `|` or `|-` and the lines below it.
    fn literal(&mut self, header: &str, indent: usize) -> Option<Value> {
        let strips = match header {
            "|" => false,
            "|-" => true,
            _ => return None,
        };
        let mut text = String::new();
        let mut blank_lines = 0;
        let mut own: Option<usize> = None;
        while let Some(length) = memchr(b'\n', &self.text.as_bytes()[self.at..]) {
            let line = &self.text[self.at..self.at + length];
            let spaces = line.len() - behind_blanks(line).len();
            if spaces == line.len() {
                // Blank lines of more blanks than the text's indentation are text.
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
            self.at += length + 1;
        }
        if text.is_empty() {
            return None;
        }
        if strips {
            text.pop();
        }
        self.next_line()?;
        self.has_ended(indent)
            .then(|| made(Cow::Owned(text), self.makes))
    }
}

/// The hash of some entries, the last of equal keys counting.
fn hash_of(pairs: impl ExactSizeIterator<Item = (Value, Value)>) -> Value {
    let mut hash = hash_with_capacity(pairs.len());
    hash.extend(pairs);
    Value::from(hash)
}

/// A collection in brackets that ends on its line, and what stands behind it.
fn flow(content: &str, depth: usize) -> Option<(Value, &str)> {
    if depth > DEEPEST {
        return None;
    }
    let is_hash = content.starts_with('{');
    let close = if is_hash { b'}' } else { b']' };
    let (mut pairs, mut list) = (Vec::new(), Vec::new());
    let mut rest = behind_blanks(&content[1..]);
    loop {
        if let Some(behind) = behind_byte(rest, close) {
            let value = match is_hash {
                true => hash_of(pairs.into_iter()),
                false => Value::from(list),
            };
            return Some((value, behind));
        }
        let mut name = Value::Undef;
        if is_hash {
            let (key, behind) = flow_scalar(rest)?;
            // A merge key would take in another mapping's entries.
            if key.as_str() == Some("<<") || rest.len() - behind.len() > LONGEST_KEY {
                return None;
            }
            name = key;
            rest = behind_blanks(behind_byte(behind_byte(behind, b':')?, b' ')?);
        }
        let (value, behind) = match rest.as_bytes().first()? {
            b'[' | b'{' => flow(rest, depth + 1)?,
            _ => flow_scalar(rest)?,
        };
        match is_hash {
            true => pairs.push((name, value)),
            false => list.push(value),
        }
        rest = behind_blanks(behind);
        if let Some(behind) = behind_byte(rest, b',') {
            rest = behind_blanks(behind);
        } else {
            behind_byte(rest, close)?;
        }
    }
}

/// A scalar in brackets: quoted, or of characters that mean nothing there.
fn flow_scalar(content: &str) -> Option<(Value, &str)> {
    if let Some(b'"' | b'\'') = content.as_bytes().first() {
        let (text, rest) = quoted(content)?;
        return Some((Value::from(text), rest));
    }
    if !may_start(content) {
        return None;
    }
    let bytes = content.as_bytes();
    let goes_on = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:".contains(&byte);
    let end = (0..bytes.len()).find(|&at| match bytes[at] {
        b':' => !bytes.get(at + 1).is_some_and(|&next| goes_on(next)),
        byte => !byte.is_ascii_alphanumeric() && !PLAIN_IN_BRACKETS.contains(&byte),
    })?;
    // What ends the scalar must mean that.
    matches!(bytes[end], b',' | b']' | b'}' | b':').then_some(())?;
    let text = before_blanks(&content[..end]);
    if text.len() > LONGEST_KEY {
        return None;
    }
    Some((plain(text, true)?, &content[text.len()..]))
}

/// What stands behind a byte of ASCII that a text starts with.
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

/// The key at the start of a line's content, and what stands behind its colon and blanks.
fn key(content: &str, makes: bool) -> Option<(Value, &str)> {
    let (name, length) = match content.as_bytes().first()? {
        b'"' | b'\'' => {
            let (text, rest) = quoted(content)?;
            // A merge key would take in another mapping's entries.
            if text == "<<" {
                return None;
            }
            (made(text, makes), content.len() - rest.len())
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
            (plain(text, makes)?, end)
        }
    };
    let rest = behind_byte(&content[length..], b':')?;
    let ends = matches!(rest.as_bytes().first(), None | Some(b' '));
    (ends && length < LONGEST_KEY).then(|| (name, behind_blanks(rest)))
}

/// What stands behind the blanks at the start of a text.
fn behind_blanks(text: &str) -> &str {
    let blanks = text.bytes().position(|byte| byte != b' ');
    &text[blanks.unwrap_or(text.len())..]
}

/// A text without the blanks at its end.
fn before_blanks(text: &str) -> &str {
    let end = text.bytes().rposition(|byte| byte != b' ');
    &text[..end.map_or(0, |end| end + 1)]
}

/// What a plain scalar outside of brackets ends at, and where.
enum PlainEnd {
    /// A colon with a blank or nothing behind it: the scalar is a key.
    Colon(usize),
    /// The blank in front of a comment.
    Comment(usize),
    /// The end of the line.
    Line(usize),
}

fn plain_end(content: &str) -> PlainEnd {
    let bytes = content.as_bytes();
    // Most scalars are too short for a search by several bytes at a time.
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b':' if matches!(bytes.get(at + 1), None | Some(b' ')) => return PlainEnd::Colon(at),
            b'#' if at > 0 && bytes[at - 1] == b' ' => return PlainEnd::Comment(at - 1),
            _ => {}
        }
    }
    PlainEnd::Line(bytes.len())
}

/// Whether a plain scalar can start like this for certain.
fn may_start(content: &str) -> bool {
    match content.as_bytes() {
        [b'-', next, ..] => next.is_ascii_alphanumeric(),
        [first, ..] => {
            first.is_ascii_alphanumeric() || b"_/.+($~^=;\\".contains(first) || *first >= 0x80
        }
        [] => false,
    }
}

/// A string; nothing is made of what is only read.
fn made(text: Cow<'_, str>, makes: bool) -> Value {
    match makes {
        true => Value::from(text),
        false => Value::Undef,
    }
}

/// What an untagged plain scalar is, where Puppet takes it.
fn plain(text: &str, makes: bool) -> Option<Value> {
    Some(match resolve_plain(text) {
        Resolved::String => made(Cow::Borrowed(text), makes),
        Resolved::Int(number) => Value::Int(number),
        Resolved::Bool(truth) => Value::Bool(truth),
        Resolved::Null => Value::Undef,
        Resolved::Float(number) => Value::Float(number),
        Resolved::BigInt(_)
        | Resolved::Symbol(_)
        | Resolved::Date
        | Resolved::Time
        | Resolved::Invalid { .. } => return None,
    })
}

/// A quoted scalar that ends on its line, and what stands behind it.
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
#[path = "plain_yaml_tests.rs"]
mod tests;
