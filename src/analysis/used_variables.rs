//! The variables that a hierarchy uses, the facts that give them, and their values on the known
//! nodes, for pickers of nodes and facts.

use std::collections::HashMap;
use std::sync::Arc;

use super::doctor::variables_of;
use super::{NodeSet, RootView};
use crate::scope::{KnownNodes, Node};
use crate::text::nearest;
use crate::value::{StrKey, Value};

/// Maximum number of listed values of one variable; the others are counted.
const MAX_VALUES: usize = 50;

/// Maximum number of listed variables that only values use.
const MAX_OF_VALUES: usize = 100;

/// Variables with a different value on every node.
const NAMES: [&str; 10] = [
    "trusted.certname",
    "trusted.hostname",
    "clientcert",
    "fqdn",
    "hostname",
    "facts.clientcert",
    "facts.fqdn",
    "facts.hostname",
    "facts.networking.fqdn",
    "facts.networking.hostname",
];

/// A variable that a hierarchy uses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UsedVariable {
    /// Its name as written, without the leading `::`.
    pub name: Arc<str>,
    /// How many levels use it in their paths; 0 if only values do.
    pub levels: usize,
}

/// The distinct values of a variable.
#[derive(Clone, Debug, Default)]
pub struct ValueCounts {
    /// Each value with its number of nodes, the most frequent first; at most 50.
    pub values: Vec<(Value, usize)>,
    /// The number of other values.
    pub more: usize,
}

/// What another value of a fact could change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Answers.
    Possible,
    /// Nothing as things are, in words.
    NotNow(String),
    /// Nothing: it is no fact. Why, in words.
    Never(String),
}

impl UsedVariable {
    /// Whether its value is a form of the node's name.
    #[must_use]
    pub fn is_name(&self) -> bool {
        NAMES.contains(&&*self.name)
    }
}

impl RootView<'_> {
    /// The variables in paths of levels, those of the highest levels first. O(levels).
    #[must_use]
    pub fn level_variables(&self) -> Vec<UsedVariable> {
        let mut found: Vec<UsedVariable> = Vec::new();
        for layer in self.layers() {
            let Ok(Some(outline)) = self.session().outline(&layer) else {
                continue;
            };
            for name in outline.levels.iter().flat_map(variables_of) {
                match found.iter_mut().find(|known| known.name == name) {
                    Some(known) => known.levels += 1,
                    None => found.push(UsedVariable { name, levels: 1 }),
                }
            }
        }
        found
    }

    /// The variables in paths of levels, then those in values of the data, the most used first.
    /// O(tokens).
    #[must_use]
    pub fn used_variables(&self) -> Vec<UsedVariable> {
        let mut found = self.level_variables();
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for file in self.analysis.snapshot.files() {
            let view = self.analysis.answering(file.path());
            if view.is_none_or(|view| view.root.dir != self.root.dir) {
                continue;
            }
            for used in file.facts().variables() {
                let name = used.name.strip_prefix("::").unwrap_or(&used.name);
                // A similar syntax of other programs (`%{X-Forwarded-For}i`) is no variable.
                let is_name = |c: char| c.is_ascii_alphanumeric() || "_.:".contains(c);
                if name.chars().all(is_name) {
                    *uses.entry(name).or_default() += 1;
                }
            }
        }
        let mut uses: Vec<(&str, usize)> = uses.into_iter().collect();
        uses.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        for (name, _) in uses.into_iter().take(MAX_OF_VALUES) {
            if !found.iter().any(|known| &*known.name == name) {
                let name = Arc::from(name);
                found.push(UsedVariable { name, levels: 0 });
            }
        }
        found
    }
}

impl NodeSet {
    /// The dotted path of the fact that gives a variable; `None` for `trusted`, and for what a
    /// manifest, a classifier or a nodes file sets. O(nodes).
    #[must_use]
    pub fn fact_of(&self, variable: &str) -> Option<String> {
        if let Some(fact) = variable.strip_prefix("facts.") {
            return Some(fact.to_owned());
        }
        let root = variable.split('.').next().unwrap_or(variable);
        let is_no_fact = ["trusted", "environment", "server_facts", "facts"].contains(&root)
            || variable.contains("::");
        let is_set = |node: &Arc<Node>| {
            let set = &node.variables;
            set.contains_key(&StrKey(variable)) || set.contains_key(&StrKey(root))
        };
        (!is_no_fact && !self.nodes.all().iter().any(is_set)).then(|| variable.to_owned())
    }
}

