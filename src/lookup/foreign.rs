//! Data functions other than Puppet's own. Their definition is searched for the accepted arguments
//! and never run. A call that Puppet would refuse is an error; the result of any other call is
//! unknown (`function_provider.rb`, `pops/functions/dispatcher.rb`).

use super::backend::ValueOrigin;
use super::engine::Engine;
use super::error::{ErrorClass, Found, LookupError, no_method, raise};
use super::function::{FunctionSource, find_function};
use super::signature::{self, Signature};
use crate::datatype::{self, Count, Signatures, Type};
use crate::hierarchy::{Function, FunctionKind};
use crate::value::{HashMap, Value};

/// The definition of a level's function.
pub(super) enum FunctionDefinition {
    Missing,
    /// The module that it should be in is not visible.
    ModuleMissing,
    /// It exists, but its parameters are unknown.
    Opaque,
    /// Puppet refuses its declared return type.
    BadReturn(String),
    /// These calls are accepted.
    Callable(Signatures),
}

/// Reads a function's signatures from a file's text, by the function's name.
type ReadSignatures = fn(&str, &str) -> Option<Vec<Signature>>;

impl Engine<'_> {
    /// Handles a function that is never run: the caller records that its result is unknown, unless
    /// Puppet would raise an error. `key` is the argument before the options, for functions that
    /// have one.
    pub(super) fn foreign(&mut self, origin: &ValueOrigin<'_>, key: Option<Value>) -> Found<()> {
        let Function { kind, name } = &origin.level.function;
        let definition = origin
            .level
            .definition
            .get_or_init(|| self.definition(&origin.level.function));
        let may_be_missing = self.settings().modules_may_be_missing;
        match definition {
            FunctionDefinition::Missing
                if !may_be_missing && *kind != FunctionKind::Hiera3Backend =>
            {
                return Err(LookupError::issue(
                    "HIERA_DATA_PROVIDER_FUNCTION_NOT_FOUND",
                    format!("Unable to find '{}' function named '{name}'", kind.key()),
                    origin.level.config.clone(),
                    None,
                )
                .into());
            }
            FunctionDefinition::ModuleMissing if !may_be_missing => {
                return no_method("load_typed", &Value::Undef);
            }
            FunctionDefinition::BadReturn(message) => {
                return raise(ErrorClass::TypeAssertion, message.clone());
            }
            FunctionDefinition::Callable(signatures) => {
                let arguments = arguments(origin, key);
                if let Some(message) = refusal(signatures, &arguments) {
                    return raise(ErrorClass::Argument, message);
                }
            }
            FunctionDefinition::Missing
            | FunctionDefinition::ModuleMissing
            | FunctionDefinition::Opaque => {}
        }
        Ok(())
    }

    fn definition(&self, function: &Function) -> FunctionDefinition {
        let Function { kind, name } = function;
        let found = find_function(self.session.files, self.session.environment, name);
        let (path, read): (_, ReadSignatures) = match found {
            FunctionSource::Missing => return FunctionDefinition::Missing,
            FunctionSource::ModuleMissing => return FunctionDefinition::ModuleMissing,
            FunctionSource::Ruby(path) => (path, signature::of_ruby),
            FunctionSource::Puppet(path) => (path, signature::of_puppet),
        };
        // A class of Hiera 3 is no function.
        if *kind == FunctionKind::Hiera3Backend {
            return FunctionDefinition::Opaque;
        }
        let text = self.session.files.text(&path).ok();
        let Some(list) = text.and_then(|text| read(&text, name)) else {
            return FunctionDefinition::Opaque;
        };
        let returned = match kind {
            FunctionKind::DataHash | FunctionKind::V4DataHash => "Hash[RichDataKey, RichData]",
            FunctionKind::LookupKey | FunctionKind::DataDig | FunctionKind::Hiera3Backend => {
                "RichData"
            }
        };
        let returned = datatype::parse_known(returned);
        for signature in &list {
            let declared = self.readable(signature.returns.as_deref());
            let subject = format!("Return type of '{}' function named '{name}'", kind.key());
            if declared != Type::Any
                && let Err(mismatches) = datatype::check_return(&returned, &declared)
            {
                return FunctionDefinition::BadReturn(mismatches.describe(&subject));
            }
        }
        let parameter = |parameter: signature::SignatureParameter| datatype::FunctionParameter {
            expected: self.readable(parameter.expected.as_deref()),
            name: parameter.name,
            count: parameter.count,
        };
        FunctionDefinition::Callable(Signatures {
            name: name.to_string(),
            list: list
                .into_iter()
                .map(|signature| signature.parameters.into_iter().map(parameter).collect())
                .collect(),
        })
    }

    /// A type, if it can be resolved; an unresolved type might accept anything.
    fn readable(&self, text: Option<&str>) -> Type {
        text.and_then(|text| self.parse_type(text).ok())
            .filter(|read| !read.has_reference())
            .unwrap_or(Type::Any)
    }
}

/// The arguments that Puppet passes before the context.
pub(super) fn arguments(origin: &ValueOrigin<'_>, key: Option<Value>) -> Vec<Value> {
    if origin.level.function.kind == FunctionKind::V4DataHash {
        return Vec::new();
    }
    let mut options: HashMap = origin.level.options.as_hash().cloned().unwrap_or_default();
    if let Some(place) = origin.place {
        let option = if place.is_uri { "uri" } else { "path" };
        options.insert(Value::string(option), Value::String(place.place.clone()));
    }
    key.into_iter()
        .chain([Value::from(options), Value::Undef])
        .collect()
}

/// Why Puppet refuses a call, if that is certain and its message is known.
fn refusal(signatures: &Signatures, arguments: &[Value]) -> Option<String> {
    let mut signatures = signatures.clone();
    if let Some(context) = arguments.len().checked_sub(1) {
        for parameters in &mut signatures.list {
            // Whether a type accepts the context is unknown here.
            let at = context.min(parameters.len().saturating_sub(1));
            if let Some(parameter) = parameters.get_mut(at)
                && (at == context || matches!(parameter.count, Count::Any | Count::Some))
            {
                parameter.expected = Type::Any;
            }
        }
    }
    if signatures.matching(arguments).is_some() {
        return None;
    }
    let refusal = signatures.refusal(arguments);
    // The list of all signatures prints the types in full, including the context's.
    (!refusal.lists_signatures()).then(|| refusal.to_string())
}
