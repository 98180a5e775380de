//! Comparing two versions of a workspace: searching only for changes gives the same as comparing
//! two full matrices, and every node is shown its own sources.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Arc;

use hiera_ls::analysis::all_keys;
use hiera_ls::ide::cell::{difference_lines, side_texts};
use hiera_ls::ide::compare::{Difference, compare_versions};
use hiera_ls::ide::json::json;
use hiera_ls::ide::matrix::row;
use hiera_ls::lookup::{PuppetVersion, Request};
use hiera_ls::scope::{Knowledge, Node, Nodes};
use hiera_ls::workspace::{Snapshot, path};
use proptest::prelude::*;

use super::matrix::{
    Base, FOLDER, NODES, PATHS, base, data, files, fleet, nodes, result_text, run, workspace,
};

/// A difference as text, files below the folder.
fn difference_text(difference: &Difference) -> String {
    let texts = side_texts(difference);
    fn name(at: &str) -> &str {
        path::within(at, FOLDER).unwrap_or(at)
    }
    let lines = difference_lines(difference, &texts, name).into_iter();
    let lines = lines.map(|(_, line, behind)| format!("{line}  {behind}"));
    lines.map(|line| format!("{}\n", line.trim_end())).collect()
}

/// All differences between two versions.
fn compared(base: &Base, before: &Snapshot, after: &Snapshot) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut take = |new: Vec<Difference>, _, _| {
        found.extend(new);
        Ok(())
    };
    let (old, new) = (fleet(base, before), fleet(base, after));
    compare_versions(&old, &new, &[], &mut take).unwrap();
    found
}

/// The value of every key on every node, each from a separate lookup, and whether it is certain.
fn cells(
    base: &Base,
    snapshot: &Snapshot,
    keys: &BTreeSet<Arc<str>>,
) -> BTreeMap<(Arc<str>, Arc<str>), String> {
    let fleet = fleet(base, snapshot);
    let mut cells = BTreeMap::new();
    for member in 0..base.nodes.len() {
        for key in keys {
            let session = fleet.session();
            let answer = session.lookup(&base.nodes.scope(member), &Request::key(key));
            let at = (key.clone(), base.nodes.shared_name(member));
            // Files with unknown variables are not considered.
            let is_certain = match base.nodes.knowledge(member) {
                Knowledge::All => answer.is_certain(),
                Knowledge::Name | Knowledge::Label => true,
            };
            cells.insert(at, format!("{} {is_certain}", result_text(&answer.result)));
        }
    }
    cells
}

/// The known nodes, and some that are only known by name.
fn fleet_of_both() -> Nodes {
    let known = nodes(NODES);
    let named = ["n1", "n9", "n2.example.com"].map(|name| Arc::new(Node::named(name)));
    let known = known.all().iter().filter(|node| *node.certname != *"n1");
    known.cloned().chain(named).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn change_extents_cover_all_differences(
        before in proptest::collection::vec(proptest::option::weighted(0.8, data()), PATHS.len()),
        edits in proptest::collection::vec(proptest::option::weighted(0.3, proptest::option::of(data())), PATHS.len()),
        is_puppet_8 in any::<bool>(),
    ) {
        let version = |texts: &[Option<String>]| {
            let texts = PATHS.iter().zip(texts);
            let texts: Vec<(&str, &str)> = texts.filter_map(|(path, text)| Some((*path, text.as_deref()?))).collect();
            workspace(&files(&texts)).snapshot()
        };
        let edited = before.iter().zip(&edits);
        let after: Vec<Option<String>> = edited.map(|(old, edit)| edit.clone().unwrap_or_else(|| old.clone())).collect();
        let (before, after) = (version(&before), version(&after));
        let puppet = if is_puppet_8 { PuppetVersion::V8 } else { PuppetVersion::V7 };
        let base = base(&fleet_of_both(), puppet);
        let mut keys: BTreeSet<Arc<str>> = all_keys(&fleet(&base, &before)).into_iter().collect();
        keys.extend(all_keys(&fleet(&base, &after)));
        let (old, new) = (cells(&base, &before, &keys), cells(&base, &after, &keys));
        let expected: BTreeSet<_> = old.iter().filter(|(at, old)| **old != new[at]).map(|(at, _)| at.clone()).collect();
        let mut found = BTreeSet::new();
        for difference in compared(&base, &before, &after) {
            for node in &difference.after.nodes {
                if result_text(&difference.before.result) != result_text(&difference.after.result)
                    || base.nodes.knowledge(base.nodes.find(node).unwrap()) == Knowledge::All
                {
                    found.insert((difference.key.clone(), node.clone()));
                }
            }
            for (cell, snapshot) in [(&difference.before, &before), (&difference.after, &after)] {
                prop_assert_eq!(cell.origins.iter().map(|origin| origin.nodes.len()).sum::<usize>(), cell.nodes.len());
                prop_assert!(cell.sources().iter().all(|source| snapshot.file(&source.file).is_some()));
            }
        }
        prop_assert_eq!(found, expected);
    }
}

