//! The variables that manifests set for one node.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexMap;

use super::{KnownNodes, Node, Scope};
use crate::syntax::puppet::{is_qualified, without_colons};
use crate::text::TextRange;
use crate::value::{KeyHashing, Value};

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
    /// The classes that were evaluated, in their order.
    pub classes: Arc<IndexMap<Arc<str>, EvaluatedClass>>,
    /// Whether parameters of the classes were looked up while these were evaluated, as in an agent's
    /// catalog; `puppet lookup` asks afterwards.
    pub is_for_agent: bool,
    /// Whether other classes may have been evaluated: then these have variables.
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
pub type Assignments = IndexMap<Arc<str>, Assignment, KeyHashing>;

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

/// A class that was evaluated for a node.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EvaluatedClass {
    /// Its variables by their short names; or why a value is unknown.
    pub variables: IndexMap<Arc<str>, Result<Value, Arc<str>>>,
    /// Its parent class, whose variables it has too.
    pub parent: Option<Arc<str>>,
    /// Why it may have more variables.
    pub may_be_more: Option<Arc<str>>,
    /// When its parameters were looked up, as a count of classes that began or ended before.
    pub begun: u32,
    /// When all its variables were set.
    pub ended: Option<u32>,
}

/// A variable with the name of a class before its own.
#[derive(Clone, PartialEq, Debug)]
pub enum ClassVariable<'a> {
    /// Its value.
    Known(&'a Value),
    /// The class has it, or may: why its value is unknown.
    Unknown(Arc<str>),
    /// The class was evaluated and does not have it.
    Undefined,
    /// The class was not evaluated.
    NotEvaluated,
}

/// Evaluates manifests for nodes.
pub trait Manifests: Send + Sync + std::fmt::Debug {
    /// The variables that manifests set for a node whose scope so far is `scope`.
    fn assigned(&self, node: &Node, scope: &Scope) -> Arc<Assigned>;

    /// The same for one of several nodes, by its number. Nodes that differ in nothing that manifests read may
    /// share what is found.
    fn assigned_among(
        &self,
        _nodes: &KnownNodes,
        _member: usize,
        (node, scope): (&Node, &Scope),
    ) -> Arc<Assigned> {
        self.assigned(node, scope)
    }

    /// Whether they may set a variable for some node. If not, they need not be run for it.
    fn may_set(&self, name: &str) -> bool;

    /// Whether they may fail for some node. If not, they need not be run to know that.
    fn may_fail(&self) -> bool;

    /// Whether the variables, or whether they fail, may depend on data.
    fn depend_on_data(&self) -> bool;
}

impl Assigned {
    /// Whether lookups with these variables give the same as with others: also the order in hashes counts.
    #[must_use]
    pub fn does_the_same(&self, other: &Assigned) -> bool {
        let in_order = |one: &Result<Value, Arc<str>>, other: &Result<Value, Arc<str>>| {
            let values = one.as_ref().ok().zip(other.as_ref().ok());
            values.is_none_or(|(one, other)| one.has_order_of(other))
        };
        let same = |one: &Assignments, other: &Assignments| {
            let mut all = one.iter();
            all.all(|(name, set)| {
                let other = other.get(name);
                other.is_some_and(|other| in_order(&set.value, &other.value))
            })
        };
        let same_classes = || {
            let mut all = self.classes.iter();
            all.all(|(name, class)| {
                let others = other.classes.get(name).map(|other| &other.variables);
                let mut variables = class.variables.iter();
                variables.all(|(name, value)| {
                    let other = others.and_then(|others| others.get(name));
                    other.is_some_and(|other| in_order(value, other))
                })
            })
        };
        self == other
            && same(&self.top, &other.top)
            && same(&self.node, &other.node)
            && same_classes()
    }

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
            && self.classes == other.classes
            && self.may_be_more == other.may_be_more
            && self.may_have_classes == other.may_have_classes
            && self.why_no_catalog() == other.why_no_catalog()
    }

    /// Whether a variable that is not in here may still be set.
    #[must_use]
    pub fn may_set(&self, name: &str) -> bool {
        let name = name.strip_prefix("::").unwrap_or(name);
        let is_named = |names: &Arc<BTreeSet<Arc<str>>>| names.contains(name);
        let is_of_class = self.may_have_classes && is_qualified(name);
        let is_set = self.may_be_more.is_some() && self.names.as_ref().is_none_or(is_named);
        is_of_class || is_set
    }

    /// A variable of a class, by its full name, with or without leading `::`; `None` for a name without
    /// a class (`Scope#lookup_qualified_variable`).
    #[must_use]
    pub fn class_variable(&self, name: &str) -> Option<ClassVariable<'_>> {
        /// Maximum number of parents; Puppet refuses loops.
        const MAX_PARENTS: usize = 100;
        let (mut class, leaf) = without_colons(name).rsplit_once("::")?;
        for _ in 0..MAX_PARENTS {
            let Some(evaluated) = self.classes.get(class) else {
                let may_be = || {
                    ClassVariable::Unknown(Arc::from(format!("class '{class}' may be included")))
                };
                return Some(if self.may_have_classes {
                    may_be()
                } else {
                    ClassVariable::NotEvaluated
                });
            };
            match (evaluated.variables.get(leaf), &evaluated.may_be_more) {
                (Some(Ok(value)), _) => return Some(ClassVariable::Known(value)),
                (Some(Err(because)), _) | (None, Some(because)) => {
                    return Some(ClassVariable::Unknown(Arc::clone(because)));
                }
                (None, None) => {}
            }
            match &evaluated.parent {
                Some(parent) => class = parent,
                None => return Some(ClassVariable::Undefined),
            }
        }
        Some(ClassVariable::Undefined)
    }

    /// Whether a variable of a class may have been set only after the parameters of another class were
    /// looked up, at `begun`.
    #[must_use]
    pub fn is_set_later(&self, variable: &str, begun: u32) -> bool {
        let class = without_colons(variable).rsplit_once("::");
        let evaluated = class.and_then(|(class, _)| self.classes.get(class));
        evaluated.is_some_and(|it| it.ended.is_none_or(|ended| ended > begun))
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
