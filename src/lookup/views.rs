//! What the levels of a layer read for each of many nodes: the same list for most nodes.
//! Nodes share lookups by it: see [`over_nodes`](super::over_nodes) for what that saves.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap as Map};
use std::sync::Arc;

use super::backend::{declared_reading, format_of};
use super::engine::{Engine, Invocation};
use super::error::{Failure, Found};
use super::level::{Declared, LevelProvider};
use super::location::KnownPlaces;
use super::node_classes::{Classes, NumberLists};
use super::over_nodes::FirstFiles;
use super::session::Session;
use crate::hierarchy::{FunctionKind, Layer, Template};
use crate::scope::{Column, KnownNodes, Scope};
use crate::value::{KeyHashing, Value};
use crate::workspace::{Format, path};

/// What the result of a level depends on for a node: a file, its options, or an error.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum LevelInput {
    File(Arc<str>, Format),
    /// A data file whose path depends on the key.
    Keyed(Template, Format),
    /// The input of a function that is never run here.
    Unseen,
    /// An unknown path: its template, and its format.
    Open(Arc<Template>, Option<Format>),
    /// An unknown path from which a declared function derives others.
    KeyedOpen(Arc<Template>),
    /// Options that affect a level's result.
    Options(Value),
    /// Puppet's error if the levels cannot be built for this scope.
    Refused(String),
}

impl LevelInput {
    /// Whether it is the file at `path`, for some key.
    pub(super) fn reads(&self, path: &str) -> bool {
        match self {
            LevelInput::File(file, _) => **file == *path,
            LevelInput::Keyed(template, _) => template.matches(path),
            LevelInput::Unseen
            | LevelInput::Open(..)
            | LevelInput::KeyedOpen(_)
            | LevelInput::Options(_)
            | LevelInput::Refused(_) => false,
        }
    }

    /// Whether it is an unknown path that may be that file.
    pub(super) fn may_read(&self, path: &str) -> bool {
        match self {
            LevelInput::Open(template, _) => template.may_match(path),
            LevelInput::KeyedOpen(_) => true,
            LevelInput::File(..)
            | LevelInput::Keyed(..)
            | LevelInput::Unseen
            | LevelInput::Options(_)
            | LevelInput::Refused(_) => false,
        }
    }
}

/// A layer as one node sees it: inputs, each with the index of its level.
type NodeView = Vec<(u32, u32)>;

/// A layer as many nodes see it: for each level the distinct lists of inputs, and the nodes with
/// each.
#[derive(Debug, Default)]
pub(super) struct LayerViews {
    pub(super) inputs: Vec<LevelInput>,
    count: usize,
    /// The inputs of each list. The lists of one level are adjacent.
    lists: NumberLists,
    levels: Vec<u32>,
    members: NumberLists,
    /// The lists that each input is in.
    holders: NumberLists,
    /// The inputs that read each file, by the file's id.
    numbered: NumberLists,
    others: Vec<u32>,
    /// The variables that the paths read.
    variables: BTreeSet<Arc<str>>,
    /// Whether they may be others in another version of Puppet although these variables are the same.
    depend_on_version: bool,
}

