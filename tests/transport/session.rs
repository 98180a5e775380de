//! Start and end of sessions: negotiation, settings, exit codes, the real program.

use std::io::{BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

use hiera_ls::disk::ScanProgress;
use serde_json::{Value, json};

use crate::client::{Client, Gate, Planted, frame, options, read, until};

fn initialize(capabilities: Value) -> Value {
    let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

#[test]
fn positions_are_counted_as_negotiated() {
    for (offered, column, offset) in [
        (json!(["utf-8"]), 5, 5),
        (json!(["utf-16"]), 3, 5),
        (json!(["utf-32"]), 2, 5),
        (json!(null), 3, 5),
    ] {
        let features = Arc::new(Planted::default());
        let general = json!({ "general": { "positionEncodings": offered } });
        let mut client = Client::with(options(&features), general);
        client.open("file:///f.yaml", "a😀b");
        let hover = client.hover("file:///f.yaml", 0, column);
        let answer = client.answer(hover).unwrap();
        let value = answer["result"]["contents"]["value"].as_str().unwrap();
        assert_eq!(value, format!("{offset} a😀b"), "{offered}");
        assert_eq!(answer["result"]["range"]["start"]["character"], column);
        client.end();
    }
}

#[test]
fn exit_codes_are_the_protocols() {
    let features = Arc::new(Planted::default());
    let exit = json!({ "jsonrpc": "2.0", "method": "exit" });

    Client::new(&features).end();

    let mut client = Client::new(&features);
    client.send(&exit);
    assert_eq!(client.code(), Ok(1));

    let mut client = Client::strange(options(&features));
    client.send(&exit);
    assert_eq!(client.code(), Ok(1));

    let mut client = Client::new(&features);
    client.hang_up();
    assert_eq!(client.code(), Ok(0));

    let mut client = Client::strange(options(&features));
    client.raw(b"Content-Length: 40\r\n\r\n{\"json");
    client.hang_up();
    assert_eq!(client.code(), Ok(0));
}

#[test]
fn exit_does_not_wait_for_work() {
    let features = Arc::new(Planted::default());
    let mut client = Client::new(&features);
    client.open("file:///slow.yaml", "a");
    for _ in 0..100 {
        client.hover("file:///slow.yaml", 0, 0);
    }
    client.end();
}

#[test]
fn a_client_whose_process_is_gone_ends_the_server() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .arg("--stdio")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let gone = child.id();
    child.wait().unwrap();
    let features = Arc::new(Planted::default());
    let mut client = Client::strange(options(&features));
    let params = json!({ "processId": gone, "rootUri": null, "capabilities": {} });
    let id = client.request("initialize", params);
    client.answer(id).unwrap();
    assert_eq!(client.code(), Ok(0));
}

#[test]
fn settings_come_from_three_places_and_mistakes_are_reported() {
    let features = Arc::new(Planted::default());
    let mut client = Client::strange(options(&features));
    let severity = json!({ "severity": { "bad-word": "error" } });
    let id = client.request(
        "initialize",
        json!({
            "capabilities": { "workspace": { "configuration": true } },
            "initializationOptions": { "diagnostics": severity, "hover": { "maxLine": 3 } },
        }),
    );
    client.answer(id).unwrap();
    client.notify("initialized", json!({}));
    let warning = client
        .wait(|message| message["method"] == "window/logMessage")
        .unwrap();
    assert_eq!(warning["params"]["type"], 2);
    assert_eq!(
        warning["params"]["message"],
        "unknown setting 'hover.maxLine': did you mean 'hover.maxLines'?"
    );
    let question = client
        .wait(|message| message["method"] == "workspace/configuration")
        .unwrap();
    assert_eq!(question["params"]["items"][0]["section"], "hiera-ls");
    client.open("file:///f.yaml", "bad");
    let params = client.diagnostics(|params| params["version"] == 1).unwrap();
    assert_eq!(params["diagnostics"][0]["severity"], 1);
    let hint = json!({ "diagnostics": { "severity": { "bad-word": "hint" } } });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": [hint] }));
    client
        .diagnostics(|params| params["diagnostics"][0]["severity"] == 4)
        .unwrap();
    let off = json!({ "hiera-ls": { "diagnostics": { "enable": false } } });
    client.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": off }),
    );
    client
        .diagnostics(|params| params["diagnostics"] == json!([]))
        .unwrap();
    client.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": null }),
    );
    client
        .wait(|message| message["method"] == "workspace/configuration")
        .unwrap();
    client.end();
}

