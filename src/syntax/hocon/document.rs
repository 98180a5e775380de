//! The tree of a HOCON text as written: nothing is merged or substituted.

use super::token::HoconToken;
use crate::text::TextRange;

/// Why a HOCON text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HoconProblem {
    /// The range of the token at which the gem fails.
    pub(crate) range: TextRange,
    /// The gem's message, with its own line number: `String: 2: …`.
    pub(crate) message: String,
}

/// A value as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HoconNode {
    /// Including quotes and brackets.
    pub(crate) range: TextRange,
    pub(crate) value: HoconValue,
}

/// Kinds of values as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HoconValue {
    /// One token: text with or without quotes, a number, `true`, `null`, `${…}`.
    Simple(Box<HoconToken>),
    /// `{ … }`, or a file without braces.
    Object(Vec<HoconItem>),
    /// `[ … ]`
    Array(Vec<HoconElement>),
    /// Several values that are joined: `10 ${unit}`, `${defaults} { a: 1 }`.
    Concatenation(Vec<HoconNode>),
}

/// An item of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HoconItem {
    /// The end of a line, which the gem counts.
    Newline,
    Field(HoconField),
    /// `include "…"`, which finds nothing: a text has no folder.
    Include,
    /// `include file("…")`, or one with `url` or `classpath`, which reads from elsewhere.
    IncludeFrom,
}

/// An item of an array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HoconElement {
    /// The end of a line, which the gem counts.
    Newline,
    Value(HoconNode),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HoconField {
    /// The key: `a.b."c.d"` has three elements.
    pub(crate) path: HoconPath,
    /// The text between key and value.
    pub(crate) separator: Separator,
    pub(crate) value: HoconNode,
}

/// A key, or the content of `${…}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HoconPath {
    /// From its first byte to after its last.
    pub(crate) range: TextRange,
    /// The elements, unescaped. Never empty.
    pub(crate) elements: Vec<String>,
    /// The range of each element.
    pub(crate) ranges: Vec<TextRange>,
}

/// The separator between a key and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// None, before an object.
    None,
    /// `:` or `=`
    Assign,
    /// `+=`
    Append,
}

/// The tree of a HOCON text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HoconDocument {
    /// The value of the file.
    pub(crate) root: HoconNode,
    /// The line (from 1) of the opening brace or bracket of the root, if it has one.
    pub(crate) root_line: usize,
}
