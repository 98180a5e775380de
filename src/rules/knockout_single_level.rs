//! `knockout-single-level`: no lower level sets the key, so that a knock-out stays in the value.

use super::knockout::knocking;
use super::{Depends, Facts, FileContext, Findings, Hook, Rule, Severity};
use crate::workspace::KeyFact;

pub(super) const RULE: &Rule = &Rule {
    code: "knockout-single-level",
    severity: Severity::Warning,
    summary: "no lower level sets the key, so that a knock-out stays in the value",
    page: include_str!("../../docs/rules/knockout-single-level.md"),
    depends: Depends {
        on: Facts::KEYS.and(Facts::OPTIONS),
        files: Depends::files_with_prefixes,
    },
    hooks: &[Hook::Key(check)],
};

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let Some(knocking) = knocking(file, key) else {
        return;
    };
    if knocking.prefix.is_none()
        || !knocking.is_lowest
        || !file.checker.sees_all_for(file.readers(), &key.name)
    {
        return;
    }
    for knockout in knocking.knockouts.iter().filter(|one| one.is_element) {
        findings.report(
            knockout.range,
            format!(
                "no lower level sets '{}': nothing is removed, and this element itself is in the value",
                key.name
            ),
        );
    }
}
