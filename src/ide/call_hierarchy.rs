//! The call hierarchy of keys: keys that a value looks up, and keys with values that look it up.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;

use super::target::entry_at;
use crate::analysis::Analysis;
use crate::interpolation::root_of;
use crate::text::TextRange;
use crate::workspace::{File, KeyFact, Snapshot};

/// A key of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallItem {
    /// The top-level key.
    pub key: Arc<str>,
    /// The absolute path of the file.
    pub path: Arc<str>,
    /// The entry, from the key to the end of its value.
    pub range: TextRange,
    /// The key alone.
    pub selection: TextRange,
}

/// An edge of the graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallEdge {
    /// The key at the other end.
    pub item: CallItem,
    /// The tokens, in the file of the calling key.
    pub tokens: Vec<TextRange>,
}

/// The top-level key at an offset of a file that a hierarchy reads, in the key or its value.
#[must_use]
pub fn prepare(analysis: Analysis<'_>, path: &str, offset: usize) -> Option<CallItem> {
    let file = analysis.snapshot.file(path)?;
    if !analysis.reads(path) {
        return None;
    }
    let fact = entry_at(file, offset as u32)?;
    Some(item(file, fact))
}

/// The keys that a key's value looks up, in the order of the tokens, and by the path of the file.
#[must_use]
pub fn outgoing(snapshot: &Snapshot, from: &CallItem) -> Vec<CallEdge> {
    let Some(file) = snapshot.file(&from.path) else {
        return Vec::new();
    };
    let mut tokens: IndexMap<Arc<str>, Vec<TextRange>> = IndexMap::new();
    for reference in file.facts().references() {
        if entry_at(file, reference.range.start).is_some_and(|fact| fact.name == from.key) {
            let ranges = tokens.entry(root_of(&reference.key)).or_default();
            ranges.push(reference.range);
        }
    }
    let calls = tokens.into_iter().flat_map(|(root, ranges)| {
        let mut definitions = snapshot.definitions(&root);
        definitions.sort_by(|(one, _), (other, _)| one.path().cmp(other.path()));
        definitions.into_iter().map(move |(file, fact)| CallEdge {
            item: item(file, fact),
            tokens: ranges.clone(),
        })
    });
    calls.collect()
}

/// The keys with values that look up a key, by the path of the file. O(references + files).
#[must_use]
pub fn incoming(snapshot: &Snapshot, to: &str) -> Vec<CallEdge> {
    let mut calls = Vec::new();
    let mut files: Vec<&Arc<File>> = snapshot.files().collect();
    files.sort_by(|one, other| one.path().cmp(other.path()));
    for file in files {
        let mut found: BTreeMap<u32, CallEdge> = BTreeMap::new();
        for reference in file.facts().references() {
            if *root_of(&reference.key) != *to {
                continue;
            }
            let Some(fact) = entry_at(file, reference.range.start) else {
                continue;
            };
            let call = found.entry(fact.key.start).or_insert_with(|| CallEdge {
                item: item(file, fact),
                tokens: Vec::new(),
            });
            call.tokens.push(reference.range);
        }
        calls.extend(found.into_values());
    }
    calls
}

fn item(file: &File, fact: &KeyFact) -> CallItem {
    let end = fact.value.end.max(fact.key.end);
    CallItem {
        key: fact.name.clone(),
        path: file.path().clone(),
        range: TextRange::new(fact.key.start as usize, end as usize),
        selection: fact.key,
    }
}
