//! The keys and nodes with possible differences between two versions of a root's files: of one
//! workspace, or of two checkouts. No lookups are made.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::difference::keys_below;
use super::{Readable, RootView, Touched, TouchedKeys, all_keys, written};
use crate::interpolation::root_of;
use crate::lookup::{Environment, EnvironmentConfig};
use crate::scope::KnownNodes;
use crate::workspace::{FileDelta, RootKind, path};

/// Folders of a module with functions and types.
const CODE_FOLDERS: [&str; 3] = ["/functions/", "/types/", "/lib/"];

/// The possible differences between two versions.
pub struct ChangeExtent {
    touched: TouchedKeys,
    /// The top-level keys with changed entries.
    edited: BTreeSet<Arc<str>>,
    /// The indexes of nodes that can get another value, in order.
    pub members: Vec<usize>,
    /// The changed files, by their paths in the new version.
    files: Vec<FileDelta>,
    /// The folders of both versions.
    folders: [Box<str>; 2],
}

impl ChangeExtent {
    /// The possible differences between two views of the same root. Costs as much as
    /// [`super::difference`], and for each changed file O(levels).
    #[must_use]
    pub fn of(before: &RootView<'_>, after: &RootView<'_>) -> ChangeExtent {
        let folders = WorkspaceFolders::of(before, after);
        let views = [before, after];
        let snapshots = views.map(|view| view.analysis.snapshot);
        let files = snapshots[1].files_since(snapshots[0], [folders.before, folders.after]);
        let everything = || ChangeExtent {
            touched: TouchedKeys::All,
            edited: BTreeSet::new(),
            members: (0..after.analysis.nodes.len()).collect(),
            files: files.to_vec(),
            folders: [folders.before.into(), folders.after.into()],
        };
        if manifests_differ(before.analysis.nodes, after.analysis.nodes) {
            return everything();
        }
        let modules = folders.other_modules(&before.environment, &after.environment);
        let Some(mut whole_modules) = modules else {
            return everything();
        };
        let readable = views.map(Readable::new);
        let mut data: Vec<FileDelta> = Vec::new();
        let mut members = BTreeSet::new();
        for file in files.iter() {
            let paths = [folders.back(&file.path), Cow::Borrowed(&*file.path)];
            let exists = file.versions().map(|facts| facts.is_some());
            let versions = || [0, 1].into_iter().filter(|&side| exists[side]);
            let mut configured =
                versions().filter_map(|side| snapshots[side].roots().of_config(&paths[side]));
            match configured.next().map(|root| &root.kind) {
                Some(RootKind::Module { name }) => {
                    whole_modules.insert(name.clone());
                    continue;
                }
                Some(RootKind::Environment | RootKind::Global | RootKind::Plans) => {
                    return everything();
                }
                None => {}
            }
            if !versions().any(|side| readable.iter().any(|it| it.reads(&paths[side]))) {
                let is_code = |folder| versions().any(|side| paths[side].contains(folder));
                if CODE_FOLDERS.into_iter().any(is_code) {
                    return everything();
                }
                continue;
            }
            for side in versions() {
                members.extend(readable[side].readers(views[side], &paths[side]));
            }
            data.push(file.clone());
        }
        let mut touched = Touched::of(snapshots[1], Cow::Owned(data));
        let edited = touched.edited.clone();
        for module in &whole_modules {
            let keys = snapshots.into_iter().flat_map(|it| keys_below(it, module));
            touched.edited.extend(keys);
        }
        ChangeExtent {
            touched: touched.keys(),
            edited,
            members: if whole_modules.is_empty() {
                members.into_iter().collect()
            } else {
                everything().members
            },
            files: files.to_vec(),
            folders: [folders.before.into(), folders.after.into()],
        }
    }

    /// A path of the old version as it is in the new one.
    #[must_use]
    pub fn forward<'p>(&self, at: &'p str) -> Cow<'p, str> {
        path::onto(at, &self.folders[0], &self.folders[1])
    }

    /// Whether a file, by its path in the new version, has other entries of a top-level key.
    #[must_use]
    pub fn changes(&self, at: &str, key: &str) -> bool {
        let mut files = self.files.iter();
        let file = files.find(|file| *file.path == *at);
        file.is_some_and(|file| file.keys().touched().any(|changed| **changed == *key))
    }

    /// Whether a key, by its name in lookups, has changed entries itself.
    #[must_use]
    pub fn is_edited(&self, key: &Arc<str>) -> bool {
        self.edited.contains(&root_of(key))
    }

    /// The keys that can differ, by their names in lookups, in byte order.
    #[must_use]
    pub fn keys(&self, before: &RootView<'_>, after: &RootView<'_>) -> Vec<Arc<str>> {
        let mut keys: BTreeSet<Arc<str>> = BTreeSet::new();
        match &self.touched {
            TouchedKeys::All => {
                keys.extend(all_keys(after));
                keys.extend(all_keys(before));
            }
            TouchedKeys::Keys(touched) => {
                let (before, after) = (Readable::new(before), Readable::new(after));
                let found = touched.iter();
                let found = found.filter(|key| after.holds(key) || before.holds(key));
                keys.extend(found.map(written));
            }
        }
        keys.into_iter().collect()
    }
}

/// Whether manifests set different variables for a node. Evaluates them for all nodes.
fn manifests_differ(before: &KnownNodes, after: &KnownNodes) -> bool {
    let assigned = |nodes: &KnownNodes, member| nodes.assigned(member).unwrap_or_default();
    let is_run = before.has_manifests() || after.has_manifests();
    let is_same = |member| assigned(before, member).has_same_values(&assigned(after, member));
    is_run && before.id() != after.id() && !(0..after.len()).all(is_same)
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
        path::onto(at, self.before, self.after)
    }

    /// The path in the old version.
    fn back<'p>(&self, at: &'p str) -> Cow<'p, str> {
        path::onto(at, self.after, self.before)
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
