//! `alias-not-whole`: 'alias' stands in a longer string, where Puppet refuses it.

use super::checker::Found;
use super::{Checked, Reads, Rule, Severity};
use crate::interpolation::{Method, TokenKind};

pub(super) const RULE: &Rule = &Rule {
    code: "alias-not-whole",
    severity: Severity::Error,
    summary: "'alias' stands in a longer string, where Puppet refuses it",
    page: include_str!("../../docs/rules/alias-not-whole.md"),
    reads: Reads::File,
    check,
};

fn check(at: &Checked<'_>, found: &mut Found<'_>) {
    for token in at.tokens() {
        let TokenKind::Call {
            method: Method::Alias,
            argument,
            ..
        } = &token.token.kind
        else {
            continue;
        };
        if token.token.range.len() == token.text.len() {
            continue;
        }
        found.report(
            token.range,
            format!(
                "'alias' must be the whole string: Puppet fails on this key; use '%{{lookup(\"{argument}\")}}' \
                 for text"
            ),
        );
    }
}
