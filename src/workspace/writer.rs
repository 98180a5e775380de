//! The single writer: changes in, snapshots out.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwap;

use super::cache::{LEAST_BUDGET, MAX_BUDGET, TextHash};
use super::change::{Change, Content};
use super::delta::{Delta, FileDelta};
use super::draft::{Draft, DraftFile};
use super::extract;
use super::facts::{FileFacts, SharedNames};
use super::file::{Belongs, File, OpenText, format_of, text_of};
use super::files::{FileKind, Files};
use super::indexes::in_parallel;
use super::path;
use super::root_finder;
use super::roots::decides_roots;
use super::snapshot::{FileId, Snapshot, next_stamp, seen};
use super::visible::Here;
use crate::scope::FACTS_OF_TESTS;

/// The workspace. Any number of threads may read its snapshots; changes are applied one after
/// another, in the order of the calls to [`Workspace::apply`].
pub struct Workspace {
    current: ArcSwap<Snapshot>,
    /// Held while a change is applied.
    writing: Mutex<()>,
}

impl Default for Workspace {
    fn default() -> Workspace {
        Workspace {
            current: ArcSwap::from_pointee(Snapshot::empty()),
            writing: Mutex::default(),
        }
    }
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.current.load().fmt(f)
    }
}

impl Workspace {
    /// A workspace without folders.
    #[must_use]
    pub fn new() -> Workspace {
        Workspace::default()
    }

    /// The current snapshot; never waits for a change that is being applied.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Applies a change and returns the new snapshot. The cost depends on the change: an edit costs
    /// parsing that text, plus O(log files) and O(changed keys × log keys). Many files in one batch
    /// are parsed in parallel.
    pub fn apply(&self, change: Change) -> Arc<Snapshot> {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.current.load_full();
        let mut draft = Draft::new(&before);
        draft.take(change);
        let after = Arc::new(draft.finish());
        self.current.store(Arc::clone(&after));
        after
    }
}

impl Snapshot {
    /// The workspace as saved on the disk, without unsaved edits. Reads the saved texts of the open
    /// files; everything else is shared.
    #[must_use]
    pub fn saved(&self) -> Snapshot {
        let mut draft = Draft::new(self);
        for path in self.open.clone() {
            draft.take(Change::Close { path });
        }
        draft.finish()
    }

    /// The workspace after a change, without changing the workspace itself. Costs as much as the
    /// change. A new text of a file is also that of its other names, even if they are open.
    #[must_use]
    pub fn with(&self, change: Change) -> Snapshot {
        let mut draft = Draft::new(self);
        draft.is_tried = true;
        draft.take(change);
        let mut next = draft.finish();
        if next.files.len() > self.files.len() {
            // Its new ids may stand for other paths in another snapshot.
            next.fits = Arc::default();
        }
        next
    }
}

