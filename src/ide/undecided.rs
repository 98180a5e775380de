//! Keys of which it is unknown whether they differ between two versions: a changed file has the key,
//! and whether a node reads it depends on data that is not known of the node.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::compare::differ;
use super::matrix::Row;
use crate::analysis::{ChangeExtent, RootView};
use crate::lookup::{LookupLimit, Request, UnknownCause, runs_within};
use crate::text::few;

/// A key that may differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undecided {
    /// The key.
    pub key: Arc<str>,
    /// The nodes for which it may differ, in their order.
    pub nodes: Vec<Arc<str>>,
    /// The changed files that have it, by their paths in the new version.
    pub files: BTreeSet<Arc<str>>,
    /// The unknown variables in the paths of their levels.
    pub variables: BTreeSet<Arc<str>>,
}

impl Undecided {
    /// For people: what may differ, and what decides it.
    #[must_use]
    pub fn text(&self, shown: impl Fn(&str) -> String) -> String {
        /// Maximum number of names in the line.
        const MOST: usize = 3;
        let files: Vec<String> = self.files.iter().map(|file| shown(file)).collect();
        let variables: Vec<&str> = self.variables.iter().map(|name| &**name).collect();
        let one_of = match files.len() {
            1 => "",
            _ => "one of ",
        };
        format!(
            "{} may differ for {}: whether a node reads {one_of}{} depends on {}",
            self.key,
            few(&self.nodes, MOST),
            few(&files, MOST),
            variables.join(" and ")
        )
    }
}

/// What one node may read of a key: each file with the key of the entry, by its path in the new
/// version; and the unknown variables in the paths.
#[derive(Clone, Default)]
struct PossibleReads {
    entries: BTreeSet<(Arc<str>, Arc<str>)>,
    variables: BTreeSet<Arc<str>>,
}

/// The key of two rows, if it may differ for nodes whose answers are uncertain in both versions.
pub(super) fn undecided(
    [before, after]: [&RootView<'_>; 2],
    extent: &ChangeExtent,
    [old, new]: [&Row; 2],
) -> Option<Undecided> {
    let uncertain = |row: &'_ Row| row.answers.iter().any(|cell| cell.unknown.is_some());
    if !uncertain(old) || !uncertain(new) {
        return None;
    }
    let mut was = BTreeMap::new();
    for cell in old.answers.iter().filter(|cell| cell.unknown.is_some()) {
        was.extend(cell.nodes.iter().map(|name| (name, cell)));
    }
    let mut members = Vec::new();
    for cell in new.answers.iter().filter(|cell| cell.unknown.is_some()) {
        let same = cell.nodes.iter();
        let same = same.filter(|name| was.get(name).is_some_and(|old| !differ(old, cell)));
        members.extend(same.filter_map(|name| after.analysis.nodes.find(name)));
    }
    members.sort_unstable();
    let old = possible_reads(before, &new.key, &members, |at| extent.forward(at));
    let new_reads = possible_reads(after, &new.key, &members, |at| Cow::Borrowed(at));
    let mut found = Undecided {
        key: new.key.clone(),
        nodes: Vec::new(),
        files: BTreeSet::new(),
        variables: BTreeSet::new(),
    };
    for member in members {
        let none = PossibleReads::default();
        let [old, new] = [&old, &new_reads].map(|reads| reads.get(&member).unwrap_or(&none));
        let is_changed = |entry: &&(Arc<str>, Arc<str>)| {
            let (file, key) = entry;
            old.entries.contains(*entry) != new.entries.contains(*entry)
                || extent.changes(file, key)
        };
        let changed: Vec<_> = old.entries.union(&new.entries).filter(is_changed).collect();
        if !changed.is_empty() {
            found.nodes.push(after.analysis.nodes.shared_name(member));
            found
                .files
                .extend(changed.into_iter().map(|(file, _)| file.clone()));
            found
                .variables
                .extend(old.variables.union(&new.variables).cloned());
        }
    }
    (!found.nodes.is_empty()).then_some(found)
}

/// What each of some nodes may read of a key.
fn possible_reads(
    view: &RootView<'_>,
    key: &str,
    members: &[usize],
    forward: impl for<'p> Fn(&'p str) -> Cow<'p, str>,
) -> BTreeMap<usize, PossibleReads> {
    let request = Request::key(key);
    let mut found = BTreeMap::new();
    let limit = LookupLimit::unlimited(view.analysis.is_cancelled);
    for run in runs_within(
        &view.session(),
        view.analysis.nodes,
        &request,
        members,
        &limit,
    ) {
        let mut reads = PossibleReads::default();
        for unknown in &run.answer.unknown {
            if let UnknownCause::Path(possible) = &unknown.cause {
                let files = possible.files.iter();
                let entries = files.map(|at| (Arc::from(&*forward(at)), possible.key.clone()));
                reads.entries.extend(entries);
                reads.variables.extend(possible.variables.iter().cloned());
            }
        }
        found.extend(run.members.iter().map(|member| (*member, reads.clone())));
    }
    found
}
