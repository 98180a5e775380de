//! For which nodes a lookup of a key certainly finds nothing, and the classes in lists. That is kept between edits: an
//! edit of a list of classes changes who includes a class, and not what the class lacks, or what other lists have.
//!
//! Without it each letter in the list of classes of one role costs a lookup for each parameter of all classes, and reading
//! the lists of all files twice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Affected, Inclusions, Reaches};
use crate::analysis::evaluation_order::Viewpoint;
use crate::analysis::members::Members;
use crate::analysis::scope_view::layers_of;
use crate::analysis::{TouchedKeys, changes_inputs, difference};
use crate::hierarchy::Layer;
use crate::lookup::{LookupError, Reach, Settings, UnknownCause};
use crate::scope::{Knowledge, KnownNodes, Scope};
use crate::text::TextRange;
use crate::workspace::{File, Files as _, LOOKUP_OPTIONS, Snapshot};

/// Maximum number of kept keys. Each has at most 16 bytes for 64 nodes.
const MAX_KEYS: usize = 4_096;

/// Maximum number of kept lists. Each has some 50 bytes for an element.
const MAX_LISTS: usize = 20_000;

/// What was found out about keys for the same nodes, in the last snapshot that was asked about.
#[derive(Debug, Default)]
pub struct LackingCache(Mutex<Option<KeptLacking>>);

#[derive(Debug)]
struct KeptLacking {
    /// The id of the nodes.
    nodes: u64,
    settings: Settings,
    snapshot: Snapshot,
    /// The files whose readers are groups, in order.
    groups: Vec<Arc<str>>,
    known: KnownLacking,
}

/// What does not depend on who includes a class.
#[derive(Debug, Default)]
pub(super) struct KnownLacking {
    of_keys: HashMap<Arc<str>, Arc<Lacking>>,
    /// The locations that read files, by path.
    pub(super) reaches: HashMap<Box<str>, Reaches>,
    /// The classes in lists, by path and key.
    elements: HashMap<Box<str>, HashMap<Box<str>, ListOfFile>>,
    /// The number of lists.
    lists: usize,
}

/// The elements of a list in a file, which holds for this version of the file.
#[derive(Debug)]
struct ListOfFile {
    file: Arc<File>,
    elements: Elements,
}

/// Names of classes with their ranges.
pub(super) type Elements = Arc<[(Arc<str>, TextRange)]>;

/// The members for which a lookup finds nothing, if these variables are visible.
#[derive(Debug, Default)]
pub(super) struct Lacking {
    members: Members,
    variables: Vec<Arc<str>>,
}

impl LackingCache {
    /// What is known for these nodes and does not concern what has changed since, and the files of the groups for
    /// which it holds.
    fn take(
        &self,
        nodes: &KnownNodes,
        settings: &Settings,
        snapshot: &Snapshot,
    ) -> Option<(KnownLacking, Vec<Arc<str>>)> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let is_of =
            |kept: &KeptLacking| kept.nodes == nodes.id() && kept.settings.answers_alike(settings);
        let mut kept = kept.filter(is_of)?;
        if kept.snapshot.revision() == snapshot.revision() {
            return Some((kept.known, kept.groups));
        }
        let touched = difference(&kept.snapshot, snapshot);
        let sets_options = |key: &Arc<str>| **key == *LOOKUP_OPTIONS;
        let may_be_other = kept.snapshot.shape() != snapshot.shape()
            || touched.has_other_roots
            || changes_inputs(snapshot, &touched.files)
            || touched.edited.iter().any(sets_options);
        match touched.keys_as_read() {
            TouchedKeys::Keys(keys) if !may_be_other => {
                kept.known.of_keys.retain(|key, _| !keys.contains(key));
                Some((kept.known, kept.groups))
            }
            TouchedKeys::Keys(_) | TouchedKeys::All => None,
        }
    }
}

impl Inclusions<'_, '_> {
    /// Begins with what an earlier snapshot has left.
    pub(super) fn resume(&mut self, kept: &LackingCache) {
        let analysis = self.analysis();
        let (nodes, settings, snapshot) = (self.known, analysis.settings, analysis.snapshot);
        if let Some((known, groups)) = kept.take(nodes, settings, snapshot) {
            self.lookups.replace(known);
            self.groups_of_kept = groups;
        }
    }

    /// Drops what was kept for other groups.
    pub(super) fn compare_groups(&mut self) {
        let groups = self.files_of_groups();
        if groups != self.groups_of_kept {
            self.lookups.borrow_mut().of_keys.clear();
            self.groups_of_kept = groups;
        }
    }

    fn files_of_groups(&self) -> Vec<Arc<str>> {
        let files = self
            .groups
            .iter()
            .filter_map(|group| match &group.affected {
                Affected::Readers(path) => Some(Arc::clone(path)),
                Affected::Everyone | Affected::Nodes { .. } => None,
            });
        files.collect()
    }

