//! Scans folders on the disk into changes for the model.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::ignore::{DataFolders, Ignore, names_data_folders};
use super::native::native;
use super::read::{self, Want};
use super::system;
use super::walk::{WalkEntry, walk};
use crate::scope::NODES_FILES;
use crate::value::LoadError;
use crate::workspace::{Change, Content, DiskEntry, FileKind, HIERA_YAML, Later, Lost, path};

/// The progress of a scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScanProgress {
    /// Folders are being listed.
    Listing {
        /// Files and folders found so far.
        found: usize,
    },
    /// All names are known, and no file is read yet.
    Listed,
    /// Files are being read.
    Reading {
        /// Files read so far.
        read: usize,
        /// Files to read in all.
        total: usize,
    },
}

/// How a scan ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScanOutcome {
    /// Everything was scanned, or left out for a reason that a problem names.
    Complete,
    /// The caller cancelled it: the change is incomplete.
    Cancelled,
}

/// The result of a scan.
#[derive(Debug)]
pub struct Scan {
    /// The change for the model.
    pub change: Change,
    /// The data folders of the configurations found.
    pub data_folders: DataFolders,
    /// Entries that were left out, and why.
    pub problems: Vec<ScanProblem>,
    /// How it ended.
    pub outcome: ScanOutcome,
}

/// An entry of a workspace that was left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScanProblem {
    /// Its path.
    pub path: Arc<str>,
    /// Why, as text to follow the path.
    pub message: String,
}

/// Scans the folders: one complete [`Change::Scanned`] for each. `progress` is called often, from
/// several threads; it returns whether to go on.
pub fn scan(
    folders: &[Arc<str>],
    ignore: &Ignore,
    progress: &(dyn Fn(ScanProgress) -> ControlFlow<()> + Sync),
) -> Scan {
    let mut listing = Listing::of(folders, ignore, progress);
    let (contents, cancelled) = read_all(&listing.wanted(), progress);
    if cancelled {
        listing.outcome = ScanOutcome::Cancelled;
    }
    let wanted = listing.wanted();
    let refused = wanted.iter().zip(&contents).filter_map(|(found, content)| {
        let Some(Some(Content::Refused(error))) = content else {
            return None;
        };
        Some(ScanProblem {
            path: Arc::clone(&found.path),
            message: not_read(&found.path, error),
        })
    });
    let refused: Vec<ScanProblem> = refused.collect();
    listing.problems.extend(refused);
    let mut contents = contents.into_iter();
    listing.scanned(&mut |_| contents.next().flatten())
}

/// Lists the folders like [`scan`]: files are read when they are first needed, except for those
/// that Puppet takes for configurations.
pub(super) fn list(folders: &[Arc<str>], ignore: &Ignore) -> Scan {
    let go_on = |_| ControlFlow::Continue(());
    let later = Later::new(|at| {
        let content = read::content(at).unwrap_or(Content::Unread);
        if let Content::Refused(error) = &content {
            tracing::warn!("{at}: {}", not_read(at, error));
        }
        content
    });
    let content = |at: &str| {
        let is_config = path::name(at) == HIERA_YAML;
        let later = || Some(Content::Later(later.clone()));
        Some(if is_config {
            read::content(at)
        } else {
            later()
        })
    };
    Listing::of(folders, ignore, &go_on).scanned(&mut |at| content(at))
}

/// Why a file is not read. One that describes nodes may still be read for that, up to a larger limit.
fn not_read(at: &str, error: &LoadError) -> String {
    if NODES_FILES.contains(&path::name(at)) {
        format!("is not read as data: {}", error.message)
    } else {
        format!("is not read: {}", error.message)
    }
}

/// The names in some folders.
struct Listing {
    found: Vec<(Arc<str>, Vec<WalkEntry>)>,
    data_folders: DataFolders,
    problems: Vec<ScanProblem>,
    outcome: ScanOutcome,
}

