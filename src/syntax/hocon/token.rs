//! Splits HOCON text into tokens, like the `hocon` gem's tokenizer (hocon/impl/tokenizer.rb).

use num_bigint::BigInt;

use super::ruby::{inspect, ruby_float, ruby_hex, ruby_integer};
use crate::text::TextRange;

/// Maximum nesting of `${ ${ … } }`; the parser refuses all nesting anyway.
const MAX_SUBSTITUTION_DEPTH: usize = 16;

const NUMBER_START: &str = "0123456789-";
const NUMBER_CHARACTERS: &str = "0123456789eE+-.";
/// Characters that are not allowed in text without quotes.
const RESERVED: &str = "$\"{}[]:=,+#`^?!@*&\\";

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HoconToken {
    pub(crate) kind: HoconTokenKind,
    pub(crate) range: TextRange,
    /// The line, from 1. The gem has none for punctuation.
    pub(crate) line: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HoconTokenKind {
    EndOfFile,
    Comma,
    Equals,
    Colon,
    OpenCurly,
    CloseCurly,
    OpenSquare,
    CloseSquare,
    PlusEquals,
    Newline,
    /// White space between two values: part of a string if they are joined.
    Unquoted(String),
    Whitespace(String),
    Comment(String),
    Null,
    Bool(bool),
    Number(HoconNumber),
    Quoted(String),
    Substitution {
        optional: bool,
        tokens: Vec<HoconToken>,
    },
    /// Text that the tokenizer refuses; the last token.
    Problem {
        what: String,
        message: String,
    },
    /// The gem itself crashes: the message of Ruby's exception.
    Crash(String),
}

/// A number and its source text. The gem makes every whole number an integer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HoconNumber {
    pub(crate) value: NumberValue,
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NumberValue {
    Integer(BigInt),
    Float(f64),
}

impl HoconToken {
    /// The sign of punctuation, as the gem's messages show it.
    fn sign(&self) -> Option<&'static str> {
        Some(match self.kind {
            HoconTokenKind::Comma => "','",
            HoconTokenKind::Equals => "'='",
            HoconTokenKind::Colon => "':'",
            HoconTokenKind::OpenCurly => "'{'",
            HoconTokenKind::CloseCurly => "'}'",
            HoconTokenKind::OpenSquare => "'['",
            HoconTokenKind::CloseSquare => "']'",
            HoconTokenKind::PlusEquals => "'+='",
            _ => return None,
        })
    }

    /// Whether the gem knows the token's line.
    pub(crate) fn has_line(&self) -> bool {
        self.kind != HoconTokenKind::EndOfFile && self.sign().is_none()
    }

    /// Whether the token is a value by itself (in the gem, text without quotes is not).
    pub(crate) fn is_value(&self) -> bool {
        matches!(
            self.kind,
            HoconTokenKind::Null
                | HoconTokenKind::Bool(_)
                | HoconTokenKind::Number(_)
                | HoconTokenKind::Quoted(_)
        )
    }

    /// Whether the token joins with its neighbours into one string.
    pub(crate) fn is_simple(&self) -> bool {
        self.is_value()
            || matches!(
                self.kind,
                HoconTokenKind::Unquoted(_) | HoconTokenKind::Substitution { .. }
            )
    }

    /// Whether the token is white space between two simple values.
    pub(crate) fn is_unquoted_whitespace(&self) -> bool {
        matches!(
            &self.kind,
            HoconTokenKind::Unquoted(text) if text.chars().all(char::is_whitespace)
        )
    }

    /// The text that the token adds to a string or a key; `None` for what is no plain value.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            HoconTokenKind::Unquoted(text) | HoconTokenKind::Quoted(text) => Some(text),
            HoconTokenKind::Null => Some("null"),
            HoconTokenKind::Bool(true) => Some("true"),
            HoconTokenKind::Bool(false) => Some("false"),
            HoconTokenKind::Number(number) => Some(&number.text),
            _ => None,
        }
    }
}

