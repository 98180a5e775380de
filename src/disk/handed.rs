//! The files of a workspace where there is no disk: a host, such as an editor in a browser, hands them over as they are
//! asked for.
//!
//! Functions have the names and types of [`std::fs`]. What is not known yet counts as missing, and is noted as a
//! question; [`Handed::answer`] takes the answers, and the caller tries again. So the rules for what is read are those
//! of a scan, and the host has none. Outside of the workspace's folders nothing is there. Links are not known.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::workspace::{FileKind, path};

/// What a host is asked for: absolute paths.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct FileQuestions {
    /// Folders whose entries are wanted.
    pub folders: BTreeSet<Arc<str>>,
    /// Files whose contents are wanted.
    pub files: BTreeSet<Arc<str>>,
}

/// The content of a file, as a host hands it over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HandedContent {
    /// All of it.
    Bytes(Arc<[u8]>),
    /// It is not handed over because it has so many bytes.
    TooLarge(u64),
    /// There is no such file, or the host cannot read it.
    Missing,
}

/// What a host has handed over.
#[derive(Default)]
pub struct Handed {
    areas: Vec<Arc<str>>,
    /// The entries of each folder, by name; none if it is missing.
    folders: BTreeMap<Arc<str>, BTreeMap<String, FileKind>>,
    files: BTreeMap<Arc<str>, HandedContent>,
    questions: FileQuestions,
}

/// The one file system of this module, as an operating system has one.
static HANDED: Mutex<Handed> = Mutex::new(Handed {
    areas: Vec::new(),
    folders: BTreeMap::new(),
    files: BTreeMap::new(),
    questions: FileQuestions {
        folders: BTreeSet::new(),
        files: BTreeSet::new(),
    },
});

/// The files that were handed over.
pub fn handed() -> MutexGuard<'static, Handed> {
    HANDED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Handed {
    /// Sets the folders that a host is asked about.
    pub fn set_areas(&mut self, areas: &[Arc<str>]) {
        self.areas = areas.to_vec();
    }

    /// The questions since the last call.
    pub fn take_questions(&mut self) -> FileQuestions {
        std::mem::take(&mut self.questions)
    }

    /// Takes the entries of a folder; none if it is missing.
    pub fn list(&mut self, folder: Arc<str>, entries: Vec<(String, FileKind)>) {
        self.folders.insert(folder, entries.into_iter().collect());
    }

    /// Takes the content of a file.
    pub fn put(&mut self, file: Arc<str>, content: HandedContent) {
        self.files.insert(file, content);
    }

    /// Forgets what is at a path and below, and the entries of its folder: they may have changed.
    pub fn forget(&mut self, at: &str) {
        let is_below = |known: &str| path::within(known, at).is_some();
        self.folders.retain(|known, _| !is_below(known));
        self.files.retain(|known, _| !is_below(known));
        if let Some(folder) = path::parent(at) {
            self.folders.remove(folder);
        }
    }

    fn kind(&mut self, at: &str) -> Option<FileKind> {
        let inside = self
            .areas
            .iter()
            .find_map(|area| path::within(at, area.trim_end_matches('/')))?;
        if inside.is_empty() {
            return Some(FileKind::Directory);
        }
        let folder = path::parent(at)?.to_owned();
        let name = path::name(at);
        self.entries(&folder)?.get(name).copied()
    }

    /// The entries of a folder; `None` if it is none, or not known yet.
    fn entries(&mut self, folder: &str) -> Option<&BTreeMap<String, FileKind>> {
        if !self.folders.contains_key(folder) {
            if self.kind(folder)? == FileKind::Directory {
                self.questions.folders.insert(Arc::from(folder));
            }
            return None;
        }
        self.folders.get(folder)
    }

    fn content(&mut self, at: &str) -> Option<HandedContent> {
        if self.kind(at)? != FileKind::File {
            return None;
        }
        if let Some(content) = self.files.get(at) {
            return Some(content.clone());
        }
        self.questions.files.insert(Arc::from(at));
        None
    }
}

