//! The effect of an edit on values: keys, numbers of nodes, old and new answers.
//!
//! Only keys and nodes that the edit can affect are looked up again: see [`ChangeExtent`].

use std::collections::BTreeSet;
use std::sync::Arc;

use super::compare::{Difference, changes};
use super::document::OnProgress;
use super::matrix::{answer_in, bare_row_of, row_of};
use crate::analysis::{ChangeExtent, RootView};
use crate::lookup::{Alternatives, Request, readers};
use crate::scope::Scope;

/// Maximum number of keys to check; with more, the impact is incomplete.
pub const MAX_KEYS: usize = 2_000;

/// The effect of an edit.
#[derive(Clone, Debug, Default)]
pub struct Impact {
    /// The changes by key: first edited keys, then keys that use them, each in byte order. A key is
    /// repeated for each pair of an old and a new answer.
    pub changes: Vec<Difference>,
    /// The names of the affected nodes, in byte order.
    pub nodes: Vec<Arc<str>>,
    /// Whether all keys were checked: see [`MAX_KEYS`].
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
/// the edited one; nothing, and incomplete, if the request is cancelled.
#[must_use]
pub fn impact(before: &RootView<'_>, after: &RootView<'_>, detail: Detail) -> Impact {
    impact_with(before, after, detail, &|_, _| {}).unwrap_or_default()
}

/// The same; after each key, `progress` gets the numbers of finished and of all keys. `None` if the
/// request is cancelled.
#[must_use]
pub fn impact_with(
    before: &RootView<'_>,
    after: &RootView<'_>,
    detail: Detail,
    progress: OnProgress<'_>,
) -> Option<Impact> {
    let extent = ChangeExtent::of(before, after);
    let row_in = |view: &RootView<'_>, key: &str| match detail {
        Detail::Answers => bare_row_of(view, key, &extent.members),
        Detail::Sources => row_of(view, key, &extent.members),
    };
    let mut impact = impact_by_key(&extent, before, after, progress, &|key| {
        changes(&row_in(before, key), &row_in(after, key))
    })?;
    let nodes = impact.changes.iter().flat_map(|change| &change.after.nodes);
    let nodes: BTreeSet<&Arc<str>> = nodes.collect();
    impact.nodes = nodes.into_iter().cloned().collect();
    Some(impact)
}

/// The changes for any node that reads a file, by the conditions in its path instead of known
/// nodes. `None` if the request is cancelled.
#[must_use]
pub fn impact_on_readers(
    before: &RootView<'_>,
    after: &RootView<'_>,
    path: &str,
    progress: OnProgress<'_>,
) -> Option<Impact> {
    let extent = ChangeExtent::of(before, after);
    let mut scopes: Vec<(Scope, Alternatives)> = Vec::new();
    for reach in after.reach(path) {
        let bindings = reach.bindings.iter();
        let bindings = bindings.map(|(name, value)| (Arc::from(&**name), value.to_string()));
        let bindings: Vec<(Arc<str>, String)> = bindings.collect();
        let condition = if bindings.is_empty() {
            Alternatives::Words("every node that reads this file")
        } else {
            Alternatives::AnyOf(vec![bindings])
        };
        if scopes.iter().all(|(_, known)| *known != condition) {
            scopes.push((reach.scope(), condition));
        }
    }
    impact_by_key(&extent, before, after, progress, &|key| {
        let request = Request::key(key).with_sources();
        let differences = scopes.iter().filter_map(|(scope, condition)| {
            let one = |view: &RootView<'_>| answer_in(view, &request, scope, condition);
            Difference::between(key, one(before), one(after))
        });
        differences.collect()
    })
}

/// The changes of all keys that an edit can affect: first edited keys, then others.
fn impact_by_key(
    extent: &ChangeExtent,
    before: &RootView<'_>,
    after: &RootView<'_>,
    progress: OnProgress<'_>,
    changes_of: &dyn Fn(&Arc<str>) -> Vec<Difference>,
) -> Option<Impact> {
    let mut keys = extent.keys(before, after);
    keys.sort_by_key(|key| !extent.is_edited(key));
    let mut impact = Impact {
        is_complete: keys.len() <= MAX_KEYS,
        ..Impact::default()
    };
    keys.truncate(MAX_KEYS);
    for (at, key) in keys.iter().enumerate() {
        impact.changes.extend(changes_of(key));
        progress(at + 1, keys.len());
        if (after.analysis.is_cancelled)() {
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
