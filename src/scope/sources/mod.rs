//! Reads nodes from the files of various tools: nodes files, facts of Facter and Puppet, Puppet's
//! caches, answers of PuppetDB, output of node classifiers. The form is recognised by the data.
//!
//! Pure functions of values that were read elsewhere, except for large JSON texts
//! ([`super::read_json_nodes`]); [`plain_yaml`] prepares the text of Puppet's caches, whose tags
//! name Ruby classes.

use std::borrow::Cow;

use super::completeness::are_all_facts;
use super::facts_file::trusted_in;
use super::node::{Node, with_part_at};
use super::nodes::{Nodes, NodesError};
use super::share::Share;
use super::{Facts, IMPORT, Knowledge, Told};
use crate::interpolation::Segment;
use crate::value::{HashMap, StrKey, Value};

mod entry;

pub(super) use entry::{GivenFacts, check_answer, node_of, read_entry};

/// Default names of a nodes file in the folder of an environment or a workspace, by priority.
pub const NODES_FILES: [&str; 3] = ["nodes.json", "nodes.yaml", "nodes.yml"];

/// Where a repository's tests keep facts of systems, below the environment; used if there is no
/// nodes file.
pub const FACTS_OF_TESTS: &str = "spec/fixtures/facts";

/// The form of saved data about nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodesForm {
    /// certname → `facts`, `trusted`, `variables`, `environment`.
    NodesFile,
    /// Facts of one node without its name: `facter`, `puppet facts show`, FacterDB.
    Facts,
    /// Facts of one node with its name: `puppet facts find`, Puppet's `yaml/facts`.
    NamedFacts,
    /// Puppet's `yaml/node`: `parameters`, `classes`, `environment` with the name.
    NodeCache,
    /// The output of a node classifier: the same without a name.
    Classifier,
    /// A list of nodes with `certname` and `facts`: PuppetDB's inventory, its factsets, or several
    /// sets of facts.
    Inventory,
    /// A list of single facts: PuppetDB's `facts` and `fact-contents` queries.
    SingleFacts,
    /// A node in an rspec-puppet suite: `node`, `facts`, `trusted_facts`, `trusted_external_data`,
    /// `node_params`, `environment`.
    Rspec,
}

