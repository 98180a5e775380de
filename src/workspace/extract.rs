//! The single extraction of facts from the tree of a text, whatever its format. It calls parsers
//! and loaders, and must not know other files.

use std::sync::Arc;

use super::cache::TextHash;
use super::code::{Language, language_of};
use super::config_fact::config_fact;
use super::custom_facts;
use super::erb;
use super::extract_code;
use super::facts::{
    FactsBuilder, FileFacts, KeyFact, KeyState, LOOKUP_OPTIONS, OptionFact, ValueKind, WithoutKeys,
};
use super::file::format_of;
use super::files::Format;
use super::parts;
use super::reader;
use super::tangled::AliasTarget;
use super::tokens::tokens_of;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{NodeId, NodeKind, Parse, ScalarStyle, Tree, TreeNode};
use crate::text::TextRange;
use crate::value::{LoadError, Value, json_literal, later_json_error, load_json_parse, load_parse};

/// Maximum number of mappings that merge keys reach through one another: they can be circular.
const MAX_MERGES: usize = 64;

/// Maximum number of entries that merge keys add to a file: mappings that merge one another twice
/// double at every step.
const MAX_MERGED: usize = 100_000;

#[derive(Clone, Copy)]
pub(super) struct FactSource<'a> {
    pub(super) text: &'a str,
    /// The file's bytes, if they differ from the text's: invalid UTF-8 may make a loader refuse the
    /// file.
    pub(super) bytes: Option<&'a [u8]>,
    pub(super) hash: TextHash,
    pub(super) format: Format,
}

/// The facts of a file by its name, and its tree if it is data and worth keeping. A text that is
/// refused has none.
pub(super) fn of_file(
    at: &str,
    text: &str,
    bytes: Option<&[u8]>,
    is_refused: bool,
) -> (FileFacts, Option<Parse>) {
    let hash = TextHash::of(bytes.unwrap_or(text.as_bytes()));
    if is_refused {
        return (FileFacts::none(hash), None);
    }
    let (mut facts, parse) = match format_of(at) {
        Some(format) => facts(FactSource {
            text,
            bytes,
            hash,
            format,
        }),
        None => (code_facts(text, hash, language_of(at)), None),
    };
    facts.config = config_fact(at, text);
    (facts, parse)
}

fn code_facts(text: &str, hash: TextHash, language: Option<Language>) -> FileFacts {
    let code = match language {
        Some(Language::Puppet(dialect)) => extract_code::facts(text, dialect),
        Some(Language::Erb) => erb::facts(text),
        Some(Language::Ruby) => erb::of_ruby(text),
        Some(Language::Facts) => custom_facts::of_ruby(text),
        Some(Language::ExternalFacts) => custom_facts::of_lines(text),
        None => return FileFacts::none(hash),
    };
    FileFacts::of_code(hash, code)
}

/// The facts of a data file's text, and its tree if it is worth keeping.
pub(super) fn facts(source: FactSource<'_>) -> (FileFacts, Option<Parse>) {
    let is_large = source.text.len() > parts::LARGE;
    if is_large && let Some(facts) = facts_in_parts(source, parts::PART) {
        return (facts, None);
    }
    let parse = reader::parse(source.text, source.format);
    let mut facts = facts_of(source, &parse, source.text.len());
    if facts.keys.is_empty() || facts.error.is_some() {
        facts.without_keys = without_keys(source, &facts);
    }
    (facts.build(source.text), (!is_large).then_some(parse))
}

/// What lookups find in a text without keys, or in one that Puppet refuses.
fn without_keys(source: FactSource<'_>, facts: &FactsBuilder) -> WithoutKeys {
    if !facts.keys.is_empty() {
        // Nothing of a refused text in HOCON is read.
        return match source.format {
            Format::Hocon => WithoutKeys::NoHash,
            Format::Yaml | Format::Json => WithoutKeys::Unknown,
        };
    }
    let bytes = source.bytes.unwrap_or(source.text.as_bytes());
    let data = reader::load(bytes, source.format);
    match (data.recovered, data.loaded.is_ok()) {
        (Value::Hash(hash), true) if hash.is_empty() => WithoutKeys::EmptyHash,
        (Value::Hash(_), _) => WithoutKeys::Unknown,
        (Value::Undef | Value::Bool(false), true) => WithoutKeys::Nothing,
        (_, _) => WithoutKeys::NoHash,
    }
}

