//! A raw client of the protocol, and features that are slow or panic on purpose.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, PipeWriter, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hiera_ls::rules::{Finding, Related, Severity};
use hiera_ls::server::testing::{
    AnswerFunctions, Cancellation, Hover, Options, Snapshot, Symbol, View, serve,
};
use hiera_ls::text::TextRange;
use serde_json::{Value, json};

/// Timeout, long enough for a loaded machine; only reached if something is broken.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// Blocks slow features until a test opens it.
#[derive(Default)]
pub(crate) struct Gate {
    open: Mutex<bool>,
    moved: Condvar,
}

impl Gate {
    pub(crate) fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.moved.notify_all();
    }

    pub(crate) fn close(&self) {
        *self.open.lock().unwrap() = false;
    }

    /// Waits until the gate is open, however long that takes.
    pub(crate) fn pass_through(&self) {
        let open = self.open.lock().unwrap();
        drop(self.moved.wait_while(open, |open| !*open).unwrap());
    }

    /// Waits until the gate is open or the request is cancelled.
    fn pass(&self, stop: &Cancellation) {
        let mut open = self.open.lock().unwrap();
        while !*open && !stop.requested() {
            open = self
                .moved
                .wait_timeout(open, Duration::from_millis(2))
                .unwrap()
                .0;
        }
    }
}

/// Answers from the plain text: a hover shows the file's text and the offset; `bad` is a problem.
/// Files whose name contains `slow` wait at the gate, `panic` panics.
#[derive(Default)]
pub(crate) struct Planted {
    pub(crate) gate: Gate,
    pub(crate) check_gate: Option<Gate>,
    pub(crate) checks: AtomicUsize,
    pub(crate) running: AtomicUsize,
    pub(crate) most: AtomicUsize,
    pub(crate) started: AtomicUsize,
    pub(crate) stopped: AtomicUsize,
}

impl Planted {
    fn hover(&self, view: &View, path: &str, offset: usize) -> Option<Hover> {
        let (snapshot, stop) = (&view.snapshot, &view.stop);
        assert!(!path.contains("panic"), "planted");
        self.started.fetch_add(1, Ordering::SeqCst);
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        if path.contains("slow") {
            self.gate.pass(stop);
        }
        if stop.requested() {
            self.stopped.fetch_add(1, Ordering::SeqCst);
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
        let text = if path.contains("census") {
            // The number of files in the state of another branch.
            let new = snapshot.files().filter(|file| file.text().contains("new"));
            format!("{} new", new.count())
        } else {
            snapshot.file(path)?.text().to_string()
        };
        Some(Hover {
            range: TextRange::empty(offset),
            markdown: format!("**{offset}** {text}"),
            aligned: format!("**{offset}** {text}"),
            plain: format!("{offset} {text}"),
        })
    }

    /// Ignores its stop, like a rule in the middle of a long loop.
    fn check(&self, snapshot: &Snapshot, path: &str) -> Option<Vec<Finding>> {
        self.checks.fetch_add(1, Ordering::SeqCst);
        if let Some(gate) = &self.check_gate {
            gate.pass(&Cancellation::never());
        }
        let Some(file) = snapshot.file(path) else {
            return Some(Vec::new());
        };
        let found = file.text().match_indices("bad");
        let found = found.map(|(start, word)| Finding {
            related: vec![Related {
                path: path.into(),
                range: TextRange::empty(0),
                message: "the start".to_owned(),
            }],
            ..Finding::new(
                "bad-word",
                Severity::Warning,
                path.into(),
                TextRange::new(start, start + word.len()),
                format!("in {}", file.text()),
            )
        });
        Some(found.collect())
    }

    fn symbols() -> Vec<Symbol> {
        let child = Symbol {
            name: "child".into(),
            range: TextRange::empty(1),
            selection: TextRange::empty(1),
            ..Symbol::default()
        };
        vec![Symbol {
            name: "key".into(),
            range: TextRange::new(0, 1),
            selection: TextRange::new(0, 1),
            children: vec![child],
            ..Symbol::default()
        }]
    }
}

pub(crate) fn options(features: &Arc<Planted>) -> Options {
    let mut options = Options::default();
    let (hovers, checks) = (features.clone(), features.clone());
    options.answers = Arc::new(AnswerFunctions {
        hover: Box::new(move |view, path, offset| hovers.hover(view, path, offset)),
        check: Box::new(move |checker, path, _| checks.check(checker.snapshot(), path)),
        symbols: Box::new(|_, _| Planted::symbols()),
    });
    options.quiet = Duration::from_millis(5);
    // A loaded machine must not turn slow answers into refused ones.
    options.outdated_grace = Duration::MAX;
    options
}

/// One session over two pipes.
pub(crate) struct Client {
    to: Option<PipeWriter>,
    from: Receiver<Value>,
    unread: VecDeque<Value>,
    next: i64,
    server: Option<JoinHandle<u8>>,
    pub(crate) deadline: Duration,
    pub(crate) pause: Arc<(Mutex<bool>, Condvar)>,
}

impl Client {
    /// Connects without initializing.
    pub(crate) fn strange(options: Options) -> Client {
        let (server_in, to) = std::io::pipe().unwrap();
        let (from, server_out) = std::io::pipe().unwrap();
        let server = std::thread::spawn(move || serve(server_in, server_out, options));
        let pause = Arc::new((Mutex::new(false), Condvar::new()));
        let (sender, receiver) = channel();
        let paused = pause.clone();
        std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            while let Some(message) = read(&mut from) {
                let (paused, moved) = &*paused;
                drop(moved.wait_while(paused.lock().unwrap(), |paused| *paused));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Client {
            to: Some(to),
            from: receiver,
            unread: VecDeque::new(),
            next: 1,
            server: Some(server),
            deadline: DEADLINE,
            pause,
        }
    }

    /// Connects and initializes the session, with these client capabilities.
    pub(crate) fn with(options: Options, capabilities: Value) -> Client {
        let mut client = Client::strange(options);
        let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities });
        let id = client.request("initialize", params);
        let answer = client.answer(id).unwrap();
        assert!(answer["result"]["capabilities"].is_object(), "{answer}");
        client.notify("initialized", json!({}));
        client
    }

