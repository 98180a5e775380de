//! The object database: loose objects, packs, and those of the repositories that it borrows from.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::ZlibDecoder;

use super::pack::Pack;
use super::{GitError, ObjectId, list_file};

/// Bytes of an object up to which it is read; files that are larger than an editor reads are
/// refused anyway.
pub(super) const LARGEST_OBJECT: u64 = 64 << 20;

/// Object databases that one borrows from, one after the other; git itself follows five.
const MOST_BORROWED: usize = 16;

/// Packs of one database that are looked at.
const MOST_PACKS: usize = 4_096;

/// What an object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A revision.
    Commit,
    /// A folder.
    Tree,
    /// A file.
    Blob,
    /// A tag with a message.
    Tag,
}

/// An object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Object {
    pub(super) kind: Kind,
    pub(super) bytes: Vec<u8>,
}

/// All objects of a repository.
#[derive(Debug)]
pub(super) struct Objects {
    folders: Vec<PathBuf>,
    packs: Vec<Pack>,
}

impl Objects {
    /// The objects in a folder and in those that it borrows from.
    pub(super) fn in_folder(folder: &Path) -> Result<Objects, GitError> {
        let mut folders = vec![folder.to_owned()];
        let mut at = 0;
        while let Some(folder) = folders.get(at).cloned() {
            at += 1;
            let borrowed = list_file(&folder.join("info/alternates"))?.unwrap_or_default();
            for line in borrowed.lines().filter(|line| !line.is_empty()) {
                if line.starts_with('"') {
                    let at = folder.display();
                    return Err(GitError::new(format!("{at} borrows from a quoted path")));
                }
                let next = folder.join(line);
                if !line.starts_with('#') && !folders.contains(&next) {
                    folders.push(next);
                }
            }
            if folders.len() > MOST_BORROWED {
                let at = folder.display();
                return Err(GitError::new(format!("{at} borrows from too many others")));
            }
        }
        let mut indices = Vec::new();
        for folder in &folders {
            // A repository without packs has no such folder.
            let entries = std::fs::read_dir(folder.join("pack"));
            let names = entries.into_iter().flatten().flatten();
            let paths = names.map(|entry| entry.path());
            let paths = paths.filter(|at| at.extension().is_some_and(|end| end == "idx"));
            indices.extend(paths.take(MOST_PACKS));
        }
        indices.sort();
        Ok(Objects {
            folders,
            packs: indices.into_iter().map(Pack::with_index).collect(),
        })
    }

    /// An object.
    pub(super) fn read(&self, id: &ObjectId) -> Result<Object, GitError> {
        /// Packs that name objects in other packs, one after the other.
        const MOST_ROUNDS: usize = 8;
        self.read_within(id, MOST_ROUNDS)
    }

    fn read_within(&self, id: &ObjectId, rounds: usize) -> Result<Object, GitError> {
        let Some(rounds) = rounds.checked_sub(1) else {
            return Err(GitError::new(format!("object {id} leads in circles")));
        };
        for pack in &self.packs {
            let other = |name: &ObjectId| self.read_within(name, rounds);
            if let Some(object) = pack.read(id, &other)? {
                return Ok(object);
            }
        }
        let name = id.to_string();
        for folder in &self.folders {
            let at = folder.join(&name[..2]).join(&name[2..]);
            if let Ok(file) = File::open(&at) {
                let object = loose(file);
                return object.map_err(|why| GitError::new(format!("{}: {why}", at.display())));
            }
        }
        Err(GitError::new(format!(
            "object {id} is not in the repository, which may be a shallow or partial clone"
        )))
    }

    /// The objects whose names begin with hexadecimal digits, at least two.
    pub(super) fn with_prefix(&self, prefix: &str) -> Result<Vec<ObjectId>, GitError> {
        let mut found = Vec::new();
        for pack in &self.packs {
            found.extend(pack.with_prefix(prefix)?);
        }
        let (start, rest) = prefix.split_at(2);
        for folder in &self.folders {
            let entries = std::fs::read_dir(folder.join(start));
            for entry in entries.into_iter().flatten().flatten() {
                let name = entry.file_name();
                let name = name.to_str().filter(|name| name.starts_with(rest));
                found.extend(name.and_then(|name| ObjectId::from_hex(&format!("{start}{name}"))));
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

/// A loose object: `blob 12\0` and what is in it.
fn loose(file: File) -> Result<Object, String> {
    let mut bytes = Vec::new();
    let decoder = ZlibDecoder::new(BufReader::new(file));
    let read = decoder.take(LARGEST_OBJECT + 64).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    let broken = || "the object is broken".to_string();
    let end = bytes.iter().take(64).position(|byte| *byte == 0);
    let end = end.ok_or_else(broken)?;
    let head = str::from_utf8(&bytes[..end]).map_err(|_| broken())?;
    let (kind, size) = head.split_once(' ').ok_or_else(broken)?;
    let kind = match kind {
        "commit" => Kind::Commit,
        "tree" => Kind::Tree,
        "blob" => Kind::Blob,
        "tag" => Kind::Tag,
        _ => return Err(broken()),
    };
    let size: u64 = size.parse().map_err(|_| broken())?;
    if size > LARGEST_OBJECT {
        return Err(format!(
            "the object has {size} bytes, more than the {LARGEST_OBJECT} that are read of one"
        ));
    }
    bytes.drain(..=end);
    match bytes.len() as u64 == size {
        true => Ok(Object { kind, bytes }),
        false => Err(broken()),
    }
}
