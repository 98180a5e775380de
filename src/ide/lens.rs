//! Code lenses above keys: the number of files that set a key and of places that look it up, and
//! the effect of an unsaved edit.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::document::uses;
use super::impact::{Detail, Impact, impact_on_readers, impact_with, is_by_path};
use super::matrix::written;
use super::touched::{Touched, touched};
use crate::analysis::{Analysis, RootView};
use crate::interpolation::root_of;
use crate::lookup::Place;
use crate::text::TextRange;
use crate::workspace::{Change, File, FileId, Snapshot};

/// Maximum number of keys an edit may affect to compute the lenses at once; else they are computed
/// when the lens is resolved.
const MOST_AT_ONCE: usize = 12;

/// Maximum number of files of one key that are counted: the exact number matters little, and
/// counting thousands takes too long.
pub const MOST_COUNTED: usize = 100;

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
        /// Whether there are more than [`MOST_COUNTED`] files; the rest is not counted.
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
        lenses.extend(unsaved(analysis, path));
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

/// The relevant locations for a file: those of the selected node, else of the only known node that
/// reads it, else of any node that may read it.
fn places_for(view: &RootView<'_>, file: &File) -> Arc<[Place]> {
    let Analysis {
        selected, nodes, ..
    } = view.analysis;
    let reaches = view.reach(file.path());
    let member = selected.and_then(|name| nodes.find(name)).or_else(|| {
        let own = reaches.iter().map(|reach| &reach.place);
        match view.readers(own, file.path()).as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    });
    let scope = match (member, reaches.first()) {
        (Some(member), _) => nodes.scope(member),
        (None, Some(reach)) => reach.scope(),
        (None, None) => return view.places(&view.layer),
    };
    let places = view.session().places_in(&view.layer, &scope);
    places.map_or_else(|_| view.places(&view.layer), Arc::from)
}

/// The number of other files that set keys. O(files that levels match + keys × [`MOST_COUNTED`]).
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
            if above + below == MOST_COUNTED {
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

/// The keys of a file that its unsaved edit changes, with the number of nodes; empty if it takes
/// long to compute.
pub(super) fn changed_keys(analysis: Analysis<'_>, path: &str) -> Vec<(TextRange, usize)> {
    let lenses = unsaved(analysis, path).into_iter();
    let changed = lenses.filter_map(|lens| {
        let LensKind::Impact {
            keys: None, nodes, ..
        } = lens.kind
        else {
            return None;
        };
        Some((lens.range, nodes))
    });
    changed.collect()
}

/// The effect of a file's unsaved edit: in total above the first line, and above each key.
fn unsaved(analysis: Analysis<'_>, path: &str) -> Vec<Lens> {
    let Some(edit) = UnsavedEdit::of(analysis, path) else {
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
        // Too slow for the other lenses to wait for.
        Touched::Keys(_) => return vec![lens(first, LensKind::LaterImpact)],
        Touched::All => return vec![lens(first, LensKind::AnyImpact)],
    }
    let total = analysis.nodes.len();
    let Some(impact) = edit.impact() else {
        return Vec::new();
    };
    let by_key = by_key(&impact);
    if by_key.is_empty() {
        return Vec::new();
    }
    let mut lenses = vec![lens(first, in_all(&impact, by_key.len(), total))];
    for fact in edit.file.facts().sorted() {
        if let Some(nodes) = by_key.get(&fact.name) {
            let kind = LensKind::Impact {
                keys: None,
                nodes: nodes.len(),
                total,
            };
            lenses.push(lens(fact.key, kind));
        }
    }
    lenses
}

/// The message above the first line of an unsaved file, even if it takes long to compute.
#[must_use]
pub fn impact(analysis: Analysis<'_>, path: &str) -> LensKind {
    let Some(edit) = UnsavedEdit::of(analysis, path) else {
        return LensKind::NoImpact;
    };
    if edit.touched == Touched::All {
        return LensKind::AnyImpact;
    }
    match edit.impact() {
        Some(impact) if !impact.is_complete => LensKind::AnyImpact,
        Some(impact) => match by_key(&impact).len() {
            0 => LensKind::NoImpact,
            keys => in_all(&impact, keys, analysis.nodes.len()),
        },
        None => LensKind::AnyImpact,
    }
}

struct UnsavedEdit<'a> {
    analysis: Analysis<'a>,
    file: &'a Arc<File>,
    saved: Snapshot,
    touched: Touched,
}

impl<'a> UnsavedEdit<'a> {
    /// `None` for a file without unsaved edits, and for a broken file: all its keys would change,
    /// and diagnostics report it.
    fn of(analysis: Analysis<'a>, path: &str) -> Option<UnsavedEdit<'a>> {
        let snapshot = analysis.snapshot;
        let file = snapshot.file(path)?;
        let is_open = snapshot.open_files().any(|open| open.path() == file.path());
        if !is_open || file.facts().error.is_some() {
            return None;
        }
        let saved = snapshot.with(Change::Close { path: path.into() });
        let is_saved = saved.file(path).map(|saved| saved.hash()) == Some(file.hash());
        if is_saved {
            return None;
        }
        Some(UnsavedEdit {
            analysis,
            touched: touched(&saved, snapshot),
            file,
            saved,
        })
    }

    fn impact(&self) -> Option<Impact> {
        let path = self.file.path();
        let saved = Analysis {
            snapshot: &self.saved,
            ..self.analysis
        };
        let (before, after) = (saved.governing(path)?, self.analysis.governing(path)?);
        match is_by_path(&after, path) {
            true => impact_on_readers(&before, &after, path, &|_, _| {}),
            false => impact_with(&before, &after, Detail::Answers, &|_, _| {}),
        }
    }
}

/// The changed keys, each with its nodes.
fn by_key(impact: &Impact) -> HashMap<Arc<str>, BTreeSet<Arc<str>>> {
    let mut keys: HashMap<Arc<str>, BTreeSet<Arc<str>>> = HashMap::new();
    for change in &impact.changes {
        let nodes = keys.entry(root_of(&change.key)).or_default();
        nodes.extend(change.after.nodes.iter().cloned());
    }
    keys
}

fn in_all(impact: &Impact, keys: usize, total: usize) -> LensKind {
    LensKind::Impact {
        keys: Some(keys),
        nodes: impact.nodes.len(),
        total,
    }
}
