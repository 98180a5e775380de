//! Puppet's checks beyond the grammar (`pops/validation/checker4_0.rb` and `tasks_checker.rb`) that
//! need only the text: the file's location and the texts of heredocs are not checked. A duplicate
//! key in a hash is a warning in Puppet 7 and not reported.

mod definitions;

use super::labels::{a, label};
use super::tree::{Form, Kind, Node, Prefix};
use super::words;
use super::{Dialect, Problem};

/// The problems of a program, in the order in which Puppet finds them.
pub(super) fn validate(root: &Node, dialect: Dialect) -> Vec<Problem> {
    let mut checker = Checker {
        is_plan: dialect == Dialect::Plan,
        path: Vec::new(),
        problems: Vec::new(),
    };
    checker.walk(root);
    checker.problems
}

struct Checker<'a> {
    is_plan: bool,
    /// The enclosing nodes, outermost first.
    path: Vec<&'a Node>,
    problems: Vec<Problem>,
}

impl<'a> Checker<'a> {
    fn walk(&mut self, node: &'a Node) {
        self.check(node);
        self.path.push(node);
        node.kind.each(&mut |part| self.walk(part));
        self.path.pop();
    }

    fn refuse(&mut self, node: &Node, message: &str) {
        let problem = Problem::at(message, node.own.start as usize);
        self.problems.push(problem);
    }

    fn check(&mut self, node: &'a Node) {
        if self.is_plan && self.refuses_in_plan(node) {
            return;
        }
        match &node.kind {
            Kind::Binary(sign, pair) => self.operator(node, sign, pair),
            Kind::Unary(_, inner) | Kind::Interpolation(inner) | Kind::Render(inner) => {
                self.value(inner);
            }
            Kind::Variable(name) => self.variable(node, name),
            Kind::Integer(written) => self.integer(node, written),
            Kind::List(values) => values.iter().for_each(|value| self.value(value)),
            Kind::Entry(pair) => pair.iter().for_each(|value| self.value(value)),
            Kind::If(condition) | Kind::Unless(condition) => self.value(&condition.test),
            Kind::Case(..) | Kind::CaseOption(..) | Kind::Selector(..) | Kind::SelectorEntry(_) => {
                self.choice(node);
            }
            Kind::Block(statements) | Kind::ApplyBlock(statements) => {
                self.block(node, statements);
            }
            Kind::Call(call) => self.function(node, &call.function),
            Kind::Lambda(lambda) => {
                let last = lambda.parameters.len().saturating_sub(1);
                for parameter in &lambda.parameters[..last] {
                    if let Some(name) = captures_rest(parameter) {
                        let message =
                            format!("Parameter ${name} is not last, and has 'captures rest'");
                        self.refuse(parameter, &message);
                    }
                }
                self.return_type(node, lambda.returns.as_ref());
            }
            Kind::Template(..) => {
                if let Some(Kind::Lambda(lambda)) = self.path.last().map(|around| &around.kind) {
                    self.no_rest(node, &lambda.parameters);
                    self.unique(&lambda.parameters);
                }
            }
            Kind::Reserved(word) => {
                let message = format!(
                    "Use of reserved word: {word}, must be quoted if intended to be a String value"
                );
                self.refuse(node, &message);
            }
            _ => self.check_definition(node),
        }
    }

    fn check_resource(&mut self, node: &'a Node) {
        match &node.kind {
            Kind::Resource(resource) => {
                let is_class = matches!(&resource.of.kind, Kind::Name(name) if &**name == "class");
                if resource.form != Form::Regular && is_class {
                    self.refuse(node, "Classes are not virtualizable");
                }
            }
            Kind::ResourceDefaults(resource) | Kind::ResourceOverride(resource) => {
                self.regular(node, resource);
            }
            Kind::ResourceBody(_, attributes) => {
                let is_splat = |node: &&Node| matches!(node.kind, Kind::AttributeSplat(_));
                for splat in attributes.iter().filter(is_splat).skip(1) {
                    let message =
                        "Unfolding of attributes from Hash can only be used once per resource body";
                    self.refuse(splat, message);
                }
            }
            Kind::Attribute(attribute) => {
                let around = self.path.last().copied();
                let takes_more =
                    |n: &Node| matches!(n.kind, Kind::Collect(..) | Kind::ResourceOverride(_));
                if attribute.adds
                    && let Some(around) = around.filter(|around| !takes_more(around))
                {
                    let (name, around) = (&attribute.name, a(around));
                    let message = format!(
                        "Illegal +> operation on attribute {name}. This operator can not be used in {around}"
                    );
                    self.refuse(node, &message);
                }
                self.value(&attribute.value);
            }
            Kind::AttributeSplat(value) => self.value(value),
            Kind::Collect(pair, _) if !matches!(pair[0].kind, Kind::Reference(_)) => {
                self.illegal(&pair[0], "type name", node);
            }
            Kind::VirtualQuery(Some(query)) | Kind::ExportedQuery(Some(query)) => {
                self.query(query);
            }
            _ => {}
        }
    }

