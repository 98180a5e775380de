//! The facts of one text: a pure function of the text and its format.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::BuildHasher;
use std::sync::Arc;

use super::cache::TextHash;
use super::code::CodeFacts;
use super::config_fact::ConfigFact;
use super::tangled::{AliasTarget, tangled};
use super::tokens::{Reference, TokenFact, VariableUse};
use crate::interpolation::Key;
use crate::text::{LineCounter, TextRange};
use crate::value::{KeyHashing, LoadError, Value};

/// The key of a data file that holds options of lookups, not data.
pub const LOOKUP_OPTIONS: &str = "lookup_options";

/// A top-level key of a data file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyFact {
    /// The key in Puppet's form: quotes and escapes resolved, a symbol without its colon.
    pub name: Arc<str>,
    /// The range of the key.
    pub key: TextRange,
    /// The line (from zero) of the key.
    pub line: u32,
    /// The range of its value, including anchor and tag; empty if there is none. For a key from a
    /// merge key (`<<`), key and value are in the merged mapping.
    pub value: TextRange,
    /// Whether the entry could be parsed.
    pub state: KeyState,
    /// The kind of its value, in the file's own format.
    pub kind: ValueKind,
    /// A hash of the value: equal hashes mean equal values, whatever else changed in the file.
    pub(super) fingerprint: u64,
}

/// The kind of a value, before interpolation and decryption.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ValueKind {
    /// Nothing.
    Undef,
    /// True or false.
    Boolean,
    /// A number of 64 bits.
    Number,
    /// A text without interpolation or encryption.
    Text,
    /// A text that interpolation or decryption may change, even to another kind.
    Open,
    /// A list.
    List,
    /// A hash.
    Hash,
    /// Unknown without loading: the value has a tag, is an alias, or is of a rare class.
    Other,
}

impl ValueKind {
    /// The kind of a loaded value.
    #[must_use]
    pub fn of(value: &Value) -> ValueKind {
        match value {
            Value::Undef => ValueKind::Undef,
            Value::Bool(_) => ValueKind::Boolean,
            Value::Int(_) | Value::Float(_) => ValueKind::Number,
            Value::String(text) => ValueKind::of_text(text),
            Value::Array(_) => ValueKind::List,
            Value::Hash(_) => ValueKind::Hash,
            _ => ValueKind::Other,
        }
    }

    /// The kind of a string.
    #[must_use]
    pub fn of_text(text: &str) -> ValueKind {
        if text.contains("%{") || text.contains("ENC[") {
            ValueKind::Open
        } else {
            ValueKind::Text
        }
    }
}

/// Whether an entry could be parsed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeyState {
    /// It could.
    Read,
    /// It has a syntax error; `value` is the remaining part of its lines.
    Broken,
}

/// An entry of `lookup_options`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionFact {
    /// The key, or the pattern if it starts with `^`.
    pub pattern: Arc<str>,
    /// The range of the pattern.
    pub key: TextRange,
    /// The range of its options.
    pub value: TextRange,
    /// Equal hashes mean equal options.
    pub(super) fingerprint: u64,
}

