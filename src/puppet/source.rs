//! A text in the Puppet language, with its tree.

use std::sync::Arc;

use crate::syntax::puppet::{self, Definition, Dialect, Kind, Node};
use crate::text::LineIndex;

/// Maximum length of a text, in bytes.
const MAX_SOURCE: usize = 1 << 20;

/// A manifest or the file of a function.
#[derive(Debug)]
pub struct Source {
    /// Its path.
    pub path: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
    pub(super) root: Node,
    pub(super) problem: Option<Arc<str>>,
    lines: LineIndex,
}

impl Source {
    /// Parses a text.
    #[must_use]
    pub fn new(path: Arc<str>, text: Arc<str>) -> Source {
        let is_long = text.len() > MAX_SOURCE;
        let parse = puppet::parse(if is_long { "" } else { &text }, Dialect::Manifest);
        let problem = parse.problems.first().map(|problem| problem.full(&text));
        let too_long = is_long.then(|| format!("the text is longer than {MAX_SOURCE} bytes"));
        Source {
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

    pub(super) fn statements(&self) -> &[Node] {
        statements(&self.root)
    }

    /// The function of that name, if the text defines it.
    pub(super) fn function(&self, name: &str) -> Option<&Definition> {
        let name = name.trim_start_matches("::");
        self.statements().iter().find_map(|node| match &node.kind {
            Kind::Function(function) if *function.name == *name => Some(&**function),
            _ => None,
        })
    }
}

/// The statements of a block, or a single statement.
pub(super) fn statements(node: &Node) -> &[Node] {
    match &node.kind {
        Kind::Block(nodes) => nodes,
        _ => std::slice::from_ref(node),
    }
}
