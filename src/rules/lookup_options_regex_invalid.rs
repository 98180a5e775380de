//! `lookup-options-regex-invalid`: a pattern of 'lookup_options' is not a regular expression that Ruby accepts.

use super::{Depends, FileContext, Findings, Hook, OptionAt, Rule, Severity};
use crate::regexp::RegexpError;

pub(super) const RULE: &Rule = &Rule {
    code: "lookup-options-regex-invalid",
    severity: Severity::Error,
    summary: "a pattern of 'lookup_options' is not a regular expression that Ruby accepts",
    page: include_str!("../../docs/rules/lookup-options-regex-invalid.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Option(check)],
};

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    if !at.name.starts_with('^') {
        return;
    }
    if let Err(RegexpError::Invalid { message }) = file.checker.pattern(at.name) {
        findings.report(
            at.key,
            format!("{message}; every lookup that reads this file fails"),
        );
    }
}
