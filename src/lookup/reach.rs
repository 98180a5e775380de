//! The levels that read a file, and the variables' values in its path.

use std::rc::Rc;
use std::sync::Arc;

use super::backend::{Reading, declared_reading, own_reading};
use super::engine::{Engine, Invocation};
use super::error::LookupError;
use super::level::LevelProvider;
use super::session::Session;
use super::walk::Provider;
use crate::hierarchy::{Config, ConfigBody, Function, Layer, Locations, Template, TemplatePart};
use crate::interpolation::TokenKind;
use crate::scope::Scope;
use crate::workspace::{Files, Format, path};

/// One location of a hierarchy, as far as it is the same for every node.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The layer.
    pub layer: Layer,
    /// Whether the level is part of the module's `default_hierarchy`.
    pub in_default_hierarchy: bool,
    /// Name of the level.
    pub level: Arc<str>,
    /// Index of the level in its hierarchy.
    pub index: usize,
    /// Index of the location in the level.
    pub location: usize,
    /// The function that reads it.
    pub function: Function,
    /// How it reads the file, if known.
    pub reading: Option<Reading>,
    /// As written in the configuration.
    pub original: Arc<str>,
    /// Whether a glob matched the file, so that the hierarchy does not name it.
    pub by_glob: bool,
    /// The absolute path, with its unknown variables.
    pub template: Template,
    /// The path that must exist for a declared function to be called, if it is a different one.
    pub location_path: Option<Template>,
    /// For an unknown list of `mapped_paths`: the template's variable for the list. The path
    /// contains one element of it, not the whole value.
    pub mapped: Option<Arc<str>>,
}

/// The paths by which a level may name a file for a function that is never run, besides the file's
/// own: without a data extension, or a folder around it.
pub fn paths_for_functions(at: &str) -> impl Iterator<Item = &str> {
    let stem = at.rsplit_once('.').map(|(stem, _)| stem);
    let stem = stem.filter(|_| path::is_called_data(at));
    let folders = std::iter::successors(path::parent(at), |folder| path::parent(folder));
    stem.into_iter().chain(folders)
}

/// A file read by a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Reach {
    /// The location that reads the file.
    pub place: Place,
    /// The variables' values in the file's path: dotted path and value. Empty if the path has no
    /// variable, or if it can be read in two ways.
    pub bindings: Vec<(Arc<str>, String)>,
}

impl Place {
    /// Its rank among the places of its layer: the smallest is looked at first.
    #[must_use]
    pub fn rank(&self) -> (bool, usize, usize) {
        (self.in_default_hierarchy, self.index, self.location)
    }

    /// The format in which it reads the file, if known.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        self.reading.map(Reading::format)
    }

    /// Whether the place can match a path. For a function that is never run, names with folders in
    /// them prove nothing.
    #[must_use]
    pub fn fits(&self, path: &str) -> bool {
        self.template.matches(path) || self.reading.is_some() && self.template.may_match(path)
    }

    /// Whether the place can match a path as one of a hierarchy's places: a variable may stand for
    /// several folders, or for nothing, only if no other place is a likelier match.
    #[must_use]
    pub fn fits_among(&self, places: &[Place], path: &str) -> bool {
        let is_likelier = |other: &Place| other.template.is_likelier(&self.template, path);
        self.template.matches(path) || self.fits(path) && !places.iter().any(is_likelier)
    }

    /// Whether the level reads the file at a path, for some node and some key.
    #[must_use]
    pub fn reads(&self, path: &str, files: &dyn Files) -> bool {
        if !self.fits(path) {
            return false;
        }
        let location = self.location_path.as_ref();
        let location = location.and_then(|location| {
            let bound = self.template.bind(path)?;
            location.with_values(&bound)
        });
        location.is_none_or(|at| files.kind(&at).is_some())
    }

    /// The place for one key, if its path depends on the key; `None` for a key that is not looked
    /// up there.
    #[must_use]
    pub fn for_key(&self, key: &str) -> Option<Place> {
        Some(Place {
            template: self.template.with_key(key)?,
            ..self.clone()
        })
    }
}

