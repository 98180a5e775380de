//! Refactorings at cursors in small workspaces.

use expect_test::{Expect, expect};

use super::{chosen, offers, refused};
pub(super) use crate::ide::fixture_tests::in_common;
use crate::ide::fixture_tests::{AtCursor, at_cursor, check, check_cases, with_hierarchy};
use crate::plan::Proof;
use crate::plan::goal::diff;

pub(super) fn titles(text: &str) -> Vec<String> {
    at_cursor(text, None, |cursor| {
        let offers = offers(cursor.analysis, cursor.path, cursor.offset).into_iter();
        offers.map(|offer| offer.title).collect()
    })
}

/// The titles that contain some words.
fn titles_with(text: &str, words: &str) -> Vec<String> {
    let mut titles = titles(text);
    titles.retain(|title| title.contains(words));
    titles
}

/// The first offer with a title that begins with `begin`, with its effect and its diff.
///
/// # Errors
/// The titles of all offers.
pub(super) fn proved(
    at: &AtCursor<'_>,
    begin: &str,
) -> Result<(String, Proof, String), Vec<String>> {
    let offers = offers(at.analysis, at.path, at.offset).into_iter();
    let titles: Vec<String> = offers.map(|offer| offer.title).collect();
    let Some(title) = titles.iter().find(|title| title.starts_with(begin)) else {
        return Err(titles);
    };
    let found = chosen(at.analysis, at.path, at.offset, title);
    let (offer, proof) = found.expect("a plan that fits");
    let snapshot = at.analysis.snapshot;
    let name = |at: &str| snapshot.short_name(at).to_owned();
    let diff = diff(&offer.plan, snapshot, &name).expect("edits that fit");
    Ok((offer.title, proof, diff))
}

/// The effect and the diff of the offer with a title that begins with `begin`.
fn changed_by(at: &AtCursor<'_>, begin: &str) -> String {
    match proved(at, begin) {
        Ok((title, proof, diff)) => format!("{title}: {}\n{diff}", proof.words()),
        Err(titles) => format!("not offered: {titles:?}"),
    }
}

/// Checks cases, each written as `start of a title ← part of a workspace`.
pub(super) fn check_titled(workspace: impl Fn(&str) -> String, cases: Expect) {
    check_cases(cases, |case| {
        let (begin, text) = case.split_once(" ← ").expect("a title");
        let changed = at_cursor(&workspace(text), None, |at| changed_by(&at, begin));
        changed.trim_end_matches('\n').to_owned()
    });
}

