//! The parameters in the brackets of a type, and the parts of types made from them
//! (`pops/types/type_factory.rb`).

use std::sync::Arc;

use num_bigint::BigInt;

use super::ParseError;
use super::interpret::Interpreted;
use super::model::{
    CallableType, Digits, Element, Pattern, Presence, Range, ResourceType, StringType, TimeRange,
    Type,
};
use super::{texts, time};
use crate::value::{HashMap, Value, float_to_s};

#[derive(Clone, Debug)]
pub(super) enum Param {
    Type(Type),
    Integer(BigInt),
    Float(f64),
    Text(String),
    Regexp(String),
    Boolean(bool),
    Default,
    Undef,
    List(Vec<Param>),
    Hash(Vec<(Param, Param)>),
}

impl Param {
    /// The parameter after a minus. Besides numbers, Ruby allows it for strings.
    pub(super) fn negated(self) -> Interpreted<Param> {
        match self {
            Param::Integer(number) => Ok(Param::Integer(-number)),
            Param::Float(number) => Ok(Param::Float(-number)),
            Param::Text(_) => Ok(self),
            _ => Err(undefined_method("-@", self)),
        }
    }
}

fn undefined_method(name: &str, param: Param) -> ParseError {
    let class = own_class(&param);
    // Ruby inspects a type as an object with an address.
    let shown = match param {
        Param::Type(Type::Reference(text)) => {
            let text = super::ruby_inspect(&text);
            format!("#<{class}:0x0000000000000000 @type_string={text}>")
        }
        Param::Type(_) => format!("#<{class}:0x0000000000000000>"),
        other => format!("{}:{class}", value_of(other).inspect()),
    };
    ParseError::new(&format!("undefined method `{name}' for {shown}"))
}

/// The class name.
fn own_class(param: &Param) -> String {
    match param {
        Param::Type(t) => format!("Puppet::Pops::Types::P{}Type", t.simple_name()),
        other => value_of(other.clone()).ruby_class().to_owned(),
    }
}

pub(super) fn wrong_count(name: &str, required: &str, given: usize) -> ParseError {
    ParseError::new(&format!(
        "Invalid number of type parameters specified: {name} requires {required}, {given} provided"
    ))
}

/// The error for bounds in the wrong order; Puppet's message lacks the closing parenthesis.
pub(super) fn disordered(from: &str, to: &str) -> ParseError {
    ParseError::new(&format!(
        "'from' must be less or equal to 'to'. Got ({from}, {to}"
    ))
}

pub(super) fn is_range_param(param: &Param) -> bool {
    matches!(param, Param::Integer(_) | Param::Default)
        || matches!(param, Param::Text(text) if text == "default")
}

pub(super) fn range(
    low: &Param,
    high: &Param,
    refuse: &dyn Fn() -> ParseError,
) -> Interpreted<Range> {
    if !is_range_param(low) || !is_range_param(high) {
        return Err(refuse());
    }
    let bound = |param: &Param| match param {
        Param::Integer(number) => Some(number.clone()),
        _ => None,
    };
    let range = Range {
        from: bound(low),
        to: bound(high),
    };
    if let (Some(from), Some(to)) = (&range.from, &range.to)
        && from > to
    {
        return Err(disordered(&from.to_string(), &to.to_string()));
    }
    Ok(range)
}

