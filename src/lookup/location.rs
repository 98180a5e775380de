//! Expands a level's locations for a scope (`location_resolver.rb`).

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "Ruby asks a value for one or two classes and treats all others alike"
)]

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use super::context::PuppetVersion;
use super::engine::{Engine, Invocation, Map};
use super::error::{ErrorClass, Found, LookupError, no_method, raise};
use super::interpolate::{Interpolated, InterpolatedPiece, Methods, TokenValue, opaque};
use super::level::{Location, OpenPath};
use crate::datatype::check_uri;
use crate::hierarchy::{
    Config, GlobEntry, Level, Locations, Template, TemplatePart, dirname, glob, join,
};
use crate::interpolation::{Token, TokenKind, tokens};
use crate::value::{Missing, Opaque, Value};
use crate::workspace::{FileKind, path as paths};

/// Maximum number of locations of one level; a larger glob or mapped list is an error.
const MAX_LOCATIONS: usize = 100_000;

/// Maximum number of paths that are kept.
const MAX_KNOWN_PATHS: usize = 100_000;

/// Maximum number of paths that are kept after a request: some 6 MB.
const MAX_KEPT_PATHS: usize = 20_000;

/// What is known of paths, shared by the compilations of a request over many nodes: most of a node's
/// paths are those of others, too.
#[derive(Clone, Default)]
pub(super) struct KnownPlaces(Rc<RefCell<PlacesByPath>>);

#[derive(Debug, Default)]
pub(super) struct PlacesByPath {
    /// The files that globs match.
    globs: Map<String, Vec<Arc<str>>>,
    /// By data directory and path.
    paths: Map<Box<str>, Map<Box<str>, PlaceOfPath>>,
    count: usize,
}

/// What is known of paths between two requests for the same files and configuration.
#[derive(Debug, Default)]
pub(super) struct KeptPlaces(Mutex<PlacesByPath>);

impl KeptPlaces {
    /// Runs a request with what is known, and keeps what it adds. A second one at the same time begins with nothing.
    pub(super) fn lend<R>(&self, request: impl FnOnce(&KnownPlaces) -> R) -> R {
        // What is lent is lost after a panic, and nothing else.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let places = KnownPlaces::of(std::mem::take(&mut *lock()));
        let result = request(&places);
        if let Some(known) = places.into_known() {
            *lock() = known;
        }
        result
    }
}

/// Where a path leads; `holes` are its unknown parts.
#[derive(Clone, Debug)]
struct PlaceOfPath {
    holes: Arc<[Hole]>,
    place: Arc<str>,
    exists: bool,
    is_absent: bool,
    open: Option<OpenPath>,
}

impl KnownPlaces {
    pub(super) fn of(known: PlacesByPath) -> KnownPlaces {
        KnownPlaces(Rc::new(RefCell::new(known)))
    }

    /// What is known now, if it is not too much to keep.
    pub(super) fn into_known(self) -> Option<PlacesByPath> {
        let known = Rc::into_inner(self.0)?.into_inner();
        (known.count + known.globs.len() <= MAX_KEPT_PATHS).then_some(known)
    }

    fn get(&self, datadir: &PathText, path: &PathText) -> Option<PlaceOfPath> {
        let places = self.0.borrow();
        let found = places.paths.get(&*datadir.text)?.get(&*path.text)?;
        (*found.holes == *path.holes).then(|| found.clone())
    }

    fn add(&self, datadir: &PathText, path: PathText, found: &PlaceOfPath) {
        let mut places = self.0.borrow_mut();
        if places.count < MAX_KNOWN_PATHS {
            places.count += 1;
            let of_datadir = match places.paths.get_mut(&*datadir.text) {
                Some(known) => known,
                None => places.paths.entry(Box::from(&*datadir.text)).or_default(),
            };
            of_datadir.insert(path.text.into_boxed_str(), found.clone());
        }
    }
}

/// The texts of variables in the paths of levels, for one scope, by their dotted names. The same few
/// are in many paths.
#[derive(Default)]
pub(super) struct PathVariables(Map<Box<str>, PathVariable>);

