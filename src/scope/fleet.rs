//! The known nodes, prepared for lookups over thousands of nodes: their scopes, and their variables
//! as columns of small numbers, each made on first use.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::legacy;
use super::{
    Assigned, CoreFact, Knowledge, Manifests, Node, Nodes, Scope, Undefined, Variable, core_fact,
};
use crate::interpolation::{Key, Segment};
use crate::value::{KeyHashing, Value};

/// Known nodes. Cheap to share; a new value must be made when the nodes change.
#[derive(Debug)]
pub struct KnownNodes {
    id: u64,
    environment: Arc<str>,
    members: Vec<FleetMember>,
    /// The numbers of the nodes by name.
    numbers: OnceLock<HashMap<Arc<str>, usize, KeyHashing>>,
    are_names: bool,
    columns: Mutex<HashMap<Arc<str>, Arc<Column>>>,
    /// Puppet's messages where it compiles no catalog.
    failures: OnceLock<Option<Arc<Column>>>,
    /// The manifests that set variables over those of the nodes.
    manifests: Option<Arc<dyn Manifests>>,
}

/// The name of the environment unless another one is requested.
pub const DEFAULT_ENVIRONMENT: &str = "production";

/// Ids of [`KnownNodes`], so that cached results of one are never used for another.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl Default for KnownNodes {
    fn default() -> KnownNodes {
        KnownNodes {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            environment: Arc::from(DEFAULT_ENVIRONMENT),
            members: Vec::new(),
            numbers: OnceLock::new(),
            are_names: false,
            columns: Mutex::default(),
            failures: OnceLock::new(),
            manifests: None,
        }
    }
}

#[derive(Debug)]
struct FleetMember {
    node: Arc<Node>,
    scope: OnceLock<Scope>,
    /// The scope without the variables of manifests.
    plain: OnceLock<Scope>,
    assigned: OnceLock<Arc<Assigned>>,
}

impl FleetMember {
    fn new(node: &Arc<Node>) -> FleetMember {
        FleetMember {
            node: node.clone(),
            scope: OnceLock::new(),
            plain: OnceLock::new(),
            assigned: OnceLock::new(),
        }
    }
}

/// One variable over all nodes.
#[derive(Debug, Default)]
pub struct Column {
    /// For each node the index of its value.
    pub ids: Vec<u32>,
    /// The distinct values; `None` if the variable does not exist, or is unknown.
    pub values: Vec<Option<Value>>,
    /// For each value the number of nodes.
    pub counts: Vec<usize>,
    /// The index of the unknown value, if some nodes have it.
    pub unknown: Option<u32>,
    /// The nodes by the variable's text in a path.
    pub(crate) by_text: OnceLock<HashMap<String, Vec<u32>, KeyHashing>>,
}

impl Column {
    /// The value of a node's variable.
    pub fn value(&self, member: usize) -> Option<&Value> {
        let id = *self.ids.get(member)?;
        self.values.get(id as usize)?.as_ref()
    }

    /// Whether the variable certainly does not exist for a node.
    #[must_use]
    pub fn is_undefined(&self, member: usize) -> bool {
        let id = self.ids.get(member);
        id.is_some_and(|id| self.values[*id as usize].is_none() && self.unknown != Some(*id))
    }

    /// Whether the variable certainly does not exist for some node.
    #[must_use]
    pub fn is_undefined_for_some(&self) -> bool {
        let mut values = (0..).zip(&self.values);
        values.any(|(id, value)| value.is_none() && self.unknown != Some(id))
    }

    /// The variable's text in a path.
    pub fn text(&self, member: usize) -> Cow<'_, str> {
        in_path(self.value(member))
    }

    /// The nodes for which the variable has a text in a path, in their order. O(nodes) the first
    /// time.
    pub fn members_with(&self, text: &str) -> &[u32] {
        let by_text = self.by_text.get_or_init(|| {
            let texts: Vec<Cow<'_, str>> = self.texts().collect();
            let mut by_text: HashMap<String, Vec<u32>, KeyHashing> = HashMap::default();
            for (member, id) in (0..).zip(&self.ids) {
                match by_text.get_mut(&*texts[*id as usize]) {
                    Some(members) => members.push(member),
                    None => {
                        by_text.insert(texts[*id as usize].to_string(), vec![member]);
                    }
                }
            }
            by_text
        });
        by_text.get(text).map(Vec::as_slice).unwrap_or_default()
    }

    /// The text of each value in a path, in the order of the values.
    pub fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.values.iter().map(|value| in_path(value.as_ref()))
    }
}

