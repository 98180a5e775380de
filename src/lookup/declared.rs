//! Functions that the user declares: their results follow from the declaration, and the answer
//! mentions it. They are never run.

use std::sync::Arc;

use super::backend::{Reading, ValueOrigin, declared_reading};
use super::decryption::Sealed;
use super::engine::{Engine, Invocation};
use super::error::{Failure, Found};
use super::interpolate::Methods;
use super::level::{Declared, Location};
use super::request::{Assumed, UnknownCause};
use super::trace::{Remark, TraceEvent, TraceKind, TraceLocation};
use crate::hierarchy::{Backend, Function, FunctionKind, Like, Template, TemplatePart};
use crate::value::{Missing, Opaque, StrKey, Value};
use crate::workspace::{FileKind, LOOKUP_OPTIONS, Paths, path};

struct DeclaredRequest<'a> {
    root: &'a Arc<str>,
    invocation: &'a Invocation,
}

impl Location {
    /// The path, with its unknown parts; that of an existing file in normal form.
    pub(super) fn template(&self) -> Template {
        match &self.open {
            Some(open) => Template::clone(&open.template),
            None => {
                let path = if self.exists {
                    path::shared(&self.place)
                } else {
                    Arc::clone(&self.place)
                };
                Template {
                    parts: vec![TemplatePart::Text(path.to_string())],
                }
            }
        }
    }
}

