//! Fixes of findings over a whole workspace: made in memory, then written or shown as a diff.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::sync::Arc;

use clap::Args;

use super::hidden::Hidden;
use crate::cli::terminal::Layout;
use crate::disk;
use crate::lookup::Settings;
use crate::rules::{Checker, Finding, Known, Made, Safety, fixes_together};
use crate::text::unified_diff_shown;
use crate::workspace::{Change, Snapshot, Workspace};

/// What is to be done about findings that have a fix.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct FixOptions {
    /// Make the fixes that are safe, and report what is left
    #[arg(long)]
    pub(crate) fix: bool,
    /// Also the fixes after which the data may mean something else
    #[arg(long)]
    pub(crate) unsafe_fixes: bool,
    /// Print what the fixes would change, and change nothing
    #[arg(long)]
    pub(crate) diff: bool,
}

impl FixOptions {
    /// Which fixes are to be made, or shown.
    pub(super) fn wanted(self) -> Option<Safety> {
        match (self.fix || self.diff, self.unsafe_fixes) {
            (false, _) => None,
            (true, false) => Some(Safety::Safe),
            (true, true) => Some(Safety::Unsafe),
        }
    }
}

/// Most rounds: a fix can make place for another, or be what another waits for, and one that does
/// not help is taken back.
const MOST_ROUNDS: usize = 32;

/// One file that fixes change.
pub(super) struct Fixed {
    path: Arc<str>,
    before: Arc<str>,
    after: Arc<str>,
    /// Both as they may be shown.
    shown: [String; 2],
}

/// Which fixes are to be made, and where.
pub(super) struct Fixing<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) settings: &'a Settings,
    pub(super) paths: &'a [Arc<str>],
    /// Safe ones alone, or all.
    pub(super) most: Safety,
    /// The findings of each file that stay as they are.
    pub(super) accepted: BTreeMap<Arc<str>, Vec<Known>>,
}

/// What the last round did to one file.
struct Step {
    path: Arc<str>,
    before: Arc<str>,
    /// The fixes that were known before not to help.
    useless: Vec<Known>,
    made: Made,
}

/// What the rounds did so far.
#[derive(Default)]
struct Steps {
    last: Vec<Step>,
    /// All files that were changed.
    touched: BTreeSet<Arc<str>>,
    /// The findings of each file that stay: accepted ones, and those that their fix does not remove.
    useless: BTreeMap<Arc<str>, Vec<Known>>,
}

impl Steps {
    /// Gives the files back the text that they had before fixes which did not help. `found` are
    /// the findings now, by path.
    fn taken_back(&mut self, found: &[(Arc<str>, Vec<Finding>)]) -> Vec<Change> {
        let mut changes = Vec::new();
        for step in self.last.drain(..) {
            let at = found.binary_search_by(|(path, _)| path.cmp(&step.path));
            let now = at.map_or(&[][..], |at| &found[at].1);
            let removed = step.made.removed.into_iter();
            let still = removed.filter(|removed| removed.is_still_among(now));
            let still: Vec<Known> = still.map(|removed| removed.finding).collect();
            if !still.is_empty() {
                let known = self.useless.entry(Arc::clone(&step.path)).or_default();
                *known = step.useless;
                known.extend(still);
                changes.push(opened(&step.path, step.before));
            }
        }
        changes
    }

    /// Leaves out the findings whose fix is known not to help.
    fn leave_out(&self, found: &mut [(Arc<str>, Vec<Finding>)]) {
        for (path, findings) in found {
            let known = self.useless.get(path).map_or(&[][..], Vec::as_slice);
            findings.retain(|finding| !known.iter().any(|known| known.is(finding)));
        }
    }

