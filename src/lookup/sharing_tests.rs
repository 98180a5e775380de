//! State shared by scopes (options, locations, tokens) must not change any answer: each equals the
//! answer of a lookup that shares nothing.

use std::sync::Arc;

use proptest::prelude::{ProptestConfig, prop, proptest};
use proptest::sample::select;

use super::{
    Answer, ConfigCache, Environment, LookupLimit, PuppetVersion, Request, ScopeLookups, Session,
    Settings, explain, runs_within, sources,
};
use crate::scope::{Authenticated, Facts, KnownNodes, Scope, default_trusted, read_nodes};
use crate::value::{HashMap, Value, from_json, hash_with_capacity};
use crate::workspace::{Change, Snapshot, Workspace};

/// Levels whose locations depend on the scope in every way, and on existing files.
const LEVELS: [&str; 16] = [
    r#"{name: l0, path: "site/%{facts.site}.yaml"}"#,
    r#"{name: l1, paths: ["a.yaml", "b.yaml"]}"#,
    r#"{name: l2, path: "site/%{site}.yaml", datadir: "%{facts.folder}"}"#,
    r#"{name: l3, path: "%{facts.missing}/%{::site}.yaml"}"#,
    r#"{name: l4, glob: "si*/*.yaml"}"#,
    r#"{name: l5, glob: "%{facts.folder}/../%{facts.site}/*"}"#,
    r#"{name: l6, globs: ["**/*.yaml", "nowhere/*"]}"#,
    r#"{name: l7, mapped_paths: [facts.list, it, "site/%{it}.yaml"]}"#,
    r#"{name: l8, path: "common.yaml", datadir: "/etc/environments/production/data"}"#,
    r#"{name: l9, path: "%{facts.path}"}"#,
    r#"{name: l10, paths: ["%{facts.number}.yaml", "site/%{facts.deep.er}.yaml"]}"#,
    r#"{name: l11, path: "site/%{facts.token}.yaml"}"#,
    r#"{name: l12, path: "site/%{}s1.yaml"}"#,
    r#"{name: l13, uri: "http://%{facts.site}"}"#,
    r#"{name: l14, lookup_key: eyaml_lookup_key, paths: ["a.yaml", "site/%{facts.site}.yaml", "7.yaml"]}"#,
    r#"{name: l15, path: "site/%{facts.site}.yaml", options: {a: 1}}"#,
];

const MODULE_HIERA: &str = "version: 5\nhierarchy: [{name: m, path: m.yaml}]\n";

/// Options of a file: merged hashes of every kind, and options that Puppet refuses.
const OPTIONS: [&str; 13] = [
    "",
    "lookup_options: {m::list: {merge: unique}}\n",
    "lookup_options: {m::list: {merge: hash}, m::hash: {merge: deep}}\n",
    "lookup_options: {'^m::h.*': {merge: {strategy: deep, knockout_prefix: '--'}}}\n",
    "lookup_options: {'^m::.*': {merge: first}, m::hash: {merge: hash}}\n",
    "lookup_options: {m::hash: {merge: '%{facts.merge}'}}\n",
    "lookup_options: {'m::%{facts.name}': {merge: unique}}\n",
    "lookup_options: {m::list: {convert_to: [Array, true]}}\n",
    "lookup_options: \"%{lookup('m::own')}\"\n",
    "lookup_options: \"%{alias('m::own')}\"\n",
    "lookup_options: [a]\n",
    "lookup_options: ~\n",
    "lookup_options: {other::x: {merge: deep}, 1: {merge: deep}, '^m(': {merge: deep}}\n",
];

const DATA: [&str; 10] = [
    "",
    "m::list: [a, b]\nm::hash: {x: {y: 1}}\n",
    "m::list: [b, c]\nm::hash: {x: {z: 2}, '--q': 1}\n",
    "m::list: one\nm::hash: [1]\n",
    "m::own: {m::hash: {merge: deep}}\n",
    "x: 1\n:'m::list': [q]\n",
    "x: 1\n:m::hash: {q: 1}\n",
    "m::own: [\n",
    "- m::own\n",
    "m::list: [\"%{facts.site}\", \"%{lookup('m::hash.x')}\"]\n",
];

const FILES: [&str; 9] = [
    "data/site/s1.yaml",
    "data/site/s2.yaml",
    "other/site/s1.yaml",
    "data/s1/x.yaml",
    "data/a.yaml",
    "data/b.yaml",
    "data/common.yaml",
    "data/7.yaml",
    "modules/m/data/m.yaml",
];

fn open(workspace: &Workspace, path: &str, text: &str) -> Arc<Snapshot> {
    workspace.apply(Change::open(format!("/env/{path}"), text))
}

