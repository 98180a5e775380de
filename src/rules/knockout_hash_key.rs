//! `knockout-hash-key`: the key of a hash has the knock-out prefix, which does not remove keys.

use super::knockout::knocking;
use super::{Depends, Facts, FileContext, Findings, Hook, Rule, Severity};
use crate::workspace::KeyFact;

pub(super) const RULE: &Rule = &Rule {
    code: "knockout-hash-key",
    severity: Severity::Warning,
    summary: "the key of a hash has the knock-out prefix, which does not remove keys",
    page: include_str!("../../docs/rules/knockout-hash-key.md"),
    depends: Depends {
        on: Facts::OPTIONS,
        files: Depends::files_with_prefixes,
    },
    hooks: &[Hook::Key(check)],
};

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let Some(knocking) = knocking(file, key) else {
        return;
    };
    let Some(prefix) = &knocking.prefix else {
        return;
    };
    for knockout in knocking.knockouts.iter().filter(|one| !one.is_element) {
        findings.report(
            knockout.range,
            format!(
                "knock-outs only remove list elements: '{}' stays, and '{prefix}{}' is added as \
                 another key",
                knockout.target, knockout.target
            ),
        );
    }
}
