//! The answers in the new version are those of a lookup of all nodes.

use proptest::prelude::*;
use proptest::sample::subsequence;

use super::*;
use crate::analysis::{NodeCache, NodeInputs};
use crate::fixture::FOLDER;
use crate::ide::json::json;
use crate::value::Value;
use crate::workspace::{Change, Workspace};

const KEYS: [&str; 4] = ["a", "b", "m::c", "h"];

const VALUES: [&str; 20] = [
    "1",
    "{k: 1}",
    "[x, 2]",
    "~",
    "'%{facts.os.family}'",
    "'%{facts.os}'",
    "'%{facts}'",
    "'%{osfamily}'",
    "'%{facts.osfamily}'",
    "'%{none}'",
    "'%{facts.none}'",
    "'%{site}'",
    "'%{site.k}'",
    "\"%{lookup('h')}\"",
    "\"%{alias('a')}\"",
    "\"%{lookup('a')} x\"",
    "\"%{scope('osfamily')}\"",
    "['%{none}', '%{hostname}']",
    "'ENC[PKCS7,MIIB]'",
    "\"\\U0001FAE8 %{lookup('h')}\"",
];

const LEVELS: [&str; 13] = [
    "path: 'nodes/%{trusted.certname}.yaml'",
    "path: 'os/%{facts.os.family}.yaml'",
    "path: 'os/%{osfamily}.yaml'",
    "path: 'os/%{none}.yaml'",
    "path: 'os/%{site}.yaml'",
    "path: 'os/%{facts.os}.yaml'",
    "path: data.json, data_hash: json_data",
    "path: list.yaml",
    "path: secret.yaml, lookup_key: eyaml_lookup_key, options: {pkcs7_private_key: /k}",
    "data_hash: 'm::data'",
    "datadir: 'data/%{none}', path: common.yaml",
    "mapped_paths: [facts.osfamily, it, 'os/%{it}.yaml']",
    "path: common.yaml",
];

const OPTIONS: [&str; 4] = [
    "a: {merge: unique}",
    "'^m::': {merge: hash}",
    "h: {merge: deep}",
    "b: {convert_to: \"%{none}\"}",
];

const DATA: [&str; 6] = [
    "data/common.yaml",
    "data/os/Debian.yaml",
    "data/os/.yaml",
    "data/nodes/n.yaml",
    "data/secret.yaml",
    "modules/m/data/common.yaml",
];

const NODES: [&str; 6] = [
    "n: {facts: {osfamily: Debian, hostname: n, os: {family: Debian, name: x}}}",
    "o: {facts: {osfamily: RedHat, os: {family: Debian}}}",
    "p: {facts: {os: {family: Debian, name: x}}}",
    "q: {facts: {hostname: q}}",
    "r: {}",
    "s: {facts: {osfamily: Debian, hostname: s, os: {family: Debian, name: x}, none: 1, site: ams}}",
];

const SITES: [&str; 7] = [
    "",
    "$site = $osfamily",
    "$site = $facts['os']",
    "$site = $facts['os']['family']",
    "$site = $none",
    "if $osfamily == 'Debian' { $site = 'Debian' }",
    "$site = lookup('a', undef, undef, 'x')",
];

const CONFS: [&str; 4] = [
    "",
    "environment_data_provider = none\n",
    "environment_data_provider = hiera\n",
    "environment_data_provider = function\n",
];

prop_compose! {
    fn data()(
        entries in prop::collection::vec((0..KEYS.len(), 0..VALUES.len()), 0..5),
        options in subsequence(OPTIONS.to_vec(), 0..2),
        has_options in prop::bool::weighted(0.3),
    ) -> String {
        let mut text = String::new();
        for (key, value) in entries {
            text.push_str(&format!("{}: {}\n", KEYS[key], VALUES[value]));
        }
        if has_options && !options.is_empty() {
            text.push_str(&format!("lookup_options:\n  {}\n", options.join("\n  ")));
        }
        text
    }
}

