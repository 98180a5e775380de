//! What plain scalars mean in the core schema of YAML 1.2 (YAML 1.2.2, 10.3.2): to most readers but Puppet's.

use num_bigint::BigInt;

use super::psych::Resolved;

/// The meaning of a plain scalar without a tag. O(bytes).
#[must_use]
pub fn resolve_core(text: &str) -> Resolved {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Resolved::Null,
        "true" | "True" | "TRUE" => return Resolved::Bool(true),
        "false" | "False" | "FALSE" => return Resolved::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Resolved::Float(f64::NAN),
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Resolved::Float(if text.starts_with('-') {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        });
    }
    let of_base = |digits: &str, base| BigInt::parse_bytes(digits.as_bytes(), base);
    let is_made_of = |digits: &str, fits: fn(&u8) -> bool| {
        !digits.is_empty() && digits.as_bytes().iter().all(fits)
    };
    let number = if is_made_of(unsigned, u8::is_ascii_digit) {
        of_base(text.strip_prefix('+').unwrap_or(text), 10)
    } else if let Some(digits) = text.strip_prefix("0o") {
        of_base(digits, 8).filter(|_| is_made_of(digits, u8::is_ascii_digit))
    } else if let Some(digits) = text.strip_prefix("0x") {
        of_base(digits, 16).filter(|_| is_made_of(digits, u8::is_ascii_hexdigit))
    } else {
        None
    };
    match number {
        Some(number) => i64::try_from(&number).map_or(Resolved::BigInt(number), Resolved::Int),
        None if is_float(unsigned) => text.parse().map_or(Resolved::String, Resolved::Float),
        None => Resolved::String,
    }
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let (number, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_exponent = |text: &str| {
        let text = text.strip_prefix(['-', '+']).unwrap_or(text);
        !text.is_empty() && digits(text)
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    digits(whole)
        && digits(part)
        && !(whole.is_empty() && part.is_empty())
        && exponent.is_none_or(is_exponent)
}
