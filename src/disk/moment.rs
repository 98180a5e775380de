//! A consistent view of the disk for requests that arrive together.
//!
//! Without it a request could see a file in two states, and lookups from disk in a new scope would
//! be 47 to 51 times as fast as Puppet's instead of 73 to 98 times (floor: 40).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::batch::DiskFiles;
use super::native::native;
use super::read::{Stamp, kind_of};
use crate::value::{KeyHashing, LoadError};
use crate::workspace::{DataFile, FileKind, Files, Format};

type LookedAt = Option<(FileKind, Stamp)>;

type Listed = Vec<(Arc<str>, FileKind)>;

type PerPath<T> = Mutex<HashMap<Box<str>, T, KeyHashing>>;

/// The files of a [`DiskFiles`] for one request, or for several that arrived before the first one
/// is answered. Each path is looked at once, so that a batch sees one consistent state. A lookup
/// asks for most paths several times, and `stat` is the most expensive part of a lookup.
#[derive(Debug)]
pub struct Moment<'a> {
    disk: &'a DiskFiles,
    seen: PerPath<LookedAt>,
    listed: PerPath<Listed>,
    lost: PerPath<Vec<Arc<str>>>,
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

    fn look(&self, path: &str) -> LookedAt {
        once(&self.seen, path, || {
            let metadata = std::fs::metadata(&*native(path)).ok()?;
            Some((kind_of(&metadata)?, Stamp::of(&metadata)))
        })
    }

    fn stamp(&self, path: &str) -> Option<Stamp> {
        self.look(path).map(|(_, stamp)| stamp)
    }
}

/// The result of `find` for a path, cached.
fn once<T: Clone>(found: &PerPath<T>, path: &str, find: impl FnOnce() -> T) -> T {
    // Each change of the table is one insertion, so a panic leaves it valid.
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
