//! What rules found out about an earlier snapshot, kept as long as no change of the workspace
//! concerns it.
//!
//! Without it each letter that is typed into a file for all nodes costs the lookups of its keys for
//! all nodes, and each pattern in `lookup_options` a search among all keys. Keeping costs O(what is
//! kept) for an edit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use super::checker::lock;
use crate::analysis::{
    MAX_LOOKUPS, SiteCache, Survey, TouchedKeys, concerns_hierarchies, concerns_manifests,
    last_difference,
};
use crate::hierarchy::Layer;
use crate::lookup::Settings;
use crate::regexp::Regexp;
use crate::workspace::{Root, Snapshot};

/// Maximum number of kept results of each kind.
const MAX_KEPT: usize = 10_000;

/// A smaller number of nodes is asked again after each edit.
const FEW_READERS: usize = if cfg!(test) { 0 } else { 64 };

/// Results for the latest snapshot of a workspace.
#[derive(Default)]
pub struct KeptResults {
    /// What is known about the environments of recent snapshots.
    pub(super) sites: SiteCache,
    of_latest: Mutex<OfLatest>,
}

#[derive(Default)]
struct OfLatest {
    /// The stamp of the snapshot; `None` before the first one.
    stamp: Option<u64>,
    /// What known nodes get, by key and file.
    readers: HashMap<ReadersName, KeptReaders>,
    /// A key that each pattern matches.
    patterns: HashMap<Arc<str>, KeptPattern>,
}

/// A key in a file, seen from a root.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct ReadersName {
    key: Arc<str>,
    file: Arc<str>,
    /// The folder of the root, the path of its configuration, its layer.
    root: (Arc<str>, Option<Arc<str>>, Layer),
}

struct KeptReaders {
    /// The nodes and the settings for which the result holds.
    nodes: u64,
    settings: Settings,
    readers: Arc<KnownReaders>,
}

struct KeptPattern {
    /// The nodes for which the result holds: a path may end with a name of theirs.
    nodes: u64,
    pattern: Regexp,
    /// `None` if there is none.
    matched: Option<Arc<str>>,
}

/// What known nodes get for a key of a file that they read.
pub(super) struct KnownReaders {
    /// The number of nodes that read the file.
    pub(super) of: usize,
    /// Whether nodes with a wrong value may include the class.
    pub(super) some_may_have: bool,
    /// The wrong values that the file gives or changes.
    pub(super) wrong: Vec<WrongAnswer>,
}

/// A value that is wrong for known nodes. Places in it may be outdated.
pub(super) struct WrongAnswer {
    pub(super) survey: Survey,
    /// The nodes that count.
    pub(super) members: Vec<usize>,
    /// Number of nodes, with those that do not include the class.
    pub(super) of_readers: usize,
}

impl KnownReaders {
    /// Whether it costs much to find it, and little to keep it.
    fn is_worth_keeping(&self) -> bool {
        self.of > FEW_READERS && self.wrong.len() <= MAX_LOOKUPS
    }
}

impl ReadersName {
    pub(super) fn new(key: &Arc<str>, file: &Arc<str>, (root, layer): (&Root, &Layer)) -> Self {
        ReadersName {
            key: Arc::clone(key),
            file: Arc::clone(file),
            root: (
                Arc::clone(&root.dir),
                root.hiera_yaml.clone(),
                layer.clone(),
            ),
        }
    }
}

impl KeptResults {
    /// Moves on to a snapshot, and drops what its change concerns. To be called for each snapshot of
    /// a workspace, in their order. O(what is kept).
    pub fn follow(&self, snapshot: &Snapshot) {
        self.sites.follow(snapshot);
        let mut kept = lock(&self.of_latest);
        if kept.stamp != Some(snapshot.delta().since) {
            *kept = OfLatest::default();
        }
        kept.stamp = Some(snapshot.stamp());
        let delta = snapshot.delta();
        let has_moved = !delta.appeared.is_empty() || !delta.vanished.is_empty();
        if has_moved || concerns_hierarchies(snapshot) {
            kept.readers.clear();
            kept.patterns.clear();
            return;
        }
        let touched = last_difference(snapshot).keys_as_read();
        match touched {
            TouchedKeys::Keys(touched) if !concerns_manifests(snapshot) => {
                kept.readers.retain(|name, _| !touched.contains(&name.key));
            }
            TouchedKeys::Keys(_) | TouchedKeys::All => kept.readers.clear(),
        }
        let diffs = delta.files.iter().map(|file| file.keys());
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for diff in diffs {
            added.extend(&diff.added);
            removed.extend(&diff.removed);
        }
        kept.patterns.retain(|_, kept| match &kept.matched {
            Some(matched) => !removed.contains(&matched),
            None => {
                let is_match = |key: &&Arc<str>| kept.pattern.is_match(key).unwrap_or(true);
                !added.iter().any(is_match)
            }
        });
    }

    /// What known nodes that read a key in a file get.
    pub(super) fn readers(
        &self,
        snapshot: &Snapshot,
        name: &ReadersName,
        (nodes, settings): (u64, &Settings),
        find: impl FnOnce() -> KnownReaders,
    ) -> Arc<KnownReaders> {
        let latest = || self.latest(snapshot);
        let known = latest().and_then(|kept| {
            let known = kept.readers.get(name)?;
            let is_of = known.nodes == nodes && known.settings.answers_alike(settings);
            is_of.then(|| Arc::clone(&known.readers))
        });
        known.unwrap_or_else(|| {
            let readers = Arc::new(find());
            if readers.is_worth_keeping()
                && let Some(mut kept) = latest()
                && kept.readers.len() < MAX_KEPT
            {
                let kept_readers = KeptReaders {
                    nodes,
                    settings: settings.clone(),
                    readers: Arc::clone(&readers),
                };
                kept.readers.insert(name.clone(), kept_readers);
            }
            readers
        })
    }

    /// A key in the data that a pattern of `lookup_options` matches.
    pub(super) fn matched(
        &self,
        snapshot: &Snapshot,
        nodes: u64,
        (source, pattern): (&str, &Regexp),
        find: impl FnOnce() -> Option<Arc<str>>,
    ) -> Option<Arc<str>> {
        let known = self.latest(snapshot).and_then(|kept| {
            let known = kept.patterns.get(source)?;
            (known.nodes == nodes).then(|| known.matched.clone())
        });
        known.unwrap_or_else(|| {
            let matched = find();
            if let Some(mut kept) = self.latest(snapshot)
                && kept.patterns.len() < MAX_KEPT
            {
                let result = KeptPattern {
                    nodes,
                    pattern: pattern.clone(),
                    matched: matched.clone(),
                };
                kept.patterns.insert(Arc::from(source), result);
            }
            matched
        })
    }

    /// The results, if they are for this snapshot.
    fn latest(&self, snapshot: &Snapshot) -> Option<MutexGuard<'_, OfLatest>> {
        let kept = lock(&self.of_latest);
        (kept.stamp == Some(snapshot.stamp())).then_some(kept)
    }
}
