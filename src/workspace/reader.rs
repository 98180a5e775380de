//! From a text to facts and values: the one place where the model asks the parsers.

use super::cache::TextHash;
use super::facts::{FactsBuilder, FileFacts, KeyFact, KeyState, OptionFact, Reference};
use super::files::{DataFile, Format, Natures};
use super::interner::Names;
use crate::interpolation::{self, TokenKind};
use crate::syntax::hocon::{HoconItem, HoconValue, parse_hocon_document};
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{
    Node, NodeId, NodeKind, Parse, ScalarMap, ScalarStyle, Tree, parse_hocon, parse_json,
    parse_yaml,
};
use crate::text::TextRange;
use crate::value::{
    Value, json_load, load_hocon, load_json_parse, load_parse, load_recovered, load_yaml,
    symbol_keys_to_strings,
};

/// The key of a data file that holds settings of lookups, not data.
const LOOKUP_OPTIONS: &str = "lookup_options";

/// The key that takes in another mapping's entries.
const MERGE_KEY: &str = "<<";

/// Mappings that merge keys reach one through another, at most: they can name each other.
const MOST_MERGES: usize = 64;

/// Entries that merge keys bring to a file, at most: mappings that merge one another twice double
/// at every step.
const MOST_MERGED: usize = 100_000;

/// A data file's bytes through the loader of a format.
#[must_use]
pub fn load(bytes: &[u8], format: Format) -> DataFile {
    let loaded = match format {
        Format::Yaml => load_yaml(bytes).map(symbol_keys_to_strings),
        Format::Json => json_load(bytes),
        Format::Hocon => load_hocon(bytes),
    };
    let recovered = match (&loaded, format) {
        (Ok(value), _) => value.clone(),
        (Err(_), Format::Yaml) => {
            let tree = parse_yaml(&String::from_utf8_lossy(bytes)).tree;
            symbol_keys_to_strings(load_recovered(&tree))
        }
        (Err(_), Format::Json) => load_recovered(&parse_json(&String::from_utf8_lossy(bytes)).tree),
        // The gem reads nothing behind an error, and neither is there a tree of what stands there.
        (Err(_), Format::Hocon) => Value::Undef,
    };
    DataFile {
        loaded,
        recovered,
        natures: Natures::default(),
    }
}

/// A YAML text that was parsed before through its loader. Nothing where the loader refuses it:
/// it says more exactly where than a tree of what is left.
pub(super) fn load_parsed_yaml(parse: &Parse) -> Option<DataFile> {
    let value = symbol_keys_to_strings(load_parse(parse).ok()?);
    Some(DataFile {
        recovered: value.clone(),
        loaded: Ok(value),
        natures: Natures::default(),
    })
}

/// A data file's text as a tree with places, and what is wrong with it.
#[must_use]
pub fn parse(text: &str, format: Format) -> Parse {
    match format {
        Format::Yaml => parse_yaml(text),
        Format::Json => parse_json(text),
        Format::Hocon => parse_hocon(text),
    }
}

/// The facts of a data file's text. `bytes` are the file's where they are not the text's: what
/// is no UTF-8 may be a reason for a loader to refuse the file. The tree comes with them, but for
/// HOCON, which has another.
pub(super) fn facts(
    text: &str,
    bytes: Option<&[u8]>,
    hash: TextHash,
    format: Format,
    names: Names<'_>,
) -> (FileFacts, Option<Parse>) {
    if format == Format::Hocon {
        return (hocon_facts(text, bytes, hash, names), None);
    }
    let parse = parse(text, format);
    let error = match bytes {
        Some(bytes) => load(bytes, format).loaded.err(),
        None if format == Format::Json => load_json_parse(&parse).err(),
        None if parse.error().is_some() || may_fail(&parse.tree) => load_parse(&parse).err(),
        None => None,
    };
    let tree = &parse.tree;
    let is_alias = |node: &&Node| matches!(node.kind, NodeKind::Alias { .. });
    let aliases = tree.nodes().map(|(_, node)| node).filter(is_alias);
    let mut aliases: Vec<u32> = aliases.map(|node| node.range.start).collect();
    aliases.sort_unstable();
    let mut reader = Reader {
        text,
        hash,
        aliases,
        tree,
        names,
        keys: Vec::new(),
        lookup_options: Vec::new(),
        has_odd_keys: false,
        merged: 0,
    };
    let entries: Vec<(NodeId, NodeId)> = tree.entries().collect();
    for (at, &(key, value)) in entries.iter().enumerate() {
        let end = entries.get(at + 1).map_or(text.len(), |&(next, _)| {
            tree.node(next).full_range().start as usize
        });
        reader.entry(key, value, end, MOST_MERGES);
    }
    for broken in tree.broken() {
        if let Some(key) = &broken.key {
            let end = broken.range.end.max(key.range.end);
            let value = TextRange::new(key.range.end as usize, end as usize);
            reader.keys.push(KeyFact {
                name: names.intern(&key.text),
                key: key.range,
                line: 0,
                value,
                state: KeyState::Broken,
                print: reader.print_of_broken(value),
            });
        }
    }
    let Reader {
        mut keys,
        lookup_options,
        has_odd_keys,
        aliases,
        ..
    } = reader;
    if !tree.broken().is_empty() {
        // Stable: keys that a merge key brings stay behind what they override.
        keys.sort_by_key(|key| key.key.start);
    }
    let facts = FactsBuilder {
        hash,
        keys,
        lookup_options,
        references: references(text, tree, names),
        error,
        problems: parse.problems.clone(),
        has_odd_keys,
        has_aliases: !aliases.is_empty(),
    }
    .build(text);
    (facts, Some(parse))
}