    /// Remembers a round, and gives what it changes.
    fn taken(&mut self, snapshot: &Snapshot, made: BTreeMap<Arc<str>, Made>) -> Vec<Change> {
        let mut changes = Vec::new();
        for (path, made) in made {
            let Some(file) = snapshot.file(&path) else {
                continue;
            };
            changes.push(opened(&path, made.text.as_str().into()));
            let known = self.useless.remove(&path).unwrap_or_default();
            let after = known.iter().cloned();
            let after = after.filter_map(|known| known.after(&made.edits)).collect();
            self.useless.insert(Arc::clone(&path), after);
            self.touched.insert(Arc::clone(&path));
            self.last.push(Step {
                path,
                before: Arc::clone(file.text()),
                useless: known,
                made,
            });
        }
        changes
    }
}

/// A file with another text.
fn opened(path: &Arc<str>, text: Arc<str>) -> Change {
    Change::Open {
        path: Arc::clone(path),
        text,
        version: 1,
    }
}

impl Fixing<'_> {
    /// Makes the fixes of the findings that are reported, over and over until nothing is left to
    /// fix. The workspace then holds the fixed texts.
    pub(super) fn run(self, is_reported: impl Fn(&Finding) -> bool) -> Vec<Fixed> {
        let original = self.workspace.snapshot();
        let mut steps = Steps {
            useless: self.accepted,
            ..Steps::default()
        };
        for _ in 0..MOST_ROUNDS {
            let snapshot = self.workspace.snapshot();
            let checker = Checker::with_settings(&snapshot, self.settings.clone());
            let found = self.paths.iter().filter_map(|path| {
                let mut findings = checker.file(path)?;
                findings.retain(&is_reported);
                Some((Arc::clone(path), findings))
            });
            let mut found: Vec<(Arc<str>, Vec<Finding>)> = found.collect();
            let mut changes = steps.taken_back(&found);
            if changes.is_empty() {
                steps.leave_out(&mut found);
                let made = fixes_together(&snapshot, &found, self.most);
                changes = steps.taken(&snapshot, made);
            }
            if changes.is_empty() {
                break;
            }
            self.workspace.apply(Change::Batch(changes));
        }
        let last = self.workspace.snapshot();
        let checkers = [&original, &last]
            .map(|snapshot| Checker::with_settings(snapshot, self.settings.clone()));
        let hidden = checkers.each_ref().map(Hidden::new);
        let fixed = steps.touched.into_iter().filter_map(|path| {
            let file = original.file(&path)?;
            // What is no text in UTF-8 could not be written back as it was.
            let bytes = file.bytes().ok()?;
            let is_text = *bytes == *file.text().as_bytes();
            let before = Arc::clone(file.text());
            let after = Arc::clone(last.file(&path)?.text());
            (is_text && before != after).then(|| Fixed {
                shown: [
                    hidden[0].shown(&path, &before).into_owned(),
                    hidden[1].shown(&path, &after).into_owned(),
                ],
                path,
                before,
                after,
            })
        });
        fixed.collect()
    }
}

impl Fixed {
    /// Writes the file, which must lie in a folder: links may lead out of it.
    ///
    /// # Errors
    /// Why it is not written, with its path.
    #[allow(
        clippy::disallowed_methods,
        reason = "cli/ writes what it was asked to"
    )]
    pub(super) fn write(&self, folder: &str) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {}", self.path, disk::failure(&error));
        let real = std::fs::canonicalize(&*self.path).map_err(failed)?;
        let folder = std::fs::canonicalize(folder).map_err(failed)?;
        if !real.starts_with(&folder) {
            let path = &self.path;
            return Err(format!(
                "{path}: not fixed: it is a link to {}",
                real.display()
            ));
        }
        std::fs::write(real, self.after.as_bytes()).map_err(failed)
    }

    /// Prints the change as a unified diff, secrets as stars. `shown` is the path as people know it.
    pub(super) fn print(&self, shown: &str) {
        let lines = self.shown.each_ref().map(String::as_str);
        let hunks = unified_diff_shown([&self.before, &self.after], lines);
        let diff = format!("--- {shown}\n+++ {shown}\n{hunks}");
        let diff = Layout::of_output().diff(&diff);
        let _ = write!(std::io::stdout().lock(), "{diff}");
    }

    /// The file.
    pub(super) fn path(&self) -> &str {
        &self.path
    }
}

#[cfg(test)]
#[path = "fix_tests.rs"]
mod tests;
