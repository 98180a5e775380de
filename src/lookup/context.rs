//! The context of lookups: the environment's folders, Puppet's settings, cached configurations.

use std::collections::{HashMap as Map, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::error::Found;
use super::options::CompiledOptions;
use crate::eyaml::Keys;
use crate::hierarchy::{Backends, Config, ConfigError, Layer, Product};
use crate::puppet::CodeFile;
use crate::regexp::{Regexp, RegexpError};
use crate::value::{HashMap, Ruby, Value};

/// The version of Puppet to emulate; in settings its number, or a text of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "serde_json::Value")]
pub enum PuppetVersion {
    /// Puppet 7.
    V7,
    /// Puppet 8 and OpenVox 8.
    #[default]
    V8,
    /// OpenVox 9.
    V9,
}

impl PuppetVersion {
    /// All versions, the oldest first.
    pub const ALL: [PuppetVersion; 3] = [PuppetVersion::V7, PuppetVersion::V8, PuppetVersion::V9];

    /// The version with a number.
    #[must_use]
    pub fn of(number: u64) -> Option<PuppetVersion> {
        let mut all = PuppetVersion::ALL.into_iter();
        all.find(|version| u64::from(u8::from(*version)) == number)
    }

    /// Who speaks in its messages.
    #[must_use]
    pub fn product(self) -> Product {
        match self {
            PuppetVersion::V7 | PuppetVersion::V8 => Product::Puppet,
            PuppetVersion::V9 => Product::OpenVox,
        }
    }

    /// The Ruby of its server: JRuby 9.3 and 9.4 are Ruby 2.6 and 3.1, JRuby 10.1 of openvox-server 9
    /// is Ruby 4.0.
    #[must_use]
    pub fn ruby(self) -> Ruby {
        match self {
            PuppetVersion::V7 | PuppetVersion::V8 => Ruby::V31,
            PuppetVersion::V9 => Ruby::V40,
        }
    }
}

impl From<PuppetVersion> for u8 {
    fn from(version: PuppetVersion) -> u8 {
        match version {
            PuppetVersion::V7 => 7,
            PuppetVersion::V8 => 8,
            PuppetVersion::V9 => 9,
        }
    }
}

impl TryFrom<serde_json::Value> for PuppetVersion {
    type Error = &'static str;

    fn try_from(number: serde_json::Value) -> Result<PuppetVersion, &'static str> {
        let text = number.as_str().and_then(|text| text.parse().ok());
        let number = number.as_u64().or(text);
        number
            .and_then(PuppetVersion::of)
            .ok_or("expected 7, 8 or 9")
    }
}

/// Puppet's setting `strict`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Strict {
    /// Ignored.
    Off,
    /// Warnings.
    Warning,
    /// Errors.
    Error,
}

impl Strict {
    /// All values.
    pub const ALL: [Strict; 3] = [Strict::Off, Strict::Warning, Strict::Error];

    /// The value's name in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Strict::Off => "off",
            Strict::Warning => "warning",
            Strict::Error => "error",
        }
    }
}

/// Puppet's settings that lookups depend on.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The version of Puppet to emulate.
    pub puppet_version: PuppetVersion,
    /// The setting `strict`.
    pub strict: Strict,
    /// The setting `strict_variables`.
    pub strict_variables: bool,
    /// The Ruby whose texts lists and hashes have in strings.
    pub ruby: Ruby,
    /// Whether the readable part of a broken file is used. Editors use the readable part and report
    /// the error as a diagnostic; in Puppet every lookup fails.
    pub recover_broken_files: bool,
    /// Whether a data function that no visible module defines is unknown rather than an error: a
    /// workspace may lack modules.
    pub modules_may_be_missing: bool,
    /// Keys to decrypt eyaml values, given by the user; without them such values stay secret.
    pub keys: Option<Arc<Keys>>,
    /// Declarations of functions that are not Puppet's own.
    pub backends: Arc<Backends>,
}

