//! Static checks of code: the variables that it sets, and whether it may leave its body.

use crate::syntax::puppet::{Kind, Node};

/// Functions that leave a lambda or a function. `fail` is not among them: if it ends the
/// compilation, there is no catalog.
const LEAVING: [&str; 3] = ["next", "break", "return"];

/// Whether a node holds statements that are evaluated one by one.
pub(super) fn holds_statements(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Block(_)
            | Kind::If(_)
            | Kind::Unless(_)
            | Kind::Case(..)
            | Kind::Selector(..)
            | Kind::Binary("=", _)
    )
}

/// Whether a node may leave its enclosing body by such a call.
#[must_use]
pub fn may_leave(node: &Node) -> bool {
    leaves(node, &LEAVING)
}

fn leaves(node: &Node, names: &[&str]) -> bool {
    let is_call = match &node.kind {
        Kind::Call(call) => call.function.literal(),
        Kind::Name(name) => Some(&**name),
        _ => None,
    };
    let mut found = is_call.is_some_and(|name| names.contains(&name));
    // In a lambda, only `return()` leaves the enclosing body.
    let names = match node.kind {
        Kind::Lambda(_) => &["return"],
        _ => names,
    };
    if !node.kind.is_apart() || matches!(node.kind, Kind::Lambda(_)) {
        node.kind
            .each(&mut |part| found = found || leaves(part, names));
    }
    found
}

/// Calls `visit` with each function that a node calls by its name.
pub(super) fn called(node: &Node, visit: &mut dyn FnMut(&str)) {
    match &node.kind {
        Kind::Call(call) => {
            if let Kind::Name(name) = &call.function.kind {
                visit(name);
            }
        }
        Kind::NamedAccess(access) => visit(&access.name),
        _ => {}
    }
    let is_definition = node.kind.is_apart() && !matches!(node.kind, Kind::Lambda(_));
    if !is_definition {
        node.kind.each(&mut |part| called(part, visit));
    }
}
