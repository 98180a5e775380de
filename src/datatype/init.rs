//! Finds the function that makes instances of a type, and the arguments that `Init` types accept.
//! It makes no values.

use std::sync::Arc;

use super::model::{ObjectType, Type};
use super::signatures::{Constructor, Count, FunctionParameter, Signatures, signatures};
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
    let Some(known) = own_signatures(inner) else {
        return false;
    };
    let all = [std::slice::from_ref(value), arguments].concat();
    known.matching(&all).is_some() || arguments.is_empty() && takes_elements(known, value)
}

/// The signatures of a type's own `new`; `None` if another type or none makes its instances.
fn own_signatures(inner: &Type) -> Option<&'static Signatures> {
    match maker(inner) {
        Ok(Maker::Own(function)) => Some(signatures(function)),
        _ => None,
    }
}

/// Whether the elements of a list are accepted as the arguments.
fn takes_elements(known: &Signatures, value: &Value) -> bool {
    let elements = value.as_array();
    elements.is_some_and(|elements| known.matching(elements).is_some())
}

/// Whether the further arguments of `Init[T, …]` fit a signature of the type's `new`.
pub(super) fn suits(inner: &Type, arguments: &[Value]) -> bool {
    let fits = |parameters: &Vec<FunctionParameter>| {
        let mut others = parameters.iter().skip(1);
        parameters.len() > arguments.len()
            && arguments
                .iter()
                .zip(&mut others)
                .all(|(argument, parameter)| is_instance(&parameter.expected, argument))
            && others.all(|p| p.count == Count::Optional)
    };
    own_signatures(inner).is_none_or(|known| known.list.iter().any(fits))
}

/// Whether a type's `new` accepts values of a type as its only argument.
pub(super) fn takes(inner: &Type, given: &Type) -> bool {
    let fits = |parameters: &Vec<FunctionParameter>| match parameters.as_slice() {
        [first, others @ ..] => {
            let are_optional = others.iter().all(|p| p.count == Count::Optional);
            are_optional && assignable(&first.expected, given)
        }
        [] => false,
    };
    own_signatures(inner).is_some_and(|known| known.list.iter().any(fits))
}

/// Whether a type's `new` accepts a value as its only argument.
pub(super) fn accepts_alone(inner: &Type, value: &Value) -> bool {
    let is_accepted = |known: &Signatures| {
        let mut list = known.list.iter();
        list.any(|p| p.len() == 1 && is_instance(&p[0].expected, value))
            || !takes_elements(known, value)
                && known.matching(std::slice::from_ref(value)).is_some()
    };
    is_instance(inner, value) || own_signatures(inner).is_some_and(is_accepted)
}
