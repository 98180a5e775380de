//! `nodes import`: what is asked for, what is written, and what is refused. A small server in the test
//! answers as PuppetDB does; `tests/fleet` asks a real one.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::nodes_cli::{files_in, run, write};
use super::puppetdb::Server;

const ACME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/acme");

/// Acme without its nodes file in `acme`, what a classifier sets in `enc`, and PuppetDB's rows.
fn acme(folder: &Path) -> Vec<Value> {
    let copied = Command::new("cp").args(["-r", ACME]).arg(folder).status();
    assert!(copied.unwrap().success());
    std::fs::remove_file(folder.join("acme/nodes.json")).unwrap();
    std::fs::remove_dir_all(folder.join("acme/mistakes")).unwrap();
    let nodes = std::fs::read_to_string(format!("{ACME}/nodes.json")).unwrap();
    let nodes: Map<String, Value> = serde_json::from_str(&nodes).unwrap();
    let rows = nodes.iter().map(|(name, node)| {
        let mut facts = node["facts"].clone();
        facts["machine_room_code"] = json!("0815-secret");
        let variables = node.get("variables").cloned().unwrap_or(json!({}));
        let classified = json!({"classes": {}, "parameters": variables}).to_string();
        write(folder, &[(&format!("enc/{name}.yaml"), &classified)]);
        json!({"certname": name, "environment": "production", "facts": facts, "trusted": node["trusted"], "timestamp": "t"})
    });
    rows.collect()
}

fn matrix(folder: &Path, nodes: &[&str]) -> String {
    let mut all = vec!["matrix", "--all-keys", "--format", "json-lines"];
    all.extend(["--workspace", "acme"]);
    all.extend(nodes);
    let (text, error, code) = run(folder, &all);
    assert_eq!(code, 0, "{error}");
    text
}

/// Acme's own nodes file, ordered by name.
fn sorted_nodes(folder: &Path) -> String {
    let nodes = std::fs::read_to_string(format!("{ACME}/nodes.json")).unwrap();
    let nodes: BTreeMap<String, Value> = serde_json::from_str(&nodes).unwrap();
    let text = serde_json::to_string(&nodes).unwrap();
    write(folder, &[("whole.json", &text)]);
    "whole.json".to_owned()
}

#[test]
fn an_import_has_what_the_hierarchy_needs_and_answers_are_the_same() {
    let folder = files_in(&[]);
    let server = Server::with(acme(folder.path()));
    let import = |more: &[&str]| {
        let mut all = vec!["nodes", "import", "--puppetdb", &server.url];
        all.extend(["--workspace", "acme"]);
        all.extend(more);
        let (text, error, code) = run(folder.path(), &all);
        assert_eq!(code, 0, "{error}");
        (text, error)
    };
    let (text, error) = import(&[]);
    assert!(text.starts_with("acme/nodes.json: 8 nodes ("), "{text}");
    // A classifier's variable is named, and unknown.
    assert!(error.contains("nothing tells role"), "{error}");
    let asked = server.asked();
    // The third is about what catalogs looked up.
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert!(asked[1].contains("facts.site"), "{asked:?}");
    assert!(!asked[1].contains("facts,"), "{asked:?}");
    let key = ["lookup", "profile::web::port", "--workspace", "acme"];
    let of_node = |node| run(folder.path(), &[&key[..], &["--node", node]].concat());
    let (_, error, code) = of_node("web02.lon.acme.example");
    assert_eq!(code, 3, "{error}");
    // With the saved output of the classifier everything is as with all facts.
    let (_, error) = import(&["enc"]);
    assert_eq!(error, "");
    let file = folder.path().join("acme/nodes.json");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("0815-secret"), "{text}");
    let whole = sorted_nodes(folder.path());
    assert_eq!(
        matrix(folder.path(), &[]),
        matrix(folder.path(), &["--nodes", &whole])
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // One line for each node, ordered, and where it is from.
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split('"').nth(1))
        .collect();
    assert_eq!(names[0], "hiera-ls/import");
    assert_eq!(names.len(), 9);
    assert!(names[1..].is_sorted(), "{names:?}");
    let all: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(all["hiera-ls/import"]["from"], json!([server.url, "enc"]));
    let doctor = ["doctor", "--workspace", "acme"];
    let (text, error, _) = run(folder.path(), &doctor);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let from = format!("from {} and enc", server.url);
    assert!(
        text.contains("(just now)") && text.contains(&from),
        "{text}{error}"
    );
    let (text, _, _) = run(
        folder.path(),
        &[&doctor[..], &["--format", "json"]].concat(),
    );
    let report: Value = serde_json::from_str(&text).unwrap();
    let imported = &report["nodes"]["origins"][0]["imported"];
    assert_eq!(imported["from"], json!([server.url, "enc"]));
    // All facts, if that is what is wanted.
    import(&["enc", "--all-facts"]);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("0815-secret"), "{text}");
    assert_eq!(
        matrix(folder.path(), &[]),
        matrix(folder.path(), &["--nodes", &whole])
    );
}

