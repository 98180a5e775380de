//! `ruby-tags`: a tag asks for a Ruby object, which makes Puppet refuse the whole file.

use super::{Depends, FileContext, Findings, Hook, Rule, Severity};
use crate::value::LoadErrorKind;

pub(super) const RULE: &Rule = &Rule {
    code: "ruby-tags",
    severity: Severity::Error,
    summary: "a tag asks for a Ruby object, which makes Puppet refuse the whole file",
    page: include_str!("../../docs/rules/ruby-tags.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::File(check)],
};

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    // The function of a custom level may well permit such objects.
    if at.readers().is_empty() {
        return;
    }
    let Err(error) = at.loaded() else { return };
    if error.kind == LoadErrorKind::YamlDisallowedClass {
        let message = format!("Puppet refuses the whole file: {}", error.message);
        findings.report(at.place_of(error), message);
    }
}
