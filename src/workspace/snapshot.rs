//! The workspace as of one revision: immutable, cheap to clone, safe to read from any thread.

use std::borrow::Cow;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use imbl::shared_ptr::DefaultSharedPtr;
use imbl::{GenericHashMap, OrdSet};

use super::cache::TextCache;
use super::deployed;
use super::facts::{self, FileFacts, KeyDiff, KeyFact};
use super::file::{Belongs, File, unread};
use super::files::{DataFile, FileKind, Files, Format, Natures};
use super::fits::FitCache;
use super::index::KeyIndex;
use super::path;
use super::paths::Paths;
use super::reader;
use super::references::References;
use super::roots::{Root, Roots};
use super::table::FileTable;
use super::tree::{Node, Tree, interior};
use super::{Settings, change::Linked};
use crate::hierarchy::Template;
use crate::syntax::Parse;
use crate::value::{KeyHashing, LoadError, SystemError, Value};

pub(super) use super::file::FileId;

/// Counts the changes of a workspace; a later snapshot has a greater one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Revision(pub u64);

/// What the change that made a snapshot did, against the snapshot before.
#[derive(Clone, Debug, Default)]
pub struct Delta {
    /// Files whose text, place or readability changed, ordered by id.
    pub files: Vec<FileDelta>,
    /// Paths that appeared or turned from file to folder or back, ordered by bytes.
    pub appeared: Vec<Arc<str>>,
    /// Paths that are gone, ordered by bytes.
    pub vanished: Vec<Arc<str>>,
    /// Whether the roots, or what they say of themselves, are others now.
    pub roots_changed: bool,
    /// Whether the settings are others now.
    pub settings_changed: bool,
    /// Which keys looked up which before.
    pub references_before: References,
}

/// One file's change.
#[derive(Clone, Debug)]
pub struct FileDelta {
    /// Which file.
    pub file: FileId,
    /// Its path.
    pub path: Arc<str>,
    /// Its facts as lookups saw them before; nothing if it was not in the workspace.
    pub before: Option<Arc<FileFacts>>,
    /// Its facts as lookups see them now; nothing if it is not in the workspace.
    pub after: Option<Arc<FileFacts>>,
}

impl FileDelta {
    /// Which keys an edit can touch: O(keys of the file).
    #[must_use]
    pub fn keys(&self) -> KeyDiff {
        facts::diff(self.before.as_deref(), self.after.as_deref())
    }
}

/// The whole workspace as of one revision.
#[derive(Clone)]
pub struct Snapshot {
    pub(super) revision: Revision,
    /// See [`Files::shape`].
    pub(super) shape: u64,
    pub(super) folders: Arc<[Arc<str>]>,
    pub(super) areas: Arc<[Arc<str>]>,
    pub(super) settings: Arc<Settings>,
    /// What the disk holds.
    pub(super) tree: Tree,
    /// Paths of open documents. Those that are not on the disk stand in the workspace too.
    pub(super) open: OrdSet<Arc<str>>,
    /// Numbers by path; a number is never given to another path.
    pub(super) ids: GenericHashMap<Arc<str>, FileId, KeyHashing, DefaultSharedPtr>,
    /// Files by number.
    pub(super) files: FileTable,
    /// Paths of files that can make or unmake a root.
    pub(super) deciding: OrdSet<Arc<str>>,
    pub(super) roots: Arc<Roots>,
    pub(super) index: KeyIndex,
    pub(super) references: References,
    pub(super) text_bytes: usize,
    pub(super) delta: Arc<Delta>,
    pub(super) data: Arc<TextCache<DataFile>>,
    pub(super) parses: Arc<TextCache<Parse>>,
    pub(super) fits: Arc<FitCache>,
}