/// Recognises the form of saved data; `None` if it has none of them.
#[must_use]
pub fn form_of(value: &Value) -> Option<NodesForm> {
    if let Some(elements) = value.as_array() {
        let first = elements.first()?;
        let is_named = first.get("name").is_some() || first.get("path").is_some();
        let is_fact = first.get("certname").is_some() && first.get("value").is_some();
        return match (is_fact && is_named, first.as_hash()) {
            (true, _) => Some(NodesForm::SingleFacts),
            (false, Some(_)) => Some(NodesForm::Inventory),
            (false, None) => None,
        };
    }
    let hash = value.as_hash()?;
    let has = |name: &str| hash.contains_key(&StrKey(name));
    if has(IMPORT) {
        return Some(NodesForm::NodesFile);
    }
    let is_name = value.get("name").and_then(Value::as_str).is_some();
    if is_name && matches!(value.get("values"), Some(Value::Hash(_))) {
        return Some(NodesForm::NamedFacts);
    }
    let classified = has("classes") || has("parameters");
    if classified && !has("os") && !has("networking") && !has("kernel") {
        return Some(if is_name {
            NodesForm::NodeCache
        } else {
            NodesForm::Classifier
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
    let is_node = |entry: &Value| entry.as_hash().is_some_and(has_part);
    let is_empty =
        |entry: &Value| entry.is_undef() || entry.as_hash().is_some_and(HashMap::is_empty);
    // Every system has these, so no node has such a name; a custom fact can look like a node.
    let is_facts = ["os", "networking", "kernel", "clientcert", "facterversion"];
    let is_facts = is_facts.into_iter().any(has);
    let of_classifier =
        |entry: &Value| matches!(entry.get("parameters"), Some(Value::Hash(_) | Value::Undef));
    let is_nodes_file = !is_facts
        && (hash.values().any(is_node)
            || hash.values().all(is_empty)
            || hash.values().all(of_classifier));
    Some(if is_nodes_file {
        NodesForm::NodesFile
    } else {
        NodesForm::Facts
    })
}

/// The parts of a node's data.
const PARTS: [&str; 3] = ["facts", "trusted", "variables"];

/// Whether the entry of a node has one of the parts, or a single value of it: `facts.os.family`.
fn has_part(entry: &HashMap) -> bool {
    let mut members = entry.keys().filter_map(Value::as_str);
    members.any(|member| {
        let part = member.split_once('.').map_or(member, |(part, _)| part);
        PARTS.contains(&part)
    })
}

/// Whether saved data describes several nodes by name, which is required of a file that is found by
/// its name. Other tools use the name `nodes.yaml` too.
#[must_use]
pub fn names_nodes(value: &Value) -> bool {
    let is_node = |entry: &Value| match entry.as_hash() {
        Some(hash) => {
            let is_classified = ["parameters", "environment"]
                .iter()
                .any(|part| hash.contains_key(&StrKey(part)));
            hash.is_empty() || is_classified || has_part(hash)
        }
        None => entry.is_undef(),
    };
    match form_of(value) {
        Some(NodesForm::NodesFile) => value.as_hash().is_some_and(|hash| {
            hash.contains_key(&StrKey(IMPORT)) || (!hash.is_empty() && hash.values().all(is_node))
        }),
        Some(NodesForm::Inventory) => {
            let mut elements = value.as_array().into_iter().flatten();
            elements
                .next()
                .is_some_and(|first| first.get("certname").is_some())
        }
        Some(NodesForm::SingleFacts) => true,
        Some(
            NodesForm::Facts
            | NodesForm::NamedFacts
            | NodesForm::NodeCache
            | NodesForm::Classifier
            | NodesForm::Rspec,
        )
        | None => false,
    }
}

/// Reads saved data of any form. `stem` is the file's name without its extension, for forms without
/// a node's name.
///
/// # Errors
/// Data of no known form, or an invalid nodes file.
pub fn read_nodes(value: &Value, stem: &str, common: &HashMap) -> Result<Nodes, NodesError> {
    let Some(form) = form_of(value) else {
        return Err(NodesError {
            message: "neither a nodes file nor saved facts".into(),
        });
    };
    let mut all = Collector::over(common);
    match form {
        NodesForm::NodesFile => {
            let read = Nodes::read(value, common)?;
            all.nodes.imported.clone_from(&read.imported);
            for node in read.all() {
                all.insert(node.as_ref().clone());
            }
        }
        NodesForm::Facts => all.add(&name_of(value, stem), &[("facts", value.clone())])?,
        NodesForm::NamedFacts => {
            let name = value.get("name").map(Value::to_s).unwrap_or_default();
            all.add(&name, &[("facts", field(value, "values"))])?;
        }
        NodesForm::NodeCache | NodesForm::Classifier => {
            let name = value.get("name").map_or(stem.to_string(), Value::to_s);
            let parameters = match field(value, "parameters") {
                Value::Undef => Value::hash([]),
                parameters => parameters,
            };
            // The cache holds facts and classifier variables together.
            let facts = match value.get("facts").and_then(|facts| facts.get("values")) {
                Some(facts) => facts.clone(),
                None if form == NodesForm::NodeCache => parameters.clone(),
                None => Value::Undef,
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
            all.add(&name, &entry)?;
        }
        NodesForm::Rspec => all.add_suite(value, stem)?,
        NodesForm::Inventory => {
            let one = std::slice::from_ref(value);
            for (at, element) in value.as_array().unwrap_or(one).iter().enumerate() {
                all.add_listed(element, stem, at)?;
            }
        }
        NodesForm::SingleFacts => all.add_single_facts(value)?,
    }
    Ok(all.nodes)
}

/// A part of saved data; undef if missing.
fn field(value: &Value, name: &str) -> Value {
    value.get(name).cloned().unwrap_or_default()
}

/// The facts of one node in a list of single facts.
#[derive(Default)]
struct SingleFactsOf {
    facts: HashMap,
    told: Vec<Vec<Value>>,
    environment: Value,
}

/// Collects nodes while reading.
struct Collector<'a> {
    share: Share,
    common: &'a HashMap,
    nodes: Nodes,
}

impl Collector<'_> {
    fn over(common: &HashMap) -> Collector<'_> {
        Collector {
            share: Share::default(),
            common,
            nodes: Nodes::default(),
        }
    }

    fn add(&mut self, certname: &str, entry: &[(&str, Value)]) -> Result<(), NodesError> {
        let entry = entry.iter();
        let entry = entry.map(|(name, value)| (Value::string(name), value.clone()));
        self.add_entry(certname, &entry.collect())
    }

    fn add_entry(&mut self, certname: &str, entry: &HashMap) -> Result<(), NodesError> {
        let node = read_entry(certname, entry, self.common)?;
        self.insert(node);
        Ok(())
    }

    fn insert(&mut self, node: Node) {
        let node = self.share.node(node);
        self.nodes.insert(node);
    }

    /// Adds an element of a list of nodes, or of sets of facts.
    fn add_listed(&mut self, element: &Value, stem: &str, at: usize) -> Result<(), NodesError> {
        let row = element
            .as_hash()
            .filter(|row| row.contains_key(&StrKey("certname")));
        let Some(row) = row else {
            let stem = format!("{stem}-{}", at + 1);
            return self.add(&name_of(element, &stem), &[("facts", element.clone())]);
        };
        check_answer(row.keys().filter_map(Value::as_str))?;
        let name = field(element, "certname").to_s();
        let mut row = row.clone();
        if let Some(facts) = row.get_mut(&StrKey("facts")) {
            *facts = listed(facts);
        }
        self.add_entry(&name, &row)
    }

    /// Adds the node of an rspec-puppet suite, which has no other data.
    fn add_suite(&mut self, suite: &Value, stem: &str) -> Result<(), NodesError> {
        let facts = field(suite, "facts");
        let named = suite.get("node").and_then(Value::as_str);
        let name = named.map_or_else(|| name_of(&facts, stem), str::to_string);
        // `RSpec::Puppet::Support#facts_hash_for`
        let mut facts = facts.as_hash().cloned().unwrap_or_default();
        let (hostname, domain) = name.split_once('.').unwrap_or((&name, ""));
        for (fact, value) in [("fqdn", &*name), ("hostname", hostname), ("domain", domain)] {
            let structured = facts.get(&StrKey("networking"));
            let structured = structured
                .and_then(|networking| networking.get(fact))
                .cloned();
            let value = structured.unwrap_or_else(|| Value::string(value));
            facts.entry(Value::string(fact)).or_insert(value);
        }
        // rspec-puppet's `trusted_facts` are the extensions of the certificate.
        let trusted = [
            ("trusted_facts", "extensions"),
            ("trusted_external_data", "external"),
        ];
        let trusted = trusted.into_iter().filter_map(|(from, to)| {
            let part = suite.get(from).filter(|part| part.as_hash().is_some())?;
            Some((to, part.clone()))
        });
        let variables = match field(suite, "node_params") {
            Value::Undef => Value::hash([]),
            variables => variables,
        };
        let entry = [
            ("facts", Value::from(facts)),
            ("trusted", Value::hash(trusted)),
            ("variables", variables),
            ("environment", field(suite, "environment")),
        ];
        self.add(&name, &entry)
    }

    /// Adds the nodes of a list of single facts. A query can ask for some facts only: then the
    /// others are unknown.
    fn add_single_facts(&mut self, rows: &Value) -> Result<(), NodesError> {
        let mut found: indexmap::IndexMap<String, SingleFactsOf> = indexmap::IndexMap::new();
        for fact in rows.as_array().into_iter().flatten() {
            let path = match fact.get("path") {
                Some(Value::Array(path)) => path.to_vec(),
                Some(_) | None => vec![field(fact, "name")],
            };
            let Some((name, rest)) = path.split_first().filter(|(name, _)| !name.is_undef()) else {
                return Err(NodesError {
                    message: "a fact in the list has neither a name nor a path".into(),
                });
            };
            let of_node = found.entry(field(fact, "certname").to_s()).or_default();
            let part = of_node.facts.entry(name.clone()).or_default();
            *part = with_part_at(part, rest, field(fact, "value"));
            of_node.told.push(path);
            of_node.environment = field(fact, "environment");
        }
        for (name, of_node) in found {
            let mut row = HashMap::default();
            row.insert("environment".into(), of_node.environment);
            let facts = &of_node.facts;
            if are_all_facts(|name| facts.contains_key(&StrKey(name))) {
                row.insert("facts".into(), of_node.facts.into());
                self.add_entry(&name, &row)?;
                continue;
            }
            let mut node = node_of(&name, GivenFacts::None, &row)?;
            let trusted = of_node.facts.get(&StrKey("trusted"));
            node.trusted = trusted
                .and_then(Value::as_hash)
                .cloned()
                .unwrap_or_default();
            let is_whole = trusted_in(&of_node.facts).is_some();
            let is_part = of_node.facts.contains_key(&StrKey("trusted"))
                && of_node
                    .told
                    .iter()
                    .all(|path| path.len() > 1 || path[0] != "trusted".into());
            for path in of_node.told {
                let path: Vec<Segment> = path.iter().map(segment).collect();
                match path.split_first() {
                    Some((Segment::Name(name), [])) if **name == *"trusted" && is_whole => {
                        node.told.trusted = Told::All;
                    }
                    Some((Segment::Name(name), part @ [_, ..])) if **name == *"trusted" => {
                        node.told.trusted.add_path(part.to_vec());
                    }
                    Some(_) | None => {}
                }
                node.told.facts.add_path(path);
            }
            node.facts = Facts::from(of_node.facts);
            if is_whole || is_part {
                node.facts = node.facts.without(&|name| name == "trusted");
            }
            node.knowledge = Knowledge::All;
            self.insert(node);
        }
        Ok(())
    }
}

/// A part of a fact's path.
fn segment(part: &Value) -> Segment {
    match part {
        Value::Int(index) => Segment::Index(*index),
        name => Segment::Name(name.to_s().into()),
    }
}

/// Facts as a hash: factsets list them as `{data: [{name, value}]}`, and name only an address if
/// they are not expanded.
fn listed(facts: &Value) -> Value {
    let data = match (facts.get("data"), facts.get("href")) {
        (Some(data), _) => data,
        (None, Some(Value::String(_))) => return Value::Undef,
        (None, _) => facts,
    };
    let Some(elements) = data.as_array() else {
        return facts.clone();
    };
    let pairs = elements
        .iter()
        .filter_map(|fact| Some((fact.get("name")?.clone(), fact.get("value")?.clone())));
    Value::from(pairs.collect::<HashMap>())
}

/// The name that facts give their node.
#[must_use]
pub fn certname(facts: &HashMap) -> Option<&str> {
    let fact = |name| facts.get(&StrKey(name));
    let name = fact("clientcert").or_else(|| fact("fqdn"));
    name.or_else(|| fact("networking")?.get("fqdn"))?.as_str()
}

/// The name that facts give their node; the file's if they give none, or only the placeholder of
/// collections of facts.
pub(super) fn name_of(facts: &Value, stem: &str) -> String {
    const PLACEHOLDER: &str = "foo.example.com";
    let name = facts.as_hash().and_then(|facts| certname(facts));
    let name = name.filter(|name| !name.is_empty() && *name != PLACEHOLDER);
    name.unwrap_or(stem).to_string()
}

/// A YAML text of Puppet's caches without its Ruby-specific parts: tags that name classes are
/// removed, and dates become strings.
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
    if is_date {
        Cow::Owned(format!("{start}: \"{text}\"\n"))
    } else {
        Cow::Borrowed(line)
    }
}

#[cfg(test)]
mod tests;
