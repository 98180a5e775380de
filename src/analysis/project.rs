//! The configuration of a workspace, `.hiera-ls.yaml`: what all who work in it share.
//!
//! It holds what a workspace may say of itself. What names programs, keys or folders outside counts
//! only from the user's own settings and is refused here. This module reads a text; it must not know
//! where files are found, or who asks.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::text::nearest;

/// The file's name.
pub const PROJECT_FILE: &str = ".hiera-ls.yaml";

/// The settings that the file may hold; the names are those of the editors' settings.
const KNOWN: [&str; 8] = [
    "puppetVersion",
    "strict",
    "strictVariables",
    "nodesFiles",
    "factsFile",
    "pathMap",
    "roots",
    "diagnostics",
];

/// Settings that only a user may give.
const OF_USERS: [&str; 5] = [
    "globalHieraYaml",
    "decrypt",
    "pkcs7PrivateKey",
    "pkcs7PublicKey",
    "rememberNode",
];

/// Settings of a workspace; what is absent keeps its default.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Project {
    /// The major version of Puppet or OpenVox: 7 or 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub puppet_version: Option<MajorVersion>,
    /// Puppet's setting `strict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<ProjectStrict>,
    /// Puppet's setting `strict_variables`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict_variables: Option<bool>,
    /// Files that describe nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes_files: Vec<InsidePath>,
    /// Facts that lie under every node's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facts_file: Option<InsidePath>,
    /// Deployed folders to the folders of the workspace that they are made from.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub path_map: BTreeMap<String, InsidePath>,
    /// `hiera.yaml` files, or their folders, that are roots whatever their place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<InsidePath>,
    /// What is reported, and how.
    #[serde(skip_serializing_if = "Diagnostics::is_default")]
    pub diagnostics: Diagnostics,
}

/// What is reported, and how.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Diagnostics {
    /// Whether problems are reported at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable: Option<bool>,
    /// The severity of a rule's findings, by its code.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub severity: BTreeMap<String, ProjectSeverity>,
}

impl Diagnostics {
    fn is_default(&self) -> bool {
        *self == Diagnostics::default()
    }
}

/// How a finding is reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ProjectSeverity {
    /// Not at all.
    Off,
    /// As a hint.
    Hint,
    /// As information.
    Information,
    /// As a warning.
    Warning,
    /// As an error.
    Error,
}

/// Puppet's setting `strict`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ProjectStrict {
    /// Say nothing.
    Off,
    /// Warn.
    Warning,
    /// Fail.
    Error,
}

/// A major version of Puppet or OpenVox.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct MajorVersion(pub u8);

impl<'de> Deserialize<'de> for MajorVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MajorVersion, D::Error> {
        deserializer.deserialize_str(Text(|text| match text {
            "7" => Ok(MajorVersion(7)),
            "8" => Ok(MajorVersion(8)),
            _ => Err(format!("expected 7 or 8, got {text}")),
        }))
    }
}

/// A scalar that is read by a function. An error inside of a visitor is given the scalar's line.
struct Text<T>(fn(&str) -> Result<T, String>);

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }
}

/// A path inside the workspace: as the file has it relative to the file's folder, as
/// [`Project::parse`] gives it absolute.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct InsidePath(pub String);

impl<'de> Deserialize<'de> for InsidePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<InsidePath, D::Error> {
        deserializer.deserialize_str(Text(|path| {
            let outside = path.starts_with(['/', '\\', '~'])
                || path.split(['/', '\\']).any(|segment| segment == "..")
                || path.contains(':');
            match outside || path.is_empty() {
                true => Err(format!(
                    "'{path}' is no path inside the workspace; a path outside counts only from the \
                     user's own settings"
                )),
                false => Ok(InsidePath(path.to_owned())),
            }
        }))
    }
}

/// Why a configuration cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProjectError {
    /// The file.
    pub path: String,
    /// The line, from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ProjectError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.message)
    }
}

impl std::error::Error for ProjectError {}

impl Project {
    /// Reads the text of the file at an absolute path. Paths in it become absolute.
    ///
    /// # Errors
    /// The text is no YAML, or holds what is unknown, of another type, or not a workspace's to say.
    /// Nothing of such a file counts.
    pub fn parse(path: &str, text: &str) -> Result<Project, ProjectError> {
        let failed = |error: serde_yaml::Error| ProjectError {
            path: path.to_owned(),
            line: error.location().map(|place| place.line()),
            message: error.to_string(),
        };
        // Names first: of what is wrong with a file, a misspelt name explains most.
        let _: Option<Names> = serde_yaml::from_str(text).map_err(failed)?;
        let project: Option<Project> = serde_yaml::from_str(text).map_err(failed)?;
        let mut project = project.unwrap_or_default();
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for path in project.paths_mut() {
            path.0 = format!("{folder}/{}", path.0.trim_start_matches("./"));
        }
        Ok(project)
    }

