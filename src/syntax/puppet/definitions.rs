//! Parses constructs that start with a keyword: conditions and definitions.

use super::PuppetProblem;
use super::grammar::{Body, ExpressionShape};
use super::lexer::Terminal;
use super::parser::{Parsed, PuppetParser};
use super::tree::{Conditional, Definition, Expression, ExpressionKind, NodeBlock, TypeAlias};
use crate::text::TextRange;

impl PuppetParser<'_> {
    pub(super) fn keyword(&mut self) -> Parsed<Expression> {
        match self.peek() {
            Terminal::Keyword("if") => self.condition(),
            Terminal::Keyword("unless") => self.unless(),
            Terminal::Keyword("case") => self.case(),
            Terminal::Keyword("type") => self.type_keyword(),
            Terminal::Keyword("node") => self.node(),
            Terminal::Keyword("apply") => self.apply(),
            Terminal::Keyword("define") => self.named(ExpressionKind::Define),
            Terminal::Keyword("class") => self.named(ExpressionKind::Class),
            Terminal::Keyword("function") => self.named(ExpressionKind::Function),
            Terminal::Keyword("plan") => self.named(ExpressionKind::Plan),
            _ => Err(self.unexpected()),
        }
    }

    /// `if` or `elsif`
    fn condition(&mut self) -> Parsed<Expression> {
        let keyword = self.next();
        let test = self.expression()?;
        let body = self.body()?;
        let otherwise = if self.at(Terminal::Keyword("elsif")) {
            Some(self.deeper(PuppetParser::condition)?)
        } else {
            self.otherwise()?
        };
        let end = otherwise.as_ref().map_or(body.braces.end, |o| o.own.end);
        // Puppet sets the start to the keyword before it computes the end.
        let own = TextRange {
            start: keyword.start,
            end: keyword.start + end - test.own.start.min(end),
        };
        let condition = Conditional {
            test,
            then: body.bare(),
            otherwise,
        };
        let kind = ExpressionKind::If(Box::new(condition));
        Ok(Expression::new(kind, own))
    }

    fn unless(&mut self) -> Parsed<Expression> {
        let mut own = self.next();
        let test = self.expression()?;
        let body = self.body()?;
        let otherwise = self.otherwise()?;
        // Without statements the range ends before the braces.
        if body.statements.is_empty() {
            own = otherwise.as_ref().map_or(own, |o| own.cover(o.own));
        } else {
            own = own.cover(body.braces);
        }
        let condition = Conditional {
            test,
            then: body.bare(),
            otherwise,
        };
        let kind = ExpressionKind::Unless(Box::new(condition));
        Ok(Expression::new(kind, own))
    }

    /// `else`: its body.
    fn otherwise(&mut self) -> Parsed<Option<Expression>> {
        if !self.at(Terminal::Keyword("else")) {
            return Ok(None);
        }
        self.position += 1;
        Ok(self.body()?.bare())
    }

    fn case(&mut self) -> Parsed<Expression> {
        let keyword = self.next();
        let test = Box::new(self.expression()?);
        self.expect("{")?;
        let mut options = Vec::new();
        loop {
            let mut values = vec![self.expression()?];
            while self.take_sign(",") {
                values.push(self.expression()?);
            }
            let colon = self.expect(":")?;
            let body = self.body()?;
            let own = colon.cover(body.braces);
            let body = body.block(own.start).map(Box::new);
            let kind = ExpressionKind::CaseOption(values, body);
            options.push(Expression::new(kind, own));
            if self.at_sign("}") {
                let own = keyword.cover(self.next());
                return Ok(Expression::new(ExpressionKind::Case(test, options), own));
            }
        }
    }

    /// `define`, `class`, `function` or `plan`
    fn named(
        &mut self,
        kind: impl FnOnce(Box<Definition>) -> ExpressionKind,
    ) -> Parsed<Expression> {
        let word = self.peek();
        let keyword = self.next();
        let (name, place) = self.class_name()?;
        let is_space = matches!(word, Terminal::Keyword("class" | "plan"));
        if is_space {
            self.namespace.push(name.clone());
        }
        let read = self.definition(word);
        if is_space {
            self.namespace.pop();
        }
        let (mut definition, body) = read?;
        definition.place = place;
        definition.name = match (word, &self.namespace[..]) {
            (Terminal::Keyword("function"), _) | (_, []) => name,
            (_, around) => format!("{}::{name}", around.join("::")).into(),
        };
        let own = keyword.cover(body.braces);
        definition.body = body.block(own.start);
        Ok(Expression::new(kind(Box::new(definition)), own))
    }

    /// The definition after its name.
    fn definition(&mut self, word: Terminal) -> Parsed<(Definition, Body)> {
        let parameters = self.parameter_list()?;
        let mut parent = None;
        if word == Terminal::Keyword("class") && self.at(Terminal::Keyword("inherits")) {
            self.position += 1;
            parent = Some(match self.peek() {
                Terminal::Keyword("default") => self.take(),
                _ => self.class_name()?,
            });
        }
        let mut returns = None;
        if word == Terminal::Keyword("function") {
            returns = self.return_type()?;
        }
        let body = match self.at_sign("{") {
            false if self.problems.is_some() => {
                let problem = self.unexpected();
                Body {
                    braces: self.unclosed(problem)?,
                    statements: Vec::new(),
                }
            }
            _ => self.body()?,
        };
        let definition = Definition {
            name: Box::default(),
            place: TextRange::default(),
            parameters,
            parent,
            returns,
            body: None,
        };
        Ok((definition, body))
    }

    fn class_name(&mut self) -> Parsed<(Box<str>, TextRange)> {
        let message = match self.peek() {
            Terminal::Name | Terminal::Word | Terminal::Reference => return Ok(self.take()),
            Terminal::Keyword("class") => "'class' keyword not allowed at this location",
            Terminal::Text => "A quoted string is not valid as a name here",
            _ => return Err(self.unexpected()),
        };
        Err(PuppetProblem::at(message, self.place().start as usize))
    }

    fn node(&mut self) -> Parsed<Expression> {
        let keyword = self.next();
        let mut matches = Vec::new();
        loop {
            matches.push(self.host_name()?);
            if !self.take_sign(",")
                || matches!(
                    self.peek(),
                    Terminal::Keyword("inherits") | Terminal::Sign("{")
                )
            {
                break;
            }
        }
        let mut parent = None;
        if self.at(Terminal::Keyword("inherits")) {
            self.position += 1;
            parent = Some(self.host_name()?);
        }
        let body = self.body()?;
        let own = keyword.cover(body.braces);
        let block = NodeBlock {
            matches,
            parent,
            body: body.block(own.start),
        };
        let kind = ExpressionKind::NodeBlock(Box::new(block));
        Ok(Expression::new(kind, own))
    }

    fn host_name(&mut self) -> Parsed<Expression> {
        match self.peek() {
            Terminal::Name | Terminal::Number => {
                let (name, mut own) = self.take();
                let mut name = String::from(name);
                while self.take_sign(".") {
                    if !matches!(self.peek(), Terminal::Name | Terminal::Number) {
                        return Err(self.unexpected());
                    }
                    let (more, place) = self.take();
                    name = format!("{name}.{more}");
                    own = own.cover(place);
                }
                Ok(Expression::new(ExpressionKind::Text(name.into()), own))
            }
            Terminal::Text
            | Terminal::Word
            | Terminal::Regexp
            | Terminal::Keyword("default")
            | Terminal::Opening
            | Terminal::Heredoc => self.primary(),
            _ => Err(self.unexpected()),
        }
    }

    /// `apply(…) { … }`
    fn apply(&mut self) -> Parsed<Expression> {
        let keyword = self.next();
        self.expect("(")?;
        let close = Some(Terminal::Sign(")"));
        let arguments = self.elements(close, |shape| shape != ExpressionShape::Keyword)?;
        self.take_sign(",");
        self.expect(")")?;
        let body = self.body()?;
        let own = keyword.cover(body.braces);
        let start = TextRange::empty(own.start as usize);
        let block = Expression::new(ExpressionKind::ApplyBlock(body.statements), start);
        let kind = ExpressionKind::Apply(arguments, Box::new(block));
        Ok(Expression::new(kind, own))
    }

    // ----- types

    fn type_keyword(&mut self) -> Parsed<Expression> {
        let (word, keyword) = self.take();
        match (self.peek(), self.after()) {
            (Terminal::Sign("("), _) => {
                self.position += 1;
                self.call(Expression::new(ExpressionKind::Name(word), keyword))
            }
            (Terminal::Reference, Terminal::Sign("{") | Terminal::Keyword("inherits")) => {
                let (name, _) = self.take();
                let mut parent = None;
                if self.at(Terminal::Keyword("inherits")) {
                    self.position += 1;
                    if !self.at(Terminal::Reference) {
                        return Err(self.unexpected());
                    }
                    parent = Some(self.take().0);
                }
                let body = self.body()?;
                let own = keyword.cover(body.braces);
                let body = body.block(own.start).map(Box::new);
                let kind = ExpressionKind::TypeDefinition(name, parent, body);
                Ok(Expression::new(kind, own))
            }
            (Terminal::Reference, _) => self.type_alias(),
            _ => Err(self.unexpected()),
        }
    }

    /// The definition of an alias at the start of a text; the rest is not checked.
    pub(super) fn alias(&mut self) -> Parsed<Expression> {
        if !self.at(Terminal::Keyword("type")) {
            return Err(PuppetProblem::at("not a type alias", 0));
        }
        self.position += 1;
        self.type_alias()
    }

    /// A type alias after its keyword. Its range starts with its name.
    fn type_alias(&mut self) -> Parsed<Expression> {
        let left = self.parameter_type()?;
        self.expect("=")?;
        let start = left.own;
        // Parts that Puppet generates have no range of their own.
        let nowhere = TextRange::empty(start.start as usize);
        let is_alias = matches!(left.kind, ExpressionKind::Reference(_));
        let first = self.place();
        let (right, own) = match self.peek() {
            Terminal::Reference => {
                let parent = self.type_name()?;
                if self.at_sign("{") {
                    let hash = self.hash()?;
                    let own = start.cover(hash.own);
                    if is_alias {
                        (object(parent, hash, nowhere), own)
                    } else {
                        let entry = ExpressionKind::Entry(Box::new([parent, hash]));
                        (Expression::new(entry, nowhere), own)
                    }
                } else if self.take_sign("[") {
                    let (keys, _) = self.keys()?;
                    let access = ExpressionKind::Access(Box::new(parent), keys);
                    (Expression::new(access, nowhere), start)
                } else {
                    let own = start.cover(parent.own);
                    (parent, own)
                }
            }
            Terminal::Sign("{") => {
                let hash = self.hash()?;
                let own = start.cover(hash.own);
                if is_alias {
                    (access_of_object(hash, nowhere), own)
                } else {
                    (hash, own)
                }
            }
            Terminal::Sign("[") | Terminal::ListStart => (self.list()?, start),
            _ => return Err(self.unexpected()),
        };
        let kind = match left.kind {
            ExpressionKind::Reference(name) => {
                let last = self.tokens.tokens[self.position - 1].place;
                let (body, place) = (right, first.cover(last));
                ExpressionKind::TypeAlias(Box::new(TypeAlias { name, body, place }))
            }
            _ => ExpressionKind::TypeMapping(Box::new([left, right])),
        };
        Ok(Expression::new(kind, own))
    }

    pub(super) fn type_name(&mut self) -> Parsed<Expression> {
        if !self.at(Terminal::Reference) {
            return Err(self.unexpected());
        }
        let (name, place) = self.take();
        Ok(Expression::new(ExpressionKind::Reference(name), place))
    }
}

/// The expansion of `type Foo = Parent {…}`: `Object[{…, parent => Parent}]`.
fn object(parent: Expression, mut hash: Expression, nowhere: TextRange) -> Expression {
    let is_whole = matches!(
        &parent.kind,
        ExpressionKind::Reference(name) if matches!(&**name, "Object" | "TypeSet")
    );
    if is_whole {
        let kind = ExpressionKind::Access(Box::new(parent), vec![hash]);
        return Expression::new(kind, nowhere);
    }
    let own = hash.own;
    if let ExpressionKind::Hash(entries) = &mut hash.kind {
        let start = TextRange::empty(own.start as usize);
        let key = Expression::new(ExpressionKind::Name("parent".into()), start);
        let kind = ExpressionKind::Entry(Box::new([key, parent]));
        entries.push(Expression::new(kind, start));
    }
    access_of_object(Expression::new(hash.kind, own), nowhere)
}

fn access_of_object(hash: Expression, nowhere: TextRange) -> Expression {
    let object = Expression::new(ExpressionKind::Reference("Object".into()), nowhere);
    let kind = ExpressionKind::Access(Box::new(object), vec![hash]);
    Expression::new(kind, nowhere)
}
