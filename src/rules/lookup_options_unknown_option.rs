//! `lookup-options-unknown-option`: an entry of 'lookup_options' has an option that does not exist.

use super::{Depends, FileContext, Findings, Hook, OptionAt, Rule, Severity, entry};

pub(super) const RULE: &Rule = &Rule {
    code: "lookup-options-unknown-option",
    severity: Severity::Warning,
    summary: "an entry of 'lookup_options' has an option that does not exist",
    page: include_str!("../../docs/rules/lookup-options-unknown-option.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Option(check)],
};

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let Some(options) = &at.options else { return };
    let Some(hash) = options.value.as_hash() else {
        return;
    };
    for key in hash.keys() {
        let Some(name) = key.as_str() else { continue };
        if matches!(name, "merge" | "convert_to") || name.contains("%{") {
            continue;
        }
        let range = entry(file.tree(), options.node, name)
            .map_or(options.range, |(key, _)| file.tree().node(key).range);
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
        findings.report(range, message);
    }
}
