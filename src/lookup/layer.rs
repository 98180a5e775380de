//! The providers of the layers: finding and reading their configuration (`lookup_adapter.rb`,
//! `hiera_config.rb`).

use std::rc::Rc;
use std::sync::Arc;

use super::context::{EnvironmentConfig, PuppetVersion, ReadConfig, Strict};
use super::engine::{Engine, Invocation, Map};
use super::error::{Cause, ErrorClass, Failure, Found, LookupError, raise};
use super::walk::Provider;
use crate::hierarchy::{
    Config, ConfigBody, ConfigError, Function, FunctionKind, Layer, Level, Locations, dirname,
};
use crate::regexp::Regexp;
use crate::value::{Value, load_yaml};

/// The cached providers of a compilation.
#[derive(Default)]
pub(super) struct Providers {
    global: Option<Rc<Provider>>,
    environment: Option<Option<Rc<Provider>>>,
    modules: Map<Arc<str>, Option<Rc<Provider>>>,
}

impl Providers {
    /// The same providers for another compilation in the same scope, which need not locate their
    /// levels again. O(levels).
    pub(super) fn anew(&self) -> Providers {
        let anew = |provider: &Rc<Provider>| Rc::new(provider.anew());
        let modules = self.modules.iter();
        Providers {
            global: self.global.as_ref().map(anew),
            environment: self.environment.as_ref().map(|it| it.as_ref().map(anew)),
            modules: modules
                .map(|(module, it)| (Arc::clone(module), it.as_ref().map(anew)))
                .collect(),
        }
    }
}

