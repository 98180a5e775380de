//! The values of variables in tokens and paths (`puppet/parser/scope.rb`,
//! `puppet/pops/lookup/sub_lookup.rb`).

use std::sync::Arc;

use super::context::Strict;
use super::engine::{Engine, Invocation};
use super::error::{Cause, ErrorClass, Found, no_method, optional, raise};
use super::trace::{TraceEvent, TraceKind, TraceScope};
use crate::interpolation::Segment;
use crate::scope::{Undefined, Variable};
use crate::value::{Missing, Opaque, StrKey, Value};

impl Engine<'_> {
    /// The value of a variable with a dotted path; `path` is the whole reference.
    pub(super) fn variable(
        &mut self,
        path: &str,
        root: &Segment,
        segments: &[Segment],
        invocation: &Invocation,
    ) -> Found {
        let read = if self.in_levels {
            &mut self.in_paths
        } else {
            &mut self.reads.variables
        };
        read.add(path);
        let value = self.with(
            || TraceKind::Scope(TraceScope::Variables),
            |engine| engine.root_variable(root, segments, invocation),
        )?;
        if value.is_undef() || segments.is_empty() || matches!(value, Value::Opaque(_)) {
            return Ok(value);
        }
        Ok(optional(self.dig(path, segments, value))?.unwrap_or_default())
    }

    fn root_variable(
        &mut self,
        root: &Segment,
        segments: &[Segment],
        invocation: &Invocation,
    ) -> Found {
        let name = match root {
            Segment::Name(name) => name.clone(),
            Segment::Index(index) => {
                return raise(
                    ErrorClass::Parse,
                    format!("Scope variable name {index} is a Integer, not a string"),
                );
            }
        };
        if let Some(value) = invocation.overrides.get(&StrKey(&name)) {
            self.event(|| TraceEvent::FoundInOverrides(name.to_string(), value.clone()));
            return Ok(value.clone());
        }
        let default = invocation.defaults.get(&StrKey(&name));
        let found = match self.hiera_variable(&name, segments, invocation)? {
            Variable::Known(value) => value,
            Variable::Unknown => {
                let segments = segments.iter().map(Segment::written);
                let path: Vec<String> = std::iter::once(name.to_string()).chain(segments).collect();
                let because = Missing::Variable(path.join(".").into());
                let text = String::new();
                return Ok(Value::Opaque(Arc::new(Opaque::Unknown { text, because })));
            }
            Variable::Undefined(undefined) => {
                // Puppet 8 uses a default without reporting the variable.
                if !(default.is_some() && self.is_from_8_on()) {
                    self.report_undefined(&undefined)?;
                }
                Value::Undef
            }
        };
        if !found.is_undef() || self.exists(&name, invocation) {
            self.event(|| TraceEvent::Found(name.to_string(), found.clone()));
            return Ok(found);
        }
        match default {
            Some(value) => {
                self.event(|| TraceEvent::FoundInDefaults(name.to_string(), value.clone()));
                Ok(value.clone())
            }
            None => Ok(Value::Undef),
        }
    }

    fn exists(&self, name: &str, invocation: &Invocation) -> bool {
        let calling = matches!(
            name,
            "calling_class" | "calling_class_path" | "calling_module"
        );
        (invocation.hiera_scope && calling) || self.scope.exists(name)
    }

    /// The variable, through `Hiera::Scope` while a version 3 configuration is read
    /// (`hiera/scope.rb`).
    fn hiera_variable(
        &mut self,
        name: &str,
        segments: &[Segment],
        invocation: &Invocation,
    ) -> Found<Variable> {
        if self.is_set_later(name) {
            return Ok(Variable::Unknown);
        }
        if !invocation.hiera_scope {
            return Ok(self.scope.dotted(name, segments));
        }
        let class = self.scope.class_name().map(str::to_lowercase);
        let found = match name {
            "calling_class" => Variable::Known(class.map(Value::from).unwrap_or_default()),
            "calling_class_path" => match class {
                Some(class) => Variable::Known(Value::from(class.replace("::", "/"))),
                None => return no_method("gsub", &Value::Undef),
            },
            "calling_module" => self.scope.dotted("module_name", &[]),
            _ => self.scope.dotted(name, segments),
        };
        Ok(match found {
            Variable::Known(value) if value.as_str() == Some("") => Variable::Known(Value::Undef),
            other @ (Variable::Known(_) | Variable::Undefined(_) | Variable::Unknown) => other,
        })
    }

    /// `Scope#variable_not_found`
    fn report_undefined(&mut self, undefined: &Undefined) -> Found<()> {
        if undefined.silent {
            return Ok(());
        }
        self.note_version();
        let Undefined { name, reason, .. } = undefined;
        match self.strict() {
            Strict::Off => {}
            Strict::Error if self.lenient => self.warn_once(
                &format!("Variable: {name}"),
                &format!(
                    "Interpolation failed with '{name}', but compilation continuing; {reason}"
                ),
                None,
            ),
            Strict::Error => {
                let cause = Cause::UndefinedVariable {
                    name: name.as_str().into(),
                    reason: reason.as_str().into(),
                };
                return raise(ErrorClass::Argument, cause);
            }
            Strict::Warning => self.warn_once(
                &format!("Variable: {name}"),
                &format!("Undefined variable '{name}'; {reason}"),
                None,
            ),
        }
        Ok(())
    }
}
