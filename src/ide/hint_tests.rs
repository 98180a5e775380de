//! Hints for a selected node or with overridden facts, and the cutting of values.

use super::*;
use crate::fixture::{FOLDER, Fixture};
use crate::ide::fixture_tests::nodes;
use crate::lookup::{ConfigCache, PuppetVersion, Settings};

const FILES: &str = "\
#- hiera.yaml
version: 5
hierarchy:
  - {name: role, path: \"role/%{facts.role}.yaml\"}
  - {name: common, path: common.yaml}
#- data/role/web.yaml
port: 8080
it's: 1
#- data/role/db.yaml
other: 1
#- data/common.yaml
port: 80
name: alone
url: \"%{lookup('port')} %{lookup('name')} %{lookup('list')} %{lookup('long')}\"
list: ['10.1.0.53', '10.1.0.54', '10.1.0.55', '10.1.0.56', '10.1.0.57']
long: 'Welcome to: a machine of this company, be careful with it'
it's: 2
";

struct HintCase<'a> {
    selected: Option<&'a str>,
    nodes: &'a str,
    /// The nodes without overridden facts.
    factual: Option<&'a str>,
    options: HintOptions,
}

const PLAIN: HintCase<'_> = HintCase {
    selected: None,
    nodes: "a: {facts: {role: web}}\nb: {facts: {role: db}}\n",
    factual: None,
    options: HintOptions::ALL,
};

fn found(case: &HintCase<'_>) -> Vec<(String, Option<String>)> {
    found_in(FILES, case)
}

fn found_in(files: &str, case: &HintCase<'_>) -> Vec<(String, Option<String>)> {
    let snapshot = Fixture::new("data/common.yaml", files).opened();
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let configs = ConfigCache::default();
    let known = nodes(case.nodes);
    let factual = case.factual.map(nodes);
    let analysis = Analysis {
        selected: case.selected,
        what_if: if factual.is_some() { "role = web" } else { "" },
        without_what_if: factual.as_ref(),
        ..Analysis::new(&snapshot, &settings, &configs, &known)
    };
    let path = format!("{FOLDER}/data/common.yaml");
    let hints = hints(analysis, &path, TextRange::new(0, 2_000), case.options);
    let found = hints.iter().map(|hint| (hint.label(), hint.sentence()));
    found.collect()
}

fn labels(case: &HintCase<'_>) -> Vec<String> {
    found(case).into_iter().map(|(label, _)| label).collect()
}

#[test]
fn a_value_that_the_selected_node_does_not_get_is_overridden_not_unused() {
    let selected = HintCase {
        selected: Some("a"),
        ..PLAIN
    };
    let all = found(&selected);
    // VS Code cuts all hints of a line together, so the edit's effect comes first.
    assert_eq!(all[0].0, "changes 1 of 2 nodes");
    let (label, sentence) = all[1].clone();
    assert_eq!(label, "↑ role/web.yaml:1");
    assert_eq!(
        sentence.as_deref(),
        Some("for the selected node, this value is overridden by data/role/web.yaml:1")
    );
    let overridden = |options| {
        let case = HintCase {
            options,
            ..selected
        };
        labels(&case).iter().any(|label| label.contains('↑'))
    };
    assert!(!overridden(HintOptions {
        overridden: false,
        ..HintOptions::ALL
    }));
    assert!(overridden(HintOptions {
        never_used: false,
        ..HintOptions::ALL
    }));
}

#[test]
fn the_file_that_overrides_on_most_nodes_is_named() {
    let files = FILES.replace("#- data/role/db.yaml\n", "#- data/role/db.yaml\nport: 1\n");
    let case = HintCase {
        nodes: "a: {facts: {role: web}}\nb: {facts: {role: db}}\nc: {facts: {role: db}}\nd: {}\n",
        options: HintOptions {
            impact: false,
            ..HintOptions::ALL
        },
        ..PLAIN
    };
    let (label, sentence) = found_in(&files, &case).swap_remove(0);
    assert_eq!(label, "↑ 3/4 role/db.yaml:1 +1");
    assert_eq!(
        sentence.as_deref(),
        Some(
            "on 3 of the 4 nodes that read this file, this value is overridden by data/role/db.yaml:1 and 1 more file"
        )
    );
}

