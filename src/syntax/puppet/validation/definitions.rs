//! Validates definitions: where they are allowed, their names and parameters, and their last
//! statement.

use super::super::labels::{a, label, the};
use super::super::tree::{Definition, Expression, ExpressionKind, Resource, ResourceForm};
use super::super::words;
use super::{SyntaxChecker, capital, captures_rest, has_no_effect, untitled};

/// Type names that cannot be redefined.
const RESERVED_TYPES: &[&str] = &[
    "type",
    "any",
    "unit",
    "scalar",
    "boolean",
    "numeric",
    "integer",
    "float",
    "collection",
    "array",
    "hash",
    "tuple",
    "struct",
    "variant",
    "optional",
    "enum",
    "regexp",
    "pattern",
    "runtime",
    "init",
    "object",
    "sensitive",
    "semver",
    "semverrange",
    "string",
    "timestamp",
    "timespan",
    "typeset",
];

/// Parameters that every class and defined type has.
const RESERVED_PARAMETERS: &[&str] = &["name", "title"];

impl<'a> SyntaxChecker<'a> {
    pub(super) fn check_definition(&mut self, node: &'a Expression) {
        match &node.kind {
            ExpressionKind::Class(definition) | ExpressionKind::Define(definition) => {
                self.named(node, &definition.name);
                self.no_rest(node, &definition.parameters);
                self.unique(&definition.parameters);
                self.reserved_parameters(node, definition);
                self.last(node, definition.body.as_ref());
            }
            ExpressionKind::Function(definition) | ExpressionKind::Plan(definition) => {
                self.named(node, &definition.name);
                self.return_type(node, definition.returns.as_ref());
                self.unique(&definition.parameters);
            }
            ExpressionKind::NodeBlock(block) => {
                block.matches.iter().for_each(|host| self.host(node, host));
                self.top(node);
                self.last(node, block.body.as_ref());
                if let Some(parent) = &block.parent {
                    let message = "Node inheritance is not supported in Puppet >= 4.0.0. See http://links.puppet.com/puppet-node-inheritance-deprecation";
                    self.refuse(parent, message);
                }
            }
            ExpressionKind::TypeAlias(alias) => {
                self.top(node);
                if !words::is_reference(&alias.name) {
                    self.refuse_name(node, &alias.name);
                }
                self.type_reference(node, &alias.body);
            }
            ExpressionKind::TypeMapping(pair) => {
                self.top(node);
                self.mapping(node, pair);
            }
            ExpressionKind::TypeDefinition(name, ..) => {
                self.top(node);
                self.reserved_type(node, name);
                self.unsupported(node);
            }
            ExpressionKind::Parameter(parameter) => {
                self.parameter(node, &parameter.name, parameter.value.as_ref());
            }
            _ => self.check_resource(node),
        }
    }

    fn named(&mut self, node: &Expression, name: &str) {
        self.top(node);
        if !words::is_definition_name(name) {
            self.refuse_name(node, name);
        }
        self.reserved_type(node, name);
    }

    fn refuse_name(&mut self, node: &Expression, name: &str) {
        let kind = a(node);
        let message =
            format!("Unacceptable name. The name '{name}' is unacceptable as the name of {kind}");
        self.refuse(node, &message);
    }

    fn reserved_type(&mut self, node: &Expression, name: &str) {
        if RESERVED_TYPES.contains(&name) {
            let message = format!(
                "The name: '{name}' is already defined by Puppet and can not be used as the name of {}.",
                a(node)
            );
            self.refuse(node, &message);
        }
    }

    /// Definitions are only allowed at the top level or in classes.
    fn top(&mut self, node: &Expression) {
        let mut around = self.path.iter().rev();
        while let Some(outer) = around.next() {
            match &outer.kind {
                ExpressionKind::Apply(..) | ExpressionKind::Class(_) => return,
                ExpressionKind::Block(_) | ExpressionKind::ApplyBlock(_) => {
                    let is_absolute = matches!(
                        node.kind,
                        ExpressionKind::Function(_)
                            | ExpressionKind::Plan(_)
                            | ExpressionKind::TypeAlias(_)
                            | ExpressionKind::TypeDefinition(..)
                    );
                    if is_absolute && around.len() > 0 {
                        let message = format!("{} may only appear at toplevel", capital(&a(node)));
                        return self.refuse(node, &message);
                    }
                }
                _ => {
                    let message = "Classes, definitions, and nodes may only appear at toplevel or inside other classes";
                    return self.refuse(node, message);
                }
            }
        }
    }

    pub(super) fn no_rest(&mut self, node: &Expression, parameters: &[Expression]) {
        for parameter in parameters {
            if let Some(name) = captures_rest(parameter) {
                let message = format!(
                    "Parameter ${name} has 'captures rest' - not supported in {}",
                    a(node)
                );
                self.refuse(parameter, &message);
            }
        }
    }

    pub(super) fn unique(&mut self, parameters: &[Expression]) {
        let mut seen = std::collections::HashSet::new();
        for node in parameters {
            if let ExpressionKind::Parameter(parameter) = &node.kind
                && !seen.insert(&parameter.name)
            {
                let message = format!(
                    "The parameter '{}' is declared more than once in the parameter list",
                    parameter.name
                );
                self.refuse(node, &message);
            }
        }
    }

