//! The single writer of the workspace, on its own thread, fed in wire order.
//!
//! The service puts every change, and every pin of a request, into one queue at the moment its
//! message arrives, so the order is the wire's. Reading the pipe never waits for parsing. Changes
//! of one document without a request in between are combined: only the last text is parsed, so a
//! burst of edits costs as much as one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
#[cfg(not(target_family = "wasm"))]
use std::sync::{Condvar, PoisonError};

use arc_swap::ArcSwap;
use indexmap::IndexMap;
use tokio::sync::oneshot;

use super::documents::Text;
use super::jobs::{Cancellation, NoAnswer, caught};
use super::lock;
use super::runtime::Instant;
use crate::workspace::{Change, Snapshot, Workspace};

/// The workspace as of one place in the stream of messages.
#[derive(Clone)]
pub(crate) struct VersionedSnapshot {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) revision: ModelRevision,
}

/// The number of changes before a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct ModelRevision(pub(crate) u64);

/// A snapshot that is ready, or will be once earlier changes are applied.
pub(crate) enum Pinned {
    /// Nothing was waiting.
    Now(VersionedSnapshot),
    /// Earlier changes are still being applied.
    Soon(oneshot::Receiver<VersionedSnapshot>),
}

impl Pinned {
    /// The snapshot; `None` if the server is ending or the request was cancelled.
    pub(crate) async fn snapshot(self) -> Option<VersionedSnapshot> {
        match self {
            Pinned::Now(snapshot) => Some(snapshot),
            Pinned::Soon(snapshot) => snapshot.await.ok(),
        }
    }
}

/// Wakes the writer: a thread, or, without threads, a task.
#[cfg(not(target_family = "wasm"))]
type Entered = Condvar;
#[cfg(target_family = "wasm")]
type Entered = tokio::sync::Notify;

/// The queue in front of the writer, and its latest result.
pub(crate) struct Model {
    queue: Mutex<Queue>,
    entered: Entered,
    latest: ArcSwap<VersionedSnapshot>,
    unchecked: Mutex<Unchecked>,
    /// Called with each snapshot, in their order.
    follow: Box<dyn Fn(&Snapshot) + Send + Sync>,
}

/// The changes since diagnostics were last computed.
#[derive(Default)]
pub(crate) enum Unchecked {
    #[default]
    All,
    Nothing,
    Since(Arc<Snapshot>),
}

#[derive(Default)]
struct Queue {
    entries: VecDeque<QueueEntry>,
    busy: bool,
    closed: bool,
    revision: ModelRevision,
    /// The time of the last one.
    arrived: Option<Instant>,
    /// The time of the last edit of a document.
    edited: Option<Instant>,
}

enum QueueEntry {
    /// The whole text of an open document.
    Text {
        path: Arc<str>,
        text: Text,
        version: i32,
        revision: ModelRevision,
    },
    Change(Change, ModelRevision),
    Pin(oneshot::Sender<VersionedSnapshot>, Cancellation),
}

impl Model {
    /// A model over an empty workspace, and its writer's thread, which calls `follow` with each
    /// snapshot, `applied` after changes, before requests after them, and ends with
    /// [`Model::close`].
    pub(crate) fn start(
        follow: impl Fn(&Snapshot) + Send + Sync + 'static,
        applied: impl Fn(&VersionedSnapshot) + Send + Sync + 'static,
    ) -> std::io::Result<Arc<Model>> {
        let workspace = Workspace::new();
        let snapshot = workspace.snapshot();
        let model = Arc::new(Model {
            queue: Mutex::default(),
            entered: Entered::default(),
            latest: ArcSwap::from_pointee(VersionedSnapshot {
                snapshot,
                revision: ModelRevision::default(),
            }),
            unchecked: Mutex::default(),
            follow: Box::new(follow),
        });
        let writer = model.clone();
        #[cfg(not(target_family = "wasm"))]
        std::thread::Builder::new()
            .name("model".to_owned())
            .spawn(move || {
                while let Some(entries) = writer.filled() {
                    writer.write(entries, &workspace, &applied);
                }
            })?;
        #[cfg(target_family = "wasm")]
        super::runtime::spawn(async move {
            loop {
                writer.entered.notified().await;
                while let Some(entries) = writer.taken() {
                    writer.write(entries, &workspace, &applied);
                }
            }
        });
        Ok(model)
    }

    /// Sets the text of an open document after an edit.
    pub(crate) fn edited(&self, path: Arc<str>, text: Text, version: i32) {
        self.lock().edited = Some(Instant::now());
        self.text(path, text, version);
    }

    pub(crate) fn text(&self, path: Arc<str>, text: Text, version: i32) {
        self.enter(|revision| QueueEntry::Text {
            path,
            text,
            version,
            revision,
        });
    }

    pub(crate) fn change(&self, change: Change) {
        self.enter(|revision| QueueEntry::Change(change, revision));
    }

    fn enter(&self, entry: impl FnOnce(ModelRevision) -> QueueEntry) {
        let mut queue = self.lock();
        queue.revision.0 += 1;
        queue.arrived = Some(Instant::now());
        let entry = entry(queue.revision);
        queue.entries.push_back(entry);
        self.entered.notify_one();
    }

