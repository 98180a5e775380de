//! Elements and keys of values that look like knock-outs, and the lower levels that they act on:
//! for the rules about `knockout_prefix`.

use std::sync::Arc;

use super::context::{FileContext, Reader};
use super::option_list::{knockout_prefix, strategy};
use crate::lookup::OptionsEntry;
use crate::syntax::{NodeId, NodeKind, Tree, TreeNode};
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::{File, KeyFact, LOOKUP_OPTIONS};

/// The usual value of `knockout_prefix`.
pub(super) const USUAL_PREFIX: &str = "--";

/// Maximum number of files with one key that are read.
pub(super) const MAX_FILES: usize = 64;

/// A string in a value that starts with a knock-out prefix.
pub(super) struct Knockout {
    pub(super) range: TextRange,
    /// The string without the prefix.
    pub(super) target: Arc<str>,
    /// Whether it is an element of a list; otherwise it is the key of a hash.
    pub(super) is_element: bool,
    /// For an element, the keys of the hashes around its list: lists with the same path are merged.
    /// `None` in a list of lists or hashes.
    pub(super) path: Option<Vec<Arc<str>>>,
}

impl Knockout {
    /// Whether it is an element of the value itself, not of a nested list.
    pub(super) fn is_topmost(&self) -> bool {
        self.path.as_ref().is_some_and(Vec::is_empty)
    }
}

/// The value of one key in one file, and how it is merged.
pub(super) struct Knocking<'a> {
    /// The configured prefix.
    pub(super) prefix: Option<Arc<str>>,
    pub(super) strategy: Option<Arc<str>>,
    /// Strings that look like knock-outs.
    pub(super) knockouts: Vec<Knockout>,
    /// The files of lower levels that set the key, the highest first, and whether every node that
    /// reads this file reads them.
    pub(super) lower: Vec<(&'a Arc<File>, bool)>,
    /// Whether no lower level sets the key for any node that reads the file; false means unknown.
    pub(super) is_lowest: bool,
}

/// The knock-outs in a key's value. `None` if there are none, if not exactly one root reads the
/// file, or if too many files set the key.
pub(super) fn knocking<'a>(file: &FileContext<'a>, key: &KeyFact) -> Option<Knocking<'a>> {
    // Dashes are in many texts; the options of a scope cost more than a look at the tree.
    if !may_hold_prefix(file, key, |prefix| !texts(file, key, prefix).is_empty()) {
        return None;
    }
    let reader = only_reader(file, key)?;
    let entry = deciding(file, reader, &key.name);
    let options = entry.as_ref().map(|entry| &entry.value);
    let prefix: Option<Arc<str>> = options.and_then(knockout_prefix).map(Arc::from);
    let knockouts = texts(file, key, prefix.as_deref().unwrap_or(USUAL_PREFIX));
    if knockouts.is_empty() {
        return None;
    }
    let (lower, has_others) = lower_files(file, reader, &key.name);
    let is_lowest = lower.is_empty() && (!has_others || all_in_root(file, reader, &key.name));
    Some(Knocking {
        strategy: options.and_then(strategy).map(Arc::from),
        prefix,
        knockouts,
        lower,
        is_lowest,
    })
}

/// Whether a prefix that is set somewhere, or the usual one, is in the text of a key's value and satisfies a condition.
pub(super) fn may_hold_prefix(
    file: &FileContext<'_>,
    key: &KeyFact,
    satisfies: impl Fn(&str) -> bool,
) -> bool {
    let text = key.value.slice(file.file.text());
    let set = file.checker.knockout_prefixes().iter();
    let mut prefixes = std::iter::once(USUAL_PREFIX).chain(set.map(|prefix| &**prefix));
    prefixes.any(|prefix| text.contains(prefix) && satisfies(prefix))
}

/// The only root that reads the file, if few files set the key and this entry is the one that counts.
pub(super) fn only_reader<'f, 'a>(
    file: &'f FileContext<'a>,
    key: &KeyFact,
) -> Option<&'f Reader<'a>> {
    let [reader] = file.readers() else {
        return None;
    };
    let is_few = || file.snapshot().count_with(&key.name) <= MAX_FILES;
    (file.is_last(key) && &*key.name != LOOKUP_OPTIONS && is_few()).then_some(reader)
}

/// The same, with the prefix that `lookup_options` set; `None` without one.
pub(super) fn prefixed<'a>(
    file: &FileContext<'a>,
    key: &KeyFact,
) -> Option<(Knocking<'a>, Arc<str>)> {
    let knocking = knocking(file, key)?;
    let prefix = knocking.prefix.clone()?;
    Some((knocking, prefix))
}

/// The entry of `lookup_options` for a key, for the nodes that read the file.
fn deciding(file: &FileContext<'_>, reader: &Reader<'_>, key: &str) -> Option<OptionsEntry> {
    reader.reached().first()?;
    file.in_first_scope(reader, |scoped| scoped.options_entry(key))
}

