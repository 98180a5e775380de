//! Lenses and hints, and the calls between keys.

use std::path::Path;

use expect_test::expect;
use serde_json::{Value, json};

use super::VSCODE;
use super::commands::{COMMON, Repository};
use super::program::{Program, uri};

#[test]
fn the_impact_of_a_large_edit_is_computed_when_the_lens_is_resolved() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let more: String = (0..30).map(|at| format!("key{at}: 1\n")).collect();
    repository.write(
        "environments/production/data/common.yaml",
        &format!("{COMMON}{more}"),
    );
    let mut program = repository.start_with_lenses();
    let text = program.open(&common);
    let edited = text
        .replace(": 1\n", ": 2\n")
        .replace("port: 80", "port: 82");
    program.rewrite(&common, &edited);
    let params = json!({ "textDocument": { "uri": uri(&common) } });
    let found = program.ask("textDocument/codeLens", &params);
    let open: Vec<&Value> = found.as_array().unwrap().iter().collect();
    let open: Vec<&Value> = open
        .into_iter()
        .filter(|lens| lens["command"].is_null())
        .collect();
    assert_eq!(open.len(), 1, "{found}");
    let resolved = program.ask("codeLens/resolve", open[0]);
    assert_eq!(
        resolved["command"]["title"],
        "unsaved: changes 33 keys for 4 of 4 nodes"
    );
    assert_eq!(resolved["command"]["command"], "hiera.impact");
    // A complete lens is returned unchanged.
    let whole = found.as_array().unwrap().last().unwrap();
    assert_eq!(program.ask("codeLens/resolve", whole), *whole);
    program.end();
}

/// Lenses as lines: their line, title, command and arguments.
fn lenses(program: &mut Program, file: &Path) -> Vec<String> {
    let params = json!({ "textDocument": { "uri": uri(file) } });
    let found = program.ask("textDocument/codeLens", &params);
    let mut lines = Vec::new();
    for lens in found.as_array().unwrap() {
        let command = &lens["command"];
        let argument = &command["arguments"][0];
        assert_eq!(argument["uri"], uri(file));
        let offered = program.offered["executeCommandProvider"]["commands"].as_array();
        assert!(offered.unwrap().contains(&command["command"]));
        lines.push(format!(
            "{} {} ({} {})",
            lens["range"]["start"]["line"],
            command["title"].as_str().unwrap(),
            command["command"].as_str().unwrap(),
            argument["key"].as_str().unwrap_or_default()
        ));
        // A click shows a document or a sentence.
        let answer = program.command(command["command"].as_str().unwrap(), argument);
        assert!(answer["content"].is_string() || answer["message"].is_string());
        if command["command"] == "hiera.uses" {
            let count = command["title"].as_str().unwrap();
            let content = answer["content"].as_str().unwrap();
            assert!(
                content.lines().next().unwrap().ends_with(count),
                "{content}"
            );
        }
    }
    lines
}

