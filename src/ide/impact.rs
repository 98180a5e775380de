//! What an edit changes: which keys' effective values, for how many nodes, from what to what.
//!
//! Only keys that the edit can touch are looked up again: those whose entries changed, those whose
//! `lookup_options` changed, and those that look one of these up.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::call_hierarchy::{holder, root_of};
use super::lens::reached_by;
use super::matrix::{Difference, Fleet, all_keys, answer_in, changes, differ, row};
use crate::lookup::Request;
use crate::scope::Scope;
use crate::workspace::{File, Files as _, KeyState, Snapshot, differences_of_keys};

/// Most keys that an impact looks at; an edit that can touch more is told as incomplete.
pub const MOST_KEYS: usize = 2_000;

/// What changes.
#[derive(Clone, Debug, Default)]
pub struct Impact {
    /// The changes, key by key in the order of bytes; a key comes once for each pair of an old and
    /// a new answer.
    pub changes: Vec<Difference>,
    /// The nodes for which something changes, by name, in the order of bytes.
    pub nodes: Vec<Arc<str>>,
    /// Whether all keys were looked at: see [`MOST_KEYS`].
    pub is_complete: bool,
}

/// Which keys two snapshots of one workspace can differ in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Touched {
    /// Any.
    All,
    /// These top-level keys.
    Keys(BTreeSet<Arc<str>>),
}

/// What changes for the nodes between two snapshots, for example the saved one
/// ([`Snapshot::saved`]) and the one with the edit.
#[must_use]
pub fn impact(before: &Fleet<'_>, after: &Fleet<'_>) -> Impact {
    let on = |_, _| ControlFlow::Continue(());
    impact_with(before, after, &on).unwrap_or_default()
}

/// The same, telling after each key how many of how many are done; nothing if `tell` breaks it off.
#[must_use]
pub fn impact_with(
    before: &Fleet<'_>,
    after: &Fleet<'_>,
    tell: &dyn Fn(usize, usize) -> ControlFlow<()>,
) -> Option<Impact> {
    let (keys, is_complete) = keys(before, after);
    let mut impact = Impact {
        is_complete,
        ..Impact::default()
    };
    let mut nodes: HashSet<Arc<str>> = HashSet::new();
    for (at, key) in keys.iter().enumerate() {
        let found = changes(&row(before, key), &row(after, key));
        nodes.extend(found.iter().flat_map(|change| change.after.nodes.clone()));
        impact.changes.extend(found);
        if tell(at + 1, keys.len()).is_break() {
            return None;
        }
    }
    impact.nodes = nodes.into_iter().collect();
    impact.nodes.sort();
    Some(impact)
}

/// What changes for every node that reads a file, as far as its path tells of them: for a
/// workspace whose nodes nobody knows. The changes have a condition in the place of nodes.
#[must_use]
pub fn impact_on_readers(
    before: &Fleet<'_>,
    after: &Fleet<'_>,
    path: &str,
    tell: &dyn Fn(usize, usize) -> ControlFlow<()>,
) -> Option<Impact> {
    let (keys, is_complete) = keys(before, after);
    let mut impact = Impact {
        is_complete,
        ..Impact::default()
    };
    let mut scopes: Vec<(Scope, String)> = Vec::new();
    for reach in reached_by(after, path) {
        let bindings = reach.bindings.iter();
        let bindings: Vec<String> = bindings
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let condition = match bindings.is_empty() {
            true => "every node that reads this file".to_owned(),
            false => bindings.join(", "),
        };
        if scopes.iter().all(|(_, known)| *known != condition) {
            scopes.push((reach.scope(), condition));
        }
    }
    for (at, key) in keys.iter().enumerate() {
        let request = Request::key(key).traced();
        for (scope, condition) in &scopes {
            let one = |fleet: &Fleet<'_>| answer_in(fleet, &request, scope, condition);
            let (before, after) = (one(before), one(after));
            if differ(&before, &after) {
                impact.changes.push(Difference {
                    key: key.clone(),
                    before,
                    after,
                });
            }
        }
        if tell(at + 1, keys.len()).is_break() {
            return None;
        }
    }
    Some(impact)
}

