//! Ruby's order of values, and its sorting algorithm.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "values of different classes have no order"
)]

use std::cmp::Ordering;

use super::error::{ErrorClass, Found, LookupError};
use crate::value::{Value, compare_numbers};

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
        (
            Value::Int(_) | Value::BigInt(_) | Value::Float(_),
            Value::Int(_) | Value::BigInt(_) | Value::Float(_),
        ) => compare_numbers(a, b),
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

/// `rb_cmperr`
fn comparison_failed(a: &Value, b: &Value) -> LookupError {
    let other = match b {
        Value::Undef | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Symbol(_) => {
            b.inspect()
        }
        _ => b.ruby_class().to_string(),
    };
    let message = format!("comparison of {} with {other} failed", a.ruby_class());
    LookupError::new(ErrorClass::Argument, message)
}