    fn paths_mut(&mut self) -> impl Iterator<Item = &mut InsidePath> {
        let files = self.nodes_files.iter_mut().chain(&mut self.facts_file);
        files
            .chain(self.path_map.values_mut())
            .chain(&mut self.roots)
    }
}

/// The names of the settings, each looked at where it stands.
struct Names;

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Names, D::Error> {
        struct NamesVisitor;
        impl<'de> Visitor<'de> for NamesVisitor {
            type Value = Names;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("settings by their names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
                while map.next_entry::<Name, IgnoredAny>()?.is_some() {}
                Ok(Names)
            }
        }
        deserializer.deserialize_map(NamesVisitor)
    }
}

/// The name of a setting that a workspace may give.
struct Name;

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        deserializer.deserialize_str(Text(|name| {
            if KNOWN.contains(&name) {
                return Ok(Name);
            }
            if OF_USERS.contains(&name) {
                return Err(format!(
                    "'{name}' counts only from the user's own settings, not from a workspace's"
                ));
            }
            Err(
                match nearest(&name.replace(['_', '-'], ""), KNOWN.into_iter()) {
                    Some(known) => format!("unknown setting '{name}': did you mean '{known}'?"),
                    None => format!(
                        "unknown setting '{name}': a workspace may set {}",
                        KNOWN.join(", ")
                    ),
                },
            )
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Project, ProjectError> {
        Project::parse("/w/.hiera-ls.yaml", text)
    }

    #[test]
    fn all_settings_of_a_workspace_are_read() {
        let project = parse(
            "puppetVersion: 7\nstrict: warning\nstrictVariables: true\nnodesFiles: [nodes.yaml, \
             ./spec/facts]\nfactsFile: facts/common.yaml\npathMap: {/etc/puppetlabs/code/data: \
             data}\nroots: [site/hiera.yaml]\ndiagnostics:\n  enable: true\n  severity: \
             {dup-key: error, yaml-date: off}\n",
        );
        let project = project.unwrap();
        assert_eq!(project.puppet_version, Some(MajorVersion(7)));
        let nodes: Vec<&str> = project.nodes_files.iter().map(|path| &*path.0).collect();
        assert_eq!(nodes, ["/w/nodes.yaml", "/w/spec/facts"]);
        assert_eq!(project.path_map["/etc/puppetlabs/code/data"].0, "/w/data");
        let severity = &project.diagnostics.severity;
        assert_eq!(severity["yaml-date"], ProjectSeverity::Off);
        let as_settings = serde_json::to_value(&project).unwrap();
        assert_eq!(as_settings["factsFile"], "/w/facts/common.yaml");
        assert_eq!(as_settings["diagnostics"]["severity"]["dup-key"], "error");
        for empty in ["", "# nothing\n", "---\n", "{}"] {
            assert_eq!(parse(empty), Ok(Project::default()), "{empty:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line, expected) in [
            (
                "strict: off\npuppet_version: 7\n",
                2,
                "unknown setting 'puppet_version': did you mean 'puppetVersion'? at line 2 column 1",
            ),
            (
                "pkcs7PrivateKey: key.pem\n",
                1,
                "'pkcs7PrivateKey' counts only from the user's own settings, not from a workspace's",
            ),
            ("puppetVersion: 6\n", 1, "expected 7 or 8, got 6"),
            ("strict: loud\n", 1, "unknown variant `loud`"),
            (
                "roots:\n  - ../other\n",
                2,
                "'../other' is no path inside the workspace",
            ),
            (
                "factsFile: /etc/passwd\n",
                1,
                "'/etc/passwd' is no path inside",
            ),
            (
                "diagnostics: {severities: {}}\n",
                1,
                "unknown field `severities`",
            ),
            ("- a\n", 1, "expected settings by their names"),
            ("strict: [\n", 2, "did not find expected"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(
                error.message.contains(expected),
                "{text}: {}",
                error.message
            );
            assert_eq!(error.line, Some(line), "{text}: {}", error.message);
        }
        let shown = parse("nope: 1\n").unwrap_err().to_string();
        assert!(
            shown.starts_with("/w/.hiera-ls.yaml: unknown setting 'nope': a workspace may set "),
            "{shown}"
        );
    }
}
