//! `new`: makes values from other values, like the `new_function` of each type in `pops/types`.

use std::sync::Arc;

use super::collections::{hash, listed};
use super::infer::infer;
use super::init::{Maker, accepts_alone, maker, suits};
use super::instance::integer;
use super::interpret::{Aliases, NoAliases};
use super::mismatch::check;
use super::model::{ObjectType, Type};
use super::numbers::number;
use super::semver::range;
use super::signatures::{Constructor, Signatures, signatures};
use super::texts::{binary, escaped, timespan, timestamp, uri_text, version};
use super::{is_instance, strings, uri};
use crate::value::{Missing, Opaque, Value};

/// Maximum length of a chain of types (`Optional`, `Init`, aliases).
const MAX_DEPTH: usize = 50;

/// Makes an instance of a type from a value, as `new(T, value, args…)`.
///
/// # Errors
/// The message of the error Puppet raises.
pub fn convert(
    target: &Type,
    value: &Value,
    arguments: &[Value],
    aliases: &dyn Aliases,
) -> Result<Value, String> {
    let all = [std::slice::from_ref(value), arguments].concat();
    new(target, &all, aliases, 0)
}

/// Like [`convert`], for a type from `lookup_options`: a value that is no type is refused as Puppet
/// does.
///
/// # Errors
/// The message of the error Puppet raises.
pub fn convert_to(
    target: &Value,
    value: &Value,
    arguments: &[Value],
    aliases: &dyn Aliases,
) -> Result<Value, String> {
    let Some(target) = super::type_of_value(target) else {
        return Err(format!(
            "'new' parameter 'type' expects a Type value, got {}",
            super::infer_set(target).name()
        ));
    };
    convert(&target, value, arguments, aliases)
}

fn new(target: &Type, all: &[Value], aliases: &dyn Aliases, depth: usize) -> Result<Value, String> {
    if let [only] = all
        && !matches!(target, Type::Init(..))
        && is_instance(target, only)
        && !matches!(only, Value::Opaque(_))
    {
        return Ok(only.clone());
    }
    let made = call(target, all, aliases, depth)?;
    match check(target, &made) {
        Ok(()) => Ok(made),
        Err(mismatches) => {
            Err(mismatches.describe(&format!("Converted value from {target}.new()")))
        }
    }
}