/// The facts of a YAML text that is parsed in parts of about `size` bytes; `None` if that is not
/// possible.
fn facts_in_parts(source: FactSource<'_>, size: usize) -> Option<FileFacts> {
    if source.format != Format::Yaml || source.bytes.is_some() {
        return None;
    }
    let mut facts = FactsBuilder {
        hash: source.hash,
        is_whole: true,
        in_parts: true,
        ..FactsBuilder::default()
    };
    for part in parts::parts(source.text, size)? {
        let end = part.end;
        let parse = parts::parse_part(source.text, part)?;
        facts.add(facts_of(source, &parse, end));
    }
    Some(facts.build(source.text))
}

/// The facts of a tree, which extends to `end` of the text.
fn facts_of(source: FactSource<'_>, parse: &Parse, end: usize) -> FactsBuilder {
    let FactSource { text, hash, .. } = source;
    let tree = &parse.tree;
    let mut extraction = KeyExtraction {
        source,
        end,
        aliases: aliases(tree),
        tree,
        keys: Vec::new(),
        lookup_options: Vec::new(),
        has_odd_keys: false,
        has_odd_options: false,
        merged: 0,
    };
    extraction.entries();
    extraction.broken_entries();
    let is_hocon = source.format == Format::Hocon;
    // Substitutions and included files can add keys and references.
    let is_open = is_hocon && may_substitute(text);
    FactsBuilder {
        keys: extraction.keys,
        lookup_options: extraction.lookup_options,
        tokens: tokens_of(text, tree, source.format),
        error: load_error(source, parse),
        later_error: later_json_error(parse),
        is_whole: parse.problems.is_empty(),
        has_odd_keys: extraction.has_odd_keys || is_open,
        has_odd_options: extraction.has_odd_options || is_open,
        without_keys: WithoutKeys::default(),
        substitutes: is_hocon,
        aliases: extraction.aliases,
        hash,
        in_parts: false,
    }
}

/// Whether a HOCON text may take values from elsewhere.
fn may_substitute(text: &str) -> bool {
    text.contains("${") || text.contains("include")
}

/// Why Puppet refuses the whole file, if it does.
fn load_error(source: FactSource<'_>, parse: &Parse) -> Option<LoadError> {
    match (source.bytes, source.format) {
        (Some(bytes), format) => reader::load(bytes, format).loaded.err(),
        (None, Format::Hocon) => reader::load(source.text.as_bytes(), Format::Hocon)
            .loaded
            .err(),
        (None, Format::Json) => load_json_parse(parse).err(),
        (None, Format::Yaml) if parse.error().is_some() || may_fail(&parse.tree) => {
            load_parse(parse).err()
        }
        (None, Format::Yaml) => None,
    }
}

fn kind(format: Format, node: &TreeNode) -> ValueKind {
    if node.tag.is_some() || format == Format::Hocon {
        return ValueKind::Other;
    }
    let scalar = match &node.kind {
        NodeKind::Mapping(_) => return ValueKind::Hash,
        NodeKind::Sequence(_) => return ValueKind::List,
        NodeKind::Alias { .. } => return ValueKind::Other,
        NodeKind::Scalar(scalar) => scalar,
    };
    match scalar.style {
        ScalarStyle::Plain => match resolve_plain(&scalar.text) {
            Resolved::Null => ValueKind::Undef,
            Resolved::Bool(_) => ValueKind::Boolean,
            Resolved::Int(_) | Resolved::Float(_) => ValueKind::Number,
            Resolved::String => ValueKind::of_text(&scalar.text),
            _ => ValueKind::Other,
        },
        ScalarStyle::JsonLiteral => ValueKind::of(&json_literal(&scalar.text)),
        _ => ValueKind::of_text(&scalar.text),
    }
}

