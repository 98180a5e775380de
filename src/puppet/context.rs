//! The context that Puppet hands to functions that give data (`pops/lookup/context.rb`).

use std::sync::Arc;

use super::stop::{Evaluated, Stop};
use crate::value::{HashMap, Rich, Value};

/// Name of its type.
const TYPE: &str = "Puppet::LookupContext";

/// The context as a value.
#[must_use]
pub fn lookup_context() -> Value {
    Value::Rich(Arc::new(Rich {
        ptype: TYPE,
        text: String::new(),
    }))
}

/// What a method of the context gives; nothing where the receiver is none. `cached` is what this call has
/// cached: a pure function that finds what an earlier call has cached gives the same as one that does not.
pub(super) fn method(name: &str, arguments: &[Value], cached: &mut HashMap) -> Option<Evaluated> {
    let (Value::Rich(receiver), rest) = arguments.split_first()? else {
        return None;
    };
    if receiver.ptype != TYPE {
        return None;
    }
    Some(match (name, rest) {
        ("not_found", []) => Err(Stop::NotFound),
        ("cache_has_key", [key]) => Ok(Value::Bool(cached.contains_key(key))),
        ("cached_value", [key]) => Ok(cached.get(key).cloned().unwrap_or_default()),
        ("cache", [key, value]) => {
            cached.insert(key.clone(), value.clone());
            Ok(value.clone())
        }
        ("cache_all", [Value::Hash(all)]) => {
            cached.extend(all.iter().map(|(key, value)| (key.clone(), value.clone())));
            Ok(Value::Undef)
        }
        ("explain", _) => Ok(Value::Undef),
        ("interpolate", [value]) if !value.inspect().contains("%{") => Ok(value.clone()),
        _ => Err(Stop::unknown(format!(
            "'{name}' of the lookup's context is not evaluated"
        ))),
    })
}
