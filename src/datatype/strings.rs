//! Converts values to text with a format (`pops/types/string_converter.rb`).

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use regex::Regex;

use super::instance::integer;
use super::printf::Directive;
use super::quote::{double_quote, quote};
use crate::value::{Opaque, Value, float_to_s};

/// Maximum nesting of values that is written.
const MAX_DEPTH: usize = 120;

/// Maximum length of the text, in bytes.
const MAX_LENGTH: usize = 16 * 1024 * 1024;

/// The text of a value in Puppet's default format, as explanations show it: strings bare at the
/// top, quoted inside collections.
#[must_use]
pub fn puppet_string(value: &Value) -> String {
    convert(value, None).unwrap_or_default()
}

/// The text of a value in code: the result of `%p`.
pub(super) fn programmatic(value: &Value) -> String {
    match value {
        Value::Float(number) => float_to_s(*number),
        Value::Array(_) | Value::Hash(_) => puppet_string(value),
        other => scalar(other, &TextFormat::plain('p')).unwrap_or_default(),
    }
}

/// A parsed `%<flags><width>.<precision><letter>`.
#[derive(Clone, Debug)]
struct TextFormat {
    directive: Directive,
    letter: char,
    delimiters: Option<(&'static str, &'static str)>,
}

impl TextFormat {
    fn plain(letter: char) -> TextFormat {
        TextFormat {
            directive: Directive::default(),
            letter,
            delimiters: None,
        }
    }

    fn parse(text: &str) -> Result<TextFormat, String> {
        // Ruby's `\s` is ASCII, and has no vertical tab.
        static FORM: LazyLock<Option<Regex>> = LazyLock::new(|| {
            let pattern = super::signatures::FORMAT.replace(r"\s", r" \t\n\x0C\r");
            Regex::new(&pattern).ok()
        });
        let found = FORM.as_ref().and_then(|form| form.captures(text));
        let found = found.ok_or_else(|| {
            format!(
                "The format '{text}' is not a valid format on the form \
                 '%<flags><width>.<prec><format>'"
            )
        })?;
        let part = |at: usize| found.get(at).map_or("", |part| part.as_str());
        let flags = part(1);
        let mut seen = String::new();
        for flag in flags.chars() {
            if seen.contains(flag) {
                return Err(format!("The same flag can only be used once, got '{text}'"));
            }
            seen.push(flag);
        }
        let mut delimiters = None;
        for (flag, pair) in [
            ('[', ("[", "]")),
            ('{', ("{", "}")),
            ('(', ("(", ")")),
            ('<', ("<", ">")),
            ('|', ("|", "|")),
        ] {
            if seen.contains(flag) {
                if delimiters.is_some() {
                    return Err(format!(
                        "Only one of the delimiters [ {{ ( < | can be given in the format flags, \
                         got '{text}'"
                    ));
                }
                delimiters = Some(pair);
            }
        }
        if delimiters.is_none() && seen.contains(' ') {
            delimiters = Some(("", ""));
        }
        Ok(TextFormat {
            directive: Directive {
                left: seen.contains('-'),
                alternate: seen.contains('#'),
                plus: seen.contains('+'),
                space: seen.contains(' '),
                zero: seen.contains('0'),
                width: part(2).parse().ok(),
                precision: part(3).parse().ok(),
            },
            letter: part(4).chars().next().unwrap_or_default(),
            delimiters,
        })
    }

    fn refuse(&self, kind: &str, letters: &str) -> String {
        format!(
            "Illegal format '{}' specified for value of {kind} type - expected one of the \
             characters '{letters}'",
            self.letter
        )
    }
}

/// Converts a value with the given format text, or Puppet's defaults.
///
/// # Errors
/// Puppet's message if the format does not suit the value.
pub(super) fn convert(value: &Value, format: Option<&str>) -> Result<String, String> {
    let format = format.map(TextFormat::parse).transpose()?;
    match value {
        Value::Array(_) | Value::Hash(_) => {
            let formats = Containers {
                array: format
                    .clone()
                    .filter(|_| matches!(value, Value::Array(_)))
                    .unwrap_or_else(|| TextFormat::plain('a')),
                hash: format
                    .filter(|_| matches!(value, Value::Hash(_)))
                    .unwrap_or_else(|| TextFormat::plain('h')),
            };
            formats.container(value, Indentation::default(), 0)
        }
        // Puppet chooses a number's format by its range, and no range includes NaN.
        Value::Float(number) if format.is_none() || number.is_nan() => {
            Ok(Directive::default().float(*number, 'f'))
        }
        other => scalar(other, &format.unwrap_or_else(|| default_format(other))),
    }
}

