//! The known nodes, prepared for lookups over thousands of nodes: their scopes, and their variables
//! as columns of small numbers, each made on first use.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::column::{Column, ColumnInWork, Path, VariableOutcome};
use super::legacy;
use super::{Assigned, Imported, Knowledge, Manifests, Node, Nodes, Scope, Told};
use crate::value::{InOrder, KeyHashing, Value};

/// Known nodes. Cheap to share; a new value must be made when the nodes change.
#[derive(Debug)]
pub struct KnownNodes {
    id: u64,
    given: Arc<GivenNodes>,
    /// What manifests do for each node; empty without manifests.
    runs: Vec<NodeRun>,
    /// The variables that manifests may set.
    columns: Columns,
    /// Puppet's messages where it compiles no catalog.
    failures: OnceLock<Option<Arc<Column>>>,
    /// The manifests that set variables over those of the nodes.
    manifests: Option<Arc<dyn Manifests>>,
}

/// The nodes as they are described, without what manifests do. They stay the same while data and
/// code are edited, and so does what was found out about them.
#[derive(Debug)]
struct GivenNodes {
    id: u64,
    environment: Arc<str>,
    members: Vec<GivenNode>,
    /// Where they come from, if they were imported.
    imported: Option<Arc<Imported>>,
    /// The numbers of the nodes by name.
    numbers: OnceLock<HashMap<Arc<str>, usize, KeyHashing>>,
    are_names: bool,
    columns: Columns,
}

/// Columns by the dotted paths of their variables.
type Columns = Mutex<HashMap<Arc<str>, Arc<Column>>>;

/// The name of the environment unless another one is requested.
pub const DEFAULT_ENVIRONMENT: &str = "production";

/// Ids of [`KnownNodes`], so that cached results of one are never used for another.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl Default for KnownNodes {
    fn default() -> KnownNodes {
        KnownNodes::of(&[], DEFAULT_ENVIRONMENT)
    }
}

#[derive(Debug)]
struct GivenNode {
    node: Arc<Node>,
    scope: OnceLock<Scope>,
}

