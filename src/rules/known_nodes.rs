//! The known nodes that rules ask: those of a file, and those of an environment, found once.

use std::sync::Arc;

use super::checker::{Checker, RootContext};
use crate::analysis::{NodeCache, NodeInputs, NodeSet, SiteNodes};
use crate::workspace::{HIERA_YAML, Root, path};

/// The known nodes by the path of a file; `None`: the nodes in the snapshot.
pub(super) type NodesFor<'a> = Option<Box<dyn Fn(&str) -> Arc<NodeSet> + Send + Sync + 'a>>;

impl<'a> Checker<'a> {
    /// The same checker with these nodes, by the path of a file, instead of those in the snapshot.
    /// They must not depend on the choice of a node that a user makes in an editor.
    #[must_use]
    pub fn with_nodes(
        mut self,
        nodes_for: impl Fn(&str) -> Arc<NodeSet> + Send + Sync + 'a,
    ) -> Checker<'a> {
        self.nodes_for = Some(Box::new(nodes_for));
        self
    }

    /// The known nodes for a file.
    pub(super) fn nodes_for(&self, path: &str) -> Arc<NodeSet> {
        if let Some(nodes_for) = &self.nodes_for {
            return nodes_for(path);
        }
        let inputs = NodeInputs {
            environment: &self.environment,
            ..NodeInputs::new(&self.settings, &self.configs)
        };
        NodeCache::default().nodes(self.snapshot, path, &inputs)
    }

    /// The known nodes of a root's environment, as in `Analysis::nodes_of_site`, and the classes that
    /// they may include.
    pub(super) fn site_nodes(&self, root: &Root) -> Option<Arc<SiteNodes>> {
        let environment = self.snapshot.roots().environment_of(root)?;
        let context = self.root_context(environment)?;
        let find = || {
            let set = self.known_nodes_in(context);
            let analysis = self.analysis();
            self.site(environment).nodes(&set, |before| {
                analysis.nodes_of_site(environment, &set, before)
            })
        };
        Some(Arc::clone(context.site_nodes.get_or_init(find)))
    }

    /// The known nodes of a root's environment, as files describe them.
    pub(super) fn known_nodes(&self, root: &Root) -> Option<Arc<NodeSet>> {
        let environment = self.snapshot.roots().environment_of(root)?;
        Some(self.known_nodes_in(self.root_context(environment)?))
    }

    fn known_nodes_in(&self, environment: &RootContext<'_>) -> Arc<NodeSet> {
        let find = || self.nodes_for(&path::join(&environment.root.dir, HIERA_YAML));
        Arc::clone(environment.nodes.get_or_init(find))
    }
}
