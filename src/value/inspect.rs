//! Ruby's texts of values: `inspect`, and `to_s`, which is what an interpolation embeds.
//!
//! The texts are those of a version of Ruby, 3.1 where none is given, with UTF-8 as the external
//! encoding. Values that only Puppet has (timestamps, types) inspect with an object address in Ruby;
//! here the address is zeros and, but for the bytes of a `Binary`, the instance variables are left
//! out.
//!
//! ```
//! use hiera_ls::value::Value;
//!
//! let list = Value::array([Value::from(1), Value::from("two\n"), Value::Undef]);
//! assert_eq!(list.inspect(), r#"[1, "two\n", nil]"#);
//! assert_eq!(list.to_s(), list.inspect());
//! assert_eq!(Value::Undef.to_s(), "");
//! ```

use std::borrow::Cow;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::printable::is_printable;
use super::time::nanoseconds;
use super::{Opaque, Rich, Ruby, RubyChange, Value};
use crate::regexp::slashed;

/// Maximum length of the text, in bytes: nested shared lists must not fill the memory. A longer
/// text is cut and ends in `…`.
const MAX_TEXT: usize = 16 << 20;

impl Value {
    /// The text of Ruby's `inspect`. Linear in the size of the text.
    #[must_use]
    pub fn inspect(&self) -> String {
        self.inspect_in(Ruby::default())
    }

    /// The text of `inspect` in a version of Ruby. Linear in the size of the text.
    #[must_use]
    pub fn inspect_in(&self, ruby: Ruby) -> String {
        let mut out = String::new();
        write_value(&mut out, self, ruby);
        out
    }

    /// Appends the text of Ruby's `inspect` for a string, a number or a boolean; returns whether
    /// the value is one.
    pub fn inspect_simple(&self, out: &mut String) -> bool {
        let is_simple = matches!(
            self,
            Value::Undef | Value::Bool(_) | Value::Int(_) | Value::String(_)
        );
        // The limit of a text counts from its own start.
        if is_simple && out.len() <= MAX_TEXT {
            write_value(out, self, Ruby::default());
            return true;
        }
        false
    }

    /// The text of Ruby's `to_s`, which interpolation inserts into a string: empty for `nil`,
    /// strings unchanged, lists and hashes as from [`inspect`](Value::inspect).
    #[must_use]
    pub fn to_s(&self) -> String {
        self.to_s_in(Ruby::default())
    }

    /// The text of `to_s` in a version of Ruby.
    #[must_use]
    pub fn to_s_in(&self, ruby: Ruby) -> String {
        match self {
            Value::Undef => String::new(),
            Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::Float(_) => self.inspect(),
            Value::Array(_) | Value::Hash(_) => self.inspect_in(ruby),
            Value::String(text) | Value::Symbol(text) => text.to_string(),
            Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Value::Sensitive(_) => "Sensitive [value redacted]".to_owned(),
            Value::Default => "default".to_owned(),
            Value::Rich(rich) => match rich.ptype {
                "Regexp" => {
                    let shown = rich.shown();
                    format!("(?-mix:{})", &shown[1..shown.len() - 1])
                }
                _ => rich.text.clone(),
            },
            Value::Opaque(opaque) => opaque_text(opaque),
        }
    }

    /// The value for people: each `Sensitive` is Puppet's text for it. O(parts).
    #[must_use]
    pub fn redacted(&self) -> Cow<'_, Value> {
        if !self.any(&|part| matches!(part, Value::Sensitive(_))) {
            return Cow::Borrowed(self);
        }
        let part = |value: &Value| value.redacted().into_owned();
        Cow::Owned(match self {
            Value::Sensitive(_) => Value::from(self.to_s()),
            Value::Array(elements) => Value::array(elements.iter().map(part)),
            Value::Hash(hash) => {
                let parts = hash.iter().map(|(k, v)| (part(k), part(v)));
                Value::from(parts.collect::<super::HashMap>())
            }
            other => other.clone(),
        })
    }

    /// Whether the value, or a part of it, cannot be known here.
    #[must_use]
    pub fn has_opaque(&self) -> bool {
        self.any(&|part| matches!(part, Value::Opaque(_)))
    }

    /// Whether a test holds for the value or a part of it: elements, keys and values of hashes, and the
    /// inside of a `Sensitive`. O(parts).
    #[must_use]
    pub fn any(&self, test: &dyn Fn(&Value) -> bool) -> bool {
        test(self)
            || match self {
                Value::Array(elements) => elements.iter().any(|element| element.any(test)),
                Value::Hash(hash) => hash.iter().any(|(k, v)| k.any(test) || v.any(test)),
                Value::Sensitive(value) => value.any(test),
                _ => false,
            }
    }
}

impl Rich {
    /// The source of a `Regexp`.
    #[must_use]
    pub fn pattern(&self) -> Option<&str> {
        (self.ptype == "Regexp").then_some(&self.text)
    }

