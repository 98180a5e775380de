//! Watches folders: by the system's events if available, else by polling.
//!
//! Events are debounced: a branch switch that touches thousands of files is one report.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::ignore::Ignore;
use super::native::{model, native};
use super::scan::names;
use super::stamps::{Stamps, look};
use crate::workspace::{FileKind, path};

/// Debounce: a burst of events ends after this much time without one.
const QUIET: Duration = Duration::from_millis(80);

/// Maximum number of events in one burst, so that a file that is written without end does not delay
/// all others.
const MAX_EVENTS: usize = 100_000;

/// Polling interval. A poll is one `stat` per file.
const POLL: Duration = Duration::from_secs(3);

/// How a watcher learns of changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WatchMode {
    /// By events of the system.
    System,
    /// By polling every file.
    Poll,
}

/// Watches folders until it is dropped.
#[derive(Debug)]
pub struct Watcher {
    stop: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

enum Message {
    Event(notify::Result<Event>),
    Stop,
}

struct Watched {
    areas: Vec<Arc<str>>,
    ignore: Ignore,
    on_change: Box<dyn FnMut(BTreeSet<Arc<str>>) + Send>,
}

impl Watcher {
    /// Watches the areas of a workspace. `on_change` is called from a thread of the watcher's own with
    /// paths that may have changed, for [`reread`](super::reread). Falls back to polling if the system refuses (too many
    /// folders, not supported); a caller that knows that events do not arrive (network file
    /// systems) passes [`WatchMode::Poll`].
    #[must_use]
    pub fn new(
        areas: &[Arc<str>],
        ignore: &Ignore,
        mode: WatchMode,
        on_change: impl FnMut(BTreeSet<Arc<str>>) + Send + 'static,
    ) -> Watcher {
        let (sender, receiver) = mpsc::channel();
        let watched = Watched {
            areas: areas.to_vec(),
            ignore: ignore.clone(),
            on_change: Box::new(on_change),
        };
        let events = sender.clone();
        let system = match mode {
            WatchMode::System => notify::recommended_watcher(move |event| {
                let _ = events.send(Message::Event(event));
            })
            .ok()
            .and_then(|mut system| {
                let all = areas.iter().all(|area| watch(&mut system, area, ignore));
                all.then_some(system)
            }),
            WatchMode::Poll => None,
        };
        // The state before the thread starts counts as known: nothing is lost in between.
        let seen = match system {
            Some(_) => Stamps::default(),
            None => look(&watched.areas, &watched.ignore),
        };
        let thread = std::thread::Builder::new()
            .name("watcher".to_owned())
            .spawn(move || match system {
                Some(system) => listen(watched, system, &receiver),
                None => poll(watched, seen, &receiver),
            })
            .ok();
        Watcher {
            stop: sender,
            thread,
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.stop.send(Message::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Asks the system for events of a folder and all folders in it that are not skipped.
fn watch(system: &mut RecommendedWatcher, folder: &str, ignore: &Ignore) -> bool {
    if !cfg!(target_os = "linux") {
        // Other systems watch whole trees; events of skipped folders are dropped on arrival.
        return system
            .watch(Path::new(&*native(folder)), RecursiveMode::Recursive)
            .is_ok();
    }
    let inside = names(&[Arc::from(folder)], ignore);
    let folders = inside
        .iter()
        .filter(|found| found.kind == Ok(FileKind::Directory))
        .map(|found| &*found.path);
    std::iter::once(folder).chain(folders).all(|folder| {
        match system.watch(Path::new(&*native(folder)), RecursiveMode::NonRecursive) {
            Ok(()) => true,
            // Only a limit is a reason to give up; a folder may disappear or be unreadable.
            Err(error) => !matches!(error.kind, notify::ErrorKind::MaxFilesWatch),
        }
    })
}

fn listen(mut watched: Watched, mut system: RecommendedWatcher, receiver: &Receiver<Message>) {
    while let Ok(first) = receiver.recv() {
        let mut dirty = BTreeSet::new();
        let mut next = Some(first);
        let mut count = 0;
        while let Some(message) = next {
            match message {
                Message::Stop => return,
                Message::Event(event) => watched.note(event, &mut dirty),
            }
            count += 1;
            next = if count < MAX_EVENTS {
                receiver.recv_timeout(QUIET).ok()
            } else {
                None
            };
        }
        let mut enough = true;
        for at in &dirty {
            if cfg!(target_os = "linux") && Path::new(&*native(at)).is_dir() && watched.covers(at) {
                // Before the folder is read, so that later changes cause events.
                enough &= watch(&mut system, at, &watched.ignore);
            }
        }
        watched.report(dirty);
        if !enough {
            drop(system);
            let seen = look(&watched.areas, &watched.ignore);
            let all = watched.areas.iter().cloned().collect();
            watched.report(all);
            return poll(watched, seen, receiver);
        }
    }
}

fn poll(mut watched: Watched, mut seen: Stamps, receiver: &Receiver<Message>) {
    loop {
        match receiver.recv_timeout(POLL) {
            Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            Ok(Message::Event(_)) => continue,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = look(&watched.areas, &watched.ignore);
        let dirty = seen.changed(&now);
        seen = now;
        if !dirty.is_empty() {
            watched.report(dirty);
        }
    }
}

impl Watched {
    /// Records the paths of an event; all areas if events were lost.
    fn note(&self, event: notify::Result<Event>, dirty: &mut BTreeSet<Arc<str>>) {
        let Ok(event) = event else {
            dirty.extend(self.areas.iter().cloned());
            return;
        };
        if event.need_rescan() {
            dirty.extend(self.areas.iter().cloned());
        }
        if let EventKind::Access(_) = event.kind {
            return;
        }
        for at in &event.paths {
            // An area's own time stamp changes with every file in it, which has its own event.
            if let Some(at) = model(at)
                && !self.areas.iter().any(|area| **area == *at)
                && self.covers(&at)
            {
                dirty.insert(Arc::from(at));
            }
        }
    }

    fn covers(&self, at: &str) -> bool {
        self.areas
            .iter()
            .find(|area| path::within(at, area).is_some())
            .is_some_and(|area| !self.ignore.skips_within(at, area))
    }

    fn report(&mut self, dirty: BTreeSet<Arc<str>>) {
        if !dirty.is_empty() {
            (self.on_change)(dirty);
        }
    }
}
