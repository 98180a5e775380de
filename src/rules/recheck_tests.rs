//! After any sequence of edits, the kept and the new findings together equal those of a fresh start.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::random_edits::{Edit, Edited, edit, edit_of_classes, first, first_with_classes};
use super::{Checker, Finding, KeptResults, Recheck, recheck};
use crate::analysis::{NodeCache, NodeInputs};
use crate::lookup::{ConfigCache, PuppetVersion, Settings};
use crate::workspace::Snapshot;

fn check(
    snapshot: &Snapshot,
    paths: impl IntoIterator<Item = Arc<str>>,
) -> BTreeMap<Arc<str>, Vec<Finding>> {
    let checker = Checker::new(snapshot, PuppetVersion::V8);
    let found = paths.into_iter().map(|path| {
        let findings = checker.file(&path).unwrap_or_default();
        (path, findings)
    });
    found.collect()
}

fn check_all(snapshot: &Snapshot) -> BTreeMap<Arc<str>, Vec<Finding>> {
    check(snapshot, snapshot.files().map(|file| file.path().clone()))
}

/// Checks the files again that a change affects, and compares all known findings with those of a
/// fresh start. `edits` describes the change.
fn assert_rechecked(
    snapshot: &Snapshot,
    all: &BTreeMap<Arc<str>, Vec<Finding>>,
    known: &mut BTreeMap<Arc<str>, Vec<Finding>>,
    edits: &[Edit],
) -> Result<(), TestCaseError> {
    let named = known.iter().flat_map(|(file, found)| {
        let related = found.iter().flat_map(|it| &it.related);
        related.map(move |related| (file, &related.path))
    });
    match recheck(snapshot, &[]).with_moved(snapshot, named) {
        Recheck::All => *known = check_all(snapshot),
        Recheck::Files(files) => known.extend(check(snapshot, files)),
    }
    for (file, findings) in all {
        prop_assert_eq!(
            known.get(file),
            Some(findings),
            "{} after {:?}",
            file,
            edits
        );
    }
    Ok(())
}

/// What is kept between the snapshots of a workspace, as a server does.
#[derive(Default)]
struct KeptWork {
    kept: Arc<KeptResults>,
    nodes: NodeCache,
    configs: ConfigCache,
}

impl KeptWork {
    fn check_all(&self, snapshot: &Snapshot) -> BTreeMap<Arc<str>, Vec<Finding>> {
        self.kept.follow(snapshot);
        self.check_with(&self.kept, snapshot)
    }

    fn check_with(
        &self,
        kept: &Arc<KeptResults>,
        snapshot: &Snapshot,
    ) -> BTreeMap<Arc<str>, Vec<Finding>> {
        let settings = Settings::for_version(PuppetVersion::V8).for_editor();
        let nodes = |path: &str| {
            let inputs = NodeInputs::new(&settings, &self.configs);
            self.nodes.nodes(snapshot, path, &inputs)
        };
        let checker = Checker::new(snapshot, PuppetVersion::V8)
            .with_nodes(nodes)
            .with_kept(Arc::clone(kept));
        let paths = snapshot.files().map(|file| file.path().clone());
        let found = paths.map(|path| {
            let findings = checker.file(&path).unwrap_or_default();
            (path, findings)
        });
        found.collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn findings_with_what_is_kept_are_those_of_a_fresh_start(
        edits in prop::collection::vec(edit_of_classes(), 1..8),
    ) {
        let mut edited = Edited::new(first_with_classes());
        let kept = KeptWork::default();
        kept.check_all(&edited.workspace.snapshot());
        for (at, edit) in edits.iter().enumerate() {
            let snapshot = edited.apply(edit);
            let tried = kept.check_with(&Arc::new(kept.kept.after_edit(&snapshot)), &snapshot);
            let found = kept.check_all(&snapshot);
            prop_assert_eq!(&tried, &found, "an edit that is tried");
            for (file, findings) in &check_all(&edited.fresh()) {
                prop_assert_eq!(found.get(file), Some(findings), "{} after {:?}", file, &edits[..=at]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 100, ..ProptestConfig::default() })]
    #[test]
    fn files_that_are_not_rechecked_have_the_findings_of_a_fresh_start(
        first in first(),
        edits in prop::collection::vec(edit(), 1..8),
    ) {
        let mut edited = Edited::new(first);
        let mut known = check_all(&edited.workspace.snapshot());
        let mut known_of_joined = known.clone();
        let mut joined: Option<Snapshot> = None;
        let mut all = BTreeMap::new();
        for (at, edit) in edits.iter().enumerate() {
            let before = edited.workspace.snapshot().revision();
            let snapshot = edited.apply(edit);
            all = check_all(&edited.fresh());
            if snapshot.revision() == before {
                continue;
            }
            assert_rechecked(&snapshot, &all, &mut known, &edits[at..=at])?;
            joined = match joined {
                None => Some(Snapshot::clone(&snapshot)),
                Some(earlier) => Some(snapshot.joined(&earlier)),
            };
        }
        // All edits as one change.
        if let Some(joined) = joined {
            assert_rechecked(&joined, &all, &mut known_of_joined, &edits)?;
        }
    }
}
