//! `lookup-options-shadowed`: the entry of a key hides a pattern with a merge strategy for the key.

use super::knockout::value_of;
use super::option_list::{ListedOption, strategy};
use super::{FileContext, Findings, OptionAt};
use crate::value::Value;
use crate::workspace::ValueKind;

rule!(
    "lookup-options-shadowed",
    Warning,
    [Option(check)],
    WORKSPACE
);

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
    // Another file's entry for the key may be used, and have a strategy.
    let mut others = entries.iter().filter(|entry| !entry.is_pattern());
    if others.any(|entry| entry.value.get("merge").is_some()) {
        return;
    }
    let merges = |entry: &ListedOption| strategy(&entry.value).is_some_and(|it| it != "first");
    let mut hidden = entries.iter().filter(|entry| entry.is_pattern());
    let Some(hidden) = hidden.find(|entry| merges(entry)) else {
        return;
    };
    if !makes_a_difference(file, at.name, strategy(&hidden.value)) {
        return;
    }
    findings.report(
        at.key,
        format!(
            "this entry is used instead of '{}': '{}' is not merged; repeat 'merge' \
             here",
            hidden.name, at.name
        ),
    );
}

/// Whether merging the values in all files could differ from the first value.
fn makes_a_difference(file: &FileContext<'_>, key: &str, strategy: Option<&str>) -> bool {
    let mut files = file.checker.files_with(key);
    let Some(first) = files.next() else {
        return false;
    };
    let rest: Vec<_> = files.collect();
    if strategy == Some("unique") {
        // It makes a list of any value, and removes nesting and duplicates.
        let value = value_of(file, first, key);
        return !rest.is_empty() || !value.is_some_and(|value| is_unique_list(&value));
    }
    let is_scalar = |kind: ValueKind| {
        matches!(
            kind,
            ValueKind::Boolean | ValueKind::Number | ValueKind::Text
        )
    };
    let kinds = rest.iter().copied().chain([first]);
    let mut kinds = kinds.map(|file| file.facts().key(key).map(|key| key.kind));
    !rest.is_empty() && !kinds.all(|kind| kind.is_some_and(is_scalar))
}

/// Whether a value is a list without duplicates and nested lists.
fn is_unique_list(value: &Value) -> bool {
    let elements = value.as_array();
    elements.is_some_and(|elements| {
        let mut places = elements.iter().enumerate();
        places.all(|(at, one)| one.as_array().is_none() && !elements[..at].contains(one))
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::check_levels;

    #[test]
    fn a_merge_that_changes_nothing_is_not_missed() {
        check_levels(
            RULE,
            "lookup_options:\n\
             \x20 '^web::': {merge: deep}\n\
             \x20 '^ids::': {merge: unique}\n\
             \x20 web::one: {convert_to: Sensitive}\n\
             \x20 web::none: {convert_to: Sensitive}\n\
             \x20 web::text: {convert_to: Sensitive}\n\
             \x20 web::hash: {convert_to: Sensitive} #~ lookup-options-shadowed\n\
             \x20 web::open: {convert_to: Sensitive} #~ lookup-options-shadowed\n\
             \x20 ids::flat: {convert_to: Array}\n\
             \x20 ids::twice: {convert_to: Array} #~ lookup-options-shadowed\n\
             \x20 ids::text: {convert_to: Array} #~ lookup-options-shadowed\n\
             \x20 ids::both: {convert_to: Array} #~ lookup-options-shadowed\n\
             web::one: {a: 1}\nweb::text: a\nweb::hash: {a: 1}\nweb::open: \"%{alias('x')}\"\n\
             ids::flat: [1, 2]\nids::twice: [1, 1]\nids::text: 1\nids::both: [1]\n\
             #- data/high.yaml\nweb::text: b\nweb::hash: {b: 1}\nweb::open: b\nids::both: [2]\n",
        );
    }
}
