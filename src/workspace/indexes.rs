//! What spans the texts of all files: the index of keys, the references between keys, and what code
//! defines and looks up. Patched by the difference of files; if texts are read on demand, made when
//! one of them is first asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::code_index::CodeIndex;
use super::delta::FileDelta;
use super::facts::{FileFacts, diff};
use super::file::{Belongs, File};
use super::index::{KeyIndex, Patch};
use super::references::References;
use super::snapshot::{FileId, Snapshot};

/// One more thread per this many files that are read at once.
pub(super) const FILES_PER_THREAD: usize = 16;

#[derive(Clone, Default)]
pub(super) struct Indexes {
    pub(super) keys: KeyIndex,
    pub(super) references: References,
    pub(super) code: CodeIndex,
}

impl Indexes {
    /// The indexes of all files of a snapshot. Reads every text.
    pub(super) fn of(snapshot: &Snapshot) -> Indexes {
        let files = snapshot.files();
        let files: Vec<&Arc<File>> = files
            .filter(|file| file.belongs == Belongs::Workspace)
            .collect();
        in_parallel(
            files.len(),
            || (),
            |(), at| {
                let _ = files[at].facts();
            },
        );
        let files = files.into_iter().map(|file| {
            let facts = Some(Arc::clone(file.facts()));
            FileDelta::new(file.id, Arc::clone(&file.path), None, facts)
        });
        let mut indexes = Indexes::default();
        indexes.patch(&files.collect::<Vec<_>>());
        indexes
    }

    /// Patches the indexes by the differences of files.
    pub(super) fn patch(&mut self, files: &[FileDelta]) {
        let mut patch = Patch::default();
        for file in files {
            let (before, after) = (file.before.as_deref(), file.after.as_deref());
            patch_keys(&mut patch, file.file, before, after);
        }
        self.keys.patch(patch);
        self.code.patch(files);
        self.references.patch(files);
    }
}

/// Calls a function for each number below `count`, for many numbers in parallel. Each thread has a state
/// of its own.
pub(super) fn in_parallel<S>(
    count: usize,
    start: impl Fn() -> S + Sync,
    call: impl Fn(&mut S, usize) + Sync,
) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut state = start();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return;
            }
            call(&mut state, at);
        }
    };
    let threads = match count / FILES_PER_THREAD {
        // Counting the cores reads files of the system.
        0 | 1 => 1,
        wanted => std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(wanted),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
}

/// Records for the index which keys a file gained and lost, and whether it became or ceased to be
/// odd.
fn patch_keys(
    patch: &mut Patch,
    file: FileId,
    before: Option<&FileFacts>,
    after: Option<&FileFacts>,
) {
    // No level reads code.
    let is_odd = |facts: Option<&FileFacts>| {
        facts.is_some_and(|facts| facts.code.is_none() && facts.matters_to_any_key())
    };
    if is_odd(before) != is_odd(after) {
        patch.odd(file, is_odd(after));
    }
    match (before, after) {
        (None, None) => {}
        (None, Some(facts)) => facts
            .effective_keys()
            .for_each(|key| patch.add(&key.name, file)),
        (Some(facts), None) => facts
            .effective_keys()
            .for_each(|key| patch.remove(&key.name, file)),
        (Some(_), Some(_)) => {
            let keys = diff(before, after);
            keys.added.iter().for_each(|key| patch.add(key, file));
            keys.removed.iter().for_each(|key| patch.remove(key, file));
        }
    }
}
