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
    let real_folder = real(folder).map_err(|error| failed(folder, &error))?;
    let mut checked = Vec::new();
    for (path, text) in files {
        checked.push((path, inside(folder, &real_folder, path)?, text));
    }
    for (path, real, text) in checked {
        let made = real.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = made.and_then(|()| std::fs::write(real, text));
        written.map_err(|error| failed(path, &error))?;
    }
    Ok(())
}

/// Writes a file that only its owner can read; it is there completely or not at all.
///
/// # Errors
/// Why it is not written, with its path.
#[cfg(feature = "import")]
pub(super) fn write_private(folder: &str, path: &str, text: &str) -> Result<(), String> {
    use std::io::Write as _;
    let real_folder = real(folder).map_err(|error| failed(folder, &error))?;
    let real = inside(folder, &real_folder, path)?;
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let partial = real.with_file_name(format!(".{name}.partial"));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let write = || {
        // Left behind by an import that was ended while it wrote.
        let _ = std::fs::remove_file(&partial);
        let mut file = options.open(&partial)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&partial, &real)
    };
    write().map_err(|error| {
        let _ = std::fs::remove_file(&partial);
        failed(path, &error)
    })
}

fn failed(path: &str, error: &std::io::Error) -> String {
    format!("{}: {}", shown(path), failure(error))
}

/// A path without links.
///
/// # Errors
/// It lies in the folder by its name only, because of a link.
fn inside(folder: &str, real_folder: &Path, path: &str) -> Result<PathBuf, String> {
    let real = real(path).map_err(|error| failed(path, &error))?;
    if within(path, folder).is_some() && !real.starts_with(real_folder) {
        return Err(format!(
            "{}: not written: a link leads to {}, out of the workspace",
            shown(path),
            real.display()
        ));
    }
    Ok(real)
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
