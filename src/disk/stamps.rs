//! The state of all files of some folders, to find out what changed since then.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::ignore::Ignore;
use super::native::native;
use super::read::Stamp;
use super::system;
use super::walk::walk;
use crate::workspace::FileKind;

/// How long after a change another one may leave the same time of modification: some systems count it in steps of seconds.
const STEP: Duration = Duration::from_secs(2);

/// Stamps of files and folders; folders have none.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    by_path: BTreeMap<Arc<str>, Option<Stamp>>,
    /// Files whose stamp may stay the same after another change.
    young: BTreeSet<Arc<str>>,
}

/// Looks at all files of some folders.
#[expect(
    clippy::disallowed_methods,
    reason = "the age of a file tells whether its stamp can be trusted"
)]
pub(super) fn look(areas: &[Arc<str>], ignore: &Ignore) -> Stamps {
    let now = SystemTime::now();
    let walked = areas
        .iter()
        .map(|area| walk(area, ignore, &|_| ControlFlow::Continue(())));
    let mut stamps = Stamps::default();
    for found in walked.flat_map(|walked| walked.found) {
        let stamp = match found.kind {
            Ok(FileKind::File) => system::metadata(&*native(&found.path)).ok(),
            Ok(FileKind::Directory) | Err(_) => None,
        };
        let stamp = stamp.map(|metadata| Stamp::of(&metadata));
        if stamp.is_some_and(|stamp| stamp.is_younger_than(STEP, now)) {
            stamps.young.insert(Arc::clone(&found.path));
        }
        stamps.by_path.insert(found.path, stamp);
    }
    stamps
}

impl Stamps {
    /// The paths that differ now, or may differ.
    pub(super) fn changed(&self, now: &Stamps) -> BTreeSet<Arc<str>> {
        let gone = self.by_path.keys();
        let gone = gone.filter(|at| !now.by_path.contains_key(*at));
        let new = now.by_path.iter();
        let new = new.filter(|(at, stamp)| self.by_path.get(*at) != Some(*stamp));
        let new = new.map(|(at, _)| at);
        gone.chain(new).chain(&self.young).cloned().collect()
    }
}
