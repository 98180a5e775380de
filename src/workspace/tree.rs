//! The tree of names known in the workspace: folders and files by path, shared between snapshots.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use imbl::OrdMap;

use super::change::{Linked, Lost};
use super::files::FileKind;
use super::path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathEntry {
    /// A folder, and its real path if it is a symbolic link.
    Directory {
        target: Option<Arc<str>>,
    },
    File {
        linked: Linked,
    },
    LostLink(Lost),
}

impl PathEntry {
    /// Whether a file is a symbolic link; `None` for other entries.
    pub(super) fn linked(&self) -> Option<&Linked> {
        match self {
            PathEntry::File { linked } => Some(linked),
            PathEntry::Directory { .. } | PathEntry::LostLink(_) => None,
        }
    }

    /// The kind of the entry, symbolic links followed; `None` for a broken link.
    pub(super) fn kind(&self) -> Option<FileKind> {
        match self {
            PathEntry::Directory { .. } => Some(FileKind::Directory),
            PathEntry::File { .. } => Some(FileKind::File),
            PathEntry::LostLink(_) => None,
        }
    }
}

/// All nodes by path. Every folder on the way to a node is a node itself, so that a folder's names
/// are found by skipping from child to child: O(children × log n).
#[derive(Clone, Default)]
pub(super) struct PathTree {
    nodes: OrdMap<Arc<str>, PathEntry>,
    /// Where symbolic links lead, as far as known.
    links: OrdMap<Arc<str>, Arc<str>>,
}

/// Maximum number of links on the way to a file, as in Linux.
const MAX_LINKS: usize = 40;

/// Maximum number of names of one file.
const MAX_NAMES: usize = 10_000;

impl PathTree {
    pub(super) fn get(&self, at: &str) -> Option<&PathEntry> {
        self.nodes.get(at)
    }

    /// Sets a node; `area` is the topmost folder that may be created. Calls `vanished` for nodes
    /// that can no longer exist: those below a file, and files on the way.
    pub(super) fn insert(
        &mut self,
        at: &Arc<str>,
        node: PathEntry,
        area: &str,
        changed: &mut impl FnMut(&Arc<str>),
    ) {
        let folders = std::iter::successors(path::parent(at), |folder| path::parent(folder));
        for folder in folders.take_while(|folder| path::within(folder, area).is_some()) {
            let name = match self.nodes.get_key_value(folder) {
                Some((_, PathEntry::Directory { .. })) => break,
                Some((name, _)) => Arc::clone(name),
                None => Arc::from(folder),
            };
            changed(&name);
            let made = PathEntry::Directory { target: None };
            self.nodes.insert(name, made);
        }
        let is_folder = |entry: &PathEntry| matches!(entry, PathEntry::Directory { .. });
        match self.nodes.get(&**at) {
            Some(old) if *old == node => return,
            Some(old) if is_folder(old) && !is_folder(&node) => self.remove(at, changed),
            Some(_) | None => {}
        }
        changed(at);
        match &node {
            PathEntry::Directory {
                target: Some(target),
            }
            | PathEntry::File {
                linked: Linked::To(Some(target)),
            } => {
                self.links.insert(Arc::clone(at), Arc::clone(target));
            }
            PathEntry::Directory { target: None } | PathEntry::File { .. } => {
                self.links.remove(at);
            }
            // It leads there again if there is something.
            PathEntry::LostLink(_) => {}
        }
        self.nodes.insert(Arc::clone(at), node);
    }

    /// The path of a file behind all symbolic links. O(folders × links on the way).
    pub(super) fn real(&self, at: &Arc<str>) -> Arc<str> {
        let mut at = Arc::clone(at);
        for _ in 0..MAX_LINKS {
            let mut around = std::iter::successors(Some(&*at), |here| path::parent(here));
            let link = around.find_map(|here| self.links.get_key_value(here));
            let Some((link, target)) = link else {
                break;
            };
            at = Arc::from(format!("{target}{}", &at[link.len()..]));
        }
        at
    }

    /// Whether there are symbolic links whose targets are known.
    pub(super) fn has_links(&self) -> bool {
        !self.links.is_empty()
    }

    /// The other paths of the file at a path, by symbolic links. O(links × such paths).
    pub(super) fn other_names(&self, at: &Arc<str>) -> Vec<Arc<str>> {
        let is_file = |name: &Arc<str>| {
            let entry = self.nodes.get(name);
            entry.is_some_and(|entry| entry.kind() == Some(FileKind::File))
        };
        let mut names = self.names_by_links(at);
        names.retain(is_file);
        names
    }

