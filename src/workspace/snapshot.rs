//! The workspace as of one revision: immutable, cheap to clone, safe to read from any thread.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use imbl::shared_ptr::DefaultSharedPtr;
use imbl::{GenericHashMap, OrdSet, Vector};

use super::FileSettings;
use super::cache::TextCache;
use super::change::Lost;
use super::delta::Delta;
use super::entries::{self, EntryCache};
use super::facts::{FileFacts, KeyFact};
use super::file::{Belongs, File};
use super::files::{DataFile, Entry, Format};
use super::fits::FitCache;
use super::hash_texts::HashTextCache;
use super::indexes::Indexes;
use super::parts;
use super::path;
use super::paths::Paths;
use super::reader;
use super::references::References;
use super::roots::{Root, Roots};
use super::tree::{PathEntry, PathTree};
use super::visible::failed;
use crate::hierarchy::Template;
use crate::syntax::Parse;
use crate::text::TextRange;
use crate::value::{KeyHashing, Value};

pub(super) use super::file::FileId;

/// The number of a change of a workspace; a later snapshot has a greater one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Revision(pub u64);

/// The whole workspace as of one revision.
#[derive(Clone, Default)]
pub struct Snapshot {
    pub(super) revision: Revision,
    /// Unique in this process; 0 before the first change.
    pub(super) stamp: u64,
    /// See [`super::Files::shape`].
    pub(super) shape: u64,
    /// Changes with the texts of facts that tests keep.
    pub(super) facts_of_tests: u64,
    pub(super) folders: Arc<[Arc<str>]>,
    pub(super) areas: Arc<[Arc<str>]>,
    pub(super) settings: Arc<FileSettings>,
    pub(super) tree: PathTree,
    /// Paths of open documents. Unsaved ones are part of the workspace too.
    pub(super) open: OrdSet<Arc<str>>,
    /// Other names of open documents, which have the same text.
    pub(super) lent: OrdSet<Arc<str>>,
    /// Ids by path; an id is never reused for another path.
    pub(super) ids: GenericHashMap<Arc<str>, FileId, KeyHashing, DefaultSharedPtr>,
    /// Files by id; `None` for removed files.
    pub(super) files: Vector<Option<Arc<File>>>,
    /// Paths of files that can add or remove a root.
    pub(super) deciding: OrdSet<Arc<str>>,
    /// Paths of files that are configurations of hierarchies by their content.
    pub(super) configs: OrdSet<Arc<str>>,
    pub(super) roots: Arc<Roots>,
    /// Empty if texts are read on demand and nothing has asked for all of them: see
    /// [`Snapshot::indexes`].
    pub(super) indexes: Arc<OnceLock<Indexes>>,
    pub(super) text_bytes: usize,
    pub(super) delta: Arc<Delta>,
    pub(super) data: Arc<TextCache<DataFile>>,
    pub(super) parses: Arc<TextCache<Parse>>,
    pub(super) entries: Arc<EntryCache>,
    pub(super) fits: Arc<FitCache>,
    pub(super) hash_texts: Arc<HashTextCache>,
}

impl Snapshot {
    pub(super) fn empty() -> Snapshot {
        Snapshot {
            shape: next_stamp(),
            ..Snapshot::default()
        }
    }

    /// A number of this snapshot alone, of all snapshots of this process.
    #[must_use]
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    /// The revision of this snapshot.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The differences to the previous snapshot.
    #[must_use]
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// The workspace's own folders.
    #[must_use]
    pub fn folders(&self) -> &[Arc<str>] {
        &self.folders
    }

