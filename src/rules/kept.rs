//! What rules found out about an earlier snapshot, kept as long as no change of the workspace
//! concerns it.
//!
//! Without it each letter that is typed into a file for all nodes costs the lookups of its keys for
//! all nodes, and each pattern in `lookup_options` a search among all keys. Keeping costs O(what is
//! kept) for an edit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use super::checker::lock;
use super::option_list::OptionIndex;
use crate::analysis::{
    KeyAnswer, RootName, SiteCache, TouchedKeys, changes_code, concerns_hierarchies,
    concerns_manifests, last_difference,
};
use crate::hierarchy::Layer;
use crate::lookup::Settings;
use crate::regexp::Regexp;
use crate::workspace::{Root, Snapshot};

/// Maximum number of kept results of each kind.
const MAX_KEPT: usize = 10_000;

/// Maximum number of wrong values that are kept for one key of a file, and for all.
const MAX_WRONG: usize = 1_024;
const MAX_WRONG_OF_ALL: usize = 16_384;

/// A smaller number of nodes is asked again after each edit.
const FEW_READERS: usize = if cfg!(test) { 0 } else { 64 };

/// Results for the latest snapshot of a workspace.
#[derive(Default)]
pub struct KeptResults {
    /// What is known about the environments of recent snapshots.
    pub(super) sites: SiteCache,
    of_latest: Mutex<OfLatest>,
    option_index: Mutex<Option<Arc<OptionIndex>>>,
}

#[derive(Clone, Default)]
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
    root: RootName,
}

#[derive(Clone)]
struct KeptReaders {
    /// The nodes and the settings for which the result holds.
    nodes: u64,
    settings: Settings,
    readers: Arc<KnownReaders>,
}

#[derive(Clone)]
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
    /// Whether no value is wrong, whichever classes the nodes include.
    pub(super) are_all_right: bool,
    /// Whether nodes with a wrong value may include the class.
    pub(super) some_may_have: bool,
    /// The wrong values that the file gives or changes.
    pub(super) wrong: Vec<WrongAnswer>,
}

/// A value that is wrong for known nodes. Places in it may be outdated.
pub(super) struct WrongAnswer {
    pub(super) found: KeyAnswer,
    /// The nodes that count.
    pub(super) members: Vec<usize>,
    /// Number of nodes, with those that do not include the class.
    pub(super) of_readers: usize,
}

impl KnownReaders {
    /// Whether it costs much to find it, and little to keep it.
    fn is_worth_keeping(&self) -> bool {
        self.of > FEW_READERS && self.wrong.len() <= MAX_WRONG
    }
}

impl ReadersName {
    pub(super) fn new(key: &Arc<str>, file: &Arc<str>, (root, layer): (&Root, &Layer)) -> Self {
        ReadersName {
            key: Arc::clone(key),
            file: Arc::clone(file),
            root: RootName::of(root, layer),
        }
    }
}

impl OfLatest {
    fn count_wrong(&self) -> usize {
        let readers = self.readers.values();
        readers.map(|kept| kept.readers.wrong.len()).sum()
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
        match last_difference(snapshot).keys_as_read() {
            TouchedKeys::Keys(touched) if !changes_code(snapshot) => {
                // Nodes whose manifests set other variables are others.
                let has_same_classes = !concerns_manifests(snapshot);
                kept.readers.retain(|name, kept| {
                    (has_same_classes || kept.readers.are_all_right) && !touched.contains(&name.key)
                });
            }
            TouchedKeys::Keys(_) | TouchedKeys::All => kept.readers.clear(),
        }
        let diffs = || delta.files.iter().map(|file| file.keys());
        let added: Vec<&Arc<str>> = diffs().flat_map(|diff| &diff.added).collect();
        let removed: Vec<&Arc<str>> = diffs().flat_map(|diff| &diff.removed).collect();
        kept.patterns.retain(|_, kept| match &kept.matched {
            Some(matched) => !removed.contains(&matched),
            None => {
                let is_match = |key: &Arc<str>| kept.pattern.is_match(key).unwrap_or(true);
                !added.iter().any(|key| is_match(key))
            }
        });
    }

