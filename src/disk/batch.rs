//! The disk as a batch lookup sees it: the files that Puppet would read, without path mapping.
//!
//! Each path is looked at once, so that requests that arrive together see one state. Without this,
//! lookups from disk in a new scope would be 47 to 51 times as fast as Puppet's instead of 73 to 98
//! times (floor: 40).

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::native::native;
use super::read::{self, LARGEST_NAMED_FILE, Stamp, Unreadable};
use super::system;
use crate::value::{KeyHashing, LoadError, Value};
use crate::workspace::path::join;
use crate::workspace::{DataFile, FileKind, Files, Format, Generations, load};

/// Maximum number of bytes of cached data files; beyond it the cache is cleared.
const MAX_REMEMBERED: usize = 256 << 20;

/// Maximum number of bytes of other cached files, before the least recently used ones are evicted.
const MAX_TEXTS: usize = 4 << 20;

/// The files of this machine as of one moment. A lookup asks for most paths several times, and `stat`
/// is the most expensive part of a lookup. A file that was read before stays valid while its inode,
/// size and modification time stay the same (like the cache of `Puppet::Pops::Lookup`).
#[derive(Debug)]
pub struct DiskFiles {
    seen: PerPath<LookedAt>,
    listed: PerPath<Vec<(Arc<str>, FileKind)>>,
    lost: PerPath<Vec<Arc<str>>>,
    remembered: RwLock<DataCache>,
    texts: Mutex<Generations<Box<str>, StampedText>>,
}

type LookedAt = Option<(FileKind, Stamp)>;

type PerPath<T> = Mutex<HashMap<Box<str>, T, KeyHashing>>;

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

type StampedText = (Stamp, Arc<str>);

impl Default for DiskFiles {
    fn default() -> DiskFiles {
        DiskFiles {
            seen: Mutex::default(),
            listed: Mutex::default(),
            lost: Mutex::default(),
            remembered: RwLock::default(),
            texts: Mutex::new(Generations::new(MAX_TEXTS)),
        }
    }
}

#[derive(Debug, Default)]
struct DataCache {
    bytes: usize,
    by_format: [HashMap<Box<str>, StampedData, KeyHashing>; 3],
}

#[derive(Debug)]
struct StampedData {
    stamp: Stamp,
    data: Arc<DataFile>,
}

fn slot(format: Format) -> usize {
    match format {
        Format::Yaml => 0,
        Format::Json => 1,
        Format::Hocon => 2,
    }
}

impl DiskFiles {
    /// An empty cache.
    #[must_use]
    pub fn new() -> DiskFiles {
        DiskFiles::default()
    }

    /// From now on the files are those of a new moment. What was read stays cached.
    pub fn look_again(&mut self) {
        *self = DiskFiles {
            remembered: std::mem::take(&mut self.remembered),
            texts: std::mem::replace(&mut self.texts, Mutex::new(Generations::new(MAX_TEXTS))),
            ..DiskFiles::default()
        };
    }

    fn look(&self, path: &str) -> LookedAt {
        once(&self.seen, path, || {
            let metadata = system::metadata(&*native(path)).ok()?;
            Some((read::kind_of(&metadata)?, Stamp::of(&metadata)))
        })
    }

    fn stamp(&self, path: &str) -> Option<Stamp> {
        self.look(path).map(|(_, stamp)| stamp)
    }
}

impl Files for DiskFiles {
    fn kind(&self, path: &str) -> Option<FileKind> {
        self.look(path).map(|(kind, _)| kind)
    }

    fn list(&self, folder: &str) -> Vec<(Arc<str>, FileKind)> {
        once(&self.listed, folder, || names_in(folder))
    }

    fn lost_links(&self, folder: &str) -> Vec<Arc<str>> {
        once(&self.lost, folder, || lost_links_in(folder))
    }

    fn is_link(&self, path: &str) -> bool {
        system::symlink_metadata(&*native(path.trim_end_matches('/')))
            .is_ok_and(|metadata| metadata.is_symlink())
    }

