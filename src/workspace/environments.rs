//! Environments with their modules, and the names of modules, from `environment.conf` and
//! `metadata.json`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::FileSettings;
use super::bolt_project::{self, BoltProject};
use super::deployed;
use super::environment_conf;
use super::files::{FileKind, Files};
use super::module_metadata::module_refusal;
use super::path;
use super::roots::{
    BOLT_PROJECT, ENVIRONMENT_CONF, METADATA_JSON, MODULE_FOLDERS, PUPPETFILE, Root, RootKind,
};
use crate::hierarchy::{GlobEntry, glob};

/// An environment with its modules (puppet/settings/environment_conf.rb: `ENV/modules` and the base
/// modulepath if `environment.conf` sets no other), or a project of Bolt with its own.
pub(super) fn environment(
    files: &dyn Files,
    dir: &str,
    hiera_yaml: Option<&Arc<str>>,
    settings: &FileSettings,
) -> Root {
    let text = files.text(&path::join(dir, ENVIRONMENT_CONF)).ok();
    let mut conf = environment_conf::parse(text.as_deref().unwrap_or_default());
    let project = match text {
        Some(_) => None,
        None => bolt_project(files, dir),
    };
    let is_certain = text.is_some() || project.is_some();
    conf.modulepath = conf.modulepath.or(project.map(|it| it.modulepath));
    let here = |folder: String| {
        let mapped = deployed::onto(files, &folder, dir, &settings.path_map);
        mapped.unwrap_or(folder)
    };
    let base = &settings.base_modulepath;
    let modulepath = modulepath(files, dir, conf.modulepath.as_deref(), base, &here);
    let likely_modules = if is_certain {
        BTreeMap::new()
    } else {
        likely_modules(files, dir, &modulepath)
    };
    let mut modules = BTreeMap::new();
    for (name, at) in modulepath.iter().flat_map(|at| modules_in(files, at)) {
        modules.entry(name).or_insert(at);
    }
    let mut left_out = Vec::new();
    // One that is left out still hides others of its name.
    modules.retain(|_, at: &mut Arc<str>| match module_refusal(files, at) {
        Some(why) => {
            left_out.push((Arc::clone(at), why));
            false
        }
        None => true,
    });
    Root {
        modulepath,
        modules,
        left_out,
        likely_modules,
        environment_data_provider: conf.environment_data_provider,
        ..Root::without_modules(RootKind::Environment, dir, hiera_yaml)
    }
}

/// The settings of the project of Bolt in a folder.
pub(super) fn bolt_project(files: &dyn Files, dir: &str) -> Option<BoltProject> {
    let text = files.text(&path::join(dir, BOLT_PROJECT)).ok()?;
    Some(bolt_project::parse(&text))
}

/// Modules in folders that hold modules by convention, besides those of the modulepath: the folder
/// of a `Puppetfile`, `dist`, and folders whose names start with `site`. Modules with duplicate
/// names are left out.
fn likely_modules(
    files: &dyn Files,
    dir: &str,
    modulepath: &[Arc<str>],
) -> BTreeMap<Arc<str>, Arc<str>> {
    let installed = files.text(&path::join(dir, PUPPETFILE)).ok();
    let installed = installed.as_deref().and_then(moduledir);
    let all = files.list(dir).into_iter();
    let folders = all.filter(|(name, kind)| *kind == FileKind::Directory && is_for_modules(name));
    let folders = folders.map(|(name, _)| name.to_string());
    let mut folders: Vec<String> = folders
        .chain(installed)
        .map(|name| path::normalise(&path::join(dir, &name)))
        .filter(|folder| modulepath.iter().all(|known| **known != *folder))
        .collect();
    folders.sort();
    folders.dedup();
    let mut found: BTreeMap<Arc<str>, Vec<Arc<str>>> = BTreeMap::new();
    for (name, at) in folders.iter().flat_map(|at| modules_in(files, at)) {
        if files.kind(&path::join(&at, "manifests")) == Some(FileKind::Directory) {
            found.entry(name).or_default().push(at);
        }
    }
    let only = found.into_iter().filter_map(|(name, mut folders)| {
        let first = folders.pop()?;
        folders.is_empty().then_some((name, first))
    });
    only.collect()
}

/// The modules installed by the tests of a module, from its `.fixtures.yml`.
pub(super) fn fetched_modules(files: &dyn Files, dir: &str) -> BTreeMap<Arc<str>, Arc<str>> {
    modules_in(files, &path::join(dir, "spec/fixtures/modules")).collect()
}

/// The modules in a folder, by name.
fn modules_in(files: &dyn Files, folder: &str) -> impl Iterator<Item = (Arc<str>, Arc<str>)> {
    let all = files.list(folder).into_iter();
    let modules = all.filter(|(name, kind)| *kind == FileKind::Directory && is_module_name(name));
    modules.map(move |(name, _)| {
        let at = Arc::from(path::join(folder, &name));
        (name, at)
    })
}

