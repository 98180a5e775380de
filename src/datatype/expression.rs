//! The part of Puppet's language that type expressions are written in: text to a tree.
//!
//! Puppet reads type expressions with its whole language parser; what is no type there is refused
//! afterwards. Here everything beyond references, literals and brackets is kept as "other".

use num_bigint::BigInt;

use super::ParseError;

/// Deepest nesting of brackets.
const MAX_DEPTH: usize = 60;

/// Longest expression in bytes.
const MAX_LENGTH: usize = 256 * 1024;

/// A part of an expression and its place in the text.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// `Foo::Bar`
    Reference(String),
    /// `Foo[…]`
    Access(Box<Expression>, Vec<Expression>),
    /// `foo::bar`
    Name(String),
    Text(String),
    Regexp(String),
    Integer(BigInt),
    Float(f64),
    Boolean(bool),
    Default,
    Undef,
    List(Vec<Expression>),
    Hash(Vec<(Expression, Expression)>),
    /// Legal Puppet, but nothing a type could be made of.
    Other,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Reference(String),
    Name(String),
    Text(String),
    /// A string with an interpolation.
    Interpolated,
    Variable,
    Regexp(String),
    Number(String),
    Sign(&'static str),
    End,
}

struct Lexed {
    token: Token,
    start: usize,
    end: usize,
}

/// Reads an expression.
pub(super) fn parse(text: &str) -> Result<Expression, ParseError> {
    let mut parser = Parser::new(text)?;
    parser.whole()
}

