//! References between keys that can be part of a loop, based on the facts of files.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::checker::{Checker, lock};
use crate::workspace::{FileId, LOOKUP_OPTIONS, Snapshot};

/// A reference from a top-level key to the root of the key that its value looks up.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) to: Arc<str>,
    pub(super) file: FileId,
}

impl Checker<'_> {
    /// The references of a key that can be part of a loop, ordered by file id and position. O(files
    /// with the key) the first time.
    pub(super) fn circular(&self, from: &str) -> Arc<[Edge]> {
        let known = || lock(&self.circular);
        if let Some(known) = known().get(from) {
            return Arc::clone(known);
        }
        let circles = self.snapshot.references().circles();
        let mut edges = Vec::new();
        for file in self.snapshot.iter_files_with(from) {
            let mut seen = HashSet::new();
            for (key, _, to) in file.facts().uses() {
                if *key.name == *from && circles.is_on(from, to) && seen.insert(to) {
                    edges.push(Edge {
                        to: Arc::clone(to),
                        file: file.id(),
                    });
                }
            }
        }
        let edges: Arc<[Edge]> = edges.into();
        known().insert(Arc::from(from), Arc::clone(&edges));
        edges
    }
}

/// Files with references that are, or were, part of a loop: an edit of one can affect the findings
/// in all. O(files with keys in loops).
pub(super) fn files_on_circles(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let (before, after) = (&snapshot.delta().references_before, snapshot.references());
    let (old, new) = (before.circles(), after.circles());
    let options = [LOOKUP_OPTIONS]
        .into_iter()
        .filter(|key| before.has(key) || after.has(key));
    let keys = old.keys().chain(new.keys()).map(|key| &**key);
    let keys: BTreeSet<&str> = keys.chain(options).collect();
    let mut files = BTreeSet::new();
    for key in keys {
        for file in snapshot.iter_files_with(key) {
            let mut uses = file.facts().uses();
            let is_part = uses.any(|(from, _, to)| {
                *from.name == *key
                    && (key == LOOKUP_OPTIONS || old.is_on(key, to) || new.is_on(key, to))
            });
            if is_part {
                files.insert(Arc::clone(file.path()));
            }
        }
    }
    files
}
