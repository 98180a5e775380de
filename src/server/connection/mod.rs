//! The state of one session with a client: the client's capabilities, the open documents, the
//! settings (`layers`), the model, and the running requests (`underway`).
//!
//! Only [`super::ordered`] changes documents and settings, in wire order; everything else reads.

mod layers;
mod underway;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use arc_swap::ArcSwap;
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tower_lsp::Client;
use tower_lsp::jsonrpc::Id;
use tower_lsp::ls_types as lsp;

use super::Options;
use super::capabilities::{ClientFacts, Trace};
use super::context::{Caches, Choices, Outside, ServerContext};
use super::diagnostics::FileDiagnostics;
use super::disk_reader::{DiskReader, NamedFiles};
use super::documents::Documents;
use super::jobs::{Cancellation, Lanes};
use super::lock;
use super::model::{Model, Unchecked};
use super::runtime::{self, Handle, Instant, JoinHandle};
use super::settings::{LogLevel, UserSettings};
use super::shown_files::ShownFiles;
use crate::ide::cell::{counted, what_was_read};
use crate::workspace::{HIERA_YAML, path};
use layers::Layers;
pub(crate) use layers::Repeat;
pub(crate) use underway::Ticket;
use underway::Underway;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// No `initialize` yet.
    Uninitialized,
    /// Between `initialize` and `shutdown`.
    Running,
    ShutDown,
    /// After `exit`, with the process's exit code.
    Exited(u8),
}

/// Whether the workspace has been read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Index {
    /// Progress so far; missing files may still appear.
    Reading {
        read: usize,
        /// Total number, as far as known.
        total: usize,
    },
    Complete,
}

pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) options: Options,
    pub(crate) model: Arc<Model>,
    pub(crate) lanes: Lanes,
    pub(crate) disk: DiskReader,
    pub(crate) caches: Arc<Caches>,
    pub(crate) shown_files: ShownFiles,
    /// Wakes the publisher: something that diagnostics depend on has changed.
    pub(crate) changed: Notify,
    /// Counts the changes that diagnostics depend on.
    pub(crate) news: watch::Sender<u64>,
    /// Counts how often the user cancelled a progress.
    pub(crate) unwanted_progress: watch::Sender<u64>,
    pub(crate) diagnostics: Arc<tokio::sync::Mutex<FileDiagnostics>>,
    pub(crate) index: watch::Sender<Index>,
    /// Wakes the task that ends the process.
    pub(crate) ending: Notify,
    documents: Mutex<Documents>,
    facts: OnceLock<Arc<ClientFacts>>,
    settings: ArcSwap<UserSettings>,
    outside: ArcSwap<Outside>,
    /// The files that the reading thread was last told to read for it.
    named: Mutex<NamedFiles>,
    choices: ArcSwap<Choices>,
    /// The selected node restored from an earlier session, if there was one, by workspace folder.
    recalled: Mutex<HashMap<String, Option<Arc<str>>>>,
    /// Held while choices are saved.
    keeping: Mutex<()>,
    /// Tasks that may still be saving choices.
    kept: Mutex<Vec<JoinHandle<()>>>,
    /// Set if something other than files has changed that every file's diagnostics depend on.
    recheck: AtomicBool,
    layers: Mutex<Layers>,
    requests: Mutex<HashMap<Id, Underway>>,
    /// Jobs that a client can cancel, by the JSON of their progress token.
    tokens: Mutex<HashMap<String, Cancellation>>,
    stage: Mutex<Stage>,
    trace: Mutex<Trace>,
    /// This session, for tasks that outlive their caller.
    this: Weak<Connection>,
    /// The runtime, for threads outside of it that send to the client.
    runtime: Handle,
}

impl Connection {
    pub(crate) fn new(client: Client, options: Options, model: Arc<Model>) -> Arc<Connection> {
        Arc::new_cyclic(|this| Connection {
            client,
            shown_files: ShownFiles::new(options.shown_files.clone()),
            options,
            model,
            lanes: Lanes::new(),
            disk: DiskReader::default(),
            caches: Arc::default(),
            changed: Notify::new(),
            news: watch::Sender::default(),
            unwanted_progress: watch::Sender::default(),
            diagnostics: Arc::default(),
            index: watch::Sender::new(Index::Reading { read: 0, total: 0 }),
            ending: Notify::new(),
            documents: Mutex::default(),
            facts: OnceLock::new(),
            settings: ArcSwap::from_pointee(UserSettings::default()),
            outside: ArcSwap::default(),
            named: Mutex::default(),
            choices: ArcSwap::default(),
            recalled: Mutex::default(),
            keeping: Mutex::default(),
            kept: Mutex::default(),
            recheck: AtomicBool::new(false),
            layers: Mutex::default(),
            requests: Mutex::default(),
            tokens: Mutex::default(),
            stage: Mutex::new(Stage::Uninitialized),
            trace: Mutex::default(),
            this: this.clone(),
            runtime: Handle::current(),
        })
    }

    /// This session, shared; `None` once it is ending.
    pub(crate) fn myself(&self) -> Option<Arc<Connection>> {
        self.this.upgrade()
    }

