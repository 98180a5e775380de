//! Finds the environment of a folder, and the environments of a workspace.

use std::sync::Arc;

use super::Analysis;
use crate::lookup::{Environment, resolve_modulepath};
use crate::workspace::{FileKind, Files, Root, RootKind, environment_conf, path};

/// Default of Puppet's setting `codedir`.
pub const CODEDIR: &str = "/etc/puppetlabs/code";

const AGENT_MODULES: &str = "/opt/puppetlabs/puppet/modules";

impl<'a> Analysis<'a> {
    /// The names of the environments to choose from, by folder name: hierarchies inside another environment
    /// are tests or examples, except for the folders in `environments`.
    #[must_use]
    pub fn environments(self) -> Vec<&'a str> {
        let all = || self.snapshot.roots().environments();
        let is_inside = |inner: &Root, outer: &Root| {
            inner.dir != outer.dir && path::within(&inner.dir, &outer.dir).is_some()
        };
        let is_named = |root: &Root| {
            path::parent(&root.dir).is_some_and(|folder| path::name(folder) == "environments")
        };
        let mut names: Vec<&str> = Vec::new();
        for root in all().filter(|root| is_named(root) || !all().any(|it| is_inside(root, it))) {
            let name = path::name(&root.dir);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The environment of that name.
    #[must_use]
    pub fn environment(self, name: &str) -> Option<&'a Root> {
        let mut environments = self.snapshot.roots().environments();
        environments.find(|root| path::name(&root.dir) == name)
    }

    /// Whether there is code for the data of a root, here or where it is deployed. There is none
    /// next to a hierarchy that stands alone, as in the fixtures of tests.
    #[must_use]
    pub fn has_code(self, root: &Root) -> bool {
        let mut signs = ["Puppetfile", "environment.conf", "manifests", "modules"].into_iter();
        root.kind != RootKind::Environment
            || !root.modules.is_empty()
            || !root.likely_modules.is_empty()
            || signs.any(|sign| self.snapshot.kind(&path::join(&root.dir, sign)).is_some())
    }
}

/// The environment of that name in a folder from the command line: `FOLDER/environments/NAME` if it
/// exists, else the folder itself. A module that stands alone belongs to none.
#[must_use]
pub fn environment_of(files: &dyn Files, folder: &str, name: &str) -> Environment {
    let nested = format!("{folder}/environments/{name}");
    let dir = match files.kind(&nested) {
        Some(FileKind::Directory) => nested,
        Some(FileKind::File) | None => folder.to_owned(),
    };
    let is_file = |name: &str| files.kind(&path::join(&dir, name)) == Some(FileKind::File);
    if let Some(module) = lone_module(files, &dir)
        && !is_file("environment.conf")
        && !is_file("Puppetfile")
    {
        return Environment {
            name: Arc::from(name),
            codedir: Arc::from(CODEDIR),
            modules: vec![(Arc::from(module), Arc::from(dir))],
            ..Environment::default()
        };
    }
    environment_in(files, Arc::from(dir), CODEDIR, name)
}

/// The names of the environments in a folder's `environments`. Only folders with content that just
/// an environment has count, since data files can be grouped by environment too.
#[must_use]
pub fn environments_below(files: &dyn Files, folder: &str) -> Vec<Arc<str>> {
    let all = path::join(folder, "environments");
    let is_environment = |name: &str| {
        let signs = ["environment.conf", "hiera.yaml", "manifests", "modules"];
        let mut signs = signs.iter().map(|sign| format!("{all}/{name}/{sign}"));
        signs.any(|sign| files.kind(&sign).is_some())
    };
    let found = files.list(&all).into_iter();
    let found = found.filter(|(name, kind)| *kind == FileKind::Directory && is_environment(name));
    found.map(|(name, _)| name).collect()
}

/// The environment that a folder is, according to its `environment.conf`.
#[must_use]
pub fn environment_in(files: &dyn Files, dir: Arc<str>, codedir: &str, name: &str) -> Environment {
    let conf = path::join(&dir, "environment.conf");
    let conf = (files.kind(&conf) == Some(FileKind::File)).then(|| files.text(&conf));
    let conf = conf
        .and_then(Result::ok)
        .map(|text| environment_conf::parse(&text));
    let conf = conf.unwrap_or_default();
    let base = [format!("{codedir}/modules"), AGENT_MODULES.to_owned()];
    Environment {
        name: Arc::from(name),
        modulepath: resolve_modulepath(conf.modulepath.as_deref(), &dir, &base),
        data_provider: conf.environment_data_provider.map(Arc::from),
        codedir: Arc::from(codedir),
        dir: Some(dir),
        ..Environment::default()
    }
}

/// The module name of a folder, from its `metadata.json`: `author-name`.
fn lone_module(files: &dyn Files, dir: &str) -> Option<String> {
    let text = files.text(&format!("{dir}/metadata.json")).ok()?;
    let metadata = crate::value::from_json(&text).ok()?;
    let (_, module) = metadata.get("name")?.as_str()?.rsplit_once(['-', '/'])?;
    // The metadata of a control repository does not make it a module.
    let has = |name: &str| files.kind(&path::join(dir, name)).is_some();
    (has("hiera.yaml") && has("manifests")).then(|| module.to_owned())
}
