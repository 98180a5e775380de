//! `lookup-options-regex-unanchored`: an entry of 'lookup_options' looks like a pattern but does not start with '^'.

use super::checker::Found;
use super::{Checked, Reads, Rule, Severity};

pub(super) const RULE: &Rule = &Rule {
    code: "lookup-options-regex-unanchored",
    severity: Severity::Warning,
    summary: "an entry of 'lookup_options' looks like a pattern but does not start with '^'",
    page: include_str!("../../docs/rules/lookup-options-regex-unanchored.md"),
    reads: Reads::Workspace,
    check,
};

/// Characters of patterns that no key has. Plus, question mark and braces stand in names too.
const OF_PATTERNS: [&str; 9] = ["*", "[", "]", "(", "|", "\\", "$", ".+", ".?"];

fn check(at: &Checked<'_>, found: &mut Found<'_>) {
    if at.readers().is_empty() {
        return;
    }
    for option in &at.facts().lookup_options {
        let name = &*option.pattern;
        if name.starts_with('^') || !OF_PATTERNS.iter().any(|piece| name.contains(piece)) {
            continue;
        }
        if at.snapshot().count_with(name) > 0 {
            continue;
        }
        found.report(
            option.key,
            format!(
                "'{name}' looks like a pattern but does not start with '^': Puppet takes it for the \
                 name of a key, and it never matches"
            ),
        );
    }
}
