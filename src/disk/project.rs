//! Finds the configuration of a workspace, `.hiera-ls.yaml`.

use std::sync::Arc;

use super::native::native;
use super::read::{Unreadable, bytes, lost_from, target};
use super::system;
use crate::analysis::{PROJECT_FILE, Project, ProjectError, Spoils};
use crate::rules;
use crate::workspace::{Lost, path};

/// Maximum number of bytes of a configuration.
const LARGEST_PROJECT: u64 = 1 << 20;

/// The configuration of a folder.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FoundProject {
    /// The valid settings.
    pub project: Project,
    /// The file; `None` if there is none.
    pub path: Option<String>,
    /// Its text, if it could be read.
    pub text: Option<Arc<str>>,
    /// Its mistakes, without unknown rules, which have no effect.
    pub mistakes: Vec<ProjectError>,
    /// Mistakes that only the disk shows: symbolic links that lead out of the workspace.
    pub outside: Vec<ProjectError>,
}

impl FoundProject {
    /// The settings of a file without mistakes.
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

/// The configuration of an absolute folder: its own file, else the nearest one above it, up to the
/// top of a git checkout; else the default.
#[must_use]
pub fn project(folder: &str) -> FoundProject {
    project_over(folder, &|_| None)
}

/// Like [`project`], with `known` providing the texts of files instead of the disk.
#[must_use]
pub fn project_over(folder: &str, known: &dyn Fn(&str) -> Option<Arc<str>>) -> FoundProject {
    for folder in std::iter::successors(Some(folder), |folder| path::parent(folder)) {
        let at = path::join(folder, PROJECT_FILE);
        if let Some(text) = known(&at) {
            return read(at, &text);
        }
        match bytes(&at, LARGEST_PROJECT) {
            Ok(bytes) => {
                return match String::from_utf8(bytes) {
                    Ok(text) => read(at, &text),
                    Err(_) => refused(&at, "the file is not UTF-8".to_owned()),
                };
            }
            Err(Unreadable::Refused(error)) => return refused(&at, error.message(&at)),
            Err(Unreadable::Gone) => {}
        }
        if system::symlink_metadata(&*native(&path::join(folder, ".git"))).is_ok() {
            break;
        }
    }
    FoundProject::default()
}

fn read(at: String, text: &str) -> FoundProject {
    let (mut project, mistakes) = Project::read(&at, text, &rules::codes());
    let folder = path::parent(&at).unwrap_or("/");
    let outside = project.remove_paths(&|inside| leads_outside(inside, folder));
    let outside = outside.into_iter().map(|inside| {
        let named = path::within(&inside, folder).unwrap_or(&inside);
        let message = format!(
            "'{named}' is a symbolic link to outside the workspace; a path outside is only allowed in the user's own settings"
        );
        let line = text.lines().position(|line| line.contains(named));
        ProjectError {
            path: at.clone(),
            line: line.map(|line| line + 1),
            message,
        }
    });
    let outside: Vec<ProjectError> = outside.collect();
    let spoiling = mistakes
        .iter()
        .filter(|mistake| mistake.spoils > Spoils::Entry);
    FoundProject {
        project,
        mistakes: spoiling
            .map(|mistake| ProjectError::of(&at, text, mistake))
            .chain(outside.iter().cloned())
            .collect(),
        outside,
        path: Some(at),
        text: Some(Arc::from(text)),
    }
}

/// Whether a path below a folder really lies elsewhere, because of a symbolic link.
#[must_use]
pub fn leads_outside(inside: &str, folder: &str) -> bool {
    let Some(real_folder) = target(folder) else {
        return false;
    };
    // A path that does not exist is where its closest existing folder is.
    for at in std::iter::successors(Some(inside), |at| path::parent(at)) {
        if let Some(real) = target(at) {
            return path::within(&real, &real_folder).is_none();
        }
        if lost_from(at, folder) == Lost::Outside {
            return true;
        }
    }
    false
}

fn refused(at: &str, message: String) -> FoundProject {
    let (path, line) = (at.to_owned(), None);
    FoundProject {
        mistakes: vec![ProjectError {
            path,
            line,
            message,
        }],
        path: Some(at.to_owned()),
        ..FoundProject::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_file_up_to_the_top_of_a_checkout_is_used() {
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

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_workspace_are_refused_as_paths_outside_are() {
        let folder = tempfile::tempdir().unwrap();
        let at = |below: &str| folder.path().join(below).to_str().unwrap().to_owned();
        std::fs::create_dir_all(at("repo/data")).unwrap();
        std::fs::create_dir_all(at("secret")).unwrap();
        std::fs::write(at("secret/nodes.yaml"), "a: {}\n").unwrap();
        std::os::unix::fs::symlink(at("secret"), at("repo/out")).unwrap();
        std::os::unix::fs::symlink(at("repo/data"), at("repo/in")).unwrap();
        let text = "nodesFiles: [out/nodes.yaml]\npathMap: {/a: in, /b: out}\nroots: [out]\n\
                    factsFile: out/nodes.yaml\n";
        std::fs::write(at("repo/.hiera-ls.yaml"), text).unwrap();
        let found = project(&at("repo"));
        assert_eq!(found.outside.len(), 4, "{found:?}");
        assert_eq!(found.mistakes, found.outside);
        assert!(
            found.outside[0].message.contains("symbolic link"),
            "{found:?}"
        );
        assert_eq!(found.outside[0].line, Some(1));
        let project = found.project;
        assert!(project.nodes_files.is_empty() && project.roots.is_empty());
        assert_eq!(project.path_map.keys().collect::<Vec<_>>(), ["/a"]);
        assert_eq!(project.facts_file, None);
    }
}
