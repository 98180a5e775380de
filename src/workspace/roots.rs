//! The roots of hierarchies: environments, modules and the global layer among a workspace's files,
//! as found by [`super::root_finder`].

use std::collections::BTreeMap;
use std::sync::Arc;

use super::found::{ConfigOrigin, ConfigUse, FoundConfig};
use super::path;

/// The kind of a root in Puppet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RootKind {
    /// An environment: a control repository, or one of several folders in `environments/`.
    Environment,
    /// A module, by the prefix of its keys.
    Module {
        /// Name of the module.
        name: Arc<str>,
    },
    /// The global layer.
    Global,
    /// What plans of Bolt look up outside of apply blocks, in the folder of an environment whose
    /// configuration has a `plan_hierarchy`.
    Plans,
}

#[cfg(test)]
impl RootKind {
    /// For expectations of tests.
    pub(crate) fn words(&self) -> String {
        match self {
            RootKind::Environment => "environment".to_owned(),
            RootKind::Module { name } => format!("module {name}"),
            RootKind::Global => "global".to_owned(),
            RootKind::Plans => "plans".to_owned(),
        }
    }
}

/// A folder with a hierarchy of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Root {
    /// The kind of root.
    pub kind: RootKind,
    /// The folder, absolute.
    pub dir: Arc<str>,
    /// Its configuration; an environment without one still has modules with theirs.
    pub hiera_yaml: Option<Arc<str>>,
    /// Folders of modules in order, absolute, mapped to the workspace; only for environments.
    /// Entries that need Puppet's own settings (`$codedir/…`) are left out.
    pub modulepath: Vec<Arc<str>>,
    /// Modules by name, the first of each name on the modulepath.
    pub modules: BTreeMap<Arc<str>, Arc<str>>,
    /// The folders of modules on the modulepath that Puppet leaves out, and why.
    pub left_out: Vec<(Arc<str>, String)>,
    /// Modules by name in conventional folders, if no `environment.conf` decides whether Puppet
    /// uses them: it does only if its own settings say so. Those of the modulepath take precedence.
    /// For a module, those installed by its tests.
    pub likely_modules: BTreeMap<Arc<str>, Arc<str>>,
    /// `environment_data_provider` of `environment.conf`, deprecated.
    pub environment_data_provider: Option<String>,
    /// The configuration of the global layer above an environment, and the folder that it serves,
    /// if it is in the workspace.
    pub global: Option<GlobalConfig>,
    /// Replacements for server paths in configurations.
    pub deployment: Arc<Deployment>,
}

/// A configuration of the global layer in the workspace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GlobalConfig {
    /// The file.
    pub hiera_yaml: Arc<str>,
    /// The folder that it serves.
    pub dir: Arc<str>,
}

/// Replacements in the workspace for server paths in the configurations of a root.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Deployment {
    /// Data directories of a server, and their folders here.
    pub(super) path_map: Vec<(Arc<str>, Arc<str>)>,
    /// Templates of configurations with their texts without tags.
    pub(super) texts: Vec<(Arc<str>, Arc<str>)>,
}

impl Deployment {
    pub(super) fn add(&mut self, config: &FoundConfig) {
        self.path_map.extend(config.path_map.iter().cloned());
        if let Some(text) = &config.text {
            self.texts.push((config.path.clone(), text.clone()));
        }
    }
}

impl Root {
    /// A root without modules and without a global layer above.
    pub(super) fn without_modules(
        kind: RootKind,
        dir: &str,
        hiera_yaml: Option<&Arc<str>>,
    ) -> Root {
        Root {
            kind,
            dir: Arc::from(dir),
            hiera_yaml: hiera_yaml.map(Arc::clone),
            modulepath: Vec::new(),
            modules: BTreeMap::new(),
            left_out: Vec::new(),
            likely_modules: BTreeMap::new(),
            environment_data_provider: None,
            global: None,
            deployment: Arc::default(),
        }
    }

    /// Whether it has data of its own: by a configuration, or by `environment_data_provider`.
    #[must_use]
    pub fn has_hierarchy(&self) -> bool {
        let provider = self.environment_data_provider.as_deref();
        self.hiera_yaml.is_some() || provider.is_some_and(|name| name != "none")
    }
}

/// All roots of a workspace, ordered by folder. A folder served by several configurations has a
/// root for each, the best first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Roots {
    pub(super) all: Vec<Root>,
    pub(super) found: Vec<FoundConfig>,
}

impl Roots {
    /// The roots, ordered by folder.
    pub fn iter(&self) -> impl Iterator<Item = &Root> {
        self.all.iter()
    }

    /// All configurations of the workspace except those of modules, the best first.
    #[must_use]
    pub fn found(&self) -> &[FoundConfig] {
        &self.found
    }

