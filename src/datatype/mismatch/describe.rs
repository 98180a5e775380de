//! Finds the mismatches between an expected type and the type of a value.

use super::merge::{NumericMerge, merge};
use super::{Mismatch, MismatchKind, Step};
use crate::datatype::assignable;
use crate::datatype::assignable::{sizes, tuple_count};
use crate::datatype::infer::normalize;
use crate::datatype::model::{Element, Presence, Range, Type};

/// Maximum nesting of types that is described.
pub(super) const MAX_DEPTH: usize = 100;

fn unresolved(t: &Type, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return None;
    }
    let next = |t: &Type| unresolved(t, depth + 1);
    match t {
        Type::Reference(text) => Some(text.to_string()),
        Type::Array(element, _) | Type::Sensitive(element) => next(element),
        Type::Hash(pair, _) => next(&pair.0).or_else(|| next(&pair.1)),
        Type::Tuple(types, _) | Type::Variant(types) => types.iter().find_map(next),
        Type::Struct(elements) => elements.iter().find_map(|e| next(&e.value)),
        Type::Optional(inner)
        | Type::NotUndef(inner)
        | Type::Type(inner)
        | Type::Iterable(inner)
        | Type::Iterator(inner)
        | Type::Init(inner, _) => inner.as_ref().and_then(|t| next(t)),
        // A weak link leads back to an alias that is already being visited.
        Type::Alias(alias) if alias.strong.is_some() => next(&alias.resolved()),
        _ => None,
    }
}

/// All mismatches of a type that is not assignable.
pub(in crate::datatype) fn describe(
    expected: &Type,
    actual: &Type,
    path: &[Step],
) -> Vec<Mismatch> {
    if let Some(text) = unresolved(expected, 0) {
        return vec![Mismatch::new(path, MismatchKind::Unresolved(text))];
    }
    inner(&normalize(expected), expected, actual, path)
}

fn with(path: &[Step], step: Step) -> Vec<Step> {
    let mut longer = path.to_vec();
    longer.push(step);
    longer
}

fn inner(expected: &Type, original: &Type, actual: &Type, path: &[Step]) -> Vec<Mismatch> {
    if path.len() > MAX_DEPTH {
        return Vec::new();
    }
    match expected {
        Type::Variant(types) => variant(types, original, actual, path),
        Type::Struct(elements) => structure(elements, original, actual, path),
        Type::Hash(pair, size) => hash(pair, size.as_ref(), original, actual, path),
        Type::Tuple(types, size) => tuple(expected, types, size.as_ref(), original, actual, path),
        Type::Array(element, size) => array(element, size.as_ref(), original, actual, path),
        Type::Optional(contained) => match contained {
            Some(contained) if *actual != Type::Undef => {
                let original = if matches!(original, Type::Alias(_)) {
                    original
                } else {
                    expected
                };
                inner(contained, original, actual, path)
            }
            Some(_) | None => Vec::new(),
        },
        Type::Pattern(_) | Type::Enum(_) => vec![Mismatch::of_pattern(path, original, actual)],
        Type::Alias(alias) => {
            let step = Step::Alias(alias.name.to_string());
            let entered = path
                .iter()
                .rev()
                .take_while(|step| step.stays())
                .any(|taken| *taken == step);
            if entered {
                return vec![Mismatch::of_type(path, original, actual)];
            }
            let path = with(path, step);
            inner(&normalize(&alias.resolved()), expected, actual, &path)
        }
        Type::Callable(_) => vec![Mismatch::of_type(path, original, actual)],
        other if assignable(other, actual) => Vec::new(),
        _ => vec![Mismatch::of_type(path, original, actual)],
    }
}

fn variant(types: &[Type], original: &Type, actual: &Type, path: &[Step]) -> Vec<Mismatch> {
    let mut types = types.to_vec();
    if matches!(original, Type::Optional(_)) {
        types.insert(0, Type::Undef);
    }
    let mut described = Vec::new();
    for (index, t) in types.iter().enumerate() {
        let mismatches = describe(t, actual, &with(path, Step::Variant(index)));
        if mismatches.is_empty() {
            return Vec::new();
        }
        described.push(mismatches);
    }
    let merged = merge(path.len(), described, NumericMerge::Sizes);
    if matches!(original, Type::Alias(_)) && merged.len() == 1 {
        return vec![Mismatch::of_type(path, original, actual)];
    }
    merged
}

