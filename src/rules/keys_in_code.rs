//! Whether code or data look a key up, and the keys for which a change affects that.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::touched::{FilesWith, codes};
use crate::workspace::{File, FileDelta, LookupKey, Snapshot};

/// Whether code or data look a key up by its name, or by a name that is partly computed.
pub(super) fn is_looked_up(snapshot: &Snapshot, key: &str) -> bool {
    let dotted = format!("{key}.");
    snapshot.files_looking_up(key).next().is_some()
        || snapshot.looked_up(&dotted).next().is_some()
        || snapshot.files_that_may_look_up(key).next().is_some()
        || snapshot.references().users(key).next().is_some()
}

/// The same, but also by a name that is entirely computed.
pub(super) fn may_be_looked_up(snapshot: &Snapshot, key: &str) -> bool {
    is_looked_up(snapshot, key) || computing(snapshot).next().is_some()
}

/// The files that look up computed keys, except tests, which are not evaluated for nodes.
pub(super) fn computing(snapshot: &Snapshot) -> impl Iterator<Item = &Arc<File>> {
    let files = snapshot.files_that_compute_keys();
    files.filter(|file| !file.path().contains("/spec/"))
}

/// Adds the files with keys for which a change adds or removes lookups.
pub(super) fn lookups_that_changed(delta: &FileDelta, concerned: &mut FilesWith<'_>) {
    let [before, after] = [&delta.before, &delta.after].map(|facts| {
        let uses = facts.iter().flat_map(|facts| facts.uses());
        uses.map(|(_, _, to)| to).collect::<BTreeSet<_>>()
    });
    before
        .symmetric_difference(&after)
        .for_each(|key| concerned.key(key));
    let [before, after] = codes(delta).map(|code| {
        let lookups = code.into_iter().flat_map(|code| &code.lookups);
        lookups.map(|lookup| &lookup.key).collect::<Vec<_>>()
    });
    let are_computed = |keys: &[&LookupKey]| keys.contains(&&LookupKey::Computed);
    if are_computed(&before) != are_computed(&after) {
        concerned.keys_below("");
    } else if before != after {
        let is_in_one = |key: &&&LookupKey| !before.contains(*key) || !after.contains(*key);
        for key in before.iter().chain(&after).filter(is_in_one) {
            match key {
                LookupKey::Literal(key) => concerned.key(key.split('.').next().unwrap_or(key)),
                LookupKey::Partly(texts) => concerned.keys_below(texts.first().map_or("", |it| it)),
                LookupKey::Computed => {}
            }
        }
    }
}