impl Draft<'_> {
    /// Reads the changed files and patches everything derived from them.
    fn finish(mut self) -> Snapshot {
        self.lend_texts();
        let files = self.read_touched();
        let mut delta = Delta {
            settings_changed: self.next.settings != self.before.settings,
            since: self.before.stamp,
            ..Delta::default()
        };
        let mut may_change_roots = delta.settings_changed
            || self.next.areas != self.before.areas
            || self.next.folders != self.before.folders
            || files.iter().any(|(_, at, _)| decides_roots(at));
        let before = self.before;
        // A document can be opened at the path of a directory, which stays.
        let listed = |(id, _, file): &ReadFile| before.file_by_id(*id).is_some() != file.is_some();
        let is_relisted = files.iter().any(listed);
        self.replace_files(files, &mut delta);
        may_change_roots |= self.note_configs(&delta);
        self.patch_indexes(&delta);
        may_change_roots |= self.note_moved(&mut delta);
        if may_change_roots {
            self.find_roots(&mut delta);
        }
        let moved = !delta.appeared.is_empty() || !delta.vanished.is_empty();
        if moved || is_relisted || self.relinked || may_change_roots {
            self.next.shape = next_stamp();
        }
        self.next.stamp = next_stamp();
        if delta.files.iter().any(|file| is_fact_of_tests(&file.path)) {
            self.next.facts_of_tests = self.next.stamp;
        }
        self.next.delta = Arc::new(delta);
        let budget = self.next.text_bytes.clamp(LEAST_BUDGET, MAX_BUDGET);
        self.next.data.set_budget(budget);
        self.next
    }

    /// Replaces files by their new versions and records the differences.
    fn replace_files(&mut self, files: Vec<ReadFile>, delta: &mut Delta) {
        for (id, path, file) in files {
            let old = self.before.file_by_id(id);
            self.next.text_bytes += file.as_ref().map_or(0, |file| file.counted_bytes());
            self.next.text_bytes -= old.map_or(0, |file| file.counted_bytes());
            if let Some(new) = file.as_ref().filter(|file| file.is_late())
                && old.is_none_or(|old| old.is_late())
            {
                self.has_listed |= old.is_none_or(|old| !Arc::ptr_eq(old, new));
                self.next.files.set(id.0 as usize, file);
                continue;
            }
            let (before, after) = (seen(old).cloned(), seen(file.as_ref()).cloned());
            let is_same = before.is_some() == after.is_some() && has_same_content(old, &file);
            if !is_same {
                delta.files.push(FileDelta::new(id, path, before, after));
            }
            self.next.files.set(id.0 as usize, file);
        }
    }

    /// Patches the indexes by the differences of files. New files whose texts are read on demand
    /// make them unknown until they are asked for.
    fn patch_indexes(&mut self, delta: &Delta) {
        if self.has_listed {
            self.next.indexes = Arc::default();
        } else if !delta.files.is_empty() {
            let mut indexes = self.before.indexes().clone();
            indexes.patch(&delta.files);
            self.next.indexes = Arc::new(OnceLock::from(indexes));
        }
    }

    /// Records added and removed paths. Returns whether the roots may have changed.
    fn note_moved(&mut self, delta: &mut Delta) -> bool {
        let mut may_change_roots = false;
        for at in &self.moved {
            let (was, is) = (kind(self.before, at), kind(&self.next, at));
            let lost = [self.before, &self.next].map(|snapshot| snapshot.is_lost(at));
            if was == is {
                match lost {
                    [false, true] => delta.appeared.push(Arc::clone(at)),
                    [true, false] => delta.vanished.push(Arc::clone(at)),
                    [true, true] | [false, false] => continue,
                }
                delta.others_moved = true;
                continue;
            }
            let mut kinds = [was, is].into_iter().flatten();
            let is_other = kinds.any(|kind| kind != FileKind::Directory);
            delta.others_moved |= lost != [false; 2] || is_other && format_of(at).is_none();
            match is {
                Some(_) => delta.appeared.push(Arc::clone(at)),
                None => delta.vanished.push(Arc::clone(at)),
            }
            let folders = was == Some(FileKind::Directory) || is == Some(FileKind::Directory);
            // The number of files that configurations reach decides.
            let counts = self.before.roots.is_judged() && format_of(at).is_some();
            may_change_roots |=
                folders || counts || decides_roots(at) || self.next.settings.names(at);
            if decides_roots(at) {
                if is == Some(FileKind::File) {
                    self.next.deciding.insert(Arc::clone(at));
                } else {
                    self.next.deciding.remove(&**at);
                }
            }
        }
        may_change_roots
    }

    /// Records which files are configurations by their content. Returns whether that changed.
    fn note_configs(&mut self, delta: &Delta) -> bool {
        let mut has_changed = false;
        for file in &delta.files {
            let config = |facts: &Option<Arc<FileFacts>>| facts.as_ref()?.config.clone();
            let (before, after) = (config(&file.before), config(&file.after));
            has_changed |= before != after;
            match after {
                Some(_) => self.next.configs.insert(Arc::clone(&file.path)),
                None => self.next.configs.remove(&file.path),
            };
        }
        has_changed
    }

    fn find_roots(&mut self, delta: &mut Delta) {
        let deciding: Vec<Arc<str>> = self.next.deciding.iter().cloned().collect();
        let configs: Vec<Arc<str>> = self.next.configs.iter().cloned().collect();
        let found = root_finder::find(&self.next, &deciding, &configs);
        if found != *self.next.roots {
            delta.roots_changed = true;
            self.next.roots = Arc::new(found);
        }
    }

    /// The new versions of the touched files, ordered by id; changed texts are parsed in parallel.
    fn read_touched(&mut self) -> Vec<ReadFile> {
        let touched: Vec<(FileId, DraftFile)> =
            std::mem::take(&mut self.touched).into_iter().collect();
        let slots: Vec<OnceLock<Option<Arc<File>>>> =
            touched.iter().map(|_| OnceLock::new()).collect();
        in_parallel(touched.len(), SharedNames::default, |names, at| {
            let (id, touched) = &touched[at];
            let _ = slots[at].set(self.read(*id, touched, names));
        });
        let files = slots.into_iter().map(|slot| slot.into_inner().flatten());
        touched
            .into_iter()
            .zip(files)
            .filter_map(|((id, touched), file)| Some((id, touched.path?, file)))
            .collect()
    }

    fn read(&self, id: FileId, touched: &DraftFile, names: &mut SharedNames) -> Option<Arc<File>> {
        let at = touched.path.clone()?;
        let belongs = match self.next.area_of(&at) {
            Some(_) => Belongs::Workspace,
            None => Belongs::OpenOnly,
        };
        let old = self.before.file_by_id(id);
        let (text, bytes) = match (&touched.open, &touched.disk) {
            (Some(open), _) => (Arc::clone(open.text()), None),
            (None, Some(Content::Later(_))) => return Some(listed(id, &at, touched, belongs, old)),
            (None, Some(content @ Content::Bytes(bytes))) => (text_of(content), Some(&**bytes)),
            (None, Some(content)) => (text_of(content), None),
            (None, None) => return None,
        };
        let hash = TextHash::of(bytes.unwrap_or(text.as_bytes()));
        // An unchanged text keeps its facts, its lines and its memory.
        let known = old.filter(|old| old.hash() == hash && *old.text() == text);
        let same_disk = old.filter(|old| old.disk == touched.disk);
        let of_disk = same_disk.and_then(|old| old.disk_facts.as_ref());
        let is_open = touched.open.is_some();
        let is_refused = touched.open.as_ref().is_some_and(OpenText::is_refused);
        let reusable = of_disk.filter(|facts| !is_open && facts.hash == hash);
        let (facts, read) = match known.map(|old| old.facts()).or(reusable) {
            Some(facts) => (Arc::clone(facts), None),
            None => {
                let (mut facts, parse) = extract::of_file(&at, &text, bytes, is_refused);
                facts.share_names(names);
                (Arc::new(facts), parse)
            }
        };
        let lines = known.map_or_else(OnceLock::new, |old| old.lines.clone());
        let disk_facts = if is_open {
            of_disk.cloned()
        } else {
            Some(Arc::clone(&facts))
        };
        let mut parse = OnceLock::new();
        if is_open {
            // Features need the tree of an open document next.
            parse = match (read, known) {
                (Some(read), _) => OnceLock::from(Arc::new(read)),
                (None, Some(old)) => old.parse.clone(),
                (None, None) => parse,
            };
        }
        Some(Arc::new(File {
            id,
            path: at,
            belongs,
            disk: touched.disk.clone(),
            open: touched.open.clone(),
            late: OnceLock::new(),
            text: OnceLock::from(known.map_or(text, |old| Arc::clone(old.text()))),
            facts: OnceLock::from(facts),
            disk_facts,
            lines,
            parse,
        }))
    }
}

