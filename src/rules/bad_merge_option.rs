//! `bad-merge-option`: a merge strategy has an option that it does not take.

use super::{Depends, FileContext, Findings, Hook, OptionAt, Rule, Severity};
use crate::lookup::Cause;

pub(super) const RULE: &Rule = &Rule {
    code: "bad-merge-option",
    severity: Severity::Error,
    summary: "a merge strategy has an option that it does not take",
    page: include_str!("../../docs/rules/bad-merge-option.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Option(check)],
};

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let Some(refused) = at.refused_merge(file.tree()) else {
        return;
    };
    if matches!(refused.error.cause, Cause::MergeOptions(_)) {
        findings.report(refused.range, refused.message());
    }
}
