//! The data that lookups in a root can read for some node: its files and their keys.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::RootView;
use crate::hierarchy::Layer;
use crate::interpolation::Key;
use crate::lookup::{LayerReaders, Place};
use crate::workspace::{LOOKUP_OPTIONS, Snapshot};

/// All keys that lookups in a root can find, in byte order: from every file that a level of the
/// global layer, the environment or a module reads for some node. O(files × locations).
#[must_use]
pub fn all_keys(view: &RootView<'_>) -> Vec<Arc<str>> {
    let readable = Readable::new(view);
    let mut keys = BTreeSet::new();
    for (layer, places) in &readable.layers {
        for file in view.analysis.snapshot.files() {
            if file.facts().keys.is_empty() || !is_read(places, file.path()) {
                continue;
            }
            let names = file.facts().sorted().map(|fact| &fact.name);
            let names = names.filter(|name| &***name != LOOKUP_OPTIONS && answers(layer, name));
            keys.extend(names.map(written));
        }
    }
    keys.into_iter().collect()
}

/// The same for several roots together.
#[must_use]
pub fn keys_of_all<'v, 'a: 'v>(views: impl IntoIterator<Item = &'v RootView<'a>>) -> Vec<Arc<str>> {
    let keys: BTreeSet<Arc<str>> = views.into_iter().flat_map(all_keys).collect();
    keys.into_iter().collect()
}

/// The data that lookups in a root can read for some node.
pub struct Readable<'a> {
    snapshot: &'a Snapshot,
    layers: Vec<(Layer, Arc<[Place]>)>,
}

impl<'a> Readable<'a> {
    /// The data of all layers of a root.
    #[must_use]
    pub fn new(view: &RootView<'a>) -> Readable<'a> {
        let session = view.session();
        let mut layers = vec![Layer::Global, Layer::Environment];
        let modules = view.environment.modules.iter();
        layers.extend(modules.map(|(name, _)| Layer::Module(name.clone())));
        let own = &view.layer;
        if !layers.contains(own) {
            layers.push(own.clone());
        }
        let layers = layers.into_iter();
        let layers = layers.map(|layer| (layer.clone(), session.known_places(&layer)));
        Readable {
            snapshot: view.analysis.snapshot,
            layers: layers.collect(),
        }
    }

    /// Whether a file that is read has a top-level key. At most O(files with the key × locations).
    #[must_use]
    pub fn holds(&self, key: &str) -> bool {
        let layers = self.layers.iter();
        let mut layers = layers.filter(|(layer, _)| answers(layer, key));
        key != LOOKUP_OPTIONS
            && layers.any(|(_, places)| {
                let mut files = self.snapshot.iter_files_with(key);
                files.any(|file| is_read(places, file.path()))
            })
    }

    /// Whether a level may read a file.
    #[must_use]
    pub fn reads(&self, path: &str) -> bool {
        self.layers.iter().any(|(_, places)| is_read(places, path))
    }

    /// Indexes of the known nodes for which a level reads, or may read, a file.
    #[must_use]
    pub fn readers(&self, view: &RootView<'_>, path: &str) -> BTreeSet<usize> {
        let session = view.session();
        let layers = self.layers.iter();
        let layers = layers.filter(|(_, places)| is_read(places, path));
        let readers = layers.flat_map(|(layer, _)| {
            LayerReaders::of(session, view.analysis.nodes, layer).possible(path)
        });
        readers.collect()
    }
}

fn is_read(places: &[Place], path: &str) -> bool {
    places.iter().any(|place| place.fits(path))
}

/// Whether a layer is used for a key at all.
fn answers(layer: &Layer, key: &str) -> bool {
    match layer {
        Layer::Global | Layer::Environment => true,
        Layer::Module(module) => key
            .strip_prefix(&**module)
            .is_some_and(|rest| rest.starts_with("::")),
    }
}

/// The name of a top-level key in lookups: quoted if it contains dots.
#[must_use]
pub fn written(key: &Arc<str>) -> Arc<str> {
    let plain = Key::parse(key).is_ok_and(|parsed| parsed.segments.is_empty());
    match (plain, key.contains('\'')) {
        (true, _) => key.clone(),
        (false, false) => Arc::from(format!("'{key}'")),
        (false, true) => Arc::from(format!("\"{key}\"")),
    }
}
