//! Finding the configuration of a workspace, `.hiera-ls.yaml`.

use super::read::{Unreadable, bytes};
use crate::analysis::{PROJECT_FILE, Project, ProjectError};
use crate::workspace::path;

/// Bytes of a configuration that are read.
const LARGEST_PROJECT: u64 = 1 << 20;

/// The configuration of an absolute folder: from its own file, else the nearest above it, not above
/// the top of a git checkout. The default where there is none.
///
/// # Errors
/// The file cannot be read, or [`Project::parse`] refuses it.
pub fn project(folder: &str) -> Result<Project, ProjectError> {
    let mut here = Some(folder);
    while let Some(folder) = here {
        let at = path::join(folder, PROJECT_FILE);
        let failed = |message: String| ProjectError {
            path: at.clone(),
            line: None,
            message,
        };
        match bytes(&at, LARGEST_PROJECT) {
            Ok(bytes) => {
                let text = String::from_utf8(bytes);
                let text = text.map_err(|_| failed("the file is not UTF-8".to_owned()))?;
                return Project::parse(&at, &text);
            }
            Err(Unreadable::Refused(error)) => return Err(failed(error.message(&at))),
            Err(Unreadable::Gone) => {}
        }
        if std::fs::symlink_metadata(path::join(folder, ".git")).is_ok() {
            break;
        }
        here = path::parent(folder);
    }
    Ok(Project::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_file_counts_up_to_the_top_of_a_checkout() {
        let folder = tempfile::tempdir().unwrap();
        let at = |below: &str| folder.path().join(below).to_str().unwrap().to_owned();
        std::fs::create_dir_all(at("repo/.git")).unwrap();
        std::fs::create_dir_all(at("repo/data/nodes")).unwrap();
        std::fs::write(at(PROJECT_FILE), "puppetVersion: 7\n").unwrap();
        assert_eq!(project(&at("repo/data/nodes")), Ok(Project::default()));
        std::fs::write(at("repo/.hiera-ls.yaml"), "nodesFiles: [nodes.yaml]\n").unwrap();
        let found = project(&at("repo/data/nodes")).unwrap();
        assert_eq!(found.nodes_files[0].0, at("repo/nodes.yaml"));
        std::fs::write(at("repo/.hiera-ls.yaml"), b"strict: \xff\n").unwrap();
        assert!(project(&at("repo")).is_err());
    }
}
