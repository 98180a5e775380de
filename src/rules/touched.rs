//! Which files' findings a change of the workspace can touch.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::checker::Part;
use crate::workspace::{FileDelta, Snapshot, path};

/// What must be checked again after a change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Touched {
    /// Everything: a hierarchy, a root or a setting is another one now.
    All,
    /// Only these files, ordered by path, and only these rules.
    Files(Vec<(Arc<str>, Part)>),
}

/// What the change that made this snapshot can touch. Costs O(files of the workspace) where a key,
/// an option or a reference changed, else O(changed files).
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
    let mut files: Vec<(Arc<str>, Part)> = changed
        .iter()
        .map(|path| (Arc::clone(path), Part::All))
        .collect();
    if delta.files.iter().any(reaches_others) {
        let others = snapshot.files().filter(|file| {
            let facts = file.facts();
            !changed.contains(file.path())
                && (!facts.references.is_empty() || !facts.lookup_options.is_empty())
        });
        files.extend(others.map(|file| (file.path().clone(), Part::Workspace)));
        files.sort_by(|a, b| a.0.cmp(&b.0));
    }
    Touched::Files(files)
}

/// Whether other files' findings can depend on what changed in this one.
fn reaches_others(file: &FileDelta) -> bool {
    let references = |facts: Option<&Arc<crate::workspace::FileFacts>>| -> Vec<Arc<str>> {
        let facts = facts.into_iter();
        facts
            .flat_map(|facts| {
                facts
                    .references
                    .iter()
                    .map(|reference| reference.key.clone())
            })
            .collect()
    };
    // Values matter as far as they hold tokens: whatever key changed may hide another's.
    !file.keys().is_empty() || references(file.before.as_ref()) != references(file.after.as_ref())
}
