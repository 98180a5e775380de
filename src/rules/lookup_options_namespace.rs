//! `lookup-options-namespace`: a module's data sets options for keys of others.

use super::checker::Found;
use super::{Checked, Reads, Rule, Severity};

pub(super) const RULE: &Rule = &Rule {
    code: "lookup-options-namespace",
    severity: Severity::Error,
    summary: "a module's data sets options for keys of others",
    page: include_str!("../../docs/rules/lookup-options-namespace.md"),
    reads: Reads::File,
    check,
};

fn check(at: &Checked<'_>, found: &mut Found<'_>) {
    for reader in at.readers() {
        let Some(module) = reader.layer().module_name() else {
            continue;
        };
        let prefix = format!("{module}::");
        for option in &at.facts().lookup_options {
            let message = match option.pattern.strip_prefix('^') {
                Some(pattern) if !pattern.starts_with(&prefix) => format!(
                    "all lookup_options patterns of module '{module}' must start with \
                     '^{prefix}': every lookup of the module's keys fails"
                ),
                None if !option.pattern.starts_with(&prefix) => format!(
                    "all lookup_options keys of module '{module}' must start with '{prefix}': every \
                     lookup of the module's keys fails"
                ),
                Some(_) | None => continue,
            };
            found.report(option.key, message);
        }
    }
}
