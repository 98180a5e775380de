//! Differences between two nodes, or between two environments or checkouts for the same nodes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;

use super::matrix::{Cell, Row, line, row, row_of};
use super::undecided::{Undecided, undecided};
use crate::analysis::{Analysis, ChangeExtent, RootView, keys_of_all, with_manifest_variables};
use crate::lookup::{Group, Request, ScopeLookups};
use crate::scope::KnownNodes;
use crate::text::nearest_host;
use crate::value::KeyHashing;
use crate::workspace::Root;

/// A key with different answers.
#[derive(Serialize, Clone, Debug)]
pub struct Difference {
    /// The key.
    pub key: Arc<str>,
    /// The first answer; between two nodes, `nodes` is the first node.
    pub before: Cell,
    /// The second answer.
    pub after: Cell,
}

impl Difference {
    /// The difference between two answers of a key; `None` if they are the same.
    pub(super) fn between(key: &Arc<str>, before: Cell, after: Cell) -> Option<Difference> {
        differ(&before, &after).then(|| Difference {
            key: key.clone(),
            before,
            after,
        })
    }

    /// Splits a difference by the pairs of old and new origins.
    #[must_use]
    pub fn by_origin(&self) -> Vec<Difference> {
        let (old, new) = (&self.before, &self.after);
        if old.origins.len() <= 1 && new.origins.len() <= 1 {
            return vec![self.clone()];
        }
        let mut was: HashMap<&str, usize, KeyHashing> = HashMap::default();
        for (at, origin) in old.origins.iter().enumerate() {
            was.extend(origin.nodes.iter().map(|name| (&**name, at)));
        }
        let mut found = Vec::new();
        for origin in &new.origins {
            let mut by_old: BTreeMap<Option<&usize>, Vec<Arc<str>>> = BTreeMap::new();
            for name in &origin.nodes {
                let nodes = by_old.entry(was.get(&**name)).or_default();
                nodes.push(name.clone());
            }
            found.extend(by_old.into_values().map(|nodes| Difference {
                key: self.key.clone(),
                before: old.only(nodes.clone()),
                after: new.only(nodes),
            }));
        }
        found
    }
}

/// Takes the differences of a key, and the numbers of finished and of all keys; an error ends the comparison.
pub type OnDifferences<'s> = &'s mut dyn FnMut(Vec<Difference>, usize, usize) -> Result<(), String>;

