//! The configuration of a workspace, `.hiera-ls.yaml`, shared by everyone who works in it.
//!
//! Settings that name programs, keys or folders outside the workspace are accepted only from the
//! user's own settings and are refused here. This module reads a text; it must not know where files
//! are found, or who asks.

mod mistakes;
mod shape;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use mistakes::{Mistake, Spoils};
pub use shape::schema;

use super::{NodeMeaning, RootEntry};
use crate::hierarchy::{Backends, is_at_or_below};
use crate::lookup::{PuppetVersion, Strict};
use crate::text::{TextRange, line_at};
use crate::workspace::FileSettings;
pub use crate::workspace::PROJECT_FILE;

/// Settings of a workspace; absent ones keep their defaults.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Project {
    /// The major version of Puppet or OpenVox: 7, 8 or 9.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub puppet_version: Option<PuppetVersion>,
    /// Puppet's setting `strict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<Strict>,
    /// Puppet's setting `strict_variables`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict_variables: Option<bool>,
    /// Files that describe nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes_files: Vec<InsidePath>,
    /// Facts that lie under every node's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facts_file: Option<InsidePath>,
    /// Deployed folders and the workspace folders that they are deployed from.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub path_map: BTreeMap<String, InsidePath>,
    /// Configurations that take precedence over those found by searching.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<RootEntry<InsidePath>>,
    /// Declarations of custom functions in `hiera.yaml`.
    #[serde(skip_serializing_if = "Backends::is_empty")]
    pub backends: Backends,
    /// The meaning of names of nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeMeaning>,
    /// Settings for diagnostics.
    #[serde(skip_serializing_if = "Diagnostics::is_default")]
    pub diagnostics: Diagnostics,
}

/// Settings for diagnostics.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Diagnostics {
    /// Whether diagnostics are reported at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable: Option<bool>,
    /// Severities by rule code.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub severity: BTreeMap<String, ProjectSeverity>,
    /// Patterns of files and folders without diagnostics.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<InsidePath>,
    /// Severities by patterns of files and folders.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub paths: SeverityByPath,
}

/// Severities of rules, by patterns of files and folders.
pub type SeverityByPath = BTreeMap<String, BTreeMap<String, ProjectSeverity>>;

/// The severity of a rule in a file. If several patterns match the file and the rule, the longest
/// one applies. O(patterns).
#[must_use]
pub fn severity_at(paths: &SeverityByPath, path: &str, code: &str) -> Option<ProjectSeverity> {
    let naming = paths.iter().filter_map(|(pattern, severity)| {
        let severity = severity.get(code)?;
        is_at_or_below(pattern, path).then_some((pattern.len(), *severity))
    });
    let longest = naming.max_by_key(|(length, _)| *length);
    longest.map(|(_, severity)| severity)
}

impl Diagnostics {
    /// Whether a file gets no diagnostics.
    #[must_use]
    pub fn ignores(&self, path: &str) -> bool {
        let mut patterns = self.ignore.iter();
        self.enable == Some(false) || patterns.any(|pattern| is_at_or_below(&pattern.0, path))
    }

    /// The severity of a rule in a file, if one is set.
    #[must_use]
    pub fn severity_of(&self, path: &str, code: &str) -> Option<ProjectSeverity> {
        let own = severity_at(&self.paths, path, code);
        own.or_else(|| self.severity.get(code).copied())
    }

    fn is_default(&self) -> bool {
        *self == Diagnostics::default()
    }
}

/// How a finding is reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ProjectSeverity {
    /// Not reported.
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

impl AsRef<str> for InsidePath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// A path inside the workspace: relative to the configuration file in the text, absolute after
/// `Project::read`.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub struct InsidePath(pub String);

/// Why a configuration cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProjectError {
    /// The file.
    pub path: String,
    /// The line, from 1, if known.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ProjectError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProjectError { path, message, .. } = self;
        match self.line {
            Some(line) => write!(formatter, "{path}:{line}: {message}"),
            None => write!(formatter, "{path}: {message}"),
        }
    }
}