    /// The process's exit code as the protocol defines it: 1 for `exit` without `shutdown`, else 0.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn exit_code(&self) -> u8 {
        match self.stage() {
            Stage::Exited(code) => code,
            Stage::Uninitialized | Stage::Running | Stage::ShutDown => 0,
        }
    }

    pub(crate) fn exit(&self) {
        let code = u8::from(self.stage() != Stage::ShutDown);
        self.enter(Stage::Exited(code));
        self.cancel_all();
    }

    pub(crate) fn stage(&self) -> Stage {
        *lock(&self.stage)
    }

    pub(crate) fn enter(&self, stage: Stage) {
        *lock(&self.stage) = stage;
    }

    /// Handles `initialize`; false for a repeated one.
    pub(crate) fn initialize(&self, params: &Value) -> bool {
        let facts = ClientFacts::read(params);
        lock(&self.layers).folders.clone_from(&facts.folders);
        self.set_trace(facts.trace);
        let first = self.facts.set(Arc::new(facts)).is_ok();
        if first {
            self.enter(Stage::Running);
        }
        first
    }

    /// The client's capabilities; the defaults before `initialize`.
    pub(crate) fn facts(&self) -> &Arc<ClientFacts> {
        static UNKNOWN: OnceLock<Arc<ClientFacts>> = OnceLock::new();
        let facts = self.facts.get();
        facts.unwrap_or_else(|| UNKNOWN.get_or_init(Arc::default))
    }

    pub(crate) fn settings(&self) -> Arc<UserSettings> {
        self.settings.load_full()
    }

    pub(crate) fn context(&self) -> ServerContext {
        ServerContext {
            settings: self.settings(),
            outside: self.outside.load_full(),
            choices: self.choices.load_full(),
            command_links: self.facts().command_links,
            hover_form: self.facts().hover_form(),
            encoding: self.facts().encoding,
        }
    }

    pub(crate) fn set_outside(&self, outside: Outside) {
        self.outside.store(Arc::new(outside));
        self.recheck_all();
    }

    /// Changes the user's choices. Must be called in wire order.
    pub(crate) fn choose(&self, change: impl Fn(&mut Choices)) {
        let changed = |choices: &Arc<Choices>| {
            let mut choices = Choices::clone(choices);
            change(&mut choices);
            Arc::new(choices)
        };
        let before = self.choices.rcu(changed);
        if before != self.choices.load_full() {
            self.recheck_all();
        }
    }

    /// Marks the diagnostics of all files as outdated.
    pub(crate) fn recheck_all(&self) {
        self.recheck.store(true, Ordering::Release);
        self.notify_change();
    }

    /// The changes since the last call that diagnostics depend on.
    pub(crate) fn take_unchecked(&self) -> Unchecked {
        let unchecked = self.model.take_unchecked();
        if self.recheck.swap(false, Ordering::AcqRel) {
            return Unchecked::All;
        }
        unchecked
    }

    /// Wakes the tasks that show diagnostics: something they depend on has changed.
    pub(crate) fn notify_change(&self) {
        self.changed.notify_one();
        self.news.send_modify(|happened| *happened += 1);
    }

    pub(crate) fn documents(&self) -> Documents {
        lock(&self.documents).clone()
    }

    /// Changes the documents and, under the same lock, the model, so that both agree at any pin.
    pub(crate) fn edit<T>(&self, change: impl FnOnce(&mut Documents) -> T) -> T {
        let mut documents = lock(&self.documents);
        change(&mut documents)
    }

    pub(crate) fn set_trace(&self, trace: Trace) {
        *lock(&self.trace) = trace;
    }

    pub(crate) fn trace(&self) -> Trace {
        *lock(&self.trace)
    }

    /// Logs the number of files read and the time it took, once the model has them.
    pub(crate) fn log_reading(&self, began: Instant) {
        let Some(session) = self.myself() else { return };
        let pinned = self.model.pin(&Cancellation::never());
        self.runtime.spawn(async move {
            let Some(snapshot) = pinned.snapshot().await else {
                return;
            };
            let took = began.elapsed().as_millis();
            let work = move || {
                let (folders, context) = (session.folders(), session.context());
                let snapshot = &snapshot.snapshot;
                let nodes = folders.iter().map(|folder| {
                    let place = path::join(folder, HIERA_YAML);
                    let set = context.nodes(&session.caches, snapshot, &place);
                    set.nodes.all().len()
                });
                let nodes = counted(nodes.sum());
                let read = what_was_read(snapshot);
                session.log(
                    LogLevel::Info,
                    &format!("read {read}, {nodes} in {took} ms"),
                );
            };
            let _ = runtime::spawn_blocking(work).await;
        });
    }

    /// Writes to the log on standard error, and to the client's log if its level includes the
    /// message. Never waits for the client.
    pub(crate) fn log(&self, level: LogLevel, message: &str) {
        let kind = match level {
            LogLevel::Off => return,
            LogLevel::Error => {
                tracing::error!("{message}");
                lsp::MessageType::ERROR
            }
            LogLevel::Warning => {
                tracing::warn!("{message}");
                lsp::MessageType::WARNING
            }
            LogLevel::Info => {
                tracing::info!("{message}");
                lsp::MessageType::INFO
            }
            LogLevel::Debug => {
                tracing::debug!("{message}");
                lsp::MessageType::LOG
            }
        };
        if level > self.settings.load().log_level || self.stage() != Stage::Running {
            return;
        }
        let (client, message) = (self.client.clone(), message.to_owned());
        self.runtime
            .spawn(async move { client.log_message(kind, message).await });
    }
}
