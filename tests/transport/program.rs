//! The program itself over a real pipe, on a real hierarchy: it stays up to date in storms. `cargo
//! test` runs its own build; `cargo test --release` tests the released form.

use std::collections::VecDeque;
use std::io::{BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use serde_json::{Value, json};

use crate::client::{DEADLINE, frame, read};

/// One session with the program.
struct Program {
    child: Child,
    to: Option<ChildStdin>,
    from: Receiver<Value>,
    unread: VecDeque<Value>,
    next: i64,
}

impl Program {
    fn start(folder: &Path) -> Program {
        Program::run(Command::new(env!("CARGO_BIN_EXE_hiera-ls")), folder)
    }

    fn run(mut command: Command, folder: &Path) -> Program {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let from = child.stdout.take().unwrap();
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
            to: child.stdin.take(),
            child,
            from: receiver,
            unread: VecDeque::new(),
            next: 1,
        };
        let params = json!({
            "processId": std::process::id(), "rootUri": uri(folder, ""), "capabilities": {},
        });
        let id = program.request("initialize", params);
        program.answer(id);
        program.notify("initialized", json!({}));
        program
    }

    fn send(&mut self, message: &Value) {
        self.to
            .as_mut()
            .unwrap()
            .write_all(&frame(message))
            .unwrap();
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn request(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn hover(&mut self, uri: &str, line: usize) -> i64 {
        let at = json!({ "line": line, "character": 1 });
        let params = json!({ "textDocument": { "uri": uri }, "position": at });
        self.request("textDocument/hover", params)
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "yaml", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn wait(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.unread.iter().position(&fits) {
            return self.unread.remove(at).unwrap();
        }
        let until = Instant::now() + 4 * DEADLINE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.from.recv_timeout(left).unwrap();
            if fits(&message) {
                return message;
            }
            self.unread.push_back(message);
        }
    }

    fn answer(&mut self, id: i64) -> Value {
        self.wait(|message| message["id"] == id && message.get("method").is_none())
    }

    /// The text of a hover, or why there is none.
    fn shown(&mut self, id: i64) -> String {
        let answer = self.answer(id);
        let shown = answer["result"]["contents"]["value"].as_str();
        shown.map_or_else(|| answer.to_string(), str::to_owned)
    }

    fn end(mut self) {
        let id = self.request("shutdown", Value::Null);
        self.answer(id);
        self.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
        self.to = None;
        assert!(self.child.wait().unwrap().success());
    }
}

fn uri(folder: &Path, name: &str) -> String {
    format!("file://{}/{name}", folder.display())
}

/// A hierarchy of `nodes` files over a common one.
fn repository(nodes: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir_all(folder.path().join("data/nodes")).unwrap();
    write(
        "hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: node, path: \"nodes/%{trusted.certname}.yaml\"}\n  \
         - {name: common, path: common.yaml}\n",
    );
    write("data/common.yaml", "port: 80\nnumber: none\n");
    for node in 0..nodes {
        write(
            &format!("data/nodes/n{node}.yaml"),
            &format!("number: {node}\nshown: \"%{{lookup('port')}}\"\n"),
        );
    }
    folder
}

#[test]
fn ten_thousand_edits_and_a_thousand_hovers_leave_the_program_current() {
    let folder = repository(20);
    let mut program = Program::start(folder.path());
    let common = uri(folder.path(), "data/common.yaml");
    let node = uri(folder.path(), "data/nodes/n7.yaml");
    program.open(&common, "port: 80\nnumber: none\n");
    program.open(&node, "number: 7\nshown: \"%{lookup('port')}\"\n");
    let mut hovers = Vec::new();
    let mut old = 2;
    for number in 1..=10_000_usize {
        // Only the digits are replaced, as in an editor.
        let (start, end) = (
            json!({ "line": 0, "character": 6 }),
            json!({ "line": 0, "character": 6 + old }),
        );
        let text = number.to_string();
        old = text.len();
        let edit = json!([{ "range": { "start": start, "end": end }, "text": text }]);
        let document = json!({ "uri": common, "version": number + 1 });
        program.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": edit }),
        );
        if number % 10 == 0 {
            hovers.push((number, program.hover(&node, 1)));
        }
    }
    assert_eq!(hovers.len(), 1000);
    // Each was about a different text, through a token in another file.
    let mut answered = 0;
    for (number, hover) in hovers {
        let shown = program.shown(hover);
        // The file of the request has not changed, so none is outdated.
        assert!(shown.contains(&number.to_string()), "{number}: {shown}");
        answered += 1;
    }
    assert_eq!(answered, 1000);
    let last = program.hover(&node, 1);
    let shown = program.shown(last);
    assert!(shown.contains("10000"), "{shown}");
    // The last published diagnostics are about the last text.
    program.wait(|message| {
        message["method"] == "textDocument/publishDiagnostics"
            && message["params"]["uri"] == common
            && message["params"]["version"] == 10_001
    });
    program.end();
}

#[test]
fn five_hundred_files_opened_at_once_leave_the_program_current() {
    let folder = repository(500);
    let mut program = Program::start(folder.path());
    let file = |node: usize| uri(folder.path(), &format!("data/nodes/n{node}.yaml"));
    for node in 0..500 {
        // Unsaved: a different text from the disk's, with its own mistake.
        let text = format!("number: {}\nbroken: \"%{{lokup('port')}}\"\n", node + 1000);
        program.open(&file(node), &text);
    }
    let hovers: Vec<i64> = (0..500).map(|node| program.hover(&file(node), 0)).collect();
    for (node, hover) in hovers.into_iter().enumerate() {
        let shown = program.shown(hover);
        assert!(
            shown.contains(&(node + 1000).to_string()),
            "{node}: {shown}"
        );
    }
    for node in 0..500 {
        let uri = file(node);
        let notification = program.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri.as_str()
                && message["params"]["version"] == 1
        });
        let found = &notification["params"]["diagnostics"];
        assert_eq!(
            found[0]["code"], "unknown-interpolation-function",
            "{found}"
        );
    }
    program.end();
}

