//! Which references between keys can be part of a loop, from the files' facts alone.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::workspace::{FileId, LOOKUP_OPTIONS, References, Snapshot};

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
    /// Edges by the key they start from, as far as they were asked for.
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

/// Files with references that are, or were, part of a circle: what a loop's lookups meet on their
/// way, and where it stands, can be in any file. O(files with keys on circles).
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
