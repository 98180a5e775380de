//! `path-var-missing`: a path of a level has an unknown fact, an unknown part of a fact, or an invalid token.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::config_level::levels;
use super::config_text::ConfigTextAt;
use super::context::entry;
use super::variables::{BUILT_IN, MissingPart, missing_part, modern, report_missing};
use super::{FileContext, Findings, Fix, RootContext, Safety, Severity};
use crate::analysis::{Touched, is_custom_fact};
use crate::interpolation::{TokenKind, tokens};
use crate::lookup::PuppetVersion;
use crate::scope::{CoreFact, NOT_IN_PLANS, core_fact, top_name};
use crate::syntax::puppet::is_parameter;
use crate::text::{TextRange, typing_error};
use crate::workspace::Snapshot;

rule!(
    "path-var-missing",
    Hint,
    [ConfigText(check), Configuration(check_mapped_paths)],
    WORKSPACE,
    files: concerned,
    files_of_nodes: configurations,
);

fn concerned(touched: &Touched<'_>, _: &BTreeSet<Arc<str>>) -> BTreeSet<Arc<str>> {
    if touched.custom_facts().is_empty() {
        return BTreeSet::new();
    }
    configurations(touched.snapshot)
}

fn configurations(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let roots = snapshot.roots().iter();
    roots.filter_map(|root| root.hiera_yaml.clone()).collect()
}

fn check(file: &FileContext<'_>, at: &ConfigTextAt<'_>, findings: &mut Findings<'_>) {
    if at.version != 5 {
        return;
    }
    report_odd_tokens(at, findings);
    if at.is_of_plans {
        report_in_plans(file, at, findings);
        return;
    }
    for (variable, places) in at.variables() {
        let missing = missing_part(file.snapshot(), variable);
        let missing = missing.or_else(|| misspelt_name(file, variable));
        if let Some(missing) = missing.filter(|it| !file.some_node_has(it, variable)) {
            let into = "into the path, without a warning";
            report_missing(&missing, variable, places, into, findings);
        }
    }
}

/// Reports variables in the hierarchy for plans that no plan has.
fn report_in_plans(file: &FileContext<'_>, at: &ConfigTextAt<'_>, findings: &mut Findings<'_>) {
    // `HieraConfig#configured_data_providers` of Puppet 8 only warns.
    let (severity, effect) = match file.settings().puppet_version {
        PuppetVersion::V7 => (Severity::Error, "every lookup in a plan fails"),
        PuppetVersion::V8 | PuppetVersion::V9 => {
            (Severity::Warning, "the path has an empty string there")
        }
    };
    for (variable, (token, _)) in at.variables() {
        let name = top_name(variable.strip_prefix("::").unwrap_or(variable));
        if NOT_IN_PLANS.contains(&name) {
            let message = format!("plans have no '{name}' outside of apply blocks: {effect}");
            findings.report_as(severity, token, message);
        }
    }
}

/// A known name for a top-scope variable that nothing sets, if they differ by a letter.
fn misspelt_name(file: &FileContext<'_>, path: &str) -> Option<MissingPart> {
    let name = path.strip_prefix("::").unwrap_or(path);
    if !is_parameter(name)
        || BUILT_IN.contains(&name)
        || file.checker.site_variables().contains(name)
        || is_custom_fact(file.snapshot(), name)
    {
        return None;
    }
    let near_fact = match core_fact(name) {
        CoreFact::Exists | CoreFact::Legacy(_) | CoreFact::NoSuchPart(_) => return None,
        CoreFact::Custom(suggestion) => suggestion,
    };
    let added = file.snapshot().added_facts().map(|name| &**name);
    let suggestion = typing_error(name, BUILT_IN.into_iter().chain(added)).or(near_fact)?;
    Some(MissingPart {
        message: format!("neither Puppet nor Facter sets '{name}'"),
        is_dotted_name: false,
        suggestion: modern(suggestion).or_else(|| Some(suggestion.to_owned())),
    })
}

/// Reports `mapped_paths` with a path that does not use the variable of the elements.
fn check_mapped_paths(file: &FileContext<'_>, _: &RootContext<'_>, findings: &mut Findings<'_>) {
    let tree = file.tree();
    for level in levels(file) {
        let list = entry(tree, level.node, "mapped_paths").map(|(_, list)| tree.resolve(list));
        let list = list.and_then(|list| tree.node(list).as_sequence());
        let Some([variable, name, path]) = list else {
            continue;
        };
        let texts = (
            tree.scalar_text(*variable),
            tree.scalar_text(*name),
            tree.scalar_text(*path),
        );
        let (Some(variable), Some(name), Some(text)) = texts else {
            continue;
        };
        // Other tokens in paths are reported separately.
        let may_use = tokens(text).iter().any(|token| {
            let inner = token.inner.slice(text).trim();
            let inner = inner.strip_prefix("::").unwrap_or(inner);
            !matches!(token.kind, TokenKind::Variable { .. })
                || inner.split('.').next() == Some(&**name)
        });
        if !may_use {
            findings.report_as(
                Severity::Warning,
                tree.node(*path).range,
                format!(
                    "the path does not use '%{{{name}}}': Puppet reads the same file for each element of '{variable}'"
                ),
            );
        }
    }
}

/// Reports `%{` without an end and variables in the syntax of Puppet code: Puppet leaves both in the path.
fn report_odd_tokens(at: &ConfigTextAt<'_>, findings: &mut Findings<'_>) {
    for token in &at.tokens {
        if token.kind == TokenKind::Unclosed {
            findings.report_as(
                Severity::Warning,
                at.places.source_range(token.range),
                "'%{' has no '}': Puppet leaves it in the path as it is; close it",
            );
        }
    }
    for (start, _) in at.text.match_indices("${") {
        let Some((inside, _)) = at.text[start + 2..].split_once('}') else {
            continue;
        };
        let variable = inside.strip_prefix("::").unwrap_or(inside);
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':');
        if variable.is_empty() || !variable.bytes().all(fits) {
            continue;
        }
        let range = at
            .places
            .source_range(TextRange::new(start, start + 2 + inside.len() + 1));
        let finding = findings.report_as(
            Severity::Warning,
            range,
            format!(
                "'${{{inside}}}' stays in the path as it is: in paths variables are written \
                 '%{{{variable}}}'"
            ),
        );
        let token = format!("%{{{variable}}}");
        finding
            .fixes
            .push(Fix::write(Safety::Unsafe, range, &token));
    }
}