const SOURCES: &str = "n1: {facts: {site: ls}, variables: {role: web}}\n\
    n2: {facts: {site: cp}, variables: {role: db}}\n\
    n3: {facts: {site: cp}, variables: {role: web}}\n\
    n4: {facts: {site: cp}, variables: {role: web}}\n";

#[test]
fn every_node_is_shown_its_own_sources() {
    let version = |node: &str, common: &str| {
        let files = files(&[
            ("data/node/n1.yaml", node),
            ("data/role/web.yaml", "a: 1\n"),
            ("data/common.yaml", common),
        ]);
        workspace(&files).snapshot()
    };
    let base = base(&nodes(SOURCES), PuppetVersion::V7);
    let after = version("b: 1\n", "b: 1\na: 1\n");
    let place =
        |file: &str, line: u32| format!("{{\"file\":\"{FOLDER}/data/{file}\",\"line\":{line}}}");
    assert_eq!(
        json(&row(&fleet(&base, &after), "b")),
        format!(
            "{{\"key\":\"b\",\"answers\":[{{\"found\":true,\"value\":1,\
             \"nodes\":[\"n1\",\"n2\",\"n3\",\"n4\"],\"sources\":[{common},{node}],\"origins\":[\
             {{\"nodes\":[\"n2\",\"n3\",\"n4\"],\"sources\":[{common}]}},\
             {{\"nodes\":[\"n1\"],\"sources\":[{node}]}}]}}]}}",
            common = place("common.yaml", 1),
            node = place("node/n1.yaml", 1),
        )
    );
    // One node changes: only its own sources count, although the old value was that of all nodes.
    let before = version("c: 1\n", "b: 2\na: 1\n");
    let found = compared(&base, &before, &after);
    let b: Vec<&Difference> = found.iter().filter(|found| *found.key == *"b").collect();
    let [b] = b.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        difference_text(b),
        "b — 4 nodes\n  - 2  data/common.yaml:1\n  + 1\n      \
         3 nodes  data/common.yaml:1\n      n1       data/node/n1.yaml:1\n"
    );
    let split = b.by_origin();
    let split: Vec<String> = split.iter().map(json).collect();
    assert_eq!(split.len(), 2);
    assert!(split[1].contains("\"nodes\":[\"n1\"]") && !split[1].contains("origins"));
    let before = version("b: 5\n", "b: 1\na: 1\n");
    let found = compared(&base, &before, &after);
    assert_eq!(
        difference_text(&found[0]),
        "b — n1\n  - 5  data/node/n1.yaml:1\n  + 1  data/node/n1.yaml:1\n"
    );
}

#[test]
fn other_cipher_texts_are_other_answers() {
    let hiera = "version: 5\ndefaults: {lookup_key: eyaml_lookup_key, datadir: data, options: {pkcs7_private_key: /k, pkcs7_public_key: /c}}\nhierarchy:\n\
        - {name: nodes, path: 'node/%{trusted.certname}.yaml'}\n- {name: common, path: common.yaml}\n";
    let secret = |text: &str| format!("p: ENC[PKCS7,{text}]\ns: \"x%{{lookup('p')}}\"\n");
    let version = |node: &str, common: &str| {
        let files = files(&[
            ("hiera.yaml", hiera),
            ("data/node/n1.yaml", &secret(node)),
            ("data/common.yaml", &secret(common)),
        ]);
        workspace(&files).snapshot()
    };
    let base = base(&nodes(SOURCES), PuppetVersion::V7);
    let snapshot = version("QUJD", "REVG");
    for key in ["p", "s"] {
        let row = row(&fleet(&base, &snapshot), key);
        let counts: Vec<usize> = row.answers.iter().map(|cell| cell.nodes.len()).collect();
        assert_eq!(counts, [3, 1], "{key}");
        assert_eq!(
            row.answers[0].unknown.as_deref(),
            Some("the value is encrypted (PKCS7)")
        );
    }
    assert_eq!(
        row(&fleet(&base, &version("QUJD", "QUJD")), "p")
            .answers
            .len(),
        1
    );
    let found = compared(&base, &snapshot, &version("QUJD", "R0hJ"));
    assert_eq!(
        difference_text(&found[0]),
        "p — 3 nodes\n  - unknown: the value is encrypted (PKCS7)  data/common.yaml:1\n  \
         + unknown: the value is encrypted (PKCS7) (a different value)  data/common.yaml:1\n"
    );
}

