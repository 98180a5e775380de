//! Version 5 of `hiera.yaml`: its schema, its rules, its defaults (`HieraConfigV5`).

use std::sync::{Arc, OnceLock};

use super::config::{
    Config, ConfigBody, Function, FunctionKind, Layer, Level, Locations, WrittenLocation,
};
use super::config_error::{ConfigError, ConfigRule, Product};
use super::legacy::{assert_type, fill};
use crate::datatype::{self, Element, Presence, Type};
use crate::value::Value;

/// The keys of which an entry may have one (`HieraConfig::LOCATION_KEYS`).
pub const LOCATION_KEYS: [&str; 7] = [
    "path",
    "paths",
    "glob",
    "globs",
    "uri",
    "uris",
    "mapped_paths",
];

/// The keys of a level.
pub const LEVEL_KEYS: [&str; 14] = [
    "name",
    "path",
    "paths",
    "glob",
    "globs",
    "mapped_paths",
    "uri",
    "uris",
    "datadir",
    "data_hash",
    "lookup_key",
    "data_dig",
    "hiera3_backend",
    "options",
];

/// The keys of `defaults`.
pub const DEFAULTS_KEYS: [&str; 5] = ["datadir", "data_hash", "lookup_key", "data_dig", "options"];

/// One entry of a hierarchy as a Puppet type (`HieraConfigV5.config_type`).
const ENTRY_TYPE: &str = "Struct[{name=>String[1],\
    Optional[options]=>Hash[Pattern[/\\A[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?\\z/],Data],\
    Optional[data_hash]=>String[1],Optional[lookup_key]=>String[1],\
    Optional[hiera3_backend]=>String[1],Optional[v4_data_hash]=>String[1],\
    Optional[data_dig]=>String[1],Optional[path]=>String[1],\
    Optional[paths]=>Array[String[1],1],Optional[glob]=>String[1],\
    Optional[globs]=>Array[String[1],1],Optional[uri]=>String[1],\
    Optional[uris]=>Array[String[1],1],Optional[mapped_paths]=>Array[String[1],3,3],\
    Optional[datadir]=>String[1]}]";

const DEFAULTS_TYPE: &str = "Struct[{Optional[data_hash]=>String[1],\
    Optional[lookup_key]=>String[1],Optional[data_dig]=>String[1],Optional[datadir]=>String[1],\
    Optional[options]=>Hash[Pattern[/\\A[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?\\z/],Data]}]";

/// The type of the whole configuration. Three keys share the type of an entry, parsed once.
fn config_type() -> &'static Type {
    static TYPE: OnceLock<Type> = OnceLock::new();
    TYPE.get_or_init(|| {
        let element = |name: &str, presence, value: &Type| Element {
            name: Arc::from(name),
            presence,
            value: value.clone(),
        };
        let version = datatype::parse_known("Integer[5,5]");
        let defaults = datatype::parse_known(DEFAULTS_TYPE);
        let levels = Type::Array(Arc::new(datatype::parse_known(ENTRY_TYPE)), None);
        Type::Struct(Arc::from([
            element("version", Presence::Required, &version),
            element("defaults", Presence::Optional, &defaults),
            element("hierarchy", Presence::Optional, &levels),
            element("plan_hierarchy", Presence::Optional, &levels),
            element("default_hierarchy", Presence::Optional, &levels),
        ]))
    })
}

pub(super) fn read(
    path: &str,
    text: &str,
    value: &Value,
    layer: &Layer,
) -> Result<ConfigBody, ConfigError> {
    let value = with_defaults(value);
    assert_type(path, config_type(), &value)?;
    let defaults = value.get("defaults");
    if let Some(defaults) = defaults {
        check_defaults(defaults)?;
    }
    let rules = Rules {
        text,
        layer,
        defaults,
    };
    let all = ["hierarchy", "plan_hierarchy"].into_iter();
    for entry in all.filter_map(|key| entries(&value, key)).flatten() {
        rules.check(entry)?;
    }
    if let Some(levels) = entries(&value, "default_hierarchy") {
        if layer.module_name().is_none() {
            let line = Config::find_line(text, 1, &|line| {
                let found = line.find("default_hierarchy:");
                found.is_some_and(|at| at == 0 || line[..at].ends_with(char::is_whitespace))
            });
            return Err(broken(ConfigRule::DefaultHierarchyOutsideModule, line));
        }
        for entry in levels {
            rules.check(entry)?;
        }
    }
    Ok(body_of(&value))
}

fn entries<'v>(value: &'v Value, key: &str) -> Option<&'v [Value]> {
    value.get(key)?.as_array()
}

/// The levels of a configuration with all defaults that passed all checks.
pub(super) fn body_of(value: &Value) -> ConfigBody {
    let defaults = value.get("defaults");
    let levels = |entries: &[Value]| entries.iter().map(|entry| level(entry, defaults)).collect();
    ConfigBody::V5 {
        hierarchy: levels(entries(value, "hierarchy").unwrap_or_default()),
        plan_hierarchy: entries(value, "plan_hierarchy").map(levels),
        default_hierarchy: entries(value, "default_hierarchy").map(levels),
    }
}

/// Missing, null or false `defaults` and `hierarchy` fall back to Puppet's defaults.
pub(super) fn with_defaults(value: &Value) -> Value {
    let defaults = [("datadir", "data"), ("data_hash", "yaml_data")];
    let common = [("name", "Common"), ("path", "common.yaml")];
    let texts = |all: [(&str, &str); 2]| Value::hash(all.map(|(key, text)| (key, text.into())));
    fill(
        value,
        [
            ("defaults", texts(defaults)),
            ("hierarchy", Value::array([texts(common)])),
        ],
    )
}

