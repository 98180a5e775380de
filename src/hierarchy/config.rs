//! The model of one `hiera.yaml`, and how it is read from the file's value.

use std::sync::Arc;

use super::config_error::{ConfigError, ConfigRule};
use super::{legacy, version5};
use crate::interpolation::{Token, tokens};
use crate::value::{Value, symbol_keys_to_strings};

/// The layer of a configuration; higher layers win.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Layer {
    /// The server's own configuration.
    Global,
    /// An environment (a control repo).
    Environment,
    /// A module, by name.
    Module(Arc<str>),
}

impl Layer {
    /// The module's name, for the module layer.
    #[must_use]
    pub fn module_name(&self) -> Option<&str> {
        match self {
            Layer::Module(name) => Some(name),
            Layer::Global | Layer::Environment => None,
        }
    }
}

/// The kinds of data provider functions (`HieraConfig::ALL_FUNCTION_KEYS`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FunctionKind {
    /// One call returns all data of a location.
    DataHash,
    /// One call per key.
    LookupKey,
    /// One call per dotted key.
    DataDig,
    /// A backend of Hiera 3, global layer only.
    Hiera3Backend,
    /// A data function from before version 5.
    V4DataHash,
}

impl FunctionKind {
    /// All kinds in the order in which Puppet looks for them.
    pub const ALL: [FunctionKind; 5] = [
        FunctionKind::DataHash,
        FunctionKind::LookupKey,
        FunctionKind::DataDig,
        FunctionKind::Hiera3Backend,
        FunctionKind::V4DataHash,
    ];

    /// Its key in `hiera.yaml`.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            FunctionKind::DataHash => "data_hash",
            FunctionKind::LookupKey => "lookup_key",
            FunctionKind::DataDig => "data_dig",
            FunctionKind::Hiera3Backend => "hiera3_backend",
            FunctionKind::V4DataHash => "v4_data_hash",
        }
    }
}

/// The function that provides a level's data.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Function {
    /// Its kind.
    pub kind: FunctionKind,
    /// Its name: `yaml_data`, `mymodule::vault`.
    pub name: Arc<str>,
}

/// The locations of a level's data, before interpolation.
#[derive(Clone, PartialEq, Debug)]
pub enum Locations {
    /// The function is called once, without a location.
    None,
    /// `path`, `paths`
    Paths(Vec<WrittenLocation>),
    /// `glob`, `globs`
    Globs(Vec<WrittenLocation>),
    /// `uri`, `uris`
    Uris(Vec<WrittenLocation>),
    /// `mapped_paths`: a variable with a list, the name for an element, the template.
    Mapped {
        /// The variable, without braces.
        variable: Arc<str>,
        /// The name of an element in the template.
        name: Arc<str>,
        /// The path template.
        template: WrittenLocation,
    },
}

/// A path, glob or URI of a level, as written.
#[derive(Clone, PartialEq, Debug)]
pub struct WrittenLocation {
    /// The text.
    pub text: Arc<str>,
    /// Its tokens: each node's lookups evaluate them.
    pub tokens: Arc<[Token]>,
}

impl WrittenLocation {
    /// The text and its tokens.
    #[must_use]
    pub fn parts(&self) -> (&str, &[Token]) {
        (&self.text, &self.tokens)
    }
}

impl From<&str> for WrittenLocation {
    fn from(text: &str) -> WrittenLocation {
        WrittenLocation {
            text: Arc::from(text),
            tokens: tokens(text).into(),
        }
    }
}

/// One entry of a hierarchy.
#[derive(Clone, PartialEq, Debug)]
pub struct Level {
    /// The entry's name.
    pub name: Arc<str>,
    /// The function, from `defaults` if the entry has none.
    pub function: Function,
    /// The data directory, relative to the configuration unless absolute; not interpolated.
    pub datadir: Arc<str>,
    /// The locations.
    pub locations: Locations,
    /// The options, from `defaults` if the entry has none; not interpolated.
    pub options: Value,
    /// Whether the file extension of a version 3 or 4 backend is appended to paths.
    pub extension: Option<Arc<str>>,
}

/// One configuration file.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Absolute path of the file; `None` for Puppet's built-in default.
    pub path: Option<Arc<str>>,
    /// The base of relative data directories.
    pub root: Arc<str>,
    /// Text of the file: Puppet finds line numbers by searching it.
    pub text: Arc<str>,
    /// The part that depends on the version.
    pub body: ConfigBody,
}

/// The part of a configuration that depends on its version.
#[derive(Clone, PartialEq, Debug)]
pub enum ConfigBody {
    /// Version 5.
    V5 {
        /// The hierarchy.
        hierarchy: Vec<Level>,
        /// The hierarchy of Bolt's plans, outside of apply blocks.
        plan_hierarchy: Option<Vec<Level>>,
        /// A module's hierarchy of defaults.
        default_hierarchy: Option<Vec<Level>>,
    },
    /// Version 4, environments and modules only.
    V4 {
        /// The hierarchy.
        hierarchy: Vec<V4Level>,
    },
    /// Version 3, the global layer only.
    V3(V3),
}

impl ConfigBody {
    /// All levels of version 5: of the hierarchy, for plans, and of defaults.
    pub fn levels(&self) -> impl Iterator<Item = &Level> {
        let all = match self {
            ConfigBody::V5 {
                hierarchy,
                plan_hierarchy,
                default_hierarchy,
            } => [
                Some(hierarchy),
                plan_hierarchy.as_ref(),
                default_hierarchy.as_ref(),
            ],
            ConfigBody::V4 { .. } | ConfigBody::V3(_) => [None; 3],
        };
        all.into_iter().flatten().flatten()
    }

