//! Which references between keys can be part of a loop, from the files' facts alone.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::workspace::{FileId, References, Snapshot};

/// One reference, from the top-level key it stands under to the root of the key it names.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) to: Arc<str>,
    pub(super) file: FileId,
}

/// References between keys of one snapshot that can reach each other. Everything else cannot be
/// part of a loop.
pub(super) struct ReferenceGraph {
    references: References,
    /// Edges by the key they start from, as far as somebody asked.
    known: Mutex<HashMap<Arc<str>, Arc<[Edge]>>>,
}

impl ReferenceGraph {
    /// The references of a snapshot.
    pub(super) fn of(snapshot: &Snapshot) -> ReferenceGraph {
        ReferenceGraph {
            references: snapshot.references().clone(),
            known: Mutex::default(),
        }
    }

    /// Whether a reference from one key to another can be part of a loop.
    pub(super) fn is_on_circle(&self, from: &str, to: &str) -> bool {
        self.references.circles().is_on(from, to)
    }

    /// The references of a key that can be part of a loop, in the order of the files' numbers and
    /// of their texts. O(files with the key) the first time.
    pub(super) fn circular(&self, snapshot: &Snapshot, from: &str) -> Arc<[Edge]> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(from) {
            return Arc::clone(known);
        }
        let mut edges = Vec::new();
        for file in snapshot.iter_files_with(from) {
            let mut seen = HashSet::new();
            for (key, _, to) in file.facts().uses() {
                if *key.name == *from && self.is_on_circle(from, to) && seen.insert(to) {
                    edges.push(Edge {
                        to: Arc::clone(to),
                        file: file.id(),
                    });
                }
            }
        }
        let edges: Arc<[Edge]> = edges.into();
        lock().insert(Arc::from(from), Arc::clone(&edges));
        edges
    }
}
