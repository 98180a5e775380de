//! The four rules of the house.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hiera_ls::server::testing::Broken;
use serde_json::json;

use crate::client::{Client, Planted, options};

/// Long enough for the broken server to show that it does not answer.
const IMPATIENCE: Duration = Duration::from_secs(2);

/// Runs a scenario on the server as it is, and on one with a broken rule.
fn pinned(broken: Broken, scenario: fn(&mut Client, &Planted) -> Result<(), String>) {
    let features = Arc::new(Planted::default());
    let mut client = Client::new(&features);
    let held = scenario(&mut client, &features);
    features.gate.open();
    assert_eq!(held, Ok(()), "the rule does not hold");
    client.end();

    let features = Arc::new(Planted::default());
    let mut options = options(&features);
    options.broken = Some(broken);
    let mut client = Client::with(options, json!({}));
    client.deadline = IMPATIENCE;
    let noticed = scenario(&mut client, &features);
    features.gate.open();
    assert!(noticed.is_err(), "the test does not notice {broken:?}");
}

/// Rule 1: order is taken where messages arrive.
#[test]
fn edits_take_effect_in_wire_order() {
    pinned(Broken::Order, |client, _| {
        client.open("file:///f.yaml", "");
        let mut text = String::new();
        for number in 1..=200_u64 {
            let word = "x".repeat((number * 31 % 17) as usize) + ";";
            let end = json!({ "line": 0, "character": text.len() });
            let range = json!({ "start": end, "end": end });
            client.change(
                "file:///f.yaml",
                number as i64 + 1,
                json!([{ "range": range, "text": word }]),
            );
            text += &word;
        }
        let hover = client.hover("file:///f.yaml", 0, 0);
        let seen = client.seen(hover)?;
        if seen == text { Ok(()) } else { Err(seen) }
    });
}

/// Rule 2: handlers never compute.
#[test]
fn a_long_computation_stops_nothing_else() {
    pinned(Broken::Compute, |client, features| {
        client.open("file:///slow.yaml", "a");
        client.open("file:///f.yaml", "b");
        client.hover("file:///slow.yaml", 0, 0);
        // Else what is asked next could be answered before the computation begins.
        let until = Instant::now() + client.deadline;
        while features.started.load(std::sync::atomic::Ordering::SeqCst) == 0 {
            if Instant::now() > until {
                return Err("nothing is computed".to_owned());
            }
            std::thread::yield_now();
        }
        client.rewrite("file:///f.yaml", 2, "c");
        let hover = client.hover("file:///f.yaml", 0, 0);
        let seen = client.seen(hover)?;
        if seen == "c" { Ok(()) } else { Err(seen) }
    });
}

/// Rule 3: no handler waits for the client.
#[test]
fn a_client_that_never_replies_is_answered() {
    pinned(Broken::Wait, |client, _| {
        client.open("file:///f.yaml", "a");
        let hovers: Vec<_> = (0..8)
            .map(|_| client.hover("file:///f.yaml", 0, 0))
            .collect();
        for hover in hovers {
            client.seen(hover)?;
        }
        Ok(())
    });
}

/// Rule 4: the transport's limit is raised, and work is bounded by a semaphore.
#[test]
fn hundreds_of_waiting_requests_do_not_stop_the_reader() {
    pinned(Broken::Slots, |client, features| {
        client.open("file:///slow.yaml", "a");
        let hovers: Vec<_> = (0..300)
            .map(|_| client.hover("file:///slow.yaml", 0, 0))
            .collect();
        let last = *hovers.last().unwrap();
        client.notify("$/cancelRequest", json!({ "id": last }));
        let answer = client.answer(last)?;
        if answer["error"]["code"] != -32800 {
            return Err(answer.to_string());
        }
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let most = features.most.load(std::sync::atomic::Ordering::SeqCst);
        if most > cores.max(2) {
            return Err(format!("{most} computations at once"));
        }
        Ok(())
    });
}
