//! What the levels of a layer read, worked out once for a configuration and a set of files: their
//! locations for any node, and which of the files each known node reads. It depends on no data: paths
//! cannot look anything up.

use std::collections::HashMap as Map;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::context::{Environment, EnvironmentConfig, PuppetVersion, Strict};
use super::engine::Engine;
use super::reach::Place;
use super::session::Session;
use super::views::{LayerViews, views};
use crate::hierarchy::{Backends, Config, ConfigError, Layer};
use crate::scope::{KnownNodes, Scope};

/// Maximum number of plans that are kept; a workspace has one for each module with data.
const MOST_PLANS: usize = 512;

/// Maximum number of plans of one layer that are kept: what is compared are two versions of the
/// files.
const MOST_VERSIONS: usize = 2;

/// Maximum number of sets of nodes whose views one plan keeps.
const MOST_SETS: usize = 4;

/// Plans by layer and the environment's folder.
#[derive(Debug, Default)]
pub(super) struct PlanCache {
    /// The last used at the end.
    plans: Mutex<Map<PlanKey, Vec<Arc<Plan>>>>,
}

/// A layer, the folder of its environment, and the configurations of that and of the global layer.
type PlanKey = (Layer, Option<Arc<str>>, EnvironmentConfig, Option<Arc<str>>);

/// The plan of one layer.
#[derive(Debug)]
struct Plan {
    basis: Basis,
    places: OnceLock<Arc<[Place]>>,
    /// By the number of the set of nodes.
    views: Mutex<Map<u64, Arc<LayerViews>>>,
}

/// What a plan was made from.
#[derive(PartialEq, Debug)]
struct Basis {
    /// Which files there are: [`Files::shape`](crate::workspace::Files::shape).
    files: u64,
    environment: Environment,
    settings: (PuppetVersion, Strict, bool, bool, bool),
    backends: Arc<Backends>,
    config: Option<Arc<Result<Config, ConfigError>>>,
}

impl Plan {
    fn new(basis: Basis) -> Plan {
        Plan {
            basis,
            places: OnceLock::new(),
            views: Mutex::default(),
        }
    }
}

impl Session<'_> {
    /// As [`Session::places`], worked out now or before, and none where Puppet refuses the
    /// configuration.
    #[must_use]
    pub fn known_places(&self, layer: &Layer) -> Arc<[Place]> {
        let make = || Arc::from(self.places(layer).unwrap_or_default());
        match self.plan(layer) {
            Some(plan) => plan.places.get_or_init(make).clone(),
            None => make(),
        }
    }

    /// How all nodes see a layer, worked out now or before. O(nodes × locations) the first time.
    pub(super) fn views(&self, nodes: &KnownNodes, layer: &Layer) -> Arc<LayerViews> {
        let make = || Arc::new(views(self, nodes, layer));
        let Some(plan) = self.plan(layer) else {
            return make();
        };
        let lock = || plan.views.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&nodes.id()) {
            return known.clone();
        }
        let made = make();
        let mut known = lock();
        if known.len() >= MOST_SETS {
            known.clear();
        }
        known.insert(nodes.id(), made.clone());
        made
    }

    /// The plan of a layer as things are; `None` if changes of files go unnoticed.
    fn plan(&self, layer: &Layer) -> Option<Arc<Plan>> {
        let files = self.files.shape()?;
        let provider = Engine::new(*self, Scope::open()).provider(layer);
        let settings = self.settings;
        let basis = Basis {
            files,
            environment: self.environment.clone(),
            settings: (
                settings.puppet_version,
                settings.strict,
                settings.strict_variables,
                settings.modules_may_be_missing,
                settings.keys.is_some(),
            ),
            backends: settings.backends.clone(),
            config: provider.ok().flatten().map(|known| known.config.clone()),
        };
        let environment = self.environment;
        let key = (
            layer.clone(),
            environment.dir.clone(),
            environment.config.clone(),
            environment.global_config.clone(),
        );
        let plans = &self.configs.plans.plans;
        let mut plans = plans.lock().unwrap_or_else(PoisonError::into_inner);
        if plans.len() >= MOST_PLANS && !plans.contains_key(&key) {
            plans.clear();
        }
        let versions = plans.entry(key).or_default();
        let known = versions.iter().position(|plan| plan.basis == basis);
        let plan = match known {
            Some(at) => versions.remove(at),
            None => Arc::new(Plan::new(basis)),
        };
        if versions.len() >= MOST_VERSIONS {
            versions.remove(0);
        }
        versions.push(plan.clone());
        Some(plan)
    }
}
