//! The answers of all known nodes to a goal's key, by the numbers of the nodes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::analysis::RootView;
use crate::ide::compare::differ;
use crate::ide::document::cancelled;
use crate::ide::matrix::{Cell, line};
use crate::lookup::{Group, LookupLimit, Request, runs_within};
use crate::value::KeyHashing;

/// The answers of all known nodes.
pub(super) struct NodeAnswers {
    /// The different answers, the most frequent first; without the names of their nodes.
    cells: Vec<Cell>,
    /// For each node the number of its answer.
    cell_of: Vec<u32>,
    /// The files that answers come from; several may belong to the same answer.
    origins: Vec<Vec<Arc<str>>>,
    /// For each node the number of its origin.
    origin_of: Vec<u32>,
}

/// Nodes that get another answer, all the same.
pub(super) struct NodeChange<'a> {
    pub(super) before: &'a Cell,
    pub(super) after: &'a Cell,
    /// Their numbers, in order.
    pub(super) members: Vec<usize>,
}

impl NodeAnswers {
    /// Answers a request for all nodes: one lookup for each distinct set of sources, plus O(nodes).
    ///
    /// # Errors
    /// The search was cancelled.
    pub(super) fn of(view: &RootView<'_>, request: &Request) -> Result<NodeAnswers, String> {
        let nodes = view.analysis.nodes;
        let members: Vec<usize> = (0..nodes.len()).collect();
        let limit = LookupLimit {
            most: usize::MAX,
            sample: usize::MAX,
            is_cancelled: view.analysis.is_cancelled,
        };
        let runs = runs_within(&view.session(), nodes, request, &members, &limit);
        let answered: usize = runs.iter().map(|run| run.members.len()).sum();
        if answered < members.len() {
            return Err(cancelled());
        }
        let mut known: HashMap<_, usize, KeyHashing> = HashMap::default();
        // The answers, with the numbers of their nodes and of their runs.
        let mut groups: Vec<(Cell, usize, Vec<usize>)> = Vec::new();
        let mut all = NodeAnswers {
            cells: Vec::new(),
            cell_of: vec![0; members.len()],
            origins: Vec::with_capacity(runs.len()),
            origin_of: vec![0; members.len()],
        };
        for (number, run) in runs.into_iter().enumerate() {
            for &member in &run.members {
                all.origin_of[member] = number as u32;
            }
            let group = Group::of(run.answer, request, Vec::new());
            let cell: Cell = group.map(|source| line(view.analysis.snapshot, source));
            let files = cell.sources().into_iter();
            all.origins
                .push(files.map(|source| source.file.clone()).collect());
            let result = cell.result.clone().map_err(|error| error.to_string());
            let same = known.entry((result, cell.unknown.clone()));
            let at = *same.or_insert_with(|| {
                groups.push((cell, 0, Vec::new()));
                groups.len() - 1
            });
            groups[at].1 += run.members.len();
            groups[at].2.push(number);
        }
        groups.sort_by_key(|(_, nodes, _)| std::cmp::Reverse(*nodes));
        let mut cell_of = vec![0; all.origins.len()];
        for (at, (cell, _, numbers)) in groups.into_iter().enumerate() {
            all.cells.push(cell);
            numbers.into_iter().for_each(|run| cell_of[run] = at as u32);
        }
        for (cell, origin) in all.cell_of.iter_mut().zip(&all.origin_of) {
            *cell = cell_of[*origin as usize];
        }
        Ok(all)
    }

    /// The number of different answers.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The number of a node's answer; the most frequent one has the lowest.
    pub(super) fn number(&self, member: usize) -> usize {
        self.cell_of[member] as usize
    }

    /// A node's answer.
    pub(super) fn cell(&self, member: usize) -> &Cell {
        &self.cells[self.number(member)]
    }

    /// The files that some nodes have their answers from, each list once. O(members + origins).
    pub(super) fn files_of(&self, members: &[usize]) -> impl Iterator<Item = &Arc<str>> {
        let mut is_used = vec![false; self.origins.len()];
        for &member in members {
            is_used[self.origin_of[member] as usize] = true;
        }
        let origins = self.origins.iter().zip(is_used);
        origins
            .filter_map(|(files, is_used)| is_used.then_some(files))
            .flatten()
    }

    /// The nodes that get another answer later, those of the most frequent change first. O(nodes).
    pub(super) fn changes<'a>(&'a self, later: &'a NodeAnswers) -> Vec<NodeChange<'a>> {
        let mut pairs: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
        for (member, (&before, &after)) in self.cell_of.iter().zip(&later.cell_of).enumerate() {
            pairs.entry((after, before)).or_default().push(member);
        }
        let pairs = pairs
            .into_iter()
            .map(|((after, before), members)| NodeChange {
                before: &self.cells[before as usize],
                after: &later.cells[after as usize],
                members,
            });
        let mut found: Vec<NodeChange<'_>> = pairs
            .filter(|change| differ(change.before, change.after))
            .collect();
        found.sort_by_key(|change| std::cmp::Reverse(change.members.len()));
        found
    }
}
