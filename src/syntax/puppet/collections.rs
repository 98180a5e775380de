//! Parses lists, hashes and the keys of accesses: elements separated by commas.

use super::grammar::ExpressionShape;
use super::lexer::Terminal;
use super::parser::{Parsed, PuppetParser};
use super::tree::{Expression, ExpressionKind};
use crate::text::TextRange;

impl PuppetParser<'_> {
    /// The keys of an access after its bracket, and the closing bracket.
    pub(super) fn keys(&mut self) -> Parsed<(Vec<Expression>, TextRange)> {
        let keys = self.access_keys(Some(Terminal::Sign("]")))?;
        self.take_sign(",");
        let close = self.expect("]")?;
        Ok((keys, close))
    }

    /// Keys of an access, separated by commas.
    pub(super) fn access_keys(&mut self, close: Option<Terminal>) -> Parsed<Vec<Expression>> {
        self.elements(close, |shape| {
            matches!(shape, ExpressionShape::Expression | ExpressionShape::Pair)
        })
    }

    /// Elements separated by commas, with an optional comma before the closing sign; adjacent pairs
    /// make one hash. Elements of shapes that are not allowed are errors.
    pub(super) fn elements(
        &mut self,
        close: Option<Terminal>,
        allowed: impl Fn(ExpressionShape) -> bool,
    ) -> Parsed<Vec<Expression>> {
        let mut elements: Vec<Expression> = Vec::new();
        // The pairs of a hash without braces, which is the last element, and its range.
        let mut pairs: Option<(Vec<Expression>, TextRange)> = None;
        loop {
            let (element, shape) = self.element()?;
            if !allowed(shape) {
                return Err(self.unexpected());
            }
            if shape == ExpressionShape::Pair {
                let own = element.own;
                pairs.get_or_insert((Vec::new(), own)).0.push(element);
            } else {
                elements.extend(pairs.take().map(unbraced));
                elements.push(element);
            }
            if !self.at_sign(",") || Some(self.after()) == close {
                elements.extend(pairs.take().map(unbraced));
                return Ok(elements);
            }
            self.position += 1;
        }
    }

    /// One element of a list, of arguments or of keys.
    fn element(&mut self) -> Parsed<(Expression, ExpressionShape)> {
        let (key, shape) = self.entry()?;
        if !self.at_sign("=>") {
            return Ok((key, shape));
        }
        let sign = self.next();
        let value = self.entry()?.0;
        let pair = ExpressionKind::Entry(Box::new([key, value]));
        Ok((Expression::new(pair, sign), ExpressionShape::Pair))
    }

    /// A key or a value of a hash.
    pub(super) fn entry(&mut self) -> Parsed<(Expression, ExpressionShape)> {
        let alone = match self.peek() {
            Terminal::Keyword("type") => {
                !matches!(self.after(), Terminal::Reference | Terminal::Sign("("))
            }
            Terminal::Keyword("function") => !matches!(
                self.after(),
                Terminal::Name
                    | Terminal::Word
                    | Terminal::Reference
                    | Terminal::Text
                    | Terminal::Keyword("class")
            ),
            _ => false,
        };
        if !alone {
            return self.assignment();
        }
        let (word, place) = self.take();
        Ok((
            Expression::new(ExpressionKind::Text(word), place),
            ExpressionShape::Keyword,
        ))
    }

    pub(super) fn list(&mut self) -> Parsed<Expression> {
        let open = self.next();
        let mut elements = Vec::new();
        if !self.at_sign("]") {
            elements = self.elements(Some(Terminal::Sign("]")), |_| true)?;
            self.take_sign(",");
        }
        let own = open.cover(self.expect("]")?);
        Ok(Expression::new(ExpressionKind::List(elements), own))
    }

    pub(super) fn hash(&mut self) -> Parsed<Expression> {
        let open = self.next();
        let mut entries = Vec::new();
        while !self.at_sign("}") {
            let key = self.entry()?.0;
            let sign = self.expect("=>")?;
            let pair = Box::new([key, self.entry()?.0]);
            entries.push(Expression::new(ExpressionKind::Entry(pair), sign));
            if !self.take_sign(",") {
                break;
            }
        }
        let own = open.cover(self.expect("}")?);
        Ok(Expression::new(ExpressionKind::Hash(entries), own))
    }
}

fn unbraced((pairs, own): (Vec<Expression>, TextRange)) -> Expression {
    Expression::new(ExpressionKind::Hash(pairs), own)
}
