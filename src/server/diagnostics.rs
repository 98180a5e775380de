//! The diagnostics of all files: only what a change can touch is checked again.
//!
//! It must not know how a client gets them: `publish` pushes, two requests pull.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use tower_lsp::ls_types as lsp;

use super::capabilities::DiagnosticForm;
use super::convert;
use super::model::Unchecked;
use super::requests::View;
use super::requests::diagnostic::uri;
use crate::analysis::severity_at;
use crate::rules::{self, Checker, Finding, Part, Recheck, Severity, Tag, recheck};
use crate::workspace::Snapshot;

/// The diagnostics of all files that hierarchies read, and which files have to be checked.
#[derive(Default)]
pub(crate) struct Diagnostics {
    /// `None` if everything has to be.
    pending: Option<BTreeSet<Arc<str>>>,
    known: BTreeMap<Arc<str>, OfFile>,
    /// Whether a client that knew nothing got the answer that there is nothing.
    pub(crate) answered_nothing: bool,
}

/// The diagnostics of one file.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct OfFile {
    /// A name for exactly these diagnostics: equal names mean equal diagnostics.
    pub(crate) id: String,
    pub(crate) items: Vec<lsp::Diagnostic>,
    /// The files that they name places in.
    related: BTreeSet<Arc<str>>,
}

impl OfFile {
    pub(crate) fn new(items: Vec<lsp::Diagnostic>) -> OfFile {
        let mut hasher = DefaultHasher::new();
        for item in &items {
            // The JSON text holds all that a client sees.
            let text = serde_json::to_string(item).unwrap_or_default();
            text.hash(&mut hasher);
        }
        let id = format!("{:016x}", hasher.finish());
        OfFile {
            id,
            items,
            related: BTreeSet::new(),
        }
    }
}

impl Diagnostics {
    /// Adds what changes can touch; the next view that is checked must be pinned after this.
    pub(crate) fn take(&mut self, unchecked: Unchecked) {
        let again = match unchecked {
            Unchecked::All => Recheck::All,
            Unchecked::Nothing => return,
            Unchecked::Since(snapshot) => {
                let known = self.known.iter();
                let named =
                    known.flat_map(|(file, of)| of.related.iter().map(move |it| (file, it)));
                recheck(&snapshot).with_moved(&snapshot, named)
            }
        };
        match (again, &mut self.pending) {
            (Recheck::All, _) => self.pending = None,
            (Recheck::Files(again), Some(files)) => files.extend(again),
            (Recheck::Files(_), None) => {}
        }
    }

    /// The files that have to be checked in a view, sorted; those that are gone are among them.
    pub(crate) fn pending(&mut self, view: &View) -> &mut BTreeSet<Arc<str>> {
        self.pending.get_or_insert_with(|| {
            let files = view.snapshot.files().map(|file| file.path());
            files.chain(self.known.keys()).cloned().collect()
        })
    }

    /// Checks those of these files that have to be; the others are left for the next time once the
    /// view's work is stopped. True if none is left.
    pub(crate) fn check(&mut self, view: &View, paths: &[Arc<str>]) -> bool {
        let pending = self.pending(view);
        let due: Vec<&Arc<str>> = paths
            .iter()
            .filter(|path| pending.contains(*path))
            .collect();
        if due.is_empty() {
            return true;
        }
        let findings = findings(view, Part::All);
        for path in due {
            if view.stop.requested() {
                return false;
            }
            match findings(path) {
                Some(found) => {
                    let related = found.iter().flat_map(|finding| &finding.related);
                    let related = related.map(|it| Arc::clone(&it.path)).collect();
                    let items = OfFile::new(diagnostics(view, path, found));
                    let of_file = OfFile { related, ..items };
                    self.known.insert(path.clone(), of_file)
                }
                None => self.known.remove(path),
            };
            self.pending(view).remove(path);
        }
        true
    }

    /// The diagnostics of a file, as it was checked last; `None` for a file that no hierarchy
    /// reads.
    pub(crate) fn of(&self, path: &str) -> Option<&OfFile> {
        self.known.get(path)
    }

    /// All files that have diagnostics, by path.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &OfFile)> {
        self.known
            .iter()
            .filter(|(_, known)| !known.items.is_empty())
    }
}

/// Checks one file after another, as the user's settings want it: its diagnostics, or nothing for a
/// file that no hierarchy reads. What many files' findings need is computed once.
pub(crate) fn checker(
    view: &View,
    part: Part,
) -> impl Fn(&str) -> Option<Vec<lsp::Diagnostic>> + '_ {
    let findings = findings(view, part);
    move |path| Some(diagnostics(view, path, findings(path)?))
}

/// The findings of a file as the client can show them.
fn diagnostics(view: &View, path: &str, findings: Vec<Finding>) -> Vec<lsp::Diagnostic> {
    let shown = findings.into_iter();
    let shown = shown.filter_map(|finding| diagnostic(view, path, finding));
    shown.collect()
}

/// The same as findings; `None` for any file where diagnostics are turned off.
pub(crate) fn findings(view: &View, part: Part) -> impl Fn(&str) -> Option<Vec<Finding>> + '_ {
    findings_in(view, &view.snapshot, part)
}

/// The same in another snapshot: the workspace of the view after edits.
pub(crate) fn findings_in<'a>(
    view: &'a View,
    snapshot: &'a Snapshot,
    part: Part,
) -> impl Fn(&str) -> Option<Vec<Finding>> + 'a {
    let configs = Arc::clone(&view.caches.configs);
    let nodes = |path: &str| view.context.all_nodes(&view.caches, &view.snapshot, path);
    let checker = Checker::with_configs(snapshot, view.context.puppet(), configs);
    let checker = checker.with_nodes(nodes);
    move |path| {
        if view.context.settings.ignores(path) {
            return None;
        }
        match &view.doubles {
            None => checker.part(path, part),
            Some(doubles) => (doubles.check)(snapshot, path),
        }
    }
}

/// A finding as the client can show it; `None` if the settings turn its rule off.
pub(crate) fn diagnostic(view: &View, path: &str, finding: Finding) -> Option<lsp::Diagnostic> {
    let settings = &view.context.settings;
    let of_path = severity_at(&settings.diagnostics_paths, path, finding.code);
    let severity = match (of_path, settings.diagnostics_severity.get(finding.code)) {
        (Some(chosen), _) => Severity::chosen(chosen)?,
        (None, Some(chosen)) => (*chosen)?,
        (None, None) => finding.severity,
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
