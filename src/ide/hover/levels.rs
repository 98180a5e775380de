//! The levels of one answer: which files gave a value, which could have, which did not.

use std::collections::HashSet;
use std::sync::Arc;

use super::ground::Ground;
use super::page::{Line, code, joined, text};
use crate::hierarchy::Layer;
use crate::interpolation::has_tokens;
use crate::lookup::{
    Answer, Event, NodeKind, Place, Strategy, StrategyKind, TraceNode, Unknown, UnknownCause,
};
use crate::scope::Scope;
use crate::value::Value;
use crate::workspace::Paths;

/// Most files that one line names.
const MOST_NAMED: usize = 4;

/// Most values of a variable that are named.
const MOST_VALUES: usize = 4;

/// A source that gave a value, the highest first.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// The file or URI; none for a function without a location.
    pub(super) path: Option<Arc<str>>,
    /// The level's name.
    pub(super) level: Arc<str>,
    /// What it gave, tokens evaluated.
    pub(super) value: Value,
}

/// The sources that gave values for a key, the highest first.
pub(super) fn sources(answer: &Answer, key: &str) -> Vec<Source> {
    let mut found = Vec::new();
    if let Some(data) = answer
        .trace
        .as_ref()
        .and_then(|trace| data_node(trace, key))
    {
        collect(data, &Arc::from(""), &mut found);
    }
    found
}

/// The strategy by which sources were merged, if more than one was asked.
pub(super) fn strategy<'a>(answer: &'a Answer, key: &str) -> Option<&'a Strategy> {
    let data = answer
        .trace
        .as_ref()
        .and_then(|trace| data_node(trace, key))?;
    let mut found = None;
    search(data, &mut |node| {
        if let NodeKind::Merge(strategy) = &node.kind {
            found = found.or(Some(strategy));
        }
    });
    found
}

fn data_node<'a>(trace: &'a TraceNode, key: &str) -> Option<&'a TraceNode> {
    trace
        .children
        .iter()
        .find(|node| matches!(&node.kind, NodeKind::Data(name) if **name == *key))
}

/// Visits a node and what is below it, but for the lookups that its strings made.
fn search<'a>(node: &'a TraceNode, visit: &mut dyn FnMut(&'a TraceNode)) {
    visit(node);
    for child in &node.children {
        if !matches!(child.kind, NodeKind::Interpolation(_) | NodeKind::Options) {
            search(child, visit);
        }
    }
}

fn collect(node: &TraceNode, level: &Arc<str>, found: &mut Vec<Source>) {
    let mut level = level.clone();
    let path = match &node.kind {
        NodeKind::Interpolation(_) | NodeKind::Options => return,
        NodeKind::Level { name, .. } => {
            level = name.clone();
            None
        }
        NodeKind::Location(location) => Some(location.place.clone()),
        NodeKind::Root
        | NodeKind::Data(_)
        | NodeKind::InvalidKey(_)
        | NodeKind::MergeSource
        | NodeKind::Provider { .. }
        | NodeKind::Merge(_)
        | NodeKind::Scope(_)
        | NodeKind::SubKey(_)
        | NodeKind::Segment
        | NodeKind::Module(_) => None,
    };
    let gives = matches!(node.kind, NodeKind::Level { .. } | NodeKind::Location(_));
    if let (true, Event::Found(_, value)) = (gives, &node.event) {
        found.push(Source {
            path,
            level: level.clone(),
            value: value.clone(),
        });
    }
    for child in &node.children {
        collect(child, &level, found);
    }
}

/// The levels beside the sources, in the order of the hierarchy.
#[derive(Default)]
pub(super) struct Others {
    /// Files that hold the key and are not asked any more.
    pub(super) overridden: Vec<Arc<str>>,
    /// Files that hold the key and could be meant by a level below, for some nodes.
    pub(super) maybe_overridden: Vec<Arc<str>>,
    /// Existing files without the key.
    pub(super) not_set: Vec<Arc<str>>,
}

