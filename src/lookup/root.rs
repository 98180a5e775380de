//! Converts the roots of a workspace to the environments of lookups.

use std::sync::Arc;

use super::context::{CODEDIR, Environment, EnvironmentConfig};
use crate::hierarchy::Layer;
use crate::workspace::{Root, RootKind, Snapshot};

impl Environment {
    /// The environment of that name in which a root's data is read. For a module, the first
    /// environment that has it, or one with just the module.
    #[must_use]
    pub fn of_root(snapshot: &Snapshot, root: &Root, name: &str) -> Environment {
        let roots = snapshot.roots();
        let is_of_plans = root.kind == RootKind::Plans;
        let home = if is_of_plans {
            Some(root)
        } else {
            roots.environment_of(root)
        };
        let (global_config, global_dir) = global_of(snapshot, root, home);
        let environment = home.unwrap_or(root);
        let mut modules: Vec<(Arc<str>, Arc<str>)> = environment
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
            name: Arc::from(name),
            is_of_plans,
            dir: home.map(|home| home.dir.clone()),
            config: match home.map(|home| &home.hiera_yaml) {
                Some(Some(hiera_yaml)) => EnvironmentConfig::Elsewhere(hiera_yaml.clone()),
                Some(None) if !environment.has_hierarchy() => EnvironmentConfig::None,
                Some(None) | None => EnvironmentConfig::Own,
            },
            modulepath: environment.modulepath.clone(),
            modules,
            global_config,
            global_dir,
            codedir: Arc::from(CODEDIR),
            data_provider: environment
                .environment_data_provider
                .as_deref()
                .map(Arc::from),
        }
    }
}

/// The configuration of the global layer above a root, and the folder that it serves if that is not
/// its own: from the settings, else as found in the workspace.
fn global_of(
    snapshot: &Snapshot,
    root: &Root,
    home: Option<&Root>,
) -> (Option<Arc<str>>, Option<Arc<str>>) {
    if let Some(global) = &snapshot.settings().global_hiera_yaml {
        return (Some(global.clone()), None);
    }
    if root.kind == RootKind::Global {
        return (root.hiera_yaml.clone(), Some(root.dir.clone()));
    }
    match home.and_then(|home| home.global.clone()) {
        Some(global) => (Some(global.hiera_yaml), Some(global.dir)),
        None => (None, None),
    }
}

/// The layer of a root's own configuration.
#[must_use]
pub fn layer_of(root: &Root) -> Layer {
    match &root.kind {
        RootKind::Environment | RootKind::Plans => Layer::Environment,
        RootKind::Module { name } => Layer::Module(name.clone()),
        RootKind::Global => Layer::Global,
    }
}
