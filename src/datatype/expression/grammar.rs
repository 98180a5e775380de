//! Expressions and statements (`pops/parser/egrammar.ra`).
//!
//! Puppet's parser is an LALR parser: it reports the first token that no program could continue
//! with. Recursive descent finds the same token, as long as a token is consumed only where the
//! grammar allows it. Some errors come from Puppet's actions when a construct is complete; those
//! are raised before the next token is checked.

use super::super::ParseError;
use super::lexer::{Terminal, Token, tokens};
use super::{Expression, Kind, MAX_DEPTH, Span, TOO_DEEP, number};

pub(super) type Parsed<T> = Result<T, ParseError>;

/// Names that call a function without parentheses (`STATEMENT_CALLS` of `pops/model/factory.rb`).
const STATEMENT_CALLS: &[&str] = &[
    "require", "realize", "include", "contain", "tag", "debug", "info", "notice", "warning", "err",
    "fail", "import", "break", "next", "return",
];

/// The precedence of prefix and postfix operators; the others are in [`binary`].
mod strength {
    pub(super) const SELECTOR: u8 = 3;
    pub(super) const MINUS: u8 = 11;
    pub(super) const SPLAT: u8 = 12;
    pub(super) const NOT: u8 = 13;
    pub(super) const COLLECT: u8 = 14;
    pub(super) const ACCESS: u8 = 15;
    pub(super) const DOT: u8 = 16;
    pub(super) const CALL: u8 = 17;
}

/// The precedence of a binary operator.
fn binary(terminal: Terminal) -> Option<u8> {
    Some(match terminal {
        Terminal::Keyword("or") => 1,
        Terminal::Keyword("and") => 2,
        Terminal::Sign(">" | ">=" | "<" | "<=") => 4,
        Terminal::Sign("==" | "!=") => 5,
        Terminal::Sign("<<" | ">>") => 6,
        Terminal::Sign("+" | "-") => 7,
        Terminal::Sign("*" | "/" | "%") => 8,
        Terminal::Sign("=~" | "!~") => 9,
        Terminal::Keyword("in") => 10,
        _ => return None,
    })
}

/// The kind of an expression, as far as the grammar around it needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Expression,
    /// A resource, an assignment or a relationship.
    Statement,
    /// `type` or `function`, alone.
    Keyword,
    /// `a => b`
    Pair,
}

pub(super) struct Parser {
    text: String,
    tokens: Vec<Token>,
    /// The error of the lexer behind the last token.
    failure: Option<ParseError>,
    pub(super) position: usize,
    depth: usize,
}

impl Parser {
    pub(super) fn new(text: &str) -> Parser {
        let (mut tokens, failure) = tokens(text);
        if failure.is_some() {
            // The token after the lexer's error.
            tokens.push(Token {
                terminal: Terminal::Unknown,
                value: String::new(),
                start: text.len(),
                end: text.len(),
            });
        }
        Parser {
            text: text.to_owned(),
            tokens,
            failure,
            position: 0,
            depth: 0,
        }
    }

    // ----- tokens

    pub(super) fn token(&self) -> &Token {
        &self.tokens[self.position.min(self.tokens.len() - 1)]
    }

    pub(super) fn peek(&self) -> Terminal {
        self.token().terminal
    }

    /// The token after the one ahead.
    pub(super) fn after(&self) -> Terminal {
        let last = self.tokens.len() - 1;
        self.tokens[(self.position + 1).min(last)].terminal
    }

    pub(super) fn place(&self) -> Span {
        let token = self.token();
        Span {
            start: token.start,
            end: token.end,
        }
    }

    /// Takes the token, whatever it is: its value and place.
    pub(super) fn take(&mut self) -> (String, Span) {
        let taken = (self.token().value.clone(), self.place());
        self.position += 1;
        taken
    }

    pub(super) fn at(&self, terminal: Terminal) -> bool {
        self.peek() == terminal
    }

    pub(super) fn at_sign(&self, sign: &'static str) -> bool {
        self.at(Terminal::Sign(sign))
    }

    pub(super) fn take_sign(&mut self, sign: &'static str) -> bool {
        let taken = self.at_sign(sign);
        self.position += usize::from(taken);
        taken
    }

    pub(super) fn expect(&mut self, sign: &'static str) -> Parsed<Span> {
        if !self.at_sign(sign) {
            return Err(self.unexpected());
        }
        Ok(self.take().1)
    }

