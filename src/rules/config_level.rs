//! The levels of a version 5 `hiera.yaml` as written, with the function and options of `defaults`.

use super::config_text::version_of;
use super::context::{FileContext, entry};
use crate::hierarchy::{FunctionKind, LevelSpans, locate};
use crate::syntax::{NodeId, Tree};
use crate::text::TextRange;

/// One level as written.
pub(super) struct ConfigLevel {
    pub(super) node: NodeId,
    /// The ranges of its parts.
    pub(super) spans: LevelSpans,
    pub(super) in_default_hierarchy: bool,
    /// Its index in its list.
    pub(super) index: usize,
    /// Its own function, or that of `defaults`.
    pub(super) function: Option<WrittenFunction>,
}

/// A function as written.
#[derive(Clone)]
pub(super) struct WrittenFunction {
    pub(super) kind: FunctionKind,
    pub(super) name: String,
    /// Range of the kind, without quotes.
    pub(super) key: TextRange,
    /// Range of the name, without quotes.
    pub(super) value: TextRange,
    /// Whether the level itself names it.
    pub(super) is_own: bool,
}

/// Puppet's built-in functions with their kinds.
pub(super) const BUILT_IN: [(&str, FunctionKind); 4] = [
    ("yaml_data", FunctionKind::DataHash),
    ("json_data", FunctionKind::DataHash),
    ("hocon_data", FunctionKind::DataHash),
    ("eyaml_lookup_key", FunctionKind::LookupKey),
];

impl WrittenFunction {
    /// The kind of the built-in function with this name.
    pub(super) fn built_in(&self) -> Option<FunctionKind> {
        let mut known = BUILT_IN.iter();
        let (_, kind) = known.find(|(name, _)| *name == self.name)?;
        Some(*kind)
    }
}

/// The levels of a version 5 configuration; empty for other versions.
pub(super) fn levels(at: &FileContext<'_>) -> Vec<ConfigLevel> {
    if at.loaded().ok().and_then(version_of) != Some(5) {
        return Vec::new();
    }
    let tree = at.tree();
    let Some(root) = tree.root() else {
        return Vec::new();
    };
    let spans = locate(tree);
    let defaults = entry(tree, root, "defaults").map(|(_, node)| node);
    let default = match defaults {
        Some(node) => function(tree, node).map(|found| WrittenFunction {
            is_own: false,
            ..found
        }),
        // Puppet's default.
        None => Some(WrittenFunction {
            kind: FunctionKind::DataHash,
            name: "yaml_data".to_owned(),
            key: TextRange::empty(0),
            value: TextRange::empty(0),
            is_own: false,
        }),
    };
    let mut levels = Vec::new();
    for (list, all) in [
        ("hierarchy", spans.hierarchy),
        ("default_hierarchy", spans.default_hierarchy),
    ] {
        let nodes = entry(tree, root, list)
            .and_then(|(_, node)| tree.node(tree.resolve(node)).as_sequence());
        for (index, (spans, &node)) in all.into_iter().zip(nodes.unwrap_or_default()).enumerate() {
            levels.push(ConfigLevel {
                node,
                spans,
                in_default_hierarchy: list == "default_hierarchy",
                index,
                function: function(tree, node).or_else(|| default.clone()),
            });
        }
    }
    levels
}

/// The function named in a level, or in `defaults`, itself.
fn function(tree: &Tree, level: NodeId) -> Option<WrittenFunction> {
    FunctionKind::ALL.into_iter().find_map(|kind| {
        let (key, value) = entry(tree, level, kind.key())?;
        let inside = |id: NodeId| {
            let node = tree.node(id);
            if node.is_quoted() {
                TextRange::new(node.range.start as usize + 1, node.range.end as usize - 1)
            } else {
                node.range
            }
        };
        Some(WrittenFunction {
            kind,
            name: tree.scalar_text(value)?.to_string(),
            key: inside(key),
            value: inside(value),
            is_own: true,
        })
    })
}

/// The options of a level or of `defaults`: the nodes of the key and the value.
pub(super) fn options(at: &FileContext<'_>, level: &ConfigLevel) -> Option<(NodeId, NodeId)> {
    let tree = at.tree();
    let own = entry(tree, level.node, "options");
    own.or_else(|| {
        let (_, defaults) = entry(tree, tree.root()?, "defaults")?;
        entry(tree, defaults, "options")
    })
}
