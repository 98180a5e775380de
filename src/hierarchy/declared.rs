//! Users' declarations of data functions that are never run here: how a function reads, and from
//! which path.
//!
//! It must not know files or values.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::template::{KeyPart, Template, TemplatePart};
use crate::text::nearest;

/// Declarations by function name.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Backends(BTreeMap<String, Backend>);

/// The declaration of one function.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Backend {
    /// The function that it behaves like.
    pub like: Like,
    /// The files that it reads, the first one with the key is used; empty if it reads the level's
    /// own path.
    #[serde(
        default,
        deserialize_with = "one_or_many",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub path: Vec<KeyPath>,
    /// Patterns of its keys, for [`Like::Secret`]; empty if unknown.
    #[serde(
        default,
        deserialize_with = "one_or_many",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub keys: Vec<String>,
}

/// The behaviour of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Like {
    /// It reads YAML like `yaml_data`.
    YamlData,
    /// It reads JSON like `json_data`.
    JsonData,
    /// It reads HOCON like `hocon_data`.
    HoconData,
    /// It reads YAML and decrypts values, like `eyaml_lookup_key`.
    EyamlLookupKey,
    /// It returns a value that is not in the workspace.
    Secret,
    /// It has no keys.
    Nothing,
}

/// The names of [`Like`] in settings.
pub const LIKE: [&str; 6] = [
    "yaml_data",
    "json_data",
    "hocon_data",
    "eyaml_lookup_key",
    "secret",
    "nothing",
];

impl Like {
    /// The name in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Like::YamlData => LIKE[0],
            Like::JsonData => LIKE[1],
            Like::HoconData => LIKE[2],
            Like::EyamlLookupKey => LIKE[3],
            Like::Secret => LIKE[4],
            Like::Nothing => LIKE[5],
        }
    }
}

/// `'lib::expand_path' is declared to read like yaml_data`, without the name.
impl fmt::Display for Like {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Like::YamlData | Like::JsonData | Like::HoconData | Like::EyamlLookupKey => {
                write!(f, "read like {}", self.name())
            }
            Like::Secret => f.write_str("give secrets"),
            Like::Nothing => f.write_str("give nothing"),
        }
    }
}

impl Backends {
    /// The declaration of a function; `None` for Puppet's own, which are known.
    #[must_use]
    pub fn get(&self, function: &str) -> Option<&Backend> {
        self.0.get(function).filter(|_| !is_puppets_own(function))
    }

    /// Whether there are no declarations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The functions and their declarations, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Backend)> {
        self.0.iter()
    }

    /// Merges two sets of declarations; these win.
    #[must_use]
    pub fn or(&self, others: &Backends) -> Backends {
        let mut all = others.0.clone();
        all.extend(
            self.0
                .iter()
                .map(|(name, backend)| (name.clone(), backend.clone())),
        );
        Backends(all)
    }
}

impl<N: Into<String>> FromIterator<(N, Backend)> for Backends {
    fn from_iter<I: IntoIterator<Item = (N, Backend)>>(pairs: I) -> Backends {
        let pairs = pairs.into_iter();
        Backends(
            pairs
                .map(|(name, backend)| (name.into(), backend))
                .collect(),
        )
    }
}

/// Whether a function comes with Puppet.
#[must_use]
pub fn is_puppets_own(function: &str) -> bool {
    LIKE[..4].contains(&function)
}

/// A path made of a level's path or data directory and of a key's segments:
/// `{path}/{key_path}.yaml`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct KeyPath {
    text: Arc<str>,
    parts: Vec<PathPart>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum PathPart {
    Text(String),
    Level,
    Datadir,
    Key(KeyPart),
}

const PLACEHOLDERS: [&str; 7] = [
    "path",
    "datadir",
    "key",
    "key_path",
    "key_file",
    "key_module",
    "key_name",
];

impl KeyPath {
    /// Parses a path. If it starts with neither `{path}`, `{datadir}` nor `/`, it starts at the
    /// data directory.
    ///
    /// # Errors
    /// The problem, in words.
    pub fn parse(text: &str) -> Result<KeyPath, String> {
        let mut parts = Vec::new();
        if !text.starts_with(['{', '/']) {
            parts.extend([PathPart::Datadir, PathPart::Text("/".to_owned())]);
        }
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            if at > 0 {
                parts.push(PathPart::Text(rest[..at].to_owned()));
            }
            let inside = &rest[at + 1..];
            let Some(end) = inside.find('}') else {
                return Err(format!("'{text}' has a '{{' that nothing closes"));
            };
            parts.push(placeholder(&inside[..end])?);
            rest = &inside[end + 1..];
        }
        if !rest.is_empty() {
            parts.push(PathPart::Text(rest.to_owned()));
        }
        if text.is_empty() {
            return Err("expected a path, got nothing".to_owned());
        }
        // `{key}/x` starts at the data directory too.
        if let Some(PathPart::Key(_)) = parts.first() {
            parts.splice(..0, [PathPart::Datadir, PathPart::Text("/".to_owned())]);
        }
        Ok(KeyPath {
            text: Arc::from(text),
            parts,
        })
    }

    /// The path as written.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Whether it needs the path of a level's location.
    #[must_use]
    pub fn needs_level_path(&self) -> bool {
        self.parts.contains(&PathPart::Level)
    }

    /// The path for any key, for a location and a data directory.
    #[must_use]
    pub fn template(&self, location: &Template, datadir: &str) -> Template {
        let mut parts: Vec<TemplatePart> = Vec::new();
        let mut push = |part: TemplatePart| match (parts.last_mut(), part) {
            (Some(TemplatePart::Text(before)), TemplatePart::Text(text)) => before.push_str(&text),
            (_, part) => parts.push(part),
        };
        for part in &self.parts {
            match part {
                PathPart::Text(text) => push(TemplatePart::Text(text.clone())),
                PathPart::Level => location.parts.iter().cloned().for_each(&mut push),
                PathPart::Datadir => {
                    push(TemplatePart::Text(datadir.trim_end_matches('/').to_owned()));
                }
                PathPart::Key(part) => push(TemplatePart::Key(*part)),
            }
        }
        Template { parts }
    }
}

