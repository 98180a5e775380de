//! Where a lookup happens: the environment's folders, Puppet's settings, parsed configurations.

use std::collections::HashMap as Map;
use std::sync::{Arc, Mutex, PoisonError};

use super::error::Found;
use crate::eyaml::Keys;
use crate::hierarchy::{Backends, Config, ConfigError, Layer};
use crate::interpolation::{Token, tokens};
use crate::puppet::Source;
use crate::regexp::{Regexp, RegexpError};
use crate::workspace::Generations;

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
    /// error is reported elsewhere; for Puppet every lookup fails.
    pub recover_broken_files: bool,
    /// Whether a data function that no visible module defines is unknown rather than an error:
    /// in a workspace modules may be missing.
    pub modules_may_be_missing: bool,
    /// Keys to decrypt eyaml values with, given by the user; without them such values stay
    /// secrets.
    pub keys: Option<Arc<Keys>>,
    /// What is declared of functions that are not Puppet's own.
    pub backends: Arc<Backends>,
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
            backends: Arc::default(),
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
    /// Its folder; `None` for a module that stands alone.
    pub dir: Option<Arc<str>>,
    /// Its configuration.
    pub config: EnvironmentConfig,
    /// Folders of modules, first hit wins.
    pub modulepath: Vec<Arc<str>>,
    /// Modules known by name, before the module path.
    pub modules: Vec<(Arc<str>, Arc<str>)>,
    /// The global layer's `hiera.yaml`, whether it exists or not.
    pub global_config: Option<Arc<str>>,
    /// The folder that relative data directories of the global layer start from, where that is not
    /// the folder of its configuration.
    pub global_dir: Option<Arc<str>>,
    /// Puppet's `codedir`, for the default data directory of version 3.
    pub codedir: Arc<str>,
    /// `environment_data_provider` of `environment.conf`.
    pub data_provider: Option<Arc<str>>,
}

/// Which configuration an environment has.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum EnvironmentConfig {
    /// `DIR/hiera.yaml`, if it is there.
    #[default]
    Own,
    /// One that stands elsewhere; relative data directories start from the environment's folder.
    Elsewhere(Arc<str>),
    /// None, whatever stands in its folder.
    None,
}

/// What became of a configuration's text.
#[derive(Clone, Debug)]
pub(super) struct ReadConfig {
    pub(super) config: Arc<Result<Config, ConfigError>>,
    /// Whether the text holds a hash; if not, version 3's defaults count.
    pub(super) is_hash: bool,
    /// The version to warn of, if it is an old one.
    pub(super) legacy_version: Option<u8>,
}

/// Configurations by file, so that many lookups read each once; an entry counts as long as the file's
/// text is the same.
#[derive(Debug, Default)]
pub struct ConfigCache {
    /// What the levels of layers read, see [`super::plan`].
    pub(super) plans: super::plan::PlanCache,
    entries: Mutex<Map<Arc<str>, Vec<ConfigEntry>>>,
    /// Configurations in the place of files that are not there, by the folder of the file; the global
    /// layer has none where no file is named.
    absent: Mutex<Map<Option<Box<str>>, SharedConfig>>,
    /// Patterns of lookup options, which are compiled when a key first asks for it.
    patterns: Mutex<Map<Box<str>, Regexp>>,
    tokens: Mutex<Tokens>,
    sources: Mutex<super::language::Sources>,
}

/// The tokens of strings that one scope after another evaluates: paths of configurations, data.
#[derive(Debug)]
struct Tokens(Generations<Box<str>, Arc<[Token]>>);

/// Maximum number of bytes of strings whose tokens are remembered, before those not met for long
/// are forgotten; tokens take some ten times their text.
const MOST_WITH_TOKENS: usize = 256 << 10;

impl Default for Tokens {
    fn default() -> Tokens {
        Tokens(Generations::new(MOST_WITH_TOKENS))
    }
}

/// Maximum number of patterns that are kept compiled.
const MAX_PATTERNS: usize = 4_096;

/// A configuration, or why it is none; the same one as long as it says the same.
type SharedConfig = Arc<Result<Config, ConfigError>>;

#[derive(Debug)]
struct ConfigEntry {
    layer: Layer,
    /// The folder that its relative data directories start from.
    root: Box<str>,
    text: Arc<str>,
    read: ReadConfig,
}

impl ConfigCache {
    /// The configuration of a text, read now or before; what cannot be read is not kept.
    pub(super) fn get(
        &self,
        (path, root): (&Arc<str>, &str),
        layer: &Layer,
        text: &Arc<str>,
        read: impl FnOnce() -> Found<ReadConfig>,
    ) -> Found<ReadConfig> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let of_path = entries.entry(path.clone()).or_default();
        let known = of_path.iter().position(|entry| entry.layer == *layer);
        if let Some(at) = known {
            let entry = &of_path[at];
            if entry.text == *text && *entry.root == *root {
                return Ok(entry.read.clone());
            }
            of_path.swap_remove(at);
        }
        let read = read()?;
        of_path.push(ConfigEntry {
            layer: layer.clone(),
            root: Box::from(root),
            text: text.clone(),
            read: read.clone(),
        });
        Ok(read)
    }

    /// The configuration in the place of a file that is not there in a folder, or of no file at all,
    /// made now or before.
    pub(super) fn absent(
        &self,
        folder: Option<&str>,
        make: impl FnOnce() -> Config,
    ) -> SharedConfig {
        let mut known = self.absent.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = known.entry(folder.map(Box::from));
        entry.or_insert_with(|| Arc::new(Ok(make()))).clone()
    }

    /// The tokens of a string, found now or before.
    pub(super) fn tokens(&self, text: &str) -> Arc<[Token]> {
        let lock = || self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().0.get(text) {
            return known.clone();
        }
        let found: Arc<[Token]> = Arc::from(tokens(text));
        lock().0.insert(Box::from(text), found.clone(), text.len());
        found
    }

    /// A manifest or the file of a function, read now or before.
    #[must_use]
    pub fn source(&self, path: &Arc<str>, text: &Arc<str>) -> Arc<Source> {
        let mut known = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(path, text)
    }

    /// A pattern of lookup options, read now or before.
    ///
    /// # Errors
    /// As [`Regexp::lazy`].
    pub fn pattern(&self, source: &str) -> Result<Regexp, RegexpError> {
        let mut known = self.patterns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pattern) = known.get(source) {
            return Ok(pattern.clone());
        }
        let pattern = Regexp::lazy(source)?;
        if known.len() >= MAX_PATTERNS {
            known.clear();
        }
        known.insert(Box::from(source), pattern.clone());
        Ok(pattern)
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
