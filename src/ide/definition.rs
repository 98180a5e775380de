//! The definition of the thing under the cursor: a key's levels, a token's key or fact, the files
//! of a path, the anchor of an alias, the keys of an entry of `lookup_options`, elements that a
//! knock-out removes.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use super::fact_place::fact_places;
use super::file_place::FilePlace;
use super::knockout::KnockOut;
use super::named::{self, Named};
use super::set_place::set_places;
use super::target::{KeyTarget, PathTarget};
use crate::analysis::{
    Analysis, Defined, FileView, HieraFiles, KeyPositions, NodeFile, RootView, Status,
    custom_fact_places, fact_of, layers_of, option_fact, places_of, quoted, request, sources,
    without_keys,
};
use crate::hierarchy::{ConfigSpans, locate};
use crate::lookup::{FunctionSource, Place, Run, find_function};
use crate::regexp::Regexp;
use crate::scope::Scope;
use crate::syntax::NodeId;
use crate::text::TextRange;
use crate::workspace::{Format, Snapshot};

/// Maximum number of places in an answer: ten thousand files may set the same key.
pub const MAX_PLACES: usize = 1_000;

/// A definition, at one or more places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DefinitionPlaces {
    /// The name under the cursor.
    pub origin: TextRange,
    /// The places. For a key, the files that give its value to the selected node, or to any known
    /// node, come first; each part is in the order of levels.
    pub places: Vec<FilePlace>,
}

/// The definition of the thing at the byte at `offset` of a file; `facts` are the files with known
/// nodes. Costs a lookup for a key, and for a variable reads the files of facts.
#[must_use]
pub fn definition(
    analysis: Analysis<'_>,
    path: &str,
    offset: usize,
    facts: &[NodeFile],
) -> Option<DefinitionPlaces> {
    let settings = without_keys(analysis.settings);
    let analysis = analysis.with_settings(&settings);
    let view = analysis.answering(path)?;
    let file = view.file(path);
    if let Some(knock_out) = KnockOut::at(&file, offset) {
        let places = knock_out.removed(&runs_of(&file, knock_out.key()));
        return Some(DefinitionPlaces {
            origin: knock_out.range(),
            places,
        });
    }
    let mention = named::at(analysis.snapshot, path, offset)?;
    let mut places = match &mention.named {
        Named::Key(key) => of_key(&file, key),
        Named::Pattern(pattern) => of_pattern(&view, path, pattern),
        Named::Variable(variable) => of_variable(&view, facts, variable),
        Named::Element(element) => {
            let mut places = vec![FilePlace::of(&Arc::from(path), element.place)];
            places.extend(of_variable(&view, facts, &element.variable));
            places
        }
        Named::Anchor { node, .. } => of_anchor(analysis.snapshot, path, *node)?,
        Named::Path(target) => of_path(&view, target),
        Named::Function(name) => of_function(&view, name),
        Named::Class(name) => {
            let class = analysis.class(Some(view.root), name).into_iter();
            let place = |Defined { file, definition }| {
                FilePlace::with(file.path(), definition.place, definition.range)
            };
            class.map(place).collect()
        }
    };
    places.truncate(MAX_PLACES);
    Some(DefinitionPlaces {
        origin: mention.range,
        places,
    })
}

/// The declaration of a key: its class parameter, the effective entry of `lookup_options`, and the
/// paths in `hiera.yaml` that read the file. For anything else, the definition.
#[must_use]
pub fn declaration(
    analysis: Analysis<'_>,
    path: &str,
    offset: usize,
    facts: &[NodeFile],
) -> Option<DefinitionPlaces> {
    let settings = without_keys(analysis.settings);
    let analysis = analysis.with_settings(&settings);
    let mention = named::at(analysis.snapshot, path, offset)?;
    let Named::Key(key) = &mention.named else {
        return definition(analysis, path, offset, facts);
    };
    let view = analysis.answering(path)?;
    let mut scoped = view.in_scope(&view.file(path).scope());
    let mut places: Vec<FilePlace> = parameter(&view, key).into_iter().collect();
    if let Some(decides) = scoped.options_of(&key.root)
        && let Some((at, _)) = decides.place
        && let Some(file) = analysis.snapshot.file(&at)
        && let Some(fact) = option_fact(file, &decides.entry.name)
    {
        places.push(FilePlace::with(&at, fact.key, fact.key.cover(fact.value)));
    }
    let reaches = view.reach(path).into_iter();
    places.extend(reaches.filter_map(|reach| written(&view, &reach.place)));
    Some(DefinitionPlaces {
        origin: mention.range,
        places,
    })
}