#[test]
fn large_fleets_are_asked_for_page_by_page_and_by_condition() {
    let folder = files_in(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: S, path: '%{facts.site}.yaml'}\n",
        ),
        ("data/lon.yaml", "a: 1\n"),
    ]);
    let row =
        |at| json!({"certname": format!("n{at}"), "environment": "qa", "facts": {"site": "lon"}});
    let server = Server::with((0..10_001).map(row).collect());
    let (text, error, code) = run(
        folder.path(),
        &[
            "nodes",
            "import",
            "--puppetdb",
            &server.url,
            "--environment",
            "qa",
            "--where",
            "facts.x = 1",
        ],
    );
    assert_eq!((code, error.as_str()), (0, ""), "{text}");
    assert!(text.contains("10001 nodes"), "{text}");
    let asked = server.asked();
    let clause = "{ environment = \"qa\" and (facts.x = 1)";
    // A PuppetDB without records of lookups is asked for them once.
    let (of_catalogs, asked): (Vec<&String>, Vec<&String>) = asked
        .iter()
        .partition(|query| query.starts_with("catalog-inputs"));
    assert_eq!((asked.len(), of_catalogs.len()), (3, 1), "{asked:?}");
    assert!(
        asked.iter().all(|query| query.contains(clause)),
        "{asked:?}"
    );
    let text = std::fs::read_to_string(folder.path().join("nodes.json")).unwrap();
    assert_eq!(text.lines().count(), 10_001 + 3);
    let matrix = ["matrix", "a", "--environment", "qa"];
    let (text, error, _) = run(folder.path(), &matrix);
    assert!(
        text.starts_with("a — the same for 10001 nodes"),
        "{text}{error}"
    );
    let (text, _, _) = run(folder.path(), &["doctor"]);
    assert!(
        text.contains("only those with environment = \"qa\""),
        "{text}"
    );
}

const HIERA: &str = "version: 5\nhierarchy:\n- {name: S, path: '%{facts.site}.yaml'}\n\
    - {name: R, path: 'role/%{role}.yaml'}\n- {name: T, path: 'pp/%{trusted.extensions.pp_role}.yaml'}\n";