/// Reads `type Name = expression`, the form of a module's `types/*.pp`.
pub(super) fn parse_definition(text: &str) -> Result<(String, Expression), ParseError> {
    let mut parser = Parser::new(text)?;
    if parser.take() != Token::Name("type".to_owned()) {
        return Err(ParseError::new("not a type alias"));
    }
    let Token::Reference(name) = parser.take() else {
        return Err(ParseError::new("not a type alias"));
    };
    if parser.take() != Token::Sign("=") {
        return Err(ParseError::new("not a type alias"));
    }
    let expression = parser.expression(0)?;
    Ok((name, expression))
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Lexed>,
    position: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Parser<'a>, ParseError> {
        if text.len() > MAX_LENGTH {
            return Err(ParseError::new("type expression is too long"));
        }
        Ok(Parser {
            text,
            tokens: tokens(text)?,
            position: 0,
        })
    }

    fn lexed(&self) -> &Lexed {
        &self.tokens[self.position.min(self.tokens.len() - 1)]
    }

    fn peek(&self) -> &Token {
        &self.lexed().token
    }

    /// The token after the one ahead.
    fn after(&self) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.position + 1).min(last)].token
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.position += 1;
        token
    }

    fn take_sign(&mut self, sign: &'static str) -> bool {
        let taken = *self.peek() == Token::Sign(sign);
        self.position += usize::from(taken);
        taken
    }

    fn unexpected(&self) -> ParseError {
        let lexed = self.lexed();
        if lexed.token == Token::End {
            return ParseError::new("Syntax error at end of input");
        }
        let shown = match &lexed.token {
            Token::Text(text) => text.clone(),
            Token::Reference(_)
            | Token::Name(_)
            | Token::Interpolated
            | Token::Variable
            | Token::Regexp(_)
            | Token::Number(_)
            | Token::Sign(_)
            | Token::End => self.text[lexed.start..lexed.end].to_owned(),
        };
        ParseError::at(
            &format!("Syntax error at '{shown}'"),
            self.text,
            lexed.start,
        )
    }

    fn whole(&mut self) -> Result<Expression, ParseError> {
        let other = |start, end| Expression {
            kind: Kind::Other,
            start,
            end,
        };
        if *self.peek() == Token::End {
            return Ok(other(0, 0));
        }
        let first = self.expression(0)?;
        let start = first.start;
        let last = self
            .tokens
            .iter()
            .rev()
            .find(|t| t.token != Token::End)
            .map_or(first.end, |t| t.end);
        match self.peek() {
            Token::End => Ok(first),
            Token::Sign("]" | ")" | "}" | "|" | "=>" | "=" | ":") => Err(self.unexpected()),
            Token::Sign(",") => Err(ParseError::at(
                "illegal comma separated argument list",
                self.text,
                self.lexed().start,
            )),
            Token::Sign("?" | ";") => Err(ParseError::new("Syntax error at end of input")),
            Token::Sign("(") => Ok(other(start, last)),
            Token::Sign(".") if !matches!(self.after(), Token::Name(_) | Token::Reference(_)) => {
                self.position += 1;
                Err(self.unexpected())
            }
            Token::Reference(_)
            | Token::Name(_)
            | Token::Text(_)
            | Token::Interpolated
            | Token::Variable
            | Token::Regexp(_)
            | Token::Number(_)
            | Token::Sign("[") => match self.later_closing() {
                Some(error) => Err(error),
                None => Ok(other(start, last)),
            },
            Token::Sign(_) => match self.missing_operand() {
                Some(error) => Err(error),
                None => Ok(other(start, last)),
            },
        }
    }

    /// The error of an operator, which comes next, without anything behind it.
    fn missing_operand(&mut self) -> Option<ParseError> {
        match self.after() {
            Token::End => Some(ParseError::new("Syntax error at end of input")),
            Token::Sign("%" | "/" | "+" | "<" | ">" | "," | "]" | ")" | "}" | ":" | "=>" | "=") => {
                self.position += 1;
                Some(self.unexpected())
            }
            _ => None,
        }
    }

    /// The error of a bracket that closes nothing, in the expressions after the first one, as far as
    /// they can be read.
    fn later_closing(&mut self) -> Option<ParseError> {
        loop {
            match self.peek() {
                Token::End => return None,
                Token::Sign("]" | ")" | "}") => return Some(self.unexpected()),
                Token::Sign("+" | "-" | "*" | "/" | "%" | "<" | ">") => {
                    if let Some(error) = self.missing_operand() {
                        return Some(error);
                    }
                    self.position += 1;
                }
                Token::Sign("[") => {
                    if let Err(error) = self.expression(0) {
                        return Some(error);
                    }
                }
                _ => {
                    self.expression(0).ok()?;
                }
            }
        }
    }

    fn expression(&mut self, depth: usize) -> Result<Expression, ParseError> {
        if depth > MAX_DEPTH {
            return Err(ParseError::new("type expression is nested too deeply"));
        }
        let mut node = self.primary(depth)?;
        loop {
            // A bracket behind a blank begins a list (`TOKEN_LISTSTART` of Puppet's lexer).
            let accessible = self.lexed().start == node.end
                && matches!(
                    node.kind,
                    Kind::Reference(_) | Kind::Access(..) | Kind::Name(_)
                );
            if accessible && self.take_sign("[") {
                let keys = self.list("]", depth)?;
                if keys.is_empty() {
                    self.position -= 1;
                    return Err(self.unexpected());
                }
                let end = self.tokens[self.position - 1].end;
                node = Expression {
                    start: node.start,
                    end,
                    kind: Kind::Access(Box::new(node), keys),
                };
            } else if matches!(self.peek(), Token::Sign("+" | "-" | "*" | "/" | ".")) && depth > 0 {
                // Arithmetic: legal, and never a type.
                self.position += 1;
                let right = self.expression(depth + 1)?;
                node = Expression {
                    start: node.start,
                    end: right.end,
                    kind: Kind::Other,
                };
            } else {
                return Ok(node);
            }
        }
    }

    /// Elements up to a closing sign; a comma may stand before it.
    fn list(&mut self, close: &'static str, depth: usize) -> Result<Vec<Expression>, ParseError> {
        let mut elements = Vec::new();
        loop {
            if self.take_sign(close) {
                return Ok(elements);
            }
            elements.push(self.expression(depth + 1)?);
            if !self.take_sign(",") && *self.peek() != Token::Sign(close) {
                return Err(self.unexpected());
            }
        }
    }

    fn primary(&mut self, depth: usize) -> Result<Expression, ParseError> {
        if depth > MAX_DEPTH {
            return Err(ParseError::new("type expression is nested too deeply"));
        }
        let start = self.lexed().start;
        let mut end = self.lexed().end;
        let kind = match self.peek().clone() {
            Token::Reference(name) => {
                self.position += 1;
                Kind::Reference(name)
            }
            Token::Name(name) => {
                self.position += 1;
                match name.as_str() {
                    "true" => Kind::Boolean(true),
                    "false" => Kind::Boolean(false),
                    "default" => Kind::Default,
                    "undef" => Kind::Undef,
                    "if" | "unless" | "case" | "class" | "define" | "node" | "function"
                    | "type" | "and" | "or" | "in" | "else" | "elsif" | "inherits" => {
                        return Err(self.unexpected());
                    }
                    _ => Kind::Name(name),
                }
            }
            Token::Text(text) => {
                self.position += 1;
                Kind::Text(text)
            }
            Token::Regexp(source) => {
                self.position += 1;
                Kind::Regexp(source)
            }
            Token::Interpolated | Token::Variable => {
                self.position += 1;
                Kind::Other
            }
            Token::Number(digits) => {
                self.position += 1;
                number(&digits, self.text, start)?
            }
            Token::Sign("-") => {
                self.position += 1;
                let inner = self.primary(depth + 1)?;
                end = inner.end;
                match inner.kind {
                    Kind::Integer(number) => Kind::Integer(-number),
                    Kind::Float(number) => Kind::Float(-number),
                    _ => Kind::Other,
                }
            }
            Token::Sign("!") => {
                self.position += 1;
                end = self.primary(depth + 1)?.end;
                Kind::Other
            }
            Token::Sign("(") => {
                self.position += 1;
                let inner = self.expression(depth + 1)?;
                end = inner.end;
                if !self.take_sign(")") {
                    return Err(self.unexpected());
                }
                Kind::Other
            }
            Token::Sign("[") => {
                self.position += 1;
                let elements = self.list("]", depth)?;
                end = self.tokens[self.position - 1].end;
                Kind::List(elements)
            }
            Token::Sign("{") => {
                self.position += 1;
                let mut entries = Vec::new();
                while !self.take_sign("}") {
                    let key = self.expression(depth + 1)?;
                    if !self.take_sign("=>") {
                        return Err(self.unexpected());
                    }
                    entries.push((key, self.expression(depth + 1)?));
                    if !self.take_sign(",") && *self.peek() != Token::Sign("}") {
                        return Err(self.unexpected());
                    }
                }
                end = self.tokens[self.position - 1].end;
                Kind::Hash(entries)
            }
            Token::Sign("@") => {
                self.position += 1;
                return Err(self.unexpected());
            }
            Token::Sign(_) | Token::End => return Err(self.unexpected()),
        };
        Ok(Expression { kind, start, end })
    }
}

