//! Puppet data types: parse an expression, check a value, describe a mismatch, convert.
//!
//! The texts are Puppet's own: a lookup with a wrong type shows here what it shows there. This
//! room knows nothing of files, places or lookups; the aliases of modules come through
//! [`Aliases`].
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
mod expression;
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

pub use assignable::assignable;
pub use functions::{convert, convert_to};
pub use infer::{infer, infer_set};
pub use instance::is_instance;
pub use interpret::{Aliases, NoAliases};
pub use mismatch::{Mismatch, MismatchKind, Mismatches, Step, check, check_return};
pub use model::{
    Alias, CallableType, Digits, Element, EnumCase, EnumType, FloatRange, Pattern, Presence, Range,
    ResourceType, StringType, TimeRange, Type,
};
pub use quote::{double_quote, quote, ruby_float};
pub use signatures::{Count, Parameter, Refusal, Signatures};
pub use strings::puppet_string;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use infer::normalize;

use crate::value::{Rich, Value};

/// Why a text is no type: the message of the error Puppet raises.
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

    fn of_syntax(self) -> ParseError {
        ParseError {
            is_syntax: true,
            ..self
        }
    }

    /// Whether the text breaks Puppet's grammar, for which Puppet has an issue code.
    #[must_use]
    pub fn is_syntax(&self) -> bool {
        self.is_syntax
    }

    fn at(message: &str, text: &str, offset: usize) -> ParseError {
        let bytes = text.as_bytes();
        let before = &bytes[..offset.min(bytes.len())];
        let line_start = before
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        // An offset inside a character counts the bytes before it, each for one.
        let column = before[line_start..]
            .utf8_chunks()
            .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
            .sum::<usize>()
            + 1;
        ParseError::new(&format!("{message} (line: {line}, column: {column})"))
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ParseError {}

/// Reads a type expression: `Optional[Array[Stdlib::Host, 1]]`. A name that nothing resolves is
/// no error: it becomes a reference, which matches nothing.
///
/// # Errors
/// The message Puppet's type parser gives.
pub fn parse(text: &str, aliases: &dyn Aliases) -> Result<Type, ParseError> {
    interpret::parse(text, aliases)
}

/// A type that this program itself writes down, with Puppet's own names only. A text that is no
/// type matches anything: a mistake here must not become an error in somebody's data.
pub(crate) fn parse_known(text: &str) -> Type {
    let parsed = parse(text, &NoAliases);
    debug_assert!(parsed.is_ok(), "{text}: {parsed:?}");
    parsed.unwrap_or(Type::Any)
}

/// Reads the definition of an alias, as a module's `types/*.pp` holds it
/// (`type Stdlib::Host = Variant[…]`): its name and the alias as a type.
///
/// # Errors
/// The message Puppet's type parser gives, or that the text defines no alias.
pub fn parse_alias(text: &str, aliases: &dyn Aliases) -> Result<(String, Type), ParseError> {
    interpret::parse_definition(text, aliases)
}

/// A type as a value.
#[must_use]
pub fn type_value(t: &Type) -> Value {
    rich("Type", t.to_string())
}

/// The type that a value is, if it is one; `Unit` where its text cannot be read back.
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