impl LayerViews {
    /// The layer from the views of all nodes.
    fn new(
        session: &Session<'_>,
        inputs: Vec<LevelInput>,
        views: &[NodeView],
        view_of: &[u32],
    ) -> LayerViews {
        let level_count = views.iter().flatten().map(|(level, _)| level + 1).max();
        let mut lists: Vec<Vec<u32>> = Vec::new();
        let mut levels = Vec::new();
        let mut members = Vec::new();
        for level in 0..level_count.unwrap_or_default() {
            let mut known: Map<Vec<u32>, u32, KeyHashing> = Map::default();
            let in_level = |view: &NodeView| {
                let inputs = view.iter().filter(|(known, _)| *known == level);
                inputs.map(|(_, input)| *input).collect::<Vec<u32>>()
            };
            let numbers = views.iter().map(in_level).map(|list| {
                let next = lists.len() as u32;
                *known.entry(list).or_insert_with_key(|list| {
                    lists.push(list.clone());
                    levels.push(level);
                    next
                })
            });
            let numbers: Vec<u32> = numbers.collect();
            let view_of = view_of.iter().enumerate();
            members.extend(view_of.map(|(member, view)| (numbers[*view as usize], member as u32)));
        }
        let of_lists = lists.iter().enumerate();
        let held =
            of_lists.flat_map(|(at, list)| list.iter().map(move |&input| (at as u32, input)));
        let holders = held.clone().map(|(list, input)| (input, list));
        let mut numbered = Vec::new();
        let mut others = Vec::new();
        for (at, input) in inputs.iter().enumerate() {
            if let LevelInput::File(path, format) = input
                && let Some(number) = session.files.number(path, *format)
            {
                numbered.push((number, at as u32));
            } else {
                others.push(at as u32);
            }
        }
        let files = numbered.iter().map(|(file, _)| *file as usize + 1).max();
        let files = files.unwrap_or_default();
        LayerViews {
            count: view_of.len(),
            lists: NumberLists::new(lists.len(), held.clone()),
            levels,
            members: NumberLists::new(lists.len(), members.iter().copied()),
            holders: NumberLists::new(inputs.len(), holders),
            numbered: NumberLists::new(files, numbered.iter().copied()),
            others,
            inputs,
            variables: BTreeSet::new(),
            depend_on_version: false,
        }
    }

    /// The variables that the paths read; `None` if the views also depend on the version of Puppet.
    pub(super) fn inputs_of_any_version(&self) -> Option<&BTreeSet<Arc<str>>> {
        (!self.depend_on_version).then_some(&self.variables)
    }

    /// Whether each node reads the same as in other views of the same nodes.
    pub(super) fn are_same(&self, other: &LayerViews) -> bool {
        self.inputs == other.inputs
            && self.lists == other.lists
            && self.levels == other.levels
            && self.members == other.members
    }

    /// Whether the manifests of some nodes may set a variable of a path.
    pub(super) fn are_set_by_manifests(&self, nodes: &KnownNodes) -> bool {
        are_set_by_manifests(nodes, &self.variables)
    }

    /// The nodes that have one of the wanted inputs, in their order. An input that is a file is only
    /// asked for the file at `path`. O(inputs without a file + those nodes).
    pub(super) fn nodes_with(
        &self,
        session: &Session<'_>,
        path: &str,
        wanted: impl Fn(&LevelInput) -> bool,
    ) -> Vec<usize> {
        let formats = [Format::Yaml, Format::Json, Format::Hocon].into_iter();
        let numbers = formats.filter_map(|format| session.files.number(path, format));
        let own = numbers.flat_map(|number| self.numbered.list(number));
        let inputs = own.chain(&self.others).copied();
        let inputs = inputs.filter(|&input| wanted(&self.inputs[input as usize]));
        let lists = inputs.flat_map(|input| self.holders.list(input));
        let members = lists.flat_map(|&list| self.members.list(list));
        let mut members: Vec<usize> = members.map(|&member| member as usize).collect();
        members.sort_unstable();
        members.dedup();
        members
    }

    /// Notes for each node that has none yet the first file with `key` that it reads; see
    /// [`first_files`](super::over_nodes::first_files). O(files with the key + nodes that read them).
    pub(super) fn note_first(
        &self,
        session: &Session<'_>,
        key: &str,
        sets: impl Fn(&str, Format) -> Option<bool>,
        first: &mut FirstFiles,
    ) -> Option<()> {
        let files = session.files.mattering(key);
        let (_, mattering) = self.mattering(session, std::iter::once(key), &files);
        let mut setting: Map<u32, u32, KeyHashing> = Map::default();
        for input in mattering {
            let LevelInput::File(path, format) = &self.inputs[input as usize] else {
                return None;
            };
            if sets(path, *format)? {
                setting.insert(input, first.files.len() as u32);
                first.files.push(path.clone());
            }
        }
        let lists = setting.keys().flat_map(|&input| self.holders.list(input));
        let mut lists: Vec<u32> = lists.copied().collect();
        // The lists of one level are adjacent, and a node has one of them.
        lists.sort_unstable();
        lists.dedup();
        for list in lists {
            let mut inputs = self.lists.list(list).iter();
            let file = inputs.find_map(|input| setting.get(input));
            for &member in self.members.list(list) {
                let of = &mut first.of[member as usize];
                *of = of.or(file.copied());
            }
        }
        Some(())
    }

