//! `unused-suppression`: a comment suppresses what is not reported. See the module `suppression`.

use super::{Depends, Rule, Severity};

pub(super) const RULE: &Rule = &Rule {
    code: "unused-suppression",
    severity: Severity::Hint,
    summary: "a comment suppresses what is not reported",
    page: include_str!("../../docs/rules/unused-suppression.md"),
    depends: Depends::OWN_FILE,
    hooks: &[],
};
