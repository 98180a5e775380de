//! Whether every instance of one type is an instance of another: `assignable?` of `types.rb`.

use std::sync::Arc;

use super::model::{
    Element, EnumCase, EnumType, Pattern, Presence, ResourceType, StringType, Type,
};
use super::ranges::{FloatRange, Range};
use super::{interpret, semver};
use crate::value::Value;

/// Maximum nesting of types that is followed; deeper types count as assignable, like recursive
/// ones.
const MAX_DEPTH: usize = 120;

/// Whether every instance of `other` is an instance of `expected`.
pub(super) fn assignable(expected: &Type, other: &Type) -> bool {
    AssignableCheck::default().assignable(expected, other)
}

#[derive(Default)]
struct AssignableCheck {
    /// Pairs with an alias that are being compared. A pair that occurs again counts as assignable.
    open: Vec<(String, String)>,
    depth: usize,
}

impl AssignableCheck {
    fn assignable(&mut self, e: &Type, o: &Type) -> bool {
        if self.depth > MAX_DEPTH {
            return true;
        }
        self.depth += 1;
        let answer = self.outer(e, o);
        self.depth -= 1;
        answer
    }

    fn outer(&mut self, e: &Type, o: &Type) -> bool {
        if *e == Type::Unit {
            return true;
        }
        if let Type::Variant(types) = e
            && types.is_empty()
        {
            return matches!(o, Type::Variant(_) | Type::Unit);
        }
        match o {
            Type::Unit => true,
            Type::Alias(alias) => {
                if let Type::Alias(expected) = e
                    && expected == alias
                {
                    return true;
                }
                let pair = (e.to_string(), o.name());
                self.once(pair, |check| check.assignable(e, &alias.resolved()))
            }
            Type::Variant(types) => {
                if *e == Type::Any {
                    return true;
                }
                if types.is_empty() {
                    return matches!(e, Type::NotUndef(_)) && self.inner(e, o);
                }
                types.iter().all(|t| self.assignable(e, t))
            }
            Type::Optional(inner) => {
                self.assignable(e, &Type::Undef)
                    && inner.as_ref().is_none_or(|t| self.assignable(e, t))
            }
            Type::NotUndef(Some(inner)) if !self.assignable(inner, &Type::Undef) => {
                self.assignable(e, inner)
            }
            _ => self.inner(e, o),
        }
    }