    /// The root that a file belongs to: the innermost folder around it that is a root; the first
    /// one of that folder.
    #[must_use]
    pub fn of(&self, at: &str) -> Option<&Root> {
        let around = self.all.iter().rev();
        around
            .filter(|root| path::within(at, &root.dir).is_some())
            .max_by_key(|root| root.dir.len())
    }

    /// The roots whose data directories contain a file, the best first, by the configurations
    /// found.
    pub fn with_data_around<'a>(&'a self, at: &str) -> impl Iterator<Item = &'a Root> {
        let around = self.found.iter().filter(move |config| {
            let mut folders = config.folders.iter();
            config.verdict == ConfigUse::Used
                && folders.any(|folder| path::within(at, folder).is_some())
        });
        around.flat_map(|config| self.all_of_config(&config.path))
    }

    /// The roots of a configuration: one of version 3 in an environment is also the global layer's.
    fn all_of_config(&self, hiera_yaml: &str) -> impl Iterator<Item = &Root> {
        let all = self.all.iter();
        all.filter(move |root| root.hiera_yaml.as_deref() == Some(hiera_yaml))
    }

    /// The first root of a configuration.
    #[must_use]
    pub fn of_config(&self, hiera_yaml: &str) -> Option<&Root> {
        self.all_of_config(hiera_yaml).next()
    }

    /// Whether added or removed data files can change the roots.
    pub(super) fn is_judged(&self) -> bool {
        let by_data =
            |config: &FoundConfig| config.origin != ConfigOrigin::Place || config.version == 3;
        self.found.iter().any(by_data)
    }

    /// The root in exactly this folder.
    #[must_use]
    pub fn in_folder(&self, dir: &str) -> Option<&Root> {
        self.all.iter().find(|root| &*root.dir == dir)
    }

    /// The global layer, if the workspace has one or a setting names one.
    #[must_use]
    pub fn global(&self) -> Option<&Root> {
        self.all.iter().find(|root| root.kind == RootKind::Global)
    }

    /// The environments.
    pub fn environments(&self) -> impl Iterator<Item = &Root> {
        self.all
            .iter()
            .filter(|root| root.kind == RootKind::Environment)
    }

    /// The environments in which a root's data is read: an environment itself, those with a module
    /// on their modulepath, those below the global layer; all if there are none.
    pub fn environments_of<'a>(&'a self, root: &'a Root) -> impl Iterator<Item = &'a Root> {
        self.environments()
            .filter(move |environment| match &root.kind {
                RootKind::Environment => {
                    environment.dir == root.dir && environment.hiera_yaml == root.hiera_yaml
                }
                RootKind::Module { name } => environment.modules.get(name) == Some(&root.dir),
                RootKind::Global => {
                    let is_below = |one: &Root| path::within(&one.dir, &root.dir).is_some();
                    is_below(environment) || !self.environments().any(is_below)
                }
                // No node reads it.
                RootKind::Plans => false,
            })
    }

    /// The environment that a root is, or the first of those in which its data is read.
    #[must_use]
    pub fn environment_of<'a>(&'a self, root: &'a Root) -> Option<&'a Root> {
        match root.kind {
            RootKind::Environment => Some(root),
            RootKind::Module { .. } | RootKind::Global | RootKind::Plans => {
                self.environments_of(root).next()
            }
        }
    }

    /// What plans look up with the configuration of an environment.
    #[must_use]
    pub fn plans_of(&self, environment: &Root) -> Option<&Root> {
        let is_environment = environment.kind == RootKind::Environment;
        let mut all = self.all.iter().filter(|_| is_environment);
        all.find(|root| root.kind == RootKind::Plans && root.hiera_yaml == environment.hiera_yaml)
    }

    /// The number of roots.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are no roots.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

pub(crate) const HIERA_YAML: &str = "hiera.yaml";
pub(crate) const ENVIRONMENT_CONF: &str = "environment.conf";
/// The settings of a project of Bolt.
pub(super) const BOLT_PROJECT: &str = "bolt-project.yaml";
pub(super) const METADATA_JSON: &str = "metadata.json";
/// The name of a list of modules to install, which only environments have.
pub(super) const PUPPETFILE: &str = "Puppetfile";

/// Conventional folders of modules, if no `environment.conf` names others.
pub(crate) const MODULE_FOLDERS: [&str; 3] = ["modules", "site", "site-modules"];

/// The folder of a `codedir` that holds its environments.
pub(crate) const ENVIRONMENTS: &str = "environments";

/// Whether a file of this name can add or remove a root.
pub(super) fn decides_roots(at: &str) -> bool {
    matches!(
        path::name(at),
        HIERA_YAML | ENVIRONMENT_CONF | BOLT_PROJECT | METADATA_JSON | PUPPETFILE
    )
}

#[cfg(test)]
#[path = "roots_tests.rs"]
mod tests;
