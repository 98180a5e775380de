//! Incremental equals fresh: after any sequence of edits, opens, closes, saves, created, deleted
//! and renamed files, and changes of settings and choices, the server shows the same as a fresh
//! server with the final texts: published and pulled diagnostics, hovers, explained lookups, nodes,
//! outlines, the search for keys, lenses, hints, calls, and the documents of commands.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, PipeWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hiera_ls::server::testing::{Options, serve};
use serde_json::{Value, json};

use super::incremental_files::{Dice, FILES, text};

/// Number of sequences, unless `INCREMENTAL_COUNT` sets another.
const SEQUENCES: u64 = 80;

/// Number of steps in one sequence.
const STEPS: usize = 14;

/// Timeout, long enough for a loaded machine; only reached if something is broken.
const DEADLINE: Duration = Duration::from_secs(30);

/// One session, and the diagnostics published in it.
struct Client {
    to: Option<PipeWriter>,
    from: Receiver<Value>,
    answers: VecDeque<Value>,
    shown: BTreeMap<String, Value>,
    next: i64,
    server: Option<JoinHandle<u8>>,
}

impl Client {
    fn start(folder: &Path, settings: &Value, pulls: &Value) -> Client {
        let (server_in, to) = std::io::pipe().unwrap();
        let (from, server_out) = std::io::pipe().unwrap();
        let options = Options {
            quiet: Duration::from_millis(1),
            rest: Duration::from_millis(1),
            outdated_grace: Duration::MAX,
            ..Options::default()
        };
        let server = std::thread::spawn(move || serve(server_in, server_out, options));
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            while let Some(message) = read(&mut from) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut client = Client {
            to: Some(to),
            from: receiver,
            answers: VecDeque::new(),
            shown: BTreeMap::new(),
            next: 1,
            server: Some(server),
        };
        // The client watches files, so that the test decides when changes are seen.
        let capabilities = json!({
            "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } },
            "textDocument": {
                "diagnostic": pulls,
                "hover": { "contentFormat": ["markdown"] },
                "publishDiagnostics": { "relatedInformation": true },
                "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            },
        });
        let params = json!({
            "processId": null, "rootUri": uri(folder), "capabilities": capabilities,
            "initializationOptions": settings,
        });
        client.ask("initialize", &params);
        client.notify("initialized", &json!({}));
        client
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let to = self.to.as_mut().unwrap();
        write!(to, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let until = Instant::now() + DEADLINE;
        loop {
            if let Some(at) = self.answers.iter().position(|answer| answer["id"] == id) {
                let mut answer = self.answers.remove(at).unwrap();
                let has_failed = answer.get("error").is_some();
                return answer[if has_failed { "error" } else { "result" }].take();
            }
            assert!(self.hear(until), "{method} was not answered");
        }
    }

    /// Receives one message; false at the deadline.
    fn hear(&mut self, until: Instant) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(message) = self.from.recv_timeout(left) else {
            return false;
        };
        if message["method"] == "textDocument/publishDiagnostics" {
            let params = &message["params"];
            let uri = params["uri"].as_str().unwrap().to_owned();
            self.shown.insert(uri, params["diagnostics"].clone());
        } else if message.get("method").is_none() {
            self.answers.push_back(message);
        }
        true
    }

    /// The pulled diagnostics of all files, ordered by file.
    fn pull_workspace(&mut self) -> Vec<String> {
        // A client with outdated information about a missing file is answered at once.
        let known = json!([{ "uri": "file:///nowhere/at-all.yaml", "value": "old" }]);
        let params = json!({ "previousResultIds": known });
        let mut report = self.ask("workspace/diagnostic", &params);
        let items = report["items"].as_array_mut().unwrap();
        for item in items.iter_mut() {
            // A fresh server counts the versions of open files from the start.
            item.as_object_mut().unwrap().remove("version");
        }
        let mut items: Vec<String> = items.iter().map(ToString::to_string).collect();
        items.sort();
        items
    }

    /// Everything that the server currently shows of the files; published diagnostics as received.
    fn everything(&mut self, folder: &Path, open: &BTreeMap<usize, String>) -> String {
        let mut all = String::new();
        for (number, file) in FILES.iter().enumerate() {
            let path = folder.join(file);
            let document = json!({ "uri": uri(&path) });
            let params = json!({ "textDocument": document });
            let symbols = self.ask("textDocument/documentSymbol", &params);
            let pulled = self.ask("textDocument/diagnostic", &params);
            let _ = writeln!(
                all,
                "{file}\n  symbols {symbols}\n  pulled {}",
                pulled["items"]
            );
            for key in ["a", "m::d"] {
                let argument = json!({ "uri": uri(&path), "key": key, "node": "a.x" });
                let params = json!({ "command": "hiera.explain", "arguments": [argument] });
                let explained = self.ask("workspace/executeCommand", &params);
                let _ = writeln!(all, "  {key} {explained}");
            }
            let lenses = self.ask("textDocument/codeLens", &params);
            let range = json!({
                "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 },
            });
            let whole = json!({ "textDocument": document, "range": range });
            let hints = self.ask("textDocument/inlayHint", &whole);
            let impact = self.command("hiera.impact", json!({ "uri": uri(&path), "data": true }));
            let _ = writeln!(all, "  lenses {lenses}\n  hints {hints}\n  impact {impact}");
            let text = match open.get(&number) {
                Some(text) => text.clone(),
                None => std::fs::read_to_string(&path).unwrap_or_default(),
            };
            for line in 0..text.lines().count() {
                for character in [0, 8] {
                    let at = json!({ "line": line, "character": character });
                    let params = json!({ "textDocument": document, "position": at });
                    let hover = self.ask("textDocument/hover", &params);
                    let _ = writeln!(all, "  {line}:{character} {hover}");
                }
                let at = json!({ "line": line, "character": 0 });
                let params = json!({ "textDocument": document, "position": at });
                let items = self.ask("textDocument/prepareCallHierarchy", &params);
                if let Some(item) = items.get(0) {
                    let item = json!({ "item": item });
                    let callers = self.ask("callHierarchy/incomingCalls", &item);
                    let called = self.ask("callHierarchy/outgoingCalls", &item);
                    let _ = writeln!(all, "  {line} {item} from {callers} to {called}");
                }
            }
        }
        let _ = writeln!(all, "workspace {:#?}", self.pull_workspace());
        let nodes = json!({ "command": "hiera.nodes", "arguments": [{ "uri": uri(folder) }] });
        let nodes = self.ask("workspace/executeCommand", &nodes);
        let _ = writeln!(all, "nodes {nodes}");
        let common = uri(&folder.join("data/common.yaml"));
        for key in ["a", "b", "m::d", "c.k"] {
            let arguments = json!({ "uri": common, "key": key, "data": true });
            for command in ["hiera.matrix", "hiera.uses", "hiera.explain"] {
                let answer = self.command(command, arguments.clone());
                let _ = writeln!(all, "{command} {key} {answer}");
            }
        }
        let between = json!({ "uri": common, "from": "a.x", "to": "b.x", "data": true });
        let _ = writeln!(all, "diff {}", self.command("hiera.diff", between));
        let unsaved = json!({ "data": true });
        let _ = writeln!(all, "unsaved {}", self.command("hiera.impact", unsaved));
        let found = self.ask("workspace/symbol", &json!({ "query": "" }));
        let mut found: Vec<String> = found
            .as_array()
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        // Equal matches are in the order in which files became known.
        found.sort();
        let _ = writeln!(all, "search {found:#?}");
        let shown = self.shown.iter().filter(|(_, items)| **items != json!([]));
        for (uri, items) in shown {
            let _ = writeln!(all, "shown {uri} {items}");
        }
        all
    }

    fn command(&mut self, command: &str, argument: Value) -> Value {
        let params = json!({ "command": command, "arguments": [argument] });
        self.ask("workspace/executeCommand", &params)
    }

    fn end(mut self) {
        self.ask("shutdown", &Value::Null);
        self.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
        self.to = None;
        assert_eq!(self.server.take().unwrap().join().unwrap(), 0);
    }
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

fn read(from: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// The environment of the server: the disk, the editor, and the choices.
struct World {
    folder: PathBuf,
    open: BTreeMap<usize, String>,
    version: i64,
    settings: Value,
    /// The client's capabilities for pulled diagnostics; null for a client that is pushed to.
    pulls: Value,
    choices: Vec<(String, Value)>,
    history: String,
}

impl World {
    fn write(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn changed(&self, client: &mut Client, files: &[&str]) {
        let changes: Vec<Value> = files
            .iter()
            .map(|file| json!({ "uri": uri(&self.folder.join(file)), "type": 2 }))
            .collect();
        client.notify(
            "workspace/didChangeWatchedFiles",
            &json!({ "changes": changes }),
        );
    }

    fn open_in(&self, client: &mut Client, number: usize, text: &str) {
        let document = json!({
            "uri": uri(&self.folder.join(FILES[number])), "languageId": "yaml", "version": 1,
            "text": text,
        });
        client.notify("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    /// Makes a choice; returns whether it is accepted. One that could change nothing in the current
    /// state is refused.
    fn choose(client: &mut Client, command: &str, argument: &Value) -> bool {
        let params = json!({ "command": command, "arguments": [argument] });
        client.ask("workspace/executeCommand", &params)["code"].is_null()
    }

    fn step(&mut self, client: &mut Client, dice: &mut Dice) {
        let number = dice.below(FILES.len());
        let file = FILES[number];
        let document = json!({ "uri": uri(&self.folder.join(file)) });
        let what = match (dice.below(14), self.open.contains_key(&number)) {
            (0..=6, true) => {
                let text = text(dice, file);
                self.version += 1;
                let params = json!({
                    "textDocument": { "uri": document["uri"], "version": self.version },
                    "contentChanges": [{ "text": text }],
                });
                client.notify("textDocument/didChange", &params);
                self.open.insert(number, text.clone());
                format!("edit {file}: {text:?}")
            }
            (7 | 8, true) => {
                self.open.remove(&number);
                client.notify(
                    "textDocument/didClose",
                    &json!({ "textDocument": document }),
                );
                format!("close {file}")
            }
            (0..=4, false) => {
                let text = std::fs::read_to_string(self.folder.join(file)).unwrap_or_default();
                self.open_in(client, number, &text);
                self.version = self.version.max(1);
                self.open.insert(number, text);
                format!("open {file}")
            }
            (5..=8, false) => {
                let text = text(dice, file);
                self.write(file, &text);
                self.changed(client, &[file]);
                format!("write {file}: {text:?}")
            }
            (9, _) => {
                if let Some(text) = self.open.get(&number) {
                    self.write(file, text);
                    self.changed(client, &[file]);
                    client.notify("textDocument/didSave", &json!({ "textDocument": document }));
                }
                format!("save {file}")
            }
            (10, _) => {
                let _ = std::fs::remove_file(self.folder.join(file));
                self.changed(client, &[file]);
                format!("remove {file}")
            }
            (11, _) => {
                let other = dice.one(&FILES[2..]);
                let _ = std::fs::rename(self.folder.join(file), self.folder.join(other));
                self.changed(client, &[file, other]);
                format!("rename {file} to {other}")
            }
            (12, _) => {
                let severity = dice.one(&["off", "hint", "error"]);
                self.settings = json!({
                    "codeLens": { "overrides": true, "uses": true, "impact": true },
                    "puppetVersion": dice.one(&[7, 8]),
                    "diagnostics": {
                        "enable": dice.below(5) > 0,
                        "severity": { "interpolation-loop": severity },
                    },
                });
                let params = json!({ "settings": { "hiera-ls": self.settings } });
                client.notify("workspace/didChangeConfiguration", &params);
                format!("settings {}", self.settings)
            }
            _ => {
                let (command, argument) = dice.one(&[
                    ("hiera.selectNode", r#"{"certname": "a.x"}"#),
                    ("hiera.selectNode", r#"{"certname": null}"#),
                    (
                        "hiera.setFact",
                        r#"{"path": "os.family", "value": "RedHat"}"#,
                    ),
                    ("hiera.setFact", r#"{"path": "os.family", "value": null}"#),
                ]);
                let argument: Value = serde_json::from_str(argument).unwrap();
                let made = format!("{command} {argument}");
                if World::choose(client, command, &argument) {
                    self.choices.push((command.to_owned(), argument));
                }
                made
            }
        };
        let _ = writeln!(self.history, "{what}");
    }

    /// Another server that has only seen the final state. A choice that it no longer accepts is
    /// reverted in the other one.
    fn fresh(&self, other: &mut Client) -> Client {
        let mut client = Client::start(&self.folder, &self.settings, &self.pulls);
        for (number, text) in &self.open {
            self.open_in(&mut client, *number, text);
        }
        for (command, argument) in &self.choices {
            if !World::choose(&mut client, command, argument) {
                let mut none = argument.clone();
                for field in ["certname", "value"] {
                    none.as_object_mut()
                        .unwrap()
                        .entry(field)
                        .and_modify(|value| *value = Value::Null);
                }
                World::choose(other, command, &none);
            }
        }
        client
    }
}

/// The state of a server once it is idle: equal to `expected`, or the state at the deadline.
fn settled(client: &mut Client, world: &World, expected: impl Fn(&str) -> bool) -> String {
    let until = Instant::now() + DEADLINE;
    loop {
        let all = client.everything(&world.folder, &world.open);
        if expected(&all) || !client.hear(until.min(Instant::now() + Duration::from_secs(3))) {
            return all;
        }
    }
}

/// Whether the published diagnostics equal the pulled ones.
fn is_at_rest(client: &mut Client, world: &World) -> bool {
    if !world.pulls.is_null() {
        client.pull_workspace();
        return true;
    }
    FILES.iter().all(|file| {
        let uri = uri(&world.folder.join(file));
        let params = json!({ "textDocument": { "uri": uri } });
        let pulled = client.ask("textDocument/diagnostic", &params);
        client.shown.get(&uri).unwrap_or(&json!([])) == &pulled["items"]
    })
}

#[test]
fn incremental_equals_fresh() {
    let number = |name: &str, otherwise: u64| {
        let set = std::env::var(name).ok();
        set.and_then(|set| set.parse().ok()).unwrap_or(otherwise)
    };
    let (seed, count) = (
        number("INCREMENTAL_SEED", 1),
        number("INCREMENTAL_COUNT", SEQUENCES),
    );
    let (mut hovers, mut findings, mut pulled, mut changes) = (0, 0, 0, 0);
    for sequence in seed..seed + count {
        let mut dice = Dice(sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let temporary = tempfile::tempdir().unwrap();
        let mut world = World {
            folder: temporary.path().canonicalize().unwrap(),
            open: BTreeMap::new(),
            version: 1,
            settings: json!({ "codeLens": { "overrides": true, "uses": true, "impact": true } }),
            pulls: if sequence % 2 == 0 {
                json!({})
            } else {
                Value::Null
            },
            choices: Vec::new(),
            history: String::new(),
        };
        for file in FILES {
            if dice.below(6) > 0 {
                world.write(file, &text(&mut dice, file));
            }
        }
        let mut client = Client::start(&world.folder, &world.settings, &world.pulls);
        for _ in 0..STEPS {
            world.step(&mut client, &mut dice);
            if dice.below(3) == 0 {
                // From time to time the server has time to publish.
                client.ask("workspace/symbol", &json!({ "query": "a" }));
                while !is_at_rest(&mut client, &world) {
                    if !client.hear(Instant::now() + Duration::from_millis(5)) {
                        break;
                    }
                }
            }
        }
        let mut fresh = world.fresh(&mut client);
        let until = Instant::now() + DEADLINE;
        while !is_at_rest(&mut fresh, &world) {
            let soon = Instant::now() + Duration::from_millis(5);
            assert!(
                fresh.hear(soon) || Instant::now() < until,
                "{}",
                world.history
            );
        }
        let expected = fresh.everything(&world.folder, &world.open);
        let found = settled(&mut client, &world, |all| all == expected);
        if found != expected {
            let differs = |(left, right): &(&str, &str)| left != right;
            let first = found.lines().zip(expected.lines()).find(differs);
            panic!(
                "sequence {sequence}: not as a fresh server\n{first:#?}\nafter\n{}",
                world.history
            );
        }
        hovers += expected.matches("\"contents\"").count();
        findings += expected.matches("shown ").count();
        pulled += expected.matches("resultId").count() - 1;
        changes += expected.matches("\"complete\":true").count();
        fresh.end();
        client.end();
    }
    println!(
        "{count} sequences: {hovers} hovers, the findings of {findings} files and what {changes} \
         edits change are equal"
    );
    assert!(hovers > 0 && findings > 0 && pulled > 0 && changes > 0);
}
