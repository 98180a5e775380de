//! Which files the levels of a layer read for each of many nodes: the same list for most of them,
//! kept for as long as configurations and the set of files are the same.

use std::collections::HashMap as Map;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use super::backend::format_of;
use super::context::Environment;
use super::engine::{Engine, Invocation, Session};
use super::error::{Failure, Found};
use super::level::LevelProvider;
use crate::hierarchy::{Config, ConfigError, FunctionKind, Layer};
use crate::scope::KnownNodes;
use crate::value::{KeyHashing, Value};
use crate::workspace::Format;

/// Most layers' views that are kept; a workspace has one for each module with data.
const MOST_KEPT: usize = 512;

/// A place that levels read, and how.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Spot {
    /// A data file, by its path.
    File(Arc<str>, Format),
    /// Something that a function gets which is never run here.
    Unseen,
    /// A path that is not known.
    Open(Arc<str>),
    /// Options that decide over what a level gives.
    Options(Value),
    /// The levels cannot be made for this scope: what Puppet says.
    Refused(String),
}

/// What a layer is for one node: the places of its levels, by the number of the level.
type View = Vec<(u32, u32)>;

/// One layer as many nodes see it.
#[derive(Debug, Default)]
pub(super) struct LayerViews {
    /// All places, each once.
    pub(super) spots: Vec<Spot>,
    /// The different views: level and place.
    pub(super) views: Vec<View>,
    /// For each node the number of its view.
    pub(super) of: Vec<u32>,
    /// The places of files by the files' numbers.
    numbered: Map<u32, Vec<u32>, KeyHashing>,
    /// The other places.
    others: Vec<u32>,
}

impl LayerViews {
    fn number(&mut self, session: &Session<'_>) {
        for (at, spot) in self.spots.iter().enumerate() {
            let number = match spot {
                Spot::File(path, format) => session.files.number(path, *format),
                Spot::Unseen | Spot::Open(_) | Spot::Options(_) | Spot::Refused(_) => None,
            };
            match number {
                Some(number) => self.numbered.entry(number).or_default().push(at as u32),
                None => self.others.push(at as u32),
            }
        }
    }

    /// For each place whether it matters to lookups of `keys`, as the files are now. O(places +
    /// files that hold a key).
    pub(super) fn mattering<'k>(
        &self,
        session: &Session<'_>,
        keys: impl Iterator<Item = &'k str> + Clone,
    ) -> Vec<bool> {
        let mut matters = vec![false; self.spots.len()];
        for key in keys.clone() {
            for number in session.files.mattering(key) {
                for &at in self.numbered.get(&number).into_iter().flatten() {
                    matters[at as usize] = true;
                }
            }
        }
        for &at in &self.others {
            matters[at as usize] = match &self.spots[at as usize] {
                Spot::File(path, format) => {
                    let mut keys = keys.clone();
                    keys.any(|key| session.files.may_hold(path, key, *format))
                }
                Spot::Unseen | Spot::Open(_) | Spot::Options(_) | Spot::Refused(_) => true,
            };
        }
        matters
    }
}

type CacheKey = (u64, Layer, Option<Arc<str>>);

#[derive(Debug)]
struct Entry {
    shape: u64,
    environment: Environment,
    config: Option<Arc<Result<Config, ConfigError>>>,
    /// Whether options count, and whether modules may be missing, decide over views too.
    decrypts: bool,
    strict: String,
    views: Arc<LayerViews>,
}

/// Views made before.
#[derive(Debug, Default)]
pub(super) struct ViewCache {
    entries: Mutex<Map<CacheKey, Entry>>,
}

