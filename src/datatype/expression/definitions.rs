//! Constructs that start with a keyword: conditions and definitions. And lambdas, which have
//! parameters too.

use super::grammar::{Kept, Parsed, Parser};
use super::lexer::Terminal;
use super::{Expression, Kind, Span};

impl Parser {
    pub(super) fn keyword(&mut self) -> Parsed<Expression> {
        match self.peek() {
            Terminal::Keyword("if") => self.condition(),
            Terminal::Keyword("unless") => self.unless(),
            Terminal::Keyword("case") => self.case(),
            Terminal::Keyword("type") => self.type_keyword(),
            Terminal::Keyword("node") => self.node(),
            Terminal::Keyword("define" | "class" | "function") => self.named(),
            _ => Err(self.unexpected()),
        }
    }

    /// `if` or `elsif`
    fn condition(&mut self) -> Parsed<Expression> {
        let keyword = self.take().1;
        let test = self.expression()?;
        let body = self.body()?;
        let mut parts = vec![test.whole()];
        parts.extend(body.kept.map(|kept| kept.whole));
        let other = if self.at(Terminal::Keyword("elsif")) {
            let other = self.deeper(Parser::condition)?;
            Some(Kept {
                own: other.own,
                whole: other.whole(),
            })
        } else {
            self.otherwise()?
        };
        parts.extend(other.map(|kept| kept.whole));
        let end = other.map_or(body.braces.end, |other| other.own.end);
        // Puppet sets the start to the keyword before it computes the end.
        let own = Span {
            start: keyword.start,
            end: keyword.start + end - test.own.start.min(end),
        };
        Ok(Expression::other(own, &parts))
    }

    fn unless(&mut self) -> Parsed<Expression> {
        let mut own = self.take().1;
        let mut parts = vec![self.expression()?.whole()];
        let body = self.body()?;
        let other = self.otherwise()?;
        // Without statements the range ends before the braces.
        match body.kept {
            Some(kept) => {
                own = own.with(body.braces);
                parts.push(kept.whole);
            }
            None => own = other.map_or(own, |other| own.with(other.own)),
        }
        parts.extend(other.map(|other| other.whole));
        Ok(Expression::other(own, &parts))
    }

    /// `else`: the range of its body.
    fn otherwise(&mut self) -> Parsed<Option<Kept>> {
        if !self.at(Terminal::Keyword("else")) {
            return Ok(None);
        }
        self.position += 1;
        Ok(self.body()?.kept)
    }

    fn case(&mut self) -> Parsed<Expression> {
        let keyword = self.take().1;
        self.expression()?;
        self.expect("{")?;
        loop {
            self.expression()?;
            while self.take_sign(",") {
                self.expression()?;
            }
            self.expect(":")?;
            self.body()?;
            if self.at_sign("}") {
                return Ok(Expression::other(keyword.with(self.take().1), &[]));
            }
        }
    }

    /// `define`, `class` or `function`
    fn named(&mut self) -> Parsed<Expression> {
        let class = self.at(Terminal::Keyword("class"));
        let function = self.at(Terminal::Keyword("function"));
        let keyword = self.take().1;
        self.class_name()?;
        self.parameter_list()?;
        if class && self.at(Terminal::Keyword("inherits")) {
            self.position += 1;
            if self.at(Terminal::Keyword("default")) {
                self.position += 1;
            } else {
                self.class_name()?;
            }
        }
        if function {
            self.return_type()?;
        }
        Ok(Expression::other(keyword.with(self.body()?.braces), &[]))
    }

    fn class_name(&mut self) -> Parsed<()> {
        let message = match self.peek() {
            Terminal::Name | Terminal::Word | Terminal::Reference => {
                self.position += 1;
                return Ok(());
            }
            Terminal::Keyword("class") => "'class' keyword not allowed at this location",
            Terminal::Text => "A quoted string is not valid as a name here",
            _ => return Err(self.unexpected()),
        };
        Err(self.error(message, self.place().start))
    }

    fn node(&mut self) -> Parsed<Expression> {
        let keyword = self.take().1;
        loop {
            self.host_name()?;
            if !self.take_sign(",")
                || matches!(
                    self.peek(),
                    Terminal::Keyword("inherits") | Terminal::Sign("{")
                )
            {
                break;
            }
        }
        if self.at(Terminal::Keyword("inherits")) {
            self.position += 1;
            self.host_name()?;
        }
        Ok(Expression::other(keyword.with(self.body()?.braces), &[]))
    }

    fn host_name(&mut self) -> Parsed<()> {
        match self.peek() {
            Terminal::Name | Terminal::Number => {
                self.position += 1;
                while self.take_sign(".") {
                    if !matches!(self.peek(), Terminal::Name | Terminal::Number) {
                        return Err(self.unexpected());
                    }
                    self.position += 1;
                }
            }
            Terminal::Text | Terminal::Word | Terminal::Regexp | Terminal::Keyword("default") => {
                self.position += 1;
            }
            Terminal::Opening | Terminal::Heredoc => {
                self.primary()?;
            }
            _ => return Err(self.unexpected()),
        }
        Ok(())
    }

