//! What a piece of code may do, as far as its form tells: which variables it sets, and whether it may
//! leave what it stands in.

use crate::syntax::puppet::{Kind, Node};

/// Functions that leave a lambda or a function. `fail` is none: where it ends the compilation, there is
/// no catalog to speak of.
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

/// Whether a node may leave what it stands in: by a call that does just that.
pub(super) fn may_leave(node: &Node) -> bool {
    let leaves = match &node.kind {
        Kind::Call(call) => {
            let name = call.function.literal();
            name.is_some_and(|name| LEAVING.contains(&name))
        }
        Kind::Name(name) => LEAVING.contains(&&**name),
        _ => false,
    };
    let mut found = leaves;
    if !found && !node.kind.is_apart() {
        node.kind.each(&mut |part| found = found || may_leave(part));
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
