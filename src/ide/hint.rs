//! Hints beside the keys and tokens of a file: where a value is overridden or merged, and what a
//! token becomes.
//!
//! Quiet by default: no hint where the text says it already. Short, and the file first: editors cut what is
//! long. The words are for whoever points at it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::matrix::{SourceLine, line};
use super::target::entry_at;
use crate::analysis::{Analysis, Certainties, RootView, datadir_of};
use crate::lookup::{Request, Run, Source, readers, runs, sources};
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::{File, path};

/// Most keys of a file that hints are computed for.
const MOST_HINTS: usize = 300;

/// Widest value in a hint, in characters.
const WIDEST: usize = 40;

/// A line of a higher level, and what its file is called in a hint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Above {
    /// The line.
    pub line: SourceLine,
    /// The path from the data directory.
    pub name: Arc<str>,
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
        by: Option<Above>,
        /// In how many other files it begins for the rest of them.
        others: usize,
    },
    /// No node that reads the file gets the key from it.
    Dead {
        /// How many known nodes read the file; none where it is so for any node that could.
        of: usize,
        /// Where the value comes from for the first of them.
        by: Option<Above>,
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
    /// The hint as it is shown: `↑ role/web.yaml:9 +1 (4/8)`.
    #[must_use]
    pub fn label(&self) -> String {
        let above = |by: &Option<Above>, others: &usize, count: &str| {
            let name = by
                .as_ref()
                .map(|by| format!("{}:{}", by.name, by.line.line));
            let more = (*others > 0).then(|| format!("+{others}"));
            let count = (!count.is_empty()).then(|| format!("({count})"));
            let words = [Some("↑".to_owned()), name, more, count];
            words.into_iter().flatten().collect::<Vec<_>>().join(" ")
        };
        match &self.kind {
            HintKind::Overridden {
                nodes: 1,
                of: 1,
                by,
                others,
            }
            | HintKind::Dead { of: 1, by, others } => above(by, others, ""),
            HintKind::Overridden {
                nodes,
                of,
                by,
                others,
            } => above(by, others, &format!("{nodes}/{of}")),
            HintKind::Dead { of: 0, by, others } => above(by, others, "never used"),
            HintKind::Dead { of, by, others } => {
                above(by, others, &format!("never used, {of}/{of}"))
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

    /// What the label stands for, in words, where it is more than itself.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let from = |by: &Option<Above>, others: &usize| match (by, others) {
            (None, _) => String::new(),
            (Some(by), 0) => format!(" by {}:{}", by.name, by.line.line),
            (Some(by), others) => {
                format!(" by {}:{} and {others} more", by.name, by.line.line)
            }
        };
        match &self.kind {
            HintKind::Overridden {
                nodes: 1,
                of: 1,
                by,
                others,
            }
            | HintKind::Dead { of: 1, by, others } => {
                Some(format!("overridden{}", from(by, others)))
            }
            HintKind::Overridden {
                nodes,
                of,
                by,
                others,
            } => {
                let from = from(by, others);
                Some(format!("overridden for {nodes} of {of} nodes{from}"))
            }
            HintKind::Dead { of: 0, by, others } => {
                Some(format!("never used: overridden{}", from(by, others)))
            }
            HintKind::Dead { of, by, others } => {
                let from = from(by, others);
                Some(format!("never used: overridden for all {of} nodes{from}"))
            }
            HintKind::Merged { .. } | HintKind::TokenValue(_) => None,
        }
    }
}

/// Names files as hints show them: by their path below the data directory of the file that is hinted,
/// else below the folder of its root.
struct Names<'a> {
    view: &'a RootView<'a>,
    datadir: Option<String>,
}

impl<'a> Names<'a> {
    fn new(view: &'a RootView<'a>, path: &str) -> Names<'a> {
        let reach = view.reach(path).into_iter().next();
        Names {
            view,
            datadir: reach.and_then(|reach| datadir_of(&reach.place)),
        }
    }

    fn above(&self, source: &Source) -> Above {
        let line = line(self.view.analysis.snapshot, source);
        let folders = self.datadir.as_deref().into_iter();
        let mut folders = folders.chain([&*self.view.root.dir]);
        let below = folders.find_map(|folder| path::within(&line.file, folder));
        let name = below.filter(|name| !name.is_empty());
        Above {
            name: Arc::from(name.unwrap_or(&line.file)),
            line,
        }
    }
}

