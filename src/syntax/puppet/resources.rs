//! Parses constructs with attributes in braces: resources, their defaults and overrides,
//! collectors.

use super::Problem;
use super::grammar::{Shape, block, calls, nested, statement_call};
use super::lexer::Terminal;
use super::parser::{Parsed, Parser};
use super::tree::{Attribute, Form, Kind, Node, Resource};
use crate::text::TextRange;

/// Attributes, and whether one of them has the operator `+>`.
#[derive(Default)]
struct Attributes {
    list: Vec<Node>,
    adds: bool,
}

fn begins_attribute(terminal: Terminal) -> bool {
    matches!(
        terminal,
        Terminal::Name | Terminal::Keyword(_) | Terminal::Sign("*")
    )
}

impl Parser<'_> {
    pub(super) fn resource(&mut self) -> Parsed<(Node, Shape)> {
        let (form, shown) = match self.peek() {
            Terminal::Sign("@") => (Form::Virtual, "Virtual (@)"),
            Terminal::Sign("@@") => (Form::Exported, "Exported (@@)"),
            _ => return self.real_resource(),
        };
        let sign = self.next();
        let mut inner = self.deeper(Parser::resource)?.0;
        // More braces could have followed.
        self.asked()?;
        let (Kind::Resource(resource)
        | Kind::ResourceDefaults(resource)
        | Kind::ResourceOverride(resource)) = &mut inner.kind
        else {
            let message = format!("{shown} can only be applied to a Resource Expression");
            return Err(Problem::at(&message, sign.start as usize));
        };
        resource.form = form;
        // Puppet sets the start to the sign before it computes the end.
        let own = TextRange {
            start: sign.start,
            end: sign.start + inner.own.end - inner.own.start,
        };
        let start = TextRange::empty(own.start as usize);
        for part in &mut resource.parts {
            if let Kind::ResourceBody(..) = part.kind {
                let kind = std::mem::replace(&mut part.kind, Kind::Nothing);
                *part = Node::new(kind, start);
            }
        }
        Ok((Node::new(inner.kind, own), Shape::Statement))
    }

    fn real_resource(&mut self) -> Parsed<(Node, Shape)> {
        let class = self.at(Terminal::Keyword("class")) && self.after() == Terminal::Sign("{");
        let (mut left, mut shape) = if class {
            let (word, keyword) = self.take();
            self.position += 1;
            let start = TextRange::empty(keyword.start as usize);
            let of = Node::new(Kind::Name(word), start);
            (self.titled(of, keyword)?, Shape::Statement)
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
    fn attributes_of(&mut self, left: Node) -> Parsed<Node> {
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
    fn titled(&mut self, of: Node, own: TextRange) -> Parsed<Node> {
        let start = TextRange::empty(own.start as usize);
        let mut parts = vec![self.title(start)?];
        while self.take_sign(";") && !self.at_sign("}") {
            parts.push(self.title(start)?);
        }
        let own = own.cover(self.expect("}")?);
        let form = Form::Regular;
        let resource = Resource { form, of, parts };
        nested(Kind::Resource(Box::new(resource)), own)
    }

    /// A resource without a title, as soon as its braces are closed.
    fn untitled(&mut self, left: Node, open: TextRange) -> Parsed<Node> {
        let attributes = self.attributes()?;
        self.take_sign(",");
        let close = self.expect("}")?;
        let own = left.own.cover(close);
        let form = Form::Regular;
        let kind: fn(Box<Resource>) -> Kind = match left.kind {
            Kind::Name(_) if attributes.adds => {
                let message = "Syntax error resource body without title or hash with +>";
                return Err(Problem::at(message, open.start as usize).of_syntax());
            }
            Kind::Name(_) => {
                let hash = entries_of(attributes.list, open.cover(close));
                let read = match calls(&left) {
                    true => statement_call(left, vec![hash]),
                    false => block(vec![left, hash]),
                };
                return Ok(Node::new(read.kind, own));
            }
            Kind::Reference(_) => Kind::ResourceDefaults,
            Kind::Access(..) => Kind::ResourceOverride,
            _ => {
                let message =
                    "Expression is not valid as a resource, resource-default, or resource-override";
                return Err(Problem::at(message, left.own.start as usize));
            }
        };
        let resource = Resource {
            form,
            of: left,
            parts: attributes.list,
        };
        nested(kind(Box::new(resource)), own)
    }

    /// `title: attributes`
    fn title(&mut self, start: TextRange) -> Parsed<Node> {
        let title = Box::new(self.expression()?);
        self.expect(":")?;
        let attributes = self.attributes()?.list;
        self.take_sign(",");
        Ok(Node::new(Kind::ResourceBody(title, attributes), start))
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

    fn attribute(&mut self, all: &mut Attributes) -> Parsed<Node> {
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
        let kind = match is_splat {
            true => Kind::AttributeSplat(Box::new(value)),
            false => Kind::Attribute(Box::new(Attribute {
                name,
                place,
                adds,
                value,
            })),
        };
        Ok(Node::new(kind, own))
    }

    /// `<| … |>` and `<<| … |>>`
    pub(super) fn collector(&mut self, left: Node) -> Parsed<Node> {
        let is_virtual = self.at_sign("<|");
        let close = if is_virtual { "|>" } else { "|>>" };
        let open = self.next();
        let mut query = None;
        if !self.at_sign(close) {
            query = Some(Box::new(self.expression()?));
        }
        let place = open.cover(self.expect(close)?);
        let kind = match is_virtual {
            true => Kind::VirtualQuery(query),
            false => Kind::ExportedQuery(query),
        };
        let query = Node::new(kind, place);
        let mut own = left.own.cover(place);
        let mut attributes = Vec::new();
        if self.take_sign("{") {
            attributes = self.attributes()?.list;
            self.take_sign(",");
            own = own.cover(self.expect("}")?);
        }
        let pair = Box::new([left, query]);
        Ok(Node::new(Kind::Collect(pair, attributes), own))
    }
}

/// The attributes after a name, which Puppet parses as a hash.
fn entries_of(attributes: Vec<Node>, own: TextRange) -> Node {
    let start = TextRange::empty(own.start as usize);
    let entry = |attribute: Node| {
        let (key, value) = match attribute.kind {
            Kind::Attribute(attribute) => (Kind::Text(attribute.name), attribute.value),
            other => (Kind::Nothing, Node::new(other, start)),
        };
        let pair = Box::new([Node::new(key, start), value]);
        Node::new(Kind::Entry(pair), start)
    };
    let entries = attributes.into_iter().map(entry).collect();
    Node::new(Kind::Hash(entries), own)
}
