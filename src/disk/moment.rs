//! The disk as requests see it that were asked together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::batch::DiskFiles;
use super::read::{Stamp, kind_of};
use crate::value::{KeyHashing, LoadError};
use crate::workspace::{DataFile, FileKind, Files, Format};

/// What stands at a path, if anything.
type Seen = Option<(FileKind, Stamp)>;

/// What stands in a folder.
type Listed = Vec<(Arc<str>, FileKind)>;

/// The files of a [`DiskFiles`] for the time of one request, or of several that had come before
/// the first of them is answered: each path is looked at once, so that a file that changes
/// meanwhile is not half the old one. A lookup asks for most paths several times, and a look takes longer
/// than all the rest.
#[derive(Debug)]
pub struct Moment<'a> {
    disk: &'a DiskFiles,
    seen: Mutex<HashMap<Box<str>, Seen, KeyHashing>>,
    listed: Mutex<HashMap<Box<str>, Listed, KeyHashing>>,
}

impl<'a> Moment<'a> {
    pub(super) fn of(disk: &'a DiskFiles) -> Moment<'a> {
        Moment {
            disk,
            seen: Mutex::default(),
            listed: Mutex::default(),
        }
    }

    fn look(&self, path: &str) -> Seen {
        // Each change of the table is one insertion: it is whole even after a panic.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = seen.get(path) {
            return *known;
        }
        let metadata = std::fs::metadata(path).ok();
        let found = metadata.and_then(|at| Some((kind_of(&at)?, Stamp::of(&at))));
        seen.insert(Box::from(path), found);
        found
    }

    fn stamp(&self, path: &str) -> Option<Stamp> {
        self.look(path).map(|(_, stamp)| stamp)
    }
}

impl Files for Moment<'_> {
    fn kind(&self, path: &str) -> Option<FileKind> {
        self.look(path).map(|(kind, _)| kind)
    }

    fn list(&self, folder: &str) -> Vec<(Arc<str>, FileKind)> {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = listed.get(folder) {
            return known.clone();
        }
        let found = self.disk.list(folder);
        listed.insert(Box::from(folder), found.clone());
        found
    }

    fn is_link(&self, path: &str) -> bool {
        self.disk.is_link(path)
    }

    fn text(&self, path: &str) -> Result<Arc<str>, LoadError> {
        self.disk.text_at(path, self.stamp(path))
    }

    fn data(&self, path: &str, format: Format) -> Arc<DataFile> {
        self.disk.data_at(path, format, self.stamp(path))
    }
}
