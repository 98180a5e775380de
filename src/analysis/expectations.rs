//! Expectations of a team about its data, read from a file: which value a key has on which nodes.
//!
//! Reads the text of one file and reports each mistake with its line. It must not know where the
//! files are, or whether an expectation is met.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::datatype::{self, NoAliases};
use crate::interpolation::Key;
use crate::lookup::{Request, STRATEGIES};
use crate::scope::{Node, certname};
use crate::syntax::{NodeId, Tree, parse_yaml};
use crate::text::{line_at, nearest};
use crate::value::{HashMap, Value, load_yaml};

/// The fields of an expectation, in the order of the documentation.
const FIELDS: [&str; 13] = [
    "name",
    "key",
    "merge",
    "node",
    "nodes",
    "where",
    "facts",
    "trusted",
    "variables",
    "value",
    "type",
    "found",
    "equal",
];

/// Fields that select or describe nodes; `node` may be combined with the describing ones.
const DESCRIBING: [&str; 3] = ["facts", "trusted", "variables"];

/// Fields that state the expected result.
const OUTCOMES: [&str; 4] = ["value", "type", "found", "equal"];

/// Maximum number of mistakes reported for one file.
const MAX_MISTAKES: usize = 100;

/// One expectation.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Its first line, from 1.
    pub line: u32,
    /// Its name, if given.
    pub name: Option<String>,
    /// The key, possibly with a dotted path into its value.
    pub key: String,
    /// The `merge` argument of the lookup.
    pub merge: Option<Value>,
    /// The nodes that it applies to.
    pub nodes: WhichNodes,
    /// The expected value.
    pub value: Option<Value>,
    /// The Puppet type that the value must have.
    pub value_type: Option<Arc<str>>,
    /// Whether the key must be set at all, if stated.
    pub found: Option<bool>,
    /// Whether all nodes must get the same value.
    pub equal: bool,
}

/// The nodes that an expectation applies to.
#[derive(Clone, Debug)]
pub enum WhichNodes {
    /// Every known node.
    All,
    /// Known nodes, by their names.
    Named(Vec<Arc<str>>),
    /// Known nodes whose variables each have one of these values.
    Where(Vec<(Arc<str>, Vec<Value>)>),
    /// A node described in the file.
    Described(Box<Node>),
}

/// A mistake in a file of expectations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExpectationMistake {
    /// The line, from 1.
    pub line: u32,
    /// The problem, and the remedy.
    pub message: String,
}

impl Expectation {
    /// The lookup to run for each node.
    #[must_use]
    pub fn request(&self) -> Request {
        Request {
            merge: self.merge.clone(),
            value_type: self.value_type.clone(),
            ..Request::key(&self.key).with_sources()
        }
    }

    /// Reads a file. Entries with a mistake are left out; values are read as Puppet reads data.
    #[must_use]
    pub fn read(text: &str) -> (Vec<Expectation>, Vec<ExpectationMistake>) {
        let parse = parse_yaml(text);
        let mut file = ExpectationFile {
            text,
            tree: &parse.tree,
            mistakes: Vec::new(),
        };
        let found = file.expectations();
        file.mistakes.sort_by_key(|mistake| mistake.line);
        file.mistakes.truncate(MAX_MISTAKES);
        (found, file.mistakes)
    }
}

struct ExpectationFile<'a> {
    text: &'a str,
    tree: &'a Tree,
    mistakes: Vec<ExpectationMistake>,
}

/// One entry of the list: its source, and its value as Puppet reads it.
struct WrittenEntry<'a> {
    id: NodeId,
    written: &'a serde_yaml::Mapping,
    data: &'a Value,
}