/// The strings of one line in a key's value that start with a prefix: elements of lists and keys of hashes.
fn texts(file: &FileContext<'_>, key: &KeyFact, prefix: &str) -> Vec<Knockout> {
    let tree = file.tree();
    let mut found = Vec::new();
    let mut add = |id: NodeId, list: Option<NodeId>| {
        // A text of several lines is no name of an element.
        let text = tree.scalar_text(id).filter(|text| !text.contains('\n'));
        let text = text.and_then(|text| text.strip_prefix(prefix));
        if let Some(target) = text.filter(|target| !target.is_empty()) {
            found.push(Knockout {
                range: tree.node(id).range,
                target: Arc::from(target),
                is_element: list.is_some(),
                path: list.and_then(|list| path_to(tree, list, key)),
            });
        }
    };
    for (at, node) in nodes_of(tree, key) {
        match &node.kind {
            NodeKind::Sequence(elements) => elements.iter().for_each(|id| add(*id, Some(at))),
            NodeKind::Mapping(pairs) => pairs.iter().for_each(|(id, _)| add(*id, None)),
            NodeKind::Scalar(_) | NodeKind::Alias { .. } => {}
        }
    }
    found
}

/// The nodes of a key's value.
pub(super) fn nodes_of<'t>(
    tree: &'t Tree,
    key: &KeyFact,
) -> impl Iterator<Item = (NodeId, &'t TreeNode)> {
    let value = key.value;
    let around = tree.path_at(value.start as usize).into_iter();
    let mut around = around.filter(|id| tree.node(*id).full_range() == value);
    let top = around.next().or_else(|| tree.root());
    let within = top.into_iter().flat_map(|top| tree.nodes_from(top));
    within.filter(move |(_, node)| value.contains(node.range))
}

/// The keys of the hashes around a part of a key's value; `None` in a list.
pub(super) fn path_to(tree: &Tree, part: NodeId, key: &KeyFact) -> Option<Vec<Arc<str>>> {
    let mut path = Vec::new();
    let mut at = part;
    while tree.node(at).full_range() != key.value {
        let parent = tree.parent(at)?;
        let name = tree.key_of(parent, at)?;
        path.push(Arc::clone(tree.scalar_text(name)?));
        at = parent;
    }
    path.reverse();
    Some(path)
}

/// The part of a file's value of a key at a path of hash keys.
pub(super) fn value_at(
    file: &FileContext<'_>,
    source: &File,
    key: &str,
    path: &[Arc<str>],
) -> Option<Value> {
    let mut value = value_of(file, source, key)?;
    for name in path {
        value = value.get(name)?.clone();
    }
    Some(value)
}

/// Whether no other root than the reader's sets a key: levels of other roots may be lower.
fn all_in_root(file: &FileContext<'_>, reader: &Reader<'_>, key: &str) -> bool {
    let mut others = file.snapshot().iter_files_with(key);
    others.all(|other| {
        let readers = file.checker.readers(other);
        readers.iter().all(|theirs| theirs.is_same_root(reader))
    })
}

/// The files of lower levels with a key, the highest first, and whether any other file has it.
pub(super) fn lower_files<'a>(
    file: &FileContext<'a>,
    reader: &Reader<'_>,
    key: &str,
) -> (Vec<(&'a Arc<File>, bool)>, bool) {
    let own = reader.last_rank();
    let mut lower = Vec::new();
    let mut has_others = false;
    for other in file.snapshot().iter_files_with(key).take(MAX_FILES) {
        let readers = file.checker.readers(other);
        if other.path() == file.file.path() || readers.is_empty() {
            continue;
        }
        has_others = true;
        let theirs = readers.iter().find(|theirs| theirs.is_same_root(reader));
        let reached = theirs.into_iter().flat_map(|theirs| theirs.reached());
        let below = reached.filter(|reach| Some(reach.place.rank()) > own);
        if let Some(reach) = below.min_by_key(|reach| reach.place.rank()) {
            let is_always = reach.place.template.is_constant();
            lower.push((reach.place.rank(), other, is_always));
        }
    }
    lower.sort_by_key(|(order, _, _)| *order);
    let lower = lower
        .into_iter()
        .map(|(_, other, is_always)| (other, is_always));
    (lower.collect(), has_others)
}

/// Whether a file's value of a key has a string below a path of hash keys, as an element or a key.
pub(super) fn has_text_at(
    file: &FileContext<'_>,
    source: &File,
    key: &str,
    path: &[Arc<str>],
    text: &str,
) -> bool {
    value_at(file, source, key, path).is_some_and(|value| holds(&value, text))
}

/// A file's value of a key.
pub(super) fn value_of(file: &FileContext<'_>, source: &File, key: &str) -> Option<Value> {
    let readers = file.checker.readers(source);
    let format = readers.first()?.reading.format;
    file.snapshot().value_of(source, key, format)
}

/// Whether a value contains a string, or a token that may produce it.
fn holds(value: &Value, text: &str) -> bool {
    if let Some(elements) = value.as_array() {
        return elements.iter().any(|element| holds(element, text));
    }
    if let Some(hash) = value.as_hash() {
        return hash
            .iter()
            .any(|(key, value)| key.as_str() == Some(text) || holds(value, text));
    }
    value
        .as_str()
        .is_some_and(|own| own == text || own.contains("%{"))
}
