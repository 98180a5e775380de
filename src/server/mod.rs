//! The language server: the only code that knows LSP types and tokio.
//!
//! The path of a message: `frames` and `wire` (bytes → messages) → `transport` → `ordered` (order is taken,
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
#[cfg(not(target_family = "wasm"))]
mod frames;
#[cfg(target_family = "wasm")]
mod hosted;
mod jobs;
mod memory;
mod model;
mod ordered;
mod outbox;
#[cfg(not(target_family = "wasm"))]
mod piped;
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

#[cfg(target_family = "wasm")]
pub use hosted::HostedServer;
#[cfg(not(target_family = "wasm"))]
pub use piped::{run, serve};

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tower_lsp::{ClientSocket, LspService};

use backend::Handlers;
use connection::{Connection, Index};
use disk_reader::ReaderEvent;
use model::Model;
use ordered::{MessageService, Ordered};
use requests::AnswerFunctions;
use settings::LogLevel;

use crate::disk::ScanProgress;
use crate::workspace::Snapshot;

/// Maximum number of running requests; more are refused, so that a flood costs no memory.
const MAX_REQUESTS: usize = 10_000;

/// Maximum number of messages handled at once: room for all requests and more, so that reading
/// never stops.
pub const CONCURRENCY: usize = MAX_REQUESTS + 1_000;

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

/// A session with a client that nobody talks to yet, and its service; nothing if the system gives no thread.
fn session(options: Options) -> std::io::Result<(LspService<Handlers>, ClientSocket)> {
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
            session.caches.kept.follow(snapshot);
            session.caches.previews.follow(snapshot);
        }
    };
    let model = Model::start(follow, on_change)?;
    let (service, socket) = LspService::new(|client| {
        let session = Connection::new(client, options, model);
        Handlers { session }
    });
    let _ = session_of_model.set(Arc::downgrade(&service.inner().session));
    Ok((service, socket))
}

/// Takes what the reader of the disk reports.
fn report_to(connection: Arc<Connection>) -> impl Fn(ReaderEvent) + Send + Sync {
    move |event| match event {
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
    }
}

/// The tasks beside a conversation, which end with it.
fn background(session: &Arc<Connection>) -> [runtime::JoinHandle<()>; 4] {
    [
        runtime::spawn(publish::publish(session.clone())),
        runtime::spawn(backend::show_progress(session.clone())),
        runtime::spawn(refresh::keep_drawn(session.clone())),
        runtime::spawn(client_process::watch(session.clone())),
    ]
}

/// Ends a conversation: running jobs no longer matter, and choices are saved.
async fn finish(session: &Connection) {
    session.cancel_all();
    session.shown_files.close();
    session.model.close();
    session.disk.close();
    session.keep_all().await;
}

/// Locks a part of the server's state. Every change under these locks is one assignment, insertion
/// or removal, so a panic leaves it valid.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
