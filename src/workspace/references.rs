//! References between top-level keys, over all files of the workspace: the number of tokens, in
//! both directions, patched by difference, and the cycles that they form.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use imbl::OrdMap;

use super::delta::FileDelta;
use super::index::{KeyIndex, Patch};
use super::snapshot::FileId;

/// References between keys, shared between snapshots. A change costs O(changed references × log n);
/// the cycles are recomputed, on demand, only when the first token of a reference was added or the
/// last one removed.
#[derive(Clone, Debug, Default)]
pub struct References {
    /// For each key the keys that it looks up, with the number of tokens.
    edges: OrdMap<Arc<str>, OrdMap<Arc<str>, u32>>,
    /// The reverse: for each key the keys that look it up.
    users: OrdMap<Arc<str>, OrdMap<Arc<str>, u32>>,
    /// The files with tokens that look up each key.
    files: KeyIndex,
    circles: Arc<OnceLock<Circles>>,
}

/// Keys that look each other up in a cycle, including a key that looks up itself.
#[derive(Debug, Default)]
pub struct Circles {
    /// For each key on a cycle, the number of its strongly connected component.
    components: HashMap<Arc<str>, usize>,
}

impl Circles {
    /// Whether a reference from one key to another can be part of a cycle.
    #[must_use]
    pub fn is_on(&self, from: &str, to: &str) -> bool {
        match (self.components.get(from), self.components.get(to)) {
            (Some(a), Some(b)) => a == b,
            (_, _) => false,
        }
    }

    /// The keys on cycles, unordered.
    pub fn keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.components.keys()
    }
}

impl References {
    /// The cycles of the references. O(distinct references) the first time.
    #[must_use]
    pub fn circles(&self) -> &Circles {
        self.circles.get_or_init(|| Circles {
            components: components(&self.edges),
        })
    }

    /// Whether a key's value in some file looks another key up.
    #[must_use]
    pub fn has(&self, from: &str) -> bool {
        self.edges.contains_key(from)
    }

    /// The keys whose values look up `of`, ordered by bytes.
    pub fn users<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a Arc<str>> {
        self.users.get(key).into_iter().flat_map(OrdMap::keys)
    }

    /// The number of tokens in values that look up a key. O(keys that do).
    #[must_use]
    pub fn tokens(&self, key: &str) -> usize {
        let users = self.users.get(key).into_iter().flat_map(OrdMap::values);
        users.map(|tokens| *tokens as usize).sum()
    }

    /// The files with tokens that look up a key, ordered by id.
    pub(super) fn files(&self, key: &str) -> impl Iterator<Item = FileId> {
        self.files.iter_files(key)
    }

    /// The keys that tokens look up, ordered by bytes.
    pub fn looked_up(&self) -> impl Iterator<Item = &Arc<str>> {
        self.files.names("")
    }

    /// Patches the references of files that changed.
    pub(super) fn patch(&mut self, files: &[FileDelta]) {
        let mut changes: BTreeMap<(&Arc<str>, &Arc<str>), i64> = BTreeMap::new();
        let mut tokens = Patch::default();
        for file in files {
            for (facts, by) in [(&file.before, -1), (&file.after, 1)] {
                let uses = facts.iter().flat_map(|facts| facts.uses());
                for (key, _, to) in uses {
                    *changes.entry((&key.name, to)).or_default() += by;
                }
            }
            let [before, after] = file.looked_up();
            for key in after.difference(&before) {
                tokens.add(key, file.file);
            }
            for key in before.difference(&after) {
                tokens.remove(key, file.file);
            }
        }
        self.files.patch(tokens);
        let mut same_edges = true;
        for ((from, to), by) in changes {
            if by == 0 {
                continue;
            }
            let before = self.edges.get(&**from).and_then(|out| out.get(&**to));
            let before = i64::from(before.copied().unwrap_or_default());
            let after = u32::try_from(before + by).unwrap_or_default();
            same_edges &= before > 0 && after > 0;
            count(&mut self.edges, from, to, after);
            count(&mut self.users, to, from, after);
        }
        if !same_edges {
            self.circles = Arc::default();
        }
    }
}

/// Sets the number of tokens from one key to another.
fn count(
    edges: &mut OrdMap<Arc<str>, OrdMap<Arc<str>, u32>>,
    from: &Arc<str>,
    to: &Arc<str>,
    tokens: u32,
) {
    let out = edges.entry(Arc::clone(from)).or_default();
    match tokens {
        0 => out.remove(&**to),
        tokens => out.insert(Arc::clone(to), tokens),
    };
    if out.is_empty() {
        edges.remove(&**from);
    }
}

/// Keys on cycles, numbered by their strongly connected component (Tarjan, without recursion).
fn components(edges: &OrdMap<Arc<str>, OrdMap<Arc<str>, u32>>) -> HashMap<Arc<str>, usize> {
    struct Visit<'a> {
        key: &'a Arc<str>,
        out: Vec<&'a Arc<str>>,
        next: usize,
    }
    let out_of = |key: &str| -> Vec<&Arc<str>> {
        let out = edges.get(key).into_iter();
        out.flat_map(OrdMap::keys).collect()
    };
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
            out: out_of(start),
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
            if let Some(&to) = visit.out.get(visit.next) {
                visit.next += 1;
                if let Some(&number) = order.get(&**to) {
                    if is_open.contains(&**to) {
                        let least = low[&**key].min(number);
                        low.insert(key, least);
                    }
                } else if edges.contains_key(&**to) {
                    visits.push(Visit {
                        key: to,
                        out: out_of(to),
                        next: 0,
                    });
                }
                continue;
            }
            let loops_alone = visit.out.contains(&key);
            visits.pop();
            let least = low[&**key];
            if let Some(above) = visits.last() {
                let least = low[&**above.key].min(least);
                low.insert(above.key, least);
            }
            if least == order[&**key] {
                let at = open.iter().rposition(|other| other == &key).unwrap_or(0);
                let members = open.split_off(at);
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
        let mut edges: OrdMap<Arc<str>, OrdMap<Arc<str>, u32>> = OrdMap::new();
        for (from, to) in [
            ("a", "b"),
            ("b", "c"),
            ("c", "a"),
            ("x", "a"),
            ("s", "s"),
            ("c", "y"),
            ("y", "z"),
        ] {
            edges.entry(from.into()).or_default().insert(to.into(), 1);
        }
        let found = components(&edges);
        let mut names: Vec<&str> = found.keys().map(|name| &**name).collect();
        names.sort_unstable();
        assert_eq!(names, ["a", "b", "c", "s"]);
        assert_eq!(found["a"], found["c"]);
        assert_ne!(found["a"], found["s"]);
    }
}