/// The keys that are to be looked up, and whether these are all that can differ.
fn keys(before: &Fleet<'_>, after: &Fleet<'_>) -> (Vec<Arc<str>>, bool) {
    let touched = touched(before.snapshot, after.snapshot);
    if touched == Touched::Keys(BTreeSet::new()) {
        return (Vec::new(), true);
    }
    let mut keys: BTreeSet<Arc<str>> = all_keys(after).into_iter().collect();
    keys.extend(all_keys(before));
    let mut keys: Vec<Arc<str>> = match touched {
        Touched::All => keys.into_iter().collect(),
        Touched::Keys(touched) => keys
            .into_iter()
            .filter(|key| touched.contains(&root_of(key)))
            .collect(),
    };
    let is_complete = keys.len() <= MOST_KEYS;
    keys.truncate(MOST_KEYS);
    (keys, is_complete)
}

/// The keys that two snapshots can differ in. O(files + references).
#[must_use]
pub fn touched(before: &Snapshot, after: &Snapshot) -> Touched {
    if before.shape() != after.shape() {
        return Touched::All;
    }
    let mut keys: BTreeSet<Arc<str>> = BTreeSet::new();
    for file in after.files() {
        let Some(old) = before.file(file.path()) else {
            return Touched::All;
        };
        if Arc::ptr_eq(old, file) || old.hash() == file.hash() {
            continue;
        }
        // A file that Puppet refuses fails every lookup that reads it, and what is no data file by
        // its name can be anything.
        let decides = |file: &File| file.facts().error.is_some() || file.facts().keys.is_empty();
        if decides(old) || decides(file) || file.format().is_none() {
            return Touched::All;
        }
        let diff = differences_of_keys(old, file);
        // Patterns are for any keys, and the order of patterns counts too.
        if diff.lookup_options.iter().any(|name| name.starts_with('^')) {
            return Touched::All;
        }
        let own_options = |name: &Arc<str>| **name == *"lookup_options";
        let changed = diff.added.iter().chain(&diff.removed).chain(&diff.changed);
        for name in changed {
            if own_options(name) && diff.lookup_options.is_empty() {
                return Touched::All;
            }
            keys.insert(name.clone());
        }
        keys.extend(diff.lookup_options.iter().cloned());
    }
    if !keys.is_empty() {
        for snapshot in [before, after] {
            add_users(snapshot, &mut keys);
        }
    }
    Touched::Keys(keys)
}

/// Adds the keys that look up any of `keys`, and those that look these up.
fn add_users(snapshot: &Snapshot, keys: &mut BTreeSet<Arc<str>>) {
    let mut users: HashMap<Arc<str>, BTreeSet<Arc<str>>> = HashMap::new();
    for file in snapshot.files() {
        let facts = file.facts();
        if facts.references.is_empty() {
            continue;
        }
        // Where a value may hold another part of the file, it may hold any token in it.
        let loose = facts.keys.iter().filter(|fact| {
            let text = file
                .text()
                .get(fact.value.start as usize..fact.value.end as usize);
            fact.state == KeyState::Broken
                || fact.value.start < fact.key.start
                || text.is_none_or(|text| text.contains('*'))
        });
        let loose: Vec<&Arc<str>> = loose.map(|fact| &fact.name).collect();
        for reference in &facts.references {
            let by = users.entry(root_of(&reference.key)).or_default();
            match holder(file, reference.range.start) {
                Some(fact) => {
                    by.insert(fact.name.clone());
                }
                None => by.extend(facts.keys.iter().map(|fact| fact.name.clone())),
            }
            by.extend(loose.iter().map(|name| Arc::clone(name)));
        }
    }
    let mut open: Vec<Arc<str>> = keys.iter().cloned().collect();
    while let Some(key) = open.pop() {
        for user in users.remove(&key).into_iter().flatten() {
            if keys.insert(user.clone()) {
                open.push(user);
            }
        }
    }
}