#[test]
fn a_hierarchy_a_module_and_what_no_level_reads() {
    let module = "version: 5\nhierarchy:\n- {name: m, path: m.yaml}\n";
    let version = |more: &[(&str, &str)]| {
        let common = [("data/common.yaml", "a: 1\nm::x: 1\n")];
        workspace(&files(&[&common[..], more].concat())).snapshot()
    };
    let base = base(&nodes(SOURCES), PuppetVersion::V7);
    let keys = |before: &[(&str, &str)], after: &[(&str, &str)]| -> Vec<String> {
        let found = compared(&base, &version(before), &version(after));
        let name = |found: &Difference| format!("{} {}", found.key, found.after.nodes.len());
        found.iter().map(name).collect()
    };
    assert!(keys(&[], &[("README.yaml", "a: 2\n"), ("notes.md", "x\n")]).is_empty());
    let of_module = [
        ("modules/m/hiera.yaml", module),
        ("modules/m/data/m.yaml", "m::y: 1\nother: 1\n"),
    ];
    assert_eq!(keys(&[], &of_module), ["m::y 4"]);
    assert_eq!(keys(&of_module, &[]), ["m::y 4"]);
    assert_eq!(keys(&of_module[..1], &of_module), ["m::y 4"]);
    let hiera = "version: 5\nhierarchy: []\n";
    assert_eq!(keys(&[], &[("hiera.yaml", hiera)]), ["a 4", "m::x 4"]);
    assert_eq!(keys(&[("data/node/n2.yaml", "z: 1\n")], &[]), ["z 1"]);
}

/// Flags for the newer of the [`checkouts`], with their nodes.
pub(super) const FLAGS: [&str; 6] = [
    "--nodes",
    "nodes.yaml",
    "--puppet-version",
    "7",
    "--workspace",
    "new",
];

/// Two checkouts in a folder, and a nodes file.
pub(super) fn checkouts() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, port) in [("old", 80), ("new", 81)] {
        let common = format!("port: {port}\nhost: \"%{{facts.site}}\"\n");
        for (path, text) in files(&[
            ("data/common.yaml", &common),
            ("data/node/b.yaml", "port: 9\n"),
        ]) {
            let path = folder.path().join(name).join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }
    let nodes = "a: {facts: {site: ls}}\nb: {facts: {site: ls}}\nc: {facts: {site: cp}}\n";
    std::fs::write(folder.path().join("nodes.yaml"), nodes).unwrap();
    folder
}

#[test]
fn two_nodes_and_two_checkouts_are_compared() {
    let folder = checkouts();
    let with = |more: &[&str]| run(&[more, &FLAGS].concat(), folder.path());
    assert_eq!(with(&["diff", "a", "a"]), (String::new(), 0));
    let (text, code) = with(&["diff", "a", "b"]);
    assert_eq!(code, 2);
    assert_eq!(
        text,
        "port\n  - 81  new/data/common.yaml:1\n  + 9  new/data/node/b.yaml:1\n"
    );
    let (text, code) = with(&["diff", "--against", "old"]);
    assert_eq!(code, 2);
    assert_eq!(
        text,
        "port — 2 nodes\n  - 80  old/data/common.yaml:1\n  + 81  new/data/common.yaml:1\n"
    );
    let (text, _) = with(&["diff", "a", "c", "--format", "csv"]);
    assert_eq!(
        text,
        "key,before,after,count,nodes,before_sources,after_sources\n\
         host,\"\"\"ls\"\"\",\"\"\"cp\"\"\",1,c,new/data/common.yaml:2,new/data/common.yaml:2\n"
    );
    let (text, _) = with(&["matrix", "port", "none", "--format", "json-lines"]);
    let place = |path: &str| {
        folder
            .path()
            .join("new")
            .join(path)
            .to_str()
            .unwrap()
            .to_string()
    };
    let expected = format!(
        "{{\"key\":\"port\",\"answers\":[{{\"found\":true,\"value\":81,\"nodes\":[\"a\",\"c\"],\
         \"sources\":[{{\"file\":\"{}\",\"line\":1}}]}},{{\"found\":true,\"value\":9,\"nodes\":[\"b\"],\
         \"sources\":[{{\"file\":\"{}\",\"line\":1}}]}}]}}\n\
         {{\"key\":\"none\",\"answers\":[{{\"found\":false,\"error\":\"Function lookup() did not find \
         a value for the name 'none'\",\"nodes\":[\"a\",\"b\",\"c\"],\"sources\":[]}}]}}\n",
        place("data/common.yaml"),
        place("data/node/b.yaml"),
    );
    assert_eq!(text, expected);
    let (explained, _) = with(&["explain-key", "port", "--node", "a"]);
    let (looked_up, _) = with(&["lookup", "port", "--explain", "--node", "a"]);
    assert_eq!(explained, looked_up);
    assert!(
        explained.contains("Found key: \"port\" value: 81"),
        "{explained}"
    );
}

