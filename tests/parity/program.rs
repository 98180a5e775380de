//! The two compared programs, each a process that speaks the batch protocol: JSON Lines in, one
//! answer per line out. If a process dies or stops responding, the answer says so.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// Timeout for one answer: far more than the slowest one needs, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);
/// How often a program may die during one list of requests before the rest is abandoned.
const DEATHS: usize = 20;

/// A command line that speaks the protocol.
#[derive(Clone, Debug)]
pub struct Program {
    command: Vec<String>,
}

impl Program {
    /// Real Puppet behind `oracle.rb`.
    pub fn puppet() -> Program {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parity/oracle.rb");
        Program {
            command: vec!["ruby".into(), script.into()],
        }
    }

    /// Puppet's parser of manifests behind `puppet_code.rb`.
    pub fn parser_of_puppet() -> Program {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parity/puppet_code.rb");
        Program {
            command: vec!["ruby".into(), script.into()],
        }
    }

    /// `hiera-ls lookup --batch` of this build, or the command line in `PARITY_OURS` (for testing
    /// the harness itself: with the oracle on both sides there must be no difference).
    pub fn ours() -> Program {
        let command = match std::env::var("PARITY_OURS") {
            Ok(line) => line.split_whitespace().map(str::to_string).collect(),
            Err(_) => vec![
                env!("CARGO_BIN_EXE_hiera-ls").to_string(),
                "lookup".to_string(),
                "--batch".to_string(),
            ],
        };
        Program { command }
    }

    /// The same program with more arguments.
    pub fn with(&self, arguments: &[&str]) -> Program {
        let mut command = self.command.clone();
        command.extend(arguments.iter().map(ToString::to_string));
        Program { command }
    }

    /// Starts the program.
    pub fn start(&self) -> Session {
        let mut child = Command::new(&self.command[0])
            .args(&self.command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {:?}: {error}", self.command));
        let (sender, lines) = channel();
        let stdout = child.stdout.take().expect("piped");
        thread::spawn(move || forward_lines(stdout, &sender));
        let (sender, complaint) = channel();
        let stderr = child.stderr.take().expect("piped");
        thread::spawn(move || forward_tail(stderr, &sender));
        Session {
            stdin: child.stdin.take(),
            child,
            lines,
            complaint,
        }
    }

    /// The answers to `requests`, from fresh processes whose input ends after the last request:
    /// one, unless it dies. A request without an answer gets `{"crash": why}`.
    pub fn answer_all(&self, requests: &[Value]) -> Vec<Value> {
        let mut answers: Vec<Value> = Vec::with_capacity(requests.len());
        let mut deaths = 0;
        while answers.len() < requests.len() {
            let mut session = self.start();
            let rest = &requests[answers.len()..];
            let (mut got, failure) = session.exchange(text_of(rest), rest.len(), Ending::Close);
            answers.append(&mut got);
            if let Some(why) = failure {
                deaths += 1;
                answers.push(json!({ "crash": why }));
                if deaths == DEATHS {
                    answers.resize(
                        requests.len(),
                        json!({ "crash": "given up after many crashes" }),
                    );
                }
            }
        }
        answers
    }
}

/// What to do with the program's input after the last request.
enum Ending {
    Close,
    Keep,
}

/// A running program.
pub struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    complaint: Receiver<String>,
}

impl Session {
    /// The answers to `requests`; the program keeps running. Panics if it dies: only used for the
    /// reference.
    pub fn ask(&mut self, requests: &[Value]) -> Vec<Value> {
        self.ask_text(text_of(requests), requests.len())
    }

    /// The answers to `count` requests given as text, one per line.
    pub fn ask_text(&mut self, lines: String, count: usize) -> Vec<Value> {
        let (answers, failure) = self.exchange(lines, count, Ending::Keep);
        if let Some(why) = failure {
            panic!(
                "a program ended early: {why}\nafter {} of {count} requests",
                answers.len()
            );
        }
        answers
    }

    /// Writes on one thread and reads on this one: otherwise a pipe could fill up.
    fn exchange(
        &mut self,
        text: String,
        count: usize,
        ending: Ending,
    ) -> (Vec<Value>, Option<String>) {
        let mut stdin = self.stdin.take().expect("input is open");
        let writer = thread::spawn(move || {
            // A dead program stops reading; its missing answers show it.
            let written = stdin
                .write_all(text.as_bytes())
                .and_then(|()| stdin.flush());
            match (ending, written) {
                (Ending::Keep, Ok(())) => Some(stdin),
                (Ending::Keep, Err(_)) | (Ending::Close, _) => None,
            }
        });
        let mut answers = Vec::with_capacity(count);
        let mut failure = None;
        while answers.len() < count {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => match serde_json::from_str::<Value>(&line) {
                    Ok(answer) => answers.push(answer),
                    Err(error) => {
                        answers.push(json!({ "crash": format!("not JSON ({error}): {line}") }))
                    }
                },
                Err(RecvTimeoutError::Timeout) => {
                    failure = Some(format!("no answer within {} s", PATIENCE.as_secs()));
                    break;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    failure = Some(self.last_words());
                    break;
                }
            }
        }
        if failure.is_some() {
            let _ = self.child.kill();
        }
        self.stdin = writer.join().expect("the writer never panics");
        (answers, failure)
    }

    fn last_words(&mut self) -> String {
        let status = self
            .child
            .wait()
            .map_or_else(|e| e.to_string(), |s| s.to_string());
        let complaint = self
            .complaint
            .recv_timeout(Duration::from_secs(5))
            .unwrap_or_default();
        format!("{status}: {}", complaint.trim())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn forward_lines(from: impl Read, to: &Sender<String>) {
    for line in BufReader::new(from).split(b'\n') {
        let Ok(line) = line else { return };
        if to
            .send(String::from_utf8_lossy(&line).into_owned())
            .is_err()
        {
            return;
        }
    }
}

fn text_of(requests: &[Value]) -> String {
    let mut text = String::new();
    for request in requests {
        text.push_str(&request.to_string());
        text.push('\n');
    }
    text
}

/// The last part of a program's standard error.
fn forward_tail(mut from: impl Read, to: &Sender<String>) {
    const KEEP: usize = 2_000;
    let mut all = Vec::new();
    let mut block = [0; 4096];
    while let Ok(n) = from.read(&mut block) {
        if n == 0 {
            break;
        }
        all.extend_from_slice(&block[..n]);
        if all.len() > 4 * KEEP {
            all.drain(..all.len() - KEEP);
        }
    }
    let _ = to.send(String::from_utf8_lossy(&all).into_owned());
}

/// The version of Puppet on this machine, with hiera-eyaml installed. Without it CI fails, and
/// elsewhere a message says that something was skipped.
pub fn puppet_version() -> Option<String> {
    let output = Command::new("ruby")
        .args([
            "-e",
            "require 'puppet'; require 'hiera/backend/eyaml'; puts Puppet.version",
        ])
        .output();
    match output {
        Ok(out) if out.status.success() => {
            Some(String::from_utf8_lossy(&out.stdout).trim().to_string())
        }
        Ok(_) | Err(_) => {
            let message =
                "real Puppet with hiera-eyaml is not installed: nothing was compared with it";
            assert!(std::env::var_os("CI").is_none(), "{message}");
            eprintln!("SKIPPED: {message}");
            None
        }
    }
}
