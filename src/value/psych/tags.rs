//! Handles tags of nodes: the `case o.tag` of `psych/visitors/to_ruby.rb`, with only Symbol
//! permitted.

use std::sync::Arc;

use super::plain;
use crate::syntax::psych::{Resolved, kernel_float, resolve_plain};
use crate::syntax::tree::STRING_TAG;
use crate::text::TextRange;
use crate::value::{HashMap, LoadError, LoadErrorKind, Rich, Value, unpack_base64};

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
        "!ruby/encoding" => match text.to_ascii_uppercase().as_str() {
            "UTF-8" | "US-ASCII" | "ASCII-8BIT" | "BINARY" | "ISO-8859-1" | "UTF-16" => {
                Ok(runtime_object("Encoding", text))
            }
            _ => Err(other(format!("unknown encoding name - {text}"), range)),
        },
        "!float" | "tag:yaml.org,2002:float" => float(text, range),
        _ => plain(text, range),
    }
}

/// An object of a Ruby class that is no data: it loads, and fails only when it is looked up.
fn runtime_object(class: &str, text: &str) -> Value {
    let ptype = match class {
        "Encoding" => "Runtime[ruby, 'Encoding']",
        _ => "Runtime[ruby, 'Class']",
    };
    let text = text.to_owned();
    Value::Rich(Arc::new(Rich { ptype, text }))
}

pub(super) enum TaggedSequence {
    Array,
    OrderedMap,
}

pub(super) fn sequence(tag: &str, range: TextRange) -> Result<TaggedSequence, LoadError> {
    if matches!(tag, "!omap" | "tag:yaml.org,2002:omap") {
        return Ok(TaggedSequence::OrderedMap);
    }
    let class = tag
        .strip_prefix("!seq:")
        .or_else(|| tag.strip_prefix("!ruby/array:"));
    match class {
        None => Ok(TaggedSequence::Array),
        Some("") => Err(no_allocate(range)),
        Some(class) => Err(disallowed(class, range)),
    }
}

/// The result of a mapping with a tag.
pub(super) enum TaggedMapping {
    Hash,
    /// The text under its key `str`.
    Text,
    /// The hash under its key `elements`.
    Elements,
    /// The class is refused after the entries were loaded.
    Refused(String),
}

pub(super) fn mapping(tag: &str, range: TextRange) -> Result<TaggedMapping, LoadError> {
    if let Some(class) = text_class(tag) {
        return match class {
            "" => Ok(TaggedMapping::Text),
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
            "Hash" => Ok(TaggedMapping::Hash),
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
        return Ok(TaggedMapping::Refused(class.to_owned()));
    }
    if let Some(rest) = tag.strip_prefix("!ruby/hash-with-ivars") {
        return match rest.strip_prefix(':') {
            None | Some("") => Ok(TaggedMapping::Elements),
            Some(class) => Err(disallowed(class, range)),
        };
    }
    match tag {
        "!ruby/range" => Err(disallowed("Range", range)),
        "!set" | "tag:yaml.org,2002:set" => Err(disallowed("Psych::Set", range)),
        "!omap" | "tag:yaml.org,2002:omap" => Err(disallowed("Psych::Omap", range)),
        _ => Ok(TaggedMapping::Hash),
    }
}

/// `!!str {str: text}` is the text; every other key names an instance variable of it, or of `nil`
/// if there is no text.
pub(super) fn text_of_mapping(hash: &HashMap, range: TextRange) -> Result<Value, LoadError> {
    let text = hash.get(&Value::from("str"));
    for key in hash.keys() {
        let key = match key {
            Value::String(key) | Value::Symbol(key) => key.to_string(),
            Value::Undef => String::new(),
            Value::Bool(truth) => truth.to_string(),
            // The text of a number or collection is never a valid name.
            _ => "0".to_owned(),
        };
        let name = key.strip_prefix('@').unwrap_or(&key);
        let is_name = !name.starts_with(|c: char| c.is_ascii_digit())
            && !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii());
        if key != "str" && !is_name {
            let message = format!("`@{name}' is not allowed as an instance variable name");
            return Err(other(message, range));
        }
        if key != "str" && text.is_none() {
            let message = "can't modify frozen NilClass: nil".to_owned();
            return Err(other(message, range));
        }
    }
    Ok(text.cloned().unwrap_or_default())
}

/// The class named in a tag for text: `/^!(?:str|ruby\/string)(?::(.*))?$/`, or `!!str`.
fn text_class(tag: &str) -> Option<&str> {
    if tag == STRING_TAG {
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

/// `/^!ruby\/sym(bol)?:?(.*)?$/`: any tag with this prefix.
pub(crate) fn is_symbol_tag(tag: &str) -> bool {
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

pub(super) fn disallowed(class: &str, range: TextRange) -> LoadError {
    let kind = match class {
        "Date" | "DateTime" | "Time" => LoadErrorKind::YamlDate,
        _ => LoadErrorKind::YamlDisallowedClass,
    };
    let message = format!("Tried to load unspecified class: {class}");
    LoadError::new(kind, message, Some(range))
}

pub(super) fn invalid_number(conversion: &str, text: &str, range: TextRange) -> LoadError {
    // Ruby's number conversions lose the UTF-8 encoding.
    let bytes = Value::Bytes(Arc::from(text.as_bytes()));
    let message = format!("invalid value for {conversion}(): {}", bytes.inspect());
    other(message, range)
}

fn no_allocate(range: TextRange) -> LoadError {
    let message = "undefined method `allocate' for nil:NilClass".to_owned();
    other(message, range)
}

pub(super) fn other(message: String, range: TextRange) -> LoadError {
    LoadError::new(LoadErrorKind::YamlOther, message, Some(range))
}
