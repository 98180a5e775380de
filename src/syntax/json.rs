//! Parses JSON as Ruby's json 2.6.1 does (`JSON.parse`), into the same tree as YAML.
//!
//! What json 2.18 refuses and 2.6.1 does not is a problem of its own kind. Comments are allowed, trailing commas are not, the limit is a hundred levels. An error names the
//! line of the parser's C source that raised it and the remaining text. Ruby's parser abandons an
//! object silently, and the enclosing array or the document reports an error at the object's start;
//! the message follows Ruby, the range is where the problem is.

use std::sync::Arc;

use super::builder::line_length;
use super::json_scalar::{Becomes, number_length, read_escape};
use super::scalar_map::hex;
use super::tree::{BrokenEntry, NodeId, NodeKind, Scalar, ScalarStyle, Spanned, Tree};
use super::{Parse, Problem, ProblemKind};
use crate::text::TextRange;

/// `max_nesting` of `JSON.parse`.
const MAX_NESTING: usize = 100;

/// Searching for entries after a broken one may cost this many times the length of the text.
const RETRY_BUDGET: usize = 4;

/// Maximum number of escapes that are reported: finding out its line takes as long as the text before it.
const MAX_BAD_ESCAPES: usize = 50;

/// Maximum length of what an error of json 2.18 shows of the text, in bytes.
const SHOWN_LATER: usize = 32;

/// Lines of json 2.6.1's `parser.rl`, which start Ruby's messages.
mod raised_in {
    pub(super) const DOCUMENT: u16 = 859;
    pub(super) const ARRAY: u16 = 451;
    pub(super) const NAN: u16 = 225;
    pub(super) const INFINITY: u16 = 232;
    pub(super) const MINUS_INFINITY: u16 = 249;
    pub(super) const STRING: u16 = 521;
}

/// Parses a JSON text. A syntax error loses the entry of the topmost object that contains it, and,
/// if the text is not laid out in lines, the entries after it. O(length).
#[must_use]
pub fn parse_json(text: &str) -> Parse {
    let mut parser = JsonParser {
        text,
        bytes: text.as_bytes(),
        tree: Tree::default(),
        budget: text.len().saturating_mul(RETRY_BUDGET),
        bad_escapes: Vec::new(),
    };
    let mut problems = Vec::new();
    if let Err(problem) = parser.document() {
        problems.push(problem);
        parser.salvage();
    } else {
        let escapes = parser.bad_escapes.iter();
        problems.extend(escapes.map(|at| parser.bad_escape_error(*at)));
    }
    let mut tree = parser.tree;
    tree.comments.sort_unstable();
    tree.comments.dedup();
    tree.nodes.shrink_to_fit();
    Parse {
        tree,
        problems,
        psych: None,
    }
}

enum JsonFailure {
    /// Ruby's parser returns nothing and its caller raises. Holds the offset where parsing stopped.
    Silent(usize),
    /// It raises here.
    Raised(Problem),
}

struct JsonParser<'t> {
    text: &'t str,
    bytes: &'t [u8],
    tree: Tree,
    budget: usize,
    /// The first escapes that json 2.18 does not know.
    bad_escapes: Vec<usize>,
}