    /// Splits the nodes by their view of everything that matters to lookups of `keys`; `files` are
    /// the numbers of those that do. O(files + nodes that read one of them).
    pub(super) fn part<'k>(
        &self,
        session: &Session<'_>,
        keys: impl Iterator<Item = &'k str> + Clone,
        files: &[u32],
        classes: &mut Classes,
    ) {
        let (matters, mattering) = self.mattering(session, keys, files);
        let mut touched: Vec<u32> = mattering
            .iter()
            .flat_map(|&input| self.holders.list(input).iter().copied())
            // A list that all nodes share does not split them.
            .filter(|&list| self.members.list(list).len() < self.count)
            .collect();
        touched.sort_unstable();
        touched.dedup();
        let level_of = |list: &u32| self.levels[*list as usize];
        for lists in touched.chunk_by(|one, other| level_of(one) == level_of(other)) {
            // Lists that only differ in irrelevant inputs are treated as one.
            let mut same: Vec<(Vec<u32>, u32)> = Vec::new();
            for &list in lists {
                let inputs = self.lists.list(list).iter().copied();
                let inputs = inputs.filter(|input| matters[*input as usize]);
                same.push((inputs.collect(), list));
            }
            same.sort_unstable();
            for lists in same.chunk_by(|(one, _), (other, _)| one == other) {
                let lists = lists.iter();
                classes.split(lists.flat_map(|(_, list)| self.members.list(*list)));
            }
        }
    }

    /// For each input, whether it currently matters to lookups of `keys`, and the list of those
    /// that do. O(files).
    fn mattering<'k>(
        &self,
        session: &Session<'_>,
        keys: impl Iterator<Item = &'k str> + Clone,
        files: &[u32],
    ) -> (Vec<bool>, Vec<u32>) {
        let mut matters = vec![false; self.inputs.len()];
        let mut mattering = Vec::new();
        let mut add = |input: u32| {
            if !std::mem::replace(&mut matters[input as usize], true) {
                mattering.push(input);
            }
        };
        for &file in files {
            self.numbered.list(file).iter().copied().for_each(&mut add);
        }
        for &at in &self.others {
            let matters = match &self.inputs[at as usize] {
                LevelInput::File(path, format) => {
                    let mut keys = keys.clone();
                    keys.any(|key| session.files.may_hold(path, key, *format))
                }
                LevelInput::Keyed(template, format) => keys.clone().any(|key| {
                    let path = template.with_key(key).map(|path| path.to_string());
                    path.is_some_and(|path| session.files.may_hold(&path, key, *format))
                }),
                // A path that may be a file with a key makes the answer uncertain.
                LevelInput::Open(template, Some(format)) => {
                    let mut keys = keys.clone();
                    let files = session.files;
                    keys.any(|key| {
                        let (files, across) = files.files_with_key(key, *format, template);
                        !files.is_empty() || !across.is_empty()
                    })
                }
                LevelInput::Open(_, None) => false,
                LevelInput::Unseen
                | LevelInput::KeyedOpen(_)
                | LevelInput::Options(_)
                | LevelInput::Refused(_) => true,
            };
            if matters {
                add(at);
            }
        }
        (matters, mattering)
    }
}

/// The views of nodes by the values of the variables that decide them: nodes with the same values
/// have the same view.
#[derive(Default)]
struct ViewsByValues(Vec<ViewsOfVariables>);

/// The numbers of views by the indexes of some variables' values in their columns.
struct ViewsOfVariables {
    variables: BTreeSet<Arc<str>>,
    columns: Vec<Arc<Column>>,
    numbers: Map<Vec<u32>, u32, KeyHashing>,
}

impl ViewsOfVariables {
    fn values(&self, member: usize) -> Vec<u32> {
        let columns = self.columns.iter();
        columns.map(|column| column.ids[member]).collect()
    }
}

impl ViewsByValues {
    fn find(&self, member: usize) -> Option<u32> {
        let mut all = self.0.iter();
        all.find_map(|known| known.numbers.get(&known.values(member)).copied())
    }

