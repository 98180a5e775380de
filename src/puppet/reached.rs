//! Whether a statement may be reached for a node: the conditions around it, with the variables that
//! the same body sets before.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use super::evaluator::{Evaluator, body};
use super::host::{Host, LookupCall};
use super::source::CodeFile;
use super::stop::{Evaluated, Stop};
use super::uses;
use crate::scope::Scope;
use crate::syntax::puppet::{Definition, Expression, ExpressionKind, is_qualified};
use crate::text::TextRange;
use crate::value::Value;

/// Variables that Puppet sets in every class.
const OF_CLASSES: [&str; 4] = ["title", "name", "module_name", "caller_module_name"];

/// Variables of the node that no class can hide.
const OF_NODES: [&str; 4] = ["facts", "trusted", "server_facts", "environment"];

/// The place of a statement, and the body that it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BodyPlace {
    /// The definition or the node block, from its keyword on; `None` for the top scope.
    pub body: Option<TextRange>,
    /// The statement, or a part of it.
    pub place: TextRange,
}

/// Whether a statement may be reached.
#[derive(Debug)]
pub struct Reachability {
    /// False if it certainly is not.
    pub may_be: bool,
    /// Paths of the node's variables that decide it: `facts.os.family`. Without those of lookups.
    pub variables: BTreeSet<Arc<str>>,
}

/// Whether a statement depends on conditions that may be evaluated, or follows a call that may leave
/// its body. O(nodes of the file's tree), once for a statement.
#[must_use]
pub fn depends_on_node(source: &CodeFile, statement: BodyPlace) -> bool {
    let lock = || {
        let known = source.depending.lock();
        known.unwrap_or_else(PoisonError::into_inner)
    };
    if let Some(known) = lock().get(&statement) {
        return *known;
    }
    let depends = is_around_condition(source, statement);
    lock().insert(statement, depends);
    depends
}

fn is_around_condition(source: &CodeFile, statement: BodyPlace) -> bool {
    let Some(own) = EnclosingBody::find(source, statement.body) else {
        return false;
    };
    let mut depends = false;
    let mut around = own.statements;
    while let Some(node) = around.iter().find(|node| holds(node, statement.place)) {
        let before = around.iter().take_while(|it| !std::ptr::eq(*it, node));
        depends |= before.into_iter().any(uses::may_leave);
        around = match &node.kind {
            ExpressionKind::If(_)
            | ExpressionKind::Unless(_)
            | ExpressionKind::Case(..)
            | ExpressionKind::Selector(..)
            | ExpressionKind::Binary("and" | "or", _) => return true,
            ExpressionKind::Block(nodes) => nodes,
            _ => return depends,
        };
    }
    depends
}

/// Whether a statement may be reached if its body is evaluated, for a node with the scope `scope`.
/// Parameters of a class have their values from data and defaults, unless `is_given` says that a
/// declaration may set them. What is unknown may be.
#[must_use]
pub fn may_reach(
    host: &dyn Host,
    scope: &Scope,
    source: &Arc<CodeFile>,
    statement: BodyPlace,
    is_given: &dyn Fn(&str) -> bool,
) -> Reachability {
    let everything = || Reachability {
        may_be: true,
        variables: BTreeSet::new(),
    };
    if source.problem.is_some() {
        return everything();
    }
    let Some(own) = EnclosingBody::find(source, statement.body) else {
        return everything();
    };
    let mut evaluator = Evaluator::new(host, scope, source.clone());
    evaluator.variables.enter();
    if let Some(definition) = own.definition {
        evaluator.of_definition(definition, own.is_class, scope, is_given);
    }
    let may_be = evaluator.may_reach_in(own.statements, statement.place);
    Reachability {
        may_be,
        variables: evaluator.variables.reads(),
    }
}

pub(super) struct EnclosingBody<'s> {
    statements: &'s [Expression],
    pub(super) definition: Option<&'s Definition>,
    pub(super) is_class: bool,
}

