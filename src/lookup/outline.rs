//! The levels of a layer for display: their functions and files.

use std::sync::Arc;

use super::engine::{Engine, Invocation};
use super::error::{Failure, LookupError};
use super::reach::Place;
use super::session::Session;
use crate::hierarchy::{Function, Layer};
use crate::scope::Scope;

/// One layer's configuration.
#[derive(Clone, Debug)]
pub struct Outline {
    /// Its version.
    pub version: u8,
    /// The levels, highest priority first.
    pub levels: Vec<LevelOutline>,
}

/// One level, as far as it is the same for every node.
#[derive(Clone, Debug)]
pub struct LevelOutline {
    /// The level's name.
    pub name: Arc<str>,
    /// The function that gives its data.
    pub function: Function,
    /// Its locations in files.
    pub places: Vec<Place>,
    /// Its locations that are URIs.
    pub uris: Vec<Arc<str>>,
}

impl Session<'_> {
    /// The levels of a layer; `None` if the layer has no hierarchy.
    ///
    /// # Errors
    /// Puppet's error for the configuration.
    pub fn outline(&self, layer: &Layer) -> Result<Option<Outline>, LookupError> {
        let mut engine = Engine::new(*self, Scope::open());
        match outline(&mut engine, self, layer) {
            Ok(outline) => Ok(outline),
            Err(Failure::NotFound) => Ok(None),
            Err(Failure::Error(error)) => Err(*error),
        }
    }
}

fn outline(
    engine: &mut Engine<'_>,
    session: &Session<'_>,
    layer: &Layer,
) -> super::error::Found<Option<Outline>> {
    let Some(provider) = engine.provider(layer)? else {
        return Ok(None);
    };
    let all = engine.levels(&provider, &Invocation::default())?;
    let places = session.known_places(layer);
    let levels = all.all().enumerate().map(|(at, level)| {
        let in_default_hierarchy = at >= all.hierarchy.len();
        let is_its = |place: &&Place| {
            place.in_default_hierarchy == in_default_hierarchy && place.index == level.index
        };
        let uris = level.all_locations().iter().filter(|at| at.is_uri);
        LevelOutline {
            name: level.name.clone(),
            function: level.function.clone(),
            places: places.iter().filter(is_its).cloned().collect(),
            uris: uris.map(|location| location.original.clone()).collect(),
        }
    });
    let config = provider.config();
    Ok(Some(Outline {
        version: config.map_or(5, crate::hierarchy::Config::version),
        levels: levels.collect(),
    }))
}
