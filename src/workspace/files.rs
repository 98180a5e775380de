//! The files visible to a lookup: a snapshot's, or the disk's in batch mode.

use std::borrow::Cow;
use std::sync::Arc;

use super::facts::OptionFact;
use super::paths::Paths;
use crate::hierarchy::Template;
use crate::value::{LoadError, Ruby, RubyChange, StrKey, Value};

/// The kind of an entry, symbolic links followed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
}

/// The loader of a data file, from the hierarchy level's function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// `yaml_data` and `eyaml_lookup_key`.
    Yaml,
    /// `json_data`.
    Json,
    /// `hocon_data`.
    Hocon,
}

/// One loaded data file.
#[derive(Clone, Debug)]
pub struct DataFile {
    /// Puppet's result: the document's value (any type; symbol keys of YAML are strings), or why
    /// the whole file is refused.
    pub loaded: Result<Value, LoadError>,
    /// The readable part of a file that Puppet refuses: the top-level keys outside the broken part.
    /// Equal to `loaded` if that is a value.
    pub recovered: Value,
    /// Why Ruby 4.0 refuses a file that 3.1 loads.
    pub later_error: Option<Box<LoadError>>,
}

impl DataFile {
    /// Puppet's result with the libraries of a version of Ruby.
    ///
    /// # Errors
    /// Why the whole file is refused.
    pub fn loaded_in(&self, ruby: Ruby) -> Result<&Value, &LoadError> {
        match &self.later_error {
            Some(error) if ruby.has(RubyChange::JsonEscape) => Err(error),
            Some(_) | None => self.loaded.as_ref(),
        }
    }

    /// Whether a lookup of a top-level key can find a value in the file, or fail because of it.
    #[must_use]
    pub fn may_hold(&self, key: &str) -> bool {
        match &self.loaded {
            _ if self.later_error.is_some() => true,
            Ok(Value::Hash(hash)) => hash.contains_key(&StrKey(key)),
            Ok(_) | Err(_) => true,
        }
    }
}

/// The entry for one top-level key in a data file.
#[derive(Clone, Debug)]
pub enum Entry {
    /// The file is a hash without the key.
    Absent,
    /// The key's value.
    Value(Value),
    /// The file must be loaded to find out.
    Unknown,
}

/// The files visible to a lookup. Paths are absolute, with `/` between segments, and are not
/// normalised: an inner `..` has the file system's meaning.
pub trait Files: Sync {
    /// The kind of the entry at `path`, if it exists.
    fn kind(&self, path: &str) -> Option<FileKind>;

    /// Whether a path, below a folder that is to hold it, may exist for Puppet although it is
    /// missing here: the folder lies outside of what is known, or the path behind a broken symbolic
    /// link that leads there.
    fn is_elsewhere(&self, _folder: &str, _path: &str) -> bool {
        false
    }

    /// The entries of a folder with their kinds, sorted by bytes, without `.` and `..`; empty if
    /// the folder does not exist.
    fn list(&self, folder: &str) -> Vec<(Arc<str>, FileKind)>;

    /// The names of broken symbolic links in a folder, which [`Files::list`] leaves out, sorted by
    /// bytes: globs match them.
    fn lost_links(&self, _folder: &str) -> Vec<Arc<str>> {
        Vec::new()
    }

    /// Whether a path ends in a symbolic link, which Ruby's `**` does not descend into.
    fn is_link(&self, path: &str) -> bool;

    /// The text of a file that is not data: `hiera.yaml`, `environment.conf`, a function's source.
    ///
    /// # Errors
    /// The system's message if the file cannot be read.
    fn text(&self, path: &str) -> Result<Arc<str>, LoadError>;

    /// Loads a data file; implementations cache the result.
    fn data(&self, path: &str, format: Format) -> Arc<DataFile>;

    /// One top-level key of a YAML file, if it can be read without loading the whole file; equal to
    /// the result of [`Files::data`]. `spent` is what the scope has spent on single keys of this file,
    /// in bytes of its text: for many keys, loading the whole file is faster.
    fn entry(&self, _path: &str, _key: &str, _spent: &mut usize) -> Entry {
        Entry::Unknown
    }

    /// The visible path for `path`: a different one if a deployed path is mapped to a folder of the
    /// workspace.
    fn resolve<'a>(&self, path: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(path)
    }

    /// Whether all visible files are known by their keys: see [`Files::files_with_key`].
    fn has_index(&self) -> bool {
        false
    }

    /// Paths of the visible data files of a format that have a top-level key and match a template,
    /// in byte order; and further ones, which match it only if a variable stands for several
    /// folders. Empty without an index.
    fn files_with_key(&self, _key: &str, _format: Format, _template: &Template) -> (Paths, Paths) {
        <_>::default()
    }

    /// The entries of the `lookup_options` of the data file at `path`, by their keys and patterns;
    /// `None` if unknown, or if Puppet refuses them.
    fn options_in(&self, _path: &str) -> Option<&[OptionFact]> {
        None
    }

    /// Whether the file can affect a lookup of the key: it has the key or is broken. `false`
    /// without a file.
    fn may_hold(&self, path: &str, key: &str, format: Format) -> bool {
        let stands = self.kind(path).is_some() || self.is_link(path);
        stands && self.data(path, format).may_hold(key)
    }

    /// The number of the data file at `path` in the results of [`Files::mattering`], valid while
    /// [`Files::shape`] is the same; `None` if it has none.
    fn number(&self, _path: &str, _format: Format) -> Option<u32> {
        None
    }

    /// The numbers of the files that can affect a lookup of a top-level key, like
    /// [`Files::may_hold`] for one file. O(files with the key).
    fn mattering(&self, _key: &str) -> Vec<u32> {
        Vec::new()
    }

    /// The same, ordered, if they are at most `most`; `None` if they are more, or not known without reading all files.
    /// O(most).
    fn few_mattering(&self, _key: &str, _most: usize) -> Option<Vec<u32>> {
        None
    }

    /// Changes whenever files, folders or roots change, but not with their texts; `None` if files
    /// are not watched.
    fn shape(&self) -> Option<u64> {
        None
    }

    /// Changes whenever any file changes; `None` if files are not watched.
    fn stamp(&self) -> Option<u64> {
        None
    }
}
