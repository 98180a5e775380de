//! Mistakes of clients: an error or a clamp, and the session continues.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::client::{Client, Planted, frame, options};

const F: &str = "file:///f.yaml";

fn error_without_id(message: &Value) -> bool {
    message["id"].is_null() && message["error"]["code"].is_i64()
}

/// Asserts that the session still answers.
fn lives(client: &mut Client, text: &str) {
    let hover = client.hover(F, 0, 0);
    assert_eq!(client.seen(hover), Ok(text.to_owned()));
}

#[test]
fn malformed_messages_cost_an_error_each() {
    let mut client = Client::new(&Arc::new(Planted::default()));
    client.open(F, "a");
    for (body, code) in [
        ("{\"jsonrpc\":\"2.0\",", -32700),
        ("\u{0}", -32700),
        ("[]", -32600),
        ("{}", -32600),
        ("{\"jsonrpc\":\"1.0\",\"method\":\"x\"}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"method\":7}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}", -32600),
    ] {
        client.raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        let answer = client.wait(error_without_id).unwrap();
        assert_eq!(answer["error"]["code"], code, "{body}");
        lives(&mut client, "a");
    }
    let deep = "[".repeat(200_000);
    client.raw(format!("Content-Length: {}\r\n\r\n{deep}", deep.len()).as_bytes());
    assert_eq!(
        client.wait(error_without_id).unwrap()["error"]["code"],
        -32700
    );
    client.raw(b"Content-Length: 4\r\n\r\n\xff\xfe\xfd\xfc");
    assert_eq!(
        client.wait(error_without_id).unwrap()["error"]["code"],
        -32700
    );
    // Responses to requests that were never sent.
    client.send(&json!({ "jsonrpc": "2.0", "id": 77, "result": 1 }));
    client.send(&json!({ "jsonrpc": "2.0", "id": "x", "error": { "code": "odd", "more": 1 } }));
    lives(&mut client, "a");
    client.end();
}

#[test]
fn wrong_headers_cost_an_error_each() {
    let mut client = Client::new(&Arc::new(Planted::default()));
    client.open(F, "a");
    for header in [
        "Content-Length: abc\r\n\r\n",
        "Content-Length: -1\r\n\r\n",
        "Content-Length: 99999999999999999999\r\n\r\n",
        "Content-Length: 9999999999\r\n\r\n",
        "No header at all\r\n\r\n",
        "Content-Length: 3\r\n\r\n{}}",
    ] {
        client.raw(header.as_bytes());
        client.wait(error_without_id).unwrap();
        lives(&mut client, "a");
    }
    // Too short, too long, and a header that never ends.
    client.raw(b"Content-Length: 5\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"x\"}");
    lives(&mut client, "a");
    client.raw(b"Content-Length: 500\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"x\"}");
    lives(&mut client, "a");
    client.raw("X: y\r\n".repeat(100_000).as_bytes());
    client.raw("z".repeat(1_000_000).as_bytes());
    lives(&mut client, "a");
    client.end();
}

#[test]
fn unknown_methods_and_wrong_parameters_get_their_errors() {
    let mut client = Client::new(&Arc::new(Planted::default()));
    client.open(F, "a");
    let code = |client: &mut Client, method: &str, params: Value| {
        let id = client.request(method, params);
        client.answer(id).unwrap()["error"]["code"].clone()
    };
    assert_eq!(code(&mut client, "no/such", json!({})), -32601);
    assert_eq!(
        code(&mut client, "textDocument/hover", json!({ "x": 1 })),
        -32602
    );
    assert_eq!(code(&mut client, "textDocument/hover", json!(null)), -32602);
    assert_eq!(
        code(
            &mut client,
            "workspace/executeCommand",
            json!({ "command": "rm" })
        ),
        -32602
    );
    assert_eq!(
        code(&mut client, "initialize", json!({ "capabilities": {} })),
        -32600
    );
    client.notify("no/such", json!({}));
    client.notify("$/optional", json!([]));
    client.notify("textDocument/didOpen", json!({ "textDocument": 3 }));
    client.notify("textDocument/didOpen", json!(null));
    client.notify(
        "workspace/didChangeWatchedFiles",
        json!({ "changes": [1, { "uri": 2 }] }),
    );
    client.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({ "event": [] }),
    );
    client.notify("workspace/didChangeConfiguration", json!(7));
    lives(&mut client, "a");
    client.end();
}

