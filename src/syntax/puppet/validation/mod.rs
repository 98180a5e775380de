//! Puppet's checks beyond the grammar (`pops/validation/checker4_0.rb` and `tasks_checker.rb`) that
//! need only the text: the file's location and the texts of heredocs are not checked. A duplicate
//! key in a hash is a warning in Puppet 7 and not reported.

mod definitions;

use super::labels::{a, label};
use super::tree::{Expression, ExpressionKind, Prefix, ResourceForm};
use super::words;
use super::{Dialect, PuppetProblem};

/// The problems of a program, in the order in which Puppet finds them.
pub(super) fn validate(root: &Expression, dialect: Dialect) -> Vec<PuppetProblem> {
    let mut checker = SyntaxChecker {
        is_plan: dialect == Dialect::Plan,
        path: Vec::new(),
        problems: Vec::new(),
    };
    checker.walk(root);
    checker.problems
}

struct SyntaxChecker<'a> {
    is_plan: bool,
    /// The enclosing nodes, outermost first.
    path: Vec<&'a Expression>,
    problems: Vec<PuppetProblem>,
}

impl<'a> SyntaxChecker<'a> {
    fn walk(&mut self, node: &'a Expression) {
        self.check(node);
        self.path.push(node);
        node.kind.each(&mut |part| self.walk(part));
        self.path.pop();
    }

    fn refuse(&mut self, node: &Expression, message: &str) {
        let problem = PuppetProblem::at(message, node.own.start as usize);
        self.problems.push(problem);
    }

