//! The files of a git revision, in the same form as a scanned folder.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use gix_hash::{Kind as HashKind, ObjectId};
use gix_object::tree::EntryKind;
use gix_object::{Kind, TreeRefIter};

use super::excluded::Excluded;
use super::{GitError, Repository};
use crate::disk::ignore::{DataFolders, Ignore, names_data_folders};
use crate::disk::read::{self, Want};
use crate::disk::walk::{MOST_DEPTH, MOST_FILES, walk};
use crate::disk::workspace_disk::read_areas;
use crate::value::{LoadError, LoadErrorKind, SystemError};
use crate::workspace::{
    Change, Content, DiskEntry, FileKind, FileSettings, LARGEST_FILE, Linked, Lost, Snapshot,
    Workspace, path, too_large,
};

/// Maximum number of links to folders that lead to links to folders.
const MOST_LINKS: usize = 8;

/// The folder as of a revision: all versioned files, plus ignored files (such as installed modules)
/// as they are on the disk, since they are no part of the change.
///
/// # Errors
/// The folder is in no repository, the revision does not exist or does not contain the folder, or
/// the repository has an unsupported format.
pub fn snapshot_of_revision(
    folder: &str,
    revision: &str,
    settings: &FileSettings,
) -> Result<Arc<Snapshot>, GitError> {
    let folder = folder.trim_end_matches('/');
    let repository = Repository::around(folder)?;
    let tree = repository.tree_of(&repository.commit(revision)?)?;
    let prefix = Path::new(folder).strip_prefix(&repository.top);
    let prefix = prefix.map(|prefix| prefix.to_string_lossy().into_owned());
    let prefix = prefix.unwrap_or_default();
    let mut reading = Reading {
        ignore: Ignore::default(),
        repositories: vec![repository],
        entries: BTreeMap::new(),
    };
    let tree = reading
        .subtree(tree, &prefix)
        .map_err(|error| GitError::new(format!("revision '{revision}': {}", error.message)))?;
    reading.tree(0, tree, folder, 0)?;
    reading.links(folder);
    reading.unversioned(folder, &prefix);
    reading.snapshot(folder, settings)
}

#[derive(Clone, Debug)]
enum Entry {
    Folder {
        target: Option<Arc<str>>,
    },
    /// An object of one of the repositories.
    File(usize, ObjectId, Linked),
    /// The target of a symbolic link, as written.
    Link(String),
    LostLink(Lost),
    /// An unversioned file.
    OnDisk(Linked),
}

struct Reading {
    ignore: Ignore,
    repositories: Vec<Repository>,
    entries: BTreeMap<String, Entry>,
}

impl Reading {
    /// The tree at a path below a tree.
    fn subtree(&self, tree: ObjectId, prefix: &str) -> Result<ObjectId, GitError> {
        let mut tree = tree;
        for name in prefix.split('/').filter(|name| !name.is_empty()) {
            let lines = lines(&self.repositories[0], &tree)?;
            let found = lines.into_iter().find(|line| line.name == name);
            match found {
                Some(Line {
                    mode: Mode::Folder,
                    id,
                    ..
                }) => tree = id,
                Some(_) | None => {
                    return Err(GitError::new(format!("there is no folder '{prefix}'")));
                }
            }
        }
        Ok(tree)
    }

    /// Adds a tree of a repository as the folder `at`.
    fn tree(
        &mut self,
        repository: usize,
        tree: ObjectId,
        at: &str,
        depth: usize,
    ) -> Result<(), GitError> {
        if depth > MOST_DEPTH {
            tracing::warn!("{at}: is too many folders deep and is skipped");
            return Ok(());
        }
        for Line { name, mode, id } in lines(&self.repositories[repository], &tree)? {
            let path = format!("{at}/{name}");
            if self.entries.len() >= MOST_FILES {
                return Err(GitError::new(format!(
                    "the revision holds more than {MOST_FILES} files"
                )));
            }
            match mode {
                Mode::File => {
                    let entry = Entry::File(repository, id, Linked::No);
                    self.entries.insert(path, entry);
                }
                Mode::Link => {
                    let object = self.repositories[repository].objects.read(&id)?;
                    if let Ok(target) = String::from_utf8(object.bytes) {
                        self.entries.insert(path, Entry::Link(target));
                    }
                }
                Mode::Folder => {
                    self.entries
                        .insert(path.clone(), Entry::Folder { target: None });
                    if !self.ignore.skips(&path) {
                        self.tree(repository, id, &path, depth + 1)?;
                    }
                }
                Mode::Submodule => {
                    self.entries
                        .insert(path.clone(), Entry::Folder { target: None });
                    self.submodule(id, &path, depth)?;
                }
            }
        }
        Ok(())
    }

    /// Adds a submodule; its repository is found where it is checked out.
    fn submodule(&mut self, commit: ObjectId, at: &str, depth: usize) -> Result<(), GitError> {
        let read = Repository::at(Path::new(at)).and_then(|repository| {
            let tree = repository.tree_of(&commit)?;
            Ok((repository, tree))
        });
        match read {
            Ok((repository, tree)) => {
                self.repositories.push(repository);
                self.tree(self.repositories.len() - 1, tree, at, depth + 1)
            }
            Err(error) => {
                tracing::warn!("{at}: the submodule is not read: {error}");
                Ok(())
            }
        }
    }

