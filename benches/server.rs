//! The server as an editor uses it: the program itself, behind two pipes: `cargo bench --bench
//! server`; parts by name: `-- sizes`, `large`, `reading`.
//!
//! Sizes are 100, 1,000 and 10,000 nodes, and 100,000 with `LARGE=1`; `NODES=n` selects one size.
//! Times are wall-clock times, since two processes take part: the ratio to an echo (a request whose
//! method does not exist) in the same run is what is tested. The server's debounce after a
//! keystroke is subtracted.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a benchmark stops at the first surprise, runs programs and prints"
)]

mod client;
mod generator;
mod measure;

use std::path::Path;
use std::time::{Duration, Instant};

use client::{Client, hover_at, uri};
use generator::ControlRepo;
use hiera_ls::syntax::libyaml::Parser;
use measure::{best, left_out, note, number, quantile, ratio, report};
use serde_json::{Value, json};

/// Number of hovers, echoes and keystrokes for a quantile.
const SAMPLES: usize = 200;

/// The server's debounce of diagnostics.
const QUIET: Duration = Duration::from_millis(60);

/// Number of edits in a burst, and the time between two of them.
const BURST: (usize, Duration) = (200, Duration::from_millis(5));

fn main() {
    println!("the program: {}", env!("CARGO_BIN_EXE_hiera-ls"));
    let sizes = match (number("NODES", 0), number("LARGE", 0)) {
        (0, 0) => vec![100, 1_000, 10_000],
        (0, _) => vec![100, 1_000, 10_000, 100_000],
        (one, _) => vec![one],
    };
    for nodes in sizes.into_iter().filter(|_| !left_out("sizes")) {
        let repo = ControlRepo::of(nodes);
        let folder = tempfile::tempdir().unwrap();
        let (files, bytes) = repo.write(folder.path());
        println!(
            "\n{nodes} nodes: {files} files, {:.1} MB",
            bytes as f64 / 1e6
        );
        start(folder.path());
        first_hover(&repo, folder.path());
        session(&repo, folder.path());
    }
    if !left_out("large") {
        large_document();
    }
    if !left_out("reading") {
        opened_while_reading();
    }
}

/// Opens, checks and edits a document of 32 MiB.
fn large_document() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let levels = "hierarchy:\n  - {name: common, path: common.yaml}\n";
    write("hiera.yaml", &format!("version: 5\n{levels}"));
    let path = folder.path().join("data/common.yaml");
    let mut text = String::from("---\n");
    let mut number = 0;
    while text.len() < 32 << 20 {
        text += &format!(
            "profile::p{number}::settings:\n  owner: user{number}\n  mode: '0644'\n  ports: [80, {number}]\n  \
             note: \"kept for %{{facts.role}}\"\n"
        );
        number += 1;
    }
    write("data/common.yaml", &text);
    let mut client = Client::start(folder.path());
    client.initialized();
    let began = Instant::now();
    client.open(&path, &text);
    client.diagnostics(&path, 1);
    let opened = began.elapsed();
    let at = json!({ "line": 1, "character": 0 });
    let change = json!([{ "range": { "start": at, "end": at }, "text": "new: 1\n" }]);
    let began = Instant::now();
    client.change(&path, 2, &change);
    client.diagnostics(&path, 2);
    let edited = began.elapsed();
    let status = client.status("VmHWM");
    let peak: f64 = status.trim_end_matches(" kB").parse::<f64>().unwrap() * 1024.0 / 1e6;
    report(
        "an open document of 32 MiB, memory at the peak",
        &format!(
            "{peak:.0} MB, {} at rest; diagnostics {opened:.1?} after it is opened, {edited:.1?} after an edit",
            client.status("VmRSS")
        ),
        "≤ 400 MB",
        peak <= 400.0,
    );
    client.kill();
}

/// Number of files in the repository that is being read while one of them is opened.
const BEING_READ: usize = 12_000;

