//! Limits the work of one request; beyond a limit it ends with an error.

use super::error::{ErrorClass, Found, raise};
use crate::value::Value;

/// Maximum number of lookups, including nested ones, in one request: tokens can double the work at
/// every step.
const MAX_LOOKUPS: usize = 100_000;

/// Maximum number of bytes that one request may produce by interpolation.
const MAX_INTERPOLATED: usize = 64 << 20;

/// Maximum number of values, including nested elements, that one request may interpolate, repeat by
/// `alias` and merge; each is counted every time it is visited. Large merges of real data need some
/// ten thousand.
const MAX_VALUES: usize = 30_000_000;

#[derive(Default)]
pub(super) struct Budget {
    lookups: usize,
    interpolated: usize,
    values: usize,
}

impl Budget {
    /// Counts a lookup.
    ///
    /// # Errors
    /// Names the limit once it is exceeded; the same for the methods below.
    pub(super) fn add_lookup(&mut self) -> Found<()> {
        self.lookups += 1;
        if self.lookups > MAX_LOOKUPS {
            let message = format!("more than {MAX_LOOKUPS} nested lookups for one key");
            return raise(ErrorClass::Limit, message);
        }
        Ok(())
    }

    pub(super) fn add_text(&mut self, bytes: usize) -> Found<()> {
        self.interpolated += bytes;
        if self.interpolated > MAX_INTERPOLATED {
            let message = format!("interpolation made more than {MAX_INTERPOLATED} bytes of text");
            return raise(ErrorClass::Limit, message);
        }
        Ok(())
    }

    /// Counts visited values.
    pub(super) fn add_values(&mut self, values: usize) -> Found<()> {
        self.values = self.values.saturating_add(values);
        if self.values > MAX_VALUES {
            let message =
                format!("one key has more than {MAX_VALUES} values to interpolate and merge");
            return raise(ErrorClass::Limit, message);
        }
        Ok(())
    }

    /// Counts a value and everything in it.
    pub(super) fn add_all_of(&mut self, value: &Value) -> Found<()> {
        self.add_values(weight_of(value))
    }
}

/// The number of values in a value, counted up to the limit.
pub(super) fn weight_of(value: &Value) -> usize {
    weight_up_to(value, MAX_VALUES)
}

fn weight_up_to(value: &Value, limit: usize) -> usize {
    /// Counts each element, plus its content.
    fn of<'v>(elements: impl ExactSizeIterator<Item = &'v Value>, limit: usize) -> usize {
        let mut weight = 1 + elements.len();
        for element in elements {
            if matches!(element, Value::Array(_) | Value::Hash(_)) {
                if weight > limit {
                    break;
                }
                weight += weight_up_to(element, limit - weight) - 1;
            }
        }
        weight
    }
    if let Value::Array(elements) = value {
        of(elements.iter(), limit)
    } else if let Value::Hash(hash) = value {
        of(hash.values(), limit)
    } else {
        1
    }
}
