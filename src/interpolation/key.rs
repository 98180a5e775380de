//! Splits dotted keys such as `users.'a.b'.0` into segments, like
//! `puppet/pops/lookup/sub_lookup.rb`.

use std::sync::Arc;

use crate::text::TextRange;
use crate::value::{StrKey, Value};

/// One part of a dotted key.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Segment {
    /// A name, or anything quoted.
    Name(Arc<str>),
    /// An unquoted whole number: an index into a list, or an integer key of a hash.
    Index(i64),
}

impl Segment {
    /// The name, if this is one.
    #[must_use]
    pub fn as_name(&self) -> Option<&str> {
        match self {
            Segment::Name(name) => Some(name),
            Segment::Index(_) => None,
        }
    }

    /// The segment as it is written in a dotted key: in quotes where it would be read otherwise.
    #[must_use]
    pub fn written(&self) -> String {
        match self {
            Segment::Index(index) => index.to_string(),
            Segment::Name(name) => {
                let is_plain = !name.contains('.') && name.parse::<i64>().is_err();
                match (is_plain, name.contains('"')) {
                    (true, _) => name.to_string(),
                    (false, false) => format!("\"{name}\""),
                    (false, true) => format!("'{name}'"),
                }
            }
        }
    }

    /// The part of a hash or a list that the segment names.
    #[must_use]
    pub fn part_of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match (self, value) {
            (Segment::Name(name), Value::Hash(hash)) => hash.get(&StrKey(name)),
            (Segment::Index(index), Value::Hash(hash)) => hash.get(&Value::Int(*index)),
            (Segment::Index(index), Value::Array(all)) => all.get(usize::try_from(*index).ok()?),
            _ => None,
        }
    }
}

/// As a key of a hash.
impl From<&Segment> for Value {
    fn from(segment: &Segment) -> Value {
        match segment {
            Segment::Name(name) => Value::String(name.clone()),
            Segment::Index(index) => Value::Int(*index),
        }
    }
}

impl std::fmt::Display for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Segment::Name(name) => f.write_str(name),
            Segment::Index(index) => index.fmt(f),
        }
    }
}

/// A key that cannot be split: an empty segment, or quotes inside a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeySyntaxError;

/// A key split into its root and the segments to dig with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    /// The key as written.
    pub text: Arc<str>,
    /// First segment: the top-level key in data files.
    pub root: Segment,
    /// The rest, outermost first; empty for a key without dots.
    pub segments: Vec<Segment>,
}

impl Key {
    /// The steps from the value of its top-level key.
    #[must_use]
    pub fn steps(&self) -> Vec<Value> {
        self.segments.iter().map(Value::from).collect()
    }

    /// Splits `text`. A key without `'`, `"` and `.` is taken verbatim.
    ///
    /// # Errors
    /// [`KeySyntaxError`] if Puppet raises `Syntax error in key`.
    pub fn parse(text: &str) -> Result<Key, KeySyntaxError> {
        Key::of(&Arc::from(text))
    }

    /// Like [`Key::parse`]; a key without dots and quotes shares the text.
    ///
    /// # Errors
    /// As [`Key::parse`].
    pub fn of(text: &Arc<str>) -> Result<Key, KeySyntaxError> {
        if is_simple(text) {
            return Ok(Key {
                text: text.clone(),
                root: Segment::Name(text.clone()),
                segments: Vec::new(),
            });
        }
        let mut segments = split_key(text)?.into_iter().map(|(segment, _)| segment);
        Ok(Key {
            text: text.clone(),
            root: segments.next().ok_or(KeySyntaxError)?,
            segments: segments.collect(),
        })
    }

    /// Text before the first `::` of the root key: the module whose data may hold it.
    #[must_use]
    pub fn module_name(&self) -> Option<&str> {
        let root = self.root.as_name()?;
        match root.find("::") {
            // Ruby's `root_key[0..-1]` for a leading `::` is the whole key.
            Some(0) => Some(root),
            Some(at) => Some(&root[..at]),
            None => None,
        }
    }
}

/// The top-level key that a lookup of `key` reads; `key` itself if it is malformed.
#[must_use]
pub fn root_of(key: &str) -> Arc<str> {
    let parsed = Key::parse(key).ok();
    let root = parsed.as_ref().and_then(|key| key.root.as_name());
    Arc::from(root.unwrap_or(key))
}

/// Splits a dotted key into segments with their ranges.
///
/// # Errors
/// [`KeySyntaxError`] for empty segments, unbalanced, empty or glued quotes.
pub fn split_key(text: &str) -> Result<Vec<(Segment, TextRange)>, KeySyntaxError> {
    if is_simple(text) {
        return Ok(vec![(
            Segment::Name(Arc::from(text)),
            TextRange::new(0, text.len()),
        )]);
    }
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        let end = segment_end(text, at).ok_or(KeySyntaxError)?;
        found.push(segment(text, at, end));
        if end == text.len() {
            return Ok(found);
        }
        if text.as_bytes()[end] != b'.' {
            return Err(KeySyntaxError);
        }
        at = end + 1;
    }
}

