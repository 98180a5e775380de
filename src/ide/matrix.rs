//! The matrix: the answers of a key for all known nodes, with their sources.
//!
//! `cell` turns it into text, `json` into JSON.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;

use super::target::KeyTarget;
use crate::analysis::dig;
use crate::analysis::{self, Analysis, KeyPositions, LevelValue, RootView, merge_kind};
use crate::interpolation::root_of;
use crate::lookup::{
    Alternatives, Group, GroupOrigin, LookupError, Request, ScopeLookups, SharedInputs, Source,
    StrategyKind, absent_words, groups_of_possible, groups_with_inputs,
};
use crate::scope::Scope;
use crate::value::{KeyHashing, Value};
use crate::workspace::Snapshot;

/// The line of a key in a file.
#[derive(Serialize, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourceLine {
    /// The absolute path of the file, or a URI.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

/// An answer for some nodes, with the lines of its sources. [`with_unseen`] adds the levels outside
/// of the workspace to `unless`.
pub type Cell = Group<SourceLine>;

impl Cell {
    /// The distinct sources for any of the nodes.
    #[must_use]
    pub fn sources(&self) -> Vec<&SourceLine> {
        let mut seen: HashSet<&SourceLine, KeyHashing> = HashSet::default();
        let all = self.origins.iter().flat_map(|origin| &origin.sources);
        all.filter(|source| seen.insert(source)).collect()
    }

    /// Whether it is known that no level sets the key.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.unknown.is_none() && self.result.as_ref().is_err_and(LookupError::is_not_found)
    }

    /// The likely value, if it has no unknown parts.
    #[must_use]
    pub fn possible(&self) -> Option<&Value> {
        let value = self.result.as_ref().ok();
        value.filter(|value| !value.has_opaque())
    }

    /// The same answer for some of its nodes.
    #[must_use]
    pub fn only(&self, nodes: Vec<Arc<str>>) -> Cell {
        let kept: HashSet<&str, KeyHashing> = nodes.iter().map(|name| &**name).collect();
        let origins = self.origins.iter().map(|origin| {
            let own = origin.nodes.iter().filter(|name| kept.contains(&***name));
            GroupOrigin {
                sources: origin.sources.clone(),
                nodes: own.cloned().collect(),
            }
        });
        let mut origins: Vec<GroupOrigin<SourceLine>> =
            origins.filter(|origin| !origin.nodes.is_empty()).collect();
        origins.sort_by_key(|origin| std::cmp::Reverse(origin.nodes.len()));
        Cell {
            result: self.result.clone(),
            unknown: self.unknown.clone(),
            condition: self.condition.clone(),
            unless: self.unless.clone(),
            assumed: self.assumed.clone(),
            nodes,
            origins,
        }
    }
}

/// The answers of a key.
#[derive(Serialize, Clone, Debug)]
pub struct Row {
    /// The key.
    pub key: Arc<str>,
    /// The answers, the most frequent first.
    pub answers: Vec<Cell>,
    /// The answers for possible facts, each with its condition; only set by [`with_facts`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_facts: Vec<Cell>,
}

/// The row of a key for all known nodes, by one lookup for each distinct set of sources.
#[must_use]
pub fn row(view: &RootView<'_>, key: &str) -> Row {
    row_of(view, key, &view.members())
}

/// The rows of keys for one known node, by index: each as [`row`] has it for a node alone.
pub fn rows_of_node<'k>(
    view: &RootView<'_>,
    keys: impl Iterator<Item = &'k Arc<str>>,
    member: usize,
) -> impl Iterator<Item = Row> {
    let nodes = view.analysis.nodes;
    let mut lookups = ScopeLookups::new(view.session(), nodes.scope(member));
    keys.map(move |key| {
        let request = Request::key(key).with_sources();
        let answer = lookups.lookup(&request);
        let group = Group::of(answer, &request, vec![nodes.shared_name(member)]);
        row_with(view, key, vec![group])
    })
}

/// The row of a key for one known node, looked up alone.
#[cfg(test)]
pub(crate) fn row_of_member(view: &RootView<'_>, key: &str, member: usize) -> Row {
    row_of(view, key, &[member])
}

