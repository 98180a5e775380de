//! Fixes of findings as an editor requests them, and the links to the rules' pages.

use serde_json::{Value, json};

use super::VSCODE;
use super::commands::Repository;
use super::program::{PLAIN_CLIENT, PREVIEWING_CLIENT, Program, uri};

const TEXT: &str = "\
a: \"%{Lookup('b')}\"
b: :symbol
c: \"%{lookup('b')}\"
lookup_options:
  a: deep
";

fn actions(program: &mut Program, file: &std::path::Path, line: u32, only: &Value) -> Value {
    actions_at(program, file, (line, 5), only)
}

fn actions_at(
    program: &mut Program,
    file: &std::path::Path,
    (line, character): (u32, u32),
    only: &Value,
) -> Value {
    let at = json!({ "line": line, "character": character });
    program.ask(
        "textDocument/codeAction",
        &json!({
            "textDocument": { "uri": uri(file) },
            "range": { "start": at, "end": at },
            "context": { "diagnostics": [], "only": only },
        }),
    )
}

#[test]
fn every_fix_is_one_edit_away() {
    let repository = Repository::new();
    let file = repository.file("data/fixes.yaml");
    repository.write(
        "environments/production/hiera.yaml",
        "version: 5\nhierarchy: [{name: fixes, path: fixes.yaml}]\n",
    );
    repository.write("environments/production/data/fixes.yaml", TEXT);
    let mut program = Program::start(&repository.folder, &json!({}), VSCODE);
    let mut text = program.open(&file);
    let offered = [
        (0, "unknown-interpolation-function", "Call 'lookup'"),
        (1, "symbol-value", "Quote it"),
        (4, "lookup-options-bare-value", "Write {merge: deep}"),
    ];
    for (line, code, title) in offered {
        let found = actions(&mut program, &file, line, &json!(["quickfix"]));
        let [action] = &found.as_array().unwrap()[..] else {
            panic!("line {line}: {found}");
        };
        assert_eq!(action["title"], title);
        assert_eq!(action["kind"], "quickfix");
        assert_eq!(action["isPreferred"], true);
        let diagnostic = &action["diagnostics"][0];
        assert_eq!(diagnostic["code"], code);
        assert_eq!(
            diagnostic["codeDescription"]["href"],
            format!("hiera-ls:/rules/{code}.md")
        );
        let edits = action["edit"]["changes"][uri(&file)].as_array().unwrap();
        text = edited(&text, &edits[0]);
        program.rewrite(&file, &text);
        let left = actions(&mut program, &file, line, &json!(["quickfix"]));
        assert_eq!(left, json!([]));
    }
    assert_eq!(
        text,
        TEXT.replace("Lookup", "lookup")
            .replace(":symbol", "\":symbol\"")
            .replace("deep", "{merge: deep}")
    );
    let other = actions(&mut program, &file, 0, &json!(["source.organizeImports"]));
    assert_eq!(other, Value::Null);
    program.end();
}

#[test]
fn all_safe_fixes_of_a_file_are_one_action() {
    let repository = Repository::new();
    let file = repository.file("data/fixes.yaml");
    repository.write(
        "environments/production/hiera.yaml",
        "version: 5\nhierarchy: [{name: fixes, path: fixes.yaml}]\n",
    );
    repository.write("environments/production/data/fixes.yaml", TEXT);
    let mut program = Program::start(&repository.folder, &json!({}), VSCODE);
    let mut text = program.open(&file);
    for only in ["source.fixAll.hiera-ls", "source.fixAll", "source"] {
        let found = actions(&mut program, &file, 2, &json!([only]));
        let [action] = &found.as_array().unwrap()[..] else {
            panic!("{only}: {found}");
        };
        assert_eq!(action["kind"], "source.fixAll.hiera-ls");
        let edits = action["edit"]["changes"][uri(&file)].as_array().unwrap();
        assert_eq!(edits.len(), 3, "{edits:?}");
        text = edits
            .iter()
            .rev()
            .fold(TEXT.to_owned(), |text, edit| edited(&text, edit));
    }
    program.rewrite(&file, &text);
    let none = actions(&mut program, &file, 2, &json!(["source.fixAll.hiera-ls"]));
    assert_eq!(none, json!([]));
    program.end();
}

