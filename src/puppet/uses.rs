//! Static checks of code: what it may do besides giving a value, and what it reads.

use super::builtin;
use super::resources::is_plain_type;
use crate::scope::{CoreFact, core_fact};
use crate::syntax::puppet::{Expression, ExpressionKind, Prefix, is_qualified, without_colons};

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

/// What code may do besides giving a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Effects {
    /// It sets a variable of the enclosing scope.
    pub(super) assigns: bool,
    /// It declares a class, or a resource of a type that may include one.
    pub(super) declares: bool,
    /// It leaves the enclosing body, by one of [`LEAVING`].
    pub(super) leaves: bool,
    /// It calls `fail`.
    pub(super) fails: bool,
}

/// The effects of a node with its lambdas. O(its parts).
pub(super) fn effects(node: &Expression) -> Effects {
    let mut effects = Effects::default();
    effects.add(node, &LEAVING, true);
    effects
}

/// Whether a node may leave its enclosing body by `next`, `break` or `return`.
#[must_use]
pub fn may_leave(node: &Expression) -> bool {
    effects(node).leaves
}

/// Whether a node may declare a class, or a resource of a type that may include one.
pub(super) fn declares(node: &Expression) -> bool {
    effects(node).declares
}

impl Effects {
    /// Adds those of a node from which these functions leave the body, and whose variables are those
    /// of the body if `is_own`.
    fn add(&mut self, node: &Expression, leaving: &[&str], is_own: bool) {
        let is_lambda = matches!(node.kind, ExpressionKind::Lambda(_));
        if node.kind.has_own_scope() && !is_lambda {
            return;
        }
        self.add_own(node, leaving, is_own);
        // In a lambda, only `return()` leaves the enclosing body, and `break()` if the function that
        // calls it does not iterate.
        let of_lambda: &[&str] = if runs_once(&node.kind) {
            &["break", "return"]
        } else {
            &["return"]
        };
        node.kind.each(&mut |part| {
            let leaving = match part.kind {
                ExpressionKind::Lambda(_) => of_lambda,
                _ => leaving,
            };
            self.add(part, leaving, is_own && !is_lambda);
        });
    }

    /// Adds those of a node itself, without its parts.
    fn add_own(&mut self, node: &Expression, leaving: &[&str], is_own: bool) {
        match &node.kind {
            ExpressionKind::Call(call) => {
                let name = call.function.literal();
                self.leaves |= name.is_some_and(|name| leaving.contains(&name));
            }
            ExpressionKind::Name(name) => self.leaves |= leaving.contains(&&**name),
            ExpressionKind::Binary(sign, _) => self.assigns |= is_own && &**sign == "=",
            ExpressionKind::Resource(resource) => {
                let name = resource.type_name.literal();
                self.declares |= !name.is_some_and(is_plain_type);
            }
            _ => {}
        }
        if let Some(name) = called_here(node) {
            self.declares |= builtin::declares_classes(name);
            self.fails |= name == "fail";
        }
    }
}

/// Where code may do more than give a value: the first bytes of such parts, sorted. O(its parts).
pub(super) fn places_with_effects(root: &Expression) -> Box<[u32]> {
    let mut places = Vec::new();
    root.walk(&mut |node| {
        let mut own = Effects::default();
        own.add_own(node, &LEAVING, true);
        if own != Effects::default() {
            places.push(node.range.start);
        }
    });
    places.sort_unstable();
    places.into()
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
    let name = without_colons(variable);
    is_qualified(name) && !name.starts_with("settings::")
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
        // Agents may not send it.
        ExpressionKind::Variable(name) => {
            matches!(core_fact(without_colons(name)), CoreFact::Legacy(_))
        }
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
            matches!(without_colons(name), "facts" | "trusted")
        }
        ExpressionKind::Access(left, _) => is_of_node(left),
        _ => false,
    }
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

/// The function that a node itself calls by its name.
fn called_here(node: &Expression) -> Option<&str> {
    match &node.kind {
        ExpressionKind::Call(call) => match &call.function.kind {
            ExpressionKind::Name(name) => Some(name),
            _ => None,
        },
        ExpressionKind::NamedAccess(access) => Some(&access.name),
        _ => None,
    }
}

/// Calls `visit` with each function that a node calls by its name.
pub(super) fn called(node: &Expression, visit: &mut dyn FnMut(&str)) {
    if let Some(name) = called_here(node) {
        visit(name);
    }
    let is_definition =
        node.kind.has_own_scope() && !matches!(node.kind, ExpressionKind::Lambda(_));
    if !is_definition {
        node.kind.each(&mut |part| called(part, visit));
    }
}
