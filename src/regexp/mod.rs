//! Runs Ruby regular expressions on Rust engines: translates, compiles and matches them, with Ruby's
//! error messages.
//!
//! Puppet's patterns are Ruby's (Onigmo), whose syntax differs from Rust's: `^` and `$` always match
//! at lines, `(?m)` lets the dot match a newline, `\h` is a hex digit, `\d`, `\s` and `\w` are ASCII
//! while `[[:alpha:]]` is Unicode. So a pattern is parsed like in Ruby and translated for `regex` if
//! that can run it (linear time), else for `fancy-regex` with a limit on its steps. If neither can,
//! it is unsupported. Texts of one line have their own translation, in which anchors need no
//! backtracking: with the one for all texts, choosing `lookup_options` takes 30 times as long as
//! matching the compiled patterns (1.6 times with both), and a warm lookup 5 times as long.
//!
//! This room must not know Puppet, values or files.
//!
//! ```
//! use hiera_ls::regexp::Regexp;
//!
//! let pattern = Regexp::new(r"^profile::(?!base)\h+$")?;
//! assert_eq!(pattern.is_match("profile::c0ffee"), Ok(true));
//! let refused = Regexp::new("^(").map_err(|e| e.to_string());
//! assert_eq!(refused.err().as_deref(), Some("end pattern with unmatched parenthesis: /^(/"));
//! # Ok::<(), hiera_ls::regexp::RegexpError>(())
//! ```

mod class;
mod emit;
mod escape;
mod parse;
mod syntax;

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use emit::Lines;
use parse::RegexpFailure;
use syntax::RegexpNode;

/// Maximum number of steps of a backtracking match: some ten milliseconds.
const BACKTRACK_LIMIT: usize = 100_000;

/// Maximum size of a compiled pattern in bytes: the `regex` crate's own default.
const PROGRAM_SIZE: usize = 10 * (1 << 20);

/// Maximum number of instructions of a backtracking program, which inlines the groups it calls.
const FANCY_PROGRAM_SIZE: usize = 50_000;

/// Maximum length of a pattern, in bytes.
const MAX_SOURCE: usize = 64 * 1024;

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegexpError {
    /// Ruby refuses the pattern; `message` is the text of its `RegexpError`.
    Invalid {
        /// Ruby's message with the pattern at its end.
        message: String,
    },
    /// Ruby may accept the pattern, but no engine here can run it.
    Unsupported {
        /// The unsupported feature, for people.
        because: String,
    },
}

impl fmt::Display for RegexpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegexpError::Invalid { message } => f.write_str(message),
            RegexpError::Unsupported { because } => {
                write!(f, "regular expression not supported: {because}")
            }
        }
    }
}

impl std::error::Error for RegexpError {}

/// Why it is unknown whether a text matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchLimit {
    /// The search exceeded its limit of steps.
    Steps,
    /// No engine here can run the pattern: the reason, for people.
    Unsupported(String),
}

impl fmt::Display for MatchLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MatchLimit::Steps => f.write_str("regular expression takes too many steps"),
            MatchLimit::Unsupported(because) => {
                write!(f, "regular expression not supported: {because}")
            }
        }
    }
}

impl std::error::Error for MatchLimit {}

/// A Ruby regular expression without outer options (`(?i)` and the like inside are supported).
///
/// A search is that of `=~`: anywhere in the text. A clone shares the compiled pattern.
#[derive(Clone)]
pub struct Regexp(Arc<RegexpParts>);

/// Its source: what has been compiled so far is no part of it.
impl fmt::Debug for Regexp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Regexp").field(&self.0.source).finish()
    }
}

struct RegexpParts {
    source: String,
    root: RegexpNode,
    /// How texts of one line that match begin: see [`RegexpNode::start`].
    start: String,
    /// For texts without newlines, in which Ruby's `^` and `$` need no backtracking.
    one_line: OnceLock<Result<RegexpEngine, String>>,
    many_lines: OnceLock<Result<RegexpEngine, String>>,
    names: Vec<(String, usize)>,
    /// The number of capturing groups.
    groups: usize,
    /// For texts without newlines, with the groups.
    capturing: OnceLock<Result<Capturing, String>>,
    capturing_lines: OnceLock<Result<Capturing, String>>,
}

/// The ranges of groups, by number; `None` for groups that took no part in a match.
pub type Groups = Vec<Option<Range<usize>>>;

struct Capturing {
    engine: RegexpEngine,
    /// Ruby's numbers of the capturing groups, in the engine's order.
    groups: Vec<usize>,
}

enum RegexpEngine {
    Linear(Box<regex::Regex>),
    Backtracking(Box<fancy_regex::Regex>),
}

impl Regexp {
    /// Parses and compiles a pattern.
    ///
    /// # Errors
    /// Ruby's error, or that no engine here can run the pattern.
    pub fn new(source: &str) -> Result<Regexp, RegexpError> {
        let regexp = Regexp::lazy(source)?;
        regexp.check()?;
        Ok(regexp)
    }