impl<'s> EnclosingBody<'s> {
    pub(super) fn find(
        source: &'s CodeFile,
        range: Option<TextRange>,
    ) -> Option<EnclosingBody<'s>> {
        let top = EnclosingBody {
            statements: source.statements(),
            definition: None,
            is_class: false,
        };
        let Some(range) = range else {
            return Some(top);
        };
        let mut found = None;
        source.root.walk(&mut |node| {
            if node.own != range {
                return;
            }
            match &node.kind {
                ExpressionKind::NodeBlock(block) => {
                    found = Some(EnclosingBody {
                        statements: body(block.body.as_ref()),
                        definition: None,
                        is_class: false,
                    });
                }
                ExpressionKind::Class(definition)
                | ExpressionKind::Define(definition)
                | ExpressionKind::Function(definition) => {
                    found = Some(EnclosingBody {
                        statements: body(definition.body.as_ref()),
                        definition: Some(&**definition),
                        is_class: matches!(node.kind, ExpressionKind::Class(_)),
                    });
                }
                _ => {}
            }
        });
        found
    }
}

fn holds(node: &Expression, place: TextRange) -> bool {
    node.range.contains(place)
}

impl Evaluator<'_> {
    /// Binds the parameters of a definition, and what else its body sees and the node does not set.
    fn of_definition(
        &mut self,
        definition: &Definition,
        is_class: bool,
        scope: &Scope,
        is_given: &dyn Fn(&str) -> bool,
    ) {
        let statements = body(definition.body.as_ref());
        let wanted = read_by_conditions(statements);
        let mut hidden: Vec<&str> = OF_CLASSES.to_vec();
        // The parent's variables come before those of the node.
        if definition.parent.is_some() {
            let names = wanted.iter().copied();
            hidden.extend(names.filter(|name| !is_qualified(name) && !OF_NODES.contains(name)));
        }
        for node in &definition.parameters {
            let ExpressionKind::Parameter(parameter) = &node.kind else {
                continue;
            };
            let name = &*parameter.name;
            let is_known =
                is_class && definition.parent.is_none() && wanted.contains(name) && !is_given(name);
            let key = format!("{}::{name}", definition.name);
            let known = if is_known {
                self.of_data(&key, parameter.value.as_ref(), scope)
            } else {
                Err(Stop::unknown("a parameter"))
            };
            match known {
                Ok(value) => self.variables.bind(name, value),
                Err(_) => hidden.push(name),
            }
        }
        hidden.into_iter().for_each(|name| self.hide(name));
    }

    /// The value of a class's parameter: from data, else its default.
    fn of_data(&mut self, key: &str, default: Option<&Expression>, scope: &Scope) -> Evaluated {
        let call = LookupCall {
            names: vec![Arc::from(key)],
            default_value: Some(Value::Undef),
            ..LookupCall::default()
        };
        match (self.host.lookup(&call, scope)?, default) {
            (Value::Undef, Some(default)) => self.evaluate(default),
            (Value::Undef, None) => Err(Stop::unknown("it has no value")),
            (value, _) => Ok(value),
        }
    }

    /// Whether a place in some of these statements may be reached.
    fn may_reach_in(&mut self, statements: &[Expression], place: TextRange) -> bool {
        for node in statements {
            if holds(node, place) {
                return self.may_reach_inside(node, place);
            }
            match self.evaluate(node) {
                Ok(_) | Err(Stop::Unknown(_)) => {}
                Err(Stop::Return(_)) => return false,
                // If it fails, Puppet says so.
                Err(_) => return true,
            }
        }
        true
    }

    fn may_reach_inside(&mut self, node: &Expression, place: TextRange) -> bool {
        let branch = |node: Option<&Expression>| node.is_some_and(|node| holds(node, place));
        match &node.kind {
            ExpressionKind::Block(nodes) => self.may_reach_in(nodes, place),
            ExpressionKind::If(condition) | ExpressionKind::Unless(condition) => {
                let wanted = matches!(node.kind, ExpressionKind::If(_));
                let (then, otherwise) = (condition.then.as_ref(), condition.otherwise.as_ref());
                if !branch(then) && !branch(otherwise) {
                    return true;
                }
                match self.evaluate(&condition.test) {
                    Ok(test) if (test.is_falsey() != wanted) != branch(then) => false,
                    Ok(_) | Err(Stop::Unknown(_)) => {
                        let taken = if branch(then) { then } else { otherwise };
                        self.may_reach_in(body(taken), place)
                    }
                    Err(_) => true,
                }
            }
            ExpressionKind::Case(test, options) => {
                let own = options.iter().find(|option| holds(option, place));
                let Some(own) = own else {
                    return true;
                };
                let ExpressionKind::CaseOption(_, Some(then)) = &own.kind else {
                    return true;
                };
                if !holds(then, place) {
                    return true;
                }
                match self.choose(test, options) {
                    Ok(chosen) if !chosen.is_some_and(|it| std::ptr::eq(it, own)) => false,
                    Ok(_) | Err(Stop::Unknown(_)) => self.may_reach_in(body(Some(then)), place),
                    Err(_) => true,
                }
            }
            ExpressionKind::Selector(test, entries) => {
                let Some(own) = entries.iter().find(|entry| holds(entry, place)) else {
                    return true;
                };
                match self.choose(test, entries) {
                    Ok(chosen) => chosen.is_none_or(|it| std::ptr::eq(it, own)),
                    Err(_) => true,
                }
            }
            ExpressionKind::Binary(sign @ ("and" | "or"), pair) if holds(&pair[1], place) => {
                match self.evaluate(&pair[0]) {
                    Ok(left) if left.is_falsey() == (*sign == "and") => false,
                    Ok(_) | Err(Stop::Unknown(_)) => self.may_reach_inside(&pair[1], place),
                    Err(_) => true,
                }
            }
            kind if kind.has_own_scope() => true,
            kind => {
                let mut inside = None;
                kind.each(&mut |part| {
                    if inside.is_none() && holds(part, place) {
                        inside = Some(part);
                    }
                });
                inside.is_none_or(|part| self.may_reach_inside(part, place))
            }
        }
    }
}