/// The hints of a part of a file that a hierarchy reads, for the selected node or for all known nodes
/// that read the file. Where no node is known to read it: what is certain for every node that does.
/// Stops early where the request is cancelled.
#[must_use]
pub fn hints(analysis: Analysis<'_>, path: &str, visible: TextRange) -> Vec<Hint> {
    let selected = analysis.selected;
    let (Some(file), Some(view)) = (analysis.snapshot.file(path), analysis.governing(path)) else {
        return Vec::new();
    };
    if !analysis.reads(path) {
        return Vec::new();
    }
    let session = view.session();
    let mut members = readers(&session, analysis.nodes, &view.layer, path);
    if let Some(selected) = selected {
        let member = analysis.nodes.find(selected);
        members.retain(|each| Some(*each) == member);
    }
    match (members.is_empty(), selected) {
        (true, None) => return hints_for_any_node(analysis, file, visible),
        (true, Some(_)) => return Vec::new(),
        (false, _) => {}
    }
    let names = Names::new(&view, path);
    let inside = |range: TextRange| range.start < visible.end && visible.start < range.end;
    let mut found = Vec::new();
    let keys = file.facts().sorted().filter(|fact| inside(fact.key));
    for fact in keys.take(MOST_HINTS) {
        if &*fact.name == "lookup_options" {
            continue;
        }
        if (analysis.is_cancelled)() {
            return found;
        }
        let request = asked(&fact.name).traced();
        let runs = runs(&session, analysis.nodes, &request, &members);
        let kind = key_hint(&names, path, &runs, members.len(), selected.is_some());
        found.extend(kind.map(|kind| Hint {
            range: fact.key,
            kind,
        }));
    }
    let value = |key: &Arc<str>| common_value(&view, &members, key);
    found.extend(token_hints(analysis, file, visible, &value));
    found.sort_by_key(|hint| hint.range.start);
    found
}

/// What is certain for every node that reads a file, and nothing of what depends on the node.
fn hints_for_any_node(analysis: Analysis<'_>, file: &File, visible: TextRange) -> Vec<Hint> {
    let path = file.path();
    let Some(view) = analysis.governing(path) else {
        return Vec::new();
    };
    let Some(certain) = Certainties::of(&view, path) else {
        return Vec::new();
    };
    let names = Names::new(&view, path);
    let inside = |range: TextRange| range.start < visible.end && visible.start < range.end;
    let mut found = Vec::new();
    let keys = file.facts().sorted().filter(|fact| inside(fact.key));
    for fact in keys.take(MOST_HINTS) {
        if (analysis.is_cancelled)() {
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
                by: sources.first().map(|source| names.above(source)),
                others: 0,
            },
        };
        found.push(Hint {
            range: fact.key,
            kind,
        });
    }
    let value = |key: &Arc<str>| certain.value(key);
    found.extend(token_hints(analysis, file, visible, &value));
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
    names: &Names<'_>,
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
            by = found.first().map(|source| names.above(source));
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
fn common_value(view: &RootView<'_>, members: &[usize], key: &str) -> Option<Value> {
    let runs = runs(
        &view.session(),
        view.analysis.nodes,
        &Request::key(key),
        members,
    );
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
    analysis: Analysis<'_>,
    file: &File,
    visible: TextRange,
    value_of: &dyn Fn(&Arc<str>) -> Option<Value>,
) -> Vec<Hint> {
    let mut known: HashMap<Arc<str>, Option<Value>> = HashMap::new();
    let references = file.facts().references();
    let references = references.filter(|reference| {
        reference.range.start < visible.end
            && visible.start < reference.range.end
            && entry_at(file, reference.range.start).is_some()
    });
    let mut found = Vec::new();
    for reference in references.take(MOST_HINTS) {
        if (analysis.is_cancelled)() {
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
