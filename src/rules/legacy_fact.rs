//! `legacy-fact`: a legacy fact is used, which agents of Puppet 8 do not send.

use super::config_text::path_tokens;
use super::variables::variable;
use super::{ConfigurationAt, FileContext, Findings, Fix, Safety, TokenAt};
use crate::lookup::PuppetVersion;
use crate::scope::{CoreFact, core_fact};
use crate::text::{TextEdit, TextRange};

rule!(
    "legacy-fact",
    Information,
    [Token(check), Configuration(check_paths)]
);

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    let Some((path, place)) = variable(at) else {
        return;
    };
    if let Some(legacy) = legacy(path) {
        let range = file.places(at.node).source_range(place);
        report(file, &legacy, (at.range, range), findings);
    }
}

fn check_paths(file: &FileContext<'_>, _: &ConfigurationAt<'_>, findings: &mut Findings<'_>) {
    for token in path_tokens(file) {
        if let Some(legacy) = legacy(&token.variable) {
            report(file, &legacy, (token.range, token.inner), findings);
        }
    }
}

/// A variable that is a legacy fact.
struct Legacy<'t> {
    name: &'t str,
    /// Whether the name can only mean the fact.
    is_top: bool,
    /// The structured fact that replaces it.
    structured: Option<&'static str>,
}

fn legacy(path: &str) -> Option<Legacy<'_>> {
    let top = path.strip_prefix("::");
    let top = top.or_else(|| path.strip_prefix("facts."));
    let name = top.unwrap_or(path);
    match core_fact(name) {
        CoreFact::Legacy(structured) => Some(Legacy {
            name,
            is_top: top.is_some(),
            structured,
        }),
        CoreFact::Exists | CoreFact::NoSuchPart(_) | CoreFact::Custom(_) => None,
    }
}

/// Reports a legacy fact, given the ranges of its token and its name.
fn report(
    file: &FileContext<'_>,
    legacy: &Legacy<'_>,
    (range, name_range): (TextRange, TextRange),
    findings: &mut Findings<'_>,
) {
    let Legacy {
        name,
        is_top,
        structured,
    } = *legacy;
    let effect = match file.settings().puppet_version {
        PuppetVersion::V8 => "agents of Puppet 8 do not send it unless they are told to",
        PuppetVersion::V7 => "Puppet 8 does not have it by default",
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
