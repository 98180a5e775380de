//! Versions 3 and 4 of `hiera.yaml` (`HieraConfigV3`, `HieraConfigV4`).

use std::sync::Arc;

use super::config::{ConfigBody, V3, V4Level};
use super::config_error::ConfigError;
use crate::datatype;
use crate::value::Value;

pub(super) fn read_version_4(path: &str, value: &Value) -> Result<ConfigBody, ConfigError> {
    let value = fill(
        value,
        [
            ("datadir", "data".into()),
            (
                "hierarchy",
                Value::array([Value::hash([
                    ("name", "common".into()),
                    ("backend", "yaml".into()),
                ])]),
            ),
        ],
    );
    let expected = datatype::parse_known(
        "Struct[{version=>Integer[4,4],Optional[datadir]=>String[1],Optional[hierarchy]=>\
         Array[Struct[{backend=>String[1],name=>String[1],Optional[datadir]=>String[1],\
         Optional[path]=>String[1],Optional[paths]=>Array[String[1]]}]]}]",
    );
    assert_type(path, &expected, &value)?;
    let text = |value: &Value| Arc::<str>::from(value.as_str().unwrap_or_default());
    let default_datadir = value.get("datadir").map(text).unwrap_or_default();
    let entries = value
        .get("hierarchy")
        .and_then(Value::as_array)
        .unwrap_or_default();
    let hierarchy = entries
        .iter()
        .map(|entry| {
            let name = entry.get("name").map(text).unwrap_or_default();
            let paths = match (
                entry.get("paths").and_then(Value::as_array),
                entry.get("path"),
            ) {
                (Some(paths), _) => paths.iter().map(text).collect(),
                (None, Some(path)) => vec![text(path)],
                (None, None) => vec![name.clone()],
            };
            V4Level {
                name,
                backend: entry.get("backend").map(text).unwrap_or_default(),
                datadir: entry
                    .get("datadir")
                    .map_or_else(|| default_datadir.clone(), text),
                paths,
            }
        })
        .collect();
    Ok(ConfigBody::V4 { hierarchy })
}

pub(super) fn read_version_3(path: &str, value: &Value) -> Result<ConfigBody, ConfigError> {
    let value = fill(
        value,
        [
            ("version", 3.into()),
            ("backends", Value::array(["yaml".into()])),
            (
                "hierarchy",
                Value::array(["nodes/%{::trusted.certname}".into(), "common".into()]),
            ),
            ("merge_behavior", "native".into()),
            ("deep_merge_options", Value::hash([])),
        ],
    );
    let backends = names(value.get("backends"));
    // A backend that is named twice has one hash; the repetition is reported later.
    let own: String = backends
        .iter()
        .enumerate()
        .filter(|(at, name)| !backends[..*at].contains(name))
        .map(|(_, name)| name)
        .map(|name| format!(",Optional[{}]=>Hash[String[1],Any]", datatype::quote(name)))
        .collect();
    let expected = datatype::parse_known(&format!(
        "Struct[{{Optional[version]=>Integer[3,3],\
         Optional[backends]=>Variant[String[1],Array[String[1]]],Optional[logger]=>String[1],\
         Optional[merge_behavior]=>Enum[deep,deeper,native],\
         Optional[deep_merge_options]=>Hash[String[1],Variant[String,Boolean]],\
         Optional[hierarchy]=>Variant[String[1],Array[String[1]]]{own}}}]"
    ));
    assert_type(path, &expected, &value)?;
    let backend_options = backends
        .iter()
        .filter_map(|name| Some((name.clone(), value.get(name)?.clone())))
        .collect();
    Ok(ConfigBody::V3(V3 {
        backends,
        hierarchy: names(value.get("hierarchy")),
        backend_options,
    }))
}

/// `[x].flatten` of a name or a list of names.
fn names(value: Option<&Value>) -> Vec<Arc<str>> {
    match value {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(all)) => all
            .iter()
            .filter_map(Value::as_str)
            .map(Arc::from)
            .collect(),
        Some(_) | None => Vec::new(),
    }
}

/// The value with defaults for entries that are missing, null or false.
pub(super) fn fill<const N: usize>(value: &Value, defaults: [(&str, Value); N]) -> Value {
    let mut hash = value.as_hash().cloned().unwrap_or_default();
    for (key, default) in defaults {
        let entry = hash.entry(Value::string(key)).or_insert(Value::Undef);
        if entry.is_falsey() {
            *entry = default;
        }
    }
    Value::from(hash)
}

pub(super) fn assert_type(
    path: &str,
    expected: &datatype::Type,
    value: &Value,
) -> Result<(), ConfigError> {
    datatype::check(expected, value).map_err(|mismatches| ConfigError::Structure {
        path: Arc::from(path),
        mismatches,
    })
}
