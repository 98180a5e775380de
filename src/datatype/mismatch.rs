//! What is wrong with a value, in Puppet's words (`pops/types/type_mismatch_describer.rb`).

use super::assignable::sizes;
use super::infer::normalize;
use super::model::{Element, EnumCase, EnumType, Presence, Range, StringType, TimeRange, Type};
use super::{assignable, infer_set};
use crate::value::Value;
use std::sync::Arc;

/// Deepest nesting of types that is described.
const MAX_DEPTH: usize = 100;

/// What Puppet's type assertion says of a value that is not an instance: the subject with
/// ` has wrong type,` and each problem; several problems come one per line.
///
/// Empty where nothing can be said, which Puppet shows as an empty message too.
#[must_use]
pub fn describe_mismatch(subject: &str, expected: &Type, actual: &Value) -> String {
    describe_type_mismatch(
        &format!("{subject} has wrong type,"),
        expected,
        &infer_set(actual),
    )
}

pub(super) fn describe_type_mismatch(name: &str, expected: &Type, actual: &Type) -> String {
    let path = vec![Step::Subject(name.to_owned())];
    let problems = describe(expected, actual, &path);
    let texts: Vec<String> = problems.iter().map(Mismatch::format).collect();
    match texts.as_slice() {
        [] => String::new(),
        [only] => only.trim().to_owned(),
        several => several.join("\n "),
    }
}

/// A step on the way to the place of a problem.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Subject(String),
    Entry(String),
    EntryKey(String),
    Index(usize),
    Parameter(String),
    Variant(usize),
    Signature(usize),
    /// The way went into an alias: not shown, but entering it again at the same value is no use.
    Alias(String),
}

impl Step {
    fn text(&self) -> String {
        match self {
            Step::Subject(text) => text.clone(),
            Step::Entry(key) => format!("entry '{key}'"),
            Step::EntryKey(key) => format!("key of entry '{key}'"),
            Step::Index(index) => format!("index {index}"),
            Step::Parameter(name) => format!("parameter '{name}'"),
            Step::Variant(index) => format!("variant {index}"),
            Step::Signature(index) => format!("{}.", index + 1),
            Step::Alias(_) => String::new(),
        }
    }

    fn is_variant(&self) -> bool {
        matches!(self, Step::Variant(_) | Step::Signature(_) | Step::Alias(_))
    }
}

/// A problem and its place.
#[derive(Clone, Debug)]
pub(super) struct Mismatch {
    path: Vec<Step>,
    problem: Problem,
}

#[derive(Clone, Debug)]
enum Problem {
    MissingKey(String),
    UnknownKey(String),
    Unresolved(String),
    Type { expected: Type, actual: Type },
    Pattern { expected: Type, actual: Type },
    Size { expected: Range, actual: Range },
    Count { expected: Range, actual: Range },
}

impl Mismatch {
    fn new(path: &[Step], problem: Problem) -> Mismatch {
        Mismatch {
            path: path.to_vec(),
            problem,
        }
    }

    fn of_type(path: &[Step], expected: &Type, actual: &Type) -> Mismatch {
        Mismatch::new(
            path,
            Problem::Type {
                expected: normalize(expected),
                actual: normalize(actual),
            },
        )
    }

    fn of_pattern(path: &[Step], expected: &Type, actual: &Type) -> Mismatch {
        Mismatch::new(
            path,
            Problem::Pattern {
                expected: normalize(expected),
                actual: normalize(actual),
            },
        )
    }

    fn of_size(path: &[Step], expected: Range, actual: Range) -> Mismatch {
        Mismatch::new(path, Problem::Size { expected, actual })
    }

    fn canonical(&self) -> impl Iterator<Item = &Step> {
        self.path.iter().filter(|step| !step.is_variant())
    }

    pub(super) fn without_step(mut self, index: usize) -> Mismatch {
        if index < self.path.len() {
            self.path.remove(index);
        }
        self
    }

