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
    files: impl Iterator<Item = (&'a str, &'a str)> + Clone,
) -> Result<(), String> {
    let failed = |path: &str, error| format!("{}: {}", shown(path), failure(&error));
    let real_folder = Path::new(folder)
        .canonicalize()
        .map_err(|error| failed(folder, error))?;
    let is_inside = |(path, _): &(&str, &str)| within(path, folder).is_some();
    for (path, _) in files.clone().filter(is_inside) {
        let real = real(path).map_err(|error| failed(path, error))?;
        if !real.starts_with(&real_folder) {
            return Err(format!(
                "{}: not written: a link leads to {}, out of the workspace",
                shown(path),
                real.display()
            ));
        }
    }
    for (path, text) in files {
        let written = real(path).and_then(|real| {
            real.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            std::fs::write(real, text)
        });
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