#[test]
fn settings_for_keys_and_outside_paths_need_a_client_that_marks_user_settings() {
    for says_origins in [false, true] {
        let features = Arc::new(Planted::default());
        let mut client = Client::strange(options(&features));
        let id = client.request(
            "initialize",
            json!({
                "capabilities": {
                    "workspace": { "configuration": true },
                    "experimental": { "settingOrigins": says_origins },
                },
            }),
        );
        client.answer(id).unwrap();
        client.notify("initialized", json!({}));
        let section = json!({
            "decrypt": true, "pkcs7PrivateKey": "/nowhere/key.pem", "pkcs7PublicKey": "/nowhere/c.pem",
            "nodesFiles": ["/nowhere/nodes.json"], "fromWorkspace": ["nodesFiles"],
        });
        let question = client
            .wait(|message| message["method"] == "workspace/configuration")
            .unwrap();
        client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": [section] }));
        // The keys are tried on another thread than the settings: the two warnings come in either
        // order.
        let expected: &[&str] = if says_origins {
            &["'nodesFiles'", "keys for"]
        } else {
            &["'decrypt'", "'nodesFiles'"]
        };
        let mut warnings: Vec<String> = Vec::new();
        while !expected
            .iter()
            .all(|part| warnings.iter().any(|warning| warning.contains(part)))
        {
            let warning = client.wait(|message| message["method"] == "window/logMessage");
            let warning = warning.unwrap()["params"]["message"].clone();
            warnings.push(warning.as_str().unwrap().to_owned());
        }
        let refused = |name: &str| warnings.iter().any(|warning| warning.contains(name));
        assert!(
            refused("setting 'nodesFiles' can reach outside"),
            "{warnings:?}"
        );
        assert_eq!(
            refused("setting 'decrypt' can reach outside"),
            !says_origins
        );
        assert_eq!(refused("/nowhere/key.pem: is not there"), says_origins);
        assert!(!refused("/nowhere/nodes.json"), "{warnings:?}");
        client.end();
    }
}

#[test]
fn capabilities_are_registered_where_the_client_can() {
    let features = Arc::new(Planted::default());
    let watch = json!({ "didChangeWatchedFiles": { "dynamicRegistration": true } });
    let mut client = Client::with(options(&features), json!({ "workspace": watch }));
    let registration = client
        .wait(|message| message["method"] == "client/registerCapability")
        .unwrap();
    let registered = &registration["params"]["registrations"][0];
    assert_eq!(registered["method"], "workspace/didChangeWatchedFiles");
    client.end();
}

/// Waits until a hover on `uri` shows `wanted`.
fn shows(client: &mut Client, uri: &str, wanted: Option<&str>) {
    until(&format!("{uri} shows {wanted:?}"), || {
        let hover = client.hover(uri, 0, 0);
        client.seen(hover).ok().as_deref() == wanted
    });
}

fn uri(folder: &std::path::Path, name: &str) -> String {
    format!("file://{}/{name}", folder.display())
}