/// Whether loading a tree without syntax errors can fail at all. Most trees hold nothing that
/// can, and need not become a value only to find that out.
fn may_fail(tree: &Tree) -> bool {
    tree.nodes().any(|(_, node)| {
        if node.tag.is_some() {
            return true;
        }
        match &node.kind {
            NodeKind::Alias { .. } => true,
            NodeKind::Mapping(_) | NodeKind::Sequence(_) => false,
            NodeKind::Scalar(scalar) => {
                scalar.style == ScalarStyle::Plain && !is_surely_loaded(&scalar.text)
            }
        }
    })
}

/// Whether Puppet loads an untagged plain scalar, whatever it is: dates, times and numbers that
/// Ruby cannot convert are refused.
fn is_surely_loaded(text: &str) -> bool {
    let Some(first) = text.as_bytes().first() else {
        return true;
    };
    // What is refused starts with none of these, and is not made of digits alone.
    if first.is_ascii_alphabetic()
        || b"/_%$".contains(first)
        || text.bytes().all(|byte| byte.is_ascii_digit())
    {
        return true;
    }
    match resolve_plain(text) {
        Resolved::Date | Resolved::Time | Resolved::Invalid { .. } => false,
        Resolved::Null
        | Resolved::Bool(_)
        | Resolved::Int(_)
        | Resolved::BigInt(_)
        | Resolved::Float(_)
        | Resolved::Symbol(_)
        | Resolved::String => true,
    }
}

/// The facts of a HOCON text. A key can be made of several entries and of others' values, so
/// that any change of the text may change any of them.
fn hocon_facts(text: &str, bytes: Option<&[u8]>, hash: TextHash, names: Names<'_>) -> FileFacts {
    let error = load_hocon(bytes.unwrap_or(text.as_bytes())).err();
    let document = parse_hocon_document(text).ok();
    let root = document.as_ref().map(|document| &document.root.value);
    let items = match root {
        Some(HoconValue::Object(items)) => &items[..],
        Some(_) | None => &[],
    };
    let mut keys = Vec::new();
    for item in items {
        if let HoconItem::Field(field) = item
            && let Some(name) = field.path.elements.first()
        {
            keys.push(KeyFact {
                name: names.intern(name),
                key: field.path.range,
                line: 0,
                value: field.value.range,
                state: KeyState::Read,
                print: hash.0,
            });
        }
    }
    FactsBuilder {
        hash,
        keys,
        lookup_options: Vec::new(),
        references: token_references(text, names),
        error,
        problems: Vec::new(),
        has_odd_keys: true,
        has_aliases: true,
    }
    .build(text)
}

struct Reader<'a> {
    text: &'a str,
    hash: TextHash,
    /// Where the aliases start, ascending.
    aliases: Vec<u32>,
    tree: &'a Tree,
    names: Names<'a>,
    keys: Vec<KeyFact>,
    lookup_options: Vec<OptionFact>,
    has_odd_keys: bool,
    /// Mappings and entries that merge keys brought.
    merged: usize,
}

