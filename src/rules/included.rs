//! What the rules ask of the classes that manifests include, worked out once for all files.

use std::sync::{Arc, PoisonError};

use super::checker::{Checker, Paths};
use crate::analysis::{EvaluationOrder, MissingValue, PossibleInclusions};
use crate::lookup::Reach;
use crate::scope::KnownNodes;
use crate::workspace::{Root, path};

impl Checker<'_> {
    /// The values that classes surely lack which manifests include.
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

    /// The order of evaluation of each environment, in the order of the environments.
    fn evaluation_orders(&self) -> &[EvaluationOrder] {
        self.evaluation_orders.get_or_init(|| {
            let environments = self.snapshot.roots().environments();
            let orders = environments.map(|root| self.analysis().evaluation_order(root));
            orders.collect()
        })
    }

    /// Whether an environment's manifests may evaluate a class where it does not see one of the variables of
    /// a path, though nodes have it.
    pub(super) fn may_miss_variable(&self, class: &str, reach: &Reach) -> bool {
        let mut variables = reach.place.template.variables();
        variables.any(|variable| self.may_not_see(class, variable))
    }

    /// Whether an environment's manifests may evaluate a class where it does not see a variable that nodes have.
    pub(super) fn may_not_see(&self, class: &str, variable: &str) -> bool {
        let mut orders = self.evaluation_orders().iter();
        orders.any(|order| order.may_miss(class, variable))
    }

    /// The known nodes of the environment that a root is or is in: as many as [`Analysis::nodes_of_site`]
    /// looks at.
    pub(super) fn site_nodes(&self, root: &Root) -> Option<&KnownNodes> {
        let mut environments = self.snapshot.roots().environments_of(root);
        let environment = environments.next()?;
        let of = self.root_context(environment)?;
        Some(of.site_nodes.get_or_init(|| {
            let set = self.nodes_for(&path::join(&environment.dir, "hiera.yaml"));
            self.analysis().nodes_of_site(environment, &set)
        }))
    }

    /// Which of the known nodes of the environment that a root is or is in may include which class.
    pub(super) fn possible_inclusions(&self, root: &Root) -> Option<&PossibleInclusions> {
        let mut environments = self.snapshot.roots().environments_of(root);
        let environment = environments.next()?;
        let mut all = self.snapshot.roots().environments();
        let index = all.position(|it| std::ptr::eq(it, environment))?;
        let of = self.root_context(environment)?;
        let known = self.site_nodes(environment)?;
        Some(of.possible_inclusions.get_or_init(|| {
            let order = &self.evaluation_orders()[index];
            self.analysis().possible_inclusions(of.root, known, order)
        }))
    }

    /// The files whose readers get a merged value of a key that does not fit, worked out once.
    pub(super) fn wrong_for(
        &self,
        root: &Root,
        key: &Arc<str>,
        find: impl FnOnce() -> Vec<Arc<str>>,
    ) -> Paths {
        // Each change is one insertion: the map is whole even after a panic.
        let known = || {
            self.wrong_for
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let name = (Arc::clone(&root.dir), Arc::clone(key));
        if let Some(found) = known().get(&name) {
            return Arc::clone(found);
        }
        let found: Paths = find().into();
        known().insert(name, Arc::clone(&found));
        found
    }
}
