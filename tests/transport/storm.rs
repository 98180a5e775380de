//! More edits than anybody types: the server is up to date at the end.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::json;

use crate::client::{Client, Planted};

#[test]
fn a_storm_leaves_the_server_current() {
    let features = Arc::new(Planted::default());
    let mut client = Client::new(&features);
    let mut text = "start\n".to_owned();
    client.open("file:///f.yaml", &text);
    let mut hovers = Vec::new();
    for number in 1..=10_000_i64 {
        let word = format!("{number} ");
        let at = json!({ "line": 1, "character": text.len() - 6 });
        let range = json!({ "start": at, "end": at });
        client.change(
            "file:///f.yaml",
            number + 1,
            json!([{ "range": range, "text": word }]),
        );
        text += &word;
        if number % 10 == 0 {
            hovers.push((client.hover("file:///f.yaml", 0, 0), text.len()));
        }
        if number % 20 == 0 {
            client.open(&format!("file:///{number}.yaml"), &format!("n: {number}"));
        }
    }
    let last = client.hover("file:///f.yaml", 0, 0);
    assert_eq!(client.seen(last), Ok(text));
    assert_eq!(hovers.len(), 1000);
    for (hover, length) in hovers {
        assert_eq!(client.seen(hover).unwrap().len(), length);
    }
    for number in (20..=10_000).step_by(20) {
        let hover = client.hover(&format!("file:///{number}.yaml"), 0, 0);
        assert_eq!(client.seen(hover), Ok(format!("n: {number}")));
    }
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    assert!(features.most.load(Ordering::SeqCst) <= cores.max(2));
    client
        .diagnostics(|params| params["version"] == 10_001)
        .unwrap();
    client.end();
}

#[test]
fn a_client_that_stops_reading_stops_nothing() {
    let features = Arc::new(Planted::default());
    let mut client = Client::new(&features);
    *client.pause.0.lock().unwrap() = true;
    let big = "x".repeat(20_000);
    client.open("file:///big.yaml", &big);
    // 10 MB of answers that the client never reads: more than any pipe holds.
    let hovers: Vec<_> = (0..500)
        .map(|_| client.hover("file:///big.yaml", 0, 0))
        .collect();
    for version in 2..=2_000 {
        client.rewrite("file:///f.yaml", version, &format!("v{version}"));
    }
    *client.pause.0.lock().unwrap() = false;
    client.pause.1.notify_all();
    for hover in hovers {
        assert_eq!(client.seen(hover).unwrap().len(), big.len());
    }
    client.end();
}

#[test]
fn a_client_that_dies_with_a_full_pipe_ends_the_server() {
    let features = Arc::new(Planted::default());
    let mut client = Client::new(&features);
    *client.pause.0.lock().unwrap() = true;
    client.open("file:///big.yaml", &"x".repeat(20_000));
    for _ in 0..100 {
        client.hover("file:///big.yaml", 0, 0);
    }
    client.hang_up();
    assert_eq!(client.code(), Ok(0));
}
