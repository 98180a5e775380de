//! Splits text into tokens like Puppet's lexer (`pops/parser/lexer2.rb`), with its errors.
//!
//! Puppet's parser takes one token at a time, so a lexer error is only reported if no syntax error
//! precedes it: it becomes a token itself.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::heredoc::Margins;
use super::words::{
    bare_word, is_blank, is_name, number, pattern_end, reference, variable, word_length,
};
use super::{Dialect, PuppetProblem};
use crate::regexp::{Regexp, RegexpError};
use crate::text::TextRange;

/// The kind of a token, by the names of Puppet's grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Terminal {
    Name,
    Word,
    Reference,
    Text,
    Number,
    Boolean,
    Regexp,
    Variable,
    /// The text of a string before its first interpolation.
    Opening,
    /// The text between two interpolations.
    Middle,
    /// The text after the last one.
    Closing,
    Heredoc,
    Sublocated,
    /// A bracket after a blank, which starts a list.
    ListStart,
    /// A parenthesis at the start of a line, which is no call.
    LineParenthesis,
    /// A brace after a question mark.
    SelectorBrace,
    /// Any other operator or bracket.
    Sign(&'static str),
    Keyword(&'static str),
    TemplateStart,
    RenderText,
    /// `<%=`
    RenderStart,
    /// The end of a `<%=` tag.
    RenderEnd,
    /// A character that is not part of the language.
    Unknown,
    /// A text that is not valid, with the index of its problem.
    Refused(usize),
    End,
}

/// A token: its kind, its value in errors, and its range.
#[derive(Clone, Debug)]
pub(super) struct PuppetToken<'a> {
    pub(super) terminal: Terminal,
    pub(super) value: Cow<'a, str>,
    pub(super) place: TextRange,
}

impl PuppetToken<'_> {
    /// The value in error messages.
    pub(super) fn shown(&self) -> String {
        if self.terminal == Terminal::Regexp {
            return format!("(?-mix:{})", self.value.replace('/', "\\/"));
        }
        self.value.clone().into_owned()
    }

    /// The token of a temporary text.
    pub(super) fn into_owned<'b>(self) -> PuppetToken<'b> {
        PuppetToken {
            terminal: self.terminal,
            value: Cow::Owned(self.value.into_owned()),
            place: self.place,
        }
    }
}

const KEYWORDS: &[&str] = &[
    "case", "class", "default", "define", "if", "elsif", "else", "inherits", "node", "and", "or",
    "undef", "in", "unless", "function", "type", "attr", "private",
];

/// Operators and brackets, longer ones first.
const SIGNS: &[&str] = &[
    "<<|", "|>>", "<<", ">>", "<|", "|>", "<-", "<~", "->", "~>", "=~", "!~", "+>", "+=", "-=",
    "@@", "=>", ">=", "<=", "==", "!=", "[", "]", "{", "}", "(", ")", ",", "=", "|", "?", "-", "+",
    "*", "/", ".", ";", "@", ":", "!", "<", ">", "%", "~",
];

/// Ruby's message if Puppet needs the position of an error in a heredoc.
const NO_PLACE: &str = "undefined method `+' for nil:NilClass";

/// Words that are keywords only in plans.
const PLAN_KEYWORDS: &[&str] = &["plan", "apply"];

pub(super) struct Tokens<'a> {
    /// The last one is [`Terminal::End`].
    pub(super) tokens: Vec<PuppetToken<'a>>,
    /// Problems of refused texts; Puppet stops at the first one.
    pub(super) refused: Vec<PuppetProblem>,
    pub(super) comments: Vec<TextRange>,
}

