//! Whether a value is an instance of a type: `instance?` of each class in `types.rs`.

use num_bigint::BigInt;

use super::model::{Alias, AliasBody, Element, ObjectType, Presence, StringType, Type};
use super::ranges::Range;
use super::{interpret, time};
use crate::value::Value;

/// Maximum nesting of types and values that is checked; anything deeper counts as an instance.
const MAX_DEPTH: usize = 200;

/// Whether the value is an instance of the type. An opaque value is an instance of every type.
pub(super) fn is_instance(expected: &Type, value: &Value) -> bool {
    InstanceCheck {
        open: Vec::new(),
        depth: 0,
    }
    .is(expected, value)
}

struct InstanceCheck {
    /// Aliases and values being checked, to stop recursion.
    open: Vec<(*const AliasBody, *const Value)>,
    depth: usize,
}

impl InstanceCheck {
    fn is(&mut self, expected: &Type, value: &Value) -> bool {
        if matches!(value, Value::Opaque(_)) {
            return true;
        }
        if self.depth > MAX_DEPTH {
            return true;
        }
        self.depth += 1;
        let answer = self.decide(expected, value);
        self.depth -= 1;
        answer
    }

    fn decide(&mut self, expected: &Type, value: &Value) -> bool {
        match expected {
            Type::Any | Type::Unit => true,
            Type::Undef => value.is_undef(),
            Type::Default => *value == Value::Default,
            Type::Scalar => {
                is_scalar_data(value)
                    || matches!(value, Value::Rich(rich)
                        if matches!(rich.ptype, "Regexp" | "SemVer" | "Timestamp" | "Timespan"))
            }
            Type::ScalarData => is_scalar_data(value),
            Type::Numeric => is_number(value) && !matches!(value, Value::Float(f) if f.is_nan()),
            Type::Integer(range) => integer(value).is_some_and(|n| range.contains(&n)),
            Type::Float(range) => {
                matches!(value, Value::Float(f) if *f >= range.low() && *f <= range.high())
            }
            Type::String(wanted) => string(wanted, value),
            Type::Enum(allowed) => value.as_str().is_some_and(|text| allowed.contains(text)),
            Type::Pattern(patterns) => value
                .as_str()
                .is_some_and(|t| patterns.is_empty() || patterns.iter().any(|p| p.matches(t))),
            Type::Boolean(wanted) => {
                matches!(value, Value::Bool(truth) if wanted.is_none_or(|w| w == *truth))
            }
            Type::Regexp(source) => rich(value, "Regexp")
                .is_some_and(|text| source.as_deref().is_none_or(|source| source == text)),
            Type::SemVer(ranges) => rich(value, "SemVer").is_some_and(|version| {
                ranges.is_empty() || ranges.iter().any(|r| super::semver::includes(r, version))
            }),
            Type::SemVerRange => rich(value, "SemVerRange").is_some(),
            Type::Binary => rich(value, "Binary").is_some(),
            Type::Uri(wanted) => rich(value, "URI").is_some_and(|text| {
                wanted
                    .as_deref()
                    .is_none_or(|w| w == super::uri::parameters_text(text))
            }),
            Type::Timestamp(range) => rich(value, "Timestamp")
                .and_then(time::timestamp_of_text)
                .is_some_and(|time| range.contains(time)),
            Type::Timespan(range) => rich(value, "Timespan")
                .and_then(time::timespan_of_text)
                .is_some_and(|time| range.contains(time)),
            Type::Collection(size) => {
                collection_size(value).is_some_and(|n| fits(size.as_ref(), n))
            }
            Type::Array(element, size) => value.as_array().is_some_and(|elements| {
                elements.iter().all(|e| self.is(element, e)) && fits(size.as_ref(), elements.len())
            }),
            Type::Hash(pair, size) => value.as_hash().is_some_and(|hash| {
                hash.iter()
                    .all(|(k, v)| self.is(&pair.0, k) && self.is(&pair.1, v))
                    && fits(size.as_ref(), hash.len())
            }),
            Type::Tuple(types, size) => value
                .as_array()
                .is_some_and(|elements| self.tuple(types, size.as_ref(), elements)),
            Type::Struct(elements) => self.structure(elements, value),
            Type::Variant(types) => types.iter().any(|t| self.is(t, value)),
            Type::Optional(inner) => {
                value.is_undef() || inner.as_ref().is_some_and(|t| self.is(t, value))
            }
            Type::NotUndef(inner) => {
                !value.is_undef() && inner.as_ref().is_none_or(|t| self.is(t, value))
            }
            Type::Sensitive(inner) => {
                matches!(value, Value::Sensitive(secret) if self.is(inner, secret))
            }
            Type::Type(inner) => super::type_of_value(value)
                .is_some_and(|t| inner.as_ref().is_none_or(|i| super::assignable(i, &t))),
            Type::Iterable(None) => {
                matches!(value, Value::String(_) | Value::Array(_) | Value::Hash(_))
                    || integer(value).is_some_and(|n| n >= 0.into())
            }
            Type::Iterable(Some(_)) | Type::Runtime(..) => {
                super::infer(value).is_ok_and(|t| super::assignable(expected, &t))
            }
            Type::Init(None, _) => self.is(&interpret::RICH_DATA, value),
            Type::Init(Some(inner), arguments) => {
                self.is(inner, value) || super::init::accepts(inner, arguments, value)
            }
            Type::Alias(alias) => self.alias(alias, value),
            Type::Object(wanted) => ObjectType::of(value)
                .is_some_and(|object| wanted.is_none_or(|wanted| wanted == object)),
            _ => false,
        }
    }

