//! After any sequence of edits, the kept and the new findings together equal those of a full check:
//! every rule declares all its dependencies.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;

use super::{Checker, Finding, Recheck, recheck};
use crate::fixture::{FOLDER, Fixture};
use crate::lookup::PuppetVersion;
use crate::workspace::{Change, Snapshot, Workspace};

/// Files that are not edited.
const CONFIGURATION: &str = "\
#- environment.conf
modulepath = modules
#- hiera.yaml
version: 5
hierarchy:
  - {name: node, path: \"node/%{trusted.certname}.yaml\"}
  - {name: os, path: \"os/%{facts.os.family}.yaml\"}
  - {name: common, path: common.yaml}
#- modules/m/hiera.yaml
version: 5
hierarchy: [{name: common, path: common.yaml}]
";

const DATA: [&str; 5] = [
    "data/node/n.yaml",
    "data/node/o.yaml",
    "data/os/Debian.yaml",
    "data/common.yaml",
    "modules/m/data/common.yaml",
];

/// Manifests, with their possible texts.
const MANIFESTS: [(&str, [&str; 12]); 4] = [
    (
        "manifests/site.pp",
        [
            "lookup('classes', Array, 'unique').include\n",
            "lookup('classes', {merge => unique}).include\ninclude m\n",
            "hiera_include('classes')\n",
            "node default { $tier = 'x' hiera_include('classes') }\n",
            "class { 'm': p => 1 }\nhiera_include('classes')\n",
            "$x = lookup('m:p')\nhiera_include('classes')\nclass { $x: }\n",
            "include m::other\n",
            "node 'n' { include m::other }\nnode default { hiera_include('classes') }\n",
            "node default { $tier = 'y' hiera_include('classes') }\n",
            "# x\nnode default { $tier  = 'y'\nhiera_include('classes') }\n",
            "function f() { 'x' }\n$tier = f()\ninclude m\n",
            "function f() { 'n' }\n$tier = f()\ninclude m\n",
        ],
    ),
    (
        "modules/m/manifests/init.pp",
        [
            "class m(Integer $p, $q) { }\n",
            "class m(String $p, Array[String] $q = []) { }\n",
            "class m(M::T $p) { $x = lookup('m::r') }\n",
            "class m($q) { $x = lookup(\"m::${x}\") }\n",
            "class m(Numeric $p, $q) { $x = lookup($y) }\n",
            "class m(Hash $other) { }\nclass m::other(Integer $p) { }\n",
            "class m { include m::other }\n",
            "class m($p) { if $p { return() } include m::other }\n",
            "class m(Enum['x'] $p, $q) { }\n",
            "# x\nclass m(Integer $p, $q = 2) { }\n",
            "class m(Integer $p, $q) { include m::other\n",
            "class m(Integer $p, $q, $s = '') { include m::other lookup('a') }\n",
        ],
    ),
    (
        "modules/m/manifests/other.pp",
        [
            "class m::other(Hash $p) { $x = lookup('m') }\n",
            "class m::other { $x = lookup($y) }\n",
            "class m::other { $x = lookup('m::q.k') }\n",
            "class m::other { $x = lookup(\"m${y}\") }\n",
            "class m::other($s) { class { 'm': p => 1 } }\n",
            "class m::other { include m }\n",
            "class m::other($r) { contain m class { $r: q => 1 } }\n",
            "class m::other(Enum['n'] $p) { }\n",
            "class m::other(Enum['n'] $p = 'm) { }\n",
            "# x\nclass m::other($p) { lookup('c') }\n",
            "class m::othe(Enum['n', 'x'] $p) { }\n",
            "",
        ],
    ),
    (
        "modules/m/types/t.pp",
        [
            "type M::T = Integer\n",
            "type M::T = String\n",
            "type M::T = M::U\n",
            "type M::T = Array[String]\n",
            "type M::T = \n",
            "# type M::T = String\n",
            "type M::T = Optional[String]\n",
            "type M::T = Enum['n', 'x']\n",
            "# x\ntype M::T = Integer\n",
            "type M::T = Boolean\n",
            "type M::T = Variant[Integer, M::T]\n",
            "",
        ],
    ),
];

const KEYS: [&str; 10] = [
    "a", "b", "c", "m", "m::p", "m::q", "m::r", "m:p", "m::other", "classes",
];

const VALUES: [&str; 28] = [
    "1",
    "\"1\"",
    "text",
    "~",
    "",
    "[x, y]",
    "[x, \"--y\"]",
    "[\"--x\", m, m::other]",
    "{k: 1, \"80\": 2}",
    "{k: x, l: {n: 2}}",
    "{\"--k\": ~}",
    "{p: 1, q: [x]}",
    "\"%{lookup('a')}\"",
    "\"%{lookup('b')}\"",
    "\"x%{lookup('c')}\"",
    "\"%{alias('a')}\"",
    "\"%{alias('b')}\"",
    "\"%{alias('m::q')}\"",
    "\"%{lookup('m:p')}\"",
    "\"%{lookup('c.k')}\"",
    "\"%{lookup('b.80')}\"",
    "\"%{lookup('b.1')}\"",
    "\"%{lookup('aa')}\"",
    "[\"%{alias('c')}\", \"%{lookup('m::p')}\"]",
    "{k: \"%{lookup('m::r')}\"}",
    "\"%{facts.role}\"",
    "\"%{tier}\"",
    "\"%{trusted.certname}\"",
];

const OPTIONS: [&str; 18] = [
    "a: {merge: unique}",
    "a: {convert_to: Integer}",
    "b: {merge: hash}",
    "b: {merge: deep}",
    "c: {convert_to: [Array, true]}",
    "c: {merge: \"%{lookup('a')}\"}",
    "a: {convert_to: \"%{lookup('b')}\"}",
    "'^m::.*': {merge: {strategy: deep, knockout_prefix: '--'}}",
    "'^m::': {convert_to: String}",
    "'^[abc]$': {convert_to: Integer}",
    "'^x::': {merge: hash}",
    "m::p: {merge: hash}",
    "m::p: {convert_to: Sensitive}",
    "m: {merge: hash}",
    "m::q: {merge: {strategy: deep, knockout_prefix: '--'}}",
    "m::q: deep",
    "classes: {merge: unique}",
    "b.k: {merge: deep}",
];

prop_compose! {
    fn data()(
        entries in prop::collection::vec((select(&KEYS[..]), select(&VALUES[..])), 0..6),
        options in prop::collection::vec(select(&OPTIONS[..]), 0..4),
    ) -> String {
        let lines = entries.iter().map(|(key, value)| format!("\"{key}\": {value}\n"));
        let mut text: String = lines.collect();
        if !options.is_empty() {
            text.push_str(&format!("lookup_options:\n  {}\n", options.join("\n  ")));
        }
        text
    }
}

/// A file and its next text.
fn edit() -> impl Strategy<Value = (&'static str, String)> {
    let manifest = |(path, texts): (&'static str, [&'static str; 12])| {
        select(texts.to_vec()).prop_map(move |text| (path, text.to_owned()))
    };
    prop_oneof![
        4 => (select(&DATA[..]), data()),
        1 => select(&MANIFESTS[..]).prop_flat_map(manifest),
    ]
}

fn check(
    snapshot: &Snapshot,
    paths: impl IntoIterator<Item = Arc<str>>,
) -> BTreeMap<Arc<str>, Vec<Finding>> {
    let checker = Checker::new(snapshot, PuppetVersion::V8);
    let found = paths.into_iter().map(|path| {
        let findings = checker.file(&path).unwrap_or_default();
        (path, findings)
    });
    found.collect()
}

fn check_all(snapshot: &Snapshot) -> BTreeMap<Arc<str>, Vec<Finding>> {
    check(snapshot, snapshot.files().map(|file| file.path().clone()))
}

/// Checks the files again that a change affects, and compares all known findings with those of a
/// full check. `edits` describes the change.
fn assert_rechecked(
    snapshot: &Snapshot,
    known: &mut BTreeMap<Arc<str>, Vec<Finding>>,
    edits: &[(&str, String)],
) -> Result<(), TestCaseError> {
    let all = check_all(snapshot);
    let named = known.iter().flat_map(|(file, found)| {
        let related = found.iter().flat_map(|it| &it.related);
        related.map(move |related| (file, &related.path))
    });
    match recheck(snapshot, &[]).with_moved(snapshot, named) {
        Recheck::All => known.clone_from(&all),
        Recheck::Files(files) => known.extend(check(snapshot, files)),
    }
    for (file, findings) in &all {
        prop_assert_eq!(&known[file], findings, "{} after {:?}", file, edits);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 100, ..ProptestConfig::default() })]
    #[test]
    fn files_that_are_not_rechecked_have_the_same_findings(
        first in prop::collection::vec(data(), DATA.len()),
        edits in prop::collection::vec(edit(), 1..8),
    ) {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec![FOLDER.into()]));
        let write = |path: &str, text: &str| {
            workspace.apply(Change::open(format!("{FOLDER}/{path}"), text))
        };
        for (path, text) in Fixture::new("hiera.yaml", CONFIGURATION).files {
            write(&path, &text);
        }
        for (path, text) in DATA.iter().zip(&first) {
            write(path, text);
        }
        for (path, texts) in MANIFESTS {
            write(path, texts[0]);
        }
        let mut known = check_all(&workspace.snapshot());
        let mut known_of_joined = known.clone();
        let mut joined: Option<Snapshot> = None;
        for (at, (path, text)) in edits.iter().enumerate() {
            let snapshot = write(path, text);
            assert_rechecked(&snapshot, &mut known, &edits[at..=at])?;
            joined = match joined {
                None => Some(Snapshot::clone(&snapshot)),
                Some(earlier) => Some(snapshot.joined(&earlier).expect("only texts change")),
            };
        }
        // All edits as one change.
        if let Some(joined) = joined {
            assert_rechecked(&joined, &mut known_of_joined, &edits)?;
        }
    }
}