/// The facts of one text. Compact: there is one for every file of the workspace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileFacts {
    /// Hash of the text.
    pub hash: TextHash,
    /// Top-level keys in the order of the text. A name can occur twice; the last one is used.
    pub keys: Box<[KeyFact]>,
    /// Entries of `lookup_options` in the order of the text.
    pub lookup_options: Box<[OptionFact]>,
    /// The `%{…}` tokens of the text's strings, in the order of the text.
    pub tokens: Box<[TokenFact]>,
    /// Why Puppet refuses the whole file, if it does.
    pub error: Option<Box<LoadError>>,
    /// Why it refuses the whole file with Ruby 4.0 ([`RubyChange`](crate::value::RubyChange)), if it
    /// does not with 3.1.
    pub later_error: Option<Box<LoadError>>,
    /// What a manifest or template defines and uses; `None` for other files.
    pub code: Option<Box<CodeFacts>>,
    /// The hierarchy's configuration, if the text is one.
    pub config: Option<Arc<ConfigFact>>,
    /// Whether Puppet reads the whole text, without a warning.
    pub(super) is_whole: bool,
    /// Whether the text is so large that it was parsed in [`super::parts`].
    pub(super) in_parts: bool,
    /// Whether a top-level key may have a name that is not in `keys`.
    pub(super) has_odd_keys: bool,
    /// Whether entries of `lookup_options` may be other ones than those listed.
    pub has_odd_options: bool,
    /// What lookups find if the text has no keys.
    pub(super) without_keys: WithoutKeys,
    /// Indices of the keys whose value may have references in other parts of the text: through an
    /// alias, a merge key, a substitution, or because it is broken.
    pub(super) tangled: Box<[u32]>,
    /// The keys, ordered by the hashes of their names, then by position. One key is looked for in thousands of
    /// files: hashes lie side by side, names do not.
    pub(super) by_hash: Box<[HashedKey]>,
    pub(super) uses: Box<[UseFact]>,
}

/// A key's hash, and its index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct HashedKey {
    hash: u32,
    at: u32,
}

/// The hash of a key's name.
fn hash_of(name: &str) -> u32 {
    KeyHashing.hash_one(name) as u32
}

/// What lookups find in a text that has no keys, or that Puppet refuses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum WithoutKeys {
    /// It has keys, or names that are not listed.
    #[default]
    Unknown,
    /// A hash without keys.
    EmptyHash,
    /// Nothing, which counts as a hash without keys.
    Nothing,
    /// Another value, or a text of which nothing can be read: this may fail every lookup.
    NoHash,
}

/// A reference in the value of a top-level key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct UseFact {
    key: u32,
    token: u32,
    /// The root of the looked-up key.
    pub(super) to: Arc<str>,
}

/// The differences between the keys of two versions of a text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KeyDiff {
    /// New names, ordered by bytes.
    pub added: Vec<Arc<str>>,
    /// Removed names, ordered by bytes.
    pub removed: Vec<Arc<str>>,
    /// Names whose value may have changed, ordered by bytes.
    pub changed: Vec<Arc<str>>,
    /// The other names, ordered by bytes, if Puppet begins or ceases to refuse the text: an editor
    /// reads them as before.
    pub refused: Vec<Arc<str>>,
    /// Patterns and keys whose `lookup_options` were added, removed or may have changed, ordered by
    /// bytes.
    pub lookup_options: Vec<Arc<str>>,
}

impl KeyDiff {
    /// Names that were added or removed, or whose value may have changed for Puppet.
    pub fn touched(&self) -> impl Iterator<Item = &Arc<str>> {
        self.touched_as_read().chain(&self.refused)
    }

    /// The same for an editor, which uses the readable part of a text that Puppet refuses.
    pub fn touched_as_read(&self) -> impl Iterator<Item = &Arc<str>> {
        self.added.iter().chain(&self.removed).chain(&self.changed)
    }

    /// Whether nothing changed that a lookup could see.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty()
            && self.removed.is_empty()
            && self.changed.is_empty()
            && self.refused.is_empty()
            && self.lookup_options.is_empty()
    }
}

impl FileFacts {
    /// Whether the file matters to lookups of any key: Puppet refuses it, it may not be a hash, or not all of its keys are
    /// known.
    pub(super) fn matters_to_any_key(&self) -> bool {
        let is_refused = self.error.is_some() || self.later_error.is_some();
        is_refused || self.keys.is_empty() || self.has_odd_keys
    }

    /// The effective key of a name: the last one. O(log keys).
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&KeyFact> {
        let hash = hash_of(name);
        let end = self.by_hash.partition_point(|it| it.hash <= hash);
        let keys = self.keys_before(end).take_while(|(it, _)| *it == hash);
        keys.map(|(_, key)| key).find(|key| *key.name == *name)
    }

    /// Keys with the hashes of their names, from a place in their order backwards.
    fn keys_before(&self, end: usize) -> impl Iterator<Item = (u32, &KeyFact)> {
        let places = self.by_hash[..end].iter().rev();
        places.map(|it| (it.hash, &self.keys[it.at as usize]))
    }

