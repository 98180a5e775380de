//! `project-config`: a '.hiera-ls.yaml' holds a mistake.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Depends, Facts, FileContext, Findings, Fix, Hook, Rule, Safety, Severity, codes};
use crate::analysis::{PROJECT_FILE, Project, Spoils};
use crate::text::{TextEdit, TextRange};
use crate::workspace::{FileKind, Files as _, Snapshot, path};

pub(super) const RULE: &Rule = &Rule {
    code: "project-config",
    severity: Severity::Error,
    summary: "a '.hiera-ls.yaml' holds a mistake",
    page: include_str!("../../docs/rules/project-config.md"),
    depends: Depends {
        on: Facts::FILES,
        files: configurations,
    },
    hooks: &[Hook::Project(check)],
};

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let path = at.file.path();
    let (project, mistakes) = Project::read(path, at.file.text(), &codes());
    let named = project.nodes_files.iter().chain(&project.facts_file);
    for missing in named.filter(|named| is_missing(at.snapshot(), &named.0)) {
        let folder = path::parent(path).unwrap_or_default();
        let name = path::within(&missing.0, folder).unwrap_or(&missing.0);
        let Some(start) = at.file.text().find(name) else {
            continue;
        };
        let range = TextRange::new(start, start + name.len());
        let message = format!("'{name}' is not there");
        findings.report_as(Severity::Warning, range, message);
    }
    for mistake in mistakes {
        let severity = match mistake.spoils {
            Spoils::Entry => Severity::Warning,
            Spoils::Setting | Spoils::File => Severity::Error,
        };
        let finding = findings.report_as(severity, mistake.range, mistake.message);
        if let Some(meant) = mistake.meant {
            let title = format!("Replace by '{meant}'");
            let edit = TextEdit::replace(mistake.range, meant);
            finding.fixes.push(Fix::new(Safety::Safe, title, edit));
        }
    }
}

/// The configurations of the workspace.
fn configurations(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let folders = snapshot.areas().iter();
    let files = folders.map(|folder| Arc::from(path::join(folder, PROJECT_FILE)));
    files
        .filter(|at: &Arc<str>| snapshot.file(at).is_some())
        .collect()
}

/// Whether a file is certainly not there: folders that are not entered may hold any.
fn is_missing(snapshot: &Snapshot, at: &str) -> bool {
    let is_known = matches!(path::extension(at), Some("yaml" | "yml" | "json"));
    let folder = path::parent(at).and_then(|folder| snapshot.kind(folder));
    is_known && folder == Some(FileKind::Directory) && snapshot.kind(at).is_none()
}
