//! `lookup-options-unknown-option`: an entry of 'lookup_options' has an option that does not exist.

use super::checked::entry;
use super::checker::Found;
use super::{Checked, Reads, Rule, Severity};

pub(super) const RULE: &Rule = &Rule {
    code: "lookup-options-unknown-option",
    severity: Severity::Warning,
    summary: "an entry of 'lookup_options' has an option that does not exist",
    page: include_str!("../../docs/rules/lookup-options-unknown-option.md"),
    reads: Reads::File,
    check,
};

fn check(at: &Checked<'_>, found: &mut Found<'_>) {
    for option in at.lookup_options() {
        let Some(hash) = option.value.as_hash() else {
            continue;
        };
        for key in hash.keys() {
            let Some(name) = key.as_str() else { continue };
            if matches!(name, "merge" | "convert_to") || name.contains("%{") {
                continue;
            }
            let range = entry(at.tree(), option.node, name)
                .map_or(option.range, |(key, _)| at.tree().node(key).range);
            let message = match name {
                "strategy" | "knockout_prefix" | "sort_merged_arrays" | "merge_hash_arrays" => {
                    format!(
                        "option '{name}' stands beside 'merge' and is ignored: move it under 'merge'"
                    )
                }
                _ => format!(
                    "there is no option '{name}', it is ignored: there are 'merge' and 'convert_to'"
                ),
            };
            found.report(range, message);
        }
    }
}