    /// The effective keys, in no order that means anything.
    pub(super) fn effective_keys(&self) -> impl Iterator<Item = &KeyFact> {
        let effective = self.by_hash.iter().enumerate().filter(|(number, it)| {
            let name = &self.keys[it.at as usize].name;
            let later = self.by_hash[number + 1..].iter();
            let mut later = later.take_while(|later| later.hash == it.hash);
            !later.any(|later| self.keys[later.at as usize].name == *name)
        });
        effective.map(|(_, it)| &self.keys[it.at as usize])
    }

    /// The effective keys, ordered by name. O(keys × log keys).
    pub fn sorted(&self) -> impl Iterator<Item = &KeyFact> {
        let mut keys: Vec<&KeyFact> = self.effective_keys().collect();
        keys.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        keys.into_iter()
    }

    /// The references in values, in the order of the text: the enclosing top-level key, the
    /// reference, and the root of the key that it names. References with invalid keys are left out.
    pub fn uses(&self) -> impl Iterator<Item = (&KeyFact, &Reference, &Arc<str>)> {
        self.uses.iter().filter_map(|at| {
            let key = &self.keys[at.key as usize];
            match &self.tokens[at.token as usize] {
                TokenFact::Reference(reference) => Some((key, reference, &at.to)),
                _ => None,
            }
        })
    }

    /// The keys whose value may also have the references in other parts of the text.
    pub fn tangled(&self) -> impl Iterator<Item = &KeyFact> {
        self.tangled.iter().map(|at| &self.keys[*at as usize])
    }

    /// The roots of the keys that the text's strings look up.
    pub(super) fn looked_up(&self) -> BTreeSet<Arc<str>> {
        let references = self.references();
        references.filter_map(|it| root_of(&it.key)).collect()
    }

    /// Whether the text, or what can be read of it, is no hash, which may fail every lookup.
    #[must_use]
    pub fn is_no_hash(&self) -> bool {
        self.without_keys == WithoutKeys::NoHash
    }

    /// Whether Puppet refuses the text, or it may have other keys than those listed, or none where a
    /// hash is expected.
    #[must_use]
    pub fn may_have_any_key(&self) -> bool {
        self.matters_to_any_key() && self.without_keys != WithoutKeys::EmptyHash
    }

    /// The keys that the text's strings look up, in the order of the text.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        references(&self.tokens).map(|(_, reference)| reference)
    }

    /// The variables that the text's strings use, in the order of the text.
    pub fn variables(&self) -> impl Iterator<Item = &VariableUse> {
        self.tokens.iter().filter_map(|token| match token {
            TokenFact::Variable(variable) => Some(variable),
            _ => None,
        })
    }

    /// The ranges that name a key without defining it: the arguments of tokens, which may be
    /// dotted, and the keys and patterns of `lookup_options`.
    pub fn mentions(&self) -> impl Iterator<Item = (&Arc<str>, TextRange)> {
        let references = self.references();
        let references = references.map(|reference| (&reference.key, reference.argument));
        let options = self.lookup_options.iter();
        references.chain(options.map(|option| (&option.pattern, option.key)))
    }

    pub(super) fn of_code(hash: TextHash, code: CodeFacts) -> FileFacts {
        FileFacts {
            code: Some(Box::new(code)),
            ..FileFacts::none(hash)
        }
    }

    /// Shares the names of keys and variables with other files: thousands of files set the same keys.
    pub(super) fn share_names(&mut self, names: &mut SharedNames) {
        let of_keys = self.keys.iter_mut().map(|key| &mut key.name);
        let of_options = self.lookup_options.iter_mut().map(|it| &mut it.pattern);
        let of_tokens = self.tokens.iter_mut().filter_map(|token| match token {
            TokenFact::Reference(reference) => Some(&mut reference.key),
            TokenFact::Variable(variable) => Some(&mut variable.name),
            TokenFact::Other { .. } => None,
        });
        let of_uses = self.uses.iter_mut().map(|it| &mut it.to);
        for name in of_keys.chain(of_options).chain(of_tokens).chain(of_uses) {
            names.share(name);
        }
    }

    pub(super) fn none(hash: TextHash) -> FileFacts {
        let facts = FactsBuilder::default();
        FactsBuilder { hash, ..facts }.build("")
    }
}

