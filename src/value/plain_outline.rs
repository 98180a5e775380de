//! The places of the top-level keys of a plain YAML text: what a few lookups need of a large file.

use std::borrow::Cow;

use super::Value;
use super::plain_yaml::{Maker, is_plain, key, load_plain_yaml, read_plain_yaml};
use crate::syntax::ScalarStyle;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::text::TextRange;

/// The keys of a plain text: enough to read single values without making all of them.
#[derive(Debug)]
pub struct PlainOutline {
    text: String,
    /// Where the lines of the top-level keys start, in order.
    keys: Vec<usize>,
}

impl PlainOutline {
    /// The outline of a text for which [`load_plain_yaml`] gives a value; nothing for others. Costs
    /// a fraction of that.
    #[must_use]
    pub fn of(text: Vec<u8>) -> Option<PlainOutline> {
        let text = String::from_utf8(text).ok()?;
        let mut outline = Outline::default();
        read_plain_yaml(&text, &mut outline)?;
        let keys = outline.keys;
        Some(PlainOutline { text, keys })
    }

    /// The value of a top-level key, as the hash of the whole text has it. O(keys + length of the
    /// value).
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value> {
        // Of several keys of a name the last one counts.
        let at = self.keys.iter().rposition(|&at| self.is_key(at, name))?;
        let end = self.keys.get(at + 1).copied().unwrap_or(self.text.len());
        let lines = &self.text[self.keys[at]..end];
        load_plain_yaml(lines.as_bytes())?.get(name).cloned()
    }

    /// Whether the key of the line at `at` is the string `name`.
    fn is_key(&self, at: usize, name: &str) -> bool {
        let bytes = &self.text.as_bytes()[at..];
        // The colon first: names begin alike more often than not.
        let is_bare = || bytes.get(name.len()) == Some(&b':') && bytes.starts_with(name.as_bytes());
        let may_be = matches!(bytes.first(), Some(b'"' | b'\'')) || is_bare();
        let own = || key(self.text[at..].lines().next().unwrap_or_default());
        may_be
            && own().is_some_and(|own| {
                own.text == name
                    && (own.style != ScalarStyle::Plain
                        || matches!(resolve_plain(name), Resolved::String))
            })
    }
}

/// Whether [`load_plain_yaml`] takes a plain scalar: words and paths always, whatever they mean.
#[inline]
fn is_taken(text: &str) -> bool {
    match text.as_bytes() {
        [b'a'..=b'z' | b'A'..=b'Z' | b'/', ..] => true,
        // A small number.
        [b'1'..=b'9', digits @ ..] if digits.len() < 9 && digits.iter().all(u8::is_ascii_digit) => {
            true
        }
        _ => is_plain(&resolve_plain(text)),
    }
}

/// Makes nothing but the places of the keys of the outermost hash.
#[derive(Default)]
struct Outline {
    keys: Vec<usize>,
    /// How many collections are open.
    depth: usize,
}

impl<'t> Maker<'t> for Outline {
    /// Where it starts.
    type Node = usize;
    type Hash = ();
    type List = ();

    #[inline]
    fn scalar(
        &mut self,
        style: ScalarStyle,
        text: Cow<'t, str>,
        range: TextRange,
    ) -> Option<usize> {
        if style == ScalarStyle::Plain && !is_taken(&text) {
            return None;
        }
        Some(range.start as usize)
    }

    #[inline]
    fn words(&mut self, text: &'t str, range: TextRange) -> Option<usize> {
        is_taken(text).then_some(range.start as usize)
    }

    fn absent(&mut self, at: usize) -> usize {
        at
    }

    fn hash(&mut self, _: usize) {
        self.depth += 1;
    }

    fn key(&mut self, (): &mut (), key: usize) {
        if self.depth == 1 {
            self.keys.push(key);
        }
    }

    fn entry(&mut self, (): &mut (), _: usize) {}

    fn end_hash(&mut self, (): (), _: Option<usize>) -> usize {
        self.depth -= 1;
        0
    }

    fn list(&mut self, _: usize) {
        self.depth += 1;
    }

    fn element(&mut self, (): &mut (), _: usize) {}

    fn end_list(&mut self, (): (), _: Option<usize>) -> usize {
        self.depth -= 1;
        0
    }
}
