//! Each refactoring has the effect in its proof, in small and random workspaces.

use std::sync::Arc;

use expect_test::expect;
use proptest::prelude::*;

use super::tests::{check_titled, proved};
use super::{chosen, offers};
use crate::analysis::Analysis;
use crate::edit::Plan;
use crate::fixture::FOLDER;
use crate::ide::compare::Difference;
use crate::ide::fixture_tests::{at_cursor, with_hierarchy};
use crate::ide::random_workspace::{FILES, file, values, workspace};
use crate::lookup::{ConfigCache, PuppetVersion, Settings};
use crate::plan::prove;
use crate::scope::KnownNodes;
use crate::text::{TextEdit, TextRange};
use crate::workspace::Snapshot;

#[test]
fn other_environments_that_read_the_file_are_reported() {
    let environment = |name: &str, data: &str| {
        format!(
            "#- environments/{name}/environment.conf\nmodulepath = /repo/modules\n\
             #- environments/{name}/hiera.yaml\nversion: 5\nhierarchy: [{{name: a, path: a.yaml}}]\n\
             #- environments/{name}/data/a.yaml\n{data}"
        )
    };
    let module = "\
#- modules/m/hiera.yaml
version: 5
hierarchy: [{name: Role, path: \"%{facts.role}.yaml\"}, {name: All, path: all.yaml}]
#- modules/m/data/web.yaml
m::a$0: 1
#- modules/m/data/all.yaml
m::b: 2
";
    let own = "m::a: 3\n";
    // Data of the module has no effect in the first environment.
    check_titled(
        |data| environment("one", own) + &environment("two", data) + module,
        expect![[r#"
            $ Move 'm::a' down ← 
            Move 'm::a' down to modules/m/data/all.yaml: changes no effective value; can change values in the environment two, which reads the same files
            --- modules/m/data/all.yaml
            +++ modules/m/data/all.yaml
            @@ -1 +1,2 @@
             m::b: 2
            +m::a: 1
            --- modules/m/data/web.yaml
            +++ modules/m/data/web.yaml
            @@ -1 +1 @@
            -m::a: 1
            +{}
            $ Move 'm::a' down ← m::a: 3\n
            Move 'm::a' down to modules/m/data/all.yaml: changes no effective value
            --- modules/m/data/all.yaml
            +++ modules/m/data/all.yaml
            @@ -1 +1,2 @@
             m::b: 2
            +m::a: 1
            --- modules/m/data/web.yaml
            +++ modules/m/data/web.yaml
            @@ -1 +1 @@
            -m::a: 1
            +{}
        "#]],
    );
}

#[test]
fn another_order_of_merged_values_is_reported() {
    let text = "\
#- data/node/n.yaml
x: 1
#- data/role/web.yaml
m::b$0: some text
#- data/site/ams.yaml
m::b: [x, y]
#- data/common.yaml
m::b: some text
lookup_options:
  m::b: {merge: unique}
";
    let (_, proof, _) = at_cursor(&with_hierarchy(text), None, |at| {
        proved(&at, "Move 'm::b' into").expect("an offer")
    });
    let keys: Vec<&str> = proof.possible.iter().map(|change| &*change.key).collect();
    assert_eq!(keys, ["m::b"]);
}

#[test]
fn losses_of_unknown_nodes_are_reported_with_those_of_known_nodes() {
    let nodes = "#- nodes.yaml\nweb1: {facts: {role: web}}\nweb2: {facts: {role: web, site: x}}\n";
    for (files, title, expected) in [
        (
            "#- data/role/web.yaml\na$0: 1\n#- data/site/x.yaml\na: 2\n\
             #- data/site/y.yaml\nb: \"%{lookup('a')}\"\n",
            "Move 'a' down",
            "changes a for web2, of 2 nodes, and can change a, b of nodes that read none of these files",
        ),
        (
            "#- data/role/web.yaml\na$0: 1\n#- data/role/db.yaml\na: 1\n\
             #- data/site/y.yaml\na: 2\n#- data/site/x.yaml\na: 3\n",
            "Move 'a' from all",
            "changes a for web2, of 2 nodes, and can change a of nodes that read none of these files",
        ),
    ] {
        let text = with_hierarchy(&format!("{nodes}{files}#- data/common.yaml\nc: 1\n"));
        let (_, proof, _) = at_cursor(&text, None, |at| proved(&at, title).expect("an offer"));
        assert_eq!(proof.words(), expected);
    }
}

#[test]
fn other_options_concern_the_keys_that_they_are_for() {
    let texts = [
        "",
        "x: 1\na: [x]\n",
        "",
        "",
        "",
        "a: [y]\nx: 2\nd: \"%{alias('a')}\"\n",
    ];
    let before = workspace(&texts.map(str::to_owned));
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
    let analysis = Analysis::new(&before, &settings, &configs, &nodes);
    let path = Arc::from(format!("{FOLDER}/{}", FILES[1]));
    let mut plan = Plan::default();
    plan.add(&path, TextEdit::replace(TextRange::new(3, 4), "3"));
    let options = "lookup_options: {a: {merge: unique}}\n";
    plan.add(&path, TextEdit::insert(texts[1].len(), options));
    let view = analysis.governing(&path).expect("a root");
    let proof = prove(&view, &plan).expect("a plan that fits");
    assert_eq!(
        proof.possible.iter().map(change_text).collect::<Vec<_>>(),
        ["a: other facts", "d: other facts", "x: facts.role = web"]
    );
}

#[test]
fn a_proof_distinguishes_nodes_by_files_with_merge_options() {
    let texts = [
        "",
        "lookup_options:\n  '^m::': {merge: hash}\n",
        "",
        "a: '%{alias(\"m::b\")}'\nm::b: 1\n",
        "m::c: \"%{lookup('a')}\"\n",
        "m::b: [z, '%{lookup(\"m::c\")}']\n",
    ];
    assert_eq!(
        possible_changes(texts, 4, "Move 'm::c' down to data/common.yaml"),
        ["a: facts.role = web, facts.site = ams", "m::b: ", "m::c: ",]
    );
}

#[test]
fn a_proof_follows_what_looks_up_a_key_that_fails() {
    let texts = [
        "a: 1\n",
        "lookup_options:\n  '^m::': {merge: hash}\n",
        "",
        "a: '%{alias(\"m::b\")}'\nm::b: 1\n",
        "m::c: \"%{lookup('a')}\"\n",
        "m::b: [z, '%{lookup(\"m::c\")}']\n",
    ]
    .map(str::to_owned);
    check_proofs(&texts, 4, 0.0).expect("a proof that tells all");
}

#[test]
fn a_proof_follows_a_value_through_files_of_three_levels() {
    let texts = [
        "m::c: \"%{lookup('a')}\"\n",
        "",
        "",
        "d: [z, '%{lookup(\"m::c\")}']\n",
        "a: 1\n",
        "",
    ];
    assert_eq!(
        possible_changes(texts, 4, "Move 'a' into 2 files of 'Role'"),
        [
            "a: facts.role = db",
            "d: facts.role = db, facts.site = ams, trusted.certname = n",
            "m::c: facts.role = db, trusted.certname = n",
        ]
    );
}

/// The possible changes by a refactoring at the start of a file, and their nodes, by its proof.
fn possible_changes(texts: [&str; FILES.len()], at: usize, title: &str) -> Vec<String> {
    let before = workspace(&texts.map(str::to_owned));
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
    let analysis = Analysis::new(&before, &settings, &configs, &nodes);
    let path = format!("{FOLDER}/{}", FILES[at]);
    let (_, proof) = chosen(analysis, &path, 0, title).expect("a plan");
    let possible_changes = proof.possible.iter();
    possible_changes.map(change_text).collect()
}

fn change_text(change: &Difference) -> String {
    format!("{}: {}", change.key, change.after.condition)
}

/// Shortens the error of a loop: an extracted value adds a key to its path.
fn without_way(answer: &str) -> &str {
    const LOOP: &str = "Recursive lookup detected";
    if answer.contains(LOOP) { LOOP } else { answer }
}

fn comments(snapshot: &Snapshot) -> impl Iterator<Item = &str> {
    let lines = snapshot.files().flat_map(|file| file.text().lines());
    lines.filter_map(|line| Some(line.split_once('#')?.1.trim()))
}

/// Compares the effect of all refactorings at a place of a file with their proofs.
fn check_proofs(texts: &[String], at: usize, place: f64) -> Result<(), TestCaseError> {
    let before = workspace(texts);
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
    let analysis = Analysis::new(&before, &settings, &configs, &nodes);
    let path = format!("{FOLDER}/{}", FILES[at]);
    let offset = (texts[at].len() as f64 * place) as usize;
    let old = values(&before);
    for offer in offers(analysis, &path, offset) {
        let (offer, proof) = chosen(analysis, &path, offset, &offer.title).expect("a plan");
        let after = offer.plan.after(&before).expect("edits that fit");
        for file in after.files() {
            let was = before.file(file.path()).expect("the same files");
            prop_assert_eq!(was.facts().error.is_some(), file.facts().error.is_some());
            // Line ends stay.
            let ends =
                |text: &str| text.contains("\r\n") && text.replace("\r\n", "").contains('\n');
            prop_assert!(
                !ends(file.text()) || ends(was.text()),
                "{}: {:?}",
                offer.title,
                file.text()
            );
        }
        let lost = comments(&before).find(|one| !comments(&after).any(|other| other == *one));
        // Entries without effect are removed with their comments.
        prop_assert!(
            lost.is_none() || offer.title.starts_with("Keep only"),
            "{} loses {lost:?}: {texts:#?}",
            offer.title
        );
        let new = values(&after);
        let reported: Vec<&str> = proof.possible.iter().map(|change| &*change.key).collect();
        prop_assert!(proof.is_complete);
        for (what, value) in &old {
            let key = what.split(' ').next().unwrap_or_default();
            let is_reported =
                reported.contains(&key) || offer.plan.intended.iter().any(|it| **it == *key);
            prop_assert!(
                is_reported || without_way(&new[what]) == without_way(value),
                "{}: {what}: {value} became {}\n{:#?}\n{texts:#?}",
                offer.title,
                new[what],
                offer.plan
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    /// A proof without changes is right for every node; a proof with changes is right about all other keys.
    #[test]
    fn every_refactoring_changes_only_what_its_proof_lists(
        texts in proptest::collection::vec(file(), FILES.len()),
        at in 0..FILES.len(),
        place in 0.0..1.0f64,
    ) {
        check_proofs(&texts, at, place)?;
    }
}
