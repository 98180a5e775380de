//! Applies fixes over a whole workspace in memory, then writes them or shows them as a diff.

use std::io::Write as _;
use std::sync::Arc;

use clap::Args;

use super::hidden::SecretRanges;
use crate::cli::terminal::Layout;
use crate::lookup::Settings;
use crate::rules::{AfterFixes, Checker, Safety};
use crate::text::unified_diff_shown;
use crate::workspace::{Change, Snapshot};

/// What is to be done about findings that have a fix.
#[derive(Args, Clone, Copy, Debug, Default)]
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
    /// The highest safety class of fixes to apply or show.
    pub(super) fn wanted(self) -> Option<Safety> {
        match (self.fix || self.diff, self.unsafe_fixes) {
            (false, _) => None,
            (true, false) => Some(Safety::Safe),
            (true, true) => Some(Safety::Unsafe),
        }
    }
}

/// A file changed by fixes.
pub(in crate::cli) struct Fixed {
    path: Arc<str>,
    before: Arc<str>,
    after: Arc<str>,
    /// Both texts, with secrets masked.
    shown: [String; 2],
}

/// The files that fixes changed; `before` is the workspace without the fixes.
pub(in crate::cli) fn fixed(
    before: &Snapshot,
    after: &AfterFixes,
    settings: &Settings,
) -> Vec<Fixed> {
    let checkers =
        [before, &after.snapshot].map(|one| Checker::with_settings(one, settings.clone()));
    let hidden = checkers.each_ref().map(SecretRanges::new);
    let fixed = after.touched.iter().filter_map(|path| {
        let file = before.file(path)?;
        // Files that are not UTF-8 are skipped: they could not be written back unchanged.
        let bytes = file.bytes().ok()?;
        let is_text = *bytes == *file.text().as_bytes();
        let before = Arc::clone(file.text());
        let after = Arc::clone(after.snapshot.file(path)?.text());
        (is_text && before != after).then(|| Fixed {
            shown: [
                hidden[0].shown(path, &before).into_owned(),
                hidden[1].shown(path, &after).into_owned(),
            ],
            path: Arc::clone(path),
            before,
            after,
        })
    });
    fixed.collect()
}

impl Fixed {
    /// The change that puts the fixed file into the workspace.
    pub(super) fn change(&self) -> Change {
        Change::open(Arc::clone(&self.path), Arc::clone(&self.after))
    }

    /// Prints the change as a unified diff, secrets as stars. `shown` is the path to print.
    pub(in crate::cli) fn print(&self, shown: &str) {
        let lines = self.shown.each_ref().map(String::as_str);
        let hunks = unified_diff_shown([&self.before, &self.after], lines);
        let diff = format!("--- {shown}\n+++ {shown}\n{hunks}");
        let diff = Layout::of_output().diff(&diff);
        let _ = write!(std::io::stdout().lock(), "{diff}");
    }

    pub(in crate::cli) fn path(&self) -> &str {
        &self.path
    }

    /// The path and the text after the fixes.
    pub(in crate::cli) fn written(&self) -> (&str, &str) {
        (&self.path, &self.after)
    }
}

#[cfg(test)]
#[path = "fix_tests.rs"]
mod tests;