#[test]
fn a_key_that_no_catalog_looked_up_is_marked() {
    let lookups = "{nodes: 2, since: '2026-11-20 10:00:00 UTC', keys: {port: [2, '2026-11-21 10:00:00 UTC']}}";
    let known = format!(
        "hiera-ls/import: {{lookups: {{production: {lookups}}}}}\n{}",
        PLAIN.nodes
    );
    let case = HintCase {
        nodes: &known,
        options: HintOptions {
            token_values: false,
            impact: false,
            ..HintOptions::ALL
        },
        ..PLAIN
    };
    let hints = found(&case);
    let never: Vec<_> = hints
        .iter()
        .filter(|(label, _)| label.starts_with("never"))
        .collect();
    assert_eq!(never.len(), 5, "{hints:?}");
    assert_eq!(never[0].0, "never read since 2026-11-20");
    assert_eq!(
        never[0].1.as_deref(),
        Some("this key was never read since 2026-11-20, by the catalogs of 2 nodes")
    );
}

#[test]
fn only_what_a_what_if_changes_is_marked() {
    let case = HintCase {
        nodes: "a: {facts: {role: web}}\nb: {facts: {role: web}}\n",
        factual: Some(PLAIN.nodes),
        ..PLAIN
    };
    let all = labels(&case);
    let marked = |text: &str| {
        let label = all.iter().find(|label| label.contains(text));
        label.map(|label| label.contains("(what-if)"))
    };
    assert_eq!(marked("never used"), Some(true));
    assert_eq!(marked("= 8080"), Some(true));
    assert_eq!(marked("= alone"), Some(false));
}

#[test]
fn a_value_is_written_and_cut_as_in_a_hover() {
    let all = labels(&HintCase {
        options: HintOptions {
            impact: false,
            ..HintOptions::ALL
        },
        ..PLAIN
    });
    assert_eq!(
        all,
        [
            "↑ 1/2 role/web.yaml:1",
            "= alone",
            "= [10.1.0.53, 10.1.0.54, 10.1.0.55, …]",
            "= 'Welcome to: a machine of this company…'",
            // Keys with an apostrophe are looked up too.
            "↑ 1/2 role/web.yaml:2",
        ]
    );
}

#[test]
fn a_label_begins_with_the_count_and_fits_an_editor() {
    let hint = |by: &str, what_if: &str| Hint {
        range: TextRange::new(0, 1),
        kind: HintKind::Overridden {
            nodes: 4,
            total: 8,
            is_partial: false,
            by: None,
            others: 1,
        },
        by: Some(by.to_owned()),
        place: None,
        what_if: what_if.to_owned(),
    };
    let long = "node/web01.lon.acme.example.with-a-long-name.yaml:4";
    let labels = [
        hint("site/lon.yaml:4", "").label(),
        hint(long, "").label(),
        hint(long, "site = nyc").label(),
    ];
    assert_eq!(
        labels,
        [
            "↑ 4/8 site/lon.yaml:4 +1",
            "↑ 4/8 node/web01.lon.acme.exampl….yaml:4 +1",
            "↑ 4/8 node/web01.lon.a….yaml:4 +1 (what-if)",
        ]
    );
    assert!(labels.iter().all(|label| label.chars().count() <= LONGEST));
    let sentence = hint(long, "site = nyc").sentence().unwrap_or_default();
    assert!(sentence.ends_with("(what if: site = nyc)"), "{sentence}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, cases: 200, ..Default::default() })]
    #[test]
    fn winners_without_lookups_are_those_of_lookups(
        texts in proptest::collection::vec(crate::ide::random_workspace::file(), 6),
    ) {
        use crate::ide::random_workspace::{FILES, KEYS, workspace};
        let mut facts = String::new();
        for (node, role, site) in [("n", "web", "ams"), ("o", "db", "lon"), ("p", "x", "ams"), ("q", "web", "x")] {
            facts += &format!("{node}: {{facts: {{role: {role}, site: {site}}}}}\n");
        }
        let (snapshot, known) = (workspace(&texts), nodes(&facts));
        let settings = Settings::for_version(PuppetVersion::V8).for_editor();
        let configs = ConfigCache::default();
        let analysis = Analysis::new(&snapshot, &settings, &configs, &known);
        for file in FILES {
            let path = format!("{FOLDER}/{file}");
            let Some(view) = analysis.governing(&path) else { continue };
            let members = readers(&view.session(), &known, &view.layer, &path);
            for key in KEYS {
                let Some(quick) = Winners::without_lookups(&view, &path, key, &members) else { continue };
                let runs = view.runs(&request(key), &members);
                let all = Winners::of(&runs, &members, &path);
                proptest::prop_assert_eq!(quick.overridden, all.overridden, "{} in {}", key, file);
                let hints = [quick, all].map(|it| key_hint(&view, &it, members.len(), false));
                proptest::prop_assert_eq!(&hints[0], &hints[1], "{} in {}", key, file);
            }
        }
    }
}