/// The variables that conditions of some statements read, and those that the values of their
/// variables come from.
fn read_by_conditions(statements: &[Expression]) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut sets: Vec<(&Expression, &Expression)> = Vec::new();
    for statement in statements {
        statement.walk(&mut |node| match &node.kind {
            ExpressionKind::If(condition) | ExpressionKind::Unless(condition) => {
                read_by(&condition.test, &mut found);
            }
            ExpressionKind::Case(test, options) | ExpressionKind::Selector(test, options) => {
                read_by(test, &mut found);
                for option in options {
                    match &option.kind {
                        ExpressionKind::CaseOption(values, _) => {
                            values.iter().for_each(|value| read_by(value, &mut found));
                        }
                        ExpressionKind::SelectorEntry(pair) => read_by(&pair[0], &mut found),
                        _ => {}
                    }
                }
            }
            ExpressionKind::Binary("and" | "or", pair) => read_by(&pair[0], &mut found),
            ExpressionKind::Binary("=", pair) => sets.push((&pair[0], &pair[1])),
            _ => {}
        });
    }
    // A variable is set before it is read.
    for (target, value) in sets.into_iter().rev() {
        let mut names = BTreeSet::new();
        read_by(target, &mut names);
        if names.iter().any(|name| found.contains(name)) {
            read_by(value, &mut found);
        }
    }
    found
}

fn read_by<'n>(node: &'n Expression, found: &mut BTreeSet<&'n str>) {
    node.walk(&mut |part| match &part.kind {
        ExpressionKind::Variable(name) => {
            found.insert(name);
        }
        ExpressionKind::Interpolation(inner) => {
            if let ExpressionKind::Name(name) = &inner.kind {
                found.insert(name);
            }
        }
        _ => {}
    });
}