fn default_format(value: &Value) -> TextFormat {
    match value {
        Value::Int(_) | Value::BigInt(_) => TextFormat::plain('d'),
        Value::Rich(rich) if rich.ptype == "Binary" => TextFormat::plain('B'),
        _ => TextFormat::plain('s'),
    }
}

#[derive(Clone, Copy)]
struct Indentation {
    level: usize,
    first: bool,
    indenting: bool,
}

impl Default for Indentation {
    fn default() -> Indentation {
        Indentation {
            level: 0,
            first: true,
            indenting: false,
        }
    }
}

impl Indentation {
    fn deeper(self, indenting: bool) -> Indentation {
        Indentation {
            level: self.level + 1,
            first: true,
            indenting,
        }
    }

    fn subsequent(self) -> Indentation {
        Indentation {
            first: false,
            ..self
        }
    }

    /// The text up to the elements of a container.
    fn start(self, alternate: bool, open: &str) -> String {
        if (alternate || self.indenting) && self.level > 0 && !self.first {
            format!("\n{}{open}", self.padding())
        } else {
            open.to_owned()
        }
    }

    fn padding(self) -> String {
        "  ".repeat(self.level)
    }
}

struct Containers {
    array: TextFormat,
    hash: TextFormat,
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Hash(_))
}

impl Containers {
    fn element(&self, value: &Value, at: Indentation, depth: usize) -> Result<String, String> {
        match value {
            Value::Array(_) | Value::Hash(_) => self.container(value, at, depth),
            Value::Float(number) => Ok(float_to_s(*number)),
            other => scalar(other, &TextFormat::plain('p')),
        }
    }

    fn container(&self, value: &Value, at: Indentation, depth: usize) -> Result<String, String> {
        if depth > MAX_DEPTH {
            return Err("value is nested too deeply to be converted to a string".to_owned());
        }
        match value {
            Value::Array(elements) => self.array(elements, at, depth),
            Value::Hash(hash) if self.hash.letter == 'a' => {
                let pairs: Vec<Value> = hash
                    .iter()
                    .map(|(k, v)| Value::array([k.clone(), v.clone()]))
                    .collect();
                self.array(&pairs, at, depth)
            }
            Value::Hash(hash) => {
                let entries: Vec<(&Value, &Value)> = hash.iter().collect();
                self.hash(&entries, at, depth)
            }
            other => self.element(other, at, depth),
        }
    }

    fn array(&self, elements: &[Value], at: Indentation, depth: usize) -> Result<String, String> {
        let format = &self.array;
        if !"asp".contains(format.letter) {
            return Err(format.refuse("Array", "asp"));
        }
        let alternate = format.directive.alternate;
        let (open, close) = format.delimiters.unwrap_or(("[", "]"));
        let mut out = at.start(alternate, open);
        let children = at.deeper(alternate).subsequent();
        let mapped = elements
            .iter()
            .map(|e| self.element(e, children, depth + 1))
            .collect::<Result<Vec<String>, String>>()?;
        let mut too_wide = false;
        if let (true, Some(width)) = (alternate, format.directive.width) {
            let mut run = 0;
            for (element, text) in elements.iter().zip(&mapped) {
                run = if is_container(element) {
                    0
                } else {
                    run + text.chars().count()
                };
                too_wide |= run > width;
            }
        }
        for (i, (element, text)) in elements.iter().zip(&mapped).enumerate() {
            if out.len() > MAX_LENGTH {
                return Err("value is too large to be converted to a string".to_owned());
            }
            let nested = is_container(element);
            if i == 0 {
                if too_wide && !nested {
                    out.push(' ');
                }
            } else {
                out.push_str(", ");
                if too_wide && !nested || alternate && is_container(&elements[i - 1]) && !nested {
                    let kept = out.trim_end().len();
                    out.truncate(kept);
                    out.push('\n');
                    out.push_str(&children.padding());
                }
            }
            if out.ends_with(' ') && text.starts_with('\n') {
                let kept = out.trim_end().len();
                out.truncate(kept);
            }
            out.push_str(text);
        }
        out.push_str(close);
        Ok(out)
    }

