//! Where a lookup happens: the environment's folders, Puppet's settings, parsed configurations.

use std::collections::HashMap as Map;
use std::sync::{Arc, Mutex, PoisonError};

use crate::eyaml::Keys;
use crate::hierarchy::{Config, ConfigError, Layer};
use crate::value::{LoadError, Value, load_yaml};

/// Which Puppet is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PuppetVersion {
    /// Puppet 7.
    V7,
    /// Puppet 8 and OpenVox 8.
    #[default]
    V8,
}

/// Puppet's setting `strict`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strict {
    /// Nothing is said.
    Off,
    /// Warnings.
    Warning,
    /// Errors.
    Error,
}

/// Puppet's settings, as far as lookups depend on them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which Puppet is meant.
    pub puppet_version: PuppetVersion,
    /// The setting `strict`.
    pub strict: Strict,
    /// The setting `strict_variables`.
    pub strict_variables: bool,
    /// Whether the readable part of a broken file counts: in an editor it does, and the file's
    /// error is told elsewhere; for Puppet every lookup fails.
    pub recover_broken_files: bool,
    /// Whether a data function that no visible module defines is unknown rather than an error:
    /// in a workspace modules may be missing.
    pub modules_may_be_missing: bool,
    /// Keys to decrypt eyaml values with, given by the user; without them such values stay
    /// secrets.
    pub keys: Option<Arc<Keys>>,
}

impl Settings {
    /// The defaults of a version (`strict`, `strict_variables`), read as Puppet reads.
    #[must_use]
    pub fn for_version(version: PuppetVersion) -> Settings {
        let (strict, strict_variables) = match version {
            PuppetVersion::V7 => (Strict::Warning, false),
            PuppetVersion::V8 => (Strict::Error, true),
        };
        Settings {
            puppet_version: version,
            strict,
            strict_variables,
            recover_broken_files: false,
            modules_may_be_missing: false,
            keys: None,
        }
    }

    /// The same settings, as an editor reads: broken files and missing modules are forgiven.
    #[must_use]
    pub fn for_editor(self) -> Settings {
        Settings {
            recover_broken_files: true,
            modules_may_be_missing: true,
            ..self
        }
    }
}

/// The folders that a lookup starts from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Environment {
    /// The environment's name.
    pub name: Arc<str>,
    /// Its folder; none for a module that stands alone.
    pub dir: Option<Arc<str>>,
    /// Its `hiera.yaml` where that is not `DIR/hiera.yaml`.
    pub config: Option<Arc<str>>,
    /// Folders of modules, first hit wins.
    pub modulepath: Vec<Arc<str>>,
    /// Modules known by name, before the module path.
    pub modules: Vec<(Arc<str>, Arc<str>)>,
    /// The global layer's `hiera.yaml`, whether it exists or not.
    pub global_config: Option<Arc<str>>,
    /// Puppet's `codedir`, for the default data directory of version 3.
    pub codedir: Arc<str>,
    /// `environment_data_provider` of `environment.conf`.
    pub data_provider: Option<Arc<str>>,
}

type CacheKey = (Arc<str>, Layer);
/// A text, and what the YAML loader makes of it.
type LoadedText = (Arc<str>, Result<Value, LoadError>);
type CacheEntry = (Arc<str>, Arc<Result<Config, ConfigError>>);

/// Configurations by file, so that many lookups read each once; an entry counts as long as the
/// file's text is the same.
#[derive(Debug, Default)]
pub struct ConfigCache {
    /// Which files known nodes read, see [`super::views`].
    pub(super) views: super::views::ViewCache,
    entries: Mutex<Map<CacheKey, CacheEntry>>,
    /// The texts of configurations, loaded.
    loaded: Mutex<Map<Arc<str>, LoadedText>>,
}

impl ConfigCache {
    /// The YAML of a configuration's text, loaded now or before.
    pub(super) fn load(&self, path: &Arc<str>, text: &Arc<str>) -> Result<Value, LoadError> {
        let lock = || self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, loaded)) = lock().get(path)
            && (Arc::ptr_eq(known, text) || known == text)
        {
            return loaded.clone();
        }
        let loaded = load_yaml(text.as_bytes());
        lock().insert(path.clone(), (text.clone(), loaded.clone()));
        loaded
    }

    /// The configuration of a text, read now or before.
    pub(super) fn get(
        &self,
        path: &Arc<str>,
        layer: &Layer,
        text: &Arc<str>,
        read: &dyn Fn() -> Result<Config, ConfigError>,
    ) -> Arc<Result<Config, ConfigError>> {
        let key = (path.clone(), layer.clone());
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        match entries.get(&key) {
            Some((known, config)) if Arc::ptr_eq(known, text) || known == text => config.clone(),
            Some(_) | None => {
                let config = Arc::new(read());
                entries.insert(key, (text.clone(), config.clone()));
                config
            }
        }
    }
}

/// The module path of an environment in `dir`: the entries of `environment.conf`, relative ones
/// below `dir` and `$basemodulepath` replaced; `DIR/modules` and `base` where nothing is declared
/// (`puppet/settings/environment_conf.rb`).
#[must_use]
pub fn resolve_modulepath(
    declared: Option<&[String]>,
    dir: &str,
    base: &[String],
) -> Vec<Arc<str>> {
    let absolute = |entry: &str| -> Arc<str> {
        if entry.starts_with('/') {
            Arc::from(entry)
        } else {
            // `File.expand_path`
            Arc::from(crate::workspace::path::normalise(&format!("{dir}/{entry}")))
        }
    };
    let base = || base.iter().map(|entry| Arc::from(entry.as_str()));
    match declared {
        None => std::iter::once(absolute("modules")).chain(base()).collect(),
        Some(entries) => entries
            .iter()
            .flat_map(|entry| match entry.as_str() {
                "$basemodulepath" => base().collect(),
                entry => vec![absolute(entry)],
            })
            .collect(),
    }
}
