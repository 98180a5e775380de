//! Facts about the classes that manifests include, computed once for all files.

use std::sync::{Arc, PoisonError};

use super::checker::{Checker, SharedPaths};
use crate::analysis::{EvaluationOrder, MissingValue, PossibleInclusions};
use crate::lookup::Reach;
use crate::scope::KnownNodes;
use crate::workspace::{Root, path};

impl Checker<'_> {
    /// The values that are certainly missing for classes that manifests include.
    pub(super) fn missing_values(&self) -> &[MissingValue] {
        self.missing_values.get_or_init(|| {
            let environments = self.snapshot.roots().environments().enumerate();
            let found = environments.flat_map(|(index, root)| {
                let nodes = || self.site_nodes(root);
                let order = || &self.evaluation_orders()[index];
                self.analysis().missing_values(root, &nodes, &order)
            });
            found.collect()
        })
    }

    /// The order of evaluation in each environment, in the order of the environments.
    fn evaluation_orders(&self) -> &[EvaluationOrder] {
        self.evaluation_orders.get_or_init(|| {
            let environments = self.snapshot.roots().environments();
            let orders = environments.map(|root| self.analysis().evaluation_order(root));
            orders.collect()
        })
    }

    /// Whether manifests may evaluate a class where a variable of a path is not visible, although nodes have it.
    pub(super) fn may_miss_variable(&self, class: &str, reach: &Reach) -> bool {
        let mut variables = reach.place.template.variables();
        variables.any(|variable| self.may_not_see(class, variable))
    }

    /// Whether manifests may evaluate a class where a variable is not visible, although nodes have it.
    pub(super) fn may_not_see(&self, class: &str, variable: &str) -> bool {
        let mut orders = self.evaluation_orders().iter();
        orders.any(|order| order.may_miss(class, variable))
    }

    /// The known nodes of a root's environment, as in `Analysis::nodes_of_site`.
    pub(super) fn site_nodes(&self, root: &Root) -> Option<&KnownNodes> {
        let environment = self.snapshot.roots().environment_of(root)?;
        let context = self.root_context(environment)?;
        Some(context.site_nodes.get_or_init(|| {
            let set = self.nodes_for(&path::join(&environment.dir, "hiera.yaml"));
            self.analysis().nodes_of_site(environment, &set)
        }))
    }

    /// The classes that the known nodes of a root's environment may include.
    pub(super) fn possible_inclusions(&self, root: &Root) -> Option<&PossibleInclusions> {
        let environment = self.snapshot.roots().environment_of(root)?;
        let mut all = self.snapshot.roots().environments();
        let index = all.position(|it| std::ptr::eq(it, environment))?;
        let context = self.root_context(environment)?;
        let known = self.site_nodes(environment)?;
        Some(context.possible_inclusions.get_or_init(|| {
            let order = &self.evaluation_orders()[index];
            self.analysis()
                .possible_inclusions(context.root, known, order)
        }))
    }

    /// The files for which `find` reports a merged value of a key that does not fit, cached.
    pub(super) fn wrong_for(
        &self,
        root: &Root,
        key: &Arc<str>,
        find: impl FnOnce() -> Vec<Arc<str>>,
    ) -> SharedPaths {
        // Each change is a single insertion, so the map is consistent even after a panic.
        let known = || {
            self.wrong_for
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let name = (Arc::clone(&root.dir), Arc::clone(key));
        if let Some(found) = known().get(&name) {
            return Arc::clone(found);
        }
        let found: SharedPaths = find().into();
        known().insert(name, Arc::clone(&found));
        found
    }
}