    /// Pins the workspace at this place. A request that is cancelled before its turn costs nothing.
    pub(crate) fn pin(&self, stop: &Cancellation) -> Pinned {
        let mut queue = self.lock();
        if queue.entries.is_empty() && !queue.busy {
            return Pinned::Now(self.latest());
        }
        let (sender, receiver) = oneshot::channel();
        queue
            .entries
            .push_back(QueueEntry::Pin(sender, stop.clone()));
        self.entered.notify_one();
        Pinned::Soon(receiver)
    }

    /// The latest finished snapshot, whatever is queued.
    pub(crate) fn latest(&self) -> VersionedSnapshot {
        VersionedSnapshot::clone(&self.latest.load())
    }

    /// The revision of the last change that arrived, applied or not.
    pub(crate) fn newest(&self) -> ModelRevision {
        self.lock().revision
    }

    /// The time when the last change arrived, applied or not.
    pub(crate) fn arrived(&self) -> Option<Instant> {
        self.lock().arrived
    }

    /// The time when the last edit of a document arrived, applied or not.
    pub(crate) fn last_edit(&self) -> Option<Instant> {
        self.lock().edited
    }

    /// Ends the writer after the entries in the queue.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.entered.notify_one();
    }

    /// The changes since the last call; every snapshot pinned from now on includes them.
    pub(crate) fn take_unchecked(&self) -> Unchecked {
        std::mem::replace(&mut *self.unchecked(), Unchecked::Nothing)
    }

    fn unchecked(&self) -> MutexGuard<'_, Unchecked> {
        lock(&self.unchecked)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    /// Waits for entries; `None` at the end.
    #[cfg(not(target_family = "wasm"))]
    fn filled(&self) -> Option<VecDeque<QueueEntry>> {
        let mut queue = self.lock();
        queue.busy = false;
        while queue.entries.is_empty() {
            if queue.closed {
                return None;
            }
            let entered = self.entered.wait(queue);
            queue = entered.unwrap_or_else(PoisonError::into_inner);
        }
        queue.busy = true;
        Some(std::mem::take(&mut queue.entries))
    }

    /// The entries that wait, if any do.
    #[cfg(target_family = "wasm")]
    fn taken(&self) -> Option<VecDeque<QueueEntry>> {
        let mut queue = self.lock();
        queue.busy = !queue.entries.is_empty();
        queue.busy.then(|| std::mem::take(&mut queue.entries))
    }

    fn write(
        &self,
        entries: VecDeque<QueueEntry>,
        workspace: &Workspace,
        applied: &impl Fn(&VersionedSnapshot),
    ) {
        let mut notified = self.latest.load().revision;
        // Effects of a change come before the requests after it.
        let mut notify = || {
            let latest = self.latest.load();
            if latest.revision != notified {
                notified = latest.revision;
                applied(&latest);
            }
        };
        let mut texts = Texts::default();
        for entry in entries {
            match entry {
                QueueEntry::Text {
                    path,
                    text,
                    version,
                    revision,
                } => {
                    texts.by_path.insert(path, (text, version));
                    texts.revision = revision;
                }
                QueueEntry::Change(change, revision) => {
                    self.flush(workspace, &mut texts);
                    self.apply(workspace, change, revision);
                }
                QueueEntry::Pin(sender, stop) => {
                    if !stop.requested() {
                        self.flush(workspace, &mut texts);
                        notify();
                        // It fails if the request was dropped.
                        let _ = sender.send(self.latest());
                    }
                }
            }
        }
        self.flush(workspace, &mut texts);
        notify();
    }

    fn flush(&self, workspace: &Workspace, texts: &mut Texts) {
        let texts_by_path = texts.by_path.drain(..);
        let changes = texts_by_path.map(|(path, (text, version))| Change::Open {
            path,
            text: text.whole(),
            version,
        });
        let changes: Vec<Change> = changes.collect();
        if !changes.is_empty() {
            self.apply(workspace, Change::Batch(changes), texts.revision);
        }
    }

    fn apply(&self, workspace: &Workspace, change: Change, revision: ModelRevision) {
        match caught(|| workspace.apply(change)) {
            Ok(snapshot) => {
                // A panic loses what is kept, not the change.
                let _ = caught(|| (self.follow)(&snapshot));
                let made = snapshot.clone();
                self.latest
                    .store(Arc::new(VersionedSnapshot { snapshot, revision }));
                let mut unchecked = self.unchecked();
                *unchecked = match &*unchecked {
                    Unchecked::All => Unchecked::All,
                    Unchecked::Nothing => Unchecked::Since(made),
                    Unchecked::Since(earlier) => Unchecked::Since(Arc::new(made.joined(earlier))),
                };
            }
            Err(NoAnswer::Panicked(message)) => tracing::error!("a change was lost: {message}"),
            Err(NoAnswer::Stopped(_)) => {}
        }
    }
}

/// Texts of documents that arrived and are not applied yet.
#[derive(Default)]
struct Texts {
    by_path: IndexMap<Arc<str>, (Text, i32)>,
    revision: ModelRevision,
}
