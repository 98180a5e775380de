//! Sources of nodes that do not tell everything: what they do not tell is unknown, and several of them
//! complete each other.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::nodes_cli::{files_in, run, write};

const ACME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/acme");

/// The nodes of acme as PuppetDB knows them, and as a classifier does.
fn acme(folder: &Path) {
    let nodes = std::fs::read_to_string(format!("{ACME}/nodes.json")).unwrap();
    let nodes: Map<String, Value> = serde_json::from_str(&nodes).unwrap();
    let mut inventory = Vec::new();
    for (name, node) in &nodes {
        let mut row = json!({"certname": name, "environment": "production"});
        row["facts"] = node["facts"].clone();
        row["trusted"] = node["trusted"].clone();
        inventory.push(row);
        let variables = node.get("variables").cloned().unwrap_or(json!({}));
        let classified = json!({"classes": {}, "parameters": variables}).to_string();
        write(folder, &[(&format!("enc/{name}.yaml"), &classified)]);
    }
    let inventory = Value::from(inventory).to_string();
    write(folder, &[("inventory.json", &inventory)]);
}

#[test]
fn what_a_classifier_sets_is_unknown_with_the_answer_of_puppetdb_alone() {
    let folder = files_in(&[]);
    acme(folder.path());
    let lookup = |more: &[&str]| {
        let mut all = vec!["lookup", "profile::web::port", "--workspace", ACME];
        all.extend([
            "--node",
            "web02.lon.acme.example",
            "--nodes",
            "inventory.json",
        ]);
        all.extend(more);
        run(folder.path(), &all)
    };
    let (text, error, code) = lookup(&[]);
    assert_eq!((text.as_str(), code), ("", 3), "{error}");
    assert!(error.contains("role"), "{error}");
    assert!(
        error.contains(
            "no file tells what a node classifier sets for node 'web02.lon.acme.example'"
        ),
        "{error}"
    );
    let (text, error, code) = lookup(&["--nodes", "enc"]);
    assert_eq!((text.as_str(), code), ("--- 8443\n", 0), "{error}");
    let matrix = |more: &[&str]| {
        let mut all = vec![
            "matrix",
            "--all-keys",
            "--format",
            "json-lines",
            "--workspace",
            ACME,
        ];
        all.extend(more);
        let (text, error, code) = run(folder.path(), &all);
        assert_eq!(code, 0, "{error}");
        text
    };
    // Both together are the nodes file.
    let known = matrix(&[]);
    assert_eq!(
        matrix(&["--nodes", "enc", "--nodes", "inventory.json"]),
        known
    );
    let (text, _, _) = run(
        folder.path(),
        &[
            "matrix",
            "profile::web::port",
            "--workspace",
            ACME,
            "--nodes",
            "inventory.json",
        ],
    );
    assert!(text.contains("unless"), "{text}");
    // Keys that no file of a role sets are certain.
    let (text, _, _) = run(
        folder.path(),
        &[
            "matrix",
            "site::domain",
            "--workspace",
            ACME,
            "--nodes",
            "inventory.json",
        ],
    );
    assert!(!text.contains("unless"), "{text}");
}

#[test]
fn a_change_that_unknown_variables_decide_is_no_all_clear() {
    let hiera = "version: 5\nhierarchy:\n- {name: Role, path: 'role/%{role}.yaml'}\n\
                 - {name: Common, path: common.yaml}\n";
    let folder = files_in(&[
        ("old/hiera.yaml", hiera),
        ("old/data/role/web.yaml", "port: 8443\n"),
        ("old/data/common.yaml", "port: 80\nname: x\n"),
        ("new/hiera.yaml", hiera),
        ("new/data/role/web.yaml", "port: 8444\n"),
        ("new/data/common.yaml", "port: 80\nname: x\n"),
        (
            "inventory.json",
            r#"[{"certname": "a", "facts": {"site": "lon"}, "trusted": {}}]"#,
        ),
        ("enc/a.yaml", "parameters: {role: web}\nclasses: {}\n"),
    ]);
    let diff = |more: &[&str]| {
        let mut all = vec!["diff", "--workspace", "new", "--against", "./old"];
        all.extend(["--nodes", "inventory.json"]);
        all.extend(more);
        run(folder.path(), &all)
    };
    let (text, error, code) = diff(&[]);
    assert_eq!((text.as_str(), code), ("", 3), "{error}");
    assert!(
        error.contains("unknown: port may differ for a: whether a node reads "),
        "{error}"
    );
    assert!(error.contains("role/web.yaml depends on role"), "{error}");
    let (text, _, code) = diff(&["--format", "markdown"]);
    assert_eq!(code, 3);
    assert!(
        text.contains("no value of 1 node is known to change"),
        "{text}"
    );
    assert!(text.contains("Unknown: port may differ"), "{text}");
    let (text, error, code) = diff(&["--nodes", "enc"]);
    assert_eq!(code, 2, "{error}");
    assert!(text.contains("8444"), "{text}");
    // A change elsewhere is certain.
    write(
        folder.path(),
        &[("new/data/common.yaml", "port: 80\nname: y\n")],
    );
    let (text, error, code) = diff(&[]);
    assert_eq!(code, 2, "{error}");
    assert!(
        text.contains("name") && error.contains("port may differ"),
        "{text}{error}"
    );
}

