//! `bad-merge-option`: a merge strategy has an option that it does not take.

use super::checked::entry;
use super::checker::Found;
use super::{Checked, Reads, Rule, Severity};
use crate::lookup::Strategy;

pub(super) const RULE: &Rule = &Rule {
    code: "bad-merge-option",
    severity: Severity::Error,
    summary: "a merge strategy has an option that it does not take",
    page: include_str!("../../docs/rules/bad-merge-option.md"),
    reads: Reads::File,
    check,
};

fn check(at: &Checked<'_>, found: &mut Found<'_>) {
    for option in at.lookup_options() {
        let Some(merge) = option.value.get("merge") else {
            continue;
        };
        if merge.inspect().contains("%{") {
            continue;
        }
        let Some(error) = Strategy::refusal(merge) else {
            continue;
        };
        let is_of_options = error.message.starts_with("The merge options");
        if is_of_options {
            let range = entry(at.tree(), option.node, "merge")
                .map_or(option.range, |(_, value)| at.tree().node(value).range);
            let message = format!(
                "{}: Puppet fails on '{}'",
                error.message.trim(),
                option.name
            );
            found.report(range, message);
        }
    }
}
