//! The files of a git revision, in the same form as a scanned folder.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use gix_hash::{Kind as HashKind, ObjectId};
use gix_object::tree::EntryKind;
use gix_object::{Kind, TreeRefIter};

use super::excluded::Excluded;
use super::{GitError, Repository};
use crate::disk::folder::{open, read_areas};
use crate::disk::ignore::{DataFolders, Ignore, names_data_folders};
use crate::disk::read::{self, Want};
use crate::disk::walk::{MAX_DEPTH, MAX_FILES, walk};
use crate::workspace::{
    Change, Content, DiskEntry, FileKind, FileSettings, LARGEST_FILE, Linked, Lost, Snapshot,
    Workspace, path, too_large,
};

/// Maximum number of links to folders that lead to links to folders.
const MAX_LINKS: usize = 8;

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
    let mut reading = RevisionReader {
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
enum GitEntry {
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

struct RevisionReader {
    ignore: Ignore,
    repositories: Vec<Repository>,
    entries: BTreeMap<String, GitEntry>,
}

impl RevisionReader {
    /// The tree at a path below a tree.
    fn subtree(&self, tree: ObjectId, prefix: &str) -> Result<ObjectId, GitError> {
        let mut tree = tree;
        for name in prefix.split('/').filter(|name| !name.is_empty()) {
            let lines = lines(&self.repositories[0], &tree)?;
            let mut lines = lines.into_iter();
            let found = lines.find(|line| line.name == name && line.kind == EntryKind::Tree);
            let missing = || GitError::new(format!("there is no folder '{prefix}'"));
            tree = found.ok_or_else(missing)?.id;
        }
        Ok(tree)
    }

    fn tree(
        &mut self,
        repository: usize,
        tree: ObjectId,
        at: &str,
        depth: usize,
    ) -> Result<(), GitError> {
        if depth > MAX_DEPTH {
            tracing::warn!("{at}: is too many folders deep and is skipped");
            return Ok(());
        }
        for TreeLine { name, kind, id } in lines(&self.repositories[repository], &tree)? {
            let path = format!("{at}/{name}");
            if self.entries.len() >= MAX_FILES {
                return Err(GitError::new(format!(
                    "the revision holds more than {MAX_FILES} files"
                )));
            }
            let folder = GitEntry::Folder { target: None };
            match kind {
                EntryKind::Blob | EntryKind::BlobExecutable => {
                    let entry = GitEntry::File(repository, id, Linked::No);
                    self.entries.insert(path, entry);
                }
                EntryKind::Link => {
                    let object = self.repositories[repository].objects.read(&id)?;
                    if let Ok(target) = String::from_utf8(object.bytes) {
                        self.entries.insert(path, GitEntry::Link(target));
                    }
                }
                EntryKind::Tree => {
                    self.entries.insert(path.clone(), folder);
                    if !self.ignore.skips(&path) {
                        self.tree(repository, id, &path, depth + 1)?;
                    }
                }
                EntryKind::Commit => {
                    self.entries.insert(path.clone(), folder);
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
        for _ in 0..MAX_LINKS {
            let links = self.entries.iter().filter_map(|(at, entry)| match entry {
                GitEntry::Link(target) => Some((at.clone(), target.clone())),
                _ => None,
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
            if matches!(entry, GitEntry::Link(_)) {
                *entry = GitEntry::LostLink(Lost::Here);
            }
        }
    }

    fn link(&mut self, folder: &str, at: &str, target: &str) {
        let around = path::parent(at).unwrap_or(folder);
        let leads = path::normalise(&path::join(around, target));
        if path::within(&leads, folder).is_none() {
            // Git does not know what is at this path.
            let entry = match read::entry(&leads, Want::Name) {
                DiskEntry::File { .. } => Some(GitEntry::OnDisk(Linked::To(None))),
                DiskEntry::Directory { .. } => None,
                DiskEntry::LostLink(_) | DiskEntry::Absent => {
                    Some(GitEntry::LostLink(Lost::Outside))
                }
            };
            self.put(at, entry);
            return;
        }
        match self.entries.get(&leads).cloned() {
            Some(GitEntry::File(repository, id, _)) => {
                self.put(
                    at,
                    Some(GitEntry::File(
                        repository,
                        id,
                        Linked::To(Some(Arc::from(leads.as_str()))),
                    )),
                );
            }
            // The next link is resolved first.
            Some(GitEntry::Link(_)) => {}
            Some(GitEntry::Folder { target }) => {
                let real = target.unwrap_or_else(|| Arc::from(leads.as_str()));
                self.put(at, Some(GitEntry::Folder { target: Some(real) }));
                if path::within(at, &leads).is_some() {
                    return;
                }
                let start = format!("{leads}/");
                let below = self.entries.range(start.clone()..);
                let below = below.take_while(|(known, _)| known.starts_with(&start));
                let room = MAX_FILES.saturating_sub(self.entries.len());
                let copies: Vec<(String, GitEntry)> = below
                    .take(room)
                    .map(|(known, entry)| {
                        let entry = match entry {
                            // A relative link is resolved from its real location.
                            GitEntry::Link(target) if !target.starts_with('/') => {
                                let real = path::parent(known).unwrap_or(&leads);
                                GitEntry::Link(path::normalise(&path::join(real, target)))
                            }
                            _ => entry.clone(),
                        };
                        (format!("{at}/{}", &known[start.len()..]), entry)
                    })
                    .collect();
                self.entries.extend(copies);
            }
            Some(GitEntry::LostLink(lost)) => self.put(at, Some(GitEntry::LostLink(lost))),
            Some(GitEntry::OnDisk(_)) => self.put(at, None),
            None => {
                let mut above = std::iter::successors(path::parent(&leads), |at| path::parent(at));
                if above.any(|at| matches!(self.entries.get(at), Some(GitEntry::Link(_)))) {
                    // The folder's link is resolved first.
                    return;
                }
                // The target may be an unversioned file.
                let is_lost = read::entry(&leads, Want::Name) == DiskEntry::Absent;
                self.put(at, is_lost.then_some(GitEntry::LostLink(Lost::Here)));
            }
        }
    }

    fn put(&mut self, at: &str, entry: Option<GitEntry>) {
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
            if self.entries.contains_key(at) || self.entries.len() >= MAX_FILES {
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
                    Ok(FileKind::Directory) => GitEntry::Folder {
                        target: found.target,
                    },
                    Ok(FileKind::File) => GitEntry::OnDisk(found.linked),
                    Err(lost) => GitEntry::LostLink(lost),
                };
                self.add_folders(at, folder);
                self.entries.insert(at.to_string(), entry);
            }
        }
    }

    /// Adds the folders around a path: git has no empty ones.
    fn add_folders(&mut self, at: &str, folder: &str) {
        for here in std::iter::successors(path::parent(at), |here| path::parent(here)) {
            if path::within(here, folder).is_none_or(str::is_empty)
                || self.entries.contains_key(here)
            {
                return;
            }
            let made = GitEntry::Folder { target: None };
            self.entries.insert(here.to_string(), made);
        }
    }

    fn snapshot(self, folder: &str, settings: &FileSettings) -> Result<Arc<Snapshot>, GitError> {
        let mut data_folders = DataFolders::default();
        for (at, entry) in &self.entries {
            if names_data_folders(at) {
                data_folders.learn_from(at, self.content(at, entry)?);
            }
        }
        let mut found: Vec<(Arc<str>, DiskEntry)> = Vec::with_capacity(self.entries.len());
        for (at, entry) in &self.entries {
            let entry = match entry {
                GitEntry::Folder { target } => DiskEntry::Directory {
                    target: target.clone(),
                },
                GitEntry::Link(_) => DiskEntry::LostLink(Lost::Here),
                GitEntry::LostLink(lost) => DiskEntry::LostLink(*lost),
                GitEntry::File(_, _, linked) | GitEntry::OnDisk(linked) => {
                    let content = if data_folders.reads(at) {
                        self.content(at, entry)?
                    } else {
                        Some(Content::Unread)
                    };
                    let Some(content) = content else {
                        continue;
                    };
                    let linked = linked.clone();
                    DiskEntry::File { content, linked }
                }
            };
            found.push((Arc::from(at.as_str()), entry));
        }
        let workspace = Workspace::new();
        match settings.global_hiera_yaml {
            Some(_) => read_areas(&workspace, folder, settings),
            None => open(&workspace, folder, settings),
        };
        // The folder's own files on the disk are replaced.
        Ok(workspace.apply(Change::Scanned {
            folder: Arc::from(folder),
            entries: found,
        }))
    }

    fn content(&self, at: &str, entry: &GitEntry) -> Result<Option<Content>, GitError> {
        let (repository, id) = match entry {
            GitEntry::File(repository, id, _) => (&self.repositories[*repository], id),
            GitEntry::OnDisk(_) => return Ok(read::content(at)),
            GitEntry::Folder { .. } | GitEntry::Link(_) | GitEntry::LostLink(_) => return Ok(None),
        };
        let object = repository.objects.read(id)?;
        let size = object.bytes.len() as u64;
        if size > LARGEST_FILE {
            let error = too_large(at, size, LARGEST_FILE);
            return Ok(Some(Content::Refused(Arc::new(error))));
        }
        Ok(Some(read::content_of(object.bytes)))
    }
}

struct TreeLine {
    name: String,
    kind: EntryKind,
    id: ObjectId,
}

/// The entries of a tree, without names that are invalid in a path.
fn lines(repository: &Repository, tree: &ObjectId) -> Result<Vec<TreeLine>, GitError> {
    let object = repository.objects.read(tree)?;
    let broken = || GitError::new(format!("tree {tree} is broken"));
    if object.kind != Kind::Tree {
        return Err(broken());
    }
    let mut found = Vec::new();
    for entry in TreeRefIter::from_bytes(&object.bytes, HashKind::Sha1) {
        let entry = entry.map_err(|_| broken())?;
        let Ok(name) = str::from_utf8(entry.filename) else {
            continue;
        };
        if matches!(name, "" | "." | ".." | ".git") || name.contains(['/', '\u{0}']) {
            continue;
        }
        found.push(TreeLine {
            name: name.to_string(),
            kind: entry.mode.kind(),
            id: entry.oid.to_owned(),
        });
    }
    Ok(found)
}
