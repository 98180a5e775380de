//! A new snapshot under construction: applies a change to the tree of the disk, the open documents
//! and the areas, before any text is read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::change::{Change, Content, DiskEntry};
use super::file::{FileId, OpenText};
use super::files::FileKind;
use super::path;
use super::snapshot::{Revision, Snapshot};
use super::tree::PathEntry;

pub(super) struct Draft<'a> {
    pub(super) before: &'a Snapshot,
    pub(super) next: Snapshot,
    /// The new content of changed files.
    pub(super) touched: BTreeMap<FileId, DraftFile>,
    /// Paths whose node or open document changed.
    pub(super) moved: BTreeSet<Arc<str>>,
    /// Whether the tree of the disk changed, even if only in the targets of links.
    pub(super) relinked: bool,
    /// Whether there are new files whose texts are read on demand.
    pub(super) has_listed: bool,
    /// Whether the change is only tried: then a text is also that of the file's other names that are open, while in an
    /// editor each document has its own.
    pub(super) is_tried: bool,
}

/// The content of a file after the changes so far.
#[derive(Clone, Default)]
pub(super) struct DraftFile {
    pub(super) path: Option<Arc<str>>,
    pub(super) disk: Option<Content>,
    pub(super) open: Option<OpenText>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(before: &'a Snapshot) -> Draft<'a> {
        let mut next = before.clone();
        next.revision = Revision(before.revision.0 + 1);
        Draft {
            before,
            next,
            touched: BTreeMap::new(),
            moved: BTreeSet::new(),
            relinked: false,
            has_listed: false,
            is_tried: false,
        }
    }

    pub(super) fn take(&mut self, change: Change) {
        match change {
            Change::Open {
                path,
                text,
                version,
            } => {
                let at = path::shared(&path);
                if self.next.open.insert(Arc::clone(&at)).is_none() {
                    self.moved_document(&at);
                }
                let open = OpenText::new(&at, text, version);
                if self.is_tried {
                    for other in self.next.tree.other_names(&at) {
                        self.touch(&other).open = Some(open.of(&other));
                    }
                }
                self.touch(&at).open = Some(open);
            }
            Change::Close { path } => {
                let at = path::shared(&path);
                if self.next.open.remove(&*at).is_some() {
                    self.touch(&at).open = None;
                    self.moved_document(&at);
                }
            }
            Change::Disk { path, entry } => {
                let at = path::shared(&path);
                if let DiskEntry::File { content, .. } = &entry
                    && self.is_tried
                    && *content != Content::Unread
                {
                    self.written(&at, content);
                }
                self.disk(&at, entry);
            }
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

    /// Gives the other names of a file its new content.
    fn written(&mut self, at: &Arc<str>, content: &Content) {
        for other in self.next.tree.other_names(at) {
            let linked = self.next.tree.get(&other).and_then(PathEntry::linked);
            if let Some(linked) = linked.cloned() {
                let content = content.clone();
                self.disk(&other, DiskEntry::File { content, linked });
            }
        }
    }

    /// Gives the text of each open document to the other names of its file by symbolic links, unless they are open
    /// themselves, and takes it from those that are its names no more. O(open documents × links), and nothing without
    /// links.
    pub(super) fn lend_texts(&mut self) {
        let has_links = self.next.tree.has_links() && !self.next.open.is_empty();
        if self.is_tried || !has_links && self.next.lent.is_empty() {
            return;
        }
        let mut wanted: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
        for document in self.next.open.iter().filter(|_| has_links) {
            for name in self.next.tree.other_names(document) {
                if !self.next.open.contains(&name) {
                    wanted.insert(name, Arc::clone(document));
                }
            }
        }
        for name in self.next.lent.clone() {
            if !wanted.contains_key(&name) && !self.next.open.contains(&name) {
                self.touch(&name).open = None;
            }
        }
        for (name, document) in &wanted {
            let open = self.open_text(document).map(|open| open.of(name));
            let is_same = |known: &OpenText| open.as_ref().is_some_and(|it| it.is_same(known));
            if !self.open_text(name).is_some_and(is_same) {
                self.touch(name).open = open;
            }
        }
        self.next.lent = wanted.into_keys().collect();
    }

    /// The text of an open document so far.
    fn open_text(&self, at: &str) -> Option<&OpenText> {
        let id = self.next.ids.get(at)?;
        match self.touched.get(id) {
            Some(touched) => touched.open.as_ref(),
            None => self.before.file_by_id(*id)?.open.as_ref(),
        }
    }

    /// Records that a document was opened or closed, which may also add or remove folders around
    /// it.
    fn moved_document(&mut self, at: &Arc<str>) {
        self.moved.insert(Arc::clone(at));
        let folders = std::iter::successors(path::parent(at), |folder| path::parent(folder));
        self.moved.extend(folders.map(Arc::from));
    }

    fn touch(&mut self, at: &Arc<str>) -> &mut DraftFile {
        let id = self.next.ids.get(at).copied().unwrap_or_else(|| {
            let id = FileId(self.next.files.len() as u32);
            self.next.files.push_back(None);
            self.next.ids.insert(Arc::clone(at), id);
            id
        });
        self.touched.entry(id).or_insert_with(|| {
            let known = self.before.file_by_id(id);
            DraftFile {
                path: Some(Arc::clone(at)),
                disk: known.and_then(|file| file.disk.clone()),
                open: known.and_then(|file| file.open.clone()),
            }
        })
    }

    fn disk(&mut self, at: &Arc<str>, entry: DiskEntry) {
        let Some(area) = self.next.area_of(at).cloned() else {
            // An area is removed with the folder that contains it.
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
            DiskEntry::Directory { target } => (Some(PathEntry::Directory { target }), None),
            DiskEntry::File { content, linked } => (
                Some(PathEntry::File { linked }),
                (content != Content::Unread).then_some(content),
            ),
            DiskEntry::LostLink(lost) => (Some(PathEntry::LostLink(lost)), None),
        };
        let mut changed = Vec::new();
        let mut note = |at: &Arc<str>| changed.push(Arc::clone(at));
        match node {
            Some(node) => self.next.tree.insert(at, node, &area, &mut note),
            None => self.next.tree.remove(at, &mut note),
        }
        self.relinked |= !changed.is_empty();
        // A removed file has no content on the disk any more; `at` gets its own below.
        self.moved_entries(changed);
        if content.is_some() || self.next.ids.contains_key(at) {
            self.touch(at).disk = content;
        }
    }

    /// Records that entries of the disk changed, and forgets the content of their files.
    fn moved_entries(&mut self, entries: Vec<Arc<str>>) {
        for at in entries {
            if self.next.ids.contains_key(&at) {
                self.touch(&at).disk = None;
            }
            self.moved.insert(at);
        }
    }

    fn scanned(&mut self, folder: &Arc<str>, entries: Vec<(Arc<str>, DiskEntry)>) {
        if self.next.area_of(folder).is_none() {
            return;
        }
        // A link keeps its target.
        if self.next.tree.get(folder).and_then(PathEntry::kind) != Some(FileKind::Directory) {
            self.disk(folder, DiskEntry::Directory { target: None });
        }
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

    fn areas(&mut self) {
        let settings = &self.next.settings;
        let global = settings.global_hiera_yaml.iter();
        let global = global.filter_map(|at| path::parent(at).map(Arc::from));
        let mut areas: Vec<Arc<str>> = self.next.folders.iter().cloned().collect();
        areas.extend(settings.folders.iter().cloned());
        areas.extend(settings.base_modulepath.iter().cloned());
        areas.extend(settings.path_map.iter().map(|(_, here)| Arc::clone(here)));
        for root in &settings.chosen {
            areas.extend(path::parent(&root.hiera_yaml).map(Arc::from));
            areas.extend(root.dir.clone());
        }
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
            let mut note = |at: &Arc<str>| gone.push(Arc::clone(at));
            self.next.tree.remove(&at, &mut note);
            self.moved_entries(gone);
        }
        // Open documents may now belong to the workspace, or no longer.
        for at in self.next.open.clone() {
            self.touch(&at);
            self.moved_document(&at);
        }
    }
}