/// What manifests do for a node, once they were run.
#[derive(Debug, Default)]
struct NodeRun {
    scope: OnceLock<Scope>,
    assigned: OnceLock<Arc<Assigned>>,
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
        let members = self.nodes().map(|node| {
            let mut node = node.clone();
            Arc::make_mut(&mut node).environment = Some(environment.clone());
            node
        });
        KnownNodes::of_import(
            &members.collect::<Vec<_>>(),
            environment,
            &self.given.imported,
        )
    }

    /// The nodes of a nodes file; those without an environment are in the given one. O(nodes).
    #[must_use]
    pub fn in_environment(nodes: &Nodes, environment: &str) -> KnownNodes {
        KnownNodes::of_import(nodes.all(), environment, &nodes.imported)
    }

    fn of(nodes: &[Arc<Node>], environment: &str) -> KnownNodes {
        KnownNodes::of_import(nodes, environment, &None)
    }

    fn of_import(
        nodes: &[Arc<Node>],
        environment: &str,
        imported: &Option<Arc<Imported>>,
    ) -> KnownNodes {
        let is_name = |node: &Arc<Node>| node.knowledge != Knowledge::All;
        let member = |node: &Arc<Node>| GivenNode {
            node: node.clone(),
            scope: OnceLock::new(),
        };
        let given = GivenNodes {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            environment: Arc::from(environment),
            members: nodes.iter().map(member).collect(),
            imported: imported.clone(),
            numbers: OnceLock::new(),
            are_names: !nodes.is_empty() && nodes.iter().all(is_name),
            columns: Mutex::default(),
        };
        KnownNodes::over(Arc::new(given), None)
    }

    /// The same nodes with the variables that manifests set. These are run for a node when its scope,
    /// or a variable that they may set, is first read. O(nodes).
    #[must_use]
    pub fn with_manifests(&self, manifests: Arc<dyn Manifests>) -> KnownNodes {
        KnownNodes::over(Arc::clone(&self.given), Some(manifests))
    }

    fn over(given: Arc<GivenNodes>, manifests: Option<Arc<dyn Manifests>>) -> KnownNodes {
        let runs = manifests.iter().flat_map(|_| &given.members);
        KnownNodes {
            id: match manifests {
                Some(_) => NEXT.fetch_add(1, Ordering::Relaxed),
                None => given.id,
            },
            runs: runs.map(|_| NodeRun::default()).collect(),
            given,
            columns: Mutex::default(),
            failures: OnceLock::new(),
            manifests,
        }
    }

    /// Where the nodes come from, if they were imported.
    #[must_use]
    pub fn imported(&self) -> Option<&Imported> {
        self.given.imported.as_deref()
    }

    /// The nodes as they are described.
    fn nodes(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.given.members.iter().map(|member| &member.node)
    }

    /// The same nodes, without what manifests set, as an agent describes them that does not send some
    /// legacy facts: they have none of these, also where it is not told which facts they have. O(nodes).
    #[must_use]
    pub fn without_legacy_facts(&self, is_gone: &dyn Fn(&str) -> bool) -> KnownNodes {
        let names: Vec<&str> = legacy::names().filter(|name| is_gone(name)).collect();
        let is_gone = |name: &str| legacy::structured(name).is_some() && is_gone(name);
        let members = self.nodes().map(|node| {
            let mut node = Node::clone(node);
            node.facts = node.facts.without(&is_gone);
            if node.told.facts != Told::All {
                names.iter().for_each(|name| node.told.facts.add(name));
            }
            Arc::new(node)
        });
        KnownNodes::of_import(
            &members.collect::<Vec<_>>(),
            &self.given.environment,
            &self.given.imported,
        )
    }

    /// The same nodes without what manifests set.
    #[must_use]
    pub fn as_given(&self) -> KnownNodes {
        KnownNodes::over(Arc::clone(&self.given), None)
    }

    /// One of the nodes, without what manifests set.
    #[must_use]
    pub fn only(&self, member: usize) -> KnownNodes {
        let node = self.nodes().nth(member).cloned();
        KnownNodes::of(node.as_slice(), &self.given.environment)
    }

    /// The first of the nodes, if there are more; with scopes of their own.
    #[must_use]
    pub fn first(&self, most: usize) -> Option<KnownNodes> {
        if self.len() <= most {
            return None;
        }
        let nodes: Vec<Arc<Node>> = self.nodes().take(most).cloned().collect();
        let first = KnownNodes::of(&nodes, &self.given.environment);
        Some(match &self.manifests {
            Some(manifests) => first.with_manifests(Arc::clone(manifests)),
            None => first,
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

    /// The variables that manifests set for a node, if they were run for it.
    #[must_use]
    pub fn assigned_so_far(&self, member: usize) -> Option<&Arc<Assigned>> {
        self.runs.get(member)?.assigned.get()
    }

    /// An id that is unique in this process, for what manifests set and what they do not.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The id of the same nodes without manifests.
    #[must_use]
    pub fn given_id(&self) -> u64 {
        self.given.id
    }

    /// The number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.given.members.len()
    }

    /// Whether no node is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.given.members.is_empty()
    }

    /// The index of the node of that name. O(nodes) the first time.
    pub fn find(&self, certname: &str) -> Option<usize> {
        let numbers = self.given.numbers.get_or_init(|| {
            let names = self.nodes().map(|node| &node.certname);
            names.cloned().zip(0..).collect()
        });
        numbers.get(certname).copied()
    }

    /// A node as it is described.
    #[must_use]
    pub fn node(&self, member: usize) -> Option<&Node> {
        Some(&self.given.members.get(member)?.node)
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

    /// Whether a source tells that a node is in another environment than that of the workspace.
    #[must_use]
    pub fn is_elsewhere(&self, member: usize) -> bool {
        let own = self.node(member).and_then(|node| node.environment.as_ref());
        own.is_some_and(|own| *own != self.given.environment)
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
        self.given.are_names
    }

    /// The scope of a node, made once.
    pub fn scope(&self, member: usize) -> Scope {
        match (self.given.members.get(member), self.runs.get(member)) {
            (None, _) => Scope::open(),
            (Some(given), None) => given.scope.get_or_init(|| self.given.scope(given)).clone(),
            (Some(_), Some(run)) => run
                .scope
                .get_or_init(|| self.new_scope(member, run))
                .clone(),
        }
    }

    /// The scope of a node without the variables that manifests set. A scope that would cache facts
    /// is not kept, since a question goes to thousands of nodes.
    #[must_use]
    pub fn given_scope(&self, member: usize) -> Scope {
        let Some(given) = self.given.members.get(member) else {
            return Scope::open();
        };
        let make = || self.given.scope(given);
        if given.node.facts.in_memory().is_some() {
            given.scope.get_or_init(make).clone()
        } else {
            given.scope.get().cloned().unwrap_or_else(make)
        }
    }

    fn new_scope(&self, member: usize, run: &NodeRun) -> Scope {
        let scope = self.given_scope(member);
        let (Some(manifests), Some(node)) = (&self.manifests, self.node(member)) else {
            return scope;
        };
        let assigned = run
            .assigned
            .get_or_init(|| manifests.assigned_among(self, member, (node, &scope)));
        scope.with_assigned(assigned.clone())
    }

    /// The scope of a node with the variables that manifests set, for a single question; kept like
    /// [`KnownNodes::given_scope`].
    fn passing_scope(&self, member: usize) -> Scope {
        let is_kept = self
            .node(member)
            .is_some_and(|node| node.facts.in_memory().is_some());
        match self.runs.get(member) {
            None => self.given_scope(member),
            Some(_) if is_kept => self.scope(member),
            Some(run) => {
                let known = run.scope.get().cloned();
                known.unwrap_or_else(|| self.new_scope(member, run))
            }
        }
    }

    /// A variable over all nodes, by its dotted path. O(nodes) the first time.
    pub fn column(&self, variable: &Arc<str>) -> Arc<Column> {
        self.columns(std::iter::once(variable)).remove(0)
    }

    /// Several variables over all nodes, in their order: the scope of each node is made once for all
    /// of them. O(nodes) the first time.
    pub fn columns<'a>(
        &self,
        variables: impl Iterator<Item = &'a Arc<str>> + Clone,
    ) -> Vec<Arc<Column>> {
        for is_set in [false, true] {
            let known = self.known_columns(is_set);
            let missing = variables.clone().filter(|name| {
                self.is_set_by_manifests(name) == is_set && !known.contains_key(*name)
            });
            let missing: Vec<&Arc<str>> = missing.collect();
            drop(known);
            if missing.is_empty() {
                continue;
            }
            let paths: Vec<Path> = missing.iter().map(|name| Path::parse(name)).collect();
            let mut building: Vec<ColumnInWork> = Vec::new();
            building.resize_with(paths.len(), ColumnInWork::default);
            for member in 0..self.len() {
                let scope = if is_set {
                    self.passing_scope(member)
                } else {
                    self.given_scope(member)
                };
                for (path, column) in paths.iter().zip(&mut building) {
                    column.push(path.outcome(&scope, member));
                }
            }
            let columns = building.into_iter().map(|built| Arc::new(built.column));
            let named = missing.into_iter().cloned().zip(columns);
            self.known_columns(is_set).extend(named);
        }
        let found = variables.map(|name| {
            let known = self.known_columns(self.is_set_by_manifests(name));
            known.get(name).cloned().unwrap_or_default()
        });
        found.collect()
    }

    /// Whether manifests may set a variable for some node, by its dotted path.
    #[must_use]
    pub fn is_set_by_manifests(&self, path: &str) -> bool {
        self.may_be_set(path.split('.').next().unwrap_or_default())
    }

    /// The columns so far: of variables that manifests may set, or of others.
    fn known_columns(&self, are_set: bool) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Column>>> {
        let columns = if are_set {
            &self.columns
        } else {
            &self.given.columns
        };
        columns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puppet's messages for the nodes that certainly get no catalog, as a column; `None` if all get
    /// one. Manifests that may fail are run for all nodes the first time.
    pub fn failures(&self) -> Option<Arc<Column>> {
        let manifests = self.manifests.as_ref()?;
        let find = || {
            if !manifests.may_fail() {
                return None;
            }
            let mut built = ColumnInWork::default();
            for member in 0..self.len() {
                let scope = self.passing_scope(member);
                let assigned = scope.assigned();
                let message = assigned.and_then(|assigned| assigned.why_no_catalog());
                built.push(message.map_or(VariableOutcome::Undefined, |message| {
                    VariableOutcome::Known(InOrder(Value::String(message.clone())))
                }));
            }
            let column = built.column;
            let fails = column.values.iter().any(Option::is_some);
            fails.then(|| Arc::new(column))
        };
        self.failures.get_or_init(find).clone()
    }
}

impl GivenNodes {
    /// A new scope of a node.
    fn scope(&self, given: &GivenNode) -> Scope {
        let environment = given.node.environment.as_deref();
        let scope = given.node.scope(environment.unwrap_or(&self.environment));
        scope.served()
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

    #[test]
    fn other_manifests_change_only_what_they_may_set() {
        let text = "a: {facts: {site: lon}}\nb: {facts: {site: nyc}}\n";
        let nodes = Nodes::read(&load_yaml(text.as_bytes()).unwrap(), &Default::default()).unwrap();
        let known = KnownNodes::new(&nodes).with_manifests(Arc::new(Counting::default()));
        let again = known.with_manifests(Arc::new(Counting::default()));
        assert_ne!(known.id(), again.id());
        assert_eq!(known.given_id(), again.as_given().id());
        let is_kept = |name: &str| {
            let name = Arc::from(name);
            Arc::ptr_eq(&known.column(&name), &again.column(&name))
        };
        assert!(is_kept("facts.site"));
        assert!(!is_kept("role"));
    }

    #[test]
    fn several_columns_are_those_of_each_variable() {
        let text = "a: {facts: {site: lon}, variables: {role: x}}\nb: {facts: {site: nyc}}\nc: {variables: {role: x}}\n";
        let nodes = Nodes::read(&load_yaml(text.as_bytes()).unwrap(), &Default::default()).unwrap();
        let with_manifests =
            || KnownNodes::new(&nodes).with_manifests(Arc::new(Counting::default()));
        let names = ["role", "facts.site", "facts", "role"].map(Arc::from);
        let together = with_manifests().columns(names.iter());
        assert_eq!(together.len(), names.len());
        for (name, column) in names.iter().zip(together) {
            let alone = with_manifests().column(name);
            assert_eq!(column.ids, alone.ids, "{name}");
            assert_eq!(column.values, alone.values, "{name}");
            assert_eq!(column.counts, alone.counts, "{name}");
        }
    }
}
