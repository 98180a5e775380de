//! The walk over the layers and the levels of each
//! (`configured_data_provider.rb`, `global_data_provider.rb`, `module_data_provider.rb`).

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::engine::{Engine, Invocation};
use super::error::{Failure, Found, no_method};
use super::layer::{defined_twice, named_variable, prefixed};
use super::level::LevelProvider;
use super::merge::Strategy;
use super::trace::{TraceEvent, TraceKind};
use crate::hierarchy::{Config, ConfigBody, ConfigError, Layer, Level};
use crate::interpolation::Key;
use crate::value::Value;

pub(super) struct Provider {
    pub(super) layer: Layer,
    pub(super) config: Arc<Result<Config, ConfigError>>,
    pub(super) levels: RefCell<Option<Levels>>,
}

/// The levels of a hierarchy and of a module's hierarchy of defaults.
#[derive(Clone)]
pub(super) struct Levels {
    pub(super) hierarchy: Rc<[Rc<LevelProvider>]>,
    pub(super) default_hierarchy: Rc<[Rc<LevelProvider>]>,
}

impl Levels {
    fn anew(&self) -> Levels {
        let anew = |levels: &[Rc<LevelProvider>]| {
            let levels = levels.iter();
            levels.map(|level| Rc::new(level.anew())).collect()
        };
        Levels {
            hierarchy: anew(&self.hierarchy),
            default_hierarchy: anew(&self.default_hierarchy),
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Rc<LevelProvider>> {
        self.hierarchy.iter().chain(self.default_hierarchy.iter())
    }
}

impl Provider {
    pub(super) fn new(layer: Layer, config: Arc<Result<Config, ConfigError>>) -> Provider {
        Provider {
            layer,
            config,
            levels: RefCell::new(None),
        }
    }

    /// The same provider for another compilation in the same scope: located, with empty caches.
    pub(super) fn anew(&self) -> Provider {
        let levels = self.levels.borrow().as_ref().map(Levels::anew);
        Provider {
            layer: self.layer.clone(),
            config: Arc::clone(&self.config),
            levels: RefCell::new(levels),
        }
    }

    /// The configuration; `None` for a provider whose version is refused.
    pub(super) fn config(&self) -> Option<&Config> {
        self.config.as_ref().as_ref().ok()
    }

    pub(super) fn has_default_hierarchy(&self) -> Found<bool> {
        match self.config() {
            None => no_method("has_default_hierarchy?", &Value::Undef),
            Some(config) => Ok(matches!(
                config.body,
                ConfigBody::V5 {
                    default_hierarchy: Some(_),
                    ..
                }
            )),
        }
    }

    fn node(&self) -> TraceKind {
        let config = self.config();
        TraceKind::Provider {
            layer: self.layer.clone(),
            version: config.map(Config::version),
            config: config.and_then(|config| config.path.clone()),
        }
    }
}

impl Engine<'_> {
    /// `LookupAdapter#lookup_global`
    pub(super) fn lookup_global(
        &mut self,
        key: &Key,
        invocation: &Invocation,
        strategy: &Strategy,
    ) -> Found {
        let result = self.check(&key.text, |engine| {
            let provider = engine.global_provider()?;
            engine.ask_global(&provider, key, invocation, strategy)
        });
        result.map_err(|failure| prefixed(failure, invocation))
    }

    /// The same for a lookup that is confined to the global layer, where Puppet reads the merge
    /// late.
    pub(super) fn lookup_global_only(
        &mut self,
        key: &Key,
        invocation: &Invocation,
        merge: &Value,
    ) -> Found {
        let result = self.check(&key.text, |engine| {
            let provider = engine.global_provider()?;
            let strategy = Strategy::read(merge)?;
            engine.ask_global(&provider, key, invocation, &strategy)
        });
        result.map_err(|failure| prefixed(failure, invocation))
    }

    fn ask_global(
        &mut self,
        provider: &Rc<Provider>,
        key: &Key,
        invocation: &Invocation,
        strategy: &Strategy,
    ) -> Found {
        let version = provider.config().map(Config::version);
        if version == Some(3) && !invocation.hiera_scope {
            let has_environment = self.has_environment_data_provider()?;
            let mut inner = invocation.for_key(key, &mut self.module_names);
            inner.module_name.clone_from(&invocation.module_name);
            inner.hiera_scope = true;
            inner.global_only |= !has_environment;
            return self.ask_levels(provider, key, &inner, strategy);
        }
        self.ask_levels(provider, key, invocation, strategy)
    }

    /// `LookupAdapter#has_environment_data_provider?`
    fn has_environment_data_provider(&mut self) -> Found<bool> {
        let Some(provider) = self.environment_provider()? else {
            return Ok(false);
        };
        match provider.config() {
            Some(config) => Ok(config.version() >= 5),
            None => no_method("version", &Value::Undef),
        }
    }

    /// `LookupAdapter#lookup_in_environment`
    pub(super) fn lookup_in_environment(
        &mut self,
        key: &Key,
        invocation: &Invocation,
        strategy: &Strategy,
    ) -> Found {
        let provider = self.environment_provider()?.ok_or(Failure::NotFound)?;
        self.check(&key.text, |engine| {
            engine.ask_levels(&provider, key, invocation, strategy)
        })
    }

    /// `LookupAdapter#lookup_in_module`
    pub(super) fn lookup_in_module(
        &mut self,
        key: &Key,
        invocation: &Invocation,
        strategy: &Strategy,
    ) -> Found {
        let module = invocation.module_name.clone().ok_or(Failure::NotFound)?;
        let Some(provider) = self.module_provider(&module)? else {
            if self.tracer.is_some() {
                let kind = match self.module_dir(&module) {
                    None => TraceKind::NoModule(module),
                    Some(_) => TraceKind::NoModuleProvider(module),
                };
                self.leaf(|| kind);
            }
            return Err(Failure::NotFound);
        };
        self.check(&key.text, |engine| {
            engine.ask_levels(&provider, key, invocation, strategy)
        })
    }

    /// `ConfiguredDataProvider#unchecked_key_lookup`
    fn ask_levels(
        &mut self,
        provider: &Rc<Provider>,
        key: &Key,
        invocation: &Invocation,
        strategy: &Strategy,
    ) -> Found {
        self.with(
            || provider.node(),
            |engine| {
                let levels = engine.levels(provider, invocation)?.hierarchy;
                engine.merge_levels(provider, &levels, key, invocation, strategy)
            },
        )
    }

    /// `ModuleDataProvider#key_lookup_in_default`
    pub(super) fn lookup_default_levels(
        &mut self,
        provider: &Rc<Provider>,
        key: &Key,
        invocation: &Invocation,
        merge: &Value,
    ) -> Found {
        let levels = self.levels(provider, invocation)?.default_hierarchy;
        if levels.is_empty() {
            self.event(|| TraceEvent::NotFound(key.text.to_string()));
            return Err(Failure::NotFound);
        }
        let strategy = Strategy::read(merge)?;
        self.check(&key.text, |engine| {
            engine.with(
                || provider.node(),
                |engine| engine.merge_levels(provider, &levels, key, invocation, &strategy),
            )
        })
    }

    fn merge_levels(
        &mut self,
        provider: &Rc<Provider>,
        levels: &[Rc<LevelProvider>],
        key: &Key,
        invocation: &Invocation,
        strategy: &Strategy,
    ) -> Found {
        if levels.is_empty() {
            self.event(|| TraceEvent::NotFound(key.text.to_string()));
            return Err(Failure::NotFound);
        }
        self.merge_variants(strategy, levels, &mut |engine, level| {
            engine.ask_level(&provider.layer, level, key, invocation, strategy)
        })
    }

    /// The levels of a provider with their locations, built once
    /// (`HieraConfig#configured_data_providers`).
    pub(super) fn levels(
        &mut self,
        provider: &Rc<Provider>,
        invocation: &Invocation,
    ) -> Found<Levels> {
        if let Some(levels) = &*provider.levels.borrow() {
            return Ok(levels.clone());
        }
        let Some(config) = provider.config() else {
            return no_method("configured_data_providers", &Value::Undef);
        };
        // Puppet collects locations with a separate invocation: no trace, no names on the stack.
        let tracer = self.tracer.take();
        let stack = std::mem::take(&mut self.stack);
        let was_in_levels = std::mem::replace(&mut self.in_levels, true);
        let path_variables = std::mem::take(&mut self.path_variables);
        let built = self.build_levels(config, invocation);
        self.path_variables = path_variables;
        self.in_levels = was_in_levels;
        self.stack = stack;
        self.tracer = tracer;
        let levels = built.map_err(|failure| named_variable(failure, config))?;
        *provider.levels.borrow_mut() = Some(levels.clone());
        Ok(levels)
    }

    fn build_levels(&mut self, config: &Config, invocation: &Invocation) -> Found<Levels> {
        let invocation = Invocation {
            overrides: Arc::default(),
            defaults: Arc::default(),
            hiera_scope: invocation.hiera_scope,
            ..Invocation::default()
        };
        let mut levels = Levels {
            hierarchy: Rc::new([]),
            default_hierarchy: Rc::new([]),
        };
        match &config.body {
            ConfigBody::V5 {
                default_hierarchy, ..
            } => {
                let is_of_plans = self.session.environment.is_of_plans;
                let hierarchy = config.body.hierarchy(is_of_plans).unwrap_or_default();
                levels.hierarchy = self.configured(config, hierarchy, &invocation)?;
                if let Some(defaults) = default_hierarchy {
                    levels.default_hierarchy = self.configured(config, defaults, &invocation)?;
                }
            }
            ConfigBody::V4 { hierarchy } => {
                levels.hierarchy = self.version_4_levels(config, hierarchy, &invocation)?;
            }
            ConfigBody::V3(body) => {
                levels.hierarchy = self.version_3_levels(config, body, &invocation)?;
            }
        }
        Ok(levels)
    }

    /// `HieraConfigV5#create_configured_data_providers`
    fn configured(
        &mut self,
        config: &Config,
        levels: &[Level],
        invocation: &Invocation,
    ) -> Found<Rc<[Rc<LevelProvider>]>> {
        let mut built: Vec<Rc<LevelProvider>> = Vec::with_capacity(levels.len());
        for (index, level) in levels.iter().enumerate() {
            if built.iter().any(|other| other.name == level.name) {
                return Err(defined_twice(config, &level.name).into());
            }
            if let Some(provider) = self.level_provider(config, index, level, invocation)? {
                built.push(Rc::new(provider));
            }
        }
        Ok(built.into())
    }
}
