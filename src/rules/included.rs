//! Facts about the classes that manifests include, computed once for all files.

use std::sync::Arc;

use super::checker::{Checker, SharedPaths, lock};
use crate::analysis::{
    CertainInclusions, EvaluationOrder, MissingValue, PossibleInclusions, SiteClasses, SiteNodes,
    Sites,
};
use crate::lookup::Reach;
use crate::workspace::Root;

impl Checker<'_> {
    /// The values that are certainly missing for classes that manifests include.
    pub(super) fn missing_values(&self) -> impl Iterator<Item = &MissingValue> {
        let all = self.missing_values.get_or_init(|| {
            let environments = self.snapshot.roots().environments();
            let found = environments.filter_map(|root| {
                let nodes = self.site_nodes(root)?;
                let certain = self.certain_inclusions(root, &nodes);
                Some(Arc::clone(certain.missing_values()))
            });
            found.collect()
        });
        all.iter().flat_map(|of_environment| of_environment.iter())
    }

    /// What is known about an environment.
    pub(super) fn site(&self, environment: &Root) -> Arc<SiteClasses> {
        self.own_sites().site(&environment.dir)
    }

    pub(super) fn own_sites(&self) -> &Sites {
        let sites = || self.kept.sites.sites(self.snapshot, &self.settings);
        self.own_sites.get_or_init(sites)
    }

    /// The order of evaluation in an environment.
    fn order_of(&self, environment: &Root) -> Arc<EvaluationOrder> {
        let find = || self.analysis().evaluation_order(environment);
        self.site(environment).order(find)
    }

    /// Whether manifests may evaluate a class where a variable of a path is not visible, although nodes have it.
    pub(super) fn may_miss_variable(&self, class: &str, reach: &Reach) -> bool {
        let mut variables = reach.place.template.variables();
        variables.any(|variable| self.may_not_see(class, variable))
    }

    /// Whether manifests may evaluate a class where a variable is not visible, although nodes have it.
    pub(super) fn may_not_see(&self, class: &str, variable: &str) -> bool {
        let orders = self.evaluation_orders.get_or_init(|| {
            let environments = self.snapshot.roots().environments();
            environments.map(|root| self.order_of(root)).collect()
        });
        orders.iter().any(|order| order.may_miss(class, variable))
    }

    /// The classes that the known nodes of a root's environment may include.
    pub(super) fn possible_inclusions<'n>(
        &self,
        root: &Root,
        nodes: &'n SiteNodes,
    ) -> &'n PossibleInclusions {
        let find = |environment: &Root, order: &EvaluationOrder| {
            let analysis = self.analysis();
            analysis.possible_inclusions(environment, (nodes.nodes(), nodes.lacking()), order)
        };
        nodes.possible_inclusions(|| self.of_environment(root, find))
    }

    /// The classes that the known nodes of a root's environment certainly include.
    pub(super) fn certain_inclusions<'n>(
        &self,
        root: &Root,
        nodes: &'n SiteNodes,
    ) -> &'n CertainInclusions {
        let find = |environment: &Root, order: &EvaluationOrder| {
            let analysis = self.analysis();
            analysis.certain_inclusions(environment, (nodes.nodes(), nodes.lacking()), order)
        };
        nodes.certain_inclusions(|| self.of_environment(root, find))
    }

    /// What `find` says about a root's environment with its order of evaluation; nothing without an environment.
    fn of_environment<T: Default>(
        &self,
        root: &Root,
        find: impl FnOnce(&Root, &EvaluationOrder) -> T,
    ) -> T {
        let environment = self.snapshot.roots().environment_of(root);
        let found = environment.map(|environment| find(environment, &self.order_of(environment)));
        found.unwrap_or_default()
    }

    /// The files for which `find` reports a merged value of a key that does not fit, cached.
    pub(super) fn wrong_for(
        &self,
        root: &Root,
        key: &Arc<str>,
        find: impl FnOnce() -> Vec<Arc<str>>,
    ) -> SharedPaths {
        let known = || lock(&self.wrong_for);
        let name = (Arc::clone(&root.dir), Arc::clone(key));
        if let Some(found) = known().get(&name) {
            return Arc::clone(found);
        }
        let found: SharedPaths = find().into();
        known().insert(name, Arc::clone(&found));
        found
    }
}