    // ----- types

    fn type_keyword(&mut self) -> Parsed<Expression> {
        let keyword = self.take().1;
        match (self.peek(), self.after()) {
            (Terminal::Sign("("), _) => {
                self.position += 1;
                self.call(keyword, keyword)
            }
            (Terminal::Reference, Terminal::Sign("{") | Terminal::Keyword("inherits")) => {
                self.position += 1;
                if self.at(Terminal::Keyword("inherits")) {
                    self.position += 1;
                    self.type_name()?;
                }
                Ok(Expression::other(keyword.with(self.body()?.braces), &[]))
            }
            (Terminal::Reference, _) => self.type_alias(),
            _ => Err(self.unexpected()),
        }
    }

    /// The definition of an alias at the start of a text; the rest is not checked.
    pub(super) fn alias(&mut self) -> Parsed<Expression> {
        if !self.at(Terminal::Keyword("type")) {
            return Err(self.error("not a type alias", 0));
        }
        self.position += 1;
        self.type_alias()
    }

    /// An alias after its keyword. Its range starts with its name.
    fn type_alias(&mut self) -> Parsed<Expression> {
        let name = self.type_name()?;
        let Kind::Reference(alias) = &name.kind else {
            return Err(self.unexpected());
        };
        let alias = alias.clone();
        let own = name.own;
        let mapping = self.at_sign("[");
        if mapping {
            self.bare_keys()?;
        }
        self.expect("=")?;
        // Brackets have no range of their own here.
        let nowhere = Span {
            start: own.start,
            end: own.start,
        };
        let access = |left: Expression, keys: Vec<Expression>| {
            let mut parts: Vec<Span> = keys.iter().map(Expression::whole).collect();
            parts.push(left.whole());
            Expression::new(Kind::Access(Box::new(left), keys), nowhere).covering(&parts)
        };
        let object = || Expression::new(Kind::Reference("Object".to_owned()), nowhere);
        let body = match self.peek() {
            Terminal::Reference => {
                let parent = self.type_name()?;
                if self.at_sign("{") {
                    let mut hash = self.hash()?;
                    let whole = matches!(&parent.kind, Kind::Reference(name) if name == "Object" || name == "TypeSet");
                    if whole {
                        access(parent, vec![hash])
                    } else {
                        if let Kind::Hash(entries) = &mut hash.kind {
                            let key = Expression::new(Kind::Name("parent".to_owned()), nowhere);
                            entries.push((key, parent));
                        }
                        access(object(), vec![hash])
                    }
                } else if self.at_sign("[") {
                    self.position += 1;
                    let (keys, _) = self.keys()?;
                    access(parent, keys)
                } else {
                    parent
                }
            }
            Terminal::Sign("{") => {
                let hash = self.hash()?;
                access(object(), vec![hash])
            }
            Terminal::Sign("[") | Terminal::ListStart => self.list()?,
            _ => return Err(self.unexpected()),
        };
        let whole = body.whole();
        let kind = if mapping {
            Kind::Other
        } else {
            Kind::Alias(alias, Box::new(body))
        };
        Ok(Expression::new(kind, own).covering(&[whole]))
    }

    fn type_name(&mut self) -> Parsed<Expression> {
        if !self.at(Terminal::Reference) {
            return Err(self.unexpected());
        }
        let (name, place) = self.take();
        Ok(Expression::new(Kind::Reference(name), place))
    }

    /// Keys in brackets without a trailing comma.
    fn bare_keys(&mut self) -> Parsed<()> {
        self.position += 1;
        self.access_keys(None)?;
        self.expect("]")?;
        Ok(())
    }

    // ----- parameters

    /// `|parameters| { … }`: its range.
    pub(super) fn lambda(&mut self) -> Parsed<Span> {
        let open = self.take().1;
        if !self.take_sign("|") {
            self.parameters("|")?;
            self.expect("|")?;
        }
        self.return_type()?;
        Ok(open.with(self.deeper(Parser::body)?.braces))
    }

    fn return_type(&mut self) -> Parsed<()> {
        if self.take_sign(">>") {
            self.type_name()?;
            if self.at_sign("[") {
                self.bare_keys()?;
            }
        }
        Ok(())
    }

    fn parameter_list(&mut self) -> Parsed<()> {
        if !matches!(self.peek(), Terminal::Sign("(") | Terminal::LineParenthesis) {
            return Ok(());
        }
        self.position += 1;
        if !self.at_sign(")") {
            self.parameters(")")?;
        }
        self.expect(")")?;
        Ok(())
    }

    /// Parameters, with or without a trailing comma.
    fn parameters(&mut self, close: &'static str) -> Parsed<()> {
        loop {
            if self.at(Terminal::Reference) {
                self.position += 1;
                if self.at_sign("[") {
                    self.bare_keys()?;
                }
            }
            self.take_sign("*");
            if !self.at(Terminal::Variable) {
                return Err(self.unexpected());
            }
            self.position += 1;
            if self.take_sign("=") {
                self.expression()?;
            }
            if !self.take_sign(",") || self.at_sign(close) {
                return Ok(());
            }
        }
    }
}
