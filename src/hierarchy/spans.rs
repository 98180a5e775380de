//! The ranges of a `hiera.yaml`'s parts in its text, for hovers and diagnostics.

use std::sync::Arc;

use crate::syntax::{NodeId, NodeKind, Tree};
use crate::text::TextRange;

/// The ranges in one `hiera.yaml`, of any version and however broken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConfigSpans {
    /// Value of `version`.
    pub version: Option<TextRange>,
    /// The entries of `hierarchy`, in order.
    pub hierarchy: Vec<LevelSpans>,
    /// The entries of `plan_hierarchy`, in order.
    pub plan_hierarchy: Vec<LevelSpans>,
    /// The entries of `default_hierarchy`, in order.
    pub default_hierarchy: Vec<LevelSpans>,
    /// Key of `default_hierarchy`.
    pub default_hierarchy_key: Option<TextRange>,
    /// The entry `defaults`.
    pub defaults: LevelSpans,
}

impl ConfigSpans {
    /// The entries of all hierarchies.
    pub fn levels(&self) -> impl Iterator<Item = &LevelSpans> {
        let others = self.plan_hierarchy.iter().chain(&self.default_hierarchy);
        self.hierarchy.iter().chain(others)
    }
}

/// The ranges in one hierarchy entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelSpans {
    /// The whole entry.
    pub range: TextRange,
    /// Value of `name`.
    pub name: Option<TextRange>,
    /// Key and value of the function: `data_hash: yaml_data`.
    pub function: Option<(TextRange, TextRange)>,
    /// Value of `datadir`.
    pub datadir: Option<TextRange>,
    /// Value of `options`.
    pub options: Option<TextRange>,
    /// Each path, glob, uri, or the template of mapped paths.
    pub locations: Vec<LocationSpan>,
    /// The variable of mapped paths, and the name of its elements in the template.
    pub mapped: Option<[LocationSpan; 2]>,
}

impl LevelSpans {
    /// The name of mapped paths' elements, if it is `name`.
    #[must_use]
    pub fn element(&self, name: &str) -> Option<&LocationSpan> {
        let [_, element] = self.mapped.as_ref()?;
        (&*element.text == name).then_some(element)
    }
}

/// One location as written.
#[derive(Clone, Debug, PartialEq)]
pub struct LocationSpan {
    /// Its key: `path`, `paths`, `glob` …
    pub key: Arc<str>,
    /// The text.
    pub text: Arc<str>,
    /// Its range, including quotes.
    pub range: TextRange,
    /// The node, for mapping offsets within the text.
    pub node: NodeId,
}

/// Finds the places in the tree of a `hiera.yaml`; keys may be strings or symbols.
#[must_use]
pub fn locate(tree: &Tree) -> ConfigSpans {
    let mut spans = ConfigSpans::default();
    for (key, value) in tree.entries() {
        match key_text(tree, key).as_deref() {
            Some("version") => spans.version = Some(tree.node(value).range),
            Some("hierarchy") => spans.hierarchy = levels(tree, value),
            Some("plan_hierarchy") => spans.plan_hierarchy = levels(tree, value),
            Some("default_hierarchy") => {
                spans.default_hierarchy_key = Some(tree.node(key).range);
                spans.default_hierarchy = levels(tree, value);
            }
            Some("defaults") => spans.defaults = level(tree, value),
            Some(_) | None => {}
        }
    }
    spans
}

/// The text of a key, without the leading colon of a symbol.
fn key_text(tree: &Tree, node: NodeId) -> Option<Arc<str>> {
    let text = tree.scalar_text(node)?;
    Some(
        text.strip_prefix(':')
            .map_or_else(|| text.clone(), Arc::from),
    )
}

fn levels(tree: &Tree, node: NodeId) -> Vec<LevelSpans> {
    match &tree.node(tree.resolve(node)).kind {
        NodeKind::Sequence(entries) => entries.iter().map(|&entry| level(tree, entry)).collect(),
        NodeKind::Scalar(_) | NodeKind::Mapping(_) | NodeKind::Alias { .. } => Vec::new(),
    }
}

fn level(tree: &Tree, node: NodeId) -> LevelSpans {
    let mut spans = LevelSpans {
        range: tree.node(node).range,
        ..LevelSpans::default()
    };
    let NodeKind::Mapping(entries) = &tree.node(tree.resolve(node)).kind else {
        return spans;
    };
    for &(key, value) in entries {
        let Some(name) = key_text(tree, key) else {
            continue;
        };
        let range = tree.node(value).range;
        match &*name {
            "name" => spans.name = Some(range),
            "data_hash" | "lookup_key" | "data_dig" | "hiera3_backend" => {
                spans.function = Some((tree.node(key).range, range));
            }
            "datadir" => spans.datadir = Some(range),
            "options" => spans.options = Some(range),
            "path" | "paths" | "glob" | "globs" | "uri" | "uris" => {
                collect_locations(tree, &name, value, &mut spans.locations);
            }
            "mapped_paths" => {
                let mut triple = Vec::new();
                collect_locations(tree, &name, value, &mut triple);
                let mut triple = triple.into_iter();
                spans.mapped = triple.next().zip(triple.next()).map(Into::into);
                spans.locations.extend(triple.next());
            }
            _ => {}
        }
    }
    spans
}

fn collect_locations(tree: &Tree, key: &Arc<str>, node: NodeId, found: &mut Vec<LocationSpan>) {
    let node = tree.resolve(node);
    match &tree.node(node).kind {
        NodeKind::Scalar(_) => {
            if let Some(text) = tree.scalar_text(node) {
                let range = tree.node(node).range;
                found.push(LocationSpan {
                    key: key.clone(),
                    text: text.clone(),
                    range,
                    node,
                });
            }
        }
        NodeKind::Sequence(elements) => {
            for &element in elements {
                collect_locations(tree, key, element, found);
            }
        }
        NodeKind::Mapping(_) | NodeKind::Alias { .. } => {}
    }
}
