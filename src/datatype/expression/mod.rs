//! The language that type expressions are written in: text to a tree.
//!
//! Puppet parses type expressions with the parser of its whole language and refuses other
//! expressions afterwards. So the whole language is parsed here, syntax errors included;
//! expressions that cannot be a type are kept as [`Kind::Other`].
//!
//! [`lexer`] cuts tokens of [`words`], [`quoted`] and [`heredoc`] those of strings; [`grammar`]
//! reads expressions, [`collections`] lists and hashes, [`resources`] bodies in braces,
//! [`definitions`] what starts with a keyword.

mod collections;
mod definitions;
mod grammar;
mod heredoc;
mod lexer;
mod quoted;
mod resources;
mod words;

use std::borrow::Cow;

use num_bigint::BigInt;

use super::ParseError;
use grammar::Parser;

/// Deepest nesting of expressions; a pair of brackets is two deep.
const MAX_DEPTH: usize = 120;

const TOO_DEEP: &str = "type expression is nested too deeply";

/// Longest expression in bytes.
const MAX_LENGTH: usize = 256 * 1024;

/// A range of a text, in bytes.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
}

impl Span {
    fn with(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// A part of an expression with its range in the text, from the first to the last part of it; some
/// ranges leave out a closing parenthesis.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The range that Puppet's parser gives it; of an operator, that of its sign.
    own: Span,
    /// The range of all its parts.
    parts: Option<Span>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// `Foo::Bar`
    Reference(String),
    /// `Foo[…]`
    Access(Box<Expression>, Vec<Expression>),
    /// `foo::bar`
    Name(String),
    Text(String),
    Regexp(String),
    Integer(BigInt),
    Float(f64),
    Boolean(bool),
    Default,
    Undef,
    List(Vec<Expression>),
    Hash(Vec<(Expression, Expression)>),
    /// `-…`
    Minus(Box<Expression>),
    /// `type Foo = …`
    Alias(String, Box<Expression>),
    /// `@(END)`
    Heredoc(Box<Expression>),
    /// An expression that `@` may precede.
    Resource,
    /// Legal Puppet that cannot be a type.
    Other,
}

impl Expression {
    fn new(kind: Kind, own: Span) -> Expression {
        Expression {
            kind,
            start: own.start,
            end: own.end,
            own,
            parts: None,
        }
    }

    fn other(own: Span, parts: &[Span]) -> Expression {
        Expression::new(Kind::Other, own).covering(parts)
    }

    /// With the ranges of its parts.
    fn covering(mut self, parts: &[Span]) -> Expression {
        for part in parts {
            self.parts = Some(self.parts.map_or(*part, |all| all.with(*part)));
        }
        let whole = self.parts.map_or(self.own, |parts| parts.with(self.own));
        self.start = whole.start;
        self.end = whole.end;
        self
    }

    /// Its text. A character that the range cuts is shown as Puppet shows invalid bytes.
    pub(super) fn source<'a>(&self, text: &'a str) -> Cow<'a, str> {
        String::from_utf8_lossy(
            text.as_bytes()
                .get(self.start..self.end)
                .unwrap_or_default(),
        )
    }

    fn whole(&self) -> Span {
        Span {
            start: self.start,
            end: self.end,
        }
    }
}

/// Reads an expression.
pub(super) fn parse(text: &str) -> Result<Expression, ParseError> {
    check_length(text)?;
    Parser::new(text).program()
}

/// Reads `type Name = expression`, the form of a module's `types/*.pp`.
pub(super) fn parse_definition(text: &str) -> Result<(String, Expression), ParseError> {
    check_length(text)?;
    match Parser::new(text).alias()?.kind {
        Kind::Alias(name, body) => Ok((name, *body)),
        _ => Err(ParseError::new("not a type alias")),
    }
}

fn check_length(text: &str) -> Result<(), ParseError> {
    if text.len() > MAX_LENGTH {
        return Err(ParseError::new("type expression is too long"));
    }
    Ok(())
}

/// A number that the lexer took.
fn number(digits: &str) -> Result<Kind, ParseError> {
    let hex = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"));
    let (digits_of, radix) = match hex {
        Some(hex) => (hex, 16),
        None if digits.starts_with('0') && !digits.contains('.') => (digits, 8),
        None => (digits, 10),
    };
    let float = hex.is_none() && digits.contains(['.', 'e', 'E']);
    let number = if float {
        // Puppet's lexer accepts numbers too large for a float, its model does not.
        let float: Option<f64> = digits.parse().ok().filter(|float: &f64| float.is_finite());
        float.map(Kind::Float)
    } else {
        BigInt::parse_bytes(digits_of.as_bytes(), radix).map(Kind::Integer)
    };
    number.ok_or_else(|| {
        let message = "Internal Error, NUMBER token does not contain a valid number";
        ParseError::new(&format!("{message}, {digits}"))
    })
}
