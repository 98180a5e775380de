//! `$/progress` of one command: begin, reports, and end before its answer.
//!
//! The job reports from the blocking pool; a separate task sends, so that no job waits for the
//! client.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tower_lsp::Client;
use tower_lsp::ls_types::{self as lsp, notification};

use super::connection::Connection;
use super::jobs::Cancellation;
use super::lock;
use super::runtime::{self, Instant, JoinHandle};

/// Delay before unsolicited progress is shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// Minimum interval between two reports.
const INTERVAL: Duration = Duration::from_millis(100);

pub(crate) struct Progress {
    task: JoinHandle<()>,
    /// Whether the client provided the token.
    is_requested: bool,
    reporter: Reporter,
    name: String,
}

/// Reports a job's progress; cheap to call in a loop.
#[derive(Clone)]
pub(crate) struct Reporter {
    sender: UnboundedSender<lsp::WorkDoneProgress>,
    due: Arc<Mutex<Instant>>,
}

impl Progress {
    /// Begins on the client's token; without one, on a token of ours if the client can show it and
    /// the work takes long. A cancellation may use either.
    pub(crate) fn begin(
        session: &Connection,
        token: Option<lsp::ProgressToken>,
        title: &str,
        stop: &Cancellation,
    ) -> Progress {
        let (sender, receiver) = unbounded_channel();
        let is_requested = token.is_some();
        let token = token.unwrap_or_else(own_token);
        let name = json!(token).to_string();
        session.name(name.clone(), stop.clone());
        let patience = if is_requested {
            Duration::ZERO
        } else {
            PATIENCE
        };
        let begin = beginning(title);
        let client = session.client.clone();
        let task = match (is_requested, session.facts().progress) {
            (true, _) => runtime::spawn(async move {
                send(&client, &token, begin).await;
                forward(&client, &token, receiver).await;
            }),
            (false, true) => runtime::spawn(own(client, token, begin, receiver)),
            (false, false) => runtime::spawn(drained(receiver)),
        };
        let due = Arc::new(Mutex::new(Instant::now() + patience));
        Progress {
            task,
            is_requested,
            reporter: Reporter { sender, due },
            name,
        }
    }

    pub(crate) fn reporter(&self) -> Reporter {
        self.reporter.clone()
    }

    /// Ends the progress, whatever the result.
    pub(crate) async fn end(self, session: &Connection) {
        session.unname(&self.name);
        let _ = self.reporter.sender.send(ending());
        if self.is_requested {
            let _ = self.task.await;
        }
    }
}

impl Reporter {
    pub(crate) fn report(&self, done: usize, total: usize) {
        let mut due = lock(&self.due);
        if Instant::now() >= *due {
            *due = Instant::now() + INTERVAL;
            // It fails once the progress has ended.
            let _ = self.sender.send(report(done, total, "keys"));
        }
    }
}

fn own_token() -> lsp::ProgressToken {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    lsp::ProgressToken::String(format!("hiera-ls/command/{number}"))
}

pub(super) fn beginning(title: &str) -> lsp::WorkDoneProgress {
    lsp::WorkDoneProgress::Begin(lsp::WorkDoneProgressBegin {
        title: title.to_owned(),
        cancellable: Some(true),
        percentage: Some(0),
        ..lsp::WorkDoneProgressBegin::default()
    })
}

pub(super) fn report(done: usize, total: usize, things: &str) -> lsp::WorkDoneProgress {
    let percentage = done.saturating_mul(100) / total.max(1);
    lsp::WorkDoneProgress::Report(lsp::WorkDoneProgressReport {
        message: Some(format!("{done} of {total} {things}")),
        cancellable: Some(true),
        percentage: u32::try_from(percentage.min(100)).ok(),
    })
}

pub(super) fn ending() -> lsp::WorkDoneProgress {
    lsp::WorkDoneProgress::End(lsp::WorkDoneProgressEnd::default())
}

pub(super) async fn send(
    client: &Client,
    token: &lsp::ProgressToken,
    value: lsp::WorkDoneProgress,
) {
    let params = lsp::ProgressParams {
        token: token.clone(),
        value: lsp::ProgressParamsValue::WorkDone(value),
    };
    client
        .send_notification::<notification::Progress>(params)
        .await;
}

async fn forward(
    client: &Client,
    token: &lsp::ProgressToken,
    mut receiver: UnboundedReceiver<lsp::WorkDoneProgress>,
) {
    while let Some(value) = receiver.recv().await {
        let is_end = matches!(value, lsp::WorkDoneProgress::End(_));
        send(client, token, value).await;
        if is_end {
            return;
        }
    }
}

/// Progress on a token of ours, which is created at the first report.
async fn own(
    client: Client,
    token: lsp::ProgressToken,
    begin: lsp::WorkDoneProgress,
    mut receiver: UnboundedReceiver<lsp::WorkDoneProgress>,
) {
    let Some(lsp::WorkDoneProgress::Report(_)) = receiver.recv().await else {
        return;
    };
    // A client that never replies delays nothing after the work.
    let created = tokio::select! {
        created = client.create_work_done_progress(token.clone()) => created.is_ok(),
        () = drain(&mut receiver) => false,
    };
    if !created {
        return;
    }
    send(&client, &token, begin).await;
    forward(&client, &token, receiver).await;
}

async fn drained(mut receiver: UnboundedReceiver<lsp::WorkDoneProgress>) {
    drain(&mut receiver).await;
}

/// Drops all reports until the end.
async fn drain(receiver: &mut UnboundedReceiver<lsp::WorkDoneProgress>) {
    while let Some(value) = receiver.recv().await {
        if matches!(value, lsp::WorkDoneProgress::End(_)) {
            return;
        }
    }
}