/// Number of nodes whose fact names are collected to recognise a mistyped one.
const MAX_NODES: usize = 50;

/// Depth to which fact names are collected.
const DEPTH: usize = 4;

impl NodeSet {
    /// What another value of a fact could change. O(tokens + manifests).
    #[must_use]
    pub fn effect_of(&self, view: &RootView<'_>, fact: &str) -> Effect {
        let fact = fact.strip_prefix("facts.").unwrap_or(fact);
        if self.known.is_empty() {
            return Effect::NotNow(format!(
                "'{fact}' changes nothing as long as no nodes are known"
            ));
        }
        let column = self.known.column(&Arc::from(format!("facts.{fact}")));
        let mut values = column.values.iter().flatten();
        let used = view.used_variables();
        let read: Vec<String> = used
            .iter()
            .filter_map(|used| self.fact_of(&used.name))
            .collect();
        let is_below = |inner: &str, outer: &str| {
            let rest = inner.strip_prefix(outer);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let is_read = read
            .iter()
            .any(|read| is_below(read, fact) || is_below(fact, read));
        if is_read {
            return Effect::Possible;
        }
        if values.any(|value| !value.is_undef()) {
            return if is_read_by_code(view, fact) {
                Effect::Possible
            } else {
                Effect::NotNow(format!(
                    "no level and no value uses the fact '{fact}': all answers stay the same"
                ))
            };
        }
        let is_set = |node: &Arc<Node>| node.variables.contains_key(&StrKey(fact));
        if used.iter().any(|used| *used.name == *fact) || self.nodes.all().iter().any(is_set) {
            return Effect::Never(format!(
                "'{fact}' is not a fact: {}",
                match fact.split('.').next() {
                    Some("trusted") => "it comes from the node's certificate",
                    _ => "the nodes file, a manifest or Puppet itself sets it",
                }
            ));
        }
        if is_read_by_code(view, fact) {
            return Effect::Possible;
        }
        let mut names: Vec<String> = read;
        for node in self.nodes.all().iter().take(MAX_NODES) {
            add_names(&node.facts.whole(), "", DEPTH, &mut names);
        }
        let near = nearest(fact, names.iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!(" (did you mean '{near}'?)"));
        Effect::Never(format!(
            "no node has a fact '{fact}', and nothing reads it{near}"
        ))
    }
}

/// Whether code of the workspace seems to read a fact.
fn is_read_by_code(view: &RootView<'_>, fact: &str) -> bool {
    let name = fact.rsplit('.').next().unwrap_or(fact);
    let forms = [
        format!("'{name}'"),
        format!("${name}"),
        format!("$::{name}"),
    ];
    let mut files = view.analysis.snapshot.files();
    files.any(|file| {
        let is_code = file.facts().code.is_some();
        is_code && forms.iter().any(|form| file.text().contains(form))
    })
}

fn add_names(facts: &crate::value::HashMap, above: &str, depth: usize, names: &mut Vec<String>) {
    for (name, value) in facts.iter() {
        let Some(name) = name.as_str() else { continue };
        let name = format!("{above}{name}");
        if let Some(inner) = value.as_hash().filter(|_| depth > 1) {
            add_names(inner, &format!("{name}."), depth - 1, names);
        }
        names.push(name);
    }
}

impl ValueCounts {
    /// The values of a variable over nodes. O(nodes).
    #[must_use]
    pub fn of(nodes: &KnownNodes, variable: &Arc<str>) -> ValueCounts {
        let column = nodes.column(variable);
        let mut counts = vec![0_usize; column.values.len()];
        for &id in &column.ids {
            counts[id as usize] += 1;
        }
        let values = column.values.iter().zip(counts);
        let values = values.filter_map(|(value, nodes)| Some((value.clone()?, nodes)));
        let mut values: Vec<(Value, usize)> = values.collect();
        values.sort_by_key(|(_, nodes)| std::cmp::Reverse(*nodes));
        let more = values.len().saturating_sub(MAX_VALUES);
        values.truncate(MAX_VALUES);
        ValueCounts { values, more }
    }
}
