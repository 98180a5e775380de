//! What an edit of code touches: definitions, variables, and the keys that code and tokens look up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::difference::keys_below;
use super::{Touched, TouchedKeys, split_key};
use crate::workspace::{CodeFacts, DefinitionFact, FileDelta, LookupKey, Snapshot, path};

/// A class, or another definition, that a change of a manifest affects.
struct ChangedClass {
    name: Arc<str>,
    /// Whether the manifest has this definition in only one of its versions.
    came_or_went: bool,
    /// Whether Puppet refuses only one of the manifest's versions.
    is_refused_anew: bool,
    /// The parameters that were added or removed.
    names: BTreeSet<Arc<str>>,
    /// The parameters with another type, or with a default in only one version.
    parameters: BTreeSet<Arc<str>>,
}

impl Touched<'_> {
    /// The keys of changed classes: those of added, removed and otherwise typed parameters. For a
    /// class that was added or removed these are all keys of its module, as a key of a class that
    /// does not exist may be meant for another one.
    #[must_use]
    pub fn keys_of_classes(&self) -> BTreeSet<Arc<str>> {
        let mut keys = BTreeSet::new();
        for class in self.files.iter().flat_map(changed_classes) {
            class.add_keys(self.snapshot, &mut keys);
        }
        keys
    }

    /// The keys that tokens or code look up in another way: in only one of the versions of a file,
    /// or with a merge or a `knockout_prefix` in only one.
    #[must_use]
    pub fn keys_looked_up_otherwise(&self) -> TouchedKeys {
        let mut keys = BTreeSet::new();
        for file in self.files.iter() {
            let [before, after] = file.looked_up();
            keys.extend(before.symmetric_difference(&after).cloned());
            let [before, after] = file.codes().map(|code| {
                let lookups = code.into_iter().flat_map(|code| &code.lookups);
                let lookups =
                    lookups.map(|lookup| (&lookup.key, (lookup.may_merge, lookup.may_knock_out)));
                lookups.collect::<Vec<_>>()
            });
            let is_new =
                |it: &&(&LookupKey, (bool, bool))| !before.contains(it) || !after.contains(it);
            for (key, _) in before.iter().chain(&after).filter(is_new) {
                match key {
                    LookupKey::Literal(key) => {
                        keys.insert(Arc::from(key.split('.').next().unwrap_or(key)));
                    }
                    LookupKey::Partly(texts) => {
                        let prefix = texts.first().map_or("", |it| it);
                        keys.extend(self.snapshot.key_names(prefix).cloned());
                    }
                    LookupKey::Computed => return TouchedKeys::All,
                }
            }
        }
        TouchedKeys::Keys(keys)
    }

    /// The variables that only one version of a manifest sets, in the top scope or in a node block.
    #[must_use]
    pub fn variables(&self) -> BTreeSet<Arc<str>> {
        let files = self.files.iter();
        let changed = files.flat_map(|file| {
            let [before, after] = file.codes().map(|code| -> BTreeSet<&Arc<str>> {
                let variables = code.into_iter().flat_map(|code| &code.variables);
                variables.map(|it| &it.name).collect()
            });
            let changed = before.symmetric_difference(&after);
            changed.map(|name| Arc::clone(name)).collect::<Vec<_>>()
        });
        changed.collect()
    }

    /// The files with code whose evaluation may differ, for nodes or for code elsewhere.
    pub fn code(&self) -> impl Iterator<Item = &FileDelta> {
        self.files.iter().filter(|file| {
            let is_same = match file.codes() {
                [Some(before), Some(after)] => before.is_equivalent(after),
                [before, after] => before.is_none() && after.is_none(),
            };
            // The effects of a function in Ruby depend on its text.
            !is_same || path::extension(&file.path) == Some("rb")
        })
    }
}

/// The definitions that differ after a change of a manifest. Bodies are not compared.
fn changed_classes(file: &FileDelta) -> Vec<ChangedClass> {
    let codes = file.codes();
    let [before, after] = codes.map(definitions);
    let [was_refused, is_refused] = codes.map(|code| code.is_some_and(|code| code.is_broken));
    let names: BTreeSet<&Arc<str>> = before.keys().chain(after.keys()).copied().collect();
    let changed = names.into_iter().map(|name| {
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
        changed
    });
    changed.collect()
}

/// The definitions of a manifest by name.
fn definitions(code: Option<&CodeFacts>) -> BTreeMap<&Arc<str>, Vec<&DefinitionFact>> {
    let mut named: BTreeMap<&Arc<str>, Vec<&DefinitionFact>> = BTreeMap::new();
    for definition in code.into_iter().flat_map(|code| &code.definitions) {
        named.entry(&definition.name).or_default().push(definition);
    }
    named
}

impl ChangedClass {
    fn add_keys(&self, snapshot: &Snapshot, keys: &mut BTreeSet<Arc<str>>) {
        let module = self.name.split("::").next().unwrap_or(&self.name);
        let is_other = self.is_refused_anew || !self.names.is_empty();
        if self.came_or_went || is_other {
            keys.insert(Arc::clone(&self.name));
        }
        if self.came_or_went {
            keys.extend(keys_below(snapshot, module));
        } else if is_other {
            keys.extend(keys_below(snapshot, &self.name));
        }
        for name in &self.names {
            let is_of_no_class = |key: &Arc<str>| {
                split_key(key).is_some_and(|(class, parameter)| {
                    parameter == &**name && snapshot.files_defining(class).next().is_none()
                })
            };
            keys.extend(
                keys_below(snapshot, module)
                    .into_iter()
                    .filter(is_of_no_class),
            );
        }
        let parameters = self.parameters.iter();
        keys.extend(parameters.map(|it| Arc::from(format!("{}::{it}", self.name))));
    }
}
