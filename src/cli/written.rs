//! Writes files of a workspace that a command changes.

use std::path::Path;

use crate::disk::failure;

/// Writes a file, which must lie in `folder` even after following links; makes missing folders.
///
/// # Errors
/// Why it is not written, with its path.
#[allow(
    clippy::disallowed_methods,
    reason = "cli/ writes what it was asked to"
)]
pub(super) fn write_inside(folder: &str, path: &str, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{path}: {}", failure(&error));
    let is_there = |at: &&Path| at.symlink_metadata().is_ok();
    let existing = Path::new(path).ancestors().find(is_there);
    let real = existing.unwrap_or(Path::new(path)).canonicalize();
    let real = real.map_err(failed)?;
    if !real.starts_with(Path::new(folder).canonicalize().map_err(failed)?) {
        return Err(format!(
            "{path}: not written: it is a link to {}, outside of the workspace",
            real.display()
        ));
    }
    if let Some(parent) = Path::new(path).parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    std::fs::write(path, text).map_err(failed)
}
