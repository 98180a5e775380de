//! Reads nodes from the files of various tools: nodes files, facts of Facter and Puppet, Puppet's
//! caches, answers of PuppetDB, output of node classifiers. The form is recognised by the data.
//!
//! Pure functions of values that were read elsewhere, except for large JSON texts
//! ([`super::read_json_nodes`]); [`plain_yaml`] prepares the text of Puppet's caches, whose tags
//! name Ruby classes.

use std::borrow::Cow;

use super::node::{Node, Nodes, NodesError, node};
use super::share::Share;
use super::{Facts, legacy};
use crate::value::{HashMap, StrKey, Value};

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

/// Whether saved data describes several nodes by name, which is required of a file that is found by
/// its name. Other tools use the name `nodes.yaml` too.
#[must_use]
pub fn names_nodes(value: &Value) -> bool {
    let parts = ["facts", "trusted", "variables", "environment"];
    let is_node = |entry: &Value| match entry.as_hash() {
        Some(hash) => hash.is_empty() || parts.iter().any(|part| hash.contains_key(&StrKey(part))),
        None => entry.is_undef(),
    };
    match form_of(value) {
        Some(NodesForm::NodesFile) => value
            .as_hash()
            .is_some_and(|hash| !hash.is_empty() && hash.values().all(is_node)),
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
            // The cache holds facts and classifier variables together.
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
                    Some([name, rest @ ..]) => {
                        let part = facts.entry(name.clone()).or_default();
                        *part = with_part(part, rest, field(fact, "value"));
                    }
                    Some([]) => {}
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

/// A part of saved data; undef if missing.
fn field(value: &Value, name: &str) -> Value {
    value.get(name).cloned().unwrap_or_default()
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

/// A value with another part at a path; a number in it is a list index, and the query returns them
/// in order.
fn with_part(whole: &Value, path: &[Value], value: Value) -> Value {
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
                all[at] = with_part(&all[at], rest, value);
            }
            Value::from(all)
        }
        Some((name, rest)) => {
            let mut hash = whole.as_hash().cloned().unwrap_or_default();
            let part = hash.entry(name.clone()).or_default();
            *part = with_part(part, rest, value);
            Value::from(hash)
        }
    }
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

fn complete(node: Node) -> Node {
    let mut facts = HashMap::clone(&node.facts.whole());
    legacy::complete(&mut facts);
    Node {
        facts: Facts::from(facts),
        ..node
    }
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
    match is_date {
        true => Cow::Owned(format!("{start}: \"{text}\"\n")),
        false => Cow::Borrowed(line),
    }
}

#[cfg(test)]
mod tests;
