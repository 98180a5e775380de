//! The events that libyaml reads and writes, and its errors.

use std::borrow::Cow;

use super::tree::ScalarStyle;

/// A position in the text libyaml reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// Offset in bytes.
    pub index: usize,
    /// Line, from zero.
    pub line: usize,
    /// Characters into the line, from zero.
    pub column: usize,
}

/// How a collection is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CollectionStyle {
    /// By indentation.
    Block,
    /// In brackets or braces.
    Flow,
}

/// One event of the parser, and where it starts and ends.
#[derive(Debug)]
pub struct Event<'p> {
    /// The kind of event.
    pub kind: EventKind<'p>,
    /// First byte; for a node, that of its anchor or tag.
    pub start: Mark,
    /// After the last byte. The end of a block collection is where the next token starts.
    pub end: Mark,
}

/// A parser event. Tags are resolved (`!!str` is `tag:yaml.org,2002:str`).
pub type EventKind<'p> = YamlEvent<Cow<'p, str>, ScalarStyle>;

/// One event for the emitter: the input of Psych's `Psych::Emitter`. Without a style for a scalar
/// the emitter chooses one; a style that cannot represent the text is replaced by one that can.
pub type Emit<'a> = YamlEvent<&'a str, Option<ScalarStyle>>;

/// An event that libyaml reads or writes, with texts as `T` and styles of scalars as `S`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YamlEvent<T, S> {
    /// First of all events.
    StreamStart,
    /// Last of all events.
    StreamEnd,
    /// A document begins.
    DocumentStart {
        /// Whether there is no `---`, or it may be left out.
        implicit: bool,
    },
    /// A document ends.
    DocumentEnd {
        /// Whether there is no `...`, or it may be left out.
        implicit: bool,
    },
    /// `*name`
    Alias {
        /// Name of the anchor.
        anchor: T,
    },
    /// A scalar.
    Scalar {
        /// Name of its anchor.
        anchor: Option<T>,
        /// Its tag, in full (`tag:yaml.org,2002:binary`) or as `!local`; `None` for the tag `!`.
        tag: Option<T>,
        /// The decoded text.
        value: T,
        /// Whether the tag may be left out if the scalar is plain.
        plain_implicit: bool,
        /// Whether the tag may be left out if it is not plain: Psych's `quoted`.
        quoted_implicit: bool,
        /// How it is written.
        style: S,
    },
    /// A list begins.
    SequenceStart {
        /// Name of its anchor.
        anchor: Option<T>,
        /// Its tag.
        tag: Option<T>,
        /// Whether the tag may be left out.
        implicit: bool,
        /// How it is written. Empty lists are always emitted as `[]`.
        style: CollectionStyle,
    },
    /// A list ends.
    SequenceEnd,
    /// A mapping begins.
    MappingStart {
        /// Name of its anchor.
        anchor: Option<T>,
        /// Its tag.
        tag: Option<T>,
        /// Whether the tag may be left out.
        implicit: bool,
        /// How it is written. Empty mappings are always emitted as `{}`.
        style: CollectionStyle,
    },
    /// A mapping ends.
    MappingEnd,
}

/// Why libyaml stopped, in its own words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// The problem: `did not find expected key`.
    pub problem: &'static str,
    /// The construct being parsed: `while parsing a block mapping`.
    pub context: Option<&'static str>,
    /// The position of the problem.
    pub problem_mark: Mark,
    /// The start of the construct being parsed. Psych prints this position, counted from one.
    pub context_mark: Mark,
    /// Offset of invalid bytes; zero for every other error (Psych's `offset`).
    pub problem_offset: usize,
    /// Whether the bytes are invalid (encoding, control characters), not the syntax.
    pub reader: bool,
}

impl SyntaxError {
    /// The text of `Psych::SyntaxError` without the file's path (psych/syntax_error.rb), with
    /// `lines` added to the line.
    #[must_use]
    pub fn message(&self, lines: usize) -> String {
        let space = if self.context.is_some() { " " } else { "" };
        format!(
            "{}{space}{} at line {} column {}",
            self.problem,
            self.context.unwrap_or_default(),
            self.context_mark.line + 1 + lines,
            self.context_mark.column + 1
        )
    }

    /// The byte offset of the error.
    #[must_use]
    pub fn offset(&self) -> usize {
        if self.reader {
            self.problem_offset
        } else {
            self.problem_mark.index
        }
    }
}

/// Why the emitter refused an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EmitError {
    /// libyaml's words: `expected DOCUMENT-START or STREAM-END`.
    pub problem: String,
}

impl std::fmt::Display for EmitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for EmitError {}
