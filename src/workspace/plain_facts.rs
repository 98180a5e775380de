//! The facts of a YAML text that is plain, without a tree: most data files are, and a whole workspace
//! is read when it is opened. What it gives is what [`super::reader::facts`] reads from the tree.

use std::borrow::Cow;

use super::cache::TextHash;
use super::facts::{FactsBuilder, FileFacts, KeyFact, KeyState, OptionFact, Reference};
use super::interner::Names;
use super::reader::{LOOKUP_OPTIONS, is_string, is_surely_loaded, references_of};
use crate::interpolation;
use crate::syntax::{ScalarMap, ScalarStyle};
use crate::text::TextRange;
use crate::value::{Maker, read_plain_yaml};

/// The facts of a text; nothing where it is not plain.
pub(super) fn plain_facts(text: &str, hash: TextHash, names: Names<'_>) -> Option<FileFacts> {
    let mut facts = PlainFacts {
        text,
        names,
        has_tokens: interpolation::has_tokens(text),
        depth: 0,
        behind: 0,
        in_options: false,
        after_key: false,
        entries: Vec::new(),
        lookup_options: Vec::new(),
        references: Vec::new(),
    };
    read_plain_yaml(text, &mut facts)?;
    let PlainFacts {
        entries,
        lookup_options,
        references,
        ..
    } = facts;
    let mut keys = Vec::with_capacity(entries.len());
    for (at, (key, value)) in entries.iter().enumerate() {
        let next = entries.get(at + 1);
        let end = next.map_or(text.len(), |(next, _)| next.range.start as usize);
        if let Some(name) = &key.name {
            keys.push(KeyFact {
                name: names.intern(name),
                key: key.range,
                line: 0,
                value: *value,
                state: KeyState::Read,
                print: print(text, *value, end),
            });
        }
    }
    let facts = FactsBuilder {
        hash,
        keys,
        lookup_options,
        references,
        error: None,
        problems: Vec::new(),
        has_odd_keys: false,
        has_aliases: false,
    };
    Some(facts.build(text))
}

/// What tells values apart: their text up to the next entry.
fn print(text: &str, value: TextRange, end: usize) -> u64 {
    let text = text.get(value.start as usize..end.max(value.end as usize));
    TextHash::of(text.unwrap_or_default().as_bytes()).0
}

struct PlainFacts<'t, 'n> {
    text: &'t str,
    names: Names<'n>,
    /// Whether any string can have tokens.
    has_tokens: bool,
    /// How many collections are open.
    depth: usize,
    /// Where the last node ended.
    behind: usize,
    /// Whether the top-level key that came last is `lookup_options`.
    in_options: bool,
    /// Whether a key came and its value did not begin.
    after_key: bool,
    /// Top-level keys with the places of their values.
    entries: Vec<(Made<'t>, TextRange)>,
    lookup_options: Vec<OptionFact>,
    references: Vec<Reference>,
}

/// A node.
struct Made<'t> {
    range: TextRange,
    /// The name that a key of this text has, if it is a string; known of keys that matter only.
    name: Option<Cow<'t, str>>,
}

/// A hash in the making: where it starts, and its last key if keys matter in it.
struct Open<'t> {
    start: usize,
    key: Option<Made<'t>>,
}

impl PlainFacts<'_, '_> {
    /// Whether the keys of the innermost open hash are top-level ones, or those of options.
    fn keys_matter(&self) -> bool {
        self.depth == 1 || self.depth == 2 && self.in_options
    }

    fn end(&mut self, start: usize, bracket: Option<usize>) -> TextRange {
        self.depth -= 1;
        self.behind = bracket.unwrap_or(self.behind);
        TextRange::new(start, self.behind.max(start))
    }
}

impl<'t> Maker<'t> for PlainFacts<'t, '_> {
    type Node = Made<'t>;
    type Hash = Open<'t>;
    type List = usize;

    fn scalar(
        &mut self,
        style: ScalarStyle,
        text: Cow<'t, str>,
        range: TextRange,
    ) -> Option<Made<'t>> {
        if style == ScalarStyle::Plain && !is_surely_loaded(&text) {
            return None;
        }
        self.behind = range.end as usize;
        if self.has_tokens && interpolation::has_tokens(&text) {
            let map = || ScalarMap::of(self.text, range, style, &text);
            references_of(&text, map, self.names, &mut self.references);
        }
        let is_key = !std::mem::take(&mut self.after_key);
        let is_name =
            is_key && self.keys_matter() && (style != ScalarStyle::Plain || is_string(&text));
        let name = is_name.then_some(text);
        Some(Made { range, name })
    }

    fn absent(&mut self, at: usize) -> Made<'t> {
        self.after_key = false;
        self.behind = at;
        Made {
            range: TextRange::empty(at),
            name: None,
        }
    }

    fn hash(&mut self, start: usize) -> Open<'t> {
        self.after_key = false;
        self.depth += 1;
        Open { start, key: None }
    }

    fn key(&mut self, hash: &mut Open<'t>, key: Made<'t>) {
        if self.depth == 1 {
            self.in_options = key.name.as_deref() == Some(LOOKUP_OPTIONS);
        }
        self.after_key = true;
        hash.key = Some(key);
    }

    fn entry(&mut self, hash: &mut Open<'t>, value: Made<'t>) {
        let Some(key) = hash.key.take() else {
            return;
        };
        if self.depth == 1 {
            self.entries.push((key, value.range));
        } else if self.keys_matter()
            && let Some(pattern) = &key.name
        {
            self.lookup_options.push(OptionFact {
                pattern: self.names.intern(pattern),
                key: key.range,
                value: value.range,
                print: print(self.text, value.range, value.range.end as usize),
            });
        }
    }

    fn end_hash(&mut self, hash: Open<'t>, bracket: Option<usize>) -> Made<'t> {
        Made {
            range: self.end(hash.start, bracket),
            name: None,
        }
    }

    fn list(&mut self, start: usize) -> usize {
        self.after_key = false;
        self.depth += 1;
        start
    }

    fn element(&mut self, _: &mut usize, _: Made<'t>) {}

    fn end_list(&mut self, start: usize, bracket: Option<usize>) -> Made<'t> {
        Made {
            range: self.end(start, bracket),
            name: None,
        }
    }
}

#[cfg(test)]
#[path = "plain_facts_tests.rs"]
mod tests;
