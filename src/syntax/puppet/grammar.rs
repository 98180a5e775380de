//! Parses expressions and statements (`pops/parser/egrammar.ra`).
//!
//! Puppet's parser is an LALR parser: it reports the first token that no program could continue
//! with. Recursive descent finds the same token if it consumes a token only where the grammar
//! allows it. Some errors come from Puppet's actions when a construct is complete; those are raised
//! before the next token is checked.

use super::lexer::Terminal;
use super::parser::{Parsed, PuppetParser};
use super::tree::{Call, Expression, ExpressionKind, Heredoc, NamedAccess, Prefix};
use super::{MAX_HEIGHT, PuppetProblem, TOO_DEEP};
use crate::text::TextRange;

/// Functions that can be called without parentheses (`STATEMENT_CALLS` of `pops/model/factory.rb`).
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

/// The sign and the precedence of a binary operator.
fn binary(terminal: Terminal) -> Option<(&'static str, u8)> {
    let (Terminal::Sign(sign) | Terminal::Keyword(sign)) = terminal else {
        return None;
    };
    let strength = match sign {
        "or" => 1,
        "and" => 2,
        ">" | ">=" | "<" | "<=" => 4,
        "==" | "!=" => 5,
        "<<" | ">>" => 6,
        "+" | "-" => 7,
        "*" | "/" | "%" => 8,
        "=~" | "!~" => 9,
        "in" => 10,
        _ => return None,
    };
    Some((sign, strength))
}

/// The kind of an expression, as the surrounding grammar needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpressionShape {
    Expression,
    /// A resource, an assignment or a relationship.
    Statement,
    /// `type` or `function`, alone.
    Keyword,
    /// `a => b`
    Pair,
}

