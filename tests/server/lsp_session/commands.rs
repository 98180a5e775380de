//! Commands that answer with documents: the matrix, differences, the impact of an edit, uses, and
//! the explanation at any depth.

use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::VSCODE;
use super::program::{PLAIN_CLIENT, Program, uri};

/// A control repository with two environments, and nodes for it.
pub struct Repository {
    pub folder: PathBuf,
    _temporary: tempfile::TempDir,
}

pub const HIERA: &str = "version: 5\nhierarchy:\n  - {name: node, path: \"node/%{trusted.certname}.yaml\"}\n  \
    - {name: site, path: \"site/%{facts.site}.yaml\"}\n  - {name: common, path: common.yaml}\n";

pub const COMMON: &str = "port: 80\nurl: \"http://%{lookup('host')}:%{lookup('port')}/\"\nhost: example.com\nusers:\n  \
    alice:\n    uid: 1\nmotd: |\n  welcome\n  to %{facts.site}\nlookup_options:\n  users: {merge: deep}\n";

impl Repository {
    pub fn new() -> Repository {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().canonicalize().unwrap();
        let repository = Repository {
            folder,
            _temporary: temporary,
        };
        for environment in ["production", "staging"] {
            let at = |path: &str| format!("environments/{environment}/{path}");
            repository.write(&at("hiera.yaml"), HIERA);
            repository.write(&at("environment.conf"), "");
            repository.write(&at("data/common.yaml"), COMMON);
            repository.write(
                &at("data/site/ls.yaml"),
                "port: 8080\nusers:\n  bob: {uid: 2}\n",
            );
        }
        repository.write("environments/staging/data/site/cp.yaml", "port: 81\n");
        repository.write("environments/production/data/node/c.x.yaml", "port: 9\n");
        let nodes = r#"{"a.x": {"facts": {"site": "ls"}}, "b.x": {"facts": {"site": "cp", "uptime": "1 day"}},
            "c.x": {"facts": {"site": "cp"}}, "d.x": {"facts": {"site": "cp"}}}"#;
        repository.write("nodes.json", nodes);
        repository
    }

    pub fn write(&self, path: &str, text: &str) {
        let file = self.folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
    }

    pub fn file(&self, path: &str) -> PathBuf {
        self.folder.join("environments/production").join(path)
    }

    pub fn start(&self) -> Program {
        Program::start(&self.folder, &json!({}), VSCODE)
    }

    /// With every kind of lens and hint.
    pub fn start_with_lenses(&self) -> Program {
        Program::start(&self.folder, &all_lenses(), VSCODE)
    }
}

/// Settings that show every kind of lens and hint.
pub fn all_lenses() -> Value {
    json!({
        "codeLens": { "overrides": true, "uses": true, "impact": true },
        "inlayHints": { "merged": true },
    })
}

pub fn shows(document: &Value, expected: &Expect) {
    let content = document["content"].as_str().unwrap();
    let head = format!("{} ({})\n", document["title"], document["language"]);
    expected.assert_eq(&(head + content));
}

