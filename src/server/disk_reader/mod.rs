//! The thread that reads the disk for a session, one order after another, so that an older result
//! never overwrites a newer one. Without threads it is a task, and its disk are the files that the client hands over.
//!
//! Waiting orders are combined: a branch switch that touches thousands of files is one change. If
//! the client does not watch files, this thread's own watcher does. Progress is reported through a
//! callback; it must not know the protocol.

#[cfg(target_family = "wasm")]
mod handed;
#[cfg(not(target_family = "wasm"))]
mod threaded;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard};

use super::context::Outside;
use super::jobs::{NoAnswer, caught};
use super::model::Model;
use super::runtime::Instant;
use super::{OnScanProgress, lock};
use crate::disk::{self, DataFolders, Ignore, ScanProblem, ScanProgress, Stamp};
use crate::eyaml::Keys;
use crate::workspace::{Content, DiskEntry, Snapshot, path};

/// Wakes the reader: a thread, or a task.
#[cfg(not(target_family = "wasm"))]
type OrderSignal = std::sync::Condvar;
#[cfg(target_family = "wasm")]
type OrderSignal = tokio::sync::Notify;

/// Watches as long as it is alive; without a disk the client watches.
#[cfg(not(target_family = "wasm"))]
type Watching = Option<disk::Watcher>;
#[cfg(target_family = "wasm")]
type Watching = ();

/// Progress is reported once per this many files.
const PROGRESS_STEP: usize = 64;

pub(crate) enum ReaderEvent {
    /// Progress of a full read in files.
    Files {
        read: usize,
        /// Total number; 0 at the beginning.
        total: usize,
    },
    /// All orders are in the model's queue; the entries that were left out, and when a full read
    /// began.
    Done(Vec<ScanProblem>, Option<Instant>),
    /// The current files that settings name; those that could not be read.
    Outside(Outside, Vec<String>),
    /// The environments of open files outside the workspace folders.
    Adopted(Vec<String>),
}

/// A search for the environments of open files.
#[derive(Clone, Default, Debug)]
pub(crate) struct Seek {
    /// The folders of the open files.
    pub(crate) open: BTreeSet<Arc<str>>,
    /// The workspace folders: a hierarchy inside them is already known.
    pub(crate) folders: Vec<String>,
}

/// Files to read anywhere, because the user's settings name them.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct NamedFiles {
    /// Nodes files and facts files.
    pub(crate) texts: Vec<Arc<str>>,
    /// The private key and the certificate, if values are to be decrypted.
    pub(crate) keys: Option<(String, String)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum WatchedBy {
    /// The client, for these folders; this thread's own watcher for others.
    Client(Vec<String>),
    Us,
}

impl WatchedBy {
    /// The areas that our own watcher watches.
    fn ours(&self, areas: &[Arc<str>]) -> Vec<Arc<str>> {
        let is_ours = |area: &&Arc<str>| match self {
            WatchedBy::Us => true,
            WatchedBy::Client(folders) => !folders
                .iter()
                .any(|folder| path::within(area, folder).is_some()),
        };
        areas.iter().filter(is_ours).cloned().collect()
    }
}

/// Sends orders to the reading thread; a clone shares the thread.
#[derive(Clone, Default)]
pub(crate) struct DiskReader(Arc<OrderQueue>);

#[derive(Default)]
struct OrderQueue {
    orders: Mutex<Orders>,
    ordered: OrderSignal,
}

#[derive(Default)]
struct Orders {
    /// From now on, read these files and keys that settings name.
    named: Option<NamedFiles>,
    seek: Option<Seek>,
    scan: Option<WatchedBy>,
    paths: BTreeSet<Arc<str>>,
    rescan_named: bool,
    closed: bool,
}

impl Orders {
    fn are_none(&self) -> bool {
        self.named.is_none()
            && self.seek.is_none()
            && self.scan.is_none()
            && self.paths.is_empty()
            && !self.rescan_named
            && !self.closed
    }