    fn inner(&mut self, e: &Type, o: &Type) -> bool {
        match e {
            Type::Any | Type::Unit => true,
            Type::Undef
            | Type::Default
            | Type::Binary
            | Type::CatalogEntry
            | Type::SemVerRange
            | Type::TypeSet => e == o || *e == Type::CatalogEntry && is_catalog_entry(o),
            Type::Scalar => is_scalar(o),
            Type::ScalarData => is_scalar_data(o),
            // No bound includes NaN, not even that of all numbers.
            Type::Numeric => match o {
                Type::Float(range) => range.low() <= range.high(),
                _ => matches!(o, Type::Numeric | Type::Integer(_)),
            },
            Type::Integer(range) => matches!(o, Type::Integer(other) if range.covers(other)),
            Type::Float(range) => matches!(o, Type::Float(other) if covers(*range, *other)),
            Type::String(wanted) => string(wanted, o),
            Type::Enum(allowed) => enumeration(allowed, o),
            Type::Pattern(patterns) => e == o || pattern(patterns, o),
            Type::Regexp(source) => {
                matches!(o, Type::Regexp(other) if source.is_none() || source == other)
            }
            Type::Boolean(wanted) => {
                matches!(o, Type::Boolean(other) if wanted.is_none() || wanted == other)
            }
            Type::Timestamp(range) => matches!(o, Type::Timestamp(other) if range.covers(*other)),
            Type::Timespan(range) => matches!(o, Type::Timespan(other) if range.covers(*other)),
            Type::SemVer(ranges) => matches!(o, Type::SemVer(other) if versions(ranges, other)),
            Type::Uri(wanted) => {
                matches!(o, Type::Uri(other) if wanted.is_none() || wanted == other)
            }
            Type::Collection(size) => collection(size.as_ref(), o),
            Type::Array(element, size) => self.array(element, size.as_ref(), o),
            Type::Hash(pair, size) => self.hash(pair, size.as_ref(), o),
            Type::Tuple(types, size) => self.tuple(types, size.as_ref(), o),
            Type::Struct(elements) => self.structure(elements, o),
            Type::Variant(types) => types.iter().any(|t| self.assignable(t, o)),
            Type::Optional(inner) => {
                *o == Type::Undef || inner.as_ref().is_none_or(|t| self.assignable(t, o))
            }
            Type::NotUndef(inner) => {
                !self.assignable(o, &Type::Undef)
                    && inner.as_ref().is_none_or(|t| self.assignable(t, o))
            }
            Type::Type(inner) => match o {
                Type::Type(other) => self.contained(inner.as_ref(), other.as_ref()),
                _ => false,
            },
            Type::Sensitive(inner) => {
                matches!(o, Type::Sensitive(other) if self.assignable(inner, other))
            }
            Type::Iterable(inner) => {
                let Some(element) = iterated(o) else {
                    return false;
                };
                inner.as_ref().is_none_or(|inner| {
                    **inner == Type::Any
                        || element.is_some_and(|element| self.assignable(inner, &element))
                })
            }
            Type::Iterator(inner) => match o {
                Type::Iterator(other) => self.contained(inner.as_ref(), other.as_ref()),
                _ => false,
            },
            Type::Init(inner, _) => match (inner, o) {
                (_, Type::Init(other, _)) if inner.is_none() || other.is_some() => {
                    self.contained(inner.as_ref(), other.as_ref())
                }
                (None, _) => self.assignable(&interpret::RICH_DATA, o),
                (Some(inner), _) => self.assignable(inner, o) || super::init::takes(inner, o),
            },
            Type::Callable(wanted) => {
                matches!(o, Type::Callable(_)) && (wanted.is_none() || e == o)
            }
            Type::Class(name) => {
                matches!(o, Type::Class(other) if name.is_none() || name == other)
            }
            Type::Resource(wanted) => {
                matches!(o, Type::Resource(other) if resource(wanted.as_deref(), other.as_deref()))
            }
            Type::Runtime(runtime, class) => {
                matches!(o, Type::Runtime(other, other_class)
                    if (runtime.is_none() || runtime == other)
                        && (class.is_none() || class == other_class))
            }
            Type::Object(name) => {
                matches!(o, Type::Object(other) if name.is_none() || name == other)
            }
            Type::Reference(_) => e == o,
            Type::Alias(alias) => {
                let pair = (e.name(), o.to_string());
                self.once(pair, |check| check.assignable(&alias.resolved(), o))
            }
        }
    }

    /// Compares a pair with an alias, unless it is being compared already.
    fn once(
        &mut self,
        pair: (String, String),
        compare: impl FnOnce(&mut AssignableCheck) -> bool,
    ) -> bool {
        if self.open.contains(&pair) {
            return true;
        }
        self.open.push(pair);
        let answer = compare(self);
        self.open.pop();
        answer
    }

    /// Compares the contained types of two types of types, iterators and so on.
    fn contained(&mut self, inner: Option<&Arc<Type>>, other: Option<&Arc<Type>>) -> bool {
        match (inner, other) {
            (None, _) => true,
            (Some(inner), Some(other)) => self.assignable(inner, other),
            (Some(_), None) => false,
        }
    }

    fn array(&mut self, element: &Type, size: Option<&Range>, o: &Type) -> bool {
        match o {
            Type::Tuple(types, other) => {
                sizes(size).covers(&tuple_count(types, other.as_ref()))
                    && types.iter().all(|t| self.assignable(element, t))
            }
            Type::Array(other, other_size) => {
                sizes(size).covers(&sizes(other_size.as_ref())) && self.assignable(element, other)
            }
            _ => false,
        }
    }

