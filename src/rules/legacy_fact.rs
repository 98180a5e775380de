//! `legacy-fact`: a legacy fact is used, which agents of Puppet 8 do not send.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::checker::lock;
use super::config_text::ConfigTextAt;
use super::recheck::paths;
use super::variables::variable;
use super::{FileContext, Findings, Fix, Safety, TokenAt};
use crate::analysis::{Touched, is_custom_fact};
use crate::lookup::PuppetVersion;
use crate::scope::{CoreFact, core_fact};
use crate::syntax::puppet::without_colons;
use crate::text::{TextEdit, TextRange};

mod code;

rule!(
    "legacy-fact",
    Information,
    [Token(check), ConfigText(check_path), Code(code::check)],
    WORKSPACE,
    files: concerned,
);

/// All files, if only one version of a file adds a fact, or sets a variable, with the name of a legacy one.
fn concerned(touched: &Touched<'_>, _: &BTreeSet<Arc<str>>) -> BTreeSet<Arc<str>> {
    let (added, set) = (touched.custom_facts(), touched.variables());
    if added
        .iter()
        .chain(&set)
        .any(|name| matches!(core_fact(name), CoreFact::Legacy(_)))
    {
        paths(touched.snapshot.files()).collect()
    } else {
        BTreeSet::new()
    }
}

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    let Some((path, place)) = variable(at).filter(|_| !file.is_for_plans()) else {
        return;
    };
    let range = || file.places(at.node).source_range(place);
    report(file, path, at.range, range, findings);
}

fn check_path(file: &FileContext<'_>, at: &ConfigTextAt<'_>, findings: &mut Findings<'_>) {
    if at.version != 5 || at.is_of_plans {
        return;
    }
    for (path, (token, place)) in at.variables() {
        report(file, path, token, || place, findings);
    }
}

/// Reports a variable that is a legacy fact, given the ranges of its token and its name.
fn report(
    file: &FileContext<'_>,
    path: &str,
    token: TextRange,
    name_range: impl FnOnce() -> TextRange,
    findings: &mut Findings<'_>,
) {
    // Such a name can only mean the fact.
    let top = path.strip_prefix("::");
    let top = top.or_else(|| path.strip_prefix("facts."));
    let name = top.unwrap_or(path);
    let CoreFact::Legacy(structured) = core_fact(name) else {
        return;
    };
    // Agents send custom facts whatever their names, and manifests may set such a variable themselves.
    let is_set = || !path.starts_with("facts.") && file.checker.top_variables().contains(name);
    if is_custom_fact(file.snapshot(), name) || is_set() {
        return;
    }
    let effect = effect(file);
    let instead = match structured {
        Some(structured) => format!("; use facts.{structured}"),
        None => String::new(),
    };
    let finding = findings.report(
        token,
        format!("'{name}' is a legacy fact: {effect}{instead}"),
    );
    finding.matters_later();
    if let Some(structured) = structured {
        // Without `::` a class or an ENC may have set it.
        let safety = match top {
            Some(_) if !differs_for_nodes(file, path, structured) => Safety::Safe,
            Some(_) | None => Safety::Unsafe,
        };
        let title = format!("Use 'facts.{structured}'");
        let edit = TextEdit::replace(name_range(), format!("facts.{structured}"));
        finding.fixes.push(Fix::new(safety, title, edit));
    }
}

/// Whether a known node has another value in a variable than in the structured fact, such as a domain that a module or
/// a classifier sets, or only in the variable. O(nodes) once for each variable.
fn differs_for_nodes(file: &FileContext<'_>, variable: &str, structured: &str) -> bool {
    let known = || lock(&file.checker.differing_facts);
    let variable = without_colons(variable);
    if let Some(differs) = known().get(variable) {
        return *differs;
    }
    let differs = differs_for_some(file, variable, structured);
    known().insert(Arc::from(variable), differs);
    differs
}

fn differs_for_some(file: &FileContext<'_>, variable: &str, structured: &str) -> bool {
    let mut environments = file.snapshot().roots().environments();
    environments.any(|root| {
        let Some(set) = file.checker.known_nodes(root) else {
            return false;
        };
        let paths = [
            Arc::from(variable),
            Arc::from(format!("facts.{structured}")),
        ];
        let columns = set.known.columns(paths.iter());
        let [legacy, own] = &columns[..] else {
            return false;
        };
        (0..set.known.len()).any(|node| {
            let legacy = legacy.value(node);
            legacy.is_some_and(|legacy| {
                own.value(node)
                    .is_none_or(|own| own.to_s() != legacy.to_s())
            })
        })
    })
}

/// What becomes of a legacy fact.
fn effect(file: &FileContext<'_>) -> &'static str {
    match file.settings().puppet_version {
        PuppetVersion::V8 | PuppetVersion::V9 => {
            "agents of Puppet 8 do not send it unless configured to"
        }
        PuppetVersion::V7 => "Puppet 8 does not have it by default",
    }
}
