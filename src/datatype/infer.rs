//! Infers types from values (`pops/types/type_calculator.rb`): `infer` gives one type that covers
//! all elements, `infer_set` keeps each element's own. Also `normalize` of `types.rb`.

use std::sync::Arc;

use super::model::{
    Element, EnumCase, EnumType, FloatRange, ObjectType, Pattern, Presence, Range, StringType,
    TimeRange, Type,
};
use super::{assignable, instance, interpret, time};
use crate::value::{Value, float_to_s};

/// Maximum nesting of values that is inferred; anything deeper has the type `Unit`.
const MAX_DEPTH: usize = 80;

/// The type of a value, with elements of collections reduced to one common type.
///
/// # Errors
/// Ruby's message for a collection in which a NaN is compared with another float.
pub fn infer(value: &Value) -> Result<Type, String> {
    infer_at(value, 0)
}

fn infer_at(value: &Value, depth: usize) -> Result<Type, String> {
    if depth > MAX_DEPTH {
        return Ok(Type::Unit);
    }
    let reduced = |values: &mut dyn Iterator<Item = &Value>| {
        let types = values
            .map(|v| infer_at(v, depth + 1))
            .collect::<Result<Vec<Type>, String>>()?;
        let mut types = types.into_iter();
        let Some(first) = types.next() else {
            return Ok(Type::Unit);
        };
        types.try_fold(first, |all, t| common(&all, &t))
    };
    Ok(match value {
        Value::Array(elements) => {
            let size = Some(Range::of(elements.len(), elements.len()));
            Type::array(reduced(&mut elements.iter())?, size)
        }
        Value::Hash(hash) => {
            let size = Some(Range::of(hash.len(), hash.len()));
            let keys = reduced(&mut hash.keys())?;
            Type::hash(keys, reduced(&mut hash.values())?, size)
        }
        Value::Sensitive(inner) => {
            Type::Sensitive(Arc::new(infer_at(inner, depth + 1)?.generalize()))
        }
        other => simple(other),
    })
}

/// The type of a value with each element's own type: `Tuple`, `Struct`.
#[must_use]
pub fn infer_set(value: &Value) -> Type {
    infer_set_at(value, 0)
}

fn infer_set_at(value: &Value, depth: usize) -> Type {
    if depth > MAX_DEPTH {
        return Type::Unit;
    }
    match value {
        Value::Array(elements) if !elements.is_empty() => Type::Tuple(
            elements
                .iter()
                .map(|e| infer_set_at(e, depth + 1))
                .collect(),
            None,
        ),
        Value::Hash(hash) if !hash.is_empty() => {
            let names: Option<Vec<&Arc<str>>> = hash
                .keys()
                .map(|key| match key {
                    Value::String(name) if !name.is_empty() => Some(name),
                    _ => None,
                })
                .collect();
            if let Some(names) = names {
                let entries = names.into_iter().zip(hash.values());
                let elements = entries.map(|(name, value)| Element {
                    name: name.clone(),
                    presence: Presence::Required,
                    value: infer_set_at(value, depth + 1),
                });
                return Type::Struct(elements.collect());
            }
            Type::hash(
                Type::variant(hash.keys().map(|k| infer_set_at(k, depth + 1))),
                Type::variant(hash.values().map(|v| infer_set_at(v, depth + 1))),
                Some(Range::of(hash.len(), hash.len())),
            )
        }
        Value::Rich(rich) if rich.ptype == "SemVer" => {
            Type::SemVer([Arc::from(rich.text.as_str())].into())
        }
        other => infer_at(other, depth).unwrap_or(Type::Unit),
    }
}