impl Reach {
    /// Whether the file's path can be read in two ways, so that its variables are unknown.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        self.bindings.is_empty() && !self.place.template.is_constant()
    }

    /// A template with the values of the variables in the file's path. A variable of `mapped_paths`
    /// has several values.
    #[must_use]
    pub fn bound(&self, template: &Template) -> Template {
        match self.place.mapped {
            Some(_) => template.with(&[]),
            None => template.with(&self.bindings),
        }
    }

    /// The path at a place that every node which reads the file reads too. `None` if it depends on
    /// other variables, and for functions that are never run.
    #[must_use]
    pub fn always(&self, place: &Place) -> Option<String> {
        place.reading?;
        let bound = self.bound(&place.template);
        bound.with_values(&[]).map(|path| path::normalise(&path))
    }

    /// The scope of every node that reads the file, from its path.
    #[must_use]
    pub fn scope(&self) -> Scope {
        let mut scope = Scope::open();
        for (path, value) in &self.bindings {
            scope.bind(path, value);
        }
        scope
    }

    /// The scopes of several, without duplicates.
    #[must_use]
    pub fn scopes(reaches: &[Reach]) -> Vec<Scope> {
        let mut scopes: Vec<Scope> = Vec::new();
        for scope in reaches.iter().map(Reach::scope) {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        scopes
    }
}

impl Session<'_> {
    /// All locations of a layer's hierarchy, for any node.
    ///
    /// # Errors
    /// Puppet's error for the configuration; then nothing is read.
    pub fn places(&self, layer: &Layer) -> Result<Vec<Place>, LookupError> {
        self.places_in(layer, &Scope::open())
    }

    /// All locations of a layer's hierarchy in a scope: known variables are replaced in their
    /// templates.
    ///
    /// # Errors
    /// Puppet's error for the configuration; then nothing is read.
    pub fn places_in(&self, layer: &Layer, scope: &Scope) -> Result<Vec<Place>, LookupError> {
        self.compilation(scope).places(layer)
    }
}

/// The entries of `places` that read the file at `path`, highest priority first. A path without
/// variables and wildcards owns its file, and so does one that names folders where another has
/// variables: a variable with that value would be a coincidence. A variable may stand for several
/// folders, or for nothing, only if no place reads the file otherwise. O(places)
#[must_use]
pub fn reading_places<'p>(places: &'p [Place], path: &str, files: &dyn Files) -> Vec<&'p Place> {
    let is_owned = places.iter().any(|place| {
        !place.by_glob
            && matches!(&place.template.parts[..], [TemplatePart::Text(text)] if text == path)
    });
    let mut found: Vec<&Place> = places
        .iter()
        .filter(|place| !is_owned || place.template.is_constant())
        .filter(|place| place.template.matches(path) && place.reads(path, files))
        .collect();
    if found.len() > 1 {
        let all = found.clone();
        found.retain(|place| {
            let mut others = all.iter();
            !others.any(|other| names_folders(&other.template, &place.template))
        });
    }
    if found.is_empty() {
        let across = places.iter();
        found.extend(
            across.filter(|place| place.fits_among(places, path) && place.reads(path, files)),
        );
    }
    found
}

/// [`reading_places`], with the values of their variables.
#[must_use]
pub fn reach(places: &[Place], path: &str, files: &dyn Files) -> Vec<Reach> {
    let reading = reading_places(places, path, files).into_iter();
    let reached = reading.map(|place| Reach {
        bindings: place.template.bind_across_folders(path).unwrap_or_default(),
        place: place.clone(),
    });
    reached.collect()
}

/// Whether a path equals another one except for whole names where the other has variables.
fn names_folders(one: &Template, other: &Template) -> bool {
    let (own, others) = (segments(one), segments(other));
    let is_name = |(own, other): (&Vec<TemplatePart>, &Vec<TemplatePart>)| {
        matches!(own[..], [TemplatePart::Text(_)])
            && matches!(other[..], [TemplatePart::Variable(_)])
    };
    let mut pairs = own.iter().zip(&others).filter(|(own, other)| own != other);
    let first = pairs.next();
    own.len() == others.len() && first.is_some_and(is_name) && pairs.all(is_name)
}

/// The path segments with the template parts of each.
fn segments(template: &Template) -> Vec<Vec<TemplatePart>> {
    let (mut segments, mut last) = (Vec::new(), Vec::new());
    for part in &template.parts {
        let TemplatePart::Text(text) = part else {
            last.push(part.clone());
            continue;
        };
        for (at, name) in text.split('/').enumerate() {
            if at > 0 {
                segments.push(std::mem::take(&mut last));
            }
            if !name.is_empty() {
                last.push(TemplatePart::Text(name.into()));
            }
        }
    }
    segments.push(last);
    segments
}

