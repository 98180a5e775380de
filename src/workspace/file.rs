//! One file of the workspace: its current text, and the facts of that text.

use std::sync::{Arc, OnceLock};

use memchr::{memchr_iter, memchr3_iter, memmem, memrchr};

use super::cache::TextHash;
use super::change::Content;
use super::extract;
use super::facts::{FileFacts, KeyFact, KeyState, ValueKind};
use super::files::Format;
use super::parts;
use super::path;
use crate::syntax::Parse;
use crate::text::{LineIndex, line_at};
use crate::value::{LoadError, LoadErrorKind, SystemError, Value};

/// A file's number. It stays the same for a path as long as the workspace lives, and means nothing
/// in another workspace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

/// Maximum size of a file that is read from the disk: larger files are hardly written by people,
/// and one of them would cost more memory than a whole workspace.
pub const LARGEST_FILE: u64 = 16 << 20;

/// Maximum size of an open document that is parsed: a person works on it.
pub const LARGEST_DOCUMENT: u64 = 64 << 20;

#[derive(Clone, Debug)]
pub(super) struct OpenText {
    text: Arc<str>,
    version: i32,
    /// Why the text is not parsed, if it is too large.
    refused: Option<Arc<LoadError>>,
}

impl OpenText {
    pub(super) fn new(path: &str, text: Arc<str>, version: i32) -> OpenText {
        let size = text.len() as u64;
        let is_too_large = size > LARGEST_DOCUMENT;
        OpenText {
            text,
            version,
            refused: is_too_large.then(|| Arc::new(too_large(path, size, LARGEST_DOCUMENT))),
        }
    }

    /// The same text by another name of the file.
    pub(super) fn of(&self, path: &str) -> OpenText {
        OpenText::new(path, Arc::clone(&self.text), self.version)
    }

    /// Whether it is the very same text.
    pub(super) fn is_same(&self, other: &OpenText) -> bool {
        Arc::ptr_eq(&self.text, &other.text) && self.version == other.version
    }

    pub(super) fn text(&self) -> &Arc<str> {
        &self.text
    }

    pub(super) fn is_refused(&self) -> bool {
        self.refused.is_some()
    }
}

/// The error for a file that is too large to be read.
#[must_use]
pub fn too_large(path: &str, size: u64, limit: u64) -> LoadError {
    let size = format!(" has {size} bytes, more than the {limit} that are read of one file");
    LoadError::unread(SystemError::NotFound, "", path, &size)
}

/// Whether a file belongs to the workspace or is only open in the editor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Belongs {
    /// In one of the workspace's areas: visible to lookups and in the key index.
    Workspace,
    /// Open in the editor, outside every area: has facts, is not visible to lookups.
    OpenOnly,
}

/// A file as of one revision. Its facts depend only on its text and its name's extension.
#[derive(Debug)]
pub struct File {
    pub(super) id: FileId,
    pub(super) path: Arc<str>,
    pub(super) belongs: Belongs,
    pub(super) disk: Option<Content>,
    pub(super) open: Option<OpenText>,
    /// The disk's content, if it is read on demand.
    pub(super) late: OnceLock<Content>,
    pub(super) text: OnceLock<Arc<str>>,
    pub(super) facts: OnceLock<Arc<FileFacts>>,
    /// The facts of the disk's text, if it was read; an open file is compared with them.
    pub(super) disk_facts: Option<Arc<FileFacts>>,
    pub(super) lines: OnceLock<LineIndex>,
    /// The tree of an open document, in its own format; trees of other files are only cached for a
    /// while, see [`super::Snapshot::parse_of`].
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

