//! `shadowed-value`: a higher level sets the key for every node that reads the file.

use super::always_read::{always_above, for_all_readers, is_first_found, offer_removal};
use super::{FileContext, Findings};
use crate::workspace::KeyFact;

rule!("shadowed-value", Hint, [Key(check)], WORKSPACE);

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    if !is_first_found(file, key) {
        return;
    }
    let winner = for_all_readers(file, |location| always_above(file, location, &key.name));
    let Some(winner) = winner else { return };
    if file.snapshot().may_be_merged_by_call(&key.name) {
        return;
    }
    let name = file.snapshot().short_name(winner.path());
    let finding = findings.report(
        key.key,
        format!(
            "this value of '{}' is never used: '{name}' sets it at a higher level, for every node that \
             reads this file",
            key.name
        ),
    );
    offer_removal(finding, file, key, winner);
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::{check_levels, check_rule};

    #[test]
    fn a_call_that_merges_uses_every_level() {
        for (call, mark) in [
            ("hiera_include('k')", ""),
            ("$x = lookup('k', Array, 'unique')", ""),
            ("$x = lookup('k', {'merge' => 'deep'})", ""),
            (
                "$x = lookup({'name' => 'k', 'merge' => {'strategy' => 'deep'}})",
                "",
            ),
            ("$x = lookup('k.a', Array, 'unique')", ""),
            ("$x = hiera_hash(\"${name}k\")", ""),
            ("$o = {name => k, merge => unique} $x = lookup($o)", ""),
            ("$x = lookup(*['k', Array, 'unique'])", ""),
            ("$x = lookup('k', options())", ""),
            ("$x = lookup('k', {} + {'merge' => 'deep'})", ""),
            ("$x = lookup('k', $options)", ""),
            ("$x = lookup('k', Array, 'first')", " #~ shadowed-value"),
            ("$x = lookup('k')", " #~ shadowed-value"),
            ("$x = hiera('k')", " #~ shadowed-value"),
            ("$x = hiera_array('kk')", " #~ shadowed-value"),
        ] {
            check_levels(
                RULE,
                &format!("k: [a]{mark}\n#- data/high.yaml\nk: [b]\n#- manifests/site.pp\n{call}\n"),
            );
        }
    }

    #[test]
    fn a_function_may_read_the_file_in_another_hierarchy() {
        for (path, mark) in [("common", ""), ("regex.yaml", " #~ shadowed-value")] {
            check_rule(
                RULE,
                &format!(
                    "#- files/hiera/cloud.yaml\nversion: 5\n\
                     defaults: {{datadir: /etc/puppet/data, data_hash: yaml_data}}\n\
                     hierarchy: [{{name: a, paths: [cloud.yaml, common.yaml]}}]\n\
                     #- files/hiera/production.yaml\nversion: 5\n\
                     defaults: {{datadir: /etc/puppet/data, data_hash: yaml_data}}\n\
                     hierarchy:\n  - {{name: h, path: 'hosts/%{{facts.host}}.yaml'}}\n\
                     \x20 - {{name: b, lookup_key: 'lib::expand', path: {path}}}\n\
                     #- data/hosts/db.yaml\nx: 1\n\
                     #- data/cloud.yaml\na: 1\n#- data/common.yaml\na: 2{mark}\n"
                ),
            );
        }
    }
}