impl std::fmt::Display for HoconToken {
    /// The token's form in the gem's messages.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            HoconTokenKind::EndOfFile => formatter.write_str("end of file"),
            HoconTokenKind::Newline => formatter.write_str("NEWLINE"),
            HoconTokenKind::Unquoted(text) => write!(formatter, "'{text}'"),
            HoconTokenKind::Whitespace(text) => write!(formatter, "'{text}' (WHITESPACE)"),
            HoconTokenKind::Comment(text) => write!(formatter, "'#{text}' (COMMENT)"),
            HoconTokenKind::Null => formatter.write_str("'' (NULL)"),
            HoconTokenKind::Bool(truth) => write!(formatter, "'{truth}' (BOOLEAN)"),
            HoconTokenKind::Number(number) => match &number.value {
                NumberValue::Integer(integer) => write!(formatter, "'{integer}' (NUMBER)"),
                NumberValue::Float(_) => write!(formatter, "'{}' (NUMBER)", number.text),
            },
            HoconTokenKind::Quoted(text) => write!(formatter, "'{text}' (STRING)"),
            // The gem prints the object that should have held the text.
            HoconTokenKind::Substitution { .. } => {
                formatter.write_str("'${#<StringIO:0x0000000000000000>}'")
            }
            HoconTokenKind::Problem { what, message } => write!(formatter, "'{what}' ({message})"),
            HoconTokenKind::Crash(message) => formatter.write_str(message),
            HoconTokenKind::Comma
            | HoconTokenKind::Equals
            | HoconTokenKind::Colon
            | HoconTokenKind::OpenCurly
            | HoconTokenKind::CloseCurly
            | HoconTokenKind::OpenSquare
            | HoconTokenKind::CloseSquare
            | HoconTokenKind::PlusEquals => formatter.write_str(self.sign().unwrap_or_default()),
        }
    }
}

/// Splits a text into tokens. The last one is the end of the file, a problem or a crash.
pub(crate) fn tokenize(text: &str) -> Vec<HoconToken> {
    let mut tokenizer = Tokenizer {
        text,
        at: 0,
        line: 1,
    };
    let mut tokens = Vec::new();
    let mut saver = WhitespaceSaver::default();
    loop {
        let next = tokenizer.next_token(&mut saver, 0);
        let token = match next {
            Ok(token) => token,
            Err(stop) => {
                tokens.push(*stop);
                return tokens;
            }
        };
        tokens.extend(saver.check(&token, tokenizer.line));
        let is_last = token.kind == HoconTokenKind::EndOfFile;
        tokens.push(token);
        if is_last {
            return tokens;
        }
    }
}

/// White space is only part of a string between two simple values.
#[derive(Default)]
struct WhitespaceSaver {
    text: String,
    start: usize,
    after_simple: bool,
}

impl WhitespaceSaver {
    fn check(&mut self, token: &HoconToken, line: usize) -> Option<HoconToken> {
        let is_simple = token.is_simple();
        let joins = is_simple && self.after_simple;
        self.after_simple = is_simple;
        if self.text.is_empty() {
            return None;
        }
        let text = std::mem::take(&mut self.text);
        let range = TextRange::new(self.start, self.start + text.len());
        let kind = if joins {
            HoconTokenKind::Unquoted(text)
        } else {
            HoconTokenKind::Whitespace(text)
        };
        Some(HoconToken { kind, range, line })
    }
}

struct Tokenizer<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

/// A token that ends the tokenizing: a problem or a crash.
type TokenizerStop = Box<HoconToken>;

