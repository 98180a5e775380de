//! The program over standard input and output, in raw JSON-RPC.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Timeout, long enough for a loaded machine; only reached if something is broken.
const DEADLINE: Duration = Duration::from_secs(60);

/// A client without an extension for this server.
pub const PLAIN_CLIENT: &str = "Plain Client";
/// A client that previews edits before it applies them.
pub const PREVIEWING_CLIENT: &str = "Previews";

/// One session with the program.
pub struct Program {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    unread: VecDeque<Value>,
    next: i64,
    versions: HashMap<String, i64>,
    /// The server's capabilities.
    pub offered: Value,
    _state: Option<tempfile::TempDir>,
}

impl Program {
    /// Starts the program on a folder and initializes the session.
    pub fn start(folder: &Path, settings: &Value, client: &str) -> Program {
        let state = tempfile::tempdir().unwrap();
        let mut program = Program::start_again(folder, settings, client, state.path());
        program._state = Some(state);
        program
    }

    /// Starts the program with the state of earlier sessions in the folder `state`.
    pub fn start_again(folder: &Path, settings: &Value, client: &str, state: &Path) -> Program {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
            .arg("--stdio")
            // The state of one session must not reach another, nor the user of this machine.
            .env("XDG_STATE_HOME", state)
            .env("XDG_RUNTIME_DIR", state)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            while let Some(message) = read(&mut from) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut program = Program {
            child,
            to,
            from: receiver,
            unread: VecDeque::new(),
            next: 1,
            versions: HashMap::new(),
            offered: Value::Null,
            _state: None,
        };
        let capabilities = json!({
            "workspace": {
                "codeLens": { "refreshSupport": true },
                "inlayHint": { "refreshSupport": true },
            },
            "textDocument": {
                "hover": { "contentFormat": ["markdown", "plaintext"] },
                "publishDiagnostics": {
                    "relatedInformation": true, "versionSupport": true,
                    "codeDescriptionSupport": true, "tagSupport": { "valueSet": [1, 2] },
                },
                "codeAction": {
                    "codeActionLiteralSupport": { "codeActionKind": { "valueSet": ["quickfix"] } },
                },
                "definition": { "linkSupport": true },
                "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            },
            "window": { "showDocument": { "support": true } },
            "experimental": {
                "commandLinks": client == "Visual Studio Code", "documents": client != PLAIN_CLIENT,
                "rulePages": client != PLAIN_CLIENT,
            },
        });
        let mut capabilities = capabilities;
        if client == "Visual Studio Code" {
            capabilities["textDocument"]["completion"] =
                json!({ "completionItem": { "documentationFormat": ["markdown"] } });
        }
        if client == PREVIEWING_CLIENT {
            capabilities["workspace"]["workspaceEdit"] = json!({
                "documentChanges": true, "resourceOperations": ["create"],
                "changeAnnotationSupport": {},
            });
            capabilities["textDocument"]["codeAction"]["dataSupport"] = json!(true);
            capabilities["textDocument"]["codeAction"]["resolveSupport"] =
                json!({ "properties": ["edit"] });
        }
        let params = json!({
            "processId": std::process::id(), "clientInfo": { "name": client },
            "rootUri": uri(folder), "capabilities": capabilities,
            "initializationOptions": settings,
        });
        let answer = program.ask("initialize", &params);
        assert!(answer["capabilities"]["hoverProvider"] == true, "{answer}");
        program.offered = answer["capabilities"].clone();
        program.notify("initialized", &json!({}));
        program
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        self.to.flush().unwrap();
    }

    pub fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The result of a request.
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The message of the error that a request ends with.
    pub fn ask_for_error(&mut self, method: &str, params: &Value) -> String {
        let answer = self.answer(method, params);
        let message = answer["error"]["message"].as_str();
        message.unwrap_or_default().to_owned()
    }

    /// The whole answer to a request.
    fn answer(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        self.wait(method, |message| {
            message["id"] == id && message.get("method").is_none()
        })
    }

    /// Sends a request and returns its id.
    pub fn begin(&mut self, method: &str, params: &Value) -> i64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Replies to a request of the server with null.
    pub fn reply(&mut self, id: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": null }));
    }

    /// The first message that matches, received or to come; the others stay for later.
    pub fn wait(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.unread.iter().position(&fits) {
            return self.unread.remove(at).unwrap();
        }
        let until = Instant::now() + DEADLINE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.from.recv_timeout(left);
            let message = message.unwrap_or_else(|why| panic!("{what}: {why}"));
            if fits(&message) {
                return message;
            }
            self.unread.push_back(message);
        }
    }