fn simple(value: &Value) -> Type {
    match value {
        Value::Undef => Type::Undef,
        Value::Default => Type::Default,
        Value::Bool(truth) => Type::Boolean(Some(*truth)),
        Value::Int(_) | Value::BigInt(_) => {
            let number = instance::integer(value);
            Type::Integer(Range {
                from: number.clone(),
                to: number,
            })
        }
        Value::Float(number) => Type::Float(FloatRange {
            from: Some(*number),
            to: Some(*number),
        }),
        Value::String(text) => Type::String(StringType::Value(text.clone())),
        Value::Bytes(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            Type::String(StringType::Value(text.as_ref().into()))
        }
        Value::Symbol(_) => Type::Runtime(Some("ruby".into()), Some("Symbol".into())),
        Value::Rich(rich) => match rich.ptype {
            "Regexp" => Type::Regexp(Some(rich.text.as_str().into())),
            "Binary" => Type::Binary,
            "SemVer" => Type::SemVer(Arc::new([])),
            "SemVerRange" => Type::SemVerRange,
            "URI" => Type::Uri(Some(super::uri::parameters_text(&rich.text).into())),
            "Timestamp" => {
                let at = time::timestamp_of_text(&rich.text);
                Type::Timestamp(TimeRange::exactly(at))
            }
            "Timespan" => {
                let span = time::timespan_of_text(&rich.text);
                Type::Timespan(TimeRange::exactly(span))
            }
            "Type" => Type::Type(super::type_of_value(value).map(Arc::new)),
            _ => ObjectType::of(value).map_or(Type::Unit, |object| Type::Object(Some(object))),
        },
        Value::Opaque(_) | Value::Array(_) | Value::Hash(_) | Value::Sensitive(_) => Type::Unit,
    }
}

/// The narrowest type Puppet finds that covers both.
fn common(a: &Type, b: &Type) -> Result<Type, String> {
    if *a == Type::Undef || *a == Type::Unit {
        return Ok(b.clone());
    }
    if *b == Type::Undef || *b == Type::Unit {
        return Ok(a.clone());
    }
    if assignable(a, b) {
        return Ok(a.clone());
    }
    if assignable(b, a) {
        return Ok(b.clone());
    }
    Ok(match (a, b) {
        (Type::Array(a, _), Type::Array(b, _)) => Type::array(common(a, b)?, None),
        (Type::Hash(a, _), Type::Hash(b, _)) => {
            Type::hash(common(&a.0, &b.0)?, common(&a.1, &b.1)?, None)
        }
        (Type::Integer(a), Type::Integer(b)) => Type::Integer(a.hull(b)),
        (Type::Float(a), Type::Float(b)) => {
            if a.low().is_nan() || b.low().is_nan() {
                let first = float_to_s(a.low());
                return Err(format!("comparison of Float with {first} failed"));
            }
            Type::Float(FloatRange {
                from: Some(a.low().min(b.low())),
                to: Some(a.high().max(b.high())),
            })
        }
        (Type::String(StringType::Value(a)), Type::String(StringType::Value(b))) => {
            an_enum(vec![a.clone(), b.clone()])
        }
        (Type::String(StringType::Size(a)), Type::String(StringType::Size(b))) => {
            Type::String(StringType::Size(a.hull(b)))
        }
        (Type::String(_), Type::String(_)) => Type::String(StringType::Any),
        (Type::String(StringType::Value(text)), Type::Enum(allowed))
        | (Type::Enum(allowed), Type::String(StringType::Value(text))) => {
            let mut values = allowed.values.clone();
            values.push(text.clone());
            an_enum(values)
        }
        (Type::Enum(a), Type::Enum(b)) => {
            an_enum(a.values.iter().chain(&b.values).cloned().collect())
        }
        (Type::Regexp(_), Type::Regexp(_)) => Type::Regexp(None),
        _ => return wider(a, b),
    })
}

/// The first of the wide types that covers both.
fn wider(a: &Type, b: &Type) -> Result<Type, String> {
    for wide in [Type::Numeric, Type::ScalarData, Type::Scalar] {
        if assignable(&wide, a) && assignable(&wide, b) {
            return Ok(wide);
        }
    }
    for wide in [&*interpret::DATA, &*interpret::RICH_DATA] {
        if assignable(wide, a) && assignable(wide, b) {
            if let (Type::Type(Some(a)), Type::Type(Some(b))) = (a, b) {
                return Ok(Type::Type(Some(Arc::new(common(a, b)?))));
            }
            return Ok(wide.clone());
        }
    }
    Ok(Type::Any)
}

