//! The language server: the only code that knows LSP types and tokio.
//!
//! A message's way: [`wire`](self) (bytes → well-formed messages) → the transport → `ordered`
//! (order is taken, state is pinned) → `backend` → `requests/<method>` (a job on the blocking
//! pool) → `convert` → the transport → `wire`. An edit's way ends in `ordered`: it enters
//! `documents` and the queue of `model` there; `publish` hears of it from the model's writer.
//!
//! Four rules hold here, each pinned by `tests/transport`: order is taken where messages
//! arrive; handlers never compute; no handler waits for the client; the transport's limit of
//! handlers at once is raised, and work is bounded by a semaphore instead.
//!
//! It must not know what any answer says: `requests` asks `ide` and `rules`.

mod backend;
mod capabilities;
mod client_process;
mod context;
mod convert;
mod disk_reader;
mod documents;
mod jobs;
mod ledger;
mod memory;
mod model;
mod ordered;
mod progress;
mod publish;
mod refresh;
mod requests;
mod session;
pub mod settings;
mod shelf;
#[doc(hidden)]
pub mod testing;
mod wire;

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use tower_lsp::{LspService, Server};

use backend::Backend;
use disk_reader::{DiskReader, Reading};
use model::Model;
use ordered::Ordered;
use session::{Index, Session};
use settings::LogLevel;
use testing::{Broken, Doubles};
use wire::{Inbox, Outbox};

/// How many requests may be under way; more are refused, so that a flood costs no memory.
const MAX_REQUESTS: usize = 10_000;

/// How many messages the transport may be busy with at once: room for all requests and more, so
/// that it never stops reading.
const CONCURRENCY: usize = MAX_REQUESTS + 1_000;

/// How long the end waits for answers that are still under way, and for a client that reads.
const FAREWELL: Duration = Duration::from_secs(2);

/// How many things that a reading left out are named in the log.
const MAX_PROBLEMS: usize = 20;

/// What a server is made with.
#[derive(Clone)]
pub struct Options {
    /// What tests answer some requests with; none in the program.
    pub doubles: Option<Arc<Doubles>>,
    /// How long nothing must change before diagnostics are computed.
    pub quiet: Duration,
    /// How long nothing must change before the files that are not open are checked.
    pub rest: Duration,
    /// How long an answer about a text that has changed may still take.
    pub outdated_grace: Duration,
    /// Called by the reader of the disk once all names are known and nothing is read: tests make it
    /// wait.
    pub listed: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Called by the reader of the disk after each portion of files, and before the model is told of
    /// them: tests make it slow.
    pub portion_read: Option<Arc<dyn Fn() + Send + Sync>>,
    /// The folder where the user's choices outlive the server; none where they do not.
    pub memory: Option<std::path::PathBuf>,
    /// The folder for files that are shown to clients which show nothing else; none for no files.
    pub shelf: Option<std::path::PathBuf>,
    /// A rule to break, in tests of the tests.
    pub broken: Option<Broken>,
}

impl Options {
    /// The defaults.
    #[must_use]
    pub fn new() -> Options {
        Options {
            doubles: None,
            quiet: publish::QUIET,
            rest: publish::REST,
            outdated_grace: jobs::OUTDATED_GRACE,
            listed: None,
            portion_read: None,
            memory: None,
            shelf: None,
            broken: None,
        }
    }
}

/// Runs the server on standard input and output until the client ends it or goes away.
///
/// The exit code is 0 after `shutdown` and `exit`, 1 after `exit` alone, and 0 when the client
/// closed the pipe.
#[must_use]
pub fn run() -> ExitCode {
    let mut options = Options::new();
    options.memory = memory::of_user();
    options.shelf = Some(shelf::of_user());
    ExitCode::from(serve(std::io::stdin(), std::io::stdout(), options))
}

/// Serves one client on a pipe until it ends the conversation or goes away; gives the exit code.
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
            tracing::error!("no threads to serve with: {error}");
            return 1;
        }
    };
    // A task among others: what it starts can go on in its thread.
    let conversation = runtime.spawn(conversation(input, output, options));
    let code = runtime.block_on(conversation).unwrap_or(1);
    // A job that is still running looks at nothing that matters any more.
    runtime.shutdown_background();
    code
}

