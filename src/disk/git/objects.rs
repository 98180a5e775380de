//! The object database of a repository, read by gix: loose objects, and packs of every form.
//!
//! It must not know revisions or folders. No configuration is read and no object is taken from
//! outside the repository.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use gix_hash::{Kind as HashKind, ObjectId, Prefix};
use gix_object::{Find as _, Kind};
use gix_odb::store::init::Options;

use super::{GitError, list_file};
use crate::disk::failure::failure;

/// Maximum number of bytes of an object; larger files are refused by the editor anyway.
const LARGEST_OBJECT: usize = 64 << 20;

/// Alternates of an object database, in order; git itself follows five.
const MAX_BORROWED: usize = 16;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Object {
    pub(super) kind: Kind,
    pub(super) bytes: Vec<u8>,
}

pub(super) struct Objects {
    store: gix_odb::Handle,
}

impl Objects {
    /// The objects in the folder `objects` of a repository, and in alternates inside the
    /// repository.
    pub(super) fn in_repository(common_dir: &Path) -> Result<Objects, GitError> {
        let folder = common_dir.join("objects");
        refuse_foreign(common_dir, &folder)?;
        let options = Options {
            alloc_limit_bytes: Some(LARGEST_OBJECT),
            current_dir: Some(common_dir.to_owned()),
            ..Options::default()
        };
        let store = gix_odb::at_opts(&folder, HashKind::Sha1, [], options);
        let mut store =
            store.map_err(|error| GitError::new(format!("{}: {error}", folder.display())))?;
        store.refresh_never();
        Ok(Objects { store })
    }

    pub(super) fn read(&self, id: &ObjectId) -> Result<Object, GitError> {
        let mut bytes = Vec::new();
        match self.store.try_find(id, &mut bytes) {
            Ok(Some(found)) => {
                let kind = found.kind;
                Ok(Object { kind, bytes })
            }
            Ok(None) => Err(GitError::new(format!(
                "object {id} is not in the repository, which may be a shallow or partial clone"
            ))),
            Err(error) => Err(GitError::new(format!("object {id}: {error}"))),
        }
    }

    /// The objects whose names begin with hexadecimal digits, at least four.
    pub(super) fn with_prefix(&self, digits: &str) -> Result<Vec<ObjectId>, GitError> {
        let broken = |error: &dyn std::fmt::Display| GitError::new(format!("'{digits}': {error}"));
        let prefix = Prefix::from_hex(digits).map_err(|error| broken(&error))?;
        let mut found = HashSet::default();
        let looked = self.store.lookup_prefix(prefix, Some(&mut found));
        looked.map_err(|error| broken(&error))?;
        let mut found: Vec<ObjectId> = found.into_iter().collect();
        found.sort_unstable();
        Ok(found)
    }
}

/// Refuses a database with alternates outside its repository: a workspace must not make other files
/// readable.
fn refuse_foreign(common_dir: &Path, objects: &Path) -> Result<(), GitError> {
    let real = |at: &Path| {
        std::fs::canonicalize(at)
            .map_err(|error| GitError::new(format!("{}: {}", at.display(), failure(&error))))
    };
    let inside = real(common_dir)?;
    let mut folders: Vec<PathBuf> = vec![objects.to_owned()];
    let mut at = 0;
    while let Some(folder) = folders.get(at).cloned() {
        at += 1;
        if !real(&folder)?.starts_with(&inside) {
            return Err(GitError::new(format!(
                "{} shares objects with {}, outside the repository, which are not read",
                common_dir.display(),
                folder.display()
            )));
        }
        let borrowed = list_file(&folder.join("info/alternates"))?.unwrap_or_default();
        let lines = borrowed.lines().map(str::trim);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let next = folder.join(line);
            if line.starts_with('"') || folders.len() >= MAX_BORROWED {
                let at = folder.display();
                return Err(GitError::new(format!(
                    "{at} shares objects with a quoted path, or with too many repositories"
                )));
            }
            if !folders.contains(&next) {
                folders.push(next);
            }
        }
    }
    Ok(())
}
