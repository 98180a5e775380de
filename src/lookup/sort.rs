//! Ruby's order of values, and its sorting algorithm.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "values of different classes have no order"
)]

use std::cmp::Ordering;

use num_bigint::BigInt;

use super::error::{ErrorClass, Found, LookupError};
use crate::value::Value;

/// `Array#sort!`: a merge sort, like the C library's `qsort_r` that Ruby calls, so that the same
/// pair of elements fails first.
pub(super) fn sort(elements: &mut Vec<Value>) -> Found<()> {
    if elements.len() < 2 {
        return Ok(());
    }
    let mut right = elements.split_off(elements.len() / 2);
    sort(elements)?;
    sort(&mut right)?;
    let left = std::mem::take(elements);
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let order = compare(a, b).ok_or_else(|| comparison_failed(a, b))?;
        let next = if order == Ordering::Greater {
            right.next()
        } else {
            left.next()
        };
        elements.extend(next);
    }
    elements.extend(left);
    elements.extend(right);
    Ok(())
}

/// Ruby's `<=>` between two values of data.
fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Int(a), Value::Float(b)) => compare_with_float(&(*a).into(), *b),
        (Value::BigInt(a), Value::Float(b)) => compare_with_float(a, *b),
        (Value::Float(_), Value::Int(_) | Value::BigInt(_)) => Some(compare(b, a)?.reverse()),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::BigInt(a), Value::BigInt(b)) => Some(a.cmp(b)),
        (Value::BigInt(a), Value::Int(b)) => Some((**a).cmp(&(*b).into())),
        (Value::Int(a), Value::BigInt(b)) => Some(BigInt::from(*a).cmp(b)),
        (Value::String(a), Value::String(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        (Value::Array(a), Value::Array(b)) => {
            for (a, b) in a.iter().zip(b.iter()) {
                match compare(a, b) {
                    Some(Ordering::Equal) => {}
                    other => return other,
                }
            }
            Some(a.len().cmp(&b.len()))
        }
        (a, b) => (a == b).then_some(Ordering::Equal),
    }
}

/// `rb_integer_float_cmp`: exact, unlike a comparison of two floats. `None` for NaN.
fn compare_with_float(integer: &BigInt, float: f64) -> Option<Ordering> {
    if !float.is_finite() {
        return 0.0.partial_cmp(&float);
    }
    let whole: BigInt = format!("{:.0}", float.trunc()).parse().ok()?;
    let of_fraction = 0.0.partial_cmp(&float.fract())?;
    Some(integer.cmp(&whole).then(of_fraction))
}

/// `rb_cmperr`
fn comparison_failed(a: &Value, b: &Value) -> LookupError {
    let other = match b {
        Value::Undef | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Symbol(_) => {
            b.inspect()
        }
        _ => super::dig::ruby_class(b).to_string(),
    };
    let message = format!(
        "comparison of {} with {other} failed",
        super::dig::ruby_class(a)
    );
    LookupError::new(ErrorClass::Argument, message)
}
