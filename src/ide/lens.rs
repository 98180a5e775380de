//! What code lenses and inlay hints say about the keys of a file: how often a key is set and used,
//! where it is overridden or merged, what its tokens become.
//!
//! Quiet by default: nothing is said where the text says it already.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::call_hierarchy::holder;
use super::hover::{Certainties, HoverOptions};
use super::matrix::{Fleet, SourceLine, line};
use crate::lookup::{Reach, Request, Run, Source, layer_of, reach, readers, runs, sources};
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::File;

/// Most keys of a file that hints are worked out for.
const MOST_HINTS: usize = 300;

/// Widest value in a hint, in characters.
const WIDEST: usize = 40;

/// What a lens above a key says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyLens {
    /// The key's place.
    pub key: TextRange,
    /// The key.
    pub name: Arc<str>,
    /// Files of levels above that set the key too.
    pub above: usize,
    /// Files of levels below that set the key too.
    pub below: usize,
    /// Tokens anywhere that look the key up.
    pub uses: usize,
}

/// The lenses of a file's keys, in its order; keys of which there is nothing to say have none.
/// O(keys × (files that set them + keys that look them up)).
#[must_use]
pub fn lenses(fleet: &Fleet<'_>, path: &str) -> Vec<KeyLens> {
    let Some(file) = fleet.snapshot.file(path) else {
        return Vec::new();
    };
    let references = fleet.snapshot.references();
    let places = fleet.session().known_places(&layer_of(fleet.root));
    // Where in the hierarchy a file is read first.
    let rank = |path: &str| places.iter().position(|place| place.template.matches(path));
    let own = rank(path);
    let mut ranks: HashMap<Arc<str>, Option<usize>> = HashMap::new();
    let mut found = Vec::new();
    for fact in file.facts().sorted() {
        let mut lens = KeyLens {
            key: fact.key,
            name: fact.name.clone(),
            above: 0,
            below: 0,
            uses: references.tokens(&fact.name),
        };
        for (other, _) in fleet.snapshot.definitions(&fact.name) {
            let at = *ranks
                .entry(other.path().clone())
                .or_insert_with(|| rank(other.path()));
            match (at, own) {
                (Some(other), Some(own)) if other < own => lens.above += 1,
                (Some(other), Some(own)) if other > own => lens.below += 1,
                (Some(_) | None, _) => {}
            }
        }
        if lens.above + lens.below + lens.uses > 0 {
            found.push(lens);
        }
    }
    found.sort_by_key(|lens| lens.key.start);
    found
}

/// What a hint says.
#[derive(Clone, PartialEq, Debug)]
pub enum HintKind {
    /// Higher levels give the key for some of the nodes that read the file: how many, and the
    /// first of the sources.
    Overridden {
        /// How many nodes.
        nodes: usize,
        /// Of how many that read the file.
        of: usize,
        /// Where the value comes from for the first of them.
        by: Option<SourceLine>,
        /// In how many other files it begins for the rest of them.
        others: usize,
    },
    /// No node that reads the file gets the key from it.
    Dead {
        /// How many known nodes read the file; none where it is so for any node that could.
        of: usize,
        /// Where the value comes from for the first of them.
        by: Option<SourceLine>,
        /// In how many other files it begins for the rest of them.
        others: usize,
    },
    /// The value is merged from so many sources, for the selected node or for any.
    Merged {
        /// How many sources.
        sources: usize,
    },
    /// The value of a token that looks up, the same for all nodes that read the file.
    TokenValue(Value),
}

/// A hint and its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Hint {
    /// The key or the token that it stands behind.
    pub range: TextRange,
    /// What it says.
    pub kind: HintKind,
}

