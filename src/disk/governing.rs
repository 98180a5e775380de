//! Upward from a file to the hierarchy that governs it, for files outside every known folder.

use std::path::Path;
use std::sync::Arc;

use crate::workspace::path;

/// Folders above a file that are looked into at most.
const MOST_ABOVE: usize = 64;

/// Folders of an environment that hold modules by convention.
const MODULE_FOLDERS: [&str; 3] = ["modules", "site", "site-modules"];

/// The folders that say what the data in a folder means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Governing {
    /// The nearest folder at or above it with a `hiera.yaml` or an `environment.conf`.
    pub hierarchy: Arc<str>,
    /// The environment around that: another folder where the hierarchy is a module's.
    pub environment: Arc<str>,
}

/// Searches upward from a folder; nothing where no folder above has a hierarchy. Costs two `stat`
/// per folder.
///
/// The top of the disk and the user's own folder are passed over: what lies in them by accident
/// must not have a whole disk read.
#[must_use]
pub fn governing(folder: &str) -> Option<Governing> {
    let own = std::env::var("HOME").unwrap_or_default();
    let is_too_wide = |at: &str| at == "/" || at == own.trim_end_matches('/');
    let above = std::iter::successors(Some(folder), |at| path::parent(at)).take(MOST_ABOVE);
    let hierarchy = above
        .filter(|at| !is_too_wide(at))
        .find(|at| has(at, "hiera.yaml") || has(at, "environment.conf"))?;
    let around = path::parent(hierarchy).and_then(|modules| {
        let environment = path::parent(modules).filter(|at| !is_too_wide(at))?;
        let by_convention = MODULE_FOLDERS.contains(&path::name(modules));
        let is_environment = has(environment, "environment.conf")
            || (by_convention && has(environment, "hiera.yaml"));
        // An `environments` folder has environments in it, not modules.
        let is_codedir = path::name(modules) == "environments";
        (is_environment && !is_codedir).then_some(environment)
    });
    Some(Governing {
        hierarchy: Arc::from(hierarchy),
        environment: Arc::from(around.unwrap_or(hierarchy)),
    })
}

fn has(folder: &str, name: &str) -> bool {
    std::fs::metadata(Path::new(folder).join(name)).is_ok_and(|metadata| metadata.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_hierarchy_counts_and_a_module_lies_in_its_environment() {
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
}
