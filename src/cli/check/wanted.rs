//! What the arguments of `check` name: files, folders, patterns and the workspace around them.

use std::sync::Arc;

use crate::disk::{self, DiskFiles, workspace_of};
use crate::hierarchy::is_at_or_below;
use crate::workspace::{FileKind, Files as _, path};

/// A path that exists, absolute and without links.
#[allow(
    clippy::disallowed_methods,
    reason = "cli/ resolves the paths it is given"
)]
pub(super) fn absolute(given: &str) -> Result<String, String> {
    let at = std::fs::canonicalize(given).map_err(|error| disk::failure(&error))?;
    disk::model(&at).ok_or_else(|| "the path is not UTF-8".to_owned())
}

/// What an argument names.
pub(super) struct Wanted<'a> {
    pub(super) given: &'a str,
    /// A file or a folder, absolute.
    pub(super) at: String,
    /// The pattern that paths below it have to fit.
    pub(super) pattern: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    /// A path that exists, else what fits the argument as a pattern.
    ///
    /// # Errors
    /// There is nothing of that name.
    pub(super) fn of(given: &'a str) -> Result<Wanted<'a>, String> {
        let missing = match absolute(given) {
            Ok(at) => {
                return Ok(Wanted {
                    given,
                    at,
                    pattern: None,
                });
            }
            Err(error) => error,
        };
        let Some(sign) = given.find(['*', '?', '[', '{']) else {
            return Err(missing);
        };
        let (folder, pattern) = match given[..sign].rfind('/') {
            Some(slash) => (&given[..=slash], &given[slash + 1..]),
            None => (".", given),
        };
        Ok(Wanted {
            given,
            at: absolute(folder)?,
            pattern: Some(pattern),
        })
    }

    /// Whether a file, absolute, is meant.
    pub(super) fn names(&self, file: &str) -> bool {
        let below = path::within(file, &self.at);
        let fits = |below| {
            self.pattern
                .is_none_or(|pattern| is_at_or_below(pattern, below))
        };
        below.is_some_and(fits)
    }

    /// Whether it is one file.
    pub(super) fn is_file(&self) -> bool {
        self.pattern.is_none() && DiskFiles::new().kind(&self.at) == Some(FileKind::File)
    }

    /// The folder to read for it: the workspace, by its name and its absolute path, else the one around
    /// it. Nothing for a file that lies outside of the workspace.
    ///
    /// # Errors
    /// A folder lies outside of it.
    pub(super) fn folder(
        &self,
        workspace: Option<(&str, &Arc<str>)>,
    ) -> Result<Option<Arc<str>>, String> {
        let Some((named, folder)) = workspace else {
            return Ok(Some(workspace_of(&self.at, &disk::absolute("."))));
        };
        match path::within(&self.at, folder) {
            Some(_) => Ok(Some(folder.clone())),
            None if self.is_file() => Ok(None),
            None => Err(format!("{}: not in the workspace {named}", self.given)),
        }
    }
}