impl<'a> ExpectationFile<'a> {
    fn expectations(&mut self) -> Vec<Expectation> {
        let written: serde_yaml::Value = match serde_yaml::from_str(self.text) {
            Ok(written) => written,
            Err(error) => {
                let line = error.location().map_or(1, |place| place.line());
                self.add_at(u32::try_from(line).unwrap_or(1), error.to_string());
                return Vec::new();
            }
        };
        let data = match load_yaml(self.text.as_bytes()) {
            Ok(data) => data,
            Err(error) => {
                self.add_at(1, error.message("the file"));
                return Vec::new();
            }
        };
        let root = self.tree.root().map(|root| self.tree.resolve(root));
        let items = root.and_then(|root| self.tree.node(root).as_sequence());
        let (Some(items), Some(written), Some(data)) =
            (items, written.as_sequence(), data.as_array())
        else {
            self.add_at(1, "expected a list of expectations, each with a key");
            return Vec::new();
        };
        let all = items.iter().zip(written).zip(data);
        let all = all.filter_map(|((&item, written), data)| {
            let id = self.tree.resolve(item);
            let Some(written) = written.as_mapping() else {
                self.add(id, "expected an expectation: a hash with a key");
                return None;
            };
            self.expectation(&WrittenEntry { id, written, data })
        });
        all.collect()
    }

    fn expectation(&mut self, entry: &WrittenEntry<'_>) -> Option<Expectation> {
        let known = self.mistakes.len();
        for (name, _) in entry.written {
            self.check_name(entry, name);
        }
        let expectation = Expectation {
            line: self.line(entry.id),
            name: self.field(entry, "name", "a string"),
            key: self.key(entry).unwrap_or_default(),
            merge: self.merge(entry),
            nodes: self.nodes(entry),
            value: has(entry, "value").then(|| get(entry, "value")),
            value_type: self.value_type(entry),
            found: self.field(entry, "found", "true or false"),
            equal: self.field(entry, "equal", "true").unwrap_or_default(),
        };
        self.check_outcome(entry, &expectation);
        (self.mistakes.len() == known).then_some(expectation)
    }

    fn check_name(&mut self, entry: &WrittenEntry<'_>, name: &serde_yaml::Value) {
        let Some(name) = name.as_str() else {
            self.add(entry.id, "the name of a field is not a string");
            return;
        };
        if !FIELDS.contains(&name) {
            let message = match nearest(name, FIELDS.into_iter()) {
                Some(suggestion) => format!("unknown field '{name}': did you mean '{suggestion}'?"),
                None => format!("unknown field '{name}': expected {}", FIELDS.join(", ")),
            };
            self.add_for(entry, name, message);
        }
    }

    /// A field of one type, if it is there.
    fn field<T: DeserializeOwned>(
        &mut self,
        entry: &WrittenEntry<'_>,
        name: &str,
        expected: &str,
    ) -> Option<T> {
        let written = entry.written.get(name)?;
        let read = serde_yaml::from_value(written.clone());
        if read.is_err() {
            self.add_for(entry, name, format!("'{name}' must be {expected}"));
        }
        read.ok()
    }

    fn key(&mut self, entry: &WrittenEntry<'_>) -> Option<String> {
        let Some(key) = self.field::<String>(entry, "key", "a string") else {
            if !has(entry, "key") {
                self.add(entry.id, "'key' is missing");
            }
            return None;
        };
        if Key::parse(&key).is_err() {
            let message = format!("'{key}' is not a key that can be looked up");
            self.add_for(entry, "key", message);
        }
        Some(key)
    }

    fn merge(&mut self, entry: &WrittenEntry<'_>) -> Option<Value> {
        has(entry, "merge").then_some(())?;
        let merge = get(entry, "merge");
        let is_right = match &merge {
            Value::String(word) => STRATEGIES.contains(&&**word),
            Value::Hash(_) => merge.get("strategy").and_then(Value::as_str).is_some(),
            _ => false,
        };
        if !is_right {
            let message = format!(
                "'merge' must be {}, or a hash with a strategy",
                STRATEGIES.join(", ")
            );
            self.add_for(entry, "merge", message);
        }
        Some(match merge {
            Value::String(_) => Value::hash([("strategy", merge)]),
            other => other,
        })
    }

