//! `subkey-of-scalar`: a token digs into a value that has no parts.

use super::looked_up::{Held, LookedUp, files_that_look_up, held};
use super::{Depends, Facts, FileContext, Findings, Hook, Rule, Severity, TokenAt};
use crate::value::Value;

pub(super) const RULE: &Rule = &Rule {
    code: "subkey-of-scalar",
    severity: Severity::Error,
    summary: "a token digs into a value that has no parts",
    page: include_str!("../../docs/rules/subkey-of-scalar.md"),
    depends: Depends {
        on: Facts::VALUES.and(Facts::OPTIONS),
        files: files_that_look_up,
    },
    hooks: &[Hook::Token(check)],
};

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    let Some(looked_up) = LookedUp::of(at) else {
        return;
    };
    let Some(Held::Scalar { value, segment }) = held(file, &looked_up) else {
        return;
    };
    let root = &looked_up.root;
    let message = match value.as_array() {
        Some(_) => format!(
            "'{root}' holds a list, which has numbers and no '{segment}': Puppet fails on this key"
        ),
        None => format!(
            "'{root}' holds {}, which has no parts: Puppet fails on this key",
            kind(&value)
        ),
    };
    findings.report(at.range, message);
}

/// A kind of value in words.
fn kind(value: &Value) -> &'static str {
    if value.as_str().is_some() {
        "a text"
    } else if matches!(value, Value::Bool(_)) {
        "true or false"
    } else {
        "a number"
    }
}