impl Listing {
    fn of(
        folders: &[Arc<str>],
        ignore: &Ignore,
        progress: &(dyn Fn(ScanProgress) -> ControlFlow<()> + Sync),
    ) -> Listing {
        let mut found = Vec::new();
        let mut problems = Vec::new();
        let mut count = 0;
        let mut outcome = ScanOutcome::Complete;
        for folder in folders {
            let listing = |here| {
                progress(ScanProgress::Listing {
                    found: count + here,
                })
            };
            let walked = walk(folder, ignore, &listing);
            count += walked.found.len();
            if walked.cancelled {
                outcome = ScanOutcome::Cancelled;
            }
            problems.extend(walked.problems);
            found.push((Arc::clone(folder), walked.found));
            if outcome == ScanOutcome::Cancelled {
                break;
            }
        }
        let mut data_folders = DataFolders::default();
        for found in found.iter().flat_map(|(_, found)| found) {
            if found.kind == Ok(FileKind::File) && names_data_folders(&found.path) {
                data_folders.learn_from(&found.path, read::content(&found.path));
            }
        }
        if progress(ScanProgress::Listed).is_break() {
            outcome = ScanOutcome::Cancelled;
        }
        Listing {
            found,
            data_folders,
            problems,
            outcome,
        }
    }

    /// The files that are read.
    fn wanted(&self) -> Vec<&WalkEntry> {
        let found = self.found.iter().flat_map(|(_, found)| found);
        let is_wanted = |found: &&WalkEntry| {
            found.kind == Ok(FileKind::File) && self.data_folders.reads(&found.path)
        };
        found.filter(is_wanted).collect()
    }

    /// The scan, with the content of each file that is read, in order: see [`entry`].
    fn scanned(self, content: &mut dyn FnMut(&str) -> Option<Option<Content>>) -> Scan {
        let reads = &self.data_folders;
        let mut with_content = |found: WalkEntry| {
            let content = match found.kind {
                Ok(FileKind::File) if reads.reads(&found.path) => content(&found.path),
                Ok(_) | Err(_) => Some(Some(Content::Unread)),
            };
            (Arc::clone(&found.path), entry(found, content))
        };
        let changes = self
            .found
            .into_iter()
            .map(|(folder, found)| Change::Scanned {
                folder,
                entries: found.into_iter().map(&mut with_content).collect(),
            });
        Scan {
            change: Change::Batch(changes.collect()),
            data_folders: self.data_folders,
            problems: self.problems,
            outcome: self.outcome,
        }
    }
}

/// The model's entry for a name. The content is missing if the scan was cancelled before reading
/// it, and `None` if the file disappeared after it was listed.
fn entry(found: WalkEntry, content: Option<Option<Content>>) -> DiskEntry {
    match (found.kind, content) {
        (Err(lost), _) => DiskEntry::LostLink(lost),
        (Ok(FileKind::Directory), _) => DiskEntry::Directory {
            target: found.target,
        },
        (Ok(FileKind::File), Some(None)) => DiskEntry::Absent,
        (Ok(FileKind::File), content) => DiskEntry::File {
            content: content.flatten().unwrap_or(Content::Unread),
            linked: found.linked,
        },
    }
}

/// Reads files in parallel, keeping their order; missing entries were not read because of a
/// cancellation.
fn read_all(
    wanted: &[&WalkEntry],
    progress: &(dyn Fn(ScanProgress) -> ControlFlow<()> + Sync),
) -> (Vec<Option<Option<Content>>>, bool) {
    /// Number of files between two checks for cancellation.
    const STEP: usize = 64;
    let slots: Vec<OnceLock<Option<Content>>> = wanted.iter().map(|_| OnceLock::new()).collect();
    let (next, read, stop) = (
        AtomicUsize::new(0),
        AtomicUsize::new(0),
        AtomicBool::new(false),
    );
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let from = next.fetch_add(STEP, Ordering::Relaxed);
            let to = wanted.len().min(from + STEP);
            if from >= to {
                return;
            }
            for at in from..to {
                let _ = slots[at].set(read::content(&wanted[at].path));
            }
            let read = read.fetch_add(to - from, Ordering::Relaxed) + (to - from);
            let total = wanted.len();
            if progress(ScanProgress::Reading { read, total }).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(wanted.len() / STEP + 1);
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let contents = slots.into_iter().map(OnceLock::into_inner).collect();
    (contents, stop.into_inner())
}