    /// The problem as Puppet prints it, with the space it puts before the path.
    pub(super) fn format(&self) -> String {
        let mut steps = self.path.as_slice();
        let mut out = String::new();
        if let Some((first @ Step::Signature(_), rest)) = steps.split_first() {
            out = format!(" {}", first.text());
            steps = rest;
        }
        if !steps.is_empty() {
            let texts: Vec<String> = steps
                .iter()
                .filter(|step| !matches!(step, Step::Alias(_)))
                .map(Step::text)
                .collect();
            out.push(' ');
            out.push_str(&texts.join(" "));
        }
        out.push(' ');
        out.push_str(&self.message());
        out
    }

    fn message(&self) -> String {
        match &self.problem {
            Problem::MissingKey(key) => format!("expects a value for key '{key}'"),
            Problem::UnknownKey(key) => format!("unrecognized key '{key}'"),
            Problem::Unresolved(text) => format!("references an unresolved type '{text}'"),
            Problem::Type { expected, actual } => type_message(expected, actual),
            Problem::Pattern { expected, actual } => {
                let (prefix, wanted) = match expected {
                    Type::Optional(Some(inner)) => ("an undef value or ", &**inner),
                    other => ("", other),
                };
                let got = match actual {
                    Type::String(StringType::Value(text)) => format!("'{text}'"),
                    other => short_name(other),
                };
                format!(
                    "expects {prefix}a match for {}, got {got}",
                    wanted.expanded()
                )
            }
            Problem::Size { expected, actual } => format!(
                "expects size to be {}, got {}",
                range_text(expected, "0"),
                range_text(actual, "0")
            ),
            Problem::Count { expected, actual } => {
                let one =
                    |n: &Option<num_bigint::BigInt>| n.as_ref().is_some_and(|n| *n == 1.into());
                let none = expected.from.as_ref().is_none_or(|n| *n == 0.into());
                let single = one(&expected.from) && (one(&expected.to) || expected.to.is_none())
                    || none && one(&expected.to);
                format!(
                    "expects {} argument{}, got {}",
                    range_text(expected, "no"),
                    if single { "" } else { "s" },
                    range_text(actual, "none")
                )
            }
        }
    }
}

fn range_text(range: &Range, zero: &str) -> String {
    let from = range.from.clone().unwrap_or_default();
    let is_zero = from == 0.into();
    match &range.to {
        Some(to) if *to == from => {
            if is_zero {
                zero.to_owned()
            } else {
                from.to_string()
            }
        }
        Some(to) if is_zero => format!("at most {to}"),
        None if is_zero => "unlimited".to_owned(),
        None => format!("at least {from}"),
        Some(to) => format!("between {from} and {to}"),
    }
}

fn type_message(expected: &Type, actual: &Type) -> String {
    let (optional, wanted) = match expected {
        Type::Optional(Some(inner)) => (true, Type::clone(inner)),
        Type::Optional(None) => (true, Type::Any),
        other => (false, other.clone()),
    };
    let (several, options) = match &wanted {
        Type::Variant(types) => (true, types.to_vec()),
        other => (false, vec![other.clone()]),
    };
    let detailed = options
        .iter()
        .any(|e| always_detailed(e, actual) || assignable_to_default(e, actual));
    let (mut names, got) = if detailed {
        let names = options.iter().map(Type::expanded).collect::<Vec<_>>();
        (names, detailed_actual(&options, actual))
    } else {
        let mut names: Vec<String> = Vec::new();
        for option in &options {
            let name = short_name(option);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        (names, short_name(actual))
    };
    if optional {
        if several || names.len() > 1 {
            names.insert(0, "Undef".to_owned());
        } else {
            names[0] = format!("Undef or {}", names[0]);
        }
    }
    let multi = optional || names.len() > 1;
    let text = match names.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [a, b] => format!("{a} or {b}"),
        [init @ .., last] => format!("{}, or {last}", init.join(", ")),
    };
    if multi {
        format!("expects a value of type {text}, got {got}")
    } else {
        format!("expects {} {text} value, got {got}", article(&text))
    }
}

