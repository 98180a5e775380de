//! Types with parameters in brackets, as `pops/types/type_parser.rb` makes them. It must not know
//! names other than Puppet's own types.

use std::sync::Arc;

use super::ParseError;
use super::builtin::plain;
use super::interpret::Interpreted;
use super::model::{EnumCase, EnumType, StringType, Type};
use super::parameters::{
    Param, callable, disordered, element, float_bound, integer_range, patterns, range, resource,
    ruby_class, size_or_type, time_range, trailing_range, type_of, value_of, wrong_count,
};
use super::ranges::{FloatRange, Range, TimeRange};
use super::{time, uri};
use crate::syntax::puppet::without_colons;
use crate::value::float_to_s;

/// Makes the error for parameters that a type does not take.
type Refuse<'a> = &'a dyn Fn() -> ParseError;

/// One of Puppet's own types with its parameters; `None` for another name.
pub(super) fn parameterized(
    name: &str,
    params: &mut Vec<Param>,
    refuse: Refuse<'_>,
) -> Interpreted<Option<Type>> {
    let count = params.len();
    let mut inner = |shown: &str| -> Interpreted<Option<Arc<Type>>> {
        let inner = a_type(&only(shown, "1", params)?, refuse)?;
        Ok(Some(Arc::new(inner)))
    };
    Ok(Some(match name.to_ascii_lowercase().as_str() {
        "array" => array(params, refuse)?,
        "hash" => hash(params, refuse)?,
        "collection" => Type::Collection(Some(size("Collection", params, refuse)?)),
        "string" => Type::String(StringType::Size(size("String", params, refuse)?)),
        "integer" => integer(params, refuse)?,
        "float" => float(params, refuse)?,
        "boolean" => match only("Boolean", "1", params)? {
            Param::Boolean(truth) => Type::Boolean(Some(truth)),
            _ => return Err(ParseError::new("Boolean parameter must be true or false")),
        },
        "enum" => enumeration(params)?,
        "pattern" => Type::Pattern(patterns(std::mem::take(params))?.into()),
        "regexp" => regexp(&only("Regexp", "1", params)?)?,
        "variant" => {
            let types = params.iter().map(|param| a_type(param, refuse));
            Type::variant(types.collect::<Interpreted<Vec<Type>>>()?)
        }
        "optional" => {
            let inner = type_or_text(only("Optional", "1", params)?, refuse)?;
            Type::Optional(Some(Arc::new(inner)))
        }
        "notundef" => Type::not_undef(type_or_text(only("NotUndef", "0 to 1", params)?, refuse)?),
        "type" => Type::Type(inner("Type")?),
        "iterable" => Type::Iterable(inner("Iterable")?),
        "iterator" => Type::Iterator(inner("Iterator")?),
        "sensitive" => {
            let inner = a_type(&only("Sensitive", "0 to 1", params)?, refuse)?;
            Type::Sensitive(Arc::new(inner.generalize()))
        }
        "init" => {
            let inner = a_type(&params.remove(0), refuse)?;
            Type::Init(
                Some(Arc::new(inner)),
                params.drain(..).map(value_of).collect(),
            )
        }
        "tuple" => {
            let size = trailing_range(params, refuse)?;
            let types = params.drain(..).map(type_of).collect();
            Type::Tuple(types, size.map(|size| size.to_size()))
        }
        "struct" => match only("Struct", "1", params)? {
            Param::Hash(entries) => {
                let elements = entries.into_iter();
                let elements = elements.map(|(key, value)| element(key, type_of(value)));
                Type::Struct(elements.collect::<Interpreted<_>>()?)
            }
            _ => return Err(refuse()),
        },
        "callable" => callable(std::mem::take(params), refuse)?,
        "runtime" => match params.as_slice() {
            [Param::Text(runtime), Param::Text(class)] => {
                Type::Runtime(Some(runtime.as_str().into()), Some(class.as_str().into()))
            }
            [_, _] => return Err(refuse()),
            _ => return Err(wrong_count("Runtime", "2", count)),
        },
        "timespan" => Type::Timespan(time_range("Timespan", params, span, TimeRange::spans)?),
        "timestamp" => Type::Timestamp(time_range("Timestamp", params, stamp, TimeRange::stamps)?),
        "semver" => {
            let ranges = params
                .iter()
                .map(|param| text(param, refuse).map(Arc::from));
            Type::SemVer(ranges.collect::<Interpreted<_>>()?)
        }
        "uri" => {
            let own = only("URI", "1", params)?;
            Type::Uri(Some(uri::parameters_text(text(&own, refuse)?).into()))
        }
        "class" => {
            let own = only("Class", "1", params)?;
            Type::Class(Some(without_colons(text(&own, refuse)?).into()))
        }
        "resource" => resource(std::mem::take(params), count)?,
        "object" | "typeset" => {
            only("Object", "1", params)?;
            Type::Object(None)
        }
        // An alias, although Puppet's parser lists its name among the types.
        "data" => return Err(unparameterized(name)),
        _ if plain(without_colons(name)).is_some() => return Err(unparameterized(name)),
        _ => return Ok(None),
    }))
}

