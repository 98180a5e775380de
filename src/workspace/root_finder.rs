//! Finds the roots of a workspace.
//!
//! Names decide where Puppet itself looks for a `hiera.yaml`. Configurations in other places, or
//! with data directories of a server, are judged by the data that they reach ([`super::found`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::FileSettings;
use super::config_fact::ConfigFact;
use super::environments::{bolt_project, environment, fetched_modules, module_name};
use super::files::{FileKind, Files};
use super::found::{ConfigCandidate, ConfigOrigin, ConfigUse, FoundConfig, judge};
use super::path;
use super::roots::{
    BOLT_PROJECT, Deployment, ENVIRONMENT_CONF, ENVIRONMENTS, GlobalConfig, HIERA_YAML,
    METADATA_JSON, MODULE_FOLDERS, PUPPETFILE, Root, RootKind, Roots,
};
use super::snapshot::Snapshot;
use super::visible::Here;

/// Folders with the environments of tests, which are not deployed.
const ASIDE: [&str; 15] = [
    "spec",
    "specs",
    "fixtures",
    "test",
    "tests",
    "testing",
    "rspec",
    "acceptance",
    "beaker",
    "kitchen",
    "molecule",
    "sandbox",
    "example",
    "examples",
    "integration",
];

/// Folders of modules whose files Puppet copies to other places.
const DEPLOYED_FROM: [&str; 2] = ["files", "templates"];

/// Prefixes of the names of folders for test machines.
const TEST_MACHINES: [&str; 2] = ["vagrant", "docker"];

/// Finds the roots. `deciding` are the workspace's files that [`decides_roots`], `configs` those
/// that are configurations by their content. Costs O(deciding files + modules), plus [`judge`] if a
/// configuration is not in Puppet's place.
pub(super) fn find(snapshot: &Snapshot, deciding: &[Arc<str>], configs: &[Arc<str>]) -> Roots {
    let finder = Finder {
        snapshot,
        files: Here(snapshot),
        settings: &snapshot.settings,
        folders: &snapshot.folders,
    };
    finder.find(deciding, configs)
}

/// The files in one folder that can make it a root.
#[derive(Default)]
struct Folder<'a> {
    hiera_yaml: Option<&'a Arc<str>>,
    environment_conf: bool,
    bolt_project: bool,
    metadata_json: bool,
    puppetfile: bool,
}

/// Folders by their role for Puppet.
#[derive(Default)]
struct Sorted<'a> {
    environments: Vec<(&'a str, Option<&'a Arc<str>>)>,
    /// The folders of environments that are certainly deployed as such: those with an `environment.conf`, and
    /// those in `environments`.
    certain: BTreeSet<&'a str>,
    modules: Vec<(&'a str, Option<&'a Arc<str>>)>,
    codedir: Option<(&'a str, &'a Arc<str>)>,
    /// `hiera.yaml` files in places where Puppet does not look.
    loose: Vec<&'a Arc<str>>,
    /// Such files among tests.
    aside: Vec<&'a Arc<str>>,
}

struct Finder<'a> {
    snapshot: &'a Snapshot,
    files: Here<'a>,
    settings: &'a FileSettings,
    folders: &'a [Arc<str>],
}

impl<'a> Finder<'a> {
    fn find(&self, deciding: &'a [Arc<str>], configs: &'a [Arc<str>]) -> Roots {
        let by_folder = self.by_folder(deciding);
        let sorted = self.sort(&by_folder);
        let found = self.judge(&sorted, configs);
        let mut all = self.environments(&sorted, &found);
        all.extend(self.global(&sorted, &found));
        for (dir, hiera_yaml) in &sorted.modules {
            let name = module_name(&self.files, dir, &all);
            all.push(Root {
                likely_modules: fetched_modules(&self.files, dir),
                ..Root::without_modules(RootKind::Module { name }, dir, *hiera_yaml)
            });
        }
        let plans = all.iter().filter_map(|root| self.plans(root));
        let plans: Vec<Root> = plans.collect();
        all.extend(plans);
        deploy(&mut all, &found);
        all.sort_by(|a, b| a.dir.cmp(&b.dir));
        Roots { all, found }
    }

