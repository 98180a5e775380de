//! One shared text per key name: ten thousand node files name the same few hundred keys.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

/// Parts that lock on their own, so that files read in parallel seldom wait for each other.
const SHARDS: usize = 16;

/// A shard is swept when it has grown to this many names, then to twice what the sweep left.
const FIRST_SWEEP: usize = 4096;

/// The set of names in use. Names that nobody else holds are swept out now and then.
#[derive(Debug)]
pub(super) struct Interner {
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Debug)]
struct Shard {
    names: HashSet<Arc<str>>,
    sweep_at: usize,
}

impl Default for Interner {
    fn default() -> Interner {
        Interner {
            hasher: RandomState::new(),
            shards: std::array::from_fn(|_| {
                Mutex::new(Shard {
                    names: HashSet::new(),
                    sweep_at: FIRST_SWEEP,
                })
            }),
        }
    }
}

impl Interner {
    /// The shared text equal to `name`.
    pub(super) fn intern(&self, name: &str) -> Arc<str> {
        let shard = self.hasher.hash_one(name) as usize % SHARDS;
        let mut shard = self.shards[shard]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = shard.names.get(name) {
            return Arc::clone(known);
        }
        if shard.names.len() >= shard.sweep_at {
            shard.names.retain(|name| Arc::strong_count(name) > 1);
            shard.sweep_at = FIRST_SWEEP.max(shard.names.len() * 2);
        }
        let name: Arc<str> = Arc::from(name);
        shard.names.insert(Arc::clone(&name));
        name
    }
}