#[test]
fn the_workspace_is_read_and_changes_of_the_client_are_applied() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| uri(folder.path(), name);
    std::fs::write(folder.path().join("hiera.yaml"), "version: 5\n").unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    for number in 0..200 {
        let name = format!("data/{number}.yaml");
        std::fs::write(folder.path().join(name), format!("n: {number}")).unwrap();
    }
    let features = Arc::new(Planted::default());
    // A read that ends before it could be shown is not shown: this one waits for the client.
    let gate = Arc::new(Gate::default());
    let gate_of_disk = gate.clone();
    let mut options = options(&features);
    options.scanning = Arc::new(move |at| {
        if let ScanProgress::Reading { .. } = at {
            gate_of_disk.pass_through();
        }
    });
    let mut client = Client::strange(options);
    let capabilities = json!({
        "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } },
        "window": { "workDoneProgress": true },
    });
    let folders = json!([{ "uri": uri(folder.path(), ""), "name": "w" }]);
    let id = client.request(
        "initialize",
        json!({ "capabilities": capabilities, "workspaceFolders": folders }),
    );
    client.notify("initialized", json!({}));
    // Requested before anything can have been read: the answer waits for it.
    let hover = client.hover(&at("data/7.yaml"), 0, 0);
    client.answer(id).unwrap();
    let create = client
        .wait(|message| message["method"] == "window/workDoneProgress/create")
        .unwrap();
    client.send(&json!({ "jsonrpc": "2.0", "id": create["id"], "result": null }));
    let progress = |client: &mut Client, kind| {
        client
            .wait(|message| message["params"]["value"]["kind"] == kind)
            .unwrap();
    };
    progress(&mut client, "begin");
    gate.open();
    assert_eq!(client.seen(hover), Ok("n: 7".to_owned()));
    progress(&mut client, "end");

    // A client's report of changed, new and deleted files, one change for all.
    std::fs::write(folder.path().join("data/7.yaml"), "n: seven").unwrap();
    std::fs::write(folder.path().join("data/new.yaml"), "bad: new").unwrap();
    std::fs::remove_file(folder.path().join("data/8.yaml")).unwrap();
    let changes: Vec<_> = ["data/7.yaml", "data/new.yaml", "data/8.yaml"]
        .iter()
        .map(|name| json!({ "uri": at(name), "type": 2 }))
        .collect();
    client.notify(
        "workspace/didChangeWatchedFiles",
        json!({ "changes": changes }),
    );
    shows(&mut client, &at("data/7.yaml"), Some("n: seven"));
    shows(&mut client, &at("data/new.yaml"), Some("bad: new"));
    shows(&mut client, &at("data/8.yaml"), None);
    // It was never opened; its problem is still reported, without a version.
    let params = client
        .diagnostics(|params| params["uri"] == at("data/new.yaml"))
        .unwrap();
    assert_eq!(params["version"], Value::Null);

    // The editor's text overrides the disk's until it is closed or lost.
    client.open(&at("data/7.yaml"), "n: open");
    shows(&mut client, &at("data/7.yaml"), Some("n: open"));
    client.change(&at("data/7.yaml"), 0, json!([{ "range": 1, "text": "" }]));
    shows(&mut client, &at("data/7.yaml"), Some("n: seven"));
    client.open(&at("data/9.yaml"), "n: open");
    let document = json!({ "uri": at("data/9.yaml") });
    client.notify("textDocument/didClose", json!({ "textDocument": document }));
    shows(&mut client, &at("data/9.yaml"), Some("n: 9"));

    let event = json!({ "added": [], "removed": [folders[0]] });
    client.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({ "event": event }),
    );
    shows(&mut client, &at("data/9.yaml"), None);
    let event = json!({ "added": [folders[0]], "removed": [] });
    client.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({ "event": event }),
    );
    shows(&mut client, &at("data/9.yaml"), Some("n: 9"));
    client.end();
}

#[test]
fn the_server_watches_where_the_client_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.yaml");
    std::fs::write(&file, "n: 1").unwrap();
    let features = Arc::new(Planted::default());
    let mut client = Client::strange(options(&features));
    let root = uri(folder.path(), "");
    let id = client.request("initialize", json!({ "capabilities": {}, "rootUri": root }));
    client.answer(id).unwrap();
    client.notify("initialized", json!({}));
    shows(&mut client, &uri(folder.path(), "f.yaml"), Some("n: 1"));
    std::fs::write(&file, "n: 2").unwrap();
    shows(&mut client, &uri(folder.path(), "f.yaml"), Some("n: 2"));
    client.end();
}

#[test]
fn trace_lists_each_request_when_it_is_on() {
    let features = Arc::new(Planted::default());
    let mut client = Client::new(&features);
    client.open("file:///f.yaml", "a");
    client.notify("$/setTrace", json!({ "value": "verbose" }));
    client.hover("file:///f.yaml", 0, 0);
    let trace = client
        .wait(|message| message["method"] == "$/logTrace")
        .unwrap();
    let message = trace["params"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("textDocument/hover answered after"),
        "{message}"
    );
    assert!(
        trace["params"]["verbose"]
            .as_str()
            .unwrap()
            .contains("f.yaml")
    );
    client.end();
}

#[test]
fn the_server_starts_with_any_arguments() {
    for arguments in [&[][..], &["server"], &["--stdio"]] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut to = program.stdin.take().unwrap();
        let mut from = BufReader::new(program.stdout.take().unwrap());
        to.write_all(&frame(&initialize(json!({})))).unwrap();
        let answer = read(&mut from).unwrap();
        let about = &answer["result"]["serverInfo"];
        assert_eq!(about["name"], "hiera-ls");
        assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
        to.write_all(&frame(&json!({ "jsonrpc": "2.0", "method": "exit" })))
            .unwrap();
        // The pipe stays open: `exit` alone has to be enough.
        let mut code = None;
        until("the program ends", || {
            code = program.try_wait().unwrap();
            code.is_some()
        });
        assert_eq!(code.unwrap().code(), Some(1));
        drop(to);
    }
}
