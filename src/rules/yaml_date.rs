//! `yaml-date`: an unquoted date or time makes Puppet refuse the whole file.

use super::{FileContext, Findings, Fix};
use crate::syntax::ScalarStyle;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::value::LoadErrorKind;

rule!("yaml-date", Error, [File(check)]);

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let Some(error) = at.refusal() else { return };
    if error.kind != LoadErrorKind::YamlDate {
        return;
    }
    let mut any = false;
    for (_, node) in at.tree().nodes() {
        let Some(scalar) = node.as_scalar() else {
            continue;
        };
        if scalar.style != ScalarStyle::Plain || node.tag.is_some() {
            continue;
        }
        let what = match resolve_plain(&scalar.text) {
            Resolved::Date => "date",
            Resolved::Time => "time",
            Resolved::String
            | Resolved::Symbol(_)
            | Resolved::Null
            | Resolved::Bool(_)
            | Resolved::Int(_)
            | Resolved::BigInt(_)
            | Resolved::Float(_)
            | Resolved::Invalid { .. } => continue,
        };
        any = true;
        let finding = findings.report(
            node.range,
            format!(
                "'{}' is read as a {what}, which Puppet does not allow: it refuses the whole \
                 file; quote it",
                scalar.text
            ),
        );
        finding.fixes.extend(Fix::quote(node));
    }
    if !any {
        let message = format!("Puppet refuses the whole file: {}", error.message);
        findings.report(at.place_of(error), message);
    }
}
