//! Finds the tokens in a string and determines their kinds.

use std::sync::Arc;

use super::key::{Key, strip};
use crate::text::TextRange;

/// The functions that a token may call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Method {
    /// `lookup('key')`
    Lookup,
    /// `hiera('key')`: the same as `lookup`.
    Hiera,
    /// `alias('key')`: the whole string becomes the other key's value.
    Alias,
    /// `scope('var')`: the same as naming the variable.
    Scope,
    /// `literal('text')`
    Literal,
}

impl Method {
    /// The method of that name; names are case-sensitive.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Method> {
        Some(match name {
            "lookup" => Method::Lookup,
            "hiera" => Method::Hiera,
            "alias" => Method::Alias,
            "scope" => Method::Scope,
            "literal" => Method::Literal,
            _ => return None,
        })
    }

    /// Whether the argument is a key that is looked up.
    #[must_use]
    pub fn looks_up(self) -> bool {
        match self {
            Method::Lookup | Method::Hiera | Method::Alias => true,
            Method::Scope | Method::Literal => false,
        }
    }
}

/// The kind of a token.
#[derive(Clone, PartialEq, Debug)]
pub enum TokenKind {
    /// `%{}`, `%{::}`, `%{''}` and the like: always the empty string.
    Empty,
    /// A variable with an optional dotted path.
    Variable {
        /// The path, split.
        key: Key,
    },
    /// A call of a known function with one quoted argument.
    Call {
        /// The called function.
        method: Method,
        /// The argument without its quotes.
        argument: Arc<str>,
        /// The range of the argument in the string, without its quotes.
        argument_range: TextRange,
    },
    /// A call of a function that Puppet does not know: an error in every lookup of the string.
    UnknownMethod {
        /// The function's name.
        name: Arc<str>,
    },
    /// Text that Puppet refuses with `Syntax error in string`.
    Malformed,
    /// `%{` without a following `}`: stays in the string unchanged.
    Unclosed,
}

/// One token of a string. Ranges are bytes of that string.
#[derive(Clone, PartialEq, Debug)]
pub struct Token {
    /// The token with its `%{` and `}`.
    pub range: TextRange,
    /// The text between the braces, trimmed.
    pub inner: TextRange,
    /// The range of the function's name, if a function is called.
    pub function: Option<TextRange>,
    /// The kind of token.
    pub kind: TokenKind,
}

impl Token {
    /// The range of the variable that the token names, directly or as `scope('variable')`.
    #[must_use]
    pub fn variable(&self) -> Option<TextRange> {
        if let TokenKind::Call {
            method: Method::Scope,
            argument_range,
            ..
        } = &self.kind
        {
            return Some(*argument_range);
        }
        matches!(self.kind, TokenKind::Variable { .. }).then_some(self.inner)
    }
}

/// Whether Puppet would interpolate the string at all.
#[must_use]
pub fn has_tokens(text: &str) -> bool {
    next_token(text).is_some()
}

/// The position of the first `%{`.
fn next_token(text: &str) -> Option<usize> {
    let mut signs = memchr::memchr_iter(b'%', text.as_bytes());
    signs.find(|at| text[at + 1..].starts_with('{'))
}

/// All tokens of a string in order. The first `}` ends a token, whatever precedes it.
#[must_use]
pub fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = next_token(&text[at..]).map(|offset| at + offset) {
        let Some(close) = text[open..].find('}').map(|offset| open + offset) else {
            found.push(Token {
                range: TextRange::new(open, text.len()),
                inner: TextRange::new(open + 2, text.len()),
                function: None,
                kind: TokenKind::Unclosed,
            });
            break;
        };
        let raw = &text[open + 2..close];
        let expression = strip(raw);
        let start = open + 2 + (expression.as_ptr() as usize - raw.as_ptr() as usize);
        let (kind, function) = kind_and_function(expression, start);
        found.push(Token {
            range: TextRange::new(open, close + 1),
            inner: TextRange::new(start, start + expression.len()),
            function,
            kind,
        });
        at = close + 1;
    }
    found
}

/// The kind of the trimmed text between a token's braces; `offset` is its position.
#[must_use]
pub fn parse_token(expression: &str, offset: usize) -> TokenKind {
    kind_and_function(expression, offset).0
}