#[test]
fn a_dead_client_ends_the_program_in_the_middle_of_a_storm() {
    let folder = repository(50);
    let mut program = Program::start(folder.path());
    let node = uri(folder.path(), "data/nodes/n7.yaml");
    program.open(&node, "number: 7\n");
    for _ in 0..200 {
        program.hover(&node, 0);
    }
    program.to = None;
    assert!(program.child.wait().unwrap().success());
}

/// A user without rights meets unreadable files and folders.
#[cfg(unix)]
#[test]
fn each_unreadable_file_gives_a_warning() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    /// The user `nobody`, whose number is the same everywhere.
    const NOBODY: u32 = 65_534;
    let folder = repository(3);
    let at = |name: &str| folder.path().join(name);
    let set = |name: &str, mode: u32| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(at(name), permissions).unwrap();
    };
    std::fs::create_dir(at("data/closed")).unwrap();
    std::fs::write(at("data/closed/x.yaml"), "x: 1\n").unwrap();
    std::fs::write(at("data/secret.yaml"), "s: 1\n").unwrap();
    // The build folder may be closed to other users.
    std::fs::copy(env!("CARGO_BIN_EXE_hiera-ls"), at("program")).unwrap();
    set("", 0o755);
    set("program", 0o755);
    set("data/closed", 0o000);
    set("data/secret.yaml", 0o000);
    let mut command = Command::new(at("program"));
    if std::fs::metadata(folder.path()).unwrap().uid() == 0 {
        // Root can read everything.
        command.uid(NOBODY);
    }
    let mut program = Program::run(command, folder.path());
    let node = uri(folder.path(), "data/nodes/n1.yaml");
    program.open(&node, "number: 1\nshown: \"%{lookup('port')}\"\n");
    let hover = program.hover(&node, 1);
    let shown = program.shown(hover);
    assert!(shown.contains("80"), "{shown}");
    for closed in ["data/closed", "data/secret.yaml"] {
        program.wait(|message| {
            let text = message["params"]["message"].as_str().unwrap_or_default();
            message["method"] == "window/logMessage"
                && text.contains(closed)
                && text.to_lowercase().contains("permission denied")
        });
    }
    program.end();
    set("data/closed", 0o755);
}
