//! A snapshot's files as lookups see them: deployed paths are mapped to the workspace, `..` and
//! symbolic links are followed as in a file system.

use std::borrow::Cow;
use std::ops::Bound;
use std::sync::Arc;

use super::change::{Linked, Lost};
use super::deployed;
use super::facts::OptionFact;
use super::file::{Belongs, File, unread};
use super::files::{DataFile, Entry, FileKind, Files, Format};
use super::path;
use super::paths::Paths;
use super::roots::Root;
use super::snapshot::{FileId, Snapshot};
use super::tree::{PathEntry, interior};
use crate::hierarchy::Template;
use crate::value::{LoadError, SystemError, Value};

impl Snapshot {
    /// Every file and folder of the workspace below a folder with its kind, ordered by the bytes of
    /// the paths.
    #[must_use]
    pub fn paths_below(&self, folder: &str) -> Vec<(Arc<str>, FileKind)> {
        let mut found: Vec<(Arc<str>, FileKind)> = Vec::new();
        let mut waiting = vec![folder.to_owned()];
        while let Some(folder) = waiting.pop() {
            for (name, kind) in self.names(&folder) {
                let at = path::join(&folder, &name);
                if kind == FileKind::Directory {
                    waiting.push(at.clone());
                }
                found.push((Arc::from(at), kind));
            }
        }
        found.sort();
        found
    }