/// The row of a key for some nodes, by index.
#[must_use]
pub(super) fn row_of(view: &RootView<'_>, key: &str, members: &[usize]) -> Row {
    row_by(view, key, &Request::key(key).with_sources(), members)
}

/// The same without sources, in about half the time.
#[must_use]
pub(crate) fn bare_row_of(view: &RootView<'_>, key: &str, members: &[usize]) -> Row {
    row_by(view, key, &Request::key(key), members)
}

/// The answers of some known nodes to any request.
pub(super) fn row_by(view: &RootView<'_>, key: &str, request: &Request, members: &[usize]) -> Row {
    row_with_inputs(view, key, request, members).0
}

/// The same, with what the answers depend on.
pub(super) fn row_with_inputs(
    view: &RootView<'_>,
    key: &str,
    request: &Request,
    members: &[usize],
) -> (Row, Vec<SharedInputs>) {
    let Analysis {
        nodes,
        is_cancelled,
        ..
    } = view.analysis;
    let session = view.session();
    let (groups, inputs) = groups_with_inputs(&session, nodes, request, members, is_cancelled);
    let mut row = row_with(view, key, groups);
    // The nodes of the workspace's own environment come first.
    let is_elsewhere = |name: &Arc<str>| nodes.find(name).is_some_and(|it| nodes.is_elsewhere(it));
    row.answers
        .sort_by_key(|cell| cell.nodes.iter().all(is_elsewhere));
    (row, inputs)
}

fn row_with(view: &RootView<'_>, key: &str, groups: Vec<Group>) -> Row {
    Row {
        key: Arc::from(key),
        answers: of_part(view, key, cells(view.analysis.snapshot, groups)),
        by_facts: Vec::new(),
    }
}

/// The row of a key for the known nodes; for all possible nodes if there are none.
#[must_use]
pub fn row_of_any(view: &RootView<'_>, key: &str) -> Row {
    row_by_any(view, &Request::key(key).with_sources())
}

/// The same by a request for one key.
pub(super) fn row_by_any(view: &RootView<'_>, request: &Request) -> Row {
    let key = request.names.first().map_or("", |name| &**name);
    let members = view.members();
    if members.is_empty() {
        return row_of_possible(view, key, request);
    }
    row_by(view, key, request, &members)
}

/// The row of a key for all possible nodes: without any file that depends on a fact, then with each.
pub(super) fn row_of_possible(view: &RootView<'_>, key: &str, request: &Request) -> Row {
    let groups = groups_of_possible(&view.session(), &Scope::open(), request);
    row_with(view, key, groups)
}

/// Adds the answers for possible facts to an unknown answer if the nodes' facts are unknown: for
/// the first node of the largest group.
#[must_use]
pub fn with_facts(view: &RootView<'_>, mut row: Row) -> Row {
    let nodes = view.analysis.nodes;
    let mut uncertain = row.answers.iter().filter(|cell| cell.unknown.is_some());
    if nodes.are_names()
        && let Some(first) = uncertain.next().and_then(|cell| cell.nodes.first())
        && let Some(member) = nodes.find(first)
    {
        let request = Request::key(&row.key).with_sources();
        let groups = groups_of_possible(&view.session(), &nodes.scope(member), &request);
        row.by_facts = cells(view.analysis.snapshot, groups);
        row.by_facts
            .retain(|cell| cell.condition != Alternatives::Otherwise);
    }
    row
}

/// Adds the levels outside of the workspace that would change each answer, as in hovers.
#[must_use]
pub fn with_unseen(view: &RootView<'_>, mut row: Row) -> Row {
    let root = root_of(&row.key);
    if view.has_outside(&root) {
        for cell in &mut row.answers {
            let outside = unless(view, &row.key, &root, cell);
            let all: Vec<String> = cell.unless.take().into_iter().chain(outside).collect();
            cell.unless = (!all.is_empty()).then(|| all.join(", or "));
        }
    }
    row
}

