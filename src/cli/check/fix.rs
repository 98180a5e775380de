//! Fixes of findings over a whole workspace: made in memory, then written or shown as a diff.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;

use clap::Args;

use super::hidden::Hidden;
use crate::disk;
use crate::lookup::Settings;
use crate::rules::{Checker, Finding, Safety, edits_together};
use crate::text::{TextEdit, unified_diff_shown};
use crate::workspace::{Change, Workspace};

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

/// Most rounds: a fix can make place for another, or be what another waits for.
const MOST_ROUNDS: usize = 8;

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
}

impl Fixing<'_> {
    /// Makes the fixes of the findings that are reported, over and over until nothing is left to
    /// fix. The workspace then holds the fixed texts.
    pub(super) fn run(&self, is_reported: impl Fn(&Finding) -> bool) -> Vec<Fixed> {
        let original = self.workspace.snapshot();
        let mut touched: BTreeSet<&Arc<str>> = BTreeSet::new();
        for _ in 0..MOST_ROUNDS {
            let snapshot = self.workspace.snapshot();
            let checker = Checker::with_settings(&snapshot, self.settings.clone());
            let fixed = |path: &Arc<str>| {
                let text = snapshot.file(path)?.text();
                let mut findings = checker.file(path)?;
                findings.retain(&is_reported);
                let fixed = TextEdit::apply(&edits_together(&findings, self.most), text)?;
                (fixed != **text).then_some(fixed)
            };
            let mut changes = Vec::new();
            for path in self.paths {
                if let Some(text) = fixed(path) {
                    touched.insert(path);
                    changes.push(Change::Open {
                        path: Arc::clone(path),
                        text: text.into(),
                        version: 1,
                    });
                }
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
        let fixed = touched.into_iter().filter_map(|path| {
            let file = original.file(path)?;
            // What is no text in UTF-8 could not be written back as it was.
            let bytes = file.bytes().ok()?;
            let is_text = *bytes == *file.text().as_bytes();
            let before = Arc::clone(file.text());
            let after = Arc::clone(last.file(path)?.text());
            (is_text && before != after).then(|| Fixed {
                path: Arc::clone(path),
                shown: [
                    hidden[0].shown(path, &before).into_owned(),
                    hidden[1].shown(path, &after).into_owned(),
                ],
                before,
                after,
            })
        });
        fixed.collect()
    }
}

impl Fixed {
    /// Writes the file.
    ///
    /// # Errors
    /// Why it cannot be written, with its path.
    #[allow(
        clippy::disallowed_methods,
        reason = "cli/ writes what it was asked to"
    )]
    pub(super) fn write(&self) -> Result<(), String> {
        let written = std::fs::write(&*self.path, self.after.as_bytes());
        written.map_err(|error| format!("{}: {}", self.path, disk::failure(&error)))
    }

    /// Prints the change as a unified diff, secrets as stars. `shown` is the path as people know it.
    pub(super) fn print(&self, shown: &str) {
        let lines = self.shown.each_ref().map(String::as_str);
        let hunks = unified_diff_shown([&self.before, &self.after], lines);
        let _ = write!(
            std::io::stdout().lock(),
            "--- {shown}\n+++ {shown}\n{hunks}"
        );
    }

    /// The file.
    pub(super) fn path(&self) -> &str {
        &self.path
    }
}
