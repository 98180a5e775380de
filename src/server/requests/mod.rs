//! One file per method: parameters in, a job on the pinned state, an answer out.
//!
//! No handler computes, and none waits for the client. [`answer`] is the only way to compute: it
//! takes the request's place in the stream and a place in the lane, and runs the job.

pub(crate) mod call_hierarchy;
pub(crate) mod code_action;
pub(crate) mod code_lens;
pub(crate) mod completion;
pub(crate) mod definition;
pub(crate) mod diagnostic;
mod document;
pub(crate) mod document_highlight;
pub(crate) mod document_link;
pub(crate) mod document_symbol;
mod edits;
pub(crate) mod execute_command;
pub(crate) mod folding_range;
pub(crate) mod hover;
pub(crate) mod inlay_hint;
pub(crate) mod linked_editing;
mod locations;
mod nodes;
pub(crate) mod refactor;
pub(crate) mod references;
pub(crate) mod rename;
pub(crate) mod semantic_tokens;
mod set_value;
pub(crate) mod signature_help;
pub(crate) mod workspace_diagnostic;
pub(crate) mod workspace_symbol;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tower_lsp::jsonrpc::{Error, ErrorCode, Result};

use super::capabilities::ClientFacts;
use super::connection::{Connection, Index, Ticket};
use super::context::{Caches, ServerContext};
use super::documents::Documents;
use super::jobs::{Cancellation, Lane, NoAnswer, Reason};
use super::lock;
use super::model::{ModelRevision, VersionedSnapshot};
use super::ordered;
use super::publish::settled;
use super::runtime;
use super::settings::LogLevel;
use crate::analysis::{Analysis, NodeFile, NodeSet};
use crate::disk;
use crate::ide::hover::Hover;
use crate::ide::symbols::Symbol;
use crate::rules::{Checker, Finding, RuleSet};
use crate::text::{LineIndex, PositionEncoding};
use crate::workspace::{Change, ENVIRONMENT_CONF, HIERA_YAML, Snapshot, path};

/// LSP's `ServerCancelled`: the server cancels a request; the client may repeat it.
pub(crate) const SERVER_CANCELLED: i64 = -32802;

/// How long a request waits for the first read of the workspace before it is answered from the
/// available files: most workspaces are read in less.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Maximum size of open files that are parsed early: parsing a larger one twice costs more memory
/// and time than it saves.
const MAX_EARLY: usize = 1024 * 1024;

/// The functions that answer requests about a file; tests replace them.
pub struct AnswerFunctions {
    /// The hover at a byte of a file.
    pub hover: Box<AnswerHover>,
    /// The findings of some rules in a file; `None` for a file that is not checked.
    pub check: Box<AnswerCheck>,
    /// The outline of a file.
    pub symbols: Box<AnswerSymbols>,
}

