//! What merges change in place: Ruby's objects, wherever else they are held.
//!
//! Here identity is the meaning, not a shortcut: the deep_merge gem changes arrays, hashes and texts
//! that Puppet's trace, its caches and other values hold too, and all of them then show the change. So
//! this module looks objects up by their addresses, and no other module does.

use std::collections::HashMap as Map;
use std::sync::Arc;

use super::deep_merge::Mutation;
use crate::value::{HashMap, KeyHashing, Value};

/// The changes of one merge, inner collections before those that hold them.
pub(super) struct Changes<'a> {
    all: &'a [Mutation],
    /// By the address of what was changed, in order. The mutations hold it, so that no other object
    /// has its address.
    by_address: Map<usize, Vec<usize>, KeyHashing>,
}

/// What became of collections that were gone through, by address: many places can hold one.
pub(super) type Seen = Map<usize, Option<Value>, KeyHashing>;

impl<'a> Changes<'a> {
    pub(super) fn new(all: &'a [Mutation]) -> Changes<'a> {
        let mut by_address: Map<usize, Vec<usize>, KeyHashing> = Map::default();
        for (at, (old, _)) in all.iter().enumerate() {
            if let Some(address) = address(old) {
                by_address.entry(address).or_default().push(at);
            }
        }
        Changes { all, by_address }
    }

    /// What a value has become; `None` if no change reaches it. Each collection is gone through
    /// once for a `seen`.
    pub(super) fn of(&self, value: &Value, seen: &mut Seen) -> Option<Value> {
        self.below(value, self.all.len(), seen)
    }

    /// The same of the changes before the `end`th: a value that a change made can hold earlier ones
    /// only.
    fn below(&self, value: &Value, end: usize, seen: &mut Seen) -> Option<Value> {
        let address = address(value)?;
        let is_whole = end == self.all.len();
        if is_whole && let Some(known) = seen.get(&address) {
            return known.clone();
        }
        let changes = self.by_address.get(&address);
        let last = changes.and_then(|at| at.iter().rev().find(|&&at| at < end));
        let changed = match last {
            Some(&at) => {
                let new = &self.all[at].1;
                Some(self.below(new, at, seen).unwrap_or_else(|| new.clone()))
            }
            None => self.inside(value, end, seen),
        };
        if is_whole {
            seen.insert(address, changed.clone());
        }
        changed
    }

    fn inside(&self, value: &Value, end: usize, seen: &mut Seen) -> Option<Value> {
        if let Value::Array(elements) = value {
            let mut changed: Option<Vec<Value>> = None;
            for (at, element) in elements.iter().enumerate() {
                if let Some(new) = self.below(element, end, seen) {
                    changed.get_or_insert_with(|| elements.to_vec())[at] = new;
                }
            }
            changed.map(Value::from)
        } else if let Value::Hash(hash) = value {
            let mut changed: Option<HashMap> = None;
            for (at, element) in hash.values().enumerate() {
                if let Some(new) = self.below(element, end, seen) {
                    changed.get_or_insert_with(|| HashMap::clone(hash))[at] = new;
                }
            }
            changed.map(Value::from)
        } else {
            None
        }
    }
}

/// Where a collection or text lies; `None` for what Ruby does not change.
fn address(value: &Value) -> Option<usize> {
    if let Value::Array(elements) = value {
        Some(Arc::as_ptr(elements).addr())
    } else if let Value::Hash(hash) = value {
        Some(Arc::as_ptr(hash).addr())
    } else if let Value::String(text) = value {
        Some(Arc::as_ptr(text).addr())
    } else {
        None
    }
}