/// The tokens of a text from `start` on. After a refused text (up to `most` of them) the lexer
/// continues, on the next line if the text is a quote.
pub(super) fn tokens(text: &str, start: usize, dialect: Dialect, most: usize) -> Tokens<'_> {
    let mut lexer = Lexer::new(text, start, None);
    lexer.has_plans = dialect == Dialect::Plan;
    let mut refused = Vec::new();
    let mut out = Vec::with_capacity((text.len() - start) / 8);
    if text.starts_with('\u{feff}') {
        let mark = "Illegal UTF-8 Byte Order mark at beginning of input: [EF BB BF]";
        let message = format!("{mark} - remove these from the puppet source");
        refused.push(PuppetProblem::new(&message));
        out.push(lexer.token(Terminal::Refused(0), "", 0, 0));
        lexer.at = lexer.at.max('\u{feff}'.len_utf8());
    }
    if dialect == Dialect::Template {
        if let Err(problem) = lexer.begin_template() {
            out.push(lexer.token(Terminal::Refused(refused.len()), "", 0, 0));
            refused.push(problem);
        }
    } else {
        lexer.skip_blanks();
    }
    while refused.len() < most && !(lexer.queue.is_empty() && lexer.at_end()) {
        let from = lexer.at;
        let next = match lexer.queue.pop_front() {
            Some(token) => Ok(Some(token)),
            None => lexer.next(),
        };
        match next {
            Ok(Some(token)) => {
                lexer.after = Some(token.terminal);
                out.push(token);
            }
            Ok(None) => {}
            Err(problem) => {
                lexer.resume(from);
                let terminal = Terminal::Refused(refused.len());
                out.push(lexer.token(terminal, "", from, lexer.at));
                refused.push(problem);
            }
        }
    }
    if refused.len() < most && lexer.is_in_tag() {
        let message = "Unbalanced epp tag, reached <eof> without closing tag.";
        let terminal = Terminal::Refused(refused.len());
        refused.push(lexer.error(message, text.len()));
        out.push(lexer.token(terminal, "", text.len(), text.len()));
    }
    out.push(lexer.token(Terminal::End, "", text.len(), text.len()));
    Tokens {
        tokens: out,
        refused,
        comments: lexer.comments,
    }
}

/// The state of Puppet's lexer. Its position may be inside a character: unknown characters are
/// skipped byte by byte.
#[derive(Default)]
pub(super) struct Lexer<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Tokens that were read ahead: the parts of a string.
    pub(super) queue: VecDeque<PuppetToken<'a>>,
    /// Number of open interpolations.
    pub(super) interpolations: usize,
    /// Number of open braces.
    pub(super) braces: i64,
    /// The previous token, which decides the meaning of a slash.
    pub(super) after: Option<Terminal>,
    line_start: usize,
    /// Whether no pattern ends in the rest of the text.
    patterns_over: bool,
    /// The start of the line after a heredoc's text.
    pub(super) newline_jump: Option<usize>,
    /// The last match of the scanner, which one error shows.
    pub(super) matched: &'a str,
    /// In the text of a heredoc: the map to the whole text.
    pub(super) margins: Option<&'a Margins>,
    /// In a template: the lexer's position relative to tags.
    pub(super) template: Option<TemplateTag>,
    has_plans: bool,
    comments: Vec<TextRange>,
}

/// The lexer's position in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemplateTag {
    /// Outside of tags.
    Text,
    /// In `<% … %>`.
    Code,
    /// In `<%= … %>`.
    Render,
}

