//! JSON as `Puppet::Util::Json.load` reads it (puppet/util/json.rb, Ruby's json 2.6.1).
//!
//! ```
//! use hiera_ls::value::{Value, json_load};
//!
//! let value = json_load(b"{\"a\": 1e3} // and more\n").unwrap();
//! assert_eq!(value.get("a"), Some(&Value::Float(1000.0)));
//! let error = json_load(b"[1,]").unwrap_err();
//! assert_eq!(error.message, "451: unexpected token at ']'");
//! ```

use num_bigint::BigInt;

use super::{LoadError, LoadErrorKind, Ruby, RubyChange, Value, load_node};
use crate::syntax::{Parse, Problem, parse_json};

/// Loads a JSON text. Bytes that are not UTF-8, which Ruby passes through, become `U+FFFD`.
///
/// # Errors
///
/// The error of Ruby's parser, in its words.
pub fn json_load(text: &[u8]) -> Result<Value, LoadError> {
    load_json_parse(&parse_json(&String::from_utf8_lossy(text)))
}

/// The same with the JSON of a version of Ruby.
///
/// # Errors
///
/// The error of Ruby's parser: its own words for what only that version refuses.
pub fn json_load_in(text: &[u8], ruby: Ruby) -> Result<Value, LoadError> {
    let parse = parse_json(&String::from_utf8_lossy(text));
    match later_json_error(&parse).filter(|_| ruby.has(RubyChange::JsonEscape)) {
        Some(error) => Err(error),
        None => load_json_parse(&parse),
    }
}

/// Why Ruby 4.0 refuses a JSON text that 3.1 loads.
#[must_use]
pub fn later_json_error(parse: &Parse) -> Option<LoadError> {
    parse.later_error().map(refused)
}

/// Loads an already parsed JSON text, with the same result as [`json_load`].
///
/// # Errors
///
/// As [`json_load`].
pub fn load_json_parse(parse: &Parse) -> Result<Value, LoadError> {
    match (parse.error(), parse.tree.root()) {
        (Some(problem), _) => Err(refused(problem)),
        (None, Some(root)) => load_node(&parse.tree, root),
        (None, None) => Ok(Value::Undef),
    }
}

fn refused(problem: &Problem) -> LoadError {
    let message = problem.message.as_str();
    LoadError::new(LoadErrorKind::Json, message, Some(problem.range))
}

/// The value of a valid JSON number or word.
pub(crate) fn literal(text: &str) -> Value {
    match text {
        "null" => Value::Undef,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ if text.contains(['.', 'e', 'E']) => Value::Float(text.parse().unwrap_or(f64::NAN)),
        _ => match text.parse() {
            Ok(number) => Value::Int(number),
            Err(_) => text.parse::<BigInt>().map(Value::from).unwrap_or_default(),
        },
    }
}
