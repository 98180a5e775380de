//! `lookup-options-regex-invalid`: a pattern of 'lookup_options' is no regular expression for Ruby.

use super::checker::Found;
use super::{Checked, Reads, Rule, Severity};
use crate::regexp::RegexpError;

pub(super) const RULE: &Rule = &Rule {
    code: "lookup-options-regex-invalid",
    severity: Severity::Error,
    summary: "a pattern of 'lookup_options' is no regular expression for Ruby",
    page: include_str!("../../docs/rules/lookup-options-regex-invalid.md"),
    reads: Reads::File,
    check,
};

fn check(at: &Checked<'_>, found: &mut Found<'_>) {
    if at.readers().is_empty() {
        return;
    }
    for option in &at.facts().lookup_options {
        if !option.pattern.starts_with('^') {
            continue;
        }
        if let Err(RegexpError::Invalid { message }) = at.checker.pattern(&option.pattern) {
            found.report(
                option.key,
                format!("{message}; every lookup that reads this file fails"),
            );
        }
    }
}
