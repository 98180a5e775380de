//! Answers over nodes: shared lookups equal separate ones, and the preview of an edit equals the
//! difference of two full matrices.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use hiera_ls::analysis::{Analysis, RootView, all_keys};
use hiera_ls::ide;
use hiera_ls::ide::call_hierarchy::{incoming, outgoing, prepare};
use hiera_ls::ide::hint::{HintOptions, hints};
use hiera_ls::ide::impact::{Detail, impact};
use hiera_ls::ide::lens::{LensKind, LensOptions, lenses};
use hiera_ls::ide::matrix::row;
use hiera_ls::lookup::{ConfigCache, PuppetVersion, Request, Settings};
use hiera_ls::scope::{KnownNodes, Node, Nodes, read_nodes};
use hiera_ls::text::TextRange;
use hiera_ls::value::{HashMap, Value, load_yaml};
use hiera_ls::workspace::{Change, Content, DiskEntry, Linked, Snapshot, Workspace};
use proptest::prelude::*;

use super::compare::{FLAGS, checkouts};

/// Folder of the workspaces of these tests.
pub(crate) const FOLDER: &str = "/repo";

const HIERA: &str = "version: 5\ndefaults: {data_hash: yaml_data, datadir: data}\nhierarchy:\n\
    - {name: nodes, path: 'node/%{trusted.certname}.yaml'}\n\
    - {name: mapped, mapped_paths: [facts.groups, group, 'group/%{group}.yaml']}\n\
    - {name: roles, paths: ['role/%{::role}.yaml', 'site/%{facts.site}/%{role}.yaml']}\n\
    - {name: globs, glob: 'conf.d/%{facts.site}/*.yaml'}\n\
    - {name: common, path: common.yaml}\n";

/// A workspace with files on the disk.
pub(crate) fn workspace(files: &BTreeMap<String, String>) -> Workspace {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec![FOLDER.into()]));
    let mut entries: Vec<(Arc<str>, DiskEntry)> = Vec::new();
    let mut folders = BTreeSet::new();
    for (path, text) in files {
        let mut at = path.as_str();
        while let Some((folder, _)) = at.rsplit_once('/') {
            folders.insert(format!("{FOLDER}/{folder}"));
            at = folder;
        }
        let content = Content::Text(text.as_str().into());
        let entry = DiskEntry::File {
            content,
            linked: Linked::No,
        };
        entries.push((format!("{FOLDER}/{path}").into(), entry));
    }
    for folder in folders {
        entries.push((folder.into(), DiskEntry::Directory { target: None }));
    }
    workspace.apply(Change::Scanned {
        folder: FOLDER.into(),
        entries,
    });
    workspace
}

pub(crate) fn files(all: &[(&str, &str)]) -> BTreeMap<String, String> {
    let all = all
        .iter()
        .map(|(path, text)| (path.to_string(), text.to_string()));
    let mut all: BTreeMap<String, String> = all.collect();
    all.entry("hiera.yaml".into())
        .or_insert_with(|| HIERA.into());
    all.insert("environment.conf".into(), String::new());
    all
}

/// The fixtures of a fleet.
pub(crate) struct Base {
    pub(crate) settings: Settings,
    pub(crate) configs: ConfigCache,
    pub(crate) nodes: KnownNodes,
}

pub(crate) fn base(nodes: &Nodes, version: PuppetVersion) -> Base {
    Base {
        settings: Settings::for_version(version),
        configs: ConfigCache::default(),
        nodes: KnownNodes::new(nodes),
    }
}

pub(crate) fn fleet<'a>(base: &'a Base, snapshot: &'a Snapshot) -> RootView<'a> {
    let root = snapshot.root_of("/repo/hiera.yaml").unwrap();
    Analysis::new(snapshot, &base.settings, &base.configs, &base.nodes).at(root)
}

pub(crate) fn nodes(text: &str) -> Nodes {
    read_nodes(
        &load_yaml(text.as_bytes()).unwrap(),
        "nodes",
        &HashMap::default(),
    )
    .unwrap()
}

