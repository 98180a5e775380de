//! Order, cancellation, and edits that arrive while something runs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;

use crate::client::{Client, Gate, Planted, options, until};

const SLOW: &str = "file:///slow.yaml";

#[test]
fn slow_hovers_neither_lose_nor_reorder_edits_and_see_the_text_of_their_place() {
    let features = Arc::new(Planted::default());
    let mut client = Client::new(&features);
    client.open(SLOW, "0;");
    let mut hovers = Vec::new();
    let mut text = "0;".to_owned();
    for number in 1..=40 {
        hovers.push((client.hover(SLOW, 0, 0), text.clone()));
        let end = json!({ "line": 0, "character": text.len() });
        let word = format!("{number};");
        let edit = json!([{ "range": { "start": end, "end": end }, "text": word }]);
        client.change(SLOW, number + 1, edit);
        text += &word;
    }
    hovers.push((client.hover(SLOW, 0, 0), text));
    // Another file's edits are seen while all of those wait.
    client.open("file:///f.yaml", "quick");
    let id = client.request(
        "textDocument/documentSymbol",
        json!({ "textDocument": { "uri": SLOW } }),
    );
    until("hovers run", || features.running.load(Ordering::SeqCst) > 0);
    features.gate.open();
    for (hover, text) in hovers {
        assert_eq!(client.seen(hover), Ok(text));
    }
    assert!(client.answer(id).unwrap()["result"].is_array());
    client.end();
}

#[test]
fn a_cancelled_request_is_answered_at_once_and_its_work_stops() {
    let features = Arc::new(Planted::default());
    let mut client = Client::new(&features);
    client.open(SLOW, "a");
    let hover = client.hover(SLOW, 0, 0);
    until("the hover runs", || {
        features.running.load(Ordering::SeqCst) == 1
    });
    client.notify("$/cancelRequest", json!({ "id": hover }));
    assert_eq!(client.answer(hover).unwrap()["error"]["code"], -32800);
    until("its work stops", || {
        features.stopped.load(Ordering::SeqCst) == 1
    });
    // Cancelling an answered or unknown request is no error.
    client.notify("$/cancelRequest", json!({ "id": hover }));
    client.notify("$/cancelRequest", json!({ "id": "never" }));
    client.notify("$/cancelRequest", json!({}));
    features.gate.open();
    let hover = client.hover(SLOW, 0, 0);
    assert_eq!(client.seen(hover), Ok("a".to_owned()));
    client.end();
}

#[test]
fn a_newer_edit_stops_work_on_the_old_text_only() {
    let features = Arc::new(Planted::default());
    let mut options = options(&features);
    options.outdated_grace = Duration::ZERO;
    let mut client = Client::with(options, json!({}));
    client.open(SLOW, "a");
    client.open("file:///slow2.yaml", "b");
    let old = client.hover(SLOW, 0, 0);
    let other = client.hover("file:///slow2.yaml", 0, 0);
    until("both run", || features.running.load(Ordering::SeqCst) == 2);
    client.rewrite(SLOW, 2, "c");
    assert_eq!(client.answer(old).unwrap()["error"]["code"], -32801);
    until("its work stops", || {
        features.stopped.load(Ordering::SeqCst) == 1
    });
    features.gate.open();
    assert_eq!(client.seen(other), Ok("b".to_owned()));
    let new = client.hover(SLOW, 0, 0);
    assert_eq!(client.seen(new), Ok("c".to_owned()));
    client.end();
}

#[test]
fn diagnostics_carry_their_version_and_never_an_old_one() {
    let features = Arc::new(Planted::default());
    let mut client = Client::new(&features);
    client.open("file:///f.yaml", "bad");
    let first = client
        .diagnostics(|params| params["uri"] == "file:///f.yaml")
        .unwrap();
    assert_eq!(first["version"], 1);
    assert_eq!(first["diagnostics"][0]["code"], "bad-word");
    assert_eq!(first["diagnostics"][0]["message"], "in bad");
    let mut latest = 1;
    for version in 2..=100 {
        client.rewrite("file:///f.yaml", version, &format!("bad {version}"));
    }
    while latest < 100 {
        let params = client
            .diagnostics(|params| params["uri"] == "file:///f.yaml")
            .unwrap();
        let version = params["version"].as_i64().unwrap();
        assert!(version > latest, "{version} after {latest}");
        let message = params["diagnostics"][0]["message"].as_str().unwrap();
        assert_eq!(message, format!("in bad {version}"));
        latest = version;
    }
    client.rewrite("file:///f.yaml", 101, "good");
    let last = client
        .diagnostics(|params| params["version"] == 101)
        .unwrap();
    assert_eq!(last["diagnostics"], json!([]));
    client.end();
}

#[test]
fn a_check_of_an_old_text_is_never_published() {
    let features = Arc::new(Planted {
        check_gate: Some(Gate::default()),
        ..Planted::default()
    });
    let mut client = Client::new(&features);
    client.open("file:///f.yaml", "bad 1");
    until("a check runs", || {
        features.checks.load(Ordering::SeqCst) > 0
    });
    client.rewrite("file:///f.yaml", 2, "bad 2");
    let hover = client.hover("file:///f.yaml", 0, 0);
    assert_eq!(client.seen(hover), Ok("bad 2".to_owned()));
    features.check_gate.as_ref().unwrap().open();
    let params = client.diagnostics(|_| true).unwrap();
    assert_eq!(params["version"], 2);
    assert_eq!(params["diagnostics"][0]["message"], "in bad 2");
    client.end();
}

