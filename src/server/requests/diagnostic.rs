//! `textDocument/diagnostic`, and how findings become the protocol's diagnostics.

use std::hash::{DefaultHasher, Hash, Hasher};

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::{View, Wants};
use crate::server::convert;
use crate::server::documents::Documents;
use crate::server::features::{Check, Finding, Severity};
use crate::server::jobs::Lane;
use crate::server::session::Session;
use crate::server::settings;

/// More diagnostics than this in one file help nobody; the first ones are kept.
const MAX_PER_FILE: usize = 1000;

pub(crate) async fn handle(
    session: &Session,
    params: lsp::DocumentDiagnosticParams,
) -> Result<lsp::DocumentDiagnosticReportResult> {
    let path = convert::path(params.text_document.uri.as_str());
    let previous = params.previous_result_id;
    let related = session.facts().related;
    let work = move |view: View| {
        let items = path.and_then(|path| Diagnoser::new(&view, related).file(&path));
        let items = items.unwrap_or_default();
        report(items, previous.as_deref())
    };
    let (lane, wants) = (Lane::Interactive, Wants::WholeWorkspace);
    super::answer(session, "textDocument/diagnostic", lane, wants, work).await
}

fn report(
    items: Vec<lsp::Diagnostic>,
    previous: Option<&str>,
) -> lsp::DocumentDiagnosticReportResult {
    let id = result_id(&items);
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

/// A name for exactly these diagnostics: equal names mean nothing changed.
pub(crate) fn result_id(items: &[lsp::Diagnostic]) -> String {
    let mut hasher = DefaultHasher::new();
    for item in items {
        // The JSON text holds all that a client sees.
        serde_json::to_string(item)
            .unwrap_or_default()
            .hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// Diagnostics of one file after another, as the user's settings want them.
pub(crate) struct Diagnoser<'a> {
    view: &'a View,
    related: bool,
    check: Check<'a>,
}

impl<'a> Diagnoser<'a> {
    pub(crate) fn new(view: &'a View, related: bool) -> Diagnoser<'a> {
        let check = view
            .features
            .check(&view.snapshot, &view.context, &view.stop);
        Diagnoser {
            view,
            related,
            check,
        }
    }

    /// [`Diagnoser::file`] where nobody waits for it: questions go first, unless the file is open and
    /// somebody may be looking at it. Blocks meanwhile.
    pub(crate) fn file_of_many(&self, path: &str) -> Option<Vec<lsp::Diagnostic>> {
        if self.view.documents.get(path).is_none() {
            self.view.traffic.give_way(&self.view.stop);
        }
        self.file(path)
    }

    /// The diagnostics of one file; nothing for a file that is not ours.
    pub(crate) fn file(&self, path: &str) -> Option<Vec<lsp::Diagnostic>> {
        if !self.view.context.settings.diagnostics_enabled {
            return None;
        }
        let shown = (self.check)(path)?
            .into_iter()
            .filter_map(|finding| diagnostic(self.view, path, finding, self.related));
        Some(shown.take(MAX_PER_FILE).collect())
    }
}

fn diagnostic(view: &View, path: &str, finding: Finding, related: bool) -> Option<lsp::Diagnostic> {
    let severity = match view
        .context
        .settings
        .diagnostics_severity
        .get(&finding.code)
    {
        Some(settings::Severity::Off) => return None,
        Some(settings::Severity::Hint) => lsp::DiagnosticSeverity::HINT,
        Some(settings::Severity::Information) => lsp::DiagnosticSeverity::INFORMATION,
        Some(settings::Severity::Warning) => lsp::DiagnosticSeverity::WARNING,
        Some(settings::Severity::Error) => lsp::DiagnosticSeverity::ERROR,
        None => match finding.severity {
            Severity::Hint => lsp::DiagnosticSeverity::HINT,
            Severity::Information => lsp::DiagnosticSeverity::INFORMATION,
            Severity::Warning => lsp::DiagnosticSeverity::WARNING,
            Severity::Error => lsp::DiagnosticSeverity::ERROR,
        },
    };
    let range_in =
        |path: &str, range| view.lines(path, |lines| convert::range(lines, range, view.encoding));
    let places = finding.related.iter().filter(|_| related);
    let places: Vec<_> = places
        .filter_map(|(path, range, message)| {
            let uri = uri(view, path)?;
            Some(lsp::DiagnosticRelatedInformation {
                location: lsp::Location::new(uri, range_in(path, *range)?),
                message: message.clone(),
            })
        })
        .collect();
    Some(lsp::Diagnostic {
        range: range_in(path, finding.range)?,
        severity: Some(severity),
        code: Some(lsp::NumberOrString::String(finding.code)),
        source: Some("hiera-ls".to_owned()),
        message: finding.message,
        related_information: Some(places).filter(|places| !places.is_empty()),
        ..lsp::Diagnostic::default()
    })
}

/// The URI of a file, in the client's own spelling where it is open.
pub(crate) fn uri(view: &View, path: &str) -> Option<lsp::Uri> {
    uri_of(&view.documents, path)
}

/// The same, as of these documents.
pub(crate) fn uri_of(documents: &Documents, path: &str) -> Option<lsp::Uri> {
    match documents.get(path) {
        Some(document) => convert::strict(&document.uri).parse().ok(),
        None => convert::uri(path),
    }
}