/// A file that is read on demand; the same as before if it is still to be read in the same way.
fn listed(
    id: FileId,
    at: &Arc<str>,
    touched: &DraftFile,
    belongs: Belongs,
    old: Option<&Arc<File>>,
) -> Arc<File> {
    let is_same =
        |old: &&Arc<File>| old.open.is_none() && old.disk == touched.disk && old.belongs == belongs;
    let new = || {
        Arc::new(File {
            id,
            path: Arc::clone(at),
            belongs,
            disk: touched.disk.clone(),
            open: None,
            late: OnceLock::new(),
            text: OnceLock::new(),
            facts: OnceLock::new(),
            disk_facts: None,
            lines: OnceLock::new(),
            parse: OnceLock::new(),
        })
    };
    old.filter(is_same).cloned().unwrap_or_else(new)
}

/// A file's id and path, and the file if it still exists.
type ReadFile = (FileId, Arc<str>, Option<Arc<File>>);

/// Whether two versions of a file have the same text, or are refused for the same reason.
fn has_same_content(old: Option<&Arc<File>>, new: &Option<Arc<File>>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => {
            old.hash() == new.hash() && old.text() == new.text() && old.refused() == new.refused()
        }
        (None, None) => true,
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// The kind of the entry at a normalised path, unmapped.
fn kind(snapshot: &Snapshot, at: &str) -> Option<FileKind> {
    Here(snapshot).kind(at)
}

fn is_fact_of_tests(at: &str) -> bool {
    path::parent(at).is_some_and(|folder| folder.ends_with(FACTS_OF_TESTS))
}
