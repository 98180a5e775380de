//! Puppet data types: parse an expression, check a value, describe a mismatch, convert.
//!
//! Messages are Puppet's own, byte for byte. Files and lookups are unknown here; the aliases of
//! modules come through [`Aliases`].
//!
//! ```
//! use hiera_ls::datatype::{self, NoAliases};
//! use hiera_ls::value::Value;
//!
//! let port = datatype::parse("Optional[Integer[0, 65535]]", &NoAliases)?;
//! assert_eq!(datatype::check(&port, &Value::from(443)), Ok(()));
//! let mismatches = datatype::check(&port, &Value::from("https")).unwrap_err();
//! assert_eq!(
//!     mismatches.describe("Found value"),
//!     "Found value has wrong type, expects a value of type Undef or Integer, got String",
//! );
//! # Ok::<(), datatype::ParseError>(())
//! ```

mod access;
mod assignable;
mod builtin;
mod collections;
mod expected;
mod format;
mod functions;
mod infer;
mod init;
mod instance;
mod interpret;
mod mismatch;
mod model;
mod numbers;
mod parameters;
mod printf;
mod quote;
mod ranges;
mod semver;
mod signatures;
mod strings;
mod texts;
mod time;
mod uri;

pub use expected::{Expected, Member, Word};
pub use functions::{convert, convert_to};
pub use infer::{infer, infer_set};
pub use interpret::{Aliases, NoAliases};
pub use mismatch::{Mismatch, MismatchKind, Mismatches, Step, check, check_return};
pub use model::{
    Alias, CallableType, Digits, Element, EnumCase, EnumType, FloatRange, Pattern, Presence, Range,
    ResourceType, StringType, TimeRange, Type,
};
pub use parameters::capitalized;
pub use quote::quote;
pub use signatures::{Count, FunctionParameter, Refusal, Signatures};
pub use strings::puppet_string;
pub use time::{timestamp_of_text, timestamp_text};
pub use uri::check_uri;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use assignable::assignable;
use infer::normalize;
use instance::is_instance;

use crate::syntax::puppet::PuppetProblem;
use crate::value::{Rich, Value};

/// Why a text is not a type. `Display` gives the message of Puppet's error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    message: String,
    is_syntax: bool,
}

impl ParseError {
    fn new(message: &str) -> ParseError {
        ParseError {
            message: message.to_owned(),
            is_syntax: false,
        }
    }

    /// The error of Puppet's parser for a text.
    fn of(problem: &PuppetProblem, text: &str) -> ParseError {
        ParseError {
            message: problem.full(text),
            is_syntax: problem.is_syntax,
        }
    }

    /// Whether the text breaks Puppet's grammar, for which Puppet has an issue code.
    #[must_use]
    pub fn is_syntax(&self) -> bool {
        self.is_syntax
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ParseError {}

/// Parses a type expression: `Optional[Array[Stdlib::Host, 1]]`. The name of a type that does not
/// exist is no error: it becomes a reference, which has no instances.
///
/// # Errors
/// The message of Puppet's type parser.
pub fn parse(text: &str, aliases: &dyn Aliases) -> Result<Type, ParseError> {
    interpret::parse(text, aliases)
}

/// A type written in this program, with Puppet's own names only. If the text is wrong, any value
/// matches: a bug here must not be reported as an error in data.
pub(crate) fn parse_known(text: &str) -> Type {
    let parsed = parse(text, &NoAliases);
    debug_assert!(parsed.is_ok(), "{text}: {parsed:?}");
    parsed.unwrap_or(Type::Any)
}

/// A type as a value.
#[must_use]
pub fn type_value(t: &Type) -> Value {
    rich("Type", t.to_string())
}

/// A pattern as a value.
#[must_use]
pub fn regexp_value(source: &str) -> Value {
    rich("Regexp", source.to_owned())
}

/// The type in a value of type `Type`; `Unit` if its text cannot be parsed.
#[must_use]
pub fn type_of_value(value: &Value) -> Option<Type> {
    let text = instance::rich(value, "Type")?;
    Some(parse(text, &NoAliases).unwrap_or(Type::Unit))
}

fn rich(ptype: &'static str, text: String) -> Value {
    Value::Rich(Arc::new(Rich { ptype, text }))
}

/// A string as Ruby's `inspect` shows it.
fn ruby_inspect(text: &str) -> String {
    let mut out = String::from("\"");
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{1b}' => out.push_str("\\e"),
            '#' if matches!(chars.peek(), Some('{' | '$' | '@')) => out.push_str("\\#"),
            c if c.is_control() => out.push_str(&format!("\\x{:02X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
