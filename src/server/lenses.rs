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
use crate::ide::impact::{Detail, Impact, Touched, impact_on_readers, impact_with, touched};
use crate::ide::lens::{HintKind, hints as hints_of, lenses as lenses_of};
use crate::ide::matrix::written;
use crate::rules::Checker;
use crate::text::TextRange;
use crate::workspace::{Change, File, Snapshot};

/// Most keys that an edit touches for which it is told at once what it changes; for more it is
/// told when the lens is resolved.
const MOST_AT_ONCE: usize = 12;

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
    let Some(edit) = Edit::of(snapshot, path) else {
        return Vec::new();
    };
    let first = TextRange::new(0, 0);
    let lens = |range, kind| Lens {
        range,
        kind,
        key: None,
    };
    match &edit.touched {
        Touched::Keys(keys) if keys.is_empty() => return Vec::new(),
        Touched::Keys(keys) if keys.len() <= MOST_AT_ONCE => {}
        // Too much to look at while the other lenses wait.
        Touched::Keys(_) => return vec![lens(first, LensKind::LaterImpact)],
        Touched::All => return vec![lens(first, LensKind::AnyImpact)],
    }
    let nodes = house.nodes(path);
    let of = nodes.known.len();
    let Some(impact) = edit.impact(house, path, stop) else {
        return Vec::new();
    };
    let by_key = by_key(&impact);
    if by_key.is_empty() {
        return Vec::new();
    }
    let mut lenses = vec![lens(first, in_all(&impact, &by_key, of))];
    for fact in edit.file.facts().sorted() {
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

/// What the lens above the first line of an unsaved file says, however long that takes.
pub(super) fn impact(house: &House<'_>, path: &str, stop: &Stop) -> LensKind {
    let Some(edit) = Edit::of(house.snapshot, path) else {
        return LensKind::NoImpact;
    };
    if edit.touched == Touched::All {
        return LensKind::AnyImpact;
    }
    match edit.impact(house, path, stop) {
        Some(impact) if !impact.is_complete => LensKind::AnyImpact,
        Some(impact) => match by_key(&impact) {
            by_key if by_key.is_empty() => LensKind::NoImpact,
            by_key => in_all(&impact, &by_key, house.nodes(path).known.len()),
        },
        None => LensKind::AnyImpact,
    }
}

/// The unsaved edit of a file.
struct Edit<'a> {
    file: &'a Arc<File>,
    saved: Snapshot,
    touched: Touched,
}

impl<'a> Edit<'a> {
    /// Nothing for a file that is not open. While a file cannot be read, everything would change:
    /// that is told elsewhere.
    fn of(snapshot: &'a Snapshot, path: &str) -> Option<Edit<'a>> {
        let file = snapshot.file(path)?;
        let is_open = snapshot.open_files().any(|open| open.path() == file.path());
        if !is_open || file.facts().error.is_some() {
            return None;
        }
        let saved = snapshot.with(Change::Close { path: path.into() });
        Some(Edit {
            touched: touched(&saved, snapshot),
            file,
            saved,
        })
    }

    fn impact(&self, house: &House<'_>, path: &str, stop: &Stop) -> Option<Impact> {
        let nodes = house.nodes(path);
        let settings = house.settings();
        let of = |snapshot| fleet_of(snapshot, path, &settings, house.configs, &nodes.known);
        let (before, after) = (of(&self.saved)?, of(house.snapshot)?);
        let on = |_, _| match stop.requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        match nodes.known.is_empty() {
            true => impact_on_readers(&before, &after, path, &on),
            false => impact_with(&before, &after, Detail::Answers, &on),
        }
    }
}

/// The keys that change, each with the nodes for which it does.
fn by_key(impact: &Impact) -> HashMap<Arc<str>, BTreeSet<Arc<str>>> {
    let mut found: HashMap<Arc<str>, BTreeSet<Arc<str>>> = HashMap::new();
    for change in &impact.changes {
        let nodes = found.entry(root_of(&change.key)).or_default();
        nodes.extend(change.after.nodes.iter().cloned());
    }
    found
}

fn in_all(impact: &Impact, by_key: &HashMap<Arc<str>, BTreeSet<Arc<str>>>, of: usize) -> LensKind {
    LensKind::Impact {
        keys: Some(by_key.len()),
        nodes: impact.nodes.len(),
        of,
    }
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
