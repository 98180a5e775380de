//! One shared text per key name: ten thousand node files name the same few hundred keys.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use crate::value::KeyHashing;

/// Parts that lock on their own, one for each worker: files read in parallel neither wait for each
/// other nor count references to the same text, which costs more than a name that is there twice.
const SHARDS: usize = 16;

/// A shard is swept when it has grown to this many names, then to twice what the sweep left.
const FIRST_SWEEP: usize = 4096;

/// The set of names in use. Names that nobody else holds are swept out now and then.
#[derive(Debug)]
pub(super) struct Interner {
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Debug)]
struct Shard {
    /// Names by their hash. Of two names with one hash the second is simply not shared.
    names: HashMap<u64, Arc<str>, BuildHasherDefault<AsIs>>,
    sweep_at: usize,
}

/// Takes a hash for its own hash.
#[derive(Clone, Copy, Debug, Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl Default for Interner {
    fn default() -> Interner {
        Interner {
            shards: std::array::from_fn(|_| {
                Mutex::new(Shard {
                    names: HashMap::default(),
                    sweep_at: FIRST_SWEEP,
                })
            }),
        }
    }
}

impl Interner {
    /// The names as one worker shares them with itself.
    pub(super) fn of_worker(&self, worker: usize) -> Names<'_> {
        Names {
            shard: &self.shards[worker % SHARDS],
        }
    }
}

/// One worker's names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    shard: &'a Mutex<Shard>,
}

impl Names<'_> {
    /// The shared text equal to `name`.
    pub(super) fn intern(&self, name: &str) -> Arc<str> {
        let hash = KeyHashing.hash_one(name);
        let mut shard = self.shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = shard.names.get(&hash) {
            return if **known == *name {
                Arc::clone(known)
            } else {
                Arc::from(name)
            };
        }
        if shard.names.len() >= shard.sweep_at {
            shard.names.retain(|_, name| Arc::strong_count(name) > 1);
            shard.sweep_at = FIRST_SWEEP.max(shard.names.len() * 2);
        }
        let name: Arc<str> = Arc::from(name);
        shard.names.insert(hash, Arc::clone(&name));
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_one_and_unused_ones_go() {
        let interner = Interner::default();
        let names = interner.of_worker(0);
        let kept = names.intern("kept");
        for number in 0..FIRST_SWEEP * 4 {
            drop(names.intern(&number.to_string()));
        }
        assert!(Arc::ptr_eq(&kept, &names.intern("kept")));
        let left = names.shard.lock().expect("not poisoned").names.len();
        assert!(left <= FIRST_SWEEP, "{left} names are left");
    }
}