impl Session<'_> {
    /// How all nodes see a layer, worked out now or before. O(nodes × locations) the first time.
    pub(super) fn views(&self, nodes: &KnownNodes, layer: &Layer) -> Arc<LayerViews> {
        let Some(shape) = self.files.shape() else {
            return Arc::new(build(self, nodes, layer));
        };
        let invocation = Invocation::default();
        let mut engine = Engine::new(*self, crate::scope::Scope::open());
        let provider = engine.provider(layer, &invocation).ok().flatten();
        let config = provider.map(|provider| provider.config.clone());
        let decrypts = self.settings.keys.is_some();
        let settings = &self.settings;
        let strict = format!("{:?} {:?}", settings.puppet_version, settings.strict);
        let key = (nodes.id(), layer.clone(), self.environment.dir.clone());
        let entries = &self.configs.views.entries;
        let lock = || entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = lock().get(&key)
            && entry.shape == shape
            && entry.environment == *self.environment
            && entry.decrypts == decrypts
            && entry.strict == strict
            && is_same(entry.config.as_ref(), config.as_ref())
        {
            return entry.views.clone();
        }
        let views = Arc::new(build(self, nodes, layer));
        let entry = Entry {
            shape,
            environment: self.environment.clone(),
            config,
            decrypts,
            strict,
            views: views.clone(),
        };
        let mut entries = lock();
        if entries.len() >= MOST_KEPT {
            entries.clear();
        }
        entries.insert(key, entry);
        views
    }
}

/// Whether two configurations are one, by identity: the cache of configurations gives the same
/// one as long as the text is the same.
pub(super) fn is_same(
    one: Option<&Arc<Result<Config, ConfigError>>>,
    other: Option<&Arc<Result<Config, ConfigError>>>,
) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn build(session: &Session<'_>, nodes: &KnownNodes, layer: &Layer) -> LayerViews {
    let mut views = LayerViews {
        of: Vec::with_capacity(nodes.len()),
        ..LayerViews::default()
    };
    let mut spots: Map<Spot, u32> = Map::new();
    let mut known: Map<View, u32> = Map::new();
    for member in 0..nodes.len() {
        let seen = match seen(session, nodes, member, layer) {
            Ok(seen) => seen,
            Err(Failure::NotFound) => Vec::new(),
            Err(Failure::Error(error)) => vec![(0, Spot::Refused(error.message))],
        };
        let view: View = seen
            .into_iter()
            .map(|(level, spot)| {
                let next = views.spots.len() as u32;
                let number = *spots.entry(spot.clone()).or_insert(next);
                if number == next {
                    views.spots.push(spot);
                }
                (level, number)
            })
            .collect();
        let next = views.views.len() as u32;
        let number = match known.get(&view) {
            Some(number) => *number,
            None => {
                views.views.push(view.clone());
                known.insert(view, next);
                next
            }
        };
        views.of.push(number);
    }
    views.number(session);
    views
}

/// The places of a layer for one node, level by level.
fn seen(
    session: &Session<'_>,
    nodes: &KnownNodes,
    member: usize,
    layer: &Layer,
) -> Found<Vec<(u32, Spot)>> {
    let mut engine = Engine::new(*session, nodes.scope(member));
    let invocation = Invocation::default();
    let Some(provider) = engine.provider(layer, &invocation)? else {
        return Ok(Vec::new());
    };
    let all = engine.levels(&provider, &invocation)?;
    let mut seen = Vec::new();
    let levels: Vec<&Rc<LevelProvider>> = all
        .hierarchy
        .iter()
        .chain(all.default_hierarchy.iter())
        .collect();
    for (at, level) in levels.into_iter().enumerate() {
        add(session, at as u32, level, &mut seen);
    }
    Ok(seen)
}

fn add(session: &Session<'_>, at: u32, level: &LevelProvider, seen: &mut Vec<(u32, Spot)>) {
    let format = format_of(&level.function);
    if format.is_some() && session.settings.keys.is_some() {
        seen.push((at, Spot::Options(level.options.clone())));
    }
    for location in level.locations.iter().flat_map(|all| all.iter()) {
        let spot = match (&location.open, format) {
            (Some(_), _) => Spot::Open(location.place.clone()),
            (None, Some(format)) if location.exists && !location.is_uri => {
                Spot::File(location.place.clone(), format)
            }
            (None, _) if location.exists => Spot::Unseen,
            (None, _) if level.function.kind == FunctionKind::Hiera3Backend => Spot::Unseen,
            (None, _) => continue,
        };
        seen.push((at, spot));
    }
}