    fn add(
        &mut self,
        nodes: &KnownNodes,
        member: usize,
        variables: BTreeSet<Arc<str>>,
        number: u32,
    ) {
        let known = self.0.iter().position(|known| known.variables == variables);
        let known = known.unwrap_or_else(|| {
            self.0.push(ViewsOfVariables {
                columns: nodes.columns(variables.iter()),
                numbers: Map::default(),
                variables,
            });
            self.0.len() - 1
        });
        let known = &mut self.0[known];
        known.numbers.insert(known.values(member), number);
    }
}

/// All nodes' views of a layer. O(nodes), and O(locations) for each different set of values of the
/// variables in its paths.
pub(super) fn views(
    session: &Session<'_>,
    nodes: &KnownNodes,
    layer: &Layer,
    places: &KnownPlaces,
) -> LayerViews {
    let mut all: Vec<LevelInput> = Vec::new();
    let mut views: Vec<NodeView> = Vec::new();
    let mut view_numbers: Vec<u32> = Vec::with_capacity(nodes.len());
    let mut inputs: Map<LevelInput, u32, KeyHashing> = Map::default();
    let mut known: Map<NodeView, u32, KeyHashing> = Map::default();
    let mut variables = BTreeSet::new();
    let depend_on_version = Cell::new(false);
    let mut by_values = ViewsByValues::default();
    for member in 0..nodes.len() {
        if let Some(number) = by_values.find(member) {
            view_numbers.push(number);
            continue;
        }
        let in_scope = |scope: Scope| {
            let mut engine = Engine::new(*session, scope);
            engine.places = places.clone();
            let seen = match seen(session, &mut engine, layer) {
                Ok(seen) => seen,
                Err(Failure::NotFound) => Vec::new(),
                Err(Failure::Error(error)) => vec![(0, LevelInput::Refused(error.to_string()))],
            };
            if engine.levels_depend_on_version || engine.reads.depend_on_version {
                depend_on_version.set(true);
            }
            (seen, engine.in_paths.sorted())
        };
        // Manifests look keys up: they are run only if it matters, as it does if it did before.
        let is_set = are_set_by_manifests(nodes, &variables);
        let given = (!is_set).then(|| in_scope(nodes.given_scope(member)));
        let given = given.filter(|(_, read)| !are_set_by_manifests(nodes, read));
        let (seen, read) = given.unwrap_or_else(|| in_scope(nodes.scope(member)));
        variables.extend(read.iter().cloned());
        let view: NodeView = seen
            .into_iter()
            .map(|(level, input)| {
                let next = all.len() as u32;
                let number = inputs.get(&input).copied().unwrap_or_else(|| {
                    all.push(input.clone());
                    inputs.insert(input, next);
                    next
                });
                (level, number)
            })
            .collect();
        let next = views.len() as u32;
        let number = *known.entry(view).or_insert_with_key(|view| {
            views.push(view.clone());
            next
        });
        by_values.add(nodes, member, read, number);
        view_numbers.push(number);
    }
    LayerViews {
        variables,
        depend_on_version: depend_on_version.get(),
        ..LayerViews::new(session, all, &views, &view_numbers)
    }
}

/// Whether the manifests of some nodes may set one of these variables.
fn are_set_by_manifests(nodes: &KnownNodes, variables: &BTreeSet<Arc<str>>) -> bool {
    variables.iter().any(|path| nodes.is_set_by_manifests(path))
}

/// The inputs of a layer for one node, level by level.
fn seen(
    session: &Session<'_>,
    engine: &mut Engine<'_>,
    layer: &Layer,
) -> Found<Vec<(u32, LevelInput)>> {
    let invocation = Invocation::default();
    let Some(provider) = engine.provider(layer)? else {
        return Ok(Vec::new());
    };
    let all = engine.levels(&provider, &invocation)?;
    let mut seen = Vec::new();
    for (at, level) in all.all().enumerate() {
        add(session, at as u32, level, &mut seen);
    }
    Ok(seen)
}

