//! After any sequence of edits, hovers, hints and lenses equal those of a fresh start.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::hint::{HintOptions, hints};
use super::hover::{HoverForm, HoverOptions, hover};
use super::lens::{LensOptions, lenses};
use crate::analysis::{Analysis, NodeCache, NodeInputs};
use crate::lookup::{ConfigCache, PuppetVersion, Settings};
use crate::rules::random_edits::{Edited, edit, first};
use crate::text::TextRange;
use crate::workspace::Snapshot;

/// What is kept from one request to the next.
#[derive(Default)]
struct KeptCaches {
    configs: ConfigCache,
    nodes: NodeCache,
}

/// The lenses and hints of all files, and the hovers on keys and tokens.
fn shown(snapshot: &Snapshot, caches: &KeptCaches) -> BTreeMap<String, String> {
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let inputs = NodeInputs::new(&settings, &caches.configs);
    let options = HoverOptions {
        form: Some(HoverForm::Plain),
        ..HoverOptions::default()
    };
    let lens_options = LensOptions {
        overrides: true,
        uses: true,
        impact: true,
    };
    let mut found = BTreeMap::new();
    for file in snapshot.files() {
        let path = &**file.path();
        let set = caches.nodes.nodes(snapshot, path, &inputs);
        let analysis = Analysis::new(snapshot, &settings, &caches.configs, &set.known);
        let whole = TextRange::new(0, file.text().len());
        let hints = hints(analysis, path, whole, HintOptions::ALL);
        let lenses = lenses(analysis, path, lens_options);
        found.insert(path.to_owned(), format!("{hints:?}\n{lenses:?}"));
        let keys = file.facts().keys.iter().map(|key| key.key);
        let tokens = file.facts().tokens.iter().map(|token| token.range());
        for at in keys.chain(tokens) {
            let hover = hover(analysis, path, at.start as usize, &options);
            found.insert(format!("{path}:{}", at.start), format!("{hover:?}"));
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn answers_after_edits_are_those_of_a_fresh_start(
        first in first(),
        edits in prop::collection::vec(edit(), 1..6),
    ) {
        let mut edited = Edited::new(first);
        let caches = KeptCaches::default();
        shown(&edited.workspace.snapshot(), &caches);
        for edit in &edits {
            let kept = shown(&edited.apply(edit), &caches);
            prop_assert_eq!(kept, shown(&edited.fresh(), &KeptCaches::default()), "after {:?}", edit);
        }
    }
}
