//! `dec-not-encrypted`: a mark of `eyaml edit` stands in data, with the plain text in it.

use super::{Depends, FileContext, Findings, Hook, Rule, ScalarAt, Severity};
use crate::eyaml::edit_marks;

pub(super) const RULE: &Rule = &Rule {
    code: "dec-not-encrypted",
    severity: Severity::Warning,
    summary: "a marker of 'eyaml edit' is left in data, with the plain text in it",
    page: include_str!("../../docs/rules/dec-not-encrypted.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Scalar(check)],
};

fn check(file: &FileContext<'_>, at: &ScalarAt<'_>, findings: &mut Findings<'_>) {
    for mark in edit_marks(&at.scalar.text) {
        let range = file.places(at.node).source_range(mark.range);
        let message = format!(
            "'DEC::{}[…]!' is not encrypted: only 'eyaml edit' understands this marker, for Puppet it is plain text; encrypt it",
            mark.method
        );
        findings.report(range, message).is_secret = true;
    }
}
