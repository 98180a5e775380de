//! `non-string-map-key`: a key of a nested hash is read as a truth value or as nothing.

use super::{Depends, FileContext, Findings, Fix, Hook, MappingAt, Rule, Severity};
use crate::syntax::ScalarStyle;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::workspace::Format;

pub(super) const RULE: &Rule = &Rule {
    code: "non-string-map-key",
    severity: Severity::Error,
    summary: "a key of a nested hash is read as a truth value or as nothing",
    page: include_str!("../../docs/rules/non-string-map-key.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Mapping(check)],
};

fn check(file: &FileContext<'_>, at: &MappingAt<'_>, findings: &mut Findings<'_>) {
    if at.is_topmost || file.format() != Format::Yaml {
        return;
    }
    for &(key, _) in at.pairs {
        let node = file.tree().node(key);
        let Some(scalar) = node.as_scalar() else {
            continue;
        };
        if scalar.style != ScalarStyle::Plain || node.tag.is_some() {
            continue;
        }
        let what = match resolve_plain(&scalar.text) {
            Resolved::Bool(true) => "true",
            Resolved::Bool(false) => "false",
            Resolved::Null => "null",
            Resolved::String
            | Resolved::Symbol(_)
            | Resolved::Int(_)
            | Resolved::BigInt(_)
            | Resolved::Float(_)
            | Resolved::Date
            | Resolved::Time
            | Resolved::Invalid { .. } => continue,
        };
        let finding = findings.report(
            node.range,
            format!(
                "the key '{}' is read as {what}, which cannot be a key: Puppet fails on the whole \
                 hash; quote it",
                scalar.text
            ),
        );
        finding.fixes.extend(Fix::quote(node));
    }
}
