//! Completion of variables in tokens: facts of known nodes, trusted data, and variables used in the
//! workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use indexmap::IndexSet;

use super::{Item, ItemKind, TypingPlace, fit};
use crate::hierarchy::locate;
use crate::ide::hover::Described;
use crate::ide::named;
use crate::interpolation::{TokenKind, tokens};
use crate::scope::Variable;
use crate::syntax::ScalarMap;
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::Format;

/// Maximum number of known nodes with listed facts; most nodes have nearly the same facts.
const MAX_NODES: usize = 4;

/// Maximum depth of facts.
const DEEPEST: usize = 6;

/// Maximum number of variables.
const MAX_FOUND: usize = 2_000;

/// Maximum number of values that are named beside a fact.
const MAX_VALUES: usize = 3;

/// Maximum width of these values, in characters.
const WIDEST: usize = 24;

/// Facter's core facts and trusted data, which all nodes have; for workspaces without known nodes.
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

/// Variables that match the typed part, the used ones first.
pub(super) fn items(typing: &TypingPlace<'_>, typed: &str) -> Vec<Item> {
    let colons = if typed.starts_with("::") { "::" } else { "" };
    let wanted = typed.trim_start_matches(':');
    let known = of_nodes(typing, wanted);
    let mut names: IndexSet<Arc<str>> = used(typing).into_iter().collect();
    names.extend(known.keys().cloned());
    names.extend(ALWAYS.map(Arc::from));
    let added = typing.analysis.snapshot.added_facts();
    names.extend(added.map(|name| Arc::from(format!("facts.{}", crate::analysis::quoted(name)))));
    names.retain(|name| fit(name, wanted).is_some());
    let detail = |values: &Vec<String>| {
        let first = &values[..values.len().min(MAX_VALUES)];
        let more = if values.len() > MAX_VALUES {
            ", …"
        } else {
            ""
        };
        (!values.is_empty()).then(|| format!("{}{more}", first.join(", ")))
    };
    let items = names.into_iter().map(|name| Item {
        detail: known.get(&name).and_then(detail),
        about: Some(Described::Variable(name.clone())),
        ..Item::new(format!("{colons}{name}"), ItemKind::Variable)
    });
    items.collect()
}

/// The variables in data and configurations.
fn used(typing: &TypingPlace<'_>) -> BTreeSet<Arc<str>> {
    let snapshot = typing.analysis.snapshot;
    let mut found = BTreeSet::new();
    for file in typing.related.configurations() {
        let parse = snapshot.parse_of(file, Format::Yaml);
        let spans = locate(&parse.tree);
        let is_at_cursor =
            |range: TextRange| file.id() == typing.file.id() && range.touches(typing.offset);
        for level in spans.levels() {
            if let Some([list, element]) = &level.mapped {
                if !is_at_cursor(parse.tree.node(list.node).range) {
                    found.insert(named::variable(&list.text));
                }
                // The name of an element is only valid in its level.
                if is_at_cursor(level.range) {
                    found.insert(element.text.clone());
                }
            }
            for location in &level.locations {
                let map = ScalarMap::new(file.text(), parse.tree.node(location.node));
                for token in tokens(&location.text) {
                    let name = token.inner.slice(&location.text);
                    let is_half_typed = is_at_cursor(map.source_range(token.range.as_usize()));
                    let is_used = !is_half_typed && level.element(name).is_none();
                    if is_used && let TokenKind::Variable { .. } = token.kind {
                        found.insert(named::variable(name));
                    }
                }
            }
        }
    }
    for variable in typing.file.facts().variables() {
        let is_half_typed = variable.range.touches(typing.offset);
        if !is_half_typed && found.len() < MAX_FOUND {
            found.insert(named::variable(&variable.name));
        }
    }
    found
}

/// The variables of some known nodes with their values, those of the selected node first.
fn of_nodes(typing: &TypingPlace<'_>, typed: &str) -> BTreeMap<Arc<str>, Vec<String>> {
    let nodes = typing.analysis.nodes;
    let selected = typing.analysis.selected.and_then(|name| nodes.find(name));
    let step = nodes.len().div_ceil(MAX_NODES).max(1);
    let members = selected.into_iter().chain((0..nodes.len()).step_by(step));
    let mut found = BTreeMap::new();
    for member in members.take(MAX_NODES) {
        let scope = nodes.scope(member);
        for root in ["facts", "trusted"] {
            // Skip roots other than the typed one.
            let may_match =
                root.starts_with(typed) || typed.starts_with(root) || !typed.contains('.');
            if may_match && let Variable::Known(value) = scope.variable(root) {
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
    if found.len() >= MAX_FOUND || depth == 0 {
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