impl std::error::Error for ProjectError {}

impl Project {
    /// Reads the text of the file at an absolute path. Paths in it become absolute. A setting with
    /// a mistake keeps its default; `rules` are the codes of all rules.
    #[must_use]
    pub fn read(path: &str, text: &str, rules: &[&str]) -> (Project, Vec<Mistake>) {
        let checked = mistakes::check(text, rules);
        let mut mistakes = checked.mistakes;
        let settings = serde_yaml::Value::Mapping(checked.sound);
        let mut project: Project = serde_yaml::from_value(settings).unwrap_or_else(|error| {
            mistakes.push(Mistake {
                range: TextRange::empty(0),
                message: error.to_string(),
                suggestion: None,
                spoils: Spoils::File,
            });
            Project::default()
        });
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let absolute = |path: &str| format!("{folder}/{}", path.trim_start_matches("./"));
        for path in project.paths_mut() {
            path.0 = absolute(&path.0);
        }
        let paths = std::mem::take(&mut project.diagnostics.paths).into_iter();
        project.diagnostics.paths = paths
            .map(|(path, severity)| (absolute(&path), severity))
            .collect();
        (project, mistakes)
    }

    /// The settings about files, as the model's type.
    #[must_use]
    pub fn of_files(&self) -> FileSettings {
        let pairs = self.path_map.iter();
        let mut path_map: Vec<(Arc<str>, Arc<str>)> = pairs
            .map(|(deployed, here)| (deployed.as_str().into(), here.0.as_str().into()))
            .collect();
        path_map.sort_by_key(|(deployed, _)| std::cmp::Reverse(deployed.len()));
        FileSettings {
            chosen: self.roots.iter().map(RootEntry::chosen).collect(),
            path_map,
            ..FileSettings::default()
        }
    }

    /// Removes and returns the files and folders for whose absolute path `is_elsewhere` is true.
    pub fn remove_paths(&mut self, is_elsewhere: &dyn Fn(&str) -> bool) -> Vec<String> {
        let mut removed = Vec::new();
        let mut stays = |at: &InsidePath| {
            let stays = !is_elsewhere(&at.0);
            if !stays {
                removed.push(at.0.clone());
            }
            stays
        };
        self.nodes_files.retain(|at| stays(at));
        if self.facts_file.as_ref().is_some_and(|at| !stays(at)) {
            self.facts_file = None;
        }
        self.path_map.retain(|_, at| stays(at));
        self.roots
            .retain_mut(|root| root.paths_mut().all(|at| stays(at)));
        removed
    }

    fn paths_mut(&mut self) -> impl Iterator<Item = &mut InsidePath> {
        let files = self.nodes_files.iter_mut().chain(&mut self.facts_file);
        files
            .chain(self.path_map.values_mut())
            .chain(&mut self.diagnostics.ignore)
            .chain(self.roots.iter_mut().flat_map(RootEntry::paths_mut))
    }
}