async fn conversation(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: Options,
) -> u8 {
    let (inbox, outbox) = (Inbox::default(), Outbox::default());
    let broken = options.broken;
    let session_to_tell: Arc<OnceLock<Weak<Session>>> = Arc::default();
    let told = session_to_tell.clone();
    let tell = move |_: &model::Moment| {
        if let Some(session) = told.get().and_then(Weak::upgrade) {
            session.tell_change();
        }
    };
    let model = match Model::start(Box::new(tell)) {
        Ok(model) => model,
        Err(error) => {
            tracing::error!("no thread for the model: {error}");
            return 1;
        }
    };
    let (service, socket) = LspService::new(|client| {
        let session = Session::new(client, options, model.clone(), DiskReader::default());
        Backend { session }
    });
    let session = service.inner().session.clone();
    let _ = session_to_tell.set(Arc::downgrade(&session));
    if let Err(error) = start_threads(&session, input, output, &inbox, &outbox) {
        tracing::error!("no thread to serve with: {error}");
        return 1;
    }
    let background = [
        tokio::spawn(publish::publish(session.clone())),
        tokio::spawn(backend::show_progress(session.clone())),
        tokio::spawn(refresh::keep_drawn(session.clone())),
        tokio::spawn(client_process::watch(session.clone())),
    ];
    let server = Server::new(inbox.clone(), outbox.clone(), socket);
    let server = if broken == Some(Broken::Slots) {
        server
    } else {
        server.concurrency_level(CONCURRENCY)
    };
    let serving = server.serve(Ordered::new(service, session.clone()));
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        // After `exit`, at the end of the pipe, or without a client there is little left to do.
        () = session.ending.notified() => {
            // Whatever was asked before the pipe's end is still answered if that is quick.
            let _ = tokio::time::timeout(FAREWELL, &mut serving).await;
        }
    }
    for task in background {
        task.abort();
    }
    session.cancel_all();
    session.shelf.close();
    let _ = tokio::time::timeout(FAREWELL, session.keep_all()).await;
    session.model.close();
    session.disk.close();
    inbox.close();
    outbox.finish(FAREWELL);
    session.exit_code()
}

/// The threads that read the pipe, write the pipe and read the disk.
fn start_threads(
    session: &Arc<Session>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    inbox: &Inbox,
    outbox: &Outbox,
) -> std::io::Result<()> {
    let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
    let (into, answers, ends) = (inbox.clone(), outbox.clone(), session.clone());
    thread("input").spawn(move || {
        wire::read_messages(input, &into, &answers);
        ends.ending.notify_one();
    })?;
    let (from, ends) = (outbox.clone(), session.clone());
    thread("output").spawn(move || {
        if !from.write_to(output) {
            ends.ending.notify_one();
        }
    })?;
    let tells = session.clone();
    session.disk.start(session.model.clone(), move |reading| {
        match reading {
            Reading::Begun => {
                tells.index.send_replace(Index::Reading { read: 0, of: 0 });
            }
            Reading::Files { read, of } => {
                tells.index.send_replace(Index::Reading { read, of });
                if let Some(portion_read) = &tells.options.portion_read {
                    portion_read();
                }
            }
            Reading::Listed => {
                if let Some(listed) = &tells.options.listed {
                    listed();
                }
            }
            Reading::Texts(texts) => {
                tells.unindexed.send_replace(Some(texts));
                if let Some(portion_read) = &tells.options.portion_read {
                    portion_read();
                }
            }
            Reading::Indexed => {
                tells.unindexed.send_replace(None);
            }
            Reading::Outside(outside, problems) => {
                for problem in problems {
                    tells.log(LogLevel::Warning, &problem);
                }
                tells.set_outside(outside);
            }
            Reading::Adopted(folders) => tells.adopt(folders),
            Reading::Done(problems) => {
                for problem in problems.iter().take(MAX_PROBLEMS) {
                    let message = format!("{} {}", problem.path, problem.message);
                    tells.log(LogLevel::Warning, &message);
                }
                // The last of it is in the model's queue: whoever pins from now on sees it. Whoever is
                // woken finds the reading complete, else nobody would wake them again.
                tells.index.send_replace(Index::Complete);
                tells.tell_change();
            }
        }
    })
}
