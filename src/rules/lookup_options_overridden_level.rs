//! `lookup-options-overridden-level`: an entry of 'lookup_options' drops options of a lower level's
//! entry for the same key.

use super::option_list::strategy;
use super::{FileContext, Findings, OptionAt, Reader};
use crate::value::Value;

rule!(
    "lookup-options-overridden-level",
    Information,
    [Option(check)],
    WORKSPACE
);

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let Some(options) = &at.options else { return };
    let entries = file.checker.options_for(at.name);
    let same = entries.filter(|entry| *entry.name == *at.name && entry.path != *file.file.path());
    for lower in same {
        let Some(theirs) = file.snapshot().file(&lower.path) else {
            continue;
        };
        let readers = file.checker.readers(theirs);
        if !is_below(file.readers(), &readers) {
            continue;
        }
        let dropped = dropped(options.value, &lower.value);
        if dropped.is_empty() {
            continue;
        }
        findings.report(
            at.key,
            format!(
                "entries are replaced, not merged: {} of '{}' {} lost for '{}'",
                dropped.join(" and "),
                file.snapshot().short_name(&lower.path),
                if dropped.len() == 1 { "is" } else { "are" },
                at.name
            ),
        );
        return;
    }
}

/// Whether a lower level of a hierarchy that reads the one file reads the other.
fn is_below(own: &[Reader<'_>], theirs: &[Reader<'_>]) -> bool {
    own.iter().any(|own| {
        let last = own.last_rank();
        let same = theirs.iter().filter(|theirs| theirs.is_same_root(own));
        let mut reached = same.flat_map(|theirs| theirs.reached());
        reached.any(|reach| Some(reach.place.rank()) > last)
    })
}

/// The options that the upper entry lacks and the lower one has.
fn dropped(own: &Value, lower: &Value) -> Vec<String> {
    let mut dropped = Vec::new();
    for option in ["merge", "convert_to"] {
        if lower.get(option).is_some() && own.get(option).is_none() {
            dropped.push(format!("'{option}'"));
        }
    }
    let prefix = |value: &Value| value.get("merge")?.get("knockout_prefix").cloned();
    // With another strategy the prefix is dropped on purpose.
    if strategy(own) == strategy(lower) && prefix(lower).is_some() && prefix(own).is_none() {
        dropped.push("'knockout_prefix'".to_owned());
    }
    dropped
}