    /// The path in the workspace: itself if it lies there, else mapped by the user's settings, else
    /// `…/environments/NAME/REST` under an environment that has REST's first name, preferring one
    /// called NAME; a given root comes before the others. Other paths are returned unchanged.
    #[must_use]
    pub fn map_deployed_for<'a>(&self, root: Option<&Root>, at: &'a str) -> Cow<'a, str> {
        let pairs = root.map_or(&[][..], |root| &root.deployment.path_map);
        if let Some(here) = deployed::by_pattern(at, pairs) {
            return Cow::Owned(here);
        }
        if !at.starts_with('/') || self.area_of(at).is_some() {
            return Cow::Borrowed(at);
        }
        if let Some(here) = deployed::by_setting(at, &self.settings.path_map) {
            return Cow::Owned(here);
        }
        for (name, rest) in deployed::by_environment(at) {
            let first = rest.split('/').next().unwrap_or_default();
            let is_named = |root: &&Root| path::name(&root.dir) == name;
            let named = self.roots.environments().filter(is_named);
            let others = self.roots.environments().filter(|root| !is_named(root));
            let mut all = root.into_iter().chain(named).chain(others);
            let holds = |root: &&Root| self.kind_here(&path::join(&root.dir, first)).is_some();
            if let Some(root) = all.find(holds) {
                return Cow::Owned(path::join(&root.dir, rest));
            }
        }
        Cow::Borrowed(at)
    }

    /// The files below a folder in the workspace, with their ids, unordered.
    pub(super) fn files_below<'a>(
        &'a self,
        folder: &'a str,
    ) -> impl Iterator<Item = (FileId, &'a Arc<str>)> {
        let on_disk = self.tree.below(folder);
        let on_disk = on_disk.filter(|(_, node)| node.kind() == Some(FileKind::File));
        let unsaved = self.open_below(folder);
        let unsaved = unsaved.filter(|at| self.on_disk(at).is_none() && self.area_of(at).is_some());
        let all = on_disk.map(|(at, _)| at).chain(unsaved);
        all.filter_map(|at| Some((*self.ids.get(at)?, at)))
    }

    /// The files as a lookup in one root sees them: deployed paths are mapped to this root first.
    #[must_use]
    pub fn files_for<'a>(&'a self, root: &'a Root) -> RootFiles<'a> {
        RootFiles {
            snapshot: self,
            root,
            is_deployed: false,
            is_searched: true,
        }
    }

    /// The other paths that lead to a path by symbolic links, if something is there. O(1) in a workspace without links.
    #[must_use]
    pub fn names_by_links(&self, at: &Arc<str>) -> Vec<Arc<str>> {
        self.tree.names_by_links(at)
    }

    /// The other paths of the file at a path, by symbolic links. [`Snapshot::with`] changes a file by all of them. O(1) in a
    /// workspace without links.
    #[must_use]
    pub fn other_names(&self, at: &Arc<str>) -> Vec<Arc<str>> {
        self.tree.other_names(at)
    }

    /// Whether a path leads to its file without a symbolic link.
    #[must_use]
    pub fn is_real_name(&self, at: &Arc<str>) -> bool {
        self.tree.real(at) == *at
    }

    fn is_link_here(&self, at: &str) -> bool {
        match self.tree.get(at) {
            Some(PathEntry::Directory { target }) => target.is_some(),
            Some(PathEntry::File { linked }) => *linked != Linked::No,
            Some(PathEntry::LostLink(lost)) => *lost == Lost::Here,
            None => false,
        }
    }

    /// The kind of the disk's entry at a normalised path, in the workspace.
    fn on_disk(&self, at: &str) -> Option<FileKind> {
        self.tree.get(at)?.kind()
    }

    pub(super) fn is_lost(&self, at: &str) -> bool {
        self.tree.get(at) == Some(&PathEntry::LostLink(Lost::Here)) && self.kind_here(at).is_none()
    }

    fn is_lost_for(&self, root: Option<&Root>, at: &str) -> bool {
        let here = self.map_deployed_for(root, at);
        self.resolve(&here).is_some_and(|here| self.is_lost(&here))
    }

    /// The kind of the entry at a normalised path, in the workspace.
    fn kind_here(&self, at: &str) -> Option<FileKind> {
        if let Some(kind) = self.on_disk(at) {
            return Some(kind);
        }
        self.area_of(at)?;
        if self.open.contains(at) {
            return Some(FileKind::File);
        }
        self.open_below(at).next().map(|_| FileKind::Directory)
    }

    fn open_below(&self, folder: &str) -> impl Iterator<Item = &Arc<str>> {
        let (start, end) = interior(folder);
        self.open.range::<_, str>((
            Bound::Excluded(start.as_str()),
            Bound::Excluded(end.as_str()),
        ))
    }

    /// The names in a folder of the workspace, including those of unsaved documents.
    fn names(&self, folder: &str) -> Vec<(Arc<str>, FileKind)> {
        let mut names: Vec<(Arc<str>, FileKind)> = self
            .tree
            .list(folder)
            .into_iter()
            .filter_map(|(name, kind)| Some((name, kind?)))
            .collect();
        if self.kind_here(folder) != Some(FileKind::Directory) {
            return names;
        }
        let on_disk = names.len();
        for at in self.open_below(folder) {
            if self.area_of(at).is_none() {
                continue;
            }
            let rest = path::within(at, folder.trim_end_matches('/')).unwrap_or_default();
            let (name, kind) = match rest.split_once('/') {
                Some((name, _)) => (name, FileKind::Directory),
                None => (rest, FileKind::File),
            };
            if names[..on_disk]
                .binary_search_by(|(known, _)| (**known).cmp(name))
                .is_err()
            {
                names.push((Arc::from(name), kind));
            }
        }
        if names.len() > on_disk {
            names.sort();
            names.dedup_by(|later, earlier| later.0 == earlier.0);
        }
        names
    }

    /// A normalised path, in which `..` after a symbolic link leaves from the link's target. `None`
    /// if the path does not exist.
    fn resolve<'a>(&self, at: &'a str) -> Option<Cow<'a, str>> {
        if path::is_normal(at) {
            return Some(Cow::Borrowed(at));
        }
        let mut here = String::new();
        for segment in at.split('/') {
            match segment {
                "" | "." => {}
                ".." => {
                    let folder = match self.tree.get(&here) {
                        Some(PathEntry::Directory { target }) => target.as_deref(),
                        Some(PathEntry::File { .. } | PathEntry::LostLink(_)) => return None,
                        None if self.area_of(&here).is_some()
                            && self.kind_here(&here) != Some(FileKind::Directory) =>
                        {
                            return None;
                        }
                        None => None,
                    };
                    let above = path::parent(folder.unwrap_or(&here)).unwrap_or_default();
                    here = above.trim_end_matches('/').to_owned();
                }
                name => {
                    here.push('/');
                    here.push_str(name);
                }
            }
        }
        if here.is_empty() {
            here.push('/');
        }
        let must_be_folder = at.ends_with('/') || at.ends_with("/.");
        if must_be_folder && self.kind_here(&here) == Some(FileKind::File) {
            return None;
        }
        Some(Cow::Owned(here))
    }

    /// The disk's file at a normalised path, in the workspace.
    fn file_on_disk(&self, at: &str) -> Option<&Arc<File>> {
        self.file(at)
            .filter(|file| file.belongs == Belongs::Workspace && file.disk.is_some())
    }

    fn kind_for(&self, root: Option<&Root>, at: &str) -> Option<FileKind> {
        if self.file_on_disk(at).is_some() {
            return Some(FileKind::File);
        }
        self.kind_here(&self.resolve(&self.map_deployed_for(root, at))?)
    }

    /// The file at a path of the workspace.
    fn read(&self, root: Option<&Root>, at: &str) -> Result<&Arc<File>, LoadError> {
        // Most paths are normalised and name a file that was read.
        if let Some(file) = self.file_on_disk(at) {
            return readable(file);
        }
        let missing = || SystemError::NotFound.at("rb_sysopen", at);
        let mapped = self.map_deployed_for(root, at);
        let here = self.resolve(&mapped).ok_or_else(missing)?;
        self.read_here(&here, at)
    }

    /// The file at a normalised path; errors name it as `shown`.
    fn read_here(&self, here: &str, shown: &str) -> Result<&Arc<File>, LoadError> {
        match self.kind_here(here) {
            // Puppet calls `stat` on a data file before it opens it (`Context#cached_file_data`).
            None if self.is_lost(here) => Err(SystemError::NotFound.at("rb_file_s_stat", shown)),
            None => Err(SystemError::NotFound.at("rb_sysopen", shown)),
            Some(FileKind::Directory) => Err(SystemError::IsDirectory.at("io_fread", shown)),
            Some(FileKind::File) => readable(self.file(here).ok_or_else(|| unread(here))?),
        }
    }
}

