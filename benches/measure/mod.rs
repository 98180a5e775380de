//! Clocks, quantiles and tables. Single-threaded work is measured in processor time, so that a busy
//! machine changes little; ratios within one run are what is tested.

#![allow(dead_code, reason = "each benchmark uses its part")]
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark looks at clocks, runs programs and prints"
)]

use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use rustix::time::{ClockId, clock_gettime};

/// The program's own allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

/// Processor time of this thread so far.
pub(crate) fn thread_time() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// Processor time of all threads of this process so far, including ended ones.
pub(crate) fn process_time() -> Duration {
    read(ClockId::ProcessCPUTime)
}

/// Processor time of this thread for one call.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = thread_time();
    let result = work();
    (result, thread_time().saturating_sub(start))
}

/// The minimum processor time of some calls, which is the least disturbed one.
pub(crate) fn best<T>(rounds: usize, mut work: impl FnMut() -> T) -> Duration {
    let rounds = (0..rounds.max(1)).map(|_| timed(&mut work).1);
    rounds.min().unwrap_or_default()
}

/// The value that a share of all does not exceed.
pub(crate) fn quantile(times: &mut [Duration], share: f64) -> Duration {
    times.sort_unstable();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let at = ((times.len() as f64 - 1.0) * share).round() as usize;
    times.get(at).copied().unwrap_or_default()
}

/// Processor time, user and system, of a command from its start to its end: the mean of some runs.
/// No shell is used, since its forks take about as long as a small program.
pub(crate) fn command_time(times: u32, command: &[&str]) -> Duration {
    let before = children_time();
    for _ in 0..times {
        let mut child = Command::new(command[0]);
        child.args(&command[1..]);
        child.stdin(Stdio::null());
        child.stdout(Stdio::null()).stderr(Stdio::null());
        child.status().expect("the command runs");
    }
    children_time().saturating_sub(before) / times
}

/// Processor time of all commands that have ended so far.
pub(crate) fn children_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system counts");
    let time = |value: TimeVal| {
        let seconds = Duration::from_secs(value.tv_sec().unsigned_abs());
        seconds + Duration::from_micros(value.tv_usec().unsigned_abs())
    };
    time(usage.user_time()) + time(usage.system_time())
}

/// A ratio as text: `123×`.
pub(crate) fn ratio(more: Duration, less: Duration) -> f64 {
    more.as_secs_f64() / less.as_secs_f64().max(1e-12)
}

/// One line of a report: name, figures, and whether the goal is met.
pub(crate) fn report(what: &str, figures: &str, goal: &str, holds: bool) {
    let mark = if holds { "holds" } else { "FAILS" };
    println!("{what}: {figures}; goal {goal}: {mark}");
}

/// One line of a report without a goal.
pub(crate) fn note(what: &str, figures: &str) {
    println!("{what}: {figures}");
}

/// A number from the environment, or a default.
pub(crate) fn number(name: &str, default: usize) -> usize {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// Whether this part is excluded by `cargo bench --bench X PART`.
pub(crate) fn left_out(part: &str) -> bool {
    let mut wanted = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .peekable();
    wanted.peek().is_some() && !wanted.any(|wanted| part.contains(&wanted))
}