    fn hash(
        &self,
        entries: &[(&Value, &Value)],
        at: Indentation,
        depth: usize,
    ) -> Result<String, String> {
        let format = &self.hash;
        if !"hsp".contains(format.letter) {
            return Err(format.refuse("Hash", "hasp"));
        }
        let alternate = format.directive.alternate;
        let (open, close) = format.delimiters.unwrap_or(("{", "}"));
        let mut out = at.start(alternate, open);
        let children = at.deeper(false);
        let (separator, padding) = if alternate {
            out.push('\n');
            (",\n", children.padding())
        } else {
            (", ", String::new())
        };
        for (i, (key, value)) in entries.iter().enumerate() {
            if out.len() > MAX_LENGTH {
                return Err("value is too large to be converted to a string".to_owned());
            }
            if i > 0 {
                out.push_str(separator);
            }
            out.push_str(&padding);
            out.push_str(&self.element(key, children, depth + 1)?);
            out.push_str(" => ");
            out.push_str(&self.element(value, children, depth + 1)?);
        }
        if alternate {
            out.push('\n');
            out.push_str(&at.padding());
        }
        out.push_str(close);
        Ok(out)
    }
}

fn scalar(value: &Value, format: &TextFormat) -> Result<String, String> {
    let directive = &format.directive;
    let letter = format.letter;
    let alternate = directive.alternate;
    // Plain string output ignores the flags for numbers.
    let fitted = |text: &str| directive.text(text);
    match value {
        Value::Undef => Ok(fitted(match letter {
            'n' if alternate => "null",
            'n' => "nil",
            'u' if alternate => "undefined",
            'u' => "undef",
            'd' | 'x' | 'X' | 'o' | 'b' | 'B' | 'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => "NaN",
            'v' => "n/a",
            'V' => "N/A",
            's' if alternate => "\"\"",
            's' => "",
            'p' if alternate => "\"undef\"",
            'p' => "undef",
            _ => return Err(format.refuse("Undef", "nudxXobBeEfgGaAvVsp")),
        })),
        Value::Default => Ok(fitted(match letter {
            'd' | 's' | 'p' if alternate => "\"default\"",
            'd' | 's' | 'p' => "default",
            'D' if alternate => "\"Default\"",
            'D' => "Default",
            _ => return Err(format.refuse("Default", "dDsp")),
        })),
        Value::Bool(truth) => boolean(*truth, format),
        Value::Int(_) | Value::BigInt(_) => {
            let number = integer(value).unwrap_or_default();
            match letter {
                'p' => Ok(fitted(&number.to_string())),
                'd' | 'x' | 'X' | 'o' | 'b' | 'B' => Ok(directive.integer(&number, letter)),
                'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => {
                    let float = number.to_string().parse().unwrap_or(f64::INFINITY);
                    Ok(directive.float(float, letter))
                }
                'c' => {
                    let code = u32::try_from(&number).ok().and_then(char::from_u32);
                    let Some(c) = code else {
                        return Err("pack(U): value out of range".to_owned());
                    };
                    Ok(fitted(&if alternate {
                        format!("\"{c}\"")
                    } else {
                        c.to_string()
                    }))
                }
                's' if alternate => Ok(fitted(&format!("\"{number}\""))),
                's' => Ok(fitted(&number.to_string())),
                _ => Err(format.refuse("Integer", "dxXobBeEfgGaAspc")),
            }
        }
        Value::Float(number) => match letter {
            'd' | 'x' | 'X' | 'o' | 'b' | 'B' => {
                let truncated = super::numbers::truncate(*number)?;
                Ok(directive.integer(&truncated, letter))
            }
            'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => Ok(directive.float(*number, letter)),
            'p' => Ok(fitted(&float_to_s(*number))),
            's' if alternate => Ok(fitted(&format!("\"{}\"", float_to_s(*number)))),
            's' => Ok(fitted(&float_to_s(*number))),
            _ => Err(format.refuse("Float", "dxXobBeEfgGaAsp")),
        },
        Value::String(text) => string(text, format),
        Value::Bytes(bytes) => string(&String::from_utf8_lossy(bytes), format),
        Value::Sensitive(_) => Ok(fitted(match letter {
            'p' => "#<Sensitive [value redacted]>",
            _ => "Sensitive [value redacted]",
        })),
        Value::Symbol(name) => runtime(name, format),
        Value::Opaque(opaque) => Ok(match &**opaque {
            Opaque::Secret { .. } => String::new(),
            Opaque::Unknown { text, .. } => text.clone(),
        }),
        Value::Rich(rich) => match rich.ptype {
            "Binary" => binary(&rich.text, format),
            "Regexp" => match letter {
                'p' => Ok(fitted(&rich.shown())),
                's' if alternate => Ok(fitted(&quote(&rich.text))),
                's' => Ok(fitted(&rich.text)),
                _ => Err(format.refuse("Regexp", "sp")),
            },
            "URI" => match letter {
                'p' => Ok(format!("URI({})", quote(&rich.text))),
                's' if alternate => Ok(fitted(&quote(&rich.text))),
                's' => Ok(fitted(&rich.text)),
                _ => Err(format.refuse("URI", "sp")),
            },
            "Type" => match letter {
                's' if alternate => Ok(fitted(&format!("\"{}\"", rich.text))),
                's' | 'p' => Ok(fitted(&rich.text)),
                _ => Err(format.refuse("Type", "sp")),
            },
            _ => Ok(fitted(&rich.text)),
        },
        Value::Array(_) | Value::Hash(_) => convert(value, None),
    }
}

