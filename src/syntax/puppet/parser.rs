//! Supplies the tokens of a text, with one token of lookahead, to the rules of the grammar.

use super::lexer::{PuppetToken, Terminal, Tokens, tokens};
use super::{Dialect, MAX_DEPTH, PuppetProblem, TOO_DEEP};
use crate::text::TextRange;

pub(super) type Parsed<T> = Result<T, PuppetProblem>;

/// A parser of one text; the grammar's rules are in the sibling modules.
pub(super) struct PuppetParser<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Tokens<'a>,
    pub(super) position: usize,
    depth: usize,
    /// The names of the enclosing classes and plans.
    pub(super) namespace: Vec<Box<str>>,
    /// The problems so far; `None` for a parser that stops at the first problem.
    pub(super) problems: Option<Vec<PuppetProblem>>,
    /// Number of enclosing bodies in braces.
    pub(super) bodies: usize,
}

impl<'a> PuppetParser<'a> {
    /// A parser that stops at the first problem.
    pub(super) fn strict(text: &'a str, dialect: Dialect) -> PuppetParser<'a> {
        PuppetParser::of(text, tokens(text, 0, dialect, 1))
    }

    pub(super) fn of(text: &'a str, tokens: Tokens<'a>) -> PuppetParser<'a> {
        PuppetParser {
            text,
            tokens,
            position: 0,
            depth: 0,
            namespace: Vec::new(),
            problems: None,
            bodies: 0,
        }
    }

    pub(super) fn token(&self) -> &PuppetToken<'a> {
        let tokens = &self.tokens.tokens;
        &tokens[self.position.min(tokens.len() - 1)]
    }

    pub(super) fn peek(&self) -> Terminal {
        self.token().terminal
    }

    /// The token after the next one.
    pub(super) fn after(&self) -> Terminal {
        let tokens = &self.tokens.tokens;
        tokens[(self.position + 1).min(tokens.len() - 1)].terminal
    }

    pub(super) fn place(&self) -> TextRange {
        self.token().place
    }

    /// Takes any token; returns its range.
    pub(super) fn next(&mut self) -> TextRange {
        let place = self.place();
        self.position += 1;
        place
    }

    /// Takes any token; returns its value and range.
    pub(super) fn take(&mut self) -> (Box<str>, TextRange) {
        let token = self.token();
        let taken = (Box::from(&*token.value), token.place);
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

    pub(super) fn expect(&mut self, sign: &'static str) -> Parsed<TextRange> {
        if !self.at_sign(sign) {
            return Err(self.unexpected());
        }
        Ok(self.next())
    }

    /// The lexer's error, if there is no next token.
    pub(super) fn check_lexed(&self) -> Parsed<()> {
        match self.peek() {
            Terminal::Refused(index) => Err(self.tokens.refused[index].clone()),
            _ => Ok(()),
        }
    }

    /// The error for a token that is not allowed here.
    pub(super) fn unexpected(&self) -> PuppetProblem {
        if let Err(refused) = self.check_lexed() {
            return refused;
        }
        let token = self.token();
        if token.terminal == Terminal::End {
            return PuppetProblem::new("Syntax error at end of input").of_syntax();
        }
        let message = format!("Syntax error at '{}'", token.shown());
        PuppetProblem::at(&message, token.place.start as usize).of_syntax()
    }

    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(PuppetProblem::new(TOO_DEEP));
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }
}
