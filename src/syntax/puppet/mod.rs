//! The Puppet language: manifests and templates (EPP) to a tree with places and comments. What names
//! mean is unknown here.
//!
//! The first problem of a text is Puppet's own, with its message and place; the tree goes on behind
//! it. `lexer` cuts tokens of `words`, `quoted` and `heredoc` those of strings, `template`
//! those of templates; `grammar` reads expressions, `collections` lists and hashes,
//! `resources` bodies in braces, `definitions` what starts with a keyword, `recovery` goes on
//! behind what breaks the grammar, `validation` refuses what the grammar allows, `half_typed` tells
//! what is open where a person types.
//!
//! ```
//! use hiera_ls::syntax::puppet::{Dialect, Kind, parse};
//!
//! let parse = parse("class ntp($servers) { include stdlib }", Dialect::Manifest);
//! let Kind::Class(class) = &parse.root.kind else { panic!() };
//! assert_eq!(&*class.name, "ntp");
//! assert!(parse.problems.is_empty());
//! ```

mod collections;
mod definitions;
mod grammar;
mod half_typed;
mod heredoc;
mod labels;
mod lexer;
mod parameters;
mod parser;
mod quoted;
mod recovery;
mod resources;
mod template;
mod tree;
mod validation;
mod words;

use std::hash::Hash as _;

use crate::text::TextRange;
use parser::Parser;

pub(crate) use words::integer;

pub use half_typed::{HalfTyped, OpenBracket, Piece, PieceKind, half_typed};
pub use tree::{
    Alias, Attribute, Call, Condition, Definition, Form, Heredoc, Kind, Lambda, NamedAccess, Node,
    NodeBlock, Parameter, Prefix, Resource,
};

/// Deepest nesting of expressions; a pair of brackets is two deep.
const MAX_DEPTH: usize = 120;

/// Maximum number of nodes inside each other.
const MAX_HEIGHT: u16 = 1_000;

const TOO_DEEP: &str = "code is nested too deeply";

/// What a text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// A manifest, `*.pp`.
    Manifest,
    /// A plan, which has more keywords.
    Plan,
    /// A template, `*.epp`.
    Template,
}

/// Why Puppet refuses a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Puppet's message, without the place.
    pub message: String,
    /// The byte that Puppet names, if it names one; it may lie inside a character.
    pub offset: Option<usize>,
    /// Whether the text breaks the grammar, for which Puppet has an issue code.
    pub is_syntax: bool,
}

impl Problem {
    fn new(message: &str) -> Problem {
        Problem {
            message: message.to_owned(),
            offset: None,
            is_syntax: false,
        }
    }

    fn at(message: &str, offset: usize) -> Problem {
        Problem {
            offset: Some(offset),
            ..Problem::new(message)
        }
    }

    fn of_syntax(self) -> Problem {
        Problem {
            is_syntax: true,
            ..self
        }
    }

    /// The line and column that Puppet names, from 1.
    #[must_use]
    pub fn line_and_column(&self, text: &str) -> Option<(usize, usize)> {
        let bytes = text.as_bytes();
        let before = &bytes[..self.offset?.min(bytes.len())];
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
        Some((line, column))
    }

    /// The message with its place, as Puppet shows it.
    #[must_use]
    pub fn full(&self, text: &str) -> String {
        let message = &self.message;
        match self.line_and_column(text) {
            Some((line, column)) => format!("{message} (line: {line}, column: {column})"),
            None => message.clone(),
        }
    }
}

/// A text as a tree.
#[derive(Clone, Debug)]
pub struct Parse {
    /// The program: one statement, or a block of them.
    pub root: Node,
    /// Where comments stand, in order.
    pub comments: Vec<TextRange>,
    /// Why Puppet refuses the text: the first one is Puppet's, the others are what else seems wrong.
    pub problems: Vec<Problem>,
}

/// Reads a manifest or a template. Never fails: what cannot be read is [`Kind::Error`].
#[must_use]
pub fn parse(text: &str, dialect: Dialect) -> Parse {
    recovery::parse(text, dialect)
}

/// Reads an expression or statements.
///
/// # Errors
/// The first problem, as Puppet's parser reports it.
pub fn parse_strictly(text: &str) -> Result<Node, Problem> {
    Parser::strict(text, Dialect::Manifest).program()
}

/// Feeds what a text says to a hasher: not its blanks and comments.
pub fn hash_tokens(text: &str, hasher: &mut impl std::hash::Hasher) {
    let all = lexer::tokens(text, 0, Dialect::Manifest, usize::MAX);
    for token in &all.tokens {
        (token.terminal, &token.value).hash(hasher);
    }
}

/// Reads `type Name = expression` at the start of a text, the form of a module's `types/*.pp`; the
/// rest is not checked.
///
/// # Errors
/// The first problem, as Puppet's parser reports it.
pub fn parse_alias(text: &str) -> Result<Node, Problem> {
    Parser::strict(text, Dialect::Manifest).alias()
}

#[cfg(test)]
mod tests;
