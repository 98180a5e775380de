//! What lenses, hints and calls say of a file: from the workspace and the nodes that it is asked
//! for, as far as the settings want it.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::features::{Hint, Lens, LensKind};
use super::jobs::Stop;
use super::pages::House;
use crate::ide::call_hierarchy::{CallItem, prepare, root_of};
use crate::ide::fleet_of;
use crate::ide::impact::{Impact, Touched, impact_on_readers, impact_with, touched};
use crate::ide::lens::{HintKind, hints as hints_of, lenses as lenses_of};
use crate::ide::matrix::written;
use crate::rules::Checker;
use crate::text::TextRange;
use crate::workspace::Change;

/// Whether a hierarchy reads the file: nobody knows what others mean.
fn is_ours(house: &House<'_>, path: &str) -> bool {
    let configs = Arc::clone(house.configs);
    Checker::with_configs(house.snapshot, house.context.puppet(), configs).reads(path)
}

/// The lenses of a file, those of one key beside each other.
pub(super) fn lenses(house: &House<'_>, path: &str, stop: &Stop) -> Vec<Lens> {
    let wanted = &house.context.settings.lenses;
    let is_wanted = wanted.overrides || wanted.uses || wanted.impact;
    if !is_wanted || !is_ours(house, path) {
        return Vec::new();
    }
    let nodes = house.nodes(path);
    let settings = house.settings();
    let (snapshot, configs) = (house.snapshot, house.configs);
    let Some(fleet) = fleet_of(snapshot, path, &settings, configs, &nodes.known) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for lens in lenses_of(&fleet, path) {
        let key = written(&lens.name);
        if wanted.overrides && lens.above + lens.below > 0 {
            found.push(Lens {
                range: lens.key,
                kind: LensKind::Overrides {
                    above: lens.above,
                    below: lens.below,
                },
                key: Some(key.clone()),
            });
        }
        if wanted.uses && lens.uses > 0 {
            found.push(Lens {
                range: lens.key,
                kind: LensKind::Uses(lens.uses),
                key: Some(key),
            });
        }
    }
    if wanted.impact && !stop.requested() {
        found.extend(unsaved(house, path, stop));
    }
    found.sort_by_key(|lens| (lens.range.start, lens.range.end));
    found
}

/// What the unsaved edit of a file changes: in all above its first line, and above each of its keys.
fn unsaved(house: &House<'_>, path: &str, stop: &Stop) -> Vec<Lens> {
    let snapshot = house.snapshot;
    let Some(file) = snapshot.file(path) else {
        return Vec::new();
    };
    let is_open = snapshot.open_files().any(|open| open.path() == file.path());
    // While a file cannot be read, everything would change: that is told elsewhere.
    if !is_open || file.facts().error.is_some() {
        return Vec::new();
    }
    let saved = snapshot.with(Change::Close { path: path.into() });
    let first = TextRange::new(0, 0);
    let lens = |range, kind| Lens {
        range,
        kind,
        key: None,
    };
    match touched(&saved, snapshot) {
        Touched::Keys(keys) if keys.is_empty() => return Vec::new(),
        Touched::Keys(_) => {}
        // Too much to look at while somebody types.
        Touched::All => return vec![lens(first, LensKind::AnyImpact)],
    }
    let nodes = house.nodes(path);
    let settings = house.settings();
    let of = |snapshot| fleet_of(snapshot, path, &settings, house.configs, &nodes.known);
    let (Some(before), Some(after)) = (of(&saved), of(snapshot)) else {
        return Vec::new();
    };
    let on = |_, _| match stop.requested() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let found = match nodes.known.is_empty() {
        true => impact_on_readers(&before, &after, path, &on),
        false => impact_with(&before, &after, &on),
    };
    let Some(Impact { changes, .. }) = found.filter(|impact| !impact.changes.is_empty()) else {
        return Vec::new();
    };
    let of = nodes.known.len();
    let mut all: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut by_key: HashMap<Arc<str>, BTreeSet<Arc<str>>> = HashMap::new();
    for change in &changes {
        let by_key = by_key.entry(root_of(&change.key)).or_default();
        by_key.extend(change.after.nodes.iter().cloned());
        all.extend(change.after.nodes.iter().cloned());
    }
    let mut lenses = vec![lens(
        first,
        LensKind::Impact {
            keys: Some(by_key.len()),
            nodes: all.len(),
            of,
        },
    )];
    for fact in file.facts().sorted() {
        if let Some(nodes) = by_key.get(&fact.name) {
            let kind = LensKind::Impact {
                keys: None,
                nodes: nodes.len(),
                of,
            };
            lenses.push(lens(fact.key, kind));
        }
    }
    lenses
}

/// The hints of a part of a file.
pub(super) fn hints(house: &House<'_>, path: &str, visible: TextRange, stop: &Stop) -> Vec<Hint> {
    let wanted = &house.context.settings.hints;
    let is_wanted = wanted.overridden || wanted.merged || wanted.never_used || wanted.token_values;
    if !is_wanted || !is_ours(house, path) {
        return Vec::new();
    }
    let nodes = house.nodes(path);
    let settings = house.settings();
    let (snapshot, configs) = (house.snapshot, house.configs);
    let Some(fleet) = fleet_of(snapshot, path, &settings, configs, &nodes.known) else {
        return Vec::new();
    };
    let is_stopped = || stop.requested();
    let found = hints_of(
        &fleet,
        path,
        visible,
        nodes.selected.as_deref(),
        &is_stopped,
    );
    let shown = found.into_iter().filter(|hint| match &hint.kind {
        HintKind::Overridden { .. } => wanted.overridden,
        HintKind::Dead { .. } => wanted.never_used,
        HintKind::Merged { .. } => wanted.merged,
        HintKind::TokenValue(_) => wanted.token_values,
    });
    let hints = shown.map(|hint| {
        let by = match &hint.kind {
            HintKind::Overridden { by, .. } | HintKind::Dead { by, .. } => by.clone(),
            HintKind::Merged { .. } | HintKind::TokenValue(_) => None,
        };
        Hint {
            range: hint.range,
            is_of_token: matches!(hint.kind, HintKind::TokenValue(_)),
            label: hint.label(),
            by: by.map(|by| (by.file, by.line)),
        }
    });
    hints.collect()
}

/// The key that calls are asked for.
pub(super) fn call_at(house: &House<'_>, path: &str, offset: usize) -> Option<CallItem> {
    if !is_ours(house, path) {
        return None;
    }
    prepare(house.snapshot, path, offset)
}