fn missing() -> io::Error {
    ErrorKind::NotFound.into()
}

/// A path as the model has it: the system's form is the same here.
fn model(at: &Path) -> io::Result<String> {
    let at = at.to_str().ok_or_else(missing)?;
    Ok(path::normalise(at))
}

/// As [`std::fs::Metadata`], of a file or a folder.
#[derive(Clone, Debug)]
pub(super) struct HandedMetadata {
    kind: FileKind,
    size: u64,
}

impl HandedMetadata {
    /// Whether it is a folder.
    #[must_use]
    pub(super) fn is_dir(&self) -> bool {
        self.kind == FileKind::Directory
    }

    /// Whether it is a file.
    #[must_use]
    pub(super) fn is_file(&self) -> bool {
        self.kind == FileKind::File
    }

    /// Links are not known.
    #[must_use]
    #[expect(clippy::unused_self, reason = "as std's")]
    pub(super) fn is_symlink(&self) -> bool {
        false
    }

    /// The number of bytes, as far as it is known.
    #[must_use]
    pub(super) fn len(&self) -> u64 {
        self.size
    }

    /// No host says it.
    ///
    /// # Errors
    /// Always.
    pub(super) fn modified(&self) -> io::Result<SystemTime> {
        Err(ErrorKind::Unsupported.into())
    }
}

/// As [`std::fs::metadata`].
///
/// # Errors
/// Nothing is there, or nothing is known yet.
pub(super) fn metadata(at: impl AsRef<Path>) -> io::Result<HandedMetadata> {
    let at = model(at.as_ref())?;
    let mut handed = handed();
    let kind = handed.kind(&at).ok_or_else(missing)?;
    let size = match handed.files.get(&*at) {
        Some(HandedContent::Bytes(bytes)) => bytes.len() as u64,
        Some(HandedContent::TooLarge(size)) => *size,
        Some(HandedContent::Missing) | None => 0,
    };
    Ok(HandedMetadata { kind, size })
}

/// As [`metadata`]: links are not known.
///
/// # Errors
/// As [`metadata`].
pub(super) fn symlink_metadata(at: impl AsRef<Path>) -> io::Result<HandedMetadata> {
    metadata(at)
}

/// The same path, if something is there.
///
/// # Errors
/// As [`metadata`].
pub(super) fn canonicalize(at: impl AsRef<Path>) -> io::Result<std::path::PathBuf> {
    metadata(&at)?;
    Ok(at.as_ref().to_owned())
}

/// Links are not known.
///
/// # Errors
/// Always.
pub(super) fn read_link(_: impl AsRef<Path>) -> io::Result<std::path::PathBuf> {
    Err(ErrorKind::InvalidInput.into())
}

/// As [`std::fs::DirEntry`].
#[derive(Debug)]
pub(super) struct DirEntry {
    folder: String,
    name: String,
    kind: FileKind,
}

impl DirEntry {
    /// Its name.
    #[must_use]
    pub(super) fn file_name(&self) -> OsString {
        OsString::from(&self.name)
    }

    /// What it is.
    ///
    /// # Errors
    /// None.
    pub(super) fn file_type(&self) -> io::Result<HandedMetadata> {
        let (kind, size) = (self.kind, 0);
        Ok(HandedMetadata { kind, size })
    }

    /// Its path.
    #[must_use]
    pub(super) fn path(&self) -> std::path::PathBuf {
        Path::new(&self.folder).join(&self.name)
    }
}

/// As [`std::fs::read_dir`], sorted by name.
///
/// # Errors
/// There is no such folder, or its entries are not known yet.
pub(super) fn read_dir(
    at: impl AsRef<Path>,
) -> io::Result<std::vec::IntoIter<io::Result<DirEntry>>> {
    let folder = model(at.as_ref())?;
    let mut handed = handed();
    let entries = handed.entries(&folder).ok_or_else(missing)?.clone();
    let entries = entries.into_iter().map(|(name, kind)| {
        let folder = folder.clone();
        Ok(DirEntry { folder, name, kind })
    });
    Ok(entries.collect::<Vec<_>>().into_iter())
}

