//! The effect of an edit on values: keys, numbers of nodes, old and new answers.
//!
//! Only keys and nodes that the edit can affect are looked up again: see `touched`.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::compare::{Difference, changes};
use super::matrix::{answer_in, bare_row_of, row_of};
use super::touched::ChangeExtent;
use crate::analysis::RootView;
use crate::lookup::{Alternatives, Request, readers};
use crate::scope::Scope;
use crate::value::KeyHashing;

/// Maximum number of keys to check; with more, the impact is incomplete.
pub const MOST_KEYS: usize = 2_000;

/// The effect of an edit.
#[derive(Clone, Debug, Default)]
pub struct Impact {
    /// The changes by key: first edited keys, then keys that use them, each in byte order. A key is
    /// repeated for each pair of an old and a new answer.
    pub changes: Vec<Difference>,
    /// The names of the affected nodes, in byte order.
    pub nodes: Vec<Arc<str>>,
    /// Whether all keys were checked: see [`MOST_KEYS`].
    pub is_complete: bool,
}

/// The detail of each change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// Answers only: enough for numbers.
    Answers,
    /// Sources too: takes about twice as long.
    Sources,
}

/// The changes for known nodes between two snapshots, such as the saved one (`Snapshot::saved`) and
/// the edited one.
#[must_use]
pub fn impact(before: &RootView<'_>, after: &RootView<'_>, detail: Detail) -> Impact {
    let proceed = |_, _| ControlFlow::Continue(());
    impact_with(before, after, detail, &proceed).unwrap_or_default()
}

/// The same; after each key, `step` gets the numbers of finished and of all keys. `None` if it breaks.
#[must_use]
pub fn impact_with(
    before: &RootView<'_>,
    after: &RootView<'_>,
    detail: Detail,
    step: &dyn Fn(usize, usize) -> ControlFlow<()>,
) -> Option<Impact> {
    let extent = ChangeExtent::of(before, after);
    let (keys, is_complete) = keys(&extent, before, after);
    let mut impact = Impact {
        is_complete,
        ..Impact::default()
    };
    let row_in = |view: &RootView<'_>, key: &str| match detail {
        Detail::Answers => bare_row_of(view, key, &extent.members),
        Detail::Sources => row_of(view, key, &extent.members),
    };
    let mut nodes: HashSet<Arc<str>, KeyHashing> = HashSet::default();
    for (at, key) in keys.iter().enumerate() {
        let found = changes(&row_in(before, key), &row_in(after, key));
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

/// The changes for any node that reads a file, by the conditions in its path instead of known
/// nodes. `None` if `step` breaks.
#[must_use]
pub fn impact_on_readers(
    before: &RootView<'_>,
    after: &RootView<'_>,
    path: &str,
    step: &dyn Fn(usize, usize) -> ControlFlow<()>,
) -> Option<Impact> {
    let (keys, is_complete) = keys(&ChangeExtent::of(before, after), before, after);
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
            let difference = Difference::between(key, one(before), one(after));
            impact.changes.extend(difference);
        }
        if step(at + 1, keys.len()).is_break() {
            return None;
        }
    }
    Some(impact)
}

/// Whether the effect of an edit can only be given for the conditions in the file's path: no known
/// node certainly reads it, and the nodes' facts are unknown.
pub(super) fn is_by_path(view: &RootView<'_>, path: &str) -> bool {
    let nodes = view.analysis.nodes;
    nodes.is_empty()
        || (nodes.are_names() && readers(&view.session(), nodes, &view.layer, path).is_empty())
}

/// The keys to look up, and whether these are all that can change.
fn keys(
    extent: &ChangeExtent,
    before: &RootView<'_>,
    after: &RootView<'_>,
) -> (Vec<Arc<str>>, bool) {
    let mut keys = extent.keys(before, after);
    keys.sort_by_key(|key| !extent.is_edited(key));
    let is_complete = keys.len() <= MOST_KEYS;
    keys.truncate(MOST_KEYS);
    (keys, is_complete)
}