    fn check(&mut self, node: &'a Expression) {
        if self.is_plan && self.refuses_in_plan(node) {
            return;
        }
        match &node.kind {
            ExpressionKind::Binary(sign, pair) => self.operator(node, sign, pair),
            ExpressionKind::Unary(_, inner)
            | ExpressionKind::Interpolation(inner)
            | ExpressionKind::Render(inner) => {
                self.value(inner);
            }
            ExpressionKind::Variable(name) => self.variable(node, name),
            ExpressionKind::Integer(written) => self.integer(node, written),
            ExpressionKind::List(values) | ExpressionKind::CaseOption(values, _) => {
                values.iter().for_each(|value| self.value(value))
            }
            ExpressionKind::SelectorEntry(pair) => self.value(&pair[0]),
            ExpressionKind::Entry(pair) => pair.iter().for_each(|value| self.value(value)),
            ExpressionKind::If(condition) | ExpressionKind::Unless(condition) => {
                self.value(&condition.test)
            }
            ExpressionKind::Case(..) | ExpressionKind::Selector(..) => self.choice(node),
            ExpressionKind::Block(statements) | ExpressionKind::ApplyBlock(statements) => {
                self.block(node, statements);
            }
            ExpressionKind::Call(call) => self.function(node, &call.function),
            ExpressionKind::Lambda(lambda) => {
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
            ExpressionKind::Template(..) => {
                if let Some(ExpressionKind::Lambda(lambda)) =
                    self.path.last().map(|around| &around.kind)
                {
                    self.no_rest(node, &lambda.parameters);
                    self.unique(&lambda.parameters);
                }
            }
            ExpressionKind::Reserved(word) => {
                let message = format!(
                    "Use of reserved word: {word}, must be quoted if intended to be a String value"
                );
                self.refuse(node, &message);
            }
            _ => self.check_definition(node),
        }
    }

    fn check_resource(&mut self, node: &'a Expression) {
        match &node.kind {
            ExpressionKind::Resource(resource) => {
                let is_class = matches!(
                    &resource.type_name.kind,
                    ExpressionKind::Name(name) if &**name == "class"
                );
                if resource.form != ResourceForm::Regular && is_class {
                    self.refuse(node, "Classes are not virtualizable");
                }
            }
            ExpressionKind::ResourceDefaults(resource)
            | ExpressionKind::ResourceOverride(resource) => {
                self.regular(node, resource);
            }
            ExpressionKind::ResourceBody(_, attributes) => {
                let is_splat =
                    |node: &&Expression| matches!(node.kind, ExpressionKind::AttributeSplat(_));
                for splat in attributes.iter().filter(is_splat).skip(1) {
                    let message =
                        "Unfolding of attributes from Hash can only be used once per resource body";
                    self.refuse(splat, message);
                }
            }
            ExpressionKind::Attribute(attribute) => {
                let around = self.path.last().copied();
                let takes_more = |n: &Expression| {
                    matches!(
                        n.kind,
                        ExpressionKind::Collect(..) | ExpressionKind::ResourceOverride(_)
                    )
                };
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
            ExpressionKind::AttributeSplat(value) => self.value(value),
            ExpressionKind::Collect(pair, _)
                if !matches!(pair[0].kind, ExpressionKind::Reference(_)) =>
            {
                self.illegal(&pair[0], "type name", node);
            }
            ExpressionKind::VirtualQuery(Some(query))
            | ExpressionKind::ExportedQuery(Some(query)) => {
                self.query(query);
            }
            _ => {}
        }
    }

    /// Checks for nodes that are not allowed in a plan, at all or outside of `apply`. Returns true
    /// if nothing else needs checking.
    fn refuses_in_plan(&mut self, node: &Expression) -> bool {
        let applies = self
            .path
            .iter()
            .any(|around| matches!(around.kind, ExpressionKind::ApplyBlock(_)));
        let is_class = matches!(
            node.kind,
            ExpressionKind::Class(_) | ExpressionKind::Define(_)
        );
        let is_refused = match &node.kind {
            ExpressionKind::NodeBlock(_)
            | ExpressionKind::Resource(_)
            | ExpressionKind::ResourceDefaults(_)
            | ExpressionKind::ResourceOverride(_)
            | ExpressionKind::Binary("->" | "~>" | "<-" | "<~", _) => !applies,
            ExpressionKind::Collect(pair, _) => {
                !applies || !matches!(pair[1].kind, ExpressionKind::VirtualQuery(_))
            }
            ExpressionKind::Apply(..) => applies,
            _ => is_class,
        };
        if is_refused {
            let when = if applies && !is_class {
                "not available when compiling"
            } else {
                "only available when compiling"
            };
            let message = format!("{} is {when} a catalog", capital(&a(node)));
            self.refuse(node, &message);
        }
        is_refused
    }

    // ----- expressions

    fn operator(&mut self, node: &'a Expression, sign: &str, pair: &'a [Expression; 2]) {
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
                    if !matches!(side.kind, ExpressionKind::Collect(..)) {
                        self.value(side);
                    }
                }
            }
            _ => pair.iter().for_each(|side| self.value(side)),
        }
    }

    /// Checks that a node has a value.
    fn value(&mut self, node: &Expression) {
        match &node.kind {
            ExpressionKind::Unary(_, inner)
            | ExpressionKind::Interpolation(inner)
            | ExpressionKind::Render(inner) => {
                self.value(inner);
            }
            kind if kind.is_definition() || matches!(kind, ExpressionKind::Collect(..)) => {
                let message = format!(
                    "Invalid use of expression. {} does not produce a value",
                    capital(&a(node))
                );
                self.refuse(node, &message);
            }
            _ => {}
        }
    }

    fn assignable(&mut self, node: &Expression) {
        match &node.kind {
            ExpressionKind::Variable(name) => {
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
            ExpressionKind::Access(..) => {
                let message =
                    "Illegal attempt to assign via [index/key]. Not an assignable reference";
                self.refuse(node, message);
            }
            ExpressionKind::List(nodes) => nodes.iter().for_each(|node| self.assignable(node)),
            _ => {
                let message = format!(
                    "Illegal attempt to assign to '{}'. Not an assignable reference",
                    a(node)
                );
                self.refuse(node, &message);
            }
        }
    }

    fn variable(&mut self, node: &Expression, name: &str) {
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

    fn integer(&mut self, node: &Expression, written: &str) {
        let value = words::integer(written).unwrap_or_default();
        if value > i64::MAX.into() {
            let message = format!(
                "A Literal Integer resulted in a value outside of Puppet Integer max range, got '+0x{value:x}'"
            );
            self.refuse(node, &message);
        }
    }

    /// `case` and selectors: only one default is allowed.
    fn choice(&mut self, node: &Expression) {
        let is_default = |node: &&Expression| matches!(node.kind, ExpressionKind::Default);
        let mut defaults: Vec<&Expression> = Vec::new();
        match &node.kind {
            ExpressionKind::Case(test, options) => {
                self.value(test);
                for option in options {
                    if let ExpressionKind::CaseOption(values, _) = &option.kind {
                        defaults.extend(values.iter().filter(is_default));
                    }
                }
            }
            ExpressionKind::Selector(left, entries) => {
                self.value(left);
                for entry in entries {
                    if let ExpressionKind::SelectorEntry(pair) = &entry.kind {
                        defaults.extend(pair[..1].iter().filter(is_default));
                    }
                }
                defaults.truncate(2);
            }
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

    fn block(&mut self, node: &Expression, statements: &[Expression]) {
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

    fn function(&mut self, node: &Expression, function: &Expression) {
        match &function.kind {
            ExpressionKind::Name(_) | ExpressionKind::Reference(_) => {}
            ExpressionKind::Access(left, _)
                if matches!(left.kind, ExpressionKind::Reference(_)) => {}
            ExpressionKind::RenderText(_) => {
                let message = "Ambiguous EPP parameter expression. Probably missing '<%-' before parameters to remove leading whitespace";
                self.refuse(node, message);
            }
            _ => self.illegal(function, "function name", node),
        }
    }

    fn illegal(&mut self, node: &Expression, feature: &str, around: &Expression) {
        let (node_label, around) = (capital(&a(node)), a(around));
        let message =
            format!("Illegal expression. {node_label} is unacceptable as {feature} in {around}");
        self.refuse(node, &message);
    }

    fn query(&mut self, node: &Expression) {
        match &node.kind {
            ExpressionKind::Binary("==" | "!=", _)
            | ExpressionKind::Variable(_)
            | ExpressionKind::Name(_)
            | ExpressionKind::Integer(_)
            | ExpressionKind::Float(_)
            | ExpressionKind::Text(_)
            | ExpressionKind::RenderText(_)
            | ExpressionKind::Boolean(_) => {}
            ExpressionKind::Binary("and" | "or", pair) => {
                pair.iter().for_each(|side| self.query(side))
            }
            ExpressionKind::Unary(Prefix::Parentheses, inner) => self.query(inner),
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

fn captures_rest(node: &Expression) -> Option<&str> {
    match &node.kind {
        ExpressionKind::Parameter(parameter) if parameter.captures_rest => Some(&parameter.name),
        _ => None,
    }
}

/// The name before a hash, which may have been meant as a resource.
fn untitled(node: &Expression) -> Option<&str> {
    let ExpressionKind::Block(statements) = &node.kind else {
        return None;
    };
    match statements.as_slice() {
        [name, hash] if matches!(hash.kind, ExpressionKind::Hash(_)) => match &name.kind {
            ExpressionKind::Name(name) => Some(name),
            _ => None,
        },
        _ => None,
    }
}

fn has_no_effect(node: &Expression) -> bool {
    match &node.kind {
        ExpressionKind::Undef
        | ExpressionKind::Default
        | ExpressionKind::Boolean(_)
        | ExpressionKind::Integer(_)
        | ExpressionKind::Float(_)
        | ExpressionKind::Text(_)
        | ExpressionKind::Name(_)
        | ExpressionKind::Reference(_)
        | ExpressionKind::Regexp(_)
        | ExpressionKind::Reserved(_)
        | ExpressionKind::Nothing
        | ExpressionKind::Variable(_)
        | ExpressionKind::List(_)
        | ExpressionKind::Hash(_)
        | ExpressionKind::Concatenated(_)
        | ExpressionKind::Interpolation(_)
        | ExpressionKind::Heredoc(_)
        | ExpressionKind::Access(..)
        | ExpressionKind::NamedAccess(_)
        | ExpressionKind::Selector(..) => true,
        ExpressionKind::Unary(Prefix::Parentheses, inner) => has_no_effect(inner),
        ExpressionKind::Unary(..) => true,
        ExpressionKind::Binary(sign, _) => !matches!(
            *sign,
            "=~" | "!~" | "->" | "~>" | "<-" | "<~" | "=" | "+=" | "-="
        ),
        ExpressionKind::Block(statements) | ExpressionKind::ApplyBlock(statements) => {
            statements.iter().all(has_no_effect)
        }
        ExpressionKind::If(condition) | ExpressionKind::Unless(condition) => {
            let bodies = [&condition.then, &condition.otherwise];
            has_no_effect(&condition.test) && bodies.into_iter().flatten().all(has_no_effect)
        }
        ExpressionKind::Case(test, options) => {
            has_no_effect(test) && options.iter().all(has_no_effect)
        }
        ExpressionKind::CaseOption(values, body) => {
            values.iter().all(has_no_effect) && body.as_deref().is_none_or(has_no_effect)
        }
        _ => false,
    }
}
