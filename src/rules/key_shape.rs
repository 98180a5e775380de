//! `key-shape`: a key has `::`, but cannot be the parameter of a class.

use super::keys_in_code::is_looked_up;
use super::{FileContext, Findings};
use crate::workspace::{KeyFact, LOOKUP_OPTIONS};

rule!("key-shape", Hint, [Key(check)], WORKSPACE);

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let Some(wrong) = wrong(&key.name) else {
        return;
    };
    if file.readers().is_empty() || is_looked_up(file.snapshot(), &key.name) {
        return;
    }
    findings.report(
        key.key,
        format!(
            "'{}' cannot be the parameter of a class: {wrong}; only a lookup of this name finds it",
            key.name
        ),
    );
}

/// Why a name with `::` cannot be a class and its parameter (`CLASSREF` and `VARIABLE` in
/// `pops/patterns.rb`). `None` also for names that other rules report.
fn wrong(name: &str) -> Option<&'static str> {
    let is_others = name.starts_with(':') || name.contains('.') || name.contains("%{");
    if is_others || name == LOOKUP_OPTIONS || !name.contains("::") {
        return None;
    }
    if name.contains(":::") || name.ends_with(':') {
        return Some("its parts must be separated by two colons");
    }
    let (class, parameter) = name.rsplit_once("::")?;
    let is_letter = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let begins_low = |word: &str| word.starts_with(|first: char| first.is_ascii_lowercase());
    let mut words = class.split("::");
    if name.contains(|char: char| !is_letter(char) && char != ':') {
        return Some("its parts may only have letters, digits and '_'");
    }
    let is_low =
        |word: &str| begins_low(word) && !word.contains(|char: char| char.is_ascii_uppercase());
    if words.any(|word| !word.contains(':') && !is_low(word)) {
        return Some("class names are lower case and begin with a letter");
    }
    let begins = |first: char| first.is_ascii_lowercase() || first == '_';
    (!parameter.contains(':') && !parameter.starts_with(begins))
        .then_some("parameter names begin with a lower-case letter or '_'")
}

#[cfg(test)]
mod tests {
    use super::{RULE, wrong};
    use crate::rules::marked::check_levels;

    #[test]
    fn names_of_parameters_and_names_of_other_rules_are_left_alone() {
        for name in [
            "ntp::servers",
            "a::b_2::_private",
            "a::camelCase",
            "no colons",
            "Upper",
            "::ntp::servers",
            "a::b.c",
            "%{x}::b",
            "ntp:servers",
            "a:b::c",
        ] {
            assert_eq!(wrong(name), None, "{name}");
        }
        for name in [
            "Foo::bar",
            "a::Bar::c",
            "foo-bar::x",
            "a::b c",
            "a:::b",
            "a::",
            "a::1",
            "a::B",
        ] {
            assert!(wrong(name).is_some(), "{name}");
        }
    }

    #[test]
    fn names_that_code_or_data_look_up_are_not_reported() {
        check_levels(
            RULE,
            "Foo::a: 1\nFoo::b: 1\nFoo::c: 1 #~ key-shape\nx: \"%{lookup('Foo::b')}\"\n\
             #- manifests/site.pp\nlookup('Foo::a')\n",
        );
    }
}