    /// Compiles a pattern from [`Regexp::lazy`], once.
    ///
    /// # Errors
    /// No engine here can run the pattern.
    pub fn check(&self) -> Result<(), RegexpError> {
        self.one_line()
            .map(|_| ())
            .map_err(|because| RegexpError::Unsupported {
                because: because.clone(),
            })
    }

    /// Parses a pattern and compiles it at the first search.
    ///
    /// # Errors
    /// Ruby's error, or that the pattern exceeds a limit.
    pub fn lazy(source: &str) -> Result<Regexp, RegexpError> {
        if source.len() > MAX_SOURCE {
            return Err(RegexpError::Unsupported {
                because: format!("the pattern is longer than {MAX_SOURCE} bytes"),
            });
        }
        let invalid = |problem: &str| RegexpError::Invalid {
            message: format!("{problem}: {}", slashed(source)),
        };
        let text = escape::unescape(source).map_err(invalid)?;
        let parsed = parse::parse(&text).map_err(|failure| match failure {
            RegexpFailure::Ruby(problem) => invalid(&problem),
            RegexpFailure::Unsupported(because) => RegexpError::Unsupported { because },
        })?;
        Ok(Regexp(Arc::new(RegexpParts {
            source: source.to_owned(),
            start: parsed.root.start(),
            root: parsed.root,
            one_line: OnceLock::new(),
            many_lines: OnceLock::new(),
            names: parsed.names,
            groups: parsed.groups,
            capturing: OnceLock::new(),
            capturing_lines: OnceLock::new(),
        })))
    }

    /// The pattern as written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Whether the pattern matches anywhere in the text, like `=~`. Most keys do not begin as a pattern of
    /// `lookup_options` does: that costs a comparison, and no compilation.
    ///
    /// # Errors
    /// The search would take too many steps, or no engine here can run the pattern.
    pub fn is_match(&self, text: &str) -> Result<bool, MatchLimit> {
        if !text.starts_with(&self.0.start) && !text.contains('\n') {
            return Ok(false);
        }
        match self.engine(text)? {
            RegexpEngine::Linear(regex) => Ok(regex.is_match(text)),
            RegexpEngine::Backtracking(regex) => regex.is_match(text).map_err(runtime_limit),
        }
    }

    /// The range of the first match, in bytes.
    ///
    /// # Errors
    /// As [`Regexp::is_match`].
    pub fn find(&self, text: &str) -> Result<Option<Range<usize>>, MatchLimit> {
        self.find_at(text, 0)
    }

