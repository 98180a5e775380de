//! Notes about overridden facts, and the explanation for people.

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

        # as Puppet explains it: hiera-ls lookup port --explain --node a.x
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