/// The levels outside of the workspace that would change an answer; `key` is the name in lookups.
fn unless(view: &RootView<'_>, key: &str, root: &str, cell: &Cell) -> Option<String> {
    let nodes = view.analysis.nodes;
    let member = cell.nodes.first().and_then(|name| nodes.find(name));
    let scope = member.map_or_else(Scope::open, |member| nodes.scope(member));
    let answer = view
        .session()
        .lookup(&scope, &Request::key(key).with_sources());
    let mut given = match member {
        Some(_) => analysis::sources(&answer, key),
        None => Vec::new(),
    };
    given.extend(cell.sources().into_iter().map(|source| LevelValue {
        path: Some(source.file.clone()),
        level: "".into(),
        value: Value::Undef,
    }));
    let found = view.key_answer_from(root, &scope, answer, given);
    absent_words(&found.outside, "it")
}

/// Replaces the lines of the whole value by those of the part that a dotted key names. Files
/// without the part are dropped, unless no file has it.
fn of_part(view: &RootView<'_>, key: &str, mut cells: Vec<Cell>) -> Vec<Cell> {
    let Some(KeyTarget { root, steps, .. }) = KeyTarget::named(key) else {
        return cells;
    };
    if steps.is_empty() {
        return cells;
    }
    let snapshot = view.analysis.snapshot;
    let positions = KeyPositions::new(snapshot);
    let mut entry = view.in_scope(&Scope::open());
    let kind = entry.options_entry(&root).as_ref().and_then(merge_kind);
    let part = |source: &SourceLine| {
        let file = snapshot.file(&source.file)?;
        if !view.analysis.may_set(&source.file, &root, &steps) {
            return None;
        }
        let own = view.analysis.own_value(&source.file, &root)?;
        let line = if dig(&own, &steps).is_some() {
            positions.line(file, &root, &steps)
        } else {
            source.line
        };
        Some(SourceLine {
            file: source.file.clone(),
            line,
        })
    };
    for cell in &mut cells {
        let is_scalar = || {
            let value = cell.result.as_ref();
            value.is_ok_and(|value| !value.is_collection())
        };
        let is_of_one = !kind.is_some_and(StrategyKind::is_deep) || is_scalar();
        let mut origins: Vec<GroupOrigin<SourceLine>> = Vec::new();
        for origin in std::mem::take(&mut cell.origins) {
            let mut found: Vec<SourceLine> = origin.sources.iter().filter_map(part).collect();
            match (found.is_empty(), is_of_one, kind) {
                (true, _, _) => found.clone_from(&origin.sources),
                (false, true, Some(StrategyKind::ReverseDeep)) => {
                    found.drain(..found.len() - 1).for_each(drop)
                }
                (false, true, _) => found.truncate(1),
                (false, false, _) => {}
            }
            match origins.iter_mut().find(|known| known.sources == found) {
                Some(known) => known.nodes.extend(origin.nodes),
                None => origins.push(GroupOrigin {
                    sources: found,
                    nodes: origin.nodes,
                }),
            }
        }
        for origin in &mut origins {
            origin.nodes.sort();
        }
        origins.sort_by_key(|origin| std::cmp::Reverse(origin.nodes.len()));
        cell.origins = origins;
    }
    cells
}

/// The cells of groups; the line of each source is only searched once.
#[must_use]
pub fn cells(snapshot: &Snapshot, groups: Vec<Group>) -> Vec<Cell> {
    let mut lines: HashMap<Source, SourceLine, KeyHashing> = HashMap::default();
    let mut line_of = |source: &Source| {
        if let Some(known) = lines.get(source) {
            return known.clone();
        }
        let found = line(snapshot, source);
        lines.insert(source.clone(), found.clone());
        found
    };
    let cells = groups.into_iter().map(|group| group.map(&mut line_of));
    cells.collect()
}

/// The line of a source's key; 1 if the file cannot be read.
pub(crate) fn line(snapshot: &Snapshot, source: &Source) -> SourceLine {
    let line = snapshot.file(&source.place).and_then(|file| {
        let fact = file.facts().key(&source.key)?;
        Some(fact.line + 1)
    });
    SourceLine {
        file: source.place.clone(),
        line: line.unwrap_or(1),
    }
}

/// The answer in a scope, with the condition of the scope.
pub(crate) fn answer_in(
    view: &RootView<'_>,
    request: &Request,
    scope: &Scope,
    condition: &Alternatives,
) -> Cell {
    let answer = view.session().lookup(scope, request);
    let group = Group::of(answer, request, Vec::new());
    Cell {
        condition: condition.clone(),
        ..group.map(|source| line(view.analysis.snapshot, source))
    }
}