    fn hash(&mut self, pair: &(Type, Type), size: Option<&Range>, o: &Type) -> bool {
        match o {
            Type::Hash(other, other_size) => {
                let empty = other_size.as_ref().is_some_and(Range::is_empty_size)
                    && **other == (Type::Unit, Type::Unit);
                if empty && sizes(size).contains_size(0) {
                    return true;
                }
                self.assignable(&pair.0, &other.0)
                    && self.assignable(&pair.1, &other.1)
                    && sizes(size).covers(&sizes(other_size.as_ref()))
            }
            Type::Struct(elements) => {
                sizes(size).contains_size(elements.len())
                    && elements.iter().all(|element| {
                        super::is_instance(&pair.0, &Value::String(element.name.clone()))
                            && self.assignable(&pair.1, &element.value)
                    })
            }
            _ => false,
        }
    }

    fn structure(&mut self, elements: &[Element], o: &Type) -> bool {
        match o {
            Type::Struct(others) => {
                let mut matched = 0;
                elements.iter().all(|element| {
                    match others.iter().find(|other| other.name == element.name) {
                        None => element.presence == Presence::Optional,
                        Some(other) => {
                            matched += 1;
                            (element.presence == Presence::Optional
                                || other.presence == Presence::Required)
                                && self.assignable(&element.value, &other.value)
                        }
                    }
                }) && matched == others.len()
            }
            Type::Hash(pair, size) => {
                let required = || {
                    let all = elements.iter();
                    all.filter(|element| element.presence == Presence::Required)
                };
                required().all(|element| {
                    self.assignable(&element.value, &pair.1)
                        && self.assignable(&Type::String(StringType::Any), &pair.0)
                }) && Range::of(required().count(), elements.len()).covers(&sizes(size.as_ref()))
            }
            _ => false,
        }
    }

    fn tuple(&mut self, types: &[Type], size: Option<&Range>, o: &Type) -> bool {
        let own = Type::tuple_sizes(types, size);
        match o {
            Type::Tuple(others, other_size) => {
                if types == &**others && size == other_size.as_ref() {
                    return true;
                }
                if !own.covers(&Type::tuple_sizes(others, other_size.as_ref())) {
                    return false;
                }
                let Some(last) = types.last() else {
                    return true;
                };
                if others.is_empty() {
                    return own.contains_size(0);
                }
                others
                    .iter()
                    .enumerate()
                    .all(|(i, t)| self.assignable(types.get(i).unwrap_or(last), t))
            }
            Type::Array(element, other_size) => {
                let other = sizes(other_size.as_ref());
                if !own.covers(&other) {
                    return false;
                }
                types
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| other.to.as_ref().is_none_or(|to| *to > (*i).into()))
                    .all(|(_, t)| self.assignable(t, element))
            }
            _ => false,
        }
    }
}

pub(super) fn sizes(size: Option<&Range>) -> Range {
    size.cloned().unwrap_or_else(|| Range::at_least(0))
}

/// The number of elements; a tuple without types has none.
pub(super) fn tuple_count(types: &[Type], size: Option<&Range>) -> Range {
    size.cloned()
        .unwrap_or_else(|| Range::of(types.len(), types.len()))
}

fn covers(own: FloatRange, other: FloatRange) -> bool {
    own.low() <= other.low() && own.high() >= other.high()
}

fn string(wanted: &StringType, o: &Type) -> bool {
    match (wanted, o) {
        (StringType::Any, Type::String(_) | Type::Enum(_) | Type::Pattern(_)) => true,
        (StringType::Size(size), Type::String(other)) => size.covers(&other.sizes()),
        (StringType::Size(size), Type::Enum(other)) => {
            if other.values.is_empty() {
                return size.covers(&Range::at_least(0));
            }
            other
                .values
                .iter()
                .all(|v| size.contains_size(v.chars().count()))
        }
        (StringType::Size(size), Type::Pattern(_)) => size.covers(&Range::at_least(0)),
        (StringType::Value(_), Type::String(other)) => wanted == other,
        (StringType::Value(_), Type::Enum(other)) => {
            other.values.len() == 1 && other.case == EnumCase::Sensitive
        }
        _ => false,
    }
}

