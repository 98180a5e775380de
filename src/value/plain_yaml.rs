//! A fast reader for the plain part of YAML that most data files keep to: block mappings and lists,
//! scalars on one line, literal blocks, small collections in brackets.
//!
//! It gives what libyaml and Psych give, or nothing: at anything else (anchors, tags, several
//! documents, scalars over several lines, whatever is or could be an error) it stops, and the
//! caller reads the text again with all the rules. So it says nothing about mistakes.
//!
//! ```
//! use hiera_ls::value::{Value, load_plain_yaml};
//!
//! assert_eq!(load_plain_yaml(b"a: 1\n"), Some(Value::hash([("a", 1.into())])));
//! assert_eq!(load_plain_yaml(b"a: &x 1\n"), None);
//! ```

use std::sync::Arc;

use super::{HashMap, Value};
use crate::syntax::psych::{Resolved, resolve_plain};

/// Largest text that is read here, in bytes: every count that the loader bounds stays far below
/// its bound.
const LARGEST: usize = 1 << 20;

/// Deepest nesting that is read here.
const DEEPEST: usize = 40;

/// Longest key in bytes; libyaml's own bound is 1,024 characters.
const LONGEST_KEY: usize = 1_000;

/// The value of a text, as [`super::load_yaml`] gives it, if the text is plain.
#[must_use]
pub fn load_plain_yaml(text: &[u8]) -> Option<Value> {
    if text.len() > LARGEST || text.last() != Some(&b'\n') {
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
    };
    reader.next_line()?;
    if reader.rest() == "---" && reader.line.indent == 0 {
        reader.next_line()?;
    }
    let value = reader.mapping(0)?;
    reader.line.is_end.then_some(value)
}

/// Characters beyond ASCII that break lines, mark the order of bytes, or are refused.
fn is_special(character: char) -> bool {
    matches!(
        character,
        '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
    )
}

/// The line that is read next: blank lines and comments are passed over.
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
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.line.start..self.line.end]
    }

    /// Goes to the next line that holds something.
    fn next_line(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        loop {
            let line = &bytes[self.at..];
            if line.is_empty() {
                self.line = Line {
                    is_end: true,
                    ..Line::default()
                };
                return Some(());
            }
            let length = line.iter().position(|&byte| byte == b'\n')?;
            let start = self.at;
            self.at += length + 1;
            let line = &line[..length];
            let indent = line.iter().take_while(|&&byte| byte == b' ').count();
            if line[indent..]
                .iter()
                .any(|&byte| byte < b' ' || byte == 0x7f)
            {
                return None;
            }
            match line.get(indent) {
                None | Some(b'#') => continue,
                // Directives, and what starts or ends documents.
                Some(b'%') if indent == 0 => return None,
                Some(b'.') if indent == 0 && line.starts_with(b"...") => return None,
                Some(_) => {}
            }
            let blank = line.iter().rev().take_while(|&&byte| byte == b' ').count();
            self.line = Line {
                indent,
                start: start + indent,
                end: start + length - blank,
                is_end: false,
            };
            return Some(());
        }
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
        let mut hash = HashMap::default();
        while !self.line.is_end && self.line.indent == indent && !is_item(self.rest()) {
            let (key, rest) = key(self.rest())?;
            self.line.start = self.line.end - rest.len();
            let value = self.value(indent, true)?;
            hash.insert(key, value);
        }
        let has_ended = self.line.is_end || self.line.indent <= indent;
        (has_ended && !hash.is_empty()).then(|| Value::from(hash))
    }

    fn list(&mut self, indent: usize) -> Option<Value> {
        let mut elements = Vec::new();
        while !self.line.is_end && self.line.indent == indent && is_item(self.rest()) {
            let rest = self.rest()[1..].trim_start_matches(' ');
            let start = self.line.end - rest.len();
            let is_empty = rest.is_empty() || rest.starts_with('#');
            if !is_empty && (is_item(rest) || key(rest).is_some()) {
                // A node of its own, at the column behind the dash.
                self.line.indent += start - self.line.start;
                self.line.start = start;
                elements.push(self.block()?);
            } else {
                self.line.start = start;
                elements.push(self.value(indent, false)?);
            }
        }
        let has_ended = self.line.is_end || self.line.indent <= indent;
        has_ended.then(|| Value::from(elements))
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
            Some(_) => {
                let (value, rest) = inline(rest)?;
                if !is_comment(rest) {
                    return None;
                }
                value
            }
        };
        self.next_line()?;
        // Deeper lines would go on with the scalar, or are an error.
        (self.line.is_end || self.line.indent <= indent).then_some(value)
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
        while let Some(length) = self.text[self.at..].find('\n') {
            let line = &self.text[self.at..self.at + length];
            let spaces = line.len() - line.trim_start_matches(' ').len();
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
            if spaces < own || own <= indent {
                if own <= indent {
                    return None;
                }
                break;
            }
            if line.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
                return None;
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
        (self.line.is_end || self.line.indent <= indent).then(|| Value::from(text))
    }
}

/// Whether a line's content starts with a list's dash.
fn is_item(content: &str) -> bool {
    content == "-" || content.starts_with("- ")
}

/// Whether only a comment may stand in the rest of a line.
fn is_comment(rest: &str) -> bool {
    rest.is_empty()
        || rest.starts_with(' ')
            && matches!(rest.trim_start().as_bytes().first(), None | Some(b'#'))
}

