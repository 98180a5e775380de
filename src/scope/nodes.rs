//! Known nodes by name, and the nodes file.

use std::sync::Arc;

use super::sources::read_entry;
use super::{IMPORT, Imported, Node};
use crate::value::{HashMap, Value};

/// A nodes file that cannot be read as one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodesError {
    /// The problem, with the node.
    pub message: String,
}

/// The known nodes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Nodes {
    nodes: Vec<Arc<Node>>,
    /// The index of each node, by name.
    places: std::collections::HashMap<Arc<str>, usize>,
    /// Where they come from, if they were imported.
    pub imported: Option<Arc<Imported>>,
}

impl Nodes {
    /// Reads a nodes file's value: a hash of certname → `facts`, `trusted`, `variables`,
    /// `environment`. A node's own facts override `common_facts`, hash by hash. A part that a node
    /// lacks is unknown.
    ///
    /// # Errors
    /// The file, or a node in it, is not a hash, or has members that are not understood.
    pub fn read(file: &Value, common_facts: &HashMap) -> Result<Nodes, NodesError> {
        let Some(entries) = file.as_hash() else {
            return Err(NodesError {
                message: "a nodes file is a hash of node names, each with facts, trusted and \
                          variables"
                    .into(),
            });
        };
        let mut nodes = Nodes::default();
        for (name, entry) in entries {
            let Some(name) = name.as_str() else {
                return Err(NodesError {
                    message: "a node's name must be a string".into(),
                });
            };
            if name == IMPORT {
                nodes.imported = Some(Arc::new(Imported::read(entry)));
                continue;
            }
            let none = HashMap::default();
            let entry = match entry {
                Value::Undef => &none,
                entry => entry.as_hash().ok_or_else(|| not_a_hash(name))?,
            };
            nodes.insert(read_entry(name, entry, common_facts)?);
        }
        Ok(nodes)
    }

    /// All nodes, in the order of the file.
    #[must_use]
    pub fn all(&self) -> &[Arc<Node>] {
        &self.nodes
    }

    /// The node of that name.
    #[must_use]
    pub fn get(&self, certname: &str) -> Option<&Arc<Node>> {
        self.nodes.get(*self.places.get(certname)?)
    }

    /// Adds a node; it replaces a node of the same name.
    pub fn insert(&mut self, node: impl Into<Arc<Node>>) {
        let node = node.into();
        match self.places.get(&node.certname) {
            Some(&at) => self.nodes[at] = node,
            None => {
                self.places.insert(node.certname.clone(), self.nodes.len());
                self.nodes.push(node);
            }
        }
    }
}

pub(super) fn not_a_hash(node: &str) -> NodesError {
    NodesError {
        message: format!("node '{node}' is not a hash"),
    }
}

impl FromIterator<Arc<Node>> for Nodes {
    /// The nodes in this order; names must differ.
    fn from_iter<I: IntoIterator<Item = Arc<Node>>>(nodes: I) -> Nodes {
        let nodes: Vec<Arc<Node>> = nodes.into_iter().collect();
        let places = nodes.iter().enumerate();
        let places = places.map(|(at, node)| (node.certname.clone(), at));
        Nodes {
            places: places.collect(),
            nodes,
            imported: None,
        }
    }
}