    /// The current text: the editor's if the file is open, else the disk's, with U+FFFD for bytes
    /// that are not UTF-8; empty if the file could not be read.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        let read = || self.content().map_or_else(|| Arc::from(""), text_of);
        self.text.get_or_init(read)
    }

    /// The disk's content, which may be read now.
    pub(super) fn content(&self) -> Option<&Content> {
        match &self.disk {
            Some(Content::Later(later)) => Some(self.late.get_or_init(|| later.read(&self.path))),
            known => known.as_ref(),
        }
    }

    #[cfg(test)]
    pub(crate) fn is_read(&self) -> bool {
        self.text.get().is_some()
    }

    /// Whether the text is read on demand.
    pub(super) fn is_late(&self) -> bool {
        self.open.is_none() && matches!(self.disk, Some(Content::Later(_)))
    }

    /// The length of the text, as far as it counts for budgets: zero if it is read on demand.
    pub(super) fn counted_bytes(&self) -> usize {
        if self.is_late() { 0 } else { self.text().len() }
    }

    /// The facts, unless they must be extracted first.
    pub(super) fn known_facts(&self) -> Option<&Arc<FileFacts>> {
        self.facts.get()
    }

    /// The editor's version of the text, if the file is open.
    #[must_use]
    pub fn version(&self) -> Option<i32> {
        self.open.as_ref().map(|open| open.version)
    }

    /// The facts of the text.
    #[must_use]
    pub fn facts(&self) -> &Arc<FileFacts> {
        self.facts.get_or_init(|| {
            let bytes = match self.content() {
                Some(Content::Bytes(bytes)) => Some(&**bytes),
                Some(_) | None => None,
            };
            let (facts, _) = extract::of_file(&self.path, self.text(), bytes, false);
            Arc::new(facts)
        })
    }

    /// The format for the file's name; `None` for a file that is no data by its name.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        format_of(&self.path)
    }

    /// Whether the text of the hash that one of its keys sets shows that it has no entry of that name: a
    /// search, where loading the value would cost a parse. False means unknown.
    #[must_use]
    pub fn certainly_lacks(&self, fact: &KeyFact, name: &Value) -> bool {
        let Some(name) = name.as_str().filter(|name| is_simple_name(name)) else {
            return false;
        };
        let text = fact.value.slice(self.text()).as_bytes();
        memmem::find(text, name.as_bytes()).is_none() && self.has_names_as_written(fact)
    }

    /// Whether one of its keys sets a hash, and all names of it stand in its text as they are.
    pub(super) fn has_names_as_written(&self, fact: &KeyFact) -> bool {
        let facts = self.facts();
        let is_whole = facts.error.is_none()
            && facts.later_error.is_none()
            && matches!(self.format(), Some(Format::Yaml | Format::Json));
        if !is_whole || fact.state != KeyState::Read || fact.kind != ValueKind::Hash {
            return false;
        }
        let before = &self.text().as_bytes()[..fact.value.start as usize];
        let column = before.len() - memrchr(b'\n', before).map_or(0, |at| at + 1);
        names_are_as_written(fact.value.slice(self.text()).as_bytes(), column)
    }

    /// The lines of the text; built on first use, O(bytes).
    #[must_use]
    pub fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::new(self.text()))
    }

    /// The line (from zero) that holds the byte at `offset`. Without a line index only the
    /// preceding lines are counted: most files need one line.
    #[must_use]
    pub fn line(&self, offset: usize) -> u32 {
        /// Up to this many bytes, counting is cheaper than building the line index.
        const NEAR: usize = 256 << 10;
        if self.lines.get().is_none() && offset <= NEAR {
            return line_at(self.text(), offset);
        }
        self.lines().line(offset)
    }

    /// The bytes that Puppet would read: those of the open text, or the disk's.
    ///
    /// # Errors
    /// Why the file could not be read.
    pub fn bytes(&self) -> Result<Arc<[u8]>, LoadError> {
        if let Some(error) = self.refused() {
            return Err(error.clone());
        }
        if self.open.is_some() {
            return Ok(Arc::from(Arc::clone(self.text())));
        }
        match self.content() {
            Some(Content::Text(text)) => Ok(Arc::from(Arc::clone(text))),
            Some(Content::Bytes(bytes)) => Ok(Arc::clone(bytes)),
            Some(Content::Refused(_) | Content::Unread | Content::Later(_)) | None => {
                Err(unread(&self.path))
            }
        }
    }

    /// Why the file's content is unknown, if it is.
    #[must_use]
    pub fn refused(&self) -> Option<&LoadError> {
        if let Some(open) = &self.open {
            return open.refused.as_deref();
        }
        match self.content() {
            Some(Content::Refused(error)) => Some(error),
            Some(_) | None => None,
        }
    }

    /// The note for a file that is too large for its values to be checked.
    #[must_use]
    pub fn unchecked(&self) -> Option<LoadError> {
        let size = self.text().len();
        let most = parts::LARGE;
        self.facts().in_parts.then(|| {
            let message = format!(
                "{} has {size} bytes, more than the {most} up to which values are checked",
                self.path
            );
            LoadError::new(LoadErrorKind::YamlOther, message, None)
        })
    }

    /// Hash of the current bytes.
    #[must_use]
    pub fn hash(&self) -> TextHash {
        match (self.facts.get(), self.content()) {
            (Some(facts), _) => facts.hash,
            (None, Some(Content::Bytes(bytes))) => TextHash::of(bytes),
            (None, _) => TextHash::of(self.text().as_bytes()),
        }
    }
}

