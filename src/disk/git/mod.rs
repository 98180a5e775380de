//! Files as a revision of a git repository has them, read from its object database.
//!
//! Git itself is never run, and no configuration of a repository is looked at: both can name
//! programs (hooks, filters, monitors), and a workspace is not trusted. What is read are objects,
//! loose or packed, and references; what would need more (other hashes, reference tables, missing
//! objects) is refused by name. Contents are those that were committed: no filter and no
//! conversion of line ends is applied.

mod checkout;
mod delta;
mod excluded;
mod objects;
mod pack;
mod revision;

use std::fmt;
use std::path::{Path, PathBuf};

pub use checkout::snapshot_of_revision;
use objects::Objects;

/// Bytes of a file of git's own that is not an object: a reference, a list of them.
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

/// The name of an object: a SHA-1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct ObjectId([u8; 20]);

impl ObjectId {
    /// Of forty hexadecimal digits.
    fn from_hex(text: &str) -> Option<ObjectId> {
        let digits = text.as_bytes();
        let mut id = [0; 20];
        if digits.len() != 40 {
            return None;
        }
        for (at, pair) in digits.chunks_exact(2).enumerate() {
            id[at] = (hex_digit(pair[0])? << 4) | hex_digit(pair[1])?;
        }
        Some(ObjectId(id))
    }
}

fn hex_digit(byte: u8) -> Option<u8> {
    let digit = char::from(byte).to_digit(16)?;
    u8::try_from(digit).ok()
}

impl fmt::Display for ObjectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// A repository around a folder.
#[derive(Debug)]
struct Repository {
    /// The folder that is checked out.
    top: PathBuf,
    /// Where this checkout's own references are.
    git_dir: PathBuf,
    /// Where those that checkouts share are; the same in a repository with one checkout.
    common_dir: PathBuf,
    objects: Objects,
}

impl Repository {
    /// The repository that `folder` or a folder around it is a checkout of.
    fn around(folder: &str) -> Result<Repository, GitError> {
        let mut here = Some(Path::new(folder));
        while let Some(top) = here {
            if std::fs::symlink_metadata(top.join(".git")).is_ok() {
                return Repository::at(top);
            }
            here = top.parent();
        }
        Err(GitError::new(format!("{folder} is in no git repository")))
    }

    /// The repository that is checked out in `top`.
    fn at(top: &Path) -> Result<Repository, GitError> {
        let entry = top.join(".git");
        let git_dir = match std::fs::metadata(&entry) {
            Ok(metadata) if metadata.is_dir() => entry,
            // A linked checkout, or a submodule.
            Ok(_) => {
                let text = list_file(&entry)?.unwrap_or_default();
                let target = text.trim_end().strip_prefix("gitdir: ");
                let target = target.ok_or_else(|| {
                    GitError::new(format!("{} names no repository", entry.display()))
                })?;
                top.join(target)
            }
            Err(error) => {
                return Err(GitError::new(format!("{}: {error}", entry.display())));
            }
        };
        let common_dir = match list_file(&git_dir.join("commondir"))? {
            Some(text) => git_dir.join(text.trim_end()),
            None => git_dir.clone(),
        };
        if std::fs::metadata(common_dir.join("reftable")).is_ok() {
            return Err(GitError::new(format!(
                "{} keeps its references in reference tables, which are not read",
                top.display()
            )));
        }
        Ok(Repository {
            top: top.to_owned(),
            objects: Objects::in_folder(&common_dir.join("objects"))?,
            git_dir,
            common_dir,
        })
    }
}

/// The text of one of git's own small files; nothing where there is none.
fn list_file(at: &Path) -> Result<Option<String>, GitError> {
    use super::read::{Unreadable, bytes};
    // A folder of references can have the name of a reference that there is not.
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
