//! `unclosed-token`: a token has no closing brace, so Puppet takes it for text.

use super::checked::TokenAt;
use super::checker::Found;
use super::rule::Hook;
use super::{Checked, Depends, Rule, Severity};
use crate::interpolation::TokenKind;

pub(super) const RULE: &Rule = &Rule {
    code: "unclosed-token",
    severity: Severity::Warning,
    summary: "a token has no closing brace, so Puppet takes it for text",
    page: include_str!("../../docs/rules/unclosed-token.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Token(check)],
};

fn check(_: &Checked<'_>, at: &TokenAt<'_>, found: &mut Found<'_>) {
    if at.token.kind != TokenKind::Unclosed {
        return;
    }
    let inner = at.text[at.token.range.start as usize + 2..].trim_start();
    // Percent signs and braces meet in other languages too: only what starts as a token does
    // is one that lacks its end.
    let begins =
        |first: char| first.is_ascii_alphabetic() || matches!(first, ':' | '_' | '\'' | '"');
    if inner.starts_with(begins) {
        found.report(
            at.range,
            "'%{' has no '}': Puppet leaves it as it stands; close it, or write \
             '%{literal('%')}{' for a percent sign",
        );
    }
}