#[test]
fn answers_that_cannot_be_used_leave_the_file_as_it_was() {
    let folder = files_in(&[("hiera.yaml", HIERA), ("data/lon.yaml", "a: 1\n")]);
    let other = Server::with(Vec::new());
    let target = other.url.clone();
    let before = "{\n\"hiera-ls/import\": {},\n\"a\": {\"facts.site\":\"lon\"}\n}\n";
    write(folder.path(), &[("nodes.json", before)]);
    let import = |url: &str, more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
            .args(["nodes", "import", "--puppetdb", url])
            .args(more)
            .current_dir(folder.path())
            // Only the named address may be contacted.
            .envs(["HTTP_PROXY", "http_proxy", "ALL_PROXY"].map(|name| (name, &other.url)))
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{url}: {error}");
        let after = std::fs::read_to_string(folder.path().join("nodes.json")).unwrap();
        assert_eq!(after, before, "{error}");
        error
    };
    let answers = |status: &str, body: &str| {
        let (status, body) = (status.to_owned(), body.to_owned());
        Server::answering(move |_| (status.clone(), body.clone()))
    };
    for (status, body, words) in [
        (
            format!("302 Found\r\nlocation: {target}/pdb/query/v4"),
            "",
            "redirects elsewhere",
        ),
        (
            "307 Temporary Redirect\r\nlocation: /x".to_owned(),
            "",
            "redirects elsewhere",
        ),
        (
            "400 Bad Request".to_owned(),
            "PQL parse error at line 1, column 20:\n\ninventory[certname {}\n",
            "PQL parse error at line 1, column 20: inventory[certname {}",
        ),
        (
            "403 Forbidden".to_owned(),
            "Permission denied",
            "certificate-allowlist",
        ),
        ("200 OK".to_owned(), "<html>", "not one of PuppetDB"),
        ("200 OK".to_owned(), "[]", "not one of PuppetDB"),
        ("200 OK".to_owned(), "[{\"count\": 1}]", "has no nodes"),
    ] {
        let error = import(&answers(&status, body).url, &[]);
        assert!(error.contains(words), "{status}: {error}");
    }
    let none = Server::with(Vec::new());
    assert!(import(&none.url, &[]).contains("no node was found"));
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let error = import(&format!("http://{closed}"), &[]);
    assert!(error.contains("refused"), "{error}");
    write(folder.path(), &[("token", "secret\n")]);
    for (url, more, words) in [
        (
            "http://pdb.example.com:8080",
            &["--token-file", "token"][..],
            "only sent over https",
        ),
        ("ftp://pdb", &[], "neither http nor https"),
        ("http://me@127.0.0.1", &[], "a user in an address"),
        ("http://127.0.0.1/pdb", &[], "only a host and a port"),
        (
            "https://127.0.0.1:1",
            &["--confdir", "none"],
            "name it with --cacert",
        ),
        (
            "https://127.0.0.1:1",
            &["--cacert", "token"],
            "no certificate in it",
        ),
        (
            "http://127.0.0.1:1",
            &["--environment", "a b"],
            "not the name of an environment",
        ),
        (
            "http://127.0.0.1:1",
            &["--environment", "a\" or 1"],
            "not the name of an environment",
        ),
    ] {
        let error = import(url, more);
        assert!(error.contains(words), "{url}: {error}");
    }
    assert!(other.asked().is_empty());
}

#[test]
fn a_nodes_file_that_was_not_imported_is_kept() {
    let folder = files_in(&[
        ("hiera.yaml", HIERA),
        ("nodes.json", "{\"a\": {\"facts\": {\"site\": \"lon\"}}}"),
    ]);
    let (_, error, code) = run(folder.path(), &["nodes", "import", "nodes.json"]);
    assert!(code == 1 && error.contains("was not imported"), "{error}");
    let broken = "version: 5\nhierarchy: [{name: a, paths: [1], path: b}]\n";
    let refused = files_in(&[
        ("hiera.yaml", broken),
        ("x.json", "[{\"certname\": \"a\", \"facts\": {}}]"),
    ]);
    let (_, error, code) = run(refused.path(), &["nodes", "import", "x.json"]);
    assert!(code == 1 && error.contains("add --all-facts"), "{error}");
    let other = ["nodes", "import", "nodes.json", "--output", "-"];
    let (text, error, code) = run(folder.path(), &other);
    assert_eq!(code, 0, "{error}");
    assert!(
        text.contains("\"a\": {\"facts.role\":null,\"facts.site\":\"lon\"}"),
        "{text}"
    );
}