fn call(
    target: &Type,
    all: &[Value],
    aliases: &dyn Aliases,
    depth: usize,
) -> Result<Value, String> {
    if depth > MAX_DEPTH {
        return Err("types refer to one another too deeply".to_owned());
    }
    let function = match maker(target)? {
        Maker::Own(function) => function,
        Maker::Of(inner) => return call(&inner, all, aliases, depth + 1),
        Maker::Init(inner, arguments) => {
            let all = init_arguments(target, &inner, &arguments, all)?;
            return new(&inner, &all, aliases, depth + 1);
        }
    };
    // An opaque value stays opaque; only wrapping it is certain.
    if let Some(Value::Opaque(opaque)) = all.first()
        && function != Constructor::Sensitive
    {
        return Ok(Value::Opaque(opaque.clone()));
    }
    let known = signatures(function);
    let read;
    let all = match all {
        [Value::Bytes(bytes), others @ ..] if reads_text(function, others) => {
            let text = Value::from(String::from_utf8_lossy(bytes).into_owned());
            read = [&[text], others].concat();
            read.as_slice()
        }
        _ => all,
    };
    let Some(matched) = known.matching(all) else {
        return Err(mismatch(function, known, all));
    };
    let first = all.first().unwrap_or(&Value::Undef);
    match function {
        Constructor::Integer | Constructor::Float | Constructor::Numeric => {
            number(function, matched, all)
        }
        Constructor::String => {
            if all.iter().any(holds_opaque) {
                return Ok(unknown("part of the value"));
            }
            // Formats by type (`StringConverter#validate_input`).
            if let Some(Value::Hash(_)) = all.get(1) {
                return Ok(unknown("a text in a format of its type"));
            }
            let format = all.get(1).and_then(Value::as_str);
            strings::convert(first, format).map(Value::from)
        }
        Constructor::Boolean => Ok(Value::Bool(match first {
            Value::Float(number) => *number != 0.0,
            Value::Int(number) => *number != 0,
            Value::Bool(truth) => *truth,
            Value::String(text) => !matches!(text.to_lowercase().as_str(), "false" | "no" | "n"),
            _ => true,
        })),
        Constructor::Array if matched == 1 => Ok(match first {
            Value::Array(_) => first.clone(),
            other => Value::array([other.clone()]),
        }),
        Constructor::Array => listed(first),
        Constructor::Hash => hash(matched, all),
        Constructor::Sensitive => Ok(match first {
            Value::Sensitive(_) => first.clone(),
            other => Value::Sensitive(Arc::new(other.clone())),
        }),
        Constructor::Timestamp => timestamp(matched, all),
        Constructor::Timespan => timespan(matched, all),
        Constructor::SemVer => version(matched, all),
        Constructor::SemVerRange => match first.as_str() {
            Some(text) => range(text),
            None => Ok(unknown("a range of versions")),
        },
        Constructor::Deferred => Ok(object(ObjectType::Deferred, all)),
        Constructor::Error => Ok(object(ObjectType::Error, all)),
        Constructor::Binary => binary(matched, all),
        Constructor::Uri => match first {
            Value::String(text) => Ok(super::rich("URI", uri::read(text)?)),
            other => Ok(super::rich("URI", uri_text(other))),
        },
        Constructor::Regexp => {
            let source = first.as_str().unwrap_or_default();
            let source = if all.get(1) == Some(&Value::Bool(true)) {
                escaped(source)
            } else {
                source.to_owned()
            };
            match crate::regexp::Regexp::lazy(&source) {
                Err(crate::regexp::RegexpError::Invalid { message }) => Err(message),
                Ok(_) | Err(crate::regexp::RegexpError::Unsupported { .. }) => {
                    Ok(super::regexp_value(&source))
                }
            }
        }
        Constructor::Type => {
            let text = first.as_str().unwrap_or_default();
            // It has no loader (`TypeParser#parse` of `PTypeType.new_function`).
            super::parse(text, &NoAliases)
                .map(|t| super::type_value(&t))
                .map_err(|error| error.to_string())
        }
        Constructor::Unit => Ok(first.clone()),
    }
}

/// An instance of an object type, from a hash of its attributes or from the attributes in order;
/// attributes with their default value are omitted (`puppet/datatypes`,
/// `pops/types/puppet_object.rb`).
fn object(kind: ObjectType, all: &[Value]) -> Value {
    let given = |(at, name): (usize, &&'static str)| match all {
        [Value::Hash(_)] => all[0].get(name),
        _ => all.get(at),
    };
    let attributes = kind.attributes().iter().enumerate();
    let shown = attributes.filter_map(|(at, name)| {
        let value = given((at, name)).filter(|value| !value.is_undef())?;
        Some((*name, value.clone()))
    });
    let shown = strings::programmatic(&Value::hash(shown));
    super::rich(kind.name(), format!("{}({shown})", kind.name()))
}

/// The arguments of `new` for the type in an `Init`.
fn init_arguments(
    target: &Type,
    inner: &Type,
    arguments: &[Value],
    all: &[Value],
) -> Result<Vec<Value>, String> {
    if !arguments.is_empty() && !suits(inner, arguments) {
        return Err(format!(
            "The type '{target}' does not represent a valid set of parameters for {}.new()",
            inner.generalize().name()
        ));
    }
    let [value] = all else {
        return Err(format!("'new_Init' expects 1 argument, got {}", all.len()));
    };
    let mut all = vec![value.clone()];
    if arguments.is_empty()
        && let Value::Array(elements) = value
        && !accepts_alone(inner, value)
    {
        all = elements.to_vec();
    }
    all.extend(arguments.iter().cloned());
    Ok(all)
}

