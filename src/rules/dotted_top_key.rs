//! `dotted-top-key`: the name of a key has dots, at which a lookup would split it.

use super::{Depends, FileContext, Findings, Hook, Rule, Severity};
use crate::workspace::KeyFact;

pub(super) const RULE: &Rule = &Rule {
    code: "dotted-top-key",
    severity: Severity::Hint,
    summary: "the name of a key has dots, at which a lookup would split it",
    page: include_str!("../../docs/rules/dotted-top-key.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Key(check)],
};

fn check(_: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let name = &*key.name;
    let Some((root, _)) = name.split_once('.') else {
        return;
    };
    if name.contains("%{") {
        return;
    }
    findings.report(
        key.key,
        format!(
            "a lookup of '{name}' looks for a part of '{root}'; this key is only found by its \
             quoted name, \"'{name}'\""
        ),
    );
}
