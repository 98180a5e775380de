//! Arithmetic, comparison, and `+`, `-` and `<<` for collections
//! (`pops/evaluator/evaluator_impl.rb`).

use std::cmp::Ordering;

use super::evaluator::{Evaluator, not_known, pairs};
use super::stop::{Evaluated, Stop};
use crate::value::{HashMap, Value, compare_numbers};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    pub(super) fn as_f64(self) -> f64 {
        match self {
            Number::Int(number) => number as f64,
            Number::Float(number) => number,
        }
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Value {
        match number {
            Number::Int(number) => Value::Int(number),
            Number::Float(number) => Value::Float(number),
        }
    }
}

impl Evaluator<'_> {
    pub(super) fn calculate(&mut self, sign: &str, left: &Value, right: &Value) -> Evaluated {
        match (sign, left) {
            ("+", Value::Array(_) | Value::Hash(_)) => {
                let sum = concatenated(left, right)?;
                self.sized(sum)
            }
            ("-", Value::Array(_) | Value::Hash(_)) => Ok(without(left, right)),
            ("<<", Value::Array(elements)) => {
                let mut elements = elements.to_vec();
                elements.push(right.clone());
                self.sized(Value::from(elements))
            }
            _ => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                calculated(sign, left, right).map(Value::from)
            }
        }
    }

    pub(super) fn negated(&mut self, value: &Value) -> Evaluated {
        match self.number(value)? {
            Number::Int(number) => number
                .checked_neg()
                .map(Value::Int)
                .ok_or_else(|| Stop::failed("the number is too large")),
            Number::Float(number) => Ok(Value::Float(-number)),
        }
    }

    /// A value as a number; numeric strings are converted, unless Puppet refuses that (`coerce_numeric`).
    pub(super) fn number(&self, value: &Value) -> Evaluated<Number> {
        let found = number(value);
        let Value::String(text) = value else {
            return found;
        };
        match found {
            Ok(Number::Int(number)) if self.host.fails_on_coercion() => Err(Stop::failed(format!(
                "The string '{text}' was automatically coerced to the numerical value {number}"
            ))),
            // Whether it is another notation of a number or none, Puppet fails.
            Ok(Number::Float(_)) | Err(Stop::Unknown(_)) if self.host.fails_on_coercion() => Err(
                Stop::failed(format!("the string '{text}' is used as a number")),
            ),
            found => found,
        }
    }

    pub(super) fn compare(&mut self, sign: &str, left: &Value, right: &Value) -> Evaluated {
        let order = order(left, right)?;
        Ok(Value::Bool(match sign {
            "<" => order.is_lt(),
            "<=" => order.is_le(),
            ">" => order.is_gt(),
            _ => order.is_ge(),
        }))
    }
}

/// The order of two values; strings are compared case-insensitively.
pub(super) fn order(left: &Value, right: &Value) -> Evaluated<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => {
            let bytes = |text: &str| text.to_ascii_lowercase();
            Ok(bytes(left).cmp(&bytes(right)))
        }
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            let order = compare_numbers(left, right);
            order.ok_or_else(|| Stop::failed("the numbers are not comparable"))
        }
        (Value::Rich(_) | Value::BigInt(_), _) | (_, Value::Rich(_) | Value::BigInt(_)) => {
            Err(Stop::unknown("the comparison is not evaluated"))
        }
        (Value::Opaque(_), _) => Err(not_known(left)),
        (_, Value::Opaque(_)) => Err(not_known(right)),
        _ => Err(Stop::failed("Comparison of values that have no order")),
    }
}

/// A value as a number; numeric strings are converted.
pub(super) fn number(value: &Value) -> Evaluated<Number> {
    match value {
        Value::Int(number) => Ok(Number::Int(*number)),
        Value::Float(number) => Ok(Number::Float(*number)),
        Value::String(text) => {
            let text = text.strip_prefix("::").unwrap_or(text);
            let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            // Other notations (hexadecimal, signs, fractions) are rare.
            let decimal = plain && (text.len() == 1 || !text.starts_with('0'));
            match text.parse() {
                Ok(number) if decimal => Ok(Number::Int(number)),
                _ if text.bytes().any(|byte| byte.is_ascii_digit()) => {
                    Err(Stop::unknown(format!("'{text}' is not calculated with")))
                }
                _ => Err(Stop::failed(format!(
                    "The value '{text}' cannot be converted to Numeric."
                ))),
            }
        }
        Value::BigInt(_) | Value::Rich(_) => Err(Stop::unknown("the value is not calculated with")),
        Value::Opaque(_) => Err(not_known(value)),
        _ => Err(Stop::failed("The value cannot be converted to Numeric.")),
    }
}

