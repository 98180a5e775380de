//! Parses the Puppet language: manifests and templates (EPP) to a tree with ranges and comments. It
//! must not know what names mean.
//!
//! The first problem of a text is Puppet's own, with its message and position; the parser then
//! recovers and continues. `lexer` makes tokens of `words`, `quoted` and `heredoc` those of
//! strings, `template` those of templates; `grammar` parses expressions, `collections` lists and
//! hashes, `resources` bodies in braces, `definitions` constructs with a keyword, `recovery`
//! continues after syntax errors, `validation` refuses what the grammar allows, `half_typed` finds
//! open brackets before the cursor.
//!
//! ```
//! use hiera_ls::syntax::puppet::{Dialect, ExpressionKind, parse};
//!
//! let parse = parse("class ntp($servers) { include stdlib }", Dialect::Manifest);
//! let ExpressionKind::Class(class) = &parse.root.kind else { panic!() };
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
use parser::PuppetParser;

pub(crate) use words::{integer, is_match_variable, is_parameter, is_qualified, without_colons};

pub use recovery::parse;

pub use half_typed::{CodePiece, HalfTyped, OpenBracket, PieceKind, half_typed};
pub use tree::{
    Attribute, Call, Conditional, Definition, Expression, ExpressionKind, Heredoc, Lambda,
    NamedAccess, NodeBlock, Parameter, Prefix, Resource, ResourceForm, TypeAlias,
};

/// Maximum nesting of expressions; a pair of brackets counts as two.
const MAX_DEPTH: usize = 120;

/// Maximum height of the tree.
const MAX_HEIGHT: u16 = 1_000;

const TOO_DEEP: &str = "code is nested too deeply";

/// The language of a text.
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
pub struct PuppetProblem {
    /// Puppet's message, without the position.
    pub message: String,
    /// The byte that Puppet names, if any; it may lie inside a character.
    pub offset: Option<usize>,
    /// Whether it is a syntax error, for which Puppet has an issue code.
    pub is_syntax: bool,
}

impl PuppetProblem {
    pub(crate) fn new(message: &str) -> PuppetProblem {
        PuppetProblem {
            message: message.to_owned(),
            offset: None,
            is_syntax: false,
        }
    }

    fn at(message: &str, offset: usize) -> PuppetProblem {
        PuppetProblem {
            offset: Some(offset),
            ..PuppetProblem::new(message)
        }
    }

    fn of_syntax(self) -> PuppetProblem {
        PuppetProblem {
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
        // An offset inside a character counts the bytes before it, each as one column.
        let column = before[line_start..]
            .utf8_chunks()
            .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
            .sum::<usize>()
            + 1;
        Some((line, column))
    }

    /// The message with its position, as Puppet shows it.
    #[must_use]
    pub fn full(&self, text: &str) -> String {
        self.placed(text, "")
    }

    /// The same for a text in a file.
    #[must_use]
    pub fn full_in(&self, file: &str, text: &str) -> String {
        self.placed(text, &format!("file: {file}, "))
    }

    fn placed(&self, text: &str, file: &str) -> String {
        let message = &self.message;
        match self.line_and_column(text) {
            Some((line, column)) => format!("{message} ({file}line: {line}, column: {column})"),
            None => message.clone(),
        }
    }
}

/// A parsed text.
#[derive(Clone, Debug)]
pub struct PuppetParse {
    /// The program: one statement, or a block of them.
    pub root: Expression,
    /// The ranges of comments, in order.
    pub comments: Vec<TextRange>,
    /// The problems: the first one is Puppet's, the others are found by recovery.
    pub problems: Vec<PuppetProblem>,
}

/// Parses an expression or statements.
///
/// # Errors
/// The first problem, as Puppet's parser reports it.
pub fn parse_strictly(text: &str) -> Result<Expression, PuppetProblem> {
    PuppetParser::strict(text, Dialect::Manifest).program()
}

/// Hashes a text's tokens, without blanks and comments.
pub fn hash_tokens(text: &str, hasher: &mut impl std::hash::Hasher) {
    let all = lexer::tokens(text, 0, Dialect::Manifest, usize::MAX);
    for token in &all.tokens {
        (token.terminal, &token.value).hash(hasher);
    }
}

/// Parses `type Name = expression` at the start of a text, the form of a module's `types/*.pp`; the
/// rest is not checked.
///
/// # Errors
/// The first problem, as Puppet's parser reports it.
pub fn parse_alias(text: &str) -> Result<Expression, PuppetProblem> {
    PuppetParser::strict(text, Dialect::Manifest).alias()
}

#[cfg(test)]
mod tests;