    /// The hierarchy of version 5; for plans the one for plans, if there is one.
    #[must_use]
    pub fn hierarchy(&self, is_of_plans: bool) -> Option<&[Level]> {
        match self {
            ConfigBody::V5 {
                plan_hierarchy: Some(levels),
                ..
            } if is_of_plans => Some(levels),
            ConfigBody::V5 { hierarchy, .. } => Some(hierarchy),
            ConfigBody::V4 { .. } | ConfigBody::V3(_) => None,
        }
    }
}

/// One entry of a version 4 hierarchy.
#[derive(Clone, PartialEq, Debug)]
pub struct V4Level {
    /// The entry's name.
    pub name: Arc<str>,
    /// `yaml`, `json`, `hocon`, or something that Puppet refuses.
    pub backend: Arc<str>,
    /// Data directory; not interpolated.
    pub datadir: Arc<str>,
    /// Paths, usually without extension.
    pub paths: Vec<Arc<str>>,
}

/// A version 3 configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct V3 {
    /// Backends in order.
    pub backends: Vec<Arc<str>>,
    /// Paths, without extension.
    pub hierarchy: Vec<Arc<str>>,
    /// Each backend's own hash, unchanged.
    pub backend_options: Vec<(Arc<str>, Value)>,
}

impl Config {
    /// The version: 3, 4 or 5.
    #[must_use]
    pub fn version(&self) -> u8 {
        match self.body {
            ConfigBody::V5 { .. } => 5,
            ConfigBody::V4 { .. } => 4,
            ConfigBody::V3(_) => 3,
        }
    }

    /// The version in the value of a `hiera.yaml`; 3 if there is none.
    ///
    /// # Errors
    /// Puppet's error for a version that is no number.
    pub fn version_of(loaded: &Value) -> Result<i64, ConfigError> {
        let hash = loaded.as_hash();
        let symbol = hash.and_then(|hash| hash.get(&Value::Symbol("version".into())));
        // `loaded['version'] || loaded[:version]`, then `to_i`.
        let found = loaded.get("version").filter(|value| !value.is_falsey());
        Ok(match found.or(symbol) {
            None | Some(Value::Undef) => 3,
            Some(Value::Bool(false)) => return Err(no_to_i("false:FalseClass")),
            Some(Value::Int(number)) => *number,
            #[allow(clippy::cast_possible_truncation)]
            Some(Value::Float(number)) => *number as i64,
            Some(Value::String(text)) => leading_integer(text),
            Some(Value::Bool(true)) => return Err(no_to_i("true:TrueClass")),
            Some(list @ Value::Array(_)) => {
                return Err(no_to_i(&format!("{}:Array", list.inspect())));
            }
            Some(hash @ Value::Hash(_)) => {
                return Err(no_to_i(&format!("{}:Hash", hash.inspect())));
            }
            Some(_) => 0,
        })
    }

    /// Puppet's default without a file (`HieraConfigV5::DEFAULT_CONFIG_HASH`), rooted at the folder
    /// of the missing file.
    #[must_use]
    pub fn built_in(root: &str) -> Config {
        Config {
            path: None,
            root: Arc::from(root),
            text: Arc::from(""),
            body: version5::body_of(&version5::with_defaults(&Value::Undef)),
        }
    }

    /// Reads the value of a `hiera.yaml` (`HieraConfig.create`). A value that is no hash gives the
    /// defaults of version 3 (`HieraConfigV3::DEFAULT_CONFIG_HASH`).
    ///
    /// # Errors
    /// Puppet's error, in its words.
    pub fn read(
        path: &str,
        root: &str,
        text: Arc<str>,
        loaded: &Value,
        layer: &Layer,
    ) -> Result<Config, ConfigError> {
        let value = symbol_keys_to_strings(loaded.clone());
        let body = match Config::version_of(loaded)? {
            5 => version5::read(path, &text, &value, layer)?,
            4 => legacy::read_version_4(path, &value)?,
            3 => legacy::read_version_3(path, &value)?,
            other => {
                let rule = ConfigRule::Version(other);
                return Err(ConfigError::Rule { rule, line: None });
            }
        };
        Ok(Config {
            path: Some(Arc::from(path)),
            root: Arc::from(root),
            text,
            body,
        })
    }

    /// First line (from 1) at or after `from` that `matches`, without comments
    /// (`HieraConfig#find_line_matching`).
    #[must_use]
    pub fn find_line(text: &str, from: usize, matches: &dyn Fn(&str) -> bool) -> Option<usize> {
        text.lines()
            .enumerate()
            .skip(from.saturating_sub(1))
            .find(|(_, line)| matches(without_comment(line)))
            .map(|(at, _)| at + 1)
    }
}

/// The line up to an unquoted hash mark.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, character) in line.char_indices() {
        match character {
            '"' | '\'' if quote == Some(character) => quote = None,
            '"' | '\'' if quote.is_none() => quote = Some(character),
            '#' => return &line[..at],
            _ => {}
        }
    }
    line
}

fn no_to_i(receiver: &str) -> ConfigError {
    ConfigError::Crash(format!("undefined method `to_i' for {receiver}"))
}

/// Ruby's `String#to_i`.
fn leading_integer(text: &str) -> i64 {
    let text = text.trim_start();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    let number = digits[..end].parse().unwrap_or(0);
    if text.starts_with('-') {
        -number
    } else {
        number
    }
}