#[test]
fn a_client_that_pulls_is_not_pushed_to() {
    let features = Arc::new(Planted::default());
    let capabilities = json!({
        "textDocument": { "diagnostic": {}, "publishDiagnostics": { "relatedInformation": true } },
    });
    let mut client = Client::with(options(&features), capabilities);
    client.open("file:///f.yaml", "so bad");
    let ask = |client: &mut Client, previous: &str| {
        let document = json!({ "uri": "file:///f.yaml" });
        let params = json!({ "textDocument": document, "previousResultId": previous });
        let id = client.request("textDocument/diagnostic", params);
        client.answer(id).unwrap()["result"].clone()
    };
    let full = ask(&mut client, "");
    assert_eq!(full["kind"], "full");
    let item = &full["items"][0];
    assert_eq!(item["range"]["start"], json!({ "line": 0, "character": 3 }));
    assert_eq!(item["relatedInformation"][0]["message"], "the start");
    let again = ask(&mut client, full["resultId"].as_str().unwrap());
    assert_eq!(again["kind"], "unchanged");
    let id = client.request("workspace/diagnostic", json!({ "previousResultIds": [] }));
    let whole = client.answer(id).unwrap()["result"].clone();
    assert_eq!(whole["items"][0]["uri"], "file:///f.yaml");
    assert_eq!(whole["items"][0]["items"][0]["code"], "bad-word");
    // A repeated request is answered when there is news for the client, and not before.
    let known = |report: &serde_json::Value| {
        let item = &report["items"][0];
        json!({ "previousResultIds": [{ "uri": item["uri"], "value": item["resultId"] }] })
    };
    let waiting = client.request("workspace/diagnostic", known(&whole));
    ask(&mut client, "");
    assert!(!client.has_answer(waiting));
    client.open("file:///other.yaml", "bad too");
    let second = client.answer(waiting).unwrap()["result"].clone();
    assert_eq!(second["items"][0]["kind"], "unchanged");
    assert_eq!(second["items"][0]["uri"], "file:///f.yaml");
    assert_eq!(second["items"][1]["kind"], "full");
    let waiting = client.request("workspace/diagnostic", known(&whole));
    let again = client.answer(waiting).unwrap()["result"].clone();
    assert_eq!(
        again["items"], second["items"],
        "it never heard of the other"
    );
    let known = json!({ "previousResultIds": [
        { "uri": "file:///f.yaml", "value": second["items"][0]["resultId"] },
        { "uri": "file:///other.yaml", "value": second["items"][1]["resultId"] },
    ] });
    let waiting = client.request("workspace/diagnostic", known);
    client.rewrite("file:///f.yaml", 2, "so good");
    let third = client.answer(waiting).unwrap()["result"].clone();
    assert_eq!(third["items"][0]["kind"], "unchanged");
    assert_eq!(third["items"][1]["items"], json!([]));
    assert_eq!(third["items"][1]["version"], 2);
    let id = client.request("shutdown", json!(null));
    let before_the_end = client
        .wait(|message| {
            message["id"] == id || message["method"] == "textDocument/publishDiagnostics"
        })
        .unwrap();
    assert_eq!(before_the_end["id"], id);
}

#[test]
fn hints_and_lenses_wait_until_an_edit_has_settled_and_hovers_do_not() {
    let features = Arc::new(Planted::default());
    let mut options = options(&features);
    options.quiet = Duration::from_secs(1);
    let mut client = Client::with(options, json!({}));
    client.open("file:///f.yaml", "a: 1\n");
    client.rewrite("file:///f.yaml", 2, "a: 2\n");
    let document = json!({ "uri": "file:///f.yaml" });
    let (start, end) = (
        json!({ "line": 0, "character": 0 }),
        json!({ "line": 1, "character": 0 }),
    );
    let range = json!({ "start": start, "end": end });
    let hints = json!({ "textDocument": document, "range": range });
    let waiting = [
        client.request("textDocument/inlayHint", hints),
        client.request("textDocument/codeLens", json!({ "textDocument": document })),
    ];
    let hover = client.hover("file:///f.yaml", 0, 0);
    assert_eq!(client.seen(hover), Ok("a: 2\n".to_owned()));
    for id in waiting {
        assert!(
            !client.has_answer(id),
            "{id} was answered while the edit was new"
        );
    }
    for id in waiting {
        assert!(client.answer(id).unwrap().get("error").is_none());
    }
    client.end();
}

#[test]
fn a_closed_file_takes_its_diagnostics_with_it() {
    let features = Arc::new(Planted::default());
    let mut client = Client::new(&features);
    client.open("file:///nowhere/f.yaml", "bad");
    client.diagnostics(|params| params["version"] == 1).unwrap();
    let document = json!({ "uri": "file:///nowhere/f.yaml" });
    client.notify("textDocument/didClose", json!({ "textDocument": document }));
    let params = client
        .diagnostics(|params| params["diagnostics"] == json!([]))
        .unwrap();
    assert_eq!(params["uri"], "file:///nowhere/f.yaml");
    client.end();
}
