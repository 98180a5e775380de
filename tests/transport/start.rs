//! The start: answers while the disk is slow, and what a user sees of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hiera_ls::disk::ScanProgress;
use hiera_ls::server::testing::Options;
use serde_json::{Value, json};

use crate::client::{Client, Gate, Planted, options, until};

/// How long to wait for a progress that may not come.
const SOON: Duration = Duration::from_secs(5);

/// Maximum number of reads until one of them has a progress of its own.
const READS: usize = 6;

/// A hierarchy of two levels with enough nodes for several portions of reading.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir_all(folder.path().join("data/nodes")).unwrap();
    write(
        "hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: node, path: \"nodes/%{trusted.certname}.yaml\"}\n  \
         - {name: common, path: common.yaml}\n",
    );
    write("data/common.yaml", "port: 80\n");
    for node in 0..300 {
        write(
            &format!("data/nodes/n{node}.yaml"),
            &format!("number: {node}\nshown: \"%{{lookup('port')}}\"\n"),
        );
    }
    folder
}

/// The real server, on a disk that waits until the gate opens.
fn slow(features: &Arc<Planted>, capabilities: Value, folder: &str) -> (Client, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    let gate_of_disk = gate.clone();
    let options = Options {
        answers: Arc::default(),
        scanning: Arc::new(move |at| {
            if let ScanProgress::Reading { .. } = at {
                gate_of_disk.pass_through();
            }
        }),
        ..options(features)
    };
    let mut client = Client::strange(options);
    let id = client.request(
        "initialize",
        json!({ "capabilities": capabilities, "rootUri": folder }),
    );
    assert!(client.answer(id).unwrap()["result"].is_object());
    client.notify("initialized", json!({}));
    (client, gate)
}