impl Settings {
    /// The defaults of a version (`strict`, `strict_variables`), with files read as in Puppet.
    #[must_use]
    pub fn for_version(version: PuppetVersion) -> Settings {
        let (strict, strict_variables) = match version {
            PuppetVersion::V7 => (Strict::Warning, false),
            PuppetVersion::V8 | PuppetVersion::V9 => (Strict::Error, true),
        };
        Settings {
            puppet_version: version,
            strict,
            strict_variables,
            ruby: version.ruby(),
            recover_broken_files: false,
            modules_may_be_missing: false,
            keys: None,
            backends: Arc::default(),
        }
    }

    /// Whether lookups with other settings have the same answers. Keys are only compared by whether
    /// there are some.
    #[must_use]
    pub fn answers_alike(&self, other: &Settings) -> bool {
        let plain = |it: &Settings| {
            let are_read = (it.recover_broken_files, it.modules_may_be_missing);
            let versions = (it.puppet_version, it.strict, it.strict_variables);
            (versions, it.ruby, are_read, it.keys.is_some())
        };
        plain(self) == plain(other) && self.backends == other.backends
    }

    /// The same settings for an editor: broken files and missing modules are tolerated.
    #[must_use]
    pub fn for_editor(self) -> Settings {
        Settings {
            recover_broken_files: true,
            modules_may_be_missing: true,
            ..self
        }
    }
}

/// Default of Puppet's setting `codedir`.
pub const CODEDIR: &str = "/etc/puppetlabs/code";

/// The modules that the agent's package brings, on the modulepath of every environment.
pub const AGENT_MODULES: &str = "/opt/puppetlabs/puppet/modules";

/// The folders of an environment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Environment {
    /// The environment's name.
    pub name: Arc<str>,
    /// Whether lookups are those of Bolt's plans outside of apply blocks: they use `plan_hierarchy`, and
    /// have no facts and no trusted data.
    pub is_of_plans: bool,
    /// Its folder; `None` for a module that stands alone.
    pub dir: Option<Arc<str>>,
    /// Its configuration.
    pub config: EnvironmentConfig,
    /// Folders of modules; the first one with a module wins.
    pub modulepath: Vec<Arc<str>>,
    /// Modules known by name; they take precedence over the module path.
    pub modules: Vec<(Arc<str>, Arc<str>)>,
    /// The path of the global layer's `hiera.yaml`, which may not exist.
    pub global_config: Option<Arc<str>>,
    /// The base of the global layer's relative data directories, if it is not the folder of its
    /// configuration.
    pub global_dir: Option<Arc<str>>,
    /// Puppet's `codedir`, for the default data directory of version 3.
    pub codedir: Arc<str>,
    /// `environment_data_provider` of `environment.conf`.
    pub data_provider: Option<Arc<str>>,
}

/// Where an environment's configuration is.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum EnvironmentConfig {
    /// `DIR/hiera.yaml`, if it exists.
    #[default]
    Own,
    /// In another place; relative data directories start from the environment's folder.
    Elsewhere(Arc<str>),
    /// No configuration, even if its folder has one.
    None,
}

#[derive(Clone, Debug)]
pub(super) struct ReadConfig {
    pub(super) config: Arc<Result<Config, ConfigError>>,
    /// Whether the text holds a hash; if not, version 3's defaults apply.
    pub(super) is_hash: bool,
    /// The old version to warn about, if any.
    pub(super) legacy_version: Option<u8>,
}

/// Caches configurations by file, shared by many lookups; an entry is valid while the file's text
/// is the same. A clone is the same cache.
#[derive(Clone, Debug, Default)]
pub struct ConfigCache(Arc<KeptConfigs>);

#[derive(Debug, Default)]
struct KeptConfigs {
    plans: super::plan::PlanCache,
    deciding: super::deciding_options::DecidingFiles,
    shared_work: super::shared_work::SharedWorkCache,
    entries: Mutex<Map<Arc<str>, Vec<ConfigEntry>>>,
    /// Default configurations for missing files, by the folder of the file; the global layer has
    /// none if no file is named.
    absent: Mutex<Map<Option<Box<str>>, SharedConfig>>,
    /// Patterns of lookup options, compiled when first needed.
    patterns: Mutex<Map<Box<str>, Regexp>>,
    sources: Mutex<super::language::Sources>,
    /// Prepared hashes of options, the oldest first.
    compiled_options: Mutex<VecDeque<(Arc<HashMap>, Arc<CompiledOptions>)>>,
    /// Merged hashes of options, the oldest first.
    merged_options: Mutex<VecDeque<MergedOptions>>,
}

