//! Inlay hints for keys and tokens of a file: overridden or merged values, and the values of tokens.
//!
//! There is no hint if the text already says the same.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;

use super::matrix::{SourceLine, line};
use super::target::entry_at;
use super::unsaved::{MAX_AT_ONCE, effect};
use crate::analysis::{Analysis, Certainties, RootView, left_out, request};
use crate::lookup::{Request, Run, Source, readers, sources};
use crate::page::yaml::inline;
use crate::scope::Observed;
use crate::text::{TextRange, number_of};
use crate::value::Value;
use crate::workspace::{File, LOOKUP_OPTIONS};

/// Maximum number of keys with hints in a file.
const MAX_HINTS: usize = 300;

/// Maximum number of characters in a hint: Visual Studio Code cuts longer ones.
const LONGEST: usize = 43;

/// The mark of a hint for overridden facts.
const WHAT_IF: &str = " (what-if)";

/// Maximum width of a value in a hint, in characters.
const WIDEST: usize = 40;

/// The message of a hint.
#[derive(Clone, PartialEq, Debug)]
pub enum HintKind {
    /// Higher levels set the key for some of the nodes that read the file, or for the selected node.
    Overridden {
        /// The number of these nodes.
        nodes: usize,
        /// The number of nodes that read the file.
        total: usize,
        /// Whether only some of these were asked: there may be more.
        is_partial: bool,
        /// The source of the value for most of them.
        by: Option<SourceLine>,
        /// The number of other files that set it for the rest.
        others: usize,
    },
    /// No node that reads the file gets the key from it.
    Dead {
        /// The number of known nodes that read the file; 0 if the hint is for any possible node.
        total: usize,
        /// The source of the value for most of them.
        by: Option<SourceLine>,
        /// The number of other files that set it for the rest.
        others: usize,
    },
    /// No recorded catalog looked the key up.
    NeverRead(Observed),
    /// The value is merged from several sources, for the selected or any node.
    Merged {
        /// The number of sources.
        sources: usize,
    },
    /// The value that a token looks up, if it is the same for all nodes that read the file.
    TokenValue(Value),
    /// The unsaved edit changes the key's effective value.
    Impact {
        /// The number of nodes.
        nodes: usize,
        /// The number of known nodes.
        total: usize,
    },
}

/// A hint and its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Hint {
    /// The key or the token before the hint.
    pub range: TextRange,
    /// The message.
    pub kind: HintKind,
    /// The line that the hint names, with the path below the data directory.
    pub by: Option<String>,
    /// The same, with the path below the workspace's folder.
    pub place: Option<String>,
    /// The overridden facts, in words; empty without any.
    pub what_if: String,
}

impl Hint {
    fn new(range: TextRange, kind: HintKind) -> Hint {
        Hint {
            range,
            kind,
            by: None,
            place: None,
            what_if: String::new(),
        }
    }
}

/// The kinds of hints to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HintOptions {
    /// Overridden values.
    pub overridden: bool,
    /// Merged values.
    pub merged: bool,
    /// Values that no node gets, and keys that no catalog looked up.
    pub never_used: bool,
    /// Values of tokens.
    pub token_values: bool,
    /// Effects of unsaved edits.
    pub impact: bool,
}

impl HintOptions {
    /// All kinds.
    pub const ALL: HintOptions = HintOptions {
        overridden: true,
        merged: true,
        never_used: true,
        token_values: true,
        impact: true,
    };

    fn includes(self, kind: &HintKind) -> bool {
        match kind {
            HintKind::Overridden { .. } => self.overridden,
            HintKind::Dead { .. } | HintKind::NeverRead(_) => self.never_used,
            HintKind::Merged { .. } => self.merged,
            HintKind::TokenValue(_) => self.token_values,
            HintKind::Impact { .. } => self.impact,
        }
    }
}

