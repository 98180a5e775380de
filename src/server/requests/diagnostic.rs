//! `textDocument/diagnostic`, and how findings become the protocol's diagnostics.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::{View, Wants};
use crate::rules::{self, Checker, Finding, Severity, Tag};
use crate::server::capabilities::DiagnosticForm;
use crate::server::convert;
use crate::server::documents::Documents;
use crate::server::jobs::Lane;
use crate::server::session::Session;
use crate::server::settings;

pub(crate) async fn handle(
    session: &Session,
    params: lsp::DocumentDiagnosticParams,
) -> Result<lsp::DocumentDiagnosticReportResult> {
    let path = convert::path(params.text_document.uri.as_str());
    let previous = params.previous_result_id;
    let work = move |view: View| {
        let items = path.and_then(|path| Diagnoser::new(&view).file(&path));
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
    checker: Checker<'a>,
}

impl<'a> Diagnoser<'a> {
    pub(crate) fn new(view: &'a View) -> Diagnoser<'a> {
        let configs = Arc::clone(&view.caches.configs);
        let checker = Checker::with_configs(&view.snapshot, view.context.puppet(), configs);
        Diagnoser { view, checker }
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
        let shown = self
            .findings(path)?
            .into_iter()
            .filter_map(|finding| diagnostic(self.view, path, finding));
        Some(shown.collect())
    }

    /// The findings of one file; nothing for a file that is not ours, and where diagnostics are
    /// turned off.
    pub(crate) fn findings(&self, path: &str) -> Option<Vec<Finding>> {
        if !self.view.context.settings.diagnostics_enabled {
            return None;
        }
        match &self.view.doubles {
            None => self.checker.file(path),
            Some(doubles) => (doubles.check)(&self.view.snapshot, path),
        }
    }
}

/// A finding as the client can show it; nothing where the settings turn its rule off.
pub(crate) fn diagnostic(view: &View, path: &str, finding: Finding) -> Option<lsp::Diagnostic> {
    let set = &view.context.settings.diagnostics_severity;
    let severity = match set.get(finding.code) {
        Some(settings::Severity::Off) => return None,
        Some(settings::Severity::Hint) => Severity::Hint,
        Some(settings::Severity::Information) => Severity::Information,
        Some(settings::Severity::Warning) => Severity::Warning,
        Some(settings::Severity::Error) => Severity::Error,
        None => finding.severity,
    };
    let form = view.diagnostics;
    let range_in =
        |path: &str, range| view.lines(path, |lines| convert::range(lines, range, view.encoding));
    let places = finding.related.into_iter().filter(|_| form.related);
    let places: Vec<_> = places
        .filter_map(|related| {
            let uri = uri(view, &related.path)?;
            Some(lsp::DiagnosticRelatedInformation {
                location: lsp::Location::new(uri, range_in(&related.path, related.range)?),
                message: related.message,
            })
        })
        .collect();
    let tags = finding.tags.iter().filter(|_| form.tags);
    let tags: Vec<_> = tags
        .map(|tag| match tag {
            Tag::Unnecessary => lsp::DiagnosticTag::UNNECESSARY,
            Tag::Deprecated => lsp::DiagnosticTag::DEPRECATED,
        })
        .collect();
    Some(lsp::Diagnostic {
        range: range_in(path, finding.range)?,
        severity: Some(match severity {
            Severity::Hint => lsp::DiagnosticSeverity::HINT,
            Severity::Information => lsp::DiagnosticSeverity::INFORMATION,
            Severity::Warning => lsp::DiagnosticSeverity::WARNING,
            Severity::Error => lsp::DiagnosticSeverity::ERROR,
        }),
        code: Some(lsp::NumberOrString::String(finding.code.to_owned())),
        code_description: page(finding.code, form),
        source: Some("hiera-ls".to_owned()),
        message: finding.message,
        related_information: Some(places).filter(|places| !places.is_empty()),
        tags: Some(tags).filter(|tags| !tags.is_empty()),
        ..lsp::Diagnostic::default()
    })
}

/// The link to a rule's page, if the client can open it.
fn page(code: &str, form: DiagnosticForm) -> Option<lsp::CodeDescription> {
    let rule = rules::rule(code).filter(|_| form.links)?;
    let address = rule.address();
    let opens = form.pages || !address.starts_with(rules::PAGE_SCHEME);
    let href = address.parse().ok().filter(|_| opens)?;
    Some(lsp::CodeDescription { href })
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