/// Forms that other tools save, each for the node `a`: the values of `site`, `role` and the trusted
/// extension in the file, or that they stay unknown.
#[test]
fn saved_files_of_all_forms_are_imported() {
    let cache = "--- !ruby/object:Puppet::Node::Facts\nname: a\nvalues:\n  site: lon\n  kernel: Linux\n\
                 timestamp: 2024-01-02 03:04:05.678 +00:00\nexpiration: 2024-01-02T03:34:05.678+00:00\n";
    let node = "--- !ruby/object:Puppet::Node\nname: a\nparameters:\n  site: lon\n  role: web\nclasses: {}\n\
                environment: qa\n";
    let role = "\"variables.role\":\"web\"";
    let site = "\"facts.site\":\"lon\"";
    let extension = "\"trusted.extensions.pp_role\":\"x\"";
    let trusted = r#""trusted": {"authenticated": "remote", "certname": "a", "extensions": {"pp_role": "x"}}"#;
    for (name, text, has, lacks) in [
        (
            "a.yaml",
            cache.to_owned(),
            &[site][..],
            &["variables", "trusted"][..],
        ),
        (
            "a.yaml",
            node.to_owned(),
            &[site, role, "\"environment\":\"qa\""],
            &["trusted"],
        ),
        (
            "a.yaml",
            "classes: {x: {}}\nparameters: {role: web}\n".to_owned(),
            &[role],
            &["facts"],
        ),
        (
            "a.json",
            "{\"site\": \"lon\", \"kernel\": \"Linux\"}".to_owned(),
            &[site],
            &["variables"],
        ),
        (
            "a.facts",
            "{\"site\": \"lon\", \"hostname\": \"foo\", \"fqdn\": \"foo.example.com\"}".to_owned(),
            &[site],
            &[],
        ),
        (
            "x.json",
            format!(r#"{{"name": "a", "values": {{"site": "lon", {trusted}}}}}"#),
            &[site, extension],
            &["variables"],
        ),
        (
            "x.json",
            format!(r#"[{{"certname": "a", "facts": {{"site": "lon"}}, {trusted}}}]"#),
            &[site, extension],
            &["variables"],
        ),
        (
            "x.json",
            r#"[{"certname": "a", "name": "site", "value": "lon", "environment": "qa"}]"#
                .to_owned(),
            &[site],
            &["facts.role"],
        ),
        (
            "x.json",
            r#"[{"certname": "a", "path": ["site"], "value": "lon"}]"#.to_owned(),
            &[site],
            &["facts.role"],
        ),
    ] {
        let folder = files_in(&[("hiera.yaml", HIERA), (name, &text)]);
        let (_, error, code) = run(folder.path(), &["nodes", "import", name]);
        assert_eq!(code, 0, "{text}: {error}");
        let written = std::fs::read_to_string(folder.path().join("nodes.json")).unwrap();
        let entry = written
            .lines()
            .find(|line| line.starts_with("\"a\""))
            .unwrap_or(&written);
        assert!(
            has.iter().all(|part| entry.contains(part)),
            "{text}: {entry}"
        );
        assert!(
            !lacks.iter().any(|part| entry.contains(part)),
            "{text}: {entry}"
        );
    }
    let refused = r#"[{"certname": "a", "deactivated": null, "facts_timestamp": "t"}]"#;
    let folder = files_in(&[("hiera.yaml", HIERA), ("x.json", refused)]);
    let (_, error, code) = run(folder.path(), &["nodes", "import", "x.json"]);
    assert!(
        code == 1 && error.contains("nodes without their facts"),
        "{error}"
    );
}

/// Numbers that do not fit into 64 bits, or into a double, stay as they are.
#[test]
fn values_are_written_as_they_are() {
    let folder = files_in(&[
        ("hiera.yaml", "version: 5\n"),
        (
            "data/common.yaml",
            "a: '%{facts.big} %{facts.exp} %{facts.text} %{facts.list.0}'\n",
        ),
    ]);
    let facts = json!({"text": "ž\u{1b}[31m\"", "list": ["x", null]}).to_string();
    let facts = facts.replacen('{', "{\"big\": 12345678901234567890123, \"exp\": 1e21, ", 1);
    let row = format!("[{{\"certname\": \"a\", \"facts\": {facts}}}]");
    write(folder.path(), &[("saved.json", &row)]);
    let lookup = |more: &[&str]| {
        run(
            folder.path(),
            &[&["lookup", "a", "--node", "a"], more].concat(),
        )
    };
    let before = lookup(&["--nodes", "saved.json"]);
    let (_, error, code) = run(folder.path(), &["nodes", "import", "saved.json"]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(lookup(&[]), before);
    assert!(
        before.0.contains("12345678901234567890123 1.0e+21"),
        "{before:?}"
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_import_writes_nothing() {
    let folder = files_in(&[("hiera.yaml", HIERA), ("data/lon.yaml", "a: 1\n")]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut program = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .args(["nodes", "import", "--puppetdb", &url])
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // A server that begins an answer and never ends it.
    let (mut stream, _) = listener.accept().unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let mut start = [0; 16];
    stream.read_exact(&mut start).unwrap();
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n[{")
        .unwrap();
    let id = rustix::process::Pid::from_child(&program);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert!(!program.wait().unwrap().success());
    let left = std::fs::read_dir(folder.path()).unwrap();
    let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["data", "hiera.yaml"]);
}
