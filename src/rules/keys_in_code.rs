//! Whether code or data look a key up.

use std::sync::Arc;

use crate::workspace::{File, Snapshot};

/// Whether code or data look a key up by its name, or by a name that is partly computed.
pub(super) fn is_looked_up(snapshot: &Snapshot, key: &str) -> bool {
    let dotted = format!("{key}.");
    snapshot.files_looking_up(key).next().is_some()
        || snapshot.looked_up(&dotted).next().is_some()
        || snapshot.files_that_may_look_up(key).next().is_some()
        || snapshot.references().users(key).next().is_some()
}

/// The same, but also by a name that is entirely computed.
pub(super) fn may_be_looked_up(snapshot: &Snapshot, key: &str) -> bool {
    is_looked_up(snapshot, key) || computing(snapshot).next().is_some()
}

/// The files that look up computed keys, except tests, which are not evaluated for nodes.
pub(super) fn computing(snapshot: &Snapshot) -> impl Iterator<Item = &Arc<File>> {
    let files = snapshot.files_that_compute_keys();
    files.filter(|file| !file.path().contains("/spec/"))
}