fn in_path(value: Option<&Value>) -> Cow<'_, str> {
    match value {
        None => Cow::Borrowed(""),
        Some(value) => match value.as_str() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(value.to_s()),
        },
    }
}

impl KnownNodes {
    /// The nodes of a nodes file; those without an environment are in `production`. O(nodes).
    #[must_use]
    pub fn new(nodes: &Nodes) -> KnownNodes {
        KnownNodes::in_environment(nodes, DEFAULT_ENVIRONMENT)
    }

    /// The same nodes as members of one environment. O(nodes).
    #[must_use]
    pub fn as_members(&self, environment: &Arc<str>) -> KnownNodes {
        let members = self.members.iter().map(|member| {
            let mut node = member.node.clone();
            Arc::make_mut(&mut node).environment = Some(environment.clone());
            node
        });
        KnownNodes::in_environment(&members.collect(), environment)
    }

    /// The nodes of a nodes file; those without an environment are in the given one. O(nodes).
    #[must_use]
    pub fn in_environment(nodes: &Nodes, environment: &str) -> KnownNodes {
        let is_name = |node: &Arc<Node>| node.knowledge != Knowledge::All;
        KnownNodes {
            environment: Arc::from(environment),
            members: nodes.all().iter().map(FleetMember::new).collect(),
            are_names: !nodes.all().is_empty() && nodes.all().iter().all(is_name),
            ..KnownNodes::default()
        }
    }

    /// The same nodes with the variables that manifests set. These are run for a node when its scope,
    /// or a variable that they may set, is first read. O(nodes).
    #[must_use]
    pub fn with_manifests(&self, manifests: Arc<dyn Manifests>) -> KnownNodes {
        let members = self.members.iter();
        KnownNodes {
            environment: self.environment.clone(),
            members: members
                .map(|member| FleetMember::new(&member.node))
                .collect(),
            are_names: self.are_names,
            manifests: Some(manifests),
            ..KnownNodes::default()
        }
    }

    /// The same nodes, without what manifests set, as an agent describes them that does not send some
    /// legacy facts: they have none of these, also where it is not told which facts they have. O(nodes).
    #[must_use]
    pub fn without_legacy_facts(&self, is_gone: &dyn Fn(&str) -> bool) -> KnownNodes {
        let is_gone = |name: &str| {
            let is_legacy = matches!(core_fact(name), CoreFact::Legacy(_));
            is_legacy && is_gone(name)
        };
        let members = self.members.iter().map(|member| {
            let mut node = Node::clone(&member.node);
            node.facts = node.facts.without(&is_gone);
            let names = legacy::names().filter(|name| is_gone(name));
            names.for_each(|name| node.told.facts.add(name));
            Arc::new(node)
        });
        KnownNodes::in_environment(&members.collect(), &self.environment)
    }

    /// The same nodes without what manifests set. O(nodes).
    #[must_use]
    pub fn as_given(&self) -> KnownNodes {
        let nodes = self.members.iter().map(|member| Arc::clone(&member.node));
        KnownNodes::in_environment(&nodes.collect(), &self.environment)
    }

    /// One of the nodes, without what manifests set.
    #[must_use]
    pub fn only(&self, member: usize) -> KnownNodes {
        let node = self.members.get(member).map(|it| Arc::clone(&it.node));
        KnownNodes::in_environment(&node.into_iter().collect(), &self.environment)
    }

    /// The first of the nodes, if there are more; with scopes of their own.
    #[must_use]
    pub fn first(&self, most: usize) -> Option<KnownNodes> {
        let members = self.members.iter().take(most);
        (self.len() > most).then(|| KnownNodes {
            environment: self.environment.clone(),
            members: members
                .map(|member| FleetMember::new(&member.node))
                .collect(),
            are_names: self.are_names,
            manifests: self.manifests.clone(),
            ..KnownNodes::default()
        })
    }

    /// Whether manifests are run for the nodes.
    #[must_use]
    pub fn has_manifests(&self) -> bool {
        self.manifests.is_some()
    }

    /// Whether manifests may set a variable for some node.
    #[must_use]
    pub fn may_be_set(&self, name: &str) -> bool {
        self.manifests.as_ref().is_some_and(|it| it.may_set(name))
    }

    /// Whether what manifests do may depend on data.
    #[must_use]
    pub fn depend_on_data(&self) -> bool {
        self.manifests
            .as_ref()
            .is_some_and(|it| it.depend_on_data())
    }

