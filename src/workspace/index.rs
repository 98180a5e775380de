//! The index from top-level keys to files. It has only names: the position of a key in a file is
//! the file's own fact, so that moving keys does not affect the index.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::ops::Bound;
use std::sync::Arc;

use equivalent::{Comparable, Equivalent};
use imbl::{OrdMap, OrdSet};

use super::snapshot::FileId;
use crate::value::KeyHashing;

/// Up to this many files are kept in one plain slice, copied on change; beyond, in a tree.
const FEW: usize = 48;

/// Key names and the files that have them, shared between snapshots. One change costs O(changed
/// keys × log n).
#[derive(Clone, Debug, Default)]
pub(super) struct KeyIndex {
    postings: OrdMap<HashedName, Postings>,
    /// The names in `postings`.
    names: OrdSet<Arc<str>>,
    /// Files that can affect lookups of any key.
    odd: OrdSet<FileId>,
}

/// A name that is ordered by its hash: comparing names costs more, and most of them start alike.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct HashedName {
    hash: u64,
    name: Arc<str>,
}

/// A name that is looked for.
struct SoughtName<'a> {
    hash: u64,
    name: &'a str,
}

impl<'a> SoughtName<'a> {
    fn new(name: &'a str) -> SoughtName<'a> {
        SoughtName {
            hash: KeyHashing.hash_one(name),
            name,
        }
    }
}

impl Equivalent<HashedName> for SoughtName<'_> {
    fn equivalent(&self, known: &HashedName) -> bool {
        self.compare(known).is_eq()
    }
}

impl Comparable<HashedName> for SoughtName<'_> {
    fn compare(&self, known: &HashedName) -> Ordering {
        let by_hash = self.hash.cmp(&known.hash);
        by_hash.then_with(|| self.name.cmp(&known.name))
    }
}

#[derive(Clone, Debug)]
pub(super) enum Postings {
    Few(Arc<[FileId]>),
    Many(OrdSet<FileId>),
}

/// Files that gained a key, and files that lost it.
type Gained = (Vec<FileId>, Vec<FileId>);

/// The files that keys were added to and removed from.
#[derive(Default)]
pub(super) struct Patch {
    places: HashMap<Arc<str>, usize, KeyHashing>,
    keys: Vec<(Arc<str>, Gained)>,
    /// Files that became odd, or ceased to be.
    odd: Vec<(FileId, bool)>,
}

impl Patch {
    pub(super) fn add(&mut self, key: &Arc<str>, file: FileId) {
        self.entry(key).0.push(file);
    }

    pub(super) fn remove(&mut self, key: &Arc<str>, file: FileId) {
        self.entry(key).1.push(file);
    }

    /// Records whether the file can now affect lookups of any key.
    pub(super) fn odd(&mut self, file: FileId, is_odd: bool) {
        self.odd.push((file, is_odd));
    }

    fn entry(&mut self, key: &Arc<str>) -> &mut Gained {
        let at = *self.places.entry(Arc::clone(key)).or_insert_with(|| {
            self.keys.push((Arc::clone(key), <_>::default()));
            self.keys.len() - 1
        });
        &mut self.keys[at].1
    }
}

impl KeyIndex {
    pub(super) fn patch(&mut self, patch: Patch) {
        for (file, is_odd) in patch.odd {
            if is_odd {
                self.odd.insert(file)
            } else {
                self.odd.remove(&file)
            };
        }
        for (key, (mut added, removed)) in patch.keys {
            added.sort_unstable();
            let sought = SoughtName::new(&key);
            let old = self.postings.get(&sought);
            match Postings::patched(old, &added, &removed) {
                Some(new) => {
                    if old.is_none() {
                        self.names.insert(Arc::clone(&key));
                    }
                    let hash = sought.hash;
                    self.postings.insert(HashedName { hash, name: key }, new);
                }
                None => {
                    self.names.remove(&*key);
                    self.postings.remove(&sought);
                }
            }
        }
    }

    /// The files with a key, ordered by id.
    pub(super) fn files(&self, key: &str) -> Vec<FileId> {
        self.postings(key).map_or_else(Vec::new, Postings::to_vec)
    }

    pub(super) fn iter_files(&self, key: &str) -> impl Iterator<Item = FileId> {
        self.postings(key).into_iter().flat_map(Postings::iter)
    }

    pub(super) fn postings(&self, key: &str) -> Option<&Postings> {
        self.postings.get(&SoughtName::new(key))
    }

    /// The files that can affect lookups of any key, ordered by id.
    pub(super) fn odd_files(&self) -> impl Iterator<Item = FileId> {
        self.odd.iter().copied()
    }

    /// The number of files with a key.
    pub(super) fn count(&self, key: &str) -> usize {
        self.postings(key).map_or(0, Postings::len)
    }

    /// Key names that start with `prefix`, ordered by bytes.
    pub(super) fn names<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a Arc<str>> {
        self.names
            .range::<_, str>((Bound::Included(prefix), Bound::Unbounded))
            .take_while(move |name| name.starts_with(prefix))
    }
}

impl Postings {
    fn patched(old: Option<&Postings>, added: &[FileId], removed: &[FileId]) -> Option<Postings> {
        let tree = match old {
            Some(Postings::Many(files)) => {
                let mut files = files.clone();
                for file in removed {
                    files.remove(file);
                }
                for &file in added {
                    files.insert(file);
                }
                if files.len() > FEW / 2 {
                    return Some(Postings::Many(files));
                }
                files.iter().copied().collect()
            }
            Some(Postings::Few(files)) => {
                let kept = files.iter().filter(|file| !removed.contains(file));
                let mut files: Vec<FileId> = kept.chain(added).copied().collect();
                files.sort_unstable();
                files.dedup();
                files
            }
            None => added.to_vec(),
        };
        match tree.len() {
            0 => None,
            1..=FEW => Some(Postings::Few(Arc::from(tree))),
            _ => Some(Postings::Many(tree.into_iter().collect())),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = FileId> {
        let (few, many) = match self {
            Postings::Few(files) => (Some(files.iter()), None),
            Postings::Many(files) => (None, Some(files.iter())),
        };
        let few = few.into_iter().flatten();
        few.chain(many.into_iter().flatten()).copied()
    }

    fn to_vec(&self) -> Vec<FileId> {
        match self {
            Postings::Few(files) => files.to_vec(),
            Postings::Many(files) => files.iter().copied().collect(),
        }
    }

    /// Whether it is the same list: one that has not changed since the other was cloned.
    pub(super) fn is_same(&self, other: &Postings) -> bool {
        match (self, other) {
            (Postings::Few(own), Postings::Few(others)) => Arc::ptr_eq(own, others),
            (Postings::Many(own), Postings::Many(others)) => own.ptr_eq(others),
            (Postings::Few(_), Postings::Many(_)) | (Postings::Many(_), Postings::Few(_)) => false,
        }
    }

    /// O(log files).
    pub(super) fn contains(&self, file: FileId) -> bool {
        match self {
            Postings::Few(files) => files.binary_search(&file).is_ok(),
            Postings::Many(files) => files.contains(&file),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Postings::Few(files) => files.len(),
            Postings::Many(files) => files.len(),
        }
    }
}