    /// Checks for nodes that are not allowed in a plan, at all or outside of `apply`. Returns true
    /// if nothing else needs checking.
    fn refuses_in_plan(&mut self, node: &Node) -> bool {
        let applies = self
            .path
            .iter()
            .any(|around| matches!(around.kind, Kind::ApplyBlock(_)));
        let is_refused = match &node.kind {
            Kind::Class(_) | Kind::Define(_) => true,
            Kind::NodeBlock(_)
            | Kind::Resource(_)
            | Kind::ResourceDefaults(_)
            | Kind::ResourceOverride(_)
            | Kind::Binary("->" | "~>" | "<-" | "<~", _) => !applies,
            Kind::Collect(pair, _) if applies => !matches!(pair[1].kind, Kind::VirtualQuery(_)),
            Kind::Collect(..) => true,
            Kind::Apply(..) => applies,
            _ => false,
        };
        if is_refused {
            let when = match applies && !matches!(node.kind, Kind::Class(_) | Kind::Define(_)) {
                true => "not available when compiling",
                false => "only available when compiling",
            };
            let message = format!("{} is {when} a catalog", capital(&a(node)));
            self.refuse(node, &message);
        }
        is_refused
    }

    // ----- expressions

    fn operator(&mut self, node: &'a Node, sign: &str, pair: &'a [Node; 2]) {
        match sign {
            "=" => {
                self.assignable(&pair[0]);
                self.value(&pair[1]);
            }
            "+=" | "-=" => {
                let message = format!(
                    "The operator '{sign}' is no longer supported. See http://links.puppet.com/remove-plus-equals"
                );
                self.refuse(node, &message);
            }
            "->" | "~>" | "<-" | "<~" => {
                for side in pair {
                    if !matches!(side.kind, Kind::Collect(..)) {
                        self.value(side);
                    }
                }
            }
            _ => pair.iter().for_each(|side| self.value(side)),
        }
    }

    /// Checks that a node has a value.
    fn value(&mut self, node: &Node) {
        match &node.kind {
            Kind::Unary(_, inner) | Kind::Interpolation(inner) | Kind::Render(inner) => {
                self.value(inner);
            }
            kind if kind.is_definition() || matches!(kind, Kind::Collect(..)) => {
                let message = format!(
                    "Invalid use of expression. {} does not produce a value",
                    capital(&a(node))
                );
                self.refuse(node, &message);
            }
            _ => {}
        }
    }

    fn assignable(&mut self, node: &Node) {
        match &node.kind {
            Kind::Variable(name) => {
                if words::is_match_variable(name) {
                    let message = format!(
                        "Illegal attempt to assign to the numeric match result variable '${name}'. Numeric variables are not assignable"
                    );
                    self.refuse(node, &message);
                }
                if name.contains("::") {
                    let message = format!(
                        "Illegal attempt to assign to '{name}'. Cannot assign to variables in other namespaces"
                    );
                    self.refuse(node, &message);
                }
            }
            Kind::Access(..) => {
                let message =
                    "Illegal attempt to assign via [index/key]. Not an assignable reference";
                self.refuse(node, message);
            }
            Kind::List(nodes) => nodes.iter().for_each(|node| self.assignable(node)),
            _ => {
                let message = format!(
                    "Illegal attempt to assign to '{}'. Not an assignable reference",
                    a(node)
                );
                self.refuse(node, &message);
            }
        }
    }