/// The lines of manifests that set a variable, those of modules that add it as a fact, then its facts.
fn of_variable(view: &RootView<'_>, facts: &[NodeFile], variable: &str) -> Vec<FilePlace> {
    let mut places = set_places(view.analysis, view.root, variable);
    if let Some(fact) = fact_of(variable) {
        let added = custom_fact_places(view.analysis.snapshot, &fact);
        places.extend(added.map(|(file, place)| FilePlace::of(file.path(), place)));
    }
    places.extend(fact_places(view.analysis, facts, variable));
    places
}

/// The definitions of a key in levels; in all files if no level of the scope has it.
fn of_key(file: &FileView<'_>, key: &KeyTarget) -> Vec<FilePlace> {
    let (view, path) = (file.view, file.path);
    let snapshot = view.analysis.snapshot;
    let positions = KeyPositions::new(snapshot);
    // An index is only valid in this file's list.
    let elsewhere = &key.steps[..key.before_list.unwrap_or(key.steps.len())];
    let holders = elsewhere.first();
    let holders = holders.map(|name| snapshot.files_with_entry(&key.root, name));
    let may_have = |at: &Arc<str>| {
        let holders = holders.as_ref();
        **at == *path || holders.is_none_or(|files| files.contains(at))
    };
    let place = |at: &Arc<str>| {
        let file = snapshot.file(at)?;
        let steps = if **at == *path { &key.steps } else { elsewhere };
        let (name, whole) = positions.place(file, &key.root, steps)?;
        Some(FilePlace::with(at, name, whole))
    };
    let runs = runs_of(file, &key.root);
    let (effective, others) = if runs.is_empty() {
        in_scope(view, &file.scope(), &key.root)
    } else {
        over_nodes(view, path, &key.root, &runs, may_have)
    };
    let mut places: Vec<FilePlace> = Vec::new();
    let mut seen = HashSet::new();
    for at in effective.iter().chain(&others) {
        if places.len() < MAX_PLACES && may_have(at) && seen.insert(at) {
            places.extend(place(at));
        }
    }
    if places.is_empty() {
        let files = in_order(view, path, &key.root, may_have);
        places = files.iter().filter_map(place).take(MAX_PLACES).collect();
    }
    // The default of the parameter is used if no level sets the key.
    places.extend(parameter(view, key));
    places
}

/// The lookups of a key for the known nodes that read a file, or for all known nodes if no level
/// reads it. Empty if a node is selected or only names are known.
fn runs_of(file: &FileView<'_>, key: &str) -> Arc<[Run]> {
    let Analysis {
        nodes, selected, ..
    } = file.view.analysis;
    let is_selected = selected.is_some_and(|name| nodes.find(name).is_some());
    if is_selected || nodes.are_names() {
        return Arc::default();
    }
    let members = if file.reaches.is_empty() {
        Cow::Owned((0..nodes.len()).collect())
    } else {
        Cow::Borrowed(file.readers())
    };
    file.view.runs(&request(key), &members)
}

