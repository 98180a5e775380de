//! Comparisons of nodes, environments and edits, and long commands.

use std::path::{Path, PathBuf};

use expect_test::expect;
use serde_json::{Value, json};

use super::VSCODE;
use super::commands::{COMMON, HIERA, Repository, shows};
use super::program::{Program, uri};

/// The arguments of a comparison.
fn between(file: &Path, from: &str, to: &str) -> Value {
    json!({ "uri": uri(file), "from": from, "to": to, "data": true })
}

#[test]
fn two_nodes_and_two_environments_are_compared() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    // A hierarchy of examples is no environment to choose.
    repository.write(
        "environments/production/examples/hiera.yaml",
        "version: 5\n",
    );
    let mut program = repository.start();
    let nodes = program.command("hiera.nodes", &json!({ "uri": uri(&common) }));
    assert_eq!(nodes["environments"], json!(["production", "staging"]));
    assert!(nodes.get("choices").is_none());
    let between = |from, to| between(&common, from, to);
    let diff = program.command("hiera.diff", &between("a.x", "b.x"));
    shows(
        &diff,
        &expect![[r#"
            "a.x → b.x" ("text")
            a.x → b.x: 4 differences

            motd
              - "welcome\nto ls\n"  environments/production/data/common.yaml:7
              + "welcome\nto cp\n"  environments/production/data/common.yaml:7

            port
              - 8080  environments/production/data/site/ls.yaml:1
              + 80  environments/production/data/common.yaml:1

            url
              - http://example.com:8080/  environments/production/data/common.yaml:2
              + http://example.com:80/  environments/production/data/common.yaml:2

            users
              - {alice: {uid: 1}, bob: {uid: 2}}
                  environments/production/data/site/ls.yaml:2 environments/production/data/common.yaml:4
              + {alice: {uid: 1}}  environments/production/data/common.yaml:4
        "#]],
    );
    assert_eq!(diff["data"]["differences"][1]["after"]["value"], 80);
    assert!(diff.get("sides").is_none());
    let environments = program.command("hiera.diff", &between("production", "staging"));
    shows(
        &environments,
        &expect![[r#"
            "production → staging" ("text")
            production → staging: 4 differences

            port — 2 nodes
              - 80  environments/production/data/common.yaml:1
              + 81  environments/staging/data/site/cp.yaml:1
                b.x, d.x

            port — 1 node
              - 9  environments/production/data/node/c.x.yaml:1
              + 81  environments/staging/data/site/cp.yaml:1
                c.x

            url — 2 nodes
              - http://example.com:80/  environments/production/data/common.yaml:2
              + http://example.com:81/  environments/staging/data/common.yaml:2
                b.x, d.x

            url — 1 node
              - http://example.com:9/  environments/production/data/common.yaml:2
              + http://example.com:81/  environments/staging/data/common.yaml:2
                c.x
        "#]],
    );
    program.end();
}

#[test]
fn a_comparison_has_two_documents() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let mut program = repository.start();
    let sides = json!({ "uri": uri(&common), "from": "a.x", "to": "b.x", "sides": true });
    let sides = program.command("hiera.diff", &sides);
    let sides = sides["sides"].as_array().unwrap();
    let sides = sides.iter().map(|side| {
        let title = side["title"].as_str().unwrap();
        format!("== {title}\n{}", side["content"].as_str().unwrap())
    });
    expect![[r#"
        == a.x (compared with b.x)
        # from environments/production/data/common.yaml:7
        motd: |
          welcome
          to ls

        # from environments/production/data/site/ls.yaml:1
        port: 8080

        # from environments/production/data/common.yaml:2
        url: http://example.com:8080/

        # from environments/production/data/site/ls.yaml:2
        # from environments/production/data/common.yaml:4
        users:
          alice:
            uid: 1
          bob:
            uid: 2
        == b.x (compared with a.x)
        # from environments/production/data/common.yaml:7
        motd: |
          welcome
          to cp

        # from environments/production/data/common.yaml:1
        port: 80

        # from environments/production/data/common.yaml:2
        url: http://example.com:80/

        # from environments/production/data/common.yaml:4
        users:
          alice:
            uid: 1
    "#]]
    .assert_eq(&sides.collect::<String>());
    program.end();
}

#[test]
fn comparisons_need_two_of_the_same_kind() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let mut program = repository.start();
    let between = |from, to| between(&common, from, to);
    let invalid = -32602;
    let without = json!({ "uri": uri(&common), "to": "b.x" });
    assert_eq!(
        program.refused("hiera.diff", &without),
        (invalid, "no node is selected to compare with".into())
    );
    assert_eq!(
        program.refused("hiera.diff", &between("a.x", "nobody")),
        (
            invalid,
            "'nobody' is neither a known node nor an environment".into()
        )
    );
    assert_eq!(
        program.refused("hiera.diff", &between("a.x", "staging")).1,
        "'a.x' and 'staging' cannot be compared: name two nodes or two environments"
    );
    program.command("hiera.selectNode", &json!({ "certname": "d.x" }));
    let selected = json!({ "uri": uri(&common), "to": "b.x", "key": "port" });
    let same = program.command("hiera.diff", &selected);
    assert_eq!(same["message"], "d.x and b.x get the same value of 'port'");
    let same = json!({ "uri": uri(&common), "to": "b.x" });
    let same = program.command("hiera.diff", &same);
    assert_eq!(same["message"], "d.x and b.x get the same values");
    program.end();
}

#[test]
fn the_impact_of_an_unsaved_edit_is_shown() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let mut program = repository.start();
    let arguments = json!({ "uri": uri(&common), "data": true });
    let nothing = program.command("hiera.impact", &arguments);
    let name = "environments/production/data/common.yaml";
    assert_eq!(
        nothing["message"],
        format!("{name} is not open, so it has no unsaved changes")
    );
    let text = program.open(&common);
    let nothing = program.command("hiera.impact", &arguments);
    assert_eq!(nothing["message"], format!("{name} has no unsaved changes"));
    program.rewrite(&common, &text.replace("port: 80", "port: 82"));
    let impact = program.command("hiera.impact", &arguments);
    shows(
        &impact,
        &expect![[r#"
            "What the edit of environments/production/data/common.yaml changes" ("text")
            the edit of environments/production/data/common.yaml changes 2 keys for 2 of 4 nodes

            port — 2 nodes
              - 80  environments/production/data/common.yaml:1
              + 82  environments/production/data/common.yaml:1
                b.x, d.x

            url — 2 nodes
              - http://example.com:80/  environments/production/data/common.yaml:2
              + http://example.com:82/  environments/production/data/common.yaml:2
                b.x, d.x
        "#]],
    );
    assert_eq!(impact["data"]["nodes"], json!(["b.x", "d.x"]));
    assert_eq!(impact["data"]["of"], 4);
    program.rewrite(&common, &format!("{text}open: \"x\n"));
    let impact = program.command("hiera.impact", &arguments);
    expect!["environments/production/data/common.yaml:12 does not parse: once it is saved, every lookup fails on 4 of 4 nodes"].assert_eq(impact["message"].as_str().unwrap_or_default());
    program.end();

    std::fs::remove_file(repository.folder.join("nodes.json")).unwrap();
    let mut program = repository.start();
    let site = repository.file("data/site/ls.yaml");
    let text = program.open(&site);
    program.rewrite(&site, &text.replace("8080", "8081"));
    let impact = program.command("hiera.impact", &json!({ "uri": uri(&site) }));
    shows(
        &impact,
        &expect![[r#"
            "What the edit of environments/production/data/site/ls.yaml changes" ("text")
            the edit of environments/production/data/site/ls.yaml changes 2 keys

            port — facts.site = ls
              - 8080, unless a file for trusted.certname has the key
                  environments/production/data/site/ls.yaml:1
              + 8081, unless a file for trusted.certname has the key
                  environments/production/data/site/ls.yaml:1

            url — facts.site = ls
              - http://example.com:8080/, unless a file for trusted.certname has 'port'
                  environments/production/data/common.yaml:2
              + http://example.com:8081/, unless a file for trusted.certname has 'port'
                  environments/production/data/common.yaml:2
        "#]],
    );
    program.end();
}

/// The progress on a command's own token, followed by its answer.
#[test]
fn a_long_command_reports_its_progress() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let mut program = repository.start();
    let params = json!({
        "command": "hiera.diff", "workDoneToken": "mine",
        "arguments": [{ "uri": uri(&common), "from": "a.x", "to": "b.x" }],
    });
    program.ask("workspace/executeCommand", &params);
    let mut kinds = Vec::new();
    while kinds.last().is_none_or(|kind| kind != "end") {
        let progress = program.wait("progress", |message| {
            message["method"] == "$/progress" && message["params"]["token"] == "mine"
        });
        let kind = &progress["params"]["value"]["kind"];
        kinds.push(kind.as_str().unwrap().to_owned());
    }
    assert_eq!(kinds.first().map(String::as_str), Some("begin"));
    assert!(kinds.iter().any(|kind| kind == "report"), "{kinds:?}");
    program.end();
}

/// Many keys over many nodes, so that a comparison of environments takes a while.
fn large(folder: &Path) -> PathBuf {
    let write = |path: &str, text: &str| {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
    };
    let keys: Vec<String> = (0..4_000)
        .map(|key| format!("key{key}: \"%{{facts.n}}-{key}\"\n"))
        .collect();
    for environment in ["production", "staging"] {
        write(&format!("environments/{environment}/hiera.yaml"), HIERA);
        write(&format!("environments/{environment}/environment.conf"), "");
        write(
            &format!("environments/{environment}/data/common.yaml"),
            &keys.concat(),
        );
    }
    let nodes: Vec<String> = (0..2_000)
        .map(|node| format!("\"n{node}.x\": {{\"facts\": {{\"n\": {node}}}}}"))
        .collect();
    write("nodes.json", &format!("{{{}}}", nodes.join(",")));
    folder.join("environments/production/data/common.yaml")
}

#[test]
fn a_long_command_ends_where_it_is_taken_back_and_holds_up_no_hover() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().canonicalize().unwrap();
    let common = large(&folder);
    let mut program = Program::start(&folder, &json!({}), VSCODE);
    let text = program.open(&common);
    program.command("hiera.nodes", &json!({}));
    program.command("hiera.selectNode", &json!({ "certname": "n7.x" }));
    let mut params = json!({
        "command": "hiera.diff", "workDoneToken": 5,
        "arguments": [{ "uri": uri(&common), "from": "production", "to": "staging" }],
    });
    let by_progress = program.begin("workspace/executeCommand", &params);
    params["workDoneToken"] = json!(6);
    program.wait("progress", |message| {
        message["method"] == "$/progress" && message["params"]["value"]["kind"] == "report"
    });
    let by_id = program.begin("workspace/executeCommand", &params);
    let hover = program.hover(&common, &text, "key1").unwrap();
    assert!(hover.contains("7-1"), "{hover}");
    program.notify("$/cancelRequest", &json!({ "id": by_id }));
    program.notify("window/workDoneProgress/cancel", &json!({ "token": 5 }));
    for id in [by_progress, by_id] {
        let answer = program.wait("an end", |message| message["id"] == id);
        assert_eq!(answer["error"]["code"], -32800, "{answer}");
    }
    program.end();
}

#[test]
fn an_upgrade_is_previewed_in_a_document_and_in_hovers() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let text = format!(
        "{COMMON}whole: 'on %{{facts}} %{{lookup(\"users\")}}'\nbad: '%{{nosuch}}'\nlegacy: '%{{::fqdn}}'\n"
    );
    std::fs::write(&common, &text).unwrap();
    let mut program = repository.start();
    program.open(&common);
    let hover = |program: &mut Program, key: &str| program.hover(&common, &text, key).unwrap();
    assert!(!hover(&mut program, "bad").contains("changes in"));
    let from_8 = json!({ "uri": uri(&common), "data": true });
    let report = program.command("hiera.upgrade", &from_8);
    shows(
        &report,
        &expect![[r#"
        "Upgrade from Puppet 8 to OpenVox 9" ("text")
        from Puppet 8 to OpenVox 9: 1 key changes, on 4 of 4 nodes

        hashes have another text in strings (from 9 on)
          1 key changes on 4 nodes: whole
          in environments/production/data/common.yaml:12
          whole on a.x:
          - "on {\"site\"=>\"ls\", \"clientcert\"=>\"a.x\", \"networking\"=>{\"fqdn\"=>\"a.x\", \"hostname\"=>\…
          + "on {\"site\" => \"ls\", \"clientcert\" => \"a.x\", \"networking\" => {\"fqdn\" => \"a.x\", \"hostn…
          fix: look up parts of the hash, as in %{lookup('key.part')}, or the whole with %{alias('key')}

        unknown: what changes in bad: no file tells whether their variables exist
    "#]],
    );
    assert_eq!(report["data"]["causes"][0]["cause"], "hash-text");
    let line = |hover: String| hover.lines().last().unwrap().to_owned();
    assert_eq!(line(hover(&mut program, "port")), "changes in 9: nothing");
    expect![[r#"changes in 9: another value on all 4 nodes: "on {\"site\" => \"ls\", \"clientcert\" => \"a.x\", \"networking\" => {\"fqdn\"…"#]].assert_eq(&line(hover(&mut program, "whole")));
    let from_7 = json!({ "uri": uri(&common), "from": 7, "to": 8 });
    let report = program.command("hiera.upgrade", &from_7);
    assert_eq!(report["title"], "Upgrade from Puppet 7 to Puppet 8");
    expect!["changes in 8: unknown where no file tells whether its variables exist"]
        .assert_eq(&line(hover(&mut program, "bad")));
    expect!["changes in 8: fails on all 4 nodes: error: Undefined variable '::fqdn'"]
        .assert_eq(&line(hover(&mut program, "legacy")));
    assert_eq!(
        program.refused("hiera.upgrade", &json!({ "to": 8 })).1,
        "8 to 8 is no upgrade"
    );
    assert_eq!(
        program.refused("hiera.upgrade", &json!({ "to": 10 })).1,
        "'hiera.upgrade' needs versions of Puppet: expected 7, 8 or 9"
    );
    program.command("hiera.upgrade", &json!({ "to": null }));
    assert!(!hover(&mut program, "bad").contains("changes in"));
    program.end();
}
