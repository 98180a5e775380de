//! A known node, and its scope.

use std::sync::Arc;

use super::facts_file::trusted_in;
use super::{Completeness, Facts, Scope, Told};
use crate::interpolation::Segment;
use crate::value::{HashMap, StrKey, Value};

/// A known node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Node {
    /// The certificate's name.
    pub certname: Arc<str>,
    /// Facts, with common ones below the node's own.
    pub facts: Facts,
    /// Trusted data beyond the certname.
    pub trusted: HashMap,
    /// Top-scope variables of an ENC.
    pub variables: HashMap,
    /// The environment an ENC assigns.
    pub environment: Option<Arc<str>>,
    /// Whether it has more data than is given here.
    pub knowledge: Knowledge,
    /// What is complete in the given data.
    pub told: Completeness,
    /// Whether its facts come from a file, which may be written by hand: those that every system has,
    /// and that are missing, are unknown.
    pub from_file: bool,
}

/// How complete the data of a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Knowledge {
    /// A source tells all or some of its data: see [`Node::told`].
    #[default]
    All,
    /// Its name and the given data; the rest is unknown.
    Name,
    /// Like [`Knowledge::Name`], but the name is no certname: data files use it.
    Label,
}

impl Knowledge {
    /// Of a node whose sources tell this.
    pub(super) fn of(told: &Completeness) -> Knowledge {
        if *told == Completeness::nothing() {
            Knowledge::Name
        } else {
            Knowledge::All
        }
    }
}

impl Node {
    /// A node with only the common facts, and no other data.
    #[must_use]
    pub fn new(certname: &str, facts: &HashMap) -> Node {
        Node {
            certname: Arc::from(certname),
            facts: Facts::from(facts_over(certname, &HashMap::default(), facts)),
            ..Node::default()
        }
    }

    /// A node with exactly these facts, as in `puppet lookup --facts`: trusted data among them is
    /// used, and missing data does not exist.
    #[must_use]
    pub fn with_facts(certname: &str, facts: &HashMap) -> Node {
        let trusted = match trusted_in(facts) {
            Some(mut trusted) => {
                for part in ["hostname", "domain", "external"] {
                    trusted.entry(part.into()).or_default();
                }
                trusted
            }
            // `Puppet::Context::TrustedInformation.local`
            None => {
                let certname = facts.get(&StrKey("clientcert"));
                let certname = certname.filter(|name| name.as_str().is_some());
                let certname = certname.map(|name| (Value::from("certname"), name.clone()));
                certname.into_iter().collect()
            }
        };
        Node {
            certname: Arc::from(certname),
            facts: Facts::from(facts.clone()),
            trusted,
            ..Node::default()
        }
    }

    /// The node as `puppet lookup --facts` has it where no CA answers: its trusted data is not that of
    /// a certificate, but comes from the fact `clientcert` (`TrustedInformation.local`).
    #[must_use]
    pub fn looked_up(certname: &str, facts: &HashMap) -> Node {
        let node = Node::with_facts(certname, facts);
        if trusted_in(facts).is_some() {
            return node;
        }
        let name = facts.get(&StrKey("clientcert")).and_then(Value::as_str);
        let none = ["certname", "hostname", "domain"].map(|part| (part.into(), Value::Undef));
        let unnamed = match name {
            Some(_) => HashMap::default(),
            None => HashMap::from_iter(none),
        };
        Node {
            trusted: default_trusted(name.unwrap_or_default(), Authenticated::Local, &unnamed),
            ..node
        }
    }

    /// Whether the trusted data says that the node has no name.
    #[must_use]
    pub fn is_nameless(&self) -> bool {
        let certname = self.trusted.get(&StrKey("certname"));
        certname.is_some_and(Value::is_undef)
    }

