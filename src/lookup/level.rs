//! One level of a hierarchy: its function asked at each of its locations
//! (`function_provider.rb` and its kin).

use std::cell::{OnceCell, RefCell};
use std::hash::BuildHasher as _;
use std::sync::Arc;

use indexmap::Equivalent as _;
use indexmap::map::raw_entry_v1::RawEntryApiV1 as _;

use super::backend::{Origin, is_rich_data};
use super::engine::{Engine, Invocation};
use super::error::{Failure, Found};
use super::foreign::Definition;
use super::given::Given;
use super::interpolate::{Methods, value_has_tokens};
use super::merge::Strategy;
use super::request::{Unknown, UnknownCause};
use super::trace::{Event, NodeKind, Possible, TraceLocation};
use crate::hierarchy::{Config, Function, FunctionKind, Layer, Level};
use crate::interpolation::{Key, Segment};
use crate::value::{HashMap, KeyHashing, StrKey, Value};
use crate::workspace::{Entry, Format, Nature, Natures, Paths};

/// A level with its locations for one scope.
pub(super) struct LevelProvider {
    pub(super) name: Arc<str>,
    pub(super) index: usize,
    pub(super) function: Function,
    /// Whether a configuration of version 3 made the level.
    pub(super) is_version_3: bool,
    pub(super) options: Value,
    /// None: the function is called once without a location.
    pub(super) locations: Option<Arc<[Location]>>,
    /// Path of the configuration, for its errors.
    pub(super) config: Option<Arc<str>>,
    /// What a `lookup_key` function gave.
    pub(super) given: Given,
    /// Hashes that a `data_hash` function gave, by location; the last place is that of a level
    /// without locations.
    pub(super) hashes: RefCell<Vec<Option<DataHash>>>,
    /// What is known of a function that is not Puppet's own, once it was looked for.
    pub(super) definition: OnceCell<Definition>,
    /// How many keys each location was asked for alone.
    pub(super) asked: RefCell<Vec<u32>>,
}

/// Keys that one location is asked for one by one, before its whole file is loaded.
const ASKED_ALONE: u32 = 4;

/// The data of one location.
#[derive(Clone)]
pub(super) enum DataHash {
    /// The hash of a file.
    Read {
        hash: Arc<HashMap>,
        natures: Natures,
    },
    /// Whatever a function gives that is never run.
    Foreign,
}

fn nature(value: &Value) -> Nature {
    if !is_rich_data(value) {
        Nature::Odd
    } else if value_has_tokens(value) {
        Nature::WithTokens
    } else {
        Nature::Plain
    }
}

/// One location after interpolation.
#[derive(Clone, Debug)]
pub(super) struct Location {
    pub(super) original: Arc<str>,
    pub(super) place: Arc<str>,
    pub(super) is_uri: bool,
    pub(super) exists: bool,
    /// Where a variable of the path is unknown.
    pub(super) open: Option<OpenPath>,
}

/// A path with unknown parts.
#[derive(Clone, Debug)]
pub(super) struct OpenPath {
    pub(super) template: crate::hierarchy::Template,
    pub(super) variables: Vec<Arc<str>>,
}

