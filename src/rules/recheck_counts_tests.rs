//! The number of files that an edit checks again, as a measure of the cost of a keystroke without a clock.

use std::fmt::Write;

use expect_test::expect;

use super::{Checker, Recheck, recheck};
use crate::fixture::{FOLDER, Fixture};
use crate::lookup::PuppetVersion;
use crate::workspace::{Change, Snapshot, Workspace};

/// Number of nodes with their own files.
const NODES: usize = 40;

const START: &str = "\
#- environment.conf
modulepath = modules
#- hiera.yaml
version: 5
hierarchy:
  - {name: node, path: \"node/%{trusted.certname}.yaml\"}
  - {name: tier, path: \"tier/%{tier}.yaml\"}
  - {name: common, path: common.yaml}
#- manifests/site.pp
node default {
  $tier = 'web'
  hiera_include('classes')
}
#- modules/ntp/manifests/init.pp
class ntp(Array[String] $servers, Enum['web', 'db'] $tier = 'web') {
  notify { 'one': }
}
#- modules/mail/manifests/init.pp
class mail(String $relay) {
  include ntp
}
#- nodes.yaml
n1: {facts: {role: web}}
#- data/tier/web.yaml
ntp::servers: [t]
#- data/common.yaml
classes: [ntp, mail]
port: 25
ntp::servers: [c]
ntp::tier: \"%{tier}\"
mail::relay: \"mx:%{lookup('port')}\"
";

fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec![FOLDER.into()]));
    for (path, text) in Fixture::new("hiera.yaml", START).files {
        write(&workspace, &path, &text);
    }
    for node in 0..NODES {
        let text = format!("ntp::servers: [n{node}]\nown: {node}\n");
        write(&workspace, &format!("data/node/n{node}.yaml"), &text);
    }
    workspace
}

fn write(workspace: &Workspace, path: &str, text: &str) -> Snapshot {
    workspace
        .apply(Change::open(format!("{FOLDER}/{path}"), text))
        .as_ref()
        .clone()
}

/// The snapshot after a part of a file was replaced.
fn edited(path: &str, old: &str, new: &str) -> Snapshot {
    let workspace = workspace();
    let at = format!("{FOLDER}/{path}");
    let text = workspace
        .snapshot()
        .file(&at)
        .expect("a file")
        .text()
        .clone();
    assert!(text.contains(old), "{path} has no {old}");
    write(&workspace, path, &text.replacen(old, new, 1))
}

const NTP: &str = "modules/ntp/manifests/init.pp";
const MAIL: &str = "modules/mail/manifests/init.pp";
const SITE: &str = "manifests/site.pp";
const NODE: &str = "data/node/n7.yaml";
const COMMON: &str = "data/common.yaml";

/// Edits: a description, the file, the old text and the new text.
const EDITS: &[(&str, &str, &str, &str)] = &[
    ("the body of a class", NTP, "one", "two"),
    ("a comment in a class", MAIL, "{\n", "{\n # x\n"),
    ("a default", NTP, "= 'web'", "= 'db'"),
    ("a type", NTP, "'db']", "'dbx']"),
    ("a line above a class", NTP, "class", "# x\nclass"),
    ("the name of a parameter", MAIL, "$relay", "$relays"),
    (
        "a quote that is not closed yet",
        MAIL,
        "$relay",
        "$relay = '",
    ),
    ("a type of a class in one file", MAIL, "String", "Strin"),
    (
        "a class that a class includes",
        NTP,
        "notify",
        "include other\n  notify",
    ),
    ("a variable of the site manifest", SITE, "'web'", "'dev'"),
    ("a comment in the site manifest", SITE, "node", "# x\nnode"),
    ("a key of a node's file alone", NODE, "own: 7", "own: 70"),
    ("a key of a class in a node's file", NODE, "[n7]", "[n]"),
    ("a key that another looks up", COMMON, "25", "26"),
    ("a class's key in one file", COMMON, "mx:", "mxx:"),
    ("a class's key in many files", COMMON, "[c]", "[d]"),
    ("a new key", COMMON, "port", "other: 1\nport"),
    ("a list of classes", COMMON, "ntp, mail", "ntp"),
    (
        "a text that is not closed yet",
        COMMON,
        "port: 25",
        "port: \"25",
    ),
    ("a fact of a node", "nodes.yaml", "web", "db"),
];

