//! What tags do to a node: the `case o.tag` of `psych/visitors/to_ruby.rb`, with only Symbol
//! permitted.

use std::sync::Arc;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::plain;
use crate::syntax::psych::{Resolved, kernel_float, resolve_plain};
use crate::text::TextRange;
use crate::value::{HashMap, LoadError, LoadErrorKind, Rich, Value};

/// `!!str`, resolved.
pub(super) const STR: &str = "tag:yaml.org,2002:str";

/// The value of a scalar with a tag.
pub(super) fn scalar(tag: &str, text: &Arc<str>, range: TextRange) -> Result<Value, LoadError> {
    if let Some(class) = text_class(tag) {
        return match class {
            "" => Ok(Value::String(text.clone())),
            class => Err(disallowed(class, range)),
        };
    }
    if is_symbol_tag(tag) {
        return Ok(Value::Symbol(text.clone()));
    }
    match tag {
        "!binary" | "tag:yaml.org,2002:binary" => Ok(Value::Bytes(Arc::from(unpack_base64(text)))),
        "!ruby/object:BigDecimal" => Err(disallowed("BigDecimal", range)),
        "!ruby/object:DateTime" => Err(disallowed("DateTime", range)),
        "!ruby/object:Complex" => Err(disallowed("Complex", range)),
        "!ruby/object:Rational" => Err(disallowed("Rational", range)),
        "!ruby/regexp" => Err(disallowed("Regexp", range)),
        "!ruby/range" => Err(disallowed("Range", range)),
        "!ruby/class" | "!ruby/module" => match &**text {
            "" => Ok(Value::Undef),
            "Symbol" => Ok(runtime_object("Class", text)),
            class => Err(disallowed(class, range)),
        },
        "!ruby/encoding" => {
            let known = [
                "UTF-8",
                "US-ASCII",
                "ASCII-8BIT",
                "BINARY",
                "ISO-8859-1",
                "UTF-16",
            ];
            if known.iter().any(|name| name.eq_ignore_ascii_case(text)) {
                Ok(runtime_object("Encoding", text))
            } else {
                Err(other(format!("unknown encoding name - {text}"), range))
            }
        }
        "!float" | "tag:yaml.org,2002:float" => float(text, range),
        _ => plain(text, range),
    }
}

/// An object of a Ruby class that is no data: it loads, and fails only when it is looked up.
fn runtime_object(class: &str, text: &str) -> Value {
    Value::Rich(Arc::new(Rich {
        ptype: if class == "Encoding" {
            "Runtime[ruby, 'Encoding']"
        } else {
            "Runtime[ruby, 'Class']"
        },
        text: text.to_owned(),
    }))
}

/// What a list becomes.
pub(super) enum List {
    Array,
    OrderedMap,
}

pub(super) fn sequence(tag: &str, range: TextRange) -> Result<List, LoadError> {
    if matches!(tag, "!omap" | "tag:yaml.org,2002:omap") {
        return Ok(List::OrderedMap);
    }
    let class = tag
        .strip_prefix("!seq:")
        .or_else(|| tag.strip_prefix("!ruby/array:"));
    match class {
        None => Ok(List::Array),
        Some("") => Err(no_allocate(range)),
        Some(class) => Err(disallowed(class, range)),
    }
}

/// What a mapping becomes once its entries are loaded.
pub(super) enum Map {
    Hash,
    /// The text under its key `str`.
    Text,
    /// The hash under its key `elements`.
    Elements,
    /// Nothing: the class is refused after the entries were loaded.
    Refused(String),
}

pub(super) fn mapping(tag: &str, range: TextRange) -> Result<Map, LoadError> {
    if let Some(class) = text_class(tag) {
        return match class {
            "" => Ok(Map::Text),
            class => Err(disallowed(class, range)),
        };
    }
    let refuse = |class: &str, otherwise: &str| {
        let class = if class.is_empty() { otherwise } else { class };
        Err(disallowed(class, range))
    };
    if let Some(rest) = tag.strip_prefix("!ruby/struct") {
        return refuse(rest.strip_prefix(':').unwrap_or(rest), "Struct");
    }
    if let Some(rest) = tag.strip_prefix("!ruby/object") {
        return match rest.strip_prefix(':').unwrap_or(rest) {
            "Hash" => Ok(Map::Hash),
            class => refuse(class, "Object"),
        };
    }
    for prefix in ["!ruby/array:", "!map:", "!ruby/hash:", "!ruby/marshalable:"] {
        if let Some(class) = tag.strip_prefix(prefix) {
            return match class {
                "" => Err(no_allocate(range)),
                class => Err(disallowed(class, range)),
            };
        }
    }
    if let Some(rest) = tag.strip_prefix("!ruby/exception") {
        let class = rest.strip_prefix(':').unwrap_or(rest);
        let class = if class.is_empty() { "Exception" } else { class };
        return Ok(Map::Refused(class.to_owned()));
    }
    if let Some(rest) = tag.strip_prefix("!ruby/hash-with-ivars") {
        return match rest.strip_prefix(':') {
            None | Some("") => Ok(Map::Elements),
            Some(class) => Err(disallowed(class, range)),
        };
    }
    match tag {
        "!ruby/range" => Err(disallowed("Range", range)),
        "!set" | "tag:yaml.org,2002:set" => Err(disallowed("Psych::Set", range)),
        "!omap" | "tag:yaml.org,2002:omap" => Err(disallowed("Psych::Omap", range)),
        _ => Ok(Map::Hash),
    }
}

