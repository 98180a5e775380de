//! `redundant-override`: a key has the same value as in a lower level.

use super::always_read::{for_all_readers, inherited, is_first_found, offer_removal};
use super::{FileContext, Findings};
use crate::workspace::KeyFact;

rule!("redundant-override", Hint, [Key(check)], WORKSPACE);

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    if !is_first_found(file, key) || !file.checker.has_all_data_for(file.readers(), &key.name) {
        return;
    }
    let same = for_all_readers(file, |location| inherited(file, location, &key.name));
    let Some(same) = same else { return };
    let finding = findings.report(
        key.key,
        format!(
            "this entry is redundant: without it '{}' has the same value for every node, from '{}'",
            key.name,
            file.snapshot().short_name(same.path())
        ),
    );
    offer_removal(finding, file, key, same);
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::{check_levels, found};
    use crate::text::TextEdit;

    #[test]
    fn a_fix_removes_an_entry_with_its_lines_or_comma() {
        for (high, fixed) in [
            ("k: 1 # x\nz: 3\n", "z: 3\n"),
            ("{k: 1, z: 3}\n", "{z: 3}\n"),
            ("{z: 3, k: 1}\n", "{z: 3}\n"),
        ] {
            let marked = high
                .replacen('\n', " #~ redundant-override\n", 1)
                .replace(" # x", "");
            let found = check_levels(RULE, &format!("k: 1\n#- data/high.yaml\n{marked}"));
            let after = TextEdit::apply(&found[0].fixes[0].edits, &marked).unwrap();
            assert_eq!(after.replace(" #~ redundant-override", ""), fixed);
        }
        let json = "{\n  \"k\": 1,\n  \"z\": 3\n}\n";
        let found = without_override(json);
        assert_eq!(found, "{\n  \"z\": 3\n}\n");
        let found = without_override("{\"z\": 3, \"k\": 1}\n");
        assert_eq!(found, "{\"z\": 3}\n");
    }

    fn without_override(high: &str) -> String {
        let text = format!(
            "#- hiera.yaml\nversion: 5\ndefaults: {{data_hash: json_data}}\n\
             hierarchy: [{{name: a, paths: [high.json, low.json]}}]\n\
             #- data/low.json\n{{\"k\": 1}}\n#- data/high.json\n{high}"
        );
        let found = found(RULE, "data/high.json", &text);
        TextEdit::apply(&found[0].fixes[0].edits, high).unwrap()
    }
}
