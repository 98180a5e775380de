//! `non-string-map-key`: a key of a nested hash is read as a truth value or as nothing.

use super::checker::Found;
use super::{Checked, Reads, Rule, Severity};
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{NodeId, ScalarStyle};
use crate::workspace::Format;

pub(super) const RULE: &Rule = &Rule {
    code: "non-string-map-key",
    severity: Severity::Error,
    summary: "a key of a nested hash is read as a truth value or as nothing",
    page: include_str!("../../docs/rules/non-string-map-key.md"),
    reads: Reads::File,
    check,
};

fn check(at: &Checked<'_>, found: &mut Found<'_>) {
    if at.readers().is_empty() || at.format() != Format::Yaml {
        return;
    }
    let tree = at.tree();
    let topmost = tree.root();
    let nested = tree.nodes().filter(|&(id, _)| Some(id) != topmost);
    let keys = nested.flat_map(|(_, node)| node.as_mapping().unwrap_or_default());
    for key in keys.map(|&(key, _): &(NodeId, NodeId)| key) {
        let node = tree.node(key);
        let Some(scalar) = node.as_scalar() else {
            continue;
        };
        if scalar.style != ScalarStyle::Plain || node.tag.is_some() {
            continue;
        }
        let what = match resolve_plain(&scalar.text) {
            Resolved::Bool(true) => "true",
            Resolved::Bool(false) => "false",
            Resolved::Null => "null",
            Resolved::String
            | Resolved::Symbol(_)
            | Resolved::Int(_)
            | Resolved::BigInt(_)
            | Resolved::Float(_)
            | Resolved::Date
            | Resolved::Time
            | Resolved::Invalid { .. } => continue,
        };
        found.report(
            node.range,
            format!(
                "the key '{}' is read as {what}, which cannot be a key: Puppet fails on the whole \
                 hash; quote it",
                scalar.text
            ),
        );
    }
}