impl Reader<'_> {
    /// Takes in one top-level entry; `end` is where the next one starts.
    fn entry(&mut self, key: NodeId, value: NodeId, end: usize, merges: usize) {
        let Some((name, is_merge)) = key_name(self.tree, key) else {
            // Most of them are no strings; a quoted symbol becomes one.
            let node = self.tree.node(target(self.tree, key));
            let text = node.as_scalar().map_or(":", |scalar| &*scalar.text);
            self.has_odd_keys |= text.starts_with(':');
            return;
        };
        if is_merge && self.merge(value, end, merges) {
            return;
        }
        let range = self.tree.node(value).full_range();
        let print = self.print(range, end);
        if name == LOOKUP_OPTIONS {
            self.options(value);
        }
        self.keys.push(KeyFact {
            name: self.names.intern(name),
            key: self.tree.node(key).range,
            line: 0,
            value: range,
            state: KeyState::Read,
            print,
        });
    }

    /// Takes in what a merge key brings. Not so where its value is no mapping: then the entry is
    /// an ordinary one.
    fn merge(&mut self, value: NodeId, end: usize, merges: usize) -> bool {
        let Some(merges) = merges.checked_sub(1) else {
            return true;
        };
        if self.merged > MOST_MERGED {
            self.has_odd_keys = true;
            return true;
        }
        let value = target(self.tree, value);
        let node = self.tree.node(value);
        if let Some(pairs) = node.as_mapping() {
            self.merged += 1 + pairs.len();
            for &(key, value) in pairs {
                self.entry(key, value, end, merges);
            }
            return true;
        }
        let Some(elements) = node.as_sequence() else {
            return false;
        };
        let is_mapping =
            |&at: &NodeId| self.tree.node(target(self.tree, at)).as_mapping().is_some();
        if !elements.iter().all(is_mapping) {
            return false;
        }
        // In `[*a, *b]` what a brings wins.
        for &element in elements.iter().rev() {
            self.merge(element, end, merges);
        }
        true
    }

    fn options(&mut self, value: NodeId) {
        let Some(pairs) = self.tree.node(target(self.tree, value)).as_mapping() else {
            return;
        };
        for &(key, value) in pairs {
            if let Some((pattern, _)) = key_name(self.tree, key) {
                let range = self.tree.node(value).full_range();
                self.lookup_options.push(OptionFact {
                    pattern: self.names.intern(pattern),
                    key: self.tree.node(key).range,
                    value: range,
                    print: self.print(range, range.end as usize),
                });
            }
        }
    }

    /// What tells values apart: their text up to the next entry, since blank lines can belong to
    /// a block scalar, and the whole text where it may refer to another part of it.
    fn print(&self, value: TextRange, end: usize) -> u64 {
        let start = value.start as usize;
        let text = self
            .text
            .get(start..end.max(value.end as usize))
            .unwrap_or_default();
        let print = TextHash::of(text.as_bytes()).0;
        let behind = self.aliases.partition_point(|&alias| alias < value.start);
        let holds_alias = self.aliases.get(behind);
        match holds_alias.is_some_and(|&alias| (alias as usize) < start + text.len()) {
            true => print ^ self.hash.0.rotate_left(1),
            false => print,
        }
    }

    /// The same for what no tree was made of, where any star may be an alias.
    fn print_of_broken(&self, value: TextRange) -> u64 {
        let text = self.text.get(value.start as usize..value.end as usize);
        let text = text.unwrap_or_default();
        let print = TextHash::of(text.as_bytes()).0;
        match text.contains('*') {
            true => print ^ self.hash.0.rotate_left(1),
            false => print,
        }
    }
}

/// The node itself, or what an alias stands for.
fn target(tree: &Tree, node: NodeId) -> NodeId {
    match &tree.node(node).kind {
        NodeKind::Alias { target, .. } => target.unwrap_or(node),
        NodeKind::Scalar(_) | NodeKind::Mapping(_) | NodeKind::Sequence(_) => node,
    }
}

/// The name that a lookup could ask a key by, and whether it is a merge key. Nothing for keys
/// that are no strings: numbers, truth values, dates, lists.
fn key_name(tree: &Tree, key: NodeId) -> Option<(&str, bool)> {
    let node: &Node = tree.node(target(tree, key));
    let scalar = node.as_scalar()?;
    let text = &*scalar.text;
    if scalar.style == ScalarStyle::JsonString {
        return Some((text, false));
    }
    let plain = node.tag.is_none() && scalar.style == ScalarStyle::Plain;
    // Most keys start with a letter and hold a colon or an underscore: no need to ask.
    let certain =
        text.contains("::") && text.starts_with(|first: char| first.is_ascii_alphabetic());
    if !plain || certain {
        return Some((text, text == MERGE_KEY));
    }
    match resolve_plain(text) {
        Resolved::String => Some((text, text == MERGE_KEY)),
        // Puppet turns symbols that are keys into strings. Quoted ones are as good as unknown.
        Resolved::Symbol(name) => text
            .strip_prefix(':')
            .filter(|rest| *rest == name)
            .map(|rest| (rest, false)),
        Resolved::Null
        | Resolved::Bool(_)
        | Resolved::Int(_)
        | Resolved::BigInt(_)
        | Resolved::Float(_)
        | Resolved::Date
        | Resolved::Time
        | Resolved::Invalid { .. } => None,
    }
}

