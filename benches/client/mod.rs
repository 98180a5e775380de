//! A client of the server on two pipes.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::{hover_at, uri};

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
        let mut child = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
            .arg("--stdio")
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
            "capabilities": {
                "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } },
                "textDocument": { "hover": { "contentFormat": ["markdown"] } },
            },
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
        let document =
            json!({ "uri": uri(path), "languageId": "yaml", "version": 1, "text": text });
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
            if message.get("method").is_some() && message.get("id").is_some() {
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": null });
                self.send(&answer);
            } else if fits(&message) {
                return message;
            } else {
                self.unread.push(message);
            }
        }
    }

    pub(super) fn read(&mut self) -> Value {
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
        serde_json::from_slice(&body).unwrap()
    }

    /// A field of the system's status of the process.
    pub(super) fn status(&self, name: &str) -> String {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim_start_matches(':').trim().to_owned()
    }

    pub(super) fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