impl PuppetParser<'_> {
    pub(super) fn program(&mut self) -> Parsed<Expression> {
        if self.at(Terminal::End) {
            return Ok(Expression::new(ExpressionKind::Nothing, self.place()));
        }
        if self.at(Terminal::TemplateStart) {
            return self.template();
        }
        let statements = self.statements()?;
        if !self.at(Terminal::End) {
            return Err(self.unexpected());
        }
        Ok(block(statements))
    }

    /// Parses statements up to a token that cannot start one; calls without parentheses are joined.
    pub(super) fn statements(&mut self) -> Parsed<Vec<Expression>> {
        let mut all: Vec<Expression> = Vec::new();
        // The error of expressions after commas, raised after all statements.
        let mut stray = None;
        loop {
            let from = self.position;
            if let Err(problem) = self.statement(&mut all, &mut stray) {
                all.push(self.recover(from, problem)?);
            }
            if !self.take_sign(";") && !self.at_next_statement(&mut all)? {
                break;
            }
        }
        if let Some(problem) = stray {
            self.note(problem)?;
        }
        Ok(all)
    }

    fn statement(
        &mut self,
        all: &mut Vec<Expression>,
        stray: &mut Option<PuppetProblem>,
    ) -> Parsed<()> {
        let first = self.assignment()?.0;
        let mut more = Vec::new();
        let mut comma = None;
        while self.at_sign(",") {
            let place = self.next();
            comma.get_or_insert(place.start as usize);
            more.push(self.assignment()?.0);
        }
        if all.last().is_some_and(calls)
            && let Some(name) = all.pop()
        {
            more.insert(0, first);
            all.push(statement_call(name, more));
            return Ok(());
        }
        if let Some(comma) = comma {
            let problem = self::stray(all.last(), comma);
            stray.get_or_insert(problem);
        }
        all.push(first);
        all.append(&mut more);
        if let Some(ExpressionKind::Call(call)) = all.last_mut().map(|last| &mut last.kind) {
            call.needs_value = false;
        }
        Ok(())
    }

    /// `{ … }` with statements or empty.
    pub(super) fn body(&mut self) -> Parsed<Body> {
        let open = self.expect("{")?;
        let mut statements = Vec::new();
        if !self.at_sign("}") {
            self.bodies += 1;
            let read = self.deeper(PuppetParser::statements);
            self.bodies -= 1;
            statements = read?;
        }
        let close = match self.expect("}") {
            Ok(close) => close,
            Err(problem) => self.unclosed(problem)?,
        };
        Ok(Body {
            braces: open.cover(close),
            statements,
        })
    }

    /// An assignment, a relationship, a resource or an expression.
    pub(super) fn assignment(&mut self) -> Parsed<(Expression, ExpressionShape)> {
        self.deeper(|parser| {
            let (mut left, mut shape) = parser.resource()?;
            while let Terminal::Sign(sign @ ("->" | "~>" | "<-" | "<~")) = parser.peek() {
                let place = parser.next();
                let right = parser.resource()?.0;
                left = nested(ExpressionKind::Binary(sign, Box::new([left, right])), place)?;
                shape = ExpressionShape::Statement;
            }
            if let Terminal::Sign(sign @ ("=" | "+=" | "-=")) = parser.peek() {
                let place = parser.next();
                let right = parser.assignment()?.0;
                left =
                    Expression::new(ExpressionKind::Binary(sign, Box::new([left, right])), place);
                shape = ExpressionShape::Statement;
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
                        let operator = binary(parser.peek()).filter(|(_, s)| *s >= least);
                        let Some((sign, strength)) = operator else {
                            return Ok(left);
                        };
                        let place = parser.next();
                        let right = parser.stronger(strength + 1)?;
                        nested(ExpressionKind::Binary(sign, Box::new([left, right])), place)?
                    }
                };
            }
        })
    }

    fn prefixed(&mut self) -> Parsed<Expression> {
        let (prefix, strength) = match self.peek() {
            Terminal::Sign("-") => (Prefix::Minus, strength::MINUS),
            Terminal::Sign("*") => (Prefix::Splat, strength::SPLAT),
            Terminal::Sign("!") => (Prefix::Not, strength::NOT),
            _ => return self.primary(),
        };
        let sign = self.next();
        let inner = self.stronger(strength + 1)?;
        let kind = ExpressionKind::Unary(prefix, Box::new(inner));
        Ok(Expression::new(kind, sign))
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
        if left.height > MAX_HEIGHT {
            return Err(PuppetProblem::new(TOO_DEEP));
        }
        Ok(Ok(match strength {
            strength::SELECTOR => self.selector(left)?,
            strength::COLLECT => self.collector(left)?,
            strength::ACCESS => {
                self.position += 1;
                let (keys, close) = self.keys()?;
                let own = left.own.cover(close);
                Expression::new(ExpressionKind::Access(Box::new(left), keys), own)
            }
            strength::DOT => self.method(left)?,
            _ => {
                self.position += 1;
                self.call(left)?
            }
        }))
    }

    /// The arguments of a call after its opening parenthesis, and its lambda.
    pub(super) fn call(&mut self, function: Expression) -> Parsed<Expression> {
        let mut arguments = Vec::new();
        if !self.at_sign(")") {
            arguments = self.elements(Some(Terminal::Sign(")")), |shape| {
                shape != ExpressionShape::Keyword
            })?;
            self.take_sign(",");
        }
        let mut own = function.own.cover(self.expect(")")?);
        let lambda = self.at_sign("|").then(|| self.lambda()).transpose()?;
        own = lambda.iter().fold(own, |own, lambda| own.cover(lambda.own));
        let call = Call {
            function,
            arguments,
            lambda,
            needs_value: true,
        };
        Ok(Expression::new(ExpressionKind::Call(Box::new(call)), own))
    }

    /// `.name`, with arguments or a lambda if they follow. Its range is that of the parentheses, or
    /// of the first one if they are empty.
    fn method(&mut self, left: Expression) -> Parsed<Expression> {
        let mut own = self.next();
        if !matches!(self.peek(), Terminal::Name | Terminal::Keyword("type")) {
            return Err(self.unexpected());
        }
        let (name, place) = self.take();
        own = own.cover(place);
        let access = NamedAccess { left, name, place };
        let function = Expression::new(ExpressionKind::NamedAccess(Box::new(access)), own);
        let mut arguments = Vec::new();
        if self.at_sign("(") {
            own = self.next();
            if self.at_sign(")") {
                self.position += 1;
            } else {
                // A comma before the parenthesis is not allowed here.
                arguments = self.elements(None, |shape| shape != ExpressionShape::Keyword)?;
                own = own.cover(self.expect(")")?);
            }
        }
        let lambda = self.at_sign("|").then(|| self.lambda()).transpose()?;
        let call = Call {
            function,
            arguments,
            lambda,
            needs_value: true,
        };
        let kind = ExpressionKind::MethodCall(Box::new(call));
        Ok(Expression::new(kind, own))
    }

    /// `? { a => b, … }` or `? a => b`
    fn selector(&mut self, left: Expression) -> Parsed<Expression> {
        self.position += 1;
        let mut entries = Vec::new();
        if self.at(Terminal::SelectorBrace) {
            self.position += 1;
            loop {
                entries.push(self.selector_entry()?);
                if !self.take_sign(",") || self.at_sign("}") {
                    break;
                }
            }
            self.expect("}")?;
        } else {
            entries.push(self.selector_entry()?);
        }
        let own = left.own;
        let kind = ExpressionKind::Selector(Box::new(left), entries);
        Ok(Expression::new(kind, own))
    }

    fn selector_entry(&mut self) -> Parsed<Expression> {
        let matched = self.expression()?;
        let sign = self.expect("=>")?;
        let pair = Box::new([matched, self.expression()?]);
        Ok(Expression::new(ExpressionKind::SelectorEntry(pair), sign))
    }

    pub(super) fn primary(&mut self) -> Parsed<Expression> {
        let value = || Box::from(&*self.token().value);
        let kind = match self.peek() {
            Terminal::Reference => ExpressionKind::Reference(value()),
            Terminal::Name => ExpressionKind::Name(value()),
            Terminal::Text | Terminal::Word => ExpressionKind::Text(value()),
            Terminal::Regexp => ExpressionKind::Regexp(value()),
            Terminal::Number => number(&self.token().value)?,
            Terminal::Boolean => ExpressionKind::Boolean(&*self.token().value == "true"),
            Terminal::Variable => ExpressionKind::Variable(value()),
            Terminal::RenderText => ExpressionKind::RenderText(value()),
            Terminal::Keyword("default") => ExpressionKind::Default,
            Terminal::Keyword("undef") => ExpressionKind::Undef,
            Terminal::Keyword("attr" | "private") => ExpressionKind::Reserved(value()),
            Terminal::Opening => return self.interpolated(),
            Terminal::RenderStart => return self.render(),
            Terminal::Heredoc => {
                let (syntax, place) = self.take();
                // Its text follows.
                self.position += 1;
                let text = self.primary()?;
                let heredoc = Heredoc { syntax, text };
                let kind = ExpressionKind::Heredoc(Box::new(heredoc));
                return Ok(Expression::new(kind, place));
            }
            Terminal::Sign("(") | Terminal::LineParenthesis => {
                let open = self.next();
                let inner = Box::new(self.assignment()?.0);
                self.expect(")")?;
                let kind = ExpressionKind::Unary(Prefix::Parentheses, inner);
                return Ok(Expression::new(kind, open));
            }
            Terminal::Sign("[") | Terminal::ListStart => return self.list(),
            Terminal::Sign("{") => return self.hash(),
            Terminal::Keyword(_) => return self.keyword(),
            _ => return Err(self.unexpected()),
        };
        Ok(Expression::new(kind, self.next()))
    }

    /// A string with interpolations.
    fn interpolated(&mut self) -> Parsed<Expression> {
        let mut own = self.place();
        let start = TextRange::empty(own.start as usize);
        let mut parts = Vec::new();
        loop {
            let is_last = self.at(Terminal::Closing);
            let (text, place) = self.take();
            own = own.cover(place);
            if !text.is_empty() {
                parts.push(Expression::new(ExpressionKind::Text(text), place));
            }
            if is_last {
                return Ok(Expression::new(ExpressionKind::Concatenated(parts), own));
            }
            let inner = Box::new(self.assignment()?.0);
            parts.push(Expression::new(ExpressionKind::Interpolation(inner), start));
            if !matches!(self.peek(), Terminal::Middle | Terminal::Closing) {
                return Err(self.unexpected());
            }
        }
    }
}

