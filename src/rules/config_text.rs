//! The version of a `hiera.yaml`, and the strings that Puppet interpolates in it.

use super::context::{FileContext, entry};
use crate::hierarchy::{Config, locate};
use crate::interpolation::{TokenKind, tokens};
use crate::syntax::{NodeId, ScalarMap, Tree};
use crate::text::TextRange;
use crate::value::Value;

/// The keys of a configuration that hold lists of levels.
pub(super) const HIERARCHIES: [&str; 3] = ["hierarchy", "plan_hierarchy", "default_hierarchy"];

/// The version that Puppet assumes for a configuration; `None` for a value that is no hash.
pub(super) fn version_of(value: &Value) -> Option<i64> {
    value.as_hash()?;
    match Config::version_of(value) {
        Ok(version) => Some(version),
        // The check of the structure reports a version that is no integer.
        Err(_) => Some(5),
    }
}

/// A variable in a string that Puppet interpolates in a configuration.
pub(super) struct PathToken {
    /// The variable as written.
    pub(super) variable: String,
    /// The range of the token.
    pub(super) range: TextRange,
    /// The range of the variable in it.
    pub(super) inner: TextRange,
}

/// The variables in locations, data directories and options of a version 5 configuration, in text order.
pub(super) fn path_tokens(at: &FileContext<'_>) -> Vec<PathToken> {
    let tree = at.tree();
    let mut found = Vec::new();
    for id in path_texts(at) {
        let node = tree.node(id);
        let Some(scalar) = node.as_scalar() else {
            continue;
        };
        let map = ScalarMap::new(at.file.text(), node);
        for token in tokens(&scalar.text) {
            if matches!(token.kind, TokenKind::Variable { .. }) {
                found.push(PathToken {
                    variable: token.inner.slice(&scalar.text).to_owned(),
                    range: map.source_range(token.range.as_usize()),
                    inner: map.source_range(token.inner.as_usize()),
                });
            }
        }
    }
    found
}

/// The nodes of locations, data directories and options of a version 5 configuration, in text order.
pub(super) fn path_texts(at: &FileContext<'_>) -> Vec<NodeId> {
    let tree = at.tree();
    let is_5 = at.loaded().ok().and_then(version_of) == Some(5);
    match tree.root().filter(|_| is_5) {
        Some(root) => interpolated(tree, root),
        None => Vec::new(),
    }
}

/// The nodes of locations, data directories and options, which Puppet interpolates, in text order.
pub(super) fn interpolated(tree: &Tree, root: NodeId) -> Vec<NodeId> {
    let spans = locate(tree);
    let levels = spans.hierarchy.iter().chain(&spans.default_hierarchy);
    let locations = levels.flat_map(|level| level.locations.iter().map(|location| location.node));
    let mut nodes: Vec<NodeId> = locations.collect();
    let mut within: Vec<NodeId> = Vec::new();
    if let Some((_, defaults)) = entry(tree, root, "defaults") {
        within.push(defaults);
    }
    for name in HIERARCHIES {
        let list = entry(tree, root, name).map(|(_, list)| list);
        let levels = list.and_then(|list| tree.node(tree.resolve(list)).as_sequence());
        within.extend(levels.unwrap_or_default());
    }
    for level in within {
        for name in ["datadir", "options"] {
            if let Some((_, value)) = entry(tree, level, name) {
                let outer = tree.node(tree.resolve(value)).range;
                let inside = tree.nodes().filter(|(_, node)| outer.contains(node.range));
                nodes.extend(inside.map(|(id, _)| id));
            }
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}