fn runtime(text: &str, format: &TextFormat) -> Result<String, String> {
    match format.letter {
        's' => Ok(text.to_owned()),
        'p' => Ok(quote(text)),
        'q' => Ok(format!("#<{text}>")),
        _ => Err(format.refuse("Runtime", "spq")),
    }
}

fn boolean(truth: bool, format: &TextFormat) -> Result<String, String> {
    let words = match format.letter {
        't' | 's' | 'p' => ("true", "false"),
        'T' => ("True", "False"),
        'y' => ("yes", "no"),
        'Y' => ("Yes", "No"),
        'd' | 'x' | 'X' | 'o' | 'b' | 'B' => {
            return scalar(&Value::Int(i64::from(truth)), format);
        }
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => {
            return scalar(&Value::Float(f64::from(u8::from(truth))), format);
        }
        _ => return Err(format.refuse("Boolean", "tTyYdxXobBeEfgGaAsp")),
    };
    let word = if truth { words.0 } else { words.1 };
    let short = format.directive.alternate && "tTyY".contains(format.letter);
    let directive = Directive {
        precision: format.directive.precision,
        ..format.directive.clone()
    };
    Ok(directive.text(if short { &word[..1] } else { word }))
}

fn string(text: &str, format: &TextFormat) -> Result<String, String> {
    let capitalized = |segment: &str| {
        let mut chars = segment.chars();
        chars
            .next()
            .map(|first| first.to_uppercase().collect::<String>() + &chars.as_str().to_lowercase())
            .unwrap_or_default()
    };
    let changed = match format.letter {
        's' => return Ok(format.directive.text(text)),
        'p' if format.directive.alternate => return Ok(format.directive.text(&double_quote(text))),
        'p' => return Ok(format.directive.text(&quote(text))),
        'c' => capitalized(text),
        'C' => {
            let segments: Vec<String> = text.split("::").map(capitalized).collect();
            segments.join("::")
        }
        'u' => text.to_uppercase(),
        'd' => text.to_lowercase(),
        't' => text
            .trim_matches(|c: char| c.is_ascii_whitespace() || c == '\0' || c == '\u{b}')
            .to_owned(),
        _ => return Err(format.refuse("String", "cCudspt")),
    };
    Ok(format.directive.text(&if format.directive.alternate {
        quote(&changed)
    } else {
        changed
    }))
}

fn binary(base64: &str, format: &TextFormat) -> Result<String, String> {
    let bytes = STANDARD.decode(base64).unwrap_or_default();
    let fitted = |text: &str| {
        if format.directive.alternate {
            format.directive.text(&format!("\"{text}\""))
        } else {
            format.directive.text(text)
        }
    };
    Ok(match format.letter {
        's' => match String::from_utf8(bytes) {
            Ok(text) => fitted(&text),
            Err(_) => return Err("from ASCII-8BIT to UTF-8".to_owned()),
        },
        'p' => format!("Binary(\"{}\")", format.directive.text(base64)),
        'b' => {
            let lines: Vec<String> = base64
                .as_bytes()
                .chunks(60)
                .map(|line| format!("{}\n", String::from_utf8_lossy(line)))
                .collect();
            fitted(&lines.concat())
        }
        'B' => fitted(base64),
        'u' => fitted(&URL_SAFE.encode(bytes)),
        't' => fitted("Binary"),
        'T' => fitted("BINARY"),
        _ => return Err(format.refuse("Binary", "bButTsp")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_in_formats_are_those_of_ruby() {
        for (text, is_valid) in [
            ("% d", true),
            ("%\t\n\x0C\rd", true),
            ("%\u{b}d", false),
            ("%\u{a0}d", false),
            ("%\u{3000}s", false),
        ] {
            assert_eq!(TextFormat::parse(text).is_ok(), is_valid, "{text:?}");
        }
    }
}
