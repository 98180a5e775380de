//! `malformed-call`: a token is neither a variable nor a call with one quoted argument.

use super::{Depends, FileContext, Findings, Hook, Rule, Severity, TokenAt, shown};
use crate::interpolation::{Method, TokenKind};
use crate::lookup::PuppetVersion;

pub(super) const RULE: &Rule = &Rule {
    code: "malformed-call",
    severity: Severity::Error,
    summary: "a token is neither a variable nor a call with one quoted argument",
    page: include_str!("../../docs/rules/malformed-call.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Token(check)],
};

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    let written = at.token.range.slice(at.text);
    match &at.token.kind {
        TokenKind::Malformed => {
            findings.report(
                at.range,
                format!(
                    "syntax error in '{}': Puppet fails on this key; a call has exactly one \
                     quoted argument, without blanks around it and nothing behind it",
                    shown(written)
                ),
            );
        }
        TokenKind::Variable { key } => {
            let root = key.root.as_name().unwrap_or_default();
            let Some((name, _)) = root.split_once('(') else {
                return;
            };
            if Method::from_name(name.trim()).is_none() {
                return;
            }
            let (severity, effect) = match file.settings().puppet_version {
                PuppetVersion::V8 => (Severity::Error, "Puppet fails on this key"),
                PuppetVersion::V7 => (Severity::Warning, "Puppet puts an empty text there"),
            };
            findings.report_as(
                severity,
                at.range,
                format!(
                    "'{}' is read as a variable of that name: {effect}; quote the argument",
                    shown(written)
                ),
            );
        }
        TokenKind::Empty
        | TokenKind::Call { .. }
        | TokenKind::UnknownMethod { .. }
        | TokenKind::Unclosed => {}
    }
}
