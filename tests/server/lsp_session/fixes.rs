//! Fixes of findings as an editor asks for them, and the links to the rules' pages.

use serde_json::{Value, json};

use super::VSCODE;
use super::commands::Repository;
use super::program::{PLAIN_CLIENT, Program, uri};

const TEXT: &str = "\
a: \"%{Lookup('b')}\"
b: :symbol
c: \"%{lookup('b')}\"
lookup_options:
  a: deep
";

fn actions(program: &mut Program, file: &std::path::Path, line: u32, only: &Value) -> Value {
    let at = json!({ "line": line, "character": 5 });
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
        assert_eq!(actions(&mut program, &file, line, &Value::Null), json!([]));
    }
    assert_eq!(
        text,
        TEXT.replace("Lookup", "lookup")
            .replace(":symbol", "\":symbol\"")
            .replace("deep", "{merge: deep}")
    );
    let other = actions(&mut program, &file, 0, &json!(["refactor"]));
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
