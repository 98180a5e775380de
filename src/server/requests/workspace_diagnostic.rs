//! `workspace/diagnostic`: the diagnostics of every file, answered when they differ from those the
//! client has. Until then the request is held, as the protocol allows.

use std::collections::HashMap;
use std::sync::Arc;

use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use super::diagnostic::uri;
use super::{View, is_read, no_answer};
use crate::server::connection::Connection;
use crate::server::convert;
use crate::server::diagnostics::{FileDiagnostics, OfFile};
use crate::server::jobs::{Cancellation, Lane, NoAnswer, Reason};
use crate::server::ordered;
use crate::server::publish::MAX_QUIET;
use crate::server::runtime::{self, Instant};

const METHOD: &str = "workspace/diagnostic";

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::WorkspaceDiagnosticParams,
) -> Result<lsp::WorkspaceDiagnosticReportResult> {
    let Some(ticket) = ordered::ticket() else {
        return Err(Error::internal_error());
    };
    let previous = params.previous_result_ids.into_iter();
    let known: KnownByClient = previous
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

/// The client's state: its own spelling of the URI and the id of the diagnostics, by path.
type KnownByClient = HashMap<String, (lsp::Uri, String)>;

struct NewsReport {
    items: Items,
    is_news: bool,
}

/// Waits for diagnostics that the client does not have.
async fn news(
    session: &Connection,
    stop: &Cancellation,
    known: &Arc<KnownByClient>,
) -> std::result::Result<Items, NoAnswer> {
    const ENDING: NoAnswer = NoAnswer::Stopped(Reason::Cancelled);
    let mut happened = session.news.subscribe();
    loop {
        is_read(session).await.ok_or(ENDING)?;
        happened.mark_unchanged();
        // Held until the job ends, so that an older view is never checked after a newer one.
        let mut diagnostics = FileDiagnostics::updated(session).await.ok_or(ENDING)?;
        let view = View::now(session, stop.clone()).await.ok_or(ENDING)?;
        let known = known.clone();
        let job = move || -> Option<NewsReport> {
            let pending: Vec<Arc<str>> = diagnostics.pending(&view).iter().cloned().collect();
            if !diagnostics.check(&view, &pending) {
                return None;
            }
            let report = NewsReport::new(&diagnostics, &view, &known);
            if report.is_news {
                diagnostics.answered_nothing = false;
                return Some(report);
            }
            // The first request is answered even if there is nothing, but only once.
            let is_first =
                known.is_empty() && !std::mem::replace(&mut diagnostics.answered_nothing, true);
            is_first.then_some(report)
        };
        if let Some(report) = session.lanes.run(Lane::Background, stop, job).await? {
            return Ok(report.items);
        }
        happened.changed().await.map_err(|_| ENDING)?;
        let enough = Instant::now() + MAX_QUIET;
        while Instant::now() < enough
            && runtime::timeout(session.options.quiet, happened.changed())
                .await
                .is_ok()
        {}
    }
}

impl NewsReport {
    /// The differences to the client's state. Costs O(files with diagnostics, known or new).
    fn new(diagnostics: &FileDiagnostics, view: &View, known: &KnownByClient) -> NewsReport {
        let mut report = NewsReport {
            items: Vec::new(),
            is_news: false,
        };
        for (path, now) in diagnostics.iter() {
            let before = known.get(&**path);
            let own = before.map(|(uri, _)| uri.clone());
            let Some(uri) = own
                .or_else(|| uri(view, path))
                .or_else(|| convert::uri(path))
            else {
                continue;
            };
            let before = before.map(|(_, id)| id.as_str());
            report.add(view, path, (uri, before), now);
        }
        let nothing = OfFile::new(Vec::new());
        for (path, (uri, id)) in known {
            if diagnostics.of(path).is_none_or(|now| now.items.is_empty()) {
                report.add(view, path, (uri.clone(), Some(id)), &nothing);
            }
        }
        report
    }

    fn add(&mut self, view: &View, path: &str, known: (lsp::Uri, Option<&str>), now: &OfFile) {
        use lsp::WorkspaceDocumentDiagnosticReport as OfOne;
        let (uri, before) = known;
        let document = view.documents.get(path);
        let version = document.map(|document| i64::from(document.version));
        let result_id = now.id.clone();
        self.items.push(if before == Some(now.id.as_str()) {
            OfOne::Unchanged(lsp::WorkspaceUnchangedDocumentDiagnosticReport {
                uri,
                version,
                unchanged_document_diagnostic_report: lsp::UnchangedDocumentDiagnosticReport {
                    result_id,
                },
            })
        } else {
            self.is_news = true;
            OfOne::Full(lsp::WorkspaceFullDocumentDiagnosticReport {
                uri,
                version,
                full_document_diagnostic_report: lsp::FullDocumentDiagnosticReport {
                    result_id: Some(result_id),
                    items: now.items.clone(),
                },
            })
        });
    }
}