    /// The names of the pattern's groups, each once.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.0.names.iter().enumerate();
        let is_new =
            |at: usize, name: &str| self.0.names[..at].iter().all(|(known, _)| known != name);
        names
            .filter(move |(at, (name, _))| is_new(*at, name))
            .map(|(_, (name, _))| name.as_str())
    }

    /// The numbers of the groups with a name.
    pub fn groups_named(&self, name: &str) -> impl Iterator<Item = usize> {
        let of_name = move |(known, _): &&(String, usize)| known == name;
        let groups = self.0.names.iter().filter(of_name);
        groups.map(|(_, number)| *number)
    }

    /// The named groups of the first match, like `named_captures`, without groups that took no part
    /// in it. `None` if the pattern does not match, or if the text has several lines.
    ///
    /// # Errors
    /// As [`Regexp::is_match`].
    pub fn named_captures(&self, text: &str) -> Result<Option<Vec<(&str, String)>>, MatchLimit> {
        if text.contains('\n') {
            return Ok(None);
        }
        let Some(mut groups) = self.captures(text)? else {
            return Ok(None);
        };
        let mut captures: Vec<(&str, String)> = Vec::new();
        for (name, number) in &self.0.names {
            let Some(text) = groups.get_mut(*number).and_then(Option::take) else {
                continue;
            };
            // Of groups with one name the last one that took part is used.
            captures.retain(|(known, _)| known != name);
            captures.push((name, text));
        }
        Ok(Some(captures))
    }

    /// The first match and its groups by number, like `MatchData#to_a`; `None` if the pattern does
    /// not match.
    ///
    /// # Errors
    /// As [`Regexp::is_match`].
    pub fn captures(&self, text: &str) -> Result<Option<Vec<Option<String>>>, MatchLimit> {
        let found = self.captures_at(text, 0)?;
        let text = |range: Range<usize>| text[range].to_owned();
        Ok(found.map(|groups| groups.into_iter().map(|group| group.map(text)).collect()))
    }

    /// The ranges of the first match at or after `position`, and of its groups, by number.
    ///
    /// # Errors
    /// As [`Regexp::is_match`].
    pub fn captures_at(&self, text: &str, position: usize) -> Result<Option<Groups>, MatchLimit> {
        let (capturing, lines) = if text.contains('\n') {
            (&self.0.capturing_lines, Lines::Many)
        } else {
            (&self.0.capturing, Lines::One)
        };
        let capturing = capturing.get_or_init(|| capturing_engine(&self.0, lines));
        let capturing = capturing.as_ref();
        let capturing = capturing.map_err(|because| MatchLimit::Unsupported(because.clone()))?;
        let found: Option<Groups> = match &capturing.engine {
            RegexpEngine::Linear(regex) => regex.captures_at(text, position).map(|found| {
                let groups = found.iter();
                groups.map(|group| Some(group?.range())).collect()
            }),
            RegexpEngine::Backtracking(regex) => {
                let found = regex.captures_from_pos(text, position);
                found.map_err(runtime_limit)?.map(|found| {
                    let groups = found.iter();
                    groups
                        .map(|group| group.map(|group| group.start()..group.end()))
                        .collect()
                })
            }
        };
        Ok(found.map(|found| {
            let mut groups = vec![None; self.0.groups + 1];
            groups[0] = found.first().cloned().flatten();
            for (at, number) in capturing.groups.iter().enumerate() {
                if let (Some(group), Some(Some(range))) =
                    (groups.get_mut(*number), found.get(at + 1))
                {
                    *group = Some(range.clone());
                }
            }
            groups
        }))
    }

    /// Replaces every match by the same text, like `gsub` with a block.
    ///
    /// # Errors
    /// As [`Regexp::is_match`].
    pub fn replace_all(&self, text: &str, replacement: &str) -> Result<String, MatchLimit> {
        let mut out = String::with_capacity(text.len());
        let mut position = 0;
        let mut copied = 0;
        while position <= text.len() {
            let Some(found) = self.find_at(text, position)? else {
                break;
            };
            if found.start < copied {
                break;
            }
            out.push_str(&text[copied..found.start]);
            out.push_str(replacement);
            copied = found.end;
            position = found.end;
            if found.is_empty() {
                let step = text[position..].chars().next().map_or(1, char::len_utf8);
                position += step;
            }
        }
        out.push_str(&text[copied..]);
        Ok(out)
    }

    fn find_at(&self, text: &str, position: usize) -> Result<Option<Range<usize>>, MatchLimit> {
        match self.engine(text)? {
            RegexpEngine::Linear(regex) => {
                Ok(regex.find_at(text, position).map(|found| found.range()))
            }
            RegexpEngine::Backtracking(regex) => regex
                .find_from_pos(text, position)
                .map(|found| found.map(|found| found.start()..found.end()))
                .map_err(runtime_limit),
        }
    }

    fn engine(&self, text: &str) -> Result<&RegexpEngine, MatchLimit> {
        let parts = &self.0;
        let engine = if text.contains('\n') {
            let many_lines = || compile(&parts.root, Lines::Many);
            parts.many_lines.get_or_init(many_lines).as_ref()
        } else {
            self.one_line()
        };
        engine.map_err(|because| MatchLimit::Unsupported(because.clone()))
    }

    fn one_line(&self) -> Result<&RegexpEngine, &String> {
        let one_line = || compile(&self.0.root, Lines::One);
        self.0.one_line.get_or_init(one_line).as_ref()
    }
}

/// A pattern between slashes, as Ruby's `Regexp#inspect`.
pub(crate) fn slashed(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + 2);
    out.push('/');
    let mut escaped = false;
    for c in source.chars() {
        if c == '/' && !escaped {
            out.push('\\');
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out.push('/');
    out
}

fn compile(root: &RegexpNode, lines: Lines) -> Result<RegexpEngine, String> {
    build(&emit::emit(root, lines, &[])?)
}

fn capturing_engine(parts: &RegexpParts, lines: Lines) -> Result<Capturing, String> {
    let wanted: Vec<usize> = (1..=parts.groups).collect();
    let emitted = emit::emit(&parts.root, lines, &wanted)?;
    Ok(Capturing {
        engine: build(&emitted)?,
        groups: emitted.groups,
    })
}

fn build(emitted: &emit::Emitted) -> Result<RegexpEngine, String> {
    if !emitted.backtracks
        && let Ok(regex) = regex::RegexBuilder::new(&emitted.text)
            .size_limit(PROGRAM_SIZE)
            .build()
    {
        return Ok(RegexpEngine::Linear(Box::new(regex)));
    }
    fancy_regex::RegexBuilder::new(&emitted.text)
        .backtrack_limit(BACKTRACK_LIMIT)
        .delegate_size_limit(PROGRAM_SIZE)
        .max_prog_size(FANCY_PROGRAM_SIZE)
        .build()
        .map(|regex| RegexpEngine::Backtracking(Box::new(regex)))
        .map_err(|error| error.to_string())
}

fn runtime_limit(error: fancy_regex::Error) -> MatchLimit {
    if let fancy_regex::Error::RuntimeError(_) = error {
        MatchLimit::Steps
    } else {
        MatchLimit::Unsupported(error.to_string())
    }
}

#[cfg(test)]
mod tests;
