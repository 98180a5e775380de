//! Tasks on one thread that never waits: the host calls [`advance`] with the time, after each message and when a pause
//! ends.
//!
//! Long work is a job of its own: one for each call, so that the host can deliver messages in between, such as one that
//! cancels the rest.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::Add;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::FuturesUnordered;
use tokio::sync::oneshot;

/// Maximum number of rounds of one [`advance`]: tasks that wake each other without end do not keep the host.
const MAX_ROUNDS: usize = 10_000;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;
type Job = Box<dyn FnOnce() + Send>;

thread_local! {
    static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static NEW: RefCell<Vec<Task>> = const { RefCell::new(Vec::new()) };
    static TASKS: RefCell<FuturesUnordered<Task>> = RefCell::new(FuturesUnordered::new());
    static JOBS: RefCell<VecDeque<Job>> = const { RefCell::new(VecDeque::new()) };
    /// The pauses of waiting tasks, by number.
    static PAUSES: RefCell<Vec<(u64, Instant, Waker)>> = const { RefCell::new(Vec::new()) };
    static NUMBERS: Cell<u64> = const { Cell::new(0) };
}

/// A moment by the host's clock; it stands still during a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Instant(Duration);

impl Instant {
    pub(crate) fn now() -> Instant {
        Instant(NOW.get())
    }

    pub(crate) fn elapsed(self) -> Duration {
        NOW.get().saturating_sub(self.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, duration: Duration) -> Instant {
        Instant(self.0.saturating_add(duration))
    }
}

/// A task's answer; dropping it lets the task run on.
pub(crate) struct JoinHandle<T> {
    answer: oneshot::Receiver<T>,
    abort: AbortHandle,
    is_finished: Arc<AtomicBool>,
}

/// The task was aborted.
#[derive(Debug)]
pub(crate) struct Aborted;

impl<T> JoinHandle<T> {
    pub(crate) fn abort(&self) {
        self.abort.abort();
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished.load(Ordering::Relaxed)
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, Aborted>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, Aborted>> {
        Pin::new(&mut self.answer)
            .poll(context)
            .map_err(|_| Aborted)
    }
}

pub(crate) fn spawn<T: Send + 'static>(
    task: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    let (sender, answer) = oneshot::channel();
    let (abort, registration) = AbortHandle::new_pair();
    let is_finished = Arc::new(AtomicBool::new(false));
    let finished = is_finished.clone();
    NEW.with_borrow_mut(|new| {
        new.push(Box::pin(async move {
            if let Ok(done) = Abortable::new(task, registration).await {
                // Nobody may wait for it.
                let _ = sender.send(done);
            }
            finished.store(true, Ordering::Relaxed);
        }));
    });
    JoinHandle {
        answer,
        abort,
        is_finished,
    }
}

/// Runs `work` in a later call of [`advance`].
pub(crate) fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let (sender, done) = oneshot::channel();
    let is_finished = Arc::new(AtomicBool::new(false));
    let finished = is_finished.clone();
    let job = move || {
        // Nobody may wait for it.
        let _ = sender.send(work());
        finished.store(true, Ordering::Relaxed);
    };
    JOBS.with_borrow_mut(|jobs| jobs.push_back(Box::new(job)));
    JoinHandle {
        answer: done,
        abort: AbortHandle::new_pair().0,
        is_finished,
    }
}

pub(crate) fn block_in_place<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// The queue, for code outside of a task.
#[derive(Clone)]
pub(crate) struct Handle;

impl Handle {
    pub(crate) fn current() -> Handle {
        Handle
    }

    #[expect(clippy::unused_self, reason = "as tokio's")]
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        spawn(task)
    }

    #[expect(clippy::unused_self, reason = "as tokio's")]
    pub(crate) fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        spawn_blocking(work)
    }
}

/// A pause; it ends in the first call of [`advance`] after its time.
pub(crate) struct Pause {
    number: u64,
    until: Instant,
}

pub(crate) fn sleep_until(until: Instant) -> Pause {
    let number = NUMBERS.get();
    NUMBERS.set(number + 1);
    Pause { number, until }
}

pub(crate) fn sleep(duration: Duration) -> Pause {
    sleep_until(Instant::now() + duration)
}