pub(super) type Lexed<T> = Result<T, PuppetProblem>;

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str, at: usize, margins: Option<&'a Margins>) -> Lexer<'a> {
        Lexer {
            text,
            at,
            line_start: at,
            margins,
            ..Lexer::default()
        }
    }

    /// Continues after a refused text.
    fn resume(&mut self, from: usize) {
        self.queue.clear();
        self.interpolations = 0;
        let rest = self.text.get(from..).unwrap_or_default();
        let is_open =
            rest.starts_with(['\'', '"']) || rest.starts_with("@(") || rest.starts_with("/*");
        let mut at = self.at.max(from + 1);
        if is_open {
            at = from + rest.find('\n').unwrap_or(rest.len());
        }
        while !self.text.is_char_boundary(at) && at < self.text.len() {
            at += 1;
        }
        self.at = at.min(self.text.len());
    }

    pub(super) fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(super) fn error(&self, message: &str, at: usize) -> PuppetProblem {
        match self.margins {
            Some(_) => PuppetProblem::new(NO_PLACE),
            None => PuppetProblem::at(message, at),
        }
    }

    pub(super) fn token(
        &self,
        terminal: Terminal,
        value: impl Into<Cow<'a, str>>,
        start: usize,
        end: usize,
    ) -> PuppetToken<'a> {
        let (start, end) = match self.margins {
            Some(margins) => margins.in_whole(start, end),
            None => (start, end),
        };
        PuppetToken {
            terminal,
            value: value.into(),
            place: TextRange::new(start, end.max(start)),
        }
    }

    /// Consumes the scanner's match.
    pub(super) fn scan(&mut self, length: usize) -> &'a str {
        let text = self.text;
        let start = self.at;
        self.at += length;
        let taken = &text[start..self.at];
        self.matched = taken;
        taken
    }

    pub(super) fn skip_blanks(&mut self) -> bool {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches(|c| is_blank(c) || c == '\r').len();
        if length == 0 {
            self.matched = "";
        } else {
            self.scan(length);
        }
        length > 0
    }

    /// The next token; `None` at the end, or if it went to the queue.
    pub(super) fn next(&mut self) -> Lexed<Option<PuppetToken<'a>>> {
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.bytes().next() else {
            // Inside a character.
            self.at += 1;
            return Ok(Some(self.token(Terminal::Unknown, "", start, self.at)));
        };
        match first {
            b' ' | b'\t' | b'\r' => {
                self.skip_blanks();
                Ok(None)
            }
            b'\n' => {
                self.at = self.newline_jump.take().unwrap_or(start + 1);
                self.line_start = self.at;
                Ok(None)
            }
            b'#' => {
                self.comment(rest.find('\n').unwrap_or(rest.len()));
                Ok(None)
            }
            b'/' => self.slash(rest),
            b'0'..=b'9' => self.number(rest).map(Some),
            b'a'..=b'z' | b'_' => {
                let value = self.scan(bare_word(rest));
                Ok(Some(self.word(value, start)))
            }
            b'A'..=b'Z' => self.reference(rest, "Illegal class reference", 1).map(Some),
            b':' if rest.starts_with("::") => self.qualified(rest).map(Some),
            b'$' => {
                let length = variable(&rest[1..]);
                let name = if length == 0 {
                    self.matched = "";
                    self.at += 1;
                    ""
                } else {
                    &self.scan(length + 1)[1..]
                };
                Ok(Some(self.token(Terminal::Variable, name, start, self.at)))
            }
            b'\'' => self.single_quoted().map(Some),
            b'"' => self.double_quoted(),
            b'@' if rest.starts_with("@(") => {
                self.heredoc()?;
                Ok(None)
            }
            b'%' | b'-' if self.ends_tag() => {
                self.end_tag()?;
                Ok(None)
            }
            _ => Ok(self.sign(rest)),
        }
    }

    fn comment(&mut self, length: usize) {
        let start = self.at;
        self.scan(length);
        self.comments.push(TextRange::new(start, self.at));
    }

    fn sign(&mut self, rest: &'a str) -> Option<PuppetToken<'a>> {
        let start = self.at;
        let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) else {
            if self.skip_blanks() {
                return None;
            }
            self.at += 1;
            return Some(self.token(Terminal::Unknown, "", start, self.at));
        };
        let before = &self.text[..start];
        let terminal = match *sign {
            "[" if before
                .chars()
                .next_back()
                .is_none_or(|c| is_blank(c) || matches!(c, '\r' | '\n')) =>
            {
                Terminal::ListStart
            }
            "(" if before[self.line_start..]
                .chars()
                .all(|c| is_blank(c) || c == '\r') =>
            {
                Terminal::LineParenthesis
            }
            "{" => {
                self.braces += 1;
                if self.after == Some(Terminal::Sign("?")) {
                    Terminal::SelectorBrace
                } else {
                    Terminal::Sign("{")
                }
            }
            "}" => {
                self.braces -= 1;
                Terminal::Sign("}")
            }
            sign => Terminal::Sign(sign),
        };
        self.at += sign.len();
        Some(self.token(terminal, *sign, start, self.at))
    }

    /// A comment, a pattern or a division.
    fn slash(&mut self, rest: &'a str) -> Lexed<Option<PuppetToken<'a>>> {
        let start = self.at;
        if let Some(comment) = rest.strip_prefix("/*") {
            let Some(end) = comment.find("*/") else {
                return Err(self.error("Unclosed multiline comment", start));
            };
            self.comment(end + 4);
            return Ok(None);
        }
        if regexp_may_start(self.after) {
            let end = (!self.patterns_over).then(|| pattern_end(rest)).flatten();
            if let Some(end) = end {
                self.scan(end);
                let source = rest[1..end - 1].replace("\\/", "/");
                if let Err(RegexpError::Invalid { message }) = Regexp::lazy(&source) {
                    return Err(PuppetProblem::new(&message));
                }
                return Ok(Some(self.token(Terminal::Regexp, source, start, self.at)));
            }
            // If this pattern has no end, neither has a later one.
            self.patterns_over = true;
            self.matched = "";
        }
        self.at = start + 1;
        Ok(Some(self.token(Terminal::Sign("/"), "/", start, self.at)))
    }

    fn word(&self, value: &'a str, start: usize) -> PuppetToken<'a> {
        let terminal = if !is_name(value) {
            Terminal::Word
        } else if matches!(value, "true" | "false") {
            Terminal::Boolean
        } else {
            let plans = if self.has_plans { PLAN_KEYWORDS } else { &[] };
            let mut keywords = KEYWORDS.iter().chain(plans);
            let keyword = keywords.find(|keyword| **keyword == value);
            keyword.map_or(Terminal::Name, |keyword| Terminal::Keyword(keyword))
        };
        self.token(terminal, value, start, self.at)
    }

    /// A name with two colons before it.
    fn qualified(&mut self, rest: &str) -> Lexed<PuppetToken<'a>> {
        let start = self.at;
        match rest.as_bytes().get(2) {
            None => Err(PuppetProblem::new("undefined method `>=' for nil:NilClass")),
            Some(b'A'..=b'Z') => self.reference(rest, "Illegal fully qualified class reference", 3),
            Some(_) => match bare_word(rest) {
                0 => Err(self.error("Illegal fully qualified name", start + 2)),
                length => {
                    let value = self.scan(length);
                    Ok(self.word(value, start))
                }
            },
        }
    }

    /// A reference to a type; the position of its error is some bytes after its end.
    fn reference(&mut self, rest: &str, message: &str, behind: usize) -> Lexed<PuppetToken<'a>> {
        let start = self.at;
        let value = self.scan(reference(rest));
        if self.rest().starts_with("::") {
            let at = self.at + behind;
            if at > self.text.len() {
                return Err(PuppetProblem::new("index out of range"));
            }
            return Err(self.error(message, at));
        }
        Ok(self.token(Terminal::Reference, value, start, self.at))
    }

    fn number(&mut self, rest: &str) -> Lexed<PuppetToken<'a>> {
        let start = self.at;
        if let Some(length) = number(rest) {
            let value = self.scan(length);
            self.check_number(value, start)?;
            return Ok(self.token(Terminal::Number, value, start, self.at));
        }
        let end = start + word_length(rest);
        let bytes = self.text.as_bytes();
        let mut first = start;
        // After a dot it may be the second half of a decimal number.
        if start > 1 && bytes[start - 1] == b'.' {
            let before = &bytes[..start - 1];
            let digits = before.iter().rev().take_while(|b| b.is_ascii_digit());
            let (before, digits) = before.split_at(before.len() - digits.count());
            if !digits.is_empty() {
                first = before.len();
            }
            // Ruby matches half a character here.
            if before.last().is_some_and(|b| !b.is_ascii()) {
                return Err(PuppetProblem::new("invalid byte sequence in UTF-8"));
            }
        }
        let value = &self.text[first..end];
        self.check_number(value, first)?;
        Err(self.error(&format!("Illegal number '{value}'"), first + 1))
    }

    fn check_number(&self, value: &str, start: usize) -> Lexed<()> {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let mut second = value[1..].chars();
        let (kind, right) = if value.starts_with("0x") || value.starts_with("0X") {
            let hex = &value[2..];
            let right = !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit());
            ("Not a valid hex number ", right)
        } else if value.starts_with('0') && second.next().is_some_and(|c| c != '.') {
            let right = value[1..].bytes().all(|b| matches!(b, b'0'..=b'7'));
            ("Not a valid octal number ", right)
        } else {
            let whole = value.trim_start_matches(|c: char| c.is_ascii_digit());
            if whole.starts_with(['e', 'E', '.']) {
                let (mantissa, exponent) = match whole.split_once(['e', 'E']) {
                    Some((mantissa, exponent)) => (mantissa, Some(exponent)),
                    None => (whole, None),
                };
                let right = (mantissa.is_empty() || mantissa.strip_prefix('.').is_some_and(digits))
                    && exponent.is_none_or(|e| digits(e.strip_prefix('-').unwrap_or(e)));
                ("Not a valid decimal number ", right)
            } else if whole.is_empty() {
                return Ok(());
            } else {
                return Err(self.error(&format!("Illegal number '{value}'"), start));
            }
        };
        if right {
            return Ok(());
        }
        Err(self.error(&format!("{kind}{value}"), start))
    }
}

/// A slash begins a pattern unless an operand precedes it.
fn regexp_may_start(after: Option<Terminal>) -> bool {
    !matches!(
        after,
        Some(
            Terminal::Sign(")" | "]" | "|>>" | "|>")
                | Terminal::Name
                | Terminal::Reference
                | Terminal::Number
                | Terminal::Text
                | Terminal::Boolean
                | Terminal::Opening
                | Terminal::Middle
                | Terminal::Closing
                | Terminal::Heredoc
                | Terminal::Regexp
                | Terminal::Variable
                | Terminal::Word
        )
    )
}
