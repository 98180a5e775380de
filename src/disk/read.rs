//! Reads one path, with errors in Ruby's words.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::failure::without_number;
use super::native::{model, native};
use super::system::{self, Metadata};
use crate::value::{LoadError, SystemError};
use crate::workspace::{Content, DiskEntry, FileKind, LARGEST_FILE, Linked, Lost, path, too_large};

/// Maximum number of bytes of a file that the user names, such as a whole fleet's facts, or that a
/// batch lookup needs; offsets have 32 bits.
pub(super) const LARGEST_NAMED_FILE: u64 = 1 << 30;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Want {
    Content,
    /// Its content, up to the larger limit: the user named it.
    Named,
    Name,
}

/// The entry at a path, with its content if it is a file. Pipes, sockets and devices are
/// [`DiskEntry::Absent`]; they are never opened.
#[must_use]
pub fn read(at: &str) -> DiskEntry {
    entry(at, Want::Content)
}

/// [`read`] for a path from settings or the command line.
#[must_use]
pub fn read_named(at: &str) -> DiskEntry {
    entry(at, Want::Named)
}

pub(super) fn entry(at: &str, want: Want) -> DiskEntry {
    let Ok(own) = system::symlink_metadata(&*native(at)) else {
        return DiskEntry::Absent;
    };
    let is_link = own.is_symlink();
    let Ok(metadata) = system::metadata(&*native(at)) else {
        return if is_link {
            DiskEntry::LostLink(Lost::Here)
        } else {
            DiskEntry::Absent
        };
    };
    if metadata.is_dir() {
        let target = is_link.then(|| target(at)).flatten();
        return DiskEntry::Directory { target };
    }
    if !metadata.is_file() {
        return DiskEntry::Absent;
    }
    let content = match want {
        Want::Content => content(at),
        Want::Named => content_within(at, LARGEST_NAMED_FILE),
        Want::Name => Some(Content::Unread),
    };
    let linked = if is_link {
        Linked::To(leads_to(at))
    } else {
        Linked::No
    };
    content.map_or(DiskEntry::Absent, |content| DiskEntry::File {
        content,
        linked,
    })
}

/// The real target of a symbolic link.
pub(super) fn target(at: &str) -> Option<Arc<str>> {
    let real = system::canonicalize(&*native(at)).ok()?;
    Some(Arc::from(model(&real)?))
}

/// Where a symbolic link to a file leads; the folder that it starts in is the real one.
pub(super) fn leads_to(at: &str) -> Option<Arc<str>> {
    let link = model(&system::read_link(&*native(at)).ok()?)?;
    let around = target(path::parent(at).unwrap_or("/"))?;
    Some(Arc::from(path::normalise(&path::join(&around, &link))))
}

/// Whether a broken symbolic link leads out of a folder.
pub(super) fn lost_from(at: &str, folder: &str) -> Lost {
    /// Maximum number of consecutive links, as in Linux.
    const MAX_LINKS: usize = 40;
    let mut at = at.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = system::read_link(&*native(&at)) else {
            return Lost::Here;
        };
        let Some(target) = model(&target) else {
            return Lost::Outside;
        };
        at = path::normalise(&path::join(path::parent(&at).unwrap_or("/"), &target));
        if path::within(&at, folder).is_none() {
            return Lost::Outside;
        }
    }
    Lost::Here
}

/// A file's content; `None` if the file has disappeared.
pub(super) fn content(at: &str) -> Option<Content> {
    content_within(at, LARGEST_FILE)
}

fn content_within(at: &str, limit: u64) -> Option<Content> {
    match bytes(at, limit) {
        Ok(bytes) => Some(content_of(bytes)),
        Err(Unreadable::Gone) => None,
        Err(Unreadable::Refused(error)) => Some(Content::Refused(Arc::new(error))),
    }
}

pub(super) fn content_of(bytes: Vec<u8>) -> Content {
    match String::from_utf8(bytes) {
        Ok(text) => Content::Text(Arc::from(text)),
        Err(error) => Content::Bytes(Arc::from(error.into_bytes())),
    }
}

pub(super) enum Unreadable {
    Gone,
    /// It exists and must not or cannot be read.
    Refused(LoadError),
}

