//! The place of the cursor, read from the lines before it, since half-typed text often has no syntax tree.
//!
//! Block style is read by indentation, flow style and JSON by brackets. The meaning of keys is not
//! considered.

use super::flow;
use crate::ide::block_line::{BlockLine, End};
use crate::text::TextRange;

/// Maximum number of lines to read above the cursor.
const MAX_LINES: usize = 20_000;

/// A step towards the cursor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum CursorStep {
    /// The value of a key.
    Key(String),
    /// An element of a list.
    Element,
}

/// What the cursor is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    /// A key of a hash, or an element of a list that may become one.
    Key,
    /// A value.
    Value,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cursor {
    /// The steps from the root, outermost first; for a value the last one is its key or list.
    pub(super) steps: Vec<CursorStep>,
    pub(super) slot: Slot,
    /// The typed part, without an opening quote.
    pub(super) typed: String,
    /// The range to replace: the typed part, and the rest of the word after the cursor.
    pub(super) replace: TextRange,
    /// The quote around the word.
    pub(super) quote: Option<char>,
    /// The offset of the outermost open bracket.
    pub(super) bracket: Option<usize>,
}

/// The syntax of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DocumentStyle {
    /// YAML.
    Yaml,
    /// JSON, or a similar syntax.
    Json,
}

impl Cursor {
    /// The steps as words: keys, and `-` for an element.
    pub(super) fn steps_as_words(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(|step| match step {
            CursorStep::Key(key) => key.as_str(),
            CursorStep::Element => "-",
        })
    }

    /// The other keys of the hash around the cursor. O(lines of the hash).
    pub(super) fn sibling_keys(&self, text: &str, offset: usize) -> Vec<String> {
        if let Some(bracket) = self.bracket {
            let before = text.get(bracket..offset).and_then(flow::scan);
            let mut keys = before.map_or_else(Vec::new, |found| found.keys);
            let behind = text.get(self.replace.end as usize..).unwrap_or_default();
            keys.extend(flow::keys_behind(behind));
            return keys;
        }
        let start = text[..offset].rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let line = BlockLine::read(&text[start..offset], End::Cursor);
        let mut keys = Vec::new();
        // After a dash the cursor is in the first line of its hash.
        if line.dashes.is_empty() {
            keys_of_hash(text[..start].lines().rev(), line.column, &mut keys);
        }
        let behind = text[offset..].split_once('\n').map_or("", |(_, rest)| rest);
        let below = behind.lines().take_while(|below| {
            let below = BlockLine::read(below, End::Break);
            below.dashes.iter().all(|&dash| dash >= line.column)
        });
        keys_of_hash(below, line.column, &mut keys);
        keys
    }
}

/// Collects keys in a column, from lines up to one that is less indented or starts with an outer dash.
fn keys_of_hash<'t>(lines: impl Iterator<Item = &'t str>, column: usize, keys: &mut Vec<String>) {
    for line in lines.take(MAX_LINES) {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let read = BlockLine::read(line, End::Break);
        if read.column < column {
            return;
        }
        if read.column == column {
            keys.extend(read.key);
        }
        if read.dashes.iter().any(|&dash| dash < column) {
            return;
        }
    }
}

/// The place of the cursor; `None` in a comment, in a block scalar and after a complete value.
/// O(lines above).
pub(super) fn cursor_at(text: &str, offset: usize, style: DocumentStyle) -> Option<Cursor> {
    let before = text.get(..offset)?;
    if style == DocumentStyle::Json {
        return in_flow(text, 0, offset, Vec::new());
    }
    let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let prefix = &before[start..];
    if flow::has_comment(prefix) {
        return None;
    }
    let line = BlockLine::read(prefix, End::Cursor);
    let mut steps = Vec::new();
    let above = ancestors(&before[..start], &line, &mut steps)?;
    if let Some(opening) = above {
        return in_flow(text, opening, offset, steps);
    }
    let (from, kind) = match line.key {
        Some(key) => {
            steps.push(CursorStep::Key(key));
            (start + line.rest, Slot::Value)
        }
        None => (start + line.column, Slot::Key),
    };
    if before[from..].starts_with(['{', '[']) {
        return in_flow(text, from, offset, steps);
    }
    Some(slot(text, from, offset, steps, kind))
}

