//! `undefined-variable`: a token names a variable that neither Puppet nor Facter sets.
//!
//! An ENC or custom facts of modules elsewhere may set it, so this is a hint, unless the name differs
//! from a known one by one letter. Variables of other classes, those that a site manifest sets, and facts
//! that modules here add are not reported. With known nodes, what they have counts.

mod for_nodes;
mod own_class;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::parameters::files_of_parameters;
use super::recheck::paths;
use super::variables::{BUILT_IN, files_with_variables, modern, variable};
use super::{FileContext, Findings, Safety, Severity, TokenAt};
use crate::analysis::{Touched, is_custom_fact};
use crate::lookup::PuppetVersion;
use crate::scope::{CoreFact, NOT_IN_PLANS, core_fact, top_name};
use crate::syntax::puppet::is_parameter;
use crate::text::typing_error;
use crate::workspace::File;

rule!(
    "undefined-variable",
    Hint,
    [Token(check), File(for_nodes::check), File(own_class::check)],
    WORKSPACE,
    files: concerned,
    files_of_nodes: files_with_variables,
);

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    let Some((path, place)) = variable(at) else {
        return;
    };
    let path = path.strip_prefix("::").unwrap_or(path);
    if file.is_for_plans() {
        report_in_plans(path, at, findings);
        return;
    }
    if let Some(suggestion) = as_in_code(path) {
        let message = format!("nothing sets a variable '{path}': {}", effect(file));
        let place = file.places(at.node).source_range(place);
        let finding = findings.report_as(Severity::Warning, at.range, message);
        finding.matters_later();
        finding.suggest(Safety::Unsafe, place, &suggestion);
        return;
    }
    let (name, parts) = path.split_at(path.find('.').unwrap_or(path.len()));
    if !is_parameter(name) || BUILT_IN.contains(&name) {
        return;
    }
    let known = file.checker.path_variables();
    let snapshot = file.snapshot();
    if known.contains(name)
        || file.checker.site_variables().contains(name)
        || is_custom_fact(snapshot, name)
    {
        return;
    }
    let near_fact = match core_fact(name) {
        CoreFact::Exists | CoreFact::Legacy(_) => return,
        CoreFact::Custom(suggestion) | CoreFact::NoSuchPart(suggestion) => suggestion,
    };
    let set = known.iter().chain(file.checker.site_variables());
    let set = set.chain(snapshot.added_facts());
    let others = BUILT_IN.into_iter().chain(set.map(|name| &**name));
    let suggestion = typing_error(name, others).or(near_fact);
    let message = format!(
        "neither Puppet nor Facter sets '{name}': {} where no ENC, manifest or custom fact does",
        effect(file)
    );
    let finding = findings.report(at.range, message);
    finding.matters_later();
    let Some(suggestion) = suggestion else { return };
    let suggestion = modern(suggestion).unwrap_or_else(|| format!("{suggestion}{parts}"));
    finding.severity = Severity::Warning;
    let place = file.places(at.node).source_range(place);
    finding.suggest(Safety::Unsafe, place, &suggestion);
}

/// Reports a variable in data that only plans of Bolt look up outside of apply blocks, where no node is
/// known; a plan may have variables of its own.
fn report_in_plans(path: &str, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    let name = top_name(path);
    if NOT_IN_PLANS.contains(&name) || name.starts_with("settings::") {
        let message = format!(
            "plans have no '{name}' outside of apply blocks: a lookup of this key fails in every plan"
        );
        findings.report_as(Severity::Error, at.range, message);
    } else if name == "module_name" {
        // It always has a value.
    } else if BUILT_IN.contains(&name) || !matches!(core_fact(name), CoreFact::Custom(_)) {
        let message = format!(
            "plans have no facts outside of apply blocks: a lookup of this key fails where the plan \
             has no variable '{name}'"
        );
        findings.report(at.range, message);
    }
}

/// What Puppet does with an undefined variable, for messages.
fn effect(file: &FileContext<'_>) -> &'static str {
    match file.settings().puppet_version {
        PuppetVersion::V8 | PuppetVersion::V9 => "Puppet fails on this key",
        PuppetVersion::V7 => "Puppet puts an empty string there",
    }
}

/// The path of a fact that is written as in Puppet code: `facts.os.name` for `facts[os][name]` and
/// for `$facts.os.name`.
fn as_in_code(path: &str) -> Option<String> {
    let name = path.strip_prefix('$').unwrap_or(path);
    let end = name.find(['[', '.'])?;
    let (hash, mut rest) = name.split_at(end);
    if !["facts", "trusted", "server_facts"].contains(&hash) {
        return None;
    }
    let mut written = hash.to_owned();
    while let Some(inside) = rest.strip_prefix('[') {
        let (part, behind) = inside.split_once(']')?;
        let part = part.trim_matches(['\'', '"']);
        if !is_parameter(part) && !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        written = format!("{written}.{part}");
        rest = behind;
    }
    let is_rest = rest.is_empty() || rest.starts_with('.') && !rest.contains(['[', '$']);
    written.push_str(rest);
    (is_rest && written != path).then_some(written)
}

/// The files with tokens of a variable that only one version of a changed manifest sets. All files
/// with variables for a fact that only one version of a file adds: names elsewhere may be misspelt.
/// O(tokens) if there is one. Those with parameters of classes that change.
fn concerned(touched: &Touched<'_>, keys: &BTreeSet<Arc<str>>) -> BTreeSet<Arc<str>> {
    let mut files = uses_of_changed(touched);
    files.extend(files_of_parameters(touched, keys));
    files
}

fn uses_of_changed(touched: &Touched<'_>) -> BTreeSet<Arc<str>> {
    if !touched.custom_facts().is_empty() {
        return files_with_variables(touched.snapshot);
    }
    let changed = touched.variables();
    let uses_one = |file: &&Arc<File>| {
        let mut used = file.facts().variables();
        used.any(|used| changed.contains(top_name(&used.name)))
    };
    let files = touched.snapshot.files().filter(|_| !changed.is_empty());
    paths(files.filter(uses_one)).collect()
}
