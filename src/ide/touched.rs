//! The keys and nodes with possible differences between two versions of files.
//!
//! A key can differ if its entries or its `lookup_options` changed, or if it looks up such a key; a
//! node, if one of its levels reads a changed file. No lookups are made here.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::matrix::{Readable, all_keys, written};
use crate::analysis::RootView;
use crate::interpolation::{has_tokens, root_of};
use crate::lookup::{Environment, EnvironmentConfig};
use crate::regexp::Regexp;
use crate::scope::KnownNodes;
use crate::value::Value;
use crate::workspace::{
    File, Files as _, Format, KeyDiff, KeyFact, KeyState, LOOKUP_OPTIONS, RootKind, Snapshot,
    differences_of_keys, path,
};

/// Folders of a module with functions and types.
const CODE_FOLDERS: [&str; 3] = ["/functions/", "/types/", "/lib/"];

/// The keys that can differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Touched {
    /// Any.
    All,
    /// These top-level keys.
    Keys(BTreeSet<Arc<str>>),
}

impl Touched {
    /// Whether a key, by its name in lookups, can differ.
    pub(crate) fn holds(&self, key: &Arc<str>) -> bool {
        match self {
            Touched::All => true,
            Touched::Keys(keys) => keys.contains(&root_of(key)),
        }
    }
}

/// The possible differences between two versions.
pub(crate) struct ChangeExtent {
    touched: Touched,
    /// The top-level keys with changed entries.
    edited: BTreeSet<Arc<str>>,
    /// The indexes of nodes that can get another value, in order.
    pub(super) members: Vec<usize>,
}

/// A file in two versions; `None` if a version lacks it.
type FileVersions<'a> = [Option<&'a Arc<File>>; 2];

/// The existing versions of a file, with their snapshots.
fn existing<'a>(
    versions: [&'a Snapshot; 2],
    file: FileVersions<'a>,
) -> impl Iterator<Item = (&'a Snapshot, &'a Arc<File>)> {
    let versions = versions.into_iter().zip(file);
    versions.filter_map(|(snapshot, file)| Some((snapshot, file?)))
}

/// Whether manifests set different variables for a node. Evaluates them for all nodes.
fn manifests_differ(before: &KnownNodes, after: &KnownNodes) -> bool {
    let assigned = |nodes: &KnownNodes, member| nodes.assigned(member).unwrap_or_default();
    let is_run = before.has_manifests() || after.has_manifests();
    let is_same = |member| assigned(before, member).has_same_values(&assigned(after, member));
    is_run && before.id() != after.id() && !(0..after.len()).all(is_same)
}

impl ChangeExtent {
    /// The possible differences between two views of the same root. O(files); O(patterns × keys) if
    /// patterns in `lookup_options` change.
    pub(crate) fn of(before: &RootView<'_>, after: &RootView<'_>) -> ChangeExtent {
        let everything = || ChangeExtent {
            touched: Touched::All,
            edited: BTreeSet::new(),
            members: (0..after.analysis.nodes.len()).collect(),
        };
        if manifests_differ(before.analysis.nodes, after.analysis.nodes) {
            return everything();
        }
        let versions = [before.analysis.snapshot, after.analysis.snapshot];
        let folders = WorkspaceFolders::of(before, after);
        let modules = folders.other_modules(&before.environment, &after.environment);
        let Some(mut whole_modules) = modules else {
            return everything();
        };
        let readable = [Readable::new(before), Readable::new(after)];
        let mut data = Vec::new();
        let mut members = BTreeSet::new();
        for file in changed(versions, &folders) {
            let files: Vec<_> = existing(versions, file).collect();
            let mut configured = files
                .iter()
                .filter_map(|(snapshot, file)| snapshot.roots().of_config(file.path()));
            match configured.next().map(|root| &root.kind) {
                Some(RootKind::Module { name }) => {
                    whole_modules.insert(name.clone());
                    continue;
                }
                Some(RootKind::Environment | RootKind::Global) => return everything(),
                None => {}
            }
            let is_read = |(_, file): &(&Snapshot, &Arc<File>)| {
                readable.iter().any(|readable| readable.reads(file.path()))
            };
            if !files.iter().any(is_read) {
                let is_code = |folder| files.iter().any(|(_, file)| file.path().contains(folder));
                if CODE_FOLDERS.into_iter().any(is_code) {
                    return everything();
                }
                continue;
            }
            for ((view, readable), file) in [before, after].into_iter().zip(&readable).zip(file) {
                let readers = file.map(|file| readable.readers(view, file.path()));
                members.extend(readers.into_iter().flatten());
            }
            data.push(file);
        }
        let mut names = BTreeSet::new();
        for module in &whole_modules {
            add_keys_of_module(versions, module, &mut names);
        }
        let mut edited = BTreeSet::new();
        for [before, after] in &data {
            edited.extend(differences_of_keys(*before, *after).touched().cloned());
        }
        ChangeExtent {
            touched: touched_by(versions, &data, names),
            edited,
            members: match whole_modules.is_empty() {
                true => members.into_iter().collect(),
                false => everything().members,
            },
        }
    }

