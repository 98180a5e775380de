//! Lists of paths of a workspace. A key can be in thousands of files, of which a handful are shown:
//! a list holds numbers until one of its paths is needed.

use std::sync::Arc;

use super::file::FileId;
use super::snapshot::Snapshot;

/// Unique paths, ordered by bytes. Cheap to clone.
#[derive(Clone, Default)]
pub struct Paths(List);

#[derive(Clone)]
enum List {
    Listed(Arc<[Arc<str>]>),
    Ranked {
        order: Arc<Order>,
        ranks: Arc<[u32]>,
    },
}

impl Default for List {
    fn default() -> List {
        List::Listed(Arc::default())
    }
}

impl Paths {
    /// The paths of some ranks, which must be sorted.
    pub(super) fn ranked(order: &Arc<Order>, ranks: Vec<u32>) -> Paths {
        Paths(List::Ranked {
            order: Arc::clone(order),
            ranks: Arc::from(ranks),
        })
    }

    /// The number of paths.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            List::Listed(paths) => paths.len(),
            List::Ranked { ranks, .. } => ranks.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One after another.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<str>> + Clone {
        (0..self.len()).map(|at| self.at(at))
    }

    /// Whether a path is in the list: O(log paths).
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = usize::midpoint(from, to);
            match (**self.at(middle)).cmp(path) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        false
    }

    /// The union with another list. O(paths).
    #[must_use]
    pub fn with(&self, other: &Paths) -> Paths {
        match (&self.0, &other.0) {
            (
                List::Ranked { order, ranks },
                List::Ranked {
                    order: others_order,
                    ranks: others,
                },
            ) if Arc::ptr_eq(order, others_order) => {
                Paths::ranked(order, merged(ranks.iter().copied(), others.iter().copied()))
            }
            (List::Listed(_) | List::Ranked { .. }, _) => merged(self.iter(), other.iter())
                .into_iter()
                .cloned()
                .collect(),
        }
    }

    fn at(&self, at: usize) -> &Arc<str> {
        match &self.0 {
            List::Listed(paths) => &paths[at],
            List::Ranked { order, ranks } => order.path(ranks[at]),
        }
    }
}

/// Merges two ordered lists, each element once.
fn merged<T: Ord>(one: impl Iterator<Item = T>, other: impl Iterator<Item = T>) -> Vec<T> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    let mut all = Vec::with_capacity(one.size_hint().0 + other.size_hint().0);
    loop {
        let next = match (one.peek(), other.peek()) {
            (Some(left), Some(right)) if left == right => {
                other.next();
                one.next()
            }
            (Some(left), Some(right)) if left < right => one.next(),
            (Some(_), None) => one.next(),
            (_, Some(_)) => other.next(),
            (None, None) => return all,
        };
        all.extend(next);
    }
}

impl PartialEq for Paths {
    fn eq(&self, other: &Paths) -> bool {
        match (&self.0, &other.0) {
            (
                List::Ranked { order, ranks },
                List::Ranked {
                    order: others_order,
                    ranks: others,
                },
            ) if Arc::ptr_eq(order, others_order) => ranks == others,
            (List::Listed(_) | List::Ranked { .. }, _) => self.iter().eq(other.iter()),
        }
    }
}

impl Eq for Paths {}

/// The caller provides them in order.
impl FromIterator<Arc<str>> for Paths {
    fn from_iter<I: IntoIterator<Item = Arc<str>>>(paths: I) -> Paths {
        Paths(List::Listed(paths.into_iter().collect()))
    }
}

impl std::fmt::Debug for Paths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// No file has this rank.
const UNRANKED: u32 = u32::MAX;

/// The paths of all files of a snapshot, ordered by bytes.
#[derive(Default)]
pub(super) struct Order {
    paths: Vec<Arc<str>>,
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
        let (paths, ids) = files.into_iter().unzip();
        Order { paths, ids, ranks }
    }

    /// The position of a file's path among all paths.
    pub(super) fn rank(&self, id: FileId) -> Option<u32> {
        let rank = self.ranks.get(id.0 as usize).copied();
        rank.filter(|&rank| rank != UNRANKED)
    }

    pub(super) fn path(&self, rank: u32) -> &Arc<str> {
        &self.paths[rank as usize]
    }

    /// The paths that start with `prefix`, with their file ids.
    pub(super) fn starting_with(&self, prefix: &str) -> impl Iterator<Item = (&Arc<str>, FileId)> {
        let first = self.paths.partition_point(|path| **path < *prefix);
        let paths = self.paths[first..].iter().zip(&self.ids[first..]);
        let paths = paths.take_while(move |(path, _)| path.starts_with(prefix));
        paths.map(|(path, id)| (path, *id))
    }

    /// The paths by file id; `None` for unused ids.
    pub(super) fn by_file(&self) -> impl Iterator<Item = Option<&Arc<str>>> {
        self.ranks.iter().map(|&rank| self.paths.get(rank as usize))
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
    fn lists_of_numbers_and_of_paths_are_equal_where_the_paths_are() {
        let names = ["a", "b", "c"].map(Arc::<str>::from);
        let order = Arc::new(Order {
            paths: names.to_vec(),
            ids: vec![FileId(0), FileId(1), FileId(2)],
            ranks: vec![0, 1, 2],
        });
        let ranked = Paths::ranked(&order, vec![0, 2]);
        let listed: Paths = [&names[0], &names[2]].into_iter().cloned().collect();
        assert_eq!(ranked, listed);
        assert_eq!(listed, ranked);
        assert_ne!(ranked, Paths::ranked(&order, vec![0, 1]));
        let middle = Paths::ranked(&order, vec![1]);
        for list in [&ranked, &listed] {
            assert_eq!(list.with(list), ranked);
            assert_eq!(list.with(&Paths::default()), ranked);
            assert_eq!(Paths::default().with(list), ranked);
            assert_eq!(list.with(&middle), Paths::ranked(&order, vec![0, 1, 2]));
            assert_eq!(middle.with(list), Paths::ranked(&order, vec![0, 1, 2]));
        }
        for list in [ranked, listed] {
            let found = ["a", "b", "c", "", "d"].map(|path| list.contains(path));
            assert_eq!(found, [true, false, true, false, false]);
            assert_eq!(format!("{list:?}"), "[\"a\", \"c\"]");
        }
    }
}