/// Names that the facts of several files share.
#[derive(Default)]
pub(super) struct SharedNames(HashSet<Arc<str>, KeyHashing>);

impl SharedNames {
    fn share(&mut self, name: &mut Arc<str>) {
        match self.0.get(name) {
            Some(known) => *name = Arc::clone(known),
            None => {
                self.0.insert(Arc::clone(name));
            }
        }
    }
}

/// The facts of a text, before they are put in their compact form.
#[derive(Default)]
pub(super) struct FactsBuilder {
    pub(super) hash: TextHash,
    /// Without their lines, which are counted at the end.
    pub(super) keys: Vec<KeyFact>,
    pub(super) lookup_options: Vec<OptionFact>,
    pub(super) tokens: Vec<TokenFact>,
    pub(super) error: Option<LoadError>,
    pub(super) later_error: Option<LoadError>,
    pub(super) is_whole: bool,
    pub(super) in_parts: bool,
    pub(super) has_odd_keys: bool,
    pub(super) has_odd_options: bool,
    pub(super) without_keys: WithoutKeys,
    /// Whether a reference in the text may belong to any of its keys: values can be substituted.
    pub(super) substitutes: bool,
    /// The aliases, ordered by position.
    pub(super) aliases: Vec<AliasTarget>,
}

impl FactsBuilder {
    /// Adds the facts of a later part of the text.
    pub(super) fn add(&mut self, more: FactsBuilder) {
        self.keys.extend(more.keys);
        self.lookup_options.extend(more.lookup_options);
        self.tokens.extend(more.tokens);
        self.error = self.error.take().or(more.error);
        self.later_error = self.later_error.take().or(more.later_error);
        self.is_whole &= more.is_whole;
        self.has_odd_keys |= more.has_odd_keys;
        self.has_odd_options |= more.has_odd_options;
        self.aliases.extend(more.aliases);
    }

    pub(super) fn build(self, text: &str) -> FileFacts {
        let mut keys = self.keys;
        let mut lines = LineCounter::new(text);
        for key in &mut keys {
            key.line = lines.line(key.key.start as usize);
        }
        let hashed = (0..).zip(&keys).map(|(at, key)| HashedKey {
            hash: hash_of(&key.name),
            at,
        });
        let mut by_hash: Box<[HashedKey]> = hashed.collect();
        by_hash.sort_unstable();
        let uses = uses(&keys, &self.tokens);
        let starts = references(&self.tokens).map(|(_, it)| it.range.start);
        let tangled = tangled(&keys, starts.collect(), &self.aliases, self.substitutes);
        FileFacts {
            config: None,
            hash: self.hash,
            has_odd_options: self.has_odd_options,
            without_keys: self.without_keys,
            tangled,
            uses,
            keys: keys.into(),
            lookup_options: self.lookup_options.into(),
            tokens: self.tokens.into(),
            is_whole: self.is_whole && self.error.is_none(),
            in_parts: self.in_parts,
            error: self.error.map(Box::new),
            later_error: self.later_error.map(Box::new),
            code: None,
            has_odd_keys: self.has_odd_keys,
            by_hash,
        }
    }
}

/// Finds the key around each reference: O(keys + references × log keys), if keys do not overlap.
fn uses(keys: &[KeyFact], tokens: &[TokenFact]) -> Box<[UseFact]> {
    if references(tokens).next().is_none() {
        return Box::default();
    }
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    order.sort_by_key(|&at| keys[at as usize].value.start);
    let mut found = Vec::new();
    for (token, reference) in references(tokens) {
        let Some(to) = root_of(&reference.key) else {
            continue;
        };
        let start = reference.range.start;
        let behind = order.partition_point(|&key| keys[key as usize].value.start <= start);
        let around = order[..behind]
            .iter()
            .rev()
            .find(|&&key| keys[key as usize].value.contains(reference.range));
        if let Some(&key) = around {
            found.push(UseFact { key, token, to });
        }
    }
    found.into()
}

