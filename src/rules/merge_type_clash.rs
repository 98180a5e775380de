//! `merge-type-clash`: values cannot be merged in the way that 'lookup_options' says.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::touched::{options_look_up, touched_answers};
use super::{Depends, Facts, FileContext, Findings, Hook, OptionAt, Rule, Severity};
use crate::analysis::quoted;
use crate::lookup::{Cause, LookupError, Request};
use crate::workspace::{LOOKUP_OPTIONS, Snapshot};

/// Most files with the key; a key of more is not looked up.
const MOST_FILES: usize = 64;

pub(super) const RULE: &Rule = &Rule {
    code: "merge-type-clash",
    severity: Severity::Error,
    summary: "values cannot be merged in the way that 'lookup_options' says",
    page: include_str!("../../docs/rules/merge-type-clash.md"),
    depends: Depends {
        on: Facts::VALUES.and(Facts::OPTIONS),
        files: files_with_entries,
    },
    hooks: &[Hook::Option(check)],
};

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let merge = at
        .options
        .as_ref()
        .and_then(|options| options.value.get("merge"));
    let strategy = merge.and_then(|merge| match merge.as_str() {
        Some(strategy) => Some(strategy),
        None => merge.get("strategy")?.as_str(),
    });
    let count = file.snapshot().count_with(at.name);
    if !matches!(strategy, Some("hash" | "unique")) || !(2..=MOST_FILES).contains(&count) {
        return;
    }
    for reader in file.readers() {
        let view = file.checker.analysis().at(reader.root.root);
        let Some(reach) = reader.reached.first() else {
            continue;
        };
        let request = Request::key(&quoted(at.name));
        let answer = view.session().lookup(&reach.scope(), &request);
        if let Err(error) = &answer.result
            && let Some(message) = clash(error)
        {
            findings.report(at.key, format!("{message}: Puppet fails on '{}'", at.name));
            return;
        }
    }
}

/// What Puppet says of values that do not fit the strategy.
fn clash(error: &LookupError) -> Option<String> {
    let cause = &error.innermost().cause;
    let is_clash = matches!(
        cause,
        Cause::WrongType { subject, .. } if subject.ends_with("element of the merge")
    );
    is_clash.then(|| cause.to_string().trim().to_owned())
}

/// The files with an entry for a key that may be answered with something else now.
pub(super) fn files_with_entries(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let mut touched = touched_answers(snapshot);
    for file in &snapshot.delta().files {
        touched.extend(file.keys().lookup_options.iter().cloned());
    }
    let all = snapshot.iter_files_with(LOOKUP_OPTIONS);
    let concerned = all.filter(|file| {
        let mut entries = file.facts().lookup_options.iter();
        options_look_up(snapshot) || entries.any(|entry| touched.contains(&entry.pattern))
    });
    concerned.map(|file| Arc::clone(file.path())).collect()
}