fn calculated(sign: &str, left: Number, right: Number) -> Evaluated<Number> {
    let overflow = || Stop::failed("the result of the calculation is too large");
    if let (Number::Int(left), Number::Int(right)) = (left, right) {
        let result = match sign {
            "+" => left.checked_add(right),
            "-" => left.checked_sub(right),
            "*" => left.checked_mul(right),
            "/" | "%" if right == 0 => return Err(Stop::failed("Division by 0")),
            "/" => left.checked_div_euclid(right).map(|quotient| {
                // Ruby rounds down.
                let exact = quotient.wrapping_mul(right) == left;
                if right < 0 && !exact {
                    quotient - 1
                } else {
                    quotient
                }
            }),
            "%" => left.checked_rem_euclid(right).map(|rest| {
                if right < 0 && rest != 0 {
                    rest + right
                } else {
                    rest
                }
            }),
            "<<" | ">>" => shifted(sign, left, right),
            _ => return Err(Stop::unknown("the operator is not evaluated")),
        };
        return result.map(Number::Int).ok_or_else(overflow);
    }
    let (left, right) = (left.as_f64(), right.as_f64());
    let result = match sign {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "/" => left / right,
        _ => {
            return Err(Stop::failed(format!(
                "Operator '{sign}' is not applicable to a Float."
            )));
        }
    };
    if result.is_infinite() {
        Err(overflow())
    } else {
        Ok(Number::Float(result))
    }
}

fn shifted(sign: &str, left: i64, by: i64) -> Option<i64> {
    let is_left = (sign == "<<") == (by >= 0);
    let by = u32::try_from(by.unsigned_abs()).ok()?;
    if is_left {
        let shifted = left.checked_shl(by)?;
        (shifted >> by == left).then_some(shifted)
    } else {
        Some(left >> by.min(63))
    }
}

/// `+` of collections.
pub(super) fn concatenated(left: &Value, right: &Value) -> Evaluated {
    match left {
        Value::Array(elements) => {
            let mut elements = elements.to_vec();
            match right {
                Value::Array(more) => elements.extend(more.iter().cloned()),
                Value::Hash(_) => elements.extend(pairs(right)),
                other => elements.push(other.clone()),
            }
            Ok(Value::from(elements))
        }
        Value::Hash(hash) => {
            let mut hash = HashMap::clone(hash);
            match right {
                Value::Hash(more) => {
                    hash.extend(more.iter().map(|(key, value)| (key.clone(), value.clone())));
                }
                Value::Array(list) => {
                    let list = entries_of(list);
                    hash.extend(list.ok_or_else(|| Stop::unknown("the sum is not evaluated"))?);
                }
                _ => return Err(Stop::failed("Can only append Array or Hash to a Hash")),
            }
            Ok(Value::from(hash))
        }
        _ => Err(Stop::unknown("the sum is not evaluated")),
    }
}

/// The entries of a list of pairs, or of alternating keys and values.
fn entries_of(list: &[Value]) -> Option<Vec<(Value, Value)>> {
    if list.iter().all(|each| each.as_array().is_some()) {
        let entry = |each: &Value| match each.as_array()? {
            [key, value] => Some((key.clone(), value.clone())),
            _ => None,
        };
        return list.iter().map(entry).collect();
    }
    let all_plain = list.iter().all(|each| each.as_array().is_none());
    (all_plain && list.len().is_multiple_of(2)).then(|| {
        let entries = list.chunks_exact(2);
        entries
            .map(|two| (two[0].clone(), two[1].clone()))
            .collect()
    })
}

/// `-` of collections.
pub(super) fn without(left: &Value, right: &Value) -> Value {
    let listed = |value: &Value| match value {
        Value::Array(elements) => elements.to_vec(),
        Value::Hash(_) => pairs(value),
        other => vec![other.clone()],
    };
    match left {
        Value::Array(elements) => {
            let gone = listed(right);
            let kept = elements
                .iter()
                .filter(|each| !gone.iter().any(|it| same(it, each)));
            Value::array(kept.cloned())
        }
        Value::Hash(hash) => {
            let gone = match right {
                Value::Hash(more) => more.keys().cloned().collect(),
                other => listed(other),
            };
            let mut kept = HashMap::clone(hash);
            for key in &gone {
                kept.shift_remove(key);
            }
            Value::from(kept)
        }
        other => other.clone(),
    }
}

/// Ruby's `==`, for which `1` equals `1.0`.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Int(_), Value::Float(_)) | (Value::Float(_), Value::Int(_)) => {
            compare_numbers(left, right) == Some(Ordering::Equal)
        }
        _ => left == right,
    }
}