pub(super) fn only(shown: &str, required: &str, params: &mut Vec<Param>) -> Interpreted<Param> {
    let count = params.len();
    match params.pop() {
        Some(param) if params.is_empty() => Ok(param),
        _ => Err(wrong_count(shown, required, count)),
    }
}

pub(super) fn unparameterized(name: &str) -> ParseError {
    ParseError::new(&format!("Not a parameterized type <{name}>"))
}

fn a_type(param: &Param, refuse: Refuse<'_>) -> Interpreted<Type> {
    match param {
        Param::Type(t) => Ok(t.clone()),
        _ => Err(refuse()),
    }
}

fn text<'a>(param: &'a Param, refuse: Refuse<'_>) -> Interpreted<&'a str> {
    match param {
        Param::Text(text) => Ok(text),
        _ => Err(refuse()),
    }
}

fn span(text: &str) -> Result<i128, String> {
    time::parse_timespan(text, time::TIMESPAN_FORMATS)
}

fn stamp(text: &str) -> Result<i128, String> {
    time::parse_timestamp(text, None, None)
}

fn type_or_text(param: Param, refuse: Refuse<'_>) -> Interpreted<Type> {
    match param {
        Param::Text(text) => Ok(Type::String(StringType::Value(text.into()))),
        param => a_type(&param, refuse),
    }
}

fn array(params: &[Param], refuse: Refuse<'_>) -> Interpreted<Type> {
    let (element, size) = match params {
        [Param::Type(element)] => (element.clone(), None),
        [_] => return Err(refuse()),
        [Param::Type(element), size] => (element.clone(), Some(size_or_type(size, refuse)?)),
        [low, high] => (Type::Default, Some(range(low, high, refuse)?)),
        [element, low, high] => {
            let element = a_type(element, refuse)?;
            (element, Some(range(low, high, refuse)?))
        }
        _ => return Err(wrong_count("Array", "1 to 3", params.len())),
    };
    Ok(Type::array(element, size))
}

fn hash(params: &[Param], refuse: Refuse<'_>) -> Interpreted<Type> {
    let (key, value, size) = match params {
        [Param::Type(key), Param::Type(value)] => (key.clone(), value.clone(), None),
        [low, high] => {
            let size = range(low, high, refuse)?;
            (Type::Default, Type::Default, Some(size))
        }
        [key, value, size] => {
            let size = size_or_type(size, refuse)?;
            (a_type(key, refuse)?, a_type(value, refuse)?, Some(size))
        }
        [key, value, low, high] => {
            let size = range(low, high, refuse)?;
            (a_type(key, refuse)?, a_type(value, refuse)?, Some(size))
        }
        _ => return Err(wrong_count("Hash", "2 to 4", params.len())),
    };
    Ok(Type::hash(key, value, size))
}

fn size(shown: &str, params: &[Param], refuse: Refuse<'_>) -> Interpreted<Range> {
    let size = match params {
        [size] => size_or_type(size, refuse)?,
        [low, high] => range(low, high, refuse)?,
        _ => return Err(wrong_count(shown, "1 to 2", params.len())),
    };
    Ok(size.to_size())
}

fn integer(params: &[Param], refuse: Refuse<'_>) -> Interpreted<Type> {
    Ok(match params {
        [Param::Default] => Type::integer(),
        [low @ Param::Integer(_)] => Type::Integer(range(low, &Param::Default, refuse)?),
        [_] => return Err(refuse()),
        [low, high] => Type::Integer(integer_range(low, high, refuse)?),
        _ => return Err(wrong_count("Integer", "1 or 2", params.len())),
    })
}

fn float(params: &[Param], refuse: Refuse<'_>) -> Interpreted<Type> {
    match params {
        [Param::Default | Param::Integer(_) | Param::Float(_)] | [_, _] => {
            let bound = |param: Option<&Param>| param.map_or(Ok(None), float_bound);
            let from = bound(params.first())?;
            let to = bound(params.get(1))?;
            match (from, to) {
                (Some(low), Some(high)) if low > high => {
                    Err(disordered(&float_to_s(low), &float_to_s(high)))
                }
                _ => Ok(Type::Float(FloatRange { from, to })),
            }
        }
        [_] => Err(refuse()),
        _ => Err(wrong_count("Float", "1 or 2", params.len())),
    }
}

fn enumeration(params: &mut Vec<Param>) -> Interpreted<Type> {
    let mut case = EnumCase::Sensitive;
    if let Some(Param::Boolean(insensitive)) = params.last() {
        if *insensitive {
            case = EnumCase::Insensitive;
        }
        params.pop();
    }
    if params.is_empty() {
        return Err(wrong_count("Enum", "1 or more", 0));
    }
    let refuse = || ParseError::new("Enum parameters must be identifiers or strings");
    let values = params
        .iter()
        .map(|param| text(param, &refuse).map(Arc::from));
    let values = values.collect::<Interpreted<Vec<Arc<str>>>>()?;
    Ok(Type::Enum(Arc::new(EnumType::new(values, case))))
}

fn regexp(param: &Param) -> Interpreted<Type> {
    match param {
        Param::Regexp(source) | Param::Text(source) => {
            Ok(Type::Regexp(Some(source.as_str().into())))
        }
        other => Err(ParseError::new(&format!(
            "no implicit conversion of {} into String",
            ruby_class(other)
        ))),
    }
}