/// The sides of a comparison.
enum Compared<'a> {
    /// Indexes of nodes.
    Nodes([usize; 2]),
    Environments([&'a Root; 2]),
}

/// Compares two nodes in a root, or two environments for all known nodes; all keys if `keys` is empty.
///
/// # Errors
/// Unknown names, for people, or an error of `step`.
pub fn compare(
    view: &RootView<'_>,
    names: [&Arc<str>; 2],
    keys: &[Arc<str>],
    step: OnDifferences<'_>,
) -> Result<(), String> {
    let analysis = view.analysis;
    match sides(analysis, names)? {
        Compared::Nodes([one, other]) => {
            let keys = chosen(keys, &[view]);
            let mut lookups = [one, other]
                .map(|member| ScopeLookups::new(view.session(), analysis.nodes.scope(member)));
            for (at, key) in keys.iter().enumerate() {
                let [before, after] = [(0, one), (1, other)]
                    .map(|(side, member)| answer_of(view, key, member, &mut lookups[side]));
                let difference = Difference::between(key, before, after);
                step(Vec::from_iter(difference), at + 1, keys.len())?;
            }
            Ok(())
        }
        Compared::Environments(roots) => {
            if analysis.nodes.is_empty() {
                return Err("no nodes are known to compare environments for".to_owned());
            }
            let members = [0, 1].map(|side: usize| {
                let nodes = analysis.nodes.as_members(names[side]);
                let Analysis {
                    snapshot, settings, ..
                } = analysis;
                let with_variables =
                    with_manifest_variables(&nodes, snapshot, roots[side], settings);
                with_variables.unwrap_or(nodes)
            });
            let [before, after] = [0, 1].map(|side: usize| {
                let nodes: &KnownNodes = &members[side];
                let analysis = Analysis { nodes, ..analysis };
                analysis.with_environment(names[side]).at(roots[side])
            });
            compare_roots(&before, &after, keys, step)
        }
    }
}

/// Compares two versions of a root's files for the known nodes; all keys if `keys` is empty. Only
/// keys and nodes that changed files can affect are looked up. Returns the keys of which it is unknown
/// whether they differ.
///
/// # Errors
/// An error of `step`.
pub fn compare_versions(
    before: &RootView<'_>,
    after: &RootView<'_>,
    keys: &[Arc<str>],
    step: OnDifferences<'_>,
) -> Result<Vec<Undecided>, String> {
    let extent = ChangeExtent::of(before, after);
    let touched = match keys {
        [] => extent.keys(before, after),
        keys => keys.to_vec(),
    };
    let mut open = Vec::new();
    for (at, key) in touched.iter().enumerate() {
        let row_in = |view: &RootView<'_>| row_of(view, key, &extent.members);
        let rows = [row_in(before), row_in(after)];
        let found = changes(&rows[0], &rows[1]);
        open.extend(undecided([before, after], &extent, rows.each_ref()));
        step(found, at + 1, touched.len())?;
    }
    Ok(open)
}

/// Compares two roots for all known nodes; all keys if `keys` is empty.
fn compare_roots(
    before: &RootView<'_>,
    after: &RootView<'_>,
    keys: &[Arc<str>],
    step: OnDifferences<'_>,
) -> Result<(), String> {
    let keys = chosen(keys, &[before, after]);
    for (at, key) in keys.iter().enumerate() {
        let found = changes(&row(before, key), &row(after, key));
        step(found, at + 1, keys.len())?;
    }
    Ok(())
}

/// Finds two nodes, or else two environments, by name.
fn sides<'a>(analysis: Analysis<'a>, names: [&Arc<str>; 2]) -> Result<Compared<'a>, String> {
    let nodes = names.map(|name| analysis.nodes.find(name));
    if let [Some(one), Some(other)] = nodes {
        return Ok(Compared::Nodes([one, other]));
    }
    let roots = names.map(|name| analysis.environment(name));
    if let [Some(one), Some(other)] = roots {
        return Ok(Compared::Environments([one, other]));
    }
    let mut sides = names.into_iter().zip(nodes).zip(roots);
    let unknown = sides.find(|((_, node), root)| node.is_none() && root.is_none());
    Err(match unknown {
        Some(((name, _), _)) => {
            let known = (0..analysis.nodes.len()).map(|member| analysis.nodes.certname(member));
            let hint = match nearest_host(name, known) {
                Some(known) => format!(": did you mean '{known}'?"),
                None => String::new(),
            };
            format!("'{name}' is neither a known node nor an environment{hint}")
        }
        None => format!(
            "'{}' and '{}' cannot be compared: name two nodes or two environments",
            names[0], names[1]
        ),
    })
}

/// The given keys, else all that lookups in the roots can find.
fn chosen(keys: &[Arc<str>], views: &[&RootView<'_>]) -> Vec<Arc<str>> {
    match keys {
        [] => keys_of_all(views.iter().copied()),
        keys => keys.to_vec(),
    }
}

fn answer_of(
    view: &RootView<'_>,
    key: &str,
    member: usize,
    lookups: &mut ScopeLookups<'_>,
) -> Cell {
    let request = Request::key(key).with_sources();
    let answer = lookups.lookup(&request);
    let nodes = view.analysis.nodes;
    let group = Group::of(answer, &request, vec![nodes.shared_name(member)]);
    group.map(|source| line(view.analysis.snapshot, source))
}

/// The differences between two rows of a key, those for most nodes first.
#[must_use]
pub fn changes(old: &Row, new: &Row) -> Vec<Difference> {
    let mut was: HashMap<&str, usize, KeyHashing> = HashMap::default();
    for (at, cell) in old.answers.iter().enumerate() {
        was.extend(cell.nodes.iter().map(|name| (&**name, at)));
    }
    let mut found = Vec::new();
    for after in &new.answers {
        let mut by_old: BTreeMap<usize, Vec<Arc<str>>> = BTreeMap::new();
        for name in &after.nodes {
            if let Some(&at) = was.get(&**name) {
                by_old.entry(at).or_default().push(name.clone());
            }
        }
        for (at, nodes) in by_old {
            let before = &old.answers[at];
            if differ(before, after) {
                found.push(Difference {
                    key: new.key.clone(),
                    before: before.only(nodes.clone()),
                    after: after.only(nodes),
                });
            }
        }
    }
    found.sort_by_key(|difference| std::cmp::Reverse(difference.after.nodes.len()));
    found
}

/// Whether two answers differ; the reason for an uncertainty is ignored.
pub(crate) fn differ(one: &Cell, other: &Cell) -> bool {
    let message = |cell: &Cell| cell.result.clone().map_err(|error| error.to_string());
    one.unknown.is_some() != other.unknown.is_some() || message(one) != message(other)
}