/// Every cell, each from a separate lookup.
fn cells(
    base: &Base,
    snapshot: &Snapshot,
    keys: &[Arc<str>],
) -> BTreeMap<(Arc<str>, Arc<str>), String> {
    let fleet = fleet(base, snapshot);
    let mut cells = BTreeMap::new();
    for member in 0..base.nodes.len() {
        for key in keys {
            let answer = fleet
                .session()
                .lookup(&base.nodes.scope(member), &Request::key(key));
            let text = match answer.result {
                Ok(value) => hiera_ls::value::to_tagged_json(&value),
                Err(error) => error.to_string(),
            };
            cells.insert((key.clone(), base.nodes.shared_name(member)), text);
        }
    }
    cells
}

pub(crate) fn result_text(result: &Result<Value, hiera_ls::lookup::LookupError>) -> String {
    match result {
        Ok(value) => hiera_ls::value::to_tagged_json(value),
        Err(error) => error.to_string(),
    }
}

/// A value of a key: scalars, collections, and every kind of token.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1".to_string()),
        Just("x".to_string()),
        Just("~".to_string()),
        Just("'%{facts.site}'".to_string()),
        Just("'%{::role}-%{facts.groups}'".to_string()),
        Just("'%{facts.site.deep}'".to_string()),
        "[a-e]".prop_map(|key| format!("\"%{{lookup('{key}')}}\"")),
        "[a-e]".prop_map(|key| format!("\"%{{alias('{key}')}}\"")),
        "[a-e]".prop_map(|key| format!("\"%{{lookup('{key}.p')}}\"")),
    ];
    prop_oneof![
        leaf.clone(),
        proptest::collection::vec(leaf.clone(), 0..3)
            .prop_map(|all| format!("[{}]", all.join(", "))),
        (leaf.clone(), leaf).prop_map(|(p, q)| format!("{{p: {p}, q: {q}}}")),
    ]
}

/// A data file: some keys, sometimes options, an anchor, or a mistake.
pub(crate) fn data() -> impl Strategy<Value = String> {
    let entries = proptest::collection::btree_map("[a-e]", value(), 0..4);
    let options = prop_oneof![
        6 => Just(""),
        1 => Just("lookup_options: {a: {merge: deep}}\n"),
        1 => Just("lookup_options: {b: {merge: unique}, '^[cd]$': {merge: hash}}\n"),
        1 => Just("lookup_options: {'^d': {merge: unique}, '^[cd]$': {merge: first}}\n"),
        1 => Just("lookup_options: {'^[cd]$': {merge: first}, '^d': {merge: unique}}\n"),
        1 => Just("lookup_options: {a: 5, '^[': {merge: deep}}\n"),
        1 => Just("lookup_options: {'%{facts.site}': {merge: deep}}\n"),
        1 => Just("lookup_options: [a]\n"),
    ];
    let end = prop_oneof![
        12 => Just(""),
        1 => Just("z: &z {p: \"%{lookup('a')}\"}\ne: *z\n"),
        1 => Just("z: &z {e: \"%{lookup('a')}\"}\n<<: *z\n"),
        1 => Just("broken: [\n"),
        1 => Just("- 1\n"),
    ];
    (entries, options, end).prop_map(|(entries, options, end)| {
        let mut text = options.to_string();
        for (key, value) in entries {
            let _ = writeln!(text, "{key}: {value}");
        }
        text + end
    })
}

pub(crate) const PATHS: [&str; 8] = [
    "data/node/n1.yaml",
    "data/node/n2.yaml",
    "data/group/g1.yaml",
    "data/role/web.yaml",
    "data/site/ls/web.yaml",
    "data/site/cp/db.yaml",
    "data/conf.d/ls/10.yaml",
    "data/common.yaml",
];

