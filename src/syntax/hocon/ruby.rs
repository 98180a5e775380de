//! Ruby's conversions of texts in tokens: `inspect`, `Float()`, `Integer()`, `String#hex`.

use num_bigint::BigInt;

use crate::syntax::psych::kernel_float;

/// Ruby's `inspect` of a character that is neither quote nor backslash.
pub(super) fn inspect(character: char) -> String {
    let escape = match character {
        '\r' => 'r',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\u{1b}' => 'e',
        control if control.is_control() => return format!("\"\\u{:04X}\"", u32::from(control)),
        other => return format!("\"{other}\""),
    };
    format!("\"\\{escape}\"")
}

/// Ruby's `Float(text)` for text of digits, signs, points and exponents that starts with a digit or
/// a minus.
pub(super) fn ruby_float(text: &str) -> Option<f64> {
    // Without digits before its point it is text.
    kernel_float(text).filter(|_| !text.starts_with("-."))
}

/// Ruby's `Integer(text)` for text of digits and signs: a leading zero makes it octal.
pub(super) fn ruby_integer(text: &str) -> Option<BigInt> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let is_octal = digits.len() > 1 && digits.starts_with('0');
    BigInt::parse_bytes(text.as_bytes(), if is_octal { 8 } else { 10 })
}

/// Ruby's `String#hex`: reads leading digits, 0 without any.
pub(super) fn ruby_hex(text: &str) -> i64 {
    let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let text = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .unwrap_or(text);
    let mut number = 0;
    let mut after_digit = false;
    for character in text.chars() {
        match character.to_digit(16) {
            Some(digit) => (number, after_digit) = (number * 16 + i64::from(digit), true),
            None if character == '_' && after_digit => after_digit = false,
            None => break,
        }
    }
    if negative { -number } else { number }
}
