//! Where hierarchies begin: environments, modules and the global layer among a workspace's
//! files.
//!
//! Only names decide, and the texts of `environment.conf` and `metadata.json`; whether a
//! `hiera.yaml` makes sense is not asked here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Settings;
use super::deployed;
use super::environment_conf;
use super::files::{FileKind, Files};
use super::path;

/// What a root is for Puppet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RootKind {
    /// An environment: a control repository, or one of several folders in `environments/`.
    Environment,
    /// A module, by the name that its keys start with.
    Module {
        /// Name of the module.
        name: Arc<str>,
    },
    /// The global layer.
    Global,
}

/// A folder with a hierarchy of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Root {
    /// What it is.
    pub kind: RootKind,
    /// The folder, absolute.
    pub dir: Arc<str>,
    /// Its configuration; an environment without one still has modules with theirs.
    pub hiera_yaml: Option<Arc<str>>,
    /// Folders of modules in their order, absolute, mapped to the workspace; empty but for
    /// environments. Entries that need Puppet's own settings (`$codedir/…`) are left out.
    pub modulepath: Vec<Arc<str>>,
    /// Modules by name, each the first of its name along the modulepath.
    pub modules: BTreeMap<Arc<str>, Arc<str>>,
    /// `environment_data_provider` of `environment.conf`, deprecated.
    pub environment_data_provider: Option<String>,
}

/// All roots of a workspace, ordered by folder.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Roots {
    all: Vec<Root>,
}

impl Roots {
    /// The roots, ordered by folder.
    pub fn iter(&self) -> impl Iterator<Item = &Root> {
        self.all.iter()
    }

