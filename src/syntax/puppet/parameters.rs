//! Parses parameters of definitions, lambdas and templates, and return types.

use super::lexer::{PuppetToken, Terminal};
use super::parser::{Parsed, PuppetParser};
use super::tree::{Expression, ExpressionKind, Lambda, Parameter};
use crate::text::TextRange;

impl PuppetParser<'_> {
    /// `|parameters| { … }`
    pub(super) fn lambda(&mut self) -> Parsed<Expression> {
        let open = self.next();
        let mut parameters = Vec::new();
        if !self.take_sign("|") {
            parameters = self.parameters("|")?;
            self.expect("|")?;
        }
        let returns = self.return_type()?;
        let body = self.deeper(PuppetParser::body)?;
        let own = open.cover(body.braces);
        let lambda = Lambda {
            parameters,
            returns,
            body: body.block(own.start),
        };
        let kind = ExpressionKind::Lambda(Box::new(lambda));
        Ok(Expression::new(kind, own))
    }

    /// A whole template: a lambda with its body.
    pub(super) fn template(&mut self) -> Parsed<Expression> {
        let own = self.next();
        let mut parameters = Vec::new();
        let has_parameters = self.take_sign("|");
        if has_parameters && !self.take_sign("|") {
            parameters = self.parameters("|")?;
            self.expect("|")?;
        }
        let mut statements = Vec::new();
        if !self.at(Terminal::End) {
            statements = self.statements()?;
        }
        if !self.at(Terminal::End) {
            return Err(self.unexpected());
        }
        let is_empty = statements.is_empty();
        let block =
            (!is_empty).then(|| Box::new(Expression::new(ExpressionKind::Block(statements), own)));
        let template = Expression::new(ExpressionKind::Template(has_parameters, block), own);
        let lambda = Lambda {
            parameters,
            returns: None,
            body: Some(template),
        };
        let kind = ExpressionKind::Lambda(Box::new(lambda));
        Ok(Expression::new(kind, own))
    }

    /// `<%= … %>`
    pub(super) fn render(&mut self) -> Parsed<Expression> {
        let start = self.next();
        let inner = if self.at_sign("{") && !self.is_hash() {
            self.body()?.bare()
        } else {
            Some(self.expression()?)
        };
        if !self.at(Terminal::RenderEnd) {
            return Err(self.unexpected());
        }
        let own = start.cover(self.next());
        let inner = inner.unwrap_or_else(|| Expression::new(ExpressionKind::Nothing, own));
        let kind = ExpressionKind::Render(Box::new(inner));
        Ok(Expression::new(kind, own))
    }

    /// Whether this brace begins a hash, rather than statements.
    fn is_hash(&mut self) -> bool {
        if self.after() == Terminal::Sign("}") {
            return true;
        }
        let (from, noted) = (self.position, self.problems.take());
        self.position += 1;
        let is_hash = self.entry().is_ok() && self.at_sign("=>");
        self.position = from;
        self.problems = noted;
        is_hash
    }

    pub(super) fn return_type(&mut self) -> Parsed<Option<Expression>> {
        if !self.take_sign(">>") {
            return Ok(None);
        }
        self.parameter_type().map(Some)
    }

    /// `Type` or `Type[…]`, without a comma before the closing bracket.
    pub(super) fn parameter_type(&mut self) -> Parsed<Expression> {
        let name = self.type_name()?;
        if !self.take_sign("[") {
            return Ok(name);
        }
        let keys = self.access_keys(None)?;
        let own = name.own.cover(self.expect("]")?);
        let kind = ExpressionKind::Access(Box::new(name), keys);
        Ok(Expression::new(kind, own))
    }

    pub(super) fn parameter_list(&mut self) -> Parsed<Vec<Expression>> {
        let mut parameters = Vec::new();
        if !matches!(self.peek(), Terminal::Sign("(") | Terminal::LineParenthesis) {
            return Ok(parameters);
        }
        self.position += 1;
        if !self.at_sign(")") {
            parameters = self.parameters(")")?;
        }
        if let Err(problem) = self.expect(")") {
            self.note(problem)?;
        }
        Ok(parameters)
    }

    /// Parameters, with or without a trailing comma.
    fn parameters(&mut self, close: &'static str) -> Parsed<Vec<Expression>> {
        let mut all = Vec::new();
        loop {
            let from = self.position;
            match self.parameter() {
                Ok(parameter) => all.push(parameter),
                Err(problem) => {
                    self.note(problem)?;
                    self.skip_parameter(from, close);
                    all.extend(self.named_since(from));
                }
            }
            if self.problems.is_some() && !self.at_sign(",") && !self.at_sign(close) {
                let problem = self.unexpected();
                self.note(problem)?;
                self.skip_parameter(self.position, close);
            }
            if !self.take_sign(",") || self.at_sign(close) {
                return Ok(all);
            }
        }
    }

    fn parameter(&mut self) -> Parsed<Expression> {
        let typed = self.at(Terminal::Reference);
        let expected = typed.then(|| self.parameter_type()).transpose()?;
        let captures_rest = self.take_sign("*");
        if !self.at(Terminal::Variable) {
            return Err(self.unexpected());
        }
        let (name, own) = self.take();
        let has_value = self.take_sign("=");
        let value = has_value.then(|| self.expression()).transpose()?;
        let parameter = Parameter {
            name,
            expected,
            captures_rest,
            value,
        };
        let kind = ExpressionKind::Parameter(Box::new(parameter));
        Ok(Expression::new(kind, own))
    }

    fn skip_parameter(&mut self, from: usize, close: &'static str) {
        self.skip(from, |parser, is_inside| match is_inside {
            // The bracket may be unclosed.
            true => parser.at_sign(",") && parser.begins_line(1),
            false => parser.at_sign(",") || parser.at_sign(close) || parser.at_sign("{"),
        });
    }

    /// The readable part of a broken parameter: its name, and a default without an end.
    fn named_since(&self, from: usize) -> Option<Expression> {
        let tokens = self.tokens.tokens.get(from..self.position)?;
        let first = tokens.first()?.terminal;
        if !matches!(
            first,
            Terminal::Reference | Terminal::Variable | Terminal::Sign("*")
        ) {
            return None;
        }
        let is_entry = |t: &PuppetToken<'_>| t.terminal == Terminal::Sign("=>");
        let length = tokens.iter().position(is_entry);
        let before = &tokens[..length.unwrap_or(tokens.len())];
        let at = before
            .iter()
            .position(|t| t.terminal == Terminal::Variable)?;
        let next = tokens.get(at + 1).map(|next| next.terminal);
        let value = (next == Some(Terminal::Sign("="))).then(|| {
            let end = tokens.last().map_or(0, |last| last.place.end);
            let start = tokens[at + 1].place.end;
            let place = TextRange::new(start as usize, end.max(start) as usize);
            Expression::new(ExpressionKind::Error, place)
        });
        let parameter = Parameter {
            name: (*tokens[at].value).into(),
            expected: None,
            captures_rest: false,
            value,
        };
        let place = tokens[at].place;
        let kind = ExpressionKind::Parameter(Box::new(parameter));
        Some(Expression::new(kind, place))
    }
}
