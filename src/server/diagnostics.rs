//! The diagnostics of all files: a change only re-checks the files it can affect.
//!
//! It must not know how a client gets them: `publish` pushes, two requests pull.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use tokio::sync::OwnedMutexGuard;
use tower_lsp::ls_types as lsp;

use super::capabilities::DiagnosticForm;
use super::connection::Connection;
use super::context::{Outside, named_files};
use super::convert;
use super::jobs::{NoAnswer, caught, run_blocking};
use super::lock;
use super::model::Unchecked;
use super::requests::View;
use super::requests::diagnostic::uri;
use super::settings::UserSettings;
use crate::analysis::severity_at;
use crate::rules::{self, Checker, Finding, KeptResults, Recheck, RuleSet, Severity, Tag, recheck};
use crate::workspace::Snapshot;

/// The diagnostics of all files that hierarchies read, and the files to be checked.
#[derive(Default)]
pub(crate) struct FileDiagnostics {
    /// `None` if all files have to be checked.
    pending: Option<BTreeSet<Arc<str>>>,
    known: BTreeMap<Arc<str>, OfFile>,
    /// Whether a client without diagnostics was notified that there are none.
    pub(crate) answered_nothing: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct OfFile {
    /// Identifies these diagnostics: equal ids mean equal diagnostics.
    pub(crate) id: String,
    pub(crate) items: Vec<lsp::Diagnostic>,
    /// The files of their related places.
    related: BTreeSet<Arc<str>>,
}

impl OfFile {
    pub(crate) fn new(items: Vec<lsp::Diagnostic>) -> OfFile {
        let mut hasher = DefaultHasher::new();
        for item in &items {
            // The JSON text has everything that a client sees.
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

impl FileDiagnostics {
    /// Locks the diagnostics and adds the files that changes since the last call can affect; the
    /// next checked view must be pinned after this. `None` at the end of the session.
    pub(crate) async fn updated(session: &Connection) -> Option<OwnedMutexGuard<FileDiagnostics>> {
        let mut diagnostics = session.diagnostics.clone().lock_owned().await;
        let unchecked = session.take_unchecked();
        let node_files = named_files(&session.settings());
        let update = move || {
            let taken = caught(|| diagnostics.take(unchecked, &node_files));
            if let Err(NoAnswer::Panicked(message)) = taken {
                tracing::error!("all files are checked again: {message}");
                diagnostics.pending = None;
            }
            diagnostics
        };
        run_blocking(update).await
    }

    /// Adds the files that changes can affect. O(files), so not for the threads that read and write
    /// messages.
    fn take(&mut self, unchecked: Unchecked, node_files: &[Arc<str>]) {
        let recheck_files = match unchecked {
            Unchecked::All => Recheck::All,
            Unchecked::Nothing => return,
            Unchecked::Since(snapshot) => {
                let known = self.known.iter();
                let named = known
                    .flat_map(|(file, findings)| findings.related.iter().map(move |it| (file, it)));
                recheck(&snapshot, node_files).with_moved(&snapshot, named)
            }
        };
        match (recheck_files, &mut self.pending) {
            (Recheck::All, _) => self.pending = None,
            (Recheck::Files(recheck_files), Some(files)) => files.extend(recheck_files),
            (Recheck::Files(_), None) => {}
        }
    }

    pub(crate) fn is_pending(&self, path: &str) -> bool {
        let pending = self.pending.as_ref();
        pending.is_none_or(|files| files.contains(path))
    }

    /// The files of a view that have to be checked, sorted, including deleted ones. O(files) if
    /// these are all.
    pub(crate) fn pending(&mut self, view: &View) -> &mut BTreeSet<Arc<str>> {
        self.pending.get_or_insert_with(|| {
            let files = view.snapshot.files().map(|file| file.path());
            files.chain(self.known.keys()).cloned().collect()
        })
    }

    /// Checks those of `paths` that have to be; the rest is left for the next time if the view's
    /// work is cancelled. Returns whether none is left.
    pub(crate) fn check(&mut self, view: &View, paths: &[Arc<str>]) -> bool {
        let pending = self.pending(view);
        let due: Vec<&Arc<str>> = paths
            .iter()
            .filter(|path| pending.contains(*path))
            .collect();
        if due.is_empty() {
            return true;
        }
        let findings = findings(view, RuleSet::All);
        for path in due {
            if view.stop.requested() {
                return false;
            }
            let found = findings(path);
            if view.stop.requested() {
                return false;
            }
            match found {
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

    /// The last diagnostics of a file; `None` for a file that no hierarchy reads.
    pub(crate) fn of(&self, path: &str) -> Option<&OfFile> {
        self.known.get(path)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &OfFile)> {
        self.known
            .iter()
            .filter(|(_, known)| !known.items.is_empty())
    }
}

/// A function that checks a file with the user's settings: its diagnostics, or `None` for a file
/// that no hierarchy reads. Shared inputs are computed once.
pub(crate) fn checker(
    view: &View,
    part: RuleSet,
) -> impl Fn(&str) -> Option<Vec<lsp::Diagnostic>> + '_ {
    let findings = findings(view, part);
    move |path| Some(diagnostics(view, path, findings(path)?))
}

fn diagnostics(view: &View, path: &str, findings: Vec<Finding>) -> Vec<lsp::Diagnostic> {
    let shown = findings.into_iter();
    let shown = shown.filter_map(|finding| diagnostic(view, path, finding));
    shown.collect()
}

/// The same as findings; `None` for any file if diagnostics are turned off.
pub(crate) fn findings(view: &View, part: RuleSet) -> impl Fn(&str) -> Option<Vec<Finding>> + '_ {
    let kept = Arc::clone(&view.caches.kept);
    let check = findings_in(view, &view.snapshot, kept, part);
    move |path| {
        let is_asked_again = part == RuleSet::All && view.documents.get(path).is_some();
        if is_asked_again {
            view.caches.findings.of(view, path, || check(path))
        } else {
            check(path)
        }
    }
}

/// The findings in open files of the last snapshot that was asked about: editors ask for the
/// diagnostics of a file, then for code actions wherever the cursor goes.
#[derive(Default)]
pub(crate) struct FindingsCache(Mutex<FindingsOfSnapshot>);

#[derive(Default)]
struct FindingsOfSnapshot {
    stamp: u64,
    settings: Arc<UserSettings>,
    outside: Arc<Outside>,
    files: HashMap<Arc<str>, Option<Vec<Finding>>>,
}

impl FindingsOfSnapshot {
    fn is_of(&self, view: &View) -> bool {
        let context = &view.context;
        self.stamp == view.snapshot.stamp()
            && Arc::ptr_eq(&self.settings, &context.settings)
            && Arc::ptr_eq(&self.outside, &context.outside)
    }
}

impl FindingsCache {
    fn of(
        &self,
        view: &View,
        path: &str,
        find: impl FnOnce() -> Option<Vec<Finding>>,
    ) -> Option<Vec<Finding>> {
        {
            let mut known = lock(&self.0);
            if !known.is_of(view) {
                *known = FindingsOfSnapshot {
                    stamp: view.snapshot.stamp(),
                    settings: Arc::clone(&view.context.settings),
                    outside: Arc::clone(&view.context.outside),
                    files: HashMap::new(),
                };
            }
            if let Some(found) = known.files.get(path) {
                return found.clone();
            }
        }
        let found = find();
        let mut known = lock(&self.0);
        let is_complete = !view.stop.requested();
        if is_complete && known.is_of(view) {
            known.files.insert(Arc::from(path), found.clone());
        }
        found
    }
}

/// What is kept about the snapshots of edits that are tried one after the other.
pub(crate) struct TriedEdits<'a> {
    view: &'a View,
    /// The last two, as an edit may be taken back.
    recent: Mutex<[Arc<KeptResults>; 2]>,
}

impl TriedEdits<'_> {
    pub(crate) fn of(view: &View) -> TriedEdits<'_> {
        let kept = || Arc::clone(&view.caches.kept);
        TriedEdits {
            view,
            recent: Mutex::new([kept(), kept()]),
        }
    }

    /// The findings of a file in a snapshot: the view's, or one after further edits.
    pub(crate) fn findings(&self, snapshot: &Snapshot, path: &str) -> Option<Vec<Finding>> {
        let kept = self.kept(snapshot);
        findings_in(self.view, snapshot, kept, RuleSet::All)(path)
    }

    fn kept(&self, snapshot: &Snapshot) -> Arc<KeptResults> {
        let mut recent = lock(&self.recent);
        let [before, last] = &*recent;
        let of_stamp = |stamp: u64| {
            let all = [last, before, &self.view.caches.kept];
            all.into_iter().find(|kept| kept.is_for(stamp)).cloned()
        };
        if let Some(own) = of_stamp(snapshot.stamp()) {
            return own;
        }
        let since = of_stamp(snapshot.delta().since).unwrap_or_default();
        let kept = Arc::new(since.after_edit(snapshot));
        *recent = [since, Arc::clone(&kept)];
        kept
    }
}

/// The findings in a snapshot: the view's, or the workspace of the view after edits.
fn findings_in<'a>(
    view: &'a View,
    snapshot: &'a Snapshot,
    kept: Arc<KeptResults>,
    part: RuleSet,
) -> impl Fn(&str) -> Option<Vec<Finding>> + 'a {
    let configs = Arc::clone(&view.caches.configs);
    let nodes = |path: &str| {
        let context = &view.context;
        context.nodes_chosen(&view.caches, &view.snapshot, path, None)
    };
    let checker = Checker::with_configs(snapshot, view.context.puppet(), configs);
    let stop = view.stop.clone();
    let checker = checker
        .with_nodes(nodes)
        .with_kept(kept)
        .with_cancellation(Arc::new(move || stop.requested()));
    move |path| {
        if view.context.settings.ignores(path) {
            return None;
        }
        (view.answers.check)(&checker, path, part)
    }
}

/// A finding in the client's form; `None` if the settings turn its rule off.
pub(crate) fn diagnostic(view: &View, path: &str, finding: Finding) -> Option<lsp::Diagnostic> {
    let settings = &view.context.settings;
    let of_path = severity_at(&settings.diagnostics_paths, path, finding.code);
    let of_rule = settings.diagnostics_severity.get(finding.code).copied();
    let severity = match of_path.or(of_rule) {
        Some(chosen) => Severity::chosen(chosen)?,
        None => finding.severity,
    };
    let form = view.facts.diagnostics;
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
