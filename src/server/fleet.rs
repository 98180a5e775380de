//! The known nodes for a file: from nodes files that settings name, and from a `nodes.json` or
//! `nodes.yaml` in the workspace folder or the environment around the file, with the facts file
//! under every node's own facts and the user's what-if over them.
//!
//! A fleet is made once for the texts that it comes from, and kept until they change.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use super::context::Context;
use crate::ide::KnownNodes;
use crate::scope::{
    FACTS_OF_TESTS, Facts, NODES_FILES, Node, Nodes, plain_yaml, read_json_nodes, read_nodes,
};
use crate::value::{HashMap as Hash, Value, from_json, load_yaml, symbol_keys_to_strings};
use crate::workspace::{Files as _, Snapshot, path};

/// How many fleets are kept: environments side by side have one each.
const MOST_FLEETS: usize = 8;

/// The nodes that are known for a file.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    pub(super) nodes: Nodes,
    pub(super) known: KnownNodes,
    /// The node that was chosen.
    pub(super) selected: Option<Arc<str>>,
    /// The facts under every node's own.
    pub(super) common: Hash,
}

/// Fleets by what they are made from, the last used at the end.
#[derive(Debug, Default)]
pub(super) struct Fleets(Mutex<Vec<(Sources, Arc<Fleet>)>>);

/// Everything that a fleet is made from.
#[derive(Debug, PartialEq)]
struct Sources {
    facts: Option<(Arc<str>, Arc<str>)>,
    /// The weightiest first.
    nodes: Vec<(Arc<str>, Arc<str>)>,
    node: Option<Arc<str>>,
    what_if: BTreeMap<String, serde_json::Value>,
}

impl Fleets {
    /// The nodes for a file: O(roots) unless something they come from has changed.
    pub(super) fn of(&self, snapshot: &Snapshot, context: &Context, file: &str) -> Arc<Fleet> {
        let sources = Sources::of(snapshot, context, file);
        // Each change of the list is one push or take: it is whole even after a panic.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut fleets = lock();
            if let Some(at) = fleets.iter().position(|(known, _)| *known == sources) {
                let entry = fleets.remove(at);
                let fleet = entry.1.clone();
                fleets.push(entry);
                return fleet;
            }
        }
        let fleet = Arc::new(sources.read());
        let mut fleets = lock();
        if fleets.len() >= MOST_FLEETS {
            fleets.remove(0);
        }
        fleets.push((sources, fleet.clone()));
        fleet
    }
}

impl Sources {
    fn of(snapshot: &Snapshot, context: &Context, file: &str) -> Sources {
        let text = |at: &str| -> Option<(Arc<str>, Arc<str>)> {
            let here = snapshot
                .file(at)
                .filter(|file| file.format().is_some() && file.refused().is_none());
            let text = match here {
                Some(file) => file.text(),
                None => context.outside.texts.get(at)?,
            };
            Some((Arc::from(at), text.clone()))
        };
        let settings = &context.settings;
        let named = settings.nodes_files.iter().filter_map(|at| text(at));
        let mut nodes: Vec<_> = named.collect();
        let root = snapshot.root_of(file);
        let environments = root
            .into_iter()
            .flat_map(|root| snapshot.roots().environments_of(root))
            .map(|environment| &environment.dir);
        let folders = snapshot.folders().iter();
        let around = folders.filter(|folder| path::within(file, folder).is_some());
        let folders: Vec<&Arc<str>> = environments.chain(around).collect();
        for folder in &folders {
            for name in NODES_FILES {
                let found = text(&path::join(folder, name));
                nodes.extend(found.filter(|(at, _)| nodes.iter().all(|(known, _)| known != at)));
            }
        }
        if nodes.is_empty() {
            // What the repository's own tests know of systems is better than nothing.
            for folder in &folders {
                let facts = path::join(folder, FACTS_OF_TESTS);
                for (name, _) in snapshot.list(&facts) {
                    let found = text(&path::join(&facts, &name));
                    nodes
                        .extend(found.filter(|(at, _)| nodes.iter().all(|(known, _)| known != at)));
                }
            }
        }
        let choice = context.choices.of(file);
        Sources {
            facts: settings.facts_file.as_deref().and_then(text),
            nodes,
            node: choice.and_then(|choice| choice.node.clone()),
            what_if: choice
                .map(|choice| choice.facts.clone())
                .unwrap_or_default(),
        }
    }

    fn read(&self) -> Fleet {
        let common = match &self.facts {
            Some((at, text)) => read_facts(at, text).unwrap_or_else(|why| {
                tracing::warn!("{why}");
                Hash::default()
            }),
            None => Hash::default(),
        };
        let mut nodes: Vec<Arc<Node>> = Vec::new();
        let mut numbers: HashMap<Arc<str>, usize> = HashMap::new();
        for (at, text) in &self.nodes {
            let read = read_any(at, text, &common);
            let read = read.unwrap_or_else(|why| {
                tracing::warn!("{why}");
                Nodes::default()
            });
            for node in read.all() {
                // The weightier file has said it already.
                numbers.entry(node.certname.clone()).or_insert_with(|| {
                    nodes.push(node.clone());
                    nodes.len() - 1
                });
            }
        }
        if let Some(chosen) = &self.node
            && !numbers.contains_key(chosen)
        {
            nodes.push(Arc::new(match common.is_empty() {
                true => Node::named(chosen),
                false => Node::new(chosen, &common),
            }));
        }
        if !self.what_if.is_empty() {
            for node in &mut nodes {
                if self
                    .node
                    .as_ref()
                    .is_none_or(|chosen| *chosen == node.certname)
                {
                    let node = Arc::make_mut(node);
                    for (fact, value) in &self.what_if {
                        set_fact(&mut node.facts, fact, value);
                    }
                }
            }
        }
        let nodes: Nodes = nodes.into_iter().collect();
        Fleet {
            known: KnownNodes::new(&nodes),
            nodes,
            selected: self.node.clone(),
            common,
        }
    }
}

/// Sets the fact of a dotted path, with or without `facts.` before it.
fn set_fact(facts: &mut Facts, at: &str, value: &serde_json::Value) {
    let at = at.strip_prefix("facts.").unwrap_or(at);
    if let Ok(value) = from_json(&value.to_string()) {
        facts.set(at, value);
    }
}

/// The nodes of a nodes file, or of facts that were saved in any form.
fn read_any(at: &str, text: &Arc<str>, common: &Hash) -> Result<Nodes, String> {
    let name = path::name(at);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let read = match at.ends_with(".json") {
        true => read_json_nodes(text, stem, common),
        false => read_nodes(&read_value(at, &plain_yaml(text))?, stem, common),
    };
    read.map_err(|error| format!("{at}: {}", error.message))
}

/// The value of a JSON or YAML file, by its name.
fn read_value(at: &str, text: &str) -> Result<Value, String> {
    if at.ends_with(".json") {
        return from_json(text).map_err(|error| format!("{at}: {error}"));
    }
    let loaded = load_yaml(text.as_bytes()).map(symbol_keys_to_strings);
    loaded.map_err(|error| error.message(at))
}

/// A facts file: a hash of facts, or `facter`'s and Puppet's own wrapping of one.
fn read_facts(at: &str, text: &str) -> Result<Hash, String> {
    let value = read_value(at, text)?;
    let wrapped = value.get("values").filter(|_| value.get("name").is_some());
    let facts = wrapped.unwrap_or(&value).as_hash().cloned();
    facts.ok_or_else(|| format!("{at}: a facts file is a hash of facts"))
}
