//! An editor's session with a program on a folder: what is asked, in which order, and what must not
//! be empty.

pub(crate) mod ground;
pub(crate) mod steps;
pub(crate) mod table;
pub(crate) mod work;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, uri};
use crate::generator::dice::Dice;
use ground::{Document, Ground, Kind, Named};
use table::{Outcome, Table};
use work::Counter;

/// LSP's `RequestFailed`: the request is valid, but nothing can be done, and the message says why.
const REFUSED: i64 = -32803;

/// The code of an answer about a program whose workspace is still being read.
const STILL_READING: &str = "still reading the workspace";

/// The server's debounce of diagnostics, which is no part of its work.
const QUIET: Duration = Duration::from_millis(60);

/// Whether an answer may be empty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Anything,
    Something,
}

/// How diagnostics come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Diagnostics {
    Pulled,
    Pushed,
}

/// What a request costs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Nanoseconds of wall-clock time.
    Time,
    /// Instructions, in Valgrind.
    Work,
}

/// One program at work.
pub(crate) struct Session<'a> {
    pub(crate) client: Client,
    pub(crate) ground: &'a Ground,
    pub(crate) table: Table,
    /// Number of samples of a row in a round.
    pub(crate) samples: usize,
    /// Whether times count: not in the round that warms up.
    pub(crate) is_counted: bool,
    /// How findings come.
    how: Diagnostics,
    /// Counts instructions instead of time.
    counter: Option<Counter>,
    /// Maximum time of one answer.
    limit: Duration,
    /// From the start of the process to its answer to `initialize`, to the first hover with an
    /// answer, and to the first answer from all files.
    pub(crate) started: [Duration; 3],
}

impl<'a> Session<'a> {
    /// Starts a program, opens the files, and waits until it has read all.
    ///
    /// # Panics
    ///
    /// If it does not answer from all files within the limit.
    pub(crate) fn start(
        program: &Path,
        ground: &'a Ground,
        (how, measure): (Diagnostics, Measure),
        limit: Duration,
    ) -> Session<'a> {
        let began = Instant::now();
        let (program, counts) = match measure {
            Measure::Time => (server(program), None),
            Measure::Work => {
                let (program, folder) = Counter::of(program);
                (program, Some(folder))
            }
        };
        let mut settings = json!({
            "codeLens": { "overrides": true, "uses": true, "impact": true },
            "inlayHints": { "merged": true },
            "rememberNode": false,
        });
        if ground.facts.is_some() {
            settings["nodesFiles"] = json!(ground.facts_files());
        }
        let mut client = Client::start_as(program, &ground.folder, &capabilities(how), &settings);
        let initialized = began.elapsed();
        client.initialized();
        for document in &ground.documents {
            client.open(&document.path, &document.text);
        }
        let document = &ground.documents[0];
        let at = position(document, &document.names[0], 1);
        let hovered = loop {
            let reply = client.try_ask("textDocument/hover", &at, limit);
            let answer = reply.answer.expect("a hover is answered within the limit");
            let text = answer["result"]["contents"]["value"].as_str();
            if text.is_some_and(|text| !text.contains(STILL_READING)) {
                break began.elapsed();
            }
            assert!(began.elapsed() < limit, "no hover at a key: {at} {answer}");
            std::thread::sleep(Duration::from_millis(2));
        };
        let nothing = json!({ "files": [] });
        let whole = client.try_ask("workspace/willRenameFiles", &nothing, limit);
        assert!(whole.answer.is_some(), "the workspace is read");
        let read = began.elapsed();
        let process = client.child.id();
        let mut session = Session {
            client,
            ground,
            table: Table::default(),
            samples: 0,
            is_counted: false,
            how,
            counter: counts.map(|folder| Counter::new(process, folder)),
            limit,
            started: [initialized, hovered, read],
        };
        session.settle();
        session
    }

    /// Asks, notes the answer in its row, and returns the result.
    pub(crate) fn ask(
        &mut self,
        row: (&'static str, Kind),
        wanted: Wanted,
        method: &str,
        params: &Value,
    ) -> Value {
        self.begin();
        let reply = self.client.try_ask(method, params, self.limit);
        let cost = self.cost(reply.took);
        let row = (row.0, row.1.name());
        self.note(row, wanted, (cost, reply.answer), params)
    }

    /// Replaces what stands between two places, and notes how long the findings of the new text
    /// take.
    pub(crate) fn edit(&mut self, document: &Document, places: [(usize, usize); 2], text: &str) {
        self.begin();
        let file = document.kind.name();
        let uri = uri(&document.path);
        let began = Instant::now();
        self.change(document, places, text);
        if self.how == Diagnostics::Pulled {
            let params = json!({ "textDocument": { "uri": uri } });
            let method = "textDocument/diagnostic";
            let reply = self.client.try_ask(method, &params, self.limit);
            let cost = self.cost(began.elapsed());
            let row = ("edit + pulled findings", file);
            self.note(row, Wanted::Something, (cost, reply.answer), &params);
            return;
        }
        let version = self.client.versions;
        let found = self.client.wait_until(began + self.limit, |message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri.as_str()
                && message["params"]["version"] == version
        });
        let took = found.as_ref().map_or(self.limit, |(_, arrived)| {
            arrived.duration_since(began).saturating_sub(QUIET)
        });
        let cost = self.cost(took);
        let answer = found.map(|(message, _)| json!({ "result": message["params"] }));
        let what = json!({ "textDocument": { "uri": uri, "version": version } });
        let row = ("edit + pushed findings", file);
        self.note(row, Wanted::Something, (cost, answer), &what);
    }

    /// Notes an answer and its cost in its row, and returns its result.
    pub(crate) fn note(
        &mut self,
        row: (&'static str, &'static str),
        wanted: Wanted,
        (cost, answer): (u64, Option<Value>),
        params: &Value,
    ) -> Value {
        let result = answer.as_ref().map(|answer| answer["result"].clone());
        let outcome = match &answer {
            None => Outcome::Late,
            Some(answer) if answer["error"]["code"] == REFUSED => Outcome::Empty,
            Some(answer) if answer.get("error").is_some() => Outcome::Error,
            Some(answer) if !is_empty(&answer["result"]) => Outcome::Full,
            Some(_) if wanted == Wanted::Something => Outcome::Missing,
            Some(_) => Outcome::Empty,
        };
        let example = || match &answer {
            Some(answer) => format!("{params} → {answer}"),
            None => format!("{params} → no answer within {:.0?}", self.limit),
        };
        let counted = self.is_counted && outcome != Outcome::Late;
        self.table.add(row, (cost, counted), (outcome, &example));
        result.unwrap_or_default()
    }

    /// Where instructions are counted, a request's are alone.
    fn begin(&mut self) {
        if self.counter.is_some() {
            self.settle();
        }
        if let Some(counter) = &self.counter {
            counter.reset();
        }
    }

    /// Nanoseconds, or all instructions since the request began.
    fn cost(&mut self, took: Duration) -> u64 {
        if self.counter.is_some() {
            self.settle();
        }
        match &mut self.counter {
            Some(counter) => counter.count(),
            None => u64::try_from(took.as_nanos()).unwrap_or(u64::MAX),
        }
    }

    /// Replaces what stands between two places.
    pub(crate) fn change(
        &mut self,
        document: &Document,
        [start, end]: [(usize, usize); 2],
        text: &str,
    ) {
        self.client.versions += 1;
        let place = |(line, character)| json!({ "line": line, "character": character });
        let range = json!({ "start": place(start), "end": place(end) });
        let change = json!([{ "range": range, "text": text }]);
        self.client
            .change(&document.path, self.client.versions, &change);
    }

    /// Waits until the program does nothing, so that the next one has the machine for itself.
    pub(crate) fn settle(&mut self) {
        let end = Instant::now() + self.limit;
        let mut last = self.client.processor_time();
        let mut same = 0;
        while same < 3 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(25));
            let now = self.client.processor_time();
            same = if now == last { same + 1 } else { 0 };
            last = now;
        }
    }

    /// Memory at the peak so far, in MB.
    pub(crate) fn peak(&self) -> f64 {
        let status = self.client.status("VmHWM");
        let kibibytes = status.trim_end_matches(" kB").parse::<f64>();
        kibibytes.expect("a number of kB") * 1024.0 / 1e6
    }
}