    fn variable(&mut self, node: &Node, name: &str) {
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            if !words::is_match_variable(name) {
                let message = format!(
                    "Illegal numeric variable name, The given name '{name}' must be a decimal value if it starts with a digit 0-9"
                );
                self.refuse(node, &message);
            }
        } else if !words::is_variable(name) {
            let message = format!(
                "Illegal variable name, The given name '{name}' does not conform to the naming rule /^((::)?[a-z]\\w*)*((::)?[a-z_]\\w*)$/"
            );
            self.refuse(node, &message);
        }
    }

    fn integer(&mut self, node: &Node, written: &str) {
        let value = words::integer(written).unwrap_or_default();
        if value > i64::MAX.into() {
            let message = format!(
                "A Literal Integer resulted in a value outside of Puppet Integer max range, got '+0x{value:x}'"
            );
            self.refuse(node, &message);
        }
    }

    /// `case` and selectors: only one default is allowed.
    fn choice(&mut self, node: &Node) {
        let is_default = |node: &&Node| matches!(node.kind, Kind::Default);
        let mut defaults: Vec<&Node> = Vec::new();
        match &node.kind {
            Kind::Case(test, options) => {
                self.value(test);
                for option in options {
                    if let Kind::CaseOption(values, _) = &option.kind {
                        defaults.extend(values.iter().filter(is_default));
                    }
                }
            }
            Kind::CaseOption(values, _) => values.iter().for_each(|value| self.value(value)),
            Kind::Selector(left, entries) => {
                self.value(left);
                for entry in entries {
                    if let Kind::SelectorEntry(pair) = &entry.kind {
                        defaults.extend(pair[..1].iter().filter(is_default));
                    }
                }
                defaults.truncate(2);
            }
            Kind::SelectorEntry(pair) => self.value(&pair[0]),
            _ => {}
        }
        for default in defaults.into_iter().skip(1) {
            let message = format!(
                "This {} already has a 'default' entry - this is a duplicate",
                label(node)
            );
            self.refuse(default, &message);
        }
    }

    fn block(&mut self, node: &Node, statements: &[Node]) {
        if !self.is_plan
            && let Some(name) = untitled(node)
        {
            let message = format!(
                "This expression is invalid. Did you try declaring a '{name}' resource without a title?"
            );
            return self.refuse(node, &message);
        }
        let before = statements.len().saturating_sub(1);
        if let Some(first) = statements[..before].iter().find(|s| has_no_effect(s)) {
            let message = format!(
                "This {} has no effect. A value was produced and then forgotten (one or more preceding expressions may have the wrong form)",
                label(first)
            );
            self.refuse(first, &message);
        }
    }

    fn function(&mut self, node: &Node, function: &Node) {
        match &function.kind {
            Kind::Name(_) | Kind::Reference(_) => {}
            Kind::Access(left, _) if matches!(left.kind, Kind::Reference(_)) => {}
            Kind::RenderText(_) => {
                let message = "Ambiguous EPP parameter expression. Probably missing '<%-' before parameters to remove leading whitespace";
                self.refuse(node, message);
            }
            _ => self.illegal(function, "function name", node),
        }
    }

    fn illegal(&mut self, node: &Node, feature: &str, around: &Node) {
        let (node_label, around) = (capital(&a(node)), a(around));
        let message =
            format!("Illegal expression. {node_label} is unacceptable as {feature} in {around}");
        self.refuse(node, &message);
    }

    fn query(&mut self, node: &Node) {
        match &node.kind {
            Kind::Binary("==" | "!=", _)
            | Kind::Variable(_)
            | Kind::Name(_)
            | Kind::Integer(_)
            | Kind::Float(_)
            | Kind::Text(_)
            | Kind::RenderText(_)
            | Kind::Boolean(_) => {}
            Kind::Binary("and" | "or", pair) => pair.iter().for_each(|side| self.query(side)),
            Kind::Unary(Prefix::Parentheses, inner) => self.query(inner),
            _ => {
                let message = format!(
                    "Illegal query expression. {} cannot be used in a query",
                    capital(&a(node))
                );
                self.refuse(node, &message);
            }
        }
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

fn captures_rest(node: &Node) -> Option<&str> {
    match &node.kind {
        Kind::Parameter(parameter) if parameter.captures_rest => Some(&parameter.name),
        _ => None,
    }
}

/// The name before a hash, which may have been meant as a resource.
fn untitled(node: &Node) -> Option<&str> {
    let Kind::Block(statements) = &node.kind else {
        return None;
    };
    match statements.as_slice() {
        [
            Node {
                kind: Kind::Name(name),
                ..
            },
            Node {
                kind: Kind::Hash(_),
                ..
            },
        ] => Some(name),
        _ => None,
    }
}

fn has_no_effect(node: &Node) -> bool {
    match &node.kind {
        Kind::Undef
        | Kind::Default
        | Kind::Boolean(_)
        | Kind::Integer(_)
        | Kind::Float(_)
        | Kind::Text(_)
        | Kind::Name(_)
        | Kind::Reference(_)
        | Kind::Regexp(_)
        | Kind::Reserved(_)
        | Kind::Nothing
        | Kind::Variable(_)
        | Kind::List(_)
        | Kind::Hash(_)
        | Kind::Concatenated(_)
        | Kind::Interpolation(_)
        | Kind::Heredoc(_)
        | Kind::Access(..)
        | Kind::NamedAccess(_)
        | Kind::Selector(..) => true,
        Kind::Unary(Prefix::Parentheses, inner) => has_no_effect(inner),
        Kind::Unary(..) => true,
        Kind::Binary(sign, _) => !matches!(
            *sign,
            "=~" | "!~" | "->" | "~>" | "<-" | "<~" | "=" | "+=" | "-="
        ),
        Kind::Block(statements) | Kind::ApplyBlock(statements) => {
            statements.iter().all(has_no_effect)
        }
        Kind::If(condition) | Kind::Unless(condition) => {
            let bodies = [&condition.then, &condition.otherwise];
            has_no_effect(&condition.test) && bodies.into_iter().flatten().all(has_no_effect)
        }
        Kind::Case(test, options) => has_no_effect(test) && options.iter().all(has_no_effect),
        Kind::CaseOption(values, body) => {
            values.iter().all(has_no_effect) && body.as_deref().is_none_or(has_no_effect)
        }
        _ => false,
    }
}