    pub(crate) fn new(features: &Arc<Planted>) -> Client {
        Client::with(options(features), json!({}))
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.to.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.raw(&frame(message));
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "yaml", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub(crate) fn change(&mut self, uri: &str, version: i64, changes: Value) {
        let document = json!({ "uri": uri, "version": version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.notify("textDocument/didChange", params);
    }

    /// Replaces the whole text.
    pub(crate) fn rewrite(&mut self, uri: &str, version: i64, text: &str) {
        self.change(uri, version, json!([{ "text": text }]));
    }

    pub(crate) fn hover(&mut self, uri: &str, line: u64, character: u64) -> i64 {
        self.request(
            "textDocument/hover",
            json!({
                "textDocument": { "uri": uri },
                "position": { "line": line, "character": character },
            }),
        )
    }

    /// The text in a hover, without the offset.
    pub(crate) fn seen(&mut self, id: i64) -> Result<String, String> {
        let answer = self.answer(id)?;
        let value = answer["result"]["contents"]["value"].as_str();
        let value = value.ok_or_else(|| answer.to_string())?;
        Ok(value.split_once(' ').unwrap().1.to_owned())
    }

    /// The answer to a request, whatever comes before it.
    pub(crate) fn answer(&mut self, id: i64) -> Result<Value, String> {
        self.wait(|message| message["id"] == id && message.get("method").is_none())
            .map_err(|why| format!("no answer to {id}: {why}"))
    }

    /// Whether the answer to a request is here already.
    pub(crate) fn has_answer(&mut self, id: i64) -> bool {
        self.unread.extend(self.from.try_iter());
        let mut answers = self.unread.iter();
        answers.any(|message| message["id"] == id && message.get("method").is_none())
    }

    /// The first message that matches, received or to come; the others stay for later.
    pub(crate) fn wait(&mut self, fits: impl Fn(&Value) -> bool) -> Result<Value, String> {
        if let Some(at) = self.unread.iter().position(&fits) {
            return Ok(self.unread.remove(at).unwrap());
        }
        let until = Instant::now() + self.deadline;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.from.recv_timeout(left) {
                Ok(message) if fits(&message) => return Ok(message),
                Ok(message) => self.unread.push_back(message),
                Err(RecvTimeoutError::Timeout) => return Err("deadline".to_owned()),
                Err(RecvTimeoutError::Disconnected) => return Err("the server ended".to_owned()),
            }
        }
    }

    /// The next diagnostics for a URI that match.
    pub(crate) fn diagnostics(&mut self, fits: impl Fn(&Value) -> bool) -> Result<Value, String> {
        let message = self.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics" && fits(&message["params"])
        })?;
        Ok(message["params"].clone())
    }

    /// Closes the pipe to the server; its output can still be read.
    pub(crate) fn hang_up(&mut self) {
        self.to = None;
    }

    /// The server's exit code, once it has ended.
    pub(crate) fn code(mut self) -> Result<u8, String> {
        let server = self.server.take().unwrap();
        let until = Instant::now() + self.deadline;
        while !server.is_finished() {
            if Instant::now() > until {
                return Err("the server did not end".to_owned());
            }
            std::thread::park_timeout(Duration::from_millis(1));
        }
        server.join().map_err(|_| "the server panicked".to_owned())
    }

    /// Ends the session properly.
    pub(crate) fn end(mut self) {
        let id = self.request("shutdown", Value::Null);
        assert_eq!(self.answer(id).unwrap()["result"], Value::Null);
        self.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
        assert_eq!(self.code(), Ok(0));
    }
}

pub(crate) fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

pub(crate) fn read(from: &mut impl BufRead) -> Option<Value> {
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
    Some(serde_json::from_slice(&body).unwrap())
}

/// Waits for a condition.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < end, "{what}: not within the deadline");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}
