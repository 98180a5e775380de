//! The reader as a thread of its own, on a disk.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::{DiskReader, NamedFiles, Orders, ReaderEvent, ReaderState, Watching};
use crate::disk::{self, Ignore, Stamp, WatchMode, Watcher};
use crate::server::OnScanProgress;
use crate::server::jobs::Cancellation;
use crate::server::model::{Model, Pinned};
use crate::workspace::{Snapshot, path};

/// Polling interval for files that settings name: they can be anywhere, so no watcher covers them.
/// A poll is one `stat` per file.
const LOOK: Duration = Duration::from_secs(2);

impl DiskReader {
    /// Starts the thread; results go to `model`. `scanning` is called with the progress of a full
    /// read.
    pub(crate) fn start(
        &self,
        model: Arc<Model>,
        scanning: Arc<OnScanProgress>,
        report: impl Fn(ReaderEvent) + Send + Sync + 'static,
    ) -> std::io::Result<()> {
        let reader = self.clone();
        let work = move || reader.work(&model, &*scanning, &report);
        std::thread::Builder::new()
            .name("disk".to_owned())
            .spawn(work)?;
        Ok(())
    }

    fn work(
        &self,
        model: &Model,
        scanning: &OnScanProgress,
        report: &(impl Fn(ReaderEvent) + Sync),
    ) {
        let mut state = ReaderState::new();
        while let Some(mut orders) = self.next(&state.named, &state.stamps) {
            state.begin(&mut orders, report);
            let Some(snapshot) = now(model) else {
                return;
            };
            self.carry_out(orders, &snapshot, &mut state, (model, scanning, report));
        }
    }

    /// Waits for orders, or for a change of a file that settings name; `None` at the end.
    fn next(&self, named: &NamedFiles, stamps: &[Option<Stamp>]) -> Option<Orders> {
        loop {
            let mut orders = self.lock();
            let mut waited = false;
            while orders.are_none() && !waited {
                let ordered = &self.0.ordered;
                if stamps.is_empty() {
                    orders = ordered.wait(orders).unwrap_or_else(PoisonError::into_inner);
                } else {
                    let result = ordered.wait_timeout(orders, LOOK);
                    let (woken, timeout) = result.unwrap_or_else(PoisonError::into_inner);
                    orders = woken;
                    waited = timeout.timed_out();
                }
            }
            if orders.closed {
                return None;
            }
            if !orders.are_none() {
                return Some(std::mem::take(&mut *orders));
            }
            // The disk may be slow, so the lock is released.
            drop(orders);
            if named.stamps() != stamps {
                return Some(Orders {
                    rescan_named: true,
                    ..Orders::default()
                });
            }
        }
    }

    /// A disk is looked at in each read.
    #[expect(clippy::unused_self, reason = "as that of the task")]
    pub(crate) fn look_again(&self, _: &[String]) {}

    pub(super) fn watch(&self, areas: &[Arc<str>], ignore: &Ignore) -> Watching {
        if areas.is_empty() {
            return None;
        }
        let reader = self.clone();
        let report = move |paths| reader.order(|orders| orders.paths.extend(paths));
        Some(Watcher::new(areas, ignore, WatchMode::System, report))
    }

    /// Reads the environments of open files before all others: by now the client has reported its
    /// open files, and the user looks at them.
    pub(super) fn read_open_first(&self, model: &Model, areas: &[Arc<str>], ignore: &Ignore) {
        let Some(snapshot) = now(model) else {
            return;
        };
        let is_part = |folder: &Arc<str>| {
            let mut areas = areas.iter();
            areas.any(|area| path::within(folder, area).is_some_and(|rest| !rest.is_empty()))
        };
        let open = snapshot.open_files().filter_map(|file| {
            let folder = path::parent(file.path())?;
            Some(disk::governing(folder)?.environment).filter(is_part)
        });
        let folders: BTreeSet<Arc<str>> = open.collect();
        let folders: Vec<Arc<str>> = folders.into_iter().collect();
        if folders.is_empty() {
            return;
        }
        let scan = disk::scan(&folders, ignore, &|_| self.go_on());
        if scan.outcome == disk::ScanOutcome::Complete {
            model.change(scan.change);
        }
    }
}

/// The snapshot after everything in the model's queue; `None` once it is closed.
fn now(model: &Model) -> Option<Arc<Snapshot>> {
    let latest = match model.pin(&Cancellation::never()) {
        Pinned::Now(latest) => latest,
        Pinned::Soon(latest) => latest.blocking_recv().ok()?,
    };
    Some(latest.snapshot)
}
