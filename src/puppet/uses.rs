//! What a piece of code may do, as far as its form tells: which variables it sets, and whether it may
//! leave what it stands in.

use crate::syntax::puppet::{Kind, Node};
use crate::text::TextRange;

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

/// Whether a node has a scope of its own, or is evaluated elsewhere.
fn is_apart(kind: &Kind) -> bool {
    kind.is_definition() || matches!(kind, Kind::Lambda(_) | Kind::Apply(..))
}

/// Calls `visit` with each variable that a node sets in the scope around it, and its place.
pub(super) fn assigned(node: &Node, visit: &mut dyn FnMut(&str, TextRange)) {
    if let Kind::Binary("=", pair) = &node.kind {
        let names = match &pair[0].kind {
            Kind::List(names) => &names[..],
            _ => std::slice::from_ref(&pair[0]),
        };
        for name in names {
            if let Kind::Variable(text) = &name.kind {
                visit(text, name.range);
            }
        }
    }
    if !is_apart(&node.kind) {
        node.kind.each(&mut |part| assigned(part, visit));
    }
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
    if !found && !is_apart(&node.kind) {
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
    let is_definition = is_apart(&node.kind) && !matches!(node.kind, Kind::Lambda(_));
    if !is_definition {
        node.kind.each(&mut |part| called(part, visit));
    }
}
