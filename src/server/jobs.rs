//! Runs jobs off the transport's task, with limits, cancellation, and protection from panics.
//!
//! A job runs on the blocking pool, never on the task that reads the pipe. [`Lanes`] limit the
//! number of running jobs; a [`Cancellation`] tells a job that its answer is no longer wanted.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};

use super::runtime::{self, Instant};

/// Grace period for an answer about an outdated text. A fast job still answers for the old text; a
/// slow one is cancelled.
pub(crate) const OUTDATED_GRACE: Duration = Duration::from_millis(250);

const RUNNING: u8 = 0;
const OUTDATED: u8 = 1;
const CANCELLED: u8 = 2;

/// The cancellation flag of a job. Long loops check [`Cancellation::requested`] now and then; a
/// clone is the same flag.
#[derive(Clone, Debug)]
pub struct Cancellation(Arc<Flag>);

#[derive(Debug)]
struct Flag {
    state: AtomicU8,
    outdated_since: OnceLock<Instant>,
    grace: Duration,
    changed: Notify,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    /// The client cancelled its request.
    Cancelled,
    /// The text changed and the grace period is over.
    Outdated,
}

impl Cancellation {
    /// A new flag; an outdated job may run on for `grace`.
    pub(crate) fn new(grace: Duration) -> Cancellation {
        Cancellation(Arc::new(Flag {
            state: AtomicU8::new(RUNNING),
            outdated_since: OnceLock::new(),
            grace,
            changed: Notify::new(),
        }))
    }

    /// A flag that is never set.
    #[must_use]
    pub fn never() -> Cancellation {
        Cancellation::new(Duration::MAX)
    }

    /// Whether the job is cancelled: takes a few nanoseconds.
    #[must_use]
    pub fn requested(&self) -> bool {
        self.reason().is_some()
    }

    pub(crate) fn reason(&self) -> Option<Reason> {
        match self.0.state.load(Ordering::Acquire) {
            RUNNING => None,
            OUTDATED => self.grace_left().is_zero().then_some(Reason::Outdated),
            _ => Some(Reason::Cancelled),
        }
    }

    fn grace_left(&self) -> Duration {
        let since = self.0.outdated_since.get();
        since.map_or(Duration::MAX, |since| {
            self.0.grace.saturating_sub(since.elapsed())
        })
    }

    pub(crate) fn cancel(&self) {
        self.0.state.store(CANCELLED, Ordering::Release);
        self.0.changed.notify_waiters();
    }

    pub(crate) fn outdate(&self) {
        self.0.outdated_since.get_or_init(Instant::now);
        let (from, to) = (RUNNING, OUTDATED);
        let order = Ordering::AcqRel;
        if self
            .0
            .state
            .compare_exchange(from, to, order, Ordering::Acquire)
            .is_ok()
        {
            self.0.changed.notify_waiters();
        }
    }

    pub(crate) async fn stopped(&self) -> Reason {
        loop {
            let changed = self.0.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            match (self.reason(), self.0.state.load(Ordering::Acquire)) {
                (Some(reason), _) => return reason,
                (None, OUTDATED) => {
                    tokio::select! {
                        () = runtime::sleep(self.grace_left()) => {}
                        () = &mut changed => {}
                    }
                }
                (None, _) => changed.await,
            }
        }
    }
}

/// Maximum number of running interactive jobs: the number of cores, at least two, and no more than
/// are useful for one person.
pub(crate) fn most_interactive() -> usize {
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    cores.clamp(2, 8)
}

/// Limits of running jobs, by how long a person waits for them.
#[derive(Debug)]
pub(crate) struct Lanes {
    interactive: Arc<Semaphore>,
    background: Arc<Semaphore>,
    document: Arc<Semaphore>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lane {
    /// The user waits for it.
    Interactive,
    /// Diagnostics of whole workspaces.
    Background,
    /// Documents about whole workspaces: the user waits, but expects a delay.
    Document,
}

#[derive(PartialEq, Eq, Debug)]
pub(crate) enum NoAnswer {
    Stopped(Reason),
    /// It panicked, with this message.
    Panicked(String),
}

impl Lanes {
    /// The lanes for a machine: [`most_interactive`] jobs and one background job, so that
    /// background work never takes the last core; and one long document.
    pub(crate) fn new() -> Lanes {
        Lanes {
            interactive: Arc::new(Semaphore::new(most_interactive())),
            background: Arc::new(Semaphore::new(1)),
            document: Arc::new(Semaphore::new(1)),
        }
    }

    /// Runs `work` as soon as the lane is free, and returns as soon as it is done or cancelled;
    /// cancelled work may run on until it checks its flag, and keeps its place in the lane until
    /// then. A panic is caught and only loses the answer.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        stop: &Cancellation,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let semaphore = match lane {
            Lane::Interactive => self.interactive.clone(),
            Lane::Background => self.background.clone(),
            Lane::Document => self.document.clone(),
        };
        let flag = stop.clone();
        let job = async move {
            let Ok(permit) = semaphore.acquire_owned().await else {
                return Err(NoAnswer::Stopped(Reason::Cancelled));
            };
            let run = move || {
                let _permit = permit;
                if let Some(reason) = flag.reason() {
                    return Err(NoAnswer::Stopped(reason));
                }
                let answer = caught(work)?;
                // What cancelled work returns is incomplete.
                match flag.reason() {
                    Some(reason) => Err(NoAnswer::Stopped(reason)),
                    None => Ok(answer),
                }
            };
            runtime::spawn_blocking(run)
                .await
                .unwrap_or(Err(NoAnswer::Stopped(Reason::Cancelled)))
        };
        tokio::select! {
            biased;
            answer = job => answer,
            reason = stop.stopped() => Err(NoAnswer::Stopped(reason)),
        }
    }
}

/// Runs `work` on the blocking pool and to its end, even if the caller is cancelled; `None` if the
/// session ends first.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    runtime::spawn_blocking(work).await.ok()
}

/// Runs `work` and turns a panic into its message.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, NoAnswer> {
    // Jobs read an immutable snapshot, so an unwind leaves nothing half-changed.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).map_err(|payload| {
        let message = payload
            .downcast_ref::<&str>()
            .map(|message| (*message).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned());
        NoAnswer::Panicked(message.unwrap_or_else(|| "no message".to_owned()))
    })
}