impl Hint {
    /// The hint in words, short.
    #[must_use]
    pub fn label(&self) -> String {
        let from = |by: &Option<SourceLine>, others: &usize| match (by, others) {
            (None, _) => String::new(),
            (Some(by), others) => {
                let name = by.file.rsplit('/').next().unwrap_or(&by.file);
                let line = by.line;
                match others {
                    0 => format!(" by {name}:{line}"),
                    others => format!(" by {name}:{line} and {others} more"),
                }
            }
        };
        match &self.kind {
            HintKind::Overridden {
                nodes: 1,
                of: 1,
                by,
                others,
            } => format!("overridden{}", from(by, others)),
            HintKind::Overridden {
                nodes,
                of,
                by,
                others,
            } => format!("overridden for {nodes} of {of} nodes{}", from(by, others)),
            HintKind::Dead { of: 0, by, others } => {
                format!("never used: overridden{}", from(by, others))
            }
            HintKind::Dead { of: 1, by, others } => format!("overridden{}", from(by, others)),
            HintKind::Dead { of, by, others } => {
                let from = from(by, others);
                format!("never used: overridden for all {of} nodes{from}")
            }
            HintKind::Merged { sources } => format!("merged from {sources} sources"),
            HintKind::TokenValue(value) => {
                let text = value.inspect();
                match text.chars().count() > WIDEST {
                    true => text.chars().take(WIDEST - 1).chain(['…']).collect(),
                    false => text,
                }
            }
        }
    }
}

/// The hints of a part of a file, for the selected node or for all known nodes that read the file.
/// Where no node is known to read it: what is certain for every node that does. As far as it came
/// where `is_stopped` says so.
#[must_use]
pub fn hints(
    fleet: &Fleet<'_>,
    path: &str,
    visible: TextRange,
    selected: Option<&str>,
    is_stopped: &dyn Fn() -> bool,
) -> Vec<Hint> {
    let Some(file) = fleet.snapshot.file(path) else {
        return Vec::new();
    };
    let session = fleet.session();
    let mut members = readers(&session, fleet.nodes, &layer_of(fleet.root), path);
    if let Some(selected) = selected {
        let member = fleet.nodes.find(selected);
        members.retain(|each| Some(*each) == member);
    }
    match (members.is_empty(), selected) {
        (true, None) => return hints_for_any_node(fleet, file, visible, is_stopped),
        (true, Some(_)) => return Vec::new(),
        (false, _) => {}
    }
    let inside = |range: TextRange| range.start < visible.end && visible.start < range.end;
    let mut found = Vec::new();
    let keys = file.facts().sorted().filter(|fact| inside(fact.key));
    for fact in keys.take(MOST_HINTS) {
        if &*fact.name == "lookup_options" {
            continue;
        }
        if is_stopped() {
            return found;
        }
        let request = asked(&fact.name).traced();
        let runs = runs(&session, fleet.nodes, &request, &members);
        let kind = key_hint(fleet, path, &runs, members.len(), selected.is_some());
        found.extend(kind.map(|kind| Hint {
            range: fact.key,
            kind,
        }));
    }
    let value = |key: &Arc<str>| common_value(fleet, &members, key);
    found.extend(token_hints(file, visible, &value, is_stopped));
    found.sort_by_key(|hint| hint.range.start);
    found
}

/// What is certain for every node that reads a file, and nothing of what depends on the node.
fn hints_for_any_node(
    fleet: &Fleet<'_>,
    file: &File,
    visible: TextRange,
    is_stopped: &dyn Fn() -> bool,
) -> Vec<Hint> {
    let options = HoverOptions::new(fleet.settings, fleet.configs, fleet.nodes);
    let path = file.path();
    let Some(certain) = Certainties::of(fleet.snapshot, path, &options) else {
        return Vec::new();
    };
    let inside = |range: TextRange| range.start < visible.end && visible.start < range.end;
    let mut found = Vec::new();
    let keys = file.facts().sorted().filter(|fact| inside(fact.key));
    for fact in keys.take(MOST_HINTS) {
        if is_stopped() {
            return found;
        }
        if &*fact.name == "lookup_options" {
            continue;
        }
        let Some(sources) = certain.sources(&fact.name) else {
            continue;
        };
        let is_own = |source: &Source| source.place == *path;
        let kind = match (sources.iter().any(is_own), sources.len()) {
            (true, 2..) => HintKind::Merged {
                sources: sources.len(),
            },
            (true, _) | (false, 0) => continue,
            (false, _) => HintKind::Dead {
                of: 0,
                by: sources.first().map(|source| line(fleet.snapshot, source)),
                others: 0,
            },
        };
        found.push(Hint {
            range: fact.key,
            kind,
        });
    }
    let value = |key: &Arc<str>| certain.value(key);
    found.extend(token_hints(file, visible, &value, is_stopped));
    found.sort_by_key(|hint| hint.range.start);
    found
}

