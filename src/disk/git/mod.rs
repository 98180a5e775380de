//! Reads files of a git revision from the object database.
//!
//! Git itself is never run, and no configuration of a repository is read: both can name programs
//! (hooks, filters, monitors), and a workspace is not trusted. Only objects (by gix, from the
//! repository itself and no other) and references are read. Repositories that need more (other
//! hashes, reference tables, borrowed or missing objects) are refused with a message. Contents are
//! as committed: no filter and no conversion of line ends is applied.

mod checkout;
mod excluded;
mod objects;
mod revision;

use std::fmt;
use std::path::{Path, PathBuf};

pub use checkout::snapshot_of_revision;
use gix_hash::ObjectId;
use objects::Objects;

/// Maximum number of bytes of a git file that is not an object: a reference, a list of them.
const LARGEST_LIST: u64 = 64 << 20;

/// Why a revision cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GitError {
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for GitError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl GitError {
    fn new(message: impl Into<String>) -> GitError {
        GitError {
            message: message.into(),
        }
    }
}

/// Parses forty hexadecimal digits.
fn object_id(text: &str) -> Option<ObjectId> {
    (text.len() == 40).then(|| ObjectId::from_hex(text.as_bytes()).ok())?
}

struct Repository {
    /// The folder that is checked out.
    top: PathBuf,
    /// Holds this checkout's own references.
    git_dir: PathBuf,
    /// Holds the references shared by all checkouts; the same folder in a repository with one
    /// checkout.
    common_dir: PathBuf,
    objects: Objects,
}

impl Repository {
    /// The repository that `folder`, or a folder around it, is a checkout of.
    fn around(folder: &str) -> Result<Repository, GitError> {
        let mut here = Some(Path::new(folder));
        while let Some(top) = here {
            if std::fs::symlink_metadata(top.join(".git")).is_ok() {
                return Repository::at(top);
            }
            here = top.parent();
        }
        Err(GitError::new(format!(
            "{folder} is not in a git repository"
        )))
    }

    fn at(top: &Path) -> Result<Repository, GitError> {
        let entry = top.join(".git");
        let git_dir = match std::fs::metadata(&entry) {
            Ok(metadata) if metadata.is_dir() => entry,
            // A linked checkout, or a submodule.
            Ok(_) => {
                let text = list_file(&entry)?.unwrap_or_default();
                let target = text.trim_end().strip_prefix("gitdir: ");
                let target = target.ok_or_else(|| {
                    GitError::new(format!("{} does not name a repository", entry.display()))
                })?;
                top.join(target)
            }
            Err(error) => {
                return Err(GitError::new(format!(
                    "{}: {}",
                    entry.display(),
                    super::failure::failure(&error)
                )));
            }
        };
        let common_dir = match list_file(&git_dir.join("commondir"))? {
            Some(text) => git_dir.join(text.trim_end()),
            None => git_dir.clone(),
        };
        if std::fs::metadata(common_dir.join("reftable")).is_ok() {
            return Err(GitError::new(format!(
                "{} stores its references in the 'reftable' format, which is not supported",
                top.display()
            )));
        }
        Ok(Repository {
            top: top.to_owned(),
            objects: Objects::in_repository(&common_dir)?,
            git_dir,
            common_dir,
        })
    }
}

/// The text of one of git's own small files; `None` if it does not exist.
fn list_file(at: &Path) -> Result<Option<String>, GitError> {
    use super::read::{Unreadable, bytes};
    // A folder of references can have the name of a missing reference.
    if !std::fs::metadata(at).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    match bytes(&at.to_string_lossy(), LARGEST_LIST) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(Unreadable::Gone) => Ok(None),
        Err(Unreadable::Refused(error)) => Err(GitError::new(error.message)),
    }
}

#[cfg(test)]
mod tests;
