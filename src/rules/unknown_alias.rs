//! `unknown-alias`: an alias has no anchor, which makes Puppet refuse the whole file.

use super::{Depends, FileContext, Findings, Hook, Rule, Severity};
use crate::syntax::NodeKind;
use crate::value::LoadErrorKind;

pub(super) const RULE: &Rule = &Rule {
    code: "unknown-alias",
    severity: Severity::Error,
    summary: "an alias has no anchor, which makes Puppet refuse the whole file",
    page: include_str!("../../docs/rules/unknown-alias.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::File(check)],
};

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let Some(error) = at.refusal() else { return };
    if error.kind != LoadErrorKind::YamlUnknownAlias {
        return;
    }
    let mut any = false;
    for (_, node) in at.tree().nodes() {
        if let NodeKind::Alias { name, target: None } = &node.kind {
            any = true;
            findings.report(
                node.range,
                format!(
                    "there is no anchor '&{name}' before this alias: Puppet refuses the whole file \
                     ({})",
                    error.message
                ),
            );
        }
    }
    if !any {
        let message = format!("Puppet refuses the whole file: {}", error.message);
        findings.report(at.place_of(error), message);
    }
}
