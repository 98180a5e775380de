//! Resolves plain scalars as Psych 4.0.3 does: `psych/scalar_scanner.rb`, test by test.
//!
//! Every branch keeps the order of the original, whose patterns overlap on purpose and by accident.
//! It must not know trees; tags belong to the room `value`.
//!
//! ```
//! use hiera_ls::syntax::psych::{Resolved, resolve_plain};
//!
//! assert_eq!(resolve_plain("1:30"), Resolved::Int(5400));
//! assert_eq!(resolve_plain("1e3"), Resolved::String);
//! assert_eq!(resolve_plain("2001-02-30"), Resolved::Date);
//! ```

use num_bigint::BigInt;

/// The resolved kind of a plain scalar.
#[derive(Clone, PartialEq, Debug)]
pub enum Resolved {
    /// `nil`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A longer integer.
    BigInt(BigInt),
    /// A float.
    Float(f64),
    /// A symbol, without its colon and quotes.
    Symbol(String),
    /// A `Date`, for which Puppet refuses the whole file.
    Date,
    /// A `Time`, for which Puppet refuses the whole file.
    Time,
    /// The text itself.
    String,
    /// The text looks like a number, but Ruby's `Integer()` or `Float()` raises on it.
    Invalid {
        /// `Integer` or `Float`.
        conversion: &'static str,
        /// The text passed to it.
        text: String,
    },
}

/// Psych 4 considers only words up to this length when it looks for `yes`, `null` and the like.
const LONGEST_WORD: usize = 5;

/// Psych's value for an untagged plain scalar: `ScalarScanner#tokenize` of psych 4.0.3. O(length),
/// except for integers of thousands of digits.
#[must_use]
pub fn resolve_plain(text: &str) -> Resolved {
    let bytes = text.as_bytes();
    let Some(&first) = bytes.first() else {
        return Resolved::Null;
    };
    if let Some(number) = short_number(bytes) {
        return Resolved::Int(number);
    }
    if looks_wordy(text) || bytes.contains(&b'\n') {
        return resolve_word(text);
    }
    if first.is_ascii_digit() || first == b'-' {
        if is_time(text) {
            return Resolved::Time;
        }
        if is_date(bytes) {
            return Resolved::Date;
        }
    }
    if text.eq_ignore_ascii_case(".inf") || text.eq_ignore_ascii_case("+.inf") {
        return Resolved::Float(f64::INFINITY);
    }
    if text.eq_ignore_ascii_case("-.inf") {
        return Resolved::Float(f64::NEG_INFINITY);
    }
    if text.eq_ignore_ascii_case(".nan") {
        return Resolved::Float(f64::NAN);
    }
    if first == b':' && bytes.len() > 1 {
        return Resolved::Symbol(symbol_name(text).to_owned());
    }
    resolve_sexagesimal(text)
        .or_else(|| resolve_float(text))
        .or_else(|| resolve_integer(text))
        .unwrap_or(Resolved::String)
}

/// A few digits without a leading zero, which always mean an integer.
fn short_number(bytes: &[u8]) -> Option<i64> {
    /// This many digits fit into an integer.
    const FEW: usize = 18;
    let is_short = bytes.len() <= FEW && matches!(bytes, [b'1'..=b'9', ..] | [b'0']);
    if !is_short || !bytes.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = bytes.iter().map(|&digit| i64::from(digit - b'0'));
    Some(digits.fold(0, |number, digit| number * 10 + digit))
}

/// `%r{^[^\d.:-]?[[:alpha:]_\s!@#$%\^&*(){}<>|/\\~;=]+}`, on one line.
fn looks_wordy(text: &str) -> bool {
    let mut characters = text.chars();
    let Some(first) = characters.next() else {
        return false;
    };
    if is_wordy(first) {
        return true;
    }
    let skippable = !(first.is_ascii_digit() || matches!(first, '.' | ':' | '-'));
    skippable && characters.next().is_some_and(is_wordy)
}

