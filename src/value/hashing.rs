//! The hash function for keys of hashes: fast, with a seed that data cannot know.

use std::hash::BuildHasher;

use foldhash::SharedSeed;
use foldhash::fast::FoldHasher;

use super::HashMap;

/// The hashing of a [`HashMap`]'s keys, usable for any table by name. The seed is random for each
/// process, so data cannot cause collisions.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyHashing;

impl BuildHasher for KeyHashing {
    type Hasher = FoldHasher<'static>;

    #[inline]
    fn build_hasher(&self) -> FoldHasher<'static> {
        FoldHasher::with_seed(0, SharedSeed::global_random())
    }
}

/// An empty hash with capacity for `entries`.
#[must_use]
pub fn hash_with_capacity(entries: usize) -> HashMap {
    HashMap::with_capacity_and_hasher(entries, KeyHashing)
}
