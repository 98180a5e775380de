//! Nodes from what tools save about them: nodes files, facts of Facter and Puppet, Puppet's
//! caches, answers of PuppetDB, output of node classifiers. The form is recognised by the data.
//!
//! Pure functions of values that were read elsewhere, large JSON texts apart
//! ([`super::read_json_nodes`]); [`plain_yaml`] prepares the text of Puppet's
//! caches, whose tags name Ruby classes.

use std::borrow::Cow;

use super::node::{Node, Nodes, NodesError, node};
use super::share::Share;
use super::{Facts, legacy};
use crate::value::{HashMap, StrKey, Value};

/// Names under which a nodes file is found without being named, in the folder of an environment or a
/// workspace; the weightiest first.
pub const NODES_FILES: [&str; 3] = ["nodes.json", "nodes.yaml", "nodes.yml"];

/// Where a repository's tests keep facts of systems, below the environment; they count where there is
/// no nodes file.
pub const FACTS_OF_TESTS: &str = "spec/fixtures/facts";

/// What saved data about nodes is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodesForm {
    /// certname → `facts`, `trusted`, `variables`, `environment`.
    NodesFile,
    /// Facts of one node without a name around them: `facter`, `puppet facts show`, FacterDB.
    Facts,
    /// Facts of one node with its name: `puppet facts find`, Puppet's `yaml/facts`.
    NamedFacts,
    /// Puppet's `yaml/node`: `parameters`, `classes`, `environment` with the name.
    NodeCache,
    /// What a node classifier prints: the same without a name.
    Classifier,
    /// A list of nodes with `certname` and `facts`: PuppetDB's inventory, its factsets, or several
    /// sets of facts.
    Inventory,
    /// A list of single facts: PuppetDB's `facts` and `fact-contents` queries.
    SingleFacts,
    /// What an rspec-puppet suite says of a node: `node`, `facts`, `trusted_facts`,
    /// `trusted_external_data`, `node_params`, `environment`.
    Rspec,
}

/// Recognises the form of saved data; nothing where it is none of them.
#[must_use]
pub fn form_of(value: &Value) -> Option<NodesForm> {
    if let Some(elements) = value.as_array() {
        let first = elements.first()?;
        let single = first.get("certname").is_some() && first.get("name").is_some();
        return match (single && first.get("value").is_some(), first.as_hash()) {
            (true, _) => Some(NodesForm::SingleFacts),
            (false, Some(_)) => Some(NodesForm::Inventory),
            (false, None) => None,
        };
    }
    let hash = value.as_hash()?;
    let has = |name: &str| hash.contains_key(&StrKey(name));
    let is_name = value.get("name").and_then(Value::as_str).is_some();
    if is_name && matches!(value.get("values"), Some(Value::Hash(_))) {
        return Some(NodesForm::NamedFacts);
    }
    let classified = has("classes") || has("parameters");
    if classified && !has("os") && !has("networking") && !has("kernel") {
        return Some(match is_name {
            true => NodesForm::NodeCache,
            false => NodesForm::Classifier,
        });
    }
    if has("certname") && has("facts") {
        return Some(NodesForm::Inventory);
    }
    let rspec = [
        "node",
        "trusted_facts",
        "trusted_external_data",
        "node_params",
    ];
    let is_hash = |name: &str| matches!(value.get(name), Some(Value::Hash(_)));
    let names_node = value.get("node").and_then(Value::as_str).is_some();
    if (is_hash("facts") && rspec.into_iter().any(has)) || (names_node && is_hash("node_params")) {
        return Some(NodesForm::Rspec);
    }
    let parts = ["facts", "trusted", "variables"];
    let is_node = |entry: &Value| parts.iter().any(|part| entry.get(part).is_some());
    let is_empty =
        |entry: &Value| entry.is_undef() || entry.as_hash().is_some_and(HashMap::is_empty);
    // Every system has these, so no node has such a name; a custom fact can look like a node.
    let is_facts = ["os", "networking", "kernel", "clientcert", "facterversion"];
    let is_facts = is_facts.into_iter().any(has);
    let is_nodes_file = !is_facts && (hash.values().any(is_node) || hash.values().all(is_empty));
    Some(match is_nodes_file {
        true => NodesForm::NodesFile,
        false => NodesForm::Facts,
    })
}

