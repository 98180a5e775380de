//! Recognises the configuration of a hierarchy by its content, and where its data lies: a fact of
//! one text.

use std::sync::Arc;

use super::path;
use super::roots::HIERA_YAML;
use crate::hierarchy::{Config, ConfigBody, DataPath, Layer, data_paths, without_tags};
use crate::value::{Value, load_yaml};

/// Maximum number of bytes of a text that is examined: configurations are written by people.
const LARGEST: usize = 256 << 10;

/// A configuration in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigFact {
    /// The version: 3, 4 or 5.
    pub version: u8,
    /// The locations of its levels.
    pub paths: Box<[DataPath]>,
    /// Whether it has a hierarchy for plans of Bolt.
    pub has_plans: bool,
    /// For a template: its text without tags.
    pub plain: Option<Arc<str>>,
}

/// The configuration in a text; `None` for other files, and for configurations that Puppet refuses.
pub(super) fn config_fact(at: &str, text: &str) -> Option<Arc<ConfigFact>> {
    let is_named = path::name(at) == HIERA_YAML;
    let is_template = path::is_template(at);
    let may_be = is_template || matches!(path::extension(at), Some("yaml" | "yml"));
    if text.len() > LARGEST || !(is_named || (may_be && names_a_hierarchy(text))) {
        return None;
    }
    let plain: Option<Arc<str>> = if is_template {
        Some(Arc::from(without_tags(text)?))
    } else {
        None
    };
    let text: Arc<str> = plain.clone().unwrap_or_else(|| Arc::from(text));
    let value = load_yaml(text.as_bytes()).ok()?;
    let version = Config::version_of(&value).ok()?;
    if !is_named && !has_hierarchy(&value, version) {
        return None;
    }
    value.as_hash()?;
    // A module's configuration allows most; the global layer's may have backends of version 3.
    let layers = [Layer::Module(Arc::from("")), Layer::Global];
    let read = |layer| Config::read(at, "", text.clone(), &value, layer).ok();
    let config = layers.iter().find_map(read)?;
    Some(Arc::new(ConfigFact {
        version: config.version(),
        paths: data_paths(&config).into(),
        has_plans: matches!(
            &config.body,
            ConfigBody::V5 {
                plan_hierarchy: Some(_),
                ..
            }
        ),
        plain,
    }))
}

/// Whether a line sets `hierarchy`, quoted or as a symbol: most files need no further parsing.
fn names_a_hierarchy(text: &str) -> bool {
    text.lines().any(|line| {
        line.trim_start_matches([':', '"', '\''])
            .trim_start_matches("plan_")
            .strip_prefix("hierarchy")
            .is_some_and(|rest| rest.starts_with([':', '"', '\'', ' ']))
    })
}

/// Whether a value has the form of a configuration: levels of version 5 or 4, or keys that only
/// version 3 has.
fn has_hierarchy(value: &Value, version: i64) -> bool {
    let Some(hash) = value.as_hash() else {
        return false;
    };
    let entry = |name: &str| {
        let symbol = || hash.get(&Value::Symbol(name.into()));
        hash.get(&Value::string(name)).or_else(symbol)
    };
    let hierarchy = entry("hierarchy").or_else(|| entry("plan_hierarchy"));
    let levels = hierarchy.and_then(Value::as_array).unwrap_or_default();
    match version {
        4 | 5 => !levels.is_empty() && levels.iter().all(|level| level.as_hash().is_some()),
        3 => {
            let is_symbol = hash.contains_key(&Value::Symbol("hierarchy".into()));
            let is_named = hierarchy.is_some_and(|one| one.as_str().is_some());
            let are_names = !levels.is_empty() && levels.iter().all(|name| name.as_str().is_some());
            (is_symbol || entry("backends").is_some()) && (is_named || are_names)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(at: &str, text: &str) -> Option<u8> {
        config_fact(at, text).map(|fact| fact.version)
    }

    #[test]
    fn content_decides_and_the_name_helps() {
        let five = "version: 5\nhierarchy:\n- {name: a, path: a.yaml}\n";
        assert_eq!(version("/w/files/production.yaml", five), Some(5));
        assert_eq!(version("/w/data/production.txt", five), None);
        assert_eq!(
            version("/w/data/x.yaml", "hierarchy: [a]\nversion: 5\n"),
            None
        );
        assert_eq!(version("/w/data/x.yaml", "a: 1\nhierarchy: x\n"), None);
        assert_eq!(version("/w/hiera.yaml", "version: 5\n"), Some(5));
        assert_eq!(version("/w/hiera.yaml", ""), None);
        assert_eq!(version("/w/hiera.yaml", "version: 5\nhierarchy: 1\n"), None);
        let four = "version: 4\nhierarchy:\n- {name: a, backend: yaml}\n";
        assert_eq!(version("/w/h.yml", four), Some(4));
        let three = "---\n:hierarchy:\n  - '%{x}'\n:backends: yaml\n:yaml:\n  :datadir: /d\n";
        assert_eq!(version("/w/hiera_aws.yml", three), Some(3));
        assert_eq!(version("/w/x.yml", "hierarchy: [a]\n"), None);
    }

    #[test]
    fn templates_are_read_without_their_tags() {
        let text = "version: 5\nhierarchy:\n- name: a\n  path: a.yaml\n  datadir: <%= @d %>\n";
        let fact = config_fact("/w/templates/hiera.yaml.erb", text).unwrap();
        assert_eq!(&*fact.paths[0].datadir, "%{<%= @d %>}");
        assert!(fact.plain.is_some());
    }
}