    /// Whether a key, by its name in lookups, has changed entries itself.
    pub(super) fn is_edited(&self, key: &Arc<str>) -> bool {
        self.edited.contains(&root_of(key))
    }

    /// The keys that can differ, by their names in lookups, in byte order.
    pub(crate) fn keys(&self, before: &RootView<'_>, after: &RootView<'_>) -> Vec<Arc<str>> {
        let mut keys: BTreeSet<Arc<str>> = BTreeSet::new();
        match &self.touched {
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
        keys.into_iter().collect()
    }
}

/// Adds the keys of a module.
fn add_keys_of_module(versions: [&Snapshot; 2], module: &str, keys: &mut BTreeSet<Arc<str>>) {
    let prefix = format!("{module}::");
    for snapshot in versions {
        keys.extend(snapshot.key_names(&prefix).cloned());
    }
}

/// The folders of two versions of a workspace.
struct WorkspaceFolders<'a> {
    before: &'a str,
    after: &'a str,
}

impl<'a> WorkspaceFolders<'a> {
    /// The workspace folders around two roots; the roots' folders if their paths below those differ.
    fn of(before: &'a RootView<'_>, after: &'a RootView<'_>) -> WorkspaceFolders<'a> {
        let around = |view: &'a RootView<'_>| {
            let folders = view.analysis.snapshot.folders().iter();
            let around = folders.filter(|folder| path::within(&view.root.dir, folder).is_some());
            around.max_by_key(|folder| folder.len())
        };
        let rest = |view: &RootView<'_>, folder: &str| {
            path::within(&view.root.dir, folder).map(str::to_owned)
        };
        let (before, after) = match (around(before), around(after)) {
            (Some(old), Some(new)) if rest(before, old) == rest(after, new) => (old, new),
            (_, _) => (&before.root.dir, &after.root.dir),
        };
        WorkspaceFolders { before, after }
    }

    /// The path in the new version.
    fn forward<'p>(&self, at: &'p str) -> Cow<'p, str> {
        onto(at, self.before, self.after)
    }

    /// The path in the old version.
    fn back<'p>(&self, at: &'p str) -> Cow<'p, str> {
        onto(at, self.after, self.before)
    }

    fn same_config(&self, before: &EnvironmentConfig, after: &EnvironmentConfig) -> bool {
        if let (EnvironmentConfig::Elsewhere(old), EnvironmentConfig::Elsewhere(new)) =
            (before, after)
        {
            return *self.forward(old) == **new;
        }
        before == after
    }

    /// The modules that differ between two environments; `None` if other settings differ.
    fn other_modules(
        &self,
        before: &Environment,
        after: &Environment,
    ) -> Option<BTreeSet<Arc<str>>> {
        let same = |old: &Option<Arc<str>>, new: &Option<Arc<str>>| {
            old.as_deref().map(|at| self.forward(at)) == new.as_deref().map(Cow::Borrowed)
        };
        let moved = before.modulepath.iter().map(|at| self.forward(at));
        let is_same = before.name == after.name
            && before.data_provider == after.data_provider
            && same(&before.dir, &after.dir)
            && self.same_config(&before.config, &after.config)
            && same(&before.global_dir, &after.global_dir)
            && same(&before.global_config, &after.global_config)
            && moved.eq(after.modulepath.iter().map(|at| Cow::Borrowed(&**at)));
        if !is_same {
            return None;
        }
        let (old, new) = (before.modules.iter(), after.modules.iter());
        let old: BTreeSet<_> = old.map(|(name, at)| (name, self.forward(at))).collect();
        let new: BTreeSet<_> = new.map(|(name, at)| (name, Cow::Borrowed(&**at))).collect();
        let other = old.symmetric_difference(&new);
        Some(other.map(|(name, _)| (*name).clone()).collect())
    }
}