fn readable(file: &Arc<File>) -> Result<&Arc<File>, LoadError> {
    file.refused().map_or(Ok(file), |error| Err(error.clone()))
}

pub(super) fn failed(error: LoadError) -> DataFile {
    DataFile {
        loaded: Err(error),
        recovered: Value::Undef,
        later_error: None,
    }
}

/// A snapshot's files as a lookup in one root sees them.
#[derive(Clone, Copy, Debug)]
pub struct RootFiles<'a> {
    snapshot: &'a Snapshot,
    root: &'a Root,
    /// Whether files outside of the workspace may exist.
    is_deployed: bool,
    /// Whether the files that a path with unknown parts could match are searched.
    is_searched: bool,
}

impl RootFiles<'_> {
    /// The same files where they are deployed: a file that is missing here may exist there if it
    /// lies outside of the workspace. Otherwise its level tells so
    /// ([`KeyAnswer::outside`](crate::analysis::KeyAnswer::outside)). The files that a path with unknown
    /// parts could match are not searched, as this needs every text.
    #[must_use]
    pub fn deployed(self) -> Self {
        RootFiles {
            is_deployed: true,
            is_searched: false,
            ..self
        }
    }

    /// The same files, where those that a path with unknown parts could match are searched.
    #[must_use]
    pub fn searched(self) -> Self {
        RootFiles {
            is_searched: true,
            ..self
        }
    }
}

/// The files of a snapshot, as any lookup or one in a root sees them.
pub(super) trait SeenFrom: Sync {
    /// The snapshot, and the root whose deployed paths are mapped first.
    fn seen(&self) -> (&Snapshot, Option<&Root>);

    /// Whether files outside of the workspace may exist.
    fn is_deployed(&self) -> bool {
        false
    }

    /// Whether the files that a path with unknown parts could match are searched.
    fn is_searched(&self) -> bool {
        true
    }
}

impl SeenFrom for Snapshot {
    fn seen(&self) -> (&Snapshot, Option<&Root>) {
        (self, None)
    }
}

impl SeenFrom for RootFiles<'_> {
    fn seen(&self) -> (&Snapshot, Option<&Root>) {
        (self.snapshot, Some(self.root))
    }

    fn is_deployed(&self) -> bool {
        self.is_deployed
    }

    fn is_searched(&self) -> bool {
        self.is_searched
    }
}

impl<T: SeenFrom> Files for T {
    fn kind(&self, path: &str) -> Option<FileKind> {
        let (snapshot, root) = self.seen();
        snapshot.kind_for(root, path)
    }

    fn is_elsewhere(&self, folder: &str, path: &str) -> bool {
        let (snapshot, _) = self.seen();
        let folder = path::normalise(folder);
        // A path that begins with an unset variable: every machine has that folder.
        let is_known = || folder == "/" || snapshot.area_of(&folder).is_some();
        self.is_deployed() && (!is_known() || snapshot.is_behind_lost_link(&path::normalise(path)))
    }

    fn list(&self, folder: &str) -> Vec<(Arc<str>, FileKind)> {
        let (snapshot, root) = self.seen();
        let folder = snapshot.map_deployed_for(root, folder);
        let folder = snapshot.resolve(&folder);
        folder.map_or_else(Vec::new, |folder| snapshot.names(&folder))
    }

    fn lost_links(&self, folder: &str) -> Vec<Arc<str>> {
        let (snapshot, root) = self.seen();
        let folder = snapshot.map_deployed_for(root, folder);
        let Some(folder) = snapshot.resolve(&folder) else {
            return Vec::new();
        };
        let is_lost = |name: &str| snapshot.is_lost(&path::join(&folder, name));
        let names = snapshot.tree.list(&folder).into_iter();
        let lost = names.filter(|(name, kind)| kind.is_none() && is_lost(name));
        lost.map(|(name, _)| name).collect()
    }

