//! Variables in tokens: their names, the variables that Puppet sets, and their parts.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::recheck::paths;
use super::{FileContext, Findings, Fix, Safety, Severity, TokenAt};
use crate::analysis::{Touched, is_custom_fact};
use crate::scope::{CoreFact, core_fact};
use crate::text::{TextEdit, TextRange, typing_error};
use crate::workspace::{File, Snapshot};

/// Variables that Puppet sets itself, except facts (`puppet/parser/compiler.rb`, `puppet/node.rb`,
/// `puppet/parser/resource.rb`).
pub(super) const BUILT_IN: [&str; 22] = [
    "agent_specified_environment",
    "caller_module_name",
    "calling_class",
    "calling_class_path",
    "calling_module",
    "clientcert",
    "clientnoop",
    "clientversion",
    "environment",
    "facts",
    "module_name",
    "name",
    "pe_build",
    "pe_server_version",
    "server_facts",
    "serverip",
    "serverip6",
    "servername",
    "serverversion",
    "settings",
    "title",
    "trusted",
];

/// Parts of `$trusted` (`puppet/context/trusted_information.rb`).
const TRUSTED: [&str; 6] = [
    "authenticated",
    "certname",
    "domain",
    "extensions",
    "external",
    "hostname",
];

/// Parts of `$server_facts`.
const SERVER_FACTS: [&str; 5] = [
    "environment",
    "serverip",
    "serverip6",
    "servername",
    "serverversion",
];

/// The variable that a token names, with its range in the string.
pub(super) fn variable<'t>(at: &'t TokenAt<'_>) -> Option<(&'t str, TextRange)> {
    let range = at.token.variable()?;
    Some((range.slice(at.text), range))
}

/// The structured fact that replaces a legacy one, as it is written in a token.
pub(super) fn modern(fact: &str) -> Option<String> {
    match core_fact(fact) {
        CoreFact::Legacy(structured) => structured.map(|fact| format!("facts.{fact}")),
        CoreFact::Exists | CoreFact::NoSuchPart(_) | CoreFact::Custom(_) => None,
    }
}

/// A part of a variable that does not exist.
pub(super) struct MissingPart {
    /// The start of the message.
    pub(super) message: String,
    /// Whether a fact has the whole path as its name. Facts of nodes may have the part all the same.
    pub(super) is_dotted_name: bool,
    /// The suggested path.
    pub(super) suggestion: Option<String>,
}

/// The missing part in a path, for variables that have the same parts everywhere.
pub(super) fn missing_part(snapshot: &Snapshot, path: &str) -> Option<MissingPart> {
    let path = path.strip_prefix("::").unwrap_or(path);
    let (root, rest) = path.split_once('.')?;
    if rest.contains(['\'', '"']) {
        return None;
    }
    let of_list = |parts: &[&'static str]| {
        let (part, below) = rest.split_once('.').unwrap_or((rest, ""));
        if parts.contains(&part) {
            return None;
        }
        let below = match below {
            "" => String::new(),
            below => format!(".{below}"),
        };
        let suggestion = typing_error(part, parts.iter().copied());
        Some(MissingPart {
            message: format!("'{root}' has no '{part}'"),
            is_dotted_name: false,
            suggestion: suggestion.map(|suggestion| format!("{root}.{suggestion}{below}")),
        })
    };
    match root {
        "trusted" => of_list(&TRUSTED),
        "server_facts" => of_list(&SERVER_FACTS),
        "facts" => match core_fact(rest) {
            CoreFact::NoSuchPart(Some(suggestion)) => Some(MissingPart {
                message: format!("there is no fact '{rest}'"),
                is_dotted_name: false,
                suggestion: Some(format!("facts.{suggestion}")),
            }),
            CoreFact::Custom(near) => {
                let (name, below) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
                if is_custom_fact(snapshot, name) {
                    return None;
                }
                // Facter keeps the dot, and answers `facter a.b` as if it were a part.
                if !below.is_empty() && is_custom_fact(snapshot, rest) {
                    return Some(MissingPart {
                        message: format!(
                            "the fact '{rest}' has a dot in its name, so it is written facts.'{rest}'"
                        ),
                        is_dotted_name: true,
                        suggestion: None,
                    });
                }
                let added = snapshot.added_facts().map(|name| &**name);
                let suggestion = near.or_else(|| typing_error(name, added))?;
                Some(MissingPart {
                    message: format!("Facter has no fact '{rest}'"),
                    is_dotted_name: false,
                    suggestion: Some(format!("facts.{suggestion}{below}")),
                })
            }
            // A custom fact may add parts to a structured one.
            CoreFact::Exists | CoreFact::Legacy(_) | CoreFact::NoSuchPart(None) => None,
        },
        _ => None,
    }
}

impl FileContext<'_> {
    /// Whether a known node has a part that is reported otherwise.
    pub(super) fn some_node_has(&self, missing: &MissingPart, path: &str) -> bool {
        let mut environments = self.snapshot().roots().environments();
        missing.is_dotted_name
            && environments.any(|root| {
                let nodes = self.checker.known_nodes(root);
                nodes.is_some_and(|set| {
                    let column = set.known.column(&Arc::from(path));
                    column.values.iter().any(Option::is_some)
                })
            })
    }
}

/// Reports a missing part, given the ranges of the token and of the variable in it. `into`
/// completes "Puppet puts an empty string".
pub(super) fn report_missing(
    missing: &MissingPart,
    variable: &str,
    (token, place): (TextRange, TextRange),
    into: &str,
    findings: &mut Findings<'_>,
) {
    let message = format!("{}: Puppet puts an empty string {into}", missing.message);
    let Some(suggestion) = &missing.suggestion else {
        let severity = match missing.is_dotted_name {
            true => Severity::Warning,
            false => Severity::Hint,
        };
        findings.report_as(severity, token, message);
        return;
    };
    let finding = findings.report_as(Severity::Warning, token, message);
    finding.did_you_mean(suggestion);
    let prefix = if variable.starts_with("::") { "::" } else { "" };
    let edit = TextEdit::replace(place, format!("{prefix}{suggestion}"));
    let title = format!("Write '{suggestion}'");
    finding.fixes.push(Fix::new(Safety::Unsafe, title, edit));
}

/// The files with tokens of variables. O(files).
pub(super) fn files_with_variables(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
    let uses_any = |file: &&Arc<File>| file.facts().variables().next().is_some();
    paths(snapshot.files().filter(uses_any)).collect()
}

/// The same for a fact that only one version of a file adds.
pub(super) fn files_of_custom_facts(
    touched: &Touched<'_>,
    _: &BTreeSet<Arc<str>>,
) -> BTreeSet<Arc<str>> {
    if touched.custom_facts().is_empty() {
        return BTreeSet::new();
    }
    files_with_variables(touched.snapshot)
}
