//! Finding, reading and watching the files of a workspace. Besides this room, only `server` and `cli`
//! touch the file system.
//!
//! Results become [`Change`](crate::workspace::Change) values for the model ([`scan`], [`reread`],
//! [`Watcher`]) or answer a batch lookup directly ([`DiskFiles`]). Workspaces are untrusted: every
//! walk is bounded, nothing is ever executed or written.

#![allow(
    clippy::disallowed_methods,
    reason = "this is the room that touches the file system"
)]

mod batch;
mod failure;
mod folder;
#[cfg(feature = "git")]
mod git;
mod governing;
#[cfg(any(test, target_family = "wasm"))]
#[cfg_attr(
    not(target_family = "wasm"),
    allow(dead_code, unreachable_pub, reason = "tested where it is not used")
)]
mod handed;
mod ignore;
mod kept;
mod native;
mod project;
mod read;
mod scan;
mod stamps;
mod system;
mod uri;
mod walk;
#[cfg(all(feature = "server", not(target_family = "wasm")))]
mod watch;

pub use batch::DiskFiles;
pub use failure::failure;
pub use folder::{absolute, check_current_folder, listed_with, snapshot_of, snapshot_with};
#[cfg(feature = "git")]
pub use git::{GitError, snapshot_of_revision};
pub use governing::{governing, workspace_around, workspace_of};
#[cfg(target_family = "wasm")]
pub use handed::{FileQuestions, HandedContent, handed};
pub use ignore::{DataFolders, Ignore};
pub use kept::KeptFolder;
pub use native::{model, native, of_uri};
pub use project::{FoundProject, leads_outside, project, project_over};
pub use read::{Stamp, read, read_named, stamp};
pub use scan::{Scan, ScanOutcome, ScanProblem, ScanProgress, reread, scan};
pub use uri::{encoded, file_uri};
pub use walk::{MAX_DEPTH, MAX_FILES};
#[cfg(all(feature = "server", not(target_family = "wasm")))]
pub use watch::{WatchMode, Watcher};

/// The time, in seconds since 1970; `None` in a browser, where the module has no clock.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the only look at the time of day, for the age of imported nodes"
)]
pub fn now() -> Option<i64> {
    if cfg!(target_family = "wasm") {
        return None;
    }
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.ok()?.as_secs()).ok()
}

#[cfg(test)]
mod tests;