impl Hint {
    /// The text of the hint, at most 43 characters: `↑ 4/8 node/web01….yaml:4 +1`.
    #[must_use]
    pub fn label(&self) -> String {
        let mark = if self.what_if.is_empty() { "" } else { WHAT_IF };
        let by = |before: String, others: usize| {
            let more = match others {
                0 => String::new(),
                others => format!(" +{others}"),
            };
            let taken = before.chars().count() + more.len() + mark.len();
            let name = self.by.as_deref().unwrap_or("another level");
            format!(
                "{before}{}{more}",
                short_place(name, LONGEST.saturating_sub(taken))
            )
        };
        let label = match &self.kind {
            HintKind::Overridden {
                nodes: 1, total: 1, ..
            } => by("↑ ".to_owned(), 0),
            HintKind::Overridden {
                nodes,
                total,
                is_partial,
                others,
                ..
            } => {
                let more = if *is_partial { "+" } else { "" };
                by(format!("↑ {nodes}{more}/{total} "), *others)
            }
            HintKind::Dead { total: 1, .. } => by("↑ ".to_owned(), 0),
            HintKind::Dead { others, .. } => by("never used ↑ ".to_owned(), *others),
            HintKind::NeverRead(observed) => format!("never read since {}", observed.since_date()),
            HintKind::Merged { sources } => format!("merged from {sources} levels"),
            HintKind::TokenValue(value) => {
                format!("= {}", inline(value, WIDEST - mark.len()))
            }
            HintKind::Impact { total: 0, .. } => "changes the value".to_owned(),
            HintKind::Impact { nodes, total } => format!("changes {nodes} of {total} nodes"),
        };
        format!("{label}{mark}")
    }

    /// The hint as a sentence; `None` if the label is enough.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        let sentence = self.plain_sentence();
        if self.what_if.is_empty() {
            return sentence;
        }
        let mark = format!("what if: {}", self.what_if);
        Some(match sentence {
            Some(sentence) => format!("{sentence} ({mark})"),
            None => mark,
        })
    }

    fn plain_sentence(&self) -> Option<String> {
        let by = |others: &usize| {
            let name = self.place.as_deref().unwrap_or("another level");
            match others {
                0 => name.to_owned(),
                others => format!("{name} and {}", number_of(*others, "more file")),
            }
        };
        match &self.kind {
            HintKind::Overridden {
                nodes: 1,
                total: 1,
                others,
                ..
            } => Some(format!(
                "for the selected node, this value is overridden by {}",
                by(others)
            )),
            HintKind::Overridden {
                nodes,
                total,
                is_partial,
                others,
                ..
            } => {
                let least = if *is_partial { "at least " } else { "" };
                Some(format!(
                    "on {least}{nodes} of the {total} nodes that read this file, this value is overridden by {}",
                    by(others)
                ))
            }
            HintKind::Dead { others, .. } => Some(format!(
                "no node that reads this file gets this value: it is overridden by {}",
                by(others)
            )),
            HintKind::NeverRead(observed) => Some(format!("this key was {}", observed.words())),
            HintKind::Impact { .. } => Some("nodes whose value changes when you save".to_owned()),
            HintKind::Merged { .. } | HintKind::TokenValue(_) => None,
        }
    }
}

/// A file and a line in at most `most` characters: `node/web01….yaml:4`. Keeps the extension and the line.
fn short_place(place: &str, most: usize) -> String {
    let length = place.chars().count();
    if length <= most {
        return place.to_owned();
    }
    let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
    let ending = file.rfind('.').map_or("", |at| &file[at..]);
    let tail = match line {
        "" => ending.to_owned(),
        line => format!("{ending}:{line}"),
    };
    let room = most.saturating_sub(tail.chars().count() + 1);
    let head: String = file.chars().take(room).collect();
    format!("{head}…{tail}")
}

/// Names the files in hints.
fn name_files(view: &RootView<'_>, path: &str, found: &mut [Hint]) {
    let own = view.file(path);
    for hint in found {
        let (HintKind::Overridden { by: Some(by), .. } | HintKind::Dead { by: Some(by), .. }) =
            &hint.kind
        else {
            continue;
        };
        let whole = view.analysis.snapshot.short_name(&by.file);
        hint.place = Some(format!("{whole}:{}", by.line));
        let short = own.short_name(&by.file).unwrap_or(whole);
        hint.by = Some(format!("{short}:{}", by.line));
    }
}

/// The hints in a part of a file that a hierarchy reads, for the selected node or for all known
/// nodes that read the file. If there are no such nodes: for any node that may read it. Stops early
/// if the request is cancelled.
#[must_use]
pub fn hints(
    analysis: Analysis<'_>,
    path: &str,
    visible: TextRange,
    options: HintOptions,
) -> Vec<Hint> {
    let (Some(file), Some(view)) = (analysis.snapshot.file(path), analysis.governing(path)) else {
        return Vec::new();
    };
    if !analysis.reads(path) {
        return Vec::new();
    }
    let mut found = all_hints(&view, file, visible, options);
    if let Some(nodes) = analysis.without_what_if
        && !found.is_empty()
    {
        let factual = Analysis {
            nodes,
            what_if: "",
            without_what_if: None,
            ..analysis
        };
        let factual = all_hints(&factual.at(view.root), file, visible, options);
        // Hints that also hold without the override have no mark.
        for hint in found.iter_mut().filter(|hint| !factual.contains(hint)) {
            hint.what_if = analysis.what_if.to_owned();
        }
    }
    name_files(&view, path, &mut found);
    found
}