impl Tokenizer<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.at += character.len_utf8();
        Some(character)
    }

    fn starts_comment(&self) -> bool {
        let rest = &self.text[self.at..];
        rest.starts_with('#') || rest.starts_with("//")
    }

    fn token(&self, start: usize, line: usize, kind: HoconTokenKind) -> HoconToken {
        let range = TextRange::new(start, self.at);
        HoconToken { kind, range, line }
    }

    fn problem(&self, start: usize, what: Option<char>, message: String) -> TokenizerStop {
        self.problem_about(start, shown(what), message)
    }

    fn problem_about(&self, start: usize, what: String, message: String) -> TokenizerStop {
        Box::new(self.token(start, self.line, HoconTokenKind::Problem { what, message }))
    }

    fn crash(&self, start: usize, message: impl Into<String>) -> TokenizerStop {
        Box::new(self.token(start, self.line, HoconTokenKind::Crash(message.into())))
    }

    fn next_token(
        &mut self,
        saver: &mut WhitespaceSaver,
        depth: usize,
    ) -> Result<HoconToken, TokenizerStop> {
        while let Some(blank) = self.peek().filter(|c| *c != '\n' && c.is_whitespace()) {
            if saver.text.is_empty() {
                saver.start = self.at;
            }
            saver.text.push(blank);
            self.at += blank.len_utf8();
        }
        let (start, line) = (self.at, self.line);
        if self.starts_comment() {
            return Ok(self.comment());
        }
        let Some(first) = self.next() else {
            return Ok(self.token(start, line, HoconTokenKind::EndOfFile));
        };
        let kind = match first {
            '\n' => {
                self.line += 1;
                HoconTokenKind::Newline
            }
            ':' => HoconTokenKind::Colon,
            ',' => HoconTokenKind::Comma,
            '=' => HoconTokenKind::Equals,
            '{' => HoconTokenKind::OpenCurly,
            '}' => HoconTokenKind::CloseCurly,
            '[' => HoconTokenKind::OpenSquare,
            ']' => HoconTokenKind::CloseSquare,
            '"' => HoconTokenKind::Quoted(self.quoted(start)?),
            '$' => self.substitution(start, depth)?,
            '+' => match self.next() {
                Some('=') => HoconTokenKind::PlusEquals,
                other => {
                    let shown = shown(other);
                    let message = format!("'+' not followed by =, '{shown}' not allowed after '+'");
                    return Err(self.problem(start, other, message));
                }
            },
            _ if NUMBER_START.contains(first) => self.number(start)?,
            _ if RESERVED.contains(first) => {
                let message = format!("Reserved character '{first}' is not allowed outside quotes");
                return Err(self.problem(start, Some(first), message));
            }
            _ => {
                self.at = start;
                self.unquoted()
            }
        };
        // A token of several lines belongs to its last line.
        let line = if first == '\n' { line } else { self.line };
        Ok(self.token(start, line, kind))
    }

    fn comment(&mut self) -> HoconToken {
        let start = self.at;
        let rest = &self.text[start..];
        let marker = if rest.starts_with('#') { 1 } else { 2 };
        let length = rest.find('\n').unwrap_or(rest.len());
        self.at += length;
        let text = rest[marker..length].to_owned();
        self.token(start, self.line, HoconTokenKind::Comment(text))
    }

    fn unquoted(&mut self) -> HoconTokenKind {
        let start = self.at;
        while let Some(character) = self.peek() {
            if RESERVED.contains(character) || character.is_whitespace() || self.starts_comment() {
                break;
            }
            self.at += character.len_utf8();
            // `true`, `false` and `null` are recognised whatever follows: `nullable` is null and
            // `able`.
            match &self.text[start..self.at] {
                "true" => return HoconTokenKind::Bool(true),
                "null" => return HoconTokenKind::Null,
                "false" => return HoconTokenKind::Bool(false),
                _ => {}
            }
        }
        HoconTokenKind::Unquoted(self.text[start..self.at].to_owned())
    }

    fn number(&mut self, start: usize) -> Result<HoconTokenKind, TokenizerStop> {
        while self.peek().is_some_and(|c| NUMBER_CHARACTERS.contains(c)) {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        let value = if text.contains(['.', 'e', 'E']) {
            ruby_float(text).map(|float| {
                if float.is_finite() && float.fract() == 0.0 {
                    // Exact for every float: Rust writes all its digits.
                    format!("{float:.0}")
                        .parse()
                        .map_or(NumberValue::Float(float), NumberValue::Integer)
                } else {
                    NumberValue::Float(float)
                }
            })
        } else {
            ruby_integer(text).map(NumberValue::Integer)
        };
        match value {
            Some(NumberValue::Float(float)) if float.is_infinite() => {
                let name = if float > 0.0 { "Infinity" } else { "-Infinity" };
                Err(self.crash(start, name))
            }
            Some(value) => Ok(HoconTokenKind::Number(HoconNumber {
                value,
                text: text.to_owned(),
            })),
            None => match text.chars().find(|c| RESERVED.contains(*c)) {
                Some(bad) => {
                    let message =
                        format!("Reserved character '{bad}'is not allowed outside quotes");
                    Err(self.problem(start, Some(bad), message))
                }
                None => Ok(HoconTokenKind::Unquoted(text.to_owned())),
            },
        }
    }

    /// The content of a quoted string after its opening quote.
    fn quoted(&mut self, start: usize) -> Result<String, TokenizerStop> {
        let mut text = String::new();
        loop {
            match self.next() {
                None => {
                    let message = "End of input but string quote was still open";
                    return Err(self.problem(start, None, message.to_owned()));
                }
                Some('\\') => text.push(self.escape(start)?),
                Some('"') => break,
                Some(control) if control.is_control() => {
                    let message = format!(
                        "JSON does not allow unescaped {control} in quoted strings, \
                         use a backslash escape"
                    );
                    return Err(self.problem(start, Some(control), message));
                }
                Some(character) => text.push(character),
            }
        }
        if text.is_empty() && self.peek() == Some('"') {
            self.at += 1;
            return self.triple_quoted(start);
        }
        Ok(text)
    }

    /// The content of a `"""` string: the last three of the closing quotes are not text.
    fn triple_quoted(&mut self, start: usize) -> Result<String, TokenizerStop> {
        let inside = self.at;
        let mut quotes = 0;
        loop {
            match self.peek() {
                Some('"') => quotes += 1,
                _ if quotes >= 3 => return Ok(self.text[inside..self.at - 3].to_owned()),
                None => {
                    let message = "End of input but triple-quoted string was still open";
                    return Err(self.problem(start, None, message.to_owned()));
                }
                Some(other) => {
                    quotes = 0;
                    self.line += usize::from(other == '\n');
                }
            }
            self.next();
        }
    }

    fn escape(&mut self, start: usize) -> Result<char, TokenizerStop> {
        let Some(escaped) = self.next() else {
            let message = "End of input but backslash in string had nothing after it";
            return Err(self.problem_about(start, String::new(), message.to_owned()));
        };
        Ok(match escaped {
            '"' | '\\' | '/' => escaped,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode_escape(start),
            // The gem uses the character's name as the position of the problem and crashes.
            '\n' => {
                return Err(self.crash(
                    start,
                    "undefined method `line_number' for \"newline\":String",
                ));
            }
            '\t' => {
                return Err(self.crash(start, "undefined method `line_number' for \"tab\":String"));
            }
            _ => {
                let shown = inspect(escaped);
                let message = if escaped.is_control() {
                    format!("invalid value for Integer(): {shown}")
                } else {
                    format!("undefined method `line_number' for {shown}:String")
                };
                return Err(self.crash(start, message));
            }
        })
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, TokenizerStop> {
        let mut digits = String::new();
        for _ in 0..4 {
            let Some(digit) = self.next() else {
                let message = "End of input but expecting 4 hex digits for \\uXXXX escape";
                return Err(self.problem(start, None, message.to_owned()));
            };
            digits.push(digit);
        }
        let code = ruby_hex(&digits);
        if code < 0 {
            return Err(self.crash(start, "pack(U): value out of range"));
        }
        if code == i64::from(u32::from('_')) {
            let message = format!("Malformed hex digits after \\u escape in string: '{digits}'");
            return Err(self.problem_about(start, digits, message));
        }
        // Half a surrogate pair, which Ruby would write as invalid bytes, is replaced.
        let character = u32::try_from(code).ok().and_then(char::from_u32);
        Ok(character.unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn substitution(
        &mut self,
        start: usize,
        depth: usize,
    ) -> Result<HoconTokenKind, TokenizerStop> {
        match self.next() {
            Some('{') => {}
            other => {
                let shown = shown(other);
                let message = format!("'$' not followed by {{, '{shown}' not allowed after '$'");
                return Err(self.problem(start, other, message));
            }
        }
        if depth >= MAX_SUBSTITUTION_DEPTH {
            return Err(self.crash(start, "stack level too deep"));
        }
        let optional = self.peek() == Some('?');
        self.at += usize::from(optional);
        let mut saver = WhitespaceSaver::default();
        let mut tokens = Vec::new();
        loop {
            let token = self.next_token(&mut saver, depth + 1)?;
            match token.kind {
                HoconTokenKind::CloseCurly => {
                    return Ok(HoconTokenKind::Substitution { optional, tokens });
                }
                HoconTokenKind::EndOfFile => {
                    let message = "Substitution ${ was not closed with a }".to_owned();
                    return Err(self.problem_about(start, token.to_string(), message));
                }
                _ => {
                    tokens.extend(saver.check(&token, self.line));
                    tokens.push(token);
                }
            }
        }
    }
}

/// A character as the gem's tokenizer shows it, which uses the number -1 for the end of the text.
fn shown(character: Option<char>) -> String {
    character.map_or_else(|| "-1".to_owned(), String::from)
}