impl Engine<'_> {
    /// A level of version 5, its locations expanded; nothing where Puppet's built-in default finds
    /// no file.
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
        // A backend of Hiera 3 without locations is asked all the same.
        let is_legacy = level.function.kind == FunctionKind::Hiera3Backend;
        let locations = locations.filter(|list| !(is_legacy && list.is_empty()));
        Ok(Some(LevelProvider {
            name: level.name.clone(),
            index,
            function: level.function.clone(),
            is_version_3: false,
            options,
            locations,
            config: config.path.clone(),
            given: Given::default(),
            hashes: RefCell::default(),
            definition: OnceCell::new(),
            asked: RefCell::default(),
        }))
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
            NodeKind::Level {
                name: if legacy_function {
                    level.function.name.clone()
                } else {
                    level.name.clone()
                },
                index: level.index,
                legacy_function,
            }
        };
        self.with(node, |engine| match &level.locations {
            None => engine.merge_variants(strategy, &[()], &mut |engine, ()| {
                engine.ask_function(layer, level, None, key, invocation)
            }),
            Some(locations) => {
                let mut at = 0;
                engine.merge_variants(strategy, locations, &mut |engine, location| {
                    // Each is asked once, in order.
                    at += 1;
                    engine.ask_location(layer, level, at - 1, location, key, invocation)
                })
            }
        })
    }

    fn ask_location(
        &mut self,
        layer: &Layer,
        level: &LevelProvider,
        at: usize,
        location: &Location,
        key: &Key,
        invocation: &Invocation,
    ) -> Found {
        let possible = location
            .open
            .as_ref()
            .map(|open| self.possible(open, level, key));
        let node = || {
            NodeKind::Location(TraceLocation {
                place: location.place.clone(),
                original: location.original.clone(),
                is_uri: location.is_uri,
                possible: possible.clone(),
            })
        };
        self.with(node, |engine| {
            if let Some(possible) = &possible {
                if !possible.files.is_empty() {
                    engine.unknown(layer, level, UnknownCause::Path(possible.clone()));
                }
                engine.event(|| Event::LocationNotFound);
                return Err(Failure::NotFound);
            }
            // Backends of Hiera 3 look for files themselves.
            if !location.exists && level.function.kind != FunctionKind::Hiera3Backend {
                engine.event(|| Event::LocationNotFound);
                return Err(Failure::NotFound);
            }
            engine.ask_function(layer, level, Some((at, location)), key, invocation)
        })
    }

    /// Which existing files an open path could mean, of those that hold the root key.
    fn possible(&self, open: &OpenPath, level: &LevelProvider, key: &Key) -> Possible {
        let root = match &key.root {
            Segment::Name(name) => name.clone(),
            Segment::Index(_) => Arc::default(),
        };
        let files = match super::backend::format_of(&level.function) {
            Some(format) => {
                let files = self.session.files;
                files.files_with_key(&root, format, &open.template)
            }
            None => Paths::default(),
        };
        Possible {
            variables: open.variables.clone(),
            key: root,
            files,
        }
    }

    /// Calls the level's function for one location, or without one.
    fn ask_function(
        &mut self,
        layer: &Layer,
        level: &LevelProvider,
        location: Option<(usize, &Location)>,
        key: &Key,
        invocation: &Invocation,
    ) -> Found {
        let at = location.map_or(0, |(at, _)| at);
        let place = location.map(|(_, location)| location);
        let nameless: Arc<str>;
        let root: &Arc<str> = match &key.root {
            Segment::Name(name) => name,
            Segment::Index(_) => {
                nameless = Arc::default();
                &nameless
            }
        };
        let origin = Origin {
            layer,
            level,
            place,
        };
        match level.function.kind {
            FunctionKind::DataHash | FunctionKind::V4DataHash => {
                let is_known = matches!(level.hashes.borrow().get(at), Some(Some(_)));
                let entry = if is_known {
                    Entry::Unknown
                } else {
                    self.entry_alone(&origin, at, root)
                };
                if !is_known && matches!(entry, Entry::Unknown) {
                    let made = self.call_data_hash(&origin)?;
                    let mut hashes = level.hashes.borrow_mut();
                    if hashes.len() <= at {
                        hashes.resize(at + 1, None);
                    }
                    hashes[at] = Some(made);
                }
                let (found, is_foreign) = match (entry, level.hashes.borrow().get(at)) {
                    (Entry::Value(one), _) => {
                        let nature = one.nature(|| nature(&one.value));
                        (Some((one.value.clone(), nature)), false)
                    }
                    (Entry::Unknown, Some(Some(DataHash::Read { hash, natures }))) => {
                        let hashed = self.hash_of(root);
                        let is_root = |key: &Value| StrKey(root).equivalent(key);
                        let found = hash.raw_entry_v1().from_hash_full(hashed, is_root);
                        let found = found.map(|(at, _, value)| {
                            let nature = natures.of(at, hash.len(), || nature(value));
                            (value.clone(), nature)
                        });
                        (found, false)
                    }
                    (Entry::Unknown, Some(Some(DataHash::Foreign))) => (None, true),
                    (Entry::Absent | Entry::Unknown, _) => (None, false),
                };
                if is_foreign {
                    let name = &level.function.name;
                    let cause = UnknownCause::Function { name: name.clone() };
                    self.unknown(layer, level, cause);
                    self.event(|| Event::Unknown(root.to_string(), name.clone()));
                    return Err(Failure::NotFound);
                }
                let Some((value, nature)) = found else {
                    self.event(|| Event::NotFound(root.to_string()));
                    return Err(Failure::NotFound);
                };
                match nature {
                    // A trace tells collections apart by identity, as Ruby does. Options are never
                    // merged deep, so that nothing in them can change under a trace.
                    Nature::Plain if self.tracer.is_none() => return Ok(value),
                    Nature::Plain if self.in_options && **root == *"lookup_options" => {
                        self.event(|| Event::Found(root.to_string(), value.clone()));
                        return Ok(value);
                    }
                    Nature::Plain | Nature::WithTokens => {}
                    Nature::Odd => self.check_value(&origin, root, &value)?,
                }
                let value = self.interpolate(&value, invocation, &Methods::Allowed)?;
                self.event(|| Event::Found(root.to_string(), value.clone()));
                Ok(value)
            }
            FunctionKind::LookupKey => {
                let known = level.given.get(at, root);
                let value = match known {
                    Some(value) => value,
                    None => match self.call_lookup_key(&origin, root, invocation) {
                        Ok(value) => {
                            let all = &mut self.given;
                            level.given.insert(at, root, value.clone(), all);
                            value
                        }
                        Err(Failure::NotFound) => {
                            self.missing(|| root.to_string());
                            return Err(Failure::NotFound);
                        }
                        Err(error) => return Err(error),
                    },
                };
                self.event(|| Event::Found(root.to_string(), value.clone()));
                Ok(value)
            }
            FunctionKind::DataDig | FunctionKind::Hiera3Backend => {
                let result = self.call_data_dig(&origin, key);
                if matches!(result, Err(Failure::NotFound))
                    && level.function.kind == FunctionKind::DataDig
                {
                    self.missing(|| key.text.to_string());
                }
                result
            }
        }
    }

    /// The hash of a top-level key in tables of values. One key is sought in all levels, one after another.
    fn hash_of(&mut self, root: &Arc<str>) -> u64 {
        if let Some((known, hashed)) = &self.hashed
            && Arc::ptr_eq(known, root)
        {
            return *hashed;
        }
        let hashed = KeyHashing.hash_one(StrKey(root));
        self.hashed = Some((root.clone(), hashed));
        hashed
    }

    /// Notes that a function has no such key, unless nobody knows what it has.
    fn missing(&mut self, key: impl FnOnce() -> String) {
        if let Some(tracer) = &mut self.tracer
            && !matches!(tracer.current().event, Event::Unknown(..))
        {
            tracer.current().event = Event::NotFound(key());
        }
    }

    /// What the file of a location says of a key, without loading all of it. Who asks for many keys
    /// is better served by the whole.
    fn entry_alone(&self, origin: &Origin<'_>, at: usize, root: &str) -> Entry {
        let level = origin.level;
        let Some(place) = origin.place.filter(|place| !place.is_uri) else {
            return Entry::Unknown;
        };
        // A module's data is looked through for keys that it must not hold.
        let is_plain = level.function.kind == FunctionKind::DataHash
            && *level.function.name == *"yaml_data"
            && level.options.as_hash().is_none_or(HashMap::is_empty)
            && origin.layer.module_name().is_none();
        if !is_plain {
            return Entry::Unknown;
        }
        let mut asked = level.asked.borrow_mut();
        if asked.len() <= at {
            asked.resize(at + 1, 0);
        }
        asked[at] += 1;
        if asked[at] > ASKED_ALONE {
            return Entry::Unknown;
        }
        self.session.files.entry(&place.place, root, Format::Yaml)
    }

    /// Remembers that a level could change the answer.
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

/// A value as the receiver in Ruby's `NoMethodError`: `nil:NilClass`, `1:Integer`.
pub(super) fn receiver(value: &Value) -> String {
    format!("{}:{}", value.inspect(), super::dig::ruby_class(value))
}