fn article(text: &str) -> &'static str {
    let letter = text.chars().find(|c| !matches!(c, '"' | '\'' | '<'));
    if letter.is_some_and(|c| "aeiouyAEIOUY".contains(c)) {
        "an"
    } else {
        "a"
    }
}

/// The name, with the contained type's name for the types that wrap one.
fn short_name(t: &Type) -> String {
    let contained = match t {
        Type::Optional(inner)
        | Type::NotUndef(inner)
        | Type::Type(inner)
        | Type::Iterable(inner)
        | Type::Iterator(inner)
        | Type::Init(inner, _) => inner.as_deref(),
        Type::Sensitive(inner) => Some(&**inner),
        _ => None,
    };
    match contained.filter(|t| **t != Type::Any) {
        Some(inner) => format!("{}[{}]", t.simple_name(), inner.name()),
        None if *t == Type::TypeSet => "DefaultTypeSet".to_owned(),
        None => t.name(),
    }
}

fn same_class(a: &Type, b: &Type) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

fn always_detailed(e: &Type, a: &Type) -> bool {
    same_class(e, a)
        || matches!(e, Type::Alias(_))
        || matches!(a, Type::Alias(_))
        || matches!(
            (e, a),
            (Type::Struct(_), Type::Hash(..)) | (Type::Tuple(..), Type::Array(..))
        )
}

fn assignable_to_default(e: &Type, a: &Type) -> bool {
    if let Type::Alias(alias) = e {
        return assignable(&default_of(&alias.resolved()), a);
    }
    assignable(&default_of(e), a)
}

/// The type of the same class without parameters.
fn default_of(t: &Type) -> Type {
    match t {
        Type::Integer(_) => Type::integer(),
        Type::Float(_) => Type::float(),
        Type::String(_) => Type::String(StringType::Any),
        Type::Enum(_) => Type::Enum(Arc::new(EnumType::new(Vec::new(), EnumCase::Sensitive))),
        Type::Pattern(_) => Type::Pattern(Arc::new([])),
        Type::Regexp(_) => Type::Regexp(None),
        Type::Boolean(_) => Type::Boolean(None),
        Type::Timestamp(_) => Type::Timestamp(TimeRange::default()),
        Type::Timespan(_) => Type::Timespan(TimeRange::default()),
        Type::SemVer(_) => Type::SemVer(Arc::new([])),
        Type::Uri(_) => Type::Uri(None),
        Type::Collection(_) => Type::Collection(None),
        Type::Array(..) => Type::any_array(),
        Type::Hash(..) => Type::any_hash(),
        Type::Tuple(..) => Type::Tuple(Arc::new([]), None),
        Type::Struct(_) => Type::Struct(Arc::new([])),
        Type::Variant(_) => Type::Variant(Arc::new([])),
        Type::Optional(_) => Type::Optional(None),
        Type::NotUndef(_) => Type::NotUndef(None),
        Type::Type(_) => Type::Type(None),
        Type::Sensitive(_) => Type::Sensitive(Arc::new(Type::Any)),
        Type::Iterable(_) => Type::Iterable(None),
        Type::Iterator(_) => Type::Iterator(None),
        Type::Init(..) => Type::Init(None, Arc::new([])),
        Type::Callable(_) => Type::Callable(None),
        Type::Class(_) => Type::Class(None),
        Type::Resource(_) => Type::Resource(None),
        Type::Runtime(..) => Type::Runtime(None, None),
        Type::Object(_) => Type::Object(None),
        Type::Reference(_) => Type::Reference("UnresolvedReference".into()),
        Type::Alias(_) => Type::Reference("UnresolvedReference".into()),
        Type::Any
        | Type::Unit
        | Type::Undef
        | Type::Default
        | Type::Scalar
        | Type::ScalarData
        | Type::Numeric
        | Type::Binary
        | Type::CatalogEntry
        | Type::SemVerRange
        | Type::TypeSet => t.clone(),
    }
}