/// The text after an edit within one line.
#[test]
fn a_fix_after_which_there_are_more_errors_is_not_offered() {
    let repository = Repository::new();
    let file = repository.file("data/fixes.yaml");
    let write = |name: &str, text: &str| {
        repository.write(&format!("environments/production/{name}"), text);
    };
    write(
        "hiera.yaml",
        "version: 5\nhierarchy: [{name: fixes, paths: [high.yaml, fixes.yaml]}]\n",
    );
    write("data/high.yaml", "a: [2]\nb: [2]\n");
    write(
        "data/fixes.yaml",
        "a: [1]\nb: [1]\nlookup_options:\n  a: hash\n  b: unique\n",
    );
    let mut program = Program::start(&repository.folder, &json!({}), VSCODE);
    program.open(&file);
    let mut titles = |line| {
        let found = actions(&mut program, &file, line, &json!(["quickfix"]));
        let found = found.as_array().unwrap().iter();
        let titles = found.map(|action| action["title"].as_str().unwrap().to_owned());
        titles.collect::<Vec<_>>()
    };
    // Puppet cannot merge arrays as hashes.
    assert_eq!(titles(3), Vec::<String>::new());
    assert_eq!(titles(4), ["Write {merge: unique}"]);
}

fn edited(text: &str, edit: &Value) -> String {
    let at = |end: &str| {
        let place = &edit["range"][end];
        let number = |name: &str| usize::try_from(place[name].as_u64().unwrap()).unwrap();
        let lines = text.split_inclusive('\n').take(number("line"));
        lines.map(str::len).sum::<usize>() + number("character")
    };
    let (start, end) = (at("start"), at("end"));
    let new = edit["newText"].as_str().unwrap();
    format!("{}{new}{}", &text[..start], &text[end..])
}

#[test]
fn a_page_that_the_client_cannot_open_is_no_link() {
    let repository = Repository::new();
    let file = repository.file("data/fixes.yaml");
    repository.write(
        "environments/production/hiera.yaml",
        "version: 5\nhierarchy: [{name: fixes, path: fixes.yaml}]\n",
    );
    repository.write("environments/production/data/fixes.yaml", TEXT);
    let mut program = Program::start(&repository.folder, &json!({}), PLAIN_CLIENT);
    program.open(&file);
    let found = actions(&mut program, &file, 0, &Value::Null);
    let diagnostic = &found[0]["diagnostics"][0];
    assert_eq!(diagnostic["code"], "unknown-interpolation-function");
    assert_eq!(diagnostic["codeDescription"], Value::Null);
    program.end();
}

