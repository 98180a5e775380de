//! What one conversation with a client is made of: who the client is, the open documents, the
//! settings, the model, and the requests that are under way.
//!
//! Only [`super::ordered`] changes documents and settings, in wire order; everything else reads.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use arc_swap::ArcSwap;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tower_lsp::Client;
use tower_lsp::jsonrpc::Id;
use tower_lsp::ls_types as lsp;

use super::Options;
use super::capabilities::{ClientFacts, Trace};
use super::context::{Caches, Choices, Context, Outside, named_files};
use super::disk_reader::{DiskReader, Named, Seek, Texts, WatchedBy};
use super::documents::Documents;
use super::jobs::{Lanes, Stop};
use super::ledger::Ledger;
use super::model::{Model, Pinned, Unchecked};
use super::settings::{LogLevel, Origin, Settings};
use super::shelf::Shelf;
use crate::workspace::{Change, path};

/// How far the conversation is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Stage {
    /// No `initialize` yet.
    Strange,
    /// Between `initialize` and `shutdown`.
    Running,
    /// After `shutdown`.
    ShutDown,
    /// After `exit`.
    Exited,
}

/// Whether the files of the workspace have been read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Index {
    /// So many files of so many; what is not found may still come.
    Reading {
        /// Read so far.
        read: usize,
        /// To read in all, as far as is known.
        of: usize,
    },
    /// All of them.
    Complete,
}

/// Whether to search again for what was found or missed before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Again {
    /// Only where something new is open.
    No,
    /// Everywhere.
    Yes,
}

/// The state of one conversation.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) options: Options,
    pub(crate) model: Arc<Model>,
    pub(crate) lanes: Lanes,
    pub(crate) disk: DiskReader,
    pub(crate) caches: Arc<Caches>,
    /// What is shown as files.
    pub(crate) shelf: Shelf,
    /// Wakes the publisher: something that diagnostics depend on has changed.
    pub(crate) changed: Notify,
    /// Counts the changes that diagnostics depend on.
    pub(crate) news: watch::Sender<u64>,
    /// Counts how often the user did not want to see progress any more.
    pub(crate) unwanted_progress: watch::Sender<u64>,
    /// What pulled diagnostics of the workspace are by now.
    pub(crate) ledger: Arc<tokio::sync::Mutex<Ledger>>,
    pub(crate) index: watch::Sender<Index>,
    /// What has been read while the model takes it in.
    pub(crate) unindexed: watch::Sender<Option<Texts>>,
    /// Wakes whoever ends the process.
    pub(crate) ending: Notify,
    documents: Mutex<Documents>,
    facts: OnceLock<ClientFacts>,
    settings: ArcSwap<Settings>,
    outside: ArcSwap<Outside>,
    choices: ArcSwap<Choices>,
    /// By workspace folder the node that was taken up from an earlier server, if there was one.
    recalled: Mutex<HashMap<String, Option<Arc<str>>>>,
    /// Held while choices are written.
    keeping: Mutex<()>,
    /// The writing of choices that may still be under way.
    kept: Mutex<Vec<JoinHandle<()>>>,
    /// Something else than files has changed that every file's diagnostics depend on.
    recheck: AtomicBool,
    layers: Mutex<Layers>,
    requests: Mutex<HashMap<Id, Underway>>,
    /// What a client stops by the JSON of its progress token.
    tokens: Mutex<HashMap<String, Stop>>,
    stage: AtomicU8,
    exit_code: AtomicU8,
    trace: AtomicU8,
    /// This session, for tasks that outlive the call that starts them.
    this: Weak<Session>,
    /// For what threads outside the runtime have to say to the client.
    runtime: Handle,
}

/// Where settings came from, in the order in which they are laid over each other.
#[derive(Default)]
struct Layers {
    folders: Vec<String>,
    /// Folders outside of those that open files belong to.
    adopted: Vec<String>,
    /// The folders of open files whose hierarchy has been searched for.
    sought: BTreeSet<Arc<str>>,
    configuration: Value,
    /// At which turn the client knew that configuration, and how many turns there were.
    configured: u64,
    turns: u64,
}

struct Underway {
    stop: Stop,
    path: Option<Arc<str>>,
}

