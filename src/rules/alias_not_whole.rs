//! `alias-not-whole`: 'alias' stands in a longer string, where Puppet refuses it.

use super::checked::TokenAt;
use super::checker::Found;
use super::rule::Hook;
use super::{Checked, Depends, Rule, Severity};
use crate::interpolation::{Method, TokenKind};

pub(super) const RULE: &Rule = &Rule {
    code: "alias-not-whole",
    severity: Severity::Error,
    summary: "'alias' stands in a longer string, where Puppet refuses it",
    page: include_str!("../../docs/rules/alias-not-whole.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Token(check)],
};

fn check(_: &Checked<'_>, at: &TokenAt<'_>, found: &mut Found<'_>) {
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
    found.report(
        at.range,
        format!(
            "'alias' must be the whole string: Puppet fails on this key; use '%{{lookup(\"{argument}\")}}' \
             for text"
        ),
    );
}
