//! The single writer: changes in, snapshots out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwap;

use super::cache::{LEAST_BUDGET, MOST_BUDGET, TextHash};
use super::change::{Change, Content, DiskEntry};
use super::facts::{FileFacts, diff};
use super::file::{Belongs, File, OpenText, format_of, text_of};
use super::files::{FileKind, Files};
use super::index::Patch;
use super::interner::{Interner, Names};
use super::path;
use super::reader;
use super::roots::{self, decides_roots};
use super::snapshot::{Delta, FileDelta, FileId, Here, Revision, Snapshot, next_shape, seen};
use super::tree::Node;

/// The workspace. Any number of threads may read its snapshots; changes are taken in one after
/// another, in the order of the calls to [`Workspace::apply`].
pub struct Workspace {
    current: ArcSwap<Snapshot>,
    /// Held while a change is taken in. Names live as long as the workspace.
    writing: Mutex<()>,
    names: Interner,
}

impl Default for Workspace {
    fn default() -> Workspace {
        Workspace {
            current: ArcSwap::from_pointee(Snapshot::empty()),
            writing: Mutex::default(),
            names: Interner::default(),
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

    /// The workspace as it is now; never waits for a change that is being taken in.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Takes in a change and gives the snapshot after it. Costs what the change costs: for an
    /// edit one reading of that text, plus O(log files) and O(changed keys × log keys). Many
    /// files in one batch are read in parallel.
    pub fn apply(&self, change: Change) -> Arc<Snapshot> {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.current.load_full();
        let mut draft = Draft::new(&before);
        draft.take(change);
        let after = Arc::new(draft.finish(&self.names));
        self.current.store(Arc::clone(&after));
        after
    }
}

impl Snapshot {
    /// The workspace as it is on the disk: what is typed in an editor and not saved does not
    /// count. Reads the saved texts of the open files, everything else is shared.
    #[must_use]
    pub fn saved(&self) -> Snapshot {
        let mut draft = Draft::new(self);
        for path in self.open.clone() {
            draft.take(Change::Close { path });
        }
        draft.finish(&Interner::default())
    }

    /// The workspace as it would be after a change, without changing it for anybody else. Costs
    /// what the change costs.
    #[must_use]
    pub fn with(&self, change: Change) -> Snapshot {
        let mut draft = Draft::new(self);
        draft.take(change);
        let mut next = draft.finish(&Interner::default());
        if next.files.len() > self.files.len() {
            // Its new numbers may come to mean other paths elsewhere.
            next.fits = Arc::default();
        }
        next
    }
}

/// A snapshot in the making.
struct Draft<'a> {
    before: &'a Snapshot,
    next: Snapshot,
    /// Content of files that something happened to.
    touched: BTreeMap<FileId, Touched>,
    /// Paths whose node or open document changed.
    moved: BTreeSet<Arc<str>>,
    /// Whether the tree of the disk changed, be it only where links lead.
    relinked: bool,
}

/// What a file has by now.
#[derive(Clone, Default)]
struct Touched {
    path: Option<Arc<str>>,
    disk: Option<Content>,
    open: Option<OpenText>,
}

impl<'a> Draft<'a> {
    fn new(before: &'a Snapshot) -> Draft<'a> {
        let mut next = before.clone();
        next.revision = Revision(before.revision.0 + 1);
        Draft {
            before,
            next,
            touched: BTreeMap::new(),
            moved: BTreeSet::new(),
            relinked: false,
        }
    }

    fn take(&mut self, change: Change) {
        match change {
            Change::Open {
                path,
                text,
                version,
            }
            | Change::Edit {
                path,
                text,
                version,
            } => {
                let at = path::shared(&path);
                if self.next.open.insert(Arc::clone(&at)).is_none() {
                    self.moved_document(&at);
                }
                self.touch(&at).open = Some(OpenText { text, version });
            }
            Change::Close { path } => {
                let at = path::shared(&path);
                if self.next.open.remove(&*at).is_some() {
                    self.touch(&at).open = None;
                    self.moved_document(&at);
                }
            }
            Change::Disk { path, entry } => self.disk(&path::shared(&path), entry),
            Change::Scanned { folder, entries } => self.scanned(&path::shared(&folder), entries),
            Change::Folders(folders) => {
                let mut folders: Vec<Arc<str>> = folders.iter().map(path::shared).collect();
                folders.sort();
                folders.dedup();
                self.next.folders = Arc::from(folders);
                self.areas();
            }
            Change::Settings(settings) => {
                self.next.settings = Arc::new(settings);
                self.areas();
            }
            Change::Batch(changes) => changes.into_iter().for_each(|change| self.take(change)),
        }
    }

    /// Notes that a document came or went, and with it perhaps the folders around it.
    fn moved_document(&mut self, at: &Arc<str>) {
        self.moved.insert(Arc::clone(at));
        let folders = std::iter::successors(path::parent(at), |folder| path::parent(folder));
        self.moved.extend(folders.map(Arc::from));
    }

    fn touch(&mut self, at: &Arc<str>) -> &mut Touched {
        let id = if let Some(id) = self.next.ids.get(at) {
            *id
        } else {
            let id = self.next.files.reserve();
            self.next.ids.insert(Arc::clone(at), id);
            id
        };
        self.touched.entry(id).or_insert_with(|| {
            let known = self.before.file_by_id(id);
            Touched {
                path: Some(Arc::clone(at)),
                disk: known.and_then(|file| file.disk.clone()),
                open: known.and_then(|file| file.open.clone()),
            }
        })
    }

    fn disk(&mut self, at: &Arc<str>, entry: DiskEntry) {
        let Some(area) = self.next.area_of(at).cloned() else {
            // Areas do not outlive what they are in.
            if !matches!(entry, DiskEntry::Directory { .. }) {
                let areas = self.next.areas().iter();
                let inside = areas.filter(|area| path::within(area, at).is_some());
                for area in inside.cloned().collect::<Vec<_>>() {
                    self.disk(&area, DiskEntry::Absent);
                }
            }
            return;
        };
        let (node, content) = match entry {
            DiskEntry::Absent => (None, None),
            DiskEntry::Directory { target } => (Some(Node::Directory { target }), None),
            DiskEntry::File { content, linked } => (
                Some(Node::File { linked }),
                (content != Content::Unread).then_some(content),
            ),
        };
        let mut changed = Vec::new();
        let mut note = |at: &Arc<str>| changed.push(Arc::clone(at));
        match node {
            Some(node) => self.next.tree.insert(at, node, &area, &mut note),
            None => self.next.tree.remove(at, &mut note),
        }
        self.relinked |= !changed.is_empty();
        for path in changed {
            // Whatever stood there has no content on the disk any more; `at` gets its below.
            if self.next.ids.contains_key(&path) {
                self.touch(&path).disk = None;
            }
            self.moved.insert(path);
        }
        if content.is_some() || self.next.ids.contains_key(at) {
            self.touch(at).disk = content;
        }
    }

    fn scanned(&mut self, folder: &Arc<str>, entries: Vec<(Arc<str>, DiskEntry)>) {
        if self.next.area_of(folder).is_none() {
            return;
        }
        self.disk_keep_target(folder);
        let found: BTreeSet<Arc<str>> = entries
            .iter()
            .filter(|(_, entry)| *entry != DiskEntry::Absent)
            .map(|(at, _)| path::shared(at))
            .collect();
        let gone: Vec<Arc<str>> = self
            .next
            .tree
            .below(folder)
            .filter(|(at, _)| !found.contains(*at))
            .map(|(at, _)| Arc::clone(at))
            .collect();
        for at in gone {
            self.disk(&at, DiskEntry::Absent);
        }
        for (at, entry) in entries {
            if path::within(&at, folder).is_some_and(|rest| !rest.is_empty()) {
                self.disk(&path::shared(&at), entry);
            }
        }
    }

    /// Makes sure that a scanned folder stands, without forgetting what is known of it.
    fn disk_keep_target(&mut self, folder: &Arc<str>) {
        if self.next.tree.get(folder).map(Node::kind) != Some(FileKind::Directory) {
            self.disk(folder, DiskEntry::Directory { target: None });
        }
    }

    /// Computes the areas again and forgets what lies outside.
    fn areas(&mut self) {
        let settings = &self.next.settings;
        let global = settings.global_hiera_yaml.iter();
        let global = global.filter_map(|at| path::parent(at).map(Arc::from));
        let mut areas: Vec<Arc<str>> = self.next.folders.iter().cloned().collect();
        areas.extend(settings.folders.iter().cloned());
        areas.extend(settings.base_modulepath.iter().cloned());
        areas.extend(settings.path_map.iter().map(|(_, here)| Arc::clone(here)));
        areas.extend(
            settings
                .hiera_yamls
                .iter()
                .filter_map(|at| Some(Arc::from(path::parent(at)?))),
        );
        areas.extend(global);
        let mut areas: Vec<Arc<str>> = areas.iter().map(path::shared).collect();
        areas.sort();
        areas.dedup();
        let all = areas.clone();
        areas.retain(|at| {
            !all.iter()
                .any(|other| other != at && path::within(at, other).is_some())
        });
        if *areas == *self.next.areas {
            return;
        }
        self.next.areas = Arc::from(areas);
        let outside: Vec<Arc<str>> = self
            .next
            .tree
            .iter()
            .filter(|(at, _)| self.next.area_of(at).is_none())
            .map(|(at, _)| Arc::clone(at))
            .collect();
        for at in outside {
            let mut gone = Vec::new();
            self.next
                .tree
                .remove(&at, &mut |at| gone.push(Arc::clone(at)));
            for at in gone {
                if self.next.ids.contains_key(&at) {
                    self.touch(&at).disk = None;
                }
                self.moved.insert(at);
            }
        }
        // Open documents may belong to the workspace now, or not any more.
        for at in self.next.open.clone() {
            self.touch(&at);
            self.moved_document(&at);
        }
    }

    /// Reads what must be read and patches everything that follows from it.
    fn finish(mut self, names: &Interner) -> Snapshot {
        let files = self.read_touched(names);
        let mut delta = Delta {
            settings_changed: self.next.settings != self.before.settings,
            references_before: self.before.references.clone(),
            ..Delta::default()
        };
        let mut patch = Patch::default();
        let mut deciding_touched = delta.settings_changed
            || self.next.areas != self.before.areas
            || self.next.folders != self.before.folders;
        let mut changes = Vec::with_capacity(files.len());
        for (id, at, file) in files {
            let old = self.before.file_by_id(id);
            let (facts_before, facts_after) = (seen(old).cloned(), seen(file.as_ref()).cloned());
            self.next.text_bytes += file.as_ref().map_or(0, |file| file.text.len());
            self.next.text_bytes -= old.map_or(0, |file| file.text.len());
            deciding_touched |= decides_roots(&at);
            let same_content = match (old, &file) {
                (Some(old), Some(new)) => {
                    old.hash() == new.hash()
                        && old.text == new.text
                        && old.refused() == new.refused()
                }
                (None, None) => true,
                (None, Some(_)) | (Some(_), None) => false,
            };
            if facts_before.is_some() != facts_after.is_some() || !same_content {
                patch_keys(
                    &mut patch,
                    id,
                    facts_before.as_deref(),
                    facts_after.as_deref(),
                );
                delta.files.push(FileDelta {
                    file: id,
                    path: at,
                    before: facts_before,
                    after: facts_after,
                });
            }
            changes.push((id, file));
        }
        self.next.files.change(changes);
        self.next.index.patch(patch);
        let uses = delta.files.iter();
        let uses: Vec<_> = uses
            .map(|file| (file.before.as_deref(), file.after.as_deref()))
            .collect();
        self.next.references.patch(&uses);
        for at in &self.moved {
            let (was, is) = (kind(self.before, at), kind(&self.next, at));
            if was == is {
                continue;
            }
            match is {
                Some(_) => delta.appeared.push(Arc::clone(at)),
                None => delta.vanished.push(Arc::clone(at)),
            }
            let folders = was == Some(FileKind::Directory) || is == Some(FileKind::Directory);
            deciding_touched |= folders || decides_roots(at) || self.next.settings.names(at);
            if decides_roots(at) {
                if is == Some(FileKind::File) {
                    self.next.deciding.insert(Arc::clone(at));
                } else {
                    self.next.deciding.remove(&**at);
                }
            }
        }
        if deciding_touched {
            let deciding: Vec<Arc<str>> = self.next.deciding.iter().cloned().collect();
            let (folders, settings) = (&self.next.folders, &self.next.settings);
            let found = roots::find(&Here(&self.next), &deciding, folders, settings);
            if found != *self.next.roots {
                delta.roots_changed = true;
                self.next.roots = Arc::new(found);
            }
        }
        let moved = !delta.appeared.is_empty() || !delta.vanished.is_empty();
        if moved || self.relinked || delta.roots_changed || deciding_touched {
            self.next.shape = next_shape();
        }
        self.next.delta = Arc::new(delta);
        let budget = self.next.text_bytes.clamp(LEAST_BUDGET, MOST_BUDGET);
        self.next.data.set_budget(budget);
        self.next
    }

    /// The touched files as they are now, ordered by number; texts that changed are read in
    /// parallel.
    fn read_touched(&mut self, names: &Interner) -> Vec<(FileId, Arc<str>, Option<Arc<File>>)> {
        let touched: Vec<(FileId, Touched)> =
            std::mem::take(&mut self.touched).into_iter().collect();
        let slots: Vec<OnceLock<Option<Arc<File>>>> =
            touched.iter().map(|_| OnceLock::new()).collect();
        let next = AtomicUsize::new(0);
        let work = |worker: usize| {
            let names = names.of_worker(worker);
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some((id, touched)) = touched.get(at) else {
                    return;
                };
                let file = self.read(*id, touched, names);
                let _ = slots[at].set(file);
            }
        };
        let threads = match touched.len() / FILES_PER_THREAD {
            // Counting the cores reads files of the system.
            0 | 1 => 1,
            wanted => std::thread::available_parallelism()
                .map_or(1, usize::from)
                .min(wanted),
        };
        std::thread::scope(|scope| {
            for worker in 1..threads {
                let work = &work;
                scope.spawn(move || work(worker));
            }
            work(0);
        });
        let files = slots.into_iter().map(|slot| slot.into_inner().flatten());
        touched
            .into_iter()
            .zip(files)
            .filter_map(|((id, touched), file)| Some((id, touched.path?, file)))
            .collect()
    }

