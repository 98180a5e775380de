//! What hovers said about keys while an upgrade is previewed, kept as long as no change of the
//! workspace concerns it.
//!
//! Without it each hover costs the lookups of its key for all nodes in two versions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::preview::Preview;
use crate::analysis::{
    RootName, RootView, TouchedKeys, concerns_hierarchies, concerns_manifests, last_difference,
};
use crate::lookup::Settings;
use crate::workspace::Snapshot;

/// Maximum number of kept lines.
const MAX_KEPT: usize = 1_000;

/// The lines for the latest snapshot of a workspace.
#[derive(Default)]
pub struct KeptPreviews(Mutex<LatestLines>);

#[derive(Default)]
struct LatestLines {
    /// The stamp of the snapshot; `None` before the first one.
    stamp: Option<u64>,
    lines: HashMap<(Arc<str>, RootName), KeptLine>,
}

/// What one upgrade makes of a key, for the nodes and settings for which it holds.
struct KeptLine {
    nodes: u64,
    versions: [Settings; 2],
    line: Arc<str>,
}

impl KeptPreviews {
    /// Moves on to a snapshot, and drops what its change concerns. To be called for each snapshot of
    /// a workspace, in their order. O(what is kept).
    pub fn follow(&self, snapshot: &Snapshot) {
        let mut kept = self.lock();
        let delta = snapshot.delta();
        let is_next = kept.stamp == Some(delta.since);
        kept.stamp = Some(snapshot.stamp());
        let has_moved = !delta.appeared.is_empty() || !delta.vanished.is_empty();
        // Calls in code may look a key up with another merge.
        let is_code = |file: &crate::workspace::FileDelta| {
            let mut versions = file.versions().into_iter().flatten();
            versions.any(|facts| facts.code.is_some())
        };
        if !is_next
            || has_moved
            || delta.files.iter().any(is_code)
            || concerns_hierarchies(snapshot)
            || concerns_manifests(snapshot)
        {
            kept.lines.clear();
            return;
        }
        match last_difference(snapshot).keys_as_read() {
            TouchedKeys::Keys(touched) => kept.lines.retain(|(key, _), _| !touched.contains(key)),
            TouchedKeys::All => kept.lines.clear(),
        }
    }

    /// The line about a key in a root, computed unless it is kept. That of a cancelled request is not
    /// kept, nor that for an older snapshot.
    pub(super) fn line(
        &self,
        view: &RootView<'_>,
        key: &Arc<str>,
        preview: &Preview,
        compute: impl FnOnce() -> String,
    ) -> Arc<str> {
        let name = (key.clone(), RootName::of(view.root, &view.layer));
        // What manifests set is found out by the upgrade itself.
        let nodes = view.analysis.nodes.given_id();
        let (from, to) = preview.versions;
        let versions = [from, to].map(|version| preview.of(version));
        let is_latest = |kept: &LatestLines| kept.stamp == Some(view.analysis.snapshot.stamp());
        {
            let kept = self.lock();
            if let Some(known) = kept.lines.get(&name).filter(|_| is_latest(&kept))
                && known.nodes == nodes
                && known
                    .versions
                    .iter()
                    .zip(&versions)
                    .all(|(one, other)| one.answers_alike(other))
            {
                return known.line.clone();
            }
        }
        let line: Arc<str> = Arc::from(compute());
        let mut kept = self.lock();
        if is_latest(&kept) && !(view.analysis.is_cancelled)() {
            if kept.lines.len() >= MAX_KEPT {
                kept.lines.clear();
            }
            let line = line.clone();
            kept.lines.insert(
                name,
                KeptLine {
                    nodes,
                    versions,
                    line,
                },
            );
        }
        line
    }

    fn lock(&self) -> MutexGuard<'_, LatestLines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::preview::line_of;
    use super::*;
    use crate::analysis::{Analysis, NodeCache, NodeInputs};
    use crate::fixture::FOLDER;
    use crate::lookup::{ConfigCache, PuppetVersion};
    use crate::rules::random_edits::{Edited, edit, edit_of_classes, first_with_classes};
    use crate::workspace::{Change, Workspace};

    /// The lines about some keys, computed unless they are kept; and how many are computed.
    fn lines(
        snapshot: &Snapshot,
        (kept, nodes, configs): (&KeptPreviews, &NodeCache, &ConfigCache),
    ) -> (Vec<Arc<str>>, usize) {
        let preview = Preview {
            versions: (PuppetVersion::V7, PuppetVersion::V9),
            settings: PuppetVersion::ALL.map(|it| Settings::for_version(it).for_editor()),
        };
        let settings = &preview.settings[1];
        let path = format!("{FOLDER}/data/common.yaml");
        let set = nodes.nodes(snapshot, &path, &NodeInputs::new(settings, configs));
        let analysis = Analysis::new(snapshot, settings, configs, &set.known);
        let Some(view) = analysis.answering(&path) else {
            return (Vec::new(), 0);
        };
        let mut computed = 0;
        let lines = ["a", "b", "c", "m::p", "m::q", "m::r", "classes"].map(|key| {
            kept.line(&view, &Arc::from(key), &preview, || {
                computed += 1;
                line_of(&view, key, &preview)
            })
        });
        (lines.to_vec(), computed)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 20, ..ProptestConfig::default() })]
        #[test]
        fn kept_lines_are_those_of_a_fresh_start(
            edits in prop::collection::vec(prop_oneof![edit(), edit_of_classes()], 1..8),
        ) {
            let mut edited = Edited::new(first_with_classes());
            let (kept, nodes, configs) = (KeptPreviews::default(), NodeCache::default(), ConfigCache::default());
            for (at, edit) in edits.iter().enumerate() {
                let snapshot = edited.apply(edit);
                kept.follow(&snapshot);
                let (found, _) = lines(&snapshot, (&kept, &nodes, &configs));
                let (again, computed) = lines(&snapshot, (&kept, &nodes, &configs));
                prop_assert_eq!((&again, computed), (&found, 0));
                let none = (&KeptPreviews::default(), &NodeCache::default(), &ConfigCache::default());
                let (fresh, _) = lines(&edited.fresh(), none);
                prop_assert_eq!(found, fresh, "after {:?}", &edits[..=at]);
            }
        }
    }

    #[test]
    fn an_edit_drops_the_lines_of_the_keys_that_it_touches() {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec![FOLDER.into()]));
        for (path, text) in [
            ("data/common.yaml", "a: 1\nb: \"%{lookup('a')}\"\nc: 3\n"),
            (
                "hiera.yaml",
                "version: 5\nhierarchy: [{name: c, path: common.yaml}]\n",
            ),
            ("nodes.yaml", "n: {facts: {x: 1}}\n"),
        ] {
            workspace.apply(Change::open(format!("{FOLDER}/{path}"), text));
        }
        let caches = (
            KeptPreviews::default(),
            NodeCache::default(),
            ConfigCache::default(),
        );
        let caches = (&caches.0, &caches.1, &caches.2);
        let first = workspace.snapshot();
        caches.0.follow(&first);
        assert_eq!(lines(&first, caches).1, 7);
        let edit = Change::open(
            format!("{FOLDER}/data/common.yaml"),
            "a: 2\nb: \"%{lookup('a')}\"\nc: 3\n",
        );
        let edited = workspace.apply(edit);
        caches.0.follow(&edited);
        assert_eq!(lines(&edited, caches).1, 2);
    }
}
