//! The server on a pipe: threads that read it, write it and read the disk.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{Sender, channel};

use super::connection::Connection;
use super::frames::read_messages;
use super::ordered::Ordered;
use super::outbox::Outbox;
use super::wire::Incoming;
use super::{
    Options, background, finish, jobs, memory, report_to, runtime, session, shown_files, transport,
};

/// Maximum number of messages waiting to be handled; the pipe holds the others.
const MAX_WAITING: usize = 16;

/// How long the end waits for running answers, and for a client that reads.
const PATIENCE_AT_END: Duration = Duration::from_secs(2);

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
    let (front, concurrency) = (options.front.clone(), options.concurrency);
    let (service, socket) = match session(options) {
        Ok(started) => started,
        Err(error) => {
            tracing::error!("cannot start the model's thread: {error}");
            return 1;
        }
    };
    let session = service.inner().session.clone();
    if let Err(error) = start_threads(&session, input, output, inbox, &outbox) {
        tracing::error!("cannot start a thread: {error}");
        return 1;
    }
    let background = background(&session);
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
    let _ = runtime::timeout(PATIENCE_AT_END, finish(&session)).await;
    outbox.finish(PATIENCE_AT_END);
    session.exit_code()
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
        read_messages(input, &inbox, &answers);
        ends.ending.notify_one();
    })?;
    let (from, ends) = (outbox.clone(), session.clone());
    thread("output").spawn(move || {
        if !from.write_to(output) {
            ends.ending.notify_one();
        }
    })?;
    let scanning = session.options.scanning.clone();
    let report = report_to(session.clone());
    session.disk.start(session.model.clone(), scanning, report)
}