fn value(answer: &Value) -> &str {
    answer["result"]["contents"]["value"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_hover_on_a_slow_disk_notes_that_reading_is_in_progress() {
    let folder = repository();
    let root = format!("file://{}", folder.path().display());
    let file = format!("{root}/data/nodes/n7.yaml");
    let capabilities = json!({
        "textDocument": { "hover": { "contentFormat": ["markdown"] } },
    });
    let (mut client, gate) = slow(&Arc::default(), capabilities, &root);
    client.open(&file, "number: 7\nshown: \"port %{lookup('port')}\"\n");
    // The wait ends before the gate opens: the answer says that it is incomplete.
    let hover = client.hover(&file, 1, 1);
    let early = client.answer(hover).unwrap();
    assert!(
        value(&early).starts_with("still reading the workspace ("),
        "{early}"
    );
    assert!(!value(&early).contains("not found"), "{early}");
    // Requests that can wait are held back rather than answered from a partial workspace.
    let document = json!({ "textDocument": { "uri": file } });
    let pulled = client.request("textDocument/diagnostic", document.clone());
    let outline = client.request("textDocument/documentSymbol", document);
    let search = client.request("workspace/symbol", json!({ "query": "port" }));
    let explained = client.request(
        "workspace/executeCommand",
        json!({ "command": "hiera.explain", "arguments": [{ "uri": file, "key": "port", "form": "puppet" }] }),
    );
    let hover = client.hover(&file, 1, 1);
    // Typed after them: they are about the earlier text, and the whole disk.
    client.rewrite(&file, 2, "shown: typed\n");
    gate.open();
    assert!(value(&client.answer(hover).unwrap()).contains("80"));
    let pulled = client.answer(pulled).unwrap();
    assert_eq!(pulled["result"]["items"], json!([]), "{pulled}");
    let outline = client.answer(outline).unwrap();
    assert_eq!(outline["result"].as_array().unwrap().len(), 2, "{outline}");
    let search = client.answer(search).unwrap();
    assert_eq!(search["result"][0]["name"], "port", "{search}");
    let explained = client.answer(explained).unwrap();
    let text = explained["result"]["content"].as_str().unwrap();
    assert!(text.contains("Found key: \"port\" value: 80"), "{text}");
    client.end();
}

#[test]
fn cancelled_progress_ends_and_reading_continues() {
    let folder = repository();
    let root = format!("file://{}", folder.path().display());
    let capabilities = json!({ "window": { "workDoneProgress": true } });
    let (mut client, gate) = slow(&Arc::default(), capabilities, &root);
    let is_create = |message: &Value| message["method"] == "window/workDoneProgress/create";
    let allow = |client: &mut Client, create: &Value| {
        client.send(&json!({ "jsonrpc": "2.0", "id": create["id"], "result": null }));
        create["params"]["token"].clone()
    };
    let kind = |client: &mut Client, kind: &str| {
        let progress = client.wait(|message| message["params"]["value"]["kind"] == kind);
        progress.unwrap()["params"]["value"].clone()
    };
    let first = client.wait(is_create).unwrap();
    let token = allow(&mut client, &first);
    let begin = kind(&mut client, "begin");
    assert_eq!(begin["cancellable"], true);
    assert_eq!(begin["percentage"], 0);
    client.notify("window/workDoneProgress/cancel", json!({ "token": token }));
    // The gate is closed: only the user's cancel ends it.
    kind(&mut client, "end");
    let document = json!({ "textDocument": { "uri": format!("{root}/data/common.yaml") } });
    let outline = client.request("textDocument/documentSymbol", document.clone());
    gate.open();
    let outline = client.answer(outline).unwrap();
    assert_eq!(outline["result"][0]["name"], "port", "{outline}");
    // The next read is shown again, and ends by itself. If it starts before the first has ended, it
    // shares the cancelled progress and is not shown: then the workspace is read once more. A read
    // that ended before its progress was allowed leaves a request that nothing follows.
    let usual = client.deadline;
    let mut is_shown = false;
    for _ in 0..READS {
        gate.close();
        let again = client.request(
            "workspace/executeCommand",
            json!({ "command": "hiera-ls.rescan" }),
        );
        client.answer(again).unwrap();
        client.deadline = SOON;
        let is_begin = |message: &Value| message["params"]["value"]["kind"] == "begin";
        while !is_shown
            && let Ok(next) = client.wait(|message| is_create(message) || is_begin(message))
        {
            is_shown = is_begin(&next);
            if !is_shown {
                allow(&mut client, &next);
            }
        }
        client.deadline = usual;
        if is_shown {
            break;
        }
        gate.open();
        let outline = client.request("textDocument/documentSymbol", document.clone());
        client.answer(outline).unwrap();
    }
    assert!(is_shown, "no progress");
    gate.open();
    kind(&mut client, "end");
    client.end();
}

#[test]
fn the_environment_of_an_open_file_is_read_before_all_others() {
    let folder = tempfile::tempdir().unwrap();
    let hierarchy = "version: 5\nhierarchy:\n  - {name: node, path: \"nodes/%{trusted.certname}.yaml\"}\n  \
                     - {name: common, path: common.yaml}\n";
    for environment in ["production", "staging"] {
        let data = folder.path().join("environments").join(environment);
        let write = |name: &str, text: &str| std::fs::write(data.join(name), text).unwrap();
        std::fs::create_dir_all(data.join("data/nodes")).unwrap();
        write("hiera.yaml", hierarchy);
        write("data/common.yaml", &format!("name: from {environment}\n"));
        for node in 0..150 {
            write(
                &format!("data/nodes/n{node}.yaml"),
                &format!("number: {node}\n"),
            );
        }
    }
    let (listed, gate) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
    let (first, second) = (listed.clone(), gate.clone());
    let mut client = Client::strange(Options {
        answers: Arc::default(),
        scanning: Arc::new(move |at| match at {
            ScanProgress::Reading { .. } => second.pass_through(),
            _ => first.pass_through(),
        }),
        ..options(&Arc::default())
    });
    let root = format!("file://{}", folder.path().display());
    let capabilities = json!({ "textDocument": { "hover": { "contentFormat": ["markdown"] } } });
    let id = client.request(
        "initialize",
        json!({ "capabilities": capabilities, "rootUri": root }),
    );
    client.answer(id).unwrap();
    client.notify("initialized", json!({}));
    let file = format!("{root}/environments/staging/data/nodes/n7.yaml");
    client.open(&file, "number: 7\nshown: \"%{lookup('name')}\"\n");
    // Requests are answered for earlier messages: the document is known when this one is.
    let early = client.hover(&file, 1, 1);
    let early = client.answer(early).unwrap();
    assert!(!value(&early).contains("from staging"), "{early}");
    listed.open();
    // The other environment is behind a closed gate.
    until("the environment is read", || {
        let hover = client.hover(&file, 1, 1);
        let answer = client.answer(hover).unwrap();
        let value = value(&answer);
        assert!(
            value.starts_with("still reading the workspace ("),
            "{answer}"
        );
        value.contains("from staging")
    });
    gate.open();
    until("all is read", || {
        let hover = client.hover(&file, 1, 1);
        let answer = client.answer(hover).unwrap();
        !value(&answer).contains("still reading") && value(&answer).contains("from staging")
    });
    client.end();
}

#[test]
fn a_file_that_is_opened_while_the_model_is_busy_is_checked_on_its_own() {
    let folder = repository();
    let root = format!("file://{}", folder.path().display());
    let (gate, is_reached) = (Arc::new(Gate::default()), Arc::new(AtomicBool::new(false)));
    let (gate_of_model, reached) = (gate.clone(), is_reached.clone());
    let mut client = Client::strange(Options {
        answers: Arc::default(),
        applied: Arc::new(move |snapshot| {
            if snapshot.files().count() > 1 {
                reached.store(true, Ordering::Relaxed);
                gate_of_model.pass_through();
            }
        }),
        ..options(&Arc::default())
    });
    let id = client.request("initialize", json!({ "capabilities": {}, "rootUri": root }));
    client.answer(id).unwrap();
    client.notify("initialized", json!({}));
    until("all is read", || is_reached.load(Ordering::Relaxed));
    client.open(&format!("{root}/data/common.yaml"), "port: 80\nport: 81\n");
    let found = client.diagnostics(|found| found["uri"].as_str().unwrap().ends_with("common.yaml"));
    assert_eq!(found.unwrap()["diagnostics"][0]["code"], "dup-key");
    gate.open();
    client.end();
}

#[test]
fn initialize_is_answered_before_anything_is_read() {
    let folder = repository();
    let root = format!("file://{}", folder.path().display());
    // The gate never opens before the end: neither start nor end waits for the disk.
    let (client, gate) = slow(&Arc::default(), json!({}), &root);
    client.end();
    gate.open();
}
