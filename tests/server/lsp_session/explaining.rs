//! Notes about overridden facts, and the explanation for people.

use std::process::Command;

use expect_test::expect;
use serde_json::{Value, json};

use super::commands::Repository;
use super::program::uri;

#[test]
fn answers_list_overridden_facts_until_they_are_reset() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let mut program = repository.start();
    let text = program.open(&common);
    let here = json!({ "uri": uri(&common) });
    program.command("hiera.selectNode", &json!({ "certname": "a.x" }));
    program.command("hiera.setFact", &json!({ "path": "site", "value": "cp" }));
    let hover = program.hover(&common, &text, "port").unwrap();
    assert!(hover.contains("what if: `site = cp`"), "{hover}");
    let arguments = json!({ "uri": uri(&common), "key": "port", "value": 1, "node": "a.x" });
    let why = program.command("hiera.whyNot", &arguments);
    let content = why["content"].as_str().unwrap();
    assert!(
        content.starts_with("what if: site = cp\nport — "),
        "{content}"
    );
    assert_eq!(why["whatIf"], "site = cp");
    let arguments = json!({ "uri": uri(&common), "key": "port", "value": 1, "for": "a.x" });
    let set = program.command("hiera.setValue", &arguments);
    let proof = set["proposals"][0]["proof"].as_str().unwrap();
    assert!(proof.ends_with("(what if: site = cp)"), "{proof}");
    for command in ["hiera.value", "hiera.matrix", "hiera.explain"] {
        let arguments = json!({ "uri": uri(&common), "key": "port" });
        let shown = program.command(command, &arguments);
        let content = shown["content"].as_str().unwrap();
        assert!(
            content.contains("what if: site = cp"),
            "{command}: {content}"
        );
    }
    assert_eq!(program.command("hiera.clearFacts", &here), Value::Null);
    let hover = program.hover(&common, &text, "port").unwrap();
    assert!(!hover.contains("what if"), "{hover}");
    program.end();
}

#[test]
fn without_nodes_no_answer_is_marked_by_an_overridden_fact() {
    let repository = Repository::new();
    std::fs::remove_file(repository.folder.join("nodes.json")).unwrap();
    std::fs::remove_file(repository.file("data/node/c.x.yaml")).unwrap();
    let common = repository.file("data/common.yaml");
    let mut program = repository.start();
    let text = program.open(&common);
    let here = json!({ "uri": uri(&common), "path": "site", "value": "cp" });
    let set = program.command("hiera.setFact", &here);
    assert_eq!(
        set["message"],
        "'site' changes nothing as long as no nodes are known"
    );
    let hover = program.hover(&common, &text, "port").unwrap();
    assert!(!hover.contains("what if"), "{hover}");
    let port = json!({ "uri": uri(&common), "key": "port" });
    for command in ["hiera.value", "hiera.matrix", "hiera.explain"] {
        let shown = program.command(command, &port);
        let content = shown["content"].as_str().unwrap();
        assert!(!content.contains("what if"), "{command}: {content}");
    }
    program.end();
}

#[test]
fn an_explanation_has_the_answer_first_and_a_line_for_each_level() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let mut program = repository.start();
    let arguments = json!({ "uri": uri(&common), "key": "port", "node": "a.x" });
    let explained = program.command("hiera.explain", &arguments);
    assert_eq!(explained["language"], "yaml");
    expect![[r#"
        # port — first found, for a.x
        8080
        # set in environments/production/data/site/ls.yaml:1 · overrides
        #   environments/production/data/common.yaml:1

        # levels, the highest first: file, what it has, name of the level
        #   node/%{trusted.certname}.yaml                no file                       'node'
        #   environments/production/data/site/ls.yaml:1  sets it                       'site'
        #   environments/production/data/common.yaml:1   overridden by a higher level  'common'

        # as Puppet explains it: hiera-ls lookup port --node a.x --explain
    "#]]
    .assert_eq(explained["content"].as_str().unwrap());
    // Without a node: the number of nodes for which a level is used.
    let arguments = json!({ "uri": uri(&common), "key": "port" });
    let explained = program.command("hiera.explain", &arguments);
    let content = explained["content"].as_str().unwrap();
    assert!(
        content.contains("site/ls.yaml:1 sets it, for 1 of 4 nodes, level 'site'"),
        "{content}"
    );
    let arguments = json!({ "uri": uri(&common), "key": "port", "node": "a.xx" });
    let explained = program.command("hiera.explain", &arguments);
    let content = explained["content"].as_str().unwrap();
    assert!(
        content.contains("# no node 'a.xx' is known (did you mean a.x?)"),
        "{content}"
    );
    program.end();
}

/// The output of `hiera-ls lookup KEY --explain` for a node.
fn printed(repository: &Repository, key: &str, node: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .args(["lookup", key, "--explain", "--node", node, "--nodes"])
        .arg(repository.folder.join("nodes.json"))
        .arg("--workspace")
        .arg(repository.folder.join("environments/production"))
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_explanation_of_a_nested_key_is_that_of_the_command_line() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let mut program = repository.start();
    for (line, key) in [
        (0, "port"),
        (1, "url"),
        (3, "users"),
        (4, "users.alice"),
        (5, "users.alice.uid"),
    ] {
        let arguments = json!({
            "uri": uri(&common), "position": { "line": line, "character": 4 }, "node": "a.x",
            "form": "puppet",
        });
        let explained = program.command("hiera.explain", &arguments);
        assert_eq!(explained["title"], format!("How {key} is looked up"));
        let content = explained["content"].as_str().unwrap();
        assert_eq!(content, printed(&repository, key, "a.x"), "{key}");
        assert!(content.contains("Searching for"), "{content}");
    }
    let nowhere = json!({ "uri": uri(&common), "position": { "line": 40, "character": 0 } });
    assert_eq!(
        program.refused("hiera.explain", &nowhere),
        (-32602, "no key at this position".into())
    );
    assert_eq!(
        program
            .refused("hiera.matrix", &json!({ "uri": uri(&common) }))
            .1,
        "'hiera.matrix' needs {\"uri\": a file, \"position\" or \"key\"}"
    );
    program.end();
}
