//! What a caller of hovers chooses, and what it gets.

use std::sync::Arc;

use super::page::WIDTH;
use crate::lookup::LookupError;
use crate::text::TextRange;
use crate::value::Value;

/// Makes a link's target from a path and a line (from 1).
pub type Link<'a> = &'a (dyn Fn(&str, u32) -> String + Sync);

/// Names a file by its path.
pub type Name<'a> = &'a (dyn Fn(&str) -> String + Sync);

/// Makes the target of a link that reveals the encrypted value at a byte offset of the file.
pub type RevealLink<'a> = &'a (dyn Fn(usize) -> String + Sync);

/// How a client reveals an encrypted value if the user has turned decryption on: by a command,
/// never in the hover.
#[derive(Clone, Copy)]
pub struct Reveal<'a> {
    /// The name of the command.
    pub command: &'a str,
    /// Links that run the command, for clients that support them.
    pub link: Option<RevealLink<'a>>,
}

/// Makes the target of a link to a document about a key, given by the name in lookups.
pub type ValueLink<'a> = &'a (dyn Fn(&str) -> String + Sync);

/// A form of a hover.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HoverForm {
    /// See [`Hover::markdown`].
    #[default]
    Markdown,
    /// See [`Hover::aligned`].
    Aligned,
    /// See [`Hover::plain`].
    Plain,
}

/// The default maximum number of lines.
pub const MAX_LINES: usize = 20;

/// Options of a hover.
#[derive(Clone, Copy)]
pub struct HoverOptions<'a> {
    /// Maximum number of lines; `usize::MAX` also shows long lines in full.
    pub max_lines: usize,
    /// Links to the whole of a value that the hover cuts, for clients that run commands from links.
    pub whole: Option<ValueLink<'a>>,
    /// Links to the explanation of the value.
    pub explain: Option<ValueLink<'a>>,
    /// Links to the answers for all nodes.
    pub all_nodes: Option<ValueLink<'a>>,
    /// How to reveal encrypted values; `None` if decryption is off.
    pub reveal: Option<Reveal<'a>>,
    /// The target of a link that lets the user choose a hierarchy, for clients that run commands
    /// from links.
    pub choose: Option<&'a str>,
    /// Makes links; without it places are only named.
    pub link: Option<Link<'a>>,
    /// Names files; without it they are named by their path below the data directory of the file
    /// under the cursor, else below the workspace.
    pub name: Option<Name<'a>>,
    /// The only form to fill; `None` for all.
    pub form: Option<HoverForm>,
    /// Maximum width of the plain text in characters, except for lines of values.
    pub width: usize,
}

impl Default for HoverOptions<'_> {
    /// All forms, without links.
    fn default() -> Self {
        HoverOptions {
            max_lines: MAX_LINES,
            whole: None,
            explain: None,
            all_nodes: None,
            reveal: None,
            choose: None,
            link: None,
            name: None,
            form: None,
            width: WIDTH,
        }
    }
}

/// A hover, in three forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The range in the file that it describes.
    pub range: TextRange,
    /// Markdown.
    pub markdown: String,
    /// Markdown in lines of at most 100 characters and without links, for terminal clients.
    pub aligned: String,
    /// Plain text in lines of at most 100 characters.
    pub plain: String,
}

/// What to describe, by its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Described {
    /// A key, by its name in lookups.
    Key(Arc<str>),
    /// A variable by its dotted path.
    Variable(Arc<str>),
}

/// One answer of a hover on a key.
#[derive(Clone, Debug)]
pub struct Effective {
    /// The value of the key under the cursor; `None` if the effective value of the top-level key
    /// lacks it. Or the error that Puppet raises.
    pub result: Result<Option<Value>, LookupError>,
    /// The known nodes that get it; empty if no known node reads the file.
    pub nodes: Vec<Arc<str>>,
    /// Whether all that it depends on is known.
    pub is_certain: bool,
}

/// How many answers a document of a key may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DocumentedAnswers {
    /// One.
    One,
    /// Any number; the document has the value of the first.
    Any,
}
