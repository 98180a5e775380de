//! The context that Puppet passes to data functions (`pops/lookup/context.rb`).

use std::sync::Arc;

use super::evaluator::Evaluator;
use super::stop::{Evaluated, Stop};
use crate::syntax::puppet::Lambda;
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
    /// The explanation; `None` if it was not requested.
    pub explained: Option<Vec<Arc<str>>>,
}

impl Evaluator<'_> {
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
        let cached = &mut self.memory.cached;
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