fn is_wordy(character: char) -> bool {
    character.is_alphabetic()
        || matches!(
            character,
            '_' | ' ' | '\t' | '\r' | '\n' | '\x0B' | '\x0C' | '!' | '@' | '#' | '$' | '%' | '^'
        )
        || matches!(
            character,
            '&' | '*' | '(' | ')' | '{' | '}' | '<' | '>' | '|' | '/' | '\\' | '~' | ';' | '='
        )
}

/// The words of YAML 1.1, ignoring case. Ruby's `^` and `$` match at every line, so one line of a
/// folded scalar can make all of it true or false.
fn resolve_word(text: &str) -> Resolved {
    if text.chars().nth(LONGEST_WORD).is_some() {
        return Resolved::String;
    }
    // `^[^ytonf~]` needs a character after the start of a line: an empty last line has none, any
    // other empty line has its line break.
    let starts_otherwise = text
        .split_inclusive('\n')
        .any(|line| !line.starts_with(|c: char| "ytonf~".contains(c.to_ascii_lowercase())));
    if starts_otherwise {
        return Resolved::String;
    }
    let any_line = |words: &[&str]| {
        text.split('\n')
            .any(|line| words.iter().any(|word| same_letters(line, word)))
    };
    if text == "~" || any_line(&["null"]) {
        Resolved::Null
    } else if any_line(&["yes", "true", "on"]) {
        Resolved::Bool(true)
    } else if any_line(&["no", "false", "off"]) {
        Resolved::Bool(false)
    } else {
        Resolved::String
    }
}

/// Equality under Ruby's `/i`, which also matches `ſ` with `s` and `ﬀ` with `ff`.
fn same_letters(text: &str, word: &str) -> bool {
    if text.is_ascii() {
        return text.eq_ignore_ascii_case(word);
    }
    text.replace('ſ', "s")
        .replace('ﬀ', "ff")
        .eq_ignore_ascii_case(word)
}

/// A cursor over the bytes of one scalar, for patterns that need no backtracking.
struct ScalarReader<'a> {
    rest: &'a [u8],
}

