//! From the roots of a workspace to the environments of lookups.

use std::sync::Arc;

use super::context::Environment;
use crate::hierarchy::Layer;
use crate::workspace::{Root, RootKind, Snapshot};

impl Environment {
    /// The environment that a root's data is read in. A module's own is the first environment
    /// that has it, or one that holds the module alone.
    #[must_use]
    pub fn of_root(snapshot: &Snapshot, root: &Root) -> Environment {
        let roots = snapshot.roots();
        let home = roots.environments_of(root).next();
        let global = snapshot.settings().global_hiera_yaml.clone();
        let global = global.or_else(|| match root.kind {
            RootKind::Global => root.hiera_yaml.clone(),
            RootKind::Environment | RootKind::Module { .. } => None,
        });
        let of = home.unwrap_or(root);
        let mut modules: Vec<(Arc<str>, Arc<str>)> = of
            .modules
            .iter()
            .map(|(name, dir)| (name.clone(), dir.clone()))
            .collect();
        if let RootKind::Module { name } = &root.kind
            && !modules.iter().any(|(known, _)| known == name)
        {
            modules.push((name.clone(), root.dir.clone()));
        }
        Environment {
            name: Arc::from("production"),
            dir: home.map(|home| home.dir.clone()),
            config: home.and_then(|home| home.hiera_yaml.clone()),
            modulepath: of.modulepath.clone(),
            modules,
            global_config: global,
            codedir: Arc::from("/etc/puppetlabs/code"),
            data_provider: of.environment_data_provider.as_deref().map(Arc::from),
        }
    }
}

/// The layer that a root's own configuration makes.
#[must_use]
pub fn layer_of(root: &Root) -> Layer {
    match &root.kind {
        RootKind::Environment => Layer::Environment,
        RootKind::Module { name } => Layer::Module(name.clone()),
        RootKind::Global => Layer::Global,
    }
}