#[test]
fn an_edit_rechecks_no_more_files_than_before() {
    let mut table = String::new();
    for (what, path, old, new) in EDITS {
        let files = match recheck(&edited(path, old, new), &[]) {
            Recheck::All => "all".to_owned(),
            Recheck::Files(files) => files.len().to_string(),
        };
        let _ = writeln!(table, "{what}: {files}");
    }
    expect![[r#"
        the body of a class: 1
        a comment in a class: 1
        a default: 1
        a type: 2
        a line above a class: 1
        the name of a parameter: 3
        a quote that is not closed yet: 44
        a type of a class in one file: 2
        a class that a class includes: 3
        a variable of the site manifest: 45
        a comment in the site manifest: 1
        a key of a node's file alone: 40
        a key of a class in a node's file: 42
        a key that another looks up: 1
        a class's key in one file: 1
        a class's key in many files: 42
        a new key: 1
        a list of classes: 44
        a text that is not closed yet: 44
        a fact of a node: 46
    "#]]
    .assert_eq(&table);
}

/// The number of files that are checked again after a file appears or vanishes.
fn rechecked_after(change: Change) -> String {
    let workspace = workspace();
    match recheck(&workspace.apply(change), &[]) {
        Recheck::All => "all".to_owned(),
        Recheck::Files(files) => files.len().to_string(),
    }
}

#[test]
fn a_file_that_comes_or_goes_rechecks_files_with_its_keys() {
    let open = |path: &str, text: &str| Change::open(format!("{FOLDER}/{path}"), text.to_owned());
    let close = |path: &str| Change::Close {
        path: format!("{FOLDER}/{path}").into(),
    };
    let mut table = String::new();
    for (what, change) in [
        ("an empty file of a tier", open("data/tier/db.yaml", "")),
        (
            "a file with a new key",
            open("data/tier/db.yaml", "new: 1\n"),
        ),
        (
            "a file with a known key",
            open("data/tier/db.yaml", "port: 1\n"),
        ),
        ("a file of a node", open("data/node/n99.yaml", "new: 1\n")),
        ("a file that no level reads", open("data/x.yaml", "x: 1\n")),
        (
            "a manifest",
            open("modules/mail/manifests/x.pp", "class mail::x { }\n"),
        ),
        (
            "a module",
            open("modules/x/manifests/init.pp", "class x { }\n"),
        ),
        ("a removed file", close("data/node/n7.yaml")),
        ("a removed file and its folder", close("data/tier/web.yaml")),
    ] {
        let _ = writeln!(table, "{what}: {}", rechecked_after(change));
    }
    expect![[r#"
        an empty file of a tier: 6
        a file with a new key: 6
        a file with a known key: 6
        a file of a node: 48
        a file that no level reads: 6
        a manifest: all
        a module: all
        a removed file: 47
        a removed file and its folder: all
    "#]]
    .assert_eq(&table);
}

#[test]
fn a_key_behind_an_alias_is_checked_again() {
    let workspace = workspace();
    write(
        &workspace,
        COMMON,
        "base: &b [\"%{alias('port')}\"]\nmid: *b\n",
    );
    write(
        &workspace,
        "data/tier/web.yaml",
        "mail::relay: \"%{alias('mid')}\"\n",
    );
    write(&workspace, "data/node/n7.yaml", "port: 80\n");
    let after = write(&workspace, "data/node/n7.yaml", "port: text\n");
    let Recheck::Files(files) = recheck(&after, &[]) else {
        panic!("a change of a value");
    };
    assert!(files.contains(&*format!("{FOLDER}/data/tier/web.yaml")));
}

#[test]
fn an_edit_of_a_site_manifest_rechecks_data() {
    let snapshot = edited(SITE, "'web'", "'dev'");
    let common = format!("{FOLDER}/{COMMON}");
    let found = Checker::new(&snapshot, PuppetVersion::V8).file(&common);
    let found = found.expect("a data file");
    let is_wrong = found.iter().any(|it| it.code == "type-mismatch");
    assert!(is_wrong, "{found:?}");
    if let Recheck::Files(files) = recheck(&snapshot, &[]) {
        assert!(files.contains(&*common), "{files:?}");
    }
}
