//! `workspace/diagnostic`: the diagnostics of every file, answered when they are others than the
//! client says it knows. Until then the request is held, as the protocol has it.

use std::sync::Arc;

use tokio::time::Instant;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use super::{View, is_read, no_answer};
use crate::server::convert;
use crate::server::jobs::{Lane, NoAnswer, Reason, Stop};
use crate::server::ledger::{Known, Report};
use crate::server::ordered;
use crate::server::publish::MAX_QUIET;
use crate::server::session::Session;

const METHOD: &str = "workspace/diagnostic";

pub(crate) async fn handle(
    session: &Session,
    params: lsp::WorkspaceDiagnosticParams,
) -> Result<lsp::WorkspaceDiagnosticReportResult> {
    let Some(ticket) = ordered::ticket() else {
        return Err(Error::internal_error());
    };
    let previous = params.previous_result_ids.into_iter();
    let known: Known = previous
        .filter_map(|previous| {
            let path = convert::path(previous.uri.as_str())?;
            Some((path, (previous.uri, previous.value)))
        })
        .collect();
    let known = Arc::new(known);
    let items = tokio::select! {
        items = news(session, &ticket.stop, &known) => items,
        reason = ticket.stop.stopped() => Err(NoAnswer::Stopped(reason)),
    };
    let items = items.map_err(|why| no_answer(session, METHOD, why))?;
    Ok(lsp::WorkspaceDiagnosticReportResult::Report(
        lsp::WorkspaceDiagnosticReport { items },
    ))
}

type Items = Vec<lsp::WorkspaceDocumentDiagnosticReport>;

/// What the client does not know, once there is something.
async fn news(
    session: &Session,
    stop: &Stop,
    known: &Arc<Known>,
) -> std::result::Result<Items, NoAnswer> {
    const ENDING: NoAnswer = NoAnswer::Stopped(Reason::Cancelled);
    let mut happened = session.news.subscribe();
    loop {
        is_read(session).await.ok_or(ENDING)?;
        happened.mark_unchanged();
        // Held until the job ends, so that an older view is never checked after a newer one.
        let mut ledger = session.ledger.clone().lock_owned().await;
        if session.facts().pulls {
            ledger.take(session.take_unchecked());
        } else {
            // Whoever pushes has taken what has changed.
            ledger.forget();
        }
        let view = View::now(session, stop.clone()).await.ok_or(ENDING)?;
        let known = known.clone();
        let job = move || -> Option<Report> {
            if !ledger.check(&view) {
                return None;
            }
            let report = ledger.report(&view, &known);
            if report.is_news {
                ledger.told_nothing = false;
                return Some(report);
            }
            // Whoever asks for the first time wants to hear that there is nothing, but once.
            let first = known.is_empty() && !std::mem::replace(&mut ledger.told_nothing, true);
            first.then_some(report)
        };
        if let Some(report) = session.lanes.run(Lane::Background, stop, job).await? {
            return Ok(report.items);
        }
        happened.changed().await.map_err(|_| ENDING)?;
        let enough = Instant::now() + MAX_QUIET;
        while Instant::now() < enough
            && tokio::time::timeout(session.options.quiet, happened.changed())
                .await
                .is_ok()
        {}
    }
}