/// Two hashes of options, the one of the higher level first, with the merged one.
type MergedOptions = ([Arc<HashMap>; 2], Value);

/// Maximum number of cached hashes of options, prepared and merged: most nodes share those of their role.
const MAX_OPTIONS: usize = 256;

/// Maximum number of cached compiled patterns.
const MAX_PATTERNS: usize = 4_096;

/// A configuration, or its error; shared while the text is unchanged.
type SharedConfig = Arc<Result<Config, ConfigError>>;

#[derive(Debug)]
struct ConfigEntry {
    layer: Layer,
    /// The base of its relative data directories.
    root: Box<str>,
    text: Arc<str>,
    read: ReadConfig,
}

impl ConfigCache {
    pub(super) fn plans(&self) -> &super::plan::PlanCache {
        &self.0.plans
    }

    pub(super) fn deciding(&self) -> &super::deciding_options::DecidingFiles {
        &self.0.deciding
    }

    pub(super) fn shared_work(&self) -> &super::shared_work::SharedWorkCache {
        &self.0.shared_work
    }

    /// The configuration of a text, cached; errors are not cached.
    pub(super) fn get(
        &self,
        (path, root): (&Arc<str>, &str),
        layer: &Layer,
        text: &Arc<str>,
        read: impl FnOnce() -> Found<ReadConfig>,
    ) -> Found<ReadConfig> {
        let mut entries = self
            .0
            .entries
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
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

    /// The default configuration for a missing file of a folder, or for no file at all, cached.
    pub(super) fn absent(
        &self,
        folder: Option<&str>,
        make: impl FnOnce() -> Config,
    ) -> SharedConfig {
        let mut known = self.0.absent.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = known.entry(folder.map(Box::from));
        entry.or_insert_with(|| Arc::new(Ok(make()))).clone()
    }

    /// The source of a manifest or a function's file, cached.
    #[must_use]
    pub fn source(&self, path: &Arc<str>, text: &Arc<str>) -> Arc<CodeFile> {
        let mut known = self
            .0
            .sources
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        known.get(path, text)
    }

    /// A prepared hash of options, cached for the very same hash; errors are not cached. Without the
    /// cache every scope prepares its options anew.
    pub(super) fn compiled_options(
        &self,
        entries: &Arc<HashMap>,
        compile: impl FnOnce() -> Found<Arc<CompiledOptions>>,
    ) -> Found<Arc<CompiledOptions>> {
        let is_same = |known: &Arc<HashMap>| Arc::ptr_eq(known, entries);
        cached(&self.0.compiled_options, is_same, || {
            Ok((Arc::clone(entries), compile()?))
        })
    }

    /// The merged hash of two hashes of options, cached for the very same hashes; errors are not cached.
    pub(super) fn merged_options(
        &self,
        parts: [&Arc<HashMap>; 2],
        merge: impl FnOnce() -> Found<Value>,
    ) -> Found<Value> {
        let is_same = |known: &[Arc<HashMap>; 2]| {
            let mut pairs = known.iter().zip(parts);
            pairs.all(|(one, other)| Arc::ptr_eq(one, other))
        };
        cached(&self.0.merged_options, is_same, || {
            Ok((parts.map(Arc::clone), merge()?))
        })
    }

    /// A pattern of lookup options, cached.
    ///
    /// # Errors
    /// As [`Regexp::lazy`].
    pub fn pattern(&self, source: &str) -> Result<Regexp, RegexpError> {
        let mut known = self
            .0
            .patterns
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
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

/// The value of an entry of a list, the oldest of which is dropped if it is full.
fn cached<K, V: Clone>(
    list: &Mutex<VecDeque<(K, V)>>,
    is_same: impl Fn(&K) -> bool,
    find: impl FnOnce() -> Found<(K, V)>,
) -> Found<V> {
    let lock = || list.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, value)) = lock().iter().rev().find(|(key, _)| is_same(key)) {
        return Ok(value.clone());
    }
    let entry = find()?;
    let value = entry.1.clone();
    let mut known = lock();
    if known.len() >= MAX_OPTIONS {
        known.pop_front();
    }
    known.push_back(entry);
    Ok(value)
}
