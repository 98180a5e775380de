//! Navigation between places, as an editor requests it.

use std::path::Path;

use serde_json::{Value, json};

use super::VSCODE;
use super::program::{PREVIEWING_CLIENT, Program, uri};

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
    start_as(VSCODE, folder)
}

fn start_as(client: &str, folder: &Path) -> Program {
    for (name, text) in FILES {
        let at = folder.join(name);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    }
    let mut program = Program::start(folder, &json!({}), client);
    program.open(&folder.join("data/common.yaml"));
    program
}

/// The parameters of a request at a place.
pub(super) fn at(file: &Path, line: u32, character: u32) -> Value {
    json!({
        "textDocument": { "uri": uri(file) },
        "position": { "line": line, "character": character },
        "context": { "includeDeclaration": true, "triggerKind": 1, "isRetrigger": false },
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
    // The known node has the value of its role.
    assert_eq!(targets, ["web.yaml:1:0-4", "common.yaml:0:0-4"]);
    assert_eq!(
        shown(&json!("/x"), &links[0]["originSelectionRange"]),
        "x:1:23-27"
    );
    let declared = program.ask("textDocument/declaration", &at(&common, 0, 1));
    assert_eq!(
        locations(&declared),
        ["common.yaml:3:2-6", "hiera.yaml:3:25-36"]
    );
    let references = program.ask("textDocument/references", &at(&common, 0, 1));
    assert_eq!(
        locations(&references),
        [
            "common.yaml:0:0-4",
            "common.yaml:1:23-27",
            "common.yaml:3:2-6",
            "web.yaml:0:16-20",
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

/// The text of a file after the server's edits.
fn edited(text: &str, edits: &Value) -> String {
    let mut text = text.to_owned();
    let mut edits: Vec<&Value> = edits.as_array().unwrap().iter().collect();
    edits.sort_by_key(|edit| {
        let start = &edit["range"]["start"];
        std::cmp::Reverse((start["line"].as_u64(), start["character"].as_u64()))
    });
    for edit in edits {
        let offset = |place: &Value| {
            let (line, character) = (place["line"].as_u64().unwrap(), &place["character"]);
            let lines = text.split_inclusive('\n').take(line as usize);
            let start: usize = lines.map(str::len).sum();
            let line = &text[start..];
            let units = character.as_u64().unwrap() as usize;
            let mut counted = 0;
            let bytes = line.char_indices().find(|(_, letter)| {
                counted += letter.len_utf16();
                counted > units
            });
            start + bytes.map_or(line.len(), |(at, _)| at)
        };
        let range = offset(&edit["range"]["start"])..offset(&edit["range"]["end"]);
        text.replace_range(range, edit["newText"].as_str().unwrap());
    }
    text
}

#[test]
fn a_completion_is_accepted_in_half_typed_text() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().canonicalize().unwrap();
    let mut program = start(&folder);
    let role = folder.join("data/role/web.yaml");
    let text = program.open(&role) + "url: \"%{lookup('po";
    program.rewrite(&role, &text);
    let list = program.ask("textDocument/completion", &at(&role, 2, 18));
    assert_eq!(list["isIncomplete"], false);
    let item = &list["items"][0];
    assert_eq!(item["label"], "port");
    let after = edited(&text, &json!([item["textEdit"]]));
    assert!(after.ends_with("url: \"%{lookup('port')}"), "{after}");
    assert!(
        item.get("documentation").is_none(),
        "made when it is asked for: {item}"
    );
    let resolved = program.ask("completionItem/resolve", item);
    let documentation = resolved["documentation"]["value"].as_str().unwrap();
    assert!(documentation.contains("443"), "{documentation}");
    let facts = program.offered["completionProvider"]["triggerCharacters"].to_string();
    assert!(facts.contains('{'), "{facts}");
    program.end();
}

#[test]
fn completion_documentation_is_markdown_where_supported() {
    for (client, expected) in [
        (
            VSCODE,
            json!({ "kind": "markdown", "value": "how values of several levels are merged and converted" }),
        ),
        (
            PREVIEWING_CLIENT,
            json!("how values of several levels are merged and converted"),
        ),
    ] {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().canonicalize().unwrap();
        let mut program = start_as(client, &folder);
        let common = folder.join("data/common.yaml");
        program.rewrite(&common, "port: 80\nlookup_o");
        let list = program.ask("textDocument/completion", &at(&common, 1, 8));
        assert_eq!(list["items"][0]["documentation"], expected);
        program.end();
    }
}

#[test]
fn a_rename_that_changes_more_than_a_name_needs_confirmation() {
    for client in [PREVIEWING_CLIENT, VSCODE] {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().canonicalize().unwrap();
        let mut program = start_as(client, &folder);
        let common = folder.join("data/common.yaml");
        program.rewrite(
            &common,
            "port: 80\nlookup_options: {'^po': {merge: first}}\n",
        );
        let mut params = at(&common, 0, 2);
        params["newName"] = json!("listen");
        let why = "the pattern '^po' of lookup_options in common.yaml:2 is for 'port'";
        if client == VSCODE {
            // This client does not support confirmations.
            let refused = program.ask_for_error("textDocument/rename", &params);
            assert!(refused.starts_with(why), "{refused}");
            assert!(
                refused.ends_with("cannot ask for confirmation, so nothing is renamed"),
                "{refused}"
            );
        } else {
            let edit = program.ask("textDocument/rename", &params);
            let notes = edit["changeAnnotations"].as_object().unwrap();
            let (id, note) = notes.iter().next().unwrap();
            assert_eq!(note["needsConfirmation"], true);
            assert!(note["label"].as_str().unwrap().starts_with(why), "{note}");
            for document in edit["documentChanges"].as_array().unwrap() {
                let edits = document["edits"].as_array().unwrap();
                assert!(
                    edits.iter().all(|edit| edit["annotationId"] == **id),
                    "{edits:?}"
                );
            }
        }
        program.end();
    }
}

#[test]
fn an_editor_that_cannot_ask_renames_a_parameter_and_tells_what_stays() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().canonicalize().unwrap();
    let class = folder.join("modules/web/manifests/init.pp");
    std::fs::create_dir_all(class.parent().unwrap()).unwrap();
    std::fs::write(&class, "class web(Integer $port) { notice($port) }\n").unwrap();
    let mut program = start(&folder);
    let common = folder.join("data/common.yaml");
    program.rewrite(&common, "web::port: 80\n");
    let mut params = at(&common, 0, 2);
    params["newName"] = json!("web::listen");
    let edit = program.ask("textDocument/rename", &params);
    assert!(edit["changeAnnotations"].is_null(), "{edit}");
    for file in [&common, &class] {
        assert!(edit.to_string().contains(&uri(file)), "{edit}");
    }
    let told = program.wait("what stays", |message| {
        message["method"] == "window/showMessage"
    });
    let told = told["params"]["message"].as_str().unwrap();
    assert!(
        told.starts_with("renames the parameter $port of the class web in Puppet code too"),
        "{told}"
    );
    program.end();
}

#[test]
fn a_rename_covers_all_files_or_is_refused_with_a_reason() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().canonicalize().unwrap();
    let mut program = start(&folder);
    let (common, role) = (
        folder.join("data/common.yaml"),
        folder.join("data/role/web.yaml"),
    );
    let prepared = program.ask("textDocument/prepareRename", &at(&common, 0, 2));
    assert_eq!(prepared["placeholder"], "port");
    let mut params = at(&common, 0, 2);
    params["newName"] = json!("listen");
    let edit = program.ask("textDocument/rename", &params);
    for (file, wanted) in [
        (
            &common,
            "listen: 80\nurl: \"http://%{lookup('listen')}\"\nlookup_options:\n  listen: {merge: first}\n",
        ),
        (&role, "ä: 'ü %{lookup(\"listen\")}'\nlisten: 443\n"),
    ] {
        let text = std::fs::read_to_string(file).unwrap();
        assert_eq!(edited(&text, &edit["changes"][uri(file)]), wanted);
    }
    params["newName"] = json!("url");
    let id = program.begin("textDocument/rename", &params);
    let refused = program.wait("a refusal", |message| message["id"] == id);
    assert_eq!(refused["error"]["code"], -32803);
    assert_eq!(
        refused["error"]["message"],
        "'url' is already set, in common.yaml:2"
    );
    let moved = json!({ "files": [{
        "oldUri": uri(&common), "newUri": uri(&folder.join("data/base.yaml")),
    }] });
    let edit = program.ask("workspace/willRenameFiles", &moved);
    let config = folder.join("hiera.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    let after = edited(&text, &edit["changes"][uri(&config)]);
    assert!(after.contains("{name: Common, path: base.yaml}"), "{after}");
    program.end();
}

#[test]
fn tokens_folds_and_selections_of_a_document() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().canonicalize().unwrap();
    let mut program = start(&folder);
    let common = folder.join("data/common.yaml");
    let text = std::fs::read_to_string(&common).unwrap();
    let document = json!({ "textDocument": { "uri": uri(&common) } });
    let full = program.ask("textDocument/semanticTokens/full", &document);
    let data: Vec<u64> = numbers(&full["data"]);
    // `port`, a key that is defined in the first line.
    assert_eq!(data[..5], [0, 0, 4, 0, 1]);
    program.rewrite(&common, &format!("new: 1\n{text}"));
    let mut params = document.clone();
    params["previousResultId"] = full["resultId"].clone();
    let delta = program.ask("textDocument/semanticTokens/full/delta", &params);
    let mut patched = data.clone();
    for edit in delta["edits"].as_array().unwrap() {
        let start = edit["start"].as_u64().unwrap() as usize;
        let removed = edit["deleteCount"].as_u64().unwrap() as usize;
        patched.splice(start..start + removed, numbers(&edit["data"]));
    }
    let whole = program.ask("textDocument/semanticTokens/full", &document);
    assert_eq!(patched, numbers(&whole["data"]));
    let mut params = document.clone();
    let place = |line: u32| json!({ "line": line, "character": 0 });
    params["range"] = json!({ "start": place(0), "end": place(0) });
    let first = program.ask("textDocument/semanticTokens/range", &params);
    assert_eq!(numbers(&first["data"]), [0, 0, 3, 0, 1]);
    let folds = program.ask("textDocument/foldingRange", &document);
    assert_eq!(folds, json!([{ "startLine": 3, "endLine": 4 }]));
    let mut params = document.clone();
    params["positions"] = json!([{ "line": 2, "character": 24 }]);
    let selections = program.ask("textDocument/selectionRange", &params);
    assert_eq!(selections[0]["range"]["start"]["character"], 23);
    assert!(selections[0]["parent"]["parent"].is_object());
    let help = program.ask("textDocument/signatureHelp", &at(&common, 2, 24));
    assert_eq!(help["signatures"][0]["label"], "lookup('key')");
    program.end();
}

fn numbers(data: &Value) -> Vec<u64> {
    data.as_array()
        .unwrap()
        .iter()
        .map(|number| number.as_u64().unwrap())
        .collect()
}