    fn tuple(&mut self, types: &[Type], size: Option<&Range>, elements: &[Value]) -> bool {
        match size {
            Some(size) if !size.contains_size(elements.len()) => return false,
            None if !types.is_empty() && types.len() != elements.len() => return false,
            Some(_) | None => {}
        }
        let Some(last) = types.last() else {
            return true;
        };
        elements
            .iter()
            .enumerate()
            .all(|(i, e)| self.is(types.get(i).unwrap_or(last), e))
    }

    fn structure(&mut self, elements: &[Element], value: &Value) -> bool {
        let Some(hash) = value.as_hash() else {
            return false;
        };
        let mut matched = 0;
        elements.iter().all(|e| match value.get(&e.name) {
            None => e.presence == Presence::Optional,
            Some(v) => {
                matched += 1;
                self.is(&e.value, v)
            }
        }) && matched == hash.len()
    }

    fn alias(&mut self, alias: &Alias, value: &Value) -> bool {
        let question = (alias.address(), std::ptr::from_ref(value));
        if self.open.contains(&question) {
            return false;
        }
        self.open.push(question);
        let answer = self.is(&alias.resolved(), value);
        self.open.pop();
        answer
    }
}

fn string(wanted: &StringType, value: &Value) -> bool {
    match (wanted, value) {
        (StringType::Any, Value::String(_) | Value::Bytes(_)) => true,
        (StringType::Size(size), Value::String(text)) => size.contains_size(text.chars().count()),
        (StringType::Size(size), Value::Bytes(bytes)) => size.contains_size(bytes.len()),
        (StringType::Value(wanted), Value::String(text)) => wanted == text,
        _ => false,
    }
}

fn fits(size: Option<&Range>, count: usize) -> bool {
    size.is_none_or(|size| size.contains_size(count))
}

fn collection_size(value: &Value) -> Option<usize> {
    value
        .as_array()
        .map(<[Value]>::len)
        .or_else(|| value.as_hash().map(indexmap::IndexMap::len))
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::BigInt(_) | Value::Float(_))
}

fn is_scalar_data(value: &Value) -> bool {
    is_number(value) || matches!(value, Value::String(_) | Value::Bytes(_) | Value::Bool(_))
}

/// An integer of any size.
pub(super) fn integer(value: &Value) -> Option<BigInt> {
    match value {
        Value::Int(number) => Some(BigInt::from(*number)),
        Value::BigInt(number) => Some(BigInt::clone(number)),
        _ => None,
    }
}

/// The text of a value of a type without a literal form.
pub(super) fn rich<'a>(value: &'a Value, ptype: &str) -> Option<&'a str> {
    match value {
        Value::Rich(rich) if rich.ptype == ptype => Some(&rich.text),
        _ => None,
    }
}
