//! A place in a file, as the result of a feature.

use std::sync::Arc;

use crate::text::TextRange;
use crate::workspace::KeyFact;

/// A place in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilePlace {
    /// The absolute path of the file.
    pub path: Arc<str>,
    /// The name of the thing.
    pub name: TextRange,
    /// The whole thing, such as a key with its value.
    pub whole: TextRange,
}

impl FilePlace {
    /// A place with the name as the whole thing.
    #[must_use]
    pub fn of(path: &Arc<str>, name: TextRange) -> FilePlace {
        FilePlace::with(path, name, name)
    }

    /// A place with its name and the whole thing.
    #[must_use]
    pub fn with(path: &Arc<str>, name: TextRange, whole: TextRange) -> FilePlace {
        FilePlace {
            path: path.clone(),
            name,
            whole,
        }
    }

    /// A top-level key with its value.
    #[must_use]
    pub fn of_key(path: &Arc<str>, fact: &KeyFact) -> FilePlace {
        FilePlace::with(path, fact.key, fact.key.cover(fact.value))
    }

    /// The start of a file.
    #[must_use]
    pub fn start_of(path: &str) -> FilePlace {
        FilePlace::of(&Arc::from(path), TextRange::empty(0))
    }
}