    /// Resolves symbolic links by adding their targets at their places.
    fn links(&mut self, folder: &str) {
        for _ in 0..MOST_LINKS {
            let links = self.entries.iter().filter_map(|(at, entry)| match entry {
                Entry::Link(target) => Some((at.clone(), target.clone())),
                Entry::Folder { .. } | Entry::File(..) | Entry::OnDisk(_) | Entry::LostLink(_) => {
                    None
                }
            });
            let links: Vec<(String, String)> = links.collect();
            if links.is_empty() {
                return;
            }
            for (at, target) in links {
                self.link(folder, &at, &target);
            }
        }
        // The remaining links are circular.
        for entry in self.entries.values_mut() {
            if matches!(entry, Entry::Link(_)) {
                *entry = Entry::LostLink(Lost::Here);
            }
        }
    }

    fn link(&mut self, folder: &str, at: &str, target: &str) {
        let around = path::parent(at).unwrap_or(folder);
        let leads = match target.starts_with('/') {
            true => path::normalise(target),
            false => path::normalise(&path::join(around, target)),
        };
        if path::within(&leads, folder).is_none() {
            // Git does not know what is at this path.
            let entry = match read::entry(&leads, Want::Name) {
                DiskEntry::File { .. } => Some(Entry::OnDisk(Linked::Yes)),
                DiskEntry::Directory { .. } => None,
                DiskEntry::LostLink(_) | DiskEntry::Absent => Some(Entry::LostLink(Lost::Outside)),
            };
            self.put(at, entry);
            return;
        }
        match self.entries.get(&leads).cloned() {
            Some(Entry::File(repository, id, _)) => {
                self.put(at, Some(Entry::File(repository, id, Linked::Yes)));
            }
            // The next link is resolved first.
            Some(Entry::Link(_)) => {}
            Some(Entry::Folder { target }) => {
                let real = target.unwrap_or_else(|| Arc::from(leads.as_str()));
                self.put(at, Some(Entry::Folder { target: Some(real) }));
                if path::within(at, &leads).is_some() {
                    return;
                }
                let start = format!("{leads}/");
                let below = self.entries.range(start.clone()..);
                let below = below.take_while(|(known, _)| known.starts_with(&start));
                let room = MOST_FILES.saturating_sub(self.entries.len());
                let copies: Vec<(String, Entry)> = below
                    .take(room)
                    .map(|(known, entry)| {
                        let entry = match entry {
                            // A relative link is resolved from its real location.
                            Entry::Link(target) if !target.starts_with('/') => {
                                let real = path::parent(known).unwrap_or(&leads);
                                Entry::Link(path::normalise(&path::join(real, target)))
                            }
                            _ => entry.clone(),
                        };
                        (format!("{at}/{}", &known[start.len()..]), entry)
                    })
                    .collect();
                self.entries.extend(copies);
            }
            Some(Entry::LostLink(lost)) => self.put(at, Some(Entry::LostLink(lost))),
            Some(Entry::OnDisk(_)) => self.put(at, None),
            None => {
                let mut above = std::iter::successors(path::parent(&leads), |at| path::parent(at));
                if above.any(|at| matches!(self.entries.get(at), Some(Entry::Link(_)))) {
                    // The folder's link is resolved first.
                    return;
                }
                // The target may be an unversioned file.
                let is_lost = read::entry(&leads, Want::Name) == DiskEntry::Absent;
                self.put(at, is_lost.then_some(Entry::LostLink(Lost::Here)));
            }
        }
    }

    fn put(&mut self, at: &str, entry: Option<Entry>) {
        match entry {
            Some(entry) => {
                self.entries.insert(at.to_string(), entry);
            }
            None => {
                self.entries.remove(at);
            }
        }
    }

    /// Adds ignored files, and checkouts of other repositories.
    fn unversioned(&mut self, folder: &str, prefix: &str) {
        let repository = &self.repositories[0];
        let info = repository.common_dir.join("info/exclude");
        let mut excluded = Excluded::new(repository.top.clone(), &info);
        let mut foreign: Option<Arc<str>> = None;
        let walked = walk(folder, &self.ignore, &|_| {
            std::ops::ControlFlow::Continue(())
        });
        for found in walked.found {
            let at = &*found.path;
            let is_folder = found.kind == Ok(FileKind::Directory);
            if self.entries.contains_key(at) || self.entries.len() >= MOST_FILES {
                continue;
            }
            let below = path::within(at, folder).unwrap_or_default();
            let below = match prefix {
                "" => below.to_string(),
                prefix => format!("{prefix}/{below}"),
            };
            let in_foreign = |folder: &Arc<str>| path::within(at, folder).is_some();
            if is_folder
                && !foreign.as_ref().is_some_and(in_foreign)
                && std::fs::symlink_metadata(format!("{at}/.git")).is_ok()
            {
                foreign = Some(found.path.clone());
            }
            let is_foreign = foreign.as_ref().is_some_and(in_foreign);
            if is_foreign || excluded.holds(&below, is_folder) {
                let entry = match found.kind {
                    Ok(FileKind::Directory) => Entry::Folder {
                        target: found.target,
                    },
                    Ok(FileKind::File) => Entry::OnDisk(found.linked),
                    Err(lost) => Entry::LostLink(lost),
                };
                self.add_folders(at, folder);
                self.entries.insert(at.to_string(), entry);
            }
        }
    }

