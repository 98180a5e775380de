//! One scope in a root: the locations and options that apply there.

use std::rc::Rc;
use std::sync::Arc;

use super::RootView;
use super::condition::{Condition, conditions};
use crate::hierarchy::{Layer, TemplatePart};
use crate::interpolation::Key;
use crate::lookup::{
    Answer, LookupError, LookupOptions, OptionsEntry, Place, Request, ScopeCache, ScopeLookups,
    Unknown,
};
use crate::scope::Scope;
use crate::value::Value;
use crate::workspace::{File, OptionFact, Snapshot};

/// The entry of `lookup_options` that applies to a key.
pub struct DecidingOptions {
    /// The entry.
    pub entry: OptionsEntry,
    /// The highest file that has it, and the line, from 1.
    pub place: Option<(Arc<str>, u32)>,
}

/// One scope in a root: lookups there, with the locations and options read so far.
pub struct ScopeView<'v> {
    pub(super) view: &'v RootView<'v>,
    lookups: ScopeLookups<'v>,
    found: FoundInScope,
}

/// What is known about one scope in a root, for [`RootView::resume`].
#[derive(Default)]
pub struct KnownOfScope {
    lookups: ScopeCache,
    found: FoundInScope,
}

#[derive(Default)]
struct FoundInScope {
    places: Vec<PlacesOfLayer>,
    /// The options for keys, by module; `None` if Puppet refuses them.
    options: Vec<OptionsOfModule>,
}

struct PlacesOfLayer {
    layer: Layer,
    places: Rc<[Place]>,
    /// Whether one lies outside of the workspace.
    some_outside: bool,
}

/// A module (or none), and the options for its keys.
type OptionsOfModule = (Option<Arc<str>>, Option<Arc<LookupOptions>>);

/// The layers in which a key is looked up, in order.
#[must_use]
pub fn layers_of(key: &str) -> Vec<Layer> {
    let mut layers = vec![Layer::Global, Layer::Environment];
    let parsed = Key::parse(key).ok();
    let module = parsed.and_then(|key| key.module_name().map(Arc::from));
    layers.extend(module.map(Layer::Module));
    layers
}

impl RootView<'_> {
    /// One scope in this root.
    #[must_use]
    pub fn in_scope(&self, scope: &Scope) -> ScopeView<'_> {
        self.resume(scope, KnownOfScope::default())
    }

    /// One scope in this root, with what is known about it.
    #[must_use]
    pub fn resume(&self, scope: &Scope, known: KnownOfScope) -> ScopeView<'_> {
        ScopeView {
            view: self,
            lookups: ScopeLookups::resume(self.session(), scope.clone(), known.lookups),
            found: known.found,
        }
    }
}

impl ScopeView<'_> {
    /// What is known about the scope now.
    #[must_use]
    pub fn into_known(self) -> KnownOfScope {
        KnownOfScope {
            lookups: self.lookups.into_cache(),
            found: self.found,
        }
    }

    /// Like [`crate::lookup::Session::lookup`], in this scope.
    #[must_use]
    pub fn lookup(&mut self, request: &Request) -> Answer {
        self.lookups.lookup(request)
    }

    /// The result of [`ScopeView::lookup`] alone, which costs less.
    ///
    /// # Errors
    /// Puppet's error.
    pub fn value(&mut self, request: &Request) -> Result<Value, LookupError> {
        self.lookups.value(request)
    }

    /// All locations of a layer in this scope; empty if Puppet refuses its configuration.
    pub fn places(&mut self, layer: &Layer) -> Rc<[Place]> {
        Rc::clone(&self.places_of(layer).places)
    }

    /// Whether a location of a layer in this scope is outside of the workspace.
    pub(super) fn has_outside(&mut self, layer: &Layer) -> bool {
        self.places_of(layer).some_outside
    }

    fn places_of(&mut self, layer: &Layer) -> &PlacesOfLayer {
        let known = &mut self.found.places;
        let at = known.iter().position(|known| known.layer == *layer);
        let at = at.unwrap_or_else(|| {
            let places = self.lookups.places(layer).unwrap_or_default();
            let mut templates = places.iter().map(|place| &place.template);
            known.push(PlacesOfLayer {
                layer: layer.clone(),
                some_outside: templates.any(|it| self.view.analysis.is_outside(it)),
                places: places.into(),
            });
            known.len() - 1
        });
        &known[at]
    }

    /// The entry of `lookup_options` that applies to a top-level key.
    pub fn options_entry(&mut self, key: &str) -> Option<OptionsEntry> {
        let layers = layers_of(key);
        let module = layers.iter().find_map(Layer::module_name).map(Arc::from);
        let mut known = self.found.options.iter();
        let known = known.find(|(name, _)| *name == module);
        let options = match known {
            Some((_, options)) => options.clone(),
            None => {
                let options = self.lookups.lookup_options(module.as_deref()).ok();
                self.found.options.push((module, options.clone()));
                options
            }
        };
        options?.entry(key)
    }

    /// The entry that applies to a top-level key, and its place. O(levels).
    pub fn options_of(&mut self, key: &str) -> Option<DecidingOptions> {
        let entry = self.options_entry(key)?;
        let snapshot = self.view.analysis.snapshot;
        let mut place = None;
        for layer in layers_of(key) {
            let places = self.places(&layer);
            let mut found = places
                .iter()
                .filter_map(|place| options_line(snapshot, place, &entry.name));
            place = place.or_else(|| found.next());
        }
        Some(DecidingOptions { entry, place })
    }

    /// The conditions under which the unknown parts of an answer change it for a node.
    pub fn conditions(&mut self, unknown: &[Unknown]) -> Vec<Condition> {
        for one in unknown {
            self.places(&one.layer);
        }
        let places = self.found.places.iter();
        let places: Vec<&Place> = places.flat_map(|known| &*known.places).collect();
        conditions(self.view.analysis.snapshot, unknown, &places)
    }
}

/// A place's path, if it is one fixed text.
fn single_text(place: &Place) -> Option<&str> {
    match place.template.parts.as_slice() {
        [TemplatePart::Text(path)] => Some(path),
        _ => None,
    }
}

/// The line (from 1) of an entry of `lookup_options` in the file of a place.
pub(super) fn options_line(
    snapshot: &Snapshot,
    place: &Place,
    entry: &str,
) -> Option<(Arc<str>, u32)> {
    let file = snapshot.file(single_text(place)?)?;
    let fact = option_fact(file, entry)?;
    let line = file.line(fact.key.start as usize) + 1;
    Some((file.path().clone(), line))
}

/// The entry of that name in a file's `lookup_options`; the last one counts.
#[must_use]
pub fn option_fact<'f>(file: &'f File, entry: &str) -> Option<&'f OptionFact> {
    let mut entries = file.facts().lookup_options.iter().rev();
    entries.find(|fact| &*fact.pattern == entry)
}
