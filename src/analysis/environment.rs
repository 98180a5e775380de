//! Finds the environment of a folder, and the environments of a workspace.

use std::sync::Arc;

use super::Analysis;
use crate::lookup::{AGENT_MODULES, Environment};
use crate::scope::{KnownNodes, Observed};
use crate::workspace::{
    ENVIRONMENTS, FileKind, Files, HIERA_YAML, Root, RootKind, Snapshot, environment_conf,
    modulepath, path,
};

impl<'a> Analysis<'a> {
    /// Whether an environment lies inside another one, as those of tests and examples do.
    fn is_inside_another(self, root: &Root) -> bool {
        let mut all = self.snapshot.roots().environments();
        all.any(|outer| root.dir != outer.dir && path::within(&root.dir, &outer.dir).is_some())
    }

    /// The names of the environments to choose from, by folder name: those that lie in no other
    /// one, and the folders in `environments`.
    #[must_use]
    pub fn environments(self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        let all = self.snapshot.roots().environments();
        for root in all.filter(|root| is_deployed(root) || !self.is_inside_another(root)) {
            let name = path::name(&root.dir);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The environment of that name: if possible one that lies in no other one, then one in a
    /// folder `environments`, then the outermost.
    #[must_use]
    pub fn environment(self, name: &str) -> Option<&'a Root> {
        let all = self.snapshot.roots().environments();
        let named = all.filter(|root| path::name(&root.dir) == name);
        named.min_by_key(|root| {
            let depth = root.dir.matches('/').count();
            (self.is_inside_another(root), !is_deployed(root), depth)
        })
    }

    /// The name of the environment that a root belongs to: its folder in `environments`, else the name
    /// that lookups are asked for.
    #[must_use]
    pub fn name_of(self, root: &'a Root) -> &'a str {
        self.deployed_name_of(root).unwrap_or(self.environment)
    }

    /// The name of the environment that a root belongs to, if it lies in a folder `environments`: only
    /// nodes of that environment read its data. Other data may be deployed anywhere.
    #[must_use]
    pub fn deployed_name_of(self, root: &'a Root) -> Option<&'a str> {
        let environment = self.snapshot.roots().environment_of(root);
        let deployed = environment.filter(|root| is_deployed(root));
        deployed.map(|root| path::name(&root.dir))
    }

    /// What the recorded catalogs of nodes say of a key in the data of a root: of the nodes of its
    /// environment, if it lies in a folder `environments`. `None` if there is no record.
    #[must_use]
    pub fn observed(self, root: &'a Root, nodes: &KnownNodes, key: &str) -> Option<Observed> {
        let lookups = &nodes.imported()?.lookups;
        lookups.of(self.deployed_name_of(root), key)
    }

    /// Whether a known node may be in the environment of a root.
    #[must_use]
    pub fn has_member(self, root: &'a Root, member: usize) -> bool {
        let own = self.nodes.own_environment(member);
        own.is_none_or(|own| own == self.name_of(root))
    }

    /// Whether there is code for the data of a root, here or where it is deployed. There is none
    /// next to a hierarchy that stands alone, as in the fixtures of tests.
    #[must_use]
    pub fn has_code(self, root: &Root) -> bool {
        // Plans look up no parameters of classes.
        if root.kind == RootKind::Plans {
            return false;
        }
        let mut signs = ["Puppetfile", "environment.conf", "manifests", "modules"].into_iter();
        root.kind != RootKind::Environment
            || !root.modules.is_empty()
            || !root.likely_modules.is_empty()
            || signs.any(|sign| self.snapshot.kind(&path::join(&root.dir, sign)).is_some())
    }
}

/// Whether an environment lies in a folder `environments`, as on a server.
#[must_use]
pub fn is_deployed(root: &Root) -> bool {
    path::parent(&root.dir).is_some_and(|folder| path::name(folder) == ENVIRONMENTS)
}

/// The folder of the environment of that name, if it is one of several in a folder.
fn nested(folder: &str, name: &str) -> String {
    format!("{folder}/{ENVIRONMENTS}/{name}")
}

/// The root whose hierarchy answers for a folder from the command line: the environment of that
/// name, the first chosen one, the one in or around the folder, else the best configuration found.
#[must_use]
pub fn root_for<'a>(snapshot: &'a Snapshot, folder: &str, environment: &str) -> Option<&'a Root> {
    let roots = snapshot.roots();
    let own = path::join(folder, HIERA_YAML);
    let best = || {
        let mut used = roots.found().iter().filter(|found| found.is_used());
        roots.of_config(&used.next()?.path)
    };
    let with_config = |root: &&Root| root.has_hierarchy() || root.global.is_some();
    let chosen = || roots.of_config(&snapshot.settings().chosen.first()?.hiera_yaml);
    let nested = roots.in_folder(&nested(folder, environment));
    let nested = nested.filter(with_config);
    let here = || roots.in_folder(folder).filter(with_config);
    let here = nested.or_else(chosen).or_else(here);
    here.or_else(|| snapshot.root_of(&own))
        .filter(with_config)
        .or_else(best)
}

/// The names of the environments in a folder's `environments`. Only folders with content that just
/// an environment has count, since data files can be grouped by environment too.
#[must_use]
pub fn environments_below(files: &dyn Files, folder: &str) -> Vec<Arc<str>> {
    let all = path::join(folder, ENVIRONMENTS);
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
    let base = [
        Arc::from(format!("{codedir}/modules")),
        Arc::from(AGENT_MODULES),
    ];
    let entries = conf.modulepath.as_deref();
    Environment {
        name: Arc::from(name),
        modulepath: modulepath(files, &dir, entries, &base, &|folder| folder),
        data_provider: conf.environment_data_provider.map(Arc::from),
        codedir: Arc::from(codedir),
        dir: Some(dir),
        ..Environment::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::with_analysis;
    use crate::fixture::{FOLDER, Fixture};
    use crate::workspace::path;

    /// The folder of the environment `production` in a workspace with these environments.
    fn production(folders: &[&str]) -> Option<String> {
        let hierarchy = "version: 5\nhierarchy: [{name: c, path: common.yaml}]\n";
        let files = folders.iter().map(|folder| {
            format!("#- {folder}/hiera.yaml\n{hierarchy}#- {folder}/data/common.yaml\na: 1\n")
        });
        let text: String = files.collect();
        let snapshot = Fixture::new("README.md", &text).opened();
        with_analysis(&snapshot, |analysis| {
            let found = analysis.environment("production")?;
            path::within(&found.dir, FOLDER).map(str::to_owned)
        })
    }

    #[test]
    fn an_environment_is_found_before_copies_of_it() {
        let deployed = [
            "a/copy/production",
            "environments/aaa",
            "environments/aaa/copy/production",
            "environments/production",
            "spec/fixtures/environments/production",
        ];
        assert_eq!(
            production(&deployed).as_deref(),
            Some("environments/production")
        );
        let checkout = [
            "production",
            "production/spec/fixtures/environments/production",
        ];
        assert_eq!(production(&checkout).as_deref(), Some("production"));
    }
}
