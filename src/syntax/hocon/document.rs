//! The tree of a HOCON text, as written: nothing is merged or substituted yet.

use super::token::Token;
use crate::text::TextRange;

/// Why a HOCON text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoconProblem {
    /// The place of the token at which the gem gives up.
    pub range: TextRange,
    /// The gem's message, with its idea of the line: `String: 2: …`.
    pub message: String,
}

/// A value as written.
#[derive(Clone, Debug, PartialEq)]
pub struct HoconNode {
    /// From its first byte to behind its last.
    pub range: TextRange,
    /// What it is.
    pub value: HoconValue,
}

/// Kinds of values as written.
#[derive(Clone, Debug, PartialEq)]
pub enum HoconValue {
    /// One token: text with or without quotes, a number, `true`, `null`, `${…}`.
    Simple(Box<HoconScalar>),
    /// `{ … }`, or a file without braces.
    Object(Vec<HoconItem>),
    /// `[ … ]`
    Array(Vec<HoconElement>),
    /// Several values that are joined: `10 ${unit}`, `${defaults} { a: 1 }`.
    Concatenation(Vec<HoconNode>),
}

/// The token of a simple value.
#[derive(Clone, Debug, PartialEq)]
pub struct HoconScalar(pub(crate) Token);

/// What stands in an object.
#[derive(Clone, Debug, PartialEq)]
pub enum HoconItem {
    /// The end of a line, which the gem counts.
    Newline,
    /// A key and its value.
    Field(HoconField),
    /// `include …`, which has no effect in data that was read from a string.
    Include,
}

/// What stands in an array.
#[derive(Clone, Debug, PartialEq)]
pub enum HoconElement {
    /// The end of a line, which the gem counts.
    Newline,
    /// An element.
    Value(HoconNode),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct HoconField {
    /// The key: `a.b."c.d"` has three elements.
    pub path: HoconPath,
    /// What stands between key and value.
    pub separator: Separator,
    /// The value.
    pub value: HoconNode,
}

/// A key or the inside of `${…}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoconPath {
    /// From its first byte to behind its last.
    pub range: TextRange,
    /// The elements, unescaped. Never empty.
    pub elements: Vec<String>,
    /// Where each element stands.
    pub ranges: Vec<TextRange>,
}

/// What stands between a key and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// Nothing, before an object.
    None,
    /// `:` or `=`
    Assign,
    /// `+=`
    Append,
}

/// The tree of a HOCON text.
#[derive(Clone, Debug, PartialEq)]
pub struct HoconDocument {
    /// The value of the file.
    pub root: HoconNode,
    /// The line, from 1, on which a root with braces or brackets begins.
    pub root_line: usize,
}
