//! The files that a lookup can see: a snapshot's in the editor, the disk's in batch mode.

use std::borrow::Cow;
use std::sync::Arc;

use super::paths::Paths;
use crate::hierarchy::Template;
use crate::value::{LoadError, StrKey, Value};

/// What stands at a path, symbolic links followed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
}

/// Which reader a data file goes through, as the hierarchy level's function says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// `yaml_data` and `eyaml_lookup_key`.
    Yaml,
    /// `json_data`.
    Json,
    /// `hocon_data`.
    Hocon,
}

/// One data file as a loader leaves it.
#[derive(Clone, Debug)]
pub struct DataFile {
    /// What Puppet gets: the document's value (any type; symbol keys of YAML are strings), or why the
    /// whole file is unusable.
    pub loaded: Result<Value, LoadError>,
    /// What can still be read of a file that Puppet refuses: the top-level keys outside the
    /// broken part. Equal to `loaded` where that is a value.
    pub recovered: Value,
}

impl DataFile {
    /// Whether a lookup of a top-level key can get anything out of the file, or be refused by it.
    #[must_use]
    pub fn may_hold(&self, key: &str) -> bool {
        match &self.loaded {
            Ok(Value::Hash(hash)) => hash.contains_key(&StrKey(key)),
            Ok(_) | Err(_) => true,
        }
    }
}

/// What a data file says of one top-level key.
#[derive(Clone, Debug)]
pub enum Entry {
    /// The file holds a hash without the key.
    Absent,
    /// The key's value.
    Value(Value),
    /// The file must be loaded to tell.
    Unknown,
}

/// The files that a lookup can see. Paths are absolute, with `/` between segments, and are not
/// normalised: `..` in the middle means what the file system makes of it.
pub trait Files: Sync {
    /// What stands at `path`, if anything.
    fn kind(&self, path: &str) -> Option<FileKind>;

    /// Whether it is known what stands in a folder; where it is not, a file that is missing here may
    /// be there for Puppet.
    fn sees(&self, _folder: &str) -> bool {
        true
    }

    /// Whether a path is, or leads through, a symbolic link out of the checkout to what is not on this
    /// machine: something may be there for Puppet.
    fn is_behind_lost_link(&self, _path: &str) -> bool {
        false
    }

    /// The names in a folder with their kinds, sorted by bytes, without `.` and `..`; empty where
    /// there is no such folder.
    fn list(&self, folder: &str) -> Vec<(Arc<str>, FileKind)>;

    /// The names in a folder of symbolic links that lead nowhere, which [`Files::list`] leaves out,
    /// sorted by bytes: globs match them.
    fn lost_links(&self, _folder: &str) -> Vec<Arc<str>> {
        Vec::new()
    }

    /// Whether a path ends in a symbolic link, which Ruby's `**` does not descend into.
    fn is_link(&self, path: &str) -> bool;

    /// The text of a file that is not data: `hiera.yaml`, `environment.conf`, a function's source.
    ///
    /// # Errors
    /// The system's words where the file cannot be read.
    fn text(&self, path: &str) -> Result<Arc<str>, LoadError>;

    /// A data file through a loader; implementations remember what they loaded.
    fn data(&self, path: &str, format: Format) -> Arc<DataFile>;

    /// One top-level key of a YAML file, where that can be told without loading all of it. What it
    /// tells is what [`Files::data`] would. Who asks for many keys is better served by the whole:
    /// `asked` is how often the file was asked before.
    fn entry(&self, _path: &str, _key: &str, _asked: u32) -> Entry {
        Entry::Unknown
    }

    /// The path under which the files of `path` can be seen: another one where a deployed path
    /// stands for a folder of the workspace.
    fn resolve<'a>(&self, path: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(path)
    }

    /// Paths of the visible data files of a format that hold a top-level key and that a template
    /// can mean, in byte order; none where no index is kept.
    fn files_with_key(&self, _key: &str, _format: Format, _template: &Template) -> Paths {
        Paths::default()
    }

    /// Further ones, which the template can mean only if a variable stands for several folders.
    fn files_across(&self, _key: &str, _format: Format, _template: &Template) -> Paths {
        Paths::default()
    }

    /// The keys and patterns that the `lookup_options` of the data file at `path` have entries for;
    /// `None` if that is not known, or Puppet refuses them.
    fn option_names(&self, _path: &str) -> Option<Vec<Arc<str>>> {
        None
    }

    /// Whether the file at `path` can matter to a lookup of a top-level key: it holds the key, or
    /// something is wrong with it. No file, no matter.
    fn may_hold(&self, path: &str, key: &str, format: Format) -> bool {
        let stands = self.kind(path).is_some() || self.is_link(path);
        stands && self.data(path, format).may_hold(key)
    }

    /// The number by which [`Files::mattering`] tells of the data file at `path`, the same as long
    /// as [`Files::shape`] is; `None` for a file of which it does not tell.
    fn number(&self, _path: &str, _format: Format) -> Option<u32> {
        None
    }

    /// The numbers of the files that can matter to a lookup of a top-level key, as
    /// [`Files::may_hold`] says of one. O(files that hold it).
    fn mattering(&self, _key: &str) -> Vec<u32> {
        Vec::new()
    }

    /// A number that is another one as soon as files, folders or the roots of the workspace may be
    /// others, texts aside; `None` if files are not watched.
    fn shape(&self) -> Option<u64> {
        None
    }
}