/// An open file.
#[derive(Debug)]
pub(super) struct HandedFile {
    bytes: Arc<[u8]>,
    at: usize,
    size: u64,
}

impl HandedFile {
    /// As [`std::fs::File::metadata`].
    ///
    /// # Errors
    /// None.
    pub(super) fn metadata(&self) -> io::Result<HandedMetadata> {
        let (kind, size) = (FileKind::File, self.size);
        Ok(HandedMetadata { kind, size })
    }
}

impl Read for HandedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.size > self.bytes.len() as u64 {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let mut rest = &self.bytes[self.at..];
        let read = rest.read(buffer)?;
        self.at += read;
        Ok(read)
    }
}

/// Opens a file.
///
/// # Errors
/// There is no such file, or its content is not known yet.
pub(super) fn open(at: &str) -> io::Result<HandedFile> {
    let at = model(Path::new(at))?;
    let (bytes, size) = match handed().content(&at).ok_or_else(missing)? {
        HandedContent::Bytes(bytes) => {
            let size = bytes.len() as u64;
            (bytes, size)
        }
        HandedContent::TooLarge(size) => (Arc::default(), size),
        HandedContent::Missing => return Err(missing()),
    };
    Ok(HandedFile { bytes, at: 0, size })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(paths: &[&str]) -> BTreeSet<Arc<str>> {
        paths.iter().map(|path| Arc::from(*path)).collect()
    }

    fn read(at: &str) -> Option<String> {
        let mut text = String::new();
        open(at).ok()?.read_to_string(&mut text).ok()?;
        Some(text)
    }

    // One test: the file system is one for the whole process.
    #[test]
    fn what_is_not_known_is_missing_and_asked_for() {
        handed().set_areas(&[Arc::from("/w")]);
        assert!(metadata("/elsewhere").is_err() && metadata("/w/../elsewhere/x").is_err());
        assert!(metadata("/w").unwrap().is_dir());
        assert_eq!(handed().take_questions(), FileQuestions::default());

        assert!(metadata("/w/data/a.yaml").is_err() && read_dir("/w").is_err());
        let asked = handed().take_questions();
        assert_eq!((asked.folders, asked.files), (set(&["/w"]), set(&[])));

        let entries = vec![
            ("data".to_owned(), FileKind::Directory),
            ("hiera.yaml".to_owned(), FileKind::File),
        ];
        handed().list(Arc::from("/w"), entries);
        assert!(metadata("/w/data").unwrap().is_dir() && metadata("/w/none").is_err());
        assert!(metadata("/w/data/a.yaml").is_err() && read("/w/hiera.yaml").is_none());
        let asked = handed().take_questions();
        assert_eq!(asked.folders, set(&["/w/data"]));
        assert_eq!(asked.files, set(&["/w/hiera.yaml"]));

        let text = HandedContent::Bytes(b"version: 5\n".as_slice().into());
        handed().put(Arc::from("/w/hiera.yaml"), text);
        assert_eq!(read("/w/hiera.yaml").as_deref(), Some("version: 5\n"));
        assert_eq!(metadata("/w/hiera.yaml").unwrap().len(), 11);
        handed().put(Arc::from("/w/hiera.yaml"), HandedContent::TooLarge(1 << 40));
        assert_eq!(metadata("/w/hiera.yaml").unwrap().len(), 1 << 40);
        assert_eq!(read("/w/hiera.yaml"), None);

        let names = read_dir("/w").unwrap();
        let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["data", "hiera.yaml"]);
        handed().forget("/w/hiera.yaml");
        assert!(read("/w/hiera.yaml").is_none());
        assert_eq!(handed().take_questions().folders, set(&["/w"]));
        handed().set_areas(&[]);
    }
}