fn number(digits: &str, text: &str, start: usize) -> Result<Kind, ParseError> {
    let parsed = if let Some(hex) = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        let Some(number) = BigInt::parse_bytes(hex.as_bytes(), 16) else {
            return Err(ParseError::at(
                &format!("Not a valid hex number {digits}"),
                text,
                start,
            ));
        };
        Some(Kind::Integer(number))
    } else if digits.contains(['.', 'e', 'E']) {
        let Ok(float) = digits.parse() else {
            return Err(ParseError::at(
                &format!("Not a valid decimal number {digits}"),
                text,
                start,
            ));
        };
        // Puppet's lexer takes what is too large for a float, and its model does not.
        if f64::is_infinite(float) {
            let message = "Internal Error, NUMBER token does not contain a valid number";
            return Err(ParseError::new(&format!("{message}, {digits}")));
        }
        Some(Kind::Float(float))
    } else if digits.len() > 1 && digits.starts_with('0') {
        let Some(octal) = BigInt::parse_bytes(digits.as_bytes(), 8) else {
            return Err(ParseError::at(
                &format!("Not a valid octal number {digits}"),
                text,
                start,
            ));
        };
        Some(Kind::Integer(octal))
    } else {
        BigInt::parse_bytes(digits.as_bytes(), 10)
            .filter(|_| !digits.contains('_'))
            .map(Kind::Integer)
    };
    parsed.ok_or_else(|| ParseError::at(&format!("Illegal number '{digits}'"), text, start))
}