fn all_hints(
    view: &RootView<'_>,
    file: &File,
    visible: TextRange,
    options: HintOptions,
) -> Vec<Hint> {
    let analysis = view.analysis;
    let mut found = settled_hints(view, file, visible);
    if options.impact {
        let total = analysis.nodes.len();
        let changed = effect(analysis, file.path(), MAX_AT_ONCE).keys_in(file);
        let changed = changed.into_iter();
        let changed = changed.filter(|(key, _)| overlap(*key, visible));
        found.extend(
            changed.map(|(range, nodes)| Hint::new(range, HintKind::Impact { nodes, total })),
        );
        // VS Code cuts all hints of a line together after 43 characters, so the edit's effect comes first.
        found.sort_by_key(|hint| {
            let is_impact = matches!(hint.kind, HintKind::Impact { .. });
            (hint.range.start, !is_impact)
        });
    }
    // The rest of a broken file may be misleading.
    let is_whole = file.facts().error.is_none();
    found.retain(|hint| {
        options.includes(&hint.kind) && (is_whole || !matches!(hint.kind, HintKind::Dead { .. }))
    });
    found
}

fn overlap(one: TextRange, other: TextRange) -> bool {
    one.start < other.end && other.start < one.end
}

/// The hints except for unsaved edits.
fn settled_hints(view: &RootView<'_>, file: &File, visible: TextRange) -> Vec<Hint> {
    let analysis = view.analysis;
    let (path, selected) = (file.path(), analysis.selected);
    let session = view.session();
    let mut members = readers(&session, analysis.nodes, &view.layer, path);
    view.retain_readers(&mut members);
    if let Some(selected) = selected {
        let member = analysis.nodes.find(selected);
        members.retain(|each| Some(*each) == member);
    }
    match (members.is_empty(), selected) {
        (true, None) => return hints_for_any_node(analysis, file, visible),
        (true, Some(_)) => return Vec::new(),
        (false, _) => {}
    }
    let winners_of = |key: &str| match selected {
        None => Winners::without_lookups(view, path, key, &members),
        Some(_) => None,
    };
    let kind_of = |key: &str| {
        let by_lookups = || {
            let runs = view.runs_beside(&request(key), &members);
            Winners::of(&runs, &members, path)
        };
        let winners = winners_of(key).unwrap_or_else(by_lookups);
        key_hint(view, &winners, members.len(), selected.is_some())
    };
    let value_of = |key: &Arc<str>| common_value(view, &members, key);
    hints_of(analysis, file, visible, &kind_of, &value_of)
}

/// The hints of keys and tokens, in the order of the text.
fn hints_of(
    analysis: Analysis<'_>,
    file: &File,
    visible: TextRange,
    kind_of: &dyn Fn(&str) -> Option<HintKind>,
    value_of: &dyn Fn(&Arc<str>) -> Option<Value>,
) -> Vec<Hint> {
    let mut found = Vec::new();
    let imported = analysis.nodes.imported();
    let recorded = imported.filter(|imported| !imported.lookups.is_empty());
    let view = recorded.and_then(|_| analysis.governing(file.path()));
    let never_read = |key: &str| {
        let observed = analysis.observed(view.as_ref()?.root, analysis.nodes, key)?;
        observed
            .reads
            .is_none()
            .then_some(HintKind::NeverRead(observed))
    };
    let keys = file
        .facts()
        .sorted()
        .filter(|fact| overlap(fact.key, visible));
    for fact in keys.take(MAX_HINTS) {
        if (analysis.is_cancelled)() {
            return found;
        }
        if &*fact.name != LOOKUP_OPTIONS {
            let kind = never_read(&fact.name).or_else(|| kind_of(&fact.name));
            found.extend(kind.map(|kind| Hint::new(fact.key, kind)));
        }
    }
    found.extend(token_hints(analysis, file, visible, value_of));
    found.sort_by_key(|hint| hint.range.start);
    found
}

/// Hints that hold for every node that reads a file.
fn hints_for_any_node(analysis: Analysis<'_>, file: &File, visible: TextRange) -> Vec<Hint> {
    let path = file.path();
    let view = analysis.governing(path);
    let Some(certain) = view.as_ref().and_then(|view| Certainties::of(view, path)) else {
        return Vec::new();
    };
    let kind_of = |key: &str| {
        let sources = certain.sources(key)?;
        let is_own = |source: &Source| source.place == *path;
        match (sources.iter().any(is_own), sources.len()) {
            (true, 2..) => Some(HintKind::Merged {
                sources: sources.len(),
            }),
            (true, _) | (false, 0) => None,
            (false, _) => Some(HintKind::Dead {
                total: 0,
                by: sources
                    .first()
                    .map(|source| line(analysis.snapshot, source)),
                others: 0,
            }),
        }
    };
    let value_of = |key: &Arc<str>| certain.value(key);
    hints_of(analysis, file, visible, &kind_of, &value_of)
}