    /// The configuration that the project of Bolt in a folder names, if it is in the workspace.
    fn hiera_config(&self, dir: &str) -> Option<&'a Arc<str>> {
        let named = bolt_project(&self.files, dir)?.hiera_config?;
        let at = path::normalise(&path::join(dir, &named));
        Some(self.snapshot.file(&at)?.path())
    }

    /// What plans look up with the configuration of an environment.
    fn plans(&self, environment: &Root) -> Option<Root> {
        let is_environment = environment.kind == RootKind::Environment;
        let fact = self.fact(environment.hiera_yaml.as_ref()?)?;
        (is_environment && fact.has_plans).then(|| Root {
            kind: RootKind::Plans,
            ..environment.clone()
        })
    }

    /// The fact of a configuration that Puppet accepts.
    fn fact(&self, at: &str) -> Option<&'a Arc<ConfigFact>> {
        self.snapshot.file(at)?.facts().config.as_ref()
    }

    /// Folders by their files; the configurations of the global layer and of projects of Bolt belong to no
    /// other root.
    fn by_folder(&self, deciding: &'a [Arc<str>]) -> BTreeMap<&'a str, Folder<'a>> {
        let mut dirs: BTreeMap<&str, Folder<'_>> = BTreeMap::new();
        for at in deciding {
            let Some(dir) = path::parent(at) else {
                continue;
            };
            if self.settings.global_hiera_yaml.as_ref() == Some(at) {
                continue;
            }
            let folder = dirs.entry(dir).or_default();
            match path::name(at) {
                HIERA_YAML => folder.hiera_yaml = Some(at),
                ENVIRONMENT_CONF => folder.environment_conf = true,
                BOLT_PROJECT => folder.bolt_project = true,
                METADATA_JSON => folder.metadata_json = true,
                PUPPETFILE => folder.puppetfile = true,
                _ => {}
            }
        }
        let projects = dirs.iter().filter(|(_, folder)| folder.bolt_project);
        let named: Vec<&Arc<str>> = projects
            .filter_map(|(dir, _)| self.hiera_config(dir))
            .collect();
        for folder in dirs.values_mut() {
            // An environment's own file stays its own.
            let is_own = folder.environment_conf;
            folder.hiera_yaml = folder.hiera_yaml.filter(|at| is_own || !named.contains(at));
        }
        dirs
    }

    fn sort(&self, dirs: &BTreeMap<&'a str, Folder<'a>>) -> Sorted<'a> {
        let mut sorted = Sorted::default();
        let mut undecided = Vec::new();
        let has_tests_alone = dirs.keys().all(|dir| is_aside(dir, self.folders));
        for (&dir, folder) in dirs {
            let configured =
                folder.environment_conf || (folder.puppetfile && folder.hiera_yaml.is_some());
            if folder.environment_conf || path::parent(dir).map(path::name) == Some(ENVIRONMENTS) {
                sorted.certain.insert(dir);
            }
            if is_aside(dir, self.folders) {
                match folder.hiera_yaml {
                    // Its hierarchy is no environment's.
                    Some(at) if has_tests_alone && self.is_module(dir, folder, at) => {
                        sorted.modules.push((dir, Some(at)));
                    }
                    Some(_) | None => sorted.aside.extend(folder.hiera_yaml),
                }
            } else if configured {
                sorted.environments.push((dir, folder.hiera_yaml));
            } else if folder.bolt_project {
                let named = self.hiera_config(dir);
                sorted.environments.push((dir, named.or(folder.hiera_yaml)));
            } else if let Some(hiera_yaml) = folder.hiera_yaml {
                undecided.push((dir, folder, hiera_yaml));
            }
        }
        let base = self.settings.base_modulepath.iter().cloned();
        let mut module_folders: BTreeSet<Arc<str>> = base.collect();
        for (dir, hiera_yaml) in &sorted.environments {
            let environment = environment(&self.files, dir, *hiera_yaml, self.settings);
            module_folders.extend(environment.modulepath);
        }
        for (dir, folder, hiera_yaml) in undecided {
            let has_environments = dirs.keys().any(|other| {
                path::parent(other).is_some_and(|parent| {
                    path::name(parent) == ENVIRONMENTS && path::parent(parent) == Some(dir)
                })
            });
            let on_modulepath =
                path::parent(dir).is_some_and(|parent| module_folders.contains(parent));
            let is_environment = path::parent(dir).map(path::name) == Some(ENVIRONMENTS);
            if on_modulepath || self.is_module(dir, folder, hiera_yaml) {
                sorted.modules.push((dir, Some(hiera_yaml)));
            } else if has_environments
                && sorted.codedir.is_none()
                && self.settings.global_hiera_yaml.is_none()
            {
                sorted.codedir = Some((dir, hiera_yaml));
            } else if is_environment
                || self.folders.iter().any(|folder| **folder == *dir)
                || self.fact(hiera_yaml).is_none()
            {
                sorted.environments.push((dir, Some(hiera_yaml)));
            } else {
                sorted.loose.push(hiera_yaml);
            }
        }
        sorted
    }

    /// Whether a folder is a module by its place, or by its `metadata.json` if its `hiera.yaml` is
    /// the module's own; not a control repository, nor data among a control repository's modules.
    fn is_module(&self, dir: &str, folder: &Folder<'_>, hiera_yaml: &str) -> bool {
        if path::parent(dir).is_some_and(|it| MODULE_FOLDERS.contains(&path::name(it))) {
            return true;
        }
        if !folder.metadata_json {
            return false;
        }
        let has_modules = MODULE_FOLDERS
            .iter()
            .any(|name| self.files.kind(&path::join(dir, name)) == Some(FileKind::Directory));
        let is_of_others = self.fact(hiera_yaml).is_some_and(|fact| {
            let mut paths = fact.paths.iter();
            paths.any(|data| MODULE_FOLDERS.contains(&data.datadir.split('/').next().unwrap_or("")))
        });
        !has_modules && !is_of_others
    }

    /// Judges the configurations other than modules'.
    fn judge(&self, sorted: &Sorted<'a>, configs: &'a [Arc<str>]) -> Vec<FoundConfig> {
        let mut candidates: Vec<ConfigCandidate> = Vec::new();
        let mut add = |path: &Arc<str>, origin, dirs: Vec<Arc<str>>| {
            let is_known = candidates.iter().any(|known| known.path == *path);
            if let Some(fact) = self.fact(path).filter(|_| !is_known) {
                candidates.push(ConfigCandidate {
                    path: path.clone(),
                    fact: fact.clone(),
                    origin,
                    dirs,
                });
            }
        };
        let standing = sorted
            .environments
            .iter()
            .filter_map(|(dir, at)| Some((*dir, (*at)?)));
        let standing: Vec<(&str, &Arc<str>)> = standing.chain(sorted.codedir).collect();
        let modules: BTreeSet<&str> = sorted.modules.iter().map(|(dir, _)| *dir).collect();
        let serving = |path: &str| self.serving(path, sorted, &modules);
        for chosen in &self.settings.chosen {
            let dirs = match &chosen.dir {
                Some(dir) => vec![dir.clone()],
                None => serving(&chosen.hiera_yaml),
            };
            add(&chosen.hiera_yaml, ConfigOrigin::Setting, dirs);
        }
        // Puppet reads these, whatever else would suit the folder: each lookup fails until they are
        // fixed.
        let refused = standing.iter().filter(|(_, at)| self.fact(at).is_none());
        let refused: BTreeSet<&str> = refused.map(|(dir, _)| *dir).collect();
        for (dir, hiera_yaml) in standing {
            add(hiera_yaml, ConfigOrigin::Place, vec![Arc::from(dir)]);
        }
        let of_modules = |at: &&Arc<str>| {
            let own = path::parent(at).filter(|_| path::name(at) == HIERA_YAML);
            own.is_some_and(|dir| modules.contains(dir))
        };
        let global = self.settings.global_hiera_yaml.as_ref();
        for at in configs
            .iter()
            .filter(|at| !of_modules(at) && global != Some(*at))
        {
            let own = path::parent(at);
            let mut dirs = serving(at);
            dirs.retain(|dir| own == Some(dir) || !refused.contains(&**dir));
            add(at, ConfigOrigin::Content, dirs);
        }
        judge(self.snapshot, candidates, &modules, self.folders)
    }

    /// The folders that a configuration may serve, the likeliest first: its own and the enclosing
    /// ones, then environments and the workspace's folders. A module is no environment.
    fn serving(&self, at: &str, sorted: &Sorted<'a>, modules: &BTreeSet<&str>) -> Vec<Arc<str>> {
        let own = path::parent(at).unwrap_or("/");
        let area = self.snapshot.area_of(at).map_or(own, |area| &**area);
        let around = std::iter::successors(Some(own), |dir| path::parent(dir));
        let around = around.take_while(|dir| path::within(dir, area).is_some());
        let environments = sorted.environments.iter().map(|(dir, _)| *dir);
        let codedir = sorted.codedir.iter().map(|(dir, _)| *dir);
        let loose = sorted.loose.iter().filter_map(|at| path::parent(at));
        let folders = self.folders.iter().map(|folder| &**folder);
        let mut dirs: Vec<Arc<str>> = Vec::new();
        for dir in around
            .chain(codedir)
            .chain(environments)
            .chain(loose)
            .chain(folders)
        {
            let named = path::parent(dir).map_or("", path::name);
            let is_module = modules.contains(dir) || MODULE_FOLDERS.contains(&named);
            let is_plausible = !is_module || (dir == own && path::name(at) == HIERA_YAML);
            if is_plausible && dirs.iter().all(|known| **known != *dir) {
                dirs.push(Arc::from(dir));
            }
        }
        dirs
    }

    /// The environments: those that Puppet sees, and the folders that configurations serve.
    fn environments(&self, sorted: &Sorted<'a>, found: &[FoundConfig]) -> Vec<Root> {
        let make = |dir: &str, at| environment(&self.files, dir, at, self.settings);
        let mut all: Vec<Root> = Vec::new();
        // The configurations of a folder come best first.
        let codedir = sorted.codedir.map(|(_, at)| at);
        let own = found
            .iter()
            .filter(|config| config.verdict == ConfigUse::Used && !sorted.makes_global(config));
        for config in own.filter(|config| codedir != Some(&config.path)) {
            all.push(make(&config.dir, Some(&config.path)));
        }
        for (dir, hiera_yaml) in &sorted.environments {
            let is_served = all.iter().any(|root| *root.dir == **dir);
            let is_global = |at: &Arc<str>| {
                let mut global = found.iter().filter(|config| sorted.makes_global(config));
                global.any(|config| config.path == *at)
            };
            // Puppet also reads the global layer's configuration in an environment, where it may be refused.
            let is_read = |at: &&Arc<str>| !is_global(at) || sorted.certain.contains(dir);
            let is_found = |at: &Arc<str>| found.iter().any(|config| config.path == *at);
            match hiera_yaml.filter(is_read) {
                Some(at) if is_global(at) || !is_found(at) => all.push(make(dir, Some(at))),
                None if !is_served => all.push(make(dir, None)),
                Some(_) | None => {}
            }
        }
        for chosen in &self.settings.chosen {
            let at = &chosen.hiera_yaml;
            let is_file = self.files.kind(at) == Some(FileKind::File);
            if is_file
                && self.fact(at).is_none()
                && all.iter().all(|root| root.hiera_yaml.as_ref() != Some(at))
            {
                let own = path::parent(at).unwrap_or("/");
                all.push(make(chosen.dir.as_deref().unwrap_or(own), Some(at)));
            }
        }
        for (dir, at) in sorted.left_over(found) {
            let is_global = self.is_of_version3(at);
            let mut known = all.iter().map(|root| &*root.dir);
            let is_served =
                known.any(|known| known == dir || is_global && path::within(known, dir).is_some());
            if !is_served {
                all.push(make(dir, Some(at).filter(|_| !is_global)));
            }
        }
        // Modules of a workspace with only a global layer.
        let global = found.iter().find(|config| sorted.makes_global(config));
        if let (Some(global), true) = (global, all.is_empty()) {
            all.push(make(&global.dir, None));
        }
        if let (true, true, [only]) = (all.is_empty(), sorted.modules.is_empty(), &sorted.aside[..])
            && let Some(dir) = path::parent(only)
        {
            all.push(make(dir, Some(only)));
        }
        all
    }

    fn global(&self, sorted: &Sorted<'a>, found: &[FoundConfig]) -> Vec<Root> {
        let root = |dir: &str, at| Root::without_modules(RootKind::Global, dir, at);
        if let Some(at) = &self.settings.global_hiera_yaml {
            let exists = self.files.kind(at) == Some(FileKind::File);
            let dir = path::parent(at);
            return dir
                .map(|dir| root(dir, exists.then_some(at)))
                .into_iter()
                .collect();
        }
        let mut all: Vec<Root> = Vec::new();
        if let Some((dir, at)) = sorted.codedir {
            all.push(root(dir, Some(at)));
        }
        let used = found.iter().filter(|config| sorted.makes_global(config));
        let used = used.map(|config| (&*config.dir, &config.path));
        let left_over = sorted.left_over(found).into_iter();
        let left_over = left_over.filter(|(_, at)| self.is_of_version3(at));
        for (dir, at) in used.chain(left_over) {
            let mut known = all.iter().map(|known| &known.hiera_yaml);
            if known.all(|known| known.as_ref() != Some(at)) {
                all.push(root(dir, Some(at)));
            }
        }
        all
    }

    /// Whether a configuration is of version 3, which is only valid in the global layer.
    fn is_of_version3(&self, at: &str) -> bool {
        self.fact(at).is_some_and(|fact| fact.version == 3)
    }
}