/// The aliases, ordered by position.
fn aliases(tree: &Tree) -> Vec<AliasTarget> {
    let aliases = tree.nodes().filter_map(|(_, node)| match &node.kind {
        NodeKind::Alias { target, .. } => Some(AliasTarget {
            start: node.range.start,
            value: target.map(|target| tree.node(target).full_range()),
        }),
        NodeKind::Scalar(_) | NodeKind::Mapping(_) | NodeKind::Sequence(_) => None,
    });
    let mut aliases: Vec<AliasTarget> = aliases.collect();
    aliases.sort_unstable_by_key(|alias| alias.start);
    aliases
}

/// Whether loading a tree without syntax errors can fail at all. Most trees contain nothing that
/// can, and need not be loaded just to find out.
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

/// Whether Puppet certainly loads an untagged plain scalar: it refuses dates, times and numbers
/// that Ruby cannot convert.
fn is_surely_loaded(text: &str) -> bool {
    let Some(first) = text.as_bytes().first() else {
        return true;
    };
    // A refused scalar starts with none of these, and has characters other than digits.
    if first.is_ascii_alphabetic()
        || b"/_%$".contains(first)
        || text.bytes().all(|byte| byte.is_ascii_digit())
    {
        return true;
    }
    !matches!(
        resolve_plain(text),
        Resolved::Date | Resolved::Time | Resolved::Invalid { .. }
    )
}

/// Collects the top-level keys of a tree.
struct KeyExtraction<'a> {
    source: FactSource<'a>,
    /// The end of the tree in the text.
    end: usize,
    /// Ordered by position.
    aliases: Vec<AliasTarget>,
    tree: &'a Tree,
    keys: Vec<KeyFact>,
    lookup_options: Vec<OptionFact>,
    has_odd_keys: bool,
    has_odd_options: bool,
    /// Number of mappings and entries added by merge keys.
    merged: usize,
}

