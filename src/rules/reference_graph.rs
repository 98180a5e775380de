//! Which keys look up which others: candidates for loops, from the files' facts alone.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::interpolation::Key;
use crate::workspace::{Belongs, File, FileFacts, FileId, KeyFact, Reference, Snapshot};

/// One reference, from the top-level key it stands under to the root of the key it names.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) to: Arc<str>,
    pub(super) file: FileId,
}

/// References between keys that can reach each other. Everything else cannot be part of a loop.
#[derive(Debug, Default)]
pub(super) struct ReferenceGraph {
    /// Edges by the key they start from.
    edges: HashMap<Arc<str>, Vec<Edge>>,
    /// For each key on some circle, which keys it shares circles with.
    components: HashMap<Arc<str>, usize>,
}

impl ReferenceGraph {
    /// Reads the references of every file: O(references).
    pub(super) fn build(snapshot: &Snapshot) -> ReferenceGraph {
        let mut edges: HashMap<Arc<str>, Vec<Edge>> = HashMap::new();
        for file in snapshot.files() {
            if file.belongs() != Belongs::Workspace {
                continue;
            }
            for (key, _, to) in references(file) {
                edges.entry(key.name.clone()).or_default().push(Edge {
                    to,
                    file: file.id(),
                });
            }
        }
        for edges in edges.values_mut() {
            let mut seen = HashSet::new();
            edges.retain(|edge| seen.insert((edge.to.clone(), edge.file)));
        }
        let components = components(&edges);
        ReferenceGraph { edges, components }
    }

    /// Whether a reference from one key to another can be part of a loop.
    pub(super) fn is_on_circle(&self, from: &str, to: &str) -> bool {
        match (self.components.get(from), self.components.get(to)) {
            (Some(a), Some(b)) => a == b,
            (_, _) => false,
        }
    }

    /// The references of a key that can be part of a loop.
    pub(super) fn circular<'a>(&'a self, from: &'a str) -> impl Iterator<Item = &'a Edge> {
        let edges = self.edges.get(from).into_iter().flatten();
        edges.filter(move |edge| self.is_on_circle(from, &edge.to))
    }
}

/// The references of a file: the top-level key that each stands under, itself, and the root of
/// the key that it names.
pub(super) fn references(file: &File) -> Vec<(&KeyFact, &Reference, Arc<str>)> {
    let facts: &FileFacts = file.facts();
    if facts.references.is_empty() {
        return Vec::new();
    }
    let mut keys: Vec<&KeyFact> = facts.keys.iter().collect();
    keys.sort_by_key(|key| key.value.start);
    let mut found = Vec::new();
    for reference in &facts.references {
        let Some(root) = root_of(&reference.key) else {
            continue;
        };
        let behind = keys.partition_point(|key| key.value.start <= reference.range.start);
        let around = keys[..behind]
            .iter()
            .rev()
            .find(|key| key.value.contains(reference.range));
        if let Some(key) = around {
            found.push((*key, reference, root));
        }
    }
    found
}

/// The root of a dotted key.
pub(super) fn root_of(key: &str) -> Option<Arc<str>> {
    Key::parse(key).ok()?.root.as_name().map(Arc::from)
}

/// Keys on circles, numbered by the strongly connected component (Tarjan, without recursion).
fn components(edges: &HashMap<Arc<str>, Vec<Edge>>) -> HashMap<Arc<str>, usize> {
    struct Visit<'a> {
        key: &'a Arc<str>,
        next: usize,
    }
    let none = Vec::new();
    let mut order: HashMap<&str, usize> = HashMap::new();
    let mut low: HashMap<&str, usize> = HashMap::new();
    let mut open: Vec<&Arc<str>> = Vec::new();
    let mut is_open: HashSet<&str> = HashSet::new();
    let mut found = HashMap::new();
    let mut count = 0;
    for start in edges.keys() {
        if order.contains_key(&**start) {
            continue;
        }
        let mut visits = vec![Visit {
            key: start,
            next: 0,
        }];
        while let Some(visit) = visits.last_mut() {
            let key = visit.key;
            if visit.next == 0 && !order.contains_key(&**key) {
                let number = order.len();
                order.insert(key, number);
                low.insert(key, number);
                open.push(key);
                is_open.insert(key);
            }
            let out = edges.get(key).unwrap_or(&none);
            if let Some(edge) = out.get(visit.next) {
                visit.next += 1;
                if let Some(&number) = order.get(&*edge.to) {
                    if is_open.contains(&*edge.to) {
                        let least = low[&**key].min(number);
                        low.insert(key, least);
                    }
                } else if let Some((known, _)) = edges.get_key_value(&edge.to) {
                    visits.push(Visit {
                        key: known,
                        next: 0,
                    });
                }
                continue;
            }
            visits.pop();
            let least = low[&**key];
            if let Some(above) = visits.last() {
                let least = low[&**above.key].min(least);
                low.insert(above.key, least);
            }
            if least == order[&**key] {
                let at = open.iter().rposition(|other| other == &key).unwrap_or(0);
                let members = open.split_off(at);
                let loops_alone = out.iter().any(|edge| edge.to == *key);
                for member in &members {
                    is_open.remove(&***member);
                    if members.len() > 1 || loops_alone {
                        found.insert(Arc::clone(member), count);
                    }
                }
                count += 1;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_on_circles_are_kept() {
        let mut edges: HashMap<Arc<str>, Vec<Edge>> = HashMap::new();
        for (from, to) in [
            ("a", "b"),
            ("b", "c"),
            ("c", "a"),
            ("x", "a"),
            ("s", "s"),
            ("c", "y"),
            ("y", "z"),
        ] {
            edges.entry(from.into()).or_default().push(Edge {
                to: to.into(),
                file: FileId(0),
            });
        }
        let found = components(&edges);
        let mut names: Vec<&str> = found.keys().map(|name| &**name).collect();
        names.sort_unstable();
        assert_eq!(names, ["a", "b", "c", "s"]);
        assert_eq!(found["a"], found["c"]);
        assert_ne!(found["a"], found["s"]);
    }
}