/// A step of the session.
pub(crate) type Step = fn(&mut Session<'_>, &mut Dice);

/// The program as a command that speaks the protocol.
pub(crate) fn server(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("--stdio").stderr(Stdio::null());
    command
}

/// A place in a name, so many letters after its start.
pub(crate) fn position(document: &Document, named: &Named, letters: usize) -> Value {
    position_at(document, (named.line, named.start + letters))
}

/// A place in a file by line and column.
pub(crate) fn position_at(document: &Document, (line, character): (usize, usize)) -> Value {
    json!({
        "textDocument": { "uri": uri(&document.path) },
        "position": { "line": line, "character": character },
    })
}

/// A full editor that shows everything.
fn capabilities(how: Diagnostics) -> Value {
    let mut all = json!({
        "workspace": {
            "didChangeWatchedFiles": { "dynamicRegistration": true },
            "workspaceEdit": {
                "documentChanges": true, "resourceOperations": ["create"],
                "changeAnnotationSupport": {},
            },
            "codeLens": { "refreshSupport": true }, "inlayHint": { "refreshSupport": true },
        },
        "textDocument": {
            "hover": { "contentFormat": ["markdown"] },
            "completion": { "completionItem": {
                "snippetSupport": true, "documentationFormat": ["markdown"],
            } },
            "definition": { "linkSupport": true },
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            "publishDiagnostics": { "versionSupport": true, "relatedInformation": true },
            "rename": { "prepareSupport": true },
            "codeAction": {
                "dataSupport": true, "resolveSupport": { "properties": ["edit"] },
                "codeActionLiteralSupport": { "codeActionKind": { "valueSet": ["quickfix", "refactor"] } },
            },
        },
        "experimental": { "documents": true, "commandLinks": true },
    });
    if how == Diagnostics::Pulled {
        all["textDocument"]["diagnostic"] = json!({ "dynamicRegistration": false });
    }
    all
}

fn is_empty(result: &Value) -> bool {
    match result {
        Value::Null => true,
        Value::Array(all) => all.is_empty(),
        Value::Object(members) => {
            // A report of diagnostics is an answer without any.
            members.is_empty() || (members.get("kind").is_none() && result["items"] == json!([]))
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
