//! An entry of the setting `roots`: a configuration, and the folder that it serves.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Deserialize as DeserializeFields, Serialize};

use crate::workspace::{ChosenRoot, HIERA_YAML, path};

/// An entry of the setting `roots`; `P` is the type of its paths.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum RootEntry<P> {
    /// A configuration, or the folder with its `hiera.yaml`.
    Place(P),
    /// A configuration and the folder that it serves.
    Serving(Serving<P>),
}

/// A configuration and the folder that it serves.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, DeserializeFields)]
#[serde(deny_unknown_fields)]
pub struct Serving<P> {
    /// The configuration.
    pub hierarchy: P,
    /// The folder.
    pub folder: P,
}

impl<P> RootEntry<P> {
    /// Mutable access to the paths.
    pub fn paths_mut(&mut self) -> impl Iterator<Item = &mut P> {
        let (one, other) = match self {
            RootEntry::Place(place) => (place, None),
            RootEntry::Serving(serving) => (&mut serving.hierarchy, Some(&mut serving.folder)),
        };
        std::iter::once(one).chain(other)
    }
}

impl<P: AsRef<str>> RootEntry<P> {
    /// The chosen root; the paths must be absolute.
    #[must_use]
    pub fn chosen(&self) -> ChosenRoot {
        match self {
            RootEntry::Place(place) => chosen_root(place.as_ref(), None),
            RootEntry::Serving(Serving { hierarchy, folder }) => {
                chosen_root(hierarchy.as_ref(), Some(folder.as_ref()))
            }
        }
    }
}

/// The root for a file or a folder, and the folder that it serves if given.
#[must_use]
pub fn chosen_root(place: &str, folder: Option<&str>) -> ChosenRoot {
    let place = path::normalise(place);
    let folder = folder.map(|folder| Arc::from(path::normalise(folder)));
    match path::extension(&place) {
        Some("yaml" | "yml" | "erb" | "epp") => ChosenRoot {
            hiera_yaml: Arc::from(place),
            dir: folder,
        },
        Some(_) | None => ChosenRoot {
            hiera_yaml: Arc::from(path::join(&place, HIERA_YAML)),
            dir: folder.or_else(|| Some(Arc::from(place))),
        },
    }
}

impl<'de, P: Deserialize<'de>> Deserialize<'de> for RootEntry<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntryVisitor(PhantomData))
    }
}

struct EntryVisitor<P>(PhantomData<P>);

impl<'de, P: Deserialize<'de>> Visitor<'de> for EntryVisitor<P> {
    type Value = RootEntry<P>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a path, or {hierarchy: FILE, folder: FOLDER}")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        P::deserialize(StrDeserializer::new(text)).map(RootEntry::Place)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Serving::deserialize(MapAccessDeserializer::new(map)).map(RootEntry::Serving)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(json: &str) -> Result<ChosenRoot, String> {
        let entry: Result<RootEntry<String>, _> = serde_json::from_str(json);
        entry
            .map(|entry| entry.chosen())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn an_entry_is_a_folder_or_a_file_and_the_folder_that_it_serves() {
        let root = |file: &str, dir: Option<&str>| {
            Ok(ChosenRoot {
                hiera_yaml: Arc::from(file),
                dir: dir.map(Arc::from),
            })
        };
        assert_eq!(chosen(r#""/w/a/""#), root("/w/a/hiera.yaml", Some("/w/a")));
        assert_eq!(chosen(r#""/w/a/x.yml""#), root("/w/a/x.yml", None));
        assert_eq!(
            chosen(r#"{"hierarchy": "/w/a/x.yaml.erb", "folder": "/w/."}"#),
            root("/w/a/x.yaml.erb", Some("/w"))
        );
        let error = chosen("1").unwrap_err();
        assert!(error.contains("a path, or {hierarchy"), "{error}");
        assert!(chosen(r#"{"hierarchy": "/w/a.yaml"}"#).is_err());
    }
}
