//! One level of a hierarchy: calls its function for each of its locations (`function_provider.rb`
//! and related files).

use std::cell::{OnceCell, RefCell};
use std::ops::Deref;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use super::backend::ValueOrigin;
use super::cached_values::CachedValues;
use super::engine::{Engine, Invocation};
use super::error::{Failure, Found, optional};
use super::foreign::FunctionDefinition;
use super::interpolate::Methods;
use super::merge::Strategy;
use super::pure::Cached;
use super::request::{Unknown, UnknownCause};
use super::trace::{Possible, TraceEvent, TraceKind, TraceLocation};
use super::walk::Levels;
use crate::hierarchy::{
    Backend, Config, Function, FunctionKind, Layer, Level, Like, Template, join,
};
use crate::interpolation::{Key, Segment};
use crate::value::{HashMap, StrKey, Value};
use crate::workspace::{Entry, Paths};

/// A level with its locations for one scope, and what one compilation keeps about it.
pub(super) struct LevelProvider {
    located: Rc<LocatedLevel>,
    /// The cached values of a `lookup_key` function.
    pub(super) cached_values: CachedValues,
    /// The cached hashes of a `data_hash` function, by location; the last entry is for a level
    /// without locations.
    pub(super) hashes: RefCell<Vec<Option<DataHash>>>,
    /// The cache of a function that is evaluated.
    pub(super) cached: Cached,
    /// What was spent on single keys of each location, in bytes of its text.
    pub(super) spent: RefCell<Vec<usize>>,
    /// The definition of a function that is not Puppet's own, once searched for.
    pub(super) definition: OnceCell<FunctionDefinition>,
}

/// A level with its locations for one scope.
pub(super) struct LocatedLevel {
    pub(super) name: Arc<str>,
    pub(super) index: usize,
    pub(super) function: Function,
    /// Whether the level comes from a configuration of version 3.
    pub(super) is_version_3: bool,
    pub(super) options: Value,
    /// `None`: the function is called once without a location.
    pub(super) locations: Option<Arc<[Location]>>,
    /// Path of the configuration, for its errors.
    pub(super) config: Option<Arc<str>>,
    pub(super) declared: Option<Declared>,
}

impl Deref for LevelProvider {
    type Target = LocatedLevel;

    fn deref(&self) -> &LocatedLevel {
        &self.located
    }
}

impl LevelProvider {
    pub(super) fn of(located: Rc<LocatedLevel>) -> LevelProvider {
        LevelProvider {
            located,
            cached_values: CachedValues::default(),
            hashes: RefCell::default(),
            cached: Cached::default(),
            spent: RefCell::default(),
            definition: OnceCell::new(),
        }
    }

    /// The same level for another compilation in the same scope: without what a lookup caches, but with the hashes that
    /// were read already.
    pub(super) fn anew(&self) -> LevelProvider {
        LevelProvider {
            hashes: self.hashes.clone(),
            ..LevelProvider::of(Rc::clone(&self.located))
        }
    }
}

impl LocatedLevel {
    /// Whether it has options although its function is called with none: then each file fails every lookup.
    pub(super) fn has_refused_options(&self) -> bool {
        let options = self.options.as_hash();
        self.function.kind == FunctionKind::DataHash && options.is_some_and(|all| !all.is_empty())
    }

    /// The locations; none for a function that is called without.
    pub(super) fn all_locations(&self) -> &[Location] {
        self.locations.as_deref().unwrap_or_default()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) backend: Arc<Backend>,
    pub(super) datadir: Arc<str>,
}

#[derive(Clone)]
pub(super) enum DataHash {
    /// The hash of a file.
    Read(Arc<HashMap>),
    /// The unknown result of a function that is never run.
    Foreign,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    pub(super) original: Arc<str>,
    pub(super) place: Arc<str>,
    pub(super) is_uri: bool,
    /// The glob in the configuration that matched the file.
    pub(super) glob: Option<Arc<str>>,
    pub(super) exists: bool,
    /// Whether the file's existence is unknown: its folder is not available.
    pub(super) is_absent: bool,
    /// Set if a variable of the path is unknown.
    pub(super) open: Option<OpenPath>,
    /// The number of its file, if it has one, once asked for.
    pub(super) number: OnceLock<Option<u32>>,
}

#[derive(Clone, Debug)]
pub(super) struct OpenPath {
    pub(super) template: Arc<Template>,
    pub(super) variables: Arc<[Arc<str>]>,
}

