//! Fixes in rounds: a fix can make room for another one, and one that does not remove its finding is
//! taken back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::finding::{Finding, Safety};
use super::fixes::{Known, Made, fixes_together};
use crate::workspace::{Change, Snapshot};

/// Most rounds.
const MOST_ROUNDS: usize = 32;

/// The findings of files, by path.
pub type Found = Vec<(Arc<str>, Vec<Finding>)>;

/// Which fixes are to be made.
pub struct Fixing<'a> {
    /// The workspace before.
    pub snapshot: &'a Arc<Snapshot>,
    /// Safe ones alone, or all.
    pub most: Safety,
    /// The findings of each file that stay as they are.
    pub accepted: BTreeMap<Arc<str>, Vec<Known>>,
}

/// A workspace after fixes.
pub struct AfterFixes {
    /// The workspace with the new texts.
    pub snapshot: Arc<Snapshot>,
    /// The paths of the files that fixes were tried in; their text can be as it was.
    pub touched: BTreeSet<Arc<str>>,
}

impl Fixing<'_> {
    /// Makes the fixes of findings, over and over until nothing is left to fix. `find` gives the
    /// findings that may be fixed, ordered by path; it is called once a round.
    #[must_use]
    pub fn run(self, find: impl Fn(&Snapshot) -> Found) -> AfterFixes {
        let mut snapshot = Arc::clone(self.snapshot);
        let mut steps = Steps {
            useless: self.accepted,
            ..Steps::default()
        };
        for _ in 0..MOST_ROUNDS {
            let mut found = find(&snapshot);
            let mut changes = steps.taken_back(&found);
            if changes.is_empty() {
                steps.leave_out(&mut found);
                let made = fixes_together(&snapshot, &found, self.most);
                changes = steps.taken(&snapshot, made);
            }
            if changes.is_empty() {
                break;
            }
            snapshot = Arc::new(snapshot.with(Change::Batch(changes)));
        }
        AfterFixes {
            snapshot,
            touched: steps.touched,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Fix, Severity};
    use crate::text::{TextEdit, TextRange};
    use crate::workspace::Workspace;

    #[test]
    fn a_fix_that_does_not_help_is_taken_back_and_not_made_again() {
        let path: Arc<str> = "/repo/data/a.yaml".into();
        let snapshot = Workspace::new().apply(opened(&path, "a: 1\n".into()));
        let range = TextRange::new(3, 4);
        let mut finding = Finding::new("x", Severity::Hint, Arc::clone(&path), range, "");
        let edit = TextEdit::insert(4, "}");
        finding.fixes.push(Fix::new(Safety::Safe, "", edit));
        let mut found = vec![(Arc::clone(&path), vec![finding])];
        let mut steps = Steps::default();
        let made = fixes_together(&snapshot, &found, Safety::Safe);
        let texts = |changes: Vec<Change>| {
            let texts = changes.into_iter().filter_map(|change| {
                let Change::Open { text, .. } = change else {
                    return None;
                };
                Some(text.to_string())
            });
            texts.collect::<Vec<_>>()
        };
        assert_eq!(texts(steps.taken(&snapshot, made)), ["a: 1}\n"]);
        assert_eq!(texts(steps.taken_back(&found)), ["a: 1\n"]);
        steps.leave_out(&mut found);
        assert_eq!(found[0].1, []);
    }
}
