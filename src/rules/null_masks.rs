//! `null-masks`: a key without a value hides the value of a lower level.

use std::sync::Arc;

use super::{FileContext, Findings, Reader, Severity};
use crate::lookup::Reach;
use crate::scope::os_family;
use crate::value::Value;
use crate::workspace::{File, KeyFact, LOOKUP_OPTIONS};

/// Maximum number of files with the key that are searched for a lower value.
const MAX_FILES: usize = 64;

rule!("null-masks", Hint, [Key(check)], WORKSPACE);

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let text = file.file.text();
    if !file.is_last(key) || !is_null(key, text) || &*key.name == LOOKUP_OPTIONS {
        return;
    }
    let is_undef = |value: &Value| value.get(&key.name).is_some_and(Value::is_undef);
    if !file.loaded().is_ok_and(is_undef) || file.checker.is_merged(&key.name) {
        return;
    }
    let Some(lower) = lower_file(file, &key.name) else {
        return;
    };
    if file.snapshot().may_be_merged_by_call(&key.name) {
        return;
    }
    let severity = if key.value.is_empty() {
        Severity::Information
    } else {
        Severity::Hint
    };
    findings.report_as(
        severity,
        key.key,
        format!(
            "'{}' has no value here, which counts as undef: lookups that reach this file find undef, not what '{}' sets",
            key.name,
            file.snapshot().short_name(lower.path())
        ),
    );
}

/// Whether a key is written without a value, or with a null.
fn is_null(key: &KeyFact, text: &str) -> bool {
    key.value.is_empty() || matches!(key.value.slice(text), "~" | "null" | "Null" | "NULL")
}

/// A file of a lower level in the same hierarchy that has a value for the key.
fn lower_file<'a>(file: &FileContext<'a>, key: &str) -> Option<&'a Arc<File>> {
    let mut others = file.snapshot().iter_files_with(key).take(MAX_FILES);
    let is_below = |above: &Reach, reach: &Reach| {
        reach.place.rank() > above.place.rank() && may_meet(above, reach)
    };
    let is_lower = |theirs: &Reader<'_>| {
        let own = file.readers().iter().find(|own| own.is_same_root(theirs));
        let mut own = own.into_iter().flat_map(|own| own.reached());
        own.any(|own| theirs.reached().iter().any(|reach| is_below(own, reach)))
    };
    others.find(|other| {
        let fact = other.facts().key(key);
        other.path() != file.file.path()
            && !fact.is_some_and(|fact| is_null(fact, other.text()))
            && file.checker.readers(other).iter().any(is_lower)
    })
}

/// Whether one node may read both locations: no variable has different values in their paths. The
/// values in an ambiguous path are unknown, so it is only compared with paths without variables.
fn may_meet(one: &Reach, other: &Reach) -> bool {
    if one.is_ambiguous() && !other.place.template.is_constant()
        || other.is_ambiguous() && !one.place.template.is_constant()
    {
        return false;
    }
    let family = |reach: &Reach| {
        let mut bound = reach.bindings.iter();
        bound.find_map(|(name, value)| os_family(name, value))
    };
    let is_one_system = match (family(one), family(other)) {
        (Some(one), Some(other)) => one == other,
        (_, _) => true,
    };
    is_one_system
        && one.bindings.iter().all(|(name, value)| {
            let mut others = other.bindings.iter();
            others.all(|(known, other)| known != name || other == value)
        })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::{check_levels, check_rule};

    #[test]
    fn a_null_hides_nothing_of_files_for_other_nodes() {
        check_rule(
            RULE,
            "#- hiera.yaml\nversion: 5\nhierarchy:\n\
             \x20 - {name: os, paths: ['%{facts.os.family}/%{facts.os.name}.yaml', \
             '%{facts.os.family}.yaml']}\n\
             #- data/Debian/Ubuntu.yaml\na: ~\nb: ~ #~ null-masks\n\
             #- data/Debian.yaml\nb: 1\n#- data/RedHat.yaml\na: 1\nb: 1\n",
        );
        check_rule(
            RULE,
            "#- hiera.yaml\nversion: 5\nhierarchy:\n\
             \x20 - {name: os, paths: ['%{facts.os.name}.yaml', '%{facts.os.family}-family.yaml']}\n\
             #- data/Ubuntu.yaml\na: ~\nb: ~ #~ null-masks\n\
             #- data/Debian-family.yaml\nb: 1\n#- data/RedHat-family.yaml\na: 1\nb: 1\n",
        );
    }

    #[test]
    fn a_null_in_a_file_with_an_ambiguous_name_hides_nothing() {
        check_rule(
            RULE,
            "#- hiera.yaml\nversion: 5\nhierarchy:\n\
             \x20 - {name: os, paths: ['%{facts.os.name}-%{facts.os.release.major}.yaml', '%{facts.os.name}.yaml', \
             '%{facts.os.family}-family-%{facts.os.release.major}.yaml', common.yaml]}\n\
             #- data/RedHat-family-8.yaml\na: ~\nb: ~ #~ null-masks\n\
             #- data/Debian-12.yaml\na: 1\n#- data/common.yaml\nb: 1\n",
        );
    }

    #[test]
    fn a_null_hides_nothing_from_a_call_that_merges() {
        check_levels(
            RULE,
            "k: [a]\nl: [a]\n#- data/high.yaml\nk: ~\nl: ~ #~ null-masks\n\
             #- manifests/site.pp\n$x = lookup('k', Array, 'unique')\n",
        );
    }

    #[test]
    fn a_null_hides_only_what_is_something() {
        check_levels(
            RULE,
            "a: ~\nb:\nc: 1\n\
             #- data/high.yaml\na: ~\nb: null\nc: ~ #~ null-masks\n",
        );
    }
}
