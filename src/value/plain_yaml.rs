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

use std::borrow::Cow;
use std::sync::Arc;

use memchr::{memchr, memchr2};

use super::plain_words::{
    Entry, IN_BRACKETS, LONGEST_KEY, Run, WORD, entry, is_words, word_of_key,
};
use super::{HashMap, Value};
use crate::syntax::ScalarStyle;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::text::TextRange;

/// Largest text that is read here, in bytes: every count that the loader bounds stays far below
/// its bound.
const LARGEST: usize = 1 << 20;

/// Deepest nesting that is read here.
const DEEPEST: usize = 40;

/// What is made of a plain text while it is read, node by node in the order of the text. What was
/// made counts only if the whole text turns out to be plain.
pub trait Maker<'t> {
    /// A finished node.
    type Node;
    /// A hash in the making.
    type Hash;
    /// A list in the making.
    type List;

    /// A scalar with its decoded text and its place, quotes and block header included; nothing
    /// where the text is not to be read here.
    fn scalar(
        &mut self,
        style: ScalarStyle,
        text: Cow<'t, str>,
        range: TextRange,
    ) -> Option<Self::Node>;

    /// A plain scalar of letters, digits, blanks and the like, as most are.
    #[inline]
    fn words(&mut self, text: &'t str, range: TextRange) -> Option<Self::Node> {
        self.scalar(ScalarStyle::Plain, Cow::Borrowed(text), range)
    }

    /// A value that is not there, and where it would be.
    fn absent(&mut self, at: usize) -> Self::Node;

    /// A hash begins, at its first key or its brace.
    fn hash(&mut self, start: usize) -> Self::Hash;

    /// The key of the next entry.
    fn key(&mut self, hash: &mut Self::Hash, key: Self::Node);

    /// The value of the entry whose key came last.
    fn entry(&mut self, hash: &mut Self::Hash, value: Self::Node);

    /// A hash ends; `bracket` is the place behind its brace.
    fn end_hash(&mut self, hash: Self::Hash, bracket: Option<usize>) -> Self::Node;

    /// A list begins, at its first dash or its bracket.
    fn list(&mut self, start: usize) -> Self::List;

    /// The next element.
    fn element(&mut self, list: &mut Self::List, element: Self::Node);

    /// A list ends; `bracket` is the place behind its bracket.
    fn end_list(&mut self, list: Self::List, bracket: Option<usize>) -> Self::Node;
}

/// The value of a text, as [`super::load_yaml`] gives it, if the text is plain.
#[must_use]
pub fn load_plain_yaml(text: &[u8]) -> Option<Value> {
    read_plain_yaml(std::str::from_utf8(text).ok()?, &mut Values)
}

/// What is made of a text, if the text is plain.
#[must_use]
pub fn read_plain_yaml<'t, M: Maker<'t>>(text: &'t str, maker: &mut M) -> Option<M::Node> {
    if text.len() > LARGEST || !text.ends_with('\n') {
        return None;
    }
    if has_control(text.as_bytes()) || !text.is_ascii() && text.chars().any(is_special) {
        return None;
    }
    let mut reader = Reader {
        text,
        at: 0,
        line: Line::default(),
        depth: 0,
        maker,
    };
    reader.next_line()?;
    if reader.rest() == "---" && reader.line.indent == 0 {
        reader.next_line()?;
    }
    let made = reader.mapping(0)?;
    reader.line.is_end.then_some(made)
}

/// Makes values.
struct Values;

impl<'t> Maker<'t> for Values {
    type Node = Value;
    type Hash = (HashMap, Value);
    type List = Vec<Value>;

    fn scalar(&mut self, style: ScalarStyle, text: Cow<'t, str>, _: TextRange) -> Option<Value> {
        match style {
            ScalarStyle::Plain => plain(&text),
            ScalarStyle::SingleQuoted
            | ScalarStyle::DoubleQuoted
            | ScalarStyle::Literal
            | ScalarStyle::Folded
            | ScalarStyle::JsonString
            | ScalarStyle::JsonLiteral => Some(Value::String(match text {
                Cow::Borrowed(text) => Arc::from(text),
                Cow::Owned(text) => Arc::from(text),
            })),
        }
    }

