//! `path-var-missing`: a path of a level names a fact or a part of one that does not exist.

use super::hiera_config::path_tokens;
use super::interp_missing_subkey::missing_part;
use super::{ConfigurationAt, Depends, FileContext, Findings, Fix, Hook, Rule, Safety, Severity};
use crate::text::TextEdit;

pub(super) const RULE: &Rule = &Rule {
    code: "path-var-missing",
    severity: Severity::Hint,
    summary: "a path of a level names a fact or a part of one that does not exist",
    page: include_str!("../../docs/rules/path-var-missing.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Configuration(check)],
};

fn check(file: &FileContext<'_>, _: &ConfigurationAt<'_>, findings: &mut Findings<'_>) {
    for token in path_tokens(file) {
        let Some(missing) = missing_part(&token.variable) else {
            continue;
        };
        let (severity, did_you_mean) = match &missing.meant {
            Some(meant) => (Severity::Warning, format!("; did you mean '{meant}'?")),
            None => (Severity::Hint, String::new()),
        };
        let message = format!(
            "{}: Puppet puts an empty string into the path, without a warning{did_you_mean}",
            missing.message
        );
        let finding = findings.report_as(severity, token.range, message);
        if let Some(meant) = missing.meant {
            let prefix = if token.variable.starts_with("::") {
                "::"
            } else {
                ""
            };
            let edit = TextEdit::replace(token.inner, format!("{prefix}{meant}"));
            let title = format!("Write '{meant}'");
            finding.fixes.push(Fix::new(Safety::Unsafe, title, edit));
        }
    }
}