/// What the nodes that read a file get for one of its keys.
#[derive(Default)]
struct Winners {
    /// The number of nodes that get other values.
    overridden: usize,
    /// The sources of these, each with its number of nodes.
    sources: IndexMap<Source, usize>,
    /// The greatest number of sources of a value that the file is a part of.
    merged: usize,
    /// Whether there are nodes that were not asked.
    is_partial: bool,
}

impl Winners {
    fn add(&mut self, winner: Option<Source>, nodes: usize) {
        self.overridden += nodes;
        if let Some(winner) = winner {
            *self.sources.entry(winner).or_default() += nodes;
        }
    }

    fn of(runs: &[Run], members: &[usize], path: &str) -> Winners {
        let mut winners = Winners {
            is_partial: left_out(runs, members) > 0,
            ..Winners::default()
        };
        for run in runs {
            let found = run.answer.trace.as_ref().map(sources).unwrap_or_default();
            if found.iter().any(|source| *source.place == *path) {
                winners.merged = winners.merged.max(found.len());
            } else if run.answer.result.is_ok() && run.answer.unknown.is_empty() {
                // Errors and unknown answers do not override.
                winners.add(found.into_iter().next(), run.members.len());
            }
        }
        winners
    }

    /// The same for a key whose first value is the answer; `None` if lookups are needed.
    fn without_lookups(
        view: &RootView<'_>,
        path: &str,
        key: &str,
        members: &[usize],
    ) -> Option<Winners> {
        // Whatever a value of this file is, it overrides none of its own.
        let first = view.first_files(key, Some(path))?;
        let mut winners = Winners {
            merged: 1,
            ..Winners::default()
        };
        let mut nodes = vec![0; first.files.len()];
        let mut order = Vec::new();
        for file in members.iter().filter_map(|&member| first.of[member]) {
            let count = &mut nodes[file as usize];
            if *count == 0 {
                order.push(file as usize);
            }
            *count += 1;
        }
        for file in order
            .into_iter()
            .filter(|&file| *first.files[file] != *path)
        {
            let source = Source {
                place: first.files[file].clone(),
                key: Arc::from(key),
            };
            winners.add(Some(source), nodes[file]);
        }
        Some(winners)
    }
}

fn key_hint(
    view: &RootView<'_>,
    winners: &Winners,
    total: usize,
    is_selected: bool,
) -> Option<HintKind> {
    let Winners {
        overridden,
        sources,
        merged,
        is_partial,
    } = winners;
    let (overridden, merged, is_partial) = (*overridden, *merged, *is_partial);
    let others = sources.len().saturating_sub(1);
    // If several win on as many nodes, the source of the first node.
    let most = sources.values().max();
    let by = sources.iter().find(|(_, nodes)| Some(*nodes) == most);
    let by = by.map(|(source, _)| line(view.analysis.snapshot, source));
    match overridden {
        0 if is_selected && merged > 1 => Some(HintKind::Merged { sources: merged }),
        0 => None,
        nodes if nodes == total && !is_selected => Some(HintKind::Dead { total, by, others }),
        nodes => Some(HintKind::Overridden {
            nodes,
            total,
            is_partial,
            by,
            others,
        }),
    }
}

/// The value of a lookup, if it is the same for all nodes.
fn common_value(view: &RootView<'_>, members: &[usize], key: &str) -> Option<Value> {
    let runs = view.runs_beside(&Request::key(key), members);
    if left_out(&runs, members) > 0 {
        return None;
    }
    let mut values = runs.iter().map(|run| {
        let value = run.answer.result.as_ref().ok();
        value.filter(|value| run.answer.unknown.is_empty() && !value.has_opaque())
    });
    let first = values.next().flatten()?;
    values
        .all(|value| value == Some(first))
        .then(|| first.clone())
}

/// The values of tokens that look up keys, if `value_of` knows them.
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
    for reference in references.take(MAX_HINTS) {
        if (analysis.is_cancelled)() {
            return found;
        }
        let key = &reference.key;
        let value = known.entry(key.clone()).or_insert_with(|| value_of(key));
        let kind = value.clone().map(HintKind::TokenValue);
        found.extend(kind.map(|kind| Hint::new(reference.range, kind)));
    }
    found
}

#[cfg(test)]
#[path = "hint_tests.rs"]
mod tests;