impl Snapshot {
    pub(super) fn empty() -> Snapshot {
        Snapshot {
            revision: Revision::default(),
            shape: next_shape(),
            folders: Arc::from([]),
            areas: Arc::from([]),
            settings: Arc::default(),
            tree: Tree::default(),
            open: OrdSet::new(),
            ids: GenericHashMap::default(),
            files: FileTable::default(),
            deciding: OrdSet::new(),
            roots: Arc::default(),
            index: KeyIndex::default(),
            references: References::default(),
            text_bytes: 0,
            delta: Arc::default(),
            data: Arc::default(),
            parses: Arc::default(),
            fits: Arc::default(),
        }
    }

    /// Which revision this is.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// What the change that made this snapshot did.
    #[must_use]
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// The workspace's own folders.
    #[must_use]
    pub fn folders(&self) -> &[Arc<str>] {
        &self.folders
    }

    /// Every folder whose files are in the workspace, none inside another: its own and those
    /// that settings add. These are the folders to scan and to watch.
    #[must_use]
    pub fn areas(&self) -> &[Arc<str>] {
        &self.areas
    }

    /// The settings that concern files.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The area that a path lies in.
    pub(super) fn area_of(&self, at: &str) -> Option<&Arc<str>> {
        self.areas
            .iter()
            .find(|area| path::within(at, area).is_some())
    }

    /// The file at a path: in the workspace, or open in the editor.
    #[must_use]
    pub fn file(&self, at: &str) -> Option<&Arc<File>> {
        self.file_by_id(*self.ids.get(at)?)
    }

    /// The file of a number, if it still is there.
    #[must_use]
    pub fn file_by_id(&self, id: FileId) -> Option<&Arc<File>> {
        self.files.get(id)
    }

    /// Every file whose content is known, ordered by number; open documents outside the
    /// workspace among them.
    pub fn files(&self) -> impl Iterator<Item = &Arc<File>> {
        self.files.iter()
    }

    /// The open documents, ordered by path.
    pub fn open_files(&self) -> impl Iterator<Item = &Arc<File>> {
        self.open.iter().filter_map(|at| self.file(at))
    }

    /// Every file and folder of the workspace below a folder with its kind, ordered by the bytes
    /// of the paths.
    #[must_use]
    pub fn paths_below(&self, folder: &str) -> Vec<(Arc<str>, FileKind)> {
        let mut found: Vec<(Arc<str>, FileKind)> = Vec::new();
        let mut waiting = vec![folder.to_owned()];
        while let Some(folder) = waiting.pop() {
            for (name, kind) in self.names(&folder) {
                let at = path::join(&folder, &name);
                if kind == FileKind::Directory {
                    waiting.push(at.clone());
                }
                found.push((Arc::from(at), kind));
            }
        }
        found.sort();
        found
    }

    /// How many bytes of text the workspace holds.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// Names of top-level keys that start with `prefix` (all for an empty one), ordered by
    /// bytes; each once, however many files hold it.
    pub fn key_names<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a Arc<str>> {
        self.index.names(prefix)
    }

    /// How many different top-level keys the workspace has.
    #[must_use]
    pub fn key_count(&self) -> usize {
        self.index.len()
    }

    /// The files that hold a top-level key, ordered by number.
    #[must_use]
    pub fn files_with(&self, key: &str) -> Vec<FileId> {
        self.index.files(key)
    }

    /// The files that hold a top-level key, ordered by number, one after another.
    pub fn iter_files_with(&self, key: &str) -> impl Iterator<Item = &Arc<File>> {
        self.index
            .iter_files(key)
            .filter_map(|id| self.file_by_id(id))
    }

    /// How many files hold a top-level key: O(log keys).
    #[must_use]
    pub fn count_with(&self, key: &str) -> usize {
        self.index.count(key)
    }

    /// Where a top-level key stands: in every file that holds it, the place that counts.
    #[must_use]
    pub fn definitions(&self, key: &str) -> Vec<(&Arc<File>, &KeyFact)> {
        let files = self.index.files(key).into_iter();
        files
            .filter_map(|id| {
                let file = self.file_by_id(id)?;
                Some((file, file.facts.key(key)?))
            })
            .collect()
    }

    /// Which top-level keys look up which.
    #[must_use]
    pub fn references(&self) -> &References {
        &self.references
    }

