//! The known nodes as the features of an editor see them, and the root that answers for a file.

use std::collections::BTreeSet;
use std::sync::Arc;

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

/// Variables that name a node.
const NAMES: [&str; 7] = [
    "trusted.certname",
    "facts.clientcert",
    "clientcert",
    "facts.networking.fqdn",
    "networking.fqdn",
    "facts.fqdn",
    "fqdn",
];

/// Names of nodes that have a data file of their own, for the hierarchy that a file belongs to,
/// ordered by bytes. O(files).
#[must_use]
pub fn nodes_with_files(
    snapshot: &Snapshot,
    path: &str,
    settings: &Settings,
    configs: &ConfigCache,
) -> Vec<Arc<str>> {
    let nobody = KnownNodes::default();
    let Some(fleet) = fleet_of(snapshot, path, settings, configs, &nobody) else {
        return Vec::new();
    };
    let session = fleet.session();
    let is_name = |name: &str| NAMES.contains(&name.trim_start_matches("::"));
    let mut places = session.places(&layer_of(fleet.root)).unwrap_or_default();
    places.retain(|place| place.template.variables().any(|name| is_name(name)));
    let mut found: BTreeSet<Arc<str>> = BTreeSet::new();
    for file in snapshot.files() {
        for place in &places {
            let bound = place.template.bind(file.path()).unwrap_or_default();
            let mut names = bound.into_iter().filter(|(name, _)| is_name(name));
            found.extend(names.next().map(|(_, value)| Arc::from(value)));
        }
    }
    found.into_iter().collect()
}
