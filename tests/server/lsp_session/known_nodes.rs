//! Where nodes come from, and the selected one.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::VSCODE;
use super::commands::Repository;
use super::program::{Program, uri};

#[test]
fn facts_of_the_repository_s_tests_are_nodes() {
    let repository = Repository::new();
    std::fs::remove_file(repository.folder.join("nodes.json")).unwrap();
    for (system, site) in [("debian-12-x86_64", "ls"), ("redhat-9-x86_64", "cp")] {
        let facts = json!({ "site": site, "networking": { "fqdn": format!("{system}.example") } });
        let at = format!("environments/production/spec/fixtures/facts/{system}.facts");
        repository.write(&at, &facts.to_string());
    }
    let mut program = repository.start();
    let file = uri(&repository.file("data/common.yaml"));
    let port = json!({ "uri": file, "key": "port", "data": true });
    let matrix = program.command("hiera.matrix", &port);
    let answers = matrix["data"]["answers"].as_array().unwrap();
    let mut values: Vec<String> = answers
        .iter()
        .map(|answer| format!("{} for {}", answer["value"], answer["nodes"][0]))
        .collect();
    values.sort();
    // Next to the node that a file is named after.
    assert_eq!(values.len(), 3, "{matrix}");
    assert!(values[0].starts_with("80 for \"redhat-9"), "{matrix}");
    assert!(values[1].starts_with("8080 for \"debian-12"), "{matrix}");
    assert!(values[2].starts_with("9 for \"c.x"), "{matrix}");
    program.end();
}

#[test]
fn an_edit_of_a_nodes_file_of_any_name_changes_findings_before_it_is_saved() {
    let repository = Repository::new();
    let hosts = repository.folder.join("hosts.yaml");
    repository.write("hosts.yaml", "a.x: {facts: {site: ls}}\n");
    std::fs::remove_file(repository.folder.join("nodes.json")).unwrap();
    let at = |path: &str| format!("environments/production/{path}");
    repository.write(&at("manifests/site.pp"), "include role\n");
    repository.write(
        &at("modules/role/manifests/init.pp"),
        "class role($p) { }\n",
    );
    repository.write(&at("data/site/ls.yaml"), "role::p: 1\n");
    let settings = json!({ "nodesFiles": [hosts] });
    let mut program = Program::start(&repository.folder, &settings, VSCODE);
    let site = repository.file("manifests/site.pp");
    program.open(&site);
    program.open(&hosts);
    // Until the workspace is read, there are no findings for lack of knowledge.
    program.command("hiera.nodes", &json!({}));
    let pulled = json!({ "textDocument": { "uri": uri(&site) } });
    let found = program.ask("textDocument/diagnostic", &pulled);
    assert_eq!(found["items"], json!([]));
    let text = "a.x: {facts: {site: ls}}\nb.x: {facts: {site: cp}}\n";
    program.rewrite(&hosts, text);
    let found = program.ask("textDocument/diagnostic", &pulled);
    assert_eq!(found["items"][0]["code"], "missing-parameter", "{found}");
    program.end();
}

#[test]
fn files_that_settings_name_are_used_instead_of_those_that_are_found() {
    let repository = Repository::new();
    repository.write("first.json", r#"{"x.x": {"facts": {"site": "cp"}}}"#);
    repository.write("last.json", r#"{"x.x": {"facts": {"site": "ls"}}}"#);
    let files = ["first.json", "last.json"].map(|name| repository.folder.join(name));
    let mut program = Program::start(&repository.folder, &json!({ "nodesFiles": files }), VSCODE);
    let file = uri(&repository.file("data/common.yaml"));
    let port = json!({ "uri": file, "key": "port", "data": true });
    let matrix = program.command("hiera.matrix", &port);
    let answers = matrix["data"]["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 1, "{matrix}");
    // The last file takes precedence.
    assert_eq!(answers[0]["value"], 8080, "{matrix}");
    assert_eq!(answers[0]["nodes"], json!(["x.x"]), "{matrix}");
    program.end();
}

#[test]
fn a_refused_facts_file_is_reported_and_nodes_still_have_answers() {
    let repository = Repository::new();
    repository.write("facts.yaml", "role: web\nname: fred\n");
    let common = repository.file("data/common.yaml");
    let facts = repository.folder.join("facts.yaml");
    let settings = json!({ "factsFile": facts });
    let mut program = Program::start(&repository.folder, &settings, VSCODE);
    let known = program.command("hiera.nodes", &json!({ "uri": uri(&common) }));
    let problem = known["problems"][0].as_str().unwrap();
    assert!(
        problem.contains("facts.yaml") && problem.contains("Cannot reassign variable '$name'"),
        "{known}"
    );
    assert_ne!(known["nodes"], json!([]), "{known}");
    let port = json!({ "uri": uri(&common), "key": "port", "data": true });
    let matrix = program.command("hiera.matrix", &port);
    assert_ne!(matrix["data"]["answers"], json!([]), "{matrix}");
    program.end();
}

#[test]
fn the_selected_node_is_still_selected_after_a_restart() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let state = tempfile::tempdir().unwrap();
    let start =
        |settings: Value| Program::start_again(&repository.folder, &settings, VSCODE, state.path());
    let selected = |program: &mut Program| {
        let known = program.command("hiera.nodes", &json!({ "uri": uri(&common) }));
        known["selected"].clone()
    };
    let kept = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(state.path().join("hiera-ls/nodes"));
        let entries = entries.into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let mut program = start(json!({}));
    assert_eq!(selected(&mut program), Value::Null);
    program.command("hiera.selectNode", &json!({ "certname": "a.x" }));
    program.command("hiera.setFact", &json!({ "path": "site", "value": "cp" }));
    program.end();
    assert_eq!(kept().len(), 1);
    // The next server answers for that node, without the what-if.
    let mut program = start(json!({}));
    assert_eq!(selected(&mut program), "a.x");
    let text = program.open(&common);
    let hover = program.hover(&common, &text, "port").unwrap();
    assert!(
        hover.contains("8080") && hover.contains("for `a.x`"),
        "{hover}"
    );
    program.end();
    // Not if the user has turned it off, at any time.
    let mut program = start(json!({ "rememberNode": false }));
    assert_eq!(selected(&mut program), Value::Null);
    program.end();
    let mut program = start(json!({}));
    assert_eq!(selected(&mut program), "a.x");
    let settings = json!({ "settings": { "hiera-ls": { "rememberNode": false } } });
    program.notify("workspace/didChangeConfiguration", &settings);
    assert_eq!(selected(&mut program), Value::Null);
    program.end();
    // Removing the choice is saved too, and no file is written to the workspace.
    let mut program = start(json!({}));
    program.command("hiera.selectNode", &json!({ "certname": null }));
    program.end();
    assert_eq!(kept(), Vec::<PathBuf>::new());
    let entries = std::fs::read_dir(&repository.folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["environments", "nodes.json"]);
}
