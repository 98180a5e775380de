//! The context that Puppet passes to data functions (`pops/lookup/context.rb`).

use std::sync::Arc;

use super::builtin;
use super::evaluator::Evaluator;
use super::stop::{Evaluated, Stop};
use super::uses;
use crate::syntax::puppet::{Expression, Lambda};
use crate::value::{HashMap, Rich, Value};

/// The name of its type.
const TYPE: &str = "Puppet::LookupContext";

/// The context as a value.
#[must_use]
pub fn lookup_context() -> Value {
    Value::Rich(Arc::new(Rich {
        ptype: TYPE,
        text: String::new(),
    }))
}

/// The state of data functions between calls, and their explanations.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// What was cached, by key.
    pub cached: HashMap,
    /// Why the cache is unknown.
    pub unknown: Option<Arc<str>>,
    /// The explanation; `None` if it was not requested.
    pub explained: Option<Vec<Arc<str>>>,
}

impl Memory {
    /// Makes the cache unknown.
    pub(super) fn forget(&mut self, because: &Arc<str>) {
        self.unknown.get_or_insert_with(|| because.clone());
    }
}

/// Methods of the context that change nothing.
const READING: [&str; 7] = [
    "cache_has_key",
    "cached_value",
    "cached_entries",
    "environment_name",
    "explain",
    "interpolate",
    "module_name",
];

/// Functions of Puppet that use a context that is passed to them.
const USING: [&str; 2] = ["call", "eyaml_lookup_key"];

/// Whether a value is the context, or contains it.
fn is_context(value: &Value) -> bool {
    match value {
        Value::Rich(rich) => rich.ptype == TYPE,
        Value::Array(elements) => elements.iter().any(is_context),
        Value::Hash(hash) => hash.values().any(is_context),
        _ => false,
    }
}

impl Evaluator<'_> {
    /// Records what code may cache that may or may not have been run. Returns whether it may end the
    /// lookup function, by `not_found()` of its context.
    pub(super) fn may_use_context(&mut self, node: &Expression, because: &Arc<str>) -> bool {
        if !self.is_for_data || !self.variables.is_read(node, is_context) {
            return false;
        }
        let (mut may_cache, mut may_end) = (false, false);
        uses::called(node, &mut |name| match name {
            "cache" | "cache_all" => may_cache = true,
            "not_found" => may_end = true,
            name if READING.contains(&name) => {}
            name if builtin::is_known(name) && !USING.contains(&name) => {}
            _ => (may_cache, may_end) = (true, true),
        });
        if may_cache {
            self.memory.forget(because);
        }
        may_end
    }

    /// The result of a method of the context; `None` if the receiver is not the context.
    pub(super) fn of_context(
        &mut self,
        name: &str,
        arguments: &[Value],
        lambda: Option<&Lambda>,
    ) -> Option<Evaluated> {
        let (Value::Rich(receiver), rest) = arguments.split_first()? else {
            return None;
        };
        if receiver.ptype != TYPE {
            return None;
        }
        let Memory {
            cached, unknown, ..
        } = &mut self.memory;
        if let ("cache_has_key" | "cached_value", Some(because)) = (name, unknown) {
            return Some(Err(Stop::Unknown(because.clone())));
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
                let entries = all.iter();
                cached.extend(entries.map(|(key, value)| (key.clone(), value.clone())));
                Ok(Value::Undef)
            }
            ("explain", []) => lambda.map_or(Ok(Value::Undef), |lambda| self.explain(lambda)),
            ("interpolate", [value]) if !value.inspect().contains("%{") => Ok(value.clone()),
            _ => Err(Stop::unknown(format!(
                "'{name}' of the lookup's context is not evaluated"
            ))),
        })
    }

    /// Adds the text of a block to the explanation, if requested.
    fn explain(&mut self, lambda: &Lambda) -> Evaluated {
        if self.memory.explained.is_some() {
            let text = self.yield_to(lambda, Vec::new())?;
            let text = self.text_of(&text)?;
            self.memory
                .explained
                .get_or_insert_default()
                .push(text.into());
        }
        Ok(Value::Undef)
    }
}
