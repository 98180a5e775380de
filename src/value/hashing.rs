//! How the keys of hashes are hashed: fast, with a seed that data cannot know.

use std::hash::BuildHasher;

use foldhash::SharedSeed;
use foldhash::fast::FoldHasher;

use super::HashMap;

/// The hashing of a [`HashMap`]'s keys, good for any table by name. The seed is drawn when the
/// process starts: data cannot be made to collide.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyHashing;

impl BuildHasher for KeyHashing {
    type Hasher = FoldHasher<'static>;

    #[inline]
    fn build_hasher(&self) -> FoldHasher<'static> {
        FoldHasher::with_seed(0, SharedSeed::global_random())
    }
}

/// An empty hash with room for so many entries.
#[must_use]
pub fn hash_with_capacity(entries: usize) -> HashMap {
    HashMap::with_capacity_and_hasher(entries, KeyHashing)
}