/// A row of a query for some facts, a fact of which level needs it, and a message instead of an answer.
#[test]
fn answers_of_puppetdb_are_read_or_refused() {
    let folder = files_in(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: Site, path: 'site/%{facts.site}.yaml'}\n\
             - {name: Rack, path: 'rack/%{facts.rack}.yaml'}\n- {name: Common, path: common.yaml}\n",
        ),
        ("data/site/lon.yaml", "k: lon\n"),
        ("data/rack/r1.yaml", "rack: r1\n"),
        ("data/common.yaml", "k: common\nrack: none\nother: x\n"),
        (
            "some.json",
            r#"[{"certname": "n1", "trusted": {}, "facts.site": "lon"},
                {"certname": "n2", "trusted": {}, "facts.site": null}]"#,
        ),
        (
            "list.json",
            r#"[{"certname": "n1", "deactivated": null, "facts_timestamp": "t"}]"#,
        ),
        ("error.json", "PQL parse error at line 1, column 3:\n"),
    ]);
    let value = |key: &str, node: &str| {
        let all = ["lookup", key, "--node", node, "--nodes", "some.json"];
        let (text, _, code) = run(folder.path(), &all);
        (text.trim().to_owned(), code)
    };
    assert_eq!(value("k", "n1"), ("--- lon".to_owned(), 0));
    assert_eq!(value("k", "n2"), ("--- common".to_owned(), 0));
    assert_eq!(value("rack", "n1"), (String::new(), 3));
    assert_eq!(value("other", "n1"), ("--- x".to_owned(), 0));
    for (file, words) in [
        (
            "list.json",
            "nodes without their facts (nodes), which has no facts: save its answer to inventory[",
        ),
        (
            "error.json",
            "this is a message, not JSON: 'PQL parse error at line 1, column 3:'",
        ),
    ] {
        let (_, error, code) = run(folder.path(), &["matrix", "k", "--nodes", file]);
        assert_eq!(code, 1, "{file}");
        assert!(error.contains(words), "{file}: {error}");
    }
}

#[test]
fn the_doctor_first_says_what_no_source_tells() {
    let folder = files_in(&[]);
    acme(folder.path());
    let doctor = |nodes: &[&str]| {
        let mut all = vec!["doctor", "--workspace", ACME];
        all.extend(nodes);
        let (text, error, code) = run(folder.path(), &all);
        assert_eq!(code, 0, "{error}");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = doctor(&["--nodes", "inventory.json"]);
    assert!(
        text.contains(
            "1. no source tells what the node classifier sets: role (unknown for 8 of 8 nodes)"
        ),
        "{text}"
    );
    assert!(text.contains("PuppetDB does not know it"), "{text}");
    let text = doctor(&["--nodes", "inventory.json", "--nodes", "enc"]);
    assert!(!text.contains("no source tells"), "{text}");
}

#[test]
fn what_a_server_sets_and_quoted_extensions_can_be_given() {
    let nodes = r#"{"a": {"facts": {}, "trusted": {"extensions": {"1.3.6.1.4": "blue"}},
        "variables": {"server_facts": {"servername": "vm"}}}}"#;
    let folder = files_in(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: Server, path: 'server/%{server_facts.servername}.yaml'}\n\
             - {name: Zone, path: 'zone/%{trusted.extensions.\"1.3.6.1.4\"}.yaml'}\n",
        ),
        ("data/server/vm.yaml", "s: vm\n"),
        ("data/zone/blue.yaml", "z: blue\n"),
        ("nodes.json", nodes),
    ]);
    for (key, value) in [("s", "--- vm\n"), ("z", "--- blue\n")] {
        let (text, error, code) = run(folder.path(), &["lookup", key, "--node", "a"]);
        assert_eq!((text.as_str(), code), (value, 0), "{error}");
    }
    let (text, _, _) = run(folder.path(), &["doctor"]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = "trusted.extensions.\"1.3.6.1.4\" 1 level, 1 file 1 of 1 node trusted data";
    assert!(words.contains(line), "{text}");
}

