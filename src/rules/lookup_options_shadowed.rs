//! `lookup-options-shadowed`: the entry of a key hides a pattern that says how the key is merged.

use super::{Depends, Facts, FileContext, Findings, Hook, OptionAt, Rule, Severity};

pub(super) const RULE: &Rule = &Rule {
    code: "lookup-options-shadowed",
    severity: Severity::Warning,
    summary: "the entry of a key hides a pattern that says how the key is merged",
    page: include_str!("../../docs/rules/lookup-options-shadowed.md"),
    depends: Depends {
        on: Facts::OPTIONS,
        files: Depends::files_with_options,
    },
    hooks: &[Hook::Option(check)],
};

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let Some(hash) = at
        .options
        .as_ref()
        .and_then(|options| options.value.as_hash())
    else {
        return;
    };
    if at.name.starts_with('^') || hash.contains_key(&crate::value::StrKey("merge")) {
        return;
    }
    let entries: Vec<_> = file.checker.options_for(at.name).collect();
    // Another file's entry for the key may win, and merge.
    let others = entries.iter().filter(|entry| !entry.is_pattern());
    if others
        .filter(|entry| entry.value.get("merge").is_some())
        .count()
        > 0
    {
        return;
    }
    let hidden = entries.iter().find(|entry| {
        entry.is_pattern() && entry.strategy().is_some_and(|strategy| strategy != "first")
    });
    let Some(hidden) = hidden else { return };
    findings.report(
        at.key,
        format!(
            "this entry is taken instead of '{}', not beside it: '{}' is not merged; repeat 'merge' \
             here",
            hidden.name, at.name
        ),
    );
}
