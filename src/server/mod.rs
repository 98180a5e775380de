//! The language server: the only code that knows LSP types and tokio.
//!
//! The path of a message: `wire` (bytes → messages) → `transport` → `ordered` (order is taken,
//! state is pinned) → `backend` → `requests/<method>` (a job on the blocking pool) → `convert` →
//! `transport` → `outbox`. The path of an edit ends in `ordered`, where it enters `documents` and
//! the queue of `model`; the model's writer notifies `publish`.
//!
//! Four rules apply, each pinned by `tests/transport/rules.rs`: order is taken where messages
//! arrive; handlers never compute; no handler waits for the client; many handlers may run at once,
//! and a semaphore bounds their work instead.
//!
//! It must not know the content of answers: `requests` calls `ide` and `rules`.

mod backend;
mod capabilities;
mod client_process;
mod connection;
mod context;
mod convert;
mod diagnostics;
mod disk_reader;
mod documents;
mod jobs;
mod memory;
mod model;
mod ordered;
mod outbox;
mod progress;
mod publish;
mod refresh;
mod requests;
mod runtime;
pub(crate) mod settings;
mod shown_files;
#[doc(hidden)]
pub mod testing;
mod transport;
mod wire;

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::mpsc::{Sender, channel};
use tower_lsp::LspService;

use backend::Handlers;
use connection::{Connection, Index};
use disk_reader::ReaderEvent;
use model::Model;
use ordered::{MessageService, Ordered};
use outbox::Outbox;
use requests::AnswerFunctions;
use settings::LogLevel;
use wire::Incoming;

use crate::disk::ScanProgress;
use crate::workspace::Snapshot;

/// Maximum number of running requests; more are refused, so that a flood costs no memory.
const MAX_REQUESTS: usize = 10_000;

/// Maximum number of messages handled at once: room for all requests and more, so that reading
/// never stops.
pub const CONCURRENCY: usize = MAX_REQUESTS + 1_000;

/// Maximum number of messages waiting to be handled; the pipe holds the others.
const MAX_WAITING: usize = 16;

/// How long the end waits for running answers, and for a client that reads.
const PATIENCE_AT_END: Duration = Duration::from_secs(2);

/// Maximum number of logged problems of a read.
const MAX_PROBLEMS: usize = 20;

/// Options of a server.
#[derive(Clone)]
pub struct Options {
    /// The functions that answer requests.
    pub answers: Arc<AnswerFunctions>,
    /// Called by the reader of the disk with its progress.
    pub scanning: Arc<OnScanProgress>,
    /// Called by the model's writer with each new snapshot.
    pub applied: Arc<OnSnapshot>,
    /// The service that gets the messages: the ordered one, or another in front of it.
    pub front: Arc<Front>,
    /// Maximum number of messages handled at once.
    pub concurrency: usize,
    /// Debounce of diagnostics.
    pub quiet: Duration,
    /// Debounce of diagnostics for files that are not open.
    pub rest: Duration,
    /// Grace period for an answer about an outdated text.
    pub outdated_grace: Duration,
    /// The folder for choices saved between sessions; `None` to save none.
    pub memory: Option<std::path::PathBuf>,
    /// The folder for files shown to clients that can only show files; `None` for no files.
    pub shown_files: Option<std::path::PathBuf>,
}

type OnScanProgress = dyn Fn(ScanProgress) + Send + Sync;
type OnSnapshot = dyn Fn(&Snapshot) + Send + Sync;
type Front = dyn Fn(Ordered) -> Box<MessageService> + Send + Sync;

impl Default for Options {
    fn default() -> Options {
        Options {
            answers: Arc::default(),
            scanning: Arc::new(|_| {}),
            applied: Arc::new(|_| {}),
            front: Arc::new(|ordered| Box::new(ordered)),
            concurrency: CONCURRENCY,
            quiet: publish::QUIET,
            rest: publish::REST,
            outdated_grace: jobs::OUTDATED_GRACE,
            memory: None,
            shown_files: None,
        }
    }
}

/// Runs the server on standard input and output until the client ends the session or disconnects.
///
/// The exit code is 0 after `shutdown` and `exit`, 1 after `exit` alone, and 0 when the client
/// closed the pipe.
#[must_use]
pub fn run() -> ExitCode {
    let options = Options {
        memory: memory::of_user(),
        shown_files: Some(shown_files::of_user()),
        ..Options::default()
    };
    ExitCode::from(serve(std::io::stdin(), std::io::stdout(), options))
}