impl<'a> ScalarReader<'a> {
    fn new(text: &'a str) -> ScalarReader<'a> {
        ScalarReader {
            rest: text.as_bytes(),
        }
    }

    /// Consumes up to `most` bytes that `accepts` matches, and returns how many.
    fn eat(&mut self, most: usize, accepts: impl Fn(u8) -> bool) -> usize {
        let count = self
            .rest
            .iter()
            .take(most)
            .take_while(|&&byte| accepts(byte))
            .count();
        self.rest = &self.rest[count..];
        count
    }

    fn eat_byte(&mut self, byte: u8) -> bool {
        self.eat(1, |b| b == byte) == 1
    }

    fn eat_digits(&mut self, least: usize, most: usize) -> bool {
        self.eat(most, |b| b.is_ascii_digit()) >= least
    }

    fn eat_spaces(&mut self) -> usize {
        self.eat(usize::MAX, is_space)
    }

    fn is_done(&self) -> bool {
        self.rest.is_empty()
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0B | 0x0C)
}

/// `TIME` of scalar_scanner.rb.
fn is_time(text: &str) -> bool {
    let mut reader = ScalarReader::new(text);
    reader.eat_byte(b'-');
    let date = reader.eat_digits(4, 4)
        && reader.eat_byte(b'-')
        && reader.eat_digits(1, 2)
        && reader.eat_byte(b'-')
        && reader.eat_digits(1, 2);
    if !date || !(reader.eat(1, |b| matches!(b, b'T' | b't')) == 1 || reader.eat_spaces() > 0) {
        return false;
    }
    let clock = reader.eat_digits(1, 2)
        && reader.eat_byte(b':')
        && reader.eat_digits(2, 2)
        && reader.eat_byte(b':')
        && reader.eat_digits(2, 2);
    if !clock {
        return false;
    }
    if reader.eat_byte(b'.') {
        reader.eat(usize::MAX, |b| b.is_ascii_digit());
    }
    if reader.is_done() {
        return true;
    }
    reader.eat_spaces();
    if reader.eat_byte(b'Z') {
        return reader.is_done();
    }
    if reader.eat(1, |b| matches!(b, b'-' | b'+')) == 0 {
        return false;
    }
    let hours = reader.eat(2, |b| b.is_ascii_digit());
    let colon = reader.eat_byte(b':');
    let minutes = reader.eat(2, |b| b.is_ascii_digit());
    // Without a colon, three digits can be one for the hours and two for the minutes.
    let fits = match (hours, minutes) {
        (1 | 2, 0 | 2) => true,
        (2, 1) => !colon,
        _ => false,
    };
    fits && reader.is_done()
}

/// `^\d{4}-(?:1[012]|0\d|\d)-(?:[12]\d|3[01]|0\d|\d)$`
fn is_date(bytes: &[u8]) -> bool {
    if bytes.len() < 8 || !bytes[..4].iter().all(u8::is_ascii_digit) || bytes[4] != b'-' {
        return false;
    }
    let mut parts = bytes[5..].split(|&b| b == b'-');
    let (Some(month), Some(day), None) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let month_fits = match month {
        [b'1', b'0'..=b'2'] => true,
        [b'0', digit] | [digit] => digit.is_ascii_digit(),
        _ => false,
    };
    let day_fits = match day {
        [b'3', b'0' | b'1'] => true,
        [b'0'..=b'2', digit] | [digit] => digit.is_ascii_digit(),
        _ => false,
    };
    month_fits && day_fits
}

/// `/^:(["'])(.*)\1/` with one more colon dropped, or the text after the first colon.
fn symbol_name(text: &str) -> &str {
    let rest = &text[1..];
    for quote in ['"', '\''] {
        if let Some(inner) = rest.strip_prefix(quote)
            && let Some(end) = inner.rfind(quote)
        {
            let inner = &inner[..end];
            return inner.strip_prefix(':').unwrap_or(inner);
        }
    }
    rest
}

/// Sexagesimal numbers. The parts are weighted by `60 ** (index - 2).abs`, so two parts are hours
/// and minutes, in seconds.
fn resolve_sexagesimal(text: &str) -> Option<Resolved> {
    let mut reader = ScalarReader::new(text);
    reader.eat(1, |b| matches!(b, b'-' | b'+'));
    if reader.eat(1, |b| b.is_ascii_digit()) == 0 {
        return None;
    }
    reader.eat(usize::MAX, |b| b.is_ascii_digit() || b == b'_');
    let mut parts = 1;
    while parts < 3 && reader.eat_byte(b':') {
        let tens = reader.eat(1, |b| (b'0'..=b'5').contains(&b));
        if reader.eat(1, |b| b.is_ascii_digit()) + tens == 0 {
            return None;
        }
        parts += 1;
    }
    if parts == 1 {
        return None;
    }
    let is_float = reader.eat_byte(b'.');
    if is_float {
        reader.eat(usize::MAX, |b| b.is_ascii_digit() || b == b'_');
    }
    if !reader.is_done() {
        return None;
    }
    let weights = [3600_u32, 60, 1];
    let weighed = text.split(':').zip(weights);
    Some(if is_float {
        Resolved::Float(
            weighed
                .map(|(part, weight)| string_to_f(part) * f64::from(weight))
                .sum(),
        )
    } else {
        let sum: BigInt = weighed
            .map(|(part, weight)| string_to_i(part) * weight)
            .sum();
        integer(sum)
    })
}

/// `String#to_i`: the digits at the start, with single underscores between them.
fn string_to_i(text: &str) -> BigInt {
    let digits = leading_digits(text);
    digits.parse().unwrap_or_default()
}

/// `String#to_f` of text that is digits, underscores and a dot.
fn string_to_f(text: &str) -> f64 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut number = leading_digits(whole);
    // A whole part that ends early ends the number.
    if number.len() == whole.replace('_', "").len() && !whole.ends_with('_') {
        number.push('.');
        number.push_str(&leading_digits(fraction));
    }
    number.trim_end_matches('.').parse().unwrap_or_default()
}