/// Reads saved data of any form. `stem` is the file's name without its extension, for forms that
/// name no node.
///
/// # Errors
/// Data of no known form, or a nodes file that is none.
pub fn read_nodes(value: &Value, stem: &str, common: &HashMap) -> Result<Nodes, NodesError> {
    let Some(form) = form_of(value) else {
        return Err(NodesError {
            message: "neither a nodes file nor saved facts".into(),
        });
    };
    let mut all = Reading::over(common);
    let mut add = |certname: &str, entry: &[(&str, Value)]| all.add(certname, entry);
    match form {
        NodesForm::NodesFile => {
            for node in Nodes::read(value, common)?.all() {
                all.insert(node.as_ref().clone());
            }
        }
        NodesForm::Facts => add(&name_of(value, stem), &[("facts", value.clone())]),
        NodesForm::NamedFacts => {
            let name = value.get("name").map(Value::to_s).unwrap_or_default();
            add(&name, &[("facts", field(value, "values"))]);
        }
        NodesForm::NodeCache | NodesForm::Classifier => {
            let name = value.get("name").map_or(stem.to_string(), Value::to_s);
            let parameters = field(value, "parameters");
            // The cache holds what facts and classifier gave together.
            let facts = match value.get("facts").and_then(|facts| facts.get("values")) {
                Some(facts) => facts.clone(),
                None if form == NodesForm::NodeCache => parameters.clone(),
                None => Value::hash([]),
            };
            let environment = value
                .get("environment")
                .or_else(|| value.get("environment_name"));
            let environment = environment.map(|named| match named.as_hash() {
                Some(_) => field(named, "name"),
                None => named.clone(),
            });
            let entry = [
                ("facts", facts),
                ("variables", parameters),
                ("trusted", field(value, "trusted_data")),
                ("environment", environment.unwrap_or_default()),
            ];
            add(&name, &entry);
        }
        NodesForm::Rspec => {
            let facts = field(value, "facts");
            let named = value.get("node").and_then(Value::as_str);
            let name = named.map_or_else(|| name_of(&facts, stem), str::to_string);
            // rspec-puppet's `trusted_facts` are the extensions of the certificate.
            let trusted = [
                ("trusted_facts", "extensions"),
                ("trusted_external_data", "external"),
            ];
            let trusted = trusted.into_iter().filter_map(|(from, to)| {
                let part = value.get(from).filter(|part| part.as_hash().is_some())?;
                Some((to, part.clone()))
            });
            let entry = [
                ("facts", facts),
                ("trusted", Value::hash(trusted)),
                ("variables", field(value, "node_params")),
                ("environment", field(value, "environment")),
            ];
            add(&name, &entry);
        }
        NodesForm::Inventory => {
            let one = std::slice::from_ref(value);
            for (at, element) in value.as_array().unwrap_or(one).iter().enumerate() {
                all.add_listed(element, stem, at);
            }
        }
        NodesForm::SingleFacts => {
            let mut found: indexmap::IndexMap<String, (HashMap, Value)> = indexmap::IndexMap::new();
            for fact in value.as_array().into_iter().flatten() {
                let name = field(fact, "certname").to_s();
                let (facts, environment) = found.entry(name).or_default();
                match fact.get("path").and_then(Value::as_array) {
                    Some(path) => put(facts, path, field(fact, "value")),
                    None => {
                        facts.insert(field(fact, "name"), field(fact, "value"));
                    }
                }
                *environment = field(fact, "environment");
            }
            for (name, (facts, environment)) in found {
                add(
                    &name,
                    &[("facts", facts.into()), ("environment", environment)],
                );
            }
        }
    }
    Ok(all.nodes)
}

