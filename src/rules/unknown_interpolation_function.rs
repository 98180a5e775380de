//! `unknown-interpolation-function`: a token calls a function that interpolation does not have.

use super::checker::Found;
use super::{Checked, Reads, Rule, Severity};
use crate::interpolation::TokenKind;

pub(super) const RULE: &Rule = &Rule {
    code: "unknown-interpolation-function",
    severity: Severity::Error,
    summary: "a token calls a function that interpolation does not have",
    page: include_str!("../../docs/rules/unknown-interpolation-function.md"),
    reads: Reads::File,
    check,
};

fn check(at: &Checked<'_>, found: &mut Found<'_>) {
    for token in at.tokens() {
        if let TokenKind::UnknownMethod { name } = &token.token.kind {
            let lower = name.to_lowercase();
            let instead = match crate::interpolation::Method::from_name(&lower) {
                Some(_) => format!("did you mean '{lower}'?"),
                None => "there are lookup, hiera, alias, scope and literal".to_owned(),
            };
            found.report(
                token.range,
                format!(
                    "unknown interpolation method '{name}': Puppet fails on this key; {instead}"
                ),
            );
        }
    }
}
