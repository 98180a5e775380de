//! The places of a fact, a trusted value or a variable in the files that describe nodes.
//!
//! Reads the syntax trees, for all formats of nodes and facts.

use std::sync::Arc;

use super::file_place::FilePlace;
use crate::analysis::{Analysis, NodeFile};
use crate::interpolation::{Key, Segment};
use crate::syntax::{NodeId, NodeKind, Parse, Tree};
use crate::workspace::{Format, path};

/// Maximum number of places: there may be thousands of nodes.
const MAX_PLACES: usize = 50;

/// The variable with a node's name, which its description may omit.
const CERTNAME: &str = "trusted.certname";

/// The possible paths to a node's facts.
const FACTS: [&[&str]; 4] = [&["facts"], &["values"], &["facts", "values"], &[]];

/// The possible paths to a node's variables.
const VARIABLES: [&[&str]; 6] = [
    &["variables"],
    &["parameters"],
    &["facts"],
    &["values"],
    &["facts", "values"],
    &[],
];

/// The places of a variable, for the selected node or for several nodes, in the order of the files.
#[must_use]
pub fn fact_places(analysis: Analysis<'_>, files: &[NodeFile], variable: &str) -> Vec<FilePlace> {
    let Ok(key) = Key::parse(variable) else {
        return Vec::new();
    };
    let mut steps: Vec<String> = vec![key.root.to_string()];
    steps.extend(key.segments.iter().map(Segment::to_string));
    let mut places = Vec::new();
    for file in files {
        let parse = parse(analysis, file);
        for NodeInFile { name, node } in nodes(&parse.tree) {
            let text = name.and_then(|name| parse.tree.scalar_text(name));
            let is_other = |selected: &str| text.is_some_and(|text| **text != *selected);
            if analysis.selected.is_some_and(is_other) {
                continue;
            }
            let own_name = || Some((name.filter(|_| variable == CERTNAME)?, node));
            if let Some((name, value)) = within(&parse.tree, node, &steps).or_else(own_name) {
                let name = parse.tree.node(name).full_range();
                places.push(FilePlace {
                    path: file.path.clone(),
                    name,
                    whole: name.cover(parse.tree.node(value).full_range()),
                });
            }
            if places.len() >= MAX_PLACES {
                return places;
            }
        }
    }
    places
}

fn parse(analysis: Analysis<'_>, file: &NodeFile) -> Arc<Parse> {
    let format = match path::extension(&file.path) {
        Some("json") => Format::Json,
        Some(_) | None => Format::Yaml,
    };
    match analysis.snapshot.file(&file.path) {
        Some(known) if known.unchecked().is_none() => analysis.snapshot.parse_of(known, format),
        Some(_) | None => Arc::new(crate::workspace::parse(&file.text, format)),
    }
}

/// A node in a file.
struct NodeInFile {
    /// The node's name, if present.
    name: Option<NodeId>,
    /// The facts and other data.
    node: NodeId,
}

/// The nodes in a file: entries of a hash, elements of a list, or the whole file as a single node.
fn nodes(tree: &Tree) -> Vec<NodeInFile> {
    let Some(root) = tree.root() else {
        return Vec::new();
    };
    match &tree.node(root).kind {
        NodeKind::Mapping(pairs) => {
            let is_node = |&&(_, value): &&(NodeId, NodeId)| {
                let entries = tree.node(value).as_mapping().unwrap_or_default();
                let mut names = entries.iter().filter_map(|&(key, _)| tree.scalar_text(key));
                names.any(|name| ["facts", "trusted", "variables", "values"].contains(&&**name))
            };
            let own_facts = pairs.iter().any(|&(key, value)| {
                let name = tree.scalar_text(key);
                let is_facts = name.is_some_and(|name| ["facts", "values"].contains(&&**name));
                is_facts && tree.node(value).as_mapping().is_some()
            });
            let several = pairs.iter().filter(is_node);
            let several = several.map(|&(key, value)| NodeInFile {
                name: Some(key),
                node: value,
            });
            let several: Vec<NodeInFile> = several.collect();
            if !several.is_empty() && !own_facts {
                return several;
            }
            vec![NodeInFile {
                name: None,
                node: root,
            }]
        }
        NodeKind::Sequence(elements) => {
            let described = |&node: &NodeId| {
                let name = entry(tree, node, "certname").or_else(|| entry(tree, node, "name"));
                let name = name.map(|(_, name)| name);
                NodeInFile { name, node }
            };
            elements.iter().map(described).collect()
        }
        NodeKind::Scalar(_) | NodeKind::Alias { .. } => Vec::new(),
    }
}

/// The key and the value of a variable in a node's data.
fn within(tree: &Tree, node: NodeId, steps: &[String]) -> Option<(NodeId, NodeId)> {
    let (folders, steps): (&[&[&str]], &[String]) = match steps {
        [first, rest @ ..] if first == "facts" && !rest.is_empty() => (&FACTS, rest),
        _ => (&VARIABLES, steps),
    };
    folders.iter().find_map(|folder| {
        let outer = folder.iter().try_fold(node, |at, name| {
            entry(tree, at, name).map(|(_, value)| value)
        })?;
        let (first, rest) = steps.split_first()?;
        rest.iter()
            .try_fold(entry(tree, outer, first)?, |(_, at), step| {
                entry(tree, at, step)
            })
    })
}

/// The entry of a hash or element of a list with a name; the last one wins.
fn entry(tree: &Tree, at: NodeId, name: &str) -> Option<(NodeId, NodeId)> {
    match &tree.node(tree.resolve(at)).kind {
        NodeKind::Mapping(pairs) => {
            let is_it = |&&(key, _): &&(NodeId, NodeId)| {
                tree.scalar_text(key).is_some_and(|text| **text == *name)
            };
            pairs.iter().rev().find(is_it).copied()
        }
        NodeKind::Sequence(elements) => {
            let element = *elements.get(name.parse::<usize>().ok()?)?;
            Some((element, element))
        }
        NodeKind::Scalar(_) | NodeKind::Alias { .. } => None,
    }
}