/// The error for a file known only by name.
pub(super) fn unread(path: &str) -> LoadError {
    let why = " was not read: its name is not that of a data file";
    LoadError::unread(SystemError::NotFound, "the content of ", path, why)
}

/// The text of a content, as an editor shows it.
pub(super) fn text_of(content: &Content) -> Arc<str> {
    match content {
        Content::Text(text) => Arc::clone(text),
        Content::Bytes(bytes) => Arc::from(String::from_utf8_lossy(bytes)),
        Content::Unread | Content::Refused(_) | Content::Later(_) => Arc::from(""),
    }
}

/// The name of a workspace's own configuration file.
pub const PROJECT_FILE: &str = ".hiera-ls.yaml";

/// Names of configuration files of Puppet's tools, which are not data in any folder.
const NOT_DATA: [&str; 5] = [
    PROJECT_FILE,
    "hiera.yaml",
    "environment.conf",
    "metadata.json",
    "Puppetfile",
];

/// Extensions of files that are code, documents or keys in any folder.
const CODE: [&str; 15] = [
    "pp", "rb", "erb", "epp", "md", "sh", "py", "pem", "key", "crt", "gpg", "lock", "toml", "txt",
    "html",
];

/// Whether a name of a hash has no other form, with quotes or escapes.
pub(super) fn is_simple_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    !name.is_empty() && bytes.all(|it| matches!(it, b' '..=b'~') && !b"'\"\\".contains(&it))
}

/// Whether all names of a hash stand in its text as they are: none is escaped, comes from an alias,
/// contains a token, or has a line break where it means a blank. The text begins in a column.
fn names_are_as_written(text: &[u8], column: usize) -> bool {
    let is_block = !text.starts_with(b"{") && !text.starts_with(b"&") && !text.starts_with(b"!");
    let mut signs = memchr3_iter(b'\\', b'*', b'%', text);
    let mut questions = memchr_iter(b'?', text).map(|at| text.get(at + 1));
    questions.all(|next| next.is_some_and(|it| !it.is_ascii_whitespace()))
        && signs.all(|at| {
            let is_percent = text[at] == b'%' && text.get(at + 1) != Some(&b'{');
            is_percent || is_block && is_behind_name(text, at, column)
        })
}

/// Whether a byte of a block of entries in a column lies in the value of an entry with a simple name.
fn is_behind_name(text: &[u8], at: usize, column: usize) -> bool {
    let (indent, start) = match memrchr(b'\n', &text[..at]) {
        None => (column, 0),
        Some(line) => {
            let blanks = text[line + 1..]
                .iter()
                .take_while(|&&it| it == b' ')
                .count();
            (blanks, line + 1 + blanks)
        }
    };
    if indent != column {
        return indent > column;
    }
    let before = &text[start..at];
    memmem::find(before, b": ").is_some_and(|end| {
        let name = &before[..end];
        let bare = match name {
            [b'\'', bare @ .., b'\''] | [b'"', bare @ .., b'"'] => bare,
            bare => bare,
        };
        bare != b"<<" && !bare.iter().any(|it| b"'\"{[&!".contains(it))
    })
}

/// The format in which a file's facts are extracted, by its name: a hierarchy's level may use
/// another one for a lookup, but in practice they agree.
#[must_use]
pub fn format_of(at: &str) -> Option<Format> {
    // The extension of most data files.
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