/// The range of an `Integer`. Puppet compares the bounds without checking that they are numbers.
pub(super) fn integer_range(
    low: &Param,
    high: &Param,
    refuse: &dyn Fn() -> ParseError,
) -> Interpreted<Range> {
    let unbounded = |param: &Param| match param {
        Param::Undef => Param::Default,
        other => other.clone(),
    };
    let (low, high) = (unbounded(low), unbounded(high));
    // Ruby's name for the other operand if a comparison fails.
    let other = match &high {
        Param::Integer(_) | Param::Float(_) | Param::Boolean(_) => value_of(high.clone()).inspect(),
        _ => ruby_class(&high),
    };
    let incomparable =
        |class: &str| ParseError::new(&format!("comparison of {class} with {other} failed"));
    match (&low, &high) {
        (Param::Integer(from), Param::Float(to)) => match from.to_string().parse::<f64>() {
            Ok(number) if number > *to => Err(disordered(&from.to_string(), &float_to_s(*to))),
            _ => Err(refuse()),
        },
        (Param::Float(from), Param::Integer(to)) => match to.to_string().parse::<f64>() {
            Ok(number) if *from > number => Err(disordered(&float_to_s(*from), &to.to_string())),
            _ => Err(refuse()),
        },
        (Param::Float(from), Param::Float(to)) if from > to => {
            Err(disordered(&float_to_s(*from), &float_to_s(*to)))
        }
        (Param::Float(_), Param::Default | Param::Float(_)) => Err(refuse()),
        (Param::Text(from), Param::Text(to)) if from > to => Err(disordered(from, to)),
        (Param::Text(_), Param::Integer(_) | Param::Float(_)) => Err(incomparable("String")),
        (
            Param::Integer(_) | Param::Float(_),
            Param::Boolean(_) | Param::List(_) | Param::Hash(_) | Param::Regexp(_) | Param::Type(_),
        ) => Err(incomparable(&ruby_class(&low))),
        (Param::Integer(_), Param::Text(text)) if text != "default" => Err(incomparable("Integer")),
        (Param::Boolean(_), _) => Err(undefined_method(">", low)),
        _ => range(&low, &high, refuse),
    }
}

/// A bound of a `Float`, made by Ruby's `Float()`.
pub(super) fn float_bound(param: &Param) -> Interpreted<Option<f64>> {
    let failed = match param {
        Param::Default | Param::Undef => return Ok(None),
        Param::Float(number) => return Ok(Some(*number)),
        Param::Integer(number) => return Ok(number.to_string().parse().ok()),
        Param::Text(text) => match super::numbers::ruby_float_of(text) {
            Some(number) => return Ok(Some(number)),
            None => format!("invalid value for Float(): {}", super::ruby_inspect(text)),
        },
        Param::Type(_) | Param::Regexp(_) | Param::Boolean(_) | Param::List(_) | Param::Hash(_) => {
            format!("can't convert {} into Float", ruby_class(param))
        }
    };
    Err(ParseError::new(&failed))
}

/// The range of the type `name`: `read` parses a text, `show` prints both bounds.
pub(super) fn time_range(
    name: &str,
    params: &[Param],
    read: impl Fn(&str) -> Result<i128, String>,
    show: fn(TimeRange) -> (Option<String>, Option<String>),
) -> Interpreted<TimeRange> {
    if params.len() > 2 {
        return Err(wrong_count(name, "0 to 2", params.len()));
    }
    let bound = |param: Option<&Param>| match param {
        None | Some(Param::Default | Param::Undef) => Ok((None, Digits::Needed)),
        Some(Param::Text(text)) => match read(text) {
            Ok(time) => Ok((Some(time), Digits::Needed)),
            Err(error) => Err(ParseError::new(&error)),
        },
        Some(Param::Integer(seconds)) => {
            let seconds = i128::try_from(seconds).ok();
            Ok((
                seconds.and_then(|s| s.checked_mul(time::SECOND)),
                Digits::Needed,
            ))
        }
        Some(Param::Float(seconds)) => {
            // Too many nanoseconds count as no bound.
            Ok((time::from_seconds(*seconds), Digits::All))
        }
        Some(hash @ Param::Hash(_)) => {
            let time = time_of_hash(name, value_of(hash.clone()))?;
            Ok((time, Digits::Needed))
        }
        Some(other) => Err(ParseError::new(&format!(
            "Unable to create a Puppet::Pops::Time::{name} from a {}",
            own_class(other)
        ))),
    };
    let (from, from_digits) = bound(params.first())?;
    let (to, to_digits) = bound(params.get(1))?;
    let range = TimeRange {
        from,
        to,
        digits: (from_digits, to_digits),
    };
    if let (Some(low), Some(high)) = (from, to)
        && low > high
        && let (Some(low), Some(high)) = show(range)
    {
        return Err(disordered(&low, &high));
    }
    Ok(range)
}