    /// The lexer's error, if there is no next token.
    pub(super) fn asked(&self) -> Parsed<()> {
        match &self.failure {
            Some(failure) if self.position + 1 >= self.tokens.len() => Err(failure.clone()),
            _ => Ok(()),
        }
    }

    /// The error for a token that is not allowed here.
    pub(super) fn unexpected(&self) -> ParseError {
        if let Err(failure) = self.asked() {
            return failure;
        }
        let token = self.token();
        if token.terminal == Terminal::End {
            return ParseError::new("Syntax error at end of input").of_syntax();
        }
        self.error(&format!("Syntax error at '{}'", token.shown()), token.start)
            .of_syntax()
    }

    pub(super) fn error(&self, message: &str, at: usize) -> ParseError {
        ParseError::at(message, &self.text, at)
    }

    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(ParseError::new(TOO_DEEP));
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }

    // ----- statements

    pub(super) fn program(&mut self) -> Parsed<Expression> {
        if self.at(Terminal::End) {
            let nothing = self.place();
            return Ok(Expression::other(nothing, &[]));
        }
        let mut statements = self.statements()?;
        if !self.at(Terminal::End) {
            return Err(self.unexpected());
        }
        if statements.len() == 1 {
            return Ok(statements.remove(0));
        }
        Ok(block(&statements))
    }

    /// Statements up to a token that cannot start one; calls without parentheses are joined.
    pub(super) fn statements(&mut self) -> Parsed<Vec<Expression>> {
        let mut all: Vec<Expression> = Vec::new();
        // The error of expressions after commas, raised when all statements are read.
        let mut stray = None;
        loop {
            let mut list = vec![self.assignment()?.0];
            let mut comma = None;
            while self.at_sign(",") {
                let place = self.take().1;
                comma.get_or_insert(place.start);
                list.push(self.assignment()?.0);
            }
            let before = all.last_mut();
            match (before, comma) {
                (Some(name), _) if calls(name) => *name = statement_call(name, &list),
                (_, None) => all.append(&mut list),
                (before, Some(comma)) => {
                    let error = self.stray(before.map(|name| &name.kind), comma);
                    stray.get_or_insert(error);
                }
            }
            if self.take_sign(";") {
                continue;
            }
            self.asked()?;
            if !begins_statement(self.peek()) {
                break;
            }
        }
        match stray {
            Some(error) => Err(error),
            None => Ok(all),
        }
    }

    /// The error of expressions with commas that are no arguments of a call.
    fn stray(&self, before: Option<&Kind>, comma: usize) -> ParseError {
        let message = match before {
            Some(Kind::Name(name)) => format!(
                "attempt to pass argument list to the function '{name}' which cannot be called without parentheses"
            ),
            _ => "illegal comma separated argument list".to_owned(),
        };
        self.error(&message, comma)
    }

    /// `{ … }` with statements or empty: the range of the braces, and of what Puppet keeps.
    pub(super) fn body(&mut self) -> Parsed<Body> {
        let open = self.expect("{")?;
        if self.at_sign("}") {
            let close = self.take().1;
            return Ok(Body {
                braces: open.with(close),
                kept: None,
            });
        }
        let statements = self.deeper(Parser::statements)?;
        let close = self.expect("}")?;
        let braces = open.with(close);
        let kept = match statements.as_slice() {
            [one] => Kept {
                own: one.own,
                whole: one.whole(),
            },
            _ => Kept {
                own: braces,
                whole: braces,
            },
        };
        Ok(Body {
            braces,
            kept: Some(kept),
        })
    }

    /// An assignment, a relationship, a resource or an expression.
    pub(super) fn assignment(&mut self) -> Parsed<(Expression, Shape)> {
        self.deeper(|parser| {
            let (mut left, mut shape) = parser.resource()?;
            while matches!(parser.peek(), Terminal::Sign("->" | "~>" | "<-" | "<~")) {
                let sign = parser.take().1;
                let right = parser.resource()?.0;
                left = Expression::other(sign, &[left.whole(), right.whole()]);
                shape = Shape::Statement;
            }
            if matches!(parser.peek(), Terminal::Sign("=" | "+=" | "-=")) {
                let sign = parser.take().1;
                let right = parser.assignment()?.0;
                left = Expression::other(sign, &[left.whole(), right.whole()]);
                shape = Shape::Statement;
            }
            Ok((left, shape))
        })
    }

    // ----- expressions

    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.stronger(0)
    }

    /// An expression of operators with at least this precedence.
    fn stronger(&mut self, least: u8) -> Parsed<Expression> {
        self.deeper(|parser| {
            let mut left = parser.prefixed()?;
            loop {
                left = match parser.postfixed(left, least)? {
                    Ok(more) => more,
                    Err(left) => {
                        let Some(strength) = binary(parser.peek()).filter(|s| *s >= least) else {
                            return Ok(left);
                        };
                        let sign = parser.take().1;
                        let right = parser.stronger(strength + 1)?;
                        Expression::other(sign, &[left.whole(), right.whole()])
                    }
                };
            }
        })
    }

    fn prefixed(&mut self) -> Parsed<Expression> {
        let strength = match self.peek() {
            Terminal::Sign("-") => strength::MINUS,
            Terminal::Sign("*") => strength::SPLAT,
            Terminal::Sign("!") => strength::NOT,
            _ => return self.primary(),
        };
        let sign = self.take().1;
        let inner = self.stronger(strength + 1)?;
        let whole = inner.whole();
        let kind = if strength == strength::MINUS {
            Kind::Minus(Box::new(inner))
        } else {
            Kind::Other
        };
        Ok(Expression::new(kind, sign).covering(&[whole]))
    }

    /// A postfix operator; the expression unchanged if there is none.
    fn postfixed(&mut self, left: Expression, least: u8) -> Parsed<Result<Expression, Expression>> {
        let strength = match self.peek() {
            Terminal::Sign("?") => strength::SELECTOR,
            Terminal::Sign("<|" | "<<|") => strength::COLLECT,
            Terminal::Sign("[") => strength::ACCESS,
            Terminal::Sign(".") => strength::DOT,
            Terminal::Sign("(") => strength::CALL,
            _ => return Ok(Err(left)),
        };
        if strength < least {
            return Ok(Err(left));
        }
        Ok(Ok(match strength {
            strength::SELECTOR => self.selector(&left)?,
            strength::COLLECT => self.collector(&left)?,
            strength::ACCESS => {
                self.position += 1;
                let (keys, close) = self.keys()?;
                let own = Span {
                    start: left.own.start,
                    end: close.end,
                };
                let mut parts: Vec<Span> = keys.iter().map(Expression::whole).collect();
                parts.push(left.whole());
                // Only types have parameters; other chains of brackets would nest too deep.
                let left = match left.kind {
                    Kind::Reference(_) => left,
                    _ => Expression::other(left.own, &[]),
                };
                Expression::new(Kind::Access(Box::new(left), keys), own).covering(&parts)
            }
            strength::DOT => self.method(&left)?,
            _ => {
                self.position += 1;
                self.call(left.own, left.whole())?
            }
        }))
    }

    /// The arguments of a call, its opening parenthesis taken, and its lambda.
    pub(super) fn call(&mut self, own: Span, callee: Span) -> Parsed<Expression> {
        let mut parts = vec![callee];
        if !self.at_sign(")") {
            let arguments =
                self.elements(Some(Terminal::Sign(")")), |shape| shape != Shape::Keyword)?;
            parts.extend(arguments.iter().map(Expression::whole));
            self.take_sign(",");
        }
        let mut own = own.with(self.expect(")")?);
        if self.at_sign("|") {
            own = own.with(self.lambda()?);
        }
        Ok(Expression::other(own, &parts))
    }

    /// `.name`, with arguments or a lambda where they follow. Its place is that of the parentheses,
    /// of the first one where nothing is between them.
    fn method(&mut self, left: &Expression) -> Parsed<Expression> {
        let mut own = self.take().1;
        if !matches!(self.peek(), Terminal::Name | Terminal::Keyword("type")) {
            return Err(self.unexpected());
        }
        own = own.with(self.take().1);
        let mut parts = vec![left.whole(), own];
        if self.at_sign("(") {
            own = self.take().1;
            if self.at_sign(")") {
                self.position += 1;
            } else {
                // A comma before the parenthesis is not allowed here.
                let arguments = self.elements(None, |shape| shape != Shape::Keyword)?;
                parts.extend(arguments.iter().map(Expression::whole));
                own = own.with(self.expect(")")?);
            }
        }
        if self.at_sign("|") {
            parts.push(self.lambda()?);
        }
        Ok(Expression::other(own, &parts))
    }

    /// `? { a => b, … }` or `? a => b`
    fn selector(&mut self, left: &Expression) -> Parsed<Expression> {
        self.position += 1;
        let mut parts = vec![left.whole()];
        if self.at(Terminal::SelectorBrace) {
            self.position += 1;
            loop {
                self.selector_entry(&mut parts)?;
                if !self.take_sign(",") || self.at_sign("}") {
                    break;
                }
            }
            self.expect("}")?;
        } else {
            self.selector_entry(&mut parts)?;
        }
        Ok(Expression::other(left.own, &parts))
    }

    fn selector_entry(&mut self, parts: &mut Vec<Span>) -> Parsed<()> {
        parts.push(self.expression()?.whole());
        parts.push(self.expect("=>")?);
        parts.push(self.expression()?.whole());
        Ok(())
    }

    pub(super) fn primary(&mut self) -> Parsed<Expression> {
        let kind = match self.peek() {
            Terminal::Reference => Kind::Reference(self.token().value.clone()),
            Terminal::Name => Kind::Name(self.token().value.clone()),
            Terminal::Text | Terminal::Word => Kind::Text(self.token().value.clone()),
            Terminal::Regexp => Kind::Regexp(self.token().value.clone()),
            Terminal::Number => number(&self.token().value)?,
            Terminal::Boolean => Kind::Boolean(self.token().value == "true"),
            Terminal::Keyword("default") => Kind::Default,
            Terminal::Keyword("undef") => Kind::Undef,
            Terminal::Variable | Terminal::Keyword("attr" | "private") => Kind::Other,
            Terminal::Opening => return self.interpolated(),
            Terminal::Heredoc => {
                let place = self.take().1;
                // Its text follows.
                self.position += 1;
                let text = self.primary()?;
                let whole = text.whole();
                let kind = Kind::Heredoc(Box::new(text));
                return Ok(Expression::new(kind, place).covering(&[whole]));
            }
            Terminal::Sign("(") | Terminal::LineParenthesis => {
                let open = self.take().1;
                let inner = self.assignment()?.0;
                self.expect(")")?;
                return Ok(Expression::other(open, &[inner.whole()]));
            }
            Terminal::Sign("[") | Terminal::ListStart => return self.list(),
            Terminal::Sign("{") => return self.hash(),
            Terminal::Keyword(_) => return self.keyword(),
            _ => return Err(self.unexpected()),
        };
        let place = self.take().1;
        Ok(Expression::new(kind, place))
    }

    /// A string with interpolations.
    pub(super) fn interpolated(&mut self) -> Parsed<Expression> {
        let mut own = self.take().1;
        loop {
            let inner = self.assignment()?.0;
            own = own.with(inner.whole());
            match self.peek() {
                Terminal::Middle => self.position += 1,
                Terminal::Closing => {
                    own = own.with(self.take().1);
                    return Ok(Expression::other(own, &[]));
                }
                _ => return Err(self.unexpected()),
            }
        }
    }
}

