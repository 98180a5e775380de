//! Finds the nodes that certainly or possibly read a file.

use std::rc::Rc;
use std::sync::Arc;

use super::{Inclusions, Reaches};
use crate::analysis::members::Members;
use crate::hierarchy::Layer;
use crate::lookup::{LayerReaders, Place, Reach, reach};

impl<'v> Inclusions<'v, '_> {
    /// What nodes read of a layer, once for the layer.
    fn layer_readers(&self, layer: &Layer) -> Rc<LayerReaders<'v>> {
        if let Some(known) = self.layer_readers.borrow().get(layer) {
            return Rc::clone(known);
        }
        let found = Rc::new(LayerReaders::of(self.view.session(), self.known, layer));
        let mut known = self.layer_readers.borrow_mut();
        known.insert(layer.clone(), Rc::clone(&found));
        found
    }

    /// The locations that read a file, over the layers of all keys.
    pub(super) fn reaches(&self, path: &str) -> Reaches {
        if let Some(known) = self.lookups.borrow().reaches.get(path) {
            return Arc::clone(known);
        }
        let layers = [Layer::Global, Layer::Environment].into_iter();
        let reaches = layers.flat_map(|layer| {
            let found = reach(&self.view.places(&layer), path, self.view.files());
            found.into_iter().map(move |reach| (layer.clone(), reach))
        });
        let found: Reaches = reaches.collect();
        let known = &mut self.lookups.borrow_mut().reaches;
        known.insert(Box::from(path), Arc::clone(&found));
        found
    }

    /// The members that certainly read a file.
    pub(super) fn readers(&self, path: &str) -> Members {
        let reaches = self.reaches(path);
        let is_plain = |(_, reach): &(Layer, Reach)| {
            let Place {
                mapped,
                reading,
                template,
                in_default_hierarchy,
                ..
            } = &reach.place;
            mapped.is_none()
                && reading.is_some()
                && !in_default_hierarchy
                && !template.depends_on_key()
        };
        if reaches.is_empty() || !reaches.iter().all(is_plain) {
            return Members::default();
        }
        let mut found = Members::default();
        for (layer, reach) in reaches.iter() {
            for member in self.layer_readers(layer).certain(path) {
                found.insert(member);
            }
            found.add(&self.groups_that_read(reach, path));
        }
        found
    }

    /// The groups that certainly read a file at a location: all, those with the values in its path,
    /// and the readers of the file itself.
    fn groups_that_read(&self, reach: &Reach, path: &str) -> Members {
        let own = |at: usize| self.known.len() + at;
        if reach.place.template.is_constant() {
            return (0..self.groups.len()).map(own).collect();
        }
        let readers = self.reading.get(path).copied();
        let Some((name, value)) = reach.bindings.first() else {
            return readers.into_iter().map(own).collect();
        };
        let key = (Arc::clone(name), Arc::from(value.as_str()));
        let groups = self.by_value.get(&key).into_iter().flatten().copied();
        let reading = groups.filter(|at| {
            let mut bindings = reach.bindings.iter();
            bindings.all(|(name, value)| self.groups[*at].value(name) == Some(value))
        });
        reading.chain(readers).map(own).collect()
    }

    /// The members for which a file certainly is the highest one with a key.
    pub(super) fn readers_of_highest(&self, key: &str, path: &str) -> Members {
        let mut found = self.readers(path);
        let Some(&own) = self.places_of(path).last() else {
            return Members::default();
        };
        for other in self.analysis().snapshot.iter_files_with(key) {
            let other = other.path();
            let is_above = self.places_of(other).first().is_some_and(|at| *at <= own);
            if **other == *path || !is_above {
                continue;
            }
            for layer in [Layer::Global, Layer::Environment] {
                found = found.without(&self.possible_readers(&layer, other));
            }
        }
        found
    }

    /// The positions of the locations that read a file, the highest first.
    fn places_of(&self, path: &str) -> Vec<(usize, usize)> {
        let layers = [Layer::Global, Layer::Environment].into_iter().enumerate();
        let found = layers.flat_map(|(at, layer)| {
            let places = self.view.places(&layer);
            let files = self.view.files();
            let reading = places.iter().enumerate();
            let reading = reading.filter(|(_, place)| place.reads(path, files));
            let found: Vec<_> = reading.map(|(place, _)| (at, place)).collect();
            found
        });
        found.collect()
    }

    /// The members that may read a file in a layer.
    pub(super) fn possible_readers(&self, layer: &Layer, path: &str) -> Members {
        let known = self.layer_readers(layer).possible(path);
        let reaches = self.reaches(path);
        let reaches = reaches.iter().filter(|(of, _)| of == layer);
        let reaches: Vec<&Reach> = reaches.map(|(_, reach)| reach).collect();
        let groups = self.groups.iter().enumerate().filter(|(_, group)| {
            let may_be = |reach: &Reach| {
                let mut bindings = reach.bindings.iter();
                bindings.all(|(name, value)| group.value(name).is_none_or(|it| it == value))
            };
            reaches.is_empty() || reaches.iter().any(|reach| may_be(reach))
        });
        let groups = groups.map(|(at, _)| self.known.len() + at);
        known.into_iter().chain(groups).collect()
    }
}
