//! A client of the server on two pipes.

#![allow(dead_code, reason = "each benchmark uses its part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::{Value, json};

/// A request's answer and how long it took; `None` if there was none in time.
pub(super) struct Reply {
    pub(super) answer: Option<Value>,
    pub(super) took: Duration,
}

/// One session with the program.
pub(super) struct Client {
    pub(super) child: Child,
    pub(super) to: ChildStdin,
    pub(super) from: BufReader<ChildStdout>,
    pub(super) next: i64,
    pub(super) versions: i64,
    pub(super) unread: Vec<Value>,
}

impl Client {
    /// Starts the program and initializes the session.
    pub(super) fn start(folder: &Path) -> Client {
        let mut program = Command::new(env!("CARGO_BIN_EXE_hiera-ls"));
        program.arg("--stdio");
        let capabilities = json!({
            "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } },
            "textDocument": { "hover": { "contentFormat": ["markdown"] } },
        });
        Client::start_as(program, folder, &capabilities, &Value::Null)
    }

    /// The same with another command, with what the client can do, and with the user's settings.
    pub(super) fn start_as(
        mut program: Command,
        folder: &Path,
        capabilities: &Value,
        settings: &Value,
    ) -> Client {
        let mut child = program
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut client = Client {
            to: child.stdin.take().unwrap(),
            from: BufReader::new(child.stdout.take().unwrap()),
            child,
            next: 0,
            versions: 1,
            unread: Vec::new(),
        };
        let params = json!({
            "processId": null, "rootUri": uri(folder),
            "workspaceFolders": [{ "uri": uri(folder), "name": "repo" }],
            "capabilities": capabilities, "initializationOptions": settings,
        });
        let answer = client.ask("initialize", params);
        assert!(answer["result"]["capabilities"].is_object(), "{answer}");
        client
    }

    pub(super) fn initialized(&mut self) {
        self.notify("initialized", &json!({}));
    }

    pub(super) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(super) fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        self.to.flush().unwrap();
    }

    pub(super) fn open(&mut self, path: &Path, text: &str) {
        let is_code = path.extension().is_some_and(|extension| extension == "pp");
        let language = if is_code { "puppet" } else { "yaml" };
        let document =
            json!({ "uri": uri(path), "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    pub(super) fn change(&mut self, path: &Path, version: i64, changes: &Value) {
        let document = json!({ "uri": uri(path), "version": version });
        self.notify(
            "textDocument/didChange",
            &json!({ "textDocument": document, "contentChanges": changes }),
        );
    }

    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.wait(|message| message["id"] == id && message.get("method").is_none())
    }

    /// Asks, and waits up to a limit. A request that is given up is cancelled. The time ends with the
    /// last byte of the answer, before it is parsed.
    pub(super) fn try_ask(&mut self, method: &str, params: &Value, limit: Duration) -> Reply {
        self.unread.clear();
        self.next += 1;
        let id = self.next;
        let began = Instant::now();
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let fits = |message: &Value| message["id"] == id && message.get("method").is_none();
        let answer = self.wait_until(began + limit, fits);
        let took = began.elapsed();
        match answer {
            Some((answer, arrived)) => Reply {
                answer: Some(answer),
                took: arrived.duration_since(began),
            },
            None => {
                self.notify("$/cancelRequest", &json!({ "id": id }));
                Reply { answer: None, took }
            }
        }
    }

    /// The next message that fits, and when it was here; `None` if there is none until then.
    pub(super) fn wait_until(
        &mut self,
        end: Instant,
        fits: impl Fn(&Value) -> bool,
    ) -> Option<(Value, Instant)> {
        loop {
            if self.from.buffer().is_empty() {
                let left = end.saturating_duration_since(Instant::now()).as_millis();
                let left = PollTimeout::try_from(left).unwrap();
                let mut pipe = [PollFd::new(self.from.get_ref().as_fd(), PollFlags::POLLIN)];
                if poll(&mut pipe, left).unwrap() == 0 {
                    return None;
                }
            }
            let body = self.body();
            let arrived = Instant::now();
            let message = serde_json::from_slice(&body).unwrap();
            if self.is_request(&message) {
                continue;
            }
            if fits(&message) {
                return Some((message, arrived));
            }
        }
    }

    /// Answers a request of the server with `null`; returns whether it is one.
    fn is_request(&mut self, message: &Value) -> bool {
        let is_one = message.get("method").is_some() && message.get("id").is_some();
        if is_one {
            self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }));
        }
        is_one
    }

    /// Waits for the diagnostics of a version.
    pub(super) fn diagnostics(&mut self, path: &Path, version: i64) {
        let uri = uri(path);
        self.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri.as_str()
                && message["params"]["version"] == version
        });
        self.unread.clear();
    }

    /// Waits for any diagnostics, which arrive when all files are known.
    pub(super) fn until_indexed(&mut self, path: &Path, line: usize) {
        self.diagnostics(path, 1);
        loop {
            let answer = self.ask("textDocument/hover", hover_at(path, line));
            let hover = answer["result"]["contents"]["value"]
                .as_str()
                .unwrap_or_default();
            if !hover.is_empty() && !hover.contains("indexing") {
                return;
            }
        }
    }

    pub(super) fn wait(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.unread.iter().position(&fits) {
            return self.unread.remove(at);
        }
        loop {
            let message = self.read();
            if self.is_request(&message) {
                continue;
            }
            if fits(&message) {
                return message;
            }
            self.unread.push(message);
        }
    }

    pub(super) fn read(&mut self) -> Value {
        serde_json::from_slice(&self.body()).unwrap()
    }

    fn body(&mut self) -> Vec<u8> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(
                self.from.read_line(&mut line).unwrap() > 0,
                "the server ended"
            );
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.from.read_exact(&mut body).unwrap();
        body
    }

    /// A field of the system's status of the process.
    pub(super) fn status(&self, name: &str) -> String {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim_start_matches(':').trim().to_owned()
    }

    /// Processor time of the process so far, in hundredths of a second as the system counts.
    pub(super) fn processor_time(&self) -> Duration {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let (_, fields) = text.rsplit_once(')').unwrap();
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks = ticks.map(|ticks| ticks.parse::<u64>().unwrap());
        Duration::from_millis(ticks.sum::<u64>() * 10)
    }

    pub(super) fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn hover_at(path: &Path, line: usize) -> Value {
    json!({ "textDocument": { "uri": uri(path) }, "position": { "line": line, "character": 12 } })
}

pub(super) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}