/// Serves one client on a pipe until it ends the session or disconnects; returns the exit code.
/// Blocks.
#[must_use]
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: Options,
) -> u8 {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(jobs::most_interactive() + 1)
        .enable_time()
        .thread_name("server")
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!("cannot start threads: {error}");
            return 1;
        }
    };
    // As a task of its own: jobs it starts can continue on its thread.
    let conversation = runtime.spawn(conversation(input, output, options));
    let code = runtime.block_on(conversation).unwrap_or(1);
    // A job that is still running no longer affects anything.
    runtime.shutdown_background();
    code
}

async fn conversation(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: Options,
) -> u8 {
    let (inbox, messages) = channel(MAX_WAITING);
    let outbox = Outbox::default();
    let session_of_model: Arc<OnceLock<Weak<Connection>>> = Arc::default();
    let session = session_of_model.clone();
    let applied = options.applied.clone();
    let on_change = move |latest: &model::VersionedSnapshot| {
        applied(&latest.snapshot);
        if let Some(session) = session.get().and_then(Weak::upgrade) {
            session.follow_projects(&latest.snapshot);
            session.name_files(&latest.snapshot);
            session.notify_change();
        }
    };
    let session = session_of_model.clone();
    let follow = move |snapshot: &Snapshot| {
        if let Some(session) = session.get().and_then(Weak::upgrade) {
            session.caches.sites.follow(snapshot);
        }
    };
    let model = match Model::start(follow, on_change) {
        Ok(model) => model,
        Err(error) => {
            tracing::error!("cannot start the model's thread: {error}");
            return 1;
        }
    };
    let (front, concurrency) = (options.front.clone(), options.concurrency);
    let (service, socket) = LspService::new(|client| {
        let session = Connection::new(client, options, model);
        Handlers { session }
    });
    let session = service.inner().session.clone();
    let _ = session_of_model.set(Arc::downgrade(&session));
    if let Err(error) = start_threads(&session, input, output, inbox, &outbox) {
        tracing::error!("cannot start a thread: {error}");
        return 1;
    }
    let background = [
        runtime::spawn(publish::publish(session.clone())),
        runtime::spawn(backend::show_progress(session.clone())),
        runtime::spawn(refresh::keep_drawn(session.clone())),
        runtime::spawn(client_process::watch(session.clone())),
    ];
    let service = front(Ordered::new(service, session.clone()));
    let serving = transport::serve(service, socket, messages, &outbox, concurrency);
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        // After `exit`, at the end of the pipe, or without a client there is little left to do.
        () = session.ending.notified() => {
            // Requests from before the pipe's end are still answered if that is quick.
            let _ = runtime::timeout(PATIENCE_AT_END, &mut serving).await;
        }
    }
    for task in background {
        task.abort();
    }
    session.cancel_all();
    session.shown_files.close();
    let _ = runtime::timeout(PATIENCE_AT_END, session.keep_all()).await;
    session.model.close();
    session.disk.close();
    outbox.finish(PATIENCE_AT_END);
    session.exit_code()
}

/// Locks a part of the server's state. Every change under these locks is one assignment, insertion
/// or removal, so a panic leaves it valid.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the threads that read the pipe, write the pipe and read the disk.
fn start_threads(
    session: &Arc<Connection>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    inbox: Sender<Incoming>,
    outbox: &Outbox,
) -> std::io::Result<()> {
    let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
    let (answers, ends) = (outbox.clone(), session.clone());
    thread("input").spawn(move || {
        wire::read_messages(input, &inbox, &answers);
        ends.ending.notify_one();
    })?;
    let (from, ends) = (outbox.clone(), session.clone());
    thread("output").spawn(move || {
        if !from.write_to(output) {
            ends.ending.notify_one();
        }
    })?;
    let connection = session.clone();
    let report = move |event| match event {
        ReaderEvent::Files { read, total } => {
            let reading = Index::Reading { read, total };
            connection.index.send_replace(reading);
        }
        ReaderEvent::Outside(outside, problems) => {
            for problem in problems {
                connection.log(LogLevel::Warning, &problem);
            }
            connection.set_outside(outside);
        }
        ReaderEvent::Adopted(folders) => connection.adopt(folders),
        ReaderEvent::Done(problems, began) => {
            for problem in problems.iter().take(MAX_PROBLEMS) {
                let message = format!("{} {}", problem.path, problem.message);
                connection.log(LogLevel::Warning, &message);
            }
            // Everything is in the model's queue: snapshots pinned from now on have it.
            connection.index.send_replace(Index::Complete);
            connection.notify_change();
            if let Some(began) = began {
                connection.log_reading(began);
            }
        }
    };
    let scanning = session.options.scanning.clone();
    session.disk.start(session.model.clone(), scanning, report)
}
