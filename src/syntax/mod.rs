//! From text to a tree with exact byte spans, plus problems: YAML as Psych reads it, JSON, HOCON, and
//! the Puppet language.
//!
//! ```
//! use hiera_ls::syntax::parse_yaml;
//!
//! let text = "a: 1\nb: [\nc: 3\n";
//! let parse = parse_yaml(text);
//! let keys: Vec<&str> = parse
//!     .tree
//!     .entries()
//!     .map(|(key, _)| parse.tree.node(key).range.slice(text))
//!     .collect();
//! assert_eq!(keys, ["a", "c"]);
//! assert!(parse.problems[0].message.starts_with("did not find expected"));
//! ```

mod builder;
pub mod core_schema;
pub(crate) mod hocon;
mod json;
mod json_scalar;
pub mod libyaml;
mod plain_scalar;
pub(crate) mod plain_yaml;
pub mod psych;
pub mod puppet;
mod quote;
mod recovery;
mod scalar_map;
pub mod tree;
mod yaml;
mod yaml_event;

pub use builder::MAX_DEPTH;
pub use hocon::parse_hocon;
pub use json::parse_json;
pub use quote::{quote_scalars, quoted};
pub use scalar_map::ScalarMap;
pub use tree::{BrokenEntry, NodeId, NodeKind, Scalar, ScalarStyle, Spanned, Tree, TreeNode};
pub use yaml::{parse_yaml, read_document};

use crate::text::TextRange;

/// The result of a parser for the editor: always a tree, however little of the text could be
/// parsed.
#[derive(Clone, Debug, Default)]
pub struct Parse {
    /// The text's structure. Top-level entries that a syntax error touches are left out; see
    /// [`Tree::broken`].
    pub tree: Tree,
    /// The problems of the text, the loader's own error first.
    pub problems: Vec<Problem>,
    /// Psych's tree, if Psych stops without an error before the end of the document (for example
    /// because the first line is indented) and so reads less than `tree` holds.
    pub psych: Option<Box<Tree>>,
}

impl Parse {
    /// The error that makes a loader refuse the whole text, if there is one.
    #[must_use]
    pub fn error(&self) -> Option<&Problem> {
        self.problems
            .iter()
            .find(|problem| !matches!(problem.kind, ProblemKind::Ignored | ProblemKind::LaterError))
    }

    /// What makes a later version of the loader refuse the whole text, if this one reads it.
    #[must_use]
    pub fn later_error(&self) -> Option<&Problem> {
        let mut problems = self.problems.iter();
        let later = problems.find(|problem| problem.kind == ProblemKind::LaterError);
        later.filter(|_| self.error().is_none())
    }
}

/// Something wrong with a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The range to show; never after the end of the text.
    pub range: TextRange,
    /// The loader's own message, with its own position, without the file's path.
    pub message: String,
    /// The kind of problem.
    pub kind: ProblemKind,
}

/// Sorts of problems.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ProblemKind {
    /// The text is not YAML or JSON: the loader refuses the whole file.
    Syntax,
    /// The text exceeds one of our limits; the message names it.
    Limit,
    /// The loader reads only a part of the text: from here on it is ignored.
    Ignored,
    /// The loader reads the text, and a later version refuses the whole file. The message is that
    /// version's.
    LaterError,
}