pub(crate) const NODES: &str = "n1: {facts: {site: ls, groups: [g1]}, variables: {role: web}}\n\
    n2: {facts: {site: ls, groups: g1}, variables: {role: web}}\n\
    n3: {facts: {site: cp, groups: [g1, g2]}, variables: {role: db}}\n\
    n4: {facts: {site: {deep: 1}, groups: []}, variables: {role: web}}\n\
    n5: {facts: {site: ls}, variables: {role: web}}\n\
    n6: {facts: {site: cp, groups: 5}, variables: {role: db}}\n\
    n7: {facts: {site: ls, groups: [g1]}, variables: {role: web}}\n\
    n8: {facts: {site: ls, groups: [g1]}, variables: {}}\n";

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shared_lookups_and_previews_are_those_of_full_matrices(
        texts in proptest::collection::vec(data(), PATHS.len()),
        edited in 0..PATHS.len(),
        edit in data(),
        is_puppet_8 in any::<bool>(),
    ) {
        let all: Vec<(&str, &str)> = PATHS.iter().copied().zip(texts.iter().map(String::as_str)).collect();
        let workspace = workspace(&files(&all));
        let version = if is_puppet_8 { PuppetVersion::V8 } else { PuppetVersion::V7 };
        let base = base(&nodes(NODES), version);
        let path = format!("{FOLDER}/{}", PATHS[edited]);
        let after = workspace.apply(Change::open(path, edit.as_str()));
        let before = after.saved();
        let (old, new) = (fleet(&base, &before), fleet(&base, &after));
        let mut keys: BTreeSet<Arc<str>> = all_keys(&old).into_iter().collect();
        keys.extend(all_keys(&new));
        let keys: Vec<Arc<str>> = keys.into_iter().collect();
        let (old_cells, new_cells) = (cells(&base, &before, &keys), cells(&base, &after, &keys));
        for (fleet, cells) in [(&old, &old_cells), (&new, &new_cells)] {
            for key in &keys {
                let row = row(fleet, key);
                let mut count = 0;
                for cell in &row.answers {
                    for node in &cell.nodes {
                        prop_assert_eq!(&result_text(&cell.result), &cells[&(key.clone(), node.clone())]);
                        count += 1;
                    }
                }
                prop_assert_eq!(count, base.nodes.len());
            }
        }
        let mut expected = BTreeMap::new();
        for (at, old) in &old_cells {
            if *old != new_cells[at] {
                expected.insert(at.clone(), (old.clone(), new_cells[at].clone()));
            }
        }
        let found = impact(&old, &new, Detail::Sources);
        prop_assert!(found.is_complete);
        let mut changes = BTreeMap::new();
        for change in &found.changes {
            for node in &change.after.nodes {
                let what = (result_text(&change.before.result), result_text(&change.after.result));
                changes.insert((change.key.clone(), node.clone()), what);
            }
        }
        let nodes: BTreeSet<Arc<str>> = changes.keys().map(|(_, node)| node.clone()).collect();
        prop_assert_eq!(found.nodes, nodes.into_iter().collect::<Vec<_>>());
        prop_assert_eq!(changes, expected);
    }
}

#[test]
fn a_key_over_ten_thousand_nodes_costs_what_its_sources_cost() {
    let mut all = vec![(
        "data/common.yaml".to_string(),
        "port: 80\nhost: \"%{facts.site}\"\n".to_string(),
    )];
    for site in 0..20 {
        all.push((
            format!("data/site/s{site}/web.yaml"),
            format!("port: {site}\n"),
        ));
    }
    for node in 0..200 {
        all.push((format!("data/node/n{node}.yaml"), "other: 1\n".to_string()));
    }
    let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (&**path, &**text)).collect();
    let workspace = workspace(&files(&all));
    let snapshot = workspace.snapshot();
    let mut known = Nodes::default();
    for node in 0..10_000 {
        let facts = Value::hash([("site", format!("s{}", node % 25).into())]);
        let mut node = Node::with_facts(&format!("n{node}"), facts.as_hash().unwrap());
        node.variables.insert("role".into(), "web".into());
        known.insert(node);
    }
    let base = base(&known, PuppetVersion::V7);
    let fleet = fleet(&base, &snapshot);
    let start = Instant::now();
    assert_eq!(row(&fleet, "port").answers.len(), 21);
    let cold = start.elapsed();
    let start = Instant::now();
    let row = row(&fleet, "port");
    let warm = start.elapsed();
    let largest = &row.answers[0];
    assert_eq!(
        (largest.nodes.len(), result_text(&largest.result)),
        (2_000, "80".into())
    );
    let start = Instant::now();
    let edited = workspace.apply(Change::open(
        "/repo/data/common.yaml",
        "port: 81\nhost: \"%{facts.site}\"\n",
    ));
    let saved = edited.saved();
    let (old, new) = (self::fleet(&base, &saved), self::fleet(&base, &edited));
    let found = impact(&old, &new, Detail::Answers);
    let preview = start.elapsed();
    assert_eq!((found.changes.len(), found.nodes.len()), (1, 2_000));
    eprintln!("10,000 nodes: cold {cold:.1?}, warm {warm:.1?}, preview of an edit {preview:.1?}");
}

