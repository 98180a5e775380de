//! Checks many files at once, on as many threads as there are processors, keeping the order of the
//! files. It must not know how findings are printed.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use crate::cli::console;
use crate::rules::{Checker, Finding};
use crate::text::TextRange;

/// Maximum number of threads: more of them wait for memory rather than for processors.
const MAX_THREADS: usize = 8;

/// Number of files that a thread takes at once.
const TAKEN: usize = 20;

/// The findings of a file, and the ranges of its secrets.
pub(super) type FileFindings = (Vec<Finding>, Vec<TextRange>);

/// The findings of files, each as from [`Checker::with_secrets`], in the order of the files. `report`
/// is called with the number of finished files, from any thread.
pub(super) fn findings(
    checker: &Checker<'_>,
    paths: &[Arc<str>],
    report: &(dyn Fn(usize) + Sync),
) -> Vec<Option<FileFindings>> {
    let found: Vec<OnceLock<Option<FileFindings>>> =
        paths.iter().map(|_| OnceLock::new()).collect();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let call = console::call();
    let is_wanted = || !call.as_ref().is_some_and(|call| (call.is_cancelled)());
    let work = || {
        while is_wanted() {
            let from = next.fetch_add(TAKEN, Ordering::Relaxed);
            if from >= paths.len() {
                break;
            }
            let to = (from + TAKEN).min(paths.len());
            for at in from..to {
                let _ = found[at].set(checker.with_secrets(&paths[at]));
            }
            report(done.fetch_add(to - from, Ordering::Relaxed) + to - from);
        }
    };
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = processors.min(MAX_THREADS).min(paths.len().div_ceil(TAKEN));
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let found = found.into_iter();
    found.map(|one| one.into_inner().flatten()).collect()
}
