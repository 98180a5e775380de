//! Cache: the texts of a hash that many files set. Hovers on its elements search all of them, one after the other.
//!
//! Without it each such hover finds the hash in each file anew: 10,000 files take 22 ms instead of 6 ms.

use std::sync::{Arc, Mutex, PoisonError};

use memchr::memmem::Finder;

use super::file::{File, is_simple_name};
use super::paths::Paths;
use super::snapshot::Snapshot;
use crate::text::TextRange;
use crate::value::Value;

/// Maximum number of lists of files whose texts are kept, at 20 bytes for each file: one for each level of an unknown
/// path, for a few keys.
const MAX_KEPT: usize = 16;

/// Up to this many files are searched each time.
const FEW: usize = 64;

/// The texts of the lists that were asked for last.
#[derive(Default)]
pub(super) struct HashTextCache(Mutex<Vec<KeptTexts>>);

struct KeptTexts {
    snapshot: u64,
    key: Box<str>,
    paths: Paths,
    texts: Arc<[Option<HashText>]>,
}

/// The text of a hash in which each name stands as it is.
struct HashText {
    file: Arc<File>,
    value: TextRange,
}

impl Snapshot {
    /// The files with a top-level key whose hash may have an entry of a name. These are all files with the key if the name
    /// can be written in several ways. O(bytes of the hashes).
    #[must_use]
    pub fn files_with_entry(&self, key: &str, name: &Value) -> Paths {
        self.without_those_lacking(&self.fits.with_key(self, key), key, name)
    }

    /// Those of some files whose hash for a top-level key may have an entry of a name: see
    /// [`File::certainly_lacks`]. O(bytes of the hashes).
    #[must_use]
    pub fn without_those_lacking(&self, paths: &Paths, key: &str, name: &Value) -> Paths {
        let Some(name) = name.as_str().filter(|name| is_simple_name(name)) else {
            return paths.clone();
        };
        if paths.len() <= FEW {
            return paths.clone();
        }
        let texts = self.hash_texts.texts(self, paths, key);
        let finder = Finder::new(name);
        let mut texts = texts.iter();
        paths.filtered(|_| {
            let text = texts.next().and_then(Option::as_ref);
            text.is_none_or(|it| {
                let text = it.value.slice(it.file.text());
                finder.find(text.as_bytes()).is_some()
            })
        })
    }
}

impl HashTextCache {
    /// For each of some files the text of its hash, if all names in it stand as they are.
    fn texts(&self, snapshot: &Snapshot, paths: &Paths, key: &str) -> Arc<[Option<HashText>]> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |it: &&KeptTexts| {
            it.snapshot == snapshot.stamp && *it.key == *key && it.paths == *paths
        };
        if let Some(known) = kept().iter().find(is_it) {
            return Arc::clone(&known.texts);
        }
        let text_of = |path: &Arc<str>| {
            let file = snapshot.file(path)?;
            let fact = file.facts().key(key)?;
            file.has_names_as_written(fact).then(|| HashText {
                file: Arc::clone(file),
                value: fact.value,
            })
        };
        let texts: Arc<[Option<HashText>]> = paths.iter().map(text_of).collect();
        let mut kept = kept();
        kept.retain(|it| it.snapshot == snapshot.stamp);
        if kept.len() >= MAX_KEPT {
            kept.remove(0);
        }
        kept.push(KeptTexts {
            snapshot: snapshot.stamp,
            key: key.into(),
            paths: paths.clone(),
            texts: Arc::clone(&texts),
        });
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Change, Workspace};

    #[test]
    fn files_whose_hash_lacks_a_name_are_left_out_until_they_have_it() {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec![Arc::from("/w")]));
        let files = (0..FEW + 4).map(|at| {
            let name = if at == 3 { "bob" } else { "eve" };
            Change::file(
                format!("/w/{at:02}.yaml"),
                format!("users:\n  {name}: {{}}\n"),
            )
        });
        let snapshot = workspace.apply(Change::Batch(files.collect()));
        let paths: Paths = snapshot.files().map(|file| file.path().clone()).collect();
        let with = |snapshot: &Snapshot, name: &str| -> Vec<Arc<str>> {
            let found = snapshot.without_those_lacking(&paths, "users", &Value::from(name));
            found.iter().cloned().collect()
        };
        assert_eq!(with(&snapshot, "bob"), [Arc::from("/w/03.yaml")]);
        assert_eq!(with(&snapshot, "bob"), [Arc::from("/w/03.yaml")]);
        assert_eq!(with(&snapshot, "no\"body").len(), paths.len());
        // An alias may stand for any names.
        let edit = Change::file("/w/05.yaml", "a: &a {bob: 1}\nusers: *a\n");
        let snapshot = workspace.apply(edit);
        assert_eq!(with(&snapshot, "bob").len(), 2);
        assert_eq!(with(&snapshot, "ann"), [Arc::from("/w/05.yaml")]);
    }
}