impl ProjectError {
    /// A mistake in the text of the file at a path.
    #[must_use]
    pub fn of(path: &str, text: &str, mistake: &Mistake) -> ProjectError {
        ProjectError {
            path: path.to_owned(),
            line: Some(line_at(text, mistake.range.start as usize) as usize + 1),
            message: mistake.message.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: [&str; 2] = ["dup-key", "yaml-date"];

    fn read(text: &str) -> (Project, Vec<Mistake>) {
        Project::read("/w/.hiera-ls.yaml", text, &RULES)
    }

    /// Every mistake of a text with its line and the text at its range.
    fn mistakes(text: &str) -> String {
        let (_, mistakes) = read(text);
        let shown = mistakes.iter().map(|mistake| {
            let error = ProjectError::of("", text, mistake);
            let about = mistake.range.slice(text);
            let suggestion = mistake
                .suggestion
                .as_deref()
                .map(|suggestion| format!(" [{suggestion}]"));
            let line = error.line.unwrap_or_default();
            format!(
                "{line} {about:?}: {}{}",
                error.message,
                suggestion.unwrap_or_default()
            )
        });
        shown.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn all_settings_of_a_workspace_are_read() {
        let (project, mistakes) = read(
            "puppetVersion: 7\nstrict: warning\nstrictVariables: true\nnodesFiles: [nodes.yaml, \
             ./spec/facts]\nfactsFile: facts/common.yaml\npathMap: {/etc/puppetlabs/code/data: \
             data}\nroots: [site/hiera.yaml]\nbackends:\n  lib::expand: {like: yaml_data, path: \
             \"{path}/{key_path}.yaml\"}\n  vault_lookup: {like: secret}\nnodes:\n  - match: \
             '^(?<role>[a-z]+)'\n  - names: {db1: {facts: {site: lon, rack: 2}}}\ndiagnostics:\n  enable: \
             true\n  severity: {dup-key: error, yaml-date: off}\n  ignore: [data/old]\n  paths: \
             {\"data/legacy/**\": {dup-key: hint}, \"data/legacy/*.yaml\": {dup-key: off}}\n",
        );
        assert_eq!(mistakes, []);
        assert_eq!(project.puppet_version, Some(PuppetVersion::V7));
        let nodes: Vec<&str> = project.nodes_files.iter().map(|path| &*path.0).collect();
        assert_eq!(nodes, ["/w/nodes.yaml", "/w/spec/facts"]);
        assert_eq!(project.path_map["/etc/puppetlabs/code/data"].0, "/w/data");
        let severity = &project.diagnostics.severity;
        assert_eq!(severity["yaml-date"], ProjectSeverity::Off);
        assert!(project.backends.get("lib::expand").is_some());
        assert_eq!(
            project.nodes[0].pattern.as_deref(),
            Some("^(?<role>[a-z]+)")
        );
        assert_eq!(project.nodes[1].names["db1"].facts["rack"], 2);
        let severity_of_path = |path| project.diagnostics.severity_of(path, "dup-key");
        assert_eq!(
            severity_of_path("/w/data/legacy/x/a.yaml"),
            Some(ProjectSeverity::Hint)
        );
        assert_eq!(
            severity_of_path("/w/data/legacy/a.yaml"),
            Some(ProjectSeverity::Off)
        );
        assert_eq!(
            severity_of_path("/w/data/a.yaml"),
            Some(ProjectSeverity::Error)
        );
        assert!(project.diagnostics.ignores("/w/data/old/a.yaml"));
        assert!(!project.diagnostics.ignores("/w/data/a.yaml"));
        let as_settings = serde_json::to_value(&project).unwrap();
        assert_eq!(as_settings["factsFile"], "/w/facts/common.yaml");
        assert_eq!(as_settings["backends"]["vault_lookup"]["like"], "secret");
        assert_eq!(as_settings["diagnostics"]["severity"]["dup-key"], "error");
        for empty in ["", "# nothing\n", "---\n", "{}"] {
            assert_eq!(read(empty), (Project::default(), Vec::new()), "{empty:?}");
        }
    }

    #[test]
    fn every_mistake_is_reported_with_its_range() {
        expect_test::expect![[r#"
            1 "puppet_version": unknown setting 'puppet_version': did you mean 'puppetVersion'? [puppetVersion]
            2 "pkcs7PrivateKey": 'pkcs7PrivateKey' is only read from the user's own settings, not from a workspace's
            3 "logLevel": 'logLevel' is a setting of an editor, not of a workspace
            4 "warnin": expected off, warning or error, got 'warnin': did you mean 'warning'? [warning]
            5 "6": expected 7, 8 or 9, got '6'
            6 "[a]": expected true or false, got a list
            8 "../other": '../other' is not a path inside the workspace; a path outside is only allowed in the user's own settings
            9 "/etc/passwd": '/etc/passwd' is not a path inside the workspace; a path outside is only allowed in the user's own settings
            10 "severities": unknown setting 'severities': did you mean 'severity'? [severity]
            10 "dup-kye": unknown rule 'dup-kye': did you mean 'dup-key'? [dup-key]
            10 "loud": expected off, hint, information, warning or error, got 'loud'
            11 "nodes.yaml": expected a list, each a path, got 'nodes.yaml'
            12 "data": 'data' is not a deployed folder: expected an absolute path
            14 "yaml_data": 'yaml_data' is a Puppet function: what it does is known
            15 "yaml": expected yaml_data, json_data, hocon_data, eyaml_lookup_key, secret or nothing, got 'yaml'
            15 "\"/etc/{key}.yaml\"": '/etc/{key}.yaml' is not a path inside the workspace: start with {path} or {datadir}
            15 "kyes": unknown setting 'kyes': expected like, path, keys
            16 "\"{datadir}/{kye}.yaml\"": unknown placeholder '{kye}': there are {path}, {datadir}, {key}, {key_path}, {key_file}, {key_module}, {key_name}
            16 "path": 'path' has no effect with 'like: nothing'
            17 "nothing_like_it": unknown setting 'nothing_like_it': a workspace may set puppetVersion, strict, strictVariables, nodesFiles, factsFile, pathMap, roots, backends, nodes, diagnostics
            18 "roots": 'roots' is set twice"#]].assert_eq(&mistakes(
            "puppet_version: 7\npkcs7PrivateKey: key.pem\nlogLevel: debug\nstrict: warnin\n\
             puppetVersion: 6\nstrictVariables: [a]\nroots:\n  - ../other\nfactsFile: \
             /etc/passwd\ndiagnostics: {severities: {}, severity: {dup-kye: off, yaml-date: loud}}\n\
             nodesFiles: nodes.yaml\npathMap: {data: data}\nbackends:\n  yaml_data: {like: nothing}\n  \
             f: {like: yaml, path: \"/etc/{key}.yaml\", kyes: a}\n  g: {like: nothing, path: \
             \"{datadir}/{kye}.yaml\"}\nnothing_like_it: 1\nroots: []\n",
        ));
        for (text, expected) in [
            ("- a\n", "1 \"- a\": expected settings by their names"),
            ("strict: [\n", "did not find expected"),
        ] {
            let found = mistakes(text);
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn mistakes_in_rules_for_node_names_are_reported() {
        expect_test::expect![[r#"
            9 "strict: off": a second document: only the first one is read
            3 "names": use 'match' or 'names', not both
            4 "'%{rôle}'": '%{rôle}' is not a named group of the pattern: it has role
            5 "'%{a}'": '%{a}' is not a named group of the pattern: it has none: write (?<name>…)
            6 "variables": 'variables' goes with 'match': below 'names' each name has its own
            7 "{facts: {a: 1}}": 'match' or 'names' is missing"#]]
        .assert_eq(&mistakes(
            "nodes:\n- match: '^a'\n  names: {}\n- {match: '(?<role>a)', facts: {a: '%{role}', b: '%{rôle}'}}\n\
             - {match: a, extensions: {b: ['%{a}']}}\n- {names: {a: {}}, variables: {b: 1}}\n- {facts: {a: 1}}\n\
             ---\nstrict: off\n",
        ));
    }

    #[test]
    fn a_setting_with_a_mistake_leaves_the_others() {
        let (project, mistakes) = read(
            "strict: loud\npuppetVersion: 7\nroots: [../x]\nfactsFile: a.yaml\ndiagnostics: \
             {severity: {nosuch: off, dup-key: hint}}\nnodesFiles: [a]\nnodesFiles: [b]\n",
        );
        assert_eq!(mistakes.len(), 4, "{mistakes:?}");
        assert_eq!(project.puppet_version, Some(PuppetVersion::V7));
        assert_eq!((project.strict, project.roots.len()), (None, 0));
        let severity = &project.diagnostics.severity;
        assert_eq!(severity["dup-key"], ProjectSeverity::Hint);
    }

    #[test]
    fn the_schema_has_every_setting_and_rule() {
        let schema = schema(&[("dup-key", "a key is set twice")]);
        let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert!(names.iter().any(|name| *name == "backends"), "{names:?}");
        let rules = &schema["properties"]["diagnostics"]["properties"]["severity"];
        assert!(rules["properties"]["dup-key"]["enum"].is_array());
    }
}