/// Re-reads paths that a client or the system reports as changed: files are read, folders walked,
/// and missing paths reported with their topmost missing folder. Paths outside the areas or in
/// skipped folders are ignored. If a hierarchy's configuration is among them, its folder is read
/// completely, since data may be elsewhere now.
#[must_use]
pub fn reread(
    paths: &[Arc<str>],
    areas: &[Arc<str>],
    ignore: &Ignore,
    data_folders: &mut DataFolders,
) -> Change {
    let mut folders: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut files: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut changes = Vec::new();
    for at in paths {
        let at = path::normalise(at);
        let Some(area) = areas.iter().find(|area| path::within(&at, area).is_some()) else {
            continue;
        };
        let is_link = || system::symlink_metadata(&*native(&at)).is_ok_and(|it| it.is_symlink());
        if ignore.skips_within(&at, area) || (ignore.skips_link(&at, area) && is_link()) {
            continue;
        }
        let entry = match read::entry(&at, Want::Name) {
            DiskEntry::File { .. } | DiskEntry::Directory { .. } if ignore.loses(&at, area) => {
                DiskEntry::LostLink(Lost::Outside)
            }
            DiskEntry::LostLink(_) => DiskEntry::LostLink(read::lost_from(&at, area)),
            entry => entry,
        };
        match entry {
            entry @ DiskEntry::Absent => {
                let gone = topmost_missing(&at, area);
                files.retain(|file| path::within(file, gone).is_none());
                let path = Arc::from(gone);
                changes.push(Change::Disk { path, entry });
            }
            entry @ DiskEntry::LostLink(_) => {
                let path = Arc::from(at);
                changes.push(Change::Disk { path, entry });
            }
            entry @ DiskEntry::Directory { .. } => {
                let path: Arc<str> = Arc::from(at);
                folders.insert(Arc::clone(&path));
                if *path != **area {
                    changes.push(Change::Disk { path, entry });
                }
            }
            DiskEntry::File { .. } => {
                if names_data_folders(&at)
                    && let Some(dir) = path::parent(&at)
                {
                    let before = data_folders.clone();
                    data_folders.learn_from(&at, read::content(&at));
                    if *data_folders != before {
                        folders.insert(Arc::from(dir));
                    }
                }
                files.insert(Arc::from(at));
            }
        }
    }
    let is_in =
        |at: &Arc<str>, folder: &Arc<str>| folder != at && path::within(at, folder).is_some();
    let is_inner = |at: &Arc<str>| folders.iter().any(|folder| is_in(at, folder));
    let outer = folders.iter().filter(|at| !is_inner(at));
    let outer: Vec<Arc<str>> = outer.cloned().collect();
    if !outer.is_empty() {
        let scanned = scan(&outer, ignore, &|_| ControlFlow::Continue(()));
        data_folders.extend(&scanned.data_folders);
        changes.push(scanned.change);
    }
    let is_read = |at: &str| {
        outer
            .iter()
            .any(|folder| path::within(at, folder).is_some())
    };
    files.retain(|at| !is_read(at));
    for path in files {
        let want = if data_folders.reads(&path) {
            Want::Content
        } else {
            Want::Name
        };
        let entry = read::entry(&path, want);
        changes.push(Change::Disk { path, entry });
    }
    Change::Batch(changes)
}

/// The topmost missing folder of a missing path: a client may report the files of a deleted folder
/// and not the folder.
fn topmost_missing<'a>(at: &'a str, area: &str) -> &'a str {
    let mut missing = at;
    while let Some(above) = path::parent(missing) {
        let inside = path::within(above, area).is_some_and(|rest| !rest.is_empty());
        if !inside || system::symlink_metadata(&*native(above)).is_ok() {
            break;
        }
        missing = above;
    }
    missing
}

/// Used by the poll of [`super::Watcher`]: the names below the folders.
#[cfg(all(feature = "server", not(target_family = "wasm")))]
pub(super) fn names(folders: &[Arc<str>], ignore: &Ignore) -> Vec<WalkEntry> {
    let walked = folders
        .iter()
        .map(|folder| walk(folder, ignore, &|_| ControlFlow::Continue(())));
    walked.flat_map(|walked| walked.found).collect()
}