impl<'a> Sorted<'a> {
    /// Whether a configuration is used as the global layer's: version 3 is only valid there. One without data
    /// in an environment is the environment's, which refuses it.
    fn makes_global(&self, config: &FoundConfig) -> bool {
        let is_of_environment =
            path::parent(&config.path).is_some_and(|dir| self.certain.contains(dir));
        let is_deliberate = config.reached > 0 || config.origin == ConfigOrigin::Setting;
        config.verdict == ConfigUse::Used
            && config.version == 3
            && (is_deliberate || !is_of_environment)
    }

    /// Configurations that reach no data, with their folders: each is still that of its folder, unless it is
    /// deployed from there.
    fn left_over(&self, found: &[FoundConfig]) -> Vec<(&'a str, &'a Arc<str>)> {
        let is_left_over = |at: &str| {
            found.iter().any(|config| {
                let is_unused = match config.verdict {
                    ConfigUse::ReachesNothing => true,
                    // A copy of a global layer's is not another one.
                    ConfigUse::Variant(_) => config.version != 3,
                    _ => false,
                };
                *config.path == *at && is_unused
            })
        };
        let is_deployed = |at: &str| at.split('/').any(|name| DEPLOYED_FROM.contains(&name));
        let loose = self.loose.iter().copied();
        let left_over = loose.filter(|at| is_left_over(at) && !is_deployed(at));
        left_over
            .filter_map(|at| Some((path::parent(at)?, at)))
            .collect()
    }
}

