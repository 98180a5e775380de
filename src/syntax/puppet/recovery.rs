//! Continues after syntax errors. A text is parsed strictly first, since Puppet reports the first
//! problem; only a broken text is parsed again, collecting problems.

use super::grammar::{begins_statement, block};
use super::lexer::{Terminal, tokens};
use super::parser::{Parsed, PuppetParser};
use super::tree::{Expression, ExpressionKind};
use super::validation::validate;
use super::{Dialect, PuppetParse, PuppetProblem};
use crate::text::TextRange;

/// Keywords that begin a definition at the start of a line. A broken text is split there, so that
/// an unclosed quote affects only its own definition.
const DEFINITIONS: &[&str] = &["class", "define", "function", "node", "type", "plan"];

const MAX_PROBLEMS: usize = 100;

/// Parses a manifest or a template. Never fails: unparsable text becomes [`ExpressionKind::Error`].
#[must_use]
pub fn parse(text: &str, dialect: Dialect) -> PuppetParse {
    let mut parser = PuppetParser::strict(text, dialect);
    match parser.program() {
        Ok(root) => {
            let mut problems = validate(&root, dialect);
            problems.truncate(MAX_PROBLEMS);
            PuppetParse {
                root,
                comments: parser.tokens.comments,
                problems,
            }
        }
        Err(first) => tolerant(text, dialect, first),
    }
}

fn tolerant(text: &str, dialect: Dialect, first: PuppetProblem) -> PuppetParse {
    let mut statements = Vec::new();
    let mut comments = Vec::new();
    let mut problems = vec![first];
    let starts = starts(text, dialect);
    for (at, &start) in starts.iter().enumerate() {
        let end = starts.get(at + 1).copied().unwrap_or(text.len());
        let part = &text[..end];
        let mut parser = PuppetParser::of(part, tokens(part, start, dialect, MAX_PROBLEMS));
        parser.problems = Some(Vec::new());
        let read = match parser.peek() {
            Terminal::End => Ok(Vec::new()),
            Terminal::TemplateStart => parser.template().map(|template| vec![template]),
            _ => parser.statements(),
        };
        let rest = parser.problems.unwrap_or_default().into_iter();
        problems.extend(rest.chain(read.as_ref().err().cloned()));
        statements.extend(read.unwrap_or_default());
        comments.append(&mut parser.tokens.comments);
    }
    let mut seen = std::collections::HashSet::new();
    problems.retain(|problem| seen.insert((problem.offset, problem.message.clone())));
    problems.truncate(MAX_PROBLEMS);
    let root = if statements.is_empty() {
        Expression::new(ExpressionKind::Nothing, TextRange::empty(text.len()))
    } else {
        block(statements)
    };
    PuppetParse {
        root,
        comments,
        problems,
    }
}

/// The starts of a broken text's parts.
fn starts(text: &str, dialect: Dialect) -> Vec<usize> {
    let mut starts = vec![0];
    if dialect == Dialect::Template {
        return starts;
    }
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let word = line.split([' ', '\t']).next().unwrap_or_default();
        if at > 0 && word.len() < line.len() && DEFINITIONS.contains(&word) {
            starts.push(at);
        }
        at += line.len();
    }
    starts
}

impl PuppetParser<'_> {
    /// Records a problem.
    ///
    /// # Errors
    /// The problem itself, if the parser stops at the first one.
    pub(super) fn note(&mut self, problem: PuppetProblem) -> Parsed<()> {
        let Some(problems) = &mut self.problems else {
            return Err(problem);
        };
        if problems.len() < MAX_PROBLEMS {
            problems.push(problem);
        }
        Ok(())
    }

    /// Skips the rest of a statement that began at a token.
    pub(super) fn recover(&mut self, from: usize, problem: PuppetProblem) -> Parsed<Expression> {
        self.note(problem)?;
        self.skip(from, |parser, is_inside| {
            let begins = parser.begins_line(0) && begins_statement(parser.peek());
            !is_inside && (parser.at_sign(";") || begins)
        });
        let start = self.tokens.tokens[from.min(self.tokens.tokens.len() - 1)].place;
        let end = if self.position > from {
            self.tokens.tokens[self.position - 1].place.end
        } else {
            start.start
        };
        let place = TextRange::new(start.start as usize, end.max(start.start) as usize);
        Ok(Expression::new(ExpressionKind::Error, place))
    }

    /// Whether another statement follows; tokens that cannot begin one are skipped.
    pub(super) fn at_next_statement(&mut self, all: &mut Vec<Expression>) -> Parsed<bool> {
        while !begins_statement(self.peek()) {
            if self.problems.is_none() {
                self.check_lexed()?;
                return Ok(false);
            }
            if self.at(Terminal::End) || (self.bodies > 0 && self.at_sign("}")) {
                return Ok(false);
            }
            let (from, problem) = (self.position, self.unexpected());
            self.position += 1;
            let skipped = self.recover(from, problem)?;
            self.take_sign(";");
            all.push(skipped);
        }
        Ok(true)
    }

    /// Continues without a closing brace.
    pub(super) fn unclosed(&mut self, problem: PuppetProblem) -> Parsed<TextRange> {
        self.note(problem)?;
        Ok(TextRange::empty(self.place().start as usize))
    }

    /// Skips to a token for which `is_stop` returns true (its argument: whether the token is inside
    /// brackets opened since `from`), or to a bracket that closes an enclosing one.
    pub(super) fn skip(&mut self, from: usize, is_stop: impl Fn(&Self, bool) -> bool) {
        let mut open: Vec<&str> = Vec::new();
        let failed = self.position;
        self.position = from.min(failed);
        while !self.at(Terminal::End) {
            let terminal = self.peek();
            let is_behind = self.position >= failed.max(from + 1);
            if is_behind && is_stop(self, !open.is_empty()) {
                return;
            }
            match terminal {
                Terminal::Sign("{" | "(" | "[")
                | Terminal::ListStart
                | Terminal::LineParenthesis
                | Terminal::SelectorBrace => open.push(closing(terminal)),
                Terminal::Sign(sign @ ("}" | ")" | "]")) => {
                    match open.iter().rposition(|close| *close == sign) {
                        Some(at) => open.truncate(at),
                        None if self.position >= failed => return,
                        None => {}
                    }
                }
                _ => {}
            }
            self.position += 1;
        }
    }

    /// Whether a token is the first one on its line: the next one, or the one `behind` positions
    /// later.
    pub(super) fn begins_line(&self, behind: usize) -> bool {
        let tokens = &self.tokens.tokens;
        let at = (self.position + behind).min(tokens.len() - 1);
        let start = tokens[at].place.start as usize;
        let end = at
            .checked_sub(1)
            .map_or(0, |at| tokens[at].place.end as usize);
        self.text
            .get(end..start)
            .is_some_and(|gap| gap.contains('\n'))
    }
}

fn closing(terminal: Terminal) -> &'static str {
    match terminal {
        Terminal::Sign("(") | Terminal::LineParenthesis => ")",
        Terminal::Sign("[") | Terminal::ListStart => "]",
        _ => "}",
    }
}