fn broken(rule: ConfigRule, line: Option<usize>) -> ConfigError {
    ConfigError::Rule { rule, line }
}

/// The first option reserved by Puppet.
fn reserved_option(entry: &Value) -> Option<&'static str> {
    let options = entry.get("options")?;
    ["path", "uri"]
        .into_iter()
        .find(|key| options.get(key).is_some())
}

/// How many of these kinds of functions an entry names.
fn functions(entry: &Value, kinds: &[FunctionKind]) -> usize {
    let named = kinds.iter().filter(|kind| entry.get(kind.key()).is_some());
    named.count()
}

fn check_defaults(defaults: &Value) -> Result<(), ConfigError> {
    if functions(defaults, &FunctionKind::ALL[..4]) > 1 {
        return Err(broken(ConfigRule::FunctionsInDefaults, None));
    }
    match reserved_option(defaults) {
        Some(option) => {
            let by = Product::Puppet;
            Err(broken(
                ConfigRule::ReservedOptionInDefaults { option, by },
                None,
            ))
        }
        None => Ok(()),
    }
}

/// The rules of `HieraConfigV5#validate_hierarchy`.
struct Rules<'a> {
    text: &'a str,
    layer: &'a Layer,
    defaults: Option<&'a Value>,
}

impl Rules<'_> {
    fn check(&self, entry: &Value) -> Result<(), ConfigError> {
        let level = || {
            let name = entry.get("name").and_then(Value::as_str);
            name.unwrap_or_default().to_owned()
        };
        let has_default = || {
            self.defaults
                .is_some_and(|defaults| functions(defaults, &FunctionKind::ALL[..4]) > 0)
        };
        match functions(entry, &FunctionKind::ALL) {
            0 if !has_default() => {
                return Err(broken(ConfigRule::NoFunction { level: level() }, None));
            }
            0 | 1 => {}
            _ => return Err(broken(ConfigRule::Functions { level: level() }, None)),
        }
        self.check_hiera3_backend(entry)?;
        let locations = LOCATION_KEYS.iter();
        if locations.filter(|key| entry.get(key).is_some()).count() > 1 {
            return Err(broken(ConfigRule::Locations { level: level() }, None));
        }
        match reserved_option(entry) {
            Some(option) => {
                let rule = ConfigRule::ReservedOption {
                    option,
                    level: level(),
                    by: Product::Puppet,
                };
                Err(broken(rule, None))
            }
            None => Ok(()),
        }
    }

    fn check_hiera3_backend(&self, entry: &Value) -> Result<(), ConfigError> {
        let Some(backend) = entry.get("hiera3_backend").and_then(Value::as_str) else {
            return Ok(());
        };
        let at_key = |line: &str| {
            line.find("hiera3_backend:")
                .filter(|&at| line[..at].ends_with(char::is_whitespace))
        };
        if *self.layer != Layer::Global {
            let line = Config::find_line(self.text, 1, &|line| at_key(line).is_some());
            return Err(broken(ConfigRule::BackendOutsideGlobal, line));
        }
        if matches!(backend, "json" | "yaml" | "hocon") {
            let line = Config::find_line(self.text, 1, &|line| {
                at_key(line).is_some_and(|at| {
                    let rest = line[at + "hiera3_backend:".len()..].trim_start();
                    let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
                    rest.strip_prefix(backend).is_some_and(|tail| {
                        !tail.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                    })
                })
            });
            let rule = ConfigRule::BackendOfDataHash(backend.to_owned());
            return Err(broken(rule, line));
        }
        Ok(())
    }
}

/// The level of an entry that passed all checks.
fn level(entry: &Value, defaults: Option<&Value>) -> Level {
    let text = |value: &Value| Arc::<str>::from(value.as_str().unwrap_or_default());
    let function_of = |entry: &Value, kinds: &[FunctionKind]| {
        kinds.iter().find_map(|&kind| {
            let name = text(entry.get(kind.key())?);
            Some(Function { kind, name })
        })
    };
    let own = function_of(entry, &FunctionKind::ALL);
    let inherited = || function_of(defaults?, &FunctionKind::ALL[..4]);
    let function = own.or_else(inherited).unwrap_or(Function {
        kind: FunctionKind::DataHash,
        name: Arc::from("yaml_data"),
    });
    let inherit = |key: &str| {
        entry
            .get(key)
            .or_else(|| defaults.and_then(|all| all.get(key)))
    };
    Level {
        name: entry.get("name").map(text).unwrap_or_default(),
        function,
        datadir: inherit("datadir").map_or_else(|| Arc::from("data"), text),
        locations: locations(entry),
        options: inherit("options")
            .cloned()
            .unwrap_or_else(|| Value::hash([])),
        extension: None,
    }
}

fn locations(entry: &Value) -> Locations {
    let one = |key: &str| Some(vec![WrittenLocation::from(entry.get(key)?.as_str()?)]);
    let texts = |key: &str| {
        let all = entry.get(key)?.as_array()?.iter();
        Some(all.filter_map(Value::as_str))
    };
    let many = |key: &str| Some(texts(key)?.map(WrittenLocation::from).collect());
    let mapped: Option<Vec<&str>> = texts("mapped_paths").map(Iterator::collect);
    if let Some(paths) = one("path").or_else(|| many("paths")) {
        Locations::Paths(paths)
    } else if let Some(globs) = one("glob").or_else(|| many("globs")) {
        Locations::Globs(globs)
    } else if let Some(uris) = one("uri").or_else(|| many("uris")) {
        Locations::Uris(uris)
    } else if let Some([variable, name, template]) = mapped.as_deref() {
        Locations::Mapped {
            variable: Arc::from(*variable),
            name: Arc::from(*name),
            template: WrittenLocation::from(*template),
        }
    } else {
        Locations::None
    }
}