    fn read(&self, id: FileId, touched: &Touched, names: Names<'_>) -> Option<Arc<File>> {
        let at = touched.path.clone()?;
        if touched.disk.is_none() && touched.open.is_none() {
            return None;
        }
        let belongs = if self.next.area_of(&at).is_some() {
            Belongs::Workspace
        } else {
            Belongs::OpenOnly
        };
        let text = match (&touched.open, &touched.disk) {
            (Some(open), _) => Arc::clone(&open.text),
            (None, Some(content)) => text_of(content),
            (None, None) => Arc::from(""),
        };
        let bytes = match (&touched.open, &touched.disk) {
            (None, Some(Content::Bytes(bytes))) => Some(&**bytes),
            (_, Some(_) | None) => None,
        };
        let hash = TextHash::of(bytes.unwrap_or(text.as_bytes()));
        let old = self.before.file_by_id(id);
        // A text that is known already keeps its facts, its lines and its memory.
        let known = old.filter(|old| old.hash() == hash && old.text == text);
        let same_disk = old.filter(|old| old.disk == touched.disk);
        let of_disk = same_disk.and_then(|old| old.disk_facts.as_ref());
        let is_open = touched.open.is_some();
        let again = of_disk.filter(|facts| !is_open && facts.hash == hash);
        let (facts, read) = match (known.map(|old| &old.facts).or(again), format_of(&at)) {
            (Some(facts), _) => (Arc::clone(facts), None),
            (None, Some(format)) => {
                let (facts, parse) = reader::facts(&text, bytes, hash, format, names);
                (Arc::new(facts), parse)
            }
            (None, None) => (Arc::new(FileFacts::none(hash)), None),
        };
        let lines = known.map_or_else(OnceLock::new, |old| old.lines.clone());
        let disk_facts = match is_open {
            true => of_disk.cloned(),
            false => Some(Arc::clone(&facts)),
        };
        let mut parse = OnceLock::new();
        if is_open {
            // Somebody is about to ask for the tree of what is open.
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
            text: known.map_or(text, |old| Arc::clone(&old.text)),
            facts,
            disk_facts,
            lines,
            parse,
        }))
    }
}

/// A thread more for every so many files that changed at once.
const FILES_PER_THREAD: usize = 16;

/// What stands at a path in normal form, unmapped.
fn kind(snapshot: &Snapshot, at: &str) -> Option<FileKind> {
    Here(snapshot).kind(at)
}

/// Tells the index which keys a file gained and lost, and whether it became or ceased to be odd.
fn patch_keys(
    patch: &mut Patch,
    file: FileId,
    before: Option<&FileFacts>,
    after: Option<&FileFacts>,
) {
    let is_odd = |facts: Option<&FileFacts>| facts.is_some_and(FileFacts::matters_to_any_key);
    if is_odd(before) != is_odd(after) {
        patch.odd(file, is_odd(after));
    }
    match (before, after) {
        (None, None) => {}
        (None, Some(facts)) => facts.sorted().for_each(|key| patch.add(&key.name, file)),
        (Some(facts), None) => facts.sorted().for_each(|key| patch.remove(&key.name, file)),
        (Some(_), Some(_)) => {
            let keys = diff(before, after);
            keys.added.iter().for_each(|key| patch.add(key, file));
            keys.removed.iter().for_each(|key| patch.remove(key, file));
        }
    }
}