fn in_flow(text: &str, from: usize, offset: usize, mut steps: Vec<CursorStep>) -> Option<Cursor> {
    let found = flow::scan(text.get(from..offset)?)?;
    steps.extend(found.steps);
    let mut cursor = slot(text, from + found.word, offset, steps, found.slot);
    cursor.bracket = Some(from);
    Some(cursor)
}

/// The cursor in a word that starts at `from`.
fn slot(text: &str, from: usize, offset: usize, steps: Vec<CursorStep>, slot: Slot) -> Cursor {
    let word = text.get(from..offset).unwrap_or_default();
    let quote = word.chars().next().filter(|c| matches!(c, '"' | '\''));
    let from = from + quote.map_or(0, char::len_utf8);
    let behind = text.get(offset..).unwrap_or_default();
    let end = offset + rest_of_word(behind, quote);
    Cursor {
        steps,
        slot,
        typed: text.get(from..offset).unwrap_or_default().to_owned(),
        replace: TextRange::new(from.min(offset), end),
        quote,
        bracket: None,
    }
}

/// The length of the rest of the word after the cursor.
fn rest_of_word(behind: &str, quote: Option<char>) -> usize {
    let line = behind.lines().next().unwrap_or_default();
    if let Some(quote) = quote {
        return line.find(quote).unwrap_or(0);
    }
    let mut end = 0;
    for (at, character) in line.char_indices() {
        let next = line[at + character.len_utf8()..].chars().next();
        let ends_key = character == ':' && next.is_none_or(char::is_whitespace);
        let is_part = character.is_alphanumeric() || "_-./:^$*\\".contains(character);
        if ends_key || !is_part {
            break;
        }
        end = at + character.len_utf8();
    }
    end
}

/// Reads the lines above from the last one upwards, and puts the steps to the cursor's line before
/// `steps`. Returns the offset of the outermost open bracket, if any; `None` if the cursor is in a
/// block scalar.
fn ancestors(above: &str, line: &BlockLine, steps: &mut Vec<CursorStep>) -> Option<Option<usize>> {
    let mut found: Vec<CursorStep> = Vec::new();
    let mut opening = None;
    let mut column = line.column;
    // A list may have the same column as its key.
    let mut after_dash = !line.dashes.is_empty();
    let into_dashes = |dashes: &[usize], column: &mut usize, found: &mut Vec<CursorStep>| {
        for &dash in dashes.iter().rev() {
            if dash < *column {
                found.push(CursorStep::Element);
                *column = dash;
            }
        }
    };
    into_dashes(&line.dashes, &mut column, &mut found);
    let mut end = above.len();
    for _ in 0..MAX_LINES {
        if end == 0 || column == 0 && !after_dash {
            break;
        }
        let whole = above[..end].trim_end_matches(['\n', '\r']);
        let start = whole.rfind('\n').map_or(0, |at| at + 1);
        end = start;
        let text = &whole[start..];
        if text.trim().is_empty() || text.trim_start().starts_with('#') {
            continue;
        }
        let read = BlockLine::read(text, End::Break);
        let is_outer =
            read.column < column || (after_dash && read.column == column && read.dashes.is_empty());
        if is_outer {
            let Some(key) = &read.key else {
                continue;
            };
            let value = text[read.rest..].trim_start();
            if value.starts_with(['|', '>']) {
                return None;
            }
            if value.starts_with(['{', '[']) && flow::is_open(value) {
                // The lines read so far are inside of the bracket.
                found.clear();
                opening = Some(start + text.len() - value.len());
            }
            found.push(CursorStep::Key(key.clone()));
            column = read.column;
            after_dash = false;
        }
        let is_sibling = read.column == column && !is_outer;
        if (is_outer || is_sibling) && read.dashes.iter().any(|&dash| dash < column) {
            into_dashes(&read.dashes, &mut column, &mut found);
            after_dash = true;
        }
    }
    found.reverse();
    steps.splice(0..0, found);
    Some(opening)
}