#[test]
fn lenses_hints_and_calls_of_a_file() {
    let common = "port: 80\nurl: \"http://%{lookup('port')}/%{lookup('path')}\"\npath: \"%{lookup('url')}\"\nalone: 1\n";
    let all = files(&[
        ("data/common.yaml", common),
        ("data/role/web.yaml", "port: 8080\nalone: 2\n"),
        ("data/node/n1.yaml", "alone: 3\n"),
    ]);
    let workspace = workspace(&all);
    let snapshot = workspace.snapshot();
    let known = nodes("n1: {variables: {role: web}}\nn2: {variables: {role: web}}\n");
    let base = base(&known, PuppetVersion::V7);
    let fleet = fleet(&base, &snapshot);
    let path = "/repo/data/common.yaml";
    let options = LensOptions {
        overrides: true,
        uses: true,
        impact: false,
    };
    let found = lenses(fleet.analysis, path, options);
    let found: Vec<_> = found
        .iter()
        .map(|lens| (lens.key.as_deref().unwrap(), &lens.kind))
        .collect();
    let overrides = |above| LensKind::Overrides {
        above,
        below: 0,
        more: false,
    };
    assert_eq!(
        found,
        [
            ("port", &overrides(1)),
            ("port", &LensKind::Uses(1)),
            ("url", &LensKind::Uses(1)),
            ("path", &LensKind::Uses(1)),
            ("alone", &overrides(2))
        ]
    );
    let whole = TextRange::new(0, common.len());
    let labels = |path: &str, selected: Option<&str>| -> Vec<String> {
        let analysis = Analysis {
            selected,
            ..fleet.analysis
        };
        let found = hints(analysis, path, whole, HintOptions::ALL);
        found.iter().map(|hint| hint.label()).collect()
    };
    assert_eq!(
        labels(path, None),
        [
            "never used ↑ role/web.yaml:1",
            "= 8080",
            "never used ↑ node/n1.yaml:1 +1",
        ]
    );
    assert_eq!(
        labels("/repo/data/role/web.yaml", None),
        ["↑ 1/2 node/n1.yaml:1"]
    );
    assert_eq!(
        labels("/repo/data/role/web.yaml", Some("n1")),
        ["↑ node/n1.yaml:1"]
    );
    assert!(labels("/repo/data/role/web.yaml", Some("n2")).is_empty());

    let url = prepare(fleet.analysis, path, common.find("http").unwrap()).unwrap();
    let calls = outgoing(&snapshot, &url);
    let calls: Vec<_> = calls
        .iter()
        .map(|call| (&*call.item.key, &*call.item.path))
        .collect();
    assert_eq!(
        calls,
        [
            ("port", "/repo/data/common.yaml"),
            ("port", "/repo/data/role/web.yaml"),
            ("path", "/repo/data/common.yaml"),
        ]
    );
    let users = incoming(&snapshot, "url");
    assert_eq!(users.len(), 1);
    assert_eq!(&*users[0].item.key, "path");
    assert_eq!(users[0].tokens[0].slice(common), "%{lookup('url')}");
}

