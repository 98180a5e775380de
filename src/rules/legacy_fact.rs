//! `legacy-fact`: a legacy fact is used, which agents of Puppet 8 do not send.

use super::hiera_config::path_tokens;
use super::interp_missing_subkey::variable;
use super::{
    ConfigurationAt, Depends, FileContext, Findings, Fix, Hook, Rule, Safety, Severity, TokenAt,
};
use crate::lookup::PuppetVersion;
use crate::scope::{CoreFact, core_fact};
use crate::text::{TextEdit, TextRange};

pub(super) const RULE: &Rule = &Rule {
    code: "legacy-fact",
    severity: Severity::Information,
    summary: "a legacy fact is used, which agents of Puppet 8 do not send",
    page: include_str!("../../docs/rules/legacy-fact.md"),
    depends: Depends::OWN_FILE,
    hooks: &[Hook::Token(check), Hook::Configuration(check_paths)],
};

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    let Some((path, place)) = variable(at) else {
        return;
    };
    let range = file.places(at.node).source_range(place);
    report(file, path, (at.range, range), findings);
}

fn check_paths(file: &FileContext<'_>, _: &ConfigurationAt<'_>, findings: &mut Findings<'_>) {
    for token in path_tokens(file) {
        report(file, &token.variable, (token.range, token.inner), findings);
    }
}

/// Reports a variable that is a legacy fact: where its token stands, and where its name does.
fn report(
    file: &FileContext<'_>,
    path: &str,
    (range, name_range): (TextRange, TextRange),
    findings: &mut Findings<'_>,
) {
    let (name, is_top) = match path
        .strip_prefix("::")
        .or_else(|| path.strip_prefix("facts."))
    {
        Some(name) => (name, true),
        None => (path, false),
    };
    let CoreFact::Legacy(structured) = core_fact(name) else {
        return;
    };
    let effect = match file.settings().puppet_version {
        PuppetVersion::V8 => "agents of Puppet 8 do not send it unless they are told to",
        PuppetVersion::V7 => "Puppet 8 does not have it as a rule",
    };
    let instead = match structured {
        Some(structured) => format!("; use facts.{structured}"),
        None => String::new(),
    };
    let finding = findings.report(
        range,
        format!("'{name}' is a legacy fact: {effect}{instead}"),
    );
    if let Some(structured) = structured {
        // Without `::` a class or an ENC may have set it.
        let safety = if is_top { Safety::Safe } else { Safety::Unsafe };
        let title = format!("Use 'facts.{structured}'");
        let edit = TextEdit::replace(name_range, format!("facts.{structured}"));
        finding.fixes.push(Fix::new(safety, title, edit));
    }
}
