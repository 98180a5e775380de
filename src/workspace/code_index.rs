//! The index from the names in code to the files that define, use or add them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::File;
use super::code::{CodeFacts, LookupFact, LookupFunction, LookupKey};
use super::delta::FileDelta;
use super::facts::FileFacts;
use super::index::{KeyIndex, Patch};
use super::snapshot::{FileId, Snapshot};

/// The files that define each name and look up each key.
#[derive(Clone, Default)]
pub(super) struct CodeIndex {
    /// By names of definitions and type aliases.
    defined: KeyIndex,
    keys: KeyIndex,
    /// By literal prefixes of computed keys; empty if unknown.
    prefixes: KeyIndex,
    /// By included or named classes.
    classes: KeyIndex,
    /// By custom facts.
    facts: KeyIndex,
}

impl CodeIndex {
    pub(super) fn patch(&mut self, files: &[FileDelta]) {
        let mut patches = [(); 5].map(|()| Patch::default());
        let mut is_touched = false;
        for file in files {
            let code = |facts: &Option<Arc<FileFacts>>| {
                let code = facts.as_ref().and_then(|facts| facts.code.as_deref());
                code.map(names).unwrap_or_default()
            };
            let (before, after) = (code(&file.before), code(&file.after));
            for ((patch, before), after) in patches.iter_mut().zip(&before).zip(&after) {
                for name in after.iter().filter(|name| !before.contains(*name)) {
                    is_touched = true;
                    patch.add(name, file.file);
                }
                for name in before.iter().filter(|name| !after.contains(*name)) {
                    is_touched = true;
                    patch.remove(name, file.file);
                }
            }
        }
        if is_touched {
            let [defined, keys, prefixes, classes, facts] = patches;
            self.defined.patch(defined);
            self.keys.patch(keys);
            self.prefixes.patch(prefixes);
            self.classes.patch(classes);
            self.facts.patch(facts);
        }
    }
}

/// The names under which a text is indexed: its definitions, its looked-up keys, the prefixes of
/// computed ones, the classes it names, and its custom facts.
type IndexedNames = [BTreeSet<Arc<str>>; 5];

fn names(code: &CodeFacts) -> IndexedNames {
    let mut names = IndexedNames::default();
    let [defined, keys, prefixes, classes, facts] = &mut names;
    defined.extend(code.defined());
    for lookup in &code.lookups {
        match &lookup.key {
            LookupKey::Literal(key) => keys.insert(Arc::clone(key)),
            LookupKey::Partly(texts) => prefixes.insert(texts.first().cloned().unwrap_or_default()),
            LookupKey::Computed => prefixes.insert(Arc::default()),
        };
    }
    let named = code.includes.iter().filter_map(|i| i.class.clone());
    classes.extend(named);
    facts.extend(code.custom_facts.iter().map(|it| Arc::clone(&it.name)));
    names
}

impl Snapshot {
    /// The files that define a class, a defined type, a function or (in lower case) a type alias.
    pub fn files_defining(&self, name: &str) -> impl Iterator<Item = &Arc<File>> {
        self.files_of(self.indexes().code.defined.files(name))
    }

    /// Names of classes, defined types, functions and (in lower case) type aliases that start with
    /// `prefix`, ordered by bytes.
    pub fn defined_names<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a Arc<str>> {
        self.indexes().code.defined.names(prefix)
    }

    /// The files that look up a literal key, exactly as written and not a part of its value.
    pub fn files_looking_up(&self, key: &str) -> impl Iterator<Item = &Arc<File>> {
        self.files_of(self.indexes().code.keys.files(key))
    }

    /// The keys that manifests look up and that start with `prefix`, ordered by bytes.
    pub fn looked_up<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a Arc<str>> {
        self.indexes().code.keys.names(prefix)
    }

    /// The files that look up a partly computed key that may be this one: O(length × log prefixes +
    /// lookups of the files that compute keys).
    pub fn files_that_may_look_up(&self, key: &str) -> impl Iterator<Item = &Arc<File>> {
        let ends = (0..=key.len()).filter(|&end| key.is_char_boundary(end));
        let mut ids: Vec<FileId> = ends
            .flat_map(|end| self.indexes().code.prefixes.files(&key[..end]))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        self.files_of(ids)
            .filter(move |file| looks_up(file, |it| it.may_partly_be(key)))
    }

    /// The files that look up completely unknown keys.
    pub fn files_that_compute_keys(&self) -> impl Iterator<Item = &Arc<File>> {
        let files = self.files_of(self.indexes().code.prefixes.files(""));
        files.filter(|file| looks_up(file, |it| *it == LookupKey::Computed))
    }

    /// Whether a call that looks up a top-level key, or a part of its value, may set a
    /// `knockout_prefix`.
    #[must_use]
    pub fn may_be_knocked_out_by_call(&self, key: &str) -> bool {
        self.has_lookup(key, |lookup| lookup.may_knock_out)
    }

    /// Whether a call of one of Puppet's own functions for lookups may look up a top-level key, or a part of its value: the
    /// results of other functions are not known.
    #[must_use]
    pub fn may_be_looked_up_by_call(&self, key: &str) -> bool {
        self.has_lookup(key, |lookup| lookup.function != LookupFunction::Other)
    }

    /// Whether a call that looks up a top-level key, or a part of its value, may merge the values of
    /// several levels.
    #[must_use]
    pub fn may_be_merged_by_call(&self, key: &str) -> bool {
        self.has_lookup(key, |lookup| lookup.may_merge)
    }

    /// Whether one of the calls that may look up a top-level key, or a part of its value, satisfies a condition.
    fn has_lookup(&self, key: &str, satisfies: impl Fn(&LookupFact) -> bool) -> bool {
        let dotted = format!("{key}.");
        let is_it = |known: &str| known == key || known.starts_with(&dotted);
        let may_look_up = |lookup: &LookupFact| match &lookup.key {
            LookupKey::Literal(known) => is_it(known),
            LookupKey::Partly(_) => lookup.key.may_partly_be(key),
            LookupKey::Computed => true,
        };
        let does = |file: &Arc<File>| {
            let code = file.facts().code.as_deref();
            let mut lookups = code.into_iter().flat_map(|code| code.lookups.iter());
            lookups.any(|lookup| satisfies(lookup) && may_look_up(lookup))
        };
        let digging = self.looked_up(&dotted);
        self.files_looking_up(key).any(does)
            || digging.flat_map(|key| self.files_looking_up(key)).any(does)
            || self.files_that_may_look_up(key).any(does)
            || self.files_that_compute_keys().any(does)
    }

    /// The files that include or name a class.
    pub fn files_naming_class(&self, class: &str) -> impl Iterator<Item = &Arc<File>> {
        self.files_of(self.indexes().code.classes.files(class))
    }

    /// The files with Ruby code that adds a fact.
    pub fn files_adding_fact(&self, name: &str) -> impl Iterator<Item = &Arc<File>> {
        self.files_of(self.indexes().code.facts.files(name))
    }

    /// The names of the facts that Ruby code adds, ordered by bytes.
    pub fn added_facts(&self) -> impl Iterator<Item = &Arc<str>> {
        self.indexes().code.facts.names("")
    }

    fn files_of(&self, ids: Vec<FileId>) -> impl Iterator<Item = &Arc<File>> {
        ids.into_iter().filter_map(|id| self.file_by_id(id))
    }
}

fn looks_up(file: &File, accepts: impl Fn(&LookupKey) -> bool) -> bool {
    let code = file.facts().code.as_deref();
    code.is_some_and(|code| code.lookups.iter().any(|lookup| accepts(&lookup.key)))
}
