//! A fingerprint of the sources of some keys, for comparing two snapshots.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use super::{Files as _, LOOKUP_OPTIONS, Snapshot};

impl Snapshot {
    /// Changes whenever a lookup of one of these keys may have another result: because of values in
    /// files, options, configurations, files or folders. O(files with one of the keys).
    #[must_use]
    pub fn fingerprint_of<'k>(&self, keys: impl Iterator<Item = &'k Arc<str>>) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.shape().hash(&mut hasher);
        let of_options = self.iter_files_with(LOOKUP_OPTIONS);
        for file in of_options {
            let options = file.facts().lookup_options.iter();
            options.for_each(|option| (&option.pattern, option.fingerprint).hash(&mut hasher));
        }
        for key in keys {
            key.hash(&mut hasher);
            for (file, fact) in self.definitions(key) {
                (file.id(), fact.fingerprint).hash(&mut hasher);
            }
        }
        for path in &self.configs {
            if let Some(file) = self.file(path) {
                file.hash().hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}
