//! Tests of surveys.

use expect_test::expect;

use super::survey::{Status, Survey};
use crate::analysis::with_analysis;
use crate::fixture::{FOLDER, Fixture};
use crate::scope::Scope;
use crate::workspace::Snapshot;

const LEVELS: &str = "\
#- hiera.yaml
version: 5
hierarchy:
  - {name: Private, path: /elsewhere/private.yaml}
  - {name: Site, path: \"site/%{facts.site}.yaml\"}
  - {name: Top, path: top.yaml}
  - {name: Empty, path: empty.yaml}
  - {name: Role, path: \"role/%{role}.yaml\"}
  - {name: Common, path: common.yaml}
  - {name: Missing, path: missing.yaml}
  - {name: Far, path: /elsewhere/far.yaml}
  - {name: Function, lookup_key: \"site::of\", path: function.yaml}
#- data/site/ams.yaml
list: [0]
#- data/top.yaml
first: 1
list: [1]
lookup_options: {list: {merge: unique}}
#- data/empty.yaml
other: 2
#- data/role/web.yaml
first: 3
#- data/common.yaml
first: 4
list: [4]
#- data/function.yaml
first: 5
";

/// The survey of a key in the root of a file.
fn surveyed(snapshot: &Snapshot, at: &str, key: &str, scope: &Scope) -> Survey {
    with_analysis(snapshot, |analysis| {
        let view = analysis.governing(&format!("{FOLDER}/{at}"));
        view.expect("a root").survey(key, scope)
    })
}

/// Every level of a key in an open scope: its name, its status, and where it sets the key.
fn levels(key: &str) -> String {
    let snapshot = Fixture::new("data/common.yaml", LEVELS).opened();
    let survey = surveyed(&snapshot, "data/common.yaml", key, &Scope::open());
    let levels = survey.levels.iter().map(|level| {
        let status = match &level.status {
            Status::Sets => "sets".to_owned(),
            Status::Merged => "merged".to_owned(),
            Status::Overridden => "overridden".to_owned(),
            Status::ForSomeNodes(files) => format!("for some nodes {}", files.join(" ")),
            Status::NotSet => "not set".to_owned(),
            Status::Unknown(files) => format!("unknown, {} file", files.len()),
            Status::Outside { decides } => format!("outside, decides: {decides}"),
        };
        let line = level.key.map(|(line, _)| format!(" in line {}", line + 1));
        let name = &level.place.level;
        format!("{name}: {status}{}", line.unwrap_or_default())
    });
    levels.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_first_level_that_sets_a_key_overrides_those_below() {
    expect![[r#"
        Private: outside, decides: true
        Site: not set
        Top: sets in line 1
        Empty: not set
        Role: for some nodes /repo/data/role/web.yaml
        Common: overridden in line 1
        Missing: not set
        Far: outside, decides: false
        Function: unknown, 1 file in line 1"#]]
    .assert_eq(&levels("first"));
}

#[test]
fn all_merged_levels_are_sources() {
    expect![[r#"
        Private: outside, decides: true
        Site: unknown, 1 file
        Top: merged in line 2
        Empty: not set
        Role: not set
        Common: merged in line 2
        Missing: not set
        Far: outside, decides: true
        Function: not set"#]]
    .assert_eq(&levels("list"));
}

#[test]
fn a_variable_stands_for_several_folders_only_where_no_other_level_names_the_file() {
    let text = "\
#- hiera.yaml
version: 5
hierarchy:
  - name: All
    paths:
      - \"site/%{site}/role/%{role}.yaml\"
      - \"site/%{site}.yaml\"
      - \"role/%{role}.yaml\"
      - common.yaml
#- data/site/ams/role/db.yaml
a: 2
#- data/role/web.yaml
a: 1
#- data/site/east/coast.yaml
a: 3
#- data/common.yaml
a: 0
";
    let snapshot = Fixture::new("data/common.yaml", text).opened();
    let mut scope = Scope::open();
    scope.bind("role", "web");
    let survey = surveyed(&snapshot, "data/role/web.yaml", "a", &scope);
    assert!(
        survey.for_some_nodes().is_empty(),
        "{:?}",
        survey.for_some_nodes()
    );
}
