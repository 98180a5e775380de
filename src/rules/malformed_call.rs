//! `malformed-call`: a token is neither a variable nor a call with one quoted argument.

use super::checked::shown;
use super::checker::Found;
use super::{Checked, Reads, Rule, Severity};
use crate::interpolation::{Method, TokenKind};
use crate::lookup::PuppetVersion;

pub(super) const RULE: &Rule = &Rule {
    code: "malformed-call",
    severity: Severity::Error,
    summary: "a token is neither a variable nor a call with one quoted argument",
    page: include_str!("../../docs/rules/malformed-call.md"),
    reads: Reads::File,
    check,
};

fn check(at: &Checked<'_>, found: &mut Found<'_>) {
    for token in at.tokens() {
        let written = token.token.range.slice(&token.text);
        match &token.token.kind {
            TokenKind::Malformed => {
                found.report(
                    token.range,
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
                    continue;
                };
                if Method::from_name(name.trim()).is_none() {
                    continue;
                }
                let (severity, effect) = match at.settings().puppet_version {
                    PuppetVersion::V8 => (Severity::Error, "Puppet fails on this key"),
                    PuppetVersion::V7 => (Severity::Warning, "Puppet puts an empty text there"),
                };
                found.report_as(
                    severity,
                    token.range,
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
}