/// A part of saved data; undef where there is none.
fn field(of: &Value, name: &str) -> Value {
    of.get(name).cloned().unwrap_or_default()
}

/// Nodes that are being read.
struct Reading<'a> {
    share: Share,
    common: &'a HashMap,
    nodes: Nodes,
}

impl Reading<'_> {
    fn over(common: &HashMap) -> Reading<'_> {
        Reading {
            share: Share::default(),
            common,
            nodes: Nodes::default(),
        }
    }

    fn add(&mut self, certname: &str, entry: &[(&str, Value)]) {
        let entry = Value::hash(entry.iter().map(|(name, value)| (*name, value.clone())));
        self.insert(node(certname, &entry, self.common));
    }

    fn insert(&mut self, node: Node) {
        let node = self.share.node(complete(node));
        self.nodes.insert(node);
    }

    /// Adds an element of a list of nodes, or of sets of facts.
    fn add_listed(&mut self, element: &Value, stem: &str, at: usize) {
        if element.get("certname").is_none() {
            let stem = format!("{stem}-{}", at + 1);
            self.add(&name_of(element, &stem), &[("facts", element.clone())]);
            return;
        }
        let name = element.get("certname").map(Value::to_s).unwrap_or_default();
        let entry = [
            ("facts", listed(&field(element, "facts"))),
            ("trusted", field(element, "trusted")),
            ("environment", field(element, "environment")),
        ];
        self.add(&name, &entry);
    }
}

/// Sets the part of facts that a path leads to; a number in it stands for a place in a list, which
/// the query tells in order.
fn put(facts: &mut HashMap, path: &[Value], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    let part = match rest {
        [] => value,
        [Value::Int(_), ..] => {
            let mut all = facts
                .get(first)
                .and_then(Value::as_array)
                .map(<[Value]>::to_vec);
            let all = all.get_or_insert_default();
            place(all, rest, value);
            Value::array(std::mem::take(all))
        }
        rest => {
            let mut inner = facts.get(first).and_then(Value::as_hash).cloned();
            let inner = inner.get_or_insert_default();
            put(inner, rest, value);
            Value::from(std::mem::take(inner))
        }
    };
    facts.insert(first.clone(), part);
}

/// Sets the part of a list that a path leads to.
fn place(all: &mut Vec<Value>, path: &[Value], value: Value) {
    /// Longest list of facts; a number beyond it is no place.
    const MOST: usize = 100_000;
    let Some((Value::Int(at), rest)) = path.split_first() else {
        return;
    };
    let Some(at) = usize::try_from(*at).ok().filter(|at| *at < MOST) else {
        return;
    };
    if all.len() <= at {
        all.resize(at + 1, Value::Undef);
    }
    let part = match rest {
        [] => value,
        [Value::Int(_), ..] => {
            let mut inner = all[at]
                .as_array()
                .map(<[Value]>::to_vec)
                .unwrap_or_default();
            place(&mut inner, rest, value);
            Value::array(inner)
        }
        rest => {
            let mut inner = all[at].as_hash().cloned().unwrap_or_default();
            put(&mut inner, rest, value);
            Value::from(inner)
        }
    };
    all[at] = part;
}

/// Facts as a hash: factsets list them as `{data: [{name, value}]}`.
fn listed(facts: &Value) -> Value {
    let data = facts.get("data").unwrap_or(facts);
    let Some(elements) = data.as_array() else {
        return facts.clone();
    };
    let pairs = elements
        .iter()
        .filter_map(|fact| Some((fact.get("name")?.clone(), fact.get("value")?.clone())));
    Value::from(pairs.collect::<HashMap>())
}