    fn value_type(&mut self, entry: &WrittenEntry<'_>) -> Option<Arc<str>> {
        let text: String = self.field(entry, "type", "a string")?;
        if let Err(error) = datatype::parse(&text, &NoAliases) {
            self.add_for(entry, "type", format!("'{text}' is not a type: {error}"));
        }
        Some(text.into())
    }

    fn nodes(&mut self, entry: &WrittenEntry<'_>) -> WhichNodes {
        let describes = DESCRIBING.iter().any(|name| has(entry, name));
        let ways = [
            has(entry, "node") || describes,
            has(entry, "nodes"),
            has(entry, "where"),
        ];
        if ways.iter().filter(|way| **way).count() > 1 {
            let message = "'node', 'nodes' and 'where' each say which nodes are meant: keep one \
                           of them"
                .to_owned();
            self.add(entry.id, message);
        }
        let node: Option<String> = self.field(entry, "node", "a string");
        if describes {
            return WhichNodes::Described(Box::new(self.described(entry, node)));
        }
        if let Some(node) = node {
            return WhichNodes::Named(vec![node.into()]);
        }
        if let Some(names) = self.field::<Vec<String>>(entry, "nodes", "a list of names") {
            return WhichNodes::Named(names.into_iter().map(Arc::from).collect());
        }
        if !has(entry, "where") {
            return WhichNodes::All;
        }
        let conditions = self.hash(entry, "where");
        let conditions = conditions.iter().filter_map(|(variable, value)| {
            let values = value.as_array().map(<[Value]>::to_vec);
            let values = values.unwrap_or_else(|| vec![value.clone()]);
            Some((Arc::from(variable.as_str()?), values))
        });
        WhichNodes::Where(conditions.collect())
    }

    fn described(&mut self, entry: &WrittenEntry<'_>, name: Option<String>) -> Node {
        let facts = self.hash(entry, "facts");
        let name = name.unwrap_or_else(|| certname(&facts).unwrap_or("described").to_owned());
        Node {
            trusted: self.hash(entry, "trusted"),
            variables: self.hash(entry, "variables"),
            ..Node::new(&name, &facts)
        }
    }

    fn hash(&mut self, entry: &WrittenEntry<'_>, name: &str) -> HashMap {
        match get(entry, name) {
            Value::Hash(hash) => hash.as_ref().clone(),
            Value::Undef => HashMap::default(),
            _ => {
                self.add_for(entry, name, format!("'{name}' is not a hash"));
                HashMap::default()
            }
        }
    }

    /// Checks that an entry states a result, and that its fields can be combined.
    fn check_outcome(&mut self, entry: &WrittenEntry<'_>, expectation: &Expectation) {
        let outcomes: Vec<&str> = OUTCOMES
            .into_iter()
            .filter(|name| has(entry, name))
            .collect();
        if outcomes.is_empty() {
            let message = format!("nothing is expected: add one of {}", OUTCOMES.join(", "));
            self.add(entry.id, message);
        }
        if expectation.found == Some(false) && outcomes.len() > 1 {
            let message = "a key that is not found has neither value nor type";
            self.add_for(entry, "found", message);
        }
        let is_described = matches!(expectation.nodes, WhichNodes::Described(_));
        if has(entry, "equal") && (!expectation.equal || is_described) {
            let message = if is_described {
                "one node is always equal to itself: use 'nodes' or 'where'"
            } else {
                "'equal' can only be true"
            };
            self.add_for(entry, "equal", message);
        }
    }

    fn line(&self, id: NodeId) -> u32 {
        line_at(self.text, self.tree.node(id).range.start as usize) + 1
    }

    fn add(&mut self, id: NodeId, message: impl Into<String>) {
        self.add_at(self.line(id), message);
    }

    /// Reports a mistake in a field of an entry.
    fn add_for(&mut self, entry: &WrittenEntry<'_>, name: &str, message: impl Into<String>) {
        let pairs = self.tree.node(entry.id).as_mapping().unwrap_or_default();
        let is_it = |id: NodeId| {
            self.tree
                .scalar_text(id)
                .is_some_and(|text| **text == *name)
        };
        let key = pairs.iter().map(|(key, _)| *key).find(|key| is_it(*key));
        self.add(key.unwrap_or(entry.id), message);
    }