/// The time that `new` makes from a hash.
fn time_of_hash(name: &str, hash: Value) -> Interpreted<Option<i128>> {
    let of_text = hash.get("string").is_some();
    let (made, read): (_, fn(&str) -> Option<i128>) = if name == "Timestamp" {
        if !of_text {
            let message = "no implicit conversion of nil into String";
            return Err(ParseError::new(message));
        }
        (texts::timestamp(3, &[hash]), time::timestamp_of_text)
    } else {
        let matched = if of_text { 3 } else { 4 };
        (texts::timespan(matched, &[hash]), time::timespan_of_text)
    };
    let made = made.map_err(|error| ParseError::new(&error))?;
    Ok(match &made {
        Value::Rich(rich) => read(&rich.text),
        _ => None,
    })
}

pub(super) fn size_or_type(size: &Param, refuse: &dyn Fn() -> ParseError) -> Interpreted<Range> {
    if let Param::Type(Type::Integer(range)) = size {
        return Ok(range.clone());
    }
    range(size, &Param::Default, refuse)
}

/// The range at the end of a tuple's or callable's parameters.
pub(super) fn trailing_range(
    params: &mut Vec<Param>,
    refuse: &dyn Fn() -> ParseError,
) -> Interpreted<Option<Range>> {
    let zero = |param: Param| match param {
        Param::Default | Param::Text(_) => Param::Integer(0.into()),
        other => other,
    };
    if params.len() >= 2 && is_range_param(&params[params.len() - 2]) {
        let high = params.pop().unwrap_or(Param::Default);
        let low = params.pop().unwrap_or(Param::Default);
        return range(&zero(low), &high, refuse).map(Some);
    }
    if params.last().is_some_and(is_range_param) {
        let low = params.pop().unwrap_or(Param::Default);
        return range(&zero(low), &Param::Default, refuse).map(Some);
    }
    Ok(None)
}

/// `type_of` of the factory: a text is the name of a Ruby class, other literals have their inferred
/// type.
pub(super) fn type_of(param: Param) -> Type {
    match param {
        Param::Type(t) => t,
        Param::Text(class) => Type::Runtime(Some("ruby".into()), Some(class.into())),
        other => super::infer(&value_of(other)).map_or(Type::Unit, |t| t.generalize()),
    }
}

pub(super) fn value_of(param: Param) -> Value {
    match param {
        Param::Type(t) => super::type_value(&t),
        Param::Integer(number) => Value::from(number),
        Param::Float(number) => Value::Float(number),
        Param::Text(text) => Value::from(text),
        Param::Regexp(source) => super::rich("Regexp", source),
        Param::Boolean(truth) => Value::Bool(truth),
        Param::Default => Value::Default,
        Param::Undef => Value::Undef,
        Param::List(elements) => Value::array(elements.into_iter().map(value_of)),
        Param::Hash(entries) => {
            let entries = entries.into_iter();
            let entries = entries.map(|(key, value)| (value_of(key), value_of(value)));
            Value::from(entries.collect::<HashMap>())
        }
    }
}

/// The class name, as Ruby's conversions show it: a boolean by its value.
pub(super) fn ruby_class(param: &Param) -> String {
    match param {
        Param::Boolean(truth) => truth.to_string(),
        _ => own_class(param),
    }
}

pub(super) fn patterns(params: Vec<Param>) -> Interpreted<Vec<Pattern>> {
    let mut out: Vec<Pattern> = Vec::new();
    let mut add = |pattern: Pattern| {
        if !out.contains(&pattern) {
            out.push(pattern);
        }
    };
    for param in params {
        match param {
            Param::Text(source) | Param::Regexp(source) => {
                let pattern = Pattern::new(&source);
                if let Err(crate::regexp::RegexpError::Invalid { message }) = pattern.regexp() {
                    return Err(ParseError::new(&message));
                }
                add(pattern);
            }
            Param::Type(Type::Regexp(source)) => {
                add(Pattern::new(source.as_deref().unwrap_or_default()));
            }
            Param::Type(Type::Pattern(inner)) => inner.iter().cloned().for_each(&mut add),
            other => {
                return Err(ParseError::new(&format!(
                    "Only String, Regexp, Pattern-Type, and Regexp-Type are allowed: got '{}",
                    ruby_class(&other)
                )));
            }
        }
    }
    Ok(out)
}

