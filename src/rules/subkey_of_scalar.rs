//! `subkey-of-scalar`: a token digs into a value that has no sub-keys.

use super::looked_up::{Held, LookedUp, files_that_look_up, held};
use super::{Depends, Facts, FileContext, Findings, Hook, Rule, Severity, TokenAt};
use crate::workspace::ValueKind;

pub(super) const RULE: &Rule = &Rule {
    code: "subkey-of-scalar",
    severity: Severity::Error,
    summary: "a token digs into a value that has no sub-keys",
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
    let Some(Held::Scalar { kind, segment }) = held(file, at) else {
        return;
    };
    let root = &looked_up.root;
    let kind = match kind {
        ValueKind::List => {
            let message = format!(
                "'{root}' is a list, whose elements have numbers and no '{segment}': Puppet fails on this key"
            );
            findings.report(at.range, message);
            return;
        }
        ValueKind::Boolean => "true or false",
        ValueKind::Number => "a number",
        ValueKind::Text
        | ValueKind::Open
        | ValueKind::Undef
        | ValueKind::Hash
        | ValueKind::Other => "a string",
    };
    let message = format!("'{root}' is {kind}, which has no sub-keys: Puppet fails on this key");
    findings.report(at.range, message);
}
