//! Code lenses above keys: the number of files that set a key and of places that look it up, and
//! the effect of an unsaved edit.

use std::sync::Arc;

use super::document::uses;
use super::unsaved::{EditEffect, MAX_AT_ONCE, effect};
use crate::analysis::{Analysis, RootView, written};
use crate::lookup::Place;
use crate::text::TextRange;
use crate::workspace::{File, FileId, Snapshot};

/// Maximum number of files of one key that are counted: the exact number matters little, and
/// counting thousands takes too long.
pub const MAX_COUNTED: usize = 100;

/// The kinds of lenses to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LensOptions {
    /// For keys that other files set too.
    pub overrides: bool,
    /// For keys that are looked up.
    pub uses: bool,
    /// For unsaved edits.
    pub impact: bool,
}

/// A lens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lens {
    /// The key, or the start of the file.
    pub range: TextRange,
    /// The message.
    pub kind: LensKind,
    /// The name of the key in lookups, for a lens about a single key.
    pub key: Option<Arc<str>>,
}

/// The message of a lens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LensKind {
    /// Other files set the key too.
    Overrides {
        /// The number of files in higher levels.
        above: usize,
        /// The number of files in lower levels.
        below: usize,
        /// Whether there are more than [`MAX_COUNTED`] files; the rest is not counted.
        more: bool,
    },
    /// The number of places that look up the key.
    Uses(usize),
    /// The unsaved edit changes effective values.
    Impact {
        /// The number of keys, for the whole file; `None` for a single key.
        keys: Option<usize>,
        /// The number of nodes.
        nodes: usize,
        /// The number of known nodes.
        total: usize,
    },
    /// The unsaved edit may change any key.
    AnyImpact,
    /// The effect of the unsaved edit takes long to compute: see [`impact`].
    LaterImpact,
    /// The unsaved edit changes no effective value.
    NoImpact,
}

/// The lenses of a file that a hierarchy reads, in the order of the text; lenses of the same key
/// are adjacent.
#[must_use]
pub fn lenses(analysis: Analysis<'_>, path: &str, options: LensOptions) -> Vec<Lens> {
    let is_wanted = options.overrides || options.uses || options.impact;
    if !is_wanted || !analysis.reads(path) {
        return Vec::new();
    }
    let (Some(file), Some(view)) = (analysis.snapshot.file(path), analysis.governing(path)) else {
        return Vec::new();
    };
    let mut lenses = Vec::new();
    if options.overrides {
        lenses.extend(overrides(&view, file));
    }
    if options.uses {
        lenses.extend(uses(analysis, path, file));
    }
    if options.impact && !(analysis.is_cancelled)() {
        lenses.extend(unsaved(analysis, path, file));
    }
    lenses.sort_by_key(|lens| (lens.range.start, lens.range.end));
    lenses
}

/// The index of the first location that matches each file, by file id.
fn ranks(snapshot: &Snapshot, places: &[Place]) -> Vec<Option<u32>> {
    let mut ranks: Vec<Option<u32>> = Vec::new();
    for (rank, place) in (0..).zip(places) {
        for id in snapshot.matching(&place.template) {
            let at = id.0 as usize;
            if at >= ranks.len() {
                ranks.resize(at + 1, None);
            }
            ranks[at] = ranks[at].or(Some(rank));
        }
    }
    ranks
}

/// The locations in the scope that answers about a file are for.
fn places_for(view: &RootView<'_>, file: &File) -> Arc<[Place]> {
    let scope = view.file(file.path()).scope();
    let places = view.session().places_in(&view.layer, &scope);
    places.map_or_else(|_| view.places(&view.layer), Arc::from)
}

/// The number of other files that set keys. O(files that levels match + keys × [`MAX_COUNTED`]).
fn overrides(view: &RootView<'_>, file: &File) -> Vec<Lens> {
    let snapshot = view.analysis.snapshot;
    let ranks = ranks(snapshot, &places_for(view, file));
    let rank_of = |id: FileId| ranks.get(id.0 as usize).copied().flatten();
    let Some(own) = rank_of(file.id()) else {
        return Vec::new();
    };
    let mut lenses = Vec::new();
    for fact in file.facts().sorted() {
        if (view.analysis.is_cancelled)() {
            break;
        }
        let (mut above, mut below) = (0, 0);
        let mut more = false;
        for other in snapshot.iter_ids_with(&fact.name) {
            if above + below == MAX_COUNTED {
                more = true;
                break;
            }
            match rank_of(other) {
                Some(rank) if rank < own => above += 1,
                Some(rank) if rank > own => below += 1,
                Some(_) | None => {}
            }
        }
        if above + below > 0 {
            lenses.push(Lens {
                range: fact.key,
                kind: LensKind::Overrides { above, below, more },
                key: Some(written(&fact.name)),
            });
        }
    }
    lenses
}

/// The number of places that look up keys: tokens, manifests, class parameters.
fn uses(analysis: Analysis<'_>, path: &str, file: &File) -> Vec<Lens> {
    let counts = uses::counts(analysis, path, file);
    let lenses = file.facts().sorted().filter_map(|fact| {
        Some(Lens {
            range: fact.key,
            kind: LensKind::Uses(*counts.get(&fact.name)?),
            key: Some(written(&fact.name)),
        })
    });
    lenses.collect()
}

/// The effect of a file's unsaved edit: in total above the first line, and above each key.
fn unsaved(analysis: Analysis<'_>, path: &str, file: &File) -> Vec<Lens> {
    let effect = effect(analysis, path, MAX_AT_ONCE);
    let total = analysis.nodes.len();
    let lens = |range, kind| Lens {
        range,
        kind,
        key: None,
    };
    if effect == EditEffect::Nothing {
        return Vec::new();
    }
    let mut lenses = vec![lens(TextRange::empty(0), in_all(&effect, total))];
    for (range, nodes) in effect.keys_in(file) {
        let kind = LensKind::Impact {
            keys: None,
            nodes,
            total,
        };
        lenses.push(lens(range, kind));
    }
    lenses
}

/// The message above the first line of an unsaved file, even if it takes long to compute.
#[must_use]
pub fn impact(analysis: Analysis<'_>, path: &str) -> LensKind {
    in_all(&effect(analysis, path, usize::MAX), analysis.nodes.len())
}

fn in_all(effect: &EditEffect, total: usize) -> LensKind {
    match effect {
        EditEffect::Nothing => LensKind::NoImpact,
        EditEffect::Any => LensKind::AnyImpact,
        EditEffect::Later => LensKind::LaterImpact,
        EditEffect::Keys { by_key, nodes } => LensKind::Impact {
            keys: Some(by_key.len()),
            nodes: *nodes,
            total,
        },
    }
}
