//! `alias-not-whole`: 'alias' is part of a longer string, which Puppet refuses.

use super::{Depends, FileContext, Findings, Hook, Rule, Severity, TokenAt};
use crate::interpolation::{Method, TokenKind};

pub(super) const RULE: &Rule = &Rule {
    code: "alias-not-whole",
    severity: Severity::Error,
    summary: "'alias' is part of a longer string, which Puppet refuses",
    page: include_str!("../../docs/rules/alias-not-whole.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Token(check)],
};

fn check(_: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    let TokenKind::Call {
        method: Method::Alias,
        argument,
        ..
    } = &at.token.kind
    else {
        return;
    };
    if at.token.range.len() == at.text.len() {
        return;
    }
    findings.report(
        at.range,
        format!(
            "'alias' must be the whole string: Puppet fails on this key; for a string write \
             '%{{lookup(\"{argument}\")}}'"
        ),
    );
}