#[test]
fn requests_before_initialize_and_after_shutdown_get_errors() {
    let features = Arc::new(Planted::default());
    let mut client = Client::strange(options(&features));
    let early = client.hover(F, 0, 0);
    assert_eq!(client.answer(early).unwrap()["error"]["code"], -32002);
    client.open(F, "ignored");
    let shutdown = client.request("shutdown", json!(null));
    assert_eq!(client.answer(shutdown).unwrap()["error"]["code"], -32002);
    // A client that sends on before it has read the answer.
    let id = client.request("initialize", json!({ "capabilities": {} }));
    client.notify("initialized", json!({}));
    client.open(F, "taken");
    let hover = client.hover(F, 0, 0);
    assert!(client.answer(id).unwrap()["result"].is_object());
    assert_eq!(client.seen(hover), Ok("taken".to_owned()));
    let id = client.request("shutdown", json!({}));
    assert_eq!(client.answer(id).unwrap()["result"], Value::Null);
    let late = client.hover(F, 0, 0);
    assert_eq!(client.answer(late).unwrap()["error"]["code"], -32600);
    client.notify("exit", json!(null));
    assert_eq!(client.code(), Ok(0));
}

#[test]
fn edits_that_do_not_fit_are_clamped_or_lose_the_document_only() {
    let mut client = Client::new(&Arc::new(Planted::default()));
    client.open(F, "a😀b\r\nc");
    let edit = |from: (u64, u64), to: (u64, u64), text: &str| {
        json!([{
            "range": {
                "start": { "line": from.0, "character": from.1 },
                "end": { "line": to.0, "character": to.1 },
            },
            "text": text,
        }])
    };
    // Inside the surrogate pair, behind the line, behind the text, backwards.
    client.change(F, 2, edit((0, 2), (0, 2), "1"));
    lives(&mut client, "a1😀b\r\nc");
    client.change(F, 3, edit((0, 999), (0, 999), "2"));
    client.change(F, 4, edit((99, 0), (u64::from(u32::MAX) + 5, 7), "3"));
    client.change(F, 5, edit((1, 1), (1, 0), ""));
    lives(&mut client, "a1😀b2\r\n3");
    let hover = client.hover(F, u64::from(u32::MAX), u64::from(u32::MAX));
    assert_eq!(client.seen(hover), Ok("a1😀b2\r\n3".to_owned()));
    // Half of a surrogate pair in the text itself.
    client.raw(&frame(&json!(null)));
    client.wait(error_without_id).unwrap();
    let body = r#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///f.yaml","version":6},"contentChanges":[{"text":"x\ud83dy"}]}}"#;
    client.raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    lives(&mut client, "x\u{fffd}y");
    // An old version or an invalid range drops the document; a whole text restores it.
    for broken in [
        edit((0, 0), (0, 0), "lost"),
        json!([{ "range": {}, "text": "lost" }]),
    ] {
        client.open(F, "fresh");
        lives(&mut client, "fresh");
        client.change(F, 1, broken);
        let hover = client.hover(F, 0, 0);
        assert_eq!(client.answer(hover).unwrap()["result"], Value::Null);
    }
    // These were never opened.
    client.change("file:///g.yaml", 2, edit((0, 0), (5, 5), "x"));
    client.notify(
        "textDocument/didClose",
        json!({ "textDocument": { "uri": "file:///g.yaml" } }),
    );
    client.open("untitled:new", "bad");
    client.open("http://h/x.yaml", "bad");
    client.open(F, "again");
    lives(&mut client, "again");
    client.end();
}

#[test]
fn uris_are_taken_as_clients_write_them() {
    let mut client = Client::new(&Arc::new(Planted::default()));
    for (opened, hovered) in [
        ("file:///d%C3%A4ta/a%20b.yaml", "file:///däta/a b.yaml"),
        ("file:///a b/{x}.yaml", "file:///a%20b/%7Bx%7D.yaml"),
    ] {
        client.open(opened, "bad");
        let hover = client.hover(hovered, 0, 0);
        assert_eq!(client.seen(hover), Ok("bad".to_owned()));
    }
    client
        .diagnostics(|params| params["uri"] == "file:///d%C3%A4ta/a%20b.yaml")
        .unwrap();
    client.end();
}

#[test]
fn a_panic_costs_one_answer() {
    let mut client = Client::new(&Arc::new(Planted::default()));
    client.open("file:///panic.yaml", "a");
    client.open(F, "a");
    for _ in 0..20 {
        let hover = client.hover("file:///panic.yaml", 0, 0);
        let error = client.answer(hover).unwrap()["error"].clone();
        assert_eq!(error["code"], -32603);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("planted"), "{message}");
        lives(&mut client, "a");
    }
    client.end();
}
