//! The files that a change affects by their keys, and the effect of changes in code: for the
//! dependencies of rules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::workspace::{CodeFacts, DefinitionFact, FileDelta, LOOKUP_OPTIONS, Snapshot, path};

/// A set of files, collected by key.
pub(super) struct FilesWith<'a> {
    snapshot: &'a Snapshot,
    pub(super) files: BTreeSet<Arc<str>>,
}

impl<'a> FilesWith<'a> {
    /// An empty set.
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

    /// Adds the files with keys that start with a prefix; all files with keys for an empty one.
    pub(super) fn keys_below(&mut self, prefix: &str) {
        let snapshot = self.snapshot;
        snapshot.key_names(prefix).for_each(|key| self.key(key));
    }

    /// Adds the files with keys that a test accepts. O(keys of the workspace).
    pub(super) fn keys_that(&mut self, accepts: impl Fn(&str) -> bool) {
        let names = self.snapshot.key_names("");
        names
            .filter(|name| accepts(name))
            .for_each(|key| self.key(key));
    }

    /// Adds the files with keys that an entry of `lookup_options` can apply to.
    pub(super) fn option(&mut self, pattern: &str) {
        match pattern.starts_with('^') {
            true => self.keys_below(""),
            false => self.key(pattern),
        }
    }
}

/// The keys with changed values, and those that look up such keys, directly or through others: they
/// may have other values now. O(references to them).
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

/// Whether `lookup_options` have lookups themselves: any change may then affect the options of any key.
pub(super) fn options_look_up(snapshot: &Snapshot) -> bool {
    let before = &snapshot.delta().references_before;
    snapshot.references().has(LOOKUP_OPTIONS) || before.has(LOOKUP_OPTIONS)
}

/// A class, or another definition, that a change of a manifest affects.
pub(super) struct ChangedClass {
    pub(super) name: Arc<str>,
    /// Whether the manifest has this definition in only one of its versions.
    pub(super) came_or_went: bool,
    /// Whether Puppet refuses only one of the manifest's versions.
    pub(super) is_refused_anew: bool,
    /// The parameters that were added or removed.
    pub(super) names: BTreeSet<Arc<str>>,
    /// The parameters with another type, or with a default in only one version.
    pub(super) parameters: BTreeSet<Arc<str>>,
}

/// The definitions that differ after a change of a manifest. Bodies are not compared.
pub(super) fn changed_classes(delta: &FileDelta) -> Vec<ChangedClass> {
    let codes = codes(delta);
    let [before, after] = codes.map(|code| {
        let mut named: BTreeMap<&Arc<str>, Vec<&DefinitionFact>> = BTreeMap::new();
        for definition in code.iter().flat_map(|code| code.definitions.iter()) {
            named.entry(&definition.name).or_default().push(definition);
        }
        named
    });
    let [was_refused, is_refused] = codes.map(|code| code.is_some_and(|code| code.is_broken));
    let names: BTreeSet<&Arc<str>> = before.keys().chain(after.keys()).copied().collect();
    let changed = names.into_iter().filter_map(|name| {
        let [before, after] = [&before, &after].map(|all| all.get(name).map_or(&[][..], |it| it));
        let kinds = |all: &[&DefinitionFact]| all.iter().map(|it| it.kind).collect::<Vec<_>>();
        let mut changed = ChangedClass {
            name: Arc::clone(name),
            came_or_went: kinds(before) != kinds(after),
            is_refused_anew: was_refused != is_refused,
            names: BTreeSet::new(),
            parameters: BTreeSet::new(),
        };
        let pairs = || before.iter().zip(after);
        for (one, other) in pairs().chain(pairs().map(|(before, after)| (after, before))) {
            for parameter in &one.parameters {
                let name = Arc::clone(&parameter.name);
                match other.parameter(&name) {
                    None => changed.names.insert(name),
                    Some(other) if !parameter.takes_the_same(other) => {
                        changed.parameters.insert(name)
                    }
                    Some(_) => false,
                };
            }
        }
        let is_changed = changed.came_or_went
            || changed.is_refused_anew
            || !changed.names.is_empty()
            || !changed.parameters.is_empty();
        is_changed.then_some(changed)
    });
    changed.collect()
}

/// The facts about a file's code before and after a change.
pub(super) fn codes(delta: &FileDelta) -> [Option<&CodeFacts>; 2] {
    [&delta.before, &delta.after]
        .map(|facts| facts.as_deref().and_then(|facts| facts.code.as_deref()))
}

/// Whether a change of code may affect the evaluation of nodes or of code elsewhere.
pub(super) fn does_otherwise(delta: &FileDelta) -> bool {
    let is_same = match codes(delta) {
        [Some(before), Some(after)] => before.is_equivalent(after),
        [before, after] => before == after,
    };
    // The effects of a function in Ruby depend on its text.
    !is_same || path::extension(&delta.path) == Some("rb")
}

/// The files with `lookup_options`. O(these files).
pub(super) fn files_with_options(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let mut files = FilesWith::new(snapshot);
    files.key(LOOKUP_OPTIONS);
    files.files
}

/// The files with an entry for a key that may have another value or other options now.
pub(super) fn files_with_entries(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let mut touched = touched_answers(snapshot);
    for file in &snapshot.delta().files {
        touched.extend(file.keys().lookup_options.iter().cloned());
    }
    let all = snapshot.iter_files_with(LOOKUP_OPTIONS);
    let concerned = all.filter(|file| {
        let mut entries = file.facts().lookup_options.iter();
        options_look_up(snapshot) || entries.any(|entry| touched.contains(&entry.pattern))
    });
    concerned.map(|file| Arc::clone(file.path())).collect()
}