/// The keys that the tokens of a text look up, wherever in it they stand.
fn token_references(text: &str, names: Names<'_>) -> Vec<Reference> {
    let tokens = interpolation::tokens(text).into_iter();
    tokens
        .filter_map(|token| match &token.kind {
            TokenKind::Call {
                method, argument, ..
            } if method.looks_up() => Some(Reference {
                key: names.intern(argument),
                method: *method,
                range: token.range,
            }),
            TokenKind::Call { .. }
            | TokenKind::Empty
            | TokenKind::Variable { .. }
            | TokenKind::UnknownMethod { .. }
            | TokenKind::Malformed
            | TokenKind::Unclosed => None,
        })
        .collect()
}

/// The keys that a text's strings look up.
fn references(text: &str, tree: &Tree, names: Names<'_>) -> Vec<Reference> {
    if !interpolation::has_tokens(text) {
        // Escapes can hide a token (`"\x25{…}"`), but not from everything: then nobody meant one.
        return Vec::new();
    }
    let mut references = Vec::new();
    for (_, node) in tree.nodes() {
        let Some(scalar) = node.as_scalar() else {
            continue;
        };
        if !interpolation::has_tokens(&scalar.text) {
            continue;
        }
        let map = || ScalarMap::new(text, node);
        references_of(&scalar.text, map, names, &mut references);
    }
    references
}

/// Adds the keys that a decoded string looks up; `map` leads back to the text.
fn references_of(
    decoded: &str,
    map: impl FnOnce() -> ScalarMap,
    names: Names<'_>,
    references: &mut Vec<Reference>,
) {
    let tokens = interpolation::tokens(decoded).into_iter();
    let mut calls = tokens.filter_map(|token| match token.kind {
        TokenKind::Call {
            method, argument, ..
        } if method.looks_up() => Some((method, argument, token.range)),
        TokenKind::Call { .. }
        | TokenKind::Empty
        | TokenKind::Variable { .. }
        | TokenKind::UnknownMethod { .. }
        | TokenKind::Malformed
        | TokenKind::Unclosed => None,
    });
    let Some(first) = calls.next() else {
        return;
    };
    let map = map();
    for (method, argument, range) in std::iter::once(first).chain(calls) {
        references.push(Reference {
            key: names.intern(&argument),
            method,
            range: map.source_range(range.as_usize()),
        });
    }
}

/// About how many bytes a tree takes.
pub(super) fn cost_of_parse(parse: &Parse) -> usize {
    /// A node, its share of its parent's list, and its text beyond the source's own length.
    const NODE: usize = size_of::<Node>() + 40;
    let psych = parse.psych.as_ref().map_or(0, |tree| tree.len());
    (parse.tree.len() + psych) * NODE
}

/// About how many bytes a loaded file takes.
pub(super) fn cost(file: &DataFile) -> usize {
    let recovered = weight(&file.recovered);
    match &file.loaded {
        // A file that loads shares its value with what is recovered of it.
        Ok(_) => recovered,
        Err(error) => recovered + error.message.len(),
    }
}

/// About how many bytes a value takes, what it holds included.
fn weight(value: &Value) -> usize {
    /// A shared text's or list's counters, and what the allocator rounds up.
    const SHARED: usize = 32;
    /// An entry of an index map: two values, the hash, its place in the table.
    const ENTRY: usize = 2 * size_of::<Value>() + 24;
    size_of::<Value>()
        + match value {
            Value::String(text) | Value::Symbol(text) => SHARED + text.len(),
            Value::Bytes(bytes) => SHARED + bytes.len(),
            Value::Array(elements) => SHARED + elements.iter().map(weight).sum::<usize>(),
            Value::Hash(hash) => {
                let entries = hash.iter();
                let inside = entries.map(|(key, value)| ENTRY + weight(key) + weight(value));
                SHARED + inside.sum::<usize>()
            }
            Value::Sensitive(inner) => SHARED + weight(inner),
            Value::BigInt(number) => SHARED + number.bits() as usize / 8,
            Value::Rich(rich) => SHARED + rich.text.len(),
            Value::Opaque(_) => 3 * SHARED,
            Value::Undef | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Default => 0,
        }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