    /// The variables that manifests set for a node; `None` if none are run.
    #[must_use]
    pub fn assigned(&self, member: usize) -> Option<Arc<Assigned>> {
        self.manifests.as_ref()?;
        self.scope(member).assigned().cloned()
    }

    /// An id that is unique in this process.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether no node is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The index of the node of that name. O(nodes) the first time.
    pub fn find(&self, certname: &str) -> Option<usize> {
        let numbers = self.numbers.get_or_init(|| {
            let names = self.members.iter().map(|member| &member.node.certname);
            names.cloned().zip(0..).collect()
        });
        numbers.get(certname).copied()
    }

    fn node(&self, member: usize) -> Option<&Node> {
        Some(&self.members.get(member)?.node)
    }

    /// The certname of a node.
    pub fn certname(&self, member: usize) -> &str {
        self.node(member).map_or("", |node| &node.certname)
    }

    /// The certname of a node, shared.
    #[must_use]
    pub fn shared_name(&self, member: usize) -> Arc<str> {
        let node = self.node(member);
        node.map_or_else(|| Arc::from(""), |node| node.certname.clone())
    }

    /// The environment of a node, if a source tells it.
    #[must_use]
    pub fn own_environment(&self, member: usize) -> Option<&str> {
        self.node(member)?.environment.as_deref()
    }

    /// How much is known of a node.
    #[must_use]
    pub fn knowledge(&self, member: usize) -> Knowledge {
        let node = self.node(member);
        node.map_or(Knowledge::All, |node| node.knowledge)
    }

    /// The variables that are given for a node besides its facts, in their order.
    pub fn variables_of(&self, member: usize) -> impl Iterator<Item = (Arc<str>, &Value)> {
        let variables = self.node(member).into_iter();
        let variables = variables.flat_map(|node| node.variables.iter());
        variables.filter_map(|(name, value)| Some((Arc::from(name.as_str()?), value)))
    }

    /// Whether there are nodes, and all of them are known only by name.
    #[must_use]
    pub fn are_names(&self) -> bool {
        self.are_names
    }

    /// The scope of a node, made once.
    pub fn scope(&self, member: usize) -> Scope {
        let Some(member) = self.members.get(member) else {
            return Scope::open();
        };
        let make = || self.new_scope(member);
        member.scope.get_or_init(make).clone()
    }

    fn plain_scope(&self, member: &FleetMember) -> Scope {
        let environment = member.node.environment.as_deref();
        let scope = member.node.scope(environment.unwrap_or(&self.environment));
        scope.served()
    }

    fn new_scope(&self, member: &FleetMember) -> Scope {
        let scope = self.plain_scope(member);
        let Some(manifests) = &self.manifests else {
            return scope;
        };
        let run = || manifests.assigned(&member.node, &scope);
        scope.with_assigned(member.assigned.get_or_init(run).clone())
    }

    /// The scope of a node, for a single question. A scope that would cache facts is not kept,
    /// since a question goes to thousands of nodes. Manifests are run only for a variable that they
    /// may set.
    fn passing_scope(&self, member: usize, is_set_by_manifests: bool) -> Scope {
        let Some(entry) = self.members.get(member) else {
            return Scope::open();
        };
        let is_kept = entry.node.facts.in_memory().is_some();
        match (self.manifests.is_some() && !is_set_by_manifests, is_kept) {
            (true, true) => entry.plain.get_or_init(|| self.plain_scope(entry)).clone(),
            (true, false) => self.plain_scope(entry),
            (false, true) => self.scope(member),
            (false, false) => {
                let known = entry.scope.get().cloned();
                known.unwrap_or_else(|| self.new_scope(entry))
            }
        }
    }

    /// A variable over all nodes, by its dotted path. O(nodes) the first time.
    pub fn column(&self, variable: &Arc<str>) -> Arc<Column> {
        let lock = || self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(variable) {
            return known.clone();
        }
        let path = Path::parse(variable);
        let root = variable.split('.').next().unwrap_or_default();
        let is_set = self.manifests.as_ref().is_some_and(|it| it.may_set(root));
        let column =
            self.column_of(|member| path.outcome(&self.passing_scope(member, is_set), member));
        let column = Arc::new(column);
        lock().insert(variable.clone(), column.clone());
        column
    }

