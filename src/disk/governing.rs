//! Upward from a file to the hierarchy that governs it, for files outside of every known folder.

use std::sync::Arc;

use super::DiskFiles;
use crate::analysis::{self, Governing};
use crate::workspace::{FileKind, Files as _, path};

/// Searches the disk upward from a folder, the user's own passed over.
#[must_use]
pub fn governing(folder: &str) -> Option<Governing> {
    let home = std::env::var("HOME").unwrap_or_default();
    analysis::governing(&DiskFiles::new(), folder, &home)
}

/// The folder to read for a file or a folder that the command line names: the environment around it,
/// else its own folder.
#[must_use]
pub fn workspace_of(at: &str) -> Arc<str> {
    let own = match DiskFiles::new().kind(at) {
        Some(FileKind::Directory) => at,
        Some(FileKind::File) | None => path::parent(at).unwrap_or("/"),
    };
    governing(own).map_or_else(|| Arc::from(own), |found| found.environment)
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