    fn absent(&mut self, _: usize) -> Value {
        Value::Undef
    }

    fn hash(&mut self, _: usize) -> (HashMap, Value) {
        (HashMap::default(), Value::Undef)
    }

    fn key(&mut self, (_, next): &mut (HashMap, Value), key: Value) {
        *next = key;
    }

    fn entry(&mut self, (hash, next): &mut (HashMap, Value), value: Value) {
        hash.insert(std::mem::take(next), value);
    }

    fn end_hash(&mut self, (hash, _): (HashMap, Value), _: Option<usize>) -> Value {
        Value::from(hash)
    }

    fn list(&mut self, _: usize) -> Vec<Value> {
        Vec::new()
    }

    fn element(&mut self, list: &mut Vec<Value>, element: Value) {
        list.push(element);
    }

    fn end_list(&mut self, list: Vec<Value>, _: Option<usize>) -> Value {
        Value::from(list)
    }
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

/// The line that is read next: blank lines and comments are passed over.
#[derive(Clone, Copy, Default)]
struct Line {
    /// Columns before the content; a list's dash counts where a node starts behind it.
    indent: usize,
    /// The content, without blanks at its end.
    start: usize,
    end: usize,
    is_end: bool,
    /// What the content is, if it is what most are.
    entry: Option<Entry>,
}

struct Reader<'t, 'm, M> {
    text: &'t str,
    /// Where the line after `line` starts.
    at: usize,
    line: Line,
    depth: usize,
    maker: &'m mut M,
}

impl<'t, M: Maker<'t>> Reader<'t, '_, M> {
    fn rest(&self) -> &'t str {
        &self.text[self.line.start..self.line.end]
    }

    /// Where a rest of the current line starts.
    fn place(&self, rest: &str) -> usize {
        self.line.end - rest.len()
    }

    /// Goes to the next line that holds something.
    fn next_line(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        loop {
            if self.at == bytes.len() {
                self.line = Line {
                    is_end: true,
                    ..Line::default()
                };
                return Some(());
            }
            // The text ends with a line's end.
            let start = Run::Blanks.end(bytes, self.at);
            let indent = start - self.at;
            let (entry, known) = entry(bytes, start);
            let length = match bytes.get(known)? {
                b'\n' => known,
                _ => known + memchr(b'\n', &bytes[known..])?,
            };
            self.at = length + 1;
            match bytes[start] {
                b'\n' | b'#' => continue,
                // Directives, and what starts or ends documents.
                b'%' if indent == 0 => return None,
                b'.' if indent == 0 && bytes[start..].starts_with(b"...") => return None,
                _ => {}
            }
            let mut end = length;
            while bytes[end - 1] == b' ' {
                end -= 1;
            }
            self.line = Line {
                indent,
                start,
                end,
                is_end: false,
                entry,
            };
            return Some(());
        }
    }

