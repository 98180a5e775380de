//! The changes of a workspace. A [`Change`] is the only input of the model.

use std::sync::Arc;

use crate::value::LoadError;

/// One change. Paths are absolute, with `/` between segments, and are normalised on entry;
/// everything below a path that is no longer a folder is removed with it.
#[derive(Clone, Debug)]
pub enum Change {
    /// The editor opened or changed a document: its text now overrides the disk's.
    Open {
        /// The path of the document, which may not be saved yet.
        path: Arc<str>,
        /// The whole text.
        text: Arc<str>,
        /// The editor's version of the text.
        version: i32,
    },
    /// The editor closed a document: the disk's text is used again.
    Close {
        /// The document's path.
        path: Arc<str>,
    },
    /// The current entry on the disk at one path.
    Disk {
        /// The path; ignored outside the workspace's areas.
        path: Arc<str>,
        /// The entry.
        entry: DiskEntry,
    },
    /// All current entries on the disk below a folder: known entries that are not listed are gone.
    Scanned {
        /// The folder.
        folder: Arc<str>,
        /// Everything below the folder, without the folder itself.
        entries: Vec<(Arc<str>, DiskEntry)>,
    },
    /// All folders of the workspace. Files outside are removed; files inside a new folder must
    /// follow in `Scanned` or `Disk`.
    Folders(Vec<Arc<str>>),
    /// All settings about files.
    Settings(FileSettings),
    /// Several changes at once: one new snapshot.
    Batch(Vec<Change>),
}

impl Change {
    /// A document with this text, as its version 1.
    #[must_use]
    pub fn open(path: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Change {
        Change::Open {
            path: path.into(),
            text: text.into(),
            version: 1,
        }
    }

    /// A regular file on the disk.
    #[cfg(test)]
    #[must_use]
    pub fn file(path: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Change {
        Change::Disk {
            path: path.into(),
            entry: DiskEntry::File {
                content: Content::Text(text.into()),
                linked: Linked::No,
            },
        }
    }
}

/// The entry at a path on the disk, symbolic links followed.
#[derive(Clone, Debug, PartialEq)]
pub enum DiskEntry {
    /// Nothing, or nothing that can be data (a pipe, a device).
    Absent,
    /// A folder.
    Directory {
        /// Its real path, if the path ends in a symbolic link.
        target: Option<Arc<str>>,
    },
    /// A regular file.
    File {
        /// Its content.
        content: Content,
        /// Whether the path ends in a symbolic link.
        linked: Linked,
    },
    /// A broken symbolic link.
    LostLink(Lost),
}

/// Where a broken symbolic link leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lost {
    /// To a place in the workspace: globs match the link by its name, and nothing can be read.
    Here,
    /// Out of the workspace: its target may exist where Puppet runs.
    Outside,
}

/// Whether a path ends in a symbolic link; Ruby's `**` does not follow links to folders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Linked {
    /// An entry of its own.
    No,
    /// A symbolic link, and the path that it leads to, if that is known. It may go through other links.
    To(Option<Arc<str>>),
}

/// The content of a file on the disk.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Valid UTF-8.
    Text(Arc<str>),
    /// Bytes that are not valid UTF-8: Puppet's loaders see them, editors a lossy text.
    Bytes(Arc<[u8]>),
    /// A file of a kind that is never data: only its name is used.
    Unread,
    /// A file that cannot or must not be read.
    Refused(Arc<LoadError>),
    /// A file that is read when its content is first needed.
    Later(Later),
}

/// Reads a file on demand, at most once for each [`File`](super::File).
#[derive(Clone)]
pub struct Later(Arc<ReadContent>);

type ReadContent = dyn Fn(&str) -> Content + Send + Sync;

impl Later {
    /// Reads the content of a path; must not return [`Content::Later`].
    #[must_use]
    pub fn new(read: impl Fn(&str) -> Content + Send + Sync + 'static) -> Later {
        Later(Arc::new(read))
    }

    pub(super) fn read(&self, path: &str) -> Content {
        (self.0)(path)
    }
}

impl PartialEq for Later {
    fn eq(&self, other: &Later) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::fmt::Debug for Later {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Later")
    }
}

/// Settings that decide which files are relevant and how paths are mapped. The server accepts names
/// of places outside the workspace only from the user's own settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSettings {
    /// The configuration of the global layer; its folder becomes an area of the workspace.
    pub global_hiera_yaml: Option<Arc<str>>,
    /// Configurations that take precedence over those found by searching.
    pub chosen: Vec<ChosenRoot>,
    /// Folders to read besides the workspace's own: a shared modules folder, private data.
    pub folders: Vec<Arc<str>>,
    /// Puppet's `basemodulepath`: folders of modules after every environment's own.
    pub base_modulepath: Vec<Arc<str>>,
    /// Deployed folders with their folders on this machine, `(deployed, here)`; the longest match
    /// wins.
    pub path_map: Vec<(Arc<str>, Arc<str>)>,
}

/// A configuration that is used whatever its name and location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenRoot {
    /// The file.
    pub hiera_yaml: Arc<str>,
    /// The folder that it serves; `None` for the one where it reaches most data.
    pub dir: Option<Arc<str>>,
}

impl FileSettings {
    /// Whether a setting names exactly this file.
    pub(super) fn names(&self, at: &Arc<str>) -> bool {
        let mut chosen = self.chosen.iter();
        chosen.any(|root| root.hiera_yaml == *at) || self.global_hiera_yaml.as_ref() == Some(at)
    }
}