/// Whether a key is taken verbatim.
fn is_simple(text: &str) -> bool {
    !text.bytes().any(|byte| matches!(byte, b'\'' | b'"' | b'.'))
}

/// The end of the segment that starts at `at`: a quoted run with blanks around it, or a run without
/// quotes and dots.
fn segment_end(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let blank = rest.len() - rest.trim_start_matches(is_blank).len();
    for quote in ['"', '\''] {
        if let Some(inner) = rest[blank..].strip_prefix(quote)
            && let Some(close) = inner.find(quote)
            && close > 0
        {
            let end = at + blank + 1 + close + 1;
            let tail = &text[end..];
            return Some(end + tail.len() - tail.trim_start_matches(is_blank).len());
        }
    }
    let end = rest.find(['\'', '"', '.']).unwrap_or(rest.len());
    (end > 0).then_some(at + end)
}

/// The segment in `start..end`, stripped, with the range of the remaining text.
fn segment(text: &str, start: usize, end: usize) -> (Segment, TextRange) {
    let raw = &text[start..end];
    let stripped = strip(raw);
    let from = start + (stripped.as_ptr() as usize - raw.as_ptr() as usize);
    let range = TextRange::new(from, from + stripped.len());
    let segment = if stripped.starts_with(['"', '\'']) {
        Segment::Name(Arc::from(&stripped[1..stripped.len() - 1]))
    } else if stripped.lines().any(looks_like_index) {
        Segment::Index(ruby_to_i(stripped))
    } else {
        Segment::Name(Arc::from(stripped))
    };
    (segment, range)
}

/// `/^(:?[+-]?[0-9]+)$/` on one line.
fn looks_like_index(line: &str) -> bool {
    let digits = line.strip_prefix(':').unwrap_or(line);
    let digits = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Ruby's `String#to_i` for texts that [`looks_like_index`] accepts; `:1` is 0. Numbers beyond 64
/// bits saturate: no list is that long and no key that large.
fn ruby_to_i(text: &str) -> i64 {
    let negative = text.starts_with('-');
    let digits: String = text
        .strip_prefix(['+', '-'])
        .unwrap_or(text)
        .bytes()
        .take_while(u8::is_ascii_digit)
        .map(char::from)
        .collect();
    let number = match digits.parse::<i64>() {
        Ok(number) => number,
        Err(_) if digits.is_empty() => 0,
        Err(_) => i64::MAX,
    };
    if negative { -number } else { number }
}

/// Blanks as in Ruby's `\s`.
fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r')
}

/// Ruby's `String#strip`: blanks and NUL at both ends.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(|character| is_blank(character) || character == '\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<Vec<String>> {
        let split = split_key(text).ok()?;
        Some(
            split
                .into_iter()
                .map(|(segment, _)| match segment {
                    Segment::Name(name) => name.to_string(),
                    Segment::Index(index) => format!("#{index}"),
                })
                .collect(),
        )
    }

    #[test]
    fn splits_as_ruby_does() {
        let cases: &[(&str, Option<&[&str]>)] = &[
            ("a", Some(&["a"])),
            ("", Some(&[""])),
            (" web", Some(&[" web"])),
            ("a.b", Some(&["a", "b"])),
            ("a . b", Some(&["a", "b"])),
            ("h. s .0", Some(&["h", "s", "#0"])),
            ("'a.b'.c", Some(&["a.b", "c"])),
            ("a.\"b\n\"\n", Some(&["a", "b\n"])),
            ("a.01", Some(&["a", "#1"])),
            ("a.-1", Some(&["a", "#-1"])),
            ("a.:1", Some(&["a", "#0"])),
            ("a.+1", Some(&["a", "#1"])),
            ("h.'1'", Some(&["h", "1"])),
            ("a. .b", Some(&["a", "", "b"])),
            ("a..b", None),
            (".a", None),
            ("a.", None),
            ("a'b'", None),
            ("a.b\"c\"", None),
            ("''", None),
            ("it's", None),
            ("a.'b", None),
        ];
        for (text, expected) in cases {
            let expected = expected.map(|parts| parts.iter().map(ToString::to_string).collect());
            assert_eq!(parts(text), expected, "{text:?}");
        }
    }

    #[test]
    fn segments_have_their_ranges() {
        let text = "users. 'a.b' .0";
        let split = split_key(text).unwrap();
        let places: Vec<&str> = split.iter().map(|(_, range)| range.slice(text)).collect();
        assert_eq!(places, ["users", "'a.b'", "0"]);
    }

    #[test]
    fn the_module_is_the_part_before_the_first_colons() {
        assert_eq!(Key::parse("a::b::c.x").unwrap().module_name(), Some("a"));
        assert_eq!(Key::parse("a").unwrap().module_name(), None);
        assert_eq!(Key::parse("::a::b").unwrap().module_name(), Some("::a::b"));
    }
}