    /// The node with some facts replaced, each completely, as in `puppet lookup --facts`
    /// (`Puppet::Node::Facts#add_extra_values`). Trusted data among them replaces the node's.
    #[must_use]
    pub fn with_facts_over(&self, given: &HashMap) -> Node {
        let mut facts = self.facts.whole().as_ref().clone();
        facts.extend(
            given
                .iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        let mut told = self.told.clone();
        for name in given.keys().filter_map(Value::as_str) {
            told.facts.add_path(vec![Segment::Name(name.into())]);
        }
        let trusted = trusted_in(given);
        told.trusted = told.trusted.or(&Told::all_if(trusted.is_some()));
        Node {
            facts: Facts::from(facts),
            trusted: trusted.unwrap_or_else(|| self.trusted.clone()),
            told,
            ..self.clone()
        }
    }

    /// Sets the fact at a dotted path.
    pub fn set_fact(&mut self, path: &str, value: Value) {
        self.facts.set(path, value);
        self.told.facts.add(path);
    }

    /// The node with what its source does not tell taken from another source of less priority.
    #[must_use]
    pub fn over(&self, below: &Node) -> Node {
        let facts = match (&self.told.facts, &below.told.facts) {
            (Told::All, _) => self.facts.clone(),
            (Told::Paths(_), Told::All) => below.facts.clone(),
            (Told::Paths(_), Told::Paths(_)) => {
                let merged = deep_merge_facts(&below.facts.whole(), &self.facts.whole());
                Facts::from(merged)
            }
        };
        let trusted = match (&self.told.trusted, &below.told.trusted) {
            (Told::All, _) => self.trusted.clone(),
            (Told::Paths(_), Told::All) => below.trusted.clone(),
            (Told::Paths(_), Told::Paths(_)) => deep_merge_facts(&below.trusted, &self.trusted),
        };
        let variables = if self.told.variables == Told::All {
            self.variables.clone()
        } else {
            deep_merge_facts(&below.variables, &self.variables)
        };
        let told = Completeness {
            facts: self.told.facts.or(&below.told.facts),
            trusted: self.told.trusted.or(&below.told.trusted),
            variables: self.told.variables.or(&below.told.variables),
        };
        Node {
            certname: self.certname.clone(),
            facts,
            trusted,
            variables,
            environment: self
                .environment
                .clone()
                .or_else(|| below.environment.clone()),
            knowledge: Knowledge::of(&told),
            told,
            from_file: self.from_file || below.from_file,
        }
    }

    /// A node known only by name, such as one with a data file.
    #[must_use]
    pub fn named(certname: &str) -> Node {
        Node {
            certname: Arc::from(certname),
            knowledge: Knowledge::Name,
            told: Completeness::nothing(),
            ..Node::default()
        }
    }

    /// The scope of a lookup for this node.
    #[must_use]
    pub fn scope(&self, environment: &str) -> Scope {
        match self.knowledge {
            Knowledge::All => self.closed_scope(environment),
            Knowledge::Name | Knowledge::Label => self.open_scope(environment),
        }
    }

    /// The given data of the node, and the values derived from its name.
    fn open_scope(&self, environment: &str) -> Scope {
        let mut scope = Scope::open();
        scope.bind("environment", environment);
        let facts = Value::Hash(self.facts.whole());
        bind_leaves(&mut scope, "facts", &facts, 0);
        for (name, value) in &self.variables {
            if let Some(name) = name.as_str() {
                bind_leaves(&mut scope, name, value, 0);
            }
        }
        bind_leaves(&mut scope, "trusted", &Value::from(self.trusted.clone()), 0);
        if self.knowledge != Knowledge::Label {
            self.bind_name(&mut scope);
        }
        scope
    }

    /// Binds what follows from the certname, as far as it is unknown.
    fn bind_name(&self, scope: &mut Scope) {
        let (hostname, domain) = self
            .certname
            .split_once('.')
            .unwrap_or((&self.certname, ""));
        for (path, value) in [
            ("trusted.certname", &*self.certname),
            ("trusted.hostname", hostname),
            ("trusted.domain", domain),
            ("facts.networking.fqdn", &self.certname),
            ("facts.networking.hostname", hostname),
            ("facts.networking.domain", domain),
        ] {
            scope.bind(path, value);
        }
    }

    fn closed_scope(&self, environment: &str) -> Scope {
        let certname = self.trusted.get(&StrKey("certname"));
        let certname = certname.and_then(Value::as_str).unwrap_or(&self.certname);
        let trusted = default_trusted(certname, Authenticated::Remote, &self.trusted);
        let server_facts = self.variables.get(&StrKey("server_facts"));
        let server_facts = server_facts.and_then(Value::as_hash).cloned();
        let mut server_facts = server_facts.unwrap_or_default();
        server_facts.insert("environment".into(), environment.into());
        let scope = Scope::closed(
            &self.facts,
            &trusted,
            &server_facts,
            &self.variables,
            environment,
        );
        let scope = scope.told(&self.told, &self.variables);
        let mut scope = if self.from_file {
            scope.described_by_file()
        } else {
            scope
        };
        if self.told.facts.is_nothing() {
            self.bind_name(&mut scope);
        }
        scope
    }
}

/// Binds every leaf of a value, by its path.
fn bind_leaves(scope: &mut Scope, path: &str, value: &Value, depth: usize) {
    /// Data given by hand is not deep.
    const MAX_DEPTH: usize = 32;
    let Some(parts) = value.as_hash() else {
        return scope.bind_value(path, value.clone());
    };
    for (name, part) in parts {
        if let Some(name) = name.as_str().filter(|_| depth < MAX_DEPTH) {
            bind_leaves(scope, &format!("{path}.{name}"), part, depth + 1);
        }
    }
}

/// How Puppet verified a node's name (`trusted.authenticated`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Authenticated {
    /// By its certificate, as for an agent's catalog.
    Remote,
    /// Not at all: the compilation runs on the same machine, as in `puppet lookup`.
    Local,
}