    fn text(&self, path: &str) -> Result<Arc<str>, LoadError> {
        self.text_at(path, self.stamp(path))
    }

    fn data(&self, path: &str, format: Format) -> Arc<DataFile> {
        self.data_at(path, format, self.stamp(path))
    }
}

/// The entries of a folder, symbolic links followed, sorted by bytes.
fn names_in(folder: &str) -> Vec<(Arc<str>, FileKind)> {
    let Ok(entries) = system::read_dir(&*native(folder)) else {
        return Vec::new();
    };
    let mut names: Vec<(Arc<str>, FileKind)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let own = entry.file_type().ok()?;
            let kind = if own.is_dir() {
                FileKind::Directory
            } else if own.is_file() {
                FileKind::File
            } else {
                let at = join(folder, &name);
                read::kind_of(&system::metadata(&*native(&at)).ok()?)?
            };
            Some((Arc::from(name), kind))
        })
        .collect();
    names.sort();
    names
}

/// The names of broken symbolic links in a folder, sorted by bytes.
fn lost_links_in(folder: &str) -> Vec<Arc<str>> {
    let entries = system::read_dir(&*native(folder)).into_iter();
    let links = entries.flatten().flatten().filter(|entry| {
        let own = entry.file_type();
        own.is_ok_and(|own| own.is_symlink()) && system::metadata(entry.path()).is_err()
    });
    let names = links.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<Arc<str>> = names.map(Arc::from).collect();
    names.sort();
    names
}

impl DiskFiles {
    /// The text of a file with a known stamp.
    fn text_at(&self, path: &str, stamp: Option<Stamp>) -> Result<Arc<str>, LoadError> {
        let texts = || self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, text)) = texts().get(path)
            && Some(*known) == stamp
        {
            return Ok(text.clone());
        }
        let text: Arc<str> = match String::from_utf8(bytes(path)?) {
            Ok(text) => Arc::from(text),
            Err(error) => Arc::from(String::from_utf8_lossy(error.as_bytes())),
        };
        if let Some(stamp) = stamp {
            let entry = (stamp, text.clone());
            texts().insert(Box::from(path), entry, text.len());
        }
        Ok(text)
    }

    /// A data file with a known stamp.
    fn data_at(&self, path: &str, format: Format, stamp: Option<Stamp>) -> Arc<DataFile> {
        {
            let remembered = self
                .remembered
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(entry) = remembered.by_format[slot(format)].get(path)
                && Some(entry.stamp) == stamp
            {
                return Arc::clone(&entry.data);
            }
        }
        let bytes = match bytes(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let error = unseen(path).unwrap_or(error);
                return Arc::new(DataFile {
                    loaded: Err(error),
                    recovered: Value::Undef,
                    later_error: None,
                });
            }
        };
        let data = Arc::new(load(&bytes, format));
        if let Some(stamp) = stamp {
            let mut remembered = self
                .remembered
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            if remembered.bytes > MAX_REMEMBERED {
                *remembered = DataCache::default();
            }
            remembered.bytes += bytes.len();
            let entry = StampedData {
                stamp,
                data: Arc::clone(&data),
            };
            remembered.by_format[slot(format)].insert(Box::from(path), entry);
        }
        data
    }
}

/// Why a path cannot be seen: Puppet calls `stat` on a data file before it opens it
/// (`Context#cached_file_data`).
fn unseen(path: &str) -> Option<LoadError> {
    let error = system::metadata(&*native(path)).err()?;
    Some(read::system(&error, "rb_file_s_stat", path))
}

/// The bytes of a data file, up to a gigabyte.
fn bytes(path: &str) -> Result<Vec<u8>, LoadError> {
    read::bytes(path, LARGEST_NAMED_FILE).map_err(|error| match error {
        Unreadable::Gone => {
            read::system(&io::Error::from_raw_os_error(NOT_FOUND), "rb_sysopen", path)
        }
        Unreadable::Refused(error) => error,
    })
}

/// `ENOENT`, the same number on every system that Puppet runs on.
const NOT_FOUND: i32 = 2;
