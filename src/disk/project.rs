//! Finding the configuration of a workspace, `.hiera-ls.yaml`.

use std::sync::Arc;

use super::native::native;
use super::read::{Unreadable, bytes};
use crate::analysis::{PROJECT_FILE, Project, ProjectError, Spoils};
use crate::rules;
use crate::workspace::path;

/// Bytes of a configuration that are read.
const LARGEST_PROJECT: u64 = 1 << 20;

/// The configuration of a folder.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FoundProject {
    /// The settings without a mistake.
    pub project: Project,
    /// The file; none where there is none.
    pub path: Option<String>,
    /// Its text, where it could be read.
    pub text: Option<Arc<str>>,
    /// What is wrong with it; unknown rules, of which nothing follows, are not among them.
    pub mistakes: Vec<ProjectError>,
}

impl FoundProject {
    /// The settings, of a file without a mistake.
    ///
    /// # Errors
    /// The first mistake.
    pub fn whole(self) -> Result<Project, ProjectError> {
        match self.mistakes.into_iter().next() {
            None => Ok(self.project),
            Some(mistake) => Err(mistake),
        }
    }
}

/// The configuration of an absolute folder: from its own file, else the nearest above it, not above
/// the top of a git checkout. The default where there is none.
#[must_use]
pub fn project(folder: &str) -> FoundProject {
    project_over(folder, &|_| None)
}

/// As [`project`], where `known` gives the texts of files that are not read from the disk.
#[must_use]
pub fn project_over(folder: &str, known: &dyn Fn(&str) -> Option<Arc<str>>) -> FoundProject {
    let mut here = Some(folder);
    while let Some(folder) = here {
        let at = path::join(folder, PROJECT_FILE);
        if let Some(text) = known(&at) {
            return read(at, &text);
        }
        match bytes(&at, LARGEST_PROJECT) {
            Ok(bytes) => {
                return match String::from_utf8(bytes) {
                    Ok(text) => read(at, &text),
                    Err(_) => refused(at, "the file is not UTF-8".to_owned()),
                };
            }
            Err(Unreadable::Refused(error)) => {
                let message = error.message(&at);
                return refused(at, message);
            }
            Err(Unreadable::Gone) => {}
        }
        if std::fs::symlink_metadata(&*native(&path::join(folder, ".git"))).is_ok() {
            break;
        }
        here = path::parent(folder);
    }
    FoundProject::default()
}

fn read(at: String, text: &str) -> FoundProject {
    let (project, mistakes) = Project::read(&at, text, &rules::codes());
    let spoiling = mistakes
        .iter()
        .filter(|mistake| mistake.spoils > Spoils::Entry);
    FoundProject {
        project,
        mistakes: spoiling
            .map(|mistake| ProjectError::of(&at, text, mistake))
            .collect(),
        path: Some(at),
        text: Some(Arc::from(text)),
    }
}

fn refused(at: String, message: String) -> FoundProject {
    FoundProject {
        project: Project::default(),
        mistakes: vec![ProjectError {
            path: at.clone(),
            line: None,
            message,
        }],
        path: Some(at),
        text: None,
    }
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
        let found = project(&at("repo/data/nodes"));
        assert_eq!(found, FoundProject::default());
        std::fs::write(at("repo/.hiera-ls.yaml"), "nodesFiles: [nodes.yaml]\n").unwrap();
        let found = project(&at("repo/data/nodes")).whole().unwrap();
        assert_eq!(found.nodes_files[0].0, at("repo/nodes.yaml"));
        let open = |path: &str| (path == at("repo/.hiera-ls.yaml")).then(|| "strict: off\n".into());
        let found = project_over(&at("repo"), &open).whole().unwrap();
        assert!(found.strict.is_some() && found.nodes_files.is_empty());
        std::fs::write(at("repo/.hiera-ls.yaml"), b"strict: \xff\n").unwrap();
        assert!(project(&at("repo")).whole().is_err());
        std::fs::write(
            at("repo/.hiera-ls.yaml"),
            "strict: loud\npuppetVersion: 7\n",
        )
        .unwrap();
        let found = project(&at("repo"));
        assert!(found.project.puppet_version.is_some());
        let error = found.whole().unwrap_err().to_string();
        assert!(error.contains(".hiera-ls.yaml:1: expected off"), "{error}");
    }
}