    /// The paths to read again, with the other names by which links lead to them: the system and clients tell one.
    fn changed(&self, snapshot: &Snapshot) -> Vec<Arc<str>> {
        let others = self.paths.iter();
        let others = others.flat_map(|at| snapshot.names_by_links(at));
        let all: BTreeSet<Arc<str>> = self.paths.iter().cloned().chain(others).collect();
        all.into_iter().collect()
    }
}

impl Seek {
    fn environments(&self) -> Vec<String> {
        let is_known = |at: &str| {
            let mut folders = self.folders.iter();
            folders.any(|folder| path::within(at, folder).is_some())
        };
        let found = self.open.iter().filter_map(|folder| {
            let found = disk::governing(folder)?;
            (!is_known(&found.hierarchy)).then(|| found.environment.to_string())
        });
        let mut found: Vec<String> = found.collect();
        found.sort();
        found.dedup();
        found
    }
}

impl DiskReader {
    /// Reads the whole workspace, after all changes that the model has so far. `ordered` is called
    /// before the end of any earlier order can be reported.
    pub(crate) fn scan(&self, watched_by: WatchedBy, ordered: impl FnOnce()) {
        self.order(|orders| {
            orders.scan = Some(watched_by);
            ordered();
        });
    }

    /// Finds the environments of open files; `ordered` as for [`DiskReader::scan`].
    pub(crate) fn seek(&self, seek: Seek, ordered: impl FnOnce()) {
        self.order(|orders| {
            orders.seek = Some(seek);
            ordered();
        });
    }

    /// Reads files that settings name, now and whenever an order re-reads them.
    pub(crate) fn name(&self, named: NamedFiles) {
        self.order(|orders| orders.named = Some(named));
    }

    pub(crate) fn read(&self, paths: Vec<Arc<str>>) {
        self.order(|orders| orders.paths.extend(paths));
    }

    /// Ends the thread and cancels a running read.
    pub(crate) fn close(&self) {
        self.order(|orders| orders.closed = true);
    }