/// The same, with the range of the called function's name.
fn kind_and_function(expression: &str, offset: usize) -> (TokenKind, Option<TextRange>) {
    if matches!(expression, "" | "::" | "\"\"" | "''" | "\"::\"" | "'::'") {
        return (TokenKind::Empty, None);
    }
    if let Some((name, argument)) = call(expression) {
        let place = |part: &str| {
            let start = offset + (part.as_ptr() as usize - expression.as_ptr() as usize);
            TextRange::new(start, start + part.len())
        };
        let kind = match Method::from_name(name) {
            Some(method) => TokenKind::Call {
                method,
                argument: Arc::from(argument),
                argument_range: place(argument),
            },
            None => TokenKind::UnknownMethod {
                name: Arc::from(name),
            },
        };
        return (kind, Some(place(name)));
    }
    match Key::parse(expression) {
        Ok(key) => (TokenKind::Variable { key }, None),
        Err(_) => (TokenKind::Malformed, None),
    }
}

/// `^(\w+)\((?:"([^"]+)"|'([^']+)')\)$`, whose anchors match at every line of the text.
fn call(expression: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    loop {
        if let Some(found) = call_at(&expression[at..]) {
            return Some(found);
        }
        at += expression[at..].find('\n')? + 1;
    }
}

fn call_at(text: &str) -> Option<(&str, &str)> {
    let word = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    if word == 0 {
        return None;
    }
    let rest = text[word..].strip_prefix('(')?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let argument = &rest[1..];
    let close = argument.find(quote).filter(|&close| close > 0)?;
    let tail = argument[close + 1..].strip_prefix(')')?;
    (tail.is_empty() || tail.starts_with('\n')).then_some((&text[..word], &argument[..close]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<String> {
        tokens(text)
            .iter()
            .map(|token| match &token.kind {
                TokenKind::Empty => "empty".into(),
                TokenKind::Variable { key } => format!("variable {} {:?}", key.root, key.segments),
                TokenKind::Call {
                    method,
                    argument,
                    argument_range,
                } => {
                    assert_eq!(argument_range.slice(text), &**argument);
                    format!("{method:?} {argument}")
                }
                TokenKind::UnknownMethod { name } => format!("unknown {name}"),
                TokenKind::Malformed => "malformed".into(),
                TokenKind::Unclosed => "unclosed".into(),
            })
            .collect()
    }

    #[test]
    fn every_kind_of_token_is_recognized() {
        let cases = [
            ("%{}", "empty"),
            ("%{ :: }", "empty"),
            ("%{'::'}", "empty"),
            ("%{role}", "variable role []"),
            ("%{::facts.role}", "variable ::facts [Name(\"role\")]"),
            ("%{lookup('k')}", "Lookup k"),
            ("%{ hiera(\"k.x\") }", "Hiera k.x"),
            ("%{alias('a')}", "Alias a"),
            ("%{scope('x')}", "Scope x"),
            ("%{literal('%')}", "Literal %"),
            ("%{Lookup('k')}", "unknown Lookup"),
            ("%{lookup( 'k' )}", "malformed"),
            ("%{lookup('')}", "malformed"),
            ("%{lookup('k').x}", "malformed"),
            ("%{lookup ('k')}", "malformed"),
            ("%{lookup('k','x')}", "malformed"),
            ("%{lookup(k)}", "variable lookup(k) []"),
            ("%{facts..role}", "malformed"),
            ("%{facts['os']}", "malformed"),
            ("%{facts.x", "unclosed"),
            ("%{lookup('k}')}", "malformed"),
            ("%{x\nlookup('k')\ny}", "Lookup k"),
        ];
        for (text, expected) in cases {
            assert_eq!(kinds(text), [expected], "{text:?}");
        }
    }

    #[test]
    fn ranges_hold_the_braces_and_inner_ranges_do_not() {
        let text = "é%{ role }%{x";
        let found = tokens(text);
        assert_eq!(found[0].range.slice(text), "%{ role }");
        assert_eq!(found[0].inner.slice(text), "role");
        assert_eq!(found[1].range.slice(text), "%{x");
    }

    #[test]
    fn a_function_has_its_place() {
        let text = "é%{ lookup('lookup') }%{nope(\"x\")}%{x\nscope('y')}%{z}";
        let functions = tokens(text).into_iter();
        let functions: Vec<_> = functions
            .map(|token| token.function.map(|function| function.slice(text)))
            .collect();
        assert_eq!(
            functions,
            [Some("lookup"), Some("nope"), Some("scope"), None]
        );
        assert_eq!(tokens(text)[0].function, Some(TextRange::new(5, 11)));
    }

    #[test]
    fn the_first_brace_ends_a_token() {
        assert_eq!(kinds("%{literal(\"%{x}\")}"), ["malformed"]);
        assert_eq!(kinds("%%{role}}"), ["variable role []"]);
    }
}