pub(super) fn element(key: Param, value: Type) -> Interpreted<Element> {
    let literal = |t: &Type| match t {
        Type::String(StringType::Value(text)) => Some(text.clone()),
        _ => None,
    };
    let (name, presence) = match &key {
        Param::Text(text) if text.is_empty() => {
            return Err(ParseError::new(
                "Struct element key cannot be an empty String",
            ));
        }
        Param::Text(text) => {
            let presence = if super::assignable(&value, &Type::Undef) {
                Presence::Optional
            } else {
                Presence::Required
            };
            (Some(Arc::from(text.as_str())), presence)
        }
        Param::Type(Type::NotUndef(Some(inner))) => (literal(inner), Presence::Required),
        Param::Type(Type::Optional(Some(inner))) => (literal(inner), Presence::Optional),
        Param::Type(t @ Type::String(_)) => (literal(t), Presence::Required),
        Param::Type(Type::Enum(allowed)) if allowed.values.len() == 1 => {
            (allowed.values.first().cloned(), Presence::Required)
        }
        _ => {
            return Err(ParseError::new(&format!(
                "Illegal Struct member key type. Expected NotUndef, Optional, String, or Enum. \
                 Got: {}",
                ruby_class(&key)
            )));
        }
    };
    let Some(name) = name else {
        return Err(ParseError::new(
            "Unable to extract a non-empty literal string from Struct member key type",
        ));
    };
    Ok(Element {
        name,
        presence,
        value,
    })
}

pub(super) fn callable(
    mut params: Vec<Param>,
    refuse: &dyn Fn() -> ParseError,
) -> Interpreted<Type> {
    let mut returns = None;
    if params.len() > 2 && matches!(params[0], Param::List(_)) {
        let required = "2 when first parameter is an array";
        return Err(wrong_count("callable", required, params.len()));
    }
    if params.len() == 2 && matches!(params[0], Param::List(_)) {
        returns = params.pop().map(type_of);
        if let Some(Param::List(inner)) = params.pop() {
            params = inner;
        }
    }
    let block = match params.last() {
        Some(Param::Type(t)) if is_callable(t) => params.pop().map(type_of),
        _ => None,
    };
    // A number before a type is a parameter, not a bound.
    let bounds_a_type = matches!(
        params.as_slice(),
        [.., low, high] if is_range_param(low) && !is_range_param(high)
    );
    let size = if bounds_a_type {
        None
    } else {
        trailing_range(&mut params, refuse)?
    };
    let mut parameters: Vec<Type> = params.into_iter().map(type_of).collect();
    if parameters.is_empty()
        && size
            .as_ref()
            .is_some_and(|size| size.to.as_ref().is_none_or(|to| *to > 0.into()))
    {
        parameters.push(Type::Unit);
    }
    Ok(Type::Callable(Some(Arc::new(CallableType {
        parameters,
        size: size.map(|size| size.to_size()),
        block,
        returns,
    }))))
}

pub(super) fn is_callable(t: &Type) -> bool {
    match t {
        Type::Callable(_) => true,
        Type::Optional(Some(inner)) => is_callable(inner),
        _ => false,
    }
}

pub(super) fn resource(params: Vec<Param>, count: usize) -> Interpreted<Type> {
    let name = |param: &Param| match param {
        Param::Text(name) => Some(capitalized(name)),
        Param::Type(Type::Resource(Some(resource))) => Some(resource.name.to_string()),
        Param::Type(Type::Reference(text)) => Some(text.to_string()),
        _ => None,
    };
    let (first, title) = match params.as_slice() {
        [first] => (first, None),
        [first, Param::Text(title)] => (first, Some(Arc::from(title.as_str()))),
        _ => return Err(wrong_count("Resource", "1 or 2", count)),
    };
    let Some(name) = name(first) else {
        return Err(ParseError::new("The type name cannot be resolved"));
    };
    Ok(Type::Resource(Some(Arc::new(ResourceType {
        name: name.into(),
        title,
    }))))
}

/// The name of a class or a resource type in a catalog: `Ntp::Server`.
#[must_use]
pub fn capitalized(name: &str) -> String {
    let segments: Vec<String> = name
        .split("::")
        .map(|segment| {
            let mut chars = segment.chars();
            chars
                .next()
                .map(|first| first.to_uppercase().collect::<String>() + chars.as_str())
                .unwrap_or_default()
        })
        .collect();
    segments.join("::")
}
