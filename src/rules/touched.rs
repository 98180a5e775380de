//! Which files a change concerns, by their keys: for what rules declare to depend on.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::workspace::{LOOKUP_OPTIONS, Snapshot};

/// Files, gathered by the keys that they set.
pub(super) struct FilesWith<'a> {
    snapshot: &'a Snapshot,
    /// Their paths.
    pub(super) files: BTreeSet<Arc<str>>,
}

impl<'a> FilesWith<'a> {
    /// No file.
    pub(super) fn new(snapshot: &'a Snapshot) -> FilesWith<'a> {
        FilesWith {
            snapshot,
            files: BTreeSet::new(),
        }
    }

    /// Adds the files with a key.
    pub(super) fn key(&mut self, key: &str) {
        let holders = self.snapshot.iter_files_with(key);
        self.files
            .extend(holders.map(|file| Arc::clone(file.path())));
    }

    /// Adds the files with keys that start so; all files with keys for an empty string.
    pub(super) fn keys_below(&mut self, prefix: &str) {
        let snapshot = self.snapshot;
        snapshot.key_names(prefix).for_each(|key| self.key(key));
    }

    /// Adds the files with keys whose names are meant. O(keys of the workspace).
    pub(super) fn keys_that(&mut self, is_meant: impl Fn(&str) -> bool) {
        let names = self.snapshot.key_names("");
        names
            .filter(|name| is_meant(name))
            .for_each(|key| self.key(key));
    }

    /// Adds the files with keys that an entry of `lookup_options` can be for.
    pub(super) fn option(&mut self, pattern: &str) {
        match pattern.starts_with('^') {
            true => self.keys_below(""),
            false => self.key(pattern),
        }
    }
}

/// The keys whose values a change touched, and those that look such keys up, directly or through others: what
/// they are answered with may be something else now. O(references to them).
pub(super) fn touched_answers(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let mut found: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut open: Vec<Arc<str>> = Vec::new();
    for file in &snapshot.delta().files {
        open.extend(file.keys().touched().cloned());
    }
    while let Some(key) = open.pop() {
        if found.insert(Arc::clone(&key)) {
            open.extend(snapshot.references().users(&key).cloned());
        }
    }
    found
}

/// Whether options of lookups are looked up themselves: any change may then give any key other ones.
pub(super) fn options_look_up(snapshot: &Snapshot) -> bool {
    let before = &snapshot.delta().references_before;
    snapshot.references().has(LOOKUP_OPTIONS) || before.has(LOOKUP_OPTIONS)
}