impl Engine<'_> {
    pub(super) fn global_provider(&mut self) -> Found<Rc<Provider>> {
        if let Some(provider) = &self.providers.global {
            return Ok(provider.clone());
        }
        let config = match &self.session.environment.global_config {
            Some(path) => {
                let path = path.clone();
                self.read_config(&path, &Layer::Global)?
            }
            None => self.session.configs.absent(None, || Config {
                body: ConfigBody::V5 {
                    hierarchy: Vec::new(),
                    plan_hierarchy: None,
                    default_hierarchy: None,
                },
                ..Config::built_in("")
            }),
        };
        if let Ok(config) = config.as_ref()
            && config.version() == 4
        {
            return Err(LookupError::issue(
                "HIERA_UNSUPPORTED_VERSION_IN_GLOBAL",
                "hiera.yaml version 4 cannot be used in the global layer",
                config.path.clone(),
                None,
            )
            .into());
        }
        let provider = Rc::new(Provider::new(Layer::Global, config));
        self.providers.global = Some(provider.clone());
        Ok(provider)
    }

    /// `LookupAdapter#initialize_env_provider`
    pub(super) fn environment_provider(&mut self) -> Found<Option<Rc<Provider>>> {
        if let Some(provider) = &self.providers.environment {
            return Ok(provider.clone());
        }
        let provider = self.find_environment_provider()?;
        self.providers.environment = Some(provider.clone());
        Ok(provider)
    }

    fn find_environment_provider(&mut self) -> Found<Option<Rc<Provider>>> {
        let environment = self.session.environment;
        let Some(dir) = environment.dir.clone() else {
            return Ok(None);
        };
        let path = match &environment.config {
            EnvironmentConfig::Own => Arc::from(format!("{dir}/hiera.yaml")),
            EnvironmentConfig::Elsewhere(path) => path.clone(),
            EnvironmentConfig::None => return Ok(None),
        };
        let conf = format!("{dir}/environment.conf");
        // OpenVox 9 does not have the setting.
        let has_setting = self.settings().puppet_version < PuppetVersion::V9;
        if environment.data_provider.is_some() {
            self.note_version();
        }
        let mut named = environment.data_provider.clone().filter(|_| has_setting);
        let mut provider = None;
        if self.session.files.kind(&path).is_some() {
            let config = self.read_config(&path, &Layer::Environment)?;
            provider = self.accepted(&path, Layer::Environment, config)?;
            if is_of_version_5(provider.as_ref())
                && let Some(name) = named.take()
                && self.strict() != Strict::Off
            {
                self.warn_once(
                    "environment.conf#data_provider",
                    &format!("Defining environment_data_provider='{name}' in environment.conf is deprecated"),
                    Some(&conf),
                );
                if *name != *"hiera" {
                    self.warn_once(
                        "environment.conf#data_provider_overridden",
                        &format!(
                            "The environment_data_provider='{name}' setting is ignored since \
                             '{path}' version >= 5"
                        ),
                        Some(&conf),
                    );
                }
            }
        }
        let Some(name) = named else {
            return Ok(provider);
        };
        if self.strict() != Strict::Off {
            let mut message = format!(
                "Defining environment_data_provider='{name}' in environment.conf is deprecated."
            );
            if provider.is_none() {
                message += " A 'hiera.yaml' file should be used instead";
            }
            self.warn_once("environment.conf#data_provider", &message, Some(&conf));
        }
        match &*name {
            "none" => Ok(None),
            "hiera" => {
                Ok(Some(provider.unwrap_or_else(|| {
                    self.named_hiera(&path, &dir, Layer::Environment)
                })))
            }
            "function" => {
                let config = self.of_legacy_function(&dir, "environment::data");
                let provider = Provider::new(Layer::Environment, Arc::new(Ok(config)));
                Ok(Some(Rc::new(provider)))
            }
            other => raise(
                ErrorClass::Puppet,
                format!(
                    "Environment '{}', cannot find environment_data_provider '{other}'",
                    environment.name
                ),
            ),
        }
    }

    /// `LookupAdapter#initialize_module_provider`
    pub(super) fn module_provider(&mut self, module: &Arc<str>) -> Found<Option<Rc<Provider>>> {
        self.reads.modules.add_shared(module);
        if let Some(provider) = self.providers.modules.get(module) {
            return Ok(provider.clone());
        }
        let provider = self.find_module_provider(module)?;
        self.providers
            .modules
            .insert(module.clone(), provider.clone());
        Ok(provider)
    }

    fn find_module_provider(&mut self, module: &Arc<str>) -> Found<Option<Rc<Provider>>> {
        let Some(dir) = self.module_dir(module) else {
            return Ok(None);
        };
        let layer = Layer::Module(module.clone());
        let path: Arc<str> = Arc::from(format!("{dir}/hiera.yaml"));
        let mut provider = None;
        let mut named = self.metadata_data_provider(&dir);
        let metadata = format!("{dir}/metadata.json");
        if self.session.files.kind(&path).is_some() {
            let config = self.read_config(&path, &layer)?;
            provider = self.accepted(&path, layer.clone(), config)?;
            if is_of_version_5(provider.as_ref())
                && let Some(name) = named.take()
                && self.strict() != Strict::Off
            {
                self.warn_once(
                    &format!("metadata.json#data_provider-{module}"),
                    &format!(
                        "Defining \"data_provider\": \"{name}\" in metadata.json is deprecated. It \
                         is ignored since a 'hiera.yaml' with version >= 5 is present"
                    ),
                    Some(&metadata),
                );
            }
        }
        let Some(name) = named else {
            return Ok(provider);
        };
        if self.strict() != Strict::Off {
            let mut message =
                format!("Defining \"data_provider\": \"{name}\" in metadata.json is deprecated.");
            if provider.is_none() {
                message += " A 'hiera.yaml' file should be used instead";
            }
            let key = format!("metadata.json#data_provider-{module}");
            self.warn_once(&key, &message, Some(&metadata));
        }
        match name.as_str() {
            "none" => Ok(None),
            "hiera" => Ok(Some(
                provider.unwrap_or_else(|| self.named_hiera(&path, &dir, layer)),
            )),
            "function" => {
                let config = self.of_legacy_function(&dir, &format!("{module}::data"));
                Ok(Some(Rc::new(Provider::new(layer, Arc::new(Ok(config))))))
            }
            // Puppet's own message omits the environment and provider.
            _ => raise(ErrorClass::Argument, "one hash required"),
        }
    }

    /// `HieraConfig.v4_function_config`
    fn of_legacy_function(&mut self, dir: &str, name: &str) -> Config {
        if self.strict() != Strict::Off {
            let message = format!(
                "Using of legacy data provider function '{name}'. Please convert to a 'data_hash' function"
            );
            self.warn_once("legacy_provider_function", &message, None);
        }
        legacy_function_config(dir, name)
    }

    /// The provider for the name `hiera` if no configuration was accepted: the file fails again,
    /// and Puppet continues without a provider.
    fn named_hiera(&self, path: &str, dir: &str, layer: Layer) -> Rc<Provider> {
        let config = match self.session.files.kind(path) {
            None => Ok(Config::built_in(dir)),
            Some(_) => Err(ConfigError::Crash(String::new())),
        };
        Rc::new(Provider::new(layer, Arc::new(config)))
    }

    /// `data_provider` in a module's `metadata.json`.
    fn metadata_data_provider(&self, dir: &str) -> Option<String> {
        let path = format!("{dir}/metadata.json");
        self.session.files.kind(&path)?;
        let text = self.session.files.text(&path).ok()?;
        let metadata = crate::value::from_json(&text).ok()?;
        metadata.get("data_provider")?.as_str().map(str::to_string)
    }

    /// The folder of a module (`puppet/node/environment.rb`, `puppet/module.rb`).
    pub(super) fn module_dir(&self, module: &str) -> Option<Arc<str>> {
        let legal = module.starts_with(|c: char| c.is_ascii_lowercase())
            && module
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if !legal {
            return None;
        }
        super::function::module_dir(self.session.files, self.session.environment, module)
    }

    /// `HieraConfig.create`
    fn read_config(
        &mut self,
        path: &Arc<str>,
        layer: &Layer,
    ) -> Found<Arc<Result<Config, ConfigError>>> {
        let files = self.session.files;
        let environment = self.session.environment;
        let root = match (layer, &environment.config) {
            (Layer::Environment, EnvironmentConfig::Elsewhere(_)) => environment.dir.as_deref(),
            (Layer::Global, _) => environment.global_dir.as_deref(),
            (Layer::Environment | Layer::Module(_), _) => None,
        };
        let root = root.unwrap_or_else(|| dirname(path)).to_string();
        if files.kind(path).is_none() {
            let configs = self.session.configs;
            return Ok(configs.absent(Some(&root), || Config::built_in(&root)));
        }
        let text = files
            .text(path)
            .map_err(|error| super::backend::unread(path, &error))?;
        let ReadConfig {
            config,
            is_hash,
            legacy_version,
        } = self.session.configs.get((path, &root), layer, &text, || {
            let loaded = load_yaml(text.as_bytes()).map_err(|error| {
                let (path, error) = (path.clone(), Box::new(error));
                LookupError::new(ErrorClass::YamlLoad, Cause::File { path, error })
            })?;
            let is_hash = loaded.as_hash().is_some();
            let config = Config::read(path, &root, text.clone(), &loaded, layer);
            let legacy_version = is_legacy(&loaded, &config).then(|| match &config {
                Ok(config) => config.version(),
                Err(_) if version_of(&loaded) == Some(&Value::Int(4)) => 4,
                Err(_) => 3,
            });
            Ok(ReadConfig {
                config: Arc::new(config),
                is_hash,
                legacy_version,
            })
        })?;
        if !is_hash {
            self.warn(format!(
                "{path}: File exists but does not contain a valid YAML hash. Falling back to Hiera \
                 version 3 default config"
            ));
        }
        if let Some(version) = legacy_version
            && self.strict() != Strict::Off
        {
            // Puppet's key for «once» has no path in it.
            self.warn_once(
                "hiera.yaml",
                &format!(
                    "{path}: Use of 'hiera.yaml' version {version} is deprecated. It should be \
                     converted to version 5"
                ),
                Some(path),
            );
        }
        match config.as_ref() {
            Ok(_) => Ok(config),
            Err(error) => {
                let product = self.settings().puppet_version.product();
                let cause = Cause::Config(Box::new(error.clone().in_words_of(product)));
                Err(Failure::from(match error {
                    ConfigError::Structure { .. } => {
                        LookupError::new(ErrorClass::TypeAssertion, cause)
                    }
                    ConfigError::Crash(_) => LookupError::new(ErrorClass::NoMethod, cause),
                    ConfigError::Rule { rule, line } => {
                        LookupError::issue(rule.issue_code(), cause, Some(path.clone()), *line)
                    }
                }))
            }
        }
    }

    /// `assert_config_version` of environments and modules: version 3 is ignored or refused.
    fn accepted(
        &mut self,
        path: &Arc<str>,
        layer: Layer,
        config: Arc<Result<Config, ConfigError>>,
    ) -> Found<Option<Rc<Provider>>> {
        if config
            .as_ref()
            .as_ref()
            .is_ok_and(|config| config.version() > 3)
        {
            return Ok(Some(Rc::new(Provider::new(layer, config))));
        }
        let (a_place, place) = match layer {
            Layer::Module(_) => ("a module", "module root"),
            Layer::Environment | Layer::Global => ("an environment", "the environment root"),
        };
        if self.is_strict_error() {
            return Err(LookupError::issue(
                "HIERA_VERSION_3_NOT_GLOBAL",
                format!("hiera.yaml version 3 cannot be used in {a_place}"),
                Some(path.clone()),
                None,
            )
            .into());
        }
        self.warn_once(
            &format!("v3:{path}"),
            &format!("hiera.yaml version 3 found at {place} was ignored"),
            Some(path),
        );
        Ok(None)
    }
}

