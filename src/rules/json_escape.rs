//! `json-escape`: a backslash in JSON stands before a character that needs none: it is lost, and an
//! error from OpenVox 9 on.

use super::{FileContext, Findings, Fix, Safety, Severity, shown};
use crate::syntax::ProblemKind;
use crate::text::{TextEdit, TextRange};
use crate::value::RubyChange;

rule!("json-escape", Warning, [File(check)]);

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    if at.facts().later_error.is_none() {
        return;
    }
    let (severity, effect) = match at.settings().ruby.has(RubyChange::JsonEscape) {
        true => (Severity::Error, "Puppet refuses the whole file"),
        false => (Severity::Warning, "Puppet leaves the backslash out"),
    };
    let problems = at.parse().problems.iter();
    for problem in problems.filter(|problem| problem.kind == ProblemKind::LaterError) {
        let escape = problem.range;
        let written = shown(escape.slice(at.file.text()));
        let finding = findings.report_as(
            severity,
            escape,
            format!(
                "'{written}' is no escape of JSON: {effect}; write '\\{written}' for a backslash"
            ),
        );
        finding.matters_later();
        let backslash = TextRange::new(escape.start as usize, escape.start as usize + 1);
        for (title, text) in [
            ("Write the backslash twice", "\\\\"),
            ("Remove the backslash", ""),
        ] {
            let edit = TextEdit::replace(backslash, text);
            finding.fixes.push(Fix::new(Safety::Unsafe, title, edit));
        }
    }
}
