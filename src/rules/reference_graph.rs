//! References between keys that can be part of a loop, based on the facts of files.

use std::collections::HashSet;
use std::sync::Arc;

use super::checker::{Checker, lock};
use crate::workspace::FileId;

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