#[test]
fn hints_without_nodes_show_what_is_certain_for_every_node() {
    let hiera = "version: 5\nhierarchy:\n  - {name: top, path: top.yaml}\n  \
        - {name: role, path: 'role/%{role}.yaml'}\n  - {name: common, path: common.yaml}\n";
    let common = "alone: 1\nlist: [a]\nport: 80\nname: x\n\
        url: \"%{lookup('name')}:%{lookup('port')}:%{lookup('alone')}\"\n\
        lookup_options: {list: {merge: unique}}\n";
    let role = "alone: 3\nport: 81\nlist: [c]\n";
    let with = |hiera: &str| {
        workspace(&files(&[
            ("hiera.yaml", hiera),
            ("data/top.yaml", "alone: 2\nlist: [b]\n"),
            ("data/role/web.yaml", role),
            ("data/common.yaml", common),
        ]))
    };
    let base = base(&Nodes::default(), PuppetVersion::V7);
    let labels = |workspace: &Workspace, file: &str, text: &str| -> Vec<String> {
        let snapshot = workspace.snapshot();
        let fleet = fleet(&base, &snapshot);
        let path = format!("/repo/data/{file}");
        let found = hints(
            fleet.analysis,
            &path,
            TextRange::new(0, text.len()),
            HintOptions::ALL,
        );
        let label =
            |hint: &ide::hint::Hint| format!("{}: {}", hint.range.slice(text), hint.label());
        found.iter().map(label).collect()
    };
    let known = with(hiera);
    // Another role's file may set the port and add to the list: these are not mentioned.
    assert_eq!(
        labels(&known, "common.yaml", common),
        [
            "alone: never used ↑ top.yaml:1",
            "%{lookup('name')}: = x",
            "%{lookup('alone')}: = 2",
        ]
    );
    assert_eq!(
        labels(&known, "role/web.yaml", role),
        [
            "alone: never used ↑ top.yaml:1",
            "list: merged from 3 levels",
        ]
    );
    // A level that is not visible may set anything.
    let private = hiera.replace(
        "hierarchy:\n",
        "hierarchy:\n  - {name: private, datadir: /etc/private, path: common.yaml}\n",
    );
    assert!(labels(&with(&private), "role/web.yaml", role).is_empty());
}

pub(super) fn run(arguments: &[&str], folder: &std::path::Path) -> (String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    (
        String::from_utf8(output.stdout).unwrap(),
        output.status.code().unwrap(),
    )
}

#[test]
fn nodes_are_found_without_a_flag_where_an_editor_finds_them() {
    let folder = checkouts();
    let new = folder.path().join("new");
    let matrix = || run(&["matrix", "port", "--workspace", "new"], folder.path());
    let hover = || run(&["hover", "new/data/common.yaml:1:1"], folder.path());
    // A data file is named after one node; otherwise it is unknown.
    let named = "port — the same for 1 node\n  9  b  new/data/node/b.yaml:1\n";
    assert_eq!(matrix(), (named.into(), 0));
    let only = "for b, the only node that reads this file";
    assert!(hover().0.contains(only), "{}", hover().0);
    let facts = new.join("spec/fixtures/facts");
    std::fs::create_dir_all(&facts).unwrap();
    std::fs::write(facts.join("b.yaml"), "site: ls\nnetworking: {}\n").unwrap();
    assert_eq!(
        matrix().0,
        "port — the same for 1 node\n  9  b  new/data/node/b.yaml:1\n"
    );
    std::fs::rename(folder.path().join("nodes.yaml"), new.join("nodes.yaml")).unwrap();
    assert_eq!(
        matrix().0,
        "port — 2 different values on 3 nodes\n\
         \x20 81  2 nodes  new/data/common.yaml:1\n\
         \x20 9   b        new/data/node/b.yaml:1\n"
    );
    assert!(hover().0.contains("3 nodes"), "{}", hover().0);
}

#[test]
fn a_global_layer_outside_of_the_workspace_is_read() {
    let folder = checkouts();
    let puppet = folder.path().join("puppet");
    std::fs::create_dir_all(puppet.join("data")).unwrap();
    std::fs::write(puppet.join("hiera.yaml"), "version: 5\n").unwrap();
    std::fs::write(puppet.join("data/common.yaml"), "port: 5\nglobal: 1\n").unwrap();
    let flags = [&FLAGS[..], &["--hiera-config", "puppet/hiera.yaml"]].concat();
    let (text, code) = run(
        &[&["matrix", "port", "global"][..], &flags].concat(),
        folder.path(),
    );
    assert_eq!(code, 0);
    let place = "puppet/data/common.yaml";
    assert_eq!(
        text,
        format!(
            "port — the same for 3 nodes\n  5  3 nodes  {place}:1\n\
             global — the same for 3 nodes\n  1  3 nodes  {place}:2\n"
        )
    );
    let (text, _) = run(
        &[&["matrix", "--all-keys"][..], &flags].concat(),
        folder.path(),
    );
    let keys: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once(" — "))
        .map(|(key, _)| key)
        .collect();
    assert_eq!(keys, ["global", "host", "port"]);
}