/// The files that give a key's value to some node, and the others that set it, in the order of levels: those
/// that are wanted.
fn over_nodes(
    view: &RootView<'_>,
    path: &str,
    key: &str,
    runs: &[Run],
    is_wanted: impl Fn(&Arc<str>) -> bool,
) -> (Vec<Arc<str>>, Vec<Arc<str>>) {
    let name = quoted(key);
    let given: HashSet<Arc<str>> = runs
        .iter()
        .flat_map(|run| sources(&run.answer, &name))
        .filter_map(|source| source.path)
        .collect();
    in_order(view, path, key, is_wanted)
        .into_iter()
        .partition(|file| given.contains(file))
}

/// The files that give a key's value in a scope, and the others that set it.
fn in_scope(view: &RootView<'_>, scope: &Scope, key: &str) -> (Vec<Arc<str>>, Vec<Arc<str>>) {
    let survey = view.survey(key, scope);
    let (mut effective, mut others): (Vec<Arc<str>>, Vec<Arc<str>>) = (Vec::new(), Vec::new());
    for level in &survey.levels {
        match &level.status {
            Status::Sets | Status::Merged => effective.extend(level.file.clone()),
            Status::Overridden => others.extend(level.file.clone()),
            Status::ForSomeNodes(files) => others.extend(files.iter().cloned()),
            Status::Unknown(files) => others.extend(files.iter().cloned()),
            Status::NotSet | Status::Outside { .. } => {}
        }
    }
    (effective, others)
}

/// The class parameter that a key sets by automatic parameter lookup.
fn parameter(view: &RootView<'_>, key: &KeyTarget) -> Option<FilePlace> {
    if !key.steps.is_empty() {
        return None;
    }
    let found = view.analysis.class_parameter(Some(view.root), &key.root)?;
    let fact = found.parameter;
    let whole = [fact.expected, fact.default].into_iter().flatten();
    let whole = whole.fold(fact.place, TextRange::cover);
    Some(FilePlace::with(found.class.file.path(), fact.place, whole))
}

/// The type definition of a key: type aliases in the type of its class parameter, else that type.
#[must_use]
pub fn type_definition(
    analysis: Analysis<'_>,
    path: &str,
    offset: usize,
) -> Option<DefinitionPlaces> {
    let mention = named::at(analysis.snapshot, path, offset)?;
    let Named::Key(key) = &mention.named else {
        return None;
    };
    let root = analysis.answering(path)?.root;
    let found = analysis.class_parameter(Some(root), &key.root)?;
    let written = found.expected()?;
    let names = written.split(|c: char| !c.is_alphanumeric() && c != ':' && c != '_');
    let aliases = names.filter(|name| name.contains("::")).flat_map(|name| {
        let lower = name.to_lowercase();
        let files = analysis.snapshot.files_defining(&lower);
        let found = files.filter_map(|file| {
            let code = file.facts().code.as_deref()?;
            let alias = code.aliases.iter().find(|alias| &*alias.name == name)?;
            let whole = alias.place.cover(alias.expected);
            Some(FilePlace::with(file.path(), alias.place, whole))
        });
        found.collect::<Vec<_>>()
    });
    let mut places: Vec<FilePlace> = aliases.collect();
    if places.is_empty() {
        let expected = found.parameter.expected;
        places.extend(expected.map(|expected| FilePlace::of(found.class.file.path(), expected)));
    }
    Some(DefinitionPlaces {
        origin: mention.range,
        places,
    })
}

/// The wanted files with a key that nodes read together with this one, in the order of levels, then by path.
fn in_order(
    view: &RootView<'_>,
    path: &str,
    key: &str,
    is_wanted: impl Fn(&Arc<str>) -> bool,
) -> Vec<Arc<str>> {
    let related = HieraFiles::related_to(view.analysis, path);
    let files = view.analysis.snapshot.iter_files_with(key);
    let files = files.filter(|file| is_wanted(file.path()) && related.contains(file));
    let mut files: Vec<Arc<str>> = files.map(|file| file.path().clone()).collect();
    files.sort_by_cached_key(|at| (rank(view, key, at), at.clone()));
    files
}