/// `key: rest`, split.
fn key(content: &str) -> Option<(Value, &str)> {
    let first = *content.as_bytes().first()?;
    let (key, rest) = match first {
        b'"' | b'\'' => {
            let (text, rest) = quoted(content)?;
            (not_merging(text)?, rest.strip_prefix(':')?)
        }
        _ => {
            if !may_start(content) {
                return None;
            }
            let end = colon(content)?;
            let text = &content[..end];
            if text.contains(" #") || text.ends_with(' ') {
                return None;
            }
            (plain(text)?, &content[end + 1..])
        }
    };
    if content.len() - rest.len() > LONGEST_KEY || !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    Some((key, rest.trim_start_matches(' ')))
}

/// A quoted key, unless it takes in another mapping's entries.
fn not_merging(key: Arc<str>) -> Option<Value> {
    (&*key != "<<").then_some(Value::String(key))
}

/// The first colon with a blank or nothing behind it.
fn colon(content: &str) -> Option<usize> {
    let bytes = content.as_bytes();
    let mut at = 0;
    loop {
        at += content[at..].find(':')?;
        if matches!(bytes.get(at + 1), None | Some(b' ')) {
            return Some(at);
        }
        at += 1;
    }
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

/// A scalar or a collection in brackets, and what stands behind it on its line.
fn inline(content: &str) -> Option<(Value, &str)> {
    match content.as_bytes().first()? {
        b'"' | b'\'' => {
            let (text, rest) = quoted(content)?;
            Some((Value::String(text), rest))
        }
        b'[' | b'{' => flow(content, 0),
        _ => {
            if !may_start(content) || colon(content).is_some() || content.starts_with("---") {
                return None;
            }
            let end = content.find(" #").unwrap_or(content.len());
            Some((
                plain(content[..end].trim_end_matches(' '))?,
                &content[end..],
            ))
        }
    }
}

/// What an untagged plain scalar is, where Puppet takes it.
fn plain(text: &str) -> Option<Value> {
    Some(match resolve_plain(text) {
        Resolved::String => Value::String(Arc::from(text)),
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
fn quoted(content: &str) -> Option<(Arc<str>, &str)> {
    let quote = *content.as_bytes().first()?;
    let inner = &content[1..];
    let end = inner
        .bytes()
        .position(|byte| byte == quote || byte == b'\\')?;
    let byte = inner.as_bytes()[end];
    if byte == quote && inner.as_bytes().get(end + 1) != Some(&b'\'') {
        return Some((Arc::from(&inner[..end]), &inner[end + 1..]));
    }
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.char_indices();
    while let Some((at, character)) = characters.next() {
        match (character, quote) {
            ('\'', b'\'') => {
                if !inner[at + 1..].starts_with('\'') {
                    return Some((Arc::from(text), &inner[at + 1..]));
                }
                characters.next();
                text.push('\'');
            }
            ('"', b'"') => return Some((Arc::from(text), &inner[at + 1..])),
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

/// A collection in brackets that ends on its line, and what stands behind it.
fn flow(content: &str, depth: usize) -> Option<(Value, &str)> {
    if depth > DEEPEST {
        return None;
    }
    let is_hash = content.starts_with('{');
    let close = if is_hash { '}' } else { ']' };
    let mut rest = content[1..].trim_start_matches(' ');
    let mut elements = Vec::new();
    let mut hash = HashMap::default();
    let mut end = rest.strip_prefix(close);
    while end.is_none() {
        if is_hash {
            let (name, behind) = flow_scalar(rest)?;
            if name.as_str() == Some("<<") {
                return None;
            }
            let behind = behind.strip_prefix(": ")?.trim_start_matches(' ');
            let (value, behind) = flow_value(behind, depth)?;
            hash.insert(name, value);
            rest = behind;
        } else {
            let (value, behind) = flow_value(rest, depth)?;
            elements.push(value);
            rest = behind;
        }
        rest = rest.trim_start_matches(' ');
        end = rest.strip_prefix(close);
        if end.is_none() {
            rest = rest.strip_prefix(',')?.trim_start_matches(' ');
        }
    }
    let value = if is_hash {
        Value::from(hash)
    } else {
        Value::from(elements)
    };
    Some((value, end?))
}

fn flow_value(content: &str, depth: usize) -> Option<(Value, &str)> {
    if content.starts_with(['[', '{']) {
        flow(content, depth + 1)
    } else {
        flow_scalar(content)
    }
}

/// A scalar in brackets: quoted, or of characters that mean nothing there.
fn flow_scalar(content: &str) -> Option<(Value, &str)> {
    if content.starts_with(['"', '\'']) {
        let (text, rest) = quoted(content)?;
        return Some((Value::String(text), rest));
    }
    if !may_start(content) {
        return None;
    }
    let bytes = content.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_/.-".contains(&byte);
    let end = (0..bytes.len()).find(|&at| match bytes[at] {
        b':' => !bytes
            .get(at + 1)
            .is_some_and(|&next| is_word(next) || next == b':'),
        byte => !is_word(byte) && !b"@+=*%$()&~^!;<> ".contains(&byte),
    })?;
    // What ends the scalar must mean that.
    matches!(bytes[end], b',' | b']' | b'}' | b':').then_some(())?;
    let text = content[..end].trim_end_matches(' ');
    if text.len() > LONGEST_KEY {
        return None;
    }
    Some((plain(text)?, &content[text.len()..]))
}

#[cfg(test)]
#[path = "plain_yaml_tests.rs"]
mod tests;