#[test]
fn the_matrix_of_a_key_shows_every_answer_with_its_nodes() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let mut program = repository.start();
    let place =
        json!({ "uri": uri(&common), "position": { "line": 0, "character": 2 }, "data": true });
    let matrix = program.command("hiera.matrix", &place);
    shows(
        &matrix,
        &expect![[r#"
            "Values of port" ("yaml")
            # port — 3 different values on 4 nodes

            # 2 nodes
            #   b.x, d.x
            # from environments/production/data/common.yaml:1
            port: 80

            ---
            # 1 node
            #   a.x
            # from environments/production/data/site/ls.yaml:1
            port: 8080

            ---
            # 1 node
            #   c.x
            # from environments/production/data/node/c.x.yaml:1
            port: 9
        "#]],
    );
    assert_eq!(matrix["uri"], "hiera-ls:/Values%20of%20port");
    let users = json!({ "uri": uri(&common), "key": "users", "values": true });
    let values = &program.command("hiera.matrix", &users)["values"];
    expect![[r#"
        [
          "alice:\n  uid: 1",
          "alice:\n  uid: 1\nbob:\n  uid: 2"
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(values).unwrap());
    // The command line's output for the same nodes.
    let printed = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .args(["matrix", "port", "--format", "json-lines", "--nodes"])
        .arg(repository.folder.join("nodes.json"))
        .arg("--workspace")
        .arg(repository.folder.join("environments/production"))
        .output()
        .unwrap();
    let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(matrix["data"], printed);
    let nested = json!({ "uri": uri(&common), "position": { "line": 5, "character": 5 } });
    let nested = program.command("hiera.matrix", &nested);
    assert_eq!(nested["title"], "Values of users.alice.uid");
    assert!(nested.get("data").is_none());
    let missing = json!({ "uri": uri(&common), "key": "nowhere" });
    let missing = program.command("hiera.matrix", &missing);
    let expected = json!({ "message": "no level sets 'nowhere' for any node" });
    assert_eq!(missing, expected);
    program.end();
}

#[test]
fn a_client_without_an_extension_is_shown_the_answer_as_a_file() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let key = json!({ "uri": uri(&common), "key": "port" });
    let shows = |message: &Value| message["method"] == "window/showDocument";
    // A client that shows documents itself.
    let mut program = repository.start();
    program.command("hiera.matrix", &key);
    program.command("hiera.nodes", &json!({}));
    assert!(!program.has_received(shows));
    program.end();
    let running = tempfile::tempdir().unwrap();
    let settings = json!({});
    let mut program =
        Program::start_again(&repository.folder, &settings, PLAIN_CLIENT, running.path());
    program.open(&common);
    let matrix = program.command("hiera.matrix", &key);
    let request = program.wait("a file to show", shows);
    program.reply(&request["id"]);
    assert_eq!(request["params"]["takeFocus"], true);
    let file = request["params"]["uri"].as_str().unwrap();
    let file = PathBuf::from(super::commands::percent_decoded(
        file.strip_prefix("file://").unwrap(),
    ));
    assert_eq!(file.file_name().unwrap(), "Values of port.yaml");
    assert!(file.starts_with(running.path()));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), matrix["content"]);
    program.command("hiera.impact", &json!({ "uri": uri(&common) }));
    let notification = program.wait("a sentence", |message| {
        message["method"] == "window/showMessage"
    });
    let message = notification["params"]["message"].as_str().unwrap();
    assert!(
        message.ends_with("common.yaml has no unsaved changes"),
        "{message}"
    );
    // Commands that answer with data or nothing show nothing.
    program.command("hiera.selectNode", &json!({ "certname": "a.x" }));
    program.command("hiera.nodes", &json!({}));
    assert!(!program.has_received(shows));
    program.end();
    assert!(!file.parent().unwrap().exists());
}

