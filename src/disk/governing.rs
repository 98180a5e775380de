//! Searches upward from a file for the hierarchy that governs it, for files outside of every known
//! folder.

use std::sync::Arc;

use super::DiskFiles;
use super::native::native;
use super::system;
use crate::analysis::{self, Governing, PROJECT_FILE};
use crate::hierarchy::Config;
use crate::value::load_yaml;
use crate::workspace::{
    Content, DiskEntry, ENVIRONMENT_CONF, FileKind, Files as _, HIERA_YAML, path,
};

/// Searches the disk upward from a folder; the home folder is skipped.
#[must_use]
pub fn governing(folder: &str) -> Option<Governing> {
    let home = std::env::var("HOME").unwrap_or_default();
    analysis::governing(&DiskFiles::new(), folder, &home)
}

/// The workspace around a folder: the environment, else the nearest folder with a `.hiera-ls.yaml`.
#[must_use]
pub fn workspace_around(folder: &str) -> Option<Arc<str>> {
    let environment = governing(folder).map(|found| found.environment);
    environment.or_else(|| nearest(folder, &[PROJECT_FILE]).map(Arc::from))
}

/// The nearest folder upward that has a file or folder of one of these names.
fn nearest<'f>(folder: &'f str, names: &[&str]) -> Option<&'f str> {
    let mut folders = std::iter::successors(Some(folder), |folder| path::parent(folder));
    folders.find(|folder| has_one(folder, names))
}

/// Whether a folder has a file or folder of one of these names.
fn has_one(folder: &str, names: &[&str]) -> bool {
    let is_there =
        |name: &&str| system::symlink_metadata(&*native(&path::join(folder, name))).is_ok();
    names.iter().any(is_there)
}

/// Whether a folder has only a hierarchy of version 3, which the global layer has: the environment, and perhaps the data,
/// is elsewhere in the checkout.
fn is_of_global_layer(folder: &str) -> bool {
    let at = |name: &str| path::join(folder, name);
    let DiskEntry::File {
        content: Content::Text(text),
        ..
    } = super::read(&at(HIERA_YAML))
    else {
        return false;
    };
    let version = load_yaml(text.as_bytes()).ok();
    let version = version.and_then(|value| Config::version_of(&value).ok());
    version == Some(3) && DiskFiles::new().kind(&at(ENVIRONMENT_CONF)).is_none()
}

/// Files and folders at the top of a control repository or a module.
const SIGNS: [&str; 12] = [
    HIERA_YAML,
    ENVIRONMENT_CONF,
    "data",
    "hieradata",
    "Puppetfile",
    "metadata.json",
    "bolt-project.yaml",
    "environments",
    "manifests",
    "modules",
    "site",
    "site-modules",
];

