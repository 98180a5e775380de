//! The events that libyaml reads and writes, and its errors.

use std::borrow::Cow;

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

/// How a scalar is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScalarStyle {
    /// `word`
    Plain,
    /// `'word'`
    SingleQuoted,
    /// `"word"`
    DoubleQuoted,
    /// `|` and indented lines
    Literal,
    /// `>` and indented lines
    Folded,
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
#[derive(Debug)]
pub enum EventKind<'p> {
    /// The text begins.
    StreamStart,
    /// The text ends.
    StreamEnd,
    /// A document begins; `implicit` without `---`.
    DocumentStart {
        /// Whether there is no `---`.
        implicit: bool,
    },
    /// A document ends; `implicit` without `...`.
    DocumentEnd {
        /// Whether there is no `...`.
        implicit: bool,
    },
    /// `*name`
    Alias {
        /// Name of the anchor.
        anchor: Cow<'p, str>,
    },
    /// A scalar.
    Scalar {
        /// Name of its anchor.
        anchor: Option<Cow<'p, str>>,
        /// Its tag; `None` for the tag `!`.
        tag: Option<Cow<'p, str>>,
        /// The decoded text.
        value: Cow<'p, str>,
        /// Whether the tag may be left out if the scalar is plain.
        plain_implicit: bool,
        /// Whether the tag may be left out if it is not plain: Psych's `quoted`.
        quoted_implicit: bool,
        /// How it is written.
        style: ScalarStyle,
    },
    /// A list begins.
    SequenceStart {
        /// Name of its anchor.
        anchor: Option<Cow<'p, str>>,
        /// Its tag.
        tag: Option<Cow<'p, str>>,
        /// How it is written.
        style: CollectionStyle,
    },
    /// A list ends.
    SequenceEnd,
    /// A mapping begins.
    MappingStart {
        /// Name of its anchor.
        anchor: Option<Cow<'p, str>>,
        /// Its tag.
        tag: Option<Cow<'p, str>>,
        /// How it is written.
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

/// One event for the emitter: the input of Psych's `Psych::Emitter`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Emit<'a> {
    /// First of all events.
    StreamStart,
    /// Last of all events.
    StreamEnd,
    /// A document begins; `implicit` omits `---` if possible.
    DocumentStart {
        /// Whether `---` may be left out.
        implicit: bool,
    },
    /// A document ends; `implicit` omits `...` if possible.
    DocumentEnd {
        /// Whether `...` may be left out.
        implicit: bool,
    },
    /// `*name`
    Alias {
        /// Name of the anchor.
        anchor: &'a str,
    },
    /// A scalar.
    Scalar {
        /// Name of its anchor.
        anchor: Option<&'a str>,
        /// Its tag, in full (`tag:yaml.org,2002:binary`) or as `!local`.
        tag: Option<&'a str>,
        /// Its text.
        value: &'a str,
        /// Whether the tag may be omitted if the scalar is plain.
        plain_implicit: bool,
        /// Whether the tag may be omitted if it is not plain.
        quoted_implicit: bool,
        /// The style; `None` lets the emitter choose. A style that cannot represent the text is
        /// replaced by one that can.
        style: Option<ScalarStyle>,
    },
    /// A list begins.
    SequenceStart {
        /// Name of its anchor.
        anchor: Option<&'a str>,
        /// Its tag.
        tag: Option<&'a str>,
        /// Whether the tag may be left out.
        implicit: bool,
        /// How to write it. Empty lists are always `[]`.
        style: CollectionStyle,
    },
    /// A list ends.
    SequenceEnd,
    /// A mapping begins.
    MappingStart {
        /// Name of its anchor.
        anchor: Option<&'a str>,
        /// Its tag.
        tag: Option<&'a str>,
        /// Whether the tag may be left out.
        implicit: bool,
        /// How to write it. Empty mappings are always `{}`.
        style: CollectionStyle,
    },
    /// A mapping ends.
    MappingEnd,
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