/// The index of the first level, over all layers, that can read a file for a key.
fn rank(view: &RootView<'_>, key: &str, at: &str) -> usize {
    let mut before = 0;
    for layer in layers_of(key) {
        let levels = view.places(&layer);
        let mut found = levels.iter();
        match found.position(|level| level.template.matches(at)) {
            Some(level) => return before + level,
            None => before += levels.len(),
        }
    }
    usize::MAX
}

/// The keys that a pattern matches, by name, each in the order of levels.
fn of_pattern(view: &RootView<'_>, path: &str, pattern: &str) -> Vec<FilePlace> {
    let analysis = view.analysis;
    let Ok(pattern) = Regexp::new(pattern) else {
        return Vec::new();
    };
    let related = HieraFiles::related_to(analysis, path);
    let mut places = Vec::new();
    for name in analysis.snapshot.key_names("") {
        let is_match = pattern.is_match(name).unwrap_or(false);
        if (analysis.is_cancelled)() || places.len() >= MAX_PLACES || !is_match {
            continue;
        }
        let mut found = analysis.snapshot.definitions(name);
        found.retain(|(file, _)| related.contains(file));
        found.sort_by_cached_key(|(file, _)| (rank(view, name, file.path()), file.path().clone()));
        let found = found.iter();
        places.extend(found.map(|(file, fact)| FilePlace::of_key(file.path(), fact)));
    }
    places
}

fn of_anchor(snapshot: &Snapshot, path: &str, node: NodeId) -> Option<Vec<FilePlace>> {
    let file = snapshot.file(path)?;
    let parse = snapshot.parse_of(file, file.format().unwrap_or(Format::Yaml));
    let node = parse.tree.node(node);
    let anchor = node.anchor.as_ref()?.range;
    Some(vec![FilePlace::with(
        file.path(),
        anchor,
        node.full_range(),
    )])
}

/// The files of a path in `hiera.yaml`: the selected node's first, the others by name.
fn of_path(view: &RootView<'_>, target: &PathTarget) -> Vec<FilePlace> {
    let all = view.places(&view.layer);
    let files_in = |all: &[Place]| {
        let (level, is_default) = (target.level, target.in_default_hierarchy);
        view.files_of(&places_of(all, level, is_default, &target.span))
    };
    let mut files = files_in(&all);
    let analysis = &view.analysis;
    if let Some(member) = analysis.selected.and_then(|name| analysis.nodes.find(name)) {
        let mut scoped = view.in_scope(&analysis.nodes.scope(member));
        let own = files_in(&scoped.places(&view.layer));
        files.sort_by_key(|file| !own.contains(file));
    }
    files.iter().map(|file| FilePlace::start_of(file)).collect()
}

fn of_function(view: &RootView<'_>, name: &str) -> Vec<FilePlace> {
    match find_function(view.files(), &view.environment, name) {
        FunctionSource::Ruby(path) | FunctionSource::Puppet(path) => {
            vec![FilePlace::start_of(&path)]
        }
        FunctionSource::Missing | FunctionSource::ModuleMissing => Vec::new(),
    }
}

/// The place of a location in a root's `hiera.yaml`.
fn written(view: &RootView<'_>, place: &Place) -> Option<FilePlace> {
    let snapshot = view.analysis.snapshot;
    let file = snapshot.file(view.root.hiera_yaml.as_deref()?)?;
    let parse = snapshot.parse_of(file, Format::Yaml);
    let ConfigSpans {
        hierarchy,
        default_hierarchy,
        defaults,
        ..
    } = locate(&parse.tree);
    let levels = if place.in_default_hierarchy {
        default_hierarchy
    } else {
        hierarchy
    };
    let level = levels.get(place.index).unwrap_or(&defaults);
    let mut locations = level.locations.iter();
    let location = locations.find(|location| {
        location.text == place.original || matches!(&*location.key, "glob" | "globs")
    });
    let name = location.map_or(level.range, |location| location.range);
    Some(FilePlace::with(file.path(), name, level.range.cover(name)))
}