impl Future for Pause {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.until {
            return Poll::Ready(());
        }
        PAUSES.with_borrow_mut(|pauses| {
            pauses.retain(|(number, ..)| *number != self.number);
            pauses.push((self.number, self.until, context.waker().clone()));
        });
        Poll::Pending
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        // At the end of the thread the list may be gone.
        let _ = PAUSES.try_with(|pauses| {
            if let Ok(mut pauses) = pauses.try_borrow_mut() {
                pauses.retain(|(number, ..)| *number != self.number);
            }
        });
    }
}

/// The time was over before the task was done.
#[derive(Debug)]
pub(crate) struct Elapsed;

pub(crate) async fn timeout<T>(
    duration: Duration,
    task: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    tokio::select! {
        biased;
        done = task => Ok(done),
        () = sleep(duration) => Err(Elapsed),
    }
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sets the clock to `now`, counted from any fixed moment, runs every task that can go on, and one job. Returns when
/// to call it again, unless a message comes before: zero for at once, nothing for never.
pub(crate) fn advance(now: Duration) -> Option<Duration> {
    NOW.set(now.max(NOW.get()));
    let due = PAUSES.with_borrow_mut(|pauses| {
        let due = pauses.extract_if(.., |(_, until, _)| *until <= Instant::now());
        due.map(|(_, _, waker)| waker).collect::<Vec<_>>()
    });
    due.iter().for_each(Waker::wake_by_ref);
    let mut is_idle = run_tasks();
    let job = JOBS.with_borrow_mut(VecDeque::pop_front);
    if let Some(job) = job {
        job();
        is_idle &= run_tasks();
    }
    if !is_idle || JOBS.with_borrow(|jobs| !jobs.is_empty()) {
        return Some(Duration::ZERO);
    }
    PAUSES.with_borrow(|pauses| {
        let next = pauses.iter().map(|(_, until, _)| *until).min()?;
        Some(next.0.saturating_sub(NOW.get()))
    })
}

/// Runs all tasks until none can go on; false if that has no end.
fn run_tasks() -> bool {
    let flag = Arc::new(Woken(AtomicBool::new(true)));
    let waker = Waker::from(flag.clone());
    let mut context = Context::from_waker(&waker);
    for _ in 0..MAX_ROUNDS {
        let new = NEW.take();
        if new.is_empty() && !flag.0.swap(false, Ordering::Relaxed) {
            return true;
        }
        // Tasks spawn others, and never advance.
        TASKS.with_borrow_mut(|tasks| {
            tasks.extend(new);
            while let Poll::Ready(Some(())) = tasks.poll_next_unpin(&mut context) {}
        });
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    #[test]
    fn tasks_run_until_all_wait_and_pauses_end_by_the_hosts_clock() {
        let task = spawn(async {
            let inner = spawn(async { 1 });
            let one = inner.await.unwrap();
            sleep(seconds(5)).await;
            one + spawn_blocking(|| 2).await.unwrap()
        });
        assert_eq!(advance(seconds(1)), Some(seconds(5)));
        assert_eq!(advance(seconds(3)), Some(seconds(3)));
        assert!(!task.is_finished());
        assert_eq!(advance(seconds(6)), None);
        assert!(task.is_finished());
        let told = spawn(async move { assert_eq!(task.await.unwrap(), 3) });
        assert_eq!(advance(seconds(6)), None);
        assert!(told.is_finished());
    }

    #[test]
    fn one_job_runs_in_each_call() {
        let jobs: Vec<_> = (0..3)
            .map(|number| spawn_blocking(move || number))
            .collect();
        assert_eq!(advance(seconds(1)), Some(Duration::ZERO));
        assert!(jobs[0].is_finished() && !jobs[1].is_finished());
        assert_eq!(advance(seconds(1)), Some(Duration::ZERO));
        assert_eq!(advance(seconds(1)), None);
        let sum = spawn(async move {
            let mut sum = 0;
            for job in jobs {
                sum += job.await.unwrap();
            }
            assert_eq!(sum, 3);
        });
        advance(seconds(1));
        assert!(sum.is_finished());
    }

    #[test]
    fn a_timeout_and_an_abort_end_a_task() {
        let late = spawn(async {
            let never = std::future::pending::<()>();
            assert!(timeout(seconds(2), never).await.is_err());
        });
        let endless = spawn(std::future::pending::<()>());
        assert_eq!(advance(seconds(1)), Some(seconds(2)));
        endless.abort();
        assert_eq!(advance(seconds(4)), None);
        assert!(late.is_finished() && endless.is_finished());
    }
}
