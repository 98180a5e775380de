//! `hiera-ls mcp` as a client sees it. A client of the official SDK, all tools on larger repositories and the
//! comparison with the command line are in `tests/agents`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::reach_cli::{output_of, workspace};

const HIERARCHY: &str = "version: 5\nhierarchy:\n- {name: Node, path: 'node/%{trusted.certname}.yaml'}\n\
                         - {name: Role, path: 'role/%{facts.role}.yaml'}\n- {name: Common, path: common.yaml}\n";
const NODES: &str =
    "web1: {facts: {role: web}}\nweb2: {facts: {role: web}}\ndb1: {facts: {role: db}}\n";
const PASSWORD: &str = "Xk29dPq7vLm4";

fn files() -> tempfile::TempDir {
    workspace(&[
        ("hiera.yaml", HIERARCHY),
        ("nodes.yaml", NODES),
        (
            "data/common.yaml",
            "port: 80\nuser: www\nurl: \"%{lookup('user')}\"\ndb::password: Xk29dPq7vLm4\n",
        ),
        ("data/role/web.yaml", "port: 443\n"),
    ])
}

/// A client and its server.
struct AgentClient {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    requests: u64,
}

impl AgentClient {
    fn of(folder: &Path) -> AgentClient {
        let mut server = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
            .arg("mcp")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().unwrap());
        let mut client = AgentClient {
            server,
            input,
            output,
            requests: 0,
        };
        let client_info = json!({"name": "test", "version": "1"});
        let started = client.ask(
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client_info}),
        );
        let instructions = started["result"]["instructions"].as_str().unwrap();
        assert!(
            instructions.contains("never instructions"),
            "{instructions}"
        );
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn write(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.write(&message.to_string());
    }

    /// Sends a request and returns its number.
    fn begin(&mut self, method: &str, parameters: &Value) -> u64 {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        id
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "the end");
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        let id = self.begin(method, parameters);
        let answer = self.read();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, input: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": input}));
        answer["result"].clone()
    }

    /// The structured content of an answer.
    fn content(&mut self, tool: &str, input: &Value) -> Value {
        let result = self.call(tool, input);
        assert_eq!(result["isError"], false, "{tool} {input}: {result}");
        let structured = result["structuredContent"].clone();
        // For clients that know no structured content.
        let text = result["content"][1]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), structured);
        structured
    }

    fn answer(&mut self, tool: &str, input: &Value) -> Value {
        self.content(tool, input)["answer"].clone()
    }

    /// The message of a call that fails.
    fn error(&mut self, tool: &str, input: &Value) -> String {
        let result = self.call(tool, input);
        let start: String = input.to_string().chars().take(200).collect();
        assert_eq!(result["isError"], true, "{tool} {start}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Closes the input; what the server still writes, and its exit code.
    fn end(mut self) -> (String, Option<i32>) {
        drop(self.input.take());
        let mut rest = String::new();
        while self.output.read_line(&mut rest).unwrap() > 0 {}
        (rest, self.server.wait().unwrap().code())
    }
}

#[test]
fn tools_are_read_only_and_described() {
    let folder = files();
    let mut client = AgentClient::of(folder.path());
    let tools = client.ask("tools/list", &json!({}))["result"]["tools"].clone();
    let tools = tools.as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    let expected = [
        "lookup",
        "nodes_and_levels",
        "matrix",
        "check",
        "who_uses",
        "why_not",
        "propose",
        "impact",
        "upgrade",
    ];
    assert_eq!(names, expected);
    for tool in tools {
        let name = &tool["name"];
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{name}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{name}");
        assert!(tool["description"].as_str().unwrap().len() > 50, "{name}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        for (field, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            let description = schema["description"].as_str();
            assert!(description.is_some(), "{name} {field}");
        }
        assert!(
            tool["outputSchema"]["properties"]["answer"].is_object(),
            "{name}"
        );
    }
    assert_eq!(client.end(), (String::new(), Some(0)));
}

#[test]
fn tools_answer_as_the_commands_do() {
    let folder = files();
    let at = folder.path();
    let mut client = AgentClient::of(at);
    for (tool, input, command) in [
        (
            "matrix",
            json!({"keys": ["port", "u*"]}),
            "matrix port u* --format json",
        ),
        (
            "check",
            json!({"paths": ["data"]}),
            "check data --format json",
        ),
        (
            "why_not",
            json!({"key": "port", "value": 80, "node": "web1"}),
            "why-not port 80 --node web1 --format json",
        ),
        (
            "propose",
            json!({"key": "port", "value": 8080, "for": ["role=web"], "only": true}),
            "set port 8080 --for role=web --only --format json",
        ),
        (
            "upgrade",
            json!({"from": 7, "to": 8}),
            "upgrade --from 7 --to 8 --format json",
        ),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let (_, printed, _) = output_of(at, &words);
        let printed: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(client.answer(tool, &input), printed, "{command}");
    }
    let found = client.answer("lookup", &json!({"key": "port", "node": "db1"}));
    assert_eq!(found, json!({"status": "found", "value": 80}));
    let several = client.answer("lookup", &json!({"key": "port"}));
    assert_eq!(several["status"], "several");
    assert_eq!(several["answers"][0]["nodes"], json!(["web1", "web2"]));
    let missing = client.answer("lookup", &json!({"key": "nothing", "node": "db1"}));
    assert_eq!(missing, json!({"status": "not_found"}));
    let input = json!({"key": "port", "node": "db1", "explain": "puppet", "limit": 1000});
    let explained = client.answer("lookup", &input);
    let (_, printed, _) = output_of(at, &["explain-key", "port", "--node", "db1"]);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(explained["explanation"], json!(lines));
    let input = json!({"key": "port", "node": "web1", "explain": "levels"});
    let levels = client.answer("lookup", &input)["explanation"].to_string();
    assert!(levels.contains("data/role/web.yaml:1"), "{levels}");
    let uses = client.answer("who_uses", &json!({"key": "user"}))["uses"].clone();
    assert_eq!(
        (&uses[0]["key"], &uses[0]["line"]),
        (&json!("url"), &json!(3))
    );
    assert_eq!(uses.as_array().unwrap().len(), 1);
    let known = client.answer("nodes_and_levels", &json!({}));
    assert_eq!(known["nodes"], json!(["web1", "web2", "db1"]));
    assert_eq!(known["hierarchies"][0]["levels"][1]["name"], "Role");
    let page = client.ask(
        "resources/read",
        &json!({"uri": "hiera-ls://rules/dup-key"}),
    );
    let text = page["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("# dup-key\n"), "{text}");
    let report = client.ask("resources/read", &json!({"uri": "hiera-ls://doctor"}));
    let report = report["result"]["contents"][0]["text"].as_str().unwrap();
    let (_, printed, _) = output_of(at, &["doctor", "--format", "json"]);
    let [report, printed] =
        [report, &printed].map(|text| serde_json::from_str::<Value>(text).unwrap());
    assert_eq!(report, printed);
}

/// The answers to a patch and to new contents are those of `diff --against` after the edit.
#[test]
fn an_impact_is_the_difference_after_the_edit() {
    let folder = files();
    let at = folder.path();
    let mut client = AgentClient::of(at);
    let patch = "--- a/data/role/web.yaml\n+++ b/data/role/web.yaml\n@@ -1 +1,2 @@\n-port: 443\n+port: 8443\n+user: web\n\
                 --- /dev/null\n+++ b/data/node/db1.yaml\n@@ -0,0 +1 @@\n+port: 5432\n";
    let by_patch = client.answer("impact", &json!({"patch": patch}));
    let contents = json!([
        {"path": "data/role/web.yaml", "text": "port: 8443\nuser: web\n"},
        {"path": "data/node/db1.yaml", "text": "port: 5432\n"},
    ]);
    assert_eq!(
        client.answer("impact", &json!({"files": contents})),
        by_patch
    );
    let keys = client.answer("impact", &json!({"files": contents, "keys": ["user"]}));
    assert_eq!(keys.as_array().unwrap().len(), 1);
    // Nothing was written.
    let before = std::fs::read_to_string(at.join("data/role/web.yaml")).unwrap();
    assert_eq!(before, "port: 443\n");
    assert!(!at.join("data/node").exists());
    let old = files();
    std::fs::create_dir(at.join("data/node")).unwrap();
    for file in contents.as_array().unwrap() {
        let path = at.join(file["path"].as_str().unwrap());
        std::fs::write(path, file["text"].as_str().unwrap()).unwrap();
    }
    let against = format!("{}/.", old.path().to_str().unwrap());
    let (_, printed, error) = output_of(at, &["diff", "--against", &against, "--format", "json"]);
    // The sources of the old side are in another folder.
    let [old, new] = [old.path(), at].map(|at| at.canonicalize().unwrap());
    let printed = printed.replace(old.to_str().unwrap(), new.to_str().unwrap());
    let printed: Value = serde_json::from_str(&printed).expect(&error);
    assert_eq!(by_patch, printed);
    assert_eq!(by_patch.as_array().unwrap().len(), 4, "{by_patch}");
    // Files that go away, and a new hierarchy.
    let removed = json!({"files": [{"path": "data/role/web.yaml", "text": null}]});
    let difference = client.answer("impact", &removed)[0].clone();
    assert_eq!(
        (&difference["key"], &difference["after"]["value"]),
        (&json!("port"), &json!(80))
    );
    let order = HIERARCHY.replace(
        "Role, path: 'role/%{facts.role}.yaml'",
        "None, path: none.yaml",
    );
    let reordered = json!({"files": [{"path": "hiera.yaml", "text": order}], "keys": ["port"]});
    assert_eq!(client.answer("impact", &reordered)[0]["after"]["value"], 80);
}

#[test]
fn changes_on_the_disk_are_seen_at_once() {
    let folder = files();
    let at = folder.path();
    let mut client = AgentClient::of(at);
    let input = json!({"key": "port", "node": "web1"});
    for port in 444..450 {
        std::fs::write(at.join("data/role/web.yaml"), format!("port: {port}\n")).unwrap();
        assert_eq!(client.answer("lookup", &input)["value"], port);
    }
    std::fs::remove_file(at.join("data/role/web.yaml")).unwrap();
    assert_eq!(client.answer("lookup", &input)["value"], 80);
    std::fs::write(at.join("nodes.yaml"), "web1: {facts: {role: db}}\n").unwrap();
    std::fs::write(at.join("data/role/db.yaml"), "port: 5432\n").unwrap();
    assert_eq!(client.answer("lookup", &input)["value"], 5432);
    assert_eq!(
        client.answer("nodes_and_levels", &json!({}))["nodes"],
        json!(["web1"])
    );
    std::fs::write(at.join(".hiera-ls.yaml"), "nodesFiles: [more.yaml]\n").unwrap();
    std::fs::write(at.join("more.yaml"), "web9: {facts: {role: db}}\n").unwrap();
    let nodes = client.answer("nodes_and_levels", &json!({}))["nodes"].to_string();
    assert!(nodes.contains("web9"), "{nodes}");
}

#[test]
fn answers_are_cut_with_a_way_to_the_rest() {
    let folder = files();
    let mut client = AgentClient::of(folder.path());
    let whole = client.content("matrix", &json!({"keys": ["*"]}));
    assert_eq!(whole["next_offset"], Value::Null);
    let mut rows: Vec<Value> = Vec::new();
    let mut offset = json!(0);
    while offset != Value::Null {
        let input = json!({"keys": ["*"], "limit": 2, "offset": offset});
        let part = client.content("matrix", &input);
        assert_eq!(part["total"], whole["total"]);
        for row in part["answer"].as_array().unwrap() {
            match rows.iter_mut().find(|known| known["key"] == row["key"]) {
                Some(known) => {
                    let more = row["answers"].as_array().unwrap().iter().cloned();
                    known["answers"].as_array_mut().unwrap().extend(more);
                }
                None => rows.push(row.clone()),
            }
        }
        offset = part["next_offset"].clone();
    }
    assert_eq!(json!(rows), whole["answer"]);
    let cut = client.content("matrix", &json!({"keys": ["user"], "list_limit": 1}));
    assert_eq!(cut["answer"][0]["answers"][0]["nodes"], json!(["web1"]));
    let counts = json!([{"at": "/answer/0/answers/0/nodes", "total": 3, "shown": 1}]);
    assert_eq!(cut["left_out"], counts);
}

#[test]
fn secrets_are_hidden() {
    let folder = files();
    let at = folder.path();
    let mut client = AgentClient::of(at);
    let key = "db::password";
    for (tool, input) in [
        ("lookup", json!({"key": key, "node": "db1"})),
        (
            "lookup",
            json!({"key": key, "node": "db1", "explain": "puppet", "limit": 1000}),
        ),
        (
            "lookup",
            json!({"key": key, "node": "db1", "explain": "levels"}),
        ),
        ("lookup", json!({"key": key})),
        ("matrix", json!({"keys": ["*"]})),
        ("check", json!({})),
        (
            "why_not",
            json!({"key": key, "value": "new", "node": "db1"}),
        ),
        ("propose", json!({"key": "user", "value": "new"})),
        ("propose", json!({"key": key, "value": "new"})),
        (
            "impact",
            json!({"files": [{"path": "data/common.yaml", "text": ""}]}),
        ),
    ] {
        let text = client.call(tool, &input).to_string();
        assert!(text.contains("\"isError\":false"), "{tool} {input}: {text}");
        assert!(!text.contains(PASSWORD), "{tool} {input}: {text}");
    }
    let encrypted = "ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAx]";
    std::fs::write(at.join("data/common.yaml"), format!("{key}: {encrypted}\n")).unwrap();
    let found = client.answer("lookup", &json!({"key": key, "node": "db1"}));
    assert!(!found.to_string().contains("private"), "{found}");
}

#[test]
fn hostile_input_is_refused() {
    let folder = files();
    let at = folder.path();
    let outside = workspace(&[("secret.yaml", "stolen: yes\n")]);
    let secret = outside.path().join("secret.yaml");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.path(), at.join("data/node")).unwrap();
        std::os::unix::fs::symlink(&secret, at.join("data/role/db.yaml")).unwrap();
        std::fs::write(outside.path().join("web1.yaml"), "port: 1\n").unwrap();
        std::fs::write(outside.path().join("nodes.json"), "{\"stolen\": {}}").unwrap();
        std::os::unix::fs::symlink(outside.path().join("nodes.json"), at.join("nodes.json"))
            .unwrap();
    }
    let mut client = AgentClient::of(at);
    // What is behind a link out of the workspace is not read.
    let stolen = client.answer("matrix", &json!({"keys": ["stolen", "port"]}));
    assert!(!stolen.to_string().contains("yes"), "{stolen}");
    let found = client.answer("lookup", &json!({"key": "port", "node": "web1"}));
    assert_ne!(found["value"], 1);
    let known = client.answer("nodes_and_levels", &json!({}));
    assert!(!known["nodes"].to_string().contains("stolen"), "{known}");
    let (up, absolute) = ("../secret.yaml", secret.to_str().unwrap());
    let file = |path: &str| json!({"files": [{"path": path, "text": "a: 1\n"}]});
    let patch = |text: &str| json!({"patch": text});
    let new = |path: &str| format!("--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+a: 1\n");
    let huge = "x".repeat(9 << 20);
    let many: Vec<Value> = (0..201)
        .map(|at| json!({"path": format!("data/{at}.yaml"), "text": ""}))
        .collect();
    for (tool, input, message) in [
        ("impact", file(up), "inside the workspace"),
        ("impact", file(absolute), "inside the workspace"),
        ("impact", file("data/../../x.yaml"), "inside the workspace"),
        ("impact", file("data/x\n.yaml"), "inside the workspace"),
        ("impact", file(""), "inside the workspace"),
        (
            "impact",
            file("data/node/x.yaml"),
            "leads out of the workspace",
        ),
        (
            "impact",
            file("data/role/db.yaml"),
            "leads out of the workspace",
        ),
        ("impact", file(".git/config"), "files of tools"),
        ("impact", patch(&new(up)), "inside the workspace"),
        ("impact", patch(&new(absolute)), "inside the workspace"),
        (
            "impact",
            patch(&new("data/common.yaml")),
            "is there already",
        ),
        ("impact", patch("no patch"), "cannot be read"),
        (
            "impact",
            patch("--- a\n+++ b\n@@ -1,9 +1 @@\n"),
            "cannot be read",
        ),
        (
            "impact",
            patch("--- data/common.yaml\n+++ data/common.yaml\n@@ -1 +1 @@\n-no: 1\n+a: 1\n"),
            "does not apply",
        ),
        (
            "impact",
            patch("--- data/x.yaml\n+++ data/x.yaml\n@@ -1 +1 @@\n-no: 1\n+a: 1\n"),
            "no such file",
        ),
        (
            "impact",
            json!({"files": [{"path": "data/x.yaml", "text": null}]}),
            "no such file",
        ),
        (
            "impact",
            json!({"files": [{"path": "data/x.yaml", "text": huge}]}),
            "at most",
        ),
        ("impact", json!({"files": many}), "at most 200 files"),
        (
            "impact",
            json!({"files": [{"path": "a.yaml", "text": ""}, {"path": "./a.yaml", "text": ""}]}),
            "twice",
        ),
        ("impact", json!({}), "give a 'patch'"),
        ("check", json!({"paths": ["/etc"]}), "inside the workspace"),
        ("check", json!({"paths": ["../*"]}), "inside the workspace"),
        ("check", json!({"select": ["no-such"]}), "no such rule"),
        (
            "lookup",
            json!({"key": "port", "environment": "../x"}),
            "lower-case",
        ),
        (
            "lookup",
            json!({"key": "port", "node": "no-such"}),
            "not in nodes.yaml",
        ),
        ("lookup", json!({"key": "x".repeat(20_000)}), "at most"),
        (
            "lookup",
            json!({"key": "port", "facts": "/etc/passwd"}),
            "unknown field",
        ),
        ("matrix", json!({"keys": "port"}), "invalid type"),
        (
            "why_not",
            json!({"key": "port", "node": "web1"}),
            "missing field",
        ),
        ("upgrade", json!({"from": 9, "to": 8}), "no upgrade"),
        (
            "matrix",
            json!({"keys": ["port"], "limit": -1}),
            "invalid value",
        ),
    ] {
        let error = client.error(tool, &input);
        let start: String = input.to_string().chars().take(200).collect();
        assert!(error.contains(message), "{tool} {start}: {error}");
        assert!(!error.contains("stolen"), "{error}");
    }
    // No input is an option of a command.
    for key in ["--nodes=/etc/passwd", "--write", "--explain", "-"] {
        let found = client.answer("lookup", &json!({"key": key, "node": "web2"}));
        // The level behind the link may set it.
        assert_eq!(found["status"], "unknown", "{key}");
    }
    assert!(!at.join("x.yaml").exists());
    for line in ["", "null", "[]", "{", "\u{0}", "{\"jsonrpc\":\"2.0\"}"] {
        client.write(line);
    }
    let long = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"{}\"}}",
        "x".repeat(17 << 20)
    );
    client.write(&long);
    let id = client.begin("ping", &json!({}));
    // Messages without a request have no number.
    let mut answer = client.read();
    while answer["id"] != id {
        assert_eq!(answer["id"], Value::Null, "{answer}");
        answer = client.read();
    }
    assert_eq!(client.end().1, Some(0));
}

#[test]
fn a_cancelled_call_has_no_answer_and_others_have() {
    let folder = files();
    let at = folder.path();
    let mut text = String::new();
    for key in 0..3_000 {
        text += &format!("key{key}: \"%{{lookup('port')}}\"\n");
    }
    std::fs::write(at.join("data/common.yaml"), text).unwrap();
    let mut client = AgentClient::of(at);
    let input = json!({"name": "matrix", "arguments": {"keys": ["*"]}});
    let long = client.begin("tools/call", &input);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": long}}));
    let next = client.begin(
        "tools/call",
        &json!({"name": "lookup", "arguments": {"key": "port", "node": "web1"}}),
    );
    let answer = client.read();
    assert_eq!(answer["id"], next, "{answer}");
    assert_eq!(
        answer["result"]["structuredContent"]["answer"]["value"],
        443
    );
    let (rest, code) = client.end();
    assert_eq!((rest.as_str(), code), ("", Some(0)));
}