    /// The root that a file belongs to: the innermost folder around it that is a root.
    #[must_use]
    pub fn of(&self, at: &str) -> Option<&Root> {
        self.all
            .iter()
            .filter(|root| path::within(at, &root.dir).is_some())
            .max_by_key(|root| root.dir.len())
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

    /// The environments that a root's data is read in: an environment itself, those that have a
    /// module on their modulepath, all for the global layer.
    pub fn environments_of<'a>(&'a self, root: &'a Root) -> impl Iterator<Item = &'a Root> {
        self.environments()
            .filter(move |environment| match &root.kind {
                RootKind::Environment => environment.dir == root.dir,
                RootKind::Module { name } => environment.modules.get(name) == Some(&root.dir),
                RootKind::Global => true,
            })
    }

    /// How many roots there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is no root at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// The name of a hierarchy's configuration where no setting names another.
pub(crate) const HIERA_YAML: &str = "hiera.yaml";
/// The name of an environment's configuration.
pub(crate) const ENVIRONMENT_CONF: &str = "environment.conf";
/// The name of a module's description.
pub(super) const METADATA_JSON: &str = "metadata.json";
/// The name of a list of modules to install, which only environments have.
pub(super) const PUPPETFILE: &str = "Puppetfile";

/// Folders that hold tests' own little environments, which are not what people deploy.
const ASIDE: [&str; 2] = ["spec", "fixtures"];

/// Folders of modules by convention, where no `environment.conf` names others.
pub(crate) const MODULE_FOLDERS: [&str; 3] = ["modules", "site", "site-modules"];

/// The folder of a `codedir` that holds its environments.
pub(crate) const ENVIRONMENTS: &str = "environments";

/// Whether a file of this name can make or unmake a root.
pub(super) fn decides_roots(at: &str) -> bool {
    matches!(
        path::name(at),
        HIERA_YAML | ENVIRONMENT_CONF | METADATA_JSON | PUPPETFILE
    )
}

/// Finds the roots. `deciding` are the workspace's files that [`decides_roots`], `folders` the
/// workspace's own folders. Costs O(deciding files + modules), not O(files).
pub(super) fn find(
    files: &dyn Files,
    deciding: &[Arc<str>],
    folders: &[Arc<str>],
    settings: &Settings,
) -> Roots {
    let dirs = candidates(files, deciding, settings);
    let mut environments = Vec::new();
    let mut undecided = Vec::new();
    let mut put_aside = Vec::new();
    for (&dir, candidate) in &dirs {
        let configured = candidate.environment_conf.is_some()
            || (candidate.puppetfile && candidate.hiera_yaml.is_some());
        if candidate.chosen {
            environments.push((dir, candidate));
        } else if is_aside(dir, folders) {
            put_aside.push((dir, candidate));
        } else if configured {
            environments.push((dir, candidate));
        } else if candidate.hiera_yaml.is_some() {
            undecided.push((dir, candidate));
        }
    }
    put_aside.retain(|(_, candidate)| candidate.hiera_yaml.is_some());

    let mut module_folders: BTreeSet<Arc<str>> = settings.base_modulepath.iter().cloned().collect();
    for (dir, candidate) in &environments {
        module_folders.extend(environment(files, dir, candidate, settings).modulepath);
    }
    let mut modules = Vec::new();
    let mut codedir = None;
    for (dir, candidate) in undecided {
        let is_codedir = dirs.keys().any(|other| {
            path::parent(other).is_some_and(|parent| {
                path::name(parent) == ENVIRONMENTS && path::parent(parent) == Some(dir)
            })
        });
        let on_modulepath = path::parent(dir).is_some_and(|parent| {
            MODULE_FOLDERS.contains(&path::name(parent)) || module_folders.contains(parent)
        });
        let is_repository_of_a_module = candidate.metadata_json.is_some()
            && !MODULE_FOLDERS
                .iter()
                .any(|name| files.kind(&path::join(dir, name)) == Some(FileKind::Directory));
        if on_modulepath || is_repository_of_a_module {
            modules.push((dir, candidate));
        } else if is_codedir && codedir.is_none() && settings.global_hiera_yaml.is_none() {
            codedir = Some(plain(dir, candidate.hiera_yaml));
        } else {
            environments.push((dir, candidate));
        }
    }
    if let (true, true, [only]) = (environments.is_empty(), modules.is_empty(), &put_aside[..]) {
        environments.push(*only);
    }

    let global = match &settings.global_hiera_yaml {
        Some(at) => path::parent(at).map(|dir| {
            let exists = files.kind(at) == Some(FileKind::File);
            plain(dir, exists.then_some(at))
        }),
        None => codedir,
    };
    let mut all: Vec<Root> = environments
        .iter()
        .map(|(dir, candidate)| environment(files, dir, candidate, settings))
        .collect();
    for (dir, candidate) in modules {
        let name = module_name(files, dir, candidate, &all);
        all.push(Root {
            kind: RootKind::Module { name },
            ..plain(dir, candidate.hiera_yaml)
        });
    }
    all.extend(global.map(|root| Root {
        kind: RootKind::Global,
        ..root
    }));
    all.sort_by(|a, b| a.dir.cmp(&b.dir));
    Roots { all }
}

/// The files in one folder that can make it a root.
#[derive(Default)]
struct Candidate<'a> {
    hiera_yaml: Option<&'a Arc<str>>,
    environment_conf: Option<&'a Arc<str>>,
    metadata_json: Option<&'a Arc<str>>,
    puppetfile: bool,
    /// Whether a setting names this as an environment.
    chosen: bool,
}

/// Folders by what they hold; the global layer's configuration belongs to no other root.
fn candidates<'a>(
    files: &dyn Files,
    deciding: &'a [Arc<str>],
    settings: &'a Settings,
) -> BTreeMap<&'a str, Candidate<'a>> {
    let mut dirs: BTreeMap<&str, Candidate<'_>> = BTreeMap::new();
    for at in deciding {
        let Some(dir) = path::parent(at) else {
            continue;
        };
        if settings.global_hiera_yaml.as_ref() == Some(at) {
            continue;
        }
        let candidate = dirs.entry(dir).or_default();
        match path::name(at) {
            HIERA_YAML => candidate.hiera_yaml = Some(at),
            ENVIRONMENT_CONF => candidate.environment_conf = Some(at),
            METADATA_JSON => candidate.metadata_json = Some(at),
            PUPPETFILE => candidate.puppetfile = true,
            _ => {}
        }
    }
    for at in &settings.hiera_yamls {
        if let Some(dir) = path::parent(at)
            && files.kind(at) == Some(FileKind::File)
        {
            let candidate = dirs.entry(dir).or_default();
            candidate.hiera_yaml = Some(at);
            candidate.chosen = true;
        }
    }
    dirs
}

/// Whether a folder lies among the tests of the workspace folder that holds it.
fn is_aside(dir: &str, folders: &[Arc<str>]) -> bool {
    let rest = folders
        .iter()
        .filter_map(|folder| path::within(dir, folder))
        .max_by_key(|rest| rest.len());
    rest.unwrap_or(dir)
        .split('/')
        .any(|segment| ASIDE.contains(&segment))
}