/// A certificate in the workspace, and a level that decrypts values encrypted for it.
#[test]
fn a_secret_is_encrypted_for_the_certificate_of_its_level() {
    const CONFIGURATION: &str = "version: 5\nhierarchy:\n  - name: Secrets\n    lookup_key: eyaml_lookup_key\n    \
                                 path: secrets.eyaml\n    options: {pkcs7_public_key: keys/team.pem}\n  - \
                                 {name: Open, path: open.yaml}\n";
    let repository = Repository::new();
    let folder = "environments/production";
    let certificate = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/test-only-keys/test-only-public_key.pkcs7.pem"
    );
    repository.write(&format!("{folder}/hiera.yaml"), CONFIGURATION);
    repository.write(
        &format!("{folder}/data/secrets.eyaml"),
        "password: Qz71nVbe\nuser: \"a shop\"\nmark: DEC::PKCS7[x]!\n",
    );
    repository.write(
        &format!("{folder}/data/open.yaml"),
        "open_password: Qz71nVbe\n",
    );
    repository.write(
        &format!("{folder}/keys/team.pem"),
        &std::fs::read_to_string(certificate).unwrap(),
    );
    let file = repository.file("data/secrets.eyaml");
    let mut program = Program::start(&repository.folder, &json!({}), VSCODE);
    let text = program.open(&file);
    for (line, only, kind, diagnostic) in [
        (0, "quickfix", "quickfix", json!("plain-secret")),
        (2, "quickfix", "quickfix", json!("dec-not-encrypted")),
        (1, "refactor", "refactor.rewrite", Value::Null),
    ] {
        let found = actions_at(&mut program, &file, (line, 12), &json!([only]));
        let [action] = &found.as_array().unwrap()[..] else {
            panic!("line {line}: {found}");
        };
        assert_eq!(action["title"], "Encrypt it for team.pem");
        assert_eq!(action["kind"], kind);
        assert_eq!(action["diagnostics"][0]["code"], diagnostic);
        let edits = action["edit"]["changes"][uri(&file)].as_array().unwrap();
        let after = edited(&text, &edits[0]);
        let after = after.lines().nth(line as usize).unwrap();
        assert!(
            after.contains(": ENC[PKCS7,MII") && after.ends_with(']'),
            "{after}"
        );
    }
    assert_eq!(
        actions_at(&mut program, &file, (1, 7), &json!(["quickfix"])),
        json!([])
    );
    let open = repository.file("data/open.yaml");
    program.open(&open);
    assert_eq!(
        actions_at(&mut program, &open, (0, 17), &json!(["quickfix"])),
        json!([])
    );
    program.end();
}

/// A role's file with a key of its own, and one below it.
fn with_roles() -> (Repository, std::path::PathBuf) {
    let repository = Repository::new();
    let folder = "environments/production";
    let hierarchy = "version: 5\nhierarchy:\n- {name: Role, path: 'role/%{role}.yaml'}\n- {name: All, path: all.yaml}\n";
    repository.write(&format!("{folder}/hiera.yaml"), hierarchy);
    repository.write(
        &format!("{folder}/data/role/web.yaml"),
        "a: 1  # why\nb: 2\n",
    );
    repository.write(&format!("{folder}/data/all.yaml"), "c: 3\n");
    let file = repository.file("data/role/web.yaml");
    (repository, file)
}

#[test]
fn a_refactoring_is_offered_with_what_it_changes() {
    let (repository, file) = with_roles();
    let mut program = Program::start(&repository.folder, &json!({}), VSCODE);
    program.open(&file);
    let found = actions_at(&mut program, &file, (0, 0), &json!(["refactor.move"]));
    let title = found[0]["title"].as_str().unwrap();
    let begins = "Move 'a' down to environments/production/data/all.yaml (";
    assert!(title.starts_with(begins), "{title}");
    assert!(title.contains("change"), "{title}");
    let edits = found[0]["edit"]["changes"].as_object().unwrap();
    assert_eq!(edits.len(), 2);
    program.end();
}

#[test]
fn a_refactoring_is_worked_out_when_it_is_chosen_and_asks_before_values_change() {
    let (repository, file) = with_roles();
    let mut program = Program::start(&repository.folder, &json!({}), PREVIEWING_CLIENT);
    program.open(&file);
    let found = actions_at(&mut program, &file, (0, 0), &json!(["refactor.move"]));
    assert_eq!(
        found[0]["title"],
        "Move 'a' down to environments/production/data/all.yaml"
    );
    assert_eq!(found[0]["edit"], Value::Null);
    let chosen = program.ask("codeAction/resolve", &found[0]);
    let note = &chosen["edit"]["changeAnnotations"]["values"];
    assert_eq!(note["needsConfirmation"], true, "{chosen:#}");
    assert!(note["label"].as_str().unwrap().contains("change"), "{note}");
    let documents = chosen["edit"]["documentChanges"].as_array().unwrap();
    assert_eq!(documents.len(), 2);
    assert_eq!(documents[0]["edits"][0]["annotationId"], "values");
    // The file has changed.
    program.rewrite(&file, "b: 2\n");
    let gone = program.ask_for_error("codeAction/resolve", &found[0]);
    assert!(gone.contains("the file has changed"), "{gone}");
    program.end();
}

