//! What an edit changes: which keys' effective values, for how many nodes, from what to what.
//!
//! Only keys that the edit can touch are looked up again, for nodes that it can touch: see
//! `touched`.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::compare::{Difference, changes, differ};
use super::matrix::{answer_in, bare_row_of, row_of};
use super::touched::Extent;
use crate::analysis::RootView;
use crate::lookup::{Alternatives, Request, readers};
use crate::scope::Scope;
use crate::value::KeyHashing;

/// Most keys that an impact looks at; the impact of an edit that can touch more is incomplete.
pub const MOST_KEYS: usize = 2_000;

/// What changes.
#[derive(Clone, Debug, Default)]
pub struct Impact {
    /// The changes, key by key: first the keys that were edited, then those that use them, each in the
    /// order of bytes. A key comes once for each pair of an old and a new answer.
    pub changes: Vec<Difference>,
    /// The nodes for which something changes, by name, in the order of bytes.
    pub nodes: Vec<Arc<str>>,
    /// Whether all keys were looked at: see [`MOST_KEYS`].
    pub is_complete: bool,
}

/// How much is computed of each change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// The answers alone: what numbers are made of.
    Answers,
    /// Where they come from too: about twice the work.
    Sources,
}

/// What changes for the nodes between two snapshots, for example the saved one
/// (`Snapshot::saved`) and the one with the edit.
#[must_use]
pub fn impact(before: &RootView<'_>, after: &RootView<'_>, detail: Detail) -> Impact {
    let proceed = |_, _| ControlFlow::Continue(());
    impact_with(before, after, detail, &proceed).unwrap_or_default()
}

/// The same; `step` takes after each key how many of how many are done. None where it breaks.
#[must_use]
pub fn impact_with(
    before: &RootView<'_>,
    after: &RootView<'_>,
    detail: Detail,
    step: &dyn Fn(usize, usize) -> ControlFlow<()>,
) -> Option<Impact> {
    let extent = Extent::of(before, after);
    let (keys, is_complete) = keys(&extent, before, after);
    let mut impact = Impact {
        is_complete,
        ..Impact::default()
    };
    let of = |view: &RootView<'_>, key: &str| match detail {
        Detail::Answers => bare_row_of(view, key, &extent.members),
        Detail::Sources => row_of(view, key, &extent.members),
    };
    let mut nodes: HashSet<Arc<str>, KeyHashing> = HashSet::default();
    for (at, key) in keys.iter().enumerate() {
        let found = changes(&of(before, key), &of(after, key));
        nodes.extend(found.iter().flat_map(|change| change.after.nodes.clone()));
        impact.changes.extend(found);
        if step(at + 1, keys.len()).is_break() {
            return None;
        }
    }
    impact.nodes = nodes.into_iter().collect();
    impact.nodes.sort();
    Some(impact)
}

/// What changes for every node that reads a file, as far as its path tells of them: for a
/// workspace without known nodes. The changes have a condition in the place of nodes.
#[must_use]
pub fn impact_on_readers(
    before: &RootView<'_>,
    after: &RootView<'_>,
    path: &str,
    step: &dyn Fn(usize, usize) -> ControlFlow<()>,
) -> Option<Impact> {
    let (keys, is_complete) = keys(&Extent::of(before, after), before, after);
    let mut impact = Impact {
        is_complete,
        ..Impact::default()
    };
    let mut scopes: Vec<(Scope, Alternatives)> = Vec::new();
    for reach in after.reach(path) {
        let bindings = reach.bindings.iter();
        let bindings = bindings.map(|(name, value)| (Arc::from(&**name), value.to_string()));
        let bindings: Vec<(Arc<str>, String)> = bindings.collect();
        let condition = match bindings.is_empty() {
            true => Alternatives::Words("every node that reads this file"),
            false => Alternatives::AnyOf(vec![bindings]),
        };
        if scopes.iter().all(|(_, known)| *known != condition) {
            scopes.push((reach.scope(), condition));
        }
    }
    for (at, key) in keys.iter().enumerate() {
        let request = Request::key(key).with_sources();
        for (scope, condition) in &scopes {
            let one = |view: &RootView<'_>| answer_in(view, &request, scope, condition);
            let (before, after) = (one(before), one(after));
            if differ(&before, &after) {
                impact.changes.push(Difference {
                    key: key.clone(),
                    before,
                    after,
                });
            }
        }
        if step(at + 1, keys.len()).is_break() {
            return None;
        }
    }
    Some(impact)
}

/// Whether what an edit of a file changes can only be told by what the file's path says of nodes: no
/// known node reads it for certain, and of some node it is not known whether it does.
pub(super) fn is_by_path(view: &RootView<'_>, path: &str) -> bool {
    let nodes = view.analysis.nodes;
    nodes.is_empty()
        || (nodes.are_names() && readers(&view.session(), nodes, &view.layer, path).is_empty())
}

/// The keys that are to be looked up, and whether these are all that can differ.
fn keys(extent: &Extent, before: &RootView<'_>, after: &RootView<'_>) -> (Vec<Arc<str>>, bool) {
    let mut keys = extent.keys(before, after);
    keys.sort_by_key(|key| !extent.is_edited(key));
    let is_complete = keys.len() <= MOST_KEYS;
    keys.truncate(MOST_KEYS);
    (keys, is_complete)
}