fn onto<'p>(at: &'p str, from: &str, to: &str) -> Cow<'p, str> {
    match path::within(at, from) {
        Some(rest) if from != to => Cow::Owned(path::join(to, rest)),
        Some(_) | None => Cow::Borrowed(at),
    }
}

/// The files that differ between two versions. O(files).
fn changed<'a>(
    [before, after]: [&'a Snapshot; 2],
    folders: &WorkspaceFolders<'_>,
) -> Vec<FileVersions<'a>> {
    let differs =
        |old: &Arc<File>, new: &Arc<File>| !Arc::ptr_eq(old, new) && old.hash() != new.hash();
    // Versions of the same set of files share the numbers of files.
    let is_one_set = before.shape() == after.shape();
    let mut found = Vec::new();
    for file in after.files() {
        let old = match is_one_set {
            true => before.file_by_id(file.id()),
            false => before.file(&folders.back(file.path())),
        };
        if old.is_none_or(|old| differs(old, file)) {
            found.push([old, Some(file)]);
        }
    }
    if !is_one_set {
        let gone = before.files();
        let gone = gone.filter(|file| after.file(&folders.forward(file.path())).is_none());
        found.extend(gone.map(|file| [Some(file), None]));
    }
    found
}

/// The keys that can differ between two versions of a workspace, regardless of levels. O(files +
/// affected keys).
pub(super) fn touched(before: &Snapshot, after: &Snapshot) -> Touched {
    let folders = WorkspaceFolders {
        before: "/",
        after: "/",
    };
    let versions = [before, after];
    let data = changed(versions, &folders);
    let is_configuration = |file: &FileVersions<'_>| {
        let mut files = existing(versions, *file);
        files.any(|(snapshot, file)| snapshot.roots().of_config(file.path()).is_some())
    };
    if before.roots() != after.roots() || data.iter().any(is_configuration) {
        return Touched::All;
    }
    touched_by(versions, &data, BTreeSet::new())
}

/// The keys with a merge that may differ due to `lookup_options` in some files, and the keys that
/// look them up. O(files + affected keys).
pub(crate) fn merged_anew<'p>(
    versions: [&Snapshot; 2],
    paths: impl Iterator<Item = &'p Arc<str>>,
) -> Touched {
    let mut keys = BTreeSet::new();
    for path in paths {
        let file = versions.map(|snapshot| snapshot.file(path));
        let diff = differences_of_keys(file[0], file[1]);
        match touched_by_options(versions, file, &diff) {
            Some(found) => keys.extend(found),
            None => return Touched::All,
        }
    }
    with_users(versions, keys)
}

