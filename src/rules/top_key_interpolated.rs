//! `top-key-interpolated`: the name of a top-level key has a token, which is not interpolated there.

use super::{Depends, FileContext, Findings, Hook, Rule, Severity};
use crate::workspace::KeyFact;

pub(super) const RULE: &Rule = &Rule {
    code: "top-key-interpolated",
    severity: Severity::Warning,
    summary: "the name of a top-level key has a token, which is not interpolated there",
    page: include_str!("../../docs/rules/top-key-interpolated.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Key(check)],
};

fn check(_: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    if key.name.contains("%{") {
        findings.report(
            key.key,
            "top-level keys are not interpolated: no lookup finds this one; only nested keys are",
        );
    }
}
