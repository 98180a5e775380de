//! Shares equal values of many nodes in memory; hashes with another order are others.
//!
//! Without it a server holds 527 MB instead of 168 MB for 3,000 nodes of a `nodes.yaml` of 14 MB.

use std::collections::HashSet;

use super::{Facts, Node};
use crate::value::{HashMap, InOrder, Value};

/// Keeps equal values once: nodes of a fleet have most of their facts in common.
#[derive(Default)]
pub(super) struct Share {
    known: HashSet<InOrder>,
}

impl Share {
    pub(super) fn node(&mut self, node: Node) -> Node {
        Node {
            facts: Facts::from(self.hash(&node.facts.whole())),
            trusted: self.hash(&node.trusted),
            variables: self.hash(&node.variables),
            ..node
        }
    }

    pub(super) fn hash(&mut self, hash: &HashMap) -> HashMap {
        let entries = hash.iter();
        entries
            .map(|(name, value)| (self.value(name), self.value(value)))
            .collect()
    }

    fn value(&mut self, value: &Value) -> Value {
        let shared = if let Value::Array(elements) = value {
            Value::array(elements.iter().map(|element| self.value(element)))
        } else if let Value::Hash(hash) = value {
            Value::from(self.hash(hash))
        } else if value.as_str().is_some() {
            value.clone()
        } else {
            return value.clone();
        };
        let shared = InOrder(shared);
        match self.known.get(&shared) {
            Some(InOrder(known)) => known.clone(),
            None => {
                self.known.insert(shared.clone());
                shared.0
            }
        }
    }
}
