//! One file of the workspace: its text as it counts now, and the facts read from it.

use std::sync::{Arc, OnceLock};

use super::cache::TextHash;
use super::change::Content;
use super::facts::FileFacts;
use super::files::Format;
use super::parts;
use super::path;
use crate::syntax::Parse;
use crate::text::{LineIndex, line_at};
use crate::value::{LoadError, LoadErrorKind, SystemError};

/// A file's number. It stays the same for a path as long as the workspace lives, and means
/// nothing in another workspace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

/// Bytes up to which a file's content is read on the disk: larger files are hardly written by
/// people, and one of them would cost more memory than a whole workspace.
pub const LARGEST_FILE: u64 = 16 << 20;

/// Bytes up to which a document is read that is open in the editor: there a person works on it.
pub const LARGEST_DOCUMENT: u64 = 64 << 20;

/// A document that is open in the editor.
#[derive(Clone, Debug)]
pub(super) struct OpenText {
    text: Arc<str>,
    version: i32,
    /// Why the text is not read, if it is too large.
    refused: Option<Arc<LoadError>>,
}

impl OpenText {
    pub(super) fn new(path: &str, text: Arc<str>, version: i32) -> OpenText {
        let size = text.len() as u64;
        let refused = (size > LARGEST_DOCUMENT).then(|| {
            Arc::new(LoadError {
                kind: LoadErrorKind::Io(SystemError::NotFound),
                message: too_large(path, size, LARGEST_DOCUMENT),
                range: None,
            })
        });
        OpenText {
            text,
            version,
            refused,
        }
    }

    pub(super) fn text(&self) -> &Arc<str> {
        &self.text
    }

    pub(super) fn is_refused(&self) -> bool {
        self.refused.is_some()
    }
}

/// What is said of a file that is too large to be read.
#[must_use]
pub fn too_large(path: &str, size: u64, limit: u64) -> String {
    format!("{path} has {size} bytes, more than the {limit} that are read of one file")
}

/// Whether a file belongs to the workspace or is only open in the editor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Belongs {
    /// In one of the workspace's areas: seen by lookups and in the key index.
    Workspace,
    /// Open in the editor, outside every area: has facts, is not seen by lookups.
    OpenOnly,
}

/// A file as of one revision. Its facts depend on nothing but its text and its name's extension.
#[derive(Debug)]
pub struct File {
    pub(super) id: FileId,
    pub(super) path: Arc<str>,
    pub(super) belongs: Belongs,
    pub(super) disk: Option<Content>,
    pub(super) open: Option<OpenText>,
    pub(super) text: Arc<str>,
    pub(super) facts: Arc<FileFacts>,
    /// What is known from the disk's text, where that was read: what an open file is compared with.
    pub(super) disk_facts: Option<Arc<FileFacts>>,
    pub(super) lines: OnceLock<LineIndex>,
    /// The tree of an open document, in its own format; those of other files are cached for
    /// a while only, see [`super::Snapshot::parse_of`].
    pub(super) parse: OnceLock<Arc<Parse>>,
}

impl File {
    /// The file's number.
    #[must_use]
    pub fn id(&self) -> FileId {
        self.id
    }

    /// Its absolute path.
    #[must_use]
    pub fn path(&self) -> &Arc<str> {
        &self.path
    }

    /// Whether lookups see it.
    #[must_use]
    pub fn belongs(&self) -> Belongs {
        self.belongs
    }

    /// The text that counts: the editor's where it is open, else the disk's, with U+FFFD for
    /// bytes that are not UTF-8; empty where the file could not be read.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The editor's version of the text, if the file is open.
    #[must_use]
    pub fn version(&self) -> Option<i32> {
        self.open.as_ref().map(|open| open.version)
    }

    /// What is known from the text.
    #[must_use]
    pub fn facts(&self) -> &Arc<FileFacts> {
        &self.facts
    }

