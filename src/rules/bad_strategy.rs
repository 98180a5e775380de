//! `bad-strategy`: a merge strategy does not exist.

use super::checked::{OptionAt, entry};
use super::checker::Found;
use super::rule::Hook;
use super::{Checked, Depends, Rule, Severity};
use crate::lookup::{Cause, Strategy};

pub(super) const RULE: &Rule = &Rule {
    code: "bad-strategy",
    severity: Severity::Error,
    summary: "a merge strategy does not exist",
    page: include_str!("../../docs/rules/bad-strategy.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Option(check)],
};

fn check(file: &Checked<'_>, at: &OptionAt<'_>, found: &mut Found<'_>) {
    let Some(options) = &at.options else { return };
    let Some(merge) = options.value.get("merge") else {
        return;
    };
    if merge.inspect().contains("%{") {
        return;
    }
    let Some(error) = Strategy::refusal(merge) else {
        return;
    };
    if !matches!(error.cause, Cause::MergeOptions(_)) {
        let range = entry(file.tree(), options.node, "merge")
            .map_or(options.range, |(_, value)| file.tree().node(value).range);
        let message = format!(
            "{}: Puppet fails on '{}'",
            error.to_string().trim(),
            at.name
        );
        found.report(range, message);
    }
}