/// The references among tokens, with their indices.
fn references(tokens: &[TokenFact]) -> impl Iterator<Item = (u32, &Reference)> {
    (0..).zip(tokens).filter_map(|(at, token)| match token {
        TokenFact::Reference(reference) => Some((at, reference)),
        _ => None,
    })
}

fn root_of(key: &Arc<str>) -> Option<Arc<str>> {
    // A key without quotes and dots is taken verbatim.
    if !key.contains(['\'', '"', '.']) {
        return Some(Arc::clone(key));
    }
    Key::parse(key).ok()?.root.as_name().map(Arc::from)
}

/// The difference between two versions of a file's facts; a missing version has no keys.
#[must_use]
pub(super) fn diff(before: Option<&FileFacts>, after: Option<&FileFacts>) -> KeyDiff {
    let mut diff = KeyDiff::default();
    let is_refused = |it: &&FileFacts| it.error.is_some() || it.later_error.is_some();
    let [old, new] = [before, after].map(|facts| facts.filter(is_refused).is_some());
    let is_refused_anew = old != new;
    let keys = |facts: Option<&FileFacts>| -> Vec<(Arc<str>, u64)> {
        let Some(refused) = facts.filter(is_refused) else {
            let sorted = facts.into_iter().flat_map(FileFacts::sorted);
            let sorted = sorted.map(|key| (Arc::clone(&key.name), key.fingerprint));
            return sorted.collect();
        };
        // What an editor reads of a file that Puppet refuses may be an earlier one of several entries.
        let mut all: BTreeMap<Arc<str>, u64> = BTreeMap::new();
        for key in &refused.keys {
            let known = all
                .get(&key.name)
                .map_or(0, |known| known.rotate_left(7) ^ 1);
            all.insert(Arc::clone(&key.name), known ^ key.fingerprint);
        }
        all.into_iter().collect()
    };
    merge(keys(before), keys(after), |name, step| match step {
        KeyStep::Added => diff.added.push(name),
        KeyStep::Removed => diff.removed.push(name),
        KeyStep::Changed => diff.changed.push(name),
        KeyStep::Same if is_refused_anew => diff.refused.push(name),
        KeyStep::Same => {}
    });
    let options = |facts: Option<&FileFacts>| -> Vec<(Arc<str>, u64)> {
        // Of duplicate options, as of keys, the last one is used.
        let entries = facts
            .into_iter()
            .flat_map(|facts| facts.lookup_options.iter());
        let by_pattern: BTreeMap<Arc<str>, u64> = entries
            .map(|option| (Arc::clone(&option.pattern), option.fingerprint))
            .collect();
        by_pattern.into_iter().collect()
    };
    merge(options(before), options(after), |name, step| {
        if step != KeyStep::Same {
            diff.lookup_options.push(name);
        }
    });
    diff
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyStep {
    Added,
    Removed,
    Changed,
    Same,
}

/// Merges two lists ordered by name and reports each name in that order.
fn merge(
    before: Vec<(Arc<str>, u64)>,
    after: Vec<(Arc<str>, u64)>,
    mut report: impl FnMut(Arc<str>, KeyStep),
) {
    let (mut before, mut after) = (before.into_iter().peekable(), after.into_iter().peekable());
    loop {
        let order = match (before.peek(), after.peek()) {
            (None, None) => return,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((old, _)), Some((new, _))) => old.cmp(new),
        };
        let old = before.next_if(|_| order.is_le());
        let new = after.next_if(|_| order.is_ge());
        match (old, new) {
            (Some((name, old)), Some((_, new))) if old != new => report(name, KeyStep::Changed),
            (Some((name, _)), Some(_)) => report(name, KeyStep::Same),
            (Some((name, _)), None) => report(name, KeyStep::Removed),
            (None, Some((name, _))) => report(name, KeyStep::Added),
            (None, None) => {}
        }
    }
}
