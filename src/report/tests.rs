//! What is in the data of a report, and what its engine answers.

use std::sync::Arc;

use serde_json::{Value, json};

use super::gather::drop_beyond;
use super::*;
use crate::analysis::{Analysis, NodeCache, NodeInputs, Project, all_keys, root_for};
use crate::ide::json::json as json_of;
use crate::ide::matrix::{row_of_any, row_of_member, rows_of_node, with_facts, with_unseen};
use crate::lookup::{ConfigCache, PuppetVersion, Settings};
use crate::rules::Checker;
use crate::scope::KnownNodes;
use crate::workspace::{Change, Snapshot, Workspace, path};

const ACME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/acme");

fn snapshot(files: &[(&str, &str)]) -> Arc<Snapshot> {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec!["/home/me/repo".into()]));
    let files = files
        .iter()
        .map(|(name, text)| Change::file(format!("/home/me/repo/{name}"), *text));
    workspace.apply(Change::Batch(files.collect()))
}

fn settings() -> Settings {
    let mut settings = Settings::for_version(PuppetVersion::V8);
    settings.modules_may_be_missing = true;
    settings
}

/// The files below a folder of acme.
#[allow(
    clippy::disallowed_methods,
    reason = "the rooms that read files are above this one"
)]
fn files_below(folder: &std::path::Path, found: &mut Vec<Change>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let at = entry.unwrap().path();
        if at.is_dir() {
            files_below(&at, found);
        } else if let Ok(text) = std::fs::read_to_string(&at) {
            found.push(Change::file(at.to_str().unwrap(), text));
        }
    }
}

fn acme() -> Arc<Snapshot> {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec![ACME.into()]));
    let mut files = Vec::new();
    files_below(std::path::Path::new(ACME), &mut files);
    workspace.apply(Change::Batch(files))
}

/// The data of a report about a snapshot, and perhaps what it is compared with.
fn data_of(snapshot: &Snapshot, before: Option<&Snapshot>, only_shapes: bool) -> ReportData {
    let folder = snapshot.folders()[0].clone();
    let (settings, configs) = (settings(), ConfigCache::default());
    let inputs = NodeInputs::new(&settings, &configs);
    let place = path::join(&folder, "hiera.yaml");
    let nodes = NodeCache::default().described(snapshot, &place, &inputs);
    let gathered = gather(&ReportSource {
        snapshot,
        folder: &folder,
        against: before.map(|before| ("main", before, &*folder)),
        environment: "production",
        nodes: &nodes,
        are_all: false,
        project: &Project::default(),
        settings: &settings,
        findings: json!([]),
        only_shapes,
        made_by: "0",
    });
    gathered.data
}

fn engine(data: &ReportData) -> ReportEngine {
    ReportEngine::open(&serde_json::to_string(data).unwrap()).unwrap()
}

fn ask(engine: &ReportEngine, name: &str, question: Value) -> Value {
    let answer: Value = serde_json::from_str(&engine.call(name, &question.to_string())).unwrap();
    assert!(answer["error"].is_null(), "{name}: {answer}");
    answer["ok"].clone()
}

#[test]
fn answers_are_those_of_the_workspace() {
    let snapshot = acme();
    let engine = engine(&data_of(&snapshot, None, false));
    let (settings, configs) = (settings(), ConfigCache::default());
    let inputs = NodeInputs::new(&settings, &configs);
    let place = path::join(ACME, "hiera.yaml");
    let set = NodeCache::default().described(&snapshot, &place, &inputs);
    let nodes = KnownNodes::in_environment(&set.nodes, "production");
    let root = root_for(&snapshot, ACME, "production").unwrap();
    let nodes = crate::analysis::with_manifest_variables(&nodes, &snapshot, root, &settings)
        .unwrap_or(nodes);
    let view = Analysis::new(&snapshot, &settings, &configs, &nodes).at(root);
    let mut compared = 0;
    for key in all_keys(&view) {
        let row = with_facts(&view, with_unseen(&view, row_of_any(&view, &key)));
        let own = serde_json::to_string(&row).unwrap().replace(ACME, "/acme");
        // Encrypted values and secrets have other texts in a report.
        if own.contains("ENC[") || own.contains("assword") || own.contains("ensitive") {
            continue;
        }
        let found = ask(&engine, "matrix", json!({ "keys": [key] }));
        assert_eq!(found[0].to_string(), own, "{key}");
        compared += 1;
    }
    assert!(compared > 40, "{compared}");
    // What keys have in common is collected once: the answers are the same.
    let keys = all_keys(&view);
    for member in 0..nodes.len() {
        let rows = rows_of_node(&view, keys.iter(), member);
        for (key, row) in keys.iter().zip(rows) {
            let alone = row_of_member(&view, key, member);
            assert_eq!(json_of(&row), json_of(&alone), "{key}");
        }
    }
    let overview = ask(&engine, "overview", json!({}));
    assert_eq!(overview["nodes"].as_array().unwrap().len(), nodes.len());
    assert!(overview["levels"].as_array().unwrap().len() > 5);
}

