//! `never-looked-up`: no catalog of the known nodes looked the key up.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::recheck::paths;
use super::{FileContext, Findings, Tag};
use crate::workspace::{KeyFact, LOOKUP_OPTIONS, Snapshot};

rule!(
    "never-looked-up",
    Hint,
    [Key(check)],
    WORKSPACE,
    files_of_nodes: with_keys,
);

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    if &*key.name == LOOKUP_OPTIONS || file.is_for_plans() {
        return;
    }
    let analysis = file.checker.analysis();
    let mut observed = Vec::new();
    for reader in file.readers() {
        let root = reader.root.root;
        let Some(nodes) = file.checker.known_nodes(root) else {
            return;
        };
        let Some(found) = analysis.observed(root, &nodes.known, &key.name) else {
            return;
        };
        observed.push(found);
    }
    if observed.iter().any(|found| found.reads.is_some()) {
        return;
    }
    let Some(found) = observed.first() else {
        return;
    };
    let finding = findings.report(key.key, format!("'{}' was {}", key.name, found.words()));
    finding.tags.push(Tag::Unnecessary);
}

/// The files with keys.
fn with_keys(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let files = snapshot.files();
    paths(files.filter(|file| !file.facts().keys.is_empty())).collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::check_rule;

    #[test]
    fn each_environment_has_its_own_catalogs() {
        let of = |name: &str| {
            format!(
                "#- environments/{name}/hiera.yaml\nversion: 5\nhierarchy: [{{name: a, path: a.yaml}}]\n\
                 #- environments/{name}/data/a.yaml\n"
            )
        };
        let nodes = r#"#- nodes.json
{"hiera-ls/import": {"from": [], "lookups": {"one": {"nodes": 1, "since": "2026-11-20 10:00:00 UTC", "keys": {"a::b": [1, "2026-11-20 10:00:00 UTC"]}}}},
 "n1": {"environment": "one"}, "n2": {"environment": "two"}}
"#;
        let text = format!(
            "{}a::b: 1\na::c: 1 #~ never-looked-up\n{}a::c: 1\n{nodes}",
            of("one"),
            of("two")
        );
        let found = check_rule(RULE, &text);
        assert_eq!(
            found[0].message,
            "'a::c' was never read since 2026-11-20, by the catalogs of 1 node"
        );
    }
}