    /// Environments, modules and the global layer.
    #[must_use]
    pub fn roots(&self) -> &Arc<Roots> {
        &self.roots
    }

    /// The root that a file belongs to: the innermost folder around it that is a root.
    #[must_use]
    pub fn root_of(&self, at: &str) -> Option<&Root> {
        self.roots.of(at)
    }

    /// Where a path is in the workspace: itself if it lies there, else by the user's settings,
    /// else `…/environments/NAME/REST` under an environment that has REST's first name, one
    /// called NAME before others. A path that is nowhere in the workspace stays as it is.
    #[must_use]
    pub fn map_deployed<'a>(&self, at: &'a str) -> Cow<'a, str> {
        self.map_deployed_for(None, at)
    }

    /// As [`Snapshot::map_deployed`], asking this root before any other.
    #[must_use]
    pub fn map_deployed_for<'a>(&self, root: Option<&Root>, at: &'a str) -> Cow<'a, str> {
        if !at.starts_with('/') || self.area_of(at).is_some() {
            return Cow::Borrowed(at);
        }
        if let Some(here) = deployed::by_setting(at, &self.settings.path_map) {
            return Cow::Owned(here);
        }
        for (name, rest) in deployed::by_environment(at) {
            let first = rest.split('/').next().unwrap_or_default();
            let named = self
                .roots
                .environments()
                .filter(|root| path::name(&root.dir) == name);
            let others = self
                .roots
                .environments()
                .filter(|root| path::name(&root.dir) != name);
            let here = root
                .into_iter()
                .chain(named)
                .chain(others)
                .find(|root| self.kind_here(&path::join(&root.dir, first)).is_some());
            if let Some(root) = here {
                return Cow::Owned(path::join(&root.dir, rest));
            }
        }
        Cow::Borrowed(at)
    }

    /// The files as a lookup in one root sees them: deployed paths are this root's first.
    #[must_use]
    pub fn files_for<'a>(&'a self, root: &'a Root) -> RootFiles<'a> {
        RootFiles {
            snapshot: self,
            root,
        }
    }

    /// Paths of the files that hold a top-level key and that a template can mean, ordered by
    /// bytes; of one format or of any. O(1) where that was asked lately and the same files hold the
    /// key, else O(files with the key), and much only for those that fit.
    #[must_use]
    pub fn holders(&self, key: &str, template: &Template, format: Option<Format>) -> Paths {
        self.fits.of(template).holders(self, key, format).paths
    }

    /// Whether `files` are the very ones that [`Snapshot::holders`] gives for a key and a template,
    /// of any format, and the template gives each in one reading only: each stands for other values
    /// of the template's variables then.
    #[must_use]
    pub fn holds_once(&self, key: &str, template: &Template, files: &Paths) -> bool {
        let holders = self.fits.of(template).holders(self, key, None);
        holders.has_one_reading && holders.paths.is_same(files)
    }

    fn is_link_for(&self, root: Option<&Root>, at: &str) -> bool {
        let mapped = self.map_deployed_for(root, at);
        let Some(here) = self.resolve(&mapped) else {
            return false;
        };
        match self.tree.get(&here) {
            Some(Node::Directory { target }) => target.is_some(),
            Some(Node::File { linked }) => *linked == Linked::Yes,
            None => false,
        }
    }

    /// What stands at a path in normal form, in the workspace.
    fn kind_here(&self, at: &str) -> Option<FileKind> {
        if let Some(node) = self.tree.get(at) {
            return Some(node.kind());
        }
        self.area_of(at)?;
        if self.open.contains(at) {
            return Some(FileKind::File);
        }
        self.open_below(at).next().map(|_| FileKind::Directory)
    }

    /// Paths of open documents below a folder.
    fn open_below(&self, folder: &str) -> impl Iterator<Item = &Arc<str>> {
        let (start, end) = interior(folder);
        self.open.range::<_, str>((
            Bound::Excluded(start.as_str()),
            Bound::Excluded(end.as_str()),
        ))
    }

    /// The names in a folder of the workspace, those of unsaved documents among them.
    fn names(&self, folder: &str) -> Vec<(Arc<str>, FileKind)> {
        let mut names = self.tree.list(folder);
        if self.kind_here(folder) != Some(FileKind::Directory) {
            return names;
        }
        let on_disk = names.len();
        for at in self.open_below(folder) {
            if self.area_of(at).is_none() {
                continue;
            }
            let rest = path::within(at, folder.trim_end_matches('/')).unwrap_or_default();
            let (name, kind) = match rest.split_once('/') {
                Some((name, _)) => (name, FileKind::Directory),
                None => (rest, FileKind::File),
            };
            if names[..on_disk]
                .binary_search_by(|(known, _)| (**known).cmp(name))
                .is_err()
            {
                names.push((Arc::from(name), kind));
            }
        }
        if names.len() > on_disk {
            names.sort();
            names.dedup_by(|later, earlier| later.0 == earlier.0);
        }
        names
    }

    /// A path in normal form, `..` behind a symbolic link leaving from where the link leads.
    /// Nothing where the way there does not exist.
    fn resolve<'a>(&self, at: &'a str) -> Option<Cow<'a, str>> {
        if path::is_normal(at) {
            return Some(Cow::Borrowed(at));
        }
        let mut here = String::new();
        for segment in at.split('/') {
            match segment {
                "" | "." => {}
                ".." => {
                    let folder = match self.tree.get(&here) {
                        Some(Node::Directory { target }) => target.as_deref(),
                        Some(Node::File { .. }) => return None,
                        None if self.area_of(&here).is_some()
                            && self.kind_here(&here) != Some(FileKind::Directory) =>
                        {
                            return None;
                        }
                        None => None,
                    };
                    let above = path::parent(folder.unwrap_or(&here)).unwrap_or_default();
                    here = above.trim_end_matches('/').to_owned();
                }
                name => {
                    here.push('/');
                    here.push_str(name);
                }
            }
        }
        if here.is_empty() {
            here.push('/');
        }
        let must_be_folder = at.ends_with('/') || at.ends_with("/.");
        if must_be_folder && self.kind_here(&here) == Some(FileKind::File) {
            return None;
        }
        Some(Cow::Owned(here))
    }

    /// The file at a path in normal form that the disk holds, in the workspace.
    fn file_on_disk(&self, at: &str) -> Option<&Arc<File>> {
        self.file(at)
            .filter(|file| file.belongs == Belongs::Workspace && file.disk.is_some())
    }

    fn kind_for(&self, root: Option<&Root>, at: &str) -> Option<FileKind> {
        if self.file_on_disk(at).is_some() {
            return Some(FileKind::File);
        }
        self.kind_here(&self.resolve(&self.map_deployed_for(root, at))?)
    }

    fn list_for(&self, root: Option<&Root>, folder: &str) -> Vec<(Arc<str>, FileKind)> {
        let folder = self.map_deployed_for(root, folder);
        self.resolve(&folder)
            .map_or_else(Vec::new, |folder| self.names(&folder))
    }

    /// The file at a path of the workspace.
    fn read(&self, root: Option<&Root>, at: &str) -> Result<&Arc<File>, LoadError> {
        // Most paths are in normal form and those of a file that was read.
        if let Some(file) = self.file_on_disk(at) {
            return file.refused().map_or(Ok(file), |error| Err(error.clone()));
        }
        let missing = || SystemError::NotFound.at("rb_sysopen", at);
        let mapped = self.map_deployed_for(root, at);
        let here = self.resolve(&mapped).ok_or_else(missing)?;
        self.read_here(&here, at)
    }

    /// The file at a path in normal form; failures name it as `shown`.
    fn read_here(&self, here: &str, shown: &str) -> Result<&Arc<File>, LoadError> {
        match self.kind_here(here) {
            None => Err(SystemError::NotFound.at("rb_sysopen", shown)),
            Some(FileKind::Directory) => Err(SystemError::IsDirectory.at("io_fread", shown)),
            Some(FileKind::File) => {
                let file = self.file(here).ok_or_else(|| unread(here))?;
                match file.refused() {
                    Some(error) => Err(error.clone()),
                    None => Ok(file),
                }
            }
        }
    }

    fn text_for(&self, root: Option<&Root>, at: &str) -> Result<Arc<str>, LoadError> {
        self.read(root, at).map(|file| Arc::clone(&file.text))
    }

    fn may_hold_for(&self, root: Option<&Root>, at: &str, key: &str, format: Format) -> bool {
        let Ok(file) = self.read(root, at) else {
            return self.kind_for(root, at).is_some();
        };
        if file.format() != Some(format) {
            return self.data_of(file, format).may_hold(key);
        }
        let facts = file.facts();
        // A file without keys may be no hash, which is told with every lookup that reads it.
        facts.matters_to_any_key() || facts.key(key).is_some()
    }

    fn number_for(&self, root: Option<&Root>, at: &str, format: Format) -> Option<u32> {
        let file = self.read(root, at).ok()?;
        let is_told = file.belongs == Belongs::Workspace && file.format() == Some(format);
        is_told.then_some(file.id.0)
    }

    fn mattering_to(&self, key: &str) -> Vec<u32> {
        let files = self.index.iter_files(key).chain(self.index.odd_files());
        files.map(|id| id.0).collect()
    }

    fn data_for(&self, root: Option<&Root>, at: &str, format: Format) -> Arc<DataFile> {
        match self.read(root, at) {
            Ok(file) => self.data_of(file, format),
            Err(error) => Arc::new(failed(error)),
        }
    }

    /// A file's text through a loader.
    #[must_use]
    pub fn data_of(&self, file: &File, format: Format) -> Arc<DataFile> {
        match file.bytes() {
            Ok(bytes) => self.data.get(file.hash(), &bytes, format, || {
                // An open document's tree is there already.
                let parsed = file.parse.get().filter(|_| {
                    format == Format::Yaml && format == own_format(file) && file.open.is_some()
                });
                let loaded = parsed.and_then(|parse| reader::load_parsed_yaml(parse));
                let loaded = loaded.unwrap_or_else(|| reader::load(&bytes, format));
                let cost = reader::cost(&loaded) + bytes.len();
                (loaded, cost)
            }),
            Err(error) => Arc::new(failed(error)),
        }
    }

    /// A file's text as a tree with places, read as a format. O(1) for an open document in its
    /// own format; other trees are remembered for a while.
    #[must_use]
    pub fn parse_of(&self, file: &File, format: Format) -> Arc<Parse> {
        let read = || reader::parse(&file.text, format);
        if file.open.is_some() && format == own_format(file) {
            return Arc::clone(file.parse.get_or_init(|| Arc::new(read())));
        }
        let bytes = Arc::from(Arc::clone(&file.text));
        self.parses.get(file.hash(), &bytes, format, || {
            let parse = read();
            let cost = reader::cost_of_parse(&parse) + bytes.len();
            (parse, cost)
        })
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot")
            .field("revision", &self.revision)
            .field("areas", &self.areas)
            .finish_non_exhaustive()
    }
}

