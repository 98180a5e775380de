//! Resolves the arguments of `check`: files, folders, patterns, and the workspace around them.

use std::sync::Arc;

use crate::disk::{self, DiskFiles, workspace_of};
use crate::hierarchy::is_at_or_below;
use crate::workspace::{FileKind, Files as _, path};

/// The absolute path, without links, of an existing file or folder.
#[allow(
    clippy::disallowed_methods,
    reason = "cli/ resolves the paths it is given"
)]
pub(super) fn absolute(given: &str) -> Result<String, String> {
    let at = std::fs::canonicalize(given).map_err(|error| disk::failure(&error))?;
    disk::model(&at).ok_or_else(|| "the path is not UTF-8".to_owned())
}

pub(super) struct Wanted<'a> {
    pub(super) given: &'a str,
    /// A file or a folder, absolute.
    pub(super) at: String,
    /// The pattern that paths below it must match.
    pub(super) pattern: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    /// An existing path, else a pattern.
    ///
    /// # Errors
    /// Nothing of that name exists.
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

    /// Whether it includes a file (absolute path).
    pub(super) fn names(&self, file: &str) -> bool {
        let below = path::within(file, &self.at);
        let fits = |below| {
            self.pattern
                .is_none_or(|pattern| is_at_or_below(pattern, below))
        };
        below.is_some_and(fits)
    }

    pub(super) fn is_file(&self) -> bool {
        self.pattern.is_none() && DiskFiles::new().kind(&self.at) == Some(FileKind::File)
    }

    /// The folder to read for it: the workspace (by name and absolute path), else the one around
    /// the argument. `None` for a file outside of the workspace.
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