#[test]
fn a_node_has_the_environment_that_its_source_tells() {
    let nodes = r#"[{"certname": "p", "environment": "production", "facts": {}, "trusted": {}},
        {"certname": "s", "environment": "staging", "facts": {}, "trusted": {}},
        {"certname": "n", "facts": {}, "trusted": {}}]"#;
    let hierarchy = "version: 5\nhierarchy:\n- {name: Environment, path: 'env/%{environment}.yaml'}\n\
                     - {name: Common, path: common.yaml}\n";
    let folder = super::reach_cli::workspace(&[
        ("hiera.yaml", hierarchy),
        ("data/env/staging.yaml", "k: own\n"),
        ("data/common.yaml", "k: common\n"),
        ("nodes.json", nodes),
    ]);
    let run = |arguments: &[&str]| super::reach_cli::output_of(folder.path(), arguments);
    let (_, shown, _) = run(&["matrix", "k", "--format", "csv"]);
    let rows: Vec<&str> = shown.lines().skip(1).collect();
    assert_eq!(rows.len(), 2, "{shown}");
    assert!(
        rows.iter()
            .any(|row| row.contains("own") && row.contains(",s,")),
        "{shown}"
    );
    let (_, shown, error) = run(&["lookup", "k", "--node", "s"]);
    assert_eq!(shown, "--- common\n");
    assert_eq!(
        error,
        "note: node 's' is in the environment 'staging'; this is its answer in 'production', as of puppet lookup: \
         --environment staging gives its own\n"
    );
    let own = run(&["lookup", "k", "--node", "s", "--environment", "staging"]);
    assert_eq!(own, (Some(0), "--- own\n".to_owned(), String::new()));
    let (_, shown, error) = run(&["lookup", "k", "--node", "n"]);
    assert_eq!((&*shown, &*error), ("--- common\n", ""));
    let (_, shown, _) = run(&["doctor"]);
    assert!(
        shown.contains("\n  environments: 1 in production, 1 in staging, 1 not told\n"),
        "{shown}"
    );
}

#[test]
fn nodes_of_the_own_environment_come_first() {
    let nodes = r#"{"p": {"environment": "production", "facts": {}}, "s": {"environment": "staging", "facts": {}},
        "t": {"environment": "staging", "facts": {}}}"#;
    let hierarchy = "version: 5\nhierarchy:\n- {name: Environment, path: 'env/%{environment}.yaml'}\n\
                     - {name: Common, path: common.yaml}\n";
    let folder = super::reach_cli::workspace(&[
        ("hiera.yaml", hierarchy),
        ("data/env/staging.yaml", "k: theirs\n"),
        ("data/common.yaml", "k: common\n"),
        ("nodes.json", nodes),
    ]);
    let run = |arguments: &[&str]| super::reach_cli::output_of(folder.path(), arguments).1;
    for (environment, first) in [("production", "common"), ("staging", "theirs")] {
        let shown = run(&["matrix", "k", "--environment", environment]);
        let line = shown.lines().nth(1).unwrap();
        assert!(line.contains(first), "{shown}");
        let place = ["hover", "data/common.yaml:1", "--environment", environment];
        let shown = run(&place);
        assert!(shown.lines().nth(1).unwrap().contains(first), "{shown}");
    }
    let shown = run(&["hover", "data/common.yaml:1"]);
    assert!(shown.contains("(environment = staging)"), "{shown}");
    let shown = run(&["matrix", "k"]);
    assert!(shown.contains("\"theirs\"  2 nodes (staging)"), "{shown}");
    let shown = run(&["matrix", "k", "--format", "markdown"]);
    assert!(shown.contains("| 2 nodes (staging) |"), "{shown}");
    let shown = run(&["matrix", "k", "--environment", "development"]);
    assert!(shown.contains("\"theirs\"  2 nodes (staging)"), "{shown}");
    assert!(shown.contains("\"common\"  p (production)"), "{shown}");
}

#[test]
fn a_node_reads_no_files_of_other_environments() {
    let hierarchy = "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n";
    let folder = super::reach_cli::workspace(&[
        ("environments/production/hiera.yaml", hierarchy),
        ("environments/production/data/common.yaml", "k: 1\n"),
        ("environments/staging/hiera.yaml", hierarchy),
        ("environments/staging/data/common.yaml", "k: 2\n"),
        (
            "nodes.json",
            r#"{"p": {"environment": "production", "facts": {}}, "s": {"environment": "staging", "facts": {}}}"#,
        ),
    ]);
    for (environment, value) in [("production", "1"), ("staging", "2")] {
        let place = format!("environments/{environment}/data/common.yaml:1:1");
        let (_, shown, _) = super::reach_cli::output_of(folder.path(), &["hover", &place]);
        assert_eq!(
            shown,
            format!(
                "k — first found, for every node that reads this file\n  {value}\nset in \
                 environments/{environment}/data/common.yaml:1\n"
            )
        );
    }
}