type AnswerHover = dyn Fn(&View, &str, usize) -> Option<Hover> + Send + Sync;
type AnswerCheck = dyn Fn(&Checker<'_>, &str, RuleSet) -> Option<Vec<Finding>> + Send + Sync;
type AnswerSymbols = dyn Fn(&View, &str) -> Vec<Symbol> + Send + Sync;

impl Default for AnswerFunctions {
    fn default() -> AnswerFunctions {
        AnswerFunctions {
            hover: Box::new(hover::shown),
            check: Box::new(|checker, path, part| checker.part(path, part)),
            symbols: Box::new(document_symbol::outline),
        }
    }
}

/// The state that a job sees: that of the request's place in the stream.
pub struct View {
    pub(crate) answers: Arc<AnswerFunctions>,
    pub(crate) caches: Arc<Caches>,
    /// The workspace.
    pub snapshot: Arc<Snapshot>,
    pub(crate) revision: ModelRevision,
    pub(crate) documents: Documents,
    pub(crate) context: ServerContext,
    pub(crate) encoding: PositionEncoding,
    pub(crate) facts: Arc<ClientFacts>,
    pub(crate) index: Index,
    /// The flag that cancels the job.
    pub stop: Cancellation,
    /// The documents of the snapshot, if they are newer than the request's.
    newer: Option<Documents>,
}

impl View {
    /// The current state, for work without a request.
    pub(crate) async fn now(session: &Connection, stop: Cancellation) -> Option<View> {
        View::of(session, &session.ticket(stop, None)).await
    }

    async fn of(session: &Connection, ticket: &Ticket) -> Option<View> {
        let pinned = lock(&ticket.pinned).take()?;
        let versioned = pinned.snapshot().await?;
        let (documents, stop) = (ticket.documents.clone(), ticket.stop.clone());
        Some(View::new(session, versioned, documents, ticket.index, stop))
    }

    /// The model's latest state, with the current documents: waits for nothing.
    pub(crate) fn latest(session: &Connection, stop: Cancellation) -> View {
        let documents = session.documents();
        let index = *session.index.borrow();
        View::new(session, session.model.latest(), documents, index, stop)
    }

    fn new(
        session: &Connection,
        VersionedSnapshot { snapshot, revision }: VersionedSnapshot,
        documents: Documents,
        index: Index,
        stop: Cancellation,
    ) -> View {
        View {
            answers: session.options.answers.clone(),
            caches: session.caches.clone(),
            snapshot,
            revision,
            documents,
            context: session.context(),
            encoding: session.facts().encoding,
            facts: session.facts().clone(),
            index,
            stop,
            newer: None,
        }
    }

    /// Whether a file is open and short enough for [`View::with_open_files`].
    pub(crate) fn is_early(&self, path: &str) -> bool {
        let document = self.documents.get(path);
        document.is_some_and(|document| document.text.len() <= MAX_EARLY)
    }

    /// The view with the open files and the hierarchies that govern them, which the model may not
    /// have yet. Reads the hierarchies; blocks.
    pub(crate) fn with_open_files(self) -> View {
        let mut changes = Vec::new();
        let mut sought = BTreeSet::new();
        for path in self.documents.paths() {
            let governing = path::parent(&path).and_then(disk::governing);
            let folders = governing.map(|found| [found.environment, found.hierarchy]);
            for folder in folders.into_iter().flatten() {
                for name in [ENVIRONMENT_CONF, HIERA_YAML] {
                    let at: Arc<str> = path::join(&folder, name).into();
                    if self.snapshot.file(&at).is_none() && sought.insert(at.clone()) {
                        let entry = disk::read_named(&at);
                        changes.push(Change::Disk { path: at, entry });
                    }
                }
            }
            let known = self.snapshot.file(&path).and_then(|file| file.version());
            if let Some(document) = self.documents.get(&path)
                && known != Some(document.version)
                && self.is_early(&path)
            {
                changes.push(document.change(path));
            }
        }
        self.after(changes)
    }

    fn after(mut self, changes: Vec<Change>) -> View {
        if !changes.is_empty() {
            self.snapshot = Arc::new(self.snapshot.with(Change::Batch(changes)));
        }
        self
    }

    /// The view at the request's place: includes what was read from the disk since, excludes later
    /// edits. Costs parsing the documents edited since.
    fn turned_back(mut self) -> View {
        let Some(newer) = self.newer.take() else {
            return self;
        };
        let version = |documents: &Documents, path: &str| {
            documents.get(path).map(|document| document.version)
        };
        let mut changes = Vec::new();
        for path in self.documents.paths() {
            if let Some(document) = self.documents.get(&path)
                && version(&newer, &path) != Some(document.version)
            {
                changes.push(document.change(path));
            }
        }
        for path in newer.paths() {
            if version(&self.documents, &path).is_none() {
                changes.push(Change::Close { path });
            }
        }
        self.after(changes)
    }

    pub(crate) fn nodes(&self, path: &str) -> Arc<NodeSet> {
        self.context.nodes(&self.caches, &self.snapshot, path)
    }

    pub(crate) fn nodes_without_overrides(&self, path: &str) -> Arc<NodeSet> {
        let mut context = self.context.clone();
        context.choices = Arc::new(context.choices.without_facts());
        context.nodes(&self.caches, &self.snapshot, path)
    }

    pub(crate) fn node_files(&self, path: &str) -> Vec<NodeFile> {
        self.nodes(path).files.clone()
    }

    /// Runs `answer` with an analysis for a file. Its settings hold no keys, so encrypted values
    /// stay encrypted.
    pub(crate) fn analyse<T>(&self, path: &str, answer: impl FnOnce(Analysis<'_>) -> T) -> T {
        let settings = self.context.puppet();
        let nodes = self.nodes(path);
        let is_cancelled = || self.stop.requested();
        // Without known nodes, answers use no facts.
        let what_if = if nodes.known.is_empty() {
            String::new()
        } else {
            self.context.what_if(path)
        };
        let factual = (!what_if.is_empty()).then(|| self.nodes_without_overrides(path));
        answer(Analysis {
            selected: nodes.selected.as_deref(),
            what_if: &what_if,
            without_what_if: factual.as_deref().map(|set| &set.known),
            answers: Some(&self.caches.answers),
            is_cancelled: &is_cancelled,
            ..Analysis::new(
                &self.snapshot,
                &settings,
                &self.caches.configs,
                &nodes.known,
            )
        })
    }

    pub(crate) fn lines<T>(
        &self,
        path: &str,
        use_lines: impl FnOnce(&LineIndex) -> T,
    ) -> Option<T> {
        self.snapshot.file(path).map(|file| use_lines(file.lines()))
    }
}

/// How much of the workspace must have been read before a job runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// The whole workspace, unless that takes too long: the answer then says so.
    Soon,
    /// The whole workspace, however long that takes: a partial one has false problems and gaps.
    WholeWorkspace,
    /// The same, once the last edit has settled.
    Settled,
}

/// Answers the current request: runs `work` as a job with the state at the request's place in the
/// stream, and cancels it when its answer is no longer wanted.
pub(crate) async fn answer<T: Send + 'static>(
    session: &Connection,
    method: &str,
    lane: Lane,
    needs: Needs,
    work: impl FnOnce(View) -> T + Send + 'static,
) -> Result<T> {
    let Some(ticket) = ordered::ticket() else {
        return Err(Error::internal_error());
    };
    if needs == Needs::Settled {
        settled(session).await;
    }
    let stop = ticket.stop.clone();
    let view = tokio::select! {
        view = whole_view(session, &ticket, needs) => view,
        reason = stop.stopped() => return Err(no_answer(session, method, NoAnswer::Stopped(reason))),
    };
    let Some(view) = view else {
        let gone = NoAnswer::Stopped(stop.reason().unwrap_or(Reason::Cancelled));
        return Err(no_answer(session, method, gone));
    };
    let work = move || work(view.turned_back());
    let answer = session.lanes.run(lane, &stop, work).await;
    answer.map_err(|why| no_answer(session, method, why))
}