/// A lookup of a top-level key, whatever its name holds.
fn asked(name: &str) -> Request {
    let plain = !name.contains(['.', '\'', '"']);
    match plain {
        true => Request::key(name),
        false => Request::key(&format!("'{name}'")),
    }
}

fn key_hint(
    fleet: &Fleet<'_>,
    path: &str,
    runs: &[Run],
    of: usize,
    is_selected: bool,
) -> Option<HintKind> {
    let mut overridden = 0;
    let mut by = None;
    let mut places: HashSet<Arc<str>> = HashSet::new();
    let mut merged = 0;
    for run in runs {
        let found = run.answer.trace.as_ref().map(sources).unwrap_or_default();
        if found.iter().any(|source| *source.place == *path) {
            merged = merged.max(found.len());
            continue;
        }
        // What fails or is not certain overrides nothing.
        if run.answer.result.is_err() || !run.answer.unknown.is_empty() {
            continue;
        }
        overridden += run.members.len();
        if by.is_none() {
            by = found.first().map(|source| line(fleet.snapshot, source));
        }
        places.extend(found.first().map(|source| source.place.clone()));
    }
    let others = places.len().saturating_sub(1);
    match overridden {
        0 if is_selected && merged > 1 => Some(HintKind::Merged { sources: merged }),
        0 => None,
        nodes if nodes == of => Some(HintKind::Dead { of, by, others }),
        nodes => Some(HintKind::Overridden {
            nodes,
            of,
            by,
            others,
        }),
    }
}

/// The value of a lookup, where it is the same for all members.
fn common_value(fleet: &Fleet<'_>, members: &[usize], key: &str) -> Option<Value> {
    let runs = runs(&fleet.session(), fleet.nodes, &Request::key(key), members);
    let mut values = runs.iter().map(|run| {
        let value = run.answer.result.as_ref().ok();
        value.filter(|value| run.answer.unknown.is_empty() && !value.has_opaque())
    });
    let first = values.next().flatten()?;
    values
        .all(|value| value == Some(first))
        .then(|| first.clone())
}

/// The values of tokens that look up, where `value_of` knows one.
fn token_hints(
    file: &File,
    visible: TextRange,
    value_of: &dyn Fn(&Arc<str>) -> Option<Value>,
    is_stopped: &dyn Fn() -> bool,
) -> Vec<Hint> {
    let mut known: HashMap<Arc<str>, Option<Value>> = HashMap::new();
    let references = file.facts().references.iter();
    let references = references.filter(|reference| {
        reference.range.start < visible.end
            && visible.start < reference.range.end
            && holder(file, reference.range.start).is_some()
    });
    let mut found = Vec::new();
    for reference in references.take(MOST_HINTS) {
        if is_stopped() {
            return found;
        }
        let key = &reference.key;
        let value = known.entry(key.clone()).or_insert_with(|| value_of(key));
        found.extend(value.clone().map(|value| Hint {
            range: reference.range,
            kind: HintKind::TokenValue(value),
        }));
    }
    found
}

/// The levels of the fleet's root that read a file, with what its path says of the variables.
#[must_use]
pub fn reached_by(fleet: &Fleet<'_>, path: &str) -> Vec<Reach> {
    let places = fleet.session().places(&layer_of(fleet.root));
    reach(&places.unwrap_or_default(), path)
}