/// Sets the global layers above roots, and the replacements for server paths in their
/// configurations.
fn deploy(all: &mut [Root], found: &[FoundConfig]) {
    let is_global = |root: &&Root| root.kind == RootKind::Global;
    let global: Vec<GlobalConfig> = all
        .iter()
        .filter(is_global)
        .filter_map(|root| {
            Some(GlobalConfig {
                hiera_yaml: root.hiera_yaml.clone()?,
                dir: root.dir.clone(),
            })
        })
        .collect();
    for root in all.iter_mut() {
        root.global = match root.kind {
            RootKind::Environment | RootKind::Plans => {
                let mut around = global.iter();
                let around = around.find(|global| path::within(&root.dir, &global.dir).is_some());
                // Without a hierarchy of its own an environment has the only one that lies in it.
                let inside = match &global[..] {
                    [only] if root.hiera_yaml.is_none() => Some(only),
                    [..] => None,
                };
                let is_inside = |only: &&GlobalConfig| path::within(&only.dir, &root.dir).is_some();
                around.or(inside.filter(is_inside)).cloned()
            }
            RootKind::Module { .. } | RootKind::Global => None,
        };
        let mut deployment = Deployment::default();
        let own = root.hiera_yaml.iter();
        let above = root.global.iter().map(|global| &global.hiera_yaml);
        for at in own.chain(above) {
            let of_file = found.iter().filter(|config| config.path == *at);
            of_file.for_each(|config| deployment.add(config));
        }
        root.deployment = Arc::new(deployment);
    }
    let of_modules: Vec<(usize, Arc<Deployment>)> = all
        .iter()
        .enumerate()
        .filter_map(|(at, module)| {
            let RootKind::Module { name } = &module.kind else {
                return None;
            };
            let has_it = |root: &&Root| root.modules.get(name) == Some(&module.dir);
            Some((at, all.iter().find(has_it)?.deployment.clone()))
        })
        .collect();
    for (at, deployment) in of_modules {
        all[at].deployment = deployment;
    }
}

/// Whether a path lies among the tests, or the set-up of test machines, of its workspace folder. An
/// environment may have any name.
pub(super) fn is_aside(at: &str, folders: &[Arc<str>]) -> bool {
    let rest = folders
        .iter()
        .filter_map(|folder| path::within(at, folder))
        .max_by_key(|rest| rest.len());
    let mut above = "";
    rest.unwrap_or(at).split('/').any(|segment| {
        let is_environment = std::mem::replace(&mut above, segment) == ENVIRONMENTS;
        let mut words = segment.split(['.', '-', '_']);
        !is_environment
            && (ASIDE.contains(&segment)
                || words.any(|word| TEST_MACHINES.iter().any(|name| word.starts_with(name))))
    })
}
