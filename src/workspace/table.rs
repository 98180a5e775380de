//! Files by number, shared between snapshots: a change costs what has changed, however many files
//! there are.

use std::sync::Arc;

use imbl::OrdMap;

use super::file::{File, FileId};

/// So many files may be others than those of the settled table, at least; else a part of it.
const FEW: usize = 64;

/// Files by number. Nearly all of them stand in one slice that all snapshots share; those that
/// have changed since it was made lie over it, so that no snapshot has to count anew who uses the
/// files around the edited one.
#[derive(Clone)]
pub(super) struct FileTable<T: Clone = Arc<File>> {
    settled: Arc<[Option<T>]>,
    since: OrdMap<u32, Option<T>>,
    len: usize,
}

impl<T: Clone> Default for FileTable<T> {
    fn default() -> FileTable<T> {
        FileTable {
            settled: Arc::from([]),
            since: OrdMap::new(),
            len: 0,
        }
    }
}

impl<T: Clone> FileTable<T> {
    /// How many numbers have been given.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// A new number, of no file yet.
    pub(super) fn reserve(&mut self) -> FileId {
        let id = FileId(self.len as u32);
        self.len += 1;
        id
    }

    /// The file of a number: O(log of the changes since the table was settled).
    pub(super) fn get(&self, id: FileId) -> Option<&T> {
        match self.since.get(&id.0) {
            Some(file) => file.as_ref(),
            None => self.settled.get(id.0 as usize)?.as_ref(),
        }
    }

    /// Every file, ordered by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len as u32).filter_map(|id| self.get(FileId(id)))
    }

    /// Takes in what files are now. O(changes × log of those since the table was settled), and
    /// O(files) once so many have changed that it is a small part of the work.
    pub(super) fn change(&mut self, changes: Vec<(FileId, Option<T>)>) {
        let limit = FEW.max(self.settled.len() / 16);
        if self.since.len() + changes.len() <= limit {
            let changes = changes.into_iter().map(|(id, file)| (id.0, file));
            changes.for_each(|(id, file)| {
                self.since.insert(id, file);
            });
            return;
        }
        let mut files = self.settled.to_vec();
        files.resize(self.len, None);
        let since = std::mem::take(&mut self.since).into_iter();
        for (id, file) in since.chain(changes.into_iter().map(|(id, file)| (id.0, file))) {
            files[id as usize] = file;
        }
        self.settled = Arc::from(files);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn any_changes_end_as_in_a_plain_list(
            rounds in prop::collection::vec(
                prop::collection::vec((0..3_000_u32, prop::option::of(0..9_u8)), 0..120), 0..12,
            ),
        ) {
            let mut table: FileTable<u8> = FileTable::default();
            let mut plain: Vec<Option<u8>> = Vec::new();
            for round in rounds {
                let (before, then) = (table.clone(), plain.clone());
                let mut changes = std::collections::BTreeMap::new();
                for (id, file) in round {
                    let id = id.min(plain.len() as u32);
                    if id as usize == plain.len() {
                        prop_assert_eq!(table.reserve(), FileId(id));
                        plain.push(None);
                    }
                    plain[id as usize] = file;
                    changes.insert(FileId(id), file);
                }
                table.change(changes.into_iter().collect());
                prop_assert_eq!(table.len(), plain.len());
                prop_assert!(table.iter().eq(plain.iter().flatten()));
                prop_assert!(before.iter().eq(then.iter().flatten()));
            }
        }
    }
}