    /// The text as people write it in code: a `Regexp` between slashes.
    #[must_use]
    pub fn shown(&self) -> Cow<'_, str> {
        match self.pattern() {
            Some(source) => Cow::Owned(slashed(source)),
            None => Cow::Borrowed(&self.text),
        }
    }
}

/// The text of Ruby's `String#inspect`.
#[must_use]
pub fn inspect_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_string(&mut out, text, Ruby::V31);
    out
}

/// The text of Ruby's `Float#to_s`: the shortest digits that read back as the same number, with
/// an exponent below 0.0001 and from 1e15 on (unless digits stand after the point).
#[must_use]
pub fn float_to_s(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        let text = if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        };
        return text.to_owned();
    }
    let sign = if number.is_sign_negative() { "-" } else { "" };
    if number == 0.0 {
        return format!("{sign}0.0");
    }
    let shortest = format!("{:e}", number.abs());
    let decimals = shortest.find('e').unwrap_or(0).saturating_sub(2);
    // If two shortest texts are equally near, Ruby takes the one with an even last digit.
    let rounded = format!("{:.decimals$e}", number.abs());
    let scientific = if rounded.parse() == Ok(number.abs()) {
        rounded
    } else {
        shortest
    };
    let (mantissa, exponent) = scientific
        .split_once('e')
        .unwrap_or((scientific.as_str(), "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    // Ruby's `decpt`: the position of the decimal point, counted from before the first digit.
    let point = exponent + 1;
    let whole = point.max(0).unsigned_abs() as usize;
    if point > 0 && (whole <= 15 || whole < digits.len()) {
        let point = whole;
        if digits.len() <= point {
            format!("{sign}{digits:0<point$}.0")
        } else {
            format!("{sign}{}.{}", &digits[..point], &digits[point..])
        }
    } else if point > -4 && point <= 0 {
        let zeros = "0".repeat(point.unsigned_abs() as usize);
        format!("{sign}0.{zeros}{digits}")
    } else {
        let rest = if digits.len() > 1 { &digits[1..] } else { "0" };
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        let exponent = exponent.unsigned_abs();
        format!("{sign}{}.{rest}e{exponent_sign}{exponent:02}", &digits[..1])
    }
}

fn write_value(out: &mut String, value: &Value, ruby: Ruby) {
    if out.len() > MAX_TEXT {
        if !out.ends_with('…') {
            out.push('…');
        }
        return;
    }
    match value {
        Value::Undef => out.push_str("nil"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Int(number) => _ = write!(out, "{number}"),
        Value::BigInt(number) => _ = write!(out, "{number}"),
        Value::Float(number) => out.push_str(&float_to_s(*number)),
        Value::String(text) => write_string(out, text, ruby),
        Value::Bytes(bytes) => write_bytes(out, bytes),
        Value::Symbol(name) => write_symbol(out, name, ruby),
        Value::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_value(out, element, ruby);
            }
            out.push(']');
        }
        Value::Hash(hash) => {
            out.push('{');
            for (index, (key, value)) in hash.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_key(out, key, ruby);
                write_value(out, value, ruby);
            }
            out.push('}');
        }
        Value::Sensitive(_) => out.push_str("#<Sensitive [value redacted]>"),
        Value::Default => out.push_str(":default"),
        Value::Rich(rich) => write_rich(out, rich),
        Value::Opaque(opaque) => out.push_str(&opaque_text(opaque)),
    }
}

/// A key of a hash with what stands between it and its value.
fn write_key(out: &mut String, key: &Value, ruby: Ruby) {
    match (ruby.has(RubyChange::HashText), key) {
        (false, _) => {
            write_value(out, key, ruby);
            out.push_str("=>");
        }
        (true, Value::Symbol(name)) => {
            if is_bare_key(name, ruby) {
                out.push_str(name);
            } else {
                write_string(out, name, ruby);
            }
            out.push_str(": ");
        }
        (true, _) => {
            write_value(out, key, ruby);
            out.push_str(" => ");
        }
    }
}

/// Whether a symbol can stand in front of a colon without quotes (`symbol_key_needs_quote` in Ruby's
/// `hash.c`).
fn is_bare_key(name: &str, ruby: Ruby) -> bool {
    let is_operator = |last: char| "+-*/`%^&|]<=>~@".contains(last);
    is_bare_symbol(name)
        && is_all_printable(name, ruby)
        && !name.starts_with(['@', '$', '!'])
        && !name.ends_with(is_operator)
}

fn write_string(out: &mut String, text: &str, ruby: Ruby) {
    out.push('"');
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !b"\"\\#".contains(&byte);
    if text.bytes().all(is_plain) {
        out.push_str(text);
        out.push('"');
        return;
    }
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '#' if matches!(characters.peek(), Some('{' | '$' | '@')) => out.push_str("\\#"),
            _ => match short_escape(u32::from(character)) {
                Some(escape) => out.push_str(escape),
                None if is_printable(character, ruby) => out.push(character),
                None if u32::from(character) > 0xffff => {
                    _ = write!(out, "\\u{{{:X}}}", u32::from(character));
                }
                None => _ = write!(out, "\\u{:04X}", u32::from(character)),
            },
        }
    }
    out.push('"');
}