/// The name that facts give their node; the file's where they give none, or only the placeholder
/// of collections of facts.
pub(super) fn name_of(facts: &Value, stem: &str) -> String {
    const PLACEHOLDER: &str = "foo.example.com";
    let fqdn = || facts.get("networking")?.get("fqdn");
    let name = facts
        .get("clientcert")
        .or_else(|| facts.get("fqdn"))
        .or_else(fqdn)
        .and_then(Value::as_str)
        .filter(|name| !name.is_empty() && *name != PLACEHOLDER);
    name.unwrap_or(stem).to_string()
}

fn complete(node: Node) -> Node {
    let mut facts = HashMap::clone(&node.facts.whole());
    legacy::complete(&mut facts);
    Node {
        facts: Facts::from(facts),
        ..node
    }
}

/// A YAML text of Puppet's caches without what only Ruby can load: tags that name classes go, and
/// dates become strings.
#[must_use]
pub fn plain_yaml(text: &str) -> Cow<'_, str> {
    if !text.contains("!ruby/") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        let mut plain = String::with_capacity(line.len());
        while let Some(at) = rest.find("!ruby/") {
            plain.push_str(&rest[..at]);
            let tag = &rest[at..];
            let end = tag.find(char::is_whitespace).unwrap_or(tag.len());
            rest = tag[end..].strip_prefix(' ').unwrap_or(&tag[end..]);
        }
        plain.push_str(rest);
        out.push_str(&quoted_date(&plain));
    }
    Cow::Owned(out)
}