fn scope(site: &str) -> Scope {
    let is_first = site == "s1";
    let pick = |one: &str, other: &str| Value::from(if is_first { one } else { other });
    let facts = Value::hash([
        ("site", site.into()),
        ("merge", pick("deep", "hash")),
        ("name", pick("list", "hash")),
        ("folder", pick("data", "other")),
        ("path", pick("/env/data/a.yaml", "")),
        ("number", 7.into()),
        ("token", "%{facts.site}".into()),
        ("deep", Value::hash([("er", site.into())])),
        ("list", Value::array(["s1".into(), site.into()])),
    ]);
    let none = hash_with_capacity(0);
    let trusted = default_trusted("n", Authenticated::Local, &none);
    let facts = Facts::from(facts.as_hash().unwrap_or(&none).clone());
    Scope::closed(&facts, &trusted, &none, &none, "production")
}

/// Nodes that differ in variables of paths, options and values.
fn nodes() -> KnownNodes {
    let node = |number: usize| {
        let site = ["s1", "s2", "s3"][number % 3];
        let merge = ["deep", "hash"][number / 3 % 2];
        format!(
            r#""n{number}": {{"facts": {{"site": "{site}", "merge": "{merge}", "name": "list", "folder": "data",
            "path": "", "number": 7, "token": "t", "deep": {{"er": "{site}"}}, "list": ["s1", "{site}"]}}}}"#
        )
    };
    let all: Vec<String> = (0..12).map(node).collect();
    let json = from_json(&format!("{{{}}}", all.join(", "))).unwrap();
    KnownNodes::new(&read_nodes(&json, "nodes", &HashMap::default()).unwrap())
}

/// Looking up for many nodes must equal looking up for each, for all nodes or the largest sets.
fn compare_nodes(session: &Session<'_>, nodes: &KnownNodes, request: &Request) {
    let members: Vec<usize> = (0..nodes.len()).collect();
    for most in [usize::MAX, 3, 1] {
        let limit = LookupLimit {
            most,
            sample: most.min(2),
            is_cancelled: &|| false,
        };
        let runs = runs_within(session, nodes, request, &members, &limit);
        for run in &runs {
            for &member in &run.members {
                let alone = session.lookup(&nodes.scope(member), request);
                assert_eq!(
                    answer_text(&run.answer),
                    answer_text(&alone),
                    "{request:?} of node {member}"
                );
            }
        }
        assert!(runs.len() <= most);
        let looked_up: usize = runs.iter().map(|run| run.members.len()).sum();
        assert!(looked_up == nodes.len() || runs.len() == limit.sample || runs.len() == most);
    }
}

/// Looking up many keys for one scope must equal looking up each alone.
fn compare_keys(session: &Session<'_>, scope: &Scope, at: usize) {
    let mut lookups = ScopeLookups::new(*session, scope.clone());
    let keys = [
        "own",
        "m::list",
        "other::x",
        "m::hash.x",
        "m::own",
        "m::list",
        "lookup_options",
    ];
    for key in keys {
        let plain = Request::key(key);
        for request in [plain.clone().with_sources(), plain.clone(), plain.traced()] {
            let found = answer_text(&lookups.lookup(&request));
            let alone = answer_text(&session.lookup(scope, &request));
            assert_eq!(found, alone, "{request:?} in scope {at}");
        }
    }
}

/// The whole answer as text, including the trace.
fn answer_text(answer: &Answer) -> String {
    let trace = answer.trace.as_ref().map(explain);
    format!(
        "{:?} {:?} {:?} {:?} {trace:?}",
        answer.result, answer.unknown, answer.reads, answer.logs
    )
}