    fn add_at(&mut self, line: u32, message: impl Into<String>) {
        let message = message.into();
        self.mistakes.push(ExpectationMistake { line, message });
    }
}

fn has(entry: &WrittenEntry<'_>, name: &str) -> bool {
    entry.written.contains_key(name)
}

fn get(entry: &WrittenEntry<'_>, name: &str) -> Value {
    entry.data.get(name).cloned().unwrap_or(Value::Undef)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistakes(text: &str) -> String {
        let (_, mistakes) = Expectation::read(text);
        let shown = mistakes.iter();
        let shown = shown.map(|mistake| format!("{}: {}", mistake.line, mistake.message));
        shown.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn values_are_read_as_puppet_reads_data() {
        let (found, mistakes) = Expectation::read(
            "# ports\n- key: a\n  node: n\n  value: 0644\n- key: b.c\n  where: {role: [web, db]}\n  \
             merge: deep\n  equal: true\n- name: made up\n  key: c\n  facts: {fqdn: x.y, os: {family: \
             A}}\n  variables: {role: web}\n  value: yes\n  type: Boolean\n- {key: d, found: false}\n\
             - {key: e, value: ~}\n",
        );
        assert_eq!(mistakes, []);
        let lines: Vec<u32> = found.iter().map(|one| one.line).collect();
        assert_eq!(lines, [2, 5, 9, 15, 16]);
        assert_eq!(found[0].value, Some(Value::Int(420)));
        let WhichNodes::Where(conditions) = &found[1].nodes else {
            panic!("{:?}", found[1].nodes);
        };
        assert_eq!(conditions[0].1, ["web".into(), "db".into()]);
        let WhichNodes::Described(node) = &found[2].nodes else {
            panic!("{:?}", found[2].nodes);
        };
        assert_eq!((&*node.certname, node.variables.len()), ("x.y", 1));
        assert_eq!(found[2].value, Some(Value::Bool(true)));
        assert_eq!(
            (found[3].found, found[3].value.clone()),
            (Some(false), None)
        );
        assert_eq!(found[4].value, Some(Value::Undef));
    }

    #[test]
    fn every_mistake_has_its_line() {
        expect_test::expect![[r#"
            1: nothing is expected: add one of value, type, found, equal
            2: unknown field 'vlaue': did you mean 'value'?
            3: 'key' is missing
            4: expected an expectation: a hash with a key
            6: 'merge' must be first, unique, hash, deep, or a hash with a strategy
            8: 'node', 'nodes' and 'where' each say which nodes are meant: keep one of them
            12: nothing is expected: add one of value, type, found, equal
            13: 'key' must be a string
            16: 'Strng[' is not a type: Syntax error at end of input
            18: 'facts' is not a hash
            19: one node is always equal to itself: use 'nodes' or 'where'
            21: a key that is not found has neither value nor type
            24: 'found' must be true or false
            25: 'a..b' is not a key that can be looked up"#]]
        .assert_eq(&mistakes(
            "- key: a\n  vlaue: 1\n- value: 1\n- 5\n- key: a\n  merge: deeper\n  value: 1\n- key: \
             a\n  node: n\n  nodes: [n]\n  value: 1\n- key: a\n- key: [a]\n  value: 1\n- key: a\n  \
             type: Strng[\n- key: a\n  facts: 1\n  equal: true\n- key: a\n  found: false\n  value: \
             1\n- key: a\n  found: maybe\n- key: 'a..b'\n  value: 1\n",
        ));
        for text in [
            "a: 1\n",
            "5\n",
            "",
            "- key: 'a\n",
            "- key: 2024-01-01\n  value: 1\n",
        ] {
            assert_ne!(mistakes(text), "", "{text:?}");
        }
    }
}