impl Engine<'_> {
    /// The provider of a layer, if it has one.
    pub(super) fn provider(&mut self, layer: &Layer) -> super::error::Found<Option<Rc<Provider>>> {
        match layer {
            Layer::Global => self.global_provider().map(Some),
            Layer::Environment => self.environment_provider(),
            Layer::Module(name) => self.module_provider(name),
        }
    }

    pub(super) fn functions(&mut self, layer: &Layer) -> super::error::Found<Vec<Function>> {
        let Some(provider) = self.provider(layer)? else {
            return Ok(Vec::new());
        };
        let levels = self.levels(&provider, &Invocation::default())?;
        let functions = levels.all().map(|level| level.function.clone());
        Ok(functions.collect())
    }

    pub(super) fn places(
        &mut self,
        layer: &Layer,
        invocation: &Invocation,
    ) -> super::error::Found<Vec<Place>> {
        let Some(provider) = self.provider(layer)? else {
            return Ok(Vec::new());
        };
        let levels = self.levels(&provider, invocation)?;
        let mut places = Vec::new();
        for (at, level) in levels.all().enumerate() {
            let in_default_hierarchy = at >= levels.hierarchy.len();
            add_places(layer, level, in_default_hierarchy, &mut places);
        }
        if let Some(config) = provider.config() {
            let is_of_plans = self.session.environment.is_of_plans;
            for place in &mut places {
                place.mapped = mapped_variable(config, is_of_plans, place);
            }
        }
        Ok(places)
    }
}

/// The variable of a place's template that `mapped_paths` maps: the one that the configuration's
/// own template doesn't contain.
fn mapped_variable(config: &Config, is_of_plans: bool, place: &Place) -> Option<Arc<str>> {
    let ConfigBody::V5 {
        default_hierarchy, ..
    } = &config.body
    else {
        return None;
    };
    let levels = if place.in_default_hierarchy {
        default_hierarchy.as_deref()
    } else {
        config.body.hierarchy(is_of_plans)
    };
    let Locations::Mapped { template, .. } = &levels?.get(place.index)?.locations else {
        return None;
    };
    let is_written = |variable: &str| {
        template.tokens.iter().any(|token| {
            matches!(token.kind, TokenKind::Variable { .. })
                && token.inner.slice(&template.text) == variable
        })
    };
    let mut variables = place.template.variables();
    variables.find(|variable| !is_written(variable)).cloned()
}

fn add_places(
    layer: &Layer,
    level: &LevelProvider,
    in_default_hierarchy: bool,
    places: &mut Vec<Place>,
) {
    let declared = level.declared.as_ref();
    let reading = match declared {
        Some(declared) => declared_reading(declared.backend.like),
        None => own_reading(&level.function),
    };
    let place = |original: &Arc<str>, template: Template| Place {
        layer: layer.clone(),
        in_default_hierarchy,
        level: level.name.clone(),
        index: level.index,
        location: 0,
        function: level.function.clone(),
        reading,
        original: original.clone(),
        by_glob: false,
        template,
        location_path: None,
        mapped: None,
    };
    let paths = declared.map_or(&[][..], |declared| &declared.backend.path);
    if let (None, Some(declared)) = (&level.locations, declared) {
        for path in paths.iter().filter(|path| !path.needs_level_path()) {
            let template = path.template(&Template::default(), &declared.datadir);
            places.push(place(path.text(), template));
        }
    }
    let locations = level.all_locations().iter().enumerate();
    for (at, location) in locations.filter(|(_, at)| !at.is_uri) {
        let template = location.template();
        let original = location.glob.as_ref().unwrap_or(&location.original);
        let own = Place {
            location: at,
            by_glob: location.glob.is_some(),
            ..place(original, template.clone())
        };
        match declared {
            Some(declared) if !paths.is_empty() => {
                places.extend(paths.iter().map(|path| Place {
                    template: path.template(&template, &declared.datadir),
                    location_path: Some(template.clone()),
                    ..own.clone()
                }));
            }
            Some(_) | None => places.push(own),
        }
    }
}
