//! The known nodes, ready to be asked by the thousand: their scopes, and their variables as
//! columns of small numbers, each made on first use.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::scope::{Node, Nodes, Scope, Variable};
use crate::value::Value;

/// Known nodes. Cheap to share; make a new one when the nodes change.
#[derive(Debug, Default)]
pub struct KnownNodes {
    members: Vec<Member>,
    columns: Mutex<HashMap<Arc<str>, Arc<Column>>>,
}

#[derive(Debug)]
struct Member {
    node: Arc<Node>,
    scope: OnceLock<Scope>,
}

/// One variable over all nodes.
#[derive(Debug)]
pub(super) struct Column {
    /// For each node the number of its value.
    pub(super) ids: Vec<u32>,
    /// The different values; nothing where the variable does not exist.
    pub(super) values: Vec<Option<Value>>,
}

impl Column {
    /// The value of a node's variable.
    pub(super) fn value(&self, member: usize) -> Option<&Value> {
        let id = *self.ids.get(member)?;
        self.values.get(id as usize)?.as_ref()
    }

    /// What the variable becomes in a path.
    pub(super) fn text(&self, member: usize) -> String {
        self.value(member).map(Value::to_s).unwrap_or_default()
    }
}

impl KnownNodes {
    /// The nodes of a nodes file. O(nodes).
    #[must_use]
    pub fn new(nodes: &Nodes) -> KnownNodes {
        let members = nodes.all().iter().map(|node| Member {
            node: node.clone(),
            scope: OnceLock::new(),
        });
        KnownNodes {
            members: members.collect(),
            columns: Mutex::default(),
        }
    }

    /// How many nodes are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether no node is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The number of the node of that name.
    pub(super) fn find(&self, certname: &str) -> Option<usize> {
        let is_it = |member: &Member| &*member.node.certname == certname;
        self.members.iter().position(is_it)
    }

    /// The certname of a node.
    pub(super) fn certname(&self, member: usize) -> &str {
        self.members
            .get(member)
            .map_or("", |member| &member.node.certname)
    }

    /// The scope of a node, made once.
    pub(super) fn scope(&self, member: usize) -> Scope {
        let Some(member) = self.members.get(member) else {
            return Scope::open();
        };
        let make = || {
            let environment = member.node.environment.as_deref();
            member.node.scope(environment.unwrap_or("production"))
        };
        member.scope.get_or_init(make).clone()
    }

    /// A variable over all nodes, by its dotted path. O(nodes) the first time.
    pub(super) fn column(&self, variable: &Arc<str>) -> Arc<Column> {
        let lock = || self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(variable) {
            return known.clone();
        }
        let mut numbers: HashMap<Option<Value>, u32> = HashMap::new();
        let mut column = Column {
            ids: Vec::with_capacity(self.len()),
            values: Vec::new(),
        };
        for member in 0..self.len() {
            let value = match self.scope(member).variable(variable) {
                Variable::Known(value) => Some(value),
                Variable::Undefined(_) | Variable::Unknown => None,
            };
            let next = column.values.len() as u32;
            let id = *numbers.entry(value.clone()).or_insert(next);
            if id == next {
                column.values.push(value);
            }
            column.ids.push(id);
        }
        let column = Arc::new(column);
        lock().insert(variable.clone(), column.clone());
        column
    }
}
