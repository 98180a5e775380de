//! The known nodes as the features of an editor see them, and the root that answers for a file.

use super::matrix::Fleet;
pub(super) use crate::scope::Column;
pub use crate::scope::KnownNodes;

use crate::lookup::{ConfigCache, Settings, layer_of, reach};
use crate::workspace::{RootKind, Snapshot};

/// The nodes over the root whose hierarchy reads a file: the innermost around it, or the environment
/// whose data lies in a folder that is a root of its own. Nothing for a file that belongs to none.
#[must_use]
pub fn fleet_of<'a>(
    snapshot: &'a Snapshot,
    path: &str,
    settings: &'a Settings,
    configs: &'a ConfigCache,
    nodes: &'a KnownNodes,
) -> Option<Fleet<'a>> {
    let at = |root| Fleet::new(snapshot, root, settings, configs, nodes);
    let reads = |fleet: &Fleet<'_>| {
        let places = fleet.session().places(&layer_of(fleet.root));
        !reach(&places.unwrap_or_default(), path).is_empty()
    };
    let own = at(snapshot.root_of(path)?);
    if own.root.kind == RootKind::Environment || reads(&own) {
        return Some(own);
    }
    let others = snapshot.roots().environments_of(own.root).map(at);
    Some(others.into_iter().find(reads).unwrap_or(own))
}
