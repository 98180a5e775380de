//! What the diagnostics of the workspace are by now, for clients that pull them: only what a change
//! can touch is checked again, and a file that nothing happened to costs nothing.
//!
//! It must not know when a client is answered; `requests/workspace_diagnostic` does.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use tower_lsp::ls_types as lsp;

use super::convert;
use super::model::Unchecked;
use super::publish::Pending;
use super::requests::View;
use super::requests::diagnostic::{Diagnoser, result_id, uri};

/// The files with diagnostics, and those that have to be checked.
#[derive(Default)]
pub(crate) struct Ledger {
    pending: Pending,
    found: BTreeMap<Arc<str>, Entry>,
    /// Whether a client that knew nothing has been told that there is nothing.
    pub(crate) told_nothing: bool,
}

/// The diagnostics of one file; at least one.
struct Entry {
    id: String,
    items: Vec<lsp::Diagnostic>,
}

/// What a client says it knows: its own spelling of the URI and the name of the diagnostics, by
/// path.
pub(crate) type Known = HashMap<String, (lsp::Uri, String)>;

/// An answer to a client.
pub(crate) struct Report {
    pub(crate) items: Vec<lsp::WorkspaceDocumentDiagnosticReport>,
    /// Whether it says anything that the client does not know.
    pub(crate) is_news: bool,
}

impl Ledger {
    /// Notes what has changed; the next view that is checked must be pinned after this.
    pub(crate) fn take(&mut self, unchecked: Unchecked) {
        self.pending.take(unchecked);
    }

    /// Everything has to be checked again.
    pub(crate) fn forget(&mut self) {
        self.pending = Pending::All;
    }

    /// Checks what has to be checked; false if it was stopped before the end.
    pub(crate) fn check(&mut self, view: &View) -> bool {
        let mut left: BTreeSet<Arc<str>> = match std::mem::take(&mut self.pending) {
            Pending::Files(files) => files,
            Pending::All => {
                self.found.clear();
                let files = view.snapshot.files();
                files.map(|file| file.path().clone()).collect()
            }
        };
        if !left.is_empty() {
            let diagnoser = Diagnoser::new(view);
            while !view.stop.requested()
                && let Some(path) = left.pop_first()
            {
                let items = diagnoser.file_of_many(&path).unwrap_or_default();
                if items.is_empty() {
                    self.found.remove(&path);
                } else {
                    let id = result_id(&items);
                    self.found.insert(path, Entry { id, items });
                }
            }
        }
        let is_done = left.is_empty();
        self.pending = Pending::Files(left);
        is_done
    }

    /// What a client has to be told that knows this. Costs O(files with diagnostics, known or
    /// new).
    pub(crate) fn report(&self, view: &View, known: &Known) -> Report {
        let version = |path: &str| {
            let document = view.documents.get(path)?;
            Some(i64::from(document.version))
        };
        let mut report = Report {
            items: Vec::new(),
            is_news: false,
        };
        for (path, entry) in &self.found {
            let before = known.get(&**path);
            let Some(uri) = before
                .map(|(uri, _)| uri.clone())
                .or_else(|| uri(view, path))
                .or_else(|| convert::uri(path))
            else {
                continue;
            };
            if before.is_some_and(|(_, id)| *id == entry.id) {
                report.unchanged(uri, version(path), entry.id.clone());
            } else {
                report.full(uri, version(path), entry.id.clone(), entry.items.clone());
            }
        }
        let nothing = result_id(&[]);
        let gone = known
            .iter()
            .filter(|(path, _)| !self.found.contains_key(path.as_str()));
        for (path, (uri, id)) in gone {
            if *id == nothing {
                report.unchanged(uri.clone(), version(path), nothing.clone());
            } else {
                report.full(uri.clone(), version(path), nothing.clone(), Vec::new());
            }
        }
        report
    }
}

impl Report {
    fn unchanged(&mut self, uri: lsp::Uri, version: Option<i64>, result_id: String) {
        let report = lsp::WorkspaceUnchangedDocumentDiagnosticReport {
            uri,
            version,
            unchanged_document_diagnostic_report: lsp::UnchangedDocumentDiagnosticReport {
                result_id,
            },
        };
        self.items
            .push(lsp::WorkspaceDocumentDiagnosticReport::Unchanged(report));
    }

    fn full(
        &mut self,
        uri: lsp::Uri,
        version: Option<i64>,
        result_id: String,
        items: Vec<lsp::Diagnostic>,
    ) {
        self.is_news = true;
        let report = lsp::WorkspaceFullDocumentDiagnosticReport {
            uri,
            version,
            full_document_diagnostic_report: lsp::FullDocumentDiagnosticReport {
                result_id: Some(result_id),
                items,
            },
        };
        self.items
            .push(lsp::WorkspaceDocumentDiagnosticReport::Full(report));
    }
}
