//! The disk as requests see it that were asked together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::batch::DiskFiles;
use super::native::native;
use super::read::{Stamp, kind_of};
use crate::value::{KeyHashing, LoadError};
use crate::workspace::{DataFile, FileKind, Files, Format};

/// What stands at a path, if anything.
type Seen = Option<(FileKind, Stamp)>;

/// What stands in a folder.
type Listed = Vec<(Arc<str>, FileKind)>;

/// What was found at paths.
type Found<T> = Mutex<HashMap<Box<str>, T, KeyHashing>>;

/// The files of a [`DiskFiles`] for the time of one request, or of several that had come before
/// the first of them is answered: each path is looked at once, so that a file that changes
/// meanwhile is not half the old one. A lookup asks for most paths several times, and a look takes longer
/// than all the rest.
#[derive(Debug)]
pub struct Moment<'a> {
    disk: &'a DiskFiles,
    seen: Found<Seen>,
    listed: Found<Listed>,
    lost: Found<Vec<Arc<str>>>,
}

impl<'a> Moment<'a> {
    pub(super) fn of(disk: &'a DiskFiles) -> Moment<'a> {
        Moment {
            disk,
            seen: Mutex::default(),
            listed: Mutex::default(),
            lost: Mutex::default(),
        }
    }

    fn look(&self, path: &str) -> Seen {
        once(&self.seen, path, || {
            let metadata = std::fs::metadata(&*native(path)).ok()?;
            Some((kind_of(&metadata)?, Stamp::of(&metadata)))
        })
    }

    fn stamp(&self, path: &str) -> Option<Stamp> {
        self.look(path).map(|(_, stamp)| stamp)
    }
}

/// What `find` finds at a path, now or before.
fn once<T: Clone>(found: &Found<T>, path: &str, find: impl FnOnce() -> T) -> T {
    // Each change of the table is one insertion: it is whole even after a panic.
    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = found.get(path) {
        return known.clone();
    }
    let new = find();
    found.insert(Box::from(path), new.clone());
    new
}

impl Files for Moment<'_> {
    fn kind(&self, path: &str) -> Option<FileKind> {
        self.look(path).map(|(kind, _)| kind)
    }

    fn list(&self, folder: &str) -> Vec<(Arc<str>, FileKind)> {
        once(&self.listed, folder, || self.disk.list(folder))
    }

    fn lost_links(&self, folder: &str) -> Vec<Arc<str>> {
        once(&self.lost, folder, || self.disk.lost_links(folder))
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