/// The bytes of a regular file of at most `limit` bytes.
pub(super) fn bytes(at: &str, limit: u64) -> Result<Vec<u8>, Unreadable> {
    let too_large = |at, size| Unreadable::Refused(too_large(at, size, limit));
    let failed = |error: &io::Error, call: &str| {
        if error.kind() == io::ErrorKind::NotFound {
            Unreadable::Gone
        } else {
            Unreadable::Refused(system(error, call, at))
        }
    };
    let file = system::open(&native(at)).map_err(|error| failed(&error, "rb_sysopen"))?;
    let metadata = file.metadata();
    let metadata = metadata.map_err(|error| failed(&error, "rb_sysopen"))?;
    if metadata.is_dir() {
        let error = SystemError::IsDirectory.at("io_fread", at);
        return Err(Unreadable::Refused(error));
    }
    if !metadata.is_file() {
        let what = " is not a regular file";
        let error = LoadError::unread(SystemError::NotFound, "", at, what);
        return Err(Unreadable::Refused(error));
    }
    if metadata.len() > limit {
        return Err(too_large(at, metadata.len()));
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    // The file may grow while it is read.
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| failed(&error, "io_fread"))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(at, bytes.len() as u64));
    }
    Ok(bytes)
}

/// A system error in the words of Ruby's `Errno` classes, with the C function in which Ruby
/// encounters it.
pub(super) fn system(error: &io::Error, call: &str, at: &str) -> LoadError {
    match system_error(error) {
        Some(error) => error.at(call, at),
        None => {
            let words = format!("{} @ {call} - ", without_number(error));
            LoadError::unread(SystemError::NotFound, &words, at, "")
        }
    }
}

fn system_error(error: &io::Error) -> Option<SystemError> {
    /// `EPERM` of Unix, which Rust does not tell from `EACCES`.
    const NOT_PERMITTED: i32 = 1;
    /// `ELOOP`, for which Rust has no stable name.
    const LINK_LOOP: i32 = if cfg!(target_os = "linux") { 40 } else { 62 };
    let number = error.raw_os_error().filter(|_| cfg!(unix));
    match error.kind() {
        io::ErrorKind::NotFound => Some(SystemError::NotFound),
        io::ErrorKind::IsADirectory => Some(SystemError::IsDirectory),
        io::ErrorKind::NotADirectory => Some(SystemError::NotDirectory),
        io::ErrorKind::InvalidFilename if cfg!(unix) => Some(SystemError::NameTooLong),
        io::ErrorKind::PermissionDenied if number != Some(NOT_PERMITTED) => {
            Some(SystemError::PermissionDenied)
        }
        _ if number == Some(LINK_LOOP) => Some(SystemError::LinkLoop),
        _ => None,
    }
}

/// Distinguishes two states of a file without reading it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    inode: u64,
    modified: Option<SystemTime>,
    size: u64,
}

/// The current stamp of a path, without reading it; `None` if it does not exist.
#[must_use]
pub fn stamp(at: &str) -> Option<Stamp> {
    system::metadata(&*native(at))
        .ok()
        .map(|metadata| Stamp::of(&metadata))
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Stamp {
        Stamp {
            inode: identity(metadata).map_or(0, |(_, inode)| inode),
            modified: metadata.modified().ok(),
            size: metadata.len(),
        }
    }

    /// Whether the file was changed in the last `step` before `now`, or after it.
    pub(super) fn is_younger_than(self, step: Duration, now: SystemTime) -> bool {
        let age = self.modified.map(|modified| now.duration_since(modified));
        age.is_none_or(|age| age.map_or(true, |age| age < step))
    }
}

/// The kind of a path as lookups see it; `None` for pipes, sockets and devices.
pub(super) fn kind_of(metadata: &Metadata) -> Option<FileKind> {
    if metadata.is_dir() {
        Some(FileKind::Directory)
    } else {
        metadata.is_file().then_some(FileKind::File)
    }
}

/// Device and inode, if the system has them.
#[cfg(unix)]
pub(super) fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

/// Device and inode, if the system has them.
#[cfg(not(unix))]
pub(super) fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_have_the_words_of_ruby() {
        let words = |number| {
            let error = system(&io::Error::from_raw_os_error(number), "rb_sysopen", "/a");
            format!("{:?}: {}", error.kind, error.message)
        };
        let expected = [
            "Io(NotFound): Operation not permitted @ rb_sysopen - /a",
            "Io(NotFound): No such file or directory @ rb_sysopen - /a",
            "Io(NotFound): Input/output error @ rb_sysopen - /a",
            "Io(PermissionDenied): Permission denied @ rb_sysopen - /a",
            "Io(NotDirectory): Not a directory @ rb_sysopen - /a",
            "Io(IsDirectory): Is a directory @ rb_sysopen - /a",
            "Io(NameTooLong): File name too long @ rb_sysopen - /a",
            "Io(LinkLoop): Too many levels of symbolic links @ rb_sysopen - /a",
        ];
        assert_eq!([1, 2, 5, 13, 20, 21, 36, 40].map(words), expected);
    }
}
