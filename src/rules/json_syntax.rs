//! `json-syntax`: a JSON file has a syntax error, so Puppet refuses all of it.

use super::{FileContext, Findings, shown};
use crate::value::LoadErrorKind;

rule!("json-syntax", Error, [File(check)]);

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let Some(error) = at.refusal() else { return };
    if error.kind == LoadErrorKind::Json {
        let message = format!("Puppet refuses the whole file: {}", shown(&error.message));
        findings.report(at.place_of(error), message);
    }
}