#[test]
fn edits_by_goal_come_with_their_proof() {
    let (repository, file) = with_roles();
    let nodes = r#"{"w1": {"variables": {"role": "web"}}, "d1": {"variables": {"role": "db"}}}"#;
    repository.write("environments/production/nodes.json", nodes);
    repository.write("nodes.json", nodes);
    let mut program = Program::start(&repository.folder, &json!({}), PREVIEWING_CLIENT);
    let arguments = json!({ "uri": uri(&file), "key": "c", "value": [1, "x"], "for": "role=web", "only": true });
    let answer = program.command("hiera.setValue", &arguments);
    let first = &answer["proposals"][0];
    assert_eq!(first["nodes"], json!(["w1"]), "{answer:#}");
    assert_eq!(first["others"], json!([]));
    let edits = &first["edit"]["documentChanges"][0];
    assert_eq!(edits["textDocument"]["uri"], uri(&file));
    assert_eq!(edits["edits"][0]["newText"], "c:\n- 1\n- x\n");
    assert_eq!(edits["edits"][0]["annotationId"], "values");
    let note = &first["edit"]["changeAnnotations"]["values"];
    assert_eq!(note["label"], first["proof"]);
    assert_eq!(note["needsConfirmation"], true);
    let new = json!({ "uri": uri(&file), "key": "c", "value": 5, "for": "role=db", "only": true });
    let answer = program.command("hiera.setValue", &new);
    let changes = &answer["proposals"][0]["edit"]["documentChanges"];
    assert_eq!(changes[0]["kind"], "create", "{answer:#}");
    assert_eq!(changes[0]["annotationId"], "values");
    assert_eq!(changes[1]["edits"][0]["annotationId"], "values");
    let why = json!({ "uri": uri(&file), "key": "a", "value": 5, "node": "w1" });
    let why = program.command("hiera.whyNot", &why);
    assert_eq!(why["has_it"], false);
    assert_eq!(why["levels"][0]["in_the_way"], true);
    // The key under the cursor, and a value as it is typed.
    let start = json!({ "line": 0, "character": 0 });
    let typed = json!({ "uri": uri(&file), "position": start, "yaml": "[1, 'x']", "node": "w1" });
    let why = program.command("hiera.whyNot", &typed);
    let title = why["title"].as_str().unwrap();
    assert_eq!(title, "Why w1 does not get a value of a");
    let first = why["content"].as_str().unwrap().lines().next().unwrap();
    assert!(
        first.starts_with("a — ") && first.ends_with(" for w1"),
        "{first}"
    );
    let now = why["gets"]["value"].clone();
    let same = json!({ "uri": uri(&file), "position": start, "value": now, "for": "w1" });
    let answer = program.command("hiera.setValue", &same);
    assert_eq!(
        answer["message"],
        "these nodes already get this value of 'a'"
    );
    program.end();
}

#[test]
fn all_safe_fixes_of_a_file_include_those_that_another_fix_makes_room_for() {
    let repository = Repository::new();
    let file = repository.file("data/fixes.yaml");
    repository.write(
        "environments/production/hiera.yaml",
        "version: 5\nhierarchy: [{name: fixes, path: fixes.yaml}]\n",
    );
    // Before its mode can be quoted, the file's token must be quoted so that the file can be
    // parsed.
    let text = "a: %{facts.os.family}\nb: 0644\n";
    repository.write("environments/production/data/fixes.yaml", text);
    let mut program = Program::start(&repository.folder, &json!({}), VSCODE);
    let text = program.open(&file);
    let found = actions(&mut program, &file, 0, &json!(["source.fixAll.hiera-ls"]));
    let edits = found[0]["edit"]["changes"][uri(&file)].as_array().unwrap();
    let fixed = edits
        .iter()
        .rev()
        .fold(text, |text, edit| edited(&text, edit));
    assert_eq!(fixed, "a: \"%{facts.os.family}\"\nb: \"0644\"\n");
    program.end();
}
