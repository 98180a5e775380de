//! Variables of tokens: facts of the known nodes, trusted data, and what the workspace uses already.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Item, ItemKind, Question, fit};
use crate::hierarchy::locate;
use crate::ide::hover::Described;
use crate::ide::named;
use crate::interpolation::{TokenKind, tokens};
use crate::scope::Variable;
use crate::syntax::ScalarMap;
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::Format;

/// Known nodes whose facts are listed: all of a fleet have nearly the same.
const MOST_NODES: usize = 4;

/// How deep facts are listed below a fact.
const DEEPEST: usize = 6;

/// Most variables that are found.
const MOST_FOUND: usize = 2_000;

/// Values that are named beside a fact.
const MOST_VALUES: usize = 3;

/// Widest of them, in characters.
const WIDEST: usize = 24;

/// Facts that every node has (Facter's core facts), and trusted data: for workspaces without known
/// nodes.
const ALWAYS: [&str; 34] = [
    "environment",
    "facts.architecture",
    "facts.is_virtual",
    "facts.kernel",
    "facts.kernelrelease",
    "facts.kernelversion",
    "facts.memory.system.total_bytes",
    "facts.networking.domain",
    "facts.networking.fqdn",
    "facts.networking.hostname",
    "facts.networking.interfaces",
    "facts.networking.ip",
    "facts.networking.ip6",
    "facts.networking.mac",
    "facts.networking.netmask",
    "facts.networking.network",
    "facts.networking.primary",
    "facts.os.architecture",
    "facts.os.distro.codename",
    "facts.os.family",
    "facts.os.hardware",
    "facts.os.name",
    "facts.os.release.full",
    "facts.os.release.major",
    "facts.os.release.minor",
    "facts.os.selinux.enabled",
    "facts.processors.count",
    "facts.timezone",
    "facts.virtual",
    "trusted.authenticated",
    "trusted.certname",
    "trusted.domain",
    "trusted.extensions.pp_role",
    "trusted.hostname",
];

/// Variables that start with what is typed, or hold it: those that are used first.
pub(super) fn items(question: &Question<'_>, typed: &str) -> Vec<Item> {
    let colons = if typed.starts_with("::") { "::" } else { "" };
    let wanted = typed.trim_start_matches(':');
    let used = used(question);
    let known = of_nodes(question, wanted);
    let mut names: Vec<Arc<str>> = used.iter().cloned().collect();
    names.extend(known.keys().filter(|name| !used.contains(*name)).cloned());
    let is_new = |name: &&str| !used.contains(*name) && !known.contains_key(*name);
    names.extend(ALWAYS.into_iter().filter(is_new).map(Arc::from));
    names.retain(|name| fit(name, wanted).is_some());
    let items = names.into_iter().map(|name| Item {
        detail: known
            .get(&name)
            .filter(|values| !values.is_empty())
            .map(|values| {
                let more = if values.len() > MOST_VALUES {
                    ", …"
                } else {
                    ""
                };
                let first: Vec<&str> = values
                    .iter()
                    .take(MOST_VALUES)
                    .map(String::as_str)
                    .collect();
                format!("{}{more}", first.join(", "))
            }),
        about: Some(Described::Variable(name.clone())),
        ..Item::new(format!("{colons}{name}"), ItemKind::Variable)
    });
    items.collect()
}

/// The variables that data and configurations use.
fn used(question: &Question<'_>) -> BTreeSet<Arc<str>> {
    let snapshot = question.analysis.snapshot;
    let mut found = BTreeSet::new();
    for file in question.beside.configurations() {
        let parse = snapshot.parse_of(file, Format::Yaml);
        let spans = locate(&parse.tree);
        let is_asked =
            |range: TextRange| file.id() == question.file.id() && range.touches(question.offset);
        for level in spans.hierarchy.iter().chain(&spans.default_hierarchy) {
            if let Some([list, element]) = &level.mapped {
                if !is_asked(parse.tree.node(list.node).range) {
                    found.insert(named::variable(&list.text));
                }
                // The name of an element means nothing outside of its level.
                if is_asked(level.range) {
                    found.insert(element.text.clone());
                }
            }
            for location in &level.locations {
                let map = ScalarMap::new(file.text(), parse.tree.node(location.node));
                for token in tokens(&location.text) {
                    let name = token.inner.slice(&location.text);
                    let is_half_typed = is_asked(map.source_range(token.range.as_usize()));
                    let is_used = !is_half_typed && level.element(name).is_none();
                    if is_used && let TokenKind::Variable { .. } = token.kind {
                        found.insert(named::variable(name));
                    }
                }
            }
        }
    }
    for variable in question.file.facts().variables() {
        let is_half_typed = variable.range.touches(question.offset);
        if !is_half_typed && found.len() < MOST_FOUND {
            found.insert(named::variable(&variable.name));
        }
    }
    found
}

/// Variables of some known nodes with their values there, those that the selected node has first of
/// all.
fn of_nodes(question: &Question<'_>, typed: &str) -> BTreeMap<Arc<str>, Vec<String>> {
    let nodes = question.analysis.nodes;
    let selected = question.analysis.selected.and_then(|name| nodes.find(name));
    let step = nodes.len().div_ceil(MOST_NODES).max(1);
    let members = selected.into_iter().chain((0..nodes.len()).step_by(step));
    let mut found = BTreeMap::new();
    for member in members.take(MOST_NODES) {
        let scope = nodes.scope(member);
        for root in ["facts", "trusted"] {
            // The rest is not asked for where another root is typed.
            let is_meant =
                root.starts_with(typed) || typed.starts_with(root) || !typed.contains('.');
            if is_meant && let Variable::Known(value) = scope.variable(root) {
                add(root, &value, DEEPEST, &mut found);
            }
        }
        for (name, value) in nodes.variables_of(member) {
            add(&name, value, DEEPEST, &mut found);
        }
    }
    found
}

fn add(path: &str, value: &Value, depth: usize, found: &mut BTreeMap<Arc<str>, Vec<String>>) {
    if found.len() >= MOST_FOUND || depth == 0 {
        return;
    }
    if let Some(hash) = value.as_hash() {
        for (key, value) in hash.iter() {
            if let Some(key) = key.as_str() {
                let key = crate::analysis::quoted(key);
                add(&format!("{path}.{key}"), value, depth - 1, found);
            }
        }
        return;
    }
    let values = found.entry(Arc::from(path)).or_default();
    if value.as_array().is_none() {
        let shown: String = value.to_s().chars().take(WIDEST).collect();
        if !shown.contains('\n') && !values.contains(&shown) {
            values.push(shown);
        }
    }
}