    /// Puppet's messages for the nodes that certainly get no catalog, as a column; `None` if all get
    /// one. Manifests that may fail are run for all nodes the first time.
    pub fn failures(&self) -> Option<Arc<Column>> {
        let manifests = self.manifests.as_ref()?;
        let find = || {
            if !manifests.may_fail() {
                return None;
            }
            let column = self.column_of(|member| {
                let scope = self.passing_scope(member, true);
                let assigned = scope.assigned();
                let message = assigned.and_then(|assigned| assigned.why_no_catalog());
                message.map_or(VariableOutcome::Undefined, |message| {
                    VariableOutcome::Known(Value::String(message.clone()))
                })
            });
            let fails = column.values.iter().any(Option::is_some);
            fails.then(|| Arc::new(column))
        };
        self.failures.get_or_init(find).clone()
    }

    /// An outcome over all nodes.
    fn column_of(&self, outcome: impl Fn(usize) -> VariableOutcome) -> Column {
        let mut numbers: HashMap<VariableOutcome, u32, KeyHashing> = HashMap::default();
        let mut column = Column {
            ids: Vec::with_capacity(self.len()),
            ..Column::default()
        };
        for member in 0..self.len() {
            let outcome = outcome(member);
            let next = column.values.len() as u32;
            let id = match numbers.get(&outcome) {
                Some(id) => *id,
                None => {
                    column.values.push(outcome.value());
                    column.counts.push(0);
                    if outcome == VariableOutcome::Unknown {
                        column.unknown = Some(next);
                    }
                    numbers.insert(outcome, next);
                    next
                }
            };
            column.ids.push(id);
            column.counts[id as usize] += 1;
        }
        column
    }
}

struct Path {
    root: Option<(Arc<str>, Vec<Segment>)>,
}

/// Everything a lookup can learn of a variable: equal outcomes lead to equal answers.
#[derive(PartialEq, Eq, Hash)]
enum VariableOutcome {
    /// The value at the end of the path.
    Known(Value),
    Undefined,
    /// It may exist; answers mark it as unknown.
    Unknown,
    /// The path ends early, at a value that may be no collection: Puppet's message depends on that
    /// value.
    Stopped(usize, Value),
    /// The path is invalid: no two nodes share an outcome.
    Own(usize),
}

impl VariableOutcome {
    fn value(&self) -> Option<Value> {
        let VariableOutcome::Known(value) = self else {
            return None;
        };
        Some(value.clone())
    }
}

impl Path {
    fn parse(text: &str) -> Path {
        let key = Key::parse(text).ok();
        let root = key.and_then(|key| Some((Arc::from(key.root.as_name()?), key.segments)));
        Path { root }
    }

    fn outcome(&self, scope: &Scope, member: usize) -> VariableOutcome {
        let Some((root, segments)) = &self.root else {
            return VariableOutcome::Own(member);
        };
        let mut value = match scope.dotted(root, segments) {
            Variable::Known(value) => value,
            Variable::Undefined(Undefined { .. }) => return VariableOutcome::Undefined,
            Variable::Unknown => return VariableOutcome::Unknown,
        };
        for (depth, segment) in segments.iter().enumerate() {
            value = match segment.part_of(&value) {
                Some(next) => next.clone(),
                None if value.as_hash().is_some() => {
                    return VariableOutcome::Stopped(depth, Value::Undef);
                }
                None => return VariableOutcome::Stopped(depth + 1, value),
            };
        }
        VariableOutcome::Known(value)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::value::load_yaml;

    /// Manifests that set `$role`, and count their runs.
    #[derive(Debug, Default)]
    struct Counting(AtomicUsize);

    impl Manifests for Counting {
        fn assigned(&self, _: &Node, _: &Scope) -> Arc<Assigned> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Arc::default()
        }

        fn may_set(&self, name: &str) -> bool {
            name == "role"
        }

        fn may_fail(&self) -> bool {
            false
        }

        fn depend_on_data(&self) -> bool {
            false
        }
    }

    #[test]
    fn manifests_are_run_only_for_what_they_may_set() {
        let text = "a: {facts: {site: lon}}\nb: {facts: {site: nyc}}\n";
        let nodes = Nodes::read(&load_yaml(text.as_bytes()).unwrap(), &Default::default()).unwrap();
        let manifests = Arc::new(Counting::default());
        let known = KnownNodes::new(&nodes).with_manifests(manifests.clone());
        assert_eq!(known.column(&Arc::from("facts.site")).values.len(), 2);
        assert_eq!(manifests.0.load(Ordering::Relaxed), 0);
        known.column(&Arc::from("role"));
        known.column(&Arc::from("role.x"));
        assert_eq!(manifests.0.load(Ordering::Relaxed), 2);
    }
}
