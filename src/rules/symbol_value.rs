//! `symbol-value`: a value starts with a colon, which makes it a symbol that data cannot hold.

use super::checker::Found;
use super::{Checked, Reads, Rule, Severity};
use std::collections::HashSet;

use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{NodeId, ScalarStyle};
use crate::workspace::Format;

pub(super) const RULE: &Rule = &Rule {
    code: "symbol-value",
    severity: Severity::Error,
    summary: "a value starts with a colon, which makes it a symbol that data cannot hold",
    page: include_str!("../../docs/rules/symbol-value.md"),
    reads: Reads::File,
    check,
};

fn check(at: &Checked<'_>, found: &mut Found<'_>) {
    if at.readers().is_empty() || at.format() != Format::Yaml {
        return;
    }
    let tree = at.tree();
    let keys: HashSet<NodeId> = tree
        .nodes()
        .flat_map(|(_, node)| node.as_mapping().unwrap_or_default())
        .map(|&(key, _)| key)
        .collect();
    for (id, node) in tree.nodes() {
        let Some(scalar) = node.as_scalar() else {
            continue;
        };
        if scalar.style != ScalarStyle::Plain || node.tag.is_some() || keys.contains(&id) {
            continue;
        }
        if matches!(resolve_plain(&scalar.text), Resolved::Symbol(_)) {
            found.report(
                node.range,
                format!(
                    "'{}' is read as a Ruby symbol: Puppet fails on this key; quote it",
                    scalar.text
                ),
            );
        }
    }
}