prop_compose! {
    fn workspace()(
        levels in subsequence(LEVELS.to_vec(), 1..LEVELS.len()),
        has_hierarchy in prop::bool::weighted(0.9),
        texts in prop::collection::vec(data(), DATA.len()),
        is_refused in any::<bool>(),
        nodes in subsequence(NODES.to_vec(), 1..NODES.len()),
        site in 0..SITES.len(),
        conf in 0..CONFS.len(),
        has_conf in prop::bool::weighted(0.3),
        module in prop::option::of(prop::sample::select(vec![
            "version: 5\nhierarchy: [{name: c, path: common.yaml}, {name: o, path: 'os/%{osfamily}.yaml'}]\n",
            "version: 3\n:backends: yaml\n",
            "version: 4\nhierarchy: [{name: common, backend: yaml}]\n",
        ])),
    ) -> Vec<(String, String)> {
        let mut files: Vec<(String, String)> = Vec::new();
        let mut add = |path: &str, text: &str| files.push((path.to_owned(), text.to_owned()));
        let levels = levels.iter().enumerate();
        let levels: Vec<String> = levels.map(|(at, it)| format!("- {{name: l{at}, {it}}}\n")).collect();
        if has_hierarchy {
            add("hiera.yaml", &format!("version: 5\nhierarchy:\n{}", levels.concat()));
        }
        for (path, text) in DATA.iter().zip(&texts) {
            add(path, text);
        }
        add("data/list.yaml", "- x\n");
        add("data/data.json", if is_refused { r#"{"a": "^\d"}"# } else { r#"{"a": 1, "h": {"k": "%{none}"}}"# });
        add("nodes.yaml", &(nodes.join("\n") + "\n"));
        add("manifests/site.pp", SITES[site]);
        add("modules/m/functions/data.pp", "function m::data($o, $c) { { 'b' => $facts['osfamily'] } }\n");
        add("functions/data.pp", "function environment::data() { { 'a' => 'of a function' } }\n");
        if has_conf {
            add("environment.conf", CONFS[conf]);
        }
        if let Some(module) = module {
            add("modules/m/hiera.yaml", module);
        }
        files
    }
}

/// The changes of a row, as JSON.
fn shown(rows: &[Row; 2]) -> Vec<String> {
    let mut shown: Vec<String> = changes(&rows[0], &rows[1]).iter().map(json).collect();
    shown.sort();
    shown
}

/// A snapshot of files and its nodes without what manifests set.
fn opened(files: &[(String, String)]) -> (Arc<Snapshot>, KnownNodes) {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec![FOLDER.into()]));
    for (path, text) in files {
        workspace.apply(Change::open(format!("{FOLDER}/{path}"), text.as_str()));
    }
    let snapshot = workspace.snapshot();
    let settings = Settings::for_version(PuppetVersion::V7);
    let (configs, cache) = (ConfigCache::default(), NodeCache::default());
    let at = format!("{FOLDER}/data/common.yaml");
    let set = cache.nodes(&snapshot, &at, &NodeInputs::new(&settings, &configs));
    let nodes = set.known.as_given();
    (snapshot, nodes)
}

/// Upgrades of the workspace's root.
fn upgrades<'a>(snapshot: &'a Snapshot, nodes: &'a KnownNodes) -> Vec<Upgrade<'a>> {
    let [old, newer, new] = PuppetVersion::ALL;
    let mut roots = snapshot.roots().iter();
    let root = roots.find(|root| *root.dir == *FOLDER);
    let of_root = |root| {
        [(old, newer), (old, new), (newer, new)].map(|versions| {
            let place = (snapshot, root, "production");
            Upgrade::new(place, nodes, Settings::for_version, versions)
        })
    };
    root.into_iter().flat_map(of_root).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn nodes_that_are_not_looked_up_again_have_the_same_answer(files in workspace()) {
        let (snapshot, nodes) = opened(&files);
        for upgrade in upgrades(&snapshot, &nodes) {
            for key in KEYS {
                for merge in [None, Some(Value::from("deep"))] {
                    let request = Request { merge, ..Request::key(key).with_sources() };
                    let all = [upgrade.before(), upgrade.after()].map(|it| row_by_any(&it, &request));
                    let few = upgrade.rows(&request);
                    prop_assert_eq!(shown(&few), shown(&all), "{} {:?}", key, upgrade.versions());
                }
            }
        }
    }
}

#[test]
fn only_nodes_whose_answer_may_differ_are_looked_up_again() {
    let files = [
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: c, path: common.yaml}]\n",
        ),
        (
            "data/common.yaml",
            "a: '%{facts.os.family}'\nb: '%{memorysize}'\nc: '%{facts.os}'\nd: '%{osfamily}'\ne: '%{facts.none}'\n",
        ),
        (
            "nodes.yaml",
            "m: {facts: {os: {family: x}}}\nn: {facts: {os: {family: x}, osfamily: x}}\n",
        ),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let (snapshot, nodes) = opened(&files);
    let all = upgrades(&snapshot, &nodes);
    let counts = |key: &str| {
        let request = Request::key(key).with_sources();
        let count = |upgrade: &Upgrade<'_>| {
            let answers = &upgrade.rows(&request)[1].answers;
            answers.iter().map(|cell| cell.nodes.len()).sum::<usize>()
        };
        all.iter().map(count).collect::<Vec<usize>>()
    };
    assert_eq!(nodes.len(), 2);
    // From 7 to 8, from 7 to 9, and from 8 to 9.
    assert_eq!(counts("a"), [0, 0, 0]);
    assert_eq!(counts("b"), [2, 2, 2]);
    assert_eq!(counts("c"), [2, 2, 2]);
    // Only one has the legacy fact; the other fails in 8.
    assert_eq!(counts("d"), [2, 2, 1]);
    assert_eq!(counts("e"), [0, 0, 0]);
    assert_eq!(counts("none"), [0, 0, 0]);
}