/// Whether a folder of an environment holds modules, by its name.
fn is_for_modules(name: &str) -> bool {
    name == "dist" || name.starts_with("site")
}

/// The folder that a `Puppetfile` names, relative to itself.
fn moduledir(puppetfile: &str) -> Option<String> {
    let mut lines = puppetfile.lines().map(str::trim_start);
    lines.find_map(|line| {
        let rest = line.strip_prefix("moduledir")?;
        let rest = rest.trim_start_matches([' ', '\t', '(']);
        let quote = rest.chars().next().filter(|c| ['\'', '"'].contains(c))?;
        let name = rest[1..].split(quote).next()?;
        let is_plain = !name.is_empty() && !name.starts_with('/') && !name.contains("#{");
        is_plain.then(|| name.to_owned())
    })
}

/// The placeholder for Puppet's own setting in a modulepath.
const BASE_MODULEPATH: &str = "$basemodulepath";

/// The folders of the modules of an environment in `dir` (`puppet/settings/environment_conf.rb`): the
/// entries of `modulepath` in its `environment.conf`, relative ones below `dir`, globs expanded, and
/// `$basemodulepath` replaced by `base`; `DIR/modules` and `base` if there is no such setting. Entries
/// with other variables are left out. `here` maps an absolute folder to where it lies on this machine.
pub fn modulepath(
    files: &dyn Files,
    dir: &str,
    entries: Option<&[String]>,
    base: &[Arc<str>],
    here: &dyn Fn(String) -> String,
) -> Vec<Arc<str>> {
    let default = || vec!["modules".to_owned(), BASE_MODULEPATH.to_owned()];
    let entries = entries.map_or_else(default, <[String]>::to_vec);
    let mut found: Vec<Arc<str>> = Vec::new();
    for entry in entries {
        if entry == BASE_MODULEPATH {
            found.extend(base.iter().cloned());
        } else if !entry.contains('$') {
            let folder = path::normalise(&path::join(dir, &entry));
            let folder = if entry.starts_with('/') {
                here(folder)
            } else {
                folder
            };
            if entry.contains(WILDCARDS) {
                found.extend(expand_glob(files, dir, &folder))
            } else {
                found.push(Arc::from(folder))
            }
        }
    }
    found
}

/// The characters that make an entry of a modulepath a glob.
const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// The folders that an absolute glob matches; in the path of `dir` no character is a wildcard. None
/// for a glob beyond the limits of [`glob`].
fn expand_glob(files: &dyn Files, dir: &str, pattern: &str) -> Vec<Arc<str>> {
    let (above, pattern) = match path::within(pattern, dir) {
        Some(inside) => (dir, format!("/{inside}")),
        None => ("", pattern.to_owned()),
    };
    let whole = |at: &str| {
        if above.is_empty() && at.is_empty() {
            "/".to_owned()
        } else {
            format!("{above}{at}")
        }
    };
    let list = |folder: &str| {
        let names = files.list(&whole(folder)).into_iter();
        let entry = |(name, kind): (Arc<str>, FileKind)| GlobEntry {
            is_real_folder: kind == FileKind::Directory
                && !files.is_link(&whole(&format!("{folder}/{name}"))),
            name,
        };
        names.map(entry).collect()
    };
    let is_folder = |at: &str| files.kind(&whole(at)) == Some(FileKind::Directory);
    let found = glob(&pattern, &list, &is_folder).unwrap_or_default();
    found.into_iter().map(|at| Arc::from(whole(&at))).collect()
}

/// Whether Puppet accepts a folder of this name as a module (puppet/module.rb).
fn is_module_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// A module's name: its folder's if an environment finds it there, or if it lies among modules, else the one
/// in its metadata without the author, else its folder's. Puppet itself only looks at the folder
/// (puppet/node/environment.rb, `modules`); a checkout of a module alone may lie in any folder.
pub(super) fn module_name(files: &dyn Files, dir: &str, environments: &[Root]) -> Arc<str> {
    let by_folder = path::name(dir);
    let found = environments
        .iter()
        .any(|root| root.modules.get(by_folder).map(|at| &**at) == Some(dir));
    let is_among_modules =
        path::parent(dir).is_some_and(|above| MODULE_FOLDERS.contains(&path::name(above)));
    let is_named_by_folder = found || is_among_modules && is_module_name(by_folder);
    let metadata = path::join(dir, METADATA_JSON);
    let by_metadata = (!is_named_by_folder)
        .then(|| files.text(&metadata).ok())
        .flatten()
        .and_then(|text| serde_json::from_str::<Metadata>(&text).ok())
        .and_then(|metadata| {
            let (_, name) = metadata.name.split_once(['-', '/'])?;
            is_module_name(name).then(|| Arc::from(name))
        });
    by_metadata.unwrap_or_else(|| Arc::from(by_folder))
}

/// The module name in a `metadata.json`.
#[derive(serde::Deserialize)]
struct Metadata {
    name: String,
}
