//! Numbers made from other values: `new` of `Integer`, `Float` and `Numeric`.

use num_bigint::BigInt;

use super::instance::{integer, rich};
use super::signatures::Constructor;
use super::{ruby_inspect, time};
use crate::value::{Value, float_to_s};

pub(super) fn number(
    function: Constructor,
    matched: usize,
    all: &[Value],
) -> Result<Value, String> {
    let named;
    let (from, radix, absolute) = if matched == 1 {
        named = all[0].clone();
        let undef = &Value::Undef;
        (
            named.get("from").unwrap_or(undef),
            named.get("radix").filter(|v| !v.is_falsey()),
            named.get("abs"),
        )
    } else if function == Constructor::Integer {
        (&all[0], all.get(1), all.get(2))
    } else {
        (&all[0], None, all.get(1))
    };
    let radix = radix.and_then(|radix| match radix {
        Value::Int(radix) => u32::try_from(*radix).ok(),
        _ => None,
    });
    let made = match function {
        Constructor::Integer => to_integer(from, radix)?,
        Constructor::Float => to_float(from)?,
        _ => to_number(from)?,
    };
    if absolute != Some(&Value::Bool(true)) {
        return Ok(made);
    }
    Ok(match made {
        Value::Float(number) => Value::Float(number.abs()),
        other => match integer(&other) {
            Some(number) => BigInt::from(number.magnitude().clone()).into(),
            None => other,
        },
    })
}

/// A float cut to an integer, as Ruby's `to_i`.
pub(super) fn truncate(number: f64) -> Result<BigInt, String> {
    if !number.is_finite() {
        return Err(float_to_s(number));
    }
    let text = format!("{:.0}", number.trunc());
    text.parse().map_err(|_| float_to_s(number))
}

fn seconds(value: &Value) -> Option<i128> {
    rich(value, "Timespan")
        .and_then(time::timespan_of_text)
        .or_else(|| rich(value, "Timestamp").and_then(time::timestamp_of_text))
}

/// The seconds of a time as a float; another value as it is.
#[allow(clippy::cast_precision_loss, reason = "Ruby loses it too")]
fn float_of_time(value: &Value) -> Value {
    match seconds(value) {
        Some(nanoseconds) => Value::Float(nanoseconds as f64 / 1e9),
        None => value.clone(),
    }
}

fn no_integer(text: &str) -> String {
    format!("invalid value for Integer(): {}", ruby_inspect(text))
}

fn to_integer(from: &Value, radix: Option<u32>) -> Result<Value, String> {
    match from {
        Value::Float(number) => truncate(*number).map(Value::from),
        Value::Bool(truth) => Ok(Value::Int(i64::from(*truth))),
        Value::String(text) => ruby_integer(text, radix)
            .or_else(|| ruby_integer(&without_gap(text)?, radix))
            .map(Value::from)
            .ok_or_else(|| no_integer(text)),
        other => match seconds(other) {
            Some(nanoseconds) => Ok(BigInt::from(nanoseconds.div_euclid(time::SECOND)).into()),
            None => Ok(other.clone()),
        },
    }
}

fn to_float(from: &Value) -> Result<Value, String> {
    match from {
        Value::Bool(truth) => Ok(Value::Float(f64::from(u8::from(*truth)))),
        Value::Int(_) | Value::BigInt(_) => {
            let digits = integer(from).unwrap_or_default().to_string();
            Ok(Value::Float(digits.parse().unwrap_or(f64::INFINITY)))
        }
        Value::String(text) => {
            if **text == *"0" {
                return Err("undefined method `casecmp' for nil:NilClass".to_owned());
            }
            ruby_float_of(text)
                .or_else(|| ruby_float_of(&without_gap(text)?))
                .map(Value::Float)
                .ok_or_else(|| format!("invalid value for Float(): {}", ruby_inspect(text)))
        }
        other => Ok(float_of_time(other)),
    }
}

fn to_number(from: &Value) -> Result<Value, String> {
    match from {
        Value::Bool(truth) => Ok(Value::Int(i64::from(*truth))),
        Value::String(text) => {
            let lower = text.to_lowercase();
            if lower.starts_with("0b") || lower.starts_with("0x") {
                let number = ruby_integer(text, None).map(Value::from);
                return number.ok_or_else(|| no_integer(text));
            }
            let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            let is_hexadecimal = compact.to_lowercase().contains("0x");
            if !is_hexadecimal && compact.contains(['.', 'e', 'E']) {
                return Ok(compact.parse().map_or(Value::Undef, Value::Float));
            }
            Ok(ruby_integer(&compact, None).map_or(Value::Undef, Value::from))
        }
        other => Ok(float_of_time(other)),
    }
}

/// The text without the spaces between its sign and its digits, if it has any.
fn without_gap(text: &str) -> Option<String> {
    let sign = text.chars().next().filter(|c| matches!(c, '+' | '-'))?;
    let rest = &text[1..];
    rest.starts_with([' ', '\t'])
        .then(|| format!("{sign}{}", rest.trim_start()))
}

/// Ruby's `Integer()` for the texts that Puppet accepts.
fn ruby_integer(text: &str, radix: Option<u32>) -> Option<BigInt> {
    let trimmed = text.trim();
    let (negative, digits) = match trimmed.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let lower = digits.to_lowercase();
    let prefixed = [("0x", 16), ("0b", 2), ("0o", 8), ("0d", 10)]
        .into_iter()
        .find_map(|(prefix, base)| Some((lower.strip_prefix(prefix)?, base)));
    let (digits, base) = match (prefixed, radix) {
        (Some((rest, base)), None) => (rest, base),
        (Some((rest, base)), Some(radix)) if radix == base => (rest, base),
        (_, Some(radix)) => (lower.as_str(), radix),
        (None, None) if lower.len() > 1 && lower.starts_with('0') => (&lower[1..], 8),
        (None, None) => (lower.as_str(), 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
        return None;
    }
    let number = BigInt::parse_bytes(digits.as_bytes(), base)?;
    Some(if negative { -number } else { number })
}

/// Ruby's `Float()` for the texts that Puppet accepts.
pub(super) fn ruby_float_of(text: &str) -> Option<f64> {
    let trimmed = text.trim();
    let lower = trimmed.to_lowercase();
    if lower.contains("0x") || lower.starts_with("0b") {
        let number = ruby_integer(trimmed, None)?;
        return number.to_string().parse().ok();
    }
    if trimmed.contains("  ") || trimmed.starts_with("- ") || trimmed.starts_with("+ ") {
        return None;
    }
    trimmed.parse().ok()
}