    /// A path for display: relative to its workspace folder.
    #[must_use]
    pub fn short_name<'p>(&self, at: &'p str) -> &'p str {
        let folders = self.folders().iter();
        let inside = folders.filter_map(|folder| path::within(at, folder));
        inside.min_by_key(|inside| inside.len()).unwrap_or(at)
    }

    /// Every folder whose files are in the workspace, without nested ones: its own and those from
    /// settings. These are the folders to scan and to watch.
    #[must_use]
    pub fn areas(&self) -> &[Arc<str>] {
        &self.areas
    }

    /// The state of the facts that tests keep: equal for two snapshots in which they are the same
    /// files with the same texts.
    #[must_use]
    pub fn facts_of_tests(&self) -> (u64, u64) {
        (self.shape, self.facts_of_tests)
    }

    /// Whether a path is, or goes through, a broken symbolic link out of the workspace.
    #[must_use]
    pub fn is_behind_lost_link(&self, at: &str) -> bool {
        let mut ancestors = std::iter::successors(Some(at), |at| path::parent(at));
        ancestors.any(|at| self.tree.get(at) == Some(&PathEntry::LostLink(Lost::Outside)))
    }

    /// The settings that concern files.
    #[must_use]
    pub fn settings(&self) -> &FileSettings {
        &self.settings
    }

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

    /// The file with that id, if it still exists.
    #[must_use]
    pub fn file_by_id(&self, id: FileId) -> Option<&Arc<File>> {
        self.files.get(id.0 as usize)?.as_ref()
    }

    /// Every file with known content, ordered by id, including open documents outside the
    /// workspace.
    pub fn files(&self) -> impl Iterator<Item = &Arc<File>> {
        self.files.iter().flatten()
    }

    /// The files of the workspace except those with the given ids, ordered by id.
    pub fn files_except(
        &self,
        without: HashSet<FileId, KeyHashing>,
    ) -> impl Iterator<Item = &Arc<File>> {
        let files = (0..).map(FileId).zip(&self.files);
        let files = files.filter(move |(id, _)| !without.contains(id));
        let files = files.filter_map(|(_, file)| file.as_ref());
        files.filter(|file| file.belongs == Belongs::Workspace)
    }

    /// The open documents, ordered by path.
    pub fn open_files(&self) -> impl Iterator<Item = &Arc<File>> {
        self.open.iter().filter_map(|at| self.file(at))
    }

    /// Names of top-level keys that start with `prefix` (all for an empty one), ordered by bytes,
    /// without duplicates.
    pub fn key_names<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a Arc<str>> {
        self.indexes().keys.names(prefix)
    }

    /// The files with a top-level key, ordered by id.
    #[must_use]
    pub fn files_with(&self, key: &str) -> Vec<FileId> {
        self.indexes().keys.files(key)
    }

    /// Like [`Snapshot::files_with`], as an iterator.
    pub fn iter_ids_with(&self, key: &str) -> impl Iterator<Item = FileId> {
        self.indexes().keys.iter_files(key)
    }

    /// The files with a top-level key, ordered by id.
    pub fn iter_files_with(&self, key: &str) -> impl Iterator<Item = &Arc<File>> {
        self.indexes()
            .keys
            .iter_files(key)
            .filter_map(|id| self.file_by_id(id))
    }

    /// The number of files with a top-level key: O(log keys).
    #[must_use]
    pub fn count_with(&self, key: &str) -> usize {
        self.indexes().keys.count(key)
    }

    /// The data files that Puppet refuses. O(such files, and those that may not be hashes).
    pub fn refused_files(&self) -> impl Iterator<Item = &Arc<File>> {
        let odd = self.indexes().keys.odd_files();
        let files = odd.filter_map(|id| self.file_by_id(id));
        files.filter(|file| file.facts().error.is_some())
    }

    /// The definitions of a top-level key: the effective one of every file with it.
    #[must_use]
    pub fn definitions(&self, key: &str) -> Vec<(&Arc<File>, &KeyFact)> {
        let files = self.indexes().keys.files(key).into_iter();
        files
            .filter_map(|id| {
                let file = self.file_by_id(id)?;
                Some((file, file.facts().key(key)?))
            })
            .collect()
    }

    /// What spans the texts of all files. Reads every text if they are read on demand and this is
    /// the first call.
    pub(super) fn indexes(&self) -> &Indexes {
        self.indexes.get_or_init(|| Indexes::of(self))
    }

    /// The references between top-level keys.
    #[must_use]
    pub fn references(&self) -> &References {
        &self.indexes().references
    }

    /// The files with tokens that look up a key, ordered by id.
    pub fn files_with_tokens_for(&self, key: &str) -> impl Iterator<Item = &Arc<File>> {
        let files = self.indexes().references.files(key);
        files.filter_map(|id| self.file_by_id(id))
    }

    /// The keys whose value looks up a key in some file: by its own tokens, or perhaps by tokens in
    /// other parts of the file. O(tokens for the key), and O(keys with aliases) of their files.
    pub fn users<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a Arc<str>> {
        let files = self.files_with_tokens_for(key);
        let tangled = files.flat_map(|file| file.facts().tangled());
        self.indexes()
            .references
            .users(key)
            .chain(tangled.map(|fact| &fact.name))
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

    /// Paths of the files that have a top-level key and match a template, ordered by bytes; of one
    /// format or of any. O(files with the key) or O(files that match × log), whichever is less, and
    /// O(files) for a new template.
    #[must_use]
    pub fn holders(&self, key: &str, template: &Template, format: Option<Format>) -> Paths {
        self.fits.holders(self, key, template, format).paths.clone()
    }

    /// Like [`Snapshot::holders`]: the further files that the template may match ([`Template::may_match`]).
    #[must_use]
    pub fn holders_across(&self, key: &str, template: &Template, format: Option<Format>) -> Paths {
        self.fits
            .holders(self, key, template, format)
            .across
            .clone()
    }

    /// Both in one search.
    pub(super) fn holders_and_across(
        &self,
        key: &str,
        template: &Template,
        format: Option<Format>,
    ) -> (Paths, Paths) {
        let holders = self.fits.holders(self, key, template, format);
        (holders.paths.clone(), holders.across.clone())
    }

    /// The files that a template matches, ordered by id. O(such files), and O(files) for a new
    /// template.
    #[must_use]
    pub fn matching(&self, template: &Template) -> Vec<FileId> {
        self.fits.matching(self, template, false)
    }

    /// Like [`Snapshot::matching`], with the files that the template may match ([`Template::may_match`]).
    #[must_use]
    pub fn matching_across(&self, template: &Template) -> Vec<FileId> {
        self.fits.matching(self, template, true)
    }

    /// Whether `files` equals the result of [`Snapshot::holders`] for a key and a template in any
    /// format, and the template matches each in one reading only: then each stands for different
    /// values of the template's variables.
    #[must_use]
    pub fn holds_once(&self, key: &str, template: &Template, files: &Paths) -> bool {
        let holders = self.fits.holders(self, key, template, None);
        holders.has_one_reading && holders.paths == *files
    }

    #[cfg(test)]
    pub(crate) fn loaded_texts(&self) -> usize {
        self.data.len()
    }

    /// Loads a file's text.
    #[must_use]
    pub fn data_of(&self, file: &File, format: Format) -> Arc<DataFile> {
        // An open document already has a tree.
        let is_its_tree = format == own_format(file) && file.open.is_some();
        let parsed = file.parse.get().filter(|_| is_its_tree);
        self.data_from(file, format, parsed.map(|parse| &**parse))
    }

    /// Loads a file's text, from its tree in this format if there is one.
    #[must_use]
    pub fn data_from(&self, file: &File, format: Format, parse: Option<&Parse>) -> Arc<DataFile> {
        match file.bytes() {
            Ok(bytes) => self.data.get(file.hash(), &bytes, format, || {
                let parse = parse.filter(|_| format == Format::Yaml);
                let loaded = parse.and_then(reader::load_parsed_yaml);
                let loaded = loaded.unwrap_or_else(|| reader::load(&bytes, format));
                let cost = reader::cost(&loaded) + bytes.len();
                (loaded, cost)
            }),
            Err(error) => Arc::new(failed(error)),
        }
    }

    /// The entry of a key in a YAML file: see [`EntryCache::entry`].
    pub(super) fn entry_of(&self, file: &File, key: &str, spent: &mut usize) -> Entry {
        let is_loaded = || {
            let bytes = file.bytes();
            bytes.is_ok_and(|bytes| {
                self.data
                    .cached(file.hash(), &bytes, Format::Yaml)
                    .is_some()
            })
        };
        self.entries.entry(file, key, spent, is_loaded)
    }

    /// A file's value of a top-level key, also in a file that Puppet refuses. Loads only the key's
    /// own lines if that is certain to give the same value.
    #[must_use]
    pub fn value_of(&self, file: &File, key: &str, format: Format) -> Option<Value> {
        let entry = if file.format() == Some(format) {
            self.entry_of(file, key, &mut 0)
        } else {
            Entry::Unknown
        };
        match entry {
            Entry::Value(value) => Some(value),
            Entry::Absent => None,
            Entry::Unknown => self.data_of(file, format).recovered.get(key).cloned(),
        }
    }

    /// Parses a file's text in a format. O(1) for an open document in its own format; other trees
    /// are cached for a while.
    #[must_use]
    pub fn parse_of(&self, file: &File, format: Format) -> Arc<Parse> {
        match self.parse_known(file, format) {
            Ok(parse) => parse,
            Err(bytes) => self.parses.get(file.hash(), &bytes, format, || {
                let parse = reader::parse(file.text(), format);
                let cost = reader::cost_of_parse(&parse) + bytes.len();
                (parse, cost)
            }),
        }
    }

    /// Like [`Snapshot::parse_of`], for a tree that is not needed again soon: it is not cached.
    #[must_use]
    pub fn parse_once(&self, file: &File, format: Format) -> Arc<Parse> {
        let known = self.parse_known(file, format);
        known.unwrap_or_else(|bytes| {
            let cached = self.parses.cached(file.hash(), &bytes, format);
            cached.unwrap_or_else(|| Arc::new(reader::parse(file.text(), format)))
        })
    }

    /// The existing tree of a file, else the file's bytes.
    fn parse_known(&self, file: &File, format: Format) -> Result<Arc<Parse>, Arc<[u8]>> {
        if let (Some(_), Some(error)) = (&file.open, file.refused()) {
            return Ok(Arc::new(reader::too_large(file.text(), error)));
        }
        if format == Format::Yaml
            && let Some(error) = file.unchecked()
        {
            return Ok(Arc::new(reader::too_large(file.text(), &error)));
        }
        let is_kept = file.open.is_some() && file.text().len() <= parts::LARGE;
        if is_kept && format == own_format(file) {
            let read = || Arc::new(reader::parse(file.text(), format));
            return Ok(Arc::clone(file.parse.get_or_init(read)));
        }
        Err(Arc::from(Arc::clone(file.text())))
    }
}