fn detailed_actual(options: &[Type], actual: &Type) -> String {
    let resolved: Vec<Type> = options.iter().map(fully_resolved).collect();
    let general = actual.generalize();
    if resolved.iter().any(|e| always_detailed(e, actual))
        || resolved.iter().any(|e| assignable(e, &general))
    {
        actual.expanded()
    } else {
        actual.simple_name().to_owned()
    }
}

fn fully_resolved(t: &Type) -> Type {
    let mut t = t.clone();
    for _ in 0..MAX_DEPTH {
        let Type::Alias(alias) = &t else {
            break;
        };
        t = alias.resolved();
    }
    t
}

/// The first name inside a type that nothing resolves.
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
        // A weak link leads back to an alias that is being looked into already.
        Type::Alias(alias) if alias.strong.is_some() => next(&alias.resolved()),
        _ => None,
    }
}

/// All problems of a type that is not assignable.
pub(super) fn describe(expected: &Type, actual: &Type, path: &[Step]) -> Vec<Mismatch> {
    if let Some(text) = unresolved(expected, 0) {
        return vec![Mismatch::new(path, Problem::Unresolved(text))];
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
                .take_while(|step| step.is_variant())
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
        let problems = describe(t, actual, &with(path, Step::Variant(index)));
        if problems.is_empty() {
            return Vec::new();
        }
        described.push(problems);
    }
    let merged = merge(path.len(), described, Merging::Sizes);
    if matches!(original, Type::Alias(_)) && merged.len() == 1 {
        return vec![Mismatch::of_type(path, original, actual)];
    }
    merged
}

/// Which problems about numbers are merged.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Merging {
    Sizes,
    Counts,
}

/// Merges problems that all alternatives share, as `merge_descriptions`.
pub(super) fn merge(
    varying: usize,
    described: Vec<Vec<Mismatch>>,
    merging: Merging,
) -> Vec<Mismatch> {
    let alternatives = described.len();
    let mut all: Vec<Mismatch> = described.into_iter().flatten().collect();
    let numbers = |m: &Mismatch| match merging {
        Merging::Sizes => matches!(m.problem, Problem::Size { .. } | Problem::Count { .. }),
        Merging::Counts => matches!(m.problem, Problem::Count { .. }),
    };
    let types = |m: &Mismatch| matches!(m.problem, Problem::Type { .. } | Problem::Pattern { .. });
    for of_kind in [&numbers as &dyn Fn(&Mismatch) -> bool, &types] {
        let picked: Vec<&Mismatch> = all.iter().filter(|m| of_kind(m)).collect();
        if picked.len() != alternatives || picked.is_empty() {
            continue;
        }
        let mut iterator = picked.iter();
        let Some(first) = iterator.next() else {
            continue;
        };
        let mut joined: Mismatch = (*first).clone();
        let mut same = true;
        for next in iterator {
            if !joined.canonical().eq(next.canonical()) {
                same = false;
                break;
            }
            joined = join(&joined, next);
        }
        if same {
            all = vec![joined];
            break;
        }
    }
    // Puppet means to drop repeated problems here, but its comparison never finds two equal.
    if all.len() == 1 {
        return all.into_iter().map(|m| m.without_step(varying)).collect();
    }
    all
}

fn join(a: &Mismatch, b: &Mismatch) -> Mismatch {
    let problem = match (&a.problem, &b.problem) {
        (
            Problem::Type { expected, actual },
            Problem::Type {
                expected: other, ..
            }
            | Problem::Pattern {
                expected: other, ..
            },
        ) => Problem::Type {
            expected: normalize(&Type::variant([expected.clone(), other.clone()])),
            actual: actual.clone(),
        },
        (
            Problem::Pattern { expected, actual },
            Problem::Type {
                expected: other, ..
            }
            | Problem::Pattern {
                expected: other, ..
            },
        ) => Problem::Pattern {
            expected: normalize(&Type::variant([expected.clone(), other.clone()])),
            actual: actual.clone(),
        },
        (
            Problem::Size { expected, actual },
            Problem::Size {
                expected: other, ..
            }
            | Problem::Count {
                expected: other, ..
            },
        ) => Problem::Size {
            expected: expected.hull(other),
            actual: actual.clone(),
        },
        (
            Problem::Count { expected, actual },
            Problem::Size {
                expected: other, ..
            }
            | Problem::Count {
                expected: other, ..
            },
        ) => Problem::Count {
            expected: expected.hull(other),
            actual: actual.clone(),
        },
        _ => a.problem.clone(),
    };
    Mismatch {
        path: a.path.clone(),
        problem,
    }
}