/// The folder to read for a file or a folder on the command line, run in the folder `here`. In this
/// order: the environment around it, unless that has only a hierarchy of the global layer; the folder around it with a
/// `.hiera-ls.yaml` or the top of a git checkout; if `here` contains it, the outermost folder from there on that looks
/// like a repository, else `here`; its own folder.
#[must_use]
pub fn workspace_of(at: &str, here: &str) -> Arc<str> {
    let own = match DiskFiles::new().kind(at) {
        Some(FileKind::Directory) => at,
        Some(FileKind::File) | None => path::parent(at).unwrap_or("/"),
    };
    let top = nearest(own, &[PROJECT_FILE, ".git"]);
    if let Some(found) = governing(own)
        && (top.is_none() || !is_of_global_layer(&found.environment))
    {
        return found.environment;
    }
    let around = || {
        path::within(own, here)?;
        // Side by side, repositories without git are no one workspace.
        let inside = |folder: &&str| path::within(folder, here).is_some();
        let folders = std::iter::successors(Some(own), |folder| path::parent(folder));
        let folders = folders.take_while(inside);
        let outermost = folders.filter(|folder| has_one(folder, &SIGNS)).last();
        Some(outermost.unwrap_or(here))
    };
    Arc::from(top.or_else(around).unwrap_or(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_hierarchy_governs_and_modules_belong_to_their_environment() {
        let root = tempfile::tempdir().unwrap();
        let write = |at: &str| {
            let at = root.path().join(at);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, "").unwrap();
        };
        for at in [
            "code/hiera.yaml",
            "code/environments/production/hiera.yaml",
            "code/environments/production/data/nodes/a.yaml",
            "code/environments/production/site/profile/hiera.yaml",
            "code/environments/production/site/profile/data/common.yaml",
            "code/environments/test/environment.conf",
            "code/environments/test/own/m/hiera.yaml",
            "alone/modules/m/hiera.yaml",
            "none/data/x.yaml",
        ] {
            write(at);
        }
        let top = root.path().to_str().unwrap();
        let found = |at: &str| {
            let found = governing(&format!("{top}/{at}"))?;
            let rest = |at: &str| path::within(at, top).map(str::to_owned);
            Some((rest(&found.hierarchy)?, rest(&found.environment)?))
        };
        let both = |hierarchy: &str, environment: &str| {
            Some((hierarchy.to_owned(), environment.to_owned()))
        };
        let production = "code/environments/production";
        assert_eq!(
            found("code/environments/production/data/nodes"),
            both(production, production)
        );
        assert_eq!(
            found("code/environments/production/site/profile/data"),
            both("code/environments/production/site/profile", production)
        );
        assert_eq!(
            found("code/environments/test/own/m/data/not/there"),
            both("code/environments/test/own/m", "code/environments/test")
        );
        assert_eq!(
            found("alone/modules/m"),
            both("alone/modules/m", "alone/modules/m")
        );
        assert_eq!(found("none/data"), None);
        assert_eq!(governing("/"), None);
    }

    #[test]
    fn data_beside_a_hierarchy_of_the_global_layer_belongs_to_the_checkout() {
        let root = tempfile::tempdir().unwrap();
        let top = root.path().to_str().unwrap();
        let write = |at: &str, text: &str| {
            let at = root.path().join(at);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, text).unwrap();
        };
        write("r/hieradata/common.yaml", "k: 1\n");
        write("r/hieradata/hiera.yaml", ":backends: [yaml]\n");
        write("r/five/hiera.yaml", "version: 5\n");
        let folder = |at: &str| workspace_of(&format!("{top}/{at}"), "/none").to_string();
        assert_eq!(
            folder("r/hieradata/common.yaml"),
            format!("{top}/r/hieradata")
        );
        write("r/.git/HEAD", "");
        assert_eq!(folder("r/hieradata/common.yaml"), format!("{top}/r"));
        assert_eq!(folder("r/hieradata"), format!("{top}/r"));
        assert_eq!(folder("r/five"), format!("{top}/r/five"));
        write("r/hieradata/environment.conf", "");
        assert_eq!(folder("r/hieradata"), format!("{top}/r/hieradata"));
    }

    #[test]
    fn repositories_without_git_that_lie_side_by_side_are_workspaces_of_their_own() {
        let root = tempfile::tempdir().unwrap();
        let top = root.path().to_str().unwrap();
        for at in [
            "all/one/metadata.json",
            "all/one/spec/support/hiera/rds.yaml",
            "all/two/modules/m/metadata.json",
            "all/two/puppet/hiera-lab.yaml",
            "all/three/data/x.yaml",
        ] {
            let at = root.path().join(at);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, "").unwrap();
        }
        let folder = |at: &str, here: &str| {
            let found = workspace_of(&format!("{top}/{at}"), &format!("{top}/{here}"));
            path::within(&found, top).unwrap().to_owned()
        };
        assert_eq!(folder("all/one", "all"), "all/one");
        assert_eq!(
            folder("all/one/spec/support/hiera/rds.yaml", "all"),
            "all/one"
        );
        assert_eq!(folder("all/two/modules/m", "all"), "all/two");
        assert_eq!(
            folder("all/two/puppet/hiera-lab.yaml", "all/two"),
            "all/two"
        );
        assert_eq!(folder("all/three/data", "all"), "all/three");
        assert_eq!(
            folder("all/three/data/x.yaml", "all/three/data"),
            "all/three/data"
        );
        assert_eq!(folder("all/four/x", "all"), "all");
        assert_eq!(folder("all/three/data", "none"), "all/three/data");
    }
}