#[test]
fn lenses_count_other_levels_uses_and_changes_of_an_edit() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let mut program = repository.start_with_lenses();
    let text = program.open(&common);
    let before = [
        "0 also set in 2 files of higher levels (hiera.matrix port)",
        "0 1 use (hiera.uses port)",
        "2 1 use (hiera.uses host)",
        "3 also set in 1 file of higher levels (hiera.matrix users)",
    ];
    assert_eq!(lenses(&mut program, &common), before);
    program.rewrite(&common, &text.replace("port: 80", "port: 82"));
    expect![[r#"
        0 unsaved: changes 2 keys for 2 of 4 nodes (hiera.impact )
        0 also set in 2 files of higher levels (hiera.matrix port)
        0 1 use (hiera.uses port)
        0 changes 2 of 4 nodes (hiera.impact )
        1 changes 2 of 4 nodes (hiera.impact )
        2 1 use (hiera.uses host)
        3 also set in 1 file of higher levels (hiera.matrix users)"#]]
    .assert_eq(&lenses(&mut program, &common).join("\n"));
    // A reverted edit is no edit; an unparsable text has no lens of its own.
    program.rewrite(&common, &text);
    assert_eq!(lenses(&mut program, &common), before);
    program.rewrite(&common, &format!("{text}half: [\"\n"));
    let broken = lenses(&mut program, &common);
    assert!(
        broken.iter().all(|lens| !lens.contains("hiera.impact")),
        "{broken:?}"
    );
    program.end();

    for (setting, gone) in [
        ("overrides", "matrix"),
        ("uses", "uses"),
        ("impact", "impact"),
    ] {
        let mut shown = json!({ "overrides": true, "uses": true, "impact": true });
        shown[setting] = Value::Bool(false);
        let settings = json!({ "codeLens": shown });
        let mut program = Program::start(&repository.folder, &settings, VSCODE);
        let text = program.open(&common);
        program.rewrite(&common, &text.replace("port: 80", "port: 82"));
        let left = lenses(&mut program, &common).join("\n");
        for kind in ["matrix", "uses", "impact"] {
            assert_eq!(
                left.contains(&format!("hiera.{kind}")),
                kind != gone,
                "{left}"
            );
        }
        program.end();
    }
}

/// Hints as lines: their position, label, and the line of another file that they link to.
fn hints(program: &mut Program, file: &Path) -> Vec<String> {
    let all = json!({
        "start": { "line": 0, "character": 0 }, "end": { "line": 100, "character": 0 },
    });
    let params = json!({ "textDocument": { "uri": uri(file) }, "range": all });
    let found = program.ask("textDocument/inlayHint", &params);
    let hints = found.as_array().unwrap().iter().map(|hint| {
        let (label, location) = match hint["label"].as_str() {
            Some(label) => (label.to_owned(), String::new()),
            None => {
                let part = &hint["label"][0];
                let target = part["location"]["uri"].as_str().unwrap();
                let name = target.rsplit('/').next().unwrap();
                let label = part["value"].as_str().unwrap().to_owned();
                (
                    label,
                    format!(" -> {name}:{}", part["location"]["range"]["start"]["line"]),
                )
            }
        };
        let at = &hint["position"];
        format!("{}:{} {label}{location}", at["line"], at["character"])
    });
    hints.collect()
}

#[test]
fn hints_are_for_the_selected_node_and_can_be_turned_off() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let mut program = repository.start_with_lenses();
    program.open(&common);
    expect![[r#"
        0:8 ↑ 2/4 site/ls.yaml:1 +1 -> ls.yaml:0
        1:30 = example.com"#]]
    .assert_eq(&hints(&mut program, &common).join("\n"));
    program.command("hiera.selectNode", &json!({ "certname": "a.x" }));
    let selected = [
        "0:8 ↑ site/ls.yaml:1 -> ls.yaml:0",
        "1:30 = example.com",
        "1:48 = 8080",
        "3:6 merged from 2 levels",
    ];
    assert_eq!(hints(&mut program, &common), selected);
    // The client is asked to refresh, since it cannot know.
    for method in ["workspace/codeLens/refresh", "workspace/inlayHint/refresh"] {
        let request = program.wait(method, |message| message["method"] == method);
        program.reply(&request["id"]);
    }
    program.end();
    let dead = repository.file("data/site/ls.yaml");
    repository.write("environments/production/data/node/a.x.yaml", "port: 1\n");
    for (setting, gone) in [
        ("overridden", "↑"),
        ("neverUsed", "↑"),
        ("merged", "merged from"),
        ("tokenValues", "example.com"),
    ] {
        let mut shown = json!({ "merged": true });
        shown[setting] = Value::Bool(false);
        let settings = json!({ "inlayHints": shown });
        let mut program = Program::start(&repository.folder, &settings, VSCODE);
        program.command("hiera.selectNode", &json!({ "certname": "c.x" }));
        program.open(&common);
        program.open(&dead);
        let found = hints(&mut program, &common).join("\n");
        let is_of_dead = setting == "neverUsed" || setting == "overridden";
        if !is_of_dead {
            assert!(!found.contains(gone), "{setting}: {found}");
        }
        program.command("hiera.selectNode", &json!({ "certname": null }));
        let found = hints(&mut program, &dead).join("\n");
        let never = "↑ node/a.x.yaml:1";
        assert_eq!(
            found.contains(never),
            setting != "neverUsed",
            "{setting}: {found}"
        );
        program.end();
    }
}

#[test]
fn calls_lead_from_key_to_key() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let mut program = repository.start();
    let place = json!({
        "textDocument": { "uri": uri(&common) }, "position": { "line": 1, "character": 10 },
    });
    let url = program.ask("textDocument/prepareCallHierarchy", &place)[0].clone();
    assert_eq!(
        (&url["name"], &url["detail"]),
        (&json!("url"), &json!("common.yaml"))
    );
    let called = program.ask("callHierarchy/outgoingCalls", &json!({ "item": url }));
    let places = |calls: &Value, end: &str| -> Vec<String> {
        let calls = calls.as_array().unwrap().iter();
        let calls = calls.map(|call| {
            let item = &call[end];
            let file = item["uri"].as_str().unwrap();
            let file = file.strip_prefix(&uri(&repository.folder)).unwrap();
            format!(
                "{} {file} {}",
                item["name"].as_str().unwrap(),
                call["fromRanges"][0]["start"]
            )
        });
        calls.collect()
    };
    expect![[r#"
        host /environments/production/data/common.yaml {"line":1,"character":13}
        host /environments/staging/data/common.yaml {"line":1,"character":13}
        port /environments/production/data/common.yaml {"line":1,"character":31}
        port /environments/production/data/node/c.x.yaml {"line":1,"character":31}
        port /environments/production/data/site/ls.yaml {"line":1,"character":31}
        port /environments/staging/data/common.yaml {"line":1,"character":31}
        port /environments/staging/data/site/cp.yaml {"line":1,"character":31}
        port /environments/staging/data/site/ls.yaml {"line":1,"character":31}"#]]
    .assert_eq(&places(&called, "to").join("\n"));
    let port = &called[2]["to"];
    let callers = program.ask("callHierarchy/incomingCalls", &json!({ "item": port }));
    expect![[r#"
        url /environments/production/data/common.yaml {"line":1,"character":31}
        url /environments/staging/data/common.yaml {"line":1,"character":31}"#]]
    .assert_eq(&places(&callers, "from").join("\n"));
    program.end();
}
