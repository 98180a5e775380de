//! The effect of a file's unsaved edit on effective values, for lenses and hints.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::impact::{Detail, impact_on_readers, impact_with, is_by_path};
use crate::analysis::{Analysis, TouchedKeys, difference};
use crate::interpolation::root_of;
use crate::text::TextRange;
use crate::workspace::{Change, File, Snapshot};

/// Maximum number of keys that an edit may affect to compute its effect without being asked.
pub(super) const MAX_AT_ONCE: usize = 12;

/// The effect of an edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum EditEffect {
    /// No effective value changes.
    Nothing,
    /// Any key may change, or the effect is unknown.
    Any,
    /// Too many keys may change to compute it now.
    Later,
    /// These keys change.
    Keys {
        /// The number of nodes for each top-level key.
        by_key: HashMap<Arc<str>, usize>,
        /// The number of nodes in total.
        nodes: usize,
    },
}

impl EditEffect {
    /// The keys of a file that change, by name, with the number of nodes.
    pub(super) fn keys_in(&self, file: &File) -> Vec<(TextRange, usize)> {
        let EditEffect::Keys { by_key, .. } = self else {
            return Vec::new();
        };
        let facts = file.facts().sorted();
        facts
            .filter_map(|fact| Some((fact.key, *by_key.get(&fact.name)?)))
            .collect()
    }
}

/// The effect of a file's unsaved edit; [`EditEffect::Later`] if more than `most` keys may change.
/// Costs lookups of these keys in both versions for the nodes that read the file.
pub(super) fn effect(analysis: Analysis<'_>, path: &str, most: usize) -> EditEffect {
    let Some(saved) = saved(analysis.snapshot, path) else {
        return EditEffect::Nothing;
    };
    match difference(&saved, analysis.snapshot).keys() {
        TouchedKeys::All => return EditEffect::Any,
        TouchedKeys::Keys(keys) if keys.is_empty() => return EditEffect::Nothing,
        TouchedKeys::Keys(keys) if keys.len() > most => return EditEffect::Later,
        TouchedKeys::Keys(_) => {}
    }
    let before = Analysis {
        snapshot: &saved,
        ..analysis
    };
    let views = (before.governing(path), analysis.governing(path));
    let (Some(before), Some(after)) = views else {
        return EditEffect::Any;
    };
    let impact = if is_by_path(&after, path) {
        impact_on_readers(&before, &after, path, &|_, _| {})
    } else {
        impact_with(&before, &after, Detail::Answers, &|_, _| {})
    };
    // Without an impact the request was cancelled; an incomplete one leaves keys out.
    let Some(impact) = impact.filter(|impact| impact.is_complete) else {
        return EditEffect::Any;
    };
    if impact.changes.is_empty() {
        return EditEffect::Nothing;
    }
    let mut nodes_by_key: HashMap<Arc<str>, BTreeSet<&Arc<str>>> = HashMap::new();
    for change in &impact.changes {
        let nodes = nodes_by_key.entry(root_of(&change.key)).or_default();
        nodes.extend(&change.after.nodes);
    }
    let by_key = nodes_by_key.into_iter();
    EditEffect::Keys {
        by_key: by_key.map(|(key, nodes)| (key, nodes.len())).collect(),
        nodes: impact.nodes.len(),
    }
}

/// The snapshot without a file's unsaved edit. `None` for a file without one, and for a broken file:
/// all its keys would change, and diagnostics report it.
fn saved(snapshot: &Snapshot, path: &str) -> Option<Snapshot> {
    let file = snapshot.file(path)?;
    let is_open = snapshot.open_files().any(|open| open.path() == file.path());
    if !is_open || file.facts().error.is_some() {
        return None;
    }
    let saved = snapshot.with(Change::Close { path: path.into() });
    let is_saved = saved.file(path).map(|saved| saved.hash()) == Some(file.hash());
    (!is_saved).then_some(saved)
}
