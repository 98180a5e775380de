//! `malformed-call`: a token is neither a variable nor a call with one quoted argument.

use super::{Depends, FileContext, Findings, Fix, Hook, Rule, Safety, Severity, TokenAt, shown};
use crate::interpolation::{Method, TokenKind};
use crate::lookup::PuppetVersion;
use crate::syntax::ScalarStyle;
use crate::text::TextEdit;

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
            let finding = findings.report(
                at.range,
                format!(
                    "syntax error in '{}': Puppet fails on this key; a call has exactly one \
                     quoted argument, without blanks around it and nothing behind it",
                    shown(written)
                ),
            );
            finding.fixes.extend(well_formed(file, at));
        }
        TokenKind::Variable { key } => {
            let root = key.root.as_name().unwrap_or_default();
            let Some((name, argument)) = root.split_once(['(', ' ']) else {
                return;
            };
            if Method::from_name(name).is_none() {
                return;
            }
            let advice = match argument.ends_with(')') {
                true => "quote the argument",
                false => "a call has brackets and one quoted argument",
            };
            let (severity, effect) = match file.settings().puppet_version {
                PuppetVersion::V8 => (Severity::Error, "Puppet fails on this key"),
                PuppetVersion::V7 => (Severity::Warning, "Puppet puts an empty text there"),
            };
            let finding = findings.report_as(
                severity,
                at.range,
                format!(
                    "'{}' is read as a variable of that name: {effect}; {advice}",
                    shown(written)
                ),
            );
            finding.fixes.extend(well_formed(file, at));
        }
        TokenKind::Empty
        | TokenKind::Call { .. }
        | TokenKind::UnknownMethod { .. }
        | TokenKind::Unclosed => {}
    }
}

/// The call with its one argument in quotes and without blanks around it.
fn well_formed(file: &FileContext<'_>, at: &TokenAt<'_>) -> Option<Fix> {
    let inner = at.token.inner.slice(at.text);
    let (name, argument) = match inner.split_once('(') {
        Some((name, rest)) => (name, rest.strip_suffix(')')?.trim()),
        None => inner.split_once(' ')?,
    };
    Method::from_name(name.trim())?;
    let argument = argument.trim();
    let bare = argument.trim_matches(['\'', '"']);
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'-');
    if bare.is_empty() || !bare.bytes().all(fits) {
        return None;
    }
    let quote = match (argument.len() - bare.len(), at.node.as_scalar()?.style) {
        (0, ScalarStyle::SingleQuoted) => "\"",
        (0, _) => "'",
        (1, _) if argument.ends_with(bare) => &argument[..1],
        (1, _) => &argument[bare.len()..],
        (2, _) if argument.ends_with(&argument[..1]) => &argument[..1],
        (_, _) => return None,
    };
    let range = file.places(at.node).source_range(at.token.inner);
    // Where the file spells it in another way, quotes could end the string.
    if range.slice(file.file.text()) != inner {
        return None;
    }
    let new = format!("{}({quote}{bare}{quote})", name.trim());
    let title = format!("Write {new}");
    Some(Fix::new(Safety::Safe, title, TextEdit::replace(range, new)))
}
