//! `knockout-without-prefix`: an element is meant to take another away, but no prefix is set.

use super::knockout::{has_text, knocking};
use super::{Depends, Facts, FileContext, Findings, Hook, Rule, Severity};
use crate::workspace::{KeyFact, path};

pub(super) const RULE: &Rule = &Rule {
    code: "knockout-without-prefix",
    severity: Severity::Warning,
    summary: "an element is meant to take another away, but no 'knockout_prefix' is set",
    page: include_str!("../../docs/rules/knockout-without-prefix.md"),
    depends: Depends {
        on: Facts::VALUES.and(Facts::OPTIONS),
        files: Depends::files_with_prefixes,
    },
    hooks: &[Hook::Key(check)],
};

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let Some(knocking) = knocking(file, key) else {
        return;
    };
    if knocking.prefix.is_some() {
        return;
    }
    for knockout in knocking.knockouts.iter().filter(|one| one.is_topmost) {
        // Texts that start with dashes are options of programs as a rule.
        let mut lower = knocking.lower.iter().map(|(lower, _)| lower);
        let Some(lower) = lower.find(|lower| has_text(file, lower, &key.name, &knockout.target))
        else {
            continue;
        };
        let how = match &knocking.strategy {
            Some(strategy) => format!("'{}' is merged by '{strategy}' without", key.name),
            None => format!("'{}' is not merged, and has no", key.name),
        };
        findings.report(
            knockout.range,
            format!(
                "{how} a 'knockout_prefix': '{}' of '{}' is not taken away, this text is an element like \
                 others",
                knockout.target,
                path::name(lower.path())
            ),
        );
    }
}