fn array(
    element: &Type,
    size: Option<&Range>,
    original: &Type,
    actual: &Type,
    path: &[Step],
) -> Vec<Mismatch> {
    let (types, got) = match actual {
        Type::Tuple(types, size) => (&types[..], tuple_count(types, size.as_ref())),
        Type::Array(_, size) => (&[][..], sizes(size.as_ref())),
        _ => return vec![Mismatch::of_type(path, original, actual)],
    };
    let wanted = sizes(size);
    if !wanted.covers(&got) {
        return vec![Mismatch::of_size(path, wanted, got)];
    }
    if let Type::Array(element, _) = actual {
        let actual = Type::Array(element.clone(), None);
        return vec![Mismatch::of_type(path, original, &actual)];
    }
    types
        .iter()
        .enumerate()
        .filter(|(_, t)| !assignable(element, t))
        .flat_map(|(i, t)| describe(element, t, &with(path, Step::Index(i))))
        .collect()
}

fn hash(
    pair: &(Type, Type),
    size: Option<&Range>,
    original: &Type,
    actual: &Type,
    path: &[Step],
) -> Vec<Mismatch> {
    let (elements, got) = match actual {
        Type::Struct(elements) => (&elements[..], struct_sizes(elements)),
        Type::Hash(_, size) => (&[][..], sizes(size.as_ref())),
        _ => return vec![Mismatch::of_type(path, original, actual)],
    };
    let wanted = sizes(size);
    if !wanted.covers(&got) {
        return vec![Mismatch::of_size(path, wanted, got)];
    }
    if let Type::Hash(pair, _) = actual {
        let actual = Type::Hash(pair.clone(), None);
        return vec![Mismatch::of_type(path, original, &actual)];
    }
    let mut mismatches = Vec::new();
    for element in elements {
        let key = element.key_type();
        let name = element.name.to_string();
        if !assignable(&pair.0, &key) {
            let path = with(path, Step::EntryKey(name.clone()));
            mismatches.extend(describe(&pair.0, &key, &path));
        }
        if !assignable(&pair.1, &element.value) {
            let path = with(path, Step::Entry(name));
            mismatches.extend(describe(&pair.1, &element.value, &path));
        }
    }
    mismatches
}

fn struct_sizes(elements: &[Element]) -> Range {
    let required = elements
        .iter()
        .filter(|e| e.presence == Presence::Required)
        .count();
    Range::of(required, elements.len())
}

fn structure(elements: &[Element], original: &Type, actual: &Type, path: &[Step]) -> Vec<Mismatch> {
    match actual {
        Type::Struct(others) => {
            let mut mismatches = Vec::new();
            for element in elements {
                let name = element.name.to_string();
                let Some(other) = others.iter().find(|other| other.name == element.name) else {
                    if element.presence == Presence::Required {
                        mismatches.push(Mismatch::new(path, MismatchKind::MissingKey(name)));
                    }
                    continue;
                };
                if !assignable(&element.value, &other.value) {
                    let path = with(path, Step::Entry(name));
                    mismatches.extend(describe(&element.value, &other.value, &path));
                }
            }
            for other in others.iter() {
                if !elements.iter().any(|element| element.name == other.name) {
                    let kind = MismatchKind::UnknownKey(other.name.to_string());
                    mismatches.push(Mismatch::new(path, kind));
                }
            }
            mismatches
        }
        Type::Hash(pair, size) => {
            let got = sizes(size.as_ref());
            let wanted = struct_sizes(elements);
            if wanted.covers(&got) {
                let actual = Type::Hash(pair.clone(), None);
                vec![Mismatch::of_type(path, original, &actual)]
            } else {
                vec![Mismatch::of_size(path, wanted, got)]
            }
        }
        _ => vec![Mismatch::of_type(path, original, actual)],
    }
}

fn tuple(
    expected: &Type,
    types: &[Type],
    size: Option<&Range>,
    original: &Type,
    actual: &Type,
    path: &[Step],
) -> Vec<Mismatch> {
    if expected == actual || types.is_empty() && matches!(actual, Type::Array(..)) {
        return Vec::new();
    }
    let wanted = Type::tuple_sizes(types, size);
    match actual {
        Type::Tuple(others, other_size) => {
            let got = Type::tuple_sizes(others, other_size.as_ref());
            if !wanted.covers(&got) {
                return vec![Mismatch::of_size(path, wanted, got)];
            }
            let Some(last) = types.len().checked_sub(1) else {
                return Vec::new();
            };
            others
                .iter()
                .enumerate()
                .flat_map(|(i, t)| {
                    let index = i.min(last);
                    describe(&types[index], t, &with(path, Step::Index(index)))
                })
                .collect()
        }
        Type::Array(element, other_size) => {
            let got = sizes(other_size.as_ref());
            if !wanted.covers(&got) {
                return vec![Mismatch::of_size(path, wanted, got)];
            }
            types
                .iter()
                .enumerate()
                .flat_map(|(i, t)| describe(t, element, &with(path, Step::Index(i))))
                .collect()
        }
        _ => vec![Mismatch::of_type(path, original, actual)],
    }
}
