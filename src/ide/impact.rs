//! What an edit changes: which keys' effective values, for how many nodes, from what to what.
//!
//! Only keys that the edit can touch are looked up again: those whose entries changed, those whose
//! `lookup_options` changed, and those that look one of these up.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::call_hierarchy::root_of;
use super::compare::{Difference, changes, differ};
use super::matrix::{Readable, all_keys, answer_in, bare_row, row, written};
use crate::analysis::RootView;
use crate::interpolation::has_tokens;
use crate::lookup::Request;
use crate::regexp::Regexp;
use crate::scope::Scope;
use crate::value::KeyHashing;
use crate::workspace::{
    File, Files as _, Format, KeyDiff, KeyFact, KeyState, RootKind, Snapshot, differences_of_keys,
};

/// Most keys that an impact looks at; the impact of an edit that can touch more is incomplete.
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

/// How much is computed of each change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// The answers alone: what numbers are made of.
    Answers,
    /// Where they come from too: about twice the work.
    Sources,
}

/// What changes for the nodes between two snapshots, for example the saved one
/// ([`Snapshot::saved`]) and the one with the edit.
#[must_use]
pub fn impact(before: &RootView<'_>, after: &RootView<'_>, detail: Detail) -> Impact {
    let proceed = |_, _| ControlFlow::Continue(());
    impact_with(before, after, detail, &proceed).unwrap_or_default()
}

/// The same; `step` takes after each key how many of how many are done. None where it breaks.
#[must_use]
pub fn impact_with(
    before: &RootView<'_>,
    after: &RootView<'_>,
    detail: Detail,
    step: &dyn Fn(usize, usize) -> ControlFlow<()>,
) -> Option<Impact> {
    let (keys, is_complete) = keys(before, after);
    let mut impact = Impact {
        is_complete,
        ..Impact::default()
    };
    let of = |view: &RootView<'_>, key: &str| match detail {
        Detail::Answers => bare_row(view, key),
        Detail::Sources => row(view, key),
    };
    let mut nodes: HashSet<Arc<str>, KeyHashing> = HashSet::default();
    for (at, key) in keys.iter().enumerate() {
        let found = changes(&of(before, key), &of(after, key));
        nodes.extend(found.iter().flat_map(|change| change.after.nodes.clone()));
        impact.changes.extend(found);
        if step(at + 1, keys.len()).is_break() {
            return None;
        }
    }
    impact.nodes = nodes.into_iter().collect();
    impact.nodes.sort();
    Some(impact)
}

/// What changes for every node that reads a file, as far as its path tells of them: for a
/// workspace without known nodes. The changes have a condition in the place of nodes.
#[must_use]
pub fn impact_on_readers(
    before: &RootView<'_>,
    after: &RootView<'_>,
    path: &str,
    step: &dyn Fn(usize, usize) -> ControlFlow<()>,
) -> Option<Impact> {
    let (keys, is_complete) = keys(before, after);
    let mut impact = Impact {
        is_complete,
        ..Impact::default()
    };
    let mut scopes: Vec<(Scope, String)> = Vec::new();
    for reach in after.reach(path) {
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
            let one = |view: &RootView<'_>| answer_in(view, &request, scope, condition);
            let (before, after) = (one(before), one(after));
            if differ(&before, &after) {
                impact.changes.push(Difference {
                    key: key.clone(),
                    before,
                    after,
                });
            }
        }
        if step(at + 1, keys.len()).is_break() {
            return None;
        }
    }
    Some(impact)
}

/// The keys that are to be looked up, and whether these are all that can differ.
fn keys(before: &RootView<'_>, after: &RootView<'_>) -> (Vec<Arc<str>>, bool) {
    let mut keys: BTreeSet<Arc<str>> = BTreeSet::new();
    match touched(before.analysis.snapshot, after.analysis.snapshot) {
        Touched::All => {
            keys.extend(all_keys(after));
            keys.extend(all_keys(before));
        }
        Touched::Keys(touched) => {
            let (before, after) = (Readable::new(before), Readable::new(after));
            let found = touched.iter();
            let found = found.filter(|key| after.holds(key) || before.holds(key));
            keys.extend(found.map(written));
        }
    }
    let mut keys: Vec<Arc<str>> = keys.into_iter().collect();
    let is_complete = keys.len() <= MOST_KEYS;
    keys.truncate(MOST_KEYS);
    (keys, is_complete)
}

