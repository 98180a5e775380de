//! Values returned by `lookup_key` functions: their context caches them for the compilation
//! (`context.rb`, `eyaml_lookup_key.rb`), and returns the same object each time.
//!
//! A merge that changes an object in place therefore changes later lookups in the same compilation.

use std::cell::RefCell;
use std::collections::HashMap as Map;
use std::rc::Rc;
use std::sync::Arc;

use super::in_place::{Changes, Seen};
use crate::value::Value;

/// The values of one level's function, by location and key.
#[derive(Default)]
pub(super) struct CachedValues(Rc<LevelValues>);

type LevelValues = RefCell<Map<(usize, Arc<str>), Value>>;

/// The values of all functions in a compilation.
#[derive(Default)]
pub(super) struct AllCachedValues {
    /// The levels with values.
    levels: Vec<Rc<LevelValues>>,
    is_changed: bool,
}

impl CachedValues {
    /// The cached value of the `at`th location for a key.
    pub(super) fn get(&self, at: usize, key: &Arc<str>) -> Option<Value> {
        self.0.borrow().get(&(at, key.clone())).cloned()
    }

    pub(super) fn insert(
        &self,
        at: usize,
        key: &Arc<str>,
        value: Value,
        all: &mut AllCachedValues,
    ) {
        let mut values = self.0.borrow_mut();
        if values.is_empty() {
            all.levels.push(self.0.clone());
        }
        values.insert((at, key.clone()), value);
    }
}

impl AllCachedValues {
    /// Whether there are no values that a merge could change.
    pub(super) fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Applies the in-place changes of a merge. O(cached values).
    pub(super) fn change(&mut self, changes: &Changes<'_>) {
        let mut seen = Seen::default();
        for level in &self.levels {
            for value in level.borrow_mut().values_mut() {
                if let Some(changed) = changes.of(value, &mut seen) {
                    *value = changed;
                    self.is_changed = true;
                }
            }
        }
    }

    /// Drops changed values, for a request that is answered as if in a compilation of its own.
    pub(super) fn begin(&mut self) {
        if std::mem::take(&mut self.is_changed) {
            for level in self.levels.drain(..) {
                level.borrow_mut().clear();
            }
        }
    }
}