/// The format that a file's own tree is in: its name's, and YAML for configurations.
fn own_format(file: &File) -> Format {
    file.format().unwrap_or(Format::Yaml)
}

/// How the keys of two versions of a file differ.
#[must_use]
pub fn differences_of_keys(before: &File, after: &File) -> KeyDiff {
    facts::diff(Some(&before.facts), Some(&after.facts))
}

/// A shape that no snapshot of this process has had.
pub(super) fn next_shape() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A data file that could not be read.
pub(super) fn failed(error: LoadError) -> DataFile {
    DataFile {
        loaded: Err(error),
        recovered: Value::Undef,
        natures: Natures::default(),
    }
}

impl Files for Snapshot {
    fn kind(&self, path: &str) -> Option<FileKind> {
        self.kind_for(None, path)
    }

    fn list(&self, folder: &str) -> Vec<(Arc<str>, FileKind)> {
        self.list_for(None, folder)
    }

    fn is_link(&self, path: &str) -> bool {
        self.is_link_for(None, path)
    }

    fn text(&self, path: &str) -> Result<Arc<str>, LoadError> {
        self.text_for(None, path)
    }

    fn data(&self, path: &str, format: Format) -> Arc<DataFile> {
        self.data_for(None, path, format)
    }

    fn resolve<'a>(&self, path: &'a str) -> Cow<'a, str> {
        self.map_deployed(path)
    }

    fn files_with_key(&self, key: &str, format: Format, template: &Template) -> Paths {
        self.holders(key, template, Some(format))
    }

    fn may_hold(&self, path: &str, key: &str, format: Format) -> bool {
        self.may_hold_for(None, path, key, format)
    }

    fn number(&self, path: &str, format: Format) -> Option<u32> {
        self.number_for(None, path, format)
    }

    fn mattering(&self, key: &str) -> Vec<u32> {
        self.mattering_to(key)
    }

    fn shape(&self) -> Option<u64> {
        Some(self.shape)
    }
}