fn enumeration(allowed: &EnumType, o: &Type) -> bool {
    if let Type::Enum(other) = o
        && allowed == &**other
    {
        return true;
    }
    match o {
        Type::Enum(_) | Type::String(_) | Type::Pattern(_) if allowed.values.is_empty() => true,
        Type::Enum(other) => {
            !other.values.is_empty()
                && (allowed.case == EnumCase::Insensitive || other.case == EnumCase::Sensitive)
                && other.values.iter().all(|v| allowed.contains(v))
        }
        Type::String(StringType::Value(text)) => allowed.contains(text),
        _ => false,
    }
}

fn pattern(patterns: &[Pattern], o: &Type) -> bool {
    let any = |text: &str| patterns.iter().any(|p| p.matches(text));
    match o {
        Type::String(_) | Type::Enum(_) | Type::Pattern(_) if patterns.is_empty() => true,
        Type::String(StringType::Value(text)) => any(text),
        Type::Enum(other) => !other.values.is_empty() && other.values.iter().all(|v| any(v)),
        _ => false,
    }
}

fn versions(ranges: &[Arc<str>], others: &[Arc<str>]) -> bool {
    let covered = |version: &Arc<str>| {
        let mut ranges = ranges.iter();
        ranges.any(|range| range == version || semver::includes(range, version))
    };
    ranges.is_empty() || !others.is_empty() && others.iter().all(covered)
}

fn collection(size: Option<&Range>, o: &Type) -> bool {
    match o {
        Type::Array(_, other) | Type::Hash(_, other) | Type::Collection(other) => {
            sizes(size).covers(&sizes(other.as_ref()))
        }
        Type::Tuple(types, other) => sizes(size).covers(&tuple_count(types, other.as_ref())),
        Type::Struct(elements) => sizes(size).covers(&Range::of(elements.len(), elements.len())),
        _ => false,
    }
}

fn resource(wanted: Option<&ResourceType>, other: Option<&ResourceType>) -> bool {
    match (wanted, other) {
        (None, _) => true,
        (Some(wanted), Some(other)) => {
            wanted.name.eq_ignore_ascii_case(&other.name)
                && (wanted.title.is_none() || wanted.title == other.title)
        }
        (Some(_), None) => false,
    }
}

fn is_catalog_entry(t: &Type) -> bool {
    matches!(t, Type::Class(_) | Type::Resource(_))
}

fn is_scalar_data(t: &Type) -> bool {
    matches!(
        t,
        Type::ScalarData
            | Type::Numeric
            | Type::Integer(_)
            | Type::Float(_)
            | Type::String(_)
            | Type::Enum(_)
            | Type::Pattern(_)
            | Type::Boolean(_)
    )
}

fn is_scalar(t: &Type) -> bool {
    is_scalar_data(t)
        || matches!(
            t,
            Type::Scalar
                | Type::Regexp(_)
                | Type::SemVer(_)
                | Type::Timestamp(_)
                | Type::Timespan(_)
        )
}

/// The type that iterating over an instance yields; `None` if it cannot be iterated.
#[allow(clippy::option_option, reason = "the element type may be unknown")]
fn iterated(t: &Type) -> Option<Option<Type>> {
    match t {
        Type::Integer(_) => Some(Some(Type::integer())),
        Type::String(_) | Type::Enum(_) => {
            Some(Some(Type::String(StringType::Size(Range::of(1, 1)))))
        }
        Type::Array(element, _) => Some((**element != Type::Any).then(|| Type::clone(element))),
        Type::Tuple(types, _) => Some(Some(Type::variant(types.iter().cloned()))),
        Type::Hash(pair, _) => Some(Some(Type::Tuple(
            [pair.0.clone(), pair.1.clone()].into(),
            Some(Range::of(2, 2)),
        ))),
        Type::Struct(elements) => Some(Some(Type::Tuple(
            [
                Type::variant(elements.iter().map(Element::key_type)),
                Type::variant(elements.iter().map(|e| e.value.clone())),
            ]
            .into(),
            Some(Range::of(2, 2)),
        ))),
        Type::Iterable(inner) | Type::Iterator(inner) => {
            Some(inner.as_ref().map(|t| Type::clone(t)))
        }
        Type::Collection(_) => Some(None),
        Type::Alias(alias) => iterated(&alias.resolved()),
        _ => None,
    }
}