impl Engine<'_> {
    /// The declaration of a function whose level has a data directory.
    pub(super) fn declared(
        &mut self,
        function: &Function,
        datadir: &str,
        invocation: &Invocation,
        methods: &Methods,
    ) -> Found<Option<Declared>> {
        let Some(backend) = self.settings().backends.get(&function.name) else {
            return Ok(None);
        };
        let datadir = self.path_text_of(datadir, invocation, methods)?;
        Ok(Some(Declared {
            backend: Arc::new(backend.clone()),
            datadir: Arc::from(&*self.session.files.resolve(datadir.text())),
        }))
    }

    /// The result of a declared function for a key.
    pub(super) fn ask_declared(
        &mut self,
        origin: &ValueOrigin<'_>,
        declared: &Declared,
        root: &Arc<str>,
        invocation: &Invocation,
    ) -> Found {
        let level = origin.level;
        let assumed = Assumed {
            function: level.function.name.clone(),
            like: declared.backend.like,
        };
        self.remark(|| Remark::Assumed(assumed.clone()));
        if !self.assumed.contains(&assumed) {
            self.assumed.push(assumed);
        }
        let request = DeclaredRequest { root, invocation };
        let found = match declared_reading(declared.backend.like) {
            Some(reading) => self.read_declared(origin, declared, reading, &request),
            None => self.secret(origin, &declared.backend, root),
        };
        // A `lookup_key` function returns the same object the next time.
        let keeps = level.function.kind == FunctionKind::LookupKey;
        let found = found.map(|value| {
            let known = level.cached_values.get(origin.at, root).filter(|_| keeps);
            known.unwrap_or(value)
        });
        match &found {
            Ok(value) => {
                if keeps {
                    level.cached_values.insert(
                        origin.at,
                        root,
                        value.clone(),
                        &mut self.cached_values,
                    );
                }
                // A separate file is recorded in the trace.
                if declared.backend.path.is_empty() {
                    self.event(|| TraceEvent::Found(root.to_string(), value.clone()));
                }
            }
            Err(Failure::NotFound) => self.missing(|| root.to_string()),
            Err(Failure::Error(_)) => {}
        }
        found
    }

    /// Looks up a key in the files that a declared function reads.
    fn read_declared(
        &mut self,
        origin: &ValueOrigin<'_>,
        declared: &Declared,
        reading: Reading,
        request: &DeclaredRequest<'_>,
    ) -> Found {
        let place = origin.place.filter(|place| !place.is_uri);
        let paths = &declared.backend.path;
        let needs_level_path = paths.is_empty() || paths.iter().any(|path| path.needs_level_path());
        if place.is_none() && needs_level_path {
            return self.give_up(origin, request.root);
        }
        let own = place.map(Location::template).unwrap_or_default();
        if paths.is_empty() {
            return self.key_in_file(origin, &own.to_string(), reading, request);
        }
        for path in paths {
            let template = path.template(&own, &declared.datadir);
            let Some(file) = template.with_key(request.root) else {
                return self.give_up(origin, request.root);
            };
            let file: Arc<str> = Arc::from(self.session.files.resolve(&file.to_string()));
            let node = || {
                TraceKind::Location(TraceLocation {
                    place: file.clone(),
                    original: path.text().clone(),
                    is_uri: false,
                    possible: None,
                })
            };
            let found = self.with(node, |engine| {
                let found = engine.key_in_file(origin, &file, reading, request);
                let is_there = engine.session.files.kind(&file).is_some();
                let key = || request.root.to_string();
                match &found {
                    Ok(value) => engine.event(|| TraceEvent::Found(key(), value.clone())),
                    Err(Failure::NotFound) if !is_there => {
                        engine.event(|| TraceEvent::LocationNotFound)
                    }
                    Err(Failure::NotFound) => engine.missing(key),
                    Err(Failure::Error(_)) => {}
                }
                found
            });
            match found {
                Err(Failure::NotFound) => {}
                other @ (Ok(_) | Err(Failure::Error(_))) => return other,
            }
        }
        Err(Failure::NotFound)
    }

    fn key_in_file(
        &mut self,
        origin: &ValueOrigin<'_>,
        file: &str,
        reading: Reading,
        request: &DeclaredRequest<'_>,
    ) -> Found {
        let DeclaredRequest { root, invocation } = *request;
        if self.session.files.kind(file) != Some(FileKind::File) {
            return Err(Failure::NotFound);
        }
        let data = self.whole_file(file, reading.format())?;
        let Some(hash) = data.as_hash() else {
            return self.give_up(origin, root);
        };
        let value = hash.get(&StrKey(root)).ok_or(Failure::NotFound)?;
        let value = match reading {
            Reading::Plain(_) => self.interpolate(value, invocation, &Methods::Allowed)?,
            Reading::Opening => {
                let sealed = Sealed {
                    origin,
                    root,
                    path: file,
                };
                self.decrypt(value, &sealed, invocation)?
            }
        };
        self.check_value(origin, root, &value)?;
        Ok(value)
    }

    /// The unknown result of a function that is declared to have values which no file of the workspace
    /// has. It has no `lookup_options`.
    fn secret(&mut self, origin: &ValueOrigin<'_>, backend: &Backend, root: &Arc<str>) -> Found {
        if backend.like != Like::Secret || **root == *LOOKUP_OPTIONS {
            return Err(Failure::NotFound);
        }
        if backend.keys.is_empty() {
            return self.give_up(origin, root);
        }
        for source in &backend.keys {
            let pattern = self.session.configs.pattern(source);
            match pattern.map(|pattern| pattern.is_match(root)) {
                Ok(Ok(true)) => {
                    let name = &origin.level.function.name;
                    return Ok(Value::Opaque(Arc::new(Opaque::Unknown {
                        text: String::new(),
                        because: Missing::Other(format!(
                            "the value is a secret of the function '{name}'"
                        )),
                    })));
                }
                Ok(Ok(false)) => {}
                Ok(Err(_)) | Err(_) => return self.give_up(origin, root),
            }
        }
        Err(Failure::NotFound)
    }

    /// Records that a function may have a key.
    pub(super) fn not_run(&mut self, origin: &ValueOrigin<'_>, root: &Arc<str>) {
        let name = &origin.level.function.name;
        self.event(|| TraceEvent::Unknown(root.to_string(), name.clone()));
        let (name, key) = (name.clone(), root.clone());
        let cause = UnknownCause::Function { name, key };
        self.unknown(origin.layer, origin.level, cause);
    }

    /// Only running the function would show whether it has the key.
    fn give_up(&mut self, origin: &ValueOrigin<'_>, root: &Arc<str>) -> Found {
        self.not_run(origin, root);
        Err(Failure::NotFound)
    }

    /// The files with a key that a declared function could read at an unknown path.
    pub(super) fn possible_of_declared(
        &self,
        declared: &Declared,
        location: &Template,
        root: &str,
    ) -> Paths {
        let Some(reading) = declared_reading(declared.backend.like) else {
            return Paths::default();
        };
        let files = self.session.files;
        let with_key =
            |template: &Template| files.files_with_key(root, reading.format(), template).0;
        let paths = &declared.backend.path;
        if paths.is_empty() {
            return with_key(location);
        }
        let templates = paths
            .iter()
            .map(|path| path.template(location, &declared.datadir));
        let found = templates.map(|template| {
            let keyed = template.with_key(root);
            let reads = |path: &Arc<str>| keyed.as_ref().is_some_and(|keyed| keyed.matches(path));
            with_key(&template).filtered(reads)
        });
        found.fold(Paths::default(), |all, found| all.with(&found))
    }
}
