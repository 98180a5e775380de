//! `unclosed-token`: a token has no closing brace, so Puppet takes it for text.

use super::{Depends, FileContext, Findings, Fix, Hook, Rule, Safety, Severity, TokenAt, shown};
use crate::interpolation::{TokenKind, parse_token};
use crate::text::TextEdit;

pub(super) const RULE: &Rule = &Rule {
    code: "unclosed-token",
    severity: Severity::Warning,
    summary: "a token has no closing brace, so Puppet takes it for text",
    page: include_str!("../../docs/rules/unclosed-token.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Token(check)],
};

fn check(_: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    if matches!(at.token.kind, TokenKind::Variable { .. })
        && at.token.inner.slice(at.text).contains("%{")
    {
        findings.report(
            at.range,
            format!(
                "'%{{' has no '}}' before the next '%{{': Puppet reads '{}' as one token, of which no \
                 variable has the name; close the first one",
                shown(at.token.range.slice(at.text))
            ),
        );
        return;
    }
    if at.token.kind != TokenKind::Unclosed {
        return;
    }
    let inner = at.text[at.token.range.start as usize + 2..].trim_start();
    // Percent signs and braces meet in other languages too: only what starts as a token does
    // is one that lacks its end.
    let begins =
        |first: char| first.is_ascii_alphabetic() || matches!(first, ':' | '_' | '\'' | '"');
    if !inner.starts_with(begins) {
        return;
    }
    let finding = findings.report(
        at.range,
        "'%{' has no '}': Puppet leaves it as it stands; close it, or write \
         '%{literal('%')}{' for a percent sign",
    );
    // With more text behind the name, where it ends is not known.
    let is_whole = match parse_token(inner.trim_end(), 0) {
        TokenKind::Call { .. } => true,
        TokenKind::Variable { .. } => !inner.trim_end().contains([' ', '(', '%', '{']),
        TokenKind::Empty
        | TokenKind::UnknownMethod { .. }
        | TokenKind::Malformed
        | TokenKind::Unclosed => false,
    };
    if is_whole {
        finding.fixes.push(Fix::new(
            Safety::Safe,
            "Close the token",
            TextEdit::insert(at.range.end as usize, "}"),
        ));
    }
}
