//! The entry of one node in a nodes file, or its row in an answer of PuppetDB. A part of the node's
//! data that the entry has is complete; one that it lacks is unknown. It can have single facts, trusted
//! data and variables, by their paths: a query for `facts.os.family` returns a member of that name.

use std::sync::Arc;

use super::super::facts_file::trusted_in;
use super::super::node::{facts_over, with_part_at};
use super::super::{Completeness, Facts, Knowledge, Node, NodesError, Told};
use crate::interpolation::{Key, Segment};
use crate::value::{HashMap, StrKey, Value};

/// Members that say nothing about a node's data: those of PuppetDB's inventory and factsets, and the
/// classes of a classifier.
const PASSED: [&str; 9] = [
    "certname",
    "name",
    "classes",
    "timestamp",
    "producer",
    "producer_timestamp",
    "hash",
    "expiration",
    "facts",
];

/// Members of PuppetDB's answers about other things than facts, and what these are.
const OF_OTHERS: [(&str, &str); 11] = [
    (
        "inputs",
        "the keys that catalogs looked up (catalog-inputs)",
    ),
    ("resource", "resources of catalogs (resources)"),
    ("exported", "resources of catalogs (resources)"),
    ("facts_timestamp", "nodes without their facts (nodes)"),
    ("catalog_timestamp", "nodes without their facts (nodes)"),
    ("report_timestamp", "nodes without their facts (nodes)"),
    ("facts_environment", "nodes without their facts (nodes)"),
    ("latest_report_status", "nodes without their facts (nodes)"),
    ("deactivated", "nodes without their facts (nodes)"),
    (
        "transaction_uuid",
        "catalogs or reports (catalogs, reports)",
    ),
    ("containment_path", "events of reports (events)"),
];

/// The query whose answer has what is needed.
const WANTED: &str = "inventory[certname, environment, facts, trusted] {}";

/// The facts of an entry.
pub(in super::super) enum GivenFacts {
    /// All, as they are; and the fact named `trusted`.
    All(Facts, Option<Value>),
    /// None, except for those that the entry has by their paths.
    None,
}

fn error(message: String) -> NodesError {
    NodesError { message }
}

/// Why a list of rows with these members has no facts to read.
///
/// # Errors
/// What the list is, and what to ask for.
pub(in super::super) fn check_answer<'a>(
    members: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), NodesError> {
    let is_there = |name: &str| members.clone().any(|member| member == name);
    let found = OF_OTHERS.iter().find(|(name, _)| is_there(name));
    match found.filter(|_| !is_there("facts")) {
        None => Ok(()),
        Some((_, what)) => Err(error(format!(
            "this is PuppetDB's answer about {what}, which has no facts: save its answer to {WANTED}"
        ))),
    }
}

fn not_understood(certname: &str, member: &str) -> NodesError {
    error(format!(
        "node '{certname}' has '{member}', which is not understood: a node has 'facts', 'trusted', \
         'variables' (or 'parameters') and 'environment', or single facts such as 'facts.os.family'"
    ))
}

/// Whether the path of a fact is one into trusted data, which PuppetDB keeps among the facts.
fn is_of_trusted(path: &str) -> bool {
    path == "trusted" || path.starts_with("trusted.")
}