impl Snapshot {
    /// Like [`Snapshot::parse_of`], for one position of the text: in a file that is too large for a
    /// tree, the top-level entry around it.
    #[must_use]
    pub fn parse_around(&self, file: &File, format: Format, offset: usize) -> Arc<Parse> {
        if format != Format::Yaml || !file.facts().in_parts {
            return self.parse_of(file, format);
        }
        let keys = &file.facts().keys;
        let behind = keys.partition_point(|key| key.key.start as usize <= offset);
        let Some(key) = behind.checked_sub(1).map(|at| &keys[at]) else {
            return Arc::default();
        };
        let next = keys.get(behind);
        let end = next.map_or(file.text().len(), |next| next.key.start as usize);
        let lines = TextRange::new(key.key.start as usize, end);
        Arc::new(parts::parse_lines(file.text(), lines))
    }
}

impl Snapshot {
    /// Like [`Snapshot::parse_around`], for a top-level key. O(length of the entry) if the rest of the
    /// file cannot affect it.
    #[must_use]
    pub fn parse_entry(&self, file: &File, format: Format, fact: &KeyFact) -> Arc<Parse> {
        let is_certain = format == Format::Yaml && file.facts().is_whole;
        let lines = is_certain.then(|| entries::own_lines(file, fact)).flatten();
        // An alias refers to another place.
        match lines.filter(|lines| !lines.slice(file.text()).contains('*')) {
            Some(lines) => Arc::new(parts::parse_lines(file.text(), lines)),
            None => self.parse_around(file, format, fact.key.start as usize),
        }
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

/// The format of a file's own tree: by its name, or YAML for configurations.
pub(super) fn own_format(file: &File) -> Format {
    file.format().unwrap_or(Format::Yaml)
}

/// A new number, unique in this process; 0 is that of [`Snapshot::default`].
pub(super) fn next_stamp() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The facts of a file that are visible to lookups and the index.
pub(super) fn seen(file: Option<&Arc<File>>) -> Option<&Arc<FileFacts>> {
    match file?.belongs {
        Belongs::Workspace => file.map(|file| file.facts()),
        Belongs::OpenOnly => None,
    }
}