const SIGNS: &[&str] = &[
    "<<|", "|>>", "<<", ">>", "<|", "|>", "<-", "<~", "->", "~>", "=~", "!~", "+>", "+=", "-=",
    "@@", "=>", ">=", "<=", "==", "!=", "[", "]", "{", "}", "(", ")", ",", "=", "|", "?", "-", "+",
    "*", "/", ".", ";", "@", ":", "!", "<", ">", "%", "~", "&",
];

fn tokens(text: &str) -> Result<Vec<Lexed>, ParseError> {
    let bytes = text.as_bytes();
    let mut out: Vec<Lexed> = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        let c = bytes[i];
        let start = i;
        let token = match c {
            b' ' | b'\t' | b'\r' | b'\n' => {
                i += 1;
                continue;
            }
            b'#' => {
                while i < bytes.len() && bytes[i] != b'\n' {
                    i += 1;
                }
                continue;
            }
            b'/' if text[i..].starts_with("/*") => {
                i = text[i..].find("*/").map_or(bytes.len(), |end| i + end + 2);
                continue;
            }
            b'\'' => {
                i += 1;
                single_quoted(text, start, &mut i)?
            }
            b'"' => {
                i += 1;
                double_quoted(text, start, &mut i)?
            }
            b'/' if regexp_may_start(out.last().map(|l| &l.token)) => match regexp(text, &mut i) {
                Some(token) => token,
                None => {
                    i += 1;
                    Token::Sign("/")
                }
            },
            b'$' => {
                i += 1;
                i += word_length(&text[i..]);
                Token::Variable
            }
            b'0'..=b'9' => {
                while i < bytes.len()
                    && (bytes[i].is_ascii_alphanumeric()
                        || bytes[i] == b'_'
                        || bytes[i] == b'.'
                            && !text[start..i].contains('.')
                            && bytes.get(i + 1).is_some_and(u8::is_ascii_digit)
                        || bytes[i] == b'-' && matches!(bytes[i - 1], b'e' | b'E'))
                {
                    i += 1;
                }
                Token::Number(text[start..i].to_owned())
            }
            _ => match word(text, &mut i)? {
                Some(token) => token,
                None => {
                    let sign = SIGNS.iter().find(|sign| text[i..].starts_with(**sign));
                    let Some(sign) = sign else {
                        return Err(ParseError::at("Syntax error at ''", text, i));
                    };
                    i += sign.len();
                    Token::Sign(sign)
                }
            },
        };
        out.push(Lexed {
            token,
            start,
            end: i,
        });
    }
    out.push(Lexed {
        token: Token::End,
        start: bytes.len(),
        end: bytes.len(),
    });
    Ok(out)
}

fn word_length(text: &str) -> usize {
    text.bytes()
        .position(|b| !(b.is_ascii_alphanumeric() || b == b'_' || b == b':'))
        .unwrap_or(text.len())
}

/// `Foo::Bar` or `foo::bar`, with `-` allowed inside bare words.
fn word(text: &str, i: &mut usize) -> Result<Option<Token>, ParseError> {
    let start = *i;
    let mut rest = &text[start..];
    let mut offset = 0;
    if rest.starts_with("::") {
        offset = 2;
        rest = &rest[2..];
    }
    let Some(first) = rest.bytes().next() else {
        return Ok(None);
    };
    if first.is_ascii_uppercase() {
        loop {
            let length = rest
                .bytes()
                .position(|b| !(b.is_ascii_alphanumeric() || b == b'_'))
                .unwrap_or(rest.len());
            offset += length;
            rest = &rest[length..];
            if let Some(next) = rest.strip_prefix("::") {
                if !next.starts_with(|c: char| c.is_ascii_uppercase()) {
                    let place = start + offset + usize::from(next.is_empty()) * 2;
                    let place = if next.is_empty() {
                        place - 1
                    } else {
                        place + 1
                    };
                    return Err(ParseError::at("Illegal class reference", text, place));
                }
                offset += 2;
                rest = next;
            } else {
                break;
            }
        }
        *i = start + offset;
        let name = text[start..*i].trim_start_matches("::");
        return Ok(Some(Token::Reference(name.to_owned())));
    }
    if !(first.is_ascii_lowercase() || first == b'_') {
        return Ok(None);
    }
    let length = rest
        .bytes()
        .position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'-')))
        .unwrap_or(rest.len());
    let name = rest[..length].trim_end_matches(['-', ':']);
    *i = start + offset + name.len();
    Ok(Some(Token::Name(text[start..*i].to_owned())))
}

