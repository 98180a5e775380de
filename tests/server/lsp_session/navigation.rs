//! From one place to others, as an editor asks for it.

use std::path::Path;

use serde_json::{Value, json};

use super::VSCODE;
use super::program::{Program, uri};

const FILES: [(&str, &str); 4] = [
    (
        "hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: Role, path: \"role/%{facts.role}.yaml\"}\n  \
         - {name: Common, path: common.yaml}\n",
    ),
    (
        "data/role/web.yaml",
        "ä: 'ü %{lookup(\"port\")}'\nport: 443\n",
    ),
    (
        "data/common.yaml",
        "port: 80\nurl: \"http://%{lookup('port')}\"\nlookup_options:\n  port: {merge: first}\n",
    ),
    ("nodes.json", "{\"n\": {\"facts\": {\"role\": \"web\"}}}\n"),
];

/// A server on a small control repository.
pub(super) fn start(folder: &Path) -> Program {
    for (name, text) in FILES {
        let at = folder.join(name);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    }
    let mut program = Program::start(folder, &json!({}), VSCODE);
    program.open(&folder.join("data/common.yaml"));
    program
}

/// The parameters of a request at a place.
pub(super) fn at(file: &Path, line: u32, character: u32) -> Value {
    json!({
        "textDocument": { "uri": uri(file) },
        "position": { "line": line, "character": character },
        "context": { "includeDeclaration": true },
    })
}

/// `NAME:LINE:CHARACTER-CHARACTER` of a place.
fn shown(uri: &Value, range: &Value) -> String {
    let name = uri.as_str().unwrap().rsplit('/').next().unwrap();
    let (start, end) = (&range["start"], &range["end"]);
    format!(
        "{name}:{}:{}-{}",
        start["line"], start["character"], end["character"]
    )
}

fn locations(found: &Value) -> Vec<String> {
    let found = found.as_array().unwrap().iter();
    found.map(|one| shown(&one["uri"], &one["range"])).collect()
}

#[test]
fn from_a_token_to_the_levels_and_back() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().canonicalize().unwrap();
    let mut program = start(&folder);
    let common = folder.join("data/common.yaml");
    for capability in [
        "definition",
        "declaration",
        "references",
        "documentHighlight",
    ] {
        assert_eq!(
            program.offered[format!("{capability}Provider")],
            true,
            "{capability}"
        );
    }
    let links = program.ask("textDocument/definition", &at(&common, 1, 24));
    let links = links.as_array().unwrap();
    let targets: Vec<String> = links
        .iter()
        .map(|link| shown(&link["targetUri"], &link["targetSelectionRange"]))
        .collect();
    assert_eq!(targets, ["common.yaml:0:0-4", "web.yaml:1:0-4"]);
    assert_eq!(
        shown(&json!("/x"), &links[0]["originSelectionRange"]),
        "x:1:23-27"
    );
    let declared = program.ask("textDocument/declaration", &at(&common, 0, 1));
    assert_eq!(
        locations(&declared),
        ["common.yaml:3:2-6", "hiera.yaml:3:26-37"]
    );
    let references = program.ask("textDocument/references", &at(&common, 0, 1));
    assert_eq!(
        locations(&references),
        [
            "common.yaml:0:0-4",
            "common.yaml:1:23-27",
            "common.yaml:3:2-6",
            "web.yaml:0:15-19",
            "web.yaml:1:0-4"
        ]
    );
    let highlights = program.ask("textDocument/documentHighlight", &at(&common, 0, 1));
    let kinds: Vec<&Value> = highlights
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["kind"])
        .collect();
    assert_eq!(kinds, [3, 2, 1]);
    let nothing = program.ask("textDocument/documentHighlight", &at(&common, 0, 7));
    assert_eq!(nothing, Value::Null);
    program.end();
}

#[test]
fn from_hiera_yaml_to_files_and_facts() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().canonicalize().unwrap();
    let mut program = start(&folder);
    let config = folder.join("hiera.yaml");
    program.open(&config);
    let links = program.ask(
        "textDocument/documentLink",
        &json!({ "textDocument": { "uri": uri(&config) } }),
    );
    let targets: Vec<&str> = links
        .as_array()
        .unwrap()
        .iter()
        .map(|link| link["target"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    assert_eq!(targets, ["web.yaml", "common.yaml"]);
    let facts = program.ask("textDocument/definition", &at(&config, 2, 36));
    let fact = &facts[0];
    assert_eq!(
        shown(&fact["targetUri"], &fact["targetSelectionRange"]),
        "nodes.json:0:17-23"
    );
    program.end();
}
