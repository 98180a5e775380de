//! The places that read legacy facts, which agents do not send from version 8 on.

use std::sync::Arc;

use crate::ide::matrix::SourceLine;
use crate::interpolation::{Method, TokenKind, tokens};
use crate::lookup::Settings;
use crate::rules::{Checker, Finding};
use crate::scope::{CoreFact, core_fact, top_name};
use crate::syntax::puppet::without_colons;
use crate::workspace::Snapshot;

/// A place that reads a legacy fact.
#[derive(Debug)]
pub struct LegacyUse {
    /// The fact.
    pub name: Arc<str>,
    /// Where it stands.
    pub place: SourceLine,
    /// The variable as it is written, without `%{`, `$` and `}`.
    pub written: Arc<str>,
    /// Whether a manifest reads it. Most manifests decide about catalogs only, not about lookups.
    pub is_code: bool,
    /// Whether it is in the environment itself or a module there. Nothing can be proved of other places.
    pub is_own: bool,
    /// The finding of `legacy-fact`, with its fix.
    pub finding: Finding,
}

/// The places that read legacy facts, as the rule finds them.
pub(super) fn legacy_uses(
    snapshot: &Snapshot,
    settings: &Settings,
    is_own: &dyn Fn(&str) -> bool,
) -> Vec<LegacyUse> {
    let checker = Checker::with_settings(snapshot, settings.clone().for_editor());
    let checker = checker
        .with_rules(|rule| rule.code == "legacy-fact")
        .with_all_findings();
    let uses = checker.all().into_iter().filter_map(|finding| {
        let file = snapshot.file(&finding.path)?;
        let (written, is_code) = match file.facts().code {
            Some(_) => (in_code(finding.range.slice(file.text())), true),
            None => (in_token(finding.range.slice(file.text()))?, false),
        };
        let name = top_name(written.strip_prefix("facts.").unwrap_or(&written));
        matches!(core_fact(name), CoreFact::Legacy(_)).then(|| LegacyUse {
            name: Arc::from(name),
            place: SourceLine {
                file: finding.path.clone(),
                line: file.line(finding.range.start as usize) + 1,
            },
            is_code,
            is_own: is_own(&finding.path),
            written: Arc::from(&*written),
            finding,
        })
    });
    uses.collect()
}

/// The variable that a token reads.
fn in_token(source: &str) -> Option<String> {
    let mut tokens = tokens(source).into_iter();
    tokens.find_map(|token| match token.kind {
        TokenKind::Variable { key } => Some(key.text.to_string()),
        TokenKind::Call {
            method: Method::Scope,
            argument,
            ..
        } => Some(argument.to_string()),
        TokenKind::Call { .. }
        | TokenKind::Empty
        | TokenKind::UnknownMethod { .. }
        | TokenKind::Malformed
        | TokenKind::Unclosed => None,
    })
}

/// The variable that `$name` or `$facts['name']` of a manifest reads, as a token writes it.
fn in_code(source: &str) -> String {
    let name = source.trim_start_matches('$');
    let top = without_colons(name);
    match top
        .strip_prefix("facts")
        .filter(|rest| rest.trim_start().starts_with('['))
    {
        Some(part) => {
            let quoted = |c: char| c.is_whitespace() || "[]'\"".contains(c);
            format!("facts.{}", part.trim_matches(quoted))
        }
        None => name.to_owned(),
    }
}

/// The structured fact that replaces a legacy one.
#[must_use]
pub fn structured_fact(name: &str) -> Option<&'static str> {
    match core_fact(name) {
        CoreFact::Legacy(structured) => structured,
        CoreFact::Exists | CoreFact::NoSuchPart(_) | CoreFact::Custom(_) => None,
    }
}