fn is_of_version_5(provider: Option<&Rc<Provider>>) -> bool {
    let config = provider.and_then(|provider| provider.config());
    config.is_some_and(|config| config.version() >= 5)
}

/// The form of an error that leaves the global layer.
pub(super) fn prefixed(failure: Failure, invocation: &Invocation) -> Failure {
    match failure {
        Failure::Error(error) if error.class.is_lookup_error() && error.issue_code.is_none() => {
            let key = invocation.top_key.clone();
            LookupError::new(ErrorClass::Puppet, Cause::OfKey { key, error }).into()
        }
        other @ (Failure::NotFound | Failure::Error(_)) => other,
    }
}

/// Whether validating the configuration logs a deprecation: versions 3 and 4 do, even with a wrong
/// structure.
fn is_legacy(loaded: &Value, config: &Result<Config, ConfigError>) -> bool {
    match config {
        Ok(config) => config.version() < 5,
        Err(ConfigError::Structure { .. }) => !matches!(
            version_of(loaded),
            Some(Value::Int(5) | Value::String(_) | Value::Float(_))
        ),
        Err(ConfigError::Rule { .. } | ConfigError::Crash(_)) => false,
    }
}

fn version_of(loaded: &Value) -> Option<&Value> {
    let symbol = || loaded.as_hash()?.get(&Value::Symbol("version".into()));
    loaded.get("version").or_else(symbol)
}

