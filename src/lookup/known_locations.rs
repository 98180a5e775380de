//! Locations of levels that were expanded before, for scopes in which the variables of their paths
//! have the same values.
//!
//! Only where nothing else could show: every token is a plain variable whose value is a known
//! string without tokens of its own or one that nobody knows, so that expanding says nothing, and
//! every path lies below the configuration's own folder, where all lookups see the same files.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::engine::{Engine, Invocation, MAX_INTERPOLATED};
use super::error::Found;
use super::level::Location;
use crate::hierarchy::{Config, ConfigError, Level, Locations, join};
use crate::interpolation::{Segment, TokenKind, has_tokens};
use crate::scope::Variable;
use crate::value::{KeyHashing, StrKey, Value};
use crate::workspace::{Generations, path};

/// Most levels whose locations are remembered, before all are forgotten.
const MOST_LEVELS: usize = 4_096;

/// Most locations that are remembered of one level, before those not met for long are forgotten: a
/// level for single nodes has one for each of a fleet's.
const MOST_LOCATIONS: usize = 8_192;

/// Locations by the address of the level.
#[derive(Debug, Default)]
pub(super) struct KnownLocations {
    levels: Mutex<HashMap<usize, KnownLevel, KeyHashing>>,
}

#[derive(Debug)]
struct KnownLevel {
    /// The configuration that holds the level: no other level takes its address.
    _config: Arc<Result<Config, ConfigError>>,
    /// The variables of its paths, in order; none where its locations depend on more.
    variables: Option<Arc<[Arc<[Segment]>]>>,
    /// Which files there are, where somebody watches; see [`crate::workspace::Files::shape`].
    shape: Option<u64>,
    /// By the values of the variables.
    known: Generations<Box<[Plain]>, Known>,
}

/// What a scope says of a variable in a path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Plain {
    Text(Arc<str>),
    Unknown,
}

#[derive(Clone, Debug)]
struct Known {
    locations: Arc<[Location]>,
    /// Bytes of text that expanding them makes.
    interpolated: usize,
}

impl Engine<'_> {
    /// The locations of a level: known ones, or those that `expand` gives.
    pub(super) fn known_locations(
        &mut self,
        shared: &Arc<Result<Config, ConfigError>>,
        config: &Config,
        level: &Level,
        invocation: &Invocation,
        expand: impl FnOnce(&mut Self) -> Found<Option<Arc<[Location]>>>,
    ) -> Found<Option<Arc<[Location]>>> {
        let shape = self.session.files.shape();
        let may_be_known = match level.locations {
            Locations::Paths(_) => true,
            Locations::Globs(_) => shape.is_some(),
            Locations::None | Locations::Uris(_) | Locations::Mapped { .. } => false,
        };
        // Without a file of its own the built-in configuration has fewer locations.
        if !may_be_known || config.path.is_none() || invocation.hiera_scope {
            return expand(self);
        }
        let lock = |engine: &Self| {
            let levels = &engine.session.configs.locations.levels;
            levels.lock().unwrap_or_else(PoisonError::into_inner)
        };
        let address = std::ptr::from_ref(level).addr();
        let variables = {
            let mut levels = lock(self);
            if levels.len() >= MOST_LEVELS && !levels.contains_key(&address) {
                levels.clear();
            }
            let known = levels.entry(address).or_insert_with(|| KnownLevel {
                _config: shared.clone(),
                variables: self.variables_of(config, level).map(Arc::from),
                shape,
                known: Generations::new(MOST_LOCATIONS),
            });
            if known.shape != shape {
                known.shape = shape;
                known.known = Generations::new(MOST_LOCATIONS);
            }
            known.variables.clone()
        };
        let values: Option<Box<[Plain]>> =
            variables.and_then(|variables| variables.iter().map(|path| self.plain(path)).collect());
        let Some(values) = values else {
            return expand(self);
        };
        let known = lock(self)
            .get_mut(&address)
            .filter(|level| level.shape == shape)
            .and_then(|level| level.known.get(&values).cloned());
        if let Some(known) = known
            && self.interpolated + known.interpolated <= MAX_INTERPOLATED
        {
            self.interpolated += known.interpolated;
            return Ok(Some(match shape {
                Some(_) => known.locations,
                None => self.looked_for_again(&known.locations),
            }));
        }
        let before = self.interpolated;
        let locations = expand(self)?;
        if let Some(locations) = &locations
            && self.session.files.resolve(&config.root) == *config.root
            && locations
                .iter()
                .all(|location| self.is_own(config, location))
            && let Some(level) = lock(self).get_mut(&address)
            && level.shape == shape
        {
            let known = Known {
                locations: locations.clone(),
                interpolated: self.interpolated - before,
            };
            level.known.insert(values, known, locations.len() + 1);
        }
        Ok(locations)
    }

    /// The variables that a level's locations depend on; nothing where they depend on more.
    fn variables_of(&self, config: &Config, level: &Level) -> Option<Vec<Arc<[Segment]>>> {
        let paths = match &level.locations {
            Locations::Paths(paths) | Locations::Globs(paths) => paths,
            Locations::None | Locations::Uris(_) | Locations::Mapped { .. } => return None,
        };
        let is_relative = |text: &Arc<str>| !text.starts_with('/');
        if !is_relative(&level.datadir) || !paths.iter().all(is_relative) {
            return None;
        }
        let datadir = Arc::from(join(&config.root, &level.datadir));
        let mut variables: Vec<Arc<[Segment]>> = Vec::new();
        for text in std::iter::once(&datadir).chain(paths) {
            for token in self.session.configs.tokens(text).iter() {
                let TokenKind::Variable { key } = &token.kind else {
                    return None;
                };
                let path = std::iter::once(&key.root).chain(&key.segments);
                let path: Arc<[Segment]> = path.cloned().collect();
                if !variables.contains(&path) {
                    variables.push(path);
                }
            }
        }
        Some(variables)
    }

    /// The value of a variable, if it is a known text that is not interpolated again and makes no
    /// path absolute, or if nobody knows it.
    fn plain(&self, path: &[Segment]) -> Option<Plain> {
        let (root, segments) = path.split_first()?;
        let value = match self.scope.dotted(root.as_name()?, segments) {
            Variable::Known(value) => value,
            Variable::Unknown => return Some(Plain::Unknown),
            Variable::Undefined(_) => return None,
        };
        let mut value = &value;
        for segment in segments {
            value = value.as_hash()?.get(&StrKey(segment.as_name()?))?;
        }
        if let Value::String(text) = value
            && !has_tokens(text)
            && !text.is_empty()
            && !text.starts_with('/')
        {
            return Some(Plain::Text(text.clone()));
        }
        None
    }

    /// Whether every lookup sees the same at a location.
    fn is_own(&self, config: &Config, location: &Location) -> bool {
        let is_mapped = self.session.files.resolve(&location.place) != *location.place;
        !location.is_uri && !is_mapped && path::within(&location.place, &config.root).is_some()
    }

    /// The same locations, where nobody watches whether they are there.
    fn looked_for_again(&self, locations: &[Location]) -> Arc<[Location]> {
        let exists = |location: &Location| {
            location.open.is_none() && self.session.files.kind(&location.place).is_some()
        };
        let again = locations.iter().map(|location| Location {
            exists: exists(location),
            ..location.clone()
        });
        again.collect()
    }
}