    fn is_link(&self, path: &str) -> bool {
        let (snapshot, root) = self.seen();
        let mapped = snapshot.map_deployed_for(root, path);
        let here = snapshot.resolve(&mapped);
        here.is_some_and(|here| snapshot.is_link_here(&here))
    }

    fn text(&self, path: &str) -> Result<Arc<str>, LoadError> {
        let (snapshot, root) = self.seen();
        let mut texts = root.iter().flat_map(|root| &root.deployment.texts);
        if let Some((_, plain)) = texts.find(|(template, _)| **template == *path) {
            return Ok(Arc::clone(plain));
        }
        let file = snapshot.read(root, path)?;
        Ok(Arc::clone(file.text()))
    }

    fn data(&self, path: &str, format: Format) -> Arc<DataFile> {
        let (snapshot, root) = self.seen();
        match snapshot.read(root, path) {
            Ok(file) => snapshot.data_of(file, format),
            Err(error) => Arc::new(failed(error)),
        }
    }

    fn entry(&self, path: &str, key: &str, spent: &mut usize) -> Entry {
        let (snapshot, root) = self.seen();
        match snapshot.read(root, path) {
            Ok(file) => snapshot.entry_of(file, key, spent),
            Err(_) => Entry::Unknown,
        }
    }

    fn resolve<'a>(&self, path: &'a str) -> Cow<'a, str> {
        let (snapshot, root) = self.seen();
        snapshot.map_deployed_for(root, path)
    }

    fn has_index(&self) -> bool {
        self.is_searched()
    }

    fn files_with_key(&self, key: &str, format: Format, template: &Template) -> (Paths, Paths) {
        let (snapshot, _) = self.seen();
        if !self.is_searched() {
            return <_>::default();
        }
        snapshot.holders_and_across(key, template, Some(format))
    }

    fn options_in(&self, path: &str) -> Option<&[OptionFact]> {
        let facts = self.seen().0.file(path)?.facts();
        // Options that are no hash have no entries, and fail every lookup.
        let is_read = facts.error.is_none() && facts.later_error.is_none();
        let is_orderly = is_read && !facts.lookup_options.is_empty();
        is_orderly.then_some(&*facts.lookup_options)
    }

    fn may_hold(&self, path: &str, key: &str, format: Format) -> bool {
        let (snapshot, root) = self.seen();
        let Ok(file) = snapshot.read(root, path) else {
            return snapshot.kind_for(root, path).is_some() || snapshot.is_lost_for(root, path);
        };
        if file.format() != Some(format) {
            return snapshot.data_of(file, format).may_hold(key);
        }
        let facts = file.facts();
        // A file without keys may not be a hash, which every lookup that reads it reports.
        facts.matters_to_any_key() || facts.key(key).is_some()
    }

    fn number(&self, path: &str, format: Format) -> Option<u32> {
        let (snapshot, root) = self.seen();
        let file = snapshot.read(root, path).ok()?;
        let is_data_file = file.belongs == Belongs::Workspace && file.format() == Some(format);
        is_data_file.then_some(file.id.0)
    }

    fn mattering(&self, key: &str) -> Vec<u32> {
        let index = &self.seen().0.indexes().keys;
        let files = index.iter_files(key).chain(index.odd_files());
        files.map(|id| id.0).collect()
    }

    fn few_mattering(&self, key: &str, most: usize) -> Option<Vec<u32>> {
        if !self.is_searched() {
            return None;
        }
        let index = &self.seen().0.indexes().keys;
        let files = index.iter_files(key).chain(index.odd_files());
        let mut files: Vec<u32> = files.map(|id| id.0).take(most + 1).collect();
        files.sort_unstable();
        (files.len() <= most).then_some(files)
    }

    fn shape(&self) -> Option<u64> {
        Some(self.seen().0.shape)
    }

    fn stamp(&self) -> Option<u64> {
        Some(self.seen().0.stamp)
    }
}

/// A snapshot's files by their own paths, before its roots are known: nothing is mapped.
pub(super) struct Here<'a>(pub(super) &'a Snapshot);

impl Files for Here<'_> {
    fn kind(&self, path: &str) -> Option<FileKind> {
        self.0.kind_here(path)
    }

    fn list(&self, folder: &str) -> Vec<(Arc<str>, FileKind)> {
        self.0.names(folder)
    }

    fn is_link(&self, path: &str) -> bool {
        Files::is_link(self.0, path)
    }

    fn text(&self, path: &str) -> Result<Arc<str>, LoadError> {
        self.0
            .read_here(path, path)
            .map(|file| Arc::clone(file.text()))
    }

    fn data(&self, path: &str, format: Format) -> Arc<DataFile> {
        match self.0.read_here(path, path) {
            Ok(file) => self.0.data_of(file, format),
            Err(error) => Arc::new(failed(error)),
        }
    }
}
