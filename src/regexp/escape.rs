//! Ruby's preprocessing of escapes, before its regular expression engine sees a pattern
//! (`unescape_nonascii` in `re.c`): `\x`, `\u`, control and meta escapes and octals.
//!
//! Errors found here take precedence over errors in the pattern's structure, whatever their
//! positions.

/// Replaces `\u…`, `\c…`, `\C-…` and `\M-…` by their characters, and checks the other numeric
/// escapes. Characters below 128 are written as `\xHH` so that they stay literal.
///
/// # Errors
/// Ruby's message, without the pattern.
pub(super) fn unescape(source: &str) -> Result<String, &'static str> {
    let mut out = String::with_capacity(source.len());
    let mut rest = source.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(escaped) = rest.next() else {
            return Err("too short escape sequence");
        };
        match escaped {
            '0'..='3' => {
                let mut digits = String::from(escaped);
                while digits.len() < 3
                    && let Some(digit @ '0'..='7') = rest.peek()
                {
                    digits.push(*digit);
                    rest.next();
                }
                // Only three digits can name a byte that is not ASCII.
                if digits.len() == 3 && digits.as_bytes()[0] >= b'2' {
                    return Err("invalid multibyte escape");
                }
                out.push('\\');
                out.push_str(&digits);
            }
            'x' => match digits(&mut rest, 2) {
                (_, 0) => return Err("invalid hex escape"),
                (value, _) => push_byte(&mut out, value)?,
            },
            'u' => unicode(&mut rest, &mut out)?,
            'C' if rest.next() != Some('-') => return Err("too short control escape"),
            'c' | 'C' => {
                let byte = control(&mut rest)?;
                push_byte(&mut out, byte)?;
            }
            'M' if rest.next() != Some('-') || rest.next().is_none() => {
                return Err("too short meta escape");
            }
            'M' => return Err("too short escaped multibyte character"),
            other => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    Ok(out)
}

type Characters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// The number that the next hexadecimal digits spell, and how many they are.
fn digits(rest: &mut Characters<'_>, most: usize) -> (u32, usize) {
    let (mut value, mut count) = (0, 0);
    while count < most
        && let Some(digit) = rest.peek().and_then(|digit| digit.to_digit(16))
    {
        rest.next();
        value = value * 16 + digit;
        count += 1;
    }
    (value, count)
}

/// A byte given by number: ASCII is itself; other values can only be part of a character written
/// byte by byte, which Rust's engines cannot match and which does not occur in practice.
fn push_byte(out: &mut String, value: u32) -> Result<(), &'static str> {
    match value {
        0..=0x7f => {
            out.push_str(&format!("\\x{value:02X}"));
            Ok(())
        }
        0xc2..=0xf4 => Err("too short escaped multibyte character"),
        _ => Err("invalid multibyte escape"),
    }
}

fn control(rest: &mut Characters<'_>) -> Result<u32, &'static str> {
    match rest.next() {
        None => Err("too short control escape"),
        Some('?') => Ok(0x7f),
        Some('\\') => match rest.next() {
            None => Err("too short escape sequence"),
            Some(c) => Ok(u32::from(c) & 0x1f),
        },
        Some(c) if c.is_ascii() => Ok(u32::from(c) & 0x1f),
        Some(_) => Err("invalid multibyte escape"),
    }
}

fn unicode(rest: &mut Characters<'_>, out: &mut String) -> Result<(), &'static str> {
    match rest.peek() {
        None => Err("too short escape sequence"),
        Some('{') => {
            rest.next();
            let mut any = false;
            loop {
                while rest.peek().is_some_and(char::is_ascii_whitespace) {
                    rest.next();
                }
                let (value, count) = digits(rest, 7);
                if count > 6 {
                    return Err("invalid Unicode range");
                }
                if count == 0 {
                    break;
                }
                push_code_point(value, out)?;
                any = true;
            }
            if !any || rest.next() != Some('}') {
                return Err("invalid Unicode list");
            }
            Ok(())
        }
        Some(_) => match digits(rest, 4) {
            (value, 4) => push_code_point(value, out),
            _ => Err("invalid Unicode escape"),
        },
    }
}

fn push_code_point(value: u32, out: &mut String) -> Result<(), &'static str> {
    match char::from_u32(value) {
        Some(c) if c.is_ascii() => out.push_str(&format!("\\x{value:02X}")),
        Some(c) => out.push(c),
        None => return Err("invalid Unicode range"),
    }
    Ok(())
}