fn compare(snapshot: &Snapshot, environment: &Environment, shared: &ConfigCache) {
    let mut open = Scope::open();
    open.bind("facts.site", "s2");
    let scopes = [scope("s1"), scope("s2"), scope("s3"), open];
    let nodes = nodes();
    for version in [PuppetVersion::V7, PuppetVersion::V8] {
        let settings = Settings::for_version(version);
        let session = Session {
            files: snapshot,
            environment,
            settings: &settings,
            configs: shared,
        };
        for key in ["m::list", "own"] {
            compare_nodes(&session, &nodes, &Request::key(key).with_sources());
        }
        for (at, scope) in scopes.iter().enumerate() {
            compare_keys(&session, scope, at);
            for key in ["m::list", "m::hash", "own"] {
                let plain = Request::key(key);
                let whole = session.lookup(scope, &plain.clone().traced());
                let brief = session.lookup(scope, &plain.clone().with_sources());
                assert_eq!(whole.result, brief.result);
                assert_eq!(whole.unknown, brief.unknown);
                let sources = |answer: &Answer| answer.trace.as_ref().map(sources);
                assert_eq!(sources(&whole), sources(&brief), "{key} in scope {at}");
                for request in [plain.clone(), plain.clone().with_sources(), plain.traced()] {
                    let answer_with = |configs: &ConfigCache| {
                        let session = Session {
                            files: snapshot,
                            environment,
                            settings: &settings,
                            configs,
                        };
                        answer_text(&session.lookup(scope, &request))
                    };
                    let alone = answer_with(&ConfigCache::default());
                    assert_eq!(answer_with(shared), alone, "{key} in scope {at}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn sharing_shows_in_no_answer(
        levels in prop::collection::vec(prop::collection::btree_set(0..LEVELS.len(), 1..4), 2),
        choices in prop::collection::vec((select(&OPTIONS[..]), select(&DATA[..])), FILES.len()),
        edits in prop::collection::vec((0..FILES.len(), prop::option::of(select(&OPTIONS[..]))), 3),
    ) {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/env".into()]));
        let hiera = |levels: &std::collections::BTreeSet<usize>| {
            let levels: Vec<&str> = levels.iter().map(|&at| LEVELS[at]).collect();
            format!("version: 5\nhierarchy: [{}]\n", levels.join(", "))
        };
        open(&workspace, "modules/m/hiera.yaml", MODULE_HIERA);
        for (path, (options, data)) in FILES.iter().zip(&choices) {
            open(&workspace, path, &format!("{options}{data}"));
        }
        let environment = Environment {
            dir: Some("/env".into()),
            modulepath: vec!["/env/modules".into()],
            ..Environment::default()
        };
        let shared = ConfigCache::default();
        for levels in &levels {
            let snapshot = open(&workspace, "hiera.yaml", &hiera(levels));
            compare(&snapshot, &environment, &shared);
        }
        for (at, options) in edits {
            let snapshot = match options {
                Some(options) => {
                    let text = format!("{options}{}", choices[at].1);
                    open(&workspace, FILES[at], &text)
                }
                None => workspace.apply(Change::Close {
                    path: Arc::from(format!("/env/{}", FILES[at])),
                }),
            };
            compare(&snapshot, &environment, &shared);
        }
    }
}

/// Only loading shows that a quoted symbol is a key.
#[test]
fn a_file_with_keys_that_are_not_known_matters_to_every_key() {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec!["/env".into()]));
    let levels = format!("{}, {}", LEVELS[0], LEVELS[1]);
    open(
        &workspace,
        "hiera.yaml",
        &format!("version: 5\nhierarchy: [{levels}]\n"),
    );
    open(&workspace, "data/a.yaml", "own: 1\n");
    let snapshot = open(&workspace, "data/site/s1.yaml", "x: 1\n:'own': 2\n");
    let environment = Environment {
        dir: Some("/env".into()),
        ..Environment::default()
    };
    compare(&snapshot, &environment, &ConfigCache::default());
}

/// Within a request a merge changes the cached values of a `lookup_key` function; the next request
/// starts fresh.
#[test]
fn changes_of_a_merge_do_not_leak_into_the_next_request() {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec!["/env".into()]));
    let eyaml =
        "lookup_key: eyaml_lookup_key, options: {pkcs7_private_key: /a, pkcs7_public_key: /b}";
    let levels = format!("{{name: e, path: e.yaml, {eyaml}}}, {{name: c, path: c.yaml}}");
    open(
        &workspace,
        "hiera.yaml",
        &format!("version: 5\nhierarchy: [{levels}]\n"),
    );
    open(&workspace, "data/e.yaml", "k: {l: ['--x', a]}\n");
    let snapshot = open(
        &workspace,
        "data/c.yaml",
        "lookup_options: {k: {merge: {strategy: deep, knockout_prefix: '--'}}}\n\
         k: {l: [x, b]}\n\
         twice: [\"%{alias('k.l')}\", \"%{alias('k.l')}\"]\n",
    );
    let environment = Environment {
        dir: Some("/env".into()),
        ..Environment::default()
    };
    let settings = Settings::for_version(PuppetVersion::V8);
    let configs = ConfigCache::default();
    let session = Session {
        files: &*snapshot,
        environment: &environment,
        settings: &settings,
        configs: &configs,
    };
    let requests = ["k", "twice", "k", "twice"].map(Request::key);
    let mut values = Vec::new();
    session.lookup_each(&Scope::open(), &requests, |answer| {
        values.push(answer.result.map(|value| value.inspect()));
    });
    let (once, twice) = (r#"{"l"=>["b", "a"]}"#, r#"[["b", "a"], ["x", "b", "a"]]"#);
    let expected = [once, twice, once, twice].map(|text| Ok(text.to_string()));
    assert_eq!(values, expected);
}
