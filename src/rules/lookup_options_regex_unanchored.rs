//! `lookup-options-regex-unanchored`: an entry of 'lookup_options' looks like a pattern but does not start with '^'.

use super::{FileContext, Findings, Fix, OptionAt, Safety};
use crate::text::TextEdit;

rule!(
    "lookup-options-regex-unanchored",
    Warning,
    [Option(check)],
    WORKSPACE
);

/// Characters of patterns that no key has. Plus signs, question marks and braces also occur in keys.
const OF_PATTERNS: [&str; 9] = ["*", "[", "]", "(", "|", "\\", "$", ".+", ".?"];

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let name = at.name;
    if name.starts_with('^')
        || !OF_PATTERNS.iter().any(|piece| name.contains(piece))
        || file.snapshot().count_with(name) > 0
    {
        return;
    }
    let finding = findings.report(
        at.key,
        format!(
            "'{name}' looks like a pattern but does not start with '^': Puppet takes it for the \
             name of a key, and it never matches"
        ),
    );
    if file.checker.pattern(&format!("^{name}")).is_ok()
        && !file.is_foreign(name)
        && let Some(place) = file.name_in(at.key, name)
    {
        let edit = TextEdit::insert(place.start as usize, "^");
        let fix = Fix::new(Safety::Unsafe, format!("Write '^{name}'"), edit);
        finding.fixes.push(fix.renaming(at.key, format!("^{name}")));
    }
}