#[cfg(test)]
mod tests {
    use super::{DocumentStyle, Slot, cursor_at};
    use crate::fixture::without_cursor;

    fn shown(text: &str, style: DocumentStyle) -> String {
        let (offset, text) = without_cursor(text).unwrap();
        let Some(cursor) = cursor_at(&text, offset, style) else {
            return "nothing".into();
        };
        let steps = cursor.steps_as_words().collect::<Vec<_>>().join("/");
        let slot = match cursor.slot {
            Slot::Key => "key",
            Slot::Value => "value",
        };
        let quote = cursor.quote.map(String::from).unwrap_or_default();
        let replaced = cursor.replace.slice(&text);
        format!("{steps} {slot} {quote}{} [{replaced}]", cursor.typed)
    }

    #[test]
    fn block_style_is_read_by_indentation() {
        for (text, expected) in [
            ("$0", " key  []"),
            ("pro$0", " key pro [pro]"),
            ("a: 1\nprofile::$0\n", " key profile:: [profile::]"),
            (
                "profile::we$0b::port: 1\n",
                " key profile::we [profile::web::port]",
            ),
            ("a: x$0yz\n", "a value x [xyz]"),
            ("a: \"x$0yz\"\n", "a value \"x [xyz]"),
            ("a: $0\n", "a value  []"),
            ("a:\n  b$0\n", "a key b [b]"),
            ("a:\n  b: 1\n  c:\n    d: $0\n", "a/c/d value  []"),
            ("a:\n  b:\n    c: 1\n  $0\n", "a key  []"),
            ("a:\n  - x$0\n", "a/- key x [x]"),
            ("a:\n- x: 1\n  y$0\n", "a/- key y [y]"),
            (
                "a:\n  - b:\n      - c: 1\n        d: $0\n",
                "a/-/b/-/d value  []",
            ),
            ("a:\n  - x\n  - $0\n", "a/- key  []"),
            ("'a b':\n  c$0: 1\n", "a b key c [c]"),
            ("a:\n  \"b$0\n", "a key \"b [b]"),
            ("a: |\n  text: x$0\n", "nothing"),
            ("a: 1 # com$0ment\n", "nothing"),
            ("# a\n# b$0\n", "nothing"),
            ("a:\n\n  # x\n  b: 1\n  $0", "a key  []"),
            (
                "lookup_options:\n  '^a::':\n    merge: d$0\n",
                "lookup_options/^a::/merge value d [d]",
            ),
        ] {
            assert_eq!(shown(text, DocumentStyle::Yaml), expected, "{text:?}");
        }
    }

    #[test]
    fn flow_style_is_read_by_brackets() {
        for (text, expected) in [
            ("a: {b: {c: x$0", "a/b/c value x [x]"),
            ("a: {b: 1, c$0}", "a key c [c]"),
            ("a: [x, y$0]", "a/- key y [y]"),
            ("a: {b: [1, {d$0", "a/b/- key d [d]"),
            ("a: {\n  b: {u$0\n", "a/b key u [u]"),
            ("h:\n  - {name: x, pa$0th: y}\n", "h/- key pa [path]"),
            ("a: {b: 1}$0\n", "nothing"),
            ("a: {b: 1}\nc: $0\n", "c value  []"),
            ("a: {'b: x': \"}\", d$0", "a key d [d]"),
        ] {
            assert_eq!(shown(text, DocumentStyle::Yaml), expected, "{text:?}");
        }
        for (text, expected) in [
            ("{\"a\": {\"b$0\": 1}}", "a key \"b [b]"),
            ("{\"a\": \"x$0\"", "a value \"x [x]"),
            ("{\"a\": 1,\n \"$0", " key \" []"),
        ] {
            assert_eq!(shown(text, DocumentStyle::Json), expected, "{text:?}");
        }
    }
}