#[test]
fn two_environments_are_compared_by_name() {
    let folder = checkouts();
    let environments = folder.path().join("environments");
    std::fs::create_dir(&environments).unwrap();
    for (from, to) in [("old", "production"), ("new", "staging")] {
        std::fs::rename(folder.path().join(from), environments.join(to)).unwrap();
        let hiera = "version: 5\nhierarchy:\n- {name: n, path: \"node/%{trusted.certname}.yaml\"}\n\
                     - {name: c, path: common.yaml}\n";
        std::fs::write(environments.join(to).join("hiera.yaml"), hiera).unwrap();
        let common = environments.join(to).join("data/common.yaml");
        let text = std::fs::read_to_string(&common).unwrap();
        std::fs::write(common, text + "env: \"%{environment}\"\n").unwrap();
    }
    let diff = |one: &str, other: &str| {
        let (text, code) = run(&["diff", one, other, "--workspace", "."], folder.path());
        (text.replace("environments/", ""), code)
    };
    let (text, code) = diff("production", "staging");
    assert_eq!(code, 2);
    assert_eq!(
        text,
        "env — 3 nodes\n  - \"production\"  production/data/common.yaml:3\n  \
         + \"staging\"  staging/data/common.yaml:3\n\
         port — 2 nodes\n  - 80  production/data/common.yaml:1\n  \
         + 81  staging/data/common.yaml:1\n"
    );
    assert_eq!(diff("staging", "staging"), (String::new(), 0));
    // Two nodes are still compared in the environment of --environment.
    assert!(
        diff("a", "b")
            .0
            .contains("+ 9  production/data/node/b.yaml:1")
    );
    for (one, other) in [("production", "testing"), ("a", "staging"), ("nobody", "b")] {
        assert_eq!(diff(one, other), (String::new(), 1));
    }
}

/// Runs git in a folder, without any configuration; prints a message if there is no git.
fn git(folder: &std::path::Path, arguments: &[&str]) -> bool {
    let output = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .current_dir(folder)
        .output();
    match output {
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "git {arguments:?}: {errors}");
            true
        }
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "git: {error}");
            eprintln!("SKIPPED: git is not installed");
            false
        }
    }
}

#[test]
fn the_working_tree_is_compared_with_a_revision() {
    let folder = checkouts();
    let new = folder.path().join("new");
    if !git(&new, &["init", "-q"]) {
        return;
    }
    git(&new, &["add", "-A"]);
    git(&new, &["commit", "-q", "-m", "first"]);
    git(&new, &["branch", "old"]);
    std::fs::write(new.join("data/common.yaml"), "port: 80\nnew: 1\n").unwrap();
    git(&new, &["commit", "-q", "-a", "-m", "second"]);
    let with = |more: &[&str]| run(&[more, &FLAGS].concat(), folder.path());
    assert_eq!(
        with(&["diff", "--against", "HEAD"]),
        (String::new(), 0),
        "nothing is changed yet"
    );
    std::fs::write(new.join("data/common.yaml"), "port: 80\nnew: 2\n").unwrap();
    assert_eq!(
        with(&["diff", "--against", "HEAD"]),
        (
            "new — 3 nodes\n  - 1  new/data/common.yaml:2\n  + 2  new/data/common.yaml:2\n".into(),
            2
        )
    );
    // As against a checkout of that revision.
    git(&new, &["worktree", "add", "-q", "../there", "HEAD~1"]);
    let (revision, code) = with(&["diff", "--against", "HEAD~1"]);
    let (there, same) = with(&["diff", "--against", "there"]);
    let there = there.replace("there/data", "new/data");
    assert_eq!((there, same), (revision.clone(), code));
    assert_eq!(code, 2);
    assert_eq!(
        revision,
        "host — 2 nodes\n  - \"ls\"  new/data/common.yaml:2\n  + (not set)\n\
         host — c\n  - \"cp\"  new/data/common.yaml:2\n  + (not set)\n\
         new — 3 nodes\n  - (not set)\n  + 2  new/data/common.yaml:2\n\
         port — 2 nodes\n  - 81  new/data/common.yaml:1\n  + 80  new/data/common.yaml:1\n"
    );
    // An ambiguous name of a branch and a folder is refused.
    let (text, code) = with(&["diff", "--against", "old"]);
    assert_eq!((text.as_str(), code), ("", 1));
    let (_, code) = with(&["diff", "--against", "./old"]);
    assert_eq!(code, 2);
    let (_, code) = with(&["diff", "--against", "refs/heads/old"]);
    assert_eq!(code, 2);
    let (_, code) = with(&["diff", "--against", "nothing"]);
    assert_eq!(code, 1);
}
