//! The version of a `hiera.yaml`, and the strings that Puppet interpolates in it.

use super::context::{FileContext, Places, entry};
use crate::hierarchy::{Config, locate};
use crate::interpolation::{Token, TokenKind, tokens};
use crate::syntax::{NodeId, Tree};
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

/// A string that Puppet interpolates in a configuration.
pub(super) struct ConfigTextAt<'a> {
    /// The version that Puppet assumes for the configuration, neither 3 nor 4.
    pub(super) version: i64,
    /// Whether it is part of the hierarchy for plans.
    pub(super) is_of_plans: bool,
    /// The string, decoded.
    pub(super) text: &'a str,
    /// Its tokens; their ranges refer to the decoded text.
    pub(super) tokens: Vec<Token>,
    /// Maps ranges of the decoded text to ranges of the file.
    pub(super) places: Places<'a>,
}

impl ConfigTextAt<'_> {
    /// The variables in it as written, each with the ranges of its token and its name in the file.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&str, (TextRange, TextRange))> {
        let is_variable = |token: &&Token| matches!(token.kind, TokenKind::Variable { .. });
        self.tokens.iter().filter(is_variable).map(|token| {
            let range = self.places.source_range(token.range);
            let inner = self.places.source_range(token.inner);
            (token.inner.slice(self.text), (range, inner))
        })
    }
}

/// The strings that Puppet interpolates in a configuration, in text order; empty for versions 3 and 4.
pub(super) fn config_texts<'a>(at: &'a FileContext<'_>) -> Vec<ConfigTextAt<'a>> {
    let tree = at.tree();
    let version = at.loaded().ok().and_then(version_of);
    let version = version.filter(|version| !matches!(version, 3 | 4));
    let (Some(version), Some(root)) = (version, tree.root()) else {
        return Vec::new();
    };
    let nodes = interpolated(tree, root).into_iter().map(|id| tree.node(id));
    let spans = locate(tree);
    let is_of_plans = |range: TextRange| {
        let mut levels = spans.plan_hierarchy.iter();
        levels.any(|level| level.range.start <= range.start && range.end <= level.range.end)
    };
    let texts = nodes.filter_map(|node| {
        let text = &*node.as_scalar()?.text;
        Some(ConfigTextAt {
            version,
            is_of_plans: is_of_plans(node.range),
            text,
            tokens: tokens(text),
            places: at.places(node),
        })
    });
    texts.collect()
}

/// The nodes of locations, data directories and options, in text order.
fn interpolated(tree: &Tree, root: NodeId) -> Vec<NodeId> {
    let spans = locate(tree);
    let levels = spans.levels();
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
                let inside = tree.nodes_from(tree.resolve(value));
                nodes.extend(inside.map(|(id, _)| id));
            }
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}
