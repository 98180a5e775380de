//! `project-config`: a '.hiera-ls.yaml' holds a mistake.

use super::{Depends, FileContext, Findings, Fix, Hook, Rule, Safety, Severity, codes};
use crate::analysis::{Project, Spoils};
use crate::text::TextEdit;

pub(super) const RULE: &Rule = &Rule {
    code: "project-config",
    severity: Severity::Error,
    summary: "a '.hiera-ls.yaml' holds a mistake",
    page: include_str!("../../docs/rules/project-config.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Project(check)],
};

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let path = at.file.path();
    let (_, mistakes) = Project::read(path, at.file.text(), &codes());
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
