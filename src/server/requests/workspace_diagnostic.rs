//! `workspace/diagnostic`: the diagnostics of every file, answered when they are others than the
//! client knows.

use std::collections::HashMap;
use std::sync::Arc;

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::diagnostic::{Diagnoser, result_id, uri};
use super::{View, Wants};
use crate::server::jobs::Lane;
use crate::server::session::Session;

const METHOD: &str = "workspace/diagnostic";

pub(crate) async fn handle(
    session: &Session,
    params: lsp::WorkspaceDiagnosticParams,
) -> Result<lsp::WorkspaceDiagnosticReportResult> {
    let known: HashMap<String, String> = params
        .previous_result_ids
        .into_iter()
        .map(|previous| (previous.uri.as_str().to_owned(), previous.value))
        .collect();
    let first = known.is_empty();
    let related = session.facts().related;
    let work = move |view: View| report(&view, &known, related);
    // A client that knows nothing yet is told at once.
    let wants = if first {
        Wants::WholeWorkspace
    } else {
        Wants::News
    };
    let lane = Lane::Background;
    let items = super::answer(session, METHOD, lane, wants, work).await?;
    Ok(lsp::WorkspaceDiagnosticReportResult::Report(
        lsp::WorkspaceDiagnosticReport { items },
    ))
}

fn report(
    view: &View,
    known: &HashMap<String, String>,
    related: bool,
) -> Vec<lsp::WorkspaceDocumentDiagnosticReport> {
    let mut reports = Vec::new();
    let diagnoser = Diagnoser::new(view, related);
    for path in paths(view) {
        if view.stop.requested() {
            break;
        }
        let Some(uri) = uri(view, &path) else {
            continue;
        };
        let items = diagnoser.file(&path).unwrap_or_default();
        let id = result_id(&items);
        let before = known.get(uri.as_str());
        let version = view
            .documents
            .get(&path)
            .map(|document| i64::from(document.version));
        if before == Some(&id) {
            reports.push(lsp::WorkspaceDocumentDiagnosticReport::Unchanged(
                lsp::WorkspaceUnchangedDocumentDiagnosticReport {
                    uri,
                    version,
                    unchanged_document_diagnostic_report: lsp::UnchangedDocumentDiagnosticReport {
                        result_id: id,
                    },
                },
            ));
        } else if before.is_some() || !items.is_empty() {
            reports.push(lsp::WorkspaceDocumentDiagnosticReport::Full(
                lsp::WorkspaceFullDocumentDiagnosticReport {
                    uri,
                    version,
                    full_document_diagnostic_report: lsp::FullDocumentDiagnosticReport {
                        result_id: Some(id),
                        items,
                    },
                },
            ));
        }
    }
    reports
}

/// Every file of the workspace, ordered by path.
fn paths(view: &View) -> Vec<Arc<str>> {
    let files = view.snapshot.files();
    let mut paths: Vec<Arc<str>> = files.map(|file| file.path().clone()).collect();
    paths.sort();
    paths
}