/// A root without modules; its kind is the caller's to set.
fn plain(dir: &str, hiera_yaml: Option<&Arc<str>>) -> Root {
    Root {
        kind: RootKind::Environment,
        dir: Arc::from(dir),
        hiera_yaml: hiera_yaml.map(Arc::clone),
        modulepath: Vec::new(),
        modules: BTreeMap::new(),
        environment_data_provider: None,
    }
}

/// An environment with its modules (puppet/settings/environment_conf.rb: `ENV/modules` and the
/// base modulepath where `environment.conf` names no other).
fn environment(
    files: &dyn Files,
    dir: &str,
    candidate: &Candidate<'_>,
    settings: &Settings,
) -> Root {
    let text = candidate
        .environment_conf
        .and_then(|at| files.text(at).ok());
    let conf = environment_conf::parse(text.as_deref().unwrap_or_default());
    let entries = conf
        .modulepath
        .unwrap_or_else(|| vec!["modules".to_owned(), BASE_MODULEPATH.to_owned()]);
    let mut modulepath: Vec<Arc<str>> = Vec::new();
    for entry in entries {
        if entry == BASE_MODULEPATH {
            modulepath.extend(settings.base_modulepath.iter().cloned());
        } else if !entry.contains('$') {
            let folder = path::normalise(&path::join(dir, &entry));
            let folder = if entry.starts_with('/') {
                deployed::onto(files, &folder, dir, &settings.path_map).unwrap_or(folder)
            } else {
                folder
            };
            modulepath.extend(expand_glob(files, &folder));
        }
    }
    let mut modules = BTreeMap::new();
    for folder in &modulepath {
        for (name, kind) in files.list(folder) {
            if kind == FileKind::Directory && is_module_name(&name) {
                modules
                    .entry(name)
                    .or_insert_with_key(|name| Arc::from(path::join(folder, name)));
            }
        }
    }
    Root {
        modulepath,
        modules,
        environment_data_provider: conf.environment_data_provider,
        ..plain(dir, candidate.hiera_yaml)
    }
}

/// What stands for Puppet's own setting in a modulepath.
const BASE_MODULEPATH: &str = "$basemodulepath";

/// The folders that an entry of a modulepath names: itself, or what its `*` and `?` match.
fn expand_glob(files: &dyn Files, folder: &str) -> Vec<Arc<str>> {
    if !folder.contains(['*', '?']) {
        return vec![Arc::from(folder)];
    }
    let mut found = vec![String::new()];
    for segment in folder.split('/').skip(1) {
        let mut next = Vec::new();
        for above in found {
            if !segment.contains(['*', '?']) {
                next.push(format!("{above}/{segment}"));
                continue;
            }
            for (name, kind) in files.list(&above) {
                let hidden = name.starts_with('.') && !segment.starts_with('.');
                if kind == FileKind::Directory
                    && !hidden
                    && matches(segment.as_bytes(), name.as_bytes())
                {
                    next.push(format!("{above}/{name}"));
                }
            }
        }
        found = next;
    }
    found.into_iter().map(Arc::from).collect()
}

/// Whether a name matches a pattern of `*` and `?`, without backtracking over earlier stars.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut pos, mut star) = (0, 0, None);
    while pos < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, pos));
                at += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[pos] => {
                at += 1;
                pos += 1;
            }
            _ => {
                let Some((before, taken)) = star else {
                    return false;
                };
                star = Some((before, taken + 1));
                at = before + 1;
                pos = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

/// Whether Puppet takes a folder of this name for a module (puppet/module.rb).
fn is_module_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// A module's name: its folder's where an environment finds it there, else what its metadata
/// says behind the author's name, else its folder's.
fn module_name(
    files: &dyn Files,
    dir: &str,
    candidate: &Candidate<'_>,
    environments: &[Root],
) -> Arc<str> {
    let by_folder = path::name(dir);
    let found = environments
        .iter()
        .any(|root| root.modules.get(by_folder).map(|at| &**at) == Some(dir));
    let by_metadata = candidate
        .metadata_json
        .filter(|_| !found)
        .and_then(|at| files.text(at).ok())
        .and_then(|text| serde_json::from_str::<Metadata>(&text).ok())
        .and_then(|metadata| {
            let (_, name) = metadata.name.split_once(['-', '/'])?;
            is_module_name(name).then(|| Arc::from(name))
        });
    by_metadata.unwrap_or_else(|| Arc::from(by_folder))
}

/// A module's name by its `metadata.json`.
#[derive(serde::Deserialize)]
struct Metadata {
    name: String,
}

#[cfg(test)]
#[path = "roots_tests.rs"]
mod tests;
