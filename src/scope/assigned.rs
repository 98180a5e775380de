//! The variables that manifests set for one node.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexMap;

use super::{Node, Scope};
use crate::text::TextRange;
use crate::value::Value;

/// The variables that manifests set for one node.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Assigned {
    /// Variables of the top scope: `%{role}` and `%{::role}`.
    pub top: Assignments,
    /// Variables of the node's block: `%{role}` only.
    pub node: Assignments,
    /// Puppet's name for the node's block.
    pub block: Option<Arc<str>>,
    /// Why there may be more variables than these, for people.
    pub may_be_more: Option<Arc<str>>,
    /// The names of all variables that the manifests set somewhere; `None` if they call functions
    /// that may set any.
    pub names: Option<Arc<BTreeSet<Arc<str>>>>,
    /// Whether the manifests declare classes, or may: then classes have variables.
    pub may_have_classes: bool,
    /// Why it is unknown whether Puppet fails: `fail()` was passed over.
    pub may_fail: Option<Arc<str>>,
    /// Puppet's error, if it compiles no catalog.
    pub failure: Option<CompileFailure>,
}

/// Puppet's error while it evaluates manifests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompileFailure {
    /// The message.
    pub message: Arc<str>,
    /// The manifest and the line, from 1, if they are known.
    pub place: Option<(Arc<str>, u32)>,
    /// Whether the server fails too, as far as known. Not so if a fact was read before that does not
    /// exist here, or if a manifest cannot be parsed, as while it is edited.
    pub is_certain: bool,
}

/// Variables by name.
pub type Assignments = IndexMap<Arc<str>, Assignment>;

/// An assignment to a variable.
#[derive(Clone, PartialEq, Debug)]
pub struct Assignment {
    /// The value, or why it is unknown.
    pub value: Result<Value, Arc<str>>,
    /// The manifest.
    pub file: Arc<str>,
    /// The line that sets it, from 1.
    pub line: u32,
    /// The range of the variable.
    pub place: TextRange,
}

/// Evaluates manifests for nodes.
pub trait Manifests: Send + Sync + std::fmt::Debug {
    /// The variables that manifests set for a node whose scope so far is `scope`.
    fn assigned(&self, node: &Node, scope: &Scope) -> Arc<Assigned>;

    /// Whether they may set a variable for some node. If not, they need not be run for it.
    fn may_set(&self, name: &str) -> bool;

    /// Whether they may fail for some node. If not, they need not be run to know that.
    fn may_fail(&self) -> bool;

    /// Whether the variables, or whether they fail, may depend on data.
    fn depend_on_data(&self) -> bool;
}

impl Assigned {
    /// Additional variables of a node's block (`Resource::Type#set_resource_parameters`).
    #[must_use]
    pub fn of_block(&self, name: &str) -> Option<Value> {
        let block = self.block.as_ref()?;
        match name {
            "name" | "title" => Some(Value::String(Arc::clone(block))),
            "caller_module_name" => Some(Value::from("")),
            _ => None,
        }
    }

    /// Removes the variables that only the node's block has.
    pub fn leave_block(&mut self) {
        self.node.clear();
        self.block = None;
    }

    /// Whether lookups see the same values, wherever they are set.
    #[must_use]
    pub fn has_same_values(&self, other: &Assigned) -> bool {
        let same = |one: &Assignments, other: &Assignments| {
            let mut all = one.iter();
            one.len() == other.len()
                && all.all(|(name, set)| other.get(name).is_some_and(|it| it.value == set.value))
        };
        same(&self.top, &other.top)
            && same(&self.node, &other.node)
            && self.block == other.block
            && self.may_be_more == other.may_be_more
            && self.may_have_classes == other.may_have_classes
            && self.why_no_catalog() == other.why_no_catalog()
    }

    /// Whether a variable that is not in here may still be set.
    #[must_use]
    pub fn may_set(&self, name: &str) -> bool {
        let name = name.strip_prefix("::").unwrap_or(name);
        let is_named = |names: &Arc<BTreeSet<Arc<str>>>| names.contains(name);
        let is_of_class = self.may_have_classes && name.contains("::");
        let is_set = self.may_be_more.is_some() && self.names.as_ref().is_none_or(is_named);
        is_of_class || is_set
    }

    /// Puppet's message if the node certainly gets no catalog.
    #[must_use]
    pub fn why_no_catalog(&self) -> Option<&Arc<str>> {
        let failure = self.failure.as_ref().filter(|it| it.is_certain)?;
        Some(&failure.message)
    }

    /// The assignment of a variable, with or without leading `::`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Assignment> {
        match name.strip_prefix("::") {
            Some(name) => self.top.get(name),
            None => self.node.get(name).or_else(|| self.top.get(name)),
        }
    }
}
