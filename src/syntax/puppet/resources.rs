//! Parses constructs with attributes in braces: resources, their defaults and overrides,
//! collectors.

use super::PuppetProblem;
use super::grammar::{ExpressionShape, block, calls, nested, statement_call};
use super::lexer::Terminal;
use super::parser::{Parsed, PuppetParser};
use super::tree::{Attribute, Expression, ExpressionKind, Resource, ResourceForm};
use crate::text::TextRange;

/// Attributes, and whether one of them has the operator `+>`.
#[derive(Default)]
struct Attributes {
    list: Vec<Expression>,
    adds: bool,
}

fn begins_attribute(terminal: Terminal) -> bool {
    matches!(
        terminal,
        Terminal::Name | Terminal::Keyword(_) | Terminal::Sign("*")
    )
}

impl PuppetParser<'_> {
    pub(super) fn resource(&mut self) -> Parsed<(Expression, ExpressionShape)> {
        let (form, shown) = match self.peek() {
            Terminal::Sign("@") => (ResourceForm::Virtual, "Virtual (@)"),
            Terminal::Sign("@@") => (ResourceForm::Exported, "Exported (@@)"),
            _ => return self.real_resource(),
        };
        let sign = self.next();
        let mut inner = self.deeper(PuppetParser::resource)?.0;
        // More braces could have followed.
        self.check_lexed()?;
        let (ExpressionKind::Resource(resource)
        | ExpressionKind::ResourceDefaults(resource)
        | ExpressionKind::ResourceOverride(resource)) = &mut inner.kind
        else {
            let message = format!("{shown} can only be applied to a Resource Expression");
            return Err(PuppetProblem::at(&message, sign.start as usize));
        };
        resource.form = form;
        // Puppet sets the start to the sign before it computes the end.
        let own = TextRange {
            start: sign.start,
            end: sign.start + inner.own.end - inner.own.start,
        };
        let start = TextRange::empty(own.start as usize);
        for part in &mut resource.parts {
            if let ExpressionKind::ResourceBody(..) = part.kind {
                let kind = std::mem::replace(&mut part.kind, ExpressionKind::Nothing);
                *part = Expression::new(kind, start);
            }
        }
        Ok((Expression::new(inner.kind, own), ExpressionShape::Statement))
    }

    fn real_resource(&mut self) -> Parsed<(Expression, ExpressionShape)> {
        let class = self.at(Terminal::Keyword("class")) && self.after() == Terminal::Sign("{");
        let (mut left, mut shape) = if class {
            let (word, keyword) = self.take();
            self.position += 1;
            let start = TextRange::empty(keyword.start as usize);
            let type_name = Expression::new(ExpressionKind::Name(word), start);
            (self.titled(type_name, keyword)?, ExpressionShape::Statement)
        } else {
            (self.expression()?, ExpressionShape::Expression)
        };
        while self.at_sign("{") {
            left = self.deeper(|parser| parser.attributes_of(left))?;
            shape = ExpressionShape::Statement;
        }
        Ok((left, shape))
    }

    /// The braces after a possible resource.
    fn attributes_of(&mut self, left: Expression) -> Parsed<Expression> {
        let open = self.next();
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
        let own = left.own;
        self.titled(left, own)
    }

    /// The bodies of a resource and the closing brace.
    fn titled(&mut self, type_name: Expression, own: TextRange) -> Parsed<Expression> {
        let start = TextRange::empty(own.start as usize);
        let mut parts = vec![self.title(start)?];
        while self.take_sign(";") && !self.at_sign("}") {
            parts.push(self.title(start)?);
        }
        let own = own.cover(self.expect("}")?);
        let form = ResourceForm::Regular;
        let resource = Resource {
            form,
            type_name,
            parts,
        };
        nested(ExpressionKind::Resource(Box::new(resource)), own)
    }

    /// A resource without a title, as soon as its braces are closed.
    fn untitled(&mut self, left: Expression, open: TextRange) -> Parsed<Expression> {
        let attributes = self.attributes()?;
        self.take_sign(",");
        let close = self.expect("}")?;
        let own = left.own.cover(close);
        let form = ResourceForm::Regular;
        let kind: fn(Box<Resource>) -> ExpressionKind = match left.kind {
            ExpressionKind::Name(_) if attributes.adds => {
                let message = "Syntax error resource body without title or hash with +>";
                return Err(PuppetProblem::at(message, open.start as usize).of_syntax());
            }
            ExpressionKind::Name(_) => {
                let hash = entries_of(attributes.list, open.cover(close));
                let read = if calls(&left) {
                    statement_call(left, vec![hash])
                } else {
                    block(vec![left, hash])
                };
                return Ok(Expression::new(read.kind, own));
            }
            ExpressionKind::Reference(_) => ExpressionKind::ResourceDefaults,
            ExpressionKind::Access(..) => ExpressionKind::ResourceOverride,
            _ => {
                let message =
                    "Expression is not valid as a resource, resource-default, or resource-override";
                return Err(PuppetProblem::at(message, left.own.start as usize));
            }
        };
        let resource = Resource {
            form,
            type_name: left,
            parts: attributes.list,
        };
        nested(kind(Box::new(resource)), own)
    }

    /// `title: attributes`
    fn title(&mut self, start: TextRange) -> Parsed<Expression> {
        let title = Box::new(self.expression()?);
        self.expect(":")?;
        let attributes = self.attributes()?.list;
        self.take_sign(",");
        let kind = ExpressionKind::ResourceBody(title, attributes);
        Ok(Expression::new(kind, start))
    }

    /// Attributes separated by commas, with or without a trailing comma.
    fn attributes(&mut self) -> Parsed<Attributes> {
        let mut all = Attributes::default();
        loop {
            if begins_attribute(self.peek()) {
                let from = self.position;
                match self.attribute(&mut all) {
                    Ok(attribute) => all.list.push(attribute),
                    Err(problem) => {
                        self.note(problem)?;
                        self.skip(from, |parser, is_inside| {
                            let terminal = parser.peek();
                            !is_inside && matches!(terminal, Terminal::Sign("," | ";" | "}"))
                        });
                    }
                }
            }
            if !self.at_sign(",") || !begins_attribute(self.after()) {
                return Ok(all);
            }
            self.position += 1;
        }
    }

    fn attribute(&mut self, all: &mut Attributes) -> Parsed<Expression> {
        let is_splat = self.at_sign("*");
        let (name, place) = self.take();
        let adds = !is_splat && self.at_sign("+>");
        if adds {
            self.position += 1;
            all.adds = true;
        } else {
            self.expect("=>")?;
        }
        let value = self.expression()?;
        let own = TextRange::new(place.start as usize, value.own.end.max(place.end) as usize);
        let kind = if is_splat {
            ExpressionKind::AttributeSplat(Box::new(value))
        } else {
            ExpressionKind::Attribute(Box::new(Attribute {
                name,
                place,
                adds,
                value,
            }))
        };
        Ok(Expression::new(kind, own))
    }

    /// `<| … |>` and `<<| … |>>`
    pub(super) fn collector(&mut self, left: Expression) -> Parsed<Expression> {
        let is_virtual = self.at_sign("<|");
        let close = if is_virtual { "|>" } else { "|>>" };
        let open = self.next();
        let mut query = None;
        if !self.at_sign(close) {
            query = Some(Box::new(self.expression()?));
        }
        let place = open.cover(self.expect(close)?);
        let kind = if is_virtual {
            ExpressionKind::VirtualQuery(query)
        } else {
            ExpressionKind::ExportedQuery(query)
        };
        let query = Expression::new(kind, place);
        let mut own = left.own.cover(place);
        let mut attributes = Vec::new();
        if self.take_sign("{") {
            attributes = self.attributes()?.list;
            self.take_sign(",");
            own = own.cover(self.expect("}")?);
        }
        let pair = Box::new([left, query]);
        let kind = ExpressionKind::Collect(pair, attributes);
        Ok(Expression::new(kind, own))
    }
}

/// The attributes after a name, which Puppet parses as a hash.
fn entries_of(attributes: Vec<Expression>, own: TextRange) -> Expression {
    let start = TextRange::empty(own.start as usize);
    let entry = |attribute: Expression| {
        let (key, value) = match attribute.kind {
            ExpressionKind::Attribute(attribute) => {
                (ExpressionKind::Text(attribute.name), attribute.value)
            }
            other => (ExpressionKind::Nothing, Expression::new(other, start)),
        };
        let pair = Box::new([Expression::new(key, start), value]);
        Expression::new(ExpressionKind::Entry(pair), start)
    };
    let entries = attributes.into_iter().map(entry).collect();
    Expression::new(ExpressionKind::Hash(entries), own)
}
