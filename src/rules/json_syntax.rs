//! `json-syntax`: a file is not JSON for Puppet, which refuses all of it.

use super::checked::shown;
use super::checker::Found;
use super::rule::Hook;
use super::{Checked, Depends, Rule, Severity};
use crate::value::LoadErrorKind;

pub(super) const RULE: &Rule = &Rule {
    code: "json-syntax",
    severity: Severity::Error,
    summary: "a file is not JSON for Puppet, which refuses all of it",
    page: include_str!("../../docs/rules/json-syntax.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::File(check)],
};

fn check(at: &Checked<'_>, found: &mut Found<'_>) {
    let Err(error) = at.loaded() else { return };
    if error.kind == LoadErrorKind::Json {
        let message = format!("Puppet refuses the whole file: {}", shown(&error.message));
        found.report(at.place_of(error), message);
    }
}