/// A node from its entry, without the facts in it, which are given apart.
///
/// # Errors
/// A member that is not understood.
pub(in super::super) fn node_of(
    certname: &str,
    given: GivenFacts,
    entry: &HashMap,
) -> Result<Node, NodesError> {
    let hash = |name: &str| match entry.get(&StrKey(name)) {
        None | Some(Value::Undef) => Ok(None),
        Some(Value::Hash(hash)) => Ok(Some(hash.as_ref().clone())),
        Some(_) => Err(error(format!(
            "'{name}' of node '{certname}' is not a hash"
        ))),
    };
    let (mut facts, mut trusted) = (Parts::default(), Parts::default());
    let mut single_variables = Parts::default();
    let mut environment = None;
    for (name, value) in entry {
        let name = name.to_s();
        match name.split_once('.') {
            Some(("facts", path)) => {
                let value = if is_of_trusted(path) {
                    &Value::Undef
                } else {
                    value
                };
                facts.add(certname, &name, path, value)?;
            }
            Some(("trusted", path)) => trusted.add(certname, &name, path, value)?,
            Some(("variables", path)) => single_variables.add(certname, &name, path, value)?,
            _ if name == "environment" => environment = value.as_str().map(Arc::from),
            _ if matches!(&*name, "trusted" | "variables" | "parameters") => {}
            _ if PASSED.contains(&&*name) => {}
            _ => return Err(not_understood(certname, &name)),
        }
    }
    let variables = match (hash("variables")?, hash("parameters")?) {
        (Some(over), Some(mut below)) => {
            below.extend(over);
            Some(below)
        }
        (one, other) => one.or(other),
    };
    let (given, of_fact) = match given {
        GivenFacts::All(facts, trusted) => (Some(facts), trusted),
        GivenFacts::None => (None, None),
    };
    let of_fact =
        of_fact.and_then(|fact| trusted_in(&HashMap::from_iter([("trusted".into(), fact)])));
    // PuppetDB keeps the trusted data among the facts too, where no agent has it.
    let given = given.map(|facts| match of_fact {
        Some(_) => facts.without(&|name| name == "trusted"),
        None => facts,
    });
    let (trusted, trusted_told) = match hash("trusted")?.or(of_fact) {
        Some(all) => (all, Told::All),
        None => (trusted.values, trusted.told),
    };
    let (facts, facts_told) = match given {
        Some(facts) => (facts, Told::All),
        None => (Facts::from(facts.values), facts.told),
    };
    let (variables, variables_told) = match variables {
        Some(all) => (all, Told::All),
        None => (single_variables.values, single_variables.told),
    };
    let told = Completeness {
        facts: facts_told,
        trusted: trusted_told,
        variables: variables_told,
    };
    Ok(Node {
        certname: Arc::from(certname),
        facts,
        trusted,
        variables,
        environment,
        knowledge: Knowledge::of(&told),
        from_file: told.facts == Told::All,
        told,
    })
}

/// A node from an entry of a nodes file, over common facts.
///
/// # Errors
/// A member that is not understood.
pub(in super::super) fn read_entry(
    certname: &str,
    entry: &HashMap,
    common: &HashMap,
) -> Result<Node, NodesError> {
    let given = match entry.get(&StrKey("facts")) {
        None | Some(Value::Undef) => GivenFacts::None,
        Some(Value::Hash(own)) => {
            let facts = facts_over(certname, own, common);
            GivenFacts::All(Facts::from(facts), own.get(&StrKey("trusted")).cloned())
        }
        Some(_) => return Err(error(format!("'facts' of node '{certname}' is not a hash"))),
    };
    node_of(certname, given, entry)
}

/// Values that are given by their paths.
struct Parts {
    values: HashMap,
    told: Told,
}

impl Default for Parts {
    fn default() -> Parts {
        Parts {
            values: HashMap::default(),
            told: Told::nothing(),
        }
    }
}

impl Parts {
    fn add(
        &mut self,
        certname: &str,
        member: &str,
        path: &str,
        value: &Value,
    ) -> Result<(), NodesError> {
        let Ok(key) = Key::parse(path) else {
            return Err(not_understood(certname, member));
        };
        let path: Vec<Segment> = std::iter::once(key.root).chain(key.segments).collect();
        // PuppetDB returns null for what a node does not have.
        if !value.is_undef() {
            let names: Vec<Value> = path.iter().map(Value::from).collect();
            if let Some((first, rest)) = names.split_first() {
                let part = self.values.entry(first.clone()).or_default();
                *part = with_part_at(part, rest, value.clone());
            }
        }
        self.told.add_path(path);
        Ok(())
    }
}
