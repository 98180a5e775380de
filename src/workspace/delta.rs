//! The difference between two snapshots, file by file.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::code::CodeFacts;
use super::facts::{self, FileFacts, KeyDiff};
use super::file::{File, FileId};
use super::path;
use super::snapshot::{Snapshot, seen};

/// The differences from a snapshot to the previous one.
#[derive(Clone, Debug, Default)]
pub struct Delta {
    /// Files whose text, place or readability changed, ordered by id.
    pub files: Vec<FileDelta>,
    /// Paths that were added or changed between file and folder, ordered by bytes.
    pub appeared: Vec<Arc<str>>,
    /// Removed paths, ordered by bytes.
    pub vanished: Vec<Arc<str>>,
    /// Whether the roots or their properties changed.
    pub roots_changed: bool,
    /// Whether the settings changed.
    pub settings_changed: bool,
    /// Whether a path appeared or vanished that is neither a data file nor a folder.
    pub others_moved: bool,
    /// The [stamp](Snapshot::stamp) of the previous snapshot.
    pub since: u64,
}

/// One file's change.
#[derive(Clone, Debug)]
pub struct FileDelta {
    /// The id of the file.
    pub file: FileId,
    /// Its path.
    pub path: Arc<str>,
    /// Its facts as visible to lookups before; `None` if it was not in the workspace.
    pub before: Option<Arc<FileFacts>>,
    /// Its facts as visible to lookups now; `None` if it is not in the workspace.
    pub after: Option<Arc<FileFacts>>,
    keys: OnceLock<KeyDiff>,
}

impl Delta {
    /// Combines two consecutive deltas.
    fn joined(&self, earlier: &Delta) -> Delta {
        let mut files: BTreeMap<FileId, FileDelta> = BTreeMap::new();
        for file in earlier.files.iter().chain(&self.files) {
            let joined = files.entry(file.file).or_insert_with(|| file.clone());
            if joined.after.as_ref().map(Arc::as_ptr) != file.after.as_ref().map(Arc::as_ptr) {
                joined.after = file.after.clone();
                joined.keys = OnceLock::new();
            }
        }
        let moved = |before: &[Arc<str>], after: &[Arc<str>]| {
            let both: BTreeSet<Arc<str>> = before.iter().chain(after).cloned().collect();
            both.into_iter().collect()
        };
        Delta {
            files: files.into_values().collect(),
            appeared: moved(&earlier.appeared, &self.appeared),
            vanished: moved(&earlier.vanished, &self.vanished),
            roots_changed: earlier.roots_changed || self.roots_changed,
            settings_changed: earlier.settings_changed || self.settings_changed,
            others_moved: earlier.others_moved || self.others_moved,
            since: earlier.since,
        }
    }
}

impl FileDelta {
    pub(super) fn new(
        file: FileId,
        path: Arc<str>,
        before: Option<Arc<FileFacts>>,
        after: Option<Arc<FileFacts>>,
    ) -> FileDelta {
        FileDelta {
            file,
            path,
            before,
            after,
            keys: OnceLock::new(),
        }
    }

    /// The difference between two versions of a file; `None` if they have the same text.
    fn between(old: Option<&Arc<File>>, new: &Arc<File>) -> Option<FileDelta> {
        let is_same = |old: &Arc<File>| Arc::ptr_eq(old, new) || old.hash() == new.hash();
        let [before, after] = [old, Some(new)].map(|file| seen(file).cloned());
        (!old.is_some_and(is_same))
            .then(|| FileDelta::new(new.id(), new.path().clone(), before, after))
    }

    /// The change back.
    fn undone(&self) -> FileDelta {
        let FileDelta {
            file,
            path,
            before,
            after,
            keys: _,
        } = self.clone();
        FileDelta::new(file, path, after, before)
    }

    /// The facts before and after.
    #[must_use]
    pub fn versions(&self) -> [Option<&FileFacts>; 2] {
        [self.before.as_deref(), self.after.as_deref()]
    }

    /// The facts about its code before and after.
    #[must_use]
    pub fn codes(&self) -> [Option<&CodeFacts>; 2] {
        self.versions().map(|facts| facts?.code.as_deref())
    }

    /// The keys that its tokens look up before and after.
    #[must_use]
    pub fn looked_up(&self) -> [BTreeSet<Arc<str>>; 2] {
        let versions = self.versions();
        versions.map(|facts| facts.map_or_else(BTreeSet::new, FileFacts::looked_up))
    }

    /// The keys affected by the edit: O(keys of the file), once.
    #[must_use]
    pub fn keys(&self) -> &KeyDiff {
        let diff = || facts::diff(self.before.as_deref(), self.after.as_deref());
        self.keys.get_or_init(diff)
    }
}

impl Snapshot {
    /// This snapshot with a delta that combines the delta of `earlier` and all changes since.
    /// `earlier` is the snapshot right before this one.
    #[must_use]
    pub fn joined(&self, earlier: &Snapshot) -> Snapshot {
        Snapshot {
            delta: Arc::new(self.delta.joined(&earlier.delta)),
            ..self.clone()
        }
    }

    /// The files that differ from an earlier snapshot, with their paths in this one. `folders` are
    /// the folders of the earlier one and of this one in which files with the same relative path are
    /// compared. O(these files) if one snapshot was made from the other by one change, otherwise
    /// O(files).
    #[must_use]
    pub fn files_since<'a>(
        &'a self,
        earlier: &'a Snapshot,
        folders: [&str; 2],
    ) -> Cow<'a, [FileDelta]> {
        if self.stamp == earlier.stamp {
            return Cow::Borrowed(&[]);
        }
        if self.delta.since == earlier.stamp {
            return Cow::Borrowed(&self.delta.files);
        }
        if earlier.delta.since == self.stamp {
            return earlier.delta.files.iter().map(FileDelta::undone).collect();
        }
        let [old_folder, folder] = folders;
        // Versions of the same set of files share the numbers of files.
        let is_one_set = earlier.shape == self.shape;
        let mut found = Vec::new();
        for file in self.files() {
            let old = if is_one_set {
                earlier.file_by_id(file.id())
            } else {
                earlier.file(&path::onto(file.path(), folder, old_folder))
            };
            found.extend(FileDelta::between(old, file));
        }
        if !is_one_set {
            let gone = earlier.files().filter_map(|old| {
                let here = path::onto(old.path(), old_folder, folder);
                let before = seen(Some(old)).cloned();
                let gone = || FileDelta::new(old.id(), Arc::from(&*here), before, None);
                self.file(&here).is_none().then(gone)
            });
            found.extend(gone);
        }
        Cow::Owned(found)
    }
}