/// The body of a construct in braces.
pub(super) struct Body {
    pub(super) braces: Span,
    pub(super) kept: Option<Kept>,
}

/// The range of the statements of a body; of a single one without the braces.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    pub(super) own: Span,
    pub(super) whole: Span,
}

/// Whether an expression is the name of a function that may be called without parentheses.
fn calls(expression: &Expression) -> bool {
    match &expression.kind {
        Kind::Name(name) => STATEMENT_CALLS.contains(&name.as_str()),
        _ => false,
    }
}

fn statement_call(name: &Expression, arguments: &[Expression]) -> Expression {
    let own = Span {
        start: name.own.start,
        end: arguments.last().map_or(name.own.end, |last| last.own.end),
    };
    let parts: Vec<Span> = arguments.iter().map(Expression::whole).collect();
    Expression::other(own, &parts)
}

fn block(statements: &[Expression]) -> Expression {
    let place = |statement: Option<&Expression>| {
        statement.map_or(Span { start: 0, end: 0 }, |statement| statement.own)
    };
    let own = Span {
        start: place(statements.first()).start,
        end: place(statements.last()).end,
    };
    let parts: Vec<Span> = statements.iter().map(Expression::whole).collect();
    Expression::other(own, &parts)
}

fn begins_statement(terminal: Terminal) -> bool {
    match terminal {
        Terminal::Name
        | Terminal::Word
        | Terminal::Reference
        | Terminal::Text
        | Terminal::Number
        | Terminal::Boolean
        | Terminal::Regexp
        | Terminal::Variable
        | Terminal::Opening
        | Terminal::Heredoc
        | Terminal::ListStart
        | Terminal::LineParenthesis
        | Terminal::Sign("[" | "{" | "(" | "-" | "*" | "!" | "@" | "@@") => true,
        Terminal::Keyword(word) => {
            !matches!(word, "else" | "elsif" | "inherits" | "and" | "or" | "in")
        }
        _ => false,
    }
}