fn array(
    element: &Type,
    size: Option<&Range>,
    original: &Type,
    actual: &Type,
    path: &[Step],
) -> Vec<Mismatch> {
    match actual {
        Type::Tuple(types, actual_size) => {
            let wanted = sizes(size);
            let got = actual_size
                .clone()
                .unwrap_or_else(|| Range::of(types.len(), types.len()));
            if !wanted.covers(&got) {
                return vec![Mismatch::of_size(path, wanted, got)];
            }
            types
                .iter()
                .enumerate()
                .filter(|(_, t)| !assignable(element, t))
                .flat_map(|(i, t)| describe(element, t, &with(path, Step::Index(i))))
                .collect()
        }
        Type::Array(actual_element, actual_size) => {
            let got = sizes(actual_size.as_ref());
            match size.filter(|wanted| !wanted.covers(&got)) {
                None => vec![Mismatch::of_type(
                    path,
                    original,
                    &Type::Array(actual_element.clone(), None),
                )],
                Some(wanted) => vec![Mismatch::of_size(path, wanted.clone(), got)],
            }
        }
        _ => vec![Mismatch::of_type(path, original, actual)],
    }
}

fn hash(
    pair: &(Type, Type),
    size: Option<&Range>,
    original: &Type,
    actual: &Type,
    path: &[Step],
) -> Vec<Mismatch> {
    match actual {
        Type::Struct(elements) => {
            let wanted = sizes(size);
            let got = struct_sizes(elements);
            if !wanted.covers(&got) {
                return vec![Mismatch::of_size(path, wanted, got)];
            }
            let mut problems = Vec::new();
            for element in elements.iter() {
                let key = element.key_type();
                let name = element.name.to_string();
                if !assignable(&pair.0, &key) {
                    let path = with(path, Step::EntryKey(name.clone()));
                    problems.extend(describe(&pair.0, &key, &path));
                }
                if !assignable(&pair.1, &element.value) {
                    let path = with(path, Step::Entry(name));
                    problems.extend(describe(&pair.1, &element.value, &path));
                }
            }
            problems
        }
        Type::Hash(actual_pair, actual_size) => {
            let got = sizes(actual_size.as_ref());
            match size.filter(|wanted| !wanted.covers(&got)) {
                None => vec![Mismatch::of_type(
                    path,
                    original,
                    &Type::Hash(actual_pair.clone(), None),
                )],
                Some(wanted) => vec![Mismatch::of_size(path, wanted.clone(), got)],
            }
        }
        _ => vec![Mismatch::of_type(path, original, actual)],
    }
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
            let mut problems = Vec::new();
            for element in elements {
                let name = element.name.to_string();
                let Some(other) = others.iter().find(|other| other.name == element.name) else {
                    if element.presence == Presence::Required {
                        problems.push(Mismatch::new(path, Problem::MissingKey(name)));
                    }
                    continue;
                };
                if !assignable(&element.value, &other.value) {
                    let path = with(path, Step::Entry(name));
                    problems.extend(describe(&element.value, &other.value, &path));
                }
            }
            for other in others.iter() {
                if !elements.iter().any(|element| element.name == other.name) {
                    let problem = Problem::UnknownKey(other.name.to_string());
                    problems.push(Mismatch::new(path, problem));
                }
            }
            problems
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

/// A mismatch in the number of arguments of a function.
pub(super) fn wrong_count(path: &[Step], expected: Range, actual: Range) -> Mismatch {
    Mismatch::new(path, Problem::Count { expected, actual })
}
