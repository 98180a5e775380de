//! Hides the unencrypted secrets in differences, for comments and logs that others read. The rules
//! about secrets decide what is one.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::compare::Difference;
use super::matrix::Cell;
use crate::eyaml::edit_marks;
use crate::rules::secret;
use crate::value::{HashMap, Value};

/// Replaces a secret.
pub const HIDDEN: &str = "(a secret)";

/// Replaces a secret that the old answer does not contain.
const CHANGED: &str = "(another secret)";

/// The difference with secrets replaced.
#[must_use]
pub fn without_secrets(difference: &Difference) -> Difference {
    let key = last_part(&difference.key);
    let [before, after] = [&difference.before, &difference.after].map(|cell| &cell.result);
    let mut old = BTreeSet::new();
    let before = before.as_ref().map(|value| {
        shown(value, key, &mut |text| {
            old.insert(text.clone());
            HIDDEN
        })
    });
    let after = after.as_ref().map(|value| {
        shown(value, key, &mut |text| {
            if old.is_empty() || old.contains(text) {
                HIDDEN
            } else {
                CHANGED
            }
        })
    });
    let cell = |cell: &Cell, result: Result<Value, _>| Cell {
        result,
        ..cell.clone()
    };
    Difference {
        key: difference.key.clone(),
        before: cell(&difference.before, before.map_err(Clone::clone)),
        after: cell(&difference.after, after.map_err(Clone::clone)),
    }
}

/// The last segment of a dotted key.
fn last_part(key: &str) -> &str {
    key.rsplit('.')
        .next()
        .unwrap_or(key)
        .trim_matches(['"', '\''])
}

/// A key's value with secrets replaced.
fn shown(value: &Value, key: &str, hide: &mut dyn FnMut(&Arc<str>) -> &'static str) -> Value {
    if let Value::String(text) = value {
        let is_secret = secret(Some(key), text).is_some() || !edit_marks(text).is_empty();
        return if is_secret {
            Value::string(hide(text))
        } else {
            value.clone()
        };
    }
    if let Some(elements) = value.as_array() {
        return Value::array(elements.iter().map(|element| shown(element, key, hide)));
    }
    if let Some(hash) = value.as_hash() {
        let pairs = hash.iter().map(|(key, value)| {
            let name = key.as_str().unwrap_or_default();
            (key.clone(), shown(value, name, hide))
        });
        return Value::from(pairs.collect::<HashMap>());
    }
    if let Value::Sensitive(value) = value {
        return Value::Sensitive(Arc::new(shown(value, key, hide)));
    }
    value.clone()
}
