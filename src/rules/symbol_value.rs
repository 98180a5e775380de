//! `symbol-value`: a value starts with a colon, which makes it a symbol that data cannot hold.

use super::{Depends, FileContext, Findings, Fix, Hook, Rule, ScalarAt, Severity};
use crate::syntax::ScalarStyle;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::workspace::Format;

pub(super) const RULE: &Rule = &Rule {
    code: "symbol-value",
    severity: Severity::Error,
    summary: "a value starts with a colon, which makes it a symbol that data cannot hold",
    page: include_str!("../../docs/rules/symbol-value.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Scalar(check)],
};

fn check(file: &FileContext<'_>, at: &ScalarAt<'_>, findings: &mut Findings<'_>) {
    let scalar = at.scalar;
    if file.format() != Format::Yaml
        || scalar.style != ScalarStyle::Plain
        || at.node.tag.is_some()
        || !matches!(resolve_plain(&scalar.text), Resolved::Symbol(_))
    {
        return;
    }
    let finding = findings.report(
        at.node.range,
        format!(
            "'{}' is read as a Ruby symbol: Puppet fails on this key; quote it",
            scalar.text
        ),
    );
    finding.fixes.extend(Fix::quote(at.node));
}