/// What levels that are not in the workspace could change: those above the one that answers, or
/// all where values are merged.
pub(super) fn unseen(
    ground: &Ground<'_>,
    key: &str,
    scope: &Scope,
    sources: &[Source],
    strategy: &Strategy,
) -> Option<Line> {
    let mut names: Vec<Arc<str>> = Vec::new();
    for layer in ground.layers_of(key) {
        for place in ground.places_in(&layer, scope).iter() {
            let gives = |source: &Source| match &source.path {
                Some(path) => place.template.matches(path),
                None => place.level == source.level,
            };
            if strategy.is_first_found() && sources.iter().any(gives) {
                return said(&names);
            }
            if !place.in_default_hierarchy && ground.is_outside(&place.template) {
                add(&mut names, &place.level);
            }
        }
    }
    said(&names)
}

fn said(names: &[Arc<str>]) -> Option<Line> {
    let (those, verb) = match names {
        [] => return None,
        [_] => ("level", "sets"),
        [..] => ("levels", "set"),
    };
    let shown = names.iter().take(MOST_NAMED);
    let shown: Vec<String> = shown.map(|name| format!("'{name}'")).collect();
    let more = match names.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(vec![text(format!(
        "{those} {}{more} (not in this workspace) {verb} it",
        shown.join(", ")
    ))])
}

/// Looks at every level that a key is looked up in.
pub(super) fn others(
    ground: &Ground<'_>,
    key: &str,
    scope: &Scope,
    answer: &Answer,
    sources: &[Source],
) -> Others {
    let mut others = Others::default();
    let asked = |path: &str| {
        sources
            .iter()
            .any(|source| source.path.as_deref() == Some(path))
    };
    let possible: Vec<&Paths> = answer
        .unknown
        .iter()
        .filter_map(|unknown| match &unknown.cause {
            UnknownCause::Path(possible) if *possible.key == *key => Some(&possible.files),
            UnknownCause::Path(_) | UnknownCause::Function { .. } => None,
        })
        .collect();
    let mut told: HashSet<Arc<str>> = HashSet::new();
    for layer in ground.layers_of(key) {
        for place in ground.places_in(&layer, scope).iter() {
            if ground.is_outside(&place.template) || place.in_default_hierarchy {
                continue;
            }
            if !place.template.is_constant() {
                let maybe = ground.snapshot.holders(key, &place.template, None);
                // As a rule all of them are, or none.
                if possible.contains(&&maybe) {
                    continue;
                }
                let is_possible = |path: &Arc<str>| {
                    let mut lists = possible.iter();
                    lists.any(|files| files.contains(path))
                };
                for path in maybe.iter() {
                    if !asked(path) && !is_possible(path) && told.insert(path.clone()) {
                        others.maybe_overridden.push(path.clone());
                    }
                }
                continue;
            }
            let Some(path) = constant(place) else {
                continue;
            };
            let Some(file) = ground.snapshot.file(&path) else {
                continue;
            };
            match file.facts().key(key) {
                Some(_) if asked(&path) => {}
                Some(_) => add(&mut others.overridden, file.path()),
                None => add(&mut others.not_set, file.path()),
            }
        }
    }
    let sure = &others.overridden;
    others.maybe_overridden.retain(|path| !sure.contains(path));
    others
}

fn constant(place: &Place) -> Option<String> {
    let mut path = String::new();
    for part in &place.template.parts {
        match part {
            crate::hierarchy::TemplatePart::Text(text) => path.push_str(text),
            crate::hierarchy::TemplatePart::Variable(_) => return None,
        }
    }
    Some(crate::workspace::path::normalise(&path))
}

fn add(list: &mut Vec<Arc<str>>, item: &Arc<str>) {
    if !list.contains(item) {
        list.push(item.clone());
    }
}

/// Files as links to where they set the key, a few of them by name.
pub(super) fn named<'f>(
    ground: &Ground<'_>,
    key: &str,
    steps: &[Value],
    files: impl ExactSizeIterator<Item = &'f Arc<str>>,
) -> Line {
    let more = files.len().saturating_sub(MOST_NAMED);
    let links = files.take(MOST_NAMED).map(|path| {
        let line = ground
            .snapshot
            .file(path)
            .map_or(1, |file| ground.line_of(file, key, steps));
        vec![ground.link(path, line)]
    });
    let mut line = joined(links, ", ");
    if more > 0 {
        line.push(text(format!(" and {more} more")));
    }
    line
}