/// The keys that two snapshots can differ in. O(files + keys that the edit touches), and where
/// patterns of `lookup_options` change, O(patterns × keys).
#[must_use]
pub fn touched(before: &Snapshot, after: &Snapshot) -> Touched {
    if before.shape() != after.shape() {
        return Touched::All;
    }
    let mut keys: BTreeSet<Arc<str>> = BTreeSet::new();
    for file in after.files() {
        let Some(old) = before.file_by_id(file.id()) else {
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
        let changed = || diff.added.iter().chain(&diff.removed).chain(&diff.changed);
        keys.extend(changed().cloned());
        if changed().any(|name| **name == *"lookup_options") {
            let found = touched_by_options([(before, old), (after, file)], &diff);
            let Some(found) = found else {
                return Touched::All;
            };
            keys.extend(found);
        }
    }
    if !keys.is_empty() {
        for snapshot in [before, after] {
            add_users(snapshot, &mut keys);
        }
    }
    Touched::Keys(keys)
}

/// The keys that a change of a file's `lookup_options` can touch; nothing where that can be any.
fn touched_by_options(
    versions: [(&Snapshot, &Arc<File>); 2],
    diff: &KeyDiff,
) -> Option<BTreeSet<Arc<str>>> {
    let is_orderly = |(snapshot, file): (&Snapshot, &Arc<File>)| {
        let data = snapshot.data_of(file, file.format().unwrap_or(Format::Yaml));
        let options = data.recovered.get("lookup_options");
        options.is_none_or(|options| {
            let names = options.as_hash().map(|hash| hash.keys());
            names.is_some_and(|mut names| names.all(|name| name.as_str().is_some()))
        })
    };
    // Options that are no hash fail every lookup, in words that depend on all options.
    let all_are_hashes = |(snapshot, _): (&Snapshot, &Arc<File>)| {
        let mut files = snapshot.iter_files_with("lookup_options");
        files.all(|file| !file.facts().lookup_options.is_empty())
    };
    // Without a difference in any entry something else is another: their order, an alias.
    let is_plain = !diff.lookup_options.is_empty()
        && versions.into_iter().all(is_orderly)
        && versions.into_iter().all(all_are_hashes)
        && !diff.lookup_options.iter().any(|name| has_tokens(name));
    if !is_plain {
        return None;
    }
    let mut touched: BTreeSet<Arc<str>> = diff.lookup_options.iter().cloned().collect();
    // A module whose options are for other keys than its own fails with each of its keys.
    let [(_, file), (after, _)] = [versions[0], versions[1]];
    if let Some(RootKind::Module { name }) = after.root_of(file.path()).map(|root| &root.kind) {
        let prefix = format!("{name}::");
        for (snapshot, _) in versions {
            touched.extend(snapshot.key_names(&prefix).cloned());
        }
    }
    // The first pattern that matches counts: so their order does.
    let patterns = |file: &File| -> Vec<Arc<str>> {
        let names = file.facts().lookup_options.iter();
        let names = names.map(|option| option.pattern.clone());
        names.filter(|name| name.starts_with('^')).collect()
    };
    let (old, new) = (patterns(versions[0].1), patterns(versions[1].1));
    let kept = old.iter().filter(|name| new.contains(name));
    let same_order = kept.eq(new.iter().filter(|name| old.contains(name)));
    let of_diff = diff
        .lookup_options
        .iter()
        .filter(|name| name.starts_with('^'));
    let mut changed: Vec<&Arc<str>> = of_diff.collect();
    if !same_order {
        changed.extend(old.iter().chain(&new));
    }
    for pattern in changed {
        // A pattern that cannot be read makes every lookup fail.
        let pattern = Regexp::new(pattern).ok()?;
        for (snapshot, _) in versions {
            let names = snapshot.key_names("");
            touched.extend(
                names
                    .filter(|name| pattern.is_match(name).unwrap_or(true))
                    .cloned(),
            );
        }
    }
    Some(touched)
}

/// Adds the keys that look up any of `keys`, and those that look these up. O(files + keys found).
fn add_users(snapshot: &Snapshot, keys: &mut BTreeSet<Arc<str>>) {
    let tangled = snapshot.files().filter(|file| file.facts().is_tangled);
    let mut tangles: HashMap<Arc<str>, BTreeSet<Arc<str>>> = HashMap::new();
    for file in tangled {
        add_tangles(file, &mut tangles);
    }
    let mut open: Vec<Arc<str>> = keys.iter().cloned().collect();
    while let Some(key) = open.pop() {
        let tangles = tangles.remove(&key).into_iter().flatten();
        for user in snapshot.references().users(&key).cloned().chain(tangles) {
            if keys.insert(user.clone()) {
                open.push(user);
            }
        }
    }
}

/// The keys of a tangled file by what their values may look up.
fn add_tangles(file: &File, users: &mut HashMap<Arc<str>, BTreeSet<Arc<str>>>) {
    let facts = file.facts();
    let may_hold_any = |fact: &KeyFact| {
        let value = fact.value.start as usize..fact.value.end as usize;
        fact.state == KeyState::Broken
            || file.format() != Some(Format::Yaml)
            || fact.value.start < fact.key.start
            || file.text().get(value).is_none_or(|text| text.contains('*'))
    };
    let any = facts.keys.iter().filter(|fact| may_hold_any(fact));
    let any: Vec<&KeyFact> = any.collect();
    for reference in facts.references() {
        let inside = |fact: &&KeyFact| fact.value.contains(reference.range);
        let around = facts.keys.iter().filter(inside);
        let names = around.chain(any.iter().copied());
        let by = users.entry(root_of(&reference.key)).or_default();
        by.extend(names.map(|fact| fact.name.clone()));
    }
}