fn add(session: &Session<'_>, at: u32, level: &LevelProvider, seen: &mut Vec<(u32, LevelInput)>) {
    if let Some(declared) = &level.declared {
        add_declared(at, level, declared, seen);
        return;
    }
    let format = format_of(&level.function);
    if format.is_some() && session.settings.keys.is_some() {
        seen.push((at, LevelInput::Options(level.options.clone())));
    }
    for location in level.all_locations() {
        let input = match (&location.open, format) {
            (Some(open), _) => LevelInput::Open(open.template.clone(), format),
            (None, Some(format)) if location.exists && !location.is_uri => {
                if level.has_refused_options() {
                    seen.push((at, LevelInput::Unseen));
                }
                LevelInput::File(path::shared(&location.place), format)
            }
            (None, _) if location.exists => LevelInput::Unseen,
            (None, _) if level.function.kind == FunctionKind::Hiera3Backend => LevelInput::Unseen,
            (None, _) => continue,
        };
        seen.push((at, input));
    }
}

fn add_declared(
    at: u32,
    level: &LevelProvider,
    declared: &Declared,
    seen: &mut Vec<(u32, LevelInput)>,
) {
    let Declared { backend, datadir } = declared;
    let Some(reading) = declared_reading(backend.like) else {
        // It returns the same for every node, as far as known.
        return;
    };
    let format = reading.format();
    let keyed = |template: &Template| {
        let templates = backend
            .path
            .iter()
            .map(|path| path.template(template, datadir));
        templates
            .map(|template| (at, LevelInput::Keyed(template, format)))
            .collect::<Vec<_>>()
    };
    let Some(locations) = &level.locations else {
        seen.extend(keyed(&Template::default()));
        return;
    };
    for location in locations.iter() {
        match &location.open {
            Some(open) => seen.push((at, LevelInput::KeyedOpen(open.template.clone()))),
            None if !location.exists || location.is_uri => {}
            None if backend.path.is_empty() => {
                seen.push((at, LevelInput::File(location.place.clone(), format)));
            }
            None => seen.extend(keyed(&location.template())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lookup::{ConfigCache, Environment, PuppetVersion, Settings};
    use crate::scope::read_nodes;
    use crate::value::{HashMap, from_json};
    use crate::workspace::{Change, Workspace};

    #[test]
    fn views_are_made_once_whether_or_not_a_layer_has_a_configuration() {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/env".into()]));
        let open = |path: &str, text: &str| workspace.apply(Change::open(path, text));
        open("/env/data/common.yaml", "a: 1\n");
        let mut snapshot = open("/env/modules/m/metadata.json", "{}\n");
        let environment = Environment {
            dir: Some("/env".into()),
            modulepath: vec!["/env/modules".into()],
            ..Environment::default()
        };
        let settings = Settings::for_version(PuppetVersion::V8);
        let configs = ConfigCache::default();
        let json = from_json(r#"{"one": {}, "two": {}}"#).unwrap();
        let nodes = read_nodes(&json, "nodes", &HashMap::default()).unwrap();
        let nodes = KnownNodes::new(&nodes);
        for text in [None, Some("version: 5\nhierarchy: []\n")] {
            if let Some(text) = text {
                snapshot = open("/env/hiera.yaml", text);
            }
            let session = Session {
                files: &*snapshot,
                environment: &environment,
                settings: &settings,
                configs: &configs,
            };
            let layers = [
                Layer::Global,
                Layer::Environment,
                Layer::Module("m".into()),
                Layer::Module("missing".into()),
            ];
            for layer in layers {
                let first = session.views(&nodes, &layer);
                let second = session.views(&nodes, &layer);
                assert!(Arc::ptr_eq(&first, &second), "{layer:?} {text:?}");
            }
        }
    }

    #[test]
    fn nodes_that_no_split_separates_share_a_class() {
        let mut classes = Classes::new(6);
        classes.split([1, 2, 3].iter());
        classes.split([3, 4].iter());
        let column = Column {
            ids: vec![7, 0, 7, 7, 7, 1],
            values: vec![None; 8],
            ..Column::default()
        };
        classes.split_by(&column, &[0, 1, 2, 5]);
        let class_of: Vec<usize> = (0..6).map(|member| classes.of(member)).collect();
        let same = |one: usize, other: usize| class_of[one] == class_of[other];
        let pairs = (0..6).flat_map(|one| (0..one).map(move |other| (one, other)));
        assert_eq!(pairs.filter(|&(one, other)| same(one, other)).count(), 0);
        assert!(class_of.iter().all(|&class| class < classes.len()));
        let mut classes = Classes::new(4);
        classes.split([0, 1, 2, 3].iter());
        assert!((1..4).all(|member| classes.of(member) == classes.of(0)));
    }
}
