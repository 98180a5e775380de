//! Lists, hashes and the keys of accesses: elements with commas between them.

use super::grammar::{Parsed, Parser, Shape};
use super::lexer::Terminal;
use super::{Expression, Kind, Span};

impl Parser {
    /// The keys of an access behind its bracket, and the bracket that closes it.
    pub(super) fn keys(&mut self) -> Parsed<(Vec<Expression>, Span)> {
        let keys = self.access_keys(Some(Terminal::Sign("]")))?;
        self.take_sign(",");
        let close = self.expect("]")?;
        Ok((keys, close))
    }

    /// Keys of an access with commas between them.
    pub(super) fn access_keys(&mut self, close: Option<Terminal>) -> Parsed<Vec<Expression>> {
        self.elements(close, |shape| {
            matches!(shape, Shape::Expression | Shape::Pair)
        })
    }

    /// Elements up to what is no comma, or to a comma before the sign that closes; pairs beside one
    /// another make one hash. Elements of other shapes than those allowed are errors.
    pub(super) fn elements(
        &mut self,
        close: Option<Terminal>,
        allowed: impl Fn(Shape) -> bool,
    ) -> Parsed<Vec<Expression>> {
        let mut elements: Vec<(Expression, Shape)> = Vec::new();
        loop {
            let (element, shape) = self.element()?;
            if !allowed(shape) {
                return Err(self.unexpected());
            }
            match (elements.last_mut(), shape) {
                (Some((last, Shape::Pair)), Shape::Pair) => join(last, element),
                _ => elements.push((element, shape)),
            }
            if !self.at_sign(",") || Some(self.after()) == close {
                return Ok(elements.into_iter().map(|(element, _)| element).collect());
            }
            self.position += 1;
        }
    }

    /// One element of a list, of arguments or of keys.
    fn element(&mut self) -> Parsed<(Expression, Shape)> {
        let (key, shape) = self.entry()?;
        if !self.at_sign("=>") {
            return Ok((key, shape));
        }
        let sign = self.take().1;
        let value = self.entry()?.0;
        let parts = [key.whole(), value.whole()];
        let pair = Expression::new(Kind::Hash(vec![(key, value)]), sign).covering(&parts);
        Ok((pair, Shape::Pair))
    }

    /// A key or a value of a hash.
    fn entry(&mut self) -> Parsed<(Expression, Shape)> {
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
        Ok((Expression::new(Kind::Text(word), place), Shape::Keyword))
    }

    pub(super) fn list(&mut self) -> Parsed<Expression> {
        let mut own = self.take().1;
        let mut elements = Vec::new();
        if !self.at_sign("]") {
            elements = self.elements(Some(Terminal::Sign("]")), |_| true)?;
            self.take_sign(",");
        }
        own = own.with(self.expect("]")?);
        let parts: Vec<Span> = elements.iter().map(Expression::whole).collect();
        Ok(Expression::new(Kind::List(elements), own).covering(&parts))
    }

    pub(super) fn hash(&mut self) -> Parsed<Expression> {
        let mut own = self.take().1;
        let mut entries = Vec::new();
        while !self.at_sign("}") {
            let key = self.entry()?.0;
            self.expect("=>")?;
            entries.push((key, self.entry()?.0));
            if !self.take_sign(",") {
                break;
            }
        }
        own = own.with(self.expect("}")?);
        let parts: Vec<Span> = entries
            .iter()
            .map(|(key, value)| key.whole().with(value.whole()))
            .collect();
        Ok(Expression::new(Kind::Hash(entries), own).covering(&parts))
    }
}

/// Adds the pair of a hash to the one before.
fn join(hash: &mut Expression, pair: Expression) {
    let whole = pair.whole();
    if let (Kind::Hash(entries), Kind::Hash(more)) = (&mut hash.kind, pair.kind) {
        entries.extend(more);
    }
    hash.parts = Some(hash.parts.map_or(whole, |parts| parts.with(whole)));
    hash.end = hash.end.max(whole.end);
}
