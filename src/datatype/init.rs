//! Finds the function that makes instances of a type, and the arguments that `Init` types accept.
//! It makes no values.

use std::sync::Arc;

use super::model::{ObjectType, Type};
use super::signatures::{Constructor, Count, signatures};
use super::{assignable, is_instance};
use crate::value::Value;

/// How instances of a type are made.
pub(super) enum Maker {
    Own(Constructor),
    Of(Type),
    Init(Type, Arc<[Value]>),
}

/// The function that makes instances of a type.
pub(super) fn maker(target: &Type) -> Result<Maker, String> {
    let refused = || format!("Creation of new instance of type '{target}' is not supported");
    Ok(Maker::Own(match target {
        Type::Integer(_) => Constructor::Integer,
        Type::Float(_) => Constructor::Float,
        Type::Numeric => Constructor::Numeric,
        Type::String(_) => Constructor::String,
        Type::Boolean(_) => Constructor::Boolean,
        Type::Array(..) | Type::Tuple(..) => Constructor::Array,
        Type::Hash(..) | Type::Struct(_) => Constructor::Hash,
        Type::Sensitive(_) => Constructor::Sensitive,
        Type::Timestamp(_) => Constructor::Timestamp,
        Type::Timespan(_) => Constructor::Timespan,
        Type::SemVer(_) => Constructor::SemVer,
        Type::SemVerRange => Constructor::SemVerRange,
        Type::Binary => Constructor::Binary,
        Type::Uri(_) => Constructor::Uri,
        Type::Regexp(_) => Constructor::Regexp,
        Type::Type(_) => Constructor::Type,
        Type::Object(Some(ObjectType::Deferred)) => Constructor::Deferred,
        Type::Object(Some(ObjectType::Error)) => Constructor::Error,
        Type::Unit | Type::NotUndef(None) => Constructor::Unit,
        Type::NotUndef(Some(inner)) | Type::Optional(Some(inner)) => {
            return Ok(Maker::Of(Type::clone(inner)));
        }
        Type::Alias(alias) => return Ok(Maker::Of(alias.resolved())),
        Type::Optional(None) => {
            return Err("undefined method `new_function' for nil:NilClass".to_owned());
        }
        Type::Init(Some(inner), arguments) => {
            let barred = matches!(
                **inner,
                Type::Init(..) | Type::Optional(_) | Type::NotUndef(_)
            );
            if barred || maker(inner).is_err() {
                return Err(format!(
                    "Creation of new instance of type '{inner}' is not supported"
                ));
            }
            return Ok(Maker::Init(Type::clone(inner), arguments.clone()));
        }
        _ => return Err(refused()),
    }))
}

/// Whether `Init[T]` accepts a value that is not a `T` yet.
pub(super) fn accepts(inner: &Type, arguments: &[Value], value: &Value) -> bool {
    let Ok(Maker::Own(function)) = maker(inner) else {
        return false;
    };
    let mut all = vec![value.clone()];
    all.extend_from_slice(arguments);
    let known = signatures(function);
    known.matching(&all).is_some()
        || arguments.is_empty()
            && value
                .as_array()
                .is_some_and(|elements| known.matching(elements).is_some())
}

/// Whether the further arguments of `Init[T, …]` fit a signature of the type's `new`.
pub(super) fn suits(inner: &Type, arguments: &[Value]) -> bool {
    let Ok(Maker::Own(function)) = maker(inner) else {
        return true;
    };
    signatures(function).list.iter().any(|parameters| {
        parameters.len() > arguments.len()
            && parameters
                .iter()
                .skip(1 + arguments.len())
                .all(|p| p.count == Count::Optional)
            && parameters
                .iter()
                .skip(1)
                .zip(arguments)
                .all(|(parameter, argument)| is_instance(&parameter.expected, argument))
    })
}

/// Whether a type's `new` accepts values of a type as its only argument.
pub(super) fn takes(inner: &Type, given: &Type) -> bool {
    let Ok(Maker::Own(function)) = maker(inner) else {
        return false;
    };
    signatures(function).list.iter().any(|parameters| {
        parameters
            .iter()
            .skip(1)
            .all(|p| p.count == Count::Optional)
            && parameters
                .first()
                .is_some_and(|p| assignable(&p.expected, given))
    })
}

/// Whether a type's `new` accepts a value as its only argument.
pub(super) fn accepts_alone(inner: &Type, value: &Value) -> bool {
    if is_instance(inner, value) {
        return true;
    }
    let Ok(Maker::Own(function)) = maker(inner) else {
        return false;
    };
    let known = signatures(function);
    let alone = known
        .list
        .iter()
        .any(|p| p.len() == 1 && is_instance(&p[0].expected, value));
    let spread = value
        .as_array()
        .is_some_and(|elements| known.matching(elements).is_some());
    alone || !spread && known.matching(std::slice::from_ref(value)).is_some()
}