/// The keys that changed data files can affect, and `keys`.
fn touched_by(
    versions: [&Snapshot; 2],
    data: &[FileVersions<'_>],
    mut keys: BTreeSet<Arc<str>>,
) -> Touched {
    // A file that Puppet refuses fails every lookup that reads it; one without a hash may do so
    // too. A file with an unknown format may contain anything.
    let decides = |(snapshot, file): (&Snapshot, &Arc<File>)| {
        let is_unread = file.facts().error.is_some() || file.facts().keys.is_empty();
        file.format()
            .is_none_or(|format| is_unread && !is_empty(snapshot, file, format))
    };
    for &file in data {
        if existing(versions, file).any(decides) {
            return Touched::All;
        }
        let diff = differences_of_keys(file[0], file[1]);
        keys.extend(diff.touched().cloned());
        match touched_by_options(versions, file, &diff) {
            Some(found) => keys.extend(found),
            None => return Touched::All,
        }
    }
    with_users(versions, keys)
}

/// Whether a file is a hash without keys.
fn is_empty(snapshot: &Snapshot, file: &File, format: Format) -> bool {
    let data = snapshot.data_of(file, format);
    let hash = data.loaded.as_ref().ok().and_then(Value::as_hash);
    hash.is_some_and(|hash| hash.is_empty())
}

/// The keys that a change of a file's `lookup_options` can affect, if there is one; `None` if it
/// can affect any key.
fn touched_by_options(
    versions: [&Snapshot; 2],
    file: FileVersions<'_>,
    diff: &KeyDiff,
) -> Option<BTreeSet<Arc<str>>> {
    if !diff.touched().any(|name| **name == *LOOKUP_OPTIONS) {
        return Some(BTreeSet::new());
    }
    let is_orderly = |(snapshot, file): (&Snapshot, &Arc<File>)| {
        let format = file.format().unwrap_or(Format::Yaml);
        let options = snapshot.value_of(file, LOOKUP_OPTIONS, format);
        options.is_none_or(|options| {
            let names = options.as_hash().map(|hash| hash.keys());
            names.is_some_and(|mut names| names.all(|name| name.as_str().is_some()))
        })
    };
    // Options that are no hash fail every lookup; the error depends on all options.
    let all_are_hashes = |snapshot: &Snapshot| {
        let mut files = snapshot.iter_files_with(LOOKUP_OPTIONS);
        files.all(|file| !file.facts().lookup_options.is_empty())
    };
    // If no entry differs, something else does: the order, an alias.
    let is_plain = !diff.lookup_options.is_empty()
        && existing(versions, file).all(is_orderly)
        && versions.into_iter().all(all_are_hashes)
        && !diff.lookup_options.iter().any(|name| has_tokens(name));
    if !is_plain {
        return None;
    }
    let mut touched: BTreeSet<Arc<str>> = diff.lookup_options.iter().cloned().collect();
    // A module with options for foreign keys fails for all of its keys.
    let mut roots =
        existing(versions, file).filter_map(|(snapshot, file)| snapshot.root_of(file.path()));
    if let Some(RootKind::Module { name }) = roots.next().map(|root| &root.kind) {
        add_keys_of_module(versions, name, &mut touched);
    }
    // The first matching pattern wins, so the order matters.
    let is_pattern = |name: &&Arc<str>| name.starts_with('^');
    let [old, new] = file.map(|file| {
        let options = file
            .into_iter()
            .flat_map(|file| &file.facts().lookup_options);
        let names = options.map(|option| &option.pattern);
        names.filter(is_pattern).collect::<Vec<&Arc<str>>>()
    });
    let kept = old.iter().filter(|name| new.contains(name));
    let same_order = kept.eq(new.iter().filter(|name| old.contains(name)));
    let mut changed: Vec<&Arc<str>> = diff.lookup_options.iter().filter(is_pattern).collect();
    if !same_order {
        changed.extend(old.into_iter().chain(new));
    }
    for pattern in changed {
        // A pattern that does not compile fails every lookup.
        let pattern = Regexp::new(pattern).ok()?;
        for snapshot in versions {
            let names = snapshot.key_names("");
            let names = names.filter(|name| pattern.is_match(name).unwrap_or(true));
            touched.extend(names.cloned());
        }
    }
    Some(touched)
}

/// Some keys and those that look them up, directly or indirectly. O(files + found keys).
fn with_users(versions: [&Snapshot; 2], mut keys: BTreeSet<Arc<str>>) -> Touched {
    for snapshot in versions {
        let mut open: Vec<Arc<str>> = keys.iter().cloned().collect();
        let tangled = snapshot.files().filter(|file| file.facts().is_tangled);
        let mut tangles: HashMap<Arc<str>, BTreeSet<Arc<str>>> = HashMap::new();
        for file in tangled.filter(|_| !open.is_empty()) {
            add_tangles(file, &mut tangles);
        }
        while let Some(key) = open.pop() {
            let tangles = tangles.remove(&key).into_iter().flatten();
            for user in snapshot.references().users(&key).cloned().chain(tangles) {
                if keys.insert(user.clone()) {
                    open.push(user);
                }
            }
        }
    }
    Touched::Keys(keys)
}

/// Adds the keys of a tangled file to the users of the keys that their values may look up.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::random_workspace::{FILES, workspace};

    /// The keys that a new text of the last file can affect; `None` for all.
    fn check(before: &str, after: &str) -> Option<Vec<String>> {
        let with = |text: &str| {
            let mut texts = vec!["m::b: 1\n".to_owned(); FILES.len()];
            texts[FILES.len() - 1] = text.to_owned();
            workspace(&texts)
        };
        match touched(&with(before), &with(after)) {
            Touched::All => None,
            Touched::Keys(keys) => Some(keys.iter().map(|key| key.to_string()).collect()),
        }
    }

    #[test]
    fn a_file_without_its_last_key_touches_that_key_alone() {
        assert_eq!(check("a: 1\n", "{}\n"), Some(vec!["a".to_owned()]));
        assert_eq!(check("{}\n", "a: 1\n"), Some(vec!["a".to_owned()]));
    }

    #[test]
    fn a_file_that_is_not_a_hash_can_touch_any_key() {
        assert_eq!(check("a: 1\n", "[a]\n"), None);
        assert_eq!(check("a: 1\n", "a: [\n"), None);
        assert_eq!(check("a: 1\n", "? [a]\n: 1\n"), None);
    }
}