fn placeholder(name: &str) -> Result<PathPart, String> {
    Ok(match name {
        "path" => PathPart::Level,
        "datadir" => PathPart::Datadir,
        "key" => PathPart::Key(KeyPart::Whole),
        "key_path" => PathPart::Key(KeyPart::Path),
        "key_file" => PathPart::Key(KeyPart::File),
        "key_module" => PathPart::Key(KeyPart::Module),
        "key_name" => PathPart::Key(KeyPart::Name),
        other => {
            let known: Vec<String> = PLACEHOLDERS.map(|name| format!("{{{name}}}")).into();
            return Err(match nearest(other, PLACEHOLDERS.into_iter()) {
                Some(near) => {
                    format!("unknown placeholder '{{{other}}}': did you mean '{{{near}}}'?")
                }
                None => format!(
                    "unknown placeholder '{{{other}}}': there are {}",
                    known.join(", ")
                ),
            });
        }
    })
}

impl<'de> Deserialize<'de> for KeyPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<KeyPath, D::Error> {
        let text = String::deserialize(deserializer)?;
        KeyPath::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl Serialize for KeyPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

fn one_or_many<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany<T> {
        One(T),
        Many(Vec<T>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str, location: &str, key: &str) -> Option<String> {
        let template = KeyPath::parse(path).unwrap();
        let template = template.template(&Template::parse(location), "/env/data/");
        let keyed = template.with_key(key)?;
        assert!(
            template.matches(&keyed.to_string()),
            "{template:?} {keyed:?}"
        );
        Some(keyed.to_string())
    }

    #[test]
    fn a_path_is_made_of_the_segments_of_a_key() {
        let expand = "{path}/{key_path}.yaml";
        for (path, key, expected) in [
            (
                expand,
                "profile::web::port",
                "/env/data/role/profile/web.yaml",
            ),
            (expand, "::profile::port", "/env/data/role/profile.yaml"),
            (expand, "port", "/env/data/role.yaml"),
            ("{datadir}/{key_module}.json", "a::b::c", "/env/data/a.json"),
            ("x/{key_file}.yaml", "a::b::c", "/env/data/x/a/b/c.yaml"),
            ("{key_name}/{key}.yaml", "a::b", "/env/data/b/a::b.yaml"),
            ("{path}", "a::b", "/env/data/role"),
        ] {
            let found = at(path, "/env/data/role", key);
            assert_eq!(found.as_deref(), Some(expected), "{path} {key}");
        }
        for key in ["a::..::b", "a::::b", "a/b::c", "", "..::x"] {
            assert_eq!(at(expand, "/env/data/role", key), None, "{key}");
        }
    }

    #[test]
    fn paths_of_any_key_keep_variables_and_match_what_keys_give() {
        let path = KeyPath::parse("{path}/{key_path}.yaml").unwrap();
        let template = path.template(&Template::parse("/d/%{role}"), "/d");
        let bound = |path: &str| template.bind(path).map(|found| found[0].1.clone());
        assert_eq!(bound("/d/web/a/b.yaml").as_deref(), Some("web"));
        assert_eq!(bound("/d/web.yaml").as_deref(), Some("web"));
        assert_eq!(bound("/d/web/a.yml"), None);
        let keyed = template.with_key("a::b::c").unwrap();
        assert!(keyed.matches("/d/web/a/b.yaml") && !keyed.matches("/d/web/a.yaml"));
    }

    #[test]
    fn mistakes_in_paths_are_reported() {
        for (path, expected) in [
            (
                "{datadir}/{key_pth}.yaml",
                "unknown placeholder '{key_pth}': did you mean '{key_path}'?",
            ),
            ("{path", "'{path' has a '{' that nothing closes"),
            ("", "expected a path, got nothing"),
        ] {
            assert_eq!(KeyPath::parse(path).unwrap_err(), expected);
        }
    }

    #[test]
    fn declarations_are_read_as_they_are_written() {
        let text = r#"{"a": {"like": "yaml_data", "path": "{path}/{key_path}.yaml"}, "yaml_data": {"like": "nothing"}, "v": {"like": "secret", "keys": ["^x", "y$"]}}"#;
        let backends: Backends = serde_json::from_str(text).unwrap();
        let a = backends.get("a").unwrap();
        assert_eq!((a.like, a.path.len()), (Like::YamlData, 1));
        assert_eq!(backends.get("v").unwrap().keys.len(), 2);
        assert_eq!(backends.get("yaml_data"), None);
        let own: Backends = serde_json::from_str(r#"{"a": {"like": "nothing"}}"#).unwrap();
        let both = own.or(&backends);
        assert_eq!(both.get("a").unwrap().like, Like::Nothing);
        assert_eq!(both.iter().count(), 3);
    }
}
