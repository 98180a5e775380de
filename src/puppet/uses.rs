//! Static checks of code: the variables that it sets, and whether it may leave its body.

use crate::syntax::puppet::{Expression, ExpressionKind};

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

fn leaves(node: &Expression, names: &[&str]) -> bool {
    let is_call = match &node.kind {
        ExpressionKind::Call(call) => call.function.literal(),
        ExpressionKind::Name(name) => Some(&**name),
        _ => None,
    };
    let mut found = is_call.is_some_and(|name| names.contains(&name));
    // In a lambda, only `return()` leaves the enclosing body, and `break()` if the function that
    // calls it does not iterate.
    let of_lambda: &[&str] = match runs_once(&node.kind) {
        true => &["break", "return"],
        false => &["return"],
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