    /// Whether such a message has been received.
    pub fn has_received(&mut self, fits: impl Fn(&Value) -> bool) -> bool {
        self.unread.extend(self.from.try_iter());
        self.unread.iter().any(fits)
    }

    pub fn open(&mut self, file: &Path) -> String {
        let text = std::fs::read_to_string(file).unwrap();
        self.versions.insert(uri(file), 1);
        let document =
            json!({ "uri": uri(file), "languageId": "yaml", "version": 1, "text": text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }));
        text
    }

    /// Replaces the whole text, unsaved.
    pub fn rewrite(&mut self, file: &Path, text: &str) {
        let version = self.versions.get_mut(&uri(file)).unwrap();
        *version += 1;
        let params = json!({
            "textDocument": { "uri": uri(file), "version": *version },
            "contentChanges": [{ "text": text }],
        });
        self.notify("textDocument/didChange", &params);
    }

    /// The hover on the first column of a key's line; `None` without a hover.
    pub fn hover(&mut self, file: &Path, text: &str, key: &str) -> Option<String> {
        let starts = |line: &str| {
            let rest = line.trim_start_matches(['"', '\'']);
            rest.strip_prefix(key)
                .is_some_and(|rest| rest.trim_start_matches(['"', '\'']).starts_with(':'))
        };
        let line = text.lines().position(starts);
        let line = line.unwrap_or_else(|| panic!("{key} is not in {}", file.display()));
        let position = json!({ "line": line, "character": 1 });
        self.hover_at(&uri(file), &position)
    }

    /// The hover at a position once the workspace has been read; `None` without a hover.
    pub fn hover_at(&mut self, uri: &str, position: &Value) -> Option<String> {
        let at = json!({ "textDocument": { "uri": uri }, "position": position });
        let mut found = self.ask("textDocument/hover", &at);
        let shown = found["contents"]["value"].as_str().unwrap_or_default();
        if shown.starts_with("still reading the workspace") {
            // For a busy machine: this command waits as long as necessary.
            self.command("hiera.nodes", &json!({}));
            found = self.ask("textDocument/hover", &at);
        }
        found["contents"]["value"].as_str().map(str::to_owned)
    }

    pub fn command(&mut self, command: &str, argument: &Value) -> Value {
        let params = json!({ "command": command, "arguments": [argument] });
        self.ask("workspace/executeCommand", &params)
    }

    /// The error of a command: its code and its message.
    pub fn refused(&mut self, command: &str, argument: &Value) -> (i64, String) {
        let params = json!({ "command": command, "arguments": [argument] });
        let answer = self.answer("workspace/executeCommand", &params);
        let error = &answer["error"];
        let message = error["message"].as_str().unwrap_or_default().to_owned();
        (error["code"].as_i64().unwrap_or_default(), message)
    }

    /// The next diagnostics of a file that match.
    pub fn diagnostics(&mut self, file: &Path, fits: impl Fn(&Value) -> bool) -> Value {
        let uri = uri(file);
        let message = self.wait(&uri, |message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri.as_str()
                && fits(&message["params"])
        });
        message["params"].clone()
    }

    /// Ends the session properly.
    pub fn end(mut self) {
        self.ask("shutdown", &Value::Null);
        self.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
        assert!(self.child.wait().unwrap().success());
    }
}

pub fn uri(file: &Path) -> String {
    format!("file://{}", file.display())
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