const PASSWORD: &str = "Xk29dPq7vLm4";
const TOKEN: &str = "ghp_aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5";
const PEM: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
const PINNED: &str = "onlyThisPin4711";
const BLOB: &str = "MIIBiQYJKoZIhvcNAQcDoIIBejCCAXYCAQAxggEhMIIBHQIBADAFMAACAQEwDQYJ";

fn secret_files() -> Vec<(&'static str, String)> {
    vec![
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: A, paths: [a.yaml, b.json]}]\n".to_owned(),
        ),
        (
            "data/a.yaml",
            format!(
                "lookup_options:\n  app::pin: {{convert_to: Sensitive}}\ndb::password: {PASSWORD} # was\n\
                 key: |\n  -----BEGIN RSA PRIVATE KEY-----\n  {PEM}\n  abc=\n  -----END RSA PRIVATE KEY-----\n\
                 url: \"x {TOKEN}\"\ntoken: &t {TOKEN}\nagain: *t\napp::pin: {PINNED}\n\
                 whole: ENC[PKCS7,{BLOB}]\nfolded: >\n  ENC[PKCS7,{BLOB}\n  {BLOB}]\n\
                 draft: DEC::PKCS7[{PASSWORD}9]!\n# db::password: {PASSWORD}q\nport: 80\nlast: end\n"
            ),
        ),
        (
            "data/b.json",
            format!(
                "{{\"api_key\": \"{PASSWORD}\", \"list\": [{{\"password\": \"{PASSWORD}z\"}}]}}\n"
            ),
        ),
        (
            "manifests/site.pp",
            format!("$db_password = '{PASSWORD}w'\nclass a($password = \"{PASSWORD}e\") {{}}\n"),
        ),
    ]
}

#[test]
fn no_secret_is_in_the_data() {
    let files = secret_files();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, &**text)).collect();
    let snapshot = snapshot(&files);
    let data = data_of(&snapshot, None, false);
    let text = serde_json::to_string(&data).unwrap();
    for secret in [PASSWORD, TOKEN, PEM, PINNED, BLOB, "abc="] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert!(!text.contains("/home/me"), "{text}");
    // Lines stay where they are, and no rule finds a secret in what is left.
    for (file, (name, old)) in data.files.iter().zip([
        ("/repo/data/a.yaml", &files[1].1),
        ("/repo/data/b.json", &files[2].1),
        ("/repo/hiera.yaml", &files[0].1),
        ("/repo/manifests/site.pp", &files[3].1),
    ]) {
        assert_eq!(&*file.path, name);
        let new = file.text.as_deref().unwrap();
        assert_eq!(new.lines().count(), old.lines().count(), "{new}");
    }
    let engine = engine(&data);
    let checker = Checker::new(&engine.snapshot, PuppetVersion::V8);
    for file in engine.snapshot.files() {
        for range in checker.secrets(file.path()) {
            // A mark of `eyaml edit` around what stands for its text.
            let found = range.slice(file.text());
            assert!(found.starts_with("DEC::PKCS7[(a secret"), "{found}");
        }
    }
    let value =
        |key: &str| ask(&engine, "matrix", json!({ "keys": [key] }))[0]["answers"][0].clone();
    assert_eq!(value("port")["value"], 80);
    assert_eq!(value("last")["value"], "end");
    assert_eq!(value("last")["sources"][0]["line"], 20);
    // The same secret has the same stand-in.
    assert_eq!(value("db::password")["value"], value("api_key")["value"]);
    assert_ne!(value("db::password")["value"], value("token")["value"]);
    assert_eq!(value("again")["value"], value("token")["value"]);
    for key in ["whole", "folded"] {
        let shown = value(key).to_string();
        assert!(shown.contains("hidden0"), "{shown}");
    }
}