#[test]
fn keys_move_between_levels() {
    check_titled(
        with_hierarchy,
        expect![[r#"
            ## a key moves down with its comments
            $ Move 'c' down ← #- data/common.yaml\n# All.\nb: 1\nd: 2\n#- data/role/web.yaml\n# Roles.\nf: 1\n# Why.\nc$0: 'x'  # x\ne: 1\n
            Move 'c' down to data/common.yaml: can change c of nodes that read none of these files
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,3 +1,5 @@
             # All.
             b: 1
            +# Why.
            +c: 'x'  # x
             d: 2
            --- data/role/web.yaml
            +++ data/role/web.yaml
            @@ -1,5 +1,3 @@
             # Roles.
             f: 1
            -# Why.
            -c: 'x'  # x
             e: 1
            ## a key that all files of a level share is hoisted
            $ Move 'a' from all ← #- nodes.yaml\nn: {facts: {role: web, site: ams}}\n#- data/common.yaml\nb: 1\n#- data/role/web.yaml\na$0: [1, 2]\n#- data/role/db.yaml\na:\n  - 1\n  - 2\nz: 1\n
            Move 'a' from all 2 files of 'Role' to data/common.yaml: changes no value of the 1 node known, but can change a of nodes that read none of these files
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1 +1,2 @@
             b: 1
            +a: [1, 2]
            --- data/role/db.yaml
            +++ data/role/db.yaml
            @@ -1,4 +1 @@
            -a:
            -  - 1
            -  - 2
             z: 1
            --- data/role/web.yaml
            +++ data/role/web.yaml
            @@ -1 +1 @@
            -a: [1, 2]
            +{}
            ## comments of all files are hoisted
            $ Move 'a' from all ← #- data/common.yaml\nb: 1\n#- data/role/web.yaml\nz: 1\n# Why.\na$0: 1  # web\n#- data/role/db.yaml\nz: 1\n# Why.\n# Since May.\na: 1  # db\n
            Move 'a' from all 2 files of 'Role' to data/common.yaml: can change a of nodes that read none of these files
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1 +1,5 @@
             b: 1
            +# Since May.
            +# db
            +# Why.
            +a: 1  # web
            --- data/role/db.yaml
            +++ data/role/db.yaml
            @@ -1,4 +1 @@
             z: 1
            -# Why.
            -# Since May.
            -a: 1  # db
            --- data/role/web.yaml
            +++ data/role/web.yaml
            @@ -1,3 +1 @@
             z: 1
            -# Why.
            -a: 1  # web
            $ Move 'a' from all ← #- data/common.yaml\n# Both.\nb: 1\n# Why.\na: 1\n#- data/role/web.yaml\nz: 1\n# Why.\na$0: 1  # web\n#- data/role/db.yaml\nz: 1\na: 1  # db\n
            Move 'a' from all 2 files of 'Role' to data/common.yaml: changes no effective value
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,4 +1,6 @@
             # Both.
             b: 1
             # Why.
            +# web
            +# db
             a: 1
            --- data/role/db.yaml
            +++ data/role/db.yaml
            @@ -1,2 +1 @@
             z: 1
            -a: 1  # db
            --- data/role/web.yaml
            +++ data/role/web.yaml
            @@ -1,3 +1 @@
             z: 1
            -# Why.
            -a: 1  # web
            ## a key is pushed into the files of the level above
            $ Move 'a' into ← #- data/common.yaml\na$0: 1\nb: 2\n#- data/site/ams.yaml\nx: 1\n#- data/site/lon.yaml\na: 3\n
            Move 'a' into data/site/ams.yaml: can change a of nodes that read none of these files
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,2 +1 @@
            -a: 1
             b: 2
            --- data/site/ams.yaml
            +++ data/site/ams.yaml
            @@ -1 +1,2 @@
             x: 1
            +a: 1
            ## two levels are merged
            $ Merge 'a' ← #- nodes.yaml\nn: {facts: {role: web, site: ams}}\nm: {facts: {role: x, site: ams}}\n#- data/common.yaml\na: [1]\n#- data/role/web.yaml\na$0: [2]\n
            Merge 'a' across all levels (unique), in data/common.yaml: changes a for n, of 2 nodes, and can change a of a node with other facts
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1 +1,4 @@
             a: [1]
            +lookup_options:
            +  a:
            +    merge: unique
        "#]],
    );
}

/// A hierarchy with a glob above its last level.
const GLOB: &str = "\
#- hiera.yaml
version: 5
hierarchy:
  - name: Role
    paths: [\"role/%{facts.role}-%{facts.site}.yaml\", \"role/%{facts.role}.yaml\"]
  - {name: Site, path: \"site/%{facts.site}.yaml\"}
  - {name: Users, glob: \"users.d/*.yaml\"}
  - {name: Common, path: common.yaml}
#- data/users.d/10.yaml
u: 1
";

#[test]
fn merge_options_are_written_into_a_file_of_the_hierarchy() {
    let texts = [
        "#- data/common.yaml\na$0: [1]\n#- data/role/web.yaml\na: [2]\n",
        "#- data/common.yaml\na: [1]\n#- data/role/web.yaml\na$0: [2]\n",
    ];
    for text in texts {
        let merges = titles_with(&format!("{GLOB}{text}"), "Merge");
        let title = "Merge 'a' across all levels (unique), in data/common.yaml";
        assert_eq!(merges, [title], "{text}");
    }
}

#[test]
fn a_key_moves_past_the_files_of_a_glob() {
    let text = format!("{GLOB}#- data/common.yaml\nb: 1\n#- data/role/web.yaml\na$0: 1\n");
    assert!(titles(&text).contains(&"Move 'a' down to data/common.yaml".to_owned()));
}

#[test]
fn a_key_is_pushed_only_into_files_that_are_read_together() {
    let others = "#- data/role/web-lon.yaml\nx: 1\n#- data/role/build.yaml\ny: 1\n";
    let into = |text: &str| titles_with(&format!("{GLOB}{others}{text}"), "into");
    assert_eq!(into("#- data/role/db.yaml\na$0: 1\n"), Vec::<String>::new());
    assert_eq!(
        into("#- data/site/ams.yaml\na$0: 1\n"),
        ["Move 'a' into data/role/build.yaml"]
    );
    assert_eq!(
        into("#- data/role/web.yaml\na$0: 1\n"),
        ["Move 'a' into data/role/web-lon.yaml"]
    );
}

#[test]
fn a_key_is_not_pushed_where_that_moves_it_up_or_away_from_all_nodes() {
    let config = "\
#- hiera.yaml
version: 5
hierarchy:
  - {name: Team, path: \"team/%{facts.role}.yaml\"}
  - {name: Role, path: \"role/%{facts.role}.yaml\"}
#- data/role/web.yaml
a$0: 1
#- data/team/web.yaml
b: 1
#- data/team/db.yaml
b: 1
";
    assert_eq!(titles(config), ["Move 'a' up to data/team/web.yaml"]);
    let into = |site: &str| {
        let text = with_hierarchy(&format!(
            "#- nodes.yaml\nweb1: {{facts: {{role: web, site: {site}}}}}\n\
             #- data/site/ams.yaml\na$0: 1\n#- data/role/db.yaml\nx: 1\n#- data/role/web.yaml\nx: 1\n"
        ));
        titles_with(&text, "into")
    };
    assert_eq!(into("ams"), ["Move 'a' into 2 files of 'Role'"]);
    let away = with_hierarchy(
        "#- nodes.yaml\nweb1: {facts: {role: web, site: ams}}\n\
         #- data/site/ams.yaml\na$0: 1\n#- data/role/db.yaml\nx: 1\n",
    );
    assert_eq!(titles_with(&away, "into"), Vec::<String>::new());
}

#[test]
fn nested_keys_become_flat_and_back() {
    check_titled(
        in_common,
        expect![[r#"
            $ Split the hash ← x: 1\na:\n  # Port.\n  port$0: 80\n  list:\n    - 1\n    - 2\ny: 2\n
            Split the hash 'a' into 2 keys: changes no effective value; removes the key a; can change parameters of the class a, which is not in this workspace
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,8 +1,7 @@
             x: 1
            -a:
            -  # Port.
            -  port: 80
            -  list:
            -    - 1
            -    - 2
            +# Port.
            +a::port: 80
            +a::list:
            +  - 1
            +  - 2
             y: 2
            $ Combine 2 keys ← a::port$0: 80\nx: 1\n# Names.\na::names:\n  - x\n
            Combine 2 keys into the hash 'a': changes no effective value; removes the keys a::port, a::names; can change parameters of the class a, which is not in this workspace
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,5 +1,6 @@
            -a::port: 80
            +a:
            +  port: 80
            +  # Names.
            +  names:
            +    - x
             x: 1
            -# Names.
            -a::names:
            -  - x
        "#]],
    );
}

#[test]
fn keys_of_visible_classes_are_added_and_removed_without_a_warning() {
    let text = in_common("a:\n  port$0: 80\n")
        + "#- environment.conf\nmodulepath = modules\n#- modules/a/manifests/init.pp\nclass a($other) { }\n";
    check(
        &text,
        |at| changed_by(at, "Split the hash"),
        expect![[r#"
            Split the hash 'a' into a key: changes no effective value; removes the key a
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,2 +1 @@
            -a:
            -  port: 80
            +a::port: 80
        "#]],
    );
}

#[test]
fn a_version_3_that_cannot_be_converted_has_a_reason() {
    let why = |more: &str| {
        let text = format!(
            "#- hiera.yaml\n:backends: [yaml]\n:hierarchy: [common]\n{more}$0\n#- data/common.yaml\na: 1\n"
        );
        let is_offered = !titles_with(&text, "Convert").is_empty();
        let refused = at_cursor(&text, None, |cursor| refused(cursor.analysis, cursor.path));
        assert_eq!(is_offered, refused.is_none());
        refused.map(|refused| refused.reason)
    };
    assert_eq!(why(""), None);
    assert_eq!(why(":merge_behavior: native"), None);
    assert_eq!(
        why(":merge_behavior: deeper").as_deref(),
        Some(
            "merge_behavior 'deeper' is for all keys, but version 5 sets in lookup_options how each key is merged: add those entries, then remove it"
        )
    );
    assert!(why("# %{calling_module}").is_some());
    assert_eq!(why(":yaml:\n  :datadir: data"), None);
    let text = "#- spec/hiera.yaml\n:backends: [yaml]\n:yaml:\n  :datadir: spec/data$0\n:hierarchy: [common]\n\
         #- spec/spec/data/common.yaml\na: 1\n";
    let refused = at_cursor(text, None, |cursor| refused(cursor.analysis, cursor.path));
    let reason = refused.map(|refused| refused.reason).unwrap_or_default();
    assert!(
        reason.starts_with("the datadir 'spec/data' starts"),
        "{reason}"
    );
}

#[test]
fn version_3_becomes_version_5() {
    let text = "#- hiera.yaml\n# Old.\n:backends:\n  - yaml$0\n:yaml:\n  :datadir: data\n:hierarchy:\n  - 'role/%{::role}'\n  - common\n#- data/common.yaml\na: 1\n";
    check(
        text,
        |at| changed_by(at, "Convert"),
        expect![[r#"
        Convert this hierarchy to version 5: changes no effective value
        --- hiera.yaml
        +++ hiera.yaml
        @@ -1,8 +1,10 @@
        +---
         # Old.
        -:backends:
        -  - yaml
        -:yaml:
        -  :datadir: data
        -:hierarchy:
        -  - 'role/%{::role}'
        -  - common
        +version: 5
        +hierarchy:
        +- name: yaml
        +  data_hash: yaml_data
        +  datadir: data
        +  paths:
        +  - role/%{::role}.yaml
        +  - common.yaml
    "#]],
    );
}

#[test]
fn broken_and_foreign_files_are_offered_nothing() {
    assert_eq!(titles(&in_common("a: [1\nb$0: 2\n")), Vec::<String>::new());
    assert_eq!(titles(&in_common("{a$0: 1, b: 2}\n")), Vec::<String>::new());
    assert_eq!(titles("#- README.md\na$0: 1\n"), Vec::<String>::new());
}

#[test]
fn a_hash_whose_parts_are_looked_up_is_not_split() {
    let used = in_common("a:\n  port$0: 80\nb: \"%{lookup('a.port')}\"\n");
    assert_eq!(titles_with(&used, "Split"), Vec::<String>::new());
}
