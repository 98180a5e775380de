//! `hiera-ls lookup --compile`: the variables that manifests set in the top scope.

use std::sync::Arc;

use crate::analysis::SiteManifests;
use crate::lookup::{PuppetVersion, Settings};
use crate::scope::{KnownNodes, Manifests as _, Node, Scope};
use crate::value::StrKey;
use crate::workspace::{Root, Snapshot};

/// The manifests that are run before a lookup; `None` unless the command line asks for it.
#[derive(Default)]
pub(super) struct Compiled(Option<Arc<SiteManifests>>);

impl Compiled {
    /// The manifests of the environment of a root.
    pub(super) fn new(snapshot: &Snapshot, root: &Root, settings: &Settings) -> Compiled {
        let manifests = SiteManifests::of(snapshot, root, settings);
        Compiled(Some(Arc::new(manifests.of_top_scope())))
    }

    /// The scope of a lookup for a node. From version 8 on `puppet lookup` has the variables of a
    /// server (`puppet/application/lookup.rb`, `generate_scope`), before it has none.
    pub(super) fn scope(&self, node: &Node, environment: &str, version: PuppetVersion) -> Scope {
        let is_told = node.variables.contains_key(&StrKey("server_facts"));
        let scope = node.scope(environment);
        let scope = if version < PuppetVersion::V8 && !is_told {
            scope.without_server()
        } else {
            scope.served()
        };
        match &self.0 {
            Some(manifests) => scope.with_assigned(manifests.assigned(node, &scope)),
            None => scope,
        }
    }

    pub(super) fn nodes(&self, nodes: KnownNodes) -> KnownNodes {
        match &self.0 {
            Some(manifests) => nodes.with_manifests(manifests.clone()),
            None => nodes,
        }
    }
}