    /// The other paths that lead to a path by symbolic links, if something is there. O(links × such paths).
    pub(super) fn names_by_links(&self, at: &Arc<str>) -> Vec<Arc<str>> {
        if self.links.is_empty() {
            return Vec::new();
        }
        let mut names = vec![self.real(at)];
        let mut known: BTreeSet<Arc<str>> = names.iter().cloned().collect();
        let mut next = 0;
        while let Some(name) = names.get(next).cloned() {
            next += 1;
            for (link, target) in &self.links {
                let Some(rest) = name.strip_prefix(&**target) else {
                    continue;
                };
                let other: Arc<str> = Arc::from(format!("{link}{rest}"));
                let is_below = rest.is_empty() || rest.starts_with('/');
                if is_below && names.len() < MAX_NAMES && known.insert(Arc::clone(&other)) {
                    names.push(other);
                }
            }
        }
        names.retain(|name| name != at);
        names
    }

    /// Removes a node and everything below it.
    pub(super) fn remove(&mut self, at: &str, changed: &mut impl FnMut(&Arc<str>)) {
        let mut gone: Vec<Arc<str>> = self.below(at).map(|(name, _)| Arc::clone(name)).collect();
        if let Some((name, _)) = self.nodes.get_key_value(at) {
            gone.push(Arc::clone(name));
        }
        for name in gone {
            self.nodes.remove(&*name);
            self.links.remove(&*name);
            changed(&name);
        }
    }

    /// Every node below a folder, ordered by the bytes of their paths.
    pub(super) fn below(&self, folder: &str) -> impl Iterator<Item = (&Arc<str>, &PathEntry)> {
        let (start, end) = interior(folder);
        self.nodes.range::<_, str>((
            Bound::Excluded(start.as_str()),
            Bound::Excluded(end.as_str()),
        ))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &PathEntry)> {
        self.nodes.iter()
    }

    /// The names directly in a folder, ordered by bytes, with their kinds.
    pub(super) fn list(&self, folder: &str) -> Vec<(Arc<str>, Option<FileKind>)> {
        let (start, end) = interior(folder);
        let mut names = Vec::new();
        let mut from = Bound::Excluded(start.clone());
        'skip: loop {
            let lower = match &from {
                Bound::Included(text) => Bound::Included(text.as_str()),
                Bound::Excluded(text) => Bound::Excluded(text.as_str()),
                Bound::Unbounded => Bound::Unbounded,
            };
            for (at, node) in self
                .nodes
                .range::<_, str>((lower, Bound::Excluded(end.as_str())))
            {
                let rest = &at[start.len()..];
                if let Some(slash) = rest.find('/') {
                    // Inside a folder that was already listed: skip all of it.
                    from = Bound::Included(format!("{start}{}0", &rest[..slash]));
                    continue 'skip;
                }
                names.push((Arc::from(rest), node.kind()));
            }
            return names;
        }
    }
}

/// The bounds of the paths below a folder: `0` is the character after `/`.
pub(super) fn interior(folder: &str) -> (String, String) {
    let folder = folder.trim_end_matches('/');
    (format!("{folder}/"), format!("{folder}0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> PathTree {
        let mut tree = PathTree::default();
        for at in paths {
            let node = PathEntry::File { linked: Linked::No };
            tree.insert(&Arc::from(*at), node, "/w", &mut |_| {});
        }
        tree
    }

    fn names(tree: &PathTree, folder: &str) -> Vec<String> {
        let list = tree.list(folder);
        list.iter().map(|(name, _)| name.to_string()).collect()
    }

    #[test]
    fn names_are_sorted_by_bytes_without_duplicates() {
        let tree = tree(&["/w/b/x", "/w/b-c", "/w/b/y/z", "/w/b.d", "/w/a", "/w/b0/q"]);
        assert_eq!(names(&tree, "/w"), ["a", "b", "b-c", "b.d", "b0"]);
        assert_eq!(names(&tree, "/w/b"), ["x", "y"]);
        assert_eq!(names(&tree, "/w/a"), [""; 0]);
    }

    #[test]
    fn a_file_in_place_of_a_folder_ends_everything_below() {
        let mut tree = tree(&["/w/b/x", "/w/b/y/z"]);
        let mut seen = Vec::new();
        let node = PathEntry::File { linked: Linked::No };
        tree.insert(&Arc::from("/w/b"), node, "/w", &mut |at| {
            seen.push(at.to_string())
        });
        assert_eq!(seen, ["/w/b/x", "/w/b/y", "/w/b/y/z", "/w/b", "/w/b"]);
        assert_eq!(names(&tree, "/w"), ["b"]);
    }
}