/// The first diagnostics of a file with a mistake, opened at some point during the read.
fn opened_while_reading() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    for level in ["data/nodes", "data/roles", "data/groups"] {
        std::fs::create_dir_all(folder.path().join(level)).unwrap();
    }
    write(
        "hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: node, path: \"nodes/%{trusted.certname}.yaml\"}\n  \
         - {name: roles, mapped_paths: [facts.roles, role, \"roles/%{role}.yaml\"]}\n  \
         - {name: groups, glob: \"groups/*.yaml\"}\n",
    );
    for number in 0..BEING_READ {
        let level = ["nodes", "roles", "groups"][number % 3];
        let text = format!(
            "profile::p{number}::port: {number}\nprofile::shared::list: [a, \"%{{lookup('profile::p{}::port')}}\"]\n\
             profile::deep::hash:\n  one: {{two: {number}}}\n  three: [1, 2, 3]\n",
            number + 3
        );
        write(&format!("data/{level}/n{number}.yaml"), &text);
    }
    let path = folder.path().join("data/roles/n1.yaml");
    let text = "twice: 1\ntwice: 2\n";
    let mut times = Vec::new();
    // Closely, since there are moments at which much is applied at once.
    for pause in (0..=400).step_by(40).chain([800, 1_200]) {
        let mut client = Client::start(folder.path());
        client.initialized();
        std::thread::sleep(Duration::from_millis(pause));
        let began = Instant::now();
        client.open(&path, text);
        let uri = uri(&path);
        let notification = client.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri.as_str()
        });
        times.push(began.elapsed());
        let mut found = notification["params"]["diagnostics"]
            .as_array()
            .into_iter()
            .flatten();
        assert!(
            found.any(|found| found["code"] == "dup-key"),
            "{notification}"
        );
        client.kill();
    }
    report(
        &format!("first diagnostics while {BEING_READ} files are read"),
        &format!("opened after 0 to 1,200 ms: {times:.0?}"),
        "< 100 ms",
        times.iter().all(|time| *time < Duration::from_millis(100)),
    );
}

/// `initialize` for this workspace compared with an empty one.
fn start(folder: &Path) {
    let empty = tempfile::tempdir().unwrap();
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..15 {
        for (times, folder) in times.iter_mut().zip([folder, empty.path()]) {
            let began = Instant::now();
            let client = Client::start(folder);
            times.push(began.elapsed());
            client.kill();
        }
    }
    let [full, empty] = times.map(|mut times| quantile(&mut times, 0.5));
    report(
        "initialize, from process start",
        &format!(
            "{full:.1?}, of an empty folder {empty:.1?}: {:.2}×",
            ratio(full, empty)
        ),
        "≤ 1.5×",
        ratio(full, empty) <= 1.5,
    );
}