    /// Adds the folders around a path: git has no empty ones.
    fn add_folders(&mut self, at: &str, folder: &str) {
        let mut above = path::parent(at);
        while let Some(here) = above {
            if path::within(here, folder).is_none_or(str::is_empty)
                || self.entries.contains_key(here)
            {
                return;
            }
            self.entries
                .insert(here.to_string(), Entry::Folder { target: None });
            above = path::parent(here);
        }
    }

    fn snapshot(self, folder: &str, settings: &FileSettings) -> Result<Arc<Snapshot>, GitError> {
        let mut data_folders = DataFolders::default();
        for (at, entry) in &self.entries {
            if names_data_folders(at)
                && let Some(dir) = path::parent(at)
                && let Some(Content::Text(text)) = self.content(at, entry)?
            {
                data_folders.learn(dir, &text);
            }
        }
        let mut found: Vec<(Arc<str>, DiskEntry)> = Vec::with_capacity(self.entries.len());
        for (at, entry) in &self.entries {
            let linked = match entry {
                Entry::Folder { target } => {
                    let target = target.clone();
                    found.push((Arc::from(at.as_str()), DiskEntry::Directory { target }));
                    continue;
                }
                Entry::File(_, _, linked) | Entry::OnDisk(linked) => *linked,
                Entry::Link(_) => {
                    found.push((Arc::from(at.as_str()), DiskEntry::LostLink(Lost::Here)));
                    continue;
                }
                Entry::LostLink(lost) => {
                    found.push((Arc::from(at.as_str()), DiskEntry::LostLink(*lost)));
                    continue;
                }
            };
            let content = match data_folders.reads(at) {
                true => self.content(at, entry)?,
                false => Some(Content::Unread),
            };
            if let Some(content) = content {
                let entry = DiskEntry::File { content, linked };
                found.push((Arc::from(at.as_str()), entry));
            }
        }
        let workspace = Workspace::new();
        match settings.global_hiera_yaml {
            Some(_) => read_areas(&workspace, folder, settings),
            None => workspace.apply(Change::Batch(vec![
                Change::Folders(vec![Arc::from(folder)]),
                Change::Settings(settings.clone()),
            ])),
        };
        // The folder's own files on the disk are replaced.
        Ok(workspace.apply(Change::Scanned {
            folder: Arc::from(folder),
            entries: found,
        }))
    }

    fn content(&self, at: &str, entry: &Entry) -> Result<Option<Content>, GitError> {
        let (repository, id) = match entry {
            Entry::File(repository, id, _) => (&self.repositories[*repository], id),
            Entry::OnDisk(_) => return Ok(read::content(at)),
            Entry::Folder { .. } | Entry::Link(_) | Entry::LostLink(_) => return Ok(None),
        };
        let object = repository.objects.read(id)?;
        let size = object.bytes.len() as u64;
        if size > LARGEST_FILE {
            return Ok(Some(Content::Refused(Arc::new(LoadError {
                kind: LoadErrorKind::Io(SystemError::NotFound),
                message: too_large(at, size, LARGEST_FILE),
                range: None,
            }))));
        }
        Ok(Some(match String::from_utf8(object.bytes) {
            Ok(text) => Content::Text(Arc::from(text)),
            Err(error) => Content::Bytes(Arc::from(error.into_bytes())),
        }))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    File,
    Link,
    Folder,
    Submodule,
}

/// An entry of a tree.
#[derive(Debug)]
struct Line {
    name: String,
    mode: Mode,
    id: ObjectId,
}

/// The entries of a tree, without names that are invalid in a path.
fn lines(repository: &Repository, tree: &ObjectId) -> Result<Vec<Line>, GitError> {
    let object = repository.objects.read(tree)?;
    let broken = || GitError::new(format!("tree {tree} is broken"));
    if object.kind != Kind::Tree {
        return Err(broken());
    }
    let mut found = Vec::new();
    for entry in TreeRefIter::from_bytes(&object.bytes, HashKind::Sha1) {
        let entry = entry.map_err(|_| broken())?;
        let mode = match entry.mode.kind() {
            EntryKind::Tree => Mode::Folder,
            EntryKind::Link => Mode::Link,
            EntryKind::Commit => Mode::Submodule,
            EntryKind::Blob | EntryKind::BlobExecutable => Mode::File,
        };
        let Ok(name) = str::from_utf8(entry.filename) else {
            continue;
        };
        if matches!(name, "" | "." | ".." | ".git") || name.contains(['/', '\u{0}']) {
            continue;
        }
        found.push(Line {
            name: name.to_string(),
            mode,
            id: entry.oid.to_owned(),
        });
    }
    Ok(found)
}
