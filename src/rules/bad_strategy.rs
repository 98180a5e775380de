//! `bad-strategy`: a merge strategy does not exist.

use super::{Depends, FileContext, Findings, Hook, OptionAt, Rule, Severity};
use crate::lookup::Cause;

pub(super) const RULE: &Rule = &Rule {
    code: "bad-strategy",
    severity: Severity::Error,
    summary: "a merge strategy does not exist",
    page: include_str!("../../docs/rules/bad-strategy.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Option(check)],
};

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let Some(refused) = at.refused_merge(file.tree()) else {
        return;
    };
    if !matches!(refused.error.cause, Cause::MergeOptions(_)) {
        findings.report(refused.range, refused.message());
    }
}
