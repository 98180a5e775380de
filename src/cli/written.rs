//! Writes files of a workspace that a command changes.

#![allow(
    clippy::disallowed_methods,
    reason = "cli/ writes what it was asked to"
)]

use std::path::{Path, PathBuf};

use super::terminal::shown;
use crate::disk::failure;
use crate::workspace::path::within;

/// Writes files by path with their new texts; makes missing folders. Nothing is written if one of
/// them lies in `folder` by its name only, because of a link.
///
/// # Errors
/// Why a file is not written, with its path.
pub(super) fn write_all<'a>(
    folder: &str,
    files: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<(), String> {
    let failed = |path: &str, error| format!("{}: {}", shown(path), failure(&error));
    let real_folder = real(folder).map_err(|error| failed(folder, error))?;
    let mut checked = Vec::new();
    for (path, text) in files {
        let real = real(path).map_err(|error| failed(path, error))?;
        if within(path, folder).is_some() && !real.starts_with(&real_folder) {
            return Err(format!(
                "{}: not written: a link leads to {}, out of the workspace",
                shown(path),
                real.display()
            ));
        }
        checked.push((path, real, text));
    }
    for (path, real, text) in checked {
        let made = real.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = made.and_then(|()| std::fs::write(real, text));
        written.map_err(|error| failed(path, error))?;
    }
    Ok(())
}

/// A path without links; the part that does not exist stays as it is.
fn real(path: &str) -> std::io::Result<PathBuf> {
    let path = Path::new(path);
    let is_there = |at: &&Path| at.symlink_metadata().is_ok();
    let existing = path.ancestors().find(is_there).unwrap_or(path);
    let real = existing.canonicalize()?;
    Ok(match path.strip_prefix(existing) {
        Ok(rest) if rest.components().next().is_some() => real.join(rest),
        Ok(_) | Err(_) => real,
    })
}
