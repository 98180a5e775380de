//! In-place changes of merges to Ruby objects with other holders.
//!
//! Identity matters here: the deep_merge gem changes arrays, hashes and texts that Puppet's trace,
//! its caches and other values also hold, and all of them then show the change. So objects are
//! looked up by address; a table lives only as long as its objects.

use std::collections::HashMap as Map;
use std::sync::Arc;

use super::deep_merge::Mutation;
use crate::value::{HashMap, KeyHashing, Value};

/// The changes of one merge, inner collections before outer ones.
pub(super) struct Changes<'a> {
    all: &'a [Mutation],
    /// By the address of the changed object, in order. The mutations keep the objects alive, so no
    /// address is reused.
    by_address: Map<usize, Vec<usize>, KeyHashing>,
}

/// The results for visited collections, by address: one object can occur many times.
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

    /// The changed value; `None` if no change affects it. Each collection is visited once per
    /// `seen`.
    pub(super) fn of(&self, value: &Value, seen: &mut Seen) -> Option<Value> {
        self.below(value, self.all.len(), seen)
    }

    /// The same for the changes before the `end`th: a value made by a change can only contain
    /// earlier ones.
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

/// The address of a collection or text; `None` for values that Ruby does not change.
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