/// A snapshot's files as a lookup in one root sees them.
#[derive(Clone, Copy, Debug)]
pub struct RootFiles<'a> {
    snapshot: &'a Snapshot,
    root: &'a Root,
}

impl Files for RootFiles<'_> {
    fn kind(&self, path: &str) -> Option<FileKind> {
        self.snapshot.kind_for(Some(self.root), path)
    }

    fn list(&self, folder: &str) -> Vec<(Arc<str>, FileKind)> {
        self.snapshot.list_for(Some(self.root), folder)
    }

    fn is_link(&self, path: &str) -> bool {
        self.snapshot.is_link_for(Some(self.root), path)
    }

    fn text(&self, path: &str) -> Result<Arc<str>, LoadError> {
        self.snapshot.text_for(Some(self.root), path)
    }

    fn data(&self, path: &str, format: Format) -> Arc<DataFile> {
        self.snapshot.data_for(Some(self.root), path, format)
    }

    fn resolve<'a>(&self, path: &'a str) -> Cow<'a, str> {
        self.snapshot.map_deployed_for(Some(self.root), path)
    }

    fn files_with_key(&self, key: &str, format: Format, template: &Template) -> Paths {
        self.snapshot.holders(key, template, Some(format))
    }

    fn may_hold(&self, path: &str, key: &str, format: Format) -> bool {
        self.snapshot
            .may_hold_for(Some(self.root), path, key, format)
    }

    fn number(&self, path: &str, format: Format) -> Option<u32> {
        self.snapshot.number_for(Some(self.root), path, format)
    }

    fn mattering(&self, key: &str) -> Vec<u32> {
        self.snapshot.mattering_to(key)
    }

    fn shape(&self) -> Option<u64> {
        Some(self.snapshot.shape)
    }
}

/// Facts that lookups and the index see of a file.
pub(super) fn seen(file: Option<&Arc<File>>) -> Option<&Arc<FileFacts>> {
    match file?.belongs {
        Belongs::Workspace => file.map(|file| &file.facts),
        Belongs::OpenOnly => None,
    }
}

/// A snapshot's files by their paths in it, before its roots are known: nothing is mapped.
pub(super) struct Here<'a>(pub(super) &'a Snapshot);

impl Files for Here<'_> {
    fn kind(&self, path: &str) -> Option<FileKind> {
        self.0.kind_here(path)
    }

    fn list(&self, folder: &str) -> Vec<(Arc<str>, FileKind)> {
        self.0.names(folder)
    }

    fn is_link(&self, path: &str) -> bool {
        self.0.is_link_for(None, path)
    }

    fn text(&self, path: &str) -> Result<Arc<str>, LoadError> {
        self.0
            .read_here(path, path)
            .map(|file| Arc::clone(&file.text))
    }

    fn data(&self, path: &str, format: Format) -> Arc<DataFile> {
        match self.0.read_here(path, path) {
            Ok(file) => self.0.data_of(file, format),
            Err(error) => Arc::new(failed(error)),
        }
    }
}