/// `!!str {str: text}` is the text; without that key Psych tries to change `nil`.
pub(super) fn text_of_mapping(hash: &HashMap, range: TextRange) -> Result<Value, LoadError> {
    match hash.get(&Value::from("str")) {
        Some(text) => Ok(text.clone()),
        None if hash.is_empty() => Ok(Value::Undef),
        None => Err(other("can't modify frozen NilClass: nil".to_owned(), range)),
    }
}

/// The class named in a tag for text: `/^!(?:str|ruby\/string)(?::(.*))?$/`, or `!!str`.
fn text_class(tag: &str) -> Option<&str> {
    if tag == STR {
        return Some("");
    }
    let rest = tag
        .strip_prefix("!str")
        .or_else(|| tag.strip_prefix("!ruby/string"))?;
    if rest.is_empty() {
        Some("")
    } else {
        rest.strip_prefix(':')
    }
}

/// `/^!ruby\/sym(bol)?:?(.*)?$/`: whatever begins so.
fn is_symbol_tag(tag: &str) -> bool {
    tag.starts_with("!ruby/sym")
}

/// `Float(@ss.tokenize(o.value))`
fn float(text: &str, range: TextRange) -> Result<Value, LoadError> {
    let cannot = |what: &str| Err(other(format!("can't convert {what} into Float"), range));
    match resolve_plain(text) {
        Resolved::Null => cannot("nil"),
        Resolved::Bool(truth) => cannot(if truth { "true" } else { "false" }),
        Resolved::Symbol(_) => cannot("Symbol"),
        Resolved::Int(number) => Ok(Value::Float(number as f64)),
        Resolved::BigInt(number) => Ok(Value::Float(
            number.to_string().parse().unwrap_or(f64::INFINITY),
        )),
        Resolved::Float(number) => Ok(Value::Float(number)),
        Resolved::Date => Err(disallowed("Date", range)),
        Resolved::Time => Err(disallowed("Time", range)),
        Resolved::String => kernel_float(text)
            .map(Value::Float)
            .ok_or_else(|| invalid_number("Float", text, range)),
        Resolved::Invalid { conversion, text } => Err(invalid_number(conversion, &text, range)),
    }
}

/// `String#unpack('m')`: base64 up to the first padding, whatever else is between ignored.
fn unpack_base64(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .bytes()
        .take_while(|&b| b != b'=')
        .filter(|&b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
        .collect();
    let config = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent);
    // A single digit at the end is too little for a byte.
    let whole = if digits.len() % 4 == 1 {
        digits.len() - 1
    } else {
        digits.len()
    };
    GeneralPurpose::new(&STANDARD, config)
        .decode(&digits[..whole])
        .unwrap_or_default()
}

pub(super) fn disallowed(class: &str, range: TextRange) -> LoadError {
    LoadError {
        kind: LoadErrorKind::YamlDisallowedClass,
        message: format!("Tried to load unspecified class: {class}"),
        range: Some(range),
    }
}

pub(super) fn invalid_number(conversion: &str, text: &str, range: TextRange) -> LoadError {
    other(
        format!("invalid value for {conversion}(): {}", inspect(text)),
        range,
    )
}

fn no_allocate(range: TextRange) -> LoadError {
    other(
        "undefined method `allocate' for nil:NilClass".to_owned(),
        range,
    )
}

pub(super) fn other(message: String, range: TextRange) -> LoadError {
    LoadError {
        kind: LoadErrorKind::YamlOther,
        message,
        range: Some(range),
    }
}

/// `String#inspect` of text.
fn inspect(text: &str) -> String {
    let mut out = String::from("\"");
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '#' if matches!(characters.peek(), Some('{' | '$' | '@')) => out.push_str("\\#"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\x1B' => out.push_str("\\e"),
            _ if character.is_control() => {
                out.push_str(&format!("\\x{:02X}", u32::from(character)));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}