/// Answers the current request from the whole workspace.
pub(crate) async fn of_workspace<T: Send + 'static>(
    session: &Connection,
    method: &str,
    work: impl FnOnce(View) -> T + Send + 'static,
) -> Result<T> {
    answer(
        session,
        method,
        Lane::Interactive,
        Needs::WholeWorkspace,
        work,
    )
    .await
}

/// Answers a request about a file; `None` if its URI names none.
pub(crate) async fn of_file<P: Send + 'static, T: Send + 'static>(
    session: &Connection,
    method: &str,
    needs: Needs,
    params: P,
    work: impl FnOnce(&View, &str, P) -> Option<T> + Send + 'static,
) -> Result<Option<T>> {
    let Some(path) = ordered::ticket().and_then(|ticket| ticket.path.clone()) else {
        return Ok(None);
    };
    let work = move |view: View| work(&view, &path, params);
    answer(session, method, Lane::Interactive, needs, work).await
}

async fn whole_view(session: &Connection, ticket: &Ticket, needs: Needs) -> Option<View> {
    let view = View::of(session, ticket).await?;
    if view.index == Index::Complete {
        return Some(view);
    }
    let read = is_read(session);
    match needs {
        Needs::Soon => match runtime::timeout(PATIENCE, read).await {
            Ok(read) => read?,
            Err(_) => return Some(view),
        },
        Needs::WholeWorkspace | Needs::Settled => read.await?,
    }
    let fresh = View::now(session, ticket.stop.clone()).await?;
    Some(View {
        newer: Some(fresh.documents),
        documents: view.documents,
        ..fresh
    })
}

/// Waits until the workspace has been read; `None` if the server is ending.
pub(crate) async fn is_read(session: &Connection) -> Option<()> {
    let mut index = session.index.subscribe();
    let complete = |index: &Index| *index == Index::Complete;
    index.wait_for(complete).await.ok().map(|_| ())
}

/// LSP's `RequestFailed`: the request is valid, but cannot be fulfilled; editors show the message.
fn refused(why: String) -> Error {
    Error {
        code: ErrorCode::ServerError(-32803),
        message: why.into(),
        data: None,
    }
}

pub(crate) fn no_answer(session: &Connection, method: &str, why: NoAnswer) -> Error {
    let (code, message) = match why {
        NoAnswer::Stopped(Reason::Cancelled) => return Error::request_cancelled(),
        NoAnswer::Stopped(Reason::Outdated) => {
            let code = ErrorCode::ContentModified;
            (code, code.description().to_owned())
        }
        NoAnswer::Panicked(panic) => {
            let message = format!("{method} failed inside the server: {panic}");
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
