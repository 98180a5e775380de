//! The context that Puppet hands to functions that give data (`pops/lookup/context.rb`).

use std::sync::Arc;

use super::stop::{Evaluated, Stop};
use crate::value::{Rich, Value};

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

/// What a method of the context gives; nothing where the receiver is none. A compilation that has cached
/// nothing is as good as one that has: a pure function gives the same again.
pub(super) fn method(name: &str, arguments: &[Value]) -> Option<Evaluated> {
    let (Value::Rich(receiver), rest) = arguments.split_first()? else {
        return None;
    };
    if receiver.ptype != TYPE {
        return None;
    }
    Some(match (name, rest) {
        ("not_found", []) => Err(Stop::NotFound),
        ("cache_has_key", [_]) => Ok(Value::Bool(false)),
        ("cached_value", [_]) | ("explain" | "cache_all", _) => Ok(Value::Undef),
        ("cache", [_, value]) => Ok(value.clone()),
        ("interpolate", [value]) if !value.inspect().contains("%{") => Ok(value.clone()),
        _ => Err(Stop::unknown(format!(
            "'{name}' of the lookup's context is not evaluated"
        ))),
    })
}
