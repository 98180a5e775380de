//! Lookup options that one scope after another collects from the same files: what going through
//! them found out, what merging them gave, and how they choose.
//!
//! A hash is known by its identity, and held, so that no other one takes its address. So a file
//! that is read anew brings a new hash, and whatever interpolation made is a new one each time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::Found;
use super::options::CompiledOptions;
use crate::value::{HashMap, Value};
use crate::workspace::Generations;

/// Most entries of all hashes together that are known, before those not met for long are
/// forgotten; ready for choosing, an entry takes some 300 bytes.
const MOST_ENTRIES: usize = 20_000;

/// What a merge asks of each value before it takes it in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Measure {
    /// How many values there are in it.
    pub(super) weight: usize,
    /// Whether merging cannot fail.
    pub(super) is_regular: bool,
}

/// See the module.
#[derive(Debug)]
pub(super) struct SharedOptions {
    measures: Mutex<Generations<usize, Held<Measure>>>,
    merges: Mutex<Generations<Box<[usize]>, Merged>>,
    compiled: Mutex<Generations<usize, Held<Arc<CompiledOptions>>>>,
}

/// What is known of a hash, which is held so that its address stays its own.
type Held<T> = (Arc<HashMap>, T);

/// The values that were merged, held for their addresses, and what they gave.
type Merged = (Vec<Value>, Option<Value>);

impl Default for SharedOptions {
    fn default() -> SharedOptions {
        SharedOptions {
            measures: Mutex::new(Generations::new(MOST_ENTRIES)),
            merges: Mutex::new(Generations::new(MOST_ENTRIES)),
            compiled: Mutex::new(Generations::new(MOST_ENTRIES)),
        }
    }
}

fn address(hash: &Arc<HashMap>) -> usize {
    Arc::as_ptr(hash).addr()
}

fn lock<T>(table: &Mutex<T>) -> MutexGuard<'_, T> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedOptions {
    /// What `measure` says of a hash, asked now or before.
    pub(super) fn measured(
        &self,
        hash: &Arc<HashMap>,
        measure: impl FnOnce() -> Measure,
    ) -> Measure {
        if let Some((_, known)) = lock(&self.measures).get(&address(hash)) {
            return *known;
        }
        let found = measure();
        let entry = (hash.clone(), found);
        lock(&self.measures).insert(address(hash), entry, hash.len() + 1);
        found
    }

    /// What `merge` makes of these values, made now or before; not remembered where they are not
    /// all hashes.
    pub(super) fn merged(
        &self,
        values: &[Value],
        merge: impl FnOnce() -> Option<Value>,
    ) -> Option<Value> {
        let addresses: Option<Box<[usize]>> = values
            .iter()
            .map(|value| {
                if let Value::Hash(hash) = value {
                    Some(address(hash))
                } else {
                    None
                }
            })
            .collect();
        let Some(addresses) = addresses else {
            return merge();
        };
        if let Some((_, known)) = lock(&self.merges).get(&addresses) {
            return known.clone();
        }
        let merged = merge();
        let hashes = values.iter().chain(&merged).filter_map(Value::as_hash);
        let cost = hashes.map(|hash| hash.len() + 1).sum();
        let entry = (values.to_vec(), merged.clone());
        lock(&self.merges).insert(addresses, entry, cost);
        merged
    }

    /// A hash made ready for choosing by `compile`, now or before; what fails is not remembered.
    pub(super) fn compiled(
        &self,
        hash: &Arc<HashMap>,
        compile: impl FnOnce() -> Found<CompiledOptions>,
    ) -> Found<Arc<CompiledOptions>> {
        if let Some((_, known)) = lock(&self.compiled).get(&address(hash)) {
            return Ok(known.clone());
        }
        let options = Arc::new(compile()?);
        let entry = (hash.clone(), options.clone());
        lock(&self.compiled).insert(address(hash), entry, hash.len() + 1);
        Ok(options)
    }
}