    /// The results for the snapshot after an edit that is only tried, such as a fix. O(what is kept).
    #[must_use]
    pub fn after_edit(&self, snapshot: &Snapshot) -> KeptResults {
        let of_latest = lock(&self.of_latest).clone();
        let after = KeptResults {
            sites: self.sites.of_snapshot(snapshot.delta().since),
            of_latest: Mutex::new(of_latest),
            option_index: Mutex::new(self.option_index()),
        };
        after.follow(snapshot);
        after
    }

    /// The last index of the entries of `lookup_options`.
    pub(super) fn option_index(&self) -> Option<Arc<OptionIndex>> {
        lock(&self.option_index).clone()
    }

    /// Keeps an index of the entries of `lookup_options`.
    pub(super) fn keep_option_index(&self, index: &Arc<OptionIndex>) {
        *lock(&self.option_index) = Some(Arc::clone(index));
    }

    /// Whether these are the results for a snapshot.
    #[must_use]
    pub fn is_for(&self, stamp: u64) -> bool {
        lock(&self.of_latest).stamp == Some(stamp)
    }

    /// What known nodes that read a key in a file get; `None` if that was not found.
    pub(super) fn readers(
        &self,
        snapshot: &Snapshot,
        name: &ReadersName,
        (nodes, settings): (u64, &Settings),
        find: impl FnOnce() -> Option<KnownReaders>,
    ) -> Option<Arc<KnownReaders>> {
        let known = self.latest(snapshot).and_then(|kept| {
            let known = kept.readers.get(name)?;
            let is_of = known.nodes == nodes && known.settings.answers_alike(settings);
            is_of.then(|| Arc::clone(&known.readers))
        });
        known.or_else(|| {
            let readers = Arc::new(find()?);
            if readers.is_worth_keeping()
                && let Some(mut kept) = self.latest(snapshot)
                && kept.readers.len() < MAX_KEPT
                && kept.count_wrong() + readers.wrong.len() <= MAX_WRONG_OF_ALL
            {
                let kept_readers = KeptReaders {
                    nodes,
                    settings: settings.clone(),
                    readers: Arc::clone(&readers),
                };
                kept.readers.insert(name.clone(), kept_readers);
            }
            Some(readers)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::lookup::PuppetVersion;
    use crate::rules::Checker;
    use crate::workspace::{Change, Workspace};

    const FILES: &str = "a: \"%{facts.port}\"\nm::p: \"%{alias('a')}\"\nother: 1\n\
         lookup_options: {'^m::': {merge: first}, '^x::': {merge: first}}\n\
         #- hiera.yaml\nversion: 5\n\
         hierarchy: [{name: n, path: 'n/%{trusted.certname}.yaml'}, {name: c, path: common.yaml}]\n\
         #- nodes.yaml\nn: {facts: {port: x}}\no: {facts: {port: y}}\n\
         #- manifests/site.pp\ninclude m\n#- modules/m/manifests/init.pp\nclass m(Enum['x'] $p) { }\n";

    struct TypedText {
        workspace: Workspace,
        kept: Arc<KeptResults>,
        text: String,
    }

    impl TypedText {
        fn new() -> TypedText {
            let workspace = Workspace::new();
            workspace.apply(Change::Folders(vec!["/repo".into()]));
            let mut files = Fixture::new("data/common.yaml", FILES).files;
            let text = files.remove(0).1;
            for (path, text) in &files {
                workspace.apply(Change::open(format!("/repo/{path}"), text.as_str()));
            }
            let mut edited = TypedText {
                workspace,
                kept: Arc::default(),
                text,
            };
            edited.after("other: 1", "other: 2");
            edited
        }

        /// The messages in the file after an edit, which are those of a fresh start, and the numbers of
        /// results for readers and for patterns that the edit has left.
        fn after(&mut self, before: &str, after: &str) -> (Vec<String>, usize, usize) {
            assert!(self.text.contains(before), "{before}");
            self.text = self.text.replacen(before, after, 1);
            let path = "/repo/data/common.yaml";
            let snapshot = self.workspace.apply(Change::open(path, self.text.as_str()));
            self.kept.follow(&snapshot);
            let left = {
                let kept = lock(&self.kept.of_latest);
                (kept.readers.len(), kept.patterns.len())
            };
            let messages = |kept: &Arc<KeptResults>| -> Vec<String> {
                let checker = Checker::new(&snapshot, PuppetVersion::V8).with_kept(kept.clone());
                let found = checker.file(path).unwrap_or_default().into_iter();
                found.map(|finding| finding.message).collect()
            };
            let found = messages(&self.kept);
            assert_eq!(found, messages(&Arc::default()), "{}", self.text);
            assert_eq!(found, messages(&self.kept), "{}", self.text);
            (found, left.0, left.1)
        }
    }

    #[test]
    fn what_known_nodes_get_is_kept_until_an_edit_touches_the_key() {
        let mut edited = TypedText::new();
        let (found, readers, _) = edited.after("other: 2", "other: 3");
        assert!(
            found.iter().any(|it| it.contains("parameter 'p'")),
            "{found:?}"
        );
        assert_eq!(readers, 1);
        // An editor reads the other keys of a file that Puppet refuses.
        for (before, after) in [("other: 3", "other: ["), ("other: [", "other: 3")] {
            let (_, readers, _) = edited.after(before, after);
            assert_eq!(readers, 1, "{after}");
        }
        let (found, readers, _) = edited.after("%{facts.port}", "x");
        assert_eq!(readers, 0);
        assert!(
            found.iter().all(|it| !it.contains("parameter 'p'")),
            "{found:?}"
        );
        let (found, readers, _) = edited.after("a: \"x\"", "a: \"z\"");
        assert_eq!(readers, 0);
        assert!(
            found.iter().any(|it| it.contains("parameter 'p'")),
            "{found:?}"
        );
    }

    #[test]
    fn what_a_pattern_matches_is_kept_until_the_names_of_keys_change() {
        let mut edited = TypedText::new();
        let unmatched = |found: &[String]| -> Vec<&str> {
            let all = ["^m::", "^x::"].into_iter();
            let told = |it: &&str| {
                let words = format!("matches '{it}'");
                found.iter().any(|message| message.contains(&words))
            };
            all.filter(told).collect()
        };
        let (found, _, patterns) = edited.after("other: 2", "other: 3");
        assert_eq!((unmatched(&found), patterns), (vec!["^x::"], 2));
        let (found, _, patterns) = edited.after("other:", "x::y:");
        assert_eq!((unmatched(&found), patterns), (vec![], 1));
        let (found, _, patterns) = edited.after("m::p:", "n::p:");
        assert_eq!((unmatched(&found), patterns), (vec!["^m::"], 1));
        let (found, _, patterns) = edited.after("x::y:", "y::x:");
        assert_eq!((unmatched(&found), patterns), (vec!["^m::", "^x::"], 1));
    }

    #[test]
    fn entries_of_options_are_found_again_once_their_names_change() {
        let mut edited = TypedText::new();
        let index = |edited: &TypedText| edited.kept.option_index().expect("it was asked for");
        edited.after("other: 2", "other: 3");
        let first = index(&edited);
        edited.after("other: 3", "other: 4");
        assert!(Arc::ptr_eq(&first, &index(&edited)));
        edited.after(
            "lookup_options: {",
            "lookup_options: {other: {merge: unique}, ",
        );
        let second = index(&edited);
        assert!(!Arc::ptr_eq(&first, &second));
        edited.after("'^m::': {merge: first}", "'^m::': {merge: hash}");
        assert!(Arc::ptr_eq(&second, &index(&edited)));
        edited.after("'^m::'", "'^o'");
        assert!(!Arc::ptr_eq(&second, &index(&edited)));
    }

    #[test]
    fn a_cancelled_check_ends_early_and_leaves_nothing_incomplete() {
        let mut edited = TypedText::new();
        let (expected, ..) = edited.after("other: 2", "other: 3");
        let snapshot = edited.workspace.snapshot();
        let path = "/repo/data/common.yaml";
        let mut counts = Vec::new();
        for most in 0..40 {
            let kept: Arc<KeptResults> = Arc::default();
            kept.follow(&snapshot);
            let checker = || Checker::new(&snapshot, PuppetVersion::V8).with_kept(kept.clone());
            let asked = std::sync::atomic::AtomicUsize::new(0);
            let is_cancelled =
                move || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= most;
            let cancelled = checker().with_cancellation(Arc::new(is_cancelled));
            counts.push(cancelled.file(path).unwrap_or_default().len());
            let found = checker().file(path).unwrap_or_default().into_iter();
            let found: Vec<String> = found.map(|finding| finding.message).collect();
            assert_eq!(found, expected, "cancelled when asked {most} times");
        }
        assert_eq!(counts[0], 0);
        assert!(counts.is_sorted(), "{counts:?}");
    }
}
