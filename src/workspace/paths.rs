//! Lists of paths of a workspace, and their order.

use std::ops::Range;
use std::sync::Arc;

use super::file::FileId;
use super::snapshot::Snapshot;

/// Unique paths, ordered by bytes. Cheap to clone, and small: a list of thousands of a workspace's files has 4
/// bytes for each.
#[derive(Clone, Default)]
pub struct Paths {
    /// These paths and others, ordered by bytes.
    all: Arc<[Arc<str>]>,
    /// The places of the paths in `all`, ascending.
    ranks: Arc<[u32]>,
}

impl Paths {
    /// The number of paths.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    /// One after another.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<str>> + Clone {
        self.ranks.iter().map(|&rank| &self.all[rank as usize])
    }

    /// Whether a path is in the list: O(log paths).
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        let order = |rank: &u32| (*self.all[*rank as usize]).cmp(path);
        self.ranks.binary_search_by(order).is_ok()
    }

    /// Those for which a condition holds. It is asked in their order.
    #[must_use]
    pub fn filtered(&self, mut is_wanted: impl FnMut(&Arc<str>) -> bool) -> Paths {
        let ranks = self.ranks.iter().copied();
        Paths {
            ranks: ranks
                .filter(|&rank| is_wanted(&self.all[rank as usize]))
                .collect(),
            all: Arc::clone(&self.all),
        }
    }

    /// The union with another list: O(paths), since sorting merges two ordered lists.
    #[must_use]
    pub fn with(&self, other: &Paths) -> Paths {
        if self.is_empty() || other.is_empty() {
            return if self.is_empty() { other } else { self }.clone();
        }
        if Arc::ptr_eq(&self.all, &other.all) {
            let mut ranks = [&*self.ranks, &*other.ranks].concat();
            ranks.sort();
            ranks.dedup();
            return Paths {
                ranks: ranks.into(),
                all: Arc::clone(&self.all),
            };
        }
        let mut all: Vec<Arc<str>> = self.iter().chain(other.iter()).cloned().collect();
        all.sort();
        all.dedup();
        all.into_iter().collect()
    }
}

impl PartialEq for Paths {
    fn eq(&self, other: &Paths) -> bool {
        if Arc::ptr_eq(&self.all, &other.all) {
            self.ranks == other.ranks
        } else {
            self.iter().eq(other.iter())
        }
    }
}

impl Eq for Paths {}

impl std::fmt::Debug for Paths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The caller provides them in order.
impl FromIterator<Arc<str>> for Paths {
    fn from_iter<I: IntoIterator<Item = Arc<str>>>(paths: I) -> Paths {
        let all: Arc<[Arc<str>]> = paths.into_iter().collect();
        Paths {
            ranks: (0..all.len() as u32).collect(),
            all,
        }
    }
}

/// No file has this rank.
const UNRANKED: u32 = u32::MAX;

/// The paths of all files of a snapshot, ordered by bytes.
#[derive(Default)]
pub(super) struct Order {
    paths: Arc<[Arc<str>]>,
    /// File ids by rank.
    ids: Vec<FileId>,
    /// Ranks by file id.
    ranks: Vec<u32>,
}

impl Order {
    pub(super) fn new(snapshot: &Snapshot) -> Order {
        let ids = (0..snapshot.files.len() as u32).map(FileId);
        let files = ids.filter_map(|id| Some((snapshot.file_by_id(id)?.path().clone(), id)));
        let mut files: Vec<(Arc<str>, FileId)> = files.collect();
        // Usually sorted already.
        files.sort();
        let mut ranks = vec![UNRANKED; snapshot.files.len()];
        for (rank, (_, id)) in files.iter().enumerate() {
            ranks[id.0 as usize] = rank as u32;
        }
        let (paths, ids): (Vec<_>, Vec<_>) = files.into_iter().unzip();
        Order {
            paths: paths.into(),
            ids,
            ranks,
        }
    }

    /// The position of a file's path among all paths.
    pub(super) fn rank(&self, id: FileId) -> Option<u32> {
        let rank = self.ranks.get(id.0 as usize).copied();
        rank.filter(|&rank| rank != UNRANKED)
    }

    pub(super) fn path(&self, rank: u32) -> &Arc<str> {
        &self.paths[rank as usize]
    }

    /// The paths of some ranks, ascending.
    pub(super) fn list(&self, ranks: Vec<u32>) -> Paths {
        Paths {
            all: Arc::clone(&self.paths),
            ranks: ranks.into(),
        }
    }

    /// The ranks of the paths that start with `prefix`: O(log paths).
    pub(super) fn starting_with(&self, prefix: &str) -> Range<u32> {
        let first = self.paths.partition_point(|path| **path < *prefix);
        let count = self.paths[first..].partition_point(|path| path.starts_with(prefix));
        first as u32..(first + count) as u32
    }

    /// The file at a rank.
    pub(super) fn file(&self, rank: u32) -> FileId {
        self.ids[rank as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Change, Workspace};

    #[test]
    fn files_added_later_are_inserted_in_order() {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec![Arc::from("/w")]));
        for batch in [
            &["/w/m.yaml", "/w/c.yaml"][..],
            &["/w/z.yaml", "/w/a.yaml", "/w/d.yaml"],
            &["/w/c/x.yaml", "/w/b.yaml"],
            &[],
        ] {
            let files = batch.iter().map(|at| Change::file(*at, "a: 1\n"));
            let snapshot = workspace.apply(Change::Batch(files.collect()));
            let order = Order::new(&snapshot);
            let known = order.paths.clone();
            assert!(known.is_sorted(), "{known:?}");
            for file in snapshot.files() {
                let rank = order.rank(file.id).unwrap();
                assert_eq!(order.path(rank), file.path());
            }
            assert_eq!(known.len(), snapshot.files().count());
        }
    }

    #[test]
    fn lists_are_ordered_and_hold_each_path_once() {
        let names = ["a", "b", "c"].map(Arc::<str>::from);
        let list = |at: &[usize]| at.iter().map(|&at| names[at].clone()).collect::<Paths>();
        let outer = list(&[0, 2]);
        assert_eq!(outer.with(&outer), outer);
        assert_eq!(outer.with(&Paths::default()), outer);
        assert_eq!(Paths::default().with(&outer), outer);
        assert_eq!(outer.with(&list(&[1])), list(&[0, 1, 2]));
        assert_eq!(list(&[1]).with(&outer), list(&[0, 1, 2]));
        let all = list(&[0, 1, 2]);
        let [first, last] = ["a", "c"].map(|name| all.filtered(|path| **path == *name));
        assert_eq!(first.with(&last), outer);
        assert_eq!(outer, last.with(&first));
        let found = ["a", "b", "c", "", "d"].map(|path| outer.contains(path));
        assert_eq!(found, [true, false, true, false, false]);
    }
}