/// The default trusted hash of a node, overridden by `extra`
/// (`puppet/context/trusted_information.rb`).
#[must_use]
pub fn default_trusted(certname: &str, authenticated: Authenticated, extra: &HashMap) -> HashMap {
    let (hostname, domain) = match certname.split_once('.') {
        Some((hostname, domain)) => (hostname, Value::string(domain)),
        None => (certname, Value::Undef),
    };
    let authenticated = match authenticated {
        Authenticated::Remote => "remote",
        Authenticated::Local => "local",
    };
    let mut trusted = HashMap::default();
    let mut set = |name: &str, value: Value| {
        trusted.insert(Value::string(name), value);
    };
    set("authenticated", authenticated.into());
    set("certname", certname.into());
    set("extensions", Value::hash([]));
    set("hostname", hostname.into());
    set("domain", domain);
    set("external", Value::hash([]));
    trusted.extend(
        extra
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    trusted
}

/// A node's own facts over common ones.
pub(super) fn facts_over(certname: &str, own: &HashMap, common: &HashMap) -> HashMap {
    let mut facts = deep_merge_facts(common, own);
    name_facts(certname, own, &mut facts);
    facts
}

/// A value with another part at a path; a number in it is a list index.
pub(super) fn with_part_at(whole: &Value, path: &[Value], value: Value) -> Value {
    /// Maximum length of a list of facts; a larger number is no index.
    const MOST: usize = 100_000;
    match path.split_first() {
        None => value,
        Some((Value::Int(at), rest)) => {
            let mut all = whole.as_array().unwrap_or_default().to_vec();
            if let Some(at) = usize::try_from(*at).ok().filter(|at| *at < MOST) {
                if all.len() <= at {
                    all.resize(at + 1, Value::Undef);
                }
                all[at] = with_part_at(&all[at], rest, value);
            }
            Value::from(all)
        }
        Some((name, rest)) => {
            let mut hash = whole.as_hash().cloned().unwrap_or_default();
            let part = hash.entry(name.clone()).or_default();
            *part = with_part_at(part, rest, value);
            Value::from(hash)
        }
    }
}

/// Facts as Puppet accepts them from an agent: values other than collections, numbers, booleans and
/// texts become text, so that nil is `''` (`puppet/node/facts.rb`, `sanitize`).
pub(super) fn sanitize_facts(facts: &Arc<HashMap>) -> Arc<HashMap> {
    let mut all = facts.iter();
    if all.all(|(name, value)| is_sane(name) && is_sane(value)) {
        return facts.clone();
    }
    let all = facts.iter();
    Arc::new(
        all.map(|(name, value)| (name.clone(), sanitize(value)))
            .collect(),
    )
}

/// Whether a fact is accepted unchanged.
fn is_sane(value: &Value) -> bool {
    match value {
        Value::Hash(hash) => hash.iter().all(|(k, v)| is_sane(k) && is_sane(v)),
        Value::Array(elements) => elements.iter().all(is_sane),
        Value::Undef | Value::Symbol(_) | Value::Default | Value::Rich(_) => false,
        _ => true,
    }
}

/// A fact as Puppet accepts it, see [`sanitize_facts`].
pub(super) fn sanitize(value: &Value) -> Value {
    if is_sane(value) {
        return value.clone();
    }
    match value {
        Value::Hash(hash) => Value::from(
            hash.iter()
                .map(|(k, v)| (sanitize(k), sanitize(v)))
                .collect::<HashMap>(),
        ),
        Value::Array(elements) => Value::array(elements.iter().map(sanitize)),
        Value::Undef | Value::Symbol(_) | Value::Default | Value::Rich(_) => {
            Value::from(value.to_s())
        }
        _ => value.clone(),
    }
}

/// Merges `own` over `common`, hash by hash; lists and scalars are replaced.
#[must_use]
pub fn deep_merge_facts(common: &HashMap, own: &HashMap) -> HashMap {
    let mut merged = common.clone();
    for (name, value) in own {
        let value = match (merged.get(name), value) {
            (Some(Value::Hash(below)), Value::Hash(above)) => {
                Value::from(deep_merge_facts(below, above))
            }
            _ => value.clone(),
        };
        merged.insert(name.clone(), value);
    }
    merged
}

/// Sets the facts that follow from a node's name: those that are missing in facts without
/// `networking`, and those of another node among the common ones. Legacy facts are not added: a node
/// has those that its facts contain.
pub(super) fn name_facts(certname: &str, own: &HashMap, facts: &mut HashMap) {
    let (hostname, domain) = certname.split_once('.').unwrap_or((certname, ""));
    let own_networking = own.get(&StrKey("networking"));
    let mut networking = facts
        .get(&StrKey("networking"))
        .and_then(Value::as_hash)
        .cloned()
        .unwrap_or_default();
    for (name, of_name) in [
        ("fqdn", certname),
        ("hostname", hostname),
        ("domain", domain),
    ] {
        let flat = own.get(&StrKey(name)).cloned();
        let structured = own_networking.and_then(|own| own.get(name)).cloned();
        let value = flat.clone().or_else(|| structured.clone());
        let value = value.unwrap_or_else(|| Value::string(of_name));
        if flat.is_none() && facts.contains_key(&StrKey(name)) {
            facts.insert(Value::string(name), value.clone());
        }
        let is_of_other = networking.contains_key(&StrKey(name));
        if structured.is_none() && (own_networking.is_none() || is_of_other) {
            networking.insert(Value::string(name), value);
        }
    }
    if own.get(&StrKey("clientcert")).is_none() {
        facts.insert("clientcert".into(), certname.into());
    }
    if own_networking.is_none_or(|own| own.as_hash().is_some()) {
        facts.insert("networking".into(), Value::from(networking));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Nodes;

    #[test]
    fn a_nodes_own_facts_lie_over_the_common_ones() {
        let common = Value::hash([
            (
                "os",
                Value::hash([("family", "RedHat".into()), ("name", "Rocky".into())]),
            ),
            (
                "networking",
                Value::hash([("fqdn", "foo.example.com".into()), ("mtu", 9.into())]),
            ),
        ]);
        let file = Value::hash([(
            "a.b.c",
            Value::hash([(
                "facts",
                Value::hash([("os", Value::hash([("name", "X".into())]))]),
            )]),
        )]);
        let nodes = Nodes::read(&file, common.as_hash().unwrap()).unwrap();
        let scope = nodes.get("a.b.c").unwrap().scope("production");
        let known = |path: &str| match scope.variable(path) {
            super::super::Variable::Known(value) => value,
            other @ (super::super::Variable::Undefined(_) | super::super::Variable::Unknown) => {
                panic!("{path}: {other:?}")
            }
        };
        assert_eq!(known("facts.os.family"), "RedHat".into());
        assert_eq!(known("os.name"), "X".into());
        assert_eq!(known("clientcert"), "a.b.c".into());
        assert_eq!(known("facts.networking.domain"), "b.c".into());
        assert_eq!(known("facts.networking.mtu"), 9.into());
        assert_eq!(known("trusted.certname"), "a.b.c".into());
        assert_eq!(known("environment"), "production".into());
    }

    #[test]
    fn nodes_have_variables_of_their_server() {
        use super::super::{KnownNodes, Variable};
        let nodes = Nodes::from_iter([Arc::new(Node::new("a.b.c", &HashMap::default()))]);
        let served = KnownNodes::new(&nodes).scope(0);
        for path in ["servername", "::serverversion", "server_facts.servername"] {
            assert_eq!(served.variable(path), Variable::Unknown, "{path}");
        }
        let environment = Variable::Known("production".into());
        assert_eq!(served.variable("server_facts.environment"), environment);
        let given = Value::hash([("server_facts", Value::hash([("servername", "vm".into())]))]);
        let node = Node {
            variables: given.as_hash().unwrap().clone(),
            ..Node::new("a.b.c", &HashMap::default())
        };
        let served = KnownNodes::new(&Nodes::from_iter([Arc::new(node)])).scope(0);
        for (path, known) in [("servername", "vm"), ("environment", "production")] {
            let known = Variable::Known(known.into());
            assert_eq!(served.variable(&format!("server_facts.{path}")), known);
        }
        assert_eq!(served.variable("server_facts.serverip"), Variable::Unknown);
    }
}