impl Engine<'_> {
    /// A level of version 5, its locations expanded; `None` if Puppet's built-in default finds no
    /// file.
    pub(super) fn level_provider(
        &mut self,
        config: &Config,
        index: usize,
        level: &Level,
        invocation: &Invocation,
    ) -> Found<Option<LevelProvider>> {
        let methods = Methods::Refused(config.path.clone());
        let locations = self.expand_locations(config, level, invocation, &methods)?;
        if config.path.is_none() && locations.as_ref().is_some_and(|all| all.is_empty()) {
            return Ok(None);
        }
        let options = self.interpolate(&level.options, invocation, &methods)?;
        // A backend of Hiera 3 is called even without locations.
        let is_legacy = level.function.kind == FunctionKind::Hiera3Backend;
        let datadir = join(&config.root, &level.datadir);
        let declared = self.declared(&level.function, &datadir, invocation, &methods)?;
        let locations = locations.filter(|list| !(is_legacy && list.is_empty()));
        let function = level.function.clone();
        Ok(Some(LevelProvider::of(Rc::new(LocatedLevel {
            name: level.name.clone(),
            index,
            function,
            is_version_3: false,
            options,
            locations,
            config: config.path.clone(),
            declared,
        }))))
    }

    /// `FunctionProvider#unchecked_key_lookup`
    pub(super) fn ask_level(
        &mut self,
        layer: &Layer,
        level: &LevelProvider,
        key: &Key,
        invocation: &Invocation,
        strategy: &Strategy,
    ) -> Found {
        let node = || {
            let legacy_function = level.function.kind == FunctionKind::V4DataHash;
            TraceKind::Level {
                name: if legacy_function {
                    level.function.name.clone()
                } else {
                    level.name.clone()
                },
                index: level.index,
                legacy_function,
            }
        };
        let whole = ValueOrigin {
            layer,
            level,
            place: None,
            at: 0,
        };
        self.with(node, |engine| match &level.locations {
            None => engine.merge_variants(strategy, &[()], &mut |engine, ()| {
                engine.ask_function(&whole, key, invocation)
            }),
            Some(locations) => {
                let mut next = 0;
                engine.merge_variants(strategy, locations, &mut |engine, location| {
                    // Each is called once, in order.
                    let at = next;
                    next += 1;
                    let place = Some(location);
                    let origin = ValueOrigin { place, at, ..whole };
                    engine.ask_location(&origin, location, key, invocation)
                })
            }
        })
    }

    fn ask_location(
        &mut self,
        origin: &ValueOrigin<'_>,
        location: &Location,
        key: &Key,
        invocation: &Invocation,
    ) -> Found {
        if self.is_passed(origin, location, key) {
            return Err(Failure::NotFound);
        }
        let ValueOrigin { layer, level, .. } = *origin;
        let possible = location
            .open
            .as_ref()
            .map(|open| self.possible(open, origin, key));
        let node = || {
            TraceKind::Location(TraceLocation {
                place: location.place.clone(),
                original: location.original.clone(),
                is_uri: location.is_uri,
                possible: possible.clone(),
            })
        };
        self.with(node, |engine| {
            if let Some(possible) = &possible {
                if engine.is_unseen(level) && engine.may_exist(location) {
                    return engine.ask_function(origin, key, invocation);
                }
                let is_decided = engine.scope.is_open() || engine.is_seen(location);
                if !possible.files.is_empty() || !is_decided {
                    engine.unknown(layer, level, UnknownCause::Path(possible.clone()));
                }
                engine.event(|| TraceEvent::LocationNotFound);
                return Err(Failure::NotFound);
            }
            // Backends of Hiera 3 look for files themselves.
            if !location.exists && level.function.kind != FunctionKind::Hiera3Backend {
                if location.is_absent {
                    let (path, key) = (location.place.clone(), key_root(key));
                    engine.unknown(layer, level, UnknownCause::Absent { path, key });
                }
                engine.event(|| TraceEvent::LocationNotFound);
                return Err(Failure::NotFound);
            }
            engine.ask_function(origin, key, invocation)
        })
    }

    /// Whether the level's function may have keys that are in no file of the workspace.
    fn is_unseen(&self, level: &LevelProvider) -> bool {
        match &level.declared {
            Some(declared) => declared.backend.like == Like::Secret,
            None => super::backend::format_of(&level.function).is_none(),
        }
    }

    /// Whether all files that a path with unknown parts can mean are in the index.
    fn is_seen(&self, location: &Location) -> bool {
        let open = location.open.as_ref();
        let start = open.map_or("", |open| open.template.first_text());
        let folder = start.rsplit_once('/').map_or("/", |(folder, _)| folder);
        let files = self.session.files;
        files.has_index() && !files.is_elsewhere(folder, start)
    }

    /// Whether a file may exist at a path with unknown parts: the folder before the first of them
    /// exists.
    fn may_exist(&self, location: &Location) -> bool {
        let open = location.open.as_ref();
        let start = open.map_or("", |open| open.template.first_text());
        let folder = start.rsplit_once('/').map_or("/", |(folder, _)| folder);
        self.session.files.kind(folder).is_some()
    }

    /// The existing files with the root key that an open path could match, without files that a
    /// path without variables names: see [`super::reach()`].
    fn possible(&mut self, open: &OpenPath, origin: &ValueOrigin<'_>, key: &Key) -> Possible {
        let level = origin.level;
        let root = key_root(key);
        let (template, session) = (&open.template, self.session);
        let format = super::backend::format_of(&level.function);
        let (mut files, across) = match (&level.declared, format) {
            (Some(declared), _) => {
                let files = self.possible_of_declared(declared, template, &root);
                (files, Paths::default())
            }
            (None, Some(format)) => session.files.files_with_key(&root, format, template),
            (None, None) => <(Paths, Paths)>::default(),
        };
        if !files.is_empty() {
            files = self.without_owned(files, origin.layer);
        }
        if !across.is_empty() {
            files = files.with(&self.without_likelier(across, template, origin.layer));
        }
        Possible {
            variables: open.variables.to_vec(),
            key: root,
            files,
        }
    }

    /// The files that are not named by a variable-free path of a layer's hierarchy.
    fn without_owned(&mut self, files: Paths, layer: &Layer) -> Paths {
        let provider = self.provider(layer).ok().flatten();
        let Some(levels) = provider.and_then(|provider| provider.levels.borrow().clone()) else {
            return files;
        };
        let locations = levels.all().flat_map(|level| level.all_locations());
        let named = locations.filter(|location| {
            location.open.is_none() && location.exists && location.glob.is_none()
        });
        let owned: Vec<&Arc<str>> = named
            .map(|location| &location.place)
            .filter(|place| files.contains(place))
            .collect();
        if owned.is_empty() {
            files
        } else {
            files.filtered(|at| !owned.contains(&at))
        }
    }

    /// Files that a template may match ([`crate::hierarchy::Template::may_match`]), without those that another path of a layer's hierarchy more likely names, for this scope or any other.
    fn without_likelier(&mut self, files: Paths, template: &Template, layer: &Layer) -> Paths {
        let provider = self.provider(layer).ok().flatten();
        let levels = provider.and_then(|provider| provider.levels.borrow().clone());
        let levels = levels.iter().flat_map(Levels::all);
        let locations: Vec<&Location> = levels.flat_map(|level| level.all_locations()).collect();
        let places = self.session.known_places(layer);
        let is_others = |at: &Arc<str>| {
            places
                .iter()
                .any(|place| place.template.is_likelier(template, at))
                || locations.iter().any(|location| match &location.open {
                    Some(open) => open.template.is_likelier(template, at),
                    None => location.place == *at,
                })
        };
        files.filtered(|at| !is_others(at))
    }

    /// Calls the level's function for one location, or without one.
    fn ask_function(
        &mut self,
        origin: &ValueOrigin<'_>,
        key: &Key,
        invocation: &Invocation,
    ) -> Found {
        let root = key_root(key);
        if let Some(declared) = &origin.level.declared {
            return self.ask_declared(origin, declared, &root, invocation);
        }
        let kind = origin.level.function.kind;
        match kind {
            FunctionKind::DataHash | FunctionKind::V4DataHash => {
                self.ask_data_hash(origin, &root, invocation)
            }
            FunctionKind::LookupKey => self.ask_lookup_key(origin, &root, invocation),
            FunctionKind::DataDig | FunctionKind::Hiera3Backend => {
                let result = self.call_data_dig(origin, key);
                if matches!(result, Err(Failure::NotFound)) && kind == FunctionKind::DataDig {
                    self.missing(|| key.text.to_string());
                }
                result
            }
        }
    }

    fn ask_data_hash(
        &mut self,
        origin: &ValueOrigin<'_>,
        root: &Arc<str>,
        invocation: &Invocation,
    ) -> Found {
        let found = match self.entry_alone(origin, root) {
            Entry::Value(value) => Some(value),
            Entry::Absent => None,
            Entry::Unknown => match self.data_hash(origin)? {
                Some(hash) => hash.get(&StrKey(root)).cloned(),
                None => {
                    self.not_run(origin, root);
                    return Err(Failure::NotFound);
                }
            },
        };
        let Some(value) = found else {
            self.event(|| TraceEvent::NotFound(root.to_string()));
            return Err(Failure::NotFound);
        };
        self.check_value(origin, root, &value)?;
        let value = self.interpolate(&value, invocation, &Methods::Allowed)?;
        self.event(|| TraceEvent::Found(root.to_string(), value.clone()));
        Ok(value)
    }

    /// The entry for a key in a location's file, without loading the whole file.
    fn entry_alone(&self, origin: &ValueOrigin<'_>, root: &str) -> Entry {
        let ValueOrigin { level, at, .. } = *origin;
        // A module's data is also checked for foreign keys.
        let is_plain = level.function.kind == FunctionKind::DataHash
            && *level.function.name == *"yaml_data"
            && !level.has_refused_options()
            && origin.layer.module_name().is_none();
        if !is_plain || matches!(level.hashes.borrow().get(at), Some(Some(_))) {
            return Entry::Unknown;
        }
        self.yaml_entry(origin, root)
    }

    /// The entry for a key in the YAML file of a location, as long as that costs less than loading
    /// the whole file.
    pub(super) fn yaml_entry(&self, origin: &ValueOrigin<'_>, root: &str) -> Entry {
        let ValueOrigin { level, at, .. } = *origin;
        let Some(place) = origin.place.filter(|place| !place.is_uri) else {
            return Entry::Unknown;
        };
        let mut spent = level.spent.borrow_mut();
        if spent.len() <= at {
            spent.resize(at + 1, 0);
        }
        self.session.files.entry(&place.place, root, &mut spent[at])
    }

    /// The hash of a location, read once for a compilation; `None` if it comes from a function that
    /// is never run.
    fn data_hash(&mut self, origin: &ValueOrigin<'_>) -> Found<Option<Arc<HashMap>>> {
        let ValueOrigin { level, at, .. } = *origin;
        let known = level.hashes.borrow().get(at).cloned().flatten();
        let data = match known {
            Some(known) => known,
            None => {
                let made = self.call_data_hash(origin)?;
                let mut hashes = level.hashes.borrow_mut();
                if hashes.len() <= at {
                    hashes.resize(at + 1, None);
                }
                hashes[at] = Some(made.clone());
                made
            }
        };
        Ok(match data {
            DataHash::Read(hash) => Some(hash),
            DataHash::Foreign => None,
        })
    }

    fn ask_lookup_key(
        &mut self,
        origin: &ValueOrigin<'_>,
        root: &Arc<str>,
        invocation: &Invocation,
    ) -> Found {
        let ValueOrigin { level, at, .. } = *origin;
        let value = match level.cached_values.get(at, root) {
            Some(value) => value,
            None => {
                let found = optional(self.call_lookup_key(origin, root, invocation))?;
                let Some(value) = found else {
                    self.missing(|| root.to_string());
                    return Err(Failure::NotFound);
                };
                level
                    .cached_values
                    .insert(at, root, value.clone(), &mut self.cached_values);
                value
            }
        };
        self.event(|| TraceEvent::Found(root.to_string(), value.clone()));
        Ok(value)
    }

    /// Records that a function does not have a key, unless its keys are unknown.
    pub(super) fn missing(&mut self, key: impl FnOnce() -> String) {
        if let Some(tracer) = self.recorder()
            && !matches!(tracer.current().event, TraceEvent::Unknown(..))
        {
            tracer.current().event = TraceEvent::NotFound(key());
        }
    }

    /// Records that a level could change the answer.
    pub(super) fn unknown(&mut self, layer: &Layer, level: &LevelProvider, cause: UnknownCause) {
        let unknown = Unknown {
            layer: layer.clone(),
            level: level.name.clone(),
            index: level.index,
            cause,
            for_options: self.in_options,
        };
        if !self.unknown.contains(&unknown) {
            self.unknown.push(unknown);
        }
    }
}

pub(super) fn key_root(key: &Key) -> Arc<str> {
    match &key.root {
        Segment::Name(name) => name.clone(),
        Segment::Index(_) => Arc::default(),
    }
}