    /// The reader that the file's name asks for; `None` for a file that is no data by its name.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        format_of(&self.path)
    }

    /// The lines of the text; built on first use, O(bytes).
    #[must_use]
    pub fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::new(&self.text))
    }

    /// The line (from zero) that holds the byte at `offset`. Without an index of
    /// the lines only those before are counted: most files are asked for one line.
    #[must_use]
    pub fn line(&self, offset: usize) -> u32 {
        /// Counting up to so many bytes is cheaper than finding all lines once.
        const NEAR: usize = 256 << 10;
        if self.lines.get().is_none() && offset <= NEAR {
            return line_at(&self.text, offset);
        }
        self.lines().line(offset)
    }

    /// What Puppet would read: the bytes of the open text, or the disk's.
    ///
    /// # Errors
    /// Why the file could not be read.
    pub fn bytes(&self) -> Result<Arc<[u8]>, LoadError> {
        if let Some(error) = self.refused() {
            return Err(error.clone());
        }
        match (&self.open, &self.disk) {
            (Some(_), _) => Ok(Arc::from(Arc::clone(&self.text))),
            (None, Some(Content::Text(text))) => Ok(Arc::from(Arc::clone(text))),
            (None, Some(Content::Bytes(bytes))) => Ok(Arc::clone(bytes)),
            (None, Some(Content::Refused(_) | Content::Unread) | None) => Err(unread(&self.path)),
        }
    }

    /// Why the file's content is not known, if it is not.
    #[must_use]
    pub fn refused(&self) -> Option<&LoadError> {
        match (&self.open, &self.disk) {
            (Some(open), _) => open.refused.as_deref(),
            (None, Some(Content::Refused(error))) => Some(error),
            (None, Some(Content::Text(_) | Content::Bytes(_) | Content::Unread) | None) => None,
        }
    }

    /// What is said of a file that is so large that its values are not checked, if it is.
    #[must_use]
    pub fn unchecked(&self) -> Option<LoadError> {
        let size = self.text.len();
        let most = parts::LARGE;
        self.facts.in_parts.then(|| LoadError {
            kind: LoadErrorKind::YamlOther,
            message: format!(
                "{} has {size} bytes, more than the {most} up to which values are checked",
                self.path
            ),
            range: None,
        })
    }

    /// Hash of the bytes that count.
    #[must_use]
    pub fn hash(&self) -> TextHash {
        self.facts.hash
    }
}

/// The failure for a file of which only the name is known.
pub(super) fn unread(path: &str) -> LoadError {
    LoadError {
        kind: LoadErrorKind::Io(SystemError::NotFound),
        message: format!("the content of {path} was not read: its name is not that of a data file"),
        range: None,
    }
}

/// The text of a content, as an editor shows it.
pub(super) fn text_of(content: &Content) -> Arc<str> {
    match content {
        Content::Text(text) => Arc::clone(text),
        Content::Bytes(bytes) => Arc::from(String::from_utf8_lossy(bytes)),
        Content::Unread | Content::Refused(_) => Arc::from(""),
    }
}

/// The name of this program's own configuration of a workspace.
pub const PROJECT_FILE: &str = ".hiera-ls.yaml";

/// Names that are configuration of Puppet's tools, not data, in whatever folder.
const NOT_DATA: [&str; 5] = [
    PROJECT_FILE,
    "hiera.yaml",
    "environment.conf",
    "metadata.json",
    "Puppetfile",
];

/// Extensions of files that are code, documents or keys, whatever folder they are in.
const CODE: [&str; 15] = [
    "pp", "rb", "erb", "epp", "md", "sh", "py", "pem", "key", "crt", "gpg", "lock", "toml", "txt",
    "html",
];

/// Which reader a file's facts are read with, by its name alone: hierarchies may say otherwise
/// for a lookup, but their levels and the names agree in practice.
#[must_use]
pub fn format_of(at: &str) -> Option<Format> {
    // What most data files are called.
    if let Some(stem) = at.strip_suffix(".yaml")
        && !stem.ends_with("hiera")
        && !stem.ends_with(".hiera-ls")
    {
        return Some(Format::Yaml);
    }
    if NOT_DATA.contains(&path::name(at)) {
        return None;
    }
    match path::extension(at) {
        Some("json") => Some(Format::Json),
        Some("conf" | "hocon") => Some(Format::Hocon),
        Some(other) if CODE.contains(&other) => None,
        Some(_) | None => Some(Format::Yaml),
    }
}
