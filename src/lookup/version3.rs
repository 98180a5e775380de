//! The levels of configurations of versions 3 and 4 (`HieraConfigV3`, `HieraConfigV4`).

use std::rc::Rc;
use std::sync::Arc;

use super::engine::{Engine, Invocation};
use super::error::{Found, LookupError};
use super::interpolate::Methods;
use super::layer::{defined_twice, twice};
use super::level::{LevelProvider, LocatedLevel};
use super::location::PathText;
use crate::hierarchy::{Config, Function, FunctionKind, V3, V4Level, join};
use crate::value::{StrKey, Value};

impl Engine<'_> {
    /// One level for each backend of version 3: each backend searches the whole hierarchy before
    /// the next one.
    pub(super) fn version_3_levels(
        &mut self,
        config: &Config,
        body: &V3,
        invocation: &Invocation,
    ) -> Found<Rc<[Rc<LevelProvider>]>> {
        let invocation = Invocation {
            hiera_scope: true,
            ..invocation.clone()
        };
        let methods = Methods::Refused(config.path.clone());
        let default_datadir = format!(
            "{}/environments/%{{::environment}}/hieradata",
            self.session.environment.codedir
        );
        let mut levels: Vec<Rc<LevelProvider>> = Vec::new();
        for backend in &body.backends {
            if levels.iter().any(|level| level.name == *backend) {
                return Err(backend_twice(config, backend).into());
            }
            let mut all_options = body.backend_options.iter();
            let own = match all_options.find(|(name, _)| name == backend) {
                Some((_, options)) => self.interpolate(options, &invocation, &methods)?,
                None => Value::hash([]),
            };
            let option = |name: &str| own.as_hash()?.get(&StrKey(name)).filter(|v| !v.is_falsey());
            let mut all_options = body.backend_options.iter();
            let written = all_options.find(|(name, _)| name == backend);
            let written = written.and_then(|(_, options)| options.as_hash());
            let written = written.and_then(|options| options.get(&StrKey("datadir")));
            let datadir = match (option("datadir"), written.and_then(Value::as_str)) {
                (Some(_), Some(written)) => self.path_text_of(written, &invocation, &methods)?,
                (Some(datadir), None) => PathText::known(datadir.to_s()),
                (None, _) => self.path_text_of(&default_datadir, &invocation, &methods)?,
            };
            // Puppet's is relative to the server's working directory.
            let datadir = match &self.session.environment.global_dir {
                Some(dir) if !datadir.may_be_absolute() => datadir.below(dir),
                _ => datadir,
            };
            let extension = match (option("extension"), &**backend) {
                (Some(extension), _) => format!(".{}", extension.to_s()),
                (None, "hocon") => ".conf".to_string(),
                (None, other) => format!(".{other}"),
            };
            let folder = datadir.text().to_owned();
            let mut locations = self.paths_with_extension(
                datadir,
                &body.hierarchy,
                &extension,
                &invocation,
                &methods,
            )?;
            if config.path.is_none() {
                locations.retain(|location| location.exists);
            }
            let (kind, name, options) = match &**backend {
                "yaml" => (FunctionKind::DataHash, "yaml_data".into(), Value::hash([])),
                "json" => (FunctionKind::DataHash, "json_data".into(), Value::hash([])),
                "hocon" => (FunctionKind::DataHash, "hocon_data".into(), Value::hash([])),
                "eyaml" => (FunctionKind::LookupKey, "eyaml_lookup_key".into(), own),
                _ => (FunctionKind::Hiera3Backend, backend.clone(), own),
            };
            let is_bare = kind == FunctionKind::Hiera3Backend && locations.is_empty();
            let locations = (!is_bare).then(|| Arc::from(locations));
            let function = Function { kind, name };
            let declared = self.declared(&function, &folder, &invocation, &methods)?;
            let index = levels.len();
            levels.push(Rc::new(LevelProvider::of(Rc::new(LocatedLevel {
                name: backend.clone(),
                index,
                function,
                is_version_3: true,
                options,
                locations,
                config: config.path.clone(),
                declared,
            }))));
        }
        Ok(levels.into())
    }

    pub(super) fn version_4_levels(
        &mut self,
        config: &Config,
        entries: &[V4Level],
        invocation: &Invocation,
    ) -> Found<Rc<[Rc<LevelProvider>]>> {
        let methods = Methods::Refused(config.path.clone());
        let mut levels: Vec<Rc<LevelProvider>> = Vec::new();
        for entry in entries {
            if levels.iter().any(|level| level.name == entry.name) {
                return Err(defined_twice(config, &entry.name).into());
            }
            let (function, extension) = match &*entry.backend {
                "yaml" => ("yaml_data", ".yaml"),
                "json" => ("json_data", ".json"),
                "hocon" => ("hocon_data", ".conf"),
                other => return Err(no_provider(config, other).into()),
            };
            let datadir = PathText::known(join(&config.root, &entry.datadir));
            let locations =
                self.paths_with_extension(datadir, &entry.paths, extension, invocation, &methods)?;
            let function = Function {
                kind: FunctionKind::DataHash,
                name: Arc::from(function),
            };
            levels.push(Rc::new(LevelProvider::of(Rc::new(LocatedLevel {
                name: entry.name.clone(),
                index: levels.len(),
                function,
                is_version_3: false,
                options: Value::hash([]),
                locations: Some(Arc::from(locations)),
                config: config.path.clone(),
                declared: None,
            }))));
        }
        Ok(levels.into())
    }
}

/// Whether a line contains the word, not at its start (`/[^\w]NAME(?:[^\w]|$)/`).
fn names_word(line: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        line[..at].ends_with(|c: char| !is_word(c)) && !line[at + word.len()..].starts_with(is_word)
    })
}

fn backend_twice(config: &Config, backend: &str) -> LookupError {
    let message = format!("Backend '{backend}' is defined more than once.");
    twice(config, message, "HIERA_BACKEND_MULTIPLY_DEFINED", &|line| {
        names_word(line, backend)
    })
}

fn no_provider(config: &Config, backend: &str) -> LookupError {
    let line = Config::find_line(&config.text, 1, &|line| names_word(line, backend));
    LookupError::issue(
        "HIERA_NO_PROVIDER_FOR_BACKEND",
        format!("No data provider is registered for backend '{backend}'"),
        config.path.clone(),
        line,
    )
}
