//! A text in the Puppet language, with its tree.

use std::sync::Arc;

use crate::syntax::puppet::{self, Definition, Dialect, Expression, ExpressionKind};
use crate::text::LineIndex;

/// Maximum length of a text, in bytes.
const MAX_SOURCE: usize = 1 << 20;

/// A manifest or the file of a function.
#[derive(Debug)]
pub struct CodeFile {
    /// Its path.
    pub path: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
    pub(super) root: Expression,
    pub(super) problem: Option<Arc<str>>,
    lines: LineIndex,
}

impl CodeFile {
    /// Parses a text.
    #[must_use]
    pub fn new(path: Arc<str>, text: Arc<str>) -> CodeFile {
        let is_long = text.len() > MAX_SOURCE;
        let parse = puppet::parse(if is_long { "" } else { &text }, Dialect::Manifest);
        let problem = parse.problems.first().map(|problem| problem.full(&text));
        let too_long = is_long.then(|| format!("the text is longer than {MAX_SOURCE} bytes"));
        CodeFile {
            lines: LineIndex::new(&text),
            root: parse.root,
            problem: problem.or(too_long).map(Arc::from),
            path,
            text,
        }
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, offset: u32) -> u32 {
        self.lines.line(offset as usize) + 1
    }

    pub(super) fn statements(&self) -> &[Expression] {
        statements(&self.root)
    }

    /// The function of that name, if the text defines it.
    pub(super) fn function(&self, name: &str) -> Option<&Definition> {
        let name = name.trim_start_matches("::");
        self.statements().iter().find_map(|node| match &node.kind {
            ExpressionKind::Function(function) if *function.name == *name => Some(&**function),
            _ => None,
        })
    }
}

/// The statements of a block, or a single statement.
pub(super) fn statements(node: &Expression) -> &[Expression] {
    match &node.kind {
        ExpressionKind::Block(nodes) => nodes,
        _ => std::slice::from_ref(node),
    }
}