/// A slash begins a pattern where no operand stands before it.
fn regexp_may_start(previous: Option<&Token>) -> bool {
    matches!(
        previous,
        None | Some(Token::Sign(
            "=>" | "[" | "{" | "(" | "," | "=" | "|" | "?" | ";" | "}"
        ))
    )
}

fn regexp(text: &str, i: &mut usize) -> Option<Token> {
    let mut source = String::new();
    let mut chars = text[*i + 1..].char_indices();
    while let Some((offset, c)) = chars.next() {
        match c {
            '/' => {
                *i += offset + 2;
                return Some(Token::Regexp(source));
            }
            '\n' => return None,
            '\\' => match chars.next() {
                Some((_, '/')) => source.push('/'),
                Some((_, other)) => {
                    source.push('\\');
                    source.push(other);
                }
                None => return None,
            },
            other => source.push(other),
        }
    }
    None
}

fn unclosed(quote: &str, text: &str, start: usize) -> ParseError {
    let rest: String = text[start + 1..].chars().take(5).collect();
    let follow = if rest.is_empty() {
        "<eof>".to_owned()
    } else if text[start + 1..].chars().count() > 5 {
        format!("{rest}...")
    } else {
        rest
    };
    ParseError::at(
        &format!("Unclosed quote after {quote} followed by '{follow}'"),
        text,
        start + 1,
    )
}

fn single_quoted(text: &str, start: usize, i: &mut usize) -> Result<Token, ParseError> {
    let mut out = String::new();
    let mut chars = text[*i..].char_indices();
    while let Some((offset, c)) = chars.next() {
        match c {
            '\'' => {
                *i += offset + 1;
                return Ok(Token::Text(out));
            }
            '\\' => match chars.next() {
                Some((_, escaped @ ('\'' | '\\'))) => out.push(escaped),
                Some((_, other)) => {
                    out.push('\\');
                    out.push(other);
                }
                None => break,
            },
            other => out.push(other),
        }
    }
    Err(unclosed("\"'\"", text, start))
}

fn double_quoted(text: &str, start: usize, i: &mut usize) -> Result<Token, ParseError> {
    let mut out = String::new();
    let mut interpolated = false;
    let mut chars = text[*i..].char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        match c {
            '"' => {
                *i += offset + 1;
                return Ok(if interpolated {
                    Token::Interpolated
                } else {
                    Token::Text(out)
                });
            }
            '$' => match chars.peek() {
                Some((_, next)) if *next == '{' || next.is_ascii_lowercase() || *next == ':' => {
                    interpolated = true;
                }
                _ => out.push('$'),
            },
            '\\' => match chars.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 't')) => out.push('\t'),
                Some((_, 'r')) => out.push('\r'),
                Some((_, 's')) => out.push(' '),
                Some((_, 'u')) => {
                    let mut digits = String::new();
                    let braced = chars.next_if(|(_, c)| *c == '{').is_some();
                    let most = if braced { 6 } else { 4 };
                    while digits.len() < most
                        && let Some((_, digit)) = chars.next_if(|(_, c)| c.is_ascii_hexdigit())
                    {
                        digits.push(digit);
                    }
                    if braced {
                        chars.next_if(|(_, c)| *c == '}');
                    }
                    let code = u32::from_str_radix(&digits, 16).ok();
                    out.extend(code.and_then(char::from_u32));
                }
                Some((_, '\n')) => {}
                Some((_, escaped @ ('"' | '\'' | '\\' | '$'))) => out.push(escaped),
                Some((_, other)) => {
                    out.push('\\');
                    out.push(other);
                }
                None => break,
            },
            other => out.push(other),
        }
    }
    Err(unclosed("'\"'", text, start))
}