/// From process start to the first hover with a value.
fn first_hover(repo: &ControlRepo, folder: &Path) {
    let machine = repo.machine(repo.nodes / 3);
    let path = folder.join(format!("data/nodes/{}.yaml", machine.certname));
    let text = std::fs::read_to_string(&path).unwrap();
    let line = key_lines(&text)[3];
    let mut times = Vec::new();
    for _ in 0..3 {
        let began = Instant::now();
        let mut client = Client::start(folder);
        client.initialized();
        client.open(&path, &text);
        loop {
            let answer = client.ask("textDocument/hover", hover_at(&path, line));
            let hover = answer["result"]["contents"]["value"]
                .as_str()
                .unwrap_or_default();
            if !hover.is_empty() && !hover.contains("indexing") {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        times.push(began.elapsed());
        client.kill();
    }
    note(
        "first hover with an answer, from process start",
        &format!("{:.0?}", quantile(&mut times, 0.5)),
    );
}

fn session(repo: &ControlRepo, folder: &Path) {
    let mut client = Client::start(folder);
    client.initialized();
    let machine = repo.machine(repo.nodes / 2);
    let node = folder.join(format!("data/nodes/{}.yaml", machine.certname));
    let common = folder.join("data/common.yaml");
    let text = |path: &Path| std::fs::read_to_string(path).unwrap();
    let (node_text, common_text) = (text(&node), text(&common));
    client.open(&node, &node_text);
    client.open(&common, &common_text);
    client.until_indexed(&node, key_lines(&node_text)[3]);
    hovers(&mut client, "a node's file", &node, &node_text);
    hovers(&mut client, "common.yaml", &common, &common_text);
    symbols(&mut client, &node);
    completions(&mut client, &node, &node_text);
    let one = keystrokes(&mut client, "a node's file", &node, &node_text, SAMPLES / 4);
    report(
        "keystroke to diagnostics in a node's file",
        &format!("p50 {one:.1?} after the quiet time"),
        "< 5 ms",
        one < Duration::from_millis(5),
    );
    let large = keystrokes(
        &mut client,
        "common.yaml",
        &common,
        &common_text,
        SAMPLES / 8,
    );
    let parse = best(10, || events_of(common_text.as_bytes()));
    report(
        "keystroke to diagnostics in common.yaml",
        &format!(
            "p50 {large:.1?} after the quiet time, {:.1}× a libyaml parse of {parse:.1?}",
            ratio(large, parse)
        ),
        "< 4×",
        ratio(large, parse) < 4.0,
    );
    let hiera = folder.join("hiera.yaml");
    let hiera_text = text(&hiera);
    client.open(&hiera, &hiera_text);
    let configuration = keystrokes(&mut client, "hiera.yaml", &hiera, &hiera_text, SAMPLES / 8);
    note(
        "keystroke to diagnostics in hiera.yaml",
        &format!("p50 {configuration:.1?} after the quiet time"),
    );
    // The files that nodes read are recomputed after an edit of hiera.yaml.
    client.ask(
        "textDocument/hover",
        hover_at(&node, key_lines(&node_text)[3]),
    );
    burst(&mut client, &node, &node_text, one);
    note("memory at the peak", &client.status("VmHWM"));
    client.kill();
}

/// Alternates hovers and echoes.
fn hovers(client: &mut Client, what: &str, path: &Path, text: &str) {
    let lines = key_lines(text);
    let (mut hovers, mut echoes) = (Vec::new(), Vec::new());
    for sample in 0..SAMPLES {
        let line = lines[sample * 7 % lines.len()];
        let began = Instant::now();
        let answer = client.ask("textDocument/hover", hover_at(path, line));
        hovers.push(began.elapsed());
        let hover = answer["result"]["contents"]["value"].as_str();
        assert!(
            hover.is_some_and(|hover| hover.contains("profile::")),
            "{answer}"
        );
        let began = Instant::now();
        let answer = client.ask("nothing/such", hover_at(path, line));
        echoes.push(began.elapsed());
        assert_eq!(answer["error"]["code"], -32601);
    }
    let of = |times: &mut Vec<Duration>| (quantile(times, 0.5), quantile(times, 0.99));
    let ((h50, h99), (e50, e99)) = (of(&mut hovers), of(&mut echoes));
    report(
        &format!("hover in {what}"),
        &format!("p50 {h50:.2?}, p99 {h99:.2?}; echo p50 {e50:.2?}, p99 {e99:.2?}"),
        "p50 < 1 ms, p99 < 8 ms",
        h50 < Duration::from_millis(1) && h99 < Duration::from_millis(8),
    );
}

fn symbols(client: &mut Client, path: &Path) {
    let mut of = |method: &str, params: &Value| {
        let mut times = Vec::new();
        for _ in 0..20 {
            let began = Instant::now();
            let answer = client.ask(method, params.clone());
            times.push(began.elapsed());
            assert!(
                answer["result"]
                    .as_array()
                    .is_some_and(|all| !all.is_empty()),
                "{answer}"
            );
        }
        quantile(&mut times, 0.5)
    };
    let document = json!({ "textDocument": { "uri": uri(path) } });
    let outline = of("textDocument/documentSymbol", &document);
    let search = of("workspace/symbol", &json!({ "query": "p01::settings" }));
    note(
        "symbols",
        &format!("of the file {outline:.2?}, of the workspace {search:.2?}"),
    );
}

/// Requests completions for partly typed keys, values and tokens at the end of a file, and deletes
/// them.
fn completions(client: &mut Client, path: &Path, text: &str) {
    const HALF_TYPED: [&str; 5] = [
        "profile::p0",
        "p01set",
        "x: \"%{lookup('profile::p01",
        "x: \"%{facts.",
        "lookup_options:\n  profile::p01",
    ];
    let end = text.lines().count();
    let mut times = Vec::new();
    for sample in 0..SAMPLES {
        let typed = HALF_TYPED[sample % HALF_TYPED.len()];
        client.versions += 1;
        let whole = format!("{text}{typed}");
        client.change(path, client.versions, &json!([{ "text": whole }]));
        let line = end + typed.matches('\n').count();
        let character = typed.lines().last().unwrap().len();
        let at = json!({
            "textDocument": { "uri": uri(path) },
            "position": { "line": line, "character": character },
        });
        let began = Instant::now();
        let answer = client.ask("textDocument/completion", at);
        times.push(began.elapsed());
        let items = answer["result"]["items"].as_array().map_or(0, Vec::len);
        assert!(items > 0, "{typed}: {answer}");
    }
    client.versions += 1;
    client.change(path, client.versions, &json!([{ "text": text }]));
    let (p50, p99) = (quantile(&mut times, 0.5), quantile(&mut times, 0.99));
    report(
        "completion in a node's file, with the edit before it",
        &format!("p50 {p50:.2?}, p99 {p99:.2?}"),
        "p99 < 10 ms",
        p99 < Duration::from_millis(10),
    );
}

/// Types a mistake at the end of a line in the middle, and deletes it.
fn keystrokes(client: &mut Client, what: &str, path: &Path, text: &str, rounds: usize) -> Duration {
    let line = text[..text.len() / 2].lines().count();
    let end = text.lines().nth(line).unwrap().len();
    let mut times = Vec::new();
    for round in 0..rounds {
        let version = client.versions + 1;
        client.versions = version;
        let (range, new) = if round % 2 == 0 {
            (
                json!({ "start": { "line": line, "character": end }, "end": { "line": line, "character": end } }),
                " ",
            )
        } else {
            (
                json!({ "start": { "line": line, "character": end }, "end": { "line": line, "character": end + 1 } }),
                "",
            )
        };
        let began = Instant::now();
        client.change(path, version, &json!([{ "range": range, "text": new }]));
        client.diagnostics(path, version);
        times.push(began.elapsed().saturating_sub(QUIET));
    }
    let p99 = quantile(&mut times, 0.99);
    note(
        &format!("keystroke to diagnostics in {what}, p99"),
        &format!("{p99:.1?}"),
    );
    quantile(&mut times, 0.5)
}

/// Many edits, then a hover and the diagnostics of the last text.
fn burst(client: &mut Client, path: &Path, text: &str, one: Duration) {
    let line = key_lines(text)[3];
    let first = client.versions + 1;
    for edit in 0..BURST.0 {
        client.versions += 1;
        let at = json!({ "line": 0, "character": 3 });
        // A comment after the document's start grows.
        let letter = if edit == 0 { " #" } else { "x" };
        let at = if edit == 0 {
            at
        } else {
            json!({ "line": 0, "character": 4 + edit })
        };
        let change = json!([{ "range": { "start": at, "end": at }, "text": letter }]);
        client.change(path, client.versions, &change);
        if edit + 1 < BURST.0 {
            std::thread::sleep(BURST.1);
        }
    }
    let last = client.versions;
    assert_eq!(last - first + 1, BURST.0 as i64);
    let began = Instant::now();
    let answer = client.ask("textDocument/hover", hover_at(path, line));
    let hovered = began.elapsed();
    assert!(answer["result"].is_object(), "{answer}");
    client.diagnostics(path, last);
    let diagnosed = began.elapsed().saturating_sub(QUIET);
    report(
        &format!("burst of {} edits", BURST.0),
        &format!(
            "hover {hovered:.1?}, diagnostics {diagnosed:.1?} after its end and the quiet time, {:.1}× one edit's",
            ratio(diagnosed, one)
        ),
        "≤ 3×",
        ratio(diagnosed, one) <= 3.0,
    );
}

/// Lines of top-level keys of profiles.
fn key_lines(text: &str) -> Vec<usize> {
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| line.starts_with("profile::"))
        .map(|(at, _)| at)
        .collect()
}

fn events_of(text: &[u8]) -> usize {
    let mut parser = Parser::new(text);
    let mut count = 0;
    while let Ok(Some(_)) = parser.next_event() {
        count += 1;
    }
    count
}
