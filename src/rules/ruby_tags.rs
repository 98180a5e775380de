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
    let who = match (at.readers(), at.is_unread()) {
        ([], true) if !may_be_custom(at) => "Puppet's own functions refuse",
        ([], _) => return,
        ([..], _) => "Puppet refuses",
    };
    let Some(error) = at.refusal() else { return };
    if error.kind == LoadErrorKind::YamlDisallowedClass {
        let message = format!("{who} the whole file: {}", error.message);
        findings.report(at.place_of(error), message);
    }
}

/// Whether the function of a custom level may read the file: it may well permit such objects.
fn may_be_custom(at: &FileContext<'_>) -> bool {
    let path = at.file.path();
    let mut found = at.snapshot().roots().found().iter();
    found.any(|config| config.is_used() && config.reach(path).is_some())
}