pub(super) struct Body {
    pub(super) braces: TextRange,
    pub(super) statements: Vec<Expression>,
}

impl Body {
    /// A single statement unchanged, several as a block in its braces.
    pub(super) fn bare(mut self) -> Option<Expression> {
        match self.statements.len() {
            0 | 1 => self.statements.pop(),
            _ => Some(Expression::new(
                ExpressionKind::Block(self.statements),
                self.braces,
            )),
        }
    }

    /// A block without its own range.
    pub(super) fn block(self, start: u32) -> Option<Expression> {
        let own = TextRange::empty(start as usize);
        let is_empty = self.statements.is_empty();
        (!is_empty).then(|| Expression::new(ExpressionKind::Block(self.statements), own))
    }
}

/// A node that may become the left operand of the next one.
pub(super) fn nested(kind: ExpressionKind, own: TextRange) -> Parsed<Expression> {
    let node = Expression::new(kind, own);
    if node.height > MAX_HEIGHT {
        return Err(PuppetProblem::new(TOO_DEEP));
    }
    Ok(node)
}

fn number(digits: &str) -> Parsed<ExpressionKind> {
    let is_hex = digits.starts_with("0x") || digits.starts_with("0X");
    if is_hex || !digits.contains(['.', 'e', 'E']) {
        return Ok(ExpressionKind::Integer(digits.into()));
    }
    // Puppet's lexer accepts numbers too large for a float, its model does not.
    let float: Option<f64> = digits.parse().ok().filter(|float: &f64| float.is_finite());
    float.map(ExpressionKind::Float).ok_or_else(|| {
        let message = "Internal Error, NUMBER token does not contain a valid number";
        PuppetProblem::new(&format!("{message}, {digits}"))
    })
}