/// Whether a function parses text. Ruby treats a text of YAML's `!!binary` like any other.
fn reads_text(function: Constructor, others: &[Value]) -> bool {
    match function {
        Constructor::Integer
        | Constructor::Float
        | Constructor::Numeric
        | Constructor::Boolean
        | Constructor::Timestamp
        | Constructor::Timespan
        | Constructor::SemVer
        | Constructor::SemVerRange
        | Constructor::Uri
        | Constructor::Regexp
        | Constructor::Hash
        | Constructor::Deferred
        | Constructor::Error
        | Constructor::Binary
        | Constructor::Type => true,
        // With a second argument the text is wrapped unchanged.
        Constructor::Array => others.is_empty(),
        Constructor::String | Constructor::Sensitive | Constructor::Unit => false,
    }
}

pub(super) fn unknown(because: &str) -> Value {
    Value::Opaque(Arc::new(Opaque::Unknown {
        text: String::new(),
        because: Missing::Other(because.to_owned()),
    }))
}

fn holds_opaque(value: &Value) -> bool {
    match value {
        Value::Opaque(_) => true,
        Value::Array(elements) => elements.iter().any(holds_opaque),
        Value::Hash(hash) => hash.iter().any(|(k, v)| holds_opaque(k) || holds_opaque(v)),
        _ => false,
    }
}

/// The message for arguments that match no signature; some functions have their own.
fn mismatch(function: Constructor, known: &Signatures, all: &[Value]) -> String {
    let (kind, most) = match function {
        Constructor::Integer => ("Integer", 3),
        Constructor::Float => ("Float", 2),
        Constructor::Numeric => ("Numeric", 2),
        Constructor::Boolean => ("Boolean", 1),
        Constructor::Array => ("Array", 2),
        Constructor::SemVer => match all {
            [Value::String(text)] => {
                return format!(
                    "'new_Version' The string '{text}' cannot be converted to a SemVer"
                );
            }
            _ => return known.refusal(all).to_string(),
        },
        _ => return known.refusal(all).to_string(),
    };
    let rest_fits = match function {
        Constructor::Integer => {
            all.get(1).is_none_or(|radix| integer(radix).is_some())
                && all.get(2).is_none_or(|abs| matches!(abs, Value::Bool(_)))
        }
        _ => all.get(1).is_none_or(|flag| matches!(flag, Value::Bool(_))),
    };
    if all.len() > most || all.is_empty() || !rest_fits {
        return known.refusal(all).to_string();
    }
    let radix = |radix: Option<&Value>| match radix {
        None | Some(Value::Int(2 | 8 | 10 | 16) | Value::Default | Value::Undef) => None,
        Some(other) => Some(format!(
            "Illegal radix: {}, expected 2, 8, 10, 16, or default",
            strings::puppet_string(other)
        )),
    };
    let mut subject = &all[0];
    if function == Constructor::Integer
        && all.len() == 1
        && let Value::Hash(hash) = subject
    {
        let convertible = &known.list[0][0].expected;
        match subject.get("from") {
            Some(from) if !is_instance(convertible, from) => subject = from,
            _ => {
                if let Some(text) = radix(hash.get(&Value::from("radix"))) {
                    return text;
                }
                let checked = check(&known.list[1][0].expected, subject);
                return checked.map_or_else(|m| m.describe("Integer.new"), |()| String::new());
            }
        }
    } else if function == Constructor::Integer
        && let Some(text) = radix(all.get(1))
    {
        return text;
    }
    let problem = match subject {
        Value::String(text) if function != Constructor::Array => {
            format!("The string '{text}' cannot be converted to {kind}")
        }
        other => match infer(other) {
            Ok(t) => format!(
                "Value of type {} cannot be converted to {kind}",
                t.generalize()
            ),
            Err(failed) => return failed,
        },
    };
    format!("'{}' {problem}", known.name)
}