/// Names of files without lines, a few of them.
pub(super) fn labels(ground: &Ground<'_>, files: &[Arc<str>]) -> Line {
    let names = files.iter().take(MOST_NAMED);
    let mut line = joined(
        names.map(|path| {
            vec![crate::ide::hover::page::Piece::Place {
                label: ground.label(path),
                path: path.to_string(),
                line: 1,
            }]
        }),
        ", ",
    );
    if files.len() > MOST_NAMED {
        line.push(text(format!(" and {} more", files.len() - MOST_NAMED)));
    }
    line
}

/// Variables of a path, with the combinations of their values, each once.
#[derive(Default)]
struct Bound<'a> {
    names: Vec<Arc<str>>,
    /// The first of them.
    values: Vec<Vec<String>>,
    /// All of them; empty as long as they come from one place.
    known: HashSet<Vec<String>>,
    /// The one place, and its files, which stand for one each.
    only: Option<(&'a Place, Paths)>,
}

impl<'a> Bound<'a> {
    fn add(&mut self, values: Vec<String>) {
        if !self.known.contains(&values) {
            self.known.insert(values.clone());
            // Beyond these only the number is told.
            if self.values.len() < MOST_VALUES {
                self.values.push(values);
            }
        }
    }

    /// Adds the values that the files of a place stand for, each for others.
    fn add_all(&mut self, place: &'a Place, files: &Paths) {
        match &mut self.only {
            None if self.known.is_empty() => self.only = Some((place, files.clone())),
            // The same place for another key.
            Some((known, before)) if std::ptr::eq(*known, place) => *before = before.with(files),
            Some(_) | None => {
                self.spread();
                self.add_each(place, files);
            }
        }
    }

    /// Counts values one by one from here on.
    fn spread(&mut self) {
        if let Some((place, files)) = self.only.take() {
            self.add_each(place, &files);
        }
    }

    fn add_each(&mut self, place: &Place, files: &Paths) {
        for file in files.iter() {
            if let Some(bound) = place.template.bind(file) {
                self.add(bound.into_iter().map(|(_, value)| value).collect());
            }
        }
    }

    /// How many combinations there are, and all of them where they are few.
    fn list(&mut self) -> (usize, &[Vec<String>]) {
        if let Some((_, files)) = &self.only
            && files.len() > MOST_VALUES
        {
            return (files.len(), &[]);
        }
        self.spread();
        match self.known.len() {
            few if few <= MOST_VALUES => (few, &self.values),
            many => (many, &[]),
        }
    }
}

/// What could change a part of an answer: of the possible files those that set the part, or that
/// replace what is around it.
pub(super) fn unknowns(
    ground: &Ground<'_>,
    root: &str,
    steps: &[Value],
    strategy: &Strategy,
    answer: &Answer,
) -> Vec<Unknown> {
    let depth = match strategy.kind {
        StrategyKind::First | StrategyKind::Default | StrategyKind::Unique => 0,
        StrategyKind::Hash => steps.len().min(1),
        StrategyKind::Deep | StrategyKind::UnconstrainedDeep | StrategyKind::ReverseDeep => {
            steps.len()
        }
    };
    let touches = |path: &Arc<str>| {
        let Some(value) = ground.own_value(path, root) else {
            return true;
        };
        let mut part = &value;
        for step in &steps[..depth] {
            match part.as_hash() {
                Some(hash) => match hash.get(step) {
                    Some(below) => part = below,
                    // A key with tokens may become any key.
                    None => return hash.keys().filter_map(Value::as_str).any(has_tokens),
                },
                None => return true,
            }
        }
        true
    };
    let mut found: Vec<Unknown> = Vec::new();
    for unknown in &answer.unknown {
        let mut unknown = unknown.clone();
        if let UnknownCause::Path(possible) = &mut unknown.cause {
            let files = possible.files.iter().cloned();
            if possible.is_of_options() {
                possible.files = files.filter(|path| decides(ground, path, root)).collect();
            } else if depth > 0 && *possible.key == *root {
                possible.files = files.filter(touches).collect();
            }
            if possible.files.is_empty() {
                continue;
            }
        }
        // A function is asked for options and for the key; it is told once.
        let again = |known: &Unknown| {
            known.layer == unknown.layer
                && known.index == unknown.index
                && matches!(known.cause, UnknownCause::Function { .. })
                && known.cause == unknown.cause
        };
        match found.iter_mut().find(|known| again(known)) {
            Some(known) => known.for_options &= unknown.for_options,
            None => found.push(unknown),
        }
    }
    found
}