    /// What starts at the current line, at its column.
    fn block(&mut self) -> Option<M::Node> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let indent = self.line.indent;
        let node = if is_item(self.rest()) {
            self.list(indent)
        } else {
            self.mapping(indent)
        };
        self.depth -= 1;
        node
    }

    fn mapping(&mut self, indent: usize) -> Option<M::Node> {
        let mut hash = self.maker.hash(self.line.start);
        let mut is_empty = true;
        while !self.line.is_end && self.line.indent == indent {
            let behind = match self.line.entry {
                Some(Entry { colon, value }) => {
                    is_empty = false;
                    let node = self.words(self.line.start, colon)?;
                    self.maker.key(&mut hash, node);
                    if value < self.line.end {
                        let value = self.words(value, self.line.end)?;
                        self.maker.entry(&mut hash, value);
                        self.next_line()?;
                        // Deeper lines would go on with the scalar, or are an error.
                        (self.line.is_end || self.line.indent <= indent).then_some(())?;
                        continue;
                    }
                    self.line.start = self.line.end;
                    colon + 1
                }
                None if is_item(self.rest()) => break,
                None => {
                    is_empty = false;
                    let (node, behind, rest) = self.key()?;
                    self.maker.key(&mut hash, node);
                    self.line.start = self.place(rest);
                    behind
                }
            };
            let value = self.value(indent, behind, true)?;
            self.maker.entry(&mut hash, value);
        }
        let has_ended = self.line.is_end || self.line.indent <= indent;
        (has_ended && !is_empty).then(|| self.maker.end_hash(hash, None))
    }

    /// The key at the start of the current line, where its colon ends, and what stands behind that and
    /// its blanks.
    #[inline]
    fn key(&mut self) -> Option<(M::Node, usize, &'t str)> {
        let content = self.rest();
        let start = self.line.start;
        if let Some(end) = word_of_key(content.as_bytes()) {
            let node = self.plain(content, &content[..end])?;
            return Some((node, start + end + 1, behind_blanks(&content[end + 1..])));
        }
        let key = key(content)?;
        let range = TextRange::new(start, start + key.length);
        let node = self.maker.scalar(key.style, key.text, range)?;
        Some((node, start + key.behind, key.rest))
    }

    fn list(&mut self, indent: usize) -> Option<M::Node> {
        let mut list = self.maker.list(self.line.start);
        while !self.line.is_end && self.line.indent == indent && is_item(self.rest()) {
            let rest = behind_blanks(&self.rest()[1..]);
            let behind = self.line.start + 1;
            let start = self.place(rest);
            let is_empty = rest.is_empty() || rest.starts_with('#');
            let own = entry(self.text.as_bytes(), start).0;
            let is_own =
                || own.is_some() || is_item(rest) || !is_words(rest) && key(rest).is_some();
            let element = if !is_empty && is_own() {
                // A node of its own, at the column behind the dash.
                self.line.indent += start - self.line.start;
                self.line.start = start;
                self.line.entry = own;
                self.block()?
            } else {
                self.line.start = start;
                self.value(indent, behind, false)?
            };
            self.maker.element(&mut list, element);
        }
        let has_ended = self.line.is_end || self.line.indent <= indent;
        has_ended.then(|| self.maker.end_list(list, None))
    }

    /// The value behind a key or a dash at column `indent`, which ends at `behind`; goes on to the
    /// line after it.
    fn value(&mut self, indent: usize, behind: usize, of_key: bool) -> Option<M::Node> {
        let rest = self.rest();
        let value = match rest.as_bytes().first() {
            None | Some(b'#') => {
                self.next_line()?;
                let line = self.line;
                let is_own =
                    line.indent > indent || of_key && line.indent == indent && is_item(self.rest());
                if line.is_end || !is_own {
                    return Some(self.maker.absent(behind));
                }
                return self.block();
            }
            Some(b'|') => return self.literal(rest, indent),
            Some(_) => {
                let (value, rest) = self.inline(rest)?;
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
    fn literal(&mut self, header: &str, indent: usize) -> Option<M::Node> {
        let strips = match header {
            "|" => false,
            "|-" => true,
            _ => return None,
        };
        let start = self.place(header);
        let mut end = start;
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
            if spaces < own || own <= indent {
                if own <= indent {
                    return None;
                }
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
        self.next_line()?;
        if !self.line.is_end && self.line.indent > indent {
            return None;
        }
        let range = TextRange::new(start, end);
        self.maker
            .scalar(ScalarStyle::Literal, Cow::Owned(text), range)
    }

    /// A scalar or a collection in brackets, and what stands behind it on its line.
    fn inline(&mut self, content: &'t str) -> Option<(M::Node, &'t str)> {
        match content.as_bytes().first()? {
            b'"' | b'\'' => self.quoted(content),
            b'[' | b'{' => self.flow(content, 0),
            _ => {
                if !may_start(content) {
                    return None;
                }
                let end = match plain_end(content) {
                    PlainEnd::Colon(_) => return None,
                    PlainEnd::Comment(end) | PlainEnd::Line(end) => end,
                };
                let text = before_blanks(&content[..end]);
                Some((self.plain(content, text)?, &content[end..]))
            }
        }
    }

    fn quoted(&mut self, content: &'t str) -> Option<(M::Node, &'t str)> {
        let (text, rest) = quoted(content)?;
        Some((self.unquoted(content, text, rest)?, rest))
    }

    /// The scalar `text` in the quotes with which `content` starts; `rest` is what stands behind them.
    fn unquoted(&mut self, content: &str, text: Cow<'t, str>, rest: &str) -> Option<M::Node> {
        let range = TextRange::new(self.place(content), self.place(rest));
        self.maker.scalar(style_of(content), text, range)
    }

    /// The plain scalar between two places.
    #[inline]
    fn words(&mut self, start: usize, end: usize) -> Option<M::Node> {
        let range = TextRange::new(start, end);
        self.maker.words(&self.text[start..end], range)
    }

    /// The plain scalar `text`, with which `content` starts.
    fn plain(&mut self, content: &str, text: &'t str) -> Option<M::Node> {
        let start = self.place(content);
        let range = TextRange::new(start, start + text.len());
        let text = Cow::Borrowed(text);
        self.maker.scalar(ScalarStyle::Plain, text, range)
    }

    /// A collection in brackets that ends on its line, and what stands behind it.
    fn flow(&mut self, content: &'t str, depth: usize) -> Option<(M::Node, &'t str)> {
        if depth > DEEPEST {
            return None;
        }
        if content.starts_with('{') {
            self.flow_hash(content, depth)
        } else {
            self.flow_list(content, depth)
        }
    }

    fn flow_hash(&mut self, content: &'t str, depth: usize) -> Option<(M::Node, &'t str)> {
        let mut hash = self.maker.hash(self.place(content));
        let mut rest = behind_blanks(&content[1..]);
        let mut end = behind_byte(rest, b'}');
        while end.is_none() {
            let (name, behind) = match rest.as_bytes().first()? {
                b'"' | b'\'' => {
                    let (text, behind) = quoted(rest)?;
                    // It would take in another mapping's entries.
                    if text == "<<" || rest.len() - behind.len() > LONGEST_KEY {
                        return None;
                    }
                    (self.unquoted(rest, text, behind)?, behind)
                }
                _ => self.flow_scalar(rest)?,
            };
            self.maker.key(&mut hash, name);
            let behind = behind_blanks(behind_byte(behind_byte(behind, b':')?, b' ')?);
            let (value, behind) = self.flow_value(behind, depth)?;
            self.maker.entry(&mut hash, value);
            (rest, end) = flow_next(behind, b'}')?;
        }
        let behind = end?;
        let end = self.place(behind);
        Some((self.maker.end_hash(hash, Some(end)), behind))
    }

    fn flow_list(&mut self, content: &'t str, depth: usize) -> Option<(M::Node, &'t str)> {
        let mut list = self.maker.list(self.place(content));
        let mut rest = behind_blanks(&content[1..]);
        let mut end = behind_byte(rest, b']');
        while end.is_none() {
            let (value, behind) = self.flow_value(rest, depth)?;
            self.maker.element(&mut list, value);
            (rest, end) = flow_next(behind, b']')?;
        }
        let behind = end?;
        let end = self.place(behind);
        Some((self.maker.end_list(list, Some(end)), behind))
    }

    fn flow_value(&mut self, content: &'t str, depth: usize) -> Option<(M::Node, &'t str)> {
        if let Some(b'[' | b'{') = content.as_bytes().first() {
            self.flow(content, depth + 1)
        } else {
            self.flow_scalar(content)
        }
    }

    /// A scalar in brackets: quoted, or of characters that mean nothing there.
    fn flow_scalar(&mut self, content: &'t str) -> Option<(M::Node, &'t str)> {
        if let Some(b'"' | b'\'') = content.as_bytes().first() {
            return self.quoted(content);
        }
        if !may_start(content) {
            return None;
        }
        let bytes = content.as_bytes();
        let goes_on = |byte: u8| WORD[byte as usize] || byte == b':';
        let end = (0..bytes.len()).find(|&at| match bytes[at] {
            b':' => !bytes.get(at + 1).is_some_and(|&next| goes_on(next)),
            byte => !IN_BRACKETS[byte as usize],
        })?;
        // What ends the scalar must mean that.
        matches!(bytes[end], b',' | b']' | b'}' | b':').then_some(())?;
        let text = before_blanks(&content[..end]);
        if text.len() > LONGEST_KEY {
            return None;
        }
        Some((self.plain(content, text)?, &content[text.len()..]))
    }
}

/// What stands behind an entry of a collection in brackets: where the next entry starts, and what is
/// behind the collection if it ends here.
fn flow_next(behind: &str, close: u8) -> Option<(&str, Option<&str>)> {
    let rest = behind_blanks(behind);
    match behind_byte(rest, close) {
        Some(behind) => Some((rest, Some(behind))),
        None => Some((behind_blanks(behind_byte(rest, b',')?), None)),
    }
}

/// What stands behind a byte of ASCII that a text starts with.
fn behind_byte(text: &str, byte: u8) -> Option<&str> {
    // Faster than the general way, which calls for a comparison of texts.
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
pub(super) struct Key<'t> {
    pub(super) style: ScalarStyle,
    pub(super) text: Cow<'t, str>,
    /// Bytes up to the colon.
    length: usize,
    /// Bytes up to behind the colon.
    behind: usize,
    /// What stands behind the colon and its blanks.
    rest: &'t str,
}

/// `key: rest`, split.
pub(super) fn key(content: &str) -> Option<Key<'_>> {
    let bytes = content.as_bytes();
    let (text, style, length) = match bytes.first()? {
        b'"' | b'\'' => {
            let (text, rest) = quoted(content)?;
            // It would take in another mapping's entries.
            if text == "<<" {
                return None;
            }
            (text, style_of(content), content.len() - rest.len())
        }
        _ => {
            if !may_start(content) {
                return None;
            }
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
    let behind = length + 1;
    let ends = matches!(bytes.get(behind), None | Some(b' '));
    if bytes.get(length) != Some(&b':') || !ends || behind > LONGEST_KEY {
        return None;
    }
    let rest = &content[behind..];
    Some(Key {
        style,
        text,
        length,
        behind,
        rest: behind_blanks(rest),
    })
}

/// What stands behind the blanks at the start of a text.
fn behind_blanks(text: &str) -> &str {
    // Faster than the general way, for the one blank that stands nearly everywhere.
    let blanks = text.bytes().position(|byte| byte != b' ');
    &text[blanks.unwrap_or(text.len())..]
}

/// A text without the blanks at its end.
fn before_blanks(text: &str) -> &str {
    let end = text.bytes().rposition(|byte| byte != b' ');
    &text[..end.map_or(0, |end| end + 1)]
}

/// The style of a quoted scalar.
fn style_of(content: &str) -> ScalarStyle {
    if content.starts_with('"') {
        ScalarStyle::DoubleQuoted
    } else {
        ScalarStyle::SingleQuoted
    }
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

/// Whether what an untagged plain scalar resolves to is read here.
pub(super) fn is_plain(resolved: &Resolved) -> bool {
    match resolved {
        Resolved::String
        | Resolved::Int(_)
        | Resolved::Bool(_)
        | Resolved::Null
        | Resolved::Float(_) => true,
        Resolved::BigInt(_)
        | Resolved::Symbol(_)
        | Resolved::Date
        | Resolved::Time
        | Resolved::Invalid { .. } => false,
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
fn quoted(content: &str) -> Option<(Cow<'_, str>, &str)> {
    let quote = *content.as_bytes().first()?;
    let inner = &content[1..];
    let end = memchr2(quote, b'\\', inner.as_bytes())?;
    let byte = inner.as_bytes()[end];
    if byte == quote && inner.as_bytes().get(end + 1) != Some(&b'\'') {
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
