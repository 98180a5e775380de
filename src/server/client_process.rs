//! Watches the process that started the server, for clients that die without closing the pipe.

use std::sync::Arc;
use std::time::Duration;

use super::connection::{Connection, Stage};
use super::runtime;

/// Polling interval.
const EVERY: Duration = Duration::from_secs(1);

/// Ends the session once the client's process has ended.
pub(crate) async fn watch(session: Arc<Connection>) {
    loop {
        runtime::sleep(EVERY).await;
        if session.stage() == Stage::Uninitialized {
            continue;
        }
        let Some(process) = session.facts().process else {
            return;
        };
        if !is_alive(process) {
            tracing::warn!("the client's process {process} has ended");
            session.ending.notify_one();
            return;
        }
    }
}

/// Whether a process is alive, as far as can be determined without signals: our own parent is alive
/// while it is our parent, and Linux lists the others. Elsewhere only the end of the pipe shows it.
#[expect(
    clippy::disallowed_methods,
    reason = "the server asks the system for its client"
)]
pub(super) fn is_alive(process: u32) -> bool {
    #[cfg(unix)]
    if std::os::unix::process::parent_id() == process {
        return true;
    }
    let list = std::path::Path::new("/proc/self");
    !list.exists() || std::path::Path::new(&format!("/proc/{process}")).exists()
}

#[cfg(test)]
mod tests {
    use super::is_alive;

    #[test]
    fn dead_and_living_processes_are_distinguished() {
        assert!(is_alive(std::process::id()));
        if cfg!(target_os = "linux") {
            assert!(!is_alive(u32::MAX - 1));
        }
    }
}
