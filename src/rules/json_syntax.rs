//! `json-syntax`: a JSON file has a syntax error, so Puppet refuses all of it.

use super::{Depends, FileContext, Findings, Hook, Rule, Severity, shown};
use crate::value::LoadErrorKind;

pub(super) const RULE: &Rule = &Rule {
    code: "json-syntax",
    severity: Severity::Error,
    summary: "a JSON file has a syntax error, so Puppet refuses all of it",
    page: include_str!("../../docs/rules/json-syntax.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::File(check)],
};

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let Some(error) = at.refusal() else { return };
    if error.kind == LoadErrorKind::Json {
        let message = format!("Puppet refuses the whole file: {}", shown(&error.message));
        findings.report(at.place_of(error), message);
    }
}
