//! What becomes of an answer: comparisons of the old and the new one.

use std::collections::HashSet;
use std::sync::Arc;

use super::{UpgradeEffect, UpgradeOutcome};
use crate::analysis::RootView;
use crate::ide::compare::{Difference, differ};
use crate::ide::matrix::{Cell, Row, answer_in};
use crate::lookup::{Alternatives, Cause, LookupError, Request};
use crate::scope::Scope;
use crate::value::{Missing, Opaque, Value};

/// Whether a variable in a value may or may not exist.
pub(super) fn has_unknown_variable(cell: &Cell) -> bool {
    let is_unknown = |part: &Value| {
        let Value::Opaque(opaque) = part else {
            return false;
        };
        matches!(
            &**opaque,
            Opaque::Unknown {
                because: Missing::Variable(_),
                ..
            }
        )
    };
    cell.result
        .as_ref()
        .is_ok_and(|value| value.any(&is_unknown))
}

pub(super) fn answer_of(view: &RootView<'_>, request: &Request, scope: &Scope) -> Cell {
    answer_in(view, request, scope, &Alternatives::None)
}

/// The answers that are the same in both rows, each for the same nodes or the same facts.
pub(super) fn same_answers(old: &Row, new: &Row) -> Vec<Difference> {
    let mut same = Vec::new();
    for before in &old.answers {
        for after in &new.answers {
            if differ(before, after) || before.condition != after.condition {
                continue;
            }
            let known: HashSet<&str> = before.nodes.iter().map(|name| &**name).collect();
            let both = after.nodes.iter().filter(|name| known.contains(&***name));
            let both: Vec<Arc<str>> = both.cloned().collect();
            if both.is_empty() && !before.nodes.is_empty() {
                continue;
            }
            // Nodes with other sources may have other warnings.
            let pair = Difference {
                key: new.key.clone(),
                before: before.only(both.clone()),
                after: after.only(both),
            };
            same.extend(pair.by_origin());
        }
    }
    same
}

/// An outcome without the nodes that others have with the same effect; `None` if there are no more.
pub(super) fn new_outcome(
    outcome: UpgradeOutcome,
    others: &[UpgradeOutcome],
) -> Option<UpgradeOutcome> {
    let alike = others.iter().filter(|it| it.effect == outcome.effect);
    let mut alike = alike.peekable();
    if outcome.difference.after.nodes.is_empty() {
        return alike.peek().is_none().then_some(outcome);
    }
    let known: HashSet<&str> = alike
        .flat_map(|it| it.difference.after.nodes.iter().map(|name| &**name))
        .collect();
    let Difference { key, before, after } = &outcome.difference;
    let rest = after.nodes.iter().filter(|name| !known.contains(&***name));
    let rest: Vec<Arc<str>> = rest.cloned().collect();
    let difference = Difference {
        key: key.clone(),
        before: before.only(rest.clone()),
        after: after.only(rest),
    };
    (!difference.after.nodes.is_empty()).then(|| UpgradeOutcome {
        difference,
        ..outcome
    })
}

/// The scope of the first alternative of a condition.
pub(super) fn scope_of(condition: &Alternatives) -> Scope {
    let mut scope = Scope::open();
    if let Alternatives::AnyOf(all) = condition
        && let Some(bindings) = all.first()
    {
        for (path, value) in bindings {
            scope.bind(path, value);
        }
    }
    scope
}

/// What an answer becomes; `None` if it was unknown, or if only the words of an error are others.
#[must_use]
pub fn effect(before: &Cell, after: &Cell) -> Option<UpgradeEffect> {
    let is_failure = |cell: &Cell| {
        let error = cell.result.as_ref().err();
        error.is_some_and(|error| !error.is_not_found())
    };
    if before.unknown.is_some() {
        return None;
    }
    if after.unknown.is_some() {
        return Some(UpgradeEffect::Unknown);
    }
    match (is_failure(before), is_failure(after)) {
        (true, true) => None,
        (false, true) => Some(UpgradeEffect::Fails),
        (true, false) => Some(UpgradeEffect::Works),
        (false, false) if before.result.is_ok() && after.result.is_err() => {
            Some(UpgradeEffect::Lost)
        }
        (false, false) => Some(UpgradeEffect::Changes),
    }
}

/// The variable that does not exist, if that is the error.
pub(super) fn undefined_variable(error: &LookupError) -> Option<&str> {
    if let Cause::UndefinedVariable { name, .. } = &error.cause {
        return Some(name);
    }
    let (Cause::Raised(inner) | Cause::OfKey { error: inner, .. }) = &error.cause else {
        return None;
    };
    undefined_variable(inner)
}
