//! Which files' findings a change of the workspace can touch.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::checker::Part;
use crate::workspace::{FileDelta, FileFacts, Snapshot, path};

/// The key that holds options of lookups.
const LOOKUP_OPTIONS: &str = "lookup_options";

/// What must be checked again after a change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Touched {
    /// Everything: a hierarchy, a root or a setting is another one now.
    All,
    /// Only these files, ordered by path, and only these rules.
    Files(Vec<(Arc<str>, Part)>),
}

/// What the change that made this snapshot can touch. Costs O(changed files and their keys), and
/// O(files with `lookup_options` or with keys on circles) where these are concerned.
#[must_use]
pub fn touched(snapshot: &Snapshot) -> Touched {
    let delta = snapshot.delta();
    let is_configuration = |file: &FileDelta| {
        let roots = snapshot.roots();
        matches!(
            path::name(&file.path),
            "hiera.yaml" | "environment.conf" | "metadata.json"
        ) || roots
            .iter()
            .any(|root| root.hiera_yaml.as_deref() == Some(&*file.path))
    };
    if delta.roots_changed
        || delta.settings_changed
        || !delta.appeared.is_empty()
        || !delta.vanished.is_empty()
        || delta.files.iter().any(is_configuration)
    {
        return Touched::All;
    }
    let changed: BTreeSet<&Arc<str>> = delta.files.iter().map(|file| &file.path).collect();
    let mut others: BTreeSet<Arc<str>> = BTreeSet::new();
    if !changed.is_empty() {
        with_options(snapshot, &mut others);
        with_circles(snapshot, &mut others);
    }
    let own = changed.iter().map(|path| (Arc::clone(path), Part::All));
    let others = others.into_iter().filter(|path| !changed.contains(path));
    let others = others.map(|path| (path, Part::Workspace));
    let mut files: Vec<(Arc<str>, Part)> = own.chain(others).collect();
    files.sort_by(|a, b| a.0.cmp(&b.0));
    Touched::Files(files)
}

/// Files with patterns in their `lookup_options`, whose findings depend on which keys there are,
/// and on what every lookup fails of.
fn with_options(snapshot: &Snapshot, found: &mut BTreeSet<Arc<str>>) {
    let options_look_up = snapshot.references().has(LOOKUP_OPTIONS)
        || snapshot.delta().references_before.has(LOOKUP_OPTIONS);
    let reaches = |file: &FileDelta| {
        let keys = file.keys();
        let is_options = |name: &Arc<str>| **name == *LOOKUP_OPTIONS;
        // A file without keys may be no hash, of which every lookup fails.
        let may_be_no_hash =
            |facts: &Option<Arc<FileFacts>>| facts.as_ref().is_some_and(|f| f.keys.is_empty());
        !keys.added.is_empty()
            || !keys.removed.is_empty()
            || !keys.lookup_options.is_empty()
            || keys.changed.iter().any(is_options)
            || options_look_up
            || may_be_no_hash(&file.before)
            || may_be_no_hash(&file.after)
    };
    if !snapshot.delta().files.iter().any(reaches) {
        return;
    }
    for file in snapshot.iter_files_with(LOOKUP_OPTIONS) {
        if !file.facts().lookup_options.is_empty() {
            found.insert(file.path().clone());
        }
    }
}

/// Files with references that are, or were, part of a circle: what a loop's lookups meet on their
/// way, and where it stands, can be in any file.
fn with_circles(snapshot: &Snapshot, found: &mut BTreeSet<Arc<str>>) {
    let (before, after) = (&snapshot.delta().references_before, snapshot.references());
    let (old, new) = (before.circles(), after.circles());
    let options = [LOOKUP_OPTIONS]
        .into_iter()
        .filter(|key| before.has(key) || after.has(key));
    let keys = old.keys().chain(new.keys()).map(|key| &**key);
    let keys: BTreeSet<&str> = keys.chain(options).collect();
    for key in keys {
        for file in snapshot.iter_files_with(key) {
            let mut uses = file.facts().uses();
            let is_part = uses.any(|(from, _, to)| {
                *from.name == *key
                    && (key == LOOKUP_OPTIONS || old.is_on(key, to) || new.is_on(key, to))
            });
            if is_part {
                found.insert(file.path().clone());
            }
        }
    }
}
