//! What can happen to a workspace. A [`Change`] is the only input of the model.

use std::sync::Arc;

use crate::value::LoadError;

/// One thing that happened. Paths are absolute, with `/` between segments, and are normalised on
/// entry; everything below a path that turns out to be no folder any more goes with it.
#[derive(Clone, Debug)]
pub enum Change {
    /// The editor opened a document: from now on its text overrides the disk's.
    Open {
        /// Where the document is, or will be once it is saved.
        path: Arc<str>,
        /// Its text.
        text: Arc<str>,
        /// The editor's version of the text.
        version: i32,
    },
    /// The editor changed an open document; for one that is not open the same as `Open`.
    Edit {
        /// Which document.
        path: Arc<str>,
        /// The whole new text.
        text: Arc<str>,
        /// The editor's version of the text.
        version: i32,
    },
    /// The editor closed a document: the disk's text counts again.
    Close {
        /// Which document.
        path: Arc<str>,
    },
    /// What stands on the disk at one path by now.
    Disk {
        /// Which path; ignored outside the workspace's areas.
        path: Arc<str>,
        /// What was found there.
        entry: DiskEntry,
    },
    /// What stands on the disk below a folder by now, completely: what is known below it and not
    /// named here is gone.
    Scanned {
        /// Which folder.
        folder: Arc<str>,
        /// Everything found below the folder, the folder itself not among them.
        entries: Vec<(Arc<str>, DiskEntry)>,
    },
    /// The folders of the workspace, all of them. Files outside are removed; files inside a
    /// folder that is new must follow in `Scanned` or `Disk`.
    Folders(Vec<Arc<str>>),
    /// The settings that concern files, all of them.
    Settings(Settings),
    /// Several changes at once: one new snapshot.
    Batch(Vec<Change>),
}

/// What was found at a path on the disk, symbolic links followed.
#[derive(Clone, Debug, PartialEq)]
pub enum DiskEntry {
    /// Nothing, or nothing that can be data (a pipe, a device).
    Absent,
    /// A folder.
    Directory {
        /// Where it really is, if the path ends in a symbolic link.
        target: Option<Arc<str>>,
    },
    /// A regular file.
    File {
        /// Its content.
        content: Content,
        /// Whether the path ends in a symbolic link.
        linked: Linked,
    },
    /// A symbolic link that leads nowhere.
    LostLink(Lost),
}

/// Where a symbolic link leads that leads nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lost {
    /// To a place in the workspace: globs match the link by its name, and nothing can be read.
    Here,
    /// Out of the workspace: there may be something where Puppet runs.
    Outside,
}

/// Whether a path ends in a symbolic link; Ruby's `**` does not follow those to folders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linked {
    /// An entry of its own.
    No,
    /// A symbolic link.
    Yes,
}

/// The content of a file on the disk.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Valid UTF-8.
    Text(Arc<str>),
    /// Bytes that are not valid UTF-8: Puppet's loaders see them, editors a lossy text.
    Bytes(Arc<[u8]>),
    /// A file of a kind that is never data: only its name counts.
    Unread,
    /// A file that cannot or must not be read.
    Refused(Arc<LoadError>),
}

/// Settings that decide which files matter and what paths mean. The server fills
/// this from the user's own settings only where they name places outside the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The configuration of the global layer; its folder becomes an area of the workspace.
    pub global_hiera_yaml: Option<Arc<str>>,
    /// Configurations that come before all that are found.
    pub chosen: Vec<ChosenRoot>,
    /// Folders to read beside the workspace's own: a shared modules folder, private data.
    pub folders: Vec<Arc<str>>,
    /// Puppet's `basemodulepath`: folders of modules behind every environment's own.
    pub base_modulepath: Vec<Arc<str>>,
    /// Where deployed folders are on this machine, `(deployed, here)`, the longest match first.
    pub path_map: Vec<(Arc<str>, Arc<str>)>,
}

/// A configuration that is used whatever its name and place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenRoot {
    /// The file.
    pub hiera_yaml: Arc<str>,
    /// The folder that it serves; `None` for the one where it reaches most data.
    pub dir: Option<Arc<str>>,
}

impl Settings {
    /// Whether a setting names exactly this file.
    pub(super) fn names(&self, at: &Arc<str>) -> bool {
        let mut chosen = self.chosen.iter();
        chosen.any(|root| root.hiera_yaml == *at) || self.global_hiera_yaml.as_ref() == Some(at)
    }
}
