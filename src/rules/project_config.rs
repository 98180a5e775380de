//! `project-config`: a '.hiera-ls.yaml' has a mistake.

use super::{FileContext, Findings, Fix, Safety, Severity, codes};
use crate::analysis::{Project, RootEntry, Spoils};
use crate::text::{TextEdit, TextRange};
use crate::workspace::{File, FileKind, Files as _, HIERA_YAML, Snapshot, path};

rule!("project-config", Error, [Project(check)], WORKSPACE);

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let path = at.file.path();
    let (project, mistakes) = Project::read(path, at.file.text(), &codes());
    let folder = path::parent(path).unwrap_or_default();
    for (named, lacks) in missing(&project, at.snapshot()) {
        let name = path::within(&named, folder).unwrap_or(&named);
        let Some(start) = at.file.text().find(name) else {
            continue;
        };
        let range = TextRange::new(start, start + name.len());
        let message = match lacks {
            Lacks::Itself => format!("'{name}' does not exist"),
            Lacks::Configuration => format!("'{name}' has no {HIERA_YAML}"),
            Lacks::Levels => format!("'{name}' is not a Hiera configuration"),
        };
        findings.report_as(Severity::Warning, range, message);
    }
    for mistake in mistakes {
        let severity = match mistake.spoils {
            Spoils::Entry => Severity::Warning,
            Spoils::Setting | Spoils::File => Severity::Error,
        };
        let finding = findings.report_as(severity, mistake.range, mistake.message);
        if let Some(suggestion) = mistake.suggestion {
            let title = format!("Replace with '{suggestion}'");
            let edit = TextEdit::replace(mistake.range, &*suggestion);
            let fix = Fix::new(Safety::Safe, title, edit);
            finding.fixes.push(fix.renaming(mistake.range, suggestion));
        }
    }
}

/// What is missing at a path.
enum Lacks {
    /// The path itself.
    Itself,
    /// A `hiera.yaml` in the folder.
    Configuration,
    /// Levels in the file.
    Levels,
}

/// The paths in a project's configuration that are certainly wrong, and what is missing there.
fn missing(project: &Project, snapshot: &Snapshot) -> Vec<(String, Lacks)> {
    let files = project.nodes_files.iter().chain(&project.facts_file);
    let folders = project.path_map.values();
    let named = files.chain(folders).map(|path| path.0.clone());
    let mut all: Vec<(String, Lacks)> = named.map(|path| (path, Lacks::Itself)).collect();
    for root in &project.roots {
        let chosen = root.chosen();
        all.extend(chosen.dir.map(|dir| (dir.to_string(), Lacks::Itself)));
        let at = &*chosen.hiera_yaml;
        // A folder stands for the configuration in it.
        let folder = path::parent(at).filter(|folder| {
            matches!(root, RootEntry::Place(place) if path::normalise(&place.0) == *folder)
        });
        match folder {
            Some(folder) if is_missing(snapshot, at) && !is_missing(snapshot, folder) => {
                all.push((folder.to_owned(), Lacks::Configuration));
            }
            Some(_) => {}
            None if snapshot.file(at).is_some_and(|file| is_data(file)) => {
                all.push((at.to_owned(), Lacks::Levels));
            }
            None => all.push((at.to_owned(), Lacks::Itself)),
        }
    }
    let is_wrong = |(at, lacks): &(String, Lacks)| match lacks {
        Lacks::Itself => is_missing(snapshot, at),
        Lacks::Configuration | Lacks::Levels => true,
    };
    all.retain(is_wrong);
    all
}

/// Whether a file that should be a configuration has no part of one.
fn is_data(file: &File) -> bool {
    let facts = file.facts();
    facts.config.is_none() && facts.error.is_none() && facts.key("hierarchy").is_none()
}

/// Whether a path certainly does not exist. Files with other extensions are not listed, and the
/// content of skipped folders is unknown.
fn is_missing(snapshot: &Snapshot, at: &str) -> bool {
    let is_listed = matches!(
        path::extension(at),
        None | Some("yaml" | "yml" | "json" | "erb" | "epp")
    );
    let mut above = std::iter::successors(path::parent(at), |folder| path::parent(folder));
    let above = above.find_map(|folder| snapshot.kind(folder));
    is_listed && above == Some(FileKind::Directory) && snapshot.kind(at).is_none()
}