fn an_enum(values: Vec<Arc<str>>) -> Type {
    Type::Enum(Arc::new(EnumType::new(values, EnumCase::Sensitive)))
}

/// The same type in its simplest form: variants merged, needless wrappers dropped.
#[must_use]
pub(super) fn normalize(t: &Type) -> Type {
    let inner = |inner: &Option<Arc<Type>>| inner.as_ref().map(|t| Arc::new(normalize(t)));
    match t {
        Type::Collection(_) => Type::Collection(None),
        Type::Array(element, size) => {
            if **element == Type::Any {
                return Type::any_array();
            }
            Type::Array(Arc::new(normalize(element)), size.clone())
        }
        Type::Hash(pair, size) => Type::Hash(
            Arc::new((normalize(&pair.0), normalize(&pair.1))),
            size.clone(),
        ),
        Type::Tuple(types, size) => {
            Type::Tuple(types.iter().map(normalize).collect(), size.clone())
        }
        Type::Struct(elements) => Type::Struct(
            elements
                .iter()
                .map(|e| Element {
                    value: normalize(&e.value),
                    ..e.clone()
                })
                .collect(),
        ),
        Type::Optional(Some(contained)) => match normalize(contained) {
            Type::NotUndef(contained) => match contained {
                Some(t) => normalize(&Type::Optional(Some(t))),
                None => Type::Optional(None),
            },
            other if assignable(&other, &Type::Undef) => other,
            other => Type::Optional(Some(Arc::new(other))),
        },
        Type::NotUndef(Some(contained)) => match normalize(contained) {
            Type::Optional(contained) => match contained {
                Some(t) => normalize(&Type::NotUndef(Some(t))),
                None => Type::NotUndef(None),
            },
            other if !assignable(&other, &Type::Undef) => other,
            other => Type::not_undef(other),
        },
        Type::Type(contained) => Type::Type(inner(contained)),
        Type::Iterable(contained) => Type::Iterable(inner(contained)),
        Type::Iterator(contained) => Type::Iterator(inner(contained)),
        Type::Sensitive(contained) => {
            let normal = normalize(contained);
            if normal == **contained {
                return t.clone();
            }
            Type::Sensitive(Arc::new(normal.generalize()))
        }
        Type::Variant(types) if !types.is_empty() => normalize_variant(types),
        _ => t.clone(),
    }
}

fn normalize_variant(original: &[Type]) -> Type {
    let types: Vec<Type> = original.iter().map(normalize).collect();
    let unchanged = types == original;
    if types.len() == 1 {
        return types[0].clone();
    }
    let admits_undef = |t: &Type| matches!(t, Type::Undef | Type::Optional(_));
    if types.iter().any(admits_undef) {
        let rest = types.into_iter().filter_map(|t| match t {
            Type::Undef => None,
            Type::Optional(inner) => inner.map(|t| Type::clone(&t)),
            other => Some(other),
        });
        return normalize(&Type::Optional(Some(Arc::new(Type::variant(rest)))));
    }
    let before: usize = types
        .iter()
        .map(|t| match t {
            Type::Variant(inner) => inner.len(),
            _ => 1,
        })
        .sum();
    let mut types = match Type::variant(types) {
        Type::Variant(types) => types.to_vec(),
        only => return only,
    };
    merge_kinds(&mut types);
    merge_ranges(
        &mut types,
        |t| matches!(t, Type::Integer(_)),
        |a, b| match (a, b) {
            (Type::Integer(a), Type::Integer(b)) => a.merge(b).map(Type::Integer),
            _ => None,
        },
    );
    merge_ranges(
        &mut types,
        |t| matches!(t, Type::Float(_)),
        |a, b| match (a, b) {
            (Type::Float(a), Type::Float(b)) => united(*a, *b).map(Type::Float),
            _ => None,
        },
    );
    // Without a merge the order is kept.
    if unchanged && types.len() == before {
        return Type::Variant(original.into());
    }
    Type::variant(types)
}

