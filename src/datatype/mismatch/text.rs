//! Puppet's messages for mismatches.

use std::fmt;

use super::MismatchKind;
use super::describe::MAX_DEPTH;
use crate::datatype::assignable;
use crate::datatype::builtin::plain;
use crate::datatype::model::{Range, StringType, Type};

impl fmt::Display for MismatchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MismatchKind::MissingKey(key) => write!(f, "expects a value for key '{key}'"),
            MismatchKind::UnknownKey(key) => write!(f, "unrecognized key '{key}'"),
            MismatchKind::Unresolved(text) => write!(f, "references an unresolved type '{text}'"),
            MismatchKind::Type { expected, actual } => f.write_str(&type_message(expected, actual)),
            MismatchKind::Pattern { expected, actual } => {
                f.write_str(&pattern_message(expected, actual))
            }
            MismatchKind::Size { expected, actual } => write!(
                f,
                "expects size to be {}, got {}",
                range_text(expected, "0"),
                range_text(actual, "0")
            ),
            MismatchKind::Count { expected, actual } => write!(
                f,
                "expects {} argument{}, got {}",
                range_text(expected, "no"),
                if is_single(expected) { "" } else { "s" },
                range_text(actual, "none")
            ),
        }
    }
}

fn pattern_message(expected: &Type, actual: &Type) -> String {
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

/// Whether at most one argument is expected.
fn is_single(expected: &Range) -> bool {
    let one = |n: &Option<num_bigint::BigInt>| n.as_ref().is_some_and(|n| *n == 1.into());
    let none = expected.from.as_ref().is_none_or(|n| *n == 0.into());
    one(&expected.from) && (one(&expected.to) || expected.to.is_none()) || none && one(&expected.to)
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
    match (a, b) {
        // A type with parameters has its own class.
        (Type::Object(a), Type::Object(b)) => a == b,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
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
    match e {
        Type::Alias(alias) => assignable(&default_of(&alias.resolved()), a),
        _ => assignable(&default_of(e), a),
    }
}

/// The type of the same class without parameters.
fn default_of(t: &Type) -> Type {
    match t {
        Type::Alias(_) => Type::Reference("UnresolvedReference".into()),
        _ => plain(t.simple_name()).unwrap_or_else(|| t.clone()),
    }
}

fn detailed_actual(options: &[Type], actual: &Type) -> String {
    let resolved: Vec<Type> = options.iter().map(fully_resolved).collect();
    let general = actual.generalize();
    let is_detailed = |e: &Type| always_detailed(e, actual) || assignable(e, &general);
    if resolved.iter().any(is_detailed) {
        actual.expanded()
    } else {
        actual.name()
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