/// An optional sign and the following digits, with single underscores between digits allowed;
/// returned without underscores.
fn leading_digits(text: &str) -> String {
    let mut digits = String::new();
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'-' | b'+' if at == 0 => digits.push(char::from(byte)),
            b'0'..=b'9' => digits.push(char::from(byte)),
            b'_' if at > 0
                && bytes[at - 1].is_ascii_digit()
                && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {}
            _ => break,
        }
    }
    digits
}

/// `FLOAT` of scalar_scanner.rb and the following conversion.
fn resolve_float(text: &str) -> Option<Resolved> {
    let mut reader = ScalarReader::new(text);
    reader.eat(1, |b| matches!(b, b'-' | b'+'));
    if reader.eat(1, |b| b.is_ascii_digit()) == 1 {
        reader.eat(usize::MAX, |b| {
            b.is_ascii_digit() || matches!(b, b'_' | b',')
        });
    }
    if !reader.eat_byte(b'.') {
        return None;
    }
    reader.eat(usize::MAX, |b| b.is_ascii_digit());
    if reader.eat(1, |b| matches!(b, b'e' | b'E')) == 1
        && (reader.eat(1, |b| matches!(b, b'-' | b'+')) == 0 || !reader.eat_digits(1, usize::MAX))
    {
        return None;
    }
    if !reader.is_done() {
        return None;
    }
    if matches!(text, "." | "+." | "-.") {
        return Some(Resolved::String);
    }
    let mut number = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '_' | ',' => {}
            '.' if matches!(characters.peek(), None | Some('e' | 'E')) => {}
            _ => number.push(character),
        }
    }
    Some(match kernel_float(&number) {
        Some(value) => Resolved::Float(value),
        None => Resolved::Invalid {
            conversion: "Float",
            text: number,
        },
    })
}

/// `INTEGER` of scalar_scanner.rb and the following conversion.
fn resolve_integer(text: &str) -> Option<Resolved> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let bytes = unsigned.as_bytes();
    let is_separator = |b: u8| matches!(b, b'_' | b',');
    let all = |rest: &[u8], digit: fn(&u8) -> bool| {
        !rest.is_empty() && rest.iter().all(|b| digit(b) || is_separator(*b))
    };
    let radix = match bytes {
        [b'0', b'b', rest @ ..] if all(rest, |b| matches!(b, b'0' | b'1')) => 2,
        [b'0', b'x', rest @ ..] if all(rest, u8::is_ascii_hexdigit) => 16,
        [b'0'] => 10,
        [b'0', rest @ ..] if all(rest, |b| (b'0'..=b'7').contains(b)) => 8,
        [b'1'..=b'9', rest @ ..] if separators_are_between_digits(rest) => 10,
        _ => return None,
    };
    let prefix = if matches!(radix, 2 | 16) { 2 } else { 0 };
    let digits: Vec<u8> = bytes[prefix..]
        .iter()
        .copied()
        .filter(|&b| !is_separator(b))
        .collect();
    let Some(magnitude) = BigInt::parse_bytes(&digits, radix) else {
        return Some(Resolved::Invalid {
            conversion: "Integer",
            text: text.replace(['_', ','], ""),
        });
    };
    let sign = if text.starts_with('-') { -1 } else { 1 };
    Some(integer(magnitude * sign))
}

/// `(?:[0-9]|,[0-9]|_[0-9])*`
fn separators_are_between_digits(rest: &[u8]) -> bool {
    let mut after_separator = false;
    for byte in rest {
        match byte {
            b'0'..=b'9' => after_separator = false,
            b'_' | b',' if !after_separator => after_separator = true,
            _ => return false,
        }
    }
    !after_separator
}

fn integer(number: BigInt) -> Resolved {
    match i64::try_from(&number) {
        Ok(small) => Resolved::Int(small),
        Err(_) => Resolved::BigInt(number),
    }
}