/// One request's place in the stream: what it may see, and whether it is still wanted.
pub(crate) struct Ticket {
    /// The documents as of the request's place.
    pub(crate) documents: Documents,
    /// The workspace as of the request's place.
    pub(crate) pinned: Mutex<Option<Pinned>>,
    /// Whether that was a whole workspace.
    pub(crate) index: Index,
    /// Raised when the client takes the request back or edits its document.
    pub(crate) stop: Stop,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change under these locks is one assignment or insertion: whole even after a panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    pub(crate) fn new(
        client: Client,
        options: Options,
        model: Arc<Model>,
        disk: DiskReader,
    ) -> Arc<Session> {
        Arc::new_cyclic(|this| Session {
            client,
            shelf: Shelf::new(options.shelf.clone()),
            options,
            model,
            lanes: Lanes::new(),
            disk,
            caches: Arc::default(),
            changed: Notify::new(),
            news: watch::Sender::default(),
            unwanted_progress: watch::Sender::default(),
            ledger: Arc::default(),
            index: watch::Sender::new(Index::Reading { read: 0, of: 0 }),
            unindexed: watch::Sender::default(),
            ending: Notify::new(),
            documents: Mutex::default(),
            facts: OnceLock::new(),
            settings: ArcSwap::from_pointee(Settings::default()),
            outside: ArcSwap::default(),
            choices: ArcSwap::default(),
            recalled: Mutex::default(),
            keeping: Mutex::default(),
            kept: Mutex::default(),
            recheck: AtomicBool::new(false),
            layers: Mutex::default(),
            requests: Mutex::default(),
            tokens: Mutex::default(),
            stage: AtomicU8::new(Stage::Strange as u8),
            exit_code: AtomicU8::new(0),
            trace: AtomicU8::new(Trace::Off as u8),
            this: this.clone(),
            runtime: Handle::current(),
        })
    }

    /// This session, shared; nothing once it is ending.
    pub(crate) fn myself(&self) -> Option<Arc<Session>> {
        self.this.upgrade()
    }

    /// The process's exit code by the protocol: 1 for `exit` without `shutdown`, else 0.
    pub(crate) fn exit_code(&self) -> u8 {
        self.exit_code.load(Ordering::Acquire)
    }

    /// Takes `exit`.
    pub(crate) fn exit(&self) {
        let code = u8::from(self.stage() != Stage::ShutDown);
        self.exit_code.store(code, Ordering::Release);
        self.enter(Stage::Exited);
        self.cancel_all();
    }

