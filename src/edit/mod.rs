//! Edits of data: entries of a file in its own style, plans over several files, and the workspace
//! after a plan.
//!
//! Fixes, refactorings and edits by goal are plans. Nothing is written to disk here.

pub mod entry;
mod flat;
mod flow;
mod mapping;
pub mod part;
mod style;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use flat::{flattened, flattened_in_braces};
pub use mapping::{Mapping, entry_range, own_lines};
pub use style::{Style, column};

use crate::text::{TextEdit, unified_diff};
use crate::workspace::{Change, Snapshot};

/// Edits by the path of the file.
pub type Edits = BTreeMap<Arc<str>, Vec<TextEdit>>;

/// Edits of existing files, and new files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// Edits by path; edits of the same file do not overlap.
    pub edits: Edits,
    /// Texts of new files, by path.
    pub new_files: BTreeMap<Arc<str>, String>,
    /// Keys that are added or removed on purpose; no other value should change.
    pub intended: Vec<Arc<str>>,
    /// Classes outside of the workspace that may look up added or removed keys.
    pub unseen_classes: BTreeSet<Arc<str>>,
}

/// One file before and after a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changed {
    /// The absolute path.
    pub path: Arc<str>,
    /// The text before; empty for a new file.
    pub before: Arc<str>,
    /// The text after.
    pub after: Arc<str>,
    /// Whether the plan creates it.
    pub is_new: bool,
}

impl Plan {
    /// Adds an edit of a file.
    pub fn add(&mut self, path: &Arc<str>, edit: TextEdit) {
        let edits = self.edits.entry(path.clone()).or_default();
        edits.push(edit);
    }

    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.new_files.is_empty()
    }

    /// The number of edited and new files.
    #[must_use]
    pub fn files(&self) -> usize {
        self.edits.len() + self.new_files.len()
    }

    /// The files before and after.
    ///
    /// # Errors
    /// An edit that does not fit the text, or a new file that already exists.
    pub fn changed(&self, snapshot: &Snapshot) -> Result<Vec<Changed>, String> {
        let mut changed = Vec::new();
        for (path, edits) in of_one_name(snapshot, &self.edits) {
            let file = snapshot.file(path);
            let file = file.ok_or_else(|| format!("{path}: no such file"))?;
            let before = file.text().clone();
            // Text with invalid UTF-8 could not be restored.
            let is_text = file.bytes().is_ok_and(|bytes| *bytes == *before.as_bytes());
            let after = TextEdit::apply(edits, &before).filter(|_| is_text);
            let after = after.ok_or_else(|| format!("{path}: cannot be changed"))?;
            changed.push(Changed {
                path: path.clone(),
                before,
                after: after.into(),
                is_new: false,
            });
        }
        for (path, text) in &self.new_files {
            if snapshot.file(path).is_some() {
                return Err(format!("{path}: already exists"));
            }
            changed.push(Changed {
                path: path.clone(),
                before: "".into(),
                after: text.as_str().into(),
                is_new: true,
            });
        }
        Ok(changed)
    }

    /// The workspace after the plan.
    ///
    /// # Errors
    /// As [`Plan::changed`].
    pub fn after(&self, snapshot: &Snapshot) -> Result<Snapshot, String> {
        let texts = self.changed(snapshot)?.into_iter();
        let texts = texts.map(|changed| (changed.path, changed.after));
        Ok(with_texts(snapshot, texts))
    }

    /// Whether it edits or creates a file.
    #[must_use]
    pub fn changes(&self, at: &str) -> bool {
        self.edits.contains_key(at) || self.new_files.contains_key(at)
    }

    /// The paths of all edited and new files.
    pub fn paths(&self) -> impl Iterator<Item = &Arc<str>> {
        self.edits.keys().chain(self.new_files.keys())
    }
}

/// Edits without those that another name of the same file has, too.
pub fn of_one_name<'e>(
    snapshot: &Snapshot,
    edits: &'e Edits,
) -> impl Iterator<Item = (&'e Arc<str>, &'e Vec<TextEdit>)> {
    edits.iter().filter(move |(path, own)| {
        let mut others = snapshot.other_names(path).into_iter();
        // Of several names the one behind all links is kept.
        let order = |name: &Arc<str>| (!snapshot.is_real_name(name), Arc::clone(name));
        others.all(|other| edits.get(&other) != Some(own) || order(path) < order(&other))
    })
}

/// The workspace with new texts of files, by path.
pub fn with_texts(
    snapshot: &Snapshot,
    texts: impl Iterator<Item = (Arc<str>, Arc<str>)>,
) -> Snapshot {
    let opened = texts.map(|(path, text)| {
        let version = snapshot.file(&path).and_then(|file| file.version());
        Change::Open {
            path,
            text,
            version: version.unwrap_or_default(),
        }
    });
    snapshot.with(Change::Batch(opened.collect()))
}

impl Changed {
    /// The change as a unified diff; `name` is the path for people.
    #[must_use]
    pub fn diff(&self, name: &str) -> String {
        let before = if self.is_new { "/dev/null" } else { name };
        let hunks = unified_diff(&self.before, &self.after);
        format!("--- {before}\n+++ {name}\n{hunks}")
    }
}
