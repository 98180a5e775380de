//! `lookup-options-bare-value`: an entry of 'lookup_options' is a text instead of a hash of options.

use super::checker::Found;
use super::{Checked, Reads, Rule, Severity};

pub(super) const RULE: &Rule = &Rule {
    code: "lookup-options-bare-value",
    severity: Severity::Warning,
    summary: "an entry of 'lookup_options' is a text instead of a hash of options",
    page: include_str!("../../docs/rules/lookup-options-bare-value.md"),
    reads: Reads::File,
    check,
};

fn check(at: &Checked<'_>, found: &mut Found<'_>) {
    for option in at.lookup_options() {
        let Some(text) = option.value.as_str() else {
            continue;
        };
        // Ruby finds the option's name inside the text: these two do something, nobody knows what.
        if text.contains("merge") || text.contains("convert_to") || text.contains("%{") {
            continue;
        }
        found.report(
            option.range,
            format!(
                "the options of '{}' are a text and are ignored: write {{merge: {text}}}",
                option.name
            ),
        );
    }
}