fn write_bytes(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'#' if matches!(bytes.get(index + 1), Some(b'{' | b'$' | b'@')) => {
                out.push_str("\\#");
            }
            0x20..=0x7e => out.push(char::from(*byte)),
            _ => match short_escape(u32::from(*byte)) {
                Some(escape) => out.push_str(escape),
                None => _ = write!(out, "\\x{byte:02X}"),
            },
        }
    }
    out.push('"');
}

fn short_escape(code: u32) -> Option<&'static str> {
    Some(match code {
        0x07 => "\\a",
        0x08 => "\\b",
        0x09 => "\\t",
        0x0a => "\\n",
        0x0b => "\\v",
        0x0c => "\\f",
        0x0d => "\\r",
        0x1b => "\\e",
        _ => return None,
    })
}

fn write_symbol(out: &mut String, name: &str, ruby: Ruby) {
    out.push(':');
    if is_bare_symbol(name) && is_all_printable(name, ruby) {
        out.push_str(name);
    } else {
        write_string(out, name, ruby);
    }
}

fn is_all_printable(text: &str, ruby: Ruby) -> bool {
    text.chars().all(|character| is_printable(character, ruby))
}

/// Whether a symbol can be written without quotes (`rb_enc_symname_type` in Ruby's `symbol.c`).
fn is_bare_symbol(name: &str) -> bool {
    const OPERATORS: [&str; 28] = [
        "[]", "[]=", "+", "-", "*", "/", "**", "%", "<", "<=", "<=>", "==", "===", "=~", "!", "!=",
        "!~", "~", "+@", "-@", ">>", "<<", ">", ">=", "&", "|", "^", "`",
    ];
    if OPERATORS.contains(&name) {
        return true;
    }
    if let Some(global) = name.strip_prefix('$') {
        let special =
            matches!(global.as_bytes(), [byte] if b"~*$?!@/\\;,.=:<>\"&`'+".contains(byte));
        let number = !global.is_empty() && global.bytes().all(|byte| byte.is_ascii_digit());
        let option = global.strip_prefix('-').is_some_and(|flag| {
            let mut characters = flag.chars();
            characters.next().is_some_and(is_name_character) && characters.next().is_none()
        });
        return special || number || option || is_name(global);
    }
    if let Some(variable) = name.strip_prefix("@@").or_else(|| name.strip_prefix('@')) {
        return is_name(variable);
    }
    let stem = name.strip_suffix(['?', '!', '=']).unwrap_or(name);
    is_name(stem)
}

fn is_name(name: &str) -> bool {
    name.chars()
        .next()
        .is_some_and(|first| is_name_character(first) && !first.is_ascii_digit())
        && name.chars().all(is_name_character)
}

fn is_name_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || !character.is_ascii()
}

fn write_rich(out: &mut String, rich: &Rich) {
    const ADDRESS: &str = "0x0000000000000000";
    match rich.ptype {
        "Regexp" => out.push_str(&rich.shown()),
        "SemVer" | "SemVerRange" => out.push_str(&rich.text),
        "URI" => _ = write!(out, "#<{} {}>", uri_class(&rich.text), rich.text),
        "Binary" => {
            let bytes = BASE64.decode(&rich.text).unwrap_or_default();
            let class = "Puppet::Pops::Types::PBinaryType::Binary";
            _ = write!(out, "#<{class}:{ADDRESS} @binary_buffer=");
            write_bytes(out, &bytes);
            out.push('>');
        }
        ptype @ ("Timestamp" | "Timespan") => {
            _ = write!(out, "#<Puppet::Pops::Time::{ptype}:{ADDRESS}");
            if let Some(nanoseconds) = nanoseconds(rich) {
                _ = write!(out, " @nsecs={nanoseconds}");
            }
            out.push('>');
        }
        _ => _ = write!(out, "#<Puppet::Pops::Types::PAnyType:{ADDRESS}>"),
    }
}

fn uri_class(uri: &str) -> &'static str {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    match scheme.to_ascii_lowercase().as_str() {
        "http" => "URI::HTTP",
        "https" => "URI::HTTPS",
        "ftp" => "URI::FTP",
        "file" => "URI::File",
        "ldap" => "URI::LDAP",
        "ldaps" => "URI::LDAPS",
        "mailto" => "URI::MailTo",
        "ws" => "URI::WS",
        "wss" => "URI::WSS",
        _ => "URI::Generic",
    }
}

/// The text for an unknown value; the lookup decides whether it may be shown.
fn opaque_text(opaque: &Opaque) -> String {
    match opaque {
        Opaque::Secret { method, .. } => format!("<encrypted with {method}>"),
        Opaque::Unknown { text, because: _ } => text.clone(),
    }
}

#[cfg(test)]
#[path = "inspect_tests.rs"]
mod tests;