/// `HieraConfig.v4_function_config`
fn legacy_function_config(root: &str, function: &str) -> Config {
    Config {
        body: ConfigBody::V5 {
            hierarchy: vec![Level {
                name: Arc::from(format!("Legacy function '{function}'")),
                function: Function {
                    kind: FunctionKind::V4DataHash,
                    name: Arc::from(function),
                },
                datadir: Arc::from("data"),
                locations: Locations::None,
                options: Value::hash([]),
                extension: None,
            }],
            plan_hierarchy: None,
            default_hierarchy: None,
        },
        ..Config::built_in(root)
    }
}

pub(super) fn defined_twice(config: &Config, name: &str) -> LookupError {
    // Puppet uses the name as a pattern.
    let pattern = Regexp::new(&format!(r#"\s+name:\s+['"]?{name}(?:[^\w]|$)"#));
    let at_name = |line: &str| {
        pattern
            .as_ref()
            .is_ok_and(|it| it.is_match(line) == Ok(true))
    };
    let message = format!("Hierarchy name '{name}' defined more than once.");
    let code = "HIERA_HIERARCHY_NAME_MULTIPLY_DEFINED";
    twice(config, message, code, &at_name)
}

/// An error about a duplicate definition, with the lines that Puppet's search finds.
pub(super) fn twice(
    config: &Config,
    message: String,
    code: &'static str,
    matches: &dyn Fn(&str) -> bool,
) -> LookupError {
    let first = Config::find_line(&config.text, 1, matches);
    let second = first.and_then(|first| Config::find_line(&config.text, first + 1, matches));
    let (message, line) = match (first, second) {
        (Some(first), Some(second)) => (
            format!("{message} First defined at (line: {first})"),
            Some(second),
        ),
        (first, _) => (message, first),
    };
    LookupError::issue(code, message, config.path.clone(), line)
}

/// Gives an undefined variable in a configuration the line that names it.
pub(super) fn named_variable(failure: Failure, config: &Config) -> Failure {
    let Failure::Error(error) = failure else {
        return failure;
    };
    let Cause::UndefinedVariable { name, .. } = &error.cause else {
        return Failure::Error(error);
    };
    // Puppet's pattern for the name ends at a quote.
    let name = name.split('\'').next().unwrap_or_default();
    if name.is_empty() {
        return Failure::Error(error);
    }
    const QUOTES: [&str; 3] = ["", "'", "\""];
    let line = Config::find_line(&config.text, 1, &|line| {
        let is_closed =
            |open: &str, close: &str| line.contains(&format!("%{{{open}{name}{close}}}"));
        QUOTES
            .iter()
            .any(|open| QUOTES.iter().any(|close| is_closed(open, close)))
    });
    let message = format!("Undefined variable '{name}'");
    let path = config.path.clone();
    LookupError::issue("HIERA_UNDEFINED_VARIABLE", message, path, line).into()
}
