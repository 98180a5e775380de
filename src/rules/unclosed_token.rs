//! `unclosed-token`: a token has no closing brace, so Puppet takes it for text.

use super::checker::Found;
use super::{Checked, Reads, Rule, Severity};
use crate::interpolation::TokenKind;

pub(super) const RULE: &Rule = &Rule {
    code: "unclosed-token",
    severity: Severity::Warning,
    summary: "a token has no closing brace, so Puppet takes it for text",
    page: include_str!("../../docs/rules/unclosed-token.md"),
    reads: Reads::File,
    check,
};

fn check(at: &Checked<'_>, found: &mut Found<'_>) {
    for token in at.tokens() {
        if token.token.kind != TokenKind::Unclosed {
            continue;
        }
        let inner = token.text[token.token.range.start as usize + 2..].trim_start();
        // Percent signs and braces meet in other languages too: only what starts as a token does
        // is one that somebody forgot to close.
        let begins =
            |first: char| first.is_ascii_alphabetic() || matches!(first, ':' | '_' | '\'' | '"');
        if inner.starts_with(begins) {
            found.report(
                token.range,
                "'%{' has no '}': Puppet leaves it as it stands; close it, or write \
                 '%{literal('%')}{' for a percent sign",
            );
        }
    }
}