    /// Drops the locations of files without lists: they are asked for only where a key is looked up.
    pub(super) fn forget_other_files(&self) {
        let reaches = &mut self.lookups.borrow_mut().reaches;
        reaches.retain(|path, _| self.reading.contains_key(&**path));
    }

    /// The class names in a list of a file, with their places, once for a version of the file.
    pub(super) fn elements(&self, file: &Arc<File>, key: &str) -> Elements {
        let mut kept = self.lookups.borrow_mut();
        let known = kept.elements.get(&**file.path());
        let known = known.and_then(|lists| lists.get(key));
        if let Some(known) = known.filter(|known| Arc::ptr_eq(&known.file, file)) {
            return Arc::clone(&known.elements);
        }
        let elements: Elements = self.analysis().elements(file, key).into();
        if kept.lists >= MAX_LISTS {
            kept.elements.clear();
            kept.lists = 0;
        }
        let lists = kept.elements.entry(Box::from(&**file.path())).or_default();
        let list = ListOfFile {
            file: Arc::clone(file),
            elements: Arc::clone(&elements),
        };
        if lists.insert(Box::from(key), list).is_none() {
            kept.lists += 1;
        }
        elements
    }

    /// Leaves what later snapshots may need.
    pub(super) fn leave(&mut self, kept: &LackingCache) {
        let known = self.lookups.take();
        let analysis = self.analysis();
        let left = KeptLacking {
            nodes: self.known.id(),
            settings: analysis.settings.clone(),
            snapshot: analysis.snapshot.clone(),
            groups: std::mem::take(&mut self.groups_of_kept),
            known,
        };
        *kept.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(left);
    }

    /// The subset of `members` for which a lookup of a key surely finds nothing.
    pub(super) fn lacking(&self, from: Viewpoint<'_>, key: &str, members: &Members) -> Members {
        if members.is_empty() {
            return Members::default();
        }
        let known = self.lookups.borrow().of_keys.get(key).cloned();
        let known = known.unwrap_or_else(|| {
            let found = Arc::new(self.lacking_among_all(key).unwrap_or_default());
            let of_keys = &mut self.lookups.borrow_mut().of_keys;
            if of_keys.len() < MAX_KEYS {
                of_keys.insert(Arc::from(key), Arc::clone(&found));
            }
            found
        });
        // For a class of the top scope the lookup may run with other variables than the node has.
        let mut variables = known.variables.iter();
        if variables.any(|variable| self.order.may_miss_from(from, variable)) {
            return Members::default();
        }
        known.members.among(members)
    }

    /// The members for which a lookup of a key surely finds nothing; `None` if there are none.
    fn lacking_among_all(&self, key: &str) -> Option<Lacking> {
        // A level that every node reads provides the value for all.
        let mut holders = self.analysis().snapshot.iter_files_with(key);
        let is_for_all = |(_, reach): &(Layer, Reach)| {
            reach.place.template.is_constant() && reach.place.reading.is_some()
        };
        if holders.any(|file| self.reaches(file.path()).iter().any(is_for_all)) {
            return None;
        }
        let known = self.open_scope.take();
        let mut open = self.view.resume(&Scope::open(), known);
        let found = open.key_answer(key);
        self.open_scope.replace(open.into_known());
        let not_found = |error: &LookupError| error.is_not_found();
        if !found.answer.result.as_ref().is_err_and(not_found)
            || self.view.has_outside(key)
            || self.view.lacks_file(key)
        {
            return None;
        }
        let mut lacking = Lacking {
            members: (0..self.known.len() + self.groups.len()).collect(),
            variables: Vec::new(),
        };
        for unknown in found.unknowns(&self.analysis(), &[]) {
            let UnknownCause::Path(possible) = &unknown.cause else {
                return None;
            };
            if unknown.for_options {
                continue;
            }
            if possible.files.is_empty() || *possible.key != *key {
                return None;
            }
            lacking.variables.extend(possible.variables.iter().cloned());
            for path in possible.files.iter() {
                let readers = self.possible_readers(&unknown.layer, path);
                lacking.members = lacking.members.without(&readers);
            }
        }
        self.remove_strange_readers(key, &mut lacking.members);
        Some(lacking)
    }

    /// Removes members that may read a file with a key by a path without one of its variables
    /// ([`crate::hierarchy::Template::matches_without_some`]). O(files with the key × places) if there are members.
    fn remove_strange_readers(&self, key: &str, lacking: &mut Members) {
        for layer in layers_of(key) {
            let places = self.view.places(&layer);
            for file in self.analysis().snapshot.iter_files_with(key) {
                let mut templates = places.iter().map(|place| &place.template);
                if lacking.is_empty()
                    || !templates.any(|template| template.matches_without_some(file.path()))
                {
                    continue;
                }
                let open = 0..self.known.len();
                let open = open.filter(|node| self.known.knowledge(*node) != Knowledge::All);
                *lacking = lacking
                    .without(&self.possible_readers(&layer, file.path()))
                    .without(&open.collect());
            }
        }
    }
}