#[test]
fn without_values_only_shapes_are_left() {
    let files = [
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: N, path: \"%{trusted.certname}.yaml\"}, {name: C, path: c.yaml}]\n",
        ),
        ("nodes.json", "{\"n1\": {}, \"n2\": {}, \"n3\": {}}"),
        (
            "data/c.yaml",
            "a: visible-text # a comment\nb: [1234, true, {deep: other-text}]\nc: \"%{lookup('a')}\"\n",
        ),
        ("data/n1.yaml", "a: another-text\n"),
        ("data/n2.yaml", "a: visible-text\n"),
        ("manifests/site.pp", "$x = 'visible-text'\n"),
    ];
    let data = data_of(&snapshot(&files), None, true);
    let text = serde_json::to_string(&data).unwrap();
    for value in [
        "visible-text",
        "other-text",
        "another-text",
        "1234",
        "a comment",
    ] {
        assert!(!text.contains(value), "{value}: {text}");
    }
    assert!(
        data.left_out
            .iter()
            .any(|what| what.contains("--no-values"))
    );
    let engine = engine(&data);
    let rows = ask(&engine, "matrix", json!({ "keys": ["a", "b", "c"] }));
    let count = |at: usize| rows[at]["answers"].as_array().unwrap().len();
    assert_eq!([count(0), count(1), count(2)], [2, 1, 2], "{rows}");
    assert_eq!(
        rows[1]["answers"][0]["value"][2]["deep"], "(a text 4)",
        "{rows}"
    );
}

#[test]
fn options_and_a_hierarchy_are_causes() {
    let level = "{name: C, path: c.yaml}";
    let config = |levels: &str| format!("version: 5\nhierarchy: [{levels}]\n");
    let (one, other) = (config(level), config("{name: D, path: d.yaml}"));
    let nodes = ("nodes.json", "{\"n1\": {}}");
    let check = |before: [(&str, &str); 2], now: [(&str, &str); 2]| {
        let [before, now] = [before, now]
            .map(|[config, data]| snapshot(&[config, data, nodes, ("data/d.yaml", "a: [2]\n")]));
        let engine = engine(&data_of(&now, Some(&before), false));
        ask(&engine, "changes", json!({}))["causes"].to_string()
    };
    let levels = config("{name: C, paths: [c.yaml, d.yaml]}");
    let options = |merge: &str| format!("# a\nlookup_options: {{a: {{merge: {merge}}}}}\na: [1]\n");
    assert_eq!(
        check(
            [("hiera.yaml", &levels), ("data/c.yaml", &options("first"))],
            [("hiera.yaml", &levels), ("data/c.yaml", &options("unique"))],
        ),
        r#"[{"files":["/repo/data/c.yaml"],"lines":[{"file":"/repo/data/c.yaml","line":2,"key":"a","before":false}],"differences":[0]}]"#
    );
    assert_eq!(
        check(
            [("hiera.yaml", &one), ("data/c.yaml", "a: [1]\n")],
            [("hiera.yaml", &other), ("data/c.yaml", "a: [1]\n")],
        ),
        r#"[{"files":["/repo/hiera.yaml"],"lines":[{"file":"/repo/hiera.yaml","line":2,"key":null,"before":false}],"differences":[0]}]"#
    );
}

#[test]
fn without_manifests_the_levels_that_answer_are_those_of_before() {
    let files = [
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: R, path: \"%{role}.yaml\"}, {name: C, path: c.yaml}]\n",
        ),
        ("nodes.json", "{\"n1\": {}, \"n2\": {}}"),
        (
            "manifests/site.pp",
            "$secret = 'hidden away'\nnode 'n1' { $role = 'web' }\nnode default { $role = 'db' }\n",
        ),
        ("data/web.yaml", "a: 1\n"),
        ("data/db.yaml", "a: 2\n"),
        ("data/c.yaml", "a: 3\n"),
    ];
    let mut before = files;
    before[2].1 = "$role = 'db'\n";
    let data = data_of(&snapshot(&files), Some(&snapshot(&before)), true);
    let text = serde_json::to_string(&data).unwrap();
    assert!(
        !text.contains("hidden away") && !text.contains("site.pp"),
        "{text}"
    );
    let engine = engine(&data);
    let files_of = |question: Value| {
        let rows = ask(&engine, "matrix", question);
        let answers = rows[0]["answers"].as_array().unwrap().iter();
        let shown = answers.map(|answer| format!("{} {}", answer["nodes"], answer["sources"]));
        shown.collect::<Vec<_>>()
    };
    let source = |file: &str| format!("[{{\"file\":\"/repo/data/{file}.yaml\",\"line\":1}}]");
    let (web, db) = (source("web"), source("db"));
    assert_eq!(
        files_of(json!({ "keys": ["a"] })),
        [format!("[\"n1\"] {web}"), format!("[\"n2\"] {db}")]
    );
    // Other facts may set another role.
    let rows = ask(
        &engine,
        "matrix",
        json!({ "keys": ["a"], "facts": { "x": 1 } }),
    );
    assert_eq!(rows[0]["answers"][0]["found"], Value::Null, "{rows}");
    let changes = ask(&engine, "changes", json!({}));
    let differences = changes["differences"].as_array().unwrap();
    assert_eq!(differences.len(), 1, "{changes}");
    assert_eq!(differences[0]["after"]["nodes"], json!(["n1"]), "{changes}");
}

