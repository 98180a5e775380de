//! What a `hiera.yaml` says in its own text: its version, and what Puppet interpolates of it.

use super::context::{FileContext, entry};
use crate::hierarchy::{Config, locate};
use crate::interpolation::{TokenKind, tokens};
use crate::syntax::{NodeId, ScalarMap, Tree};
use crate::text::TextRange;
use crate::value::Value;

/// The lists of levels that a configuration may have.
pub(super) const HIERARCHIES: [&str; 3] = ["hierarchy", "plan_hierarchy", "default_hierarchy"];

/// The version that Puppet takes a configuration for; nothing for a value that is no hash.
pub(super) fn version_of(value: &Value) -> Option<i64> {
    value.as_hash()?;
    match Config::version_of(value) {
        Ok(version) => Some(version),
        // What has no integer is refused by the check of the structure.
        Err(_) => Some(5),
    }
}

/// A variable in what Puppet interpolates of a configuration.
pub(super) struct PathToken {
    /// The variable as written.
    pub(super) variable: String,
    /// The token.
    pub(super) range: TextRange,
    /// The variable in it.
    pub(super) inner: TextRange,
}

/// The variables in locations, data directories and options of a version 5 configuration, in the
/// order of the text.
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

/// The nodes of locations, data directories and options of a version 5 configuration, in the order of the
/// text.
pub(super) fn path_texts(at: &FileContext<'_>) -> Vec<NodeId> {
    let tree = at.tree();
    let is_5 = at.loaded().ok().and_then(version_of) == Some(5);
    match tree.root().filter(|_| is_5) {
        Some(root) => interpolated(tree, root),
        None => Vec::new(),
    }
}

/// What Puppet interpolates: locations, data directories and options, in the order of the text.
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