/// Ruby's `Kernel#Float` of a string: decimal or hexadecimal, white space around, single
/// underscores between digits. `None` if it raises.
#[must_use]
pub fn kernel_float(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c: char| u8::try_from(c).is_ok_and(is_space));
    let bytes = text.as_bytes();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let lone_underscore = bytes.iter().enumerate().any(|(at, &b)| {
        b == b'_'
            && !(at > 0
                && bytes[at - 1].is_ascii_hexdigit()
                && bytes.get(at + 1).is_some_and(u8::is_ascii_hexdigit))
    });
    if lone_underscore {
        return None;
    }
    let digits = unsigned.replace('_', "");
    let magnitude = match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        Some(hex) => hex_float(hex)?,
        None => {
            let mut reader = ScalarReader::new(&digits);
            let whole = reader.eat(usize::MAX, |b| b.is_ascii_digit());
            if reader.eat_byte(b'.') && !reader.eat_digits(1, usize::MAX) {
                return None;
            }
            if whole == 0 && !digits.starts_with('.') {
                return None;
            }
            if reader.eat(1, |b| matches!(b, b'e' | b'E')) == 1 {
                reader.eat(1, |b| matches!(b, b'-' | b'+'));
                if !reader.eat_digits(1, usize::MAX) {
                    return None;
                }
            }
            if !reader.is_done() {
                return None;
            }
            digits.parse().ok()?
        }
    };
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    Some(sign * magnitude)
}

/// `1.8p3` without its `0x`.
fn hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    if whole.is_empty() || fraction.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for character in whole.chars() {
        value = value * 16.0 + f64::from(character.to_digit(16)?);
    }
    let mut weight = 1.0 / 16.0;
    for character in fraction.chars() {
        value += f64::from(character.to_digit(16)?) * weight;
        weight /= 16.0;
    }
    Some(value * 2_f64.powi(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_span_lines_as_in_ruby() {
        assert_eq!(resolve_plain("no\nno"), Resolved::Bool(false));
        assert_eq!(resolve_plain("oﬀ"), Resolved::Bool(false));
        assert_eq!(resolve_plain("yeſ"), Resolved::Bool(true));
        assert_eq!(resolve_plain("y"), Resolved::String);
        assert_eq!(resolve_plain("nulls"), Resolved::String);
    }

    #[test]
    fn numbers_that_ruby_raises_on() {
        for (text, conversion, rest) in [
            (".e+5", "Float", "e+5"),
            ("0x_", "Integer", "0x"),
            ("-0b_,", "Integer", "-0b"),
        ] {
            assert_eq!(
                resolve_plain(text),
                Resolved::Invalid {
                    conversion,
                    text: rest.to_owned()
                }
            );
        }
    }

    #[test]
    fn base_sixty() {
        assert_eq!(resolve_plain("-190:20:30"), Resolved::Int(-682_770));
        assert_eq!(resolve_plain("1:30.5"), Resolved::Float(5430.0));
        assert_eq!(resolve_plain("1:60"), Resolved::String);
        assert_eq!(resolve_plain("1__0:30"), Resolved::Int(5400));
    }

    #[test]
    fn symbols() {
        for (text, name) in [(":a", "a"), ("::a", ":a"), (":\":a\"b", "a"), (":\"", "\"")] {
            assert_eq!(resolve_plain(text), Resolved::Symbol(name.to_owned()));
        }
        assert_eq!(resolve_plain(":"), Resolved::String);
    }

    #[test]
    fn floats_of_the_kernel() {
        assert_eq!(kernel_float(" 1_0 "), Some(10.0));
        assert_eq!(kernel_float("0x1.8p1"), Some(3.0));
        assert_eq!(kernel_float("1e400"), Some(f64::INFINITY));
        for text in ["", "x", "1__0", "1.", "1.5.5", "_1", "1e", "."] {
            assert_eq!(kernel_float(text), None, "{text}");
        }
    }
}
