//! Constructs with attributes in braces: resources, their defaults and overrides, collectors.

use super::grammar::{Parsed, Parser, Shape};
use super::lexer::Terminal;
use super::{Expression, Kind, Span};

/// Attributes: their range, and whether one of them has the operator `+>`.
#[derive(Default)]
struct Attributes {
    parts: Vec<Span>,
    adds: bool,
}

fn begins_attribute(terminal: Terminal) -> bool {
    matches!(
        terminal,
        Terminal::Name | Terminal::Keyword(_) | Terminal::Sign("*")
    )
}

impl Parser {
    pub(super) fn resource(&mut self) -> Parsed<(Expression, Shape)> {
        let virtually = match self.peek() {
            Terminal::Sign("@") => "Virtual (@)",
            Terminal::Sign("@@") => "Exported (@@)",
            _ => return self.real_resource(),
        };
        let sign = self.take().1;
        let inner = self.deeper(Parser::resource)?.0;
        // More braces could have followed.
        self.asked()?;
        if !matches!(inner.kind, Kind::Resource) {
            let message = format!("{virtually} can only be applied to a Resource Expression");
            return Err(self.error(&message, sign.start));
        }
        // Puppet sets the start to the sign before it computes the end.
        let own = Span {
            start: sign.start,
            end: sign.start + inner.own.end - inner.own.start,
        };
        let resource = Expression::new(Kind::Resource, own);
        Ok((resource.covering(inner.parts.as_slice()), Shape::Statement))
    }

    fn real_resource(&mut self) -> Parsed<(Expression, Shape)> {
        let class = self.at(Terminal::Keyword("class")) && self.after() == Terminal::Sign("{");
        let (mut left, mut shape) = if class {
            let mut own = self.take().1;
            self.position += 1;
            let mut parts = Vec::new();
            self.title(&mut parts)?;
            self.more_titles(&mut parts)?;
            own = own.with(self.expect("}")?);
            let resource = Expression::new(Kind::Resource, own).covering(&parts);
            (resource, Shape::Statement)
        } else {
            (self.expression()?, Shape::Expression)
        };
        while self.at_sign("{") {
            left = self.deeper(|parser| parser.attributes_of(left))?;
            shape = Shape::Statement;
        }
        Ok((left, shape))
    }

    /// The braces after a possible resource.
    fn attributes_of(&mut self, left: Expression) -> Parsed<Expression> {
        let open = self.take().1;
        let names = matches!(self.after(), Terminal::Sign("=>" | "+>"));
        let untitled = match self.peek() {
            Terminal::Sign("}" | ",") => true,
            Terminal::Sign("*") => self.after() == Terminal::Sign("=>"),
            Terminal::Name => names,
            Terminal::Keyword("else" | "elsif" | "in" | "inherits" | "and" | "or") => true,
            Terminal::Keyword(_) => names,
            _ => false,
        };
        if untitled {
            return self.untitled(left, open);
        }
        let mut parts = vec![left.whole()];
        self.title(&mut parts)?;
        self.more_titles(&mut parts)?;
        let own = left.own.with(self.expect("}")?);
        Ok(Expression::new(Kind::Resource, own).covering(&parts))
    }

    /// A resource without a title, as soon as its braces are closed.
    fn untitled(&mut self, left: Expression, open: Span) -> Parsed<Expression> {
        let attributes = self.attributes()?;
        self.take_sign(",");
        let own = left.own.with(self.expect("}")?);
        let kind = match left.kind {
            Kind::Name(_) if attributes.adds => {
                let message = "Syntax error resource body without title or hash with +>";
                return Err(self.error(message, open.start).of_syntax());
            }
            // A name and a hash.
            Kind::Name(_) => Kind::Other,
            Kind::Reference(_) | Kind::Access(..) => Kind::Resource,
            _ => {
                let message =
                    "Expression is not valid as a resource, resource-default, or resource-override";
                return Err(self.error(message, left.own.start));
            }
        };
        Ok(Expression::new(kind, own)
            .covering(&attributes.parts)
            .covering(&[left.whole()]))
    }

    /// `title: attributes`
    fn title(&mut self, parts: &mut Vec<Span>) -> Parsed<()> {
        parts.push(self.expression()?.whole());
        self.expect(":")?;
        parts.extend(self.attributes()?.parts);
        self.take_sign(",");
        Ok(())
    }

    fn more_titles(&mut self, parts: &mut Vec<Span>) -> Parsed<()> {
        while self.take_sign(";") && !self.at_sign("}") {
            self.title(parts)?;
        }
        Ok(())
    }

    /// Attributes separated by commas, with or without a trailing comma.
    fn attributes(&mut self) -> Parsed<Attributes> {
        let mut all = Attributes::default();
        loop {
            if begins_attribute(self.peek()) {
                let start = self.place();
                let unfolded = self.at_sign("*");
                self.position += 1;
                if !unfolded && self.at_sign("+>") {
                    self.position += 1;
                    all.adds = true;
                } else {
                    self.expect("=>")?;
                }
                all.parts.push(start.with(self.expression()?.whole()));
            }
            if !self.at_sign(",") || !begins_attribute(self.after()) {
                return Ok(all);
            }
            self.position += 1;
        }
    }

    /// `<| … |>` and `<<| … |>>`
    pub(super) fn collector(&mut self, left: &Expression) -> Parsed<Expression> {
        let close = if self.at_sign("<|") { "|>" } else { "|>>" };
        self.position += 1;
        let mut parts = vec![left.whole()];
        if !self.at_sign(close) {
            parts.push(self.expression()?.whole());
        }
        let mut own = left.own.with(self.expect(close)?);
        if self.take_sign("{") {
            parts.extend(self.attributes()?.parts);
            self.take_sign(",");
            own = own.with(self.expect("}")?);
        }
        Ok(Expression::other(own, &parts))
    }
}
