//! `unknown-backend`: a level names a function that differs from one of Puppet's by a slip.
//!
//! Functions of other names may come from modules that are not in the workspace.

use super::config_level::{BUILT_IN, levels};
use super::{ConfigurationAt, Depends, FileContext, Findings, Fix, Hook, Rule, Safety, Severity};
use crate::text::{TextEdit, typing_error};

pub(super) const RULE: &Rule = &Rule {
    code: "unknown-backend",
    severity: Severity::Error,
    summary: "a level names a function that does not exist",
    page: include_str!("../../docs/rules/unknown-backend.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Configuration(check)],
};

fn check(file: &FileContext<'_>, _: &ConfigurationAt<'_>, findings: &mut Findings<'_>) {
    for level in levels(file) {
        let Some(function) = level.function.filter(|function| function.is_own) else {
            continue;
        };
        let known = BUILT_IN.iter().map(|(name, _)| *name);
        let Some(meant) = typing_error(&function.name, known) else {
            continue;
        };
        if function.built_in().is_some() {
            continue;
        }
        let finding = findings.report(
            function.value,
            format!(
                "there is no function '{}': every lookup that asks this level fails; did you mean \
                 '{meant}'?",
                function.name
            ),
        );
        let title = format!("Write '{meant}'");
        let edit = TextEdit::replace(function.value, meant);
        finding.fixes.push(Fix::new(Safety::Safe, title, edit));
    }
}
