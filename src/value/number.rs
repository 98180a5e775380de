//! The order of numbers.

use std::cmp::Ordering;

use num_bigint::BigInt;

use super::Value;

/// Ruby's `<=>` between two numbers; `None` for NaN and for values that are no numbers.
#[must_use]
pub(crate) fn compare_numbers(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Int(a), Value::BigInt(b)) => Some(BigInt::from(*a).cmp(b)),
        (Value::BigInt(a), Value::Int(b)) => Some((**a).cmp(&(*b).into())),
        (Value::BigInt(a), Value::BigInt(b)) => Some(a.cmp(b)),
        (Value::Int(a), Value::Float(b)) => compare_with_float(&(*a).into(), *b),
        (Value::BigInt(a), Value::Float(b)) => compare_with_float(a, *b),
        (Value::Float(_), Value::Int(_) | Value::BigInt(_)) => {
            Some(compare_numbers(b, a)?.reverse())
        }
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (_, _) => None,
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
