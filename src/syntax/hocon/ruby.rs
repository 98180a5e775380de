//! Ruby's conversions of texts in tokens: `inspect`, `Float()`, `Integer()`, `String#hex`.

use num_bigint::BigInt;

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

/// Ruby's `Float(text)` for text of digits, signs, points and exponents.
pub(super) fn ruby_float(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = digits
        .split_once(['e', 'E'])
        .map_or((digits, None), |(mantissa, exponent)| {
            (mantissa, Some(exponent))
        });
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some((whole, fraction)) => is_number(whole) && is_number(fraction),
        None => is_number(mantissa),
    };
    let exponent_fits =
        exponent.is_none_or(|text| is_number(text.strip_prefix(['-', '+']).unwrap_or(text)));
    (mantissa_fits && exponent_fits)
        .then(|| text.parse().ok())
        .flatten()
}

/// Ruby's `Integer(text)` for text of digits and signs: a leading zero makes it octal.
pub(super) fn ruby_integer(text: &str) -> Option<BigInt> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let radix = if digits.len() > 1 && digits.starts_with('0') {
        8
    } else {
        10
    };
    let number = BigInt::parse_bytes(digits.as_bytes(), radix)?;
    Some(if text.starts_with('-') {
        -number
    } else {
        number
    })
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
