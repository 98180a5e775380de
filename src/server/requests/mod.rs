//! One file per method: parameters in, a job on the pinned state, an answer out.
//!
//! No handler computes, and none waits for the client. [`answer`] is the only way to compute: it
//! takes the request's place in the stream, a place in the lane, and runs the job.

pub(crate) mod diagnostic;
pub(crate) mod document_symbol;
pub(crate) mod execute_command;
pub(crate) mod hover;
pub(crate) mod workspace_diagnostic;
pub(crate) mod workspace_symbol;

use std::sync::Arc;
use std::time::Duration;

use tower_lsp::jsonrpc::{Error, ErrorCode, Result};

use super::context::Context;
use super::documents::Documents;
use super::features::Features;
use super::jobs::{Lane, NoAnswer, Reason, Stop, caught};
use super::model::{Moment, Revision};
use super::ordered;
use super::session::{Index, News, Session, Ticket};
use super::settings::LogLevel;
use super::testing::Broken;
use crate::text::{LineIndex, PositionEncoding};
use crate::workspace::Snapshot;

/// LSP's `ServerCancelled`: the server gives up a request; the client may ask again.
pub(crate) const SERVER_CANCELLED: i64 = -32802;

/// How long a request waits for the first reading of the workspace to end before it is answered
/// from what is there: most workspaces are read in less.
const PATIENCE: Duration = Duration::from_millis(1500);

/// What a job may see: the state as of the request's place in the stream.
pub(crate) struct View {
    pub(crate) features: Arc<dyn Features>,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) revision: Revision,
    pub(crate) documents: Documents,
    pub(crate) context: Context,
    pub(crate) encoding: PositionEncoding,
    pub(crate) index: Index,
    pub(crate) stop: Stop,
}

impl View {
    /// The current state, for work that no request asked for.
    pub(crate) async fn now(session: &Session, stop: Stop) -> Option<View> {
        View::of(session, &session.ticket(stop)).await
    }

    async fn of(session: &Session, ticket: &Ticket) -> Option<View> {
        let pinned = ticket
            .pinned
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take()?;
        let Moment { snapshot, revision } = pinned.moment().await?;
        Some(View {
            features: session.options.features.clone(),
            snapshot,
            revision,
            documents: ticket.documents.clone(),
            context: session.context(),
            encoding: session.facts().encoding,
            index: *session.index.borrow(),
            stop: ticket.stop.clone(),
        })
    }

    /// Runs `use_lines` on the lines of a file, if there is such a file.
    pub(crate) fn lines<T>(
        &self,
        path: &str,
        use_lines: impl FnOnce(&LineIndex) -> T,
    ) -> Option<T> {
        self.snapshot.file(path).map(|file| use_lines(file.lines()))
    }
}

/// Which state of the first reading a job wants to run on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    /// Whatever is there.
    AnyState,
    /// The whole workspace, unless that takes too long.
    WholeWorkspace,
    /// The whole workspace, once it is another than the last that was reported.
    News,
}

/// Answers the request that is being handled: `work` runs on the blocking pool, sees the state as
/// of the request's place in the stream, and is stopped when nobody wants its answer any more.
pub(crate) async fn answer<T: Send + 'static>(
    session: &Session,
    method: &str,
    lane: Lane,
    wants: Wants,
    work: impl FnOnce(View) -> T + Send + 'static,
) -> Result<T> {
    let Some(ticket) = ordered::ticket() else {
        return Err(Error::internal_error());
    };
    let stop = ticket.stop.clone();
    if session.options.broken == Some(Broken::Wait) {
        // What a handler does that asks the client something and waits for the reply.
        let _ = session.client.workspace_folders().await;
    }
    let view = tokio::select! {
        view = whole_view(session, &ticket, wants) => view,
        reason = stop.stopped() => return Err(no_answer(session, method, NoAnswer::Stopped(reason))),
    };
    let Some(view) = view else {
        let gone = NoAnswer::Stopped(stop.reason().unwrap_or(Reason::Cancelled));
        return Err(no_answer(session, method, gone));
    };
    let answer = if session.options.broken == Some(Broken::Compute) {
        caught(|| work(view))
    } else {
        session.lanes.run(lane, &stop, move || work(view)).await
    };
    answer.map_err(|why| no_answer(session, method, why))
}

async fn whole_view(session: &Session, ticket: &Ticket, wants: Wants) -> Option<View> {
    if wants == Wants::News {
        // A client that polls is answered when there is something to say; the state as of its
        // place in the stream is one that it knows.
        let mut news = session.news.subscribe();
        let unreported = |news: &News| news.happened != news.reported;
        news.wait_for(unreported).await.ok()?;
        let mut index = session.index.subscribe();
        let complete = |index: &Index| *index == Index::Complete;
        index.wait_for(complete).await.ok()?;
        session
            .news
            .send_modify(|news| news.reported = news.happened);
        return View::now(session, ticket.stop.clone()).await;
    }
    let view = View::of(session, ticket).await?;
    if wants == Wants::AnyState || view.index == Index::Complete {
        return Some(view);
    }
    let mut index = session.index.subscribe();
    let complete = index.wait_for(|index| *index == Index::Complete);
    if tokio::time::timeout(PATIENCE, complete).await.is_err() {
        return Some(view);
    }
    let fresh = View::now(session, ticket.stop.clone()).await?;
    // What was read from the disk meanwhile counts, what was typed meanwhile does not.
    let unchanged = view.documents.paths() == fresh.documents.paths()
        && view.documents.paths().iter().all(|path| {
            let version = |view: &View| view.documents.get(path).map(|document| document.version);
            version(&view) == version(&fresh)
        });
    Some(if unchanged { fresh } else { view })
}

fn no_answer(session: &Session, method: &str, why: NoAnswer) -> Error {
    let (code, message) = match why {
        NoAnswer::Stopped(Reason::Cancelled) => return Error::request_cancelled(),
        NoAnswer::Stopped(Reason::Outdated) => {
            let code = ErrorCode::ContentModified;
            (code, code.description().to_owned())
        }
        NoAnswer::Panicked(said) => {
            let message = format!("{method} failed inside the server: {said}");
            session.log(LogLevel::Error, &message);
            (ErrorCode::InternalError, message)
        }
    };
    Error {
        code,
        message: message.into(),
        data: None,
    }
}