#[test]
fn without_nodes_the_matrix_shows_deciding_facts() {
    let repository = Repository::new();
    std::fs::remove_file(repository.folder.join("nodes.json")).unwrap();
    let common = repository.file("data/common.yaml");
    let port = json!({ "uri": uri(&common), "key": "port", "data": true });
    // A node that a file is named after is known by its name.
    let mut program = repository.start();
    shows(
        &program.command("hiera.matrix", &port),
        &expect![[r#"
            "Values of port" ("yaml")
            # port — the same for 1 node
            # nodes known only by name, without facts

            # 1 node
            #   c.x
            # from environments/production/data/node/c.x.yaml:1
            port: 9
        "#]],
    );
    program.end();
    std::fs::remove_file(repository.file("data/node/c.x.yaml")).unwrap();
    let mut program = repository.start();
    let matrix = program.command("hiera.matrix", &port);
    shows(
        &matrix,
        &expect![[r#"
            "Values of port" ("yaml")
            # port — 2 different values, depending on a node's facts

            # facts.site = ls
            # from environments/production/data/site/ls.yaml:1
            port: 8080

            ---
            # every other node
            # from environments/production/data/common.yaml:1
            port: 80
        "#]],
    );
    assert_eq!(matrix["data"]["answers"][0]["condition"], "facts.site = ls");
    program.end();
}

#[test]
fn the_hierarchy_of_a_file_is_named_with_its_variants() {
    let repository = Repository::new();
    let lab = "version: 5\nhierarchy:\n  - {name: common, path: common.yaml}\n";
    repository.write("environments/production/hiera-lab.yaml", lab);
    let (common, site) = (
        repository.file("data/common.yaml"),
        repository.file("data/site/ls.yaml"),
    );
    let (usual, other) = (
        uri(&repository.file("hiera.yaml")),
        uri(&repository.file("hiera-lab.yaml")),
    );
    let about = |program: &mut Program, file: &Path| {
        let answer = program.command("hiera.hierarchies", &json!({ "uri": uri(file) }));
        let all = answer["hierarchies"].as_array().unwrap().clone();
        let of = |one: &str| {
            all.iter()
                .find(|known| known["uri"] == one)
                .unwrap()
                .clone()
        };
        (answer["hierarchy"].clone(), of(&usual), of(&other))
    };
    let mut program = repository.start();
    let (hierarchy, first, second) = about(&mut program, &common);
    assert_eq!(hierarchy, json!(usual));
    assert_eq!(
        first["folder"],
        json!(uri(&repository.file("")))
            .as_str()
            .unwrap()
            .trim_end_matches('/')
    );
    assert_eq!(first["version"], 5);
    assert_eq!(
        (&first["used"], &first["reads"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(
        (&second["used"], &second["reads"]),
        (&json!(false), &json!(true))
    );
    let why = second["why"].as_str().unwrap();
    assert!(why.ends_with(" already reads the same data"), "{why}");
    let (_, first, second) = about(&mut program, &site);
    assert_eq!(
        (&first["reads"], &second["reads"]),
        (&json!(true), &json!(false))
    );
    program.end();
    // The setting in which a client keeps the choice.
    let root = json!({ "hierarchy": "environments/production/hiera-lab.yaml", "folder": "environments/production" });
    let mut program = Program::start(&repository.folder, &json!({ "roots": [root] }), VSCODE);
    let (hierarchy, ..) = about(&mut program, &common);
    assert_eq!(hierarchy, json!(other));
    program.end();
}

#[test]
fn pickers_get_distinguishing_variables_and_relevant_facts() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    repository.write(
        "environments/production/data/os/Debian.yaml",
        "motd: \"%{facts.kernel} %{role}\"\n",
    );
    let mut program = repository.start();
    let place = json!({ "uri": uri(&common) });
    let details = json!({ "uri": uri(&common), "details": true });
    let known = program.command("hiera.nodes", &details);
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap();
    expect![[r#"
        {
          "node": "a.x",
          "known": "all",
          "environment": null,
          "says": "facts.site = ls"
        }"#]]
    .assert_eq(&pretty(&known["choices"][0]));
    expect![[r#"
        [
          {
            "variable": "facts.site",
            "values": [
              {
                "value": "cp",
                "nodes": 3
              },
              {
                "value": "ls",
                "nodes": 1
              }
            ],
            "more": 0
          }
        ]"#]]
    .assert_eq(&pretty(&known["groups"]));
    let shown = |program: &mut Program| {
        let facts = program.command("hiera.facts", &place);
        let lines = facts["facts"].as_array().unwrap().iter();
        let lines = lines.map(|fact| format!("{fact}\n")).collect::<String>();
        format!("{} {}\n{lines}", facts["node"], facts["overrides"])
    };
    expect![[r#"
        null {}
        {"path":"trusted.certname","name":"trusted.certname","settable":false,"levels":1,"override":null,"current":null,"values":[{"value":"a.x","nodes":1},{"value":"b.x","nodes":1},{"value":"c.x","nodes":1},{"value":"d.x","nodes":1}],"more":0}
        {"path":"site","name":"facts.site","settable":true,"levels":1,"override":null,"current":null,"values":[{"value":"cp","nodes":3},{"value":"ls","nodes":1}],"more":0}
        {"path":"kernel","name":"facts.kernel","settable":true,"levels":0,"override":null,"current":null,"values":[],"more":0}
        {"path":"role","name":"role","settable":true,"levels":0,"override":null,"current":null,"values":[],"more":0}
    "#]].assert_eq(&shown(&mut program));
    program.command("hiera.selectNode", &json!({ "certname": "b.x" }));
    program.command("hiera.setFact", &json!({ "path": "site", "value": "ls" }));
    program.command("hiera.setFact", &json!({ "path": "kernel", "value": 1 }));
    // A fact that nodes have and nothing uses is accepted, with a word.
    let unused = program.command("hiera.setFact", &json!({ "path": "uptime", "value": 1 }));
    assert_eq!(
        unused["message"],
        "no level and no value uses the fact 'uptime': all answers stay the same"
    );
    program.command("hiera.setFact", &json!({ "path": "uptime", "value": null }));
    // Overrides without any effect are refused and not kept.
    let refused = |program: &mut Program, path: &str| {
        let (_, why) = program.refused("hiera.setFact", &json!({ "path": path, "value": 1 }));
        why
    };
    assert_eq!(
        refused(&mut program, "kernl"),
        "no node has a fact 'kernl', and nothing reads it (did you mean 'kernel'?)"
    );
    let why = refused(&mut program, "trusted.certname");
    assert!(why.contains("is not a fact: it comes from"), "{why}");
    // The original value is shown, and not the override.
    expect![[r#"
        "b.x" {"kernel":1,"site":"ls"}
        {"path":"trusted.certname","name":"trusted.certname","settable":false,"levels":1,"override":null,"current":"b.x","values":[{"value":"a.x","nodes":1},{"value":"b.x","nodes":1},{"value":"c.x","nodes":1},{"value":"d.x","nodes":1}],"more":0}
        {"path":"site","name":"facts.site","settable":true,"levels":1,"override":"ls","current":"cp","values":[{"value":"cp","nodes":3},{"value":"ls","nodes":1}],"more":0}
        {"path":"kernel","name":"facts.kernel","settable":true,"levels":0,"override":1,"current":null,"values":[],"more":0}
        {"path":"role","name":"role","settable":true,"levels":0,"override":null,"current":null,"values":[],"more":0}
    "#]].assert_eq(&shown(&mut program));
    program.command("hiera.clearFacts", &json!({}));
    assert_eq!(
        program.command("hiera.facts", &place)["overrides"],
        json!({})
    );
    let recipes = program.command("hiera.recipes", &json!({}));
    let import = recipes["import"].as_str().unwrap();
    assert!(
        import.starts_with("hiera-ls nodes import --workspace "),
        "{import}"
    );
    let recipes = recipes["recipes"].as_array().unwrap();
    assert!(
        recipes
            .iter()
            .all(|one| !one["command"].as_str().unwrap().contains('\n'))
    );
    assert_eq!(recipes[0]["title"], "from PuppetDB");
    program.end();
}

#[test]
fn uses_are_listed_with_their_lines() {
    let repository = Repository::new();
    let code = [
        (
            "manifests/site.pp",
            "node default {\n  $x = lookup('port')\n}\n",
        ),
        (
            "modules/web/manifests/init.pp",
            "class web (\n  Integer $size = 1,\n) { }\n",
        ),
    ];
    for (path, text) in code {
        let file = repository.file(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
    }
    let common = repository.file("data/common.yaml");
    let mut program = repository.start();
    let uses = program.command(
        "hiera.uses",
        &json!({ "uri": uri(&common), "key": "port", "data": true }),
    );
    shows(
        &uses,
        &expect![[r#"
            "Uses of port" ("text")
            port — 2 uses
              environments/production/data/common.yaml:2   url
              environments/production/manifests/site.pp:2  lookup in a manifest
        "#]],
    );
    assert_eq!(uses["data"]["uses"][0]["line"], 2);
    let none = program.command("hiera.uses", &json!({ "uri": uri(&common), "key": "motd" }));
    assert_eq!(none["message"], "nothing looks up 'motd'");
    let uses = program.command(
        "hiera.uses",
        &json!({ "uri": uri(&common), "key": "web::size" }),
    );
    shows(
        &uses,
        &expect![[r#"
        "Uses of web::size" ("text")
        web::size — 1 use
          environments/production/modules/web/manifests/init.pp:2  parameter $size of class web
    "#]],
    );
    program.end();
}

#[test]
fn a_long_value_is_cut_in_the_hover_and_whole_behind_its_link() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let keys: String = (0..50).map(|at| format!("  k{at}: {at}\n")).collect();
    repository.write(
        "environments/production/data/common.yaml",
        &format!("{COMMON}big:\n{keys}"),
    );
    let mut program = repository.start();
    let text = program.open(&common);
    let hover = program.hover(&common, &text, "big").unwrap();
    assert!(hover.contains("\n# … 34 more lines\n"), "{hover}");
    let link = hover.split("[show all 50 lines](command:hiera.value?");
    let arguments = link.last().unwrap().split(')').next().unwrap();
    let arguments = percent_decoded(arguments);
    let arguments: Value = serde_json::from_str(&arguments).unwrap();
    assert_eq!(arguments, json!([{ "uri": uri(&common), "key": "big" }]));
    let whole = program.command("hiera.value", &arguments[0]);
    assert_eq!(whole["title"], "Value of big");
    let content = whole["content"].as_str().unwrap();
    assert!(content.starts_with("# big — first found, for all 4 nodes that read this file\n"));
    assert!(content.contains(&keys.replace("  k", "k")), "{content}");
    // By position; and if nodes get several answers, all of them.
    let place = json!({ "uri": uri(&common), "position": { "line": 0, "character": 2 } });
    let several = program.command("hiera.value", &place);
    assert_eq!(several["title"], "Values of port");
    program.command("hiera.selectNode", &json!({ "certname": "c.x" }));
    shows(
        &program.command("hiera.value", &place),
        &expect![[r#"
            "Value of port" ("yaml")
            # port — first found, for c.x
            9
            # set in environments/production/data/node/c.x.yaml:1 · overrides
            #   environments/production/data/common.yaml:1
        "#]],
    );
    program.end();
    // A client without command links gets the command line instead.
    let mut plain = Program::start(&repository.folder, &json!({}), "Neovim");
    let text = plain.open(&common);
    let hover = plain.hover(&common, &text, "big").unwrap();
    let words = "\n# … 33 more lines: hiera-ls lookup big\n";
    assert!(hover.contains(words), "{hover}");
    plain.end();
}

pub fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let pair = behind.get(..2).filter(|_| first == b'%');
        let byte = pair.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap());
        bytes.push(byte.unwrap_or(first));
        rest = &behind[if byte.is_some() { 2 } else { 0 }..];
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn the_matrix_names_levels_that_are_not_in_the_workspace_as_the_hover_does() {
    let repository = Repository::new();
    let common = repository.file("data/common.yaml");
    let hidden = "hierarchy:\n  - {name: secret, datadir: /etc/elsewhere, path: all.yaml}\n";
    let hiera = HIERA.replace("hierarchy:\n", hidden);
    repository.write("environments/production/hiera.yaml", &hiera);
    let mut program = repository.start();
    let text = program.open(&common);
    let words = "unless level 'secret' (outside this workspace) sets it";
    let hover = program.hover(&common, &text, "host").unwrap();
    let differs = "may differ: 'secret' (outside this workspace)";
    assert!(hover.contains(differs), "{hover}");
    let matrix = |program: &mut Program, key: &str| {
        let place = json!({ "uri": uri(&common), "key": key, "data": true });
        program.command("hiera.matrix", &place)
    };
    let host = matrix(&mut program, "host");
    shows(
        &host,
        &expect![[r#"
            "Values of host" ("yaml")
            # host — the same for 4 nodes

            # 4 nodes
            #   a.x, b.x, c.x, d.x
            # from environments/production/data/common.yaml:3
            # unless level 'secret' (outside this workspace) sets it
            host: example.com
        "#]],
    );
    let condition = &host["data"]["answers"][0]["unless"];
    assert_eq!(*condition, words.trim_start_matches("unless "));
    program.end();
    std::fs::remove_file(repository.folder.join("nodes.json")).unwrap();
    let mut program = repository.start();
    assert_eq!(
        matrix(&mut program, "nowhere")["message"],
        "no level in this workspace sets 'nowhere' for any node; levels outside it may"
    );
    program.end();
}
