//! `symbol-value`: a value starts with a colon, which makes it a symbol that data cannot hold.

use super::{Depends, FileContext, Findings, Fix, Hook, Rule, ScalarAt, Severity};
use crate::syntax::ScalarStyle;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::value::is_symbol_tag;
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
    if file.format() != Format::Yaml {
        return;
    }
    let scalar = at.scalar;
    if let Some(tag) = &at.node.tag {
        if is_symbol_tag(&tag.text) {
            findings.report(
                at.node.range,
                format!(
                    "the tag '{}' makes a Ruby symbol of it: Puppet fails on this key; remove the tag",
                    tag.text
                ),
            );
        }
        return;
    }
    if scalar.style != ScalarStyle::Plain
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
