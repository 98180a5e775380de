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
                while digits.len() < 3 {
                    match rest.peek() {
                        Some(d @ '0'..='7') => digits.push(*d),
                        _ => break,
                    }
                    rest.next();
                }
                // Only three digits can name a byte that is not ASCII.
                if digits.len() == 3 && digits.as_bytes()[0] >= b'2' {
                    return Err("invalid multibyte escape");
                }
                out.push('\\');
                out.push_str(&digits);
            }
            'x' => {
                let mut value = 0;
                let mut digits = 0;
                while let Some(digit) = rest.peek().and_then(|d| d.to_digit(16)) {
                    if digits == 2 {
                        break;
                    }
                    rest.next();
                    value = value * 16 + digit;
                    digits += 1;
                }
                if digits == 0 {
                    return Err("invalid hex escape");
                }
                push_byte(&mut out, value)?;
            }
            'u' => unicode(&mut rest, &mut out)?,
            'c' => {
                let byte = control(&mut rest)?;
                push_byte(&mut out, byte)?;
            }
            'C' => {
                if rest.next() != Some('-') {
                    return Err("too short control escape");
                }
                let byte = control(&mut rest)?;
                push_byte(&mut out, byte)?;
            }
            'M' => {
                if rest.next() != Some('-') || rest.next().is_none() {
                    return Err("too short meta escape");
                }
                return Err("too short escaped multibyte character");
            }
            other => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    Ok(out)
}

type Characters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

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
                let mut value: u32 = 0;
                let mut digits = 0;
                while let Some(digit) = rest.peek().and_then(|d| d.to_digit(16)) {
                    rest.next();
                    digits += 1;
                    if digits > 6 {
                        return Err("invalid Unicode range");
                    }
                    value = value * 16 + digit;
                }
                if digits == 0 {
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
        Some(_) => {
            let mut value = 0;
            for _ in 0..4 {
                let Some(digit) = rest.peek().and_then(|d| d.to_digit(16)) else {
                    return Err("invalid Unicode escape");
                };
                rest.next();
                value = value * 16 + digit;
            }
            push_code_point(value, out)
        }
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