impl JsonParser<'_> {
    fn document(&mut self) -> Result<(), Problem> {
        let start = self.ignore(0).map_err(|at| self.document_error(at, at))?;
        let end = match self.value(start, None, 0) {
            Ok((_, end)) => end,
            Err(JsonFailure::Silent(stuck)) => return Err(self.document_error(start, stuck)),
            Err(JsonFailure::Raised(problem)) => return Err(problem),
        };
        let rest = self.ignore(end).map_err(|at| self.document_error(at, at))?;
        if rest < self.bytes.len() {
            return Err(self.document_error(rest, rest));
        }
        Ok(())
    }

    fn document_error(&self, at: usize, stuck: usize) -> Problem {
        self.unexpected(raised_in::DOCUMENT, at, stuck)
    }

    /// Ruby's message for the text from `at` up to a NUL, and the range to show.
    fn unexpected(&self, line: u16, at: usize, stuck: usize) -> Problem {
        self.problem(line, "unexpected token", at, stuck)
    }

    fn problem(&self, line: u16, what: &str, at: usize, stuck: usize) -> Problem {
        let rest = self.text.get(at..).unwrap_or_default();
        let rest = rest.split('\0').next().unwrap_or_default();
        Problem {
            range: self.stumbled(stuck),
            message: format!("{line}: {what} at '{rest}'"),
            kind: ProblemKind::Syntax,
        }
    }

    /// The error of json 2.18 for an escape (`raise_parse_error` in its `parser.c`). Lines and columns count
    /// from 1, columns in bytes.
    fn bad_escape_error(&self, at: usize) -> Problem {
        let rest = &self.text[at..];
        let end = rest
            .find(['\0', '\n', ' ', '\t', '\r'])
            .unwrap_or(rest.len());
        let shown = &rest[..rest.floor_char_boundary(end.min(SHOWN_LATER))];
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let (line, column) = (before.matches('\n').count() + 1, at - line_start + 1);
        let escape = rest.chars().take(2).map(char::len_utf8).sum::<usize>();
        Problem {
            range: TextRange::new(at, at + escape),
            message: format!(
                "invalid escape character in string: '{shown}' at line {line} column {column}"
            ),
            kind: ProblemKind::LaterError,
        }
    }

    /// The word at `at`, or the last character before it if only blanks follow.
    fn stumbled(&self, at: usize) -> TextRange {
        let rest = self.text.get(at..).unwrap_or_default();
        if rest.trim_start().is_empty() {
            let before = self.text[..at.min(self.text.len())].trim_end();
            let last = before.chars().next_back().map_or(0, char::len_utf8);
            return TextRange::new(before.len() - last, before.len());
        }
        let word = rest
            .find(|c: char| c.is_whitespace() || ",:]}[{\"".contains(c))
            .unwrap_or(rest.len());
        let width = rest.chars().next().map_or(0, char::len_utf8);
        TextRange::new(at, at + word.max(width))
    }

    /// Skips white space and comments; fails for an unfinished comment.
    fn ignore(&mut self, mut at: usize) -> Result<usize, usize> {
        loop {
            match self.bytes.get(at) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => at += 1,
                Some(b'/') => {
                    let rest = &self.bytes[at..];
                    let length = match rest.get(1) {
                        Some(b'/') => rest.iter().position(|&b| b == b'\n'),
                        Some(b'*') => rest[2..]
                            .windows(2)
                            .position(|pair| pair == b"*/")
                            .map(|end| end + 4),
                        Some(_) | None => return Err((at + 1).min(self.bytes.len())),
                    };
                    let Some(length) = length else {
                        return Err(self.bytes.len());
                    };
                    let shown = self.text[at..at + length].trim_end().len();
                    self.tree.comments.push(TextRange::new(at, at + shown));
                    at += length;
                }
                Some(_) | None => return Ok(at),
            }
        }
    }

    fn value(
        &mut self,
        at: usize,
        parent: Option<NodeId>,
        nesting: usize,
    ) -> Result<(NodeId, usize), JsonFailure> {
        let rest = &self.bytes[at..];
        match rest.first() {
            Some(b'"') => self.string(at, parent),
            Some(b'[' | b'{') => self.collection(at, parent, nesting + 1),
            Some(b'-' | b'0'..=b'9') => {
                if rest.starts_with(b"-Infinity") {
                    let line = raised_in::MINUS_INFINITY;
                    return Err(JsonFailure::Raised(self.unexpected(line, at, at)));
                }
                let Some(length) = number_length(rest) else {
                    return Err(JsonFailure::Silent(at));
                };
                Ok(self.literal(at, length, parent))
            }
            Some(_) | None => {
                if let Some(word) = ["null", "true", "false"]
                    .iter()
                    .find(|word| rest.starts_with(word.as_bytes()))
                {
                    return Ok(self.literal(at, word.len(), parent));
                }
                if rest.starts_with(b"NaN") {
                    return Err(JsonFailure::Raised(self.unexpected(raised_in::NAN, at, at)));
                }
                if rest.starts_with(b"Infinity") {
                    // Ruby counts back one character too many, and finds nothing if there is none.
                    let before = self.text[..at].chars().next_back().map(char::len_utf8);
                    let shown = before.map_or(self.text.len(), |width| at - width);
                    let line = raised_in::INFINITY;
                    return Err(JsonFailure::Raised(self.unexpected(line, shown, at)));
                }
                Err(JsonFailure::Silent(at))
            }
        }
    }

    fn literal(&mut self, at: usize, length: usize, parent: Option<NodeId>) -> (NodeId, usize) {
        let scalar = Scalar {
            style: ScalarStyle::JsonLiteral,
            text: Arc::from(&self.text[at..at + length]),
        };
        let range = TextRange::new(at, at + length);
        (
            self.tree.add(range, NodeKind::Scalar(scalar), parent),
            at + length,
        )
    }

    fn string(
        &mut self,
        at: usize,
        parent: Option<NodeId>,
    ) -> Result<(NodeId, usize), JsonFailure> {
        let mut end = at + 1;
        loop {
            match &self.bytes[end..] {
                [b'"', ..] => break,
                [b'\\', b'u', digits @ ..] => {
                    let digits = &digits[..digits.len().min(4)];
                    if digits.len() < 4 || hex(digits).is_none() {
                        return Err(JsonFailure::Silent(end));
                    }
                    end += 6;
                }
                [b'\\', 0x20..=0xFF, ..] => end += 2,
                [] | [b'\\', ..] | [0..0x20, ..] => return Err(JsonFailure::Silent(end)),
                [_, ..] => end += 1,
            }
        }
        let text = self.unescape(at + 1, end)?;
        let kind = NodeKind::Scalar(Scalar {
            style: ScalarStyle::JsonString,
            text: Arc::from(text),
        });
        Ok((
            self.tree.add(TextRange::new(at, end + 1), kind, parent),
            end + 1,
        ))
    }

    fn unescape(&mut self, start: usize, end: usize) -> Result<String, JsonFailure> {
        let source = &self.text[start..end];
        if !source.contains('\\') {
            return Ok(source.to_owned());
        }
        let mut text = String::with_capacity(source.len());
        let (mut at, mut behind_escape) = (start, start);
        while at < end {
            if self.bytes[at] != b'\\' {
                let next = self.text[at..end].find('\\').map_or(end, |more| at + more);
                text.push_str(&self.text[at..next]);
                at = next;
                continue;
            }
            let (becomes, width) = read_escape(&self.bytes[at..end]);
            match becomes {
                Becomes::Character(character) => text.push(character),
                Becomes::Itself => {
                    let is_bad = self.bytes.get(at + 1) != Some(&b'/');
                    if is_bad && self.bad_escapes.len() < MAX_BAD_ESCAPES {
                        self.bad_escapes.push(at);
                    }
                    at += 1;
                    behind_escape = at;
                    let width = self.text[at..].chars().next().map_or(1, char::len_utf8);
                    text.push_str(&self.text[at..(at + width).min(end)]);
                    at += width;
                    continue;
                }
                Becomes::Nothing => {
                    let line = raised_in::STRING;
                    let what = "incomplete surrogate pair";
                    return Err(JsonFailure::Raised(self.problem(
                        line,
                        what,
                        behind_escape,
                        at,
                    )));
                }
            }
            at += width;
            // A lone high surrogate swallows the character after it.
            while !self.text.is_char_boundary(at) {
                at += 1;
            }
            behind_escape = at;
        }
        Ok(text)
    }

    /// An array or an object from its bracket on.
    fn collection(
        &mut self,
        start: usize,
        parent: Option<NodeId>,
        nesting: usize,
    ) -> Result<(NodeId, usize), JsonFailure> {
        if nesting > MAX_NESTING {
            return Err(JsonFailure::Raised(Problem {
                range: TextRange::new(start, start + 1),
                message: format!("nesting of {nesting} is too deep"),
                kind: ProblemKind::Syntax,
            }));
        }
        let is_object = self.bytes[start] == b'{';
        let (close, kind) = if is_object {
            (b'}', NodeKind::Mapping(Box::default()))
        } else {
            (b']', NodeKind::Sequence(Box::default()))
        };
        let id = self.tree.add(TextRange::empty(start), kind, parent);
        let (mut pairs, mut elements) = (Vec::new(), Vec::new());
        let mut at = self.ignore_in(is_object, start + 1)?;
        let mut is_closed = self.bytes.get(at) == Some(&close);
        while !is_closed {
            let end = if is_object {
                let (key, value, end) = self.pair(at, id, nesting)?;
                pairs.push((key, value));
                end
            } else {
                let (element, end) = match self.value(at, Some(id), nesting) {
                    Err(JsonFailure::Silent(stuck)) => Err(self.failure_in(false, at, stuck)),
                    read => read,
                }?;
                elements.push(element);
                end
            };
            at = self.ignore_in(is_object, end)?;
            match self.bytes.get(at) {
                Some(b',') => at = self.ignore_in(is_object, at + 1)?,
                Some(byte) if *byte == close => is_closed = true,
                Some(_) | None => return Err(self.failure_in(is_object, at, at)),
            }
        }
        let node = &mut self.tree.nodes[id.index()];
        node.kind = if is_object {
            NodeKind::Mapping(pairs.into())
        } else {
            NodeKind::Sequence(elements.into())
        };
        node.range = TextRange::new(start, at + 1);
        Ok((id, at + 1))
    }

    fn ignore_in(&mut self, is_object: bool, at: usize) -> Result<usize, JsonFailure> {
        self.ignore(at)
            .map_err(|at| self.failure_in(is_object, at, at))
    }

    /// An object fails silently, an array raises for the text from `at` on.
    fn failure_in(&self, is_object: bool, at: usize, stuck: usize) -> JsonFailure {
        if is_object {
            JsonFailure::Silent(stuck)
        } else {
            JsonFailure::Raised(self.unexpected(raised_in::ARRAY, at, stuck))
        }
    }

    fn pair(
        &mut self,
        at: usize,
        object: NodeId,
        nesting: usize,
    ) -> Result<(NodeId, NodeId, usize), JsonFailure> {
        if self.bytes.get(at) != Some(&b'"') {
            return Err(JsonFailure::Silent(at));
        }
        let (key, end) = self.string(at, Some(object))?;
        let colon = self.ignore(end).map_err(JsonFailure::Silent)?;
        if self.bytes.get(colon) != Some(&b':') {
            return Err(JsonFailure::Silent(colon));
        }
        let value = self.ignore(colon + 1).map_err(JsonFailure::Silent)?;
        let (value, end) = self.value(value, Some(object), nesting)?;
        Ok((key, value, end))
    }

    /// Parses the topmost object again, entry by entry. After a broken entry it continues at the
    /// next line that begins with a string and has the same indentation.
    fn salvage(&mut self) {
        self.tree = Tree::default();
        let start = match self.ignore(0) {
            Ok(start) if self.bytes.get(start) == Some(&b'{') => start,
            Ok(_) | Err(_) => return,
        };
        let root = self.tree.add(
            TextRange::new(start, self.text.trim_end().len()),
            NodeKind::Mapping(Box::default()),
            None,
        );
        let mut pairs = Vec::new();
        let mut next = self.ignore(start + 1).ok();
        while let Some(at) = next.filter(|&at| at < self.bytes.len()) {
            if self.bytes[at] == b'}' {
                break;
            }
            let nodes = self.tree.nodes.len();
            let read = self.pair(at, root, 1).ok().and_then(|(key, value, end)| {
                let behind = self.ignore(end).ok()?;
                match self.bytes.get(behind) {
                    Some(b',') => Some((key, value, self.ignore(behind + 1).ok()?)),
                    Some(b'}') => Some((key, value, behind)),
                    Some(_) | None => None,
                }
            });
            if let Some((key, value, behind)) = read {
                pairs.push((key, value));
                next = Some(behind);
                continue;
            }
            self.tree.nodes.truncate(nodes);
            self.budget = self.budget.saturating_sub(self.bytes.len() - at);
            next = self.next_line_like(at).filter(|_| self.budget > 0);
            let until = self.text[..next.unwrap_or(self.bytes.len())]
                .trim_end()
                .len();
            let key = self.broken_key(at);
            self.tree.broken.push(BrokenEntry {
                range: TextRange::new(at, until.max(at)),
                key,
            });
        }
        self.tree.nodes[root.index()].kind = NodeKind::Mapping(pairs.into());
    }

    /// The string at the start of a broken entry.
    fn broken_key(&mut self, at: usize) -> Option<Spanned> {
        if self.bytes[at] != b'"' {
            return None;
        }
        self.string(at, None).ok()?;
        let node = self.tree.nodes.pop()?;
        Some(Spanned {
            range: node.range,
            text: node.as_scalar()?.text.clone(),
        })
    }

    /// The first string of the next line that is indented like the line at `at`.
    fn next_line_like(&self, at: usize) -> Option<usize> {
        let line = self.text[..at].rfind('\n').map_or(0, |before| before + 1);
        let indent = &self.text[line..at];
        if !indent.trim().is_empty() {
            return None;
        }
        let mut next = at + line_length(&self.bytes[at..]);
        while let Some(more) = self.text[next..].find('\n') {
            next += more + 1;
            let rest = &self.text[next..];
            if let Some(text) = rest.strip_prefix(indent)
                && text.starts_with('"')
            {
                return Some(next + indent.len());
            }
        }
        None
    }
}
