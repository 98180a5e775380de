//! Static checks of code: the variables that it sets, and whether it may leave its body.

use super::builtin;
use super::resources::is_plain_type;
use crate::syntax::puppet::{Expression, ExpressionKind, Prefix};

/// Functions that leave a lambda or a function. `fail` is not among them: if it ends the
/// compilation, there is no catalog.
const LEAVING: [&str; 3] = ["next", "break", "return"];

/// Whether a node holds statements that are evaluated one by one.
pub(super) fn holds_statements(kind: &ExpressionKind) -> bool {
    matches!(
        kind,
        ExpressionKind::Block(_)
            | ExpressionKind::If(_)
            | ExpressionKind::Unless(_)
            | ExpressionKind::Case(..)
            | ExpressionKind::Selector(..)
            | ExpressionKind::Binary("=", _)
    )
}

/// Whether a node may leave its enclosing body by such a call.
#[must_use]
pub fn may_leave(node: &Expression) -> bool {
    leaves(node, &LEAVING)
}

/// Whether a node calls one of these functions, in its lambdas too.
pub(super) fn calls(node: &Expression, names: &[&str]) -> bool {
    let mut found = false;
    called(node, &mut |name| found |= names.contains(&name));
    found
}

/// Whether a node may declare a class, or a resource of a type that may include one.
pub(super) fn declares(node: &Expression) -> bool {
    let mut calls = false;
    called(node, &mut |name| calls |= builtin::declares_classes(name));
    calls || has_open_resource(node)
}

/// Whether a node reads a variable with the name of a class.
pub(super) fn reads_classes(node: &Expression) -> bool {
    let mut found = false;
    node.walk(&mut |part| match &part.kind {
        ExpressionKind::Variable(name) => found |= is_of_class(name),
        ExpressionKind::Interpolation(inner) => {
            found |= inner.literal().is_some_and(is_of_class);
        }
        _ => {}
    });
    found
}

/// Whether the name of a variable names a class.
#[must_use]
pub fn is_of_class(variable: &str) -> bool {
    let name = variable.trim_start_matches("::");
    name.contains("::") && !name.starts_with("settings::")
}

/// Whether a node has a class like a resource, or a resource of a type that may include one.
fn has_open_resource(node: &Expression) -> bool {
    let is_plain = |kind: &Expression| {
        let name = kind.literal();
        name.is_some_and(is_plain_type)
    };
    let mut found = match &node.kind {
        ExpressionKind::Resource(resource) => !is_plain(&resource.type_name),
        _ => false,
    };
    if !node.kind.is_definition() {
        node.kind
            .each(&mut |part| found = found || has_open_resource(part));
    }
    found
}

/// Whether a node may fail by itself, or through parts other than calls of named functions.
pub(super) fn may_fail(node: &Expression) -> bool {
    let mut found = match &node.kind {
        ExpressionKind::Call(call) => call.function.literal().is_none(),
        ExpressionKind::Selector(_, entries) => !entries.iter().any(|entry| match &entry.kind {
            ExpressionKind::SelectorEntry(pair) => matches!(pair[0].kind, ExpressionKind::Default),
            _ => false,
        }),
        ExpressionKind::Binary(sign, _) => !matches!(
            &**sign,
            "and" | "or" | "==" | "!=" | "in" | "->" | "~>" | "<-" | "<~"
        ),
        ExpressionKind::Unary(Prefix::Minus, _) => true,
        ExpressionKind::Access(left, _) => !is_of_node(left),
        _ => false,
    };
    if !node.kind.is_definition() {
        node.kind.each(&mut |part| found = found || may_fail(part));
    }
    found
}

/// Whether it is `$facts` or `$trusted`, or a part of it.
fn is_of_node(node: &Expression) -> bool {
    match &node.kind {
        ExpressionKind::Variable(name) => {
            matches!(name.trim_start_matches("::"), "facts" | "trusted")
        }
        ExpressionKind::Access(left, _) => is_of_node(left),
        _ => false,
    }
}

fn leaves(node: &Expression, names: &[&str]) -> bool {
    let is_call = match &node.kind {
        ExpressionKind::Call(call) => call.function.literal(),
        ExpressionKind::Name(name) => Some(&**name),
        _ => None,
    };
    let mut found = is_call.is_some_and(|name| names.contains(&name));
    // In a lambda, only `return()` leaves the enclosing body, and `break()` if the function that
    // calls it does not iterate.
    let of_lambda: &[&str] = if runs_once(&node.kind) {
        &["break", "return"]
    } else {
        &["return"]
    };
    if !node.kind.has_own_scope() || matches!(node.kind, ExpressionKind::Lambda(_)) {
        node.kind.each(&mut |part| {
            let names = match part.kind {
                ExpressionKind::Lambda(_) => of_lambda,
                _ => names,
            };
            found = found || leaves(part, names);
        });
    }
    found
}

/// Whether a node calls a function that runs its lambda at most once.
fn runs_once(kind: &ExpressionKind) -> bool {
    let function = match kind {
        ExpressionKind::Call(call) | ExpressionKind::MethodCall(call) => &call.function,
        _ => return false,
    };
    let name = match &function.kind {
        ExpressionKind::NamedAccess(access) => Some(&*access.name),
        _ => function.literal(),
    };
    matches!(name, Some("lest" | "new" | "then" | "unwrap" | "with"))
}

/// Calls `visit` with each function that a node calls by its name.
pub(super) fn called(node: &Expression, visit: &mut dyn FnMut(&str)) {
    match &node.kind {
        ExpressionKind::Call(call) => {
            if let ExpressionKind::Name(name) = &call.function.kind {
                visit(name);
            }
        }
        ExpressionKind::NamedAccess(access) => visit(&access.name),
        _ => {}
    }
    let is_definition =
        node.kind.has_own_scope() && !matches!(node.kind, ExpressionKind::Lambda(_));
    if !is_definition {
        node.kind.each(&mut |part| called(part, visit));
    }
}
