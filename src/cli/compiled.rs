//! `hiera-ls lookup --compile`: the variables that manifests set in the top scope.

use std::sync::Arc;

use super::workspace::read;
use crate::analysis::{SiteManifests, root_for};
use crate::lookup::Settings;
use crate::scope::{KnownNodes, Manifests as _, Node, Scope};
use crate::workspace::FileSettings;

/// The manifests that are run before a lookup; `None` unless the command line asks for it.
#[derive(Default)]
pub(super) struct Compiled(Option<Arc<SiteManifests>>);

impl Compiled {
    /// Reads the manifests of an environment of a workspace.
    pub(super) fn new(
        folder: &str,
        environment: &str,
        files: &FileSettings,
        settings: &Settings,
    ) -> Compiled {
        let snapshot = read(folder, files);
        let root = root_for(&snapshot, folder, environment);
        let manifests = root.map(|root| SiteManifests::of(&snapshot, root, settings));
        Compiled(manifests.map(|manifests| Arc::new(manifests.of_top_scope())))
    }

    /// The scope of a lookup for a node. Newer versions of `puppet lookup` have the variables of a
    /// server (`puppet/application/lookup.rb`, `generate_scope`), older ones do not.
    pub(super) fn scope(&self, node: &Node, environment: &str) -> Scope {
        let scope = node.scope(environment).served();
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
