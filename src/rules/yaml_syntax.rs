//! `yaml-syntax`: a file is not YAML for Puppet, which refuses all of it.

use super::{Depends, FileContext, Findings, Hook, Rule, Severity};
use crate::syntax::ProblemKind;
use crate::value::LoadErrorKind;

pub(super) const RULE: &Rule = &Rule {
    code: "yaml-syntax",
    severity: Severity::Error,
    summary: "a file is not YAML for Puppet, which refuses all of it",
    page: include_str!("../../docs/rules/yaml-syntax.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::File(check)],
};

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let Some(error) = at.refusal() else { return };
    let range = at.place_of(error);
    let is_limit = at
        .parse()
        .error()
        .is_some_and(|problem| problem.kind == ProblemKind::Limit);
    match error.kind {
        LoadErrorKind::YamlSyntax | LoadErrorKind::YamlOther | LoadErrorKind::Io(_) if is_limit => {
            let message = format!("{}: the file is not checked", error.message);
            findings.report_as(Severity::Warning, range, message);
        }
        LoadErrorKind::YamlSyntax | LoadErrorKind::YamlOther => {
            let message = format!("Puppet refuses the whole file: {}", error.message);
            findings.report(range, message);
        }
        LoadErrorKind::YamlDisallowedClass
        | LoadErrorKind::YamlDate
        | LoadErrorKind::YamlUnknownAlias
        | LoadErrorKind::Json
        | LoadErrorKind::Hocon
        | LoadErrorKind::HoconEnvironment
        | LoadErrorKind::Io(_) => {}
    }
}
