//! `textDocument/diagnostic`: the diagnostics of one file.

use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use super::{View, no_answer, of_workspace};
use crate::rules::RuleSet;
use crate::server::connection::{Connection, Index};
use crate::server::convert;
use crate::server::diagnostics::{OfFile, checker};
use crate::server::jobs::Lane;
use crate::server::ordered;

const METHOD: &str = "textDocument/diagnostic";

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::DocumentDiagnosticParams,
) -> Result<lsp::DocumentDiagnosticReportResult> {
    let path = convert::path(params.text_document.uri.as_str());
    let previous = params.previous_result_id;
    let requested = path.clone();
    let check = move |view: &View, part| {
        let items = requested.and_then(|path| checker(view, part)(&path));
        report(OfFile::new(items.unwrap_or_default()), previous.as_deref())
    };
    // A client that can be asked to refresh does not wait for the whole workspace.
    if session.facts().refreshes && *session.index.borrow() != Index::Complete {
        let Some(ticket) = ordered::ticket() else {
            return Err(Error::internal_error());
        };
        let view = View::latest(session, ticket.stop.clone());
        if path.as_deref().is_some_and(|path| view.is_early(path)) {
            let work = move || check(&view.with_open_files(), RuleSet::OwnFile);
            let answer = session.lanes.run(Lane::Interactive, &ticket.stop, work);
            return answer.await.map_err(|why| no_answer(session, METHOD, why));
        }
    }
    let work = move |view: View| check(&view, RuleSet::All);
    of_workspace(session, METHOD, work).await
}

fn report(
    OfFile { id, items, .. }: OfFile,
    previous: Option<&str>,
) -> lsp::DocumentDiagnosticReportResult {
    let report = if previous == Some(id.as_str()) {
        lsp::DocumentDiagnosticReport::Unchanged(lsp::RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: lsp::UnchangedDocumentDiagnosticReport {
                result_id: id,
            },
        })
    } else {
        lsp::DocumentDiagnosticReport::Full(lsp::RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report: lsp::FullDocumentDiagnosticReport {
                result_id: Some(id),
                items,
            },
        })
    };
    lsp::DocumentDiagnosticReportResult::Report(report)
}

/// The URI of a file, in the client's own spelling if it is open.
pub(crate) fn uri(view: &View, path: &str) -> Option<lsp::Uri> {
    match view.documents.get(path) {
        Some(document) => convert::strict(&document.uri).parse().ok(),
        None => convert::uri(path),
    }
}