/// A line whose value is a plain date, with the date in quotes.
fn quoted_date(line: &str) -> Cow<'_, str> {
    let Some((start, value)) = line.split_once(": ") else {
        return Cow::Borrowed(line);
    };
    let text = value.trim();
    let bytes = text.as_bytes();
    let is_date = bytes.len() >= 10
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && !text.contains('"');
    match is_date {
        true => Cow::Owned(format!("{start}: \"{text}\"\n")),
        false => Cow::Borrowed(line),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::read_json_nodes;
    use super::*;
    use crate::value::{from_json, load_yaml, symbol_keys_to_strings};

    fn json(text: &str, stem: &str) -> Nodes {
        let nodes = read_nodes(&from_json(text).unwrap(), stem, &HashMap::default()).unwrap();
        let saved = read_json_nodes(&Arc::from(text), stem, &HashMap::default()).unwrap();
        assert_eq!(nodes, saved, "from its text as from its value");
        saved
    }

    fn yaml(text: &str, stem: &str) -> Nodes {
        let value = load_yaml(plain_yaml(text).as_bytes()).unwrap();
        read_nodes(&symbol_keys_to_strings(value), stem, &HashMap::default()).unwrap()
    }

    fn known(nodes: &Nodes, certname: &str, path: &str) -> Option<String> {
        let scope = nodes.get(certname)?.scope("production");
        match scope.variable(path) {
            super::super::Variable::Known(value) => Some(value.to_s()),
            super::super::Variable::Undefined(_) | super::super::Variable::Unknown => None,
        }
    }

    #[test]
    fn facts_of_facter_get_their_legacy_names() {
        let nodes = json(
            r#"{"os": {"family": "RedHat", "name": "Rocky", "release": {"full": "9.4", "major": "9"}},
                "networking": {"fqdn": "web1.example.com", "ip": "10.0.0.1",
                  "interfaces": {"lo": {"ip": "127.0.0.1"}, "eth0": {"ip": "10.0.0.1", "mtu": 1500}}},
                "memory": {"system": {"total_bytes": 1000000000}}, "processors": {"models": ["A"]}}"#,
            "some",
        );
        let all = [
            ("osfamily", "RedHat"),
            ("facts.osfamily", "RedHat"),
            ("::operatingsystemmajrelease", "9"),
            ("ipaddress_eth0", "10.0.0.1"),
            ("mtu_eth0", "1500"),
            ("interfaces", "eth0,lo"),
            ("memorysize_mb", "953.67"),
            ("processor0", "A"),
            ("trusted.certname", "web1.example.com"),
        ];
        for (path, value) in all {
            assert_eq!(
                known(&nodes, "web1.example.com", path).as_deref(),
                Some(value),
                "{path}"
            );
        }
    }

    #[test]
    fn caches_of_puppet_are_read_though_their_tags_name_classes() {
        let facts = "--- !ruby/object:Puppet::Node::Facts\nname: a.b\nvalues:\n  role: web\n  \
                     osfamily: own\n  os:\n    family: Debian\n  since: 2024-01-02 03:04:05\n\
                     timestamp: 2024-01-02 03:04:05.123 +00:00\n";
        let nodes = yaml(facts, "x");
        assert_eq!(known(&nodes, "a.b", "role").as_deref(), Some("web"));
        assert_eq!(known(&nodes, "a.b", "osfamily").as_deref(), Some("own"));
        let node = "--- !ruby/object:Puppet::Node\nname: a.b\nparameters:\n  role: db\n  site: ls\n\
                    classes: []\nenvironment: !ruby/sym staging\n";
        let nodes = yaml(node, "x");
        assert_eq!(known(&nodes, "a.b", "site").as_deref(), Some("ls"));
        let environment = nodes.get("a.b").unwrap().environment.clone();
        assert_eq!(environment.as_deref(), Some("staging"));
    }

    #[test]
    fn answers_of_puppetdb_are_read() {
        let inventory = r#"[{"certname": "a", "environment": "qa", "facts": {"role": "web"},
                             "trusted": {"extensions": {"pp_role": "x"}}},
                            {"certname": "b", "facts": {"data": [{"name": "role", "value": "db"}]}}]"#;
        let nodes = json(inventory, "inventory");
        assert_eq!(
            known(&nodes, "a", "trusted.extensions.pp_role").as_deref(),
            Some("x")
        );
        assert_eq!(known(&nodes, "b", "facts.role").as_deref(), Some("db"));
        let facts = r#"[{"certname": "a", "name": "role", "value": "web", "environment": "qa"},
                        {"certname": "b", "name": "role", "value": "db", "environment": "qa"},
                        {"certname": "a", "name": "os", "value": {"family": "Suse"}, "environment": "qa"}]"#;
        let nodes = json(facts, "facts");
        assert_eq!(nodes.all().len(), 2);
        assert_eq!(known(&nodes, "a", "osfamily").as_deref(), Some("Suse"));
        assert_eq!(known(&nodes, "b", "role").as_deref(), Some("db"));
    }

    #[test]
    fn facts_that_a_query_took_apart_are_put_together() {
        let nodes = json(
            r#"[{"certname": "a", "path": ["os", "family"], "name": "family", "value": "Debian"},
                {"certname": "a", "path": ["os", "release", "major"], "name": "major", "value": "12"},
                {"certname": "a", "path": ["disks", 0, "name"], "name": "name", "value": "sda"},
                {"certname": "a", "path": ["disks", 1, "name"], "name": "name", "value": "sdb"},
                {"certname": "a", "path": ["role"], "name": "role", "value": "web"}]"#,
            "contents",
        );
        for (path, value) in [
            ("osfamily", "Debian"),
            ("facts.os.release.major", "12"),
            ("facts.disks.1.name", "sdb"),
            ("role", "web"),
        ] {
            assert_eq!(known(&nodes, "a", path).as_deref(), Some(value), "{path}");
        }
    }

    #[test]
    fn suites_of_rspec_puppet_describe_a_node() {
        let text = "node: a.example.com\nfacts: {os: {family: Debian}, role: db}\n\
                    trusted_facts: {pp_role: web}\nnode_params: {site: ls}\nenvironment: qa\n";
        let nodes = yaml(text, "suite");
        for (path, value) in [
            ("trusted.extensions.pp_role", "web"),
            ("trusted.certname", "a.example.com"),
            ("facts.role", "db"),
            ("osfamily", "Debian"),
            ("::site", "ls"),
            ("fqdn", "a.example.com"),
        ] {
            let found = known(&nodes, "a.example.com", path);
            assert_eq!(found.as_deref(), Some(value), "{path}");
        }
        let environment = nodes.get("a.example.com").unwrap().environment.clone();
        assert_eq!(environment.as_deref(), Some("qa"));
        // Symbols as Ruby writes them; a node without a name is the file's.
        let nodes = yaml(":facts:\n  :role: db\n:node_params:\n  :site: cp\n", "b");
        assert_eq!(known(&nodes, "b", "site").as_deref(), Some("cp"));
        assert_eq!(known(&nodes, "b", "role").as_deref(), Some("db"));
    }

    #[test]
    fn facts_of_a_platform_are_named_after_their_file() {
        let nodes = json(
            r#"{"os": {"family": "Debian"}, "hostname": "foo", "fqdn": "foo.example.com",
                "networking": {"fqdn": "foo.example.com"}}"#,
            "debian-12-x86_64",
        );
        assert_eq!(&*nodes.all()[0].certname, "debian-12-x86_64");
        let nodes = json(
            r#"[{"os": {"family": "Debian"}}, {"os": {"family": "RedHat"}}]"#,
            "sets",
        );
        let names: Vec<&str> = nodes.all().iter().map(|node| &*node.certname).collect();
        assert_eq!(names, ["sets-1", "sets-2"]);
    }

    #[test]
    fn facts_that_puppet_wraps_are_named() {
        let found = r#"{"name": "a.b", "values": {"role": "web"}, "timestamp": "2024-01-02", "expiration": "2024-01-02"}"#;
        let nodes = json(found, "x");
        assert_eq!(known(&nodes, "a.b", "role").as_deref(), Some("web"));
        let shown = r#"{"clientcert": "c.d", "role": "db", "own": {"variables": {"x": 1}}}"#;
        let nodes = json(shown, "x");
        assert_eq!(known(&nodes, "c.d", "role").as_deref(), Some("db"));
    }

    #[test]
    fn factsets_are_read() {
        let text = r#"[{"certname": "a", "environment": "qa", "timestamp": "t", "hash": "h",
            "facts": {"href": "/pdb/query/v4/factsets/a/facts", "data": [
                {"name": "os", "value": {"family": "Suse"}}, {"name": "role", "value": "web"}]}}]"#;
        let nodes = json(text, "factsets");
        assert_eq!(known(&nodes, "a", "osfamily").as_deref(), Some("Suse"));
        assert_eq!(known(&nodes, "a", "facts.role").as_deref(), Some("web"));
    }

    #[test]
    fn nothing_else_is_taken_for_nodes() {
        for text in ["[]", "[1]", "3", "null", "\"x\""] {
            let value = from_json(text).unwrap();
            assert!(
                read_nodes(&value, "x", &HashMap::default()).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn classifiers_name_no_node_but_the_file_does() {
        let nodes = yaml(
            "classes: {}\nparameters: {site: ls}\nenvironment: qa\n",
            "c.example.com",
        );
        assert_eq!(
            known(&nodes, "c.example.com", "::site").as_deref(),
            Some("ls")
        );
        assert_eq!(
            known(&nodes, "c.example.com", "domain").as_deref(),
            Some("example.com")
        );
    }

    #[test]
    fn a_nodes_file_stays_one() {
        let nodes = json(
            r#"{"a": {"facts": {"x": 1}}, "b": null, "c": {"variables": {}}}"#,
            "nodes",
        );
        assert_eq!(nodes.all().len(), 3);
        assert_eq!(known(&nodes, "a", "facts.x").as_deref(), Some("1"));
    }

    #[test]
    fn equal_facts_are_kept_once() {
        let nodes = yaml(
            "a: {facts: {os: {family: RedHat}}}\nb: {facts: {os: {family: RedHat}}}\n",
            "nodes",
        );
        let os = |name: &str| match nodes.get(name).unwrap().facts.get("os") {
            Some(Value::Hash(hash)) => hash,
            other => panic!("{other:?}"),
        };
        assert!(Arc::ptr_eq(&os("a"), &os("b")));
    }
}