    fn order(&self, add: impl FnOnce(&mut Orders)) {
        add(&mut self.lock());
        self.0.ordered.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Orders> {
        lock(&self.0.orders)
    }

    /// Carries out orders in the snapshot after all changes before them.
    fn carry_out(
        &self,
        orders: Orders,
        snapshot: &Snapshot,
        state: &mut ReaderState,
        (model, scanning, report): (&Model, &OnScanProgress, &(impl Fn(ReaderEvent) + Sync)),
    ) {
        let areas = snapshot.areas();
        let mut done = orders.seek.is_some();
        if let Some(watched_by) = &orders.scan {
            state.began.get_or_insert_with(Instant::now);
            report(ReaderEvent::Files { read: 0, total: 0 });
            let ours = watched_by.ours(areas);
            // Watching begins before reading, so that no event is missed in between.
            state._watcher = self.watch(&ours, &state.ignore);
            let progress = |at: ScanProgress| {
                let is_step = match at {
                    ScanProgress::Listing { .. } => false,
                    ScanProgress::Listed => true,
                    ScanProgress::Reading { read, .. } => read % PROGRESS_STEP == 0,
                };
                if let (true, ScanProgress::Reading { read, total }) = (is_step, at) {
                    report(ReaderEvent::Files { read, total });
                }
                if is_step {
                    scanning(at);
                }
                if at == ScanProgress::Listed {
                    self.read_open_first(model, areas, &state.ignore);
                }
                self.go_on()
            };
            state.unreported = match caught(|| disk::scan(areas, &state.ignore, &progress)) {
                Ok(scan) => {
                    state.data_folders = scan.data_folders;
                    if scan.outcome == disk::ScanOutcome::Complete {
                        model.change(scan.change);
                    }
                    scan.problems
                }
                Err(NoAnswer::Panicked(message)) => {
                    tracing::error!("the workspace could not be read: {message}");
                    Vec::new()
                }
                Err(NoAnswer::Stopped(_)) => Vec::new(),
            };
            done = true;
        }
        if done {
            // Under the lock: a later order must not count as done.
            let orders = self.lock();
            if orders.scan.is_none() && orders.seek.is_none() {
                let problems = std::mem::take(&mut state.unreported);
                report(ReaderEvent::Done(problems, state.began.take()));
            }
        }
        if !orders.paths.is_empty() {
            let paths = orders.changed(snapshot);
            let folders = &mut state.data_folders;
            model.change(disk::reread(&paths, areas, &state.ignore, folders));
        }
    }

    /// Cancels a read at the end of the session.
    fn go_on(&self) -> ControlFlow<()> {
        if self.lock().closed {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// What the reading thread knows between two orders.
struct ReaderState {
    ignore: Ignore,
    data_folders: DataFolders,
    /// Watches as long as it is alive.
    _watcher: Watching,
    named: NamedFiles,
    stamps: Vec<Option<Stamp>>,
    /// Problems of a scan, until they are reported, and when reading began: another order may come first.
    unreported: Vec<ScanProblem>,
    began: Option<Instant>,
}

impl ReaderState {
    fn new() -> ReaderState {
        let named = NamedFiles::default();
        ReaderState {
            ignore: Ignore::default(),
            data_folders: DataFolders::default(),
            _watcher: Watching::default(),
            stamps: named.stamps(),
            named,
            unreported: Vec::new(),
            began: None,
        }
    }

    /// What orders ask for besides the workspace: files that settings name, and environments.
    fn begin(&mut self, orders: &mut Orders, report: &impl Fn(ReaderEvent)) {
        let checks_named = orders.rescan_named
            || orders.scan.is_some()
            || self.named.texts.iter().any(|at| orders.paths.contains(at));
        let named = orders.named.take();
        let renamed = named.is_some();
        self.named = named.unwrap_or_else(|| std::mem::take(&mut self.named));
        if renamed || (checks_named && self.named != NamedFiles::default()) {
            self.stamps = self.named.stamps();
            let (outside, problems) = self.named.read();
            report(ReaderEvent::Outside(outside, problems));
        }
        if let Some(seek) = &orders.seek {
            report(ReaderEvent::Adopted(seek.environments()));
        }
    }
}

impl NamedFiles {
    fn stamps(&self) -> Vec<Option<Stamp>> {
        let keys = self
            .keys
            .iter()
            .flat_map(|(private, public)| [private, public]);
        let texts = self.texts.iter().map(|at| &**at);
        let all = texts.chain(keys.map(String::as_str));
        all.map(disk::stamp).collect()
    }

    fn read(&self) -> (Outside, Vec<String>) {
        let mut problems = Vec::new();
        let mut outside = Outside::default();
        for at in &self.texts {
            match text(at) {
                Ok(text) => {
                    outside.texts.insert(at.clone(), text);
                }
                Err(why) => problems.push(format!("{at}: {why}")),
            }
        }
        if let Some((private, certificate)) = &self.keys {
            let named = |at: &String| text(at).map_err(|why| format!("{at}: {why}"));
            let keys = named(private).and_then(|pem| {
                let keys = Keys::from_pem(pem.as_bytes(), named(certificate)?.as_bytes());
                let keys = keys.map_err(|error| error.to_string())?;
                Ok(keys.of_files(private, certificate))
            });
            match keys {
                Ok(keys) => outside.keys = Some(Arc::new(keys)),
                Err(why) => problems.push(format!("the keys for encrypted values: {why}")),
            }
        }
        (outside, problems)
    }
}

fn text(at: &str) -> Result<Arc<str>, String> {
    match disk::read_named(at) {
        DiskEntry::File { content, .. } => match content {
            Content::Text(text) => Ok(text),
            Content::Bytes(_) => Err("is not UTF-8".to_owned()),
            Content::Refused(error) => Err(error.message(at)),
            Content::Unread | Content::Later(_) => Err("cannot be read".to_owned()),
        },
        DiskEntry::Directory { .. } => Err("is a folder".to_owned()),
        DiskEntry::LostLink(_) | DiskEntry::Absent => Err("is not there".to_owned()),
    }
}