impl KeyExtraction<'_> {
    fn entries(&mut self) {
        let entries: Vec<(NodeId, NodeId)> = self.tree.entries().collect();
        for (at, &(key, value)) in entries.iter().enumerate() {
            let next = entries.get(at + 1);
            let end = next.map_or(self.end, |&(next, _)| {
                self.tree.node(next).full_range().start as usize
            });
            self.entry(key, value, end, MAX_MERGES);
        }
    }

    /// Adds one top-level entry; `end` is the start of the next one.
    fn entry(&mut self, key: NodeId, value: NodeId, end: usize, merges: usize) {
        let Some((name, is_merge)) = key_name(self.tree, key) else {
            // Most of these are not strings; a quoted symbol becomes one.
            let node = self.tree.node(target(self.tree, key));
            let text = node.as_scalar().map_or(":", |scalar| &*scalar.text);
            self.has_odd_keys |= text.starts_with(':');
            return;
        };
        // Only loading shows the effect of a tag on a key.
        self.has_odd_keys |= self.tree.node(target(self.tree, key)).tag.is_some();
        if is_merge && self.merge(value, end, merges) {
            return;
        }
        let range = self.tree.node(value).full_range();
        if name == LOOKUP_OPTIONS {
            self.options(value);
        }
        self.keys.push(KeyFact {
            name: Arc::from(name),
            key: self.tree.node(key).range,
            line: 0,
            value: range,
            state: KeyState::Read,
            kind: kind(self.source.format, self.tree.node(value)),
            fingerprint: self.fingerprint(range, end),
        });
    }

    /// Adds the entries of a merge key. Returns false if its value is no mapping: then the entry is
    /// an ordinary one.
    fn merge(&mut self, value: NodeId, end: usize, merges: usize) -> bool {
        let Some(merges) = merges.checked_sub(1) else {
            return true;
        };
        if self.merged > MAX_MERGED {
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
        // In `[*a, *b]` entries of `a` win.
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
            let name = key_name(self.tree, key);
            let is_tagged = self.tree.node(target(self.tree, key)).tag.is_some();
            self.has_odd_options |= is_tagged || name.is_none_or(|(_, is_merge)| is_merge);
            if let Some((pattern, _)) = name {
                let range = self.tree.node(value).full_range();
                self.lookup_options.push(OptionFact {
                    pattern: Arc::from(pattern),
                    key: self.tree.node(key).range,
                    value: range,
                    fingerprint: self.fingerprint(range, range.end as usize),
                });
            }
        }
    }

    /// Adds the keys of entries that could not be parsed.
    fn broken_entries(&mut self) {
        for broken in self.tree.broken() {
            let Some(key) = &broken.key else {
                continue;
            };
            let end = broken.range.end.max(key.range.end);
            let value = TextRange::new(key.range.end as usize, end as usize);
            // Without a tree, any `*` may be an alias.
            let text = self.source.text.get(value.as_usize()).unwrap_or_default();
            let fingerprint = self.fingerprint_of(text, text.contains('*'));
            self.keys.push(KeyFact {
                name: Arc::clone(&key.text),
                key: key.range,
                line: 0,
                value,
                state: KeyState::Broken,
                kind: ValueKind::Other,
                fingerprint,
            });
        }
        if !self.tree.broken().is_empty() {
            // Stable: keys from a merge key stay after those that override them.
            self.keys.sort_by_key(|key| key.key.start);
        }
    }

    /// A fingerprint of a value: of its text, up to the next entry if blank lines can belong to a
    /// block scalar, and of the whole text if the value may refer to another part of it.
    fn fingerprint(&self, value: TextRange, end: usize) -> u64 {
        let FactSource {
            text, hash, format, ..
        } = self.source;
        if format == Format::Hocon {
            // A key can combine several entries and other keys' values.
            return hash.0;
        }
        let start = value.start as usize;
        let own = text.get(start..value.end as usize).unwrap_or_default();
        let text = if own.contains(['|', '>']) {
            text.get(start..end).unwrap_or(own)
        } else {
            own
        };
        let aliases = &self.aliases;
        let behind = aliases.partition_point(|alias| alias.start < value.start);
        let alias = aliases.get(behind);
        let has_alias = alias.is_some_and(|alias| (alias.start as usize) < start + text.len());
        self.fingerprint_of(text, has_alias)
    }

    fn fingerprint_of(&self, text: &str, has_alias: bool) -> u64 {
        let own = TextHash::of(text.as_bytes()).0;
        if has_alias {
            own ^ self.source.hash.0.rotate_left(1)
        } else {
            own
        }
    }
}

/// The node itself, or the target of an alias.
fn target(tree: &Tree, node: NodeId) -> NodeId {
    match &tree.node(node).kind {
        NodeKind::Alias { target, .. } => target.unwrap_or(node),
        NodeKind::Scalar(_) | NodeKind::Mapping(_) | NodeKind::Sequence(_) => node,
    }
}

/// The name by which a lookup could find a key, and whether it is a merge key. `None` for keys that
/// are no strings: numbers, booleans, dates, lists.
fn key_name(tree: &Tree, key: NodeId) -> Option<(&str, bool)> {
    let node: &TreeNode = tree.node(target(tree, key));
    let scalar = node.as_scalar()?;
    let text = &*scalar.text;
    if scalar.style == ScalarStyle::JsonString {
        return Some((text, false));
    }
    let plain = node.tag.is_none() && scalar.style == ScalarStyle::Plain;
    // Most keys start with a letter and contain a colon or an underscore: no resolution needed.
    let certain =
        text.contains("::") && text.starts_with(|first: char| first.is_ascii_alphabetic());
    if !plain || certain {
        return Some((text, node.is_merge_key()));
    }
    match resolve_plain(text) {
        Resolved::String => Some((text, node.is_merge_key())),
        // Puppet turns symbol keys into strings. Quoted ones are treated as unknown.
        Resolved::Symbol(name) => text
            .strip_prefix(':')
            .filter(|rest| *rest == name)
            .map(|rest| (rest, false)),
        _ => None,
    }
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