/// Merges the `NotUndef`, the strings and `Enum`s, and the `Pattern`s of a variant.
fn merge_kinds(types: &mut Vec<Type>) {
    if let Some(merged) = several(types, |t| matches!(t, Type::NotUndef(_))) {
        let inner = merged.into_iter().map(|t| match t {
            Type::NotUndef(Some(inner)) => Type::clone(&inner),
            _ => Type::Any,
        });
        types.push(Type::not_undef(normalize(&Type::variant(inner))));
    }
    let literal = |t: &Type| match t {
        Type::Enum(allowed) => !allowed.values.is_empty() && allowed.case == EnumCase::Sensitive,
        Type::String(StringType::Value(_)) => true,
        _ => false,
    };
    if let Some(merged) = several(types, literal) {
        let values = merged.into_iter().flat_map(|t| match t {
            Type::Enum(allowed) => allowed.values.clone(),
            Type::String(StringType::Value(text)) => vec![text],
            _ => Vec::new(),
        });
        types.push(an_enum(values.collect()));
    }
    let caseless = |t: &Type| {
        matches!(t, Type::Enum(allowed)
            if !allowed.values.is_empty() && allowed.case == EnumCase::Insensitive)
    };
    if let Some(merged) = several(types, caseless) {
        let values = merged.iter().flat_map(|t| match t {
            Type::Enum(allowed) => allowed.values.as_slice(),
            _ => &[],
        });
        let values = values
            .map(|value| Arc::from(value.to_lowercase()))
            .collect();
        let merged = EnumType::new(values, EnumCase::Insensitive);
        types.push(Type::Enum(Arc::new(merged)));
    }
    if let Some(merged) = several(types, |t| matches!(t, Type::Pattern(_))) {
        let mut patterns: Vec<Pattern> = Vec::new();
        for t in &merged {
            let Type::Pattern(inner) = t else { continue };
            for pattern in inner.iter() {
                if !patterns.contains(pattern) {
                    patterns.push(pattern.clone());
                }
            }
        }
        types.push(Type::Pattern(patterns.into()));
    }
}

/// `PFloatType#merge`: one range over two that overlap. A NaN overlaps every range, since every
/// comparison with it is false, and it is only used as the second of the two.
fn united(a: FloatRange, b: FloatRange) -> Option<FloatRange> {
    let are_disjoint = a.high() < b.low() || b.high() < a.low();
    let low = if a.low() <= b.low() { a } else { b }.low();
    let high = if a.high() >= b.high() { a } else { b }.high();
    (!are_disjoint).then_some(FloatRange {
        from: Some(low),
        to: Some(high),
    })
}

/// Takes all types of a kind, if there are several.
fn several(types: &mut Vec<Type>, of_kind: impl Fn(&Type) -> bool) -> Option<Vec<Type>> {
    if types.iter().filter(|t| of_kind(t)).count() < 2 {
        return None;
    }
    let (taken, others) = std::mem::take(types).into_iter().partition(|t| of_kind(t));
    *types = others;
    Some(taken)
}

/// Joins ranges that touch, and puts ranges first in reverse order, like `merge_ranges`.
fn merge_ranges(
    types: &mut Vec<Type>,
    of_kind: impl Fn(&Type) -> bool,
    join: impl Fn(&Type, &Type) -> Option<Type>,
) {
    let Some(mut ranges) = several(types, of_kind) else {
        return;
    };
    let mut result = Vec::new();
    while let Some(mut joined) = ranges.pop() {
        let mut disjoint = Vec::new();
        for range in std::mem::take(&mut ranges) {
            match join(&joined, &range) {
                Some(wider) => joined = wider,
                None => disjoint.push(range),
            }
        }
        result.push(joined);
        ranges = disjoint;
    }
    types.splice(..0, result);
}