/// The error of expressions separated by commas that are no arguments of a call.
fn stray(before: Option<&Expression>, comma: usize) -> PuppetProblem {
    let message = match before.map(|before| &before.kind) {
        Some(ExpressionKind::Name(name)) => format!(
            "attempt to pass argument list to the function '{name}' which cannot be called without parentheses"
        ),
        _ => "illegal comma separated argument list".to_owned(),
    };
    PuppetProblem::at(&message, comma)
}

/// Whether an expression is the name of a function that can be called without parentheses.
pub(super) fn calls(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Name(name) => STATEMENT_CALLS.contains(&&**name),
        _ => false,
    }
}

pub(super) fn statement_call(function: Expression, arguments: Vec<Expression>) -> Expression {
    let last = arguments.last().map_or(function.own, |last| last.own);
    let own = TextRange {
        start: function.own.start,
        end: last.end.max(function.own.start),
    };
    let call = Call {
        function,
        arguments,
        lambda: None,
        needs_value: false,
    };
    Expression::new(ExpressionKind::Call(Box::new(call)), own)
}

/// A single statement unchanged, several as a block from the first to the last.
pub(super) fn block(mut statements: Vec<Expression>) -> Expression {
    if statements.len() == 1 {
        return statements.remove(0);
    }
    let first = statements.first().map_or(0, |first| first.own.start);
    let last = statements.last().map_or(0, |last| last.own.end);
    let own = TextRange {
        start: first,
        end: last.max(first),
    };
    Expression::new(ExpressionKind::Block(statements), own)
}

pub(super) fn begins_statement(terminal: Terminal) -> bool {
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
        | Terminal::RenderText
        | Terminal::RenderStart
        | Terminal::Sign("[" | "{" | "(" | "-" | "*" | "!" | "@" | "@@") => true,
        Terminal::Keyword(word) => {
            !matches!(word, "else" | "elsif" | "inherits" | "and" | "or" | "in")
        }
        _ => false,
    }
}