/// Whether the `lookup_options` of a file have an entry for a key.
fn decides(ground: &Ground<'_>, path: &str, root: &str) -> bool {
    let Some(file) = ground.snapshot.file(path) else {
        return true;
    };
    file.facts().lookup_options.iter().any(|entry| {
        let pattern = &*entry.pattern;
        // A pattern that cannot be read makes every lookup fail.
        if !pattern.starts_with('^') {
            return pattern == root;
        }
        match ground.options.configs.pattern(pattern) {
            Ok(pattern) => pattern.is_match(root).unwrap_or(true),
            Err(_) => true,
        }
    })
}

/// What would change an answer that is not certain: `site` is `ams` or `lhr`.
pub(super) fn conditions(ground: &Ground<'_>, scope: &Scope, unknowns: &[Unknown]) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    // Values by the variables that they are for, in the order of the levels.
    let mut by_variables: Vec<Bound<'_>> = Vec::new();
    let places: Vec<_> = unknowns
        .iter()
        .map(|unknown| ground.places_in(&unknown.layer, scope))
        .collect();
    for (unknown, places) in unknowns.iter().zip(&places) {
        match &unknown.cause {
            UnknownCause::Function { name } => {
                let line = vec![
                    text("a custom backend ("),
                    code(name.to_string()),
                    text(") knows better"),
                ];
                if !found.contains(&line) {
                    found.push(line);
                }
            }
            UnknownCause::Path(possible) => {
                let levels: Vec<&Place> = places
                    .iter()
                    .filter(|place| place.level == unknown.level && place.index == unknown.index)
                    .collect();
                if let [place] = levels.as_slice() {
                    let key = &possible.key;
                    let files = &possible.files;
                    let mut names: Vec<Arc<str>> = Vec::new();
                    place
                        .template
                        .variables()
                        .for_each(|name| add(&mut names, name));
                    let fits = |file: &Arc<str>| place.template.bind(file).is_some();
                    let snapshot = ground.snapshot;
                    if snapshot.holds_once(key, &place.template, files) || files.iter().all(fits) {
                        bound_of(&mut by_variables, names).add_all(place, files);
                        continue;
                    }
                }
                for file in possible.files.iter() {
                    let bound = levels.iter().find_map(|place| place.template.bind(file));
                    let bound = bound.unwrap_or_else(|| {
                        let names = possible.variables.iter();
                        names.map(|name| (name.clone(), String::new())).collect()
                    });
                    let (names, values): (Vec<_>, Vec<_>) = bound.into_iter().unzip();
                    let bound = bound_of(&mut by_variables, names);
                    bound.spread();
                    bound.add(values);
                }
            }
        }
    }
    for mut bound in by_variables {
        let names = std::mem::take(&mut bound.names);
        let (count, values) = bound.list();
        let line = match (names.as_slice(), values) {
            ([name], [_, ..]) => {
                let mut line = vec![code(name.to_string()), text(" is ")];
                let shown = values
                    .iter()
                    .flatten()
                    .map(|value| vec![code(value.clone())]);
                line.extend(joined(shown, " or "));
                line
            }
            ([name], _) => vec![
                code(name.to_string()),
                text(format!(" is one of {count} values")),
            ],
            (names, [values]) => {
                let pairs = names.iter().zip(values);
                joined(
                    pairs.map(|(name, value)| {
                        vec![code(name.to_string()), text(" is "), code(value.clone())]
                    }),
                    " and ",
                )
            }
            (names, _) => {
                let mut line = joined(
                    names.iter().map(|name| vec![code(name.to_string())]),
                    " and ",
                );
                line.push(text(format!(" have one of {count} combinations")));
                line
            }
        };
        found.push(line);
    }
    found
}

/// The values of some variables, found before or not.
fn bound_of<'b, 'a>(found: &'b mut Vec<Bound<'a>>, names: Vec<Arc<str>>) -> &'b mut Bound<'a> {
    let known = found.iter().position(|bound| bound.names == names);
    let at = known.unwrap_or_else(|| {
        found.push(Bound {
            names,
            ..Bound::default()
        });
        found.len() - 1
    });
    &mut found[at]
}

/// The layer's name for people.
pub(super) fn layer_name(layer: &Layer) -> String {
    match layer {
        Layer::Global => "global layer".to_string(),
        Layer::Environment => "environment".to_string(),
        Layer::Module(name) => format!("module {name}"),
    }
}