    fn reserved_parameters(&mut self, node: &Expression, definition: &Definition) {
        for part in &definition.parameters {
            if let ExpressionKind::Parameter(parameter) = &part.kind
                && RESERVED_PARAMETERS.contains(&&*parameter.name)
            {
                let message = format!(
                    "The parameter ${} redefines a built in parameter in {}",
                    parameter.name,
                    the(node)
                );
                self.refuse(part, &message);
            }
        }
    }

    /// The last statement must have an effect.
    fn last(&mut self, node: &Expression, body: Option<&Expression>) {
        let Some(ExpressionKind::Block(statements)) = body.map(|body| &body.kind) else {
            return;
        };
        let last = statements.last().filter(|last| has_no_effect(last));
        if let Some(last) = last.filter(|last| self.is_plan || untitled(last).is_none()) {
            let message = format!(
                "This {} has no effect. {} can not end with a value-producing expression without other effect",
                label(last),
                capital(&a(node))
            );
            self.refuse(last, &message);
        }
    }

    fn host(&mut self, node: &Expression, host: &Expression) {
        match &host.kind {
            ExpressionKind::Text(name)
            | ExpressionKind::Name(name)
            | ExpressionKind::Reference(name) => {
                if !name
                    .chars()
                    .all(|c| words::is_word_char(c) || "-.".contains(c))
                {
                    let message = format!(
                        "The hostname '{name}' contains illegal characters (only letters, digits, '_', '-', and '.' are allowed)"
                    );
                    self.refuse(host, &message);
                }
            }
            ExpressionKind::Concatenated(parts) => {
                let inner = parts.iter().find_map(|part| match &part.kind {
                    ExpressionKind::Interpolation(inner) => Some(&**inner),
                    _ => None,
                });
                let message = "An interpolated expression is not allowed in a hostname of a node";
                self.refuse(inner.unwrap_or(host), message);
            }
            ExpressionKind::Default
            | ExpressionKind::Regexp(_)
            | ExpressionKind::Integer(_)
            | ExpressionKind::Float(_) => {}
            _ => self.illegal(host, "hostname", node),
        }
    }

    fn parameter(&mut self, node: &Expression, name: &str, value: Option<&Expression>) {
        let digits = name.strip_prefix("0x").unwrap_or(name);
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            let message = format!(
                "The numeric parameter name '${name}' cannot be used (clashes with numeric match result variables)"
            );
            self.refuse(node, &message);
        }
        if !words::is_parameter(name) {
            let message = format!(
                "Illegal parameter name. The given name '{name}' does not conform to the naming rule /^[a-z_]\\w*$/"
            );
            self.refuse(node, &message);
        }
        if let Some(value) = value {
            self.no_assignment(value);
        }
    }

    fn no_assignment(&mut self, node: &Expression) {
        match &node.kind {
            ExpressionKind::Binary("=" | "+=" | "-=", _) => {
                self.refuse(node, "Assignment not allowed here")
            }
            ExpressionKind::Lambda(_) => {}
            kind => kind.each(&mut |part| self.no_assignment(part)),
        }
    }

    pub(super) fn return_type(&mut self, node: &Expression, returns: Option<&Expression>) {
        if let Some(returns) = returns {
            self.type_reference(node, returns);
        }
    }

    fn type_reference(&mut self, node: &Expression, expected: &Expression) {
        let name = match &expected.kind {
            ExpressionKind::Access(left, _) => left,
            _ => expected,
        };
        if !matches!(name.kind, ExpressionKind::Reference(_)) {
            self.illegal(expected, "a type reference", node);
        }
    }

    pub(super) fn regular(&mut self, node: &Expression, resource: &Resource) {
        if resource.form != ResourceForm::Regular {
            self.refuse(node, "Resource Defaults are not virtualizable");
        }
    }

    fn unsupported(&mut self, node: &Expression) {
        let message = format!(
            "Expressions of type {} are not supported in this version of Puppet",
            a(node)
        );
        self.refuse(node, &message);
    }

    fn mapping(&mut self, node: &Expression, [left, right]: &[Expression; 2]) {
        let keys = match &left.kind {
            ExpressionKind::Access(left, keys) => {
                let is_runtime =
                    matches!(&left.kind, ExpressionKind::Reference(name) if &**name == "Runtime");
                is_runtime.then_some(keys)
            }
            _ => None,
        };
        let Some(keys) = keys else {
            return self.unsupported(node);
        };
        let of_pattern = keys.len() == 2 && is_replacement(&keys[1]);
        let is_type = match &right.kind {
            ExpressionKind::Access(left, _) => matches!(left.kind, ExpressionKind::Reference(_)),
            kind => matches!(kind, ExpressionKind::Reference(_)),
        };
        let fits = if is_replacement(right) {
            of_pattern
        } else {
            is_type && !of_pattern
        };
        if !fits {
            let wanted = if of_pattern {
                "Tuple[Regexp,String]"
            } else {
                "Type"
            };
            let found = capital(&a(node));
            let message =
                format!("Illegal type mapping. Expected a {wanted} on the left side, got {found}");
            self.refuse(node, &message);
        }
    }
}

/// `[/pattern/, 'text']`
fn is_replacement(node: &Expression) -> bool {
    let ExpressionKind::List(values) = &node.kind else {
        return false;
    };
    matches!(values.as_slice(), [pattern, text]
        if matches!(pattern.kind, ExpressionKind::Regexp(_))
            && matches!(text.kind, ExpressionKind::Text(_)))
}