#[test]
fn a_comparison_folds_differences_by_cause() {
    let config = (
        "hiera.yaml",
        "version: 5\nhierarchy: [{name: N, path: \"%{trusted.certname}.yaml\"}, {name: C, path: c.yaml}]\n",
    );
    let nodes = ("nodes.json", "{\"n1\": {}, \"n2\": {}}");
    let before = [
        config,
        nodes,
        ("data/c.yaml", "a: 1\nb: \"%{lookup('a')}\"\n"),
        ("data/n1.yaml", "a: 5\n"),
    ];
    let now = [
        config,
        nodes,
        ("data/c.yaml", "a: 2\nb: \"%{lookup('a')}\"\n"),
        ("data/n2.yaml", "d: 1\n"),
    ];
    let engine = engine(&data_of(&snapshot(&now), Some(&snapshot(&before)), false));
    let changes = ask(&engine, "changes", json!({}));
    let keys: Vec<&str> = changes["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["key"].as_str().unwrap())
        .collect();
    assert_eq!(keys, ["a", "a", "b", "b", "d"], "{changes}");
    let causes = changes["causes"].as_array().unwrap();
    let of_keys = causes.iter().flat_map(|cause| {
        let differences = cause["differences"].as_array().unwrap().iter();
        differences.map(|at| {
            let key = keys[usize::try_from(at.as_u64().unwrap()).unwrap()];
            let files = cause["files"].to_string().replace("/repo/data/", "");
            format!("{key}: {files}")
        })
    });
    let of_keys: std::collections::BTreeSet<String> = of_keys.collect();
    let of_keys: Vec<String> = of_keys.into_iter().collect();
    // The entry of 'b' is the same: it looks up 'a'.
    assert_eq!(
        of_keys,
        [
            "a: [\"c.yaml\",\"n1.yaml\"]",
            "a: [\"c.yaml\"]",
            "b: [\"c.yaml\",\"n1.yaml\"]",
            "b: [\"c.yaml\"]",
            "d: [\"n2.yaml\"]"
        ]
    );
    // Its lines are those of 'a', one of them on the other side alone.
    let of_b = causes
        .iter()
        .find(|cause| cause["files"][1] == "/repo/data/n1.yaml");
    assert_eq!(
        of_b.unwrap()["lines"],
        json!([
            { "file": "/repo/data/c.yaml", "line": 1, "key": "a", "before": false },
            { "file": "/repo/data/n1.yaml", "line": 1, "key": "a", "before": true },
        ])
    );
    let lines = ask(
        &engine,
        "source",
        json!({ "file": "/repo/data/n1.yaml", "line": 1, "around": 3, "before": true }),
    );
    assert_eq!(lines, json!({ "first": 1, "lines": ["a: 5"] }));
}

#[test]
fn a_what_if_changes_answers() {
    let files = [
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: S, path: \"%{facts.site}.yaml\"}, {name: C, path: c.yaml}]\n",
        ),
        ("nodes.json", "{\"n1\": {\"facts\": {\"site\": \"lon\"}}}"),
        ("data/c.yaml", "a: 1\n"),
        ("data/nyc.yaml", "a: 2\n"),
    ];
    let engine = engine(&data_of(&snapshot(&files), None, false));
    let value = |facts: Value| {
        let question = json!({ "node": "n1", "facts": facts });
        ask(&engine, "node", question)["rows"][0]["answers"][0]["value"].clone()
    };
    assert_eq!(value(json!({})), 1);
    assert_eq!(value(json!({ "site": "nyc" })), 2);
    assert_eq!(value(json!({})), 1);
    // The nodes as they are stay known, and those of the last what-if.
    let nodes = |facts: Value| {
        engine
            .nodes(&serde_json::from_value(facts).unwrap())
            .unwrap()
    };
    let (plain, here) = (nodes(json!({})), nodes(json!({ "site": "nyc" })));
    let elsewhere = nodes(json!({ "site": "ams" }));
    assert!(Arc::ptr_eq(&plain, &nodes(json!({}))));
    assert!(Arc::ptr_eq(&elsewhere, &nodes(json!({ "site": "ams" }))));
    assert!(!Arc::ptr_eq(&here, &nodes(json!({ "site": "nyc" }))));
    let facts = ask(&engine, "facts", json!({ "node": "n1" }));
    assert_eq!(facts[0]["path"], "site");
    let words = engine.call("nothing", "{}");
    assert_eq!(words, r#"{"error":"there is no question 'nothing'"}"#);
}

#[test]
fn an_edit_changes_later_answers_as_the_edited_workspace_has_them() {
    let mut edited = engine(&data_of(&acme(), None, false));
    let question = json!({ "keys": ["profile::web::port"] });
    // Answers and nodes that are kept must not outlive an edit.
    let before = ask(&edited, "matrix", question.clone());
    let web = "/acme/data/role/web.yaml";
    edited.edit(web, "profile::web::port: 8081\n").unwrap();
    let file = acme().file(&format!("{ACME}/nodes.json")).cloned().unwrap();
    let text = file.text().replacen("\"web\"", "\"db\"", 1);
    assert_ne!(text, **file.text());
    edited.edit("/acme/nodes.json", &text).unwrap();
    let after = ask(&edited, "matrix", question.clone());
    assert_ne!(after, before);

    let workspace = acme();
    let at = |name: &str| format!("{ACME}{}", name.trim_start_matches("/acme"));
    let changes = vec![
        Change::file(at(web), "profile::web::port: 8081\n"),
        Change::file(at("/acme/nodes.json"), text.as_str()),
    ];
    let fresh = engine(&data_of(
        &workspace.with(Change::Batch(changes)),
        None,
        false,
    ));
    assert_eq!(after, ask(&fresh, "matrix", question));
    let why = edited.edit("/etc/passwd", "").unwrap_err();
    assert_eq!(why, "/etc/passwd is not in this report");
}

#[test]
fn the_longest_texts_are_dropped_first() {
    let file = |name: &str, length: usize| ReportFile {
        path: Arc::from(name),
        text: Some(Arc::from("x".repeat(length))),
        left_out: None,
    };
    let mut files = vec![file("a", 10), file("b", 100), file("c", 50), file("d", 1)];
    assert_eq!(drop_beyond(&mut files, 12), ["b", "c"].map(Arc::from));
    let left = files.iter().filter(|file| file.text.is_some());
    let left: Vec<&str> = left.map(|file| &*file.path).collect();
    assert_eq!(left, ["a", "d"]);
}

#[test]
fn answers_that_need_a_file_that_is_left_out_are_unknown() {
    let files = [
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: N, path: \"%{trusted.certname}.yaml\"}, {name: C, path: c.yaml}]\n",
        ),
        ("nodes.json", "{\"n1\": {}, \"n2\": {}}"),
        ("data/n1.yaml", "a: 1\n"),
        ("data/c.yaml", "a: 3\n"),
    ];
    let mut data = data_of(&snapshot(&files), None, false);
    let long = data
        .files
        .iter_mut()
        .find(|file| file.path.ends_with("n1.yaml"));
    drop_beyond(std::slice::from_mut(long.unwrap()), 0);
    let rows = ask(&engine(&data), "matrix", json!({ "keys": ["a"] }));
    let answers: Vec<String> = rows[0]["answers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| {
            format!(
                "{} {} {}",
                answer["nodes"], answer["value"], answer["unknown"]
            )
        })
        .collect();
    assert_eq!(
        answers,
        [
            "[\"n1\"] null \"not looked up to the end: (/repo/data/n1.yaml): its text is not in this report\"",
            "[\"n2\"] 3 null",
        ]
    );
}

#[test]
fn data_of_another_version_is_refused() {
    let mut data = ReportData {
        version: DATA_VERSION + 1,
        ..ReportData::default()
    };
    data.settings.project = json!({});
    let opened = ReportEngine::open(&serde_json::to_string(&data).unwrap());
    let words = opened.err().unwrap();
    assert!(words.starts_with("the report is of version"), "{words}");
}
