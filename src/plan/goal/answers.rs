//! The answers of all known nodes to a goal's key, by the numbers of the nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::analysis::RootView;
use crate::ide::compare::differ;
use crate::ide::document::cancelled;
use crate::ide::matrix::{Cell, cells};
use crate::lookup::{Request, numbered_answers};

/// The answers of all known nodes.
pub(super) struct NodeAnswers {
    /// The different answers, the most frequent first; without the names of their nodes.
    cells: Vec<Cell>,
    /// For each node the number of its answer, and that of its origin there.
    place_of: Vec<(u32, u32)>,
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
        let is_cancelled = view.analysis.is_cancelled;
        let answers = numbered_answers(&view.session(), nodes, request, &members, is_cancelled);
        let answers = answers.ok_or_else(cancelled)?;
        Ok(NodeAnswers {
            cells: cells(view.analysis.snapshot, answers.groups),
            place_of: answers.place_of,
        })
    }

    /// The number of different answers.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The number of a node's answer; the most frequent one has the lowest.
    pub(super) fn number(&self, member: usize) -> usize {
        self.place_of[member].0 as usize
    }

    /// A node's answer.
    pub(super) fn cell(&self, member: usize) -> &Cell {
        &self.cells[self.number(member)]
    }

    /// The files that some nodes have their answers from, each list once. O(members + origins).
    pub(super) fn files_of(&self, members: &[usize]) -> impl Iterator<Item = &Arc<str>> {
        let used: BTreeSet<(u32, u32)> = members.iter().map(|&at| self.place_of[at]).collect();
        let origins = used.into_iter().map(|(cell, origin)| {
            let origins = &self.cells[cell as usize].origins;
            &origins[origin as usize].sources
        });
        origins.flatten().map(|source| &source.file)
    }

    /// The nodes that get another answer later, those of the most frequent change first. O(nodes).
    pub(super) fn changes<'a>(&'a self, later: &'a NodeAnswers) -> Vec<NodeChange<'a>> {
        let mut pairs: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for member in 0..self.place_of.len() {
            let pair = (later.number(member), self.number(member));
            pairs.entry(pair).or_default().push(member);
        }
        let pairs = pairs
            .into_iter()
            .map(|((after, before), members)| NodeChange {
                before: &self.cells[before],
                after: &later.cells[after],
                members,
            });
        let mut found: Vec<NodeChange<'_>> = pairs
            .filter(|change| differ(change.before, change.after))
            .collect();
        found.sort_by_key(|change| std::cmp::Reverse(change.members.len()));
        found
    }
}