struct PathVariable {
    /// `None` if it is unknown.
    text: Option<Box<str>>,
    /// The unknown variable, if its value or a part of it is; `None` for one without a name.
    unknown: Option<Arc<str>>,
    /// Whether undefined variables were only warned of.
    is_lenient: bool,
}

impl PathVariables {
    /// A variable whose text is known. One that is empty may be undefined: nothing follows from it
    /// where undefined variables are treated otherwise.
    fn get(&self, name: &str, is_lenient: bool) -> Option<&PathVariable> {
        let found = self.0.get(name)?;
        let is_empty = found.text.as_deref() == Some("");
        (!is_empty || found.is_lenient == is_lenient).then_some(found)
    }
}

/// The token of an unknown part of a path, with the variable that it names.
type Hole = (Arc<str>, Arc<str>);

/// A path, or a part of one, for one scope.
pub(super) struct PathText {
    /// The path; unknown parts are tokens as written.
    text: String,
    /// The unknown parts, in order.
    holes: Vec<Hole>,
}

impl PathText {
    pub(super) fn known(text: String) -> PathText {
        PathText {
            text,
            holes: Vec::new(),
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it starts with a `/`, or with an unknown part that may.
    pub(super) fn may_be_absolute(&self) -> bool {
        let mut holes = self.holes.iter();
        self.text.starts_with('/') || holes.any(|(token, _)| self.text.starts_with(&**token))
    }

    /// The same path below a folder, if it is relative.
    pub(super) fn below(self, folder: &str) -> PathText {
        PathText {
            text: join(folder, &self.text),
            holes: self.holes,
        }
    }
}

impl Engine<'_> {
    /// The locations of a version 5 level; `None` if it has no location at all.
    pub(super) fn expand_locations(
        &mut self,
        config: &Config,
        level: &Level,
        invocation: &Invocation,
        methods: &Methods,
    ) -> Found<Option<Arc<[Location]>>> {
        let datadir = join(&config.root, &level.datadir);
        let datadir = self.path_text((&datadir, &tokens(&datadir)), invocation, methods)?;
        let datadir = PathText {
            text: self.session.files.resolve(&datadir.text).into_owned(),
            holes: datadir.holes,
        };
        // Puppet 8 tolerates undefined variables in locations, but not in the data directory.
        let is_lenient = self.settings().puppet_version >= PuppetVersion::V8;
        let lenient = std::mem::replace(&mut self.lenient, is_lenient);
        let locations = self.expand(config, level, &datadir, invocation, methods);
        self.lenient = lenient;
        let locations = locations?;
        if locations
            .as_ref()
            .is_some_and(|all| all.len() > MAX_LOCATIONS)
        {
            let message = format!(
                "level '{}' has more than {MAX_LOCATIONS} locations",
                level.name
            );
            return raise(ErrorClass::Limit, message);
        }
        Ok(locations.map(Arc::from))
    }

    fn expand(
        &mut self,
        config: &Config,
        level: &Level,
        datadir: &PathText,
        invocation: &Invocation,
        methods: &Methods,
    ) -> Found<Option<Vec<Location>>> {
        let mut found = Vec::new();
        match &level.locations {
            Locations::None => return Ok(None),
            Locations::Paths(paths) => {
                for original in paths {
                    let path = self.path_text(original.parts(), invocation, methods)?;
                    let location = self.locate(datadir, &original.text, path);
                    if location.exists || config.path.is_some() {
                        found.push(location);
                    }
                }
            }
            Locations::Globs(globs) => {
                for written in globs {
                    let pattern = self.path_text(written.parts(), invocation, methods)?;
                    self.expand_glob(datadir, &written.text, &pattern, &mut found)?;
                }
            }
            Locations::Uris(uris) => {
                for original in uris {
                    let uri = self.path_text(original.parts(), invocation, methods)?;
                    // An unknown part may stand for anything.
                    if uri.holes.is_empty()
                        && let Err(message) = check_uri(&uri.text)
                    {
                        return raise(ErrorClass::InvalidUri, message);
                    }
                    found.push(Location {
                        original: original.text.clone(),
                        place: Arc::from(uri.text),
                        is_uri: true,
                        exists: true,
                        ..Location::default()
                    });
                }
            }
            Locations::Mapped {
                variable,
                name,
                template,
            } => {
                let values = self.mapped_values(variable, invocation)?;
                for value in values {
                    let outer = self.scope.clone();
                    self.scope = outer.with_local(name, value);
                    let known = std::mem::take(&mut self.path_variables);
                    let path = self.path_text(template.parts(), invocation, methods);
                    self.path_variables = known;
                    self.scope = outer;
                    found.push(self.locate(datadir, &template.text, path?));
                }
            }
        }
        Ok(Some(found))
    }

    /// The elements that `mapped_paths` maps: none for nil and for empty values.
    fn mapped_values(&mut self, variable: &str, invocation: &Invocation) -> Found<Vec<Value>> {
        let refusal = || "Syntax error in string: mapped_path[0]".to_owned();
        let value = self.written_variable(variable, refusal, invocation)?;
        Ok(match &value {
            Value::Undef => Vec::new(),
            Value::String(text) if text.is_empty() => Vec::new(),
            Value::Opaque(_) | Value::String(_) => vec![value],
            Value::Array(elements) => elements.to_vec(),
            Value::Hash(hash) => hash
                .iter()
                .map(|(key, value)| Value::array([key.clone(), value.clone()]))
                .collect(),
            other => return no_method("empty?", other),
        })
    }

    /// Interpolates a path, keeping tokens whose value cannot be known.
    pub(super) fn path_text_of(
        &mut self,
        path: &str,
        invocation: &Invocation,
        methods: &Methods,
    ) -> Found<PathText> {
        self.path_text((path, &tokens(path)), invocation, methods)
    }

    fn path_text(
        &mut self,
        (path, tokens): (&str, &[Token]),
        invocation: &Invocation,
        methods: &Methods,
    ) -> Found<PathText> {
        let is_variable = |token: &Token| matches!(token.kind, TokenKind::Variable { .. });
        if self.in_levels && tokens.iter().all(is_variable) {
            return self.path_of_variables((path, tokens), invocation, methods);
        }
        let mut result = PathText {
            text: String::new(),
            holes: Vec::new(),
        };
        let pieces = match self.pieces((path, tokens), invocation, methods)? {
            Interpolated::Pieces(pieces) => pieces,
            Interpolated::Alias(value) => vec![InterpolatedPiece::Text(self.text_of(&value))],
        };
        for piece in pieces {
            match piece {
                InterpolatedPiece::Text(text) => result.text.push_str(&text),
                InterpolatedPiece::Unknown { token, because } => {
                    let variable = unknown_variable(because).unwrap_or_else(|| token.clone());
                    result.text.push_str(&token);
                    result.holes.push((token, variable));
                }
            }
        }
        Ok(result)
    }

    /// A path whose tokens are all variables, while levels are built.
    fn path_of_variables(
        &mut self,
        (path, tokens): (&str, &[Token]),
        invocation: &Invocation,
        methods: &Methods,
    ) -> Found<PathText> {
        let mut text = String::with_capacity(path.len() * 2);
        let mut holes = Vec::new();
        let mut at = 0;
        for token in tokens {
            text.push_str(&path[at..token.range.start as usize]);
            at = token.range.end as usize;
            let name = token.inner.slice(path);
            if self.path_variables.get(name, self.lenient).is_none() {
                let found = self.path_variable((path, token), invocation, methods)?;
                self.path_variables.0.insert(Box::from(name), found);
            }
            let found = &self.path_variables.0[name];
            match &found.text {
                Some(known) => text.push_str(known),
                None => {
                    let raw = token.range.slice(path);
                    let written: Arc<str> = Arc::from(raw);
                    let variable = found.unknown.clone().unwrap_or_else(|| written.clone());
                    text.push_str(raw);
                    holes.push((written, variable));
                }
            }
            self.budget.add_text(text.len())?;
        }
        text.push_str(&path[at..]);
        Ok(PathText { text, holes })
    }

    fn path_variable(
        &mut self,
        (path, token): (&str, &Token),
        invocation: &Invocation,
        methods: &Methods,
    ) -> Found<PathVariable> {
        let value = match self.token_value(token, path, invocation, methods)? {
            TokenValue::Value(value) => value,
            // Only other tokens have such values.
            TokenValue::Alias(_) | TokenValue::AsWritten => Value::Undef,
        };
        let because = opaque(&value);
        Ok(PathVariable {
            text: because
                .is_none()
                .then(|| self.text_of(&value).into_boxed_str()),
            unknown: because.and_then(unknown_variable),
            is_lenient: self.lenient,
        })
    }

    /// One path below a data directory.
    fn locate(&self, datadir: &PathText, original: &Arc<str>, path: PathText) -> Location {
        let is_shared = datadir.holes.is_empty();
        let known = is_shared.then(|| self.places.get(datadir, &path)).flatten();
        let found = known.unwrap_or_else(|| {
            let found = self.place_of(datadir, &path);
            if is_shared {
                self.places.add(datadir, path, &found);
            }
            found
        });
        Location {
            original: original.clone(),
            place: found.place,
            exists: found.exists,
            is_absent: found.is_absent,
            open: found.open,
            ..Location::default()
        }
    }

    fn place_of(&self, datadir: &PathText, path: &PathText) -> PlaceOfPath {
        let files = self.session.files;
        let joined = join(&datadir.text, &path.text);
        let joined = files.resolve(&joined).into_owned();
        let open = self.open_path_of(&joined, datadir, path);
        let exists = open.is_none() && files.kind(&joined).is_some();
        let folder = if path.text.starts_with('/') {
            dirname(&joined)
        } else {
            &datadir.text
        };
        PlaceOfPath {
            holes: path.holes.as_slice().into(),
            is_absent: !exists && open.is_none() && files.is_elsewhere(folder, &joined),
            exists,
            open,
            place: Arc::from(joined),
        }
    }

    /// The template of a path with unknown parts, in normal form up to the first of them: a folder before `..` must
    /// exist, as for the system.
    fn open_path_of(&self, joined: &str, datadir: &PathText, path: &PathText) -> Option<OpenPath> {
        let holes = datadir.holes.iter().chain(&path.holes);
        let tokens = holes.clone().filter_map(|(token, _)| joined.find(&**token));
        let known = joined.get(..tokens.min()?)?;
        let folder = known.rsplit_once('/').map_or("", |(folder, _)| folder);
        if folder.is_empty()
            || paths::is_normal(folder)
            || self.session.files.kind(folder) != Some(FileKind::Directory)
        {
            return open_path(joined, holes);
        }
        let normal = paths::normalise(folder);
        open_path(&format!("{normal}{}", &joined[folder.len()..]), holes)
    }

    fn expand_glob(
        &self,
        datadir: &PathText,
        written: &Arc<str>,
        pattern: &PathText,
        found: &mut Vec<Location>,
    ) -> Found<()> {
        let joined = join(&datadir.text, &pattern.text);
        let joined = self.session.files.resolve(&joined).into_owned();
        let shown: Arc<str> = Arc::from(joined.as_str());
        let of_glob = |place: Arc<str>| Location {
            original: shown.clone(),
            place,
            glob: Some(written.clone()),
            ..Location::default()
        };
        if let Some(open) = open_path(&joined, datadir.holes.iter().chain(&pattern.holes)) {
            // Any file that the pattern could match with some value: wildcards are unknown parts.
            let open = Some(OpenPath {
                template: Arc::new(Template::clone(&open.template).with_wildcards()),
                ..open
            });
            found.push(Location {
                open,
                ..of_glob(shown.clone())
            });
            return Ok(());
        }
        let datadir = &datadir.text;
        if self.session.files.is_elsewhere(datadir, datadir) {
            found.push(Location {
                is_absent: true,
                ..of_glob(shown.clone())
            });
            return Ok(());
        }
        let paths = self.glob(joined)?.into_iter();
        found.extend(paths.map(|path| Location {
            exists: true,
            ..of_glob(path)
        }));
        Ok(())
    }

    /// The files that a glob without unknown parts matches.
    fn glob(&self, pattern: String) -> Found<Vec<Arc<str>>> {
        if let Some(known) = self.places.0.borrow().globs.get(&pattern) {
            return Ok(known.clone());
        }
        let files = self.session.files;
        let list = |folder: &str| {
            let lost = files.lost_links(folder).into_iter();
            let mut names = files.list(folder);
            // A glob lists them like other files; reading one fails the lookup.
            names.extend(lost.map(|name| (name, FileKind::File)));
            names.sort();
            names
                .into_iter()
                .map(|(name, kind)| {
                    let is_folder = kind == FileKind::Directory;
                    let path = format!("{}/{name}", folder.trim_end_matches('/'));
                    GlobEntry {
                        name,
                        is_real_folder: is_folder && !files.is_link(&path),
                    }
                })
                .collect()
        };
        let is_file = |path: &str| match files.kind(path) {
            Some(kind) => kind != FileKind::Directory,
            None => files.is_link(path),
        };
        let paths = glob(&pattern, &list, &is_file).map_err(|limit| {
            LookupError::new(ErrorClass::Limit, format!("the glob '{pattern}' {limit}"))
        })?;
        let paths: Vec<Arc<str>> = paths.into_iter().map(Arc::from).collect();
        self.places
            .0
            .borrow_mut()
            .globs
            .insert(pattern, paths.clone());
        Ok(paths)
    }

    /// `resolve_paths` of versions 3 and 4: appends the extension if it is missing.
    pub(super) fn paths_with_extension(
        &mut self,
        datadir: PathText,
        paths: &[Arc<str>],
        extension: &str,
        invocation: &Invocation,
        methods: &Methods,
    ) -> Found<Vec<Location>> {
        let datadir = PathText {
            text: self.session.files.resolve(&datadir.text).into_owned(),
            holes: datadir.holes,
        };
        let mut found = Vec::with_capacity(paths.len());
        for original in paths {
            let text = (&**original, &*tokens(original));
            let mut path = self.path_text(text, invocation, methods)?;
            if !path.text.ends_with(extension) {
                path.text.push_str(extension);
            }
            found.push(self.locate(&datadir, original, path));
        }
        Ok(found)
    }
}

/// The variable that makes a value unknown, if it has a name.
fn unknown_variable(because: Opaque) -> Option<Arc<str>> {
    match because {
        Opaque::Unknown {
            because: Missing::Variable(name),
            ..
        } => Some(name),
        Opaque::Unknown { .. } | Opaque::Secret { .. } => None,
    }
}

/// The template of a path with unknown parts. Some of `holes` may no longer be in the path, such as a
/// folder that is followed by `..`.
fn open_path<'a>(
    path: &str,
    holes: impl Iterator<Item = &'a (Arc<str>, Arc<str>)> + Clone,
) -> Option<OpenPath> {
    let mut parts = Vec::new();
    let mut variables: Vec<Arc<str>> = Vec::new();
    let mut rest = path;
    let text = |text: &str| (!text.is_empty()).then(|| TemplatePart::Text(text.to_string()));
    let next = |rest: &str| {
        let mut tokens = rest.match_indices('%');
        tokens.find_map(|(at, _)| {
            let mut holes = holes.clone();
            let hole = holes.find(|(token, _)| rest[at..].starts_with(&**token));
            Some((at, hole?))
        })
    };
    while let Some((at, (token, variable))) = next(rest) {
        parts.extend(text(&rest[..at]));
        parts.push(TemplatePart::Variable(variable.clone()));
        if !variables.contains(variable) {
            variables.push(variable.clone());
        }
        rest = &rest[at + token.len()..];
    }
    if variables.is_empty() {
        return None;
    }
    parts.extend(text(rest));
    Some(OpenPath {
        template: Arc::new(Template { parts }),
        variables: variables.into(),
    })
}