    /// How far the conversation is.
    pub(crate) fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Acquire) {
            0 => Stage::Strange,
            1 => Stage::Running,
            2 => Stage::ShutDown,
            _ => Stage::Exited,
        }
    }

    pub(crate) fn enter(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Release);
    }

    /// Takes `initialize`; false if it was taken before.
    pub(crate) fn initialize(&self, params: &Value) -> bool {
        let facts = ClientFacts::read(params);
        lock(&self.layers).folders.clone_from(&facts.folders);
        self.set_trace(facts.trace);
        let first = self.facts.set(facts).is_ok();
        if first {
            self.enter(Stage::Running);
        }
        first
    }

    /// What the client said of itself; the defaults before `initialize`.
    pub(crate) fn facts(&self) -> &ClientFacts {
        static STRANGER: OnceLock<ClientFacts> = OnceLock::new();
        self.facts
            .get()
            .unwrap_or_else(|| STRANGER.get_or_init(ClientFacts::default))
    }

    pub(crate) fn settings(&self) -> Arc<Settings> {
        self.settings.load_full()
    }

    /// What answers depend on besides the files, by now.
    pub(crate) fn context(&self) -> Context {
        Context {
            settings: self.settings(),
            outside: self.outside.load_full(),
            choices: self.choices.load_full(),
            command_links: self.facts().command_links,
            hover_form: self.facts().hover_form(),
            encoding: self.facts().encoding,
        }
    }

    /// Takes what was read of files that settings name.
    pub(crate) fn set_outside(&self, outside: Outside) {
        self.outside.store(Arc::new(outside));
        self.recheck_all();
    }

    /// Changes what the user has chosen. Requests are told in wire order only.
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

    /// Takes up the nodes that were selected in earlier conversations, for folders that are new in
    /// this one; gives back what was taken up where the user does not want that.
    fn recall(&self) {
        let Some(memory) = &self.options.memory else {
            return;
        };
        let wanted = self.settings().remember_node;
        for folder in self.folders() {
            let known = lock(&self.recalled).get(&folder).cloned();
            match (wanted, known) {
                (true, None) => {
                    let node = super::memory::recall(memory, &folder);
                    lock(&self.recalled).insert(folder.clone(), node.clone());
                    if let Some(node) = node {
                        self.choose(|choices| {
                            let choice = choices.entry(&folder);
                            choice.node.get_or_insert_with(|| node.clone());
                        });
                    }
                }
                (false, Some(Some(node))) => {
                    lock(&self.recalled).insert(folder.clone(), None);
                    self.choose(|choices| {
                        let choice = choices.entry(&folder);
                        choice.node.take_if(|chosen| *chosen == node);
                    });
                }
                (true, Some(_)) | (false, None | Some(None)) => {}
            }
        }
    }

    /// Keeps the selected node of these folders for the next conversation, beside this one.
    pub(crate) fn keep_node(&self, folders: Vec<String>) {
        if self.options.memory.is_none() || !self.settings().remember_node {
            return;
        }
        let Some(session) = self.myself() else {
            return;
        };
        let keeping = self.runtime.spawn_blocking(move || {
            let Some(memory) = &session.options.memory else {
                return;
            };
            // Whoever writes last has read last.
            let _writing = lock(&session.keeping);
            let choices = session.choices.load_full();
            let workspace = session.folders();
            // A file without a workspace folder has nothing to be remembered by.
            for folder in folders.iter().filter(|folder| workspace.contains(folder)) {
                let node = choices
                    .within(folder)
                    .and_then(|choice| choice.node.as_deref());
                super::memory::keep(memory, folder, node);
            }
        });
        let mut kept = lock(&self.kept);
        kept.retain(|keeping| !keeping.is_finished());
        kept.push(keeping);
    }

    /// Waits until every choice that was made has been kept: the last may be as old as the end.
    pub(crate) async fn keep_all(&self) {
        let kept = std::mem::take(&mut *lock(&self.kept));
        for keeping in kept {
            let _ = keeping.await;
        }
    }

    /// What diagnostics of all files depend on has changed.
    pub(crate) fn recheck_all(&self) {
        self.recheck.store(true, Ordering::Release);
        self.tell_change();
    }

    /// What has changed since the last call that diagnostics depend on.
    pub(crate) fn take_unchecked(&self) -> Unchecked {
        let unchecked = self.model.take_unchecked();
        if self.recheck.swap(false, Ordering::AcqRel) {
            return Unchecked::All;
        }
        unchecked
    }

    /// The workspace folders by now, absolute, and the environments of open files outside them.
    pub(crate) fn folders(&self) -> Vec<String> {
        let layers = lock(&self.layers);
        let adopted = layers.adopted.iter();
        layers.folders.iter().chain(adopted).cloned().collect()
    }

    /// Has the environments searched for that govern open files outside the workspace folders:
    /// where the open files lie has changed, or `again`, where hierarchies may have.
    pub(crate) fn seek(&self, again: Again) {
        let open: BTreeSet<Arc<str>> = self
            .documents()
            .paths()
            .iter()
            .filter_map(|file| path::parent(file).map(Arc::from))
            .collect();
        let mut layers = lock(&self.layers);
        if again == Again::No && open == layers.sought {
            return;
        }
        let is_new = again == Again::Yes || !open.is_subset(&layers.sought);
        layers.sought.clone_from(&open);
        let folders = layers.folders.clone();
        drop(layers);
        self.disk.seek(Seek { open, folders }, || {
            if is_new {
                // What an open file means is not known before its environment is read.
                self.index.send_replace(Index::Reading { read: 0, of: 0 });
            }
        });
    }

    /// Takes the environments of open files outside the workspace folders.
    pub(crate) fn adopt(&self, adopted: Vec<String>) {
        {
            let mut layers = lock(&self.layers);
            if layers.adopted == adopted {
                return;
            }
            layers.adopted = adopted;
        }
        self.tell_folders();
    }

    /// Takes folders away and adds others; tells the model and reads what is new.
    pub(crate) fn change_folders(&self, removed: &[String], added: Vec<String>) {
        {
            let mut layers = lock(&self.layers);
            layers.folders.retain(|folder| !removed.contains(folder));
            for folder in added {
                if !layers.folders.contains(&folder) {
                    layers.folders.push(folder);
                }
            }
        }
        self.read_settings();
        self.tell_folders();
        self.seek(Again::Yes);
    }

    /// Tells the model which folders there are, and has them read.
    pub(crate) fn tell_folders(&self) {
        let folders = self.folders();
        let shared = folders.iter().map(|folder| folder.as_str().into());
        self.model.change(Change::Folders(shared.collect()));
        self.rescan();
    }

    /// Wakes whoever shows diagnostics: what they depend on has changed.
    pub(crate) fn tell_change(&self) {
        self.changed.notify_one();
        self.news.send_modify(|happened| *happened += 1);
    }

    /// Has the whole workspace read again.
    pub(crate) fn rescan(&self) {
        if self.folders().is_empty()
            && self.settings().of_files() == crate::workspace::Settings::default()
        {
            return;
        }
        let watched_by = if self.facts().watches {
            WatchedBy::Client(lock(&self.layers).folders.clone())
        } else {
            WatchedBy::Us
        };
        self.disk.scan(watched_by, || {
            self.index.send_replace(Index::Reading { read: 0, of: 0 });
        });
    }

    /// The place of a word about the settings' section among all of them.
    pub(crate) fn turn(&self) -> u64 {
        let mut layers = lock(&self.layers);
        layers.turns += 1;
        layers.turns
    }

    /// Takes the section's content as the client knew it at a [`Session::turn`]. Answers of the client
    /// are taken up by tasks of their own: an older one that comes later is passed over.
    pub(crate) fn configure(&self, turn: u64, configuration: Value) {
        {
            let mut layers = lock(&self.layers);
            if turn < layers.configured {
                return;
            }
            layers.configured = turn;
            layers.configuration = configuration;
        }
        self.read_settings();
    }

    /// Reads all layers of settings again, tells the model what concerns files, and the user what
    /// could not be taken.
    pub(crate) fn read_settings(&self) {
        let (settings, complaints) = {
            let layers = lock(&self.layers);
            // The protocol does not say who wrote a setting. Editors drop a workspace's word on
            // settings of scope "machine" before they send them, so both count as the user's.
            let read = [
                (Origin::User, self.facts().options.clone()),
                (Origin::User, layers.configuration.clone()),
            ];
            Settings::read(&read, &layers.folders)
        };
        for complaint in complaints {
            self.log(LogLevel::Warning, &complaint);
        }
        let before = self.settings.swap(Arc::new(settings));
        let now = self.settings();
        if before.of_files() != now.of_files() {
            self.model.change(Change::Settings(now.of_files()));
            self.rescan();
        }
        let named = |settings: &Settings| Named {
            texts: named_files(settings),
            keys: settings
                .pkcs7_private_key
                .clone()
                .zip(settings.pkcs7_public_key.clone())
                .filter(|_| settings.decrypt),
        };
        if named(&before) != named(&now) {
            self.disk.name(named(&now));
        }
        if before != now {
            self.recheck_all();
        }
        self.recall();
    }

    /// The documents as of now.
    pub(crate) fn documents(&self) -> Documents {
        lock(&self.documents).clone()
    }

    /// Changes the documents and, under the same lock, the model, so that both agree at any pin.
    pub(crate) fn edit<T>(&self, change: impl FnOnce(&mut Documents) -> T) -> T {
        let mut documents = lock(&self.documents);
        change(&mut documents)
    }

    /// A place in the stream: everything before it counts, nothing after it.
    pub(crate) fn ticket(&self, stop: Stop) -> Ticket {
        let documents = lock(&self.documents);
        // Before the pin: a reading that is complete by now is in it, one that will be is not.
        let index = *self.index.borrow();
        Ticket {
            documents: documents.clone(),
            index,
            pinned: Mutex::new(Some(self.model.pin(&stop))),
            stop,
        }
    }

    /// Remembers a request, so that it can be stopped; none if its id is in use or too many wait.
    pub(crate) fn admit(&self, id: &Id, path: Option<Arc<str>>) -> Option<Stop> {
        let mut requests = lock(&self.requests);
        if requests.len() >= super::MAX_REQUESTS || requests.contains_key(id) {
            return None;
        }
        let stop = Stop::new(self.options.outdated_grace);
        let underway = Underway {
            stop: stop.clone(),
            path,
        };
        requests.insert(id.clone(), underway);
        Some(stop)
    }

    /// Forgets an answered request.
    pub(crate) fn dismiss(&self, id: &Id) {
        lock(&self.requests).remove(id);
    }

    /// Stops a request on the client's word.
    pub(crate) fn cancel(&self, id: &Id) {
        if let Some(underway) = lock(&self.requests).get(id) {
            underway.stop.cancel();
        }
    }

    /// From here on, `token` stops what `stop` stops.
    pub(crate) fn name(&self, token: String, stop: Stop) {
        lock(&self.tokens).insert(token, stop);
    }

    /// Forgets a token.
    pub(crate) fn unname(&self, token: &str) {
        lock(&self.tokens).remove(token);
    }

    /// Stops the work behind a progress that the user has taken back; that of the first reading
    /// goes on unseen.
    pub(crate) fn cancel_progress(&self, token: &Value) {
        match lock(&self.tokens).get(&token.to_string()) {
            Some(stop) => stop.cancel(),
            None => self.unwanted_progress.send_modify(|times| *times += 1),
        }
    }

    /// Stops everything that is under way.
    pub(crate) fn cancel_all(&self) {
        for underway in lock(&self.requests).values() {
            underway.stop.cancel();
        }
    }

    /// Tells the requests on a document that its text has moved on.
    pub(crate) fn outdate(&self, path: &str) {
        for underway in lock(&self.requests).values() {
            if underway.path.as_deref() == Some(path) {
                underway.stop.outdate();
            }
        }
    }

    pub(crate) fn set_trace(&self, trace: Trace) {
        self.trace.store(trace as u8, Ordering::Relaxed);
    }

    pub(crate) fn trace(&self) -> Trace {
        match self.trace.load(Ordering::Relaxed) {
            0 => Trace::Off,
            1 => Trace::Messages,
            _ => Trace::Verbose,
        }
    }

    /// Writes to standard error's log, and to the client's as far as its level asks for it. Never
    /// waits for the client.
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
