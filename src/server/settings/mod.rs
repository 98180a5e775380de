//! The user's settings: one table that is used for reading, for the documentation and for the
//! editors' settings schema.
//!
//! A setting never makes the server fail: an invalid one keeps its default and is reported in a
//! message, an unknown one is reported with the nearest known name. Each setting has a [`Trust`]:
//! settings that reach outside of the workspace are accepted only from the user, and, if a client
//! does not say who wrote a setting, only at start-up.

mod table;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::analysis::{NodeMeaning, ProjectSeverity, RootEntry, SeverityByPath};
use crate::disk::leads_outside;
use crate::hierarchy::{Backends, is_at_or_below};
use crate::ide::hint::HintOptions;
use crate::ide::lens::LensOptions;
use crate::lookup;
use crate::text::nearest;
use crate::workspace::path;
use table::{TABLE, expected};

/// The section of the editor's configuration that holds our settings.
pub(crate) const SECTION: &str = "hiera-ls";

/// In a section from a client that says who wrote a setting (`experimental.settingOrigins`): the
/// names of settings from the workspace.
const FROM_WORKSPACE: &str = "fromWorkspace";

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UserSettings {
    pub(crate) puppet_version: lookup::PuppetVersion,
    /// Puppet's `strict`; `None` means that version's default.
    pub(crate) strict: Option<lookup::Strict>,
    /// Puppet's `strict_variables`; `None` means that version's default.
    pub(crate) strict_variables: Option<bool>,
    pub(crate) global_hiera_yaml: Option<String>,
    /// Files that name nodes with their facts, trusted facts and variables.
    pub(crate) nodes_files: Vec<String>,
    /// Facts below every node's own.
    pub(crate) facts_file: Option<String>,
    /// Deployed folders, and the folders that they are deployed from.
    pub(crate) path_map: BTreeMap<String, String>,
    /// Configurations that take precedence over those found by searching.
    pub(crate) roots: Vec<RootEntry<String>>,
    /// Declarations of functions that are not Puppet's own.
    pub(crate) backends: Arc<Backends>,
    /// The meaning of names of nodes.
    pub(crate) nodes: Vec<NodeMeaning>,
    pub(crate) decrypt: bool,
    /// The private key for decryption (PKCS#7, PEM).
    pub(crate) pkcs7_private_key: Option<String>,
    /// The certificate for decryption (PKCS#7, PEM).
    pub(crate) pkcs7_public_key: Option<String>,
    pub(crate) diagnostics_enabled: bool,
    /// Severity by diagnostic code, if it differs from the rule's own.
    pub(crate) diagnostics_severity: BTreeMap<String, ProjectSeverity>,
    /// Patterns of files and folders without diagnostics; absolute.
    pub(crate) diagnostics_ignore: Vec<String>,
    /// Severities by patterns of files and folders; absolute.
    pub(crate) diagnostics_paths: SeverityByPath,
    pub(crate) log_level: LogLevel,
    pub(crate) hover_max_lines: usize,
    pub(crate) lenses: LensOptions,
    pub(crate) hints: HintOptions,
    pub(crate) remember_node: bool,
}

impl Default for UserSettings {
    fn default() -> UserSettings {
        UserSettings {
            puppet_version: lookup::PuppetVersion::V8,
            strict: None,
            strict_variables: None,
            global_hiera_yaml: None,
            nodes_files: Vec::new(),
            facts_file: None,
            path_map: BTreeMap::new(),
            roots: Vec::new(),
            backends: Arc::default(),
            nodes: Vec::new(),
            decrypt: false,
            pkcs7_private_key: None,
            pkcs7_public_key: None,
            diagnostics_enabled: true,
            diagnostics_severity: BTreeMap::new(),
            diagnostics_ignore: Vec::new(),
            diagnostics_paths: SeverityByPath::new(),
            log_level: LogLevel::Info,
            hover_max_lines: 20,
            // Lenses move the text, so all of them are off by default.
            lenses: LensOptions {
                overrides: false,
                uses: false,
                impact: false,
            },
            hints: HintOptions {
                overridden: true,
                merged: false,
                never_used: true,
                token_values: true,
                impact: true,
            },
            remember_node: true,
        }
    }
}

/// The minimum level of messages in the client's log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum LogLevel {
    Off,
    Error,
    Warning,
    Info,
    Debug,
}

/// Who may write a setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trust {
    /// Anyone: the setting cannot reach outside the workspace.
    Anyone,
    /// The user; a workspace only if it names places inside itself.
    WorkspaceInside,
    /// Only the user: it names a key or a place outside the workspace, or reveals secrets.
    User,
}

/// The author of a layer of settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    User,
    /// A file of the workspace, or unknown.
    Workspace,
    /// The workspace's `.hiera-ls.yaml`: used where the other layers have the default, since
    /// editors send defaults for unset settings.
    Project,
}

/// Splits a section of a client's configuration by the author of its settings; without that
/// information all may be the workspace's.
pub(crate) fn by_origin(section: Value, has_origins: bool) -> Vec<(Origin, Value)> {
    let Value::Object(mut section) = section else {
        return vec![(Origin::Workspace, section)];
    };
    if !has_origins {
        return vec![(Origin::Workspace, Value::Object(section))];
    }
    let names = section.remove(FROM_WORKSPACE).unwrap_or_default();
    let names = names.as_array().map(Vec::as_slice).unwrap_or_default();
    let is_of_workspace = |(name, _): &(String, Value)| names.iter().any(|known| known == name);
    let (of_workspace, of_user): (Map<_, _>, Map<_, _>) =
        flat(&section).into_iter().partition(is_of_workspace);
    vec![
        (Origin::User, Value::Object(of_user)),
        (Origin::Workspace, Value::Object(of_workspace)),
    ]
}

impl UserSettings {
    /// Reads layers of settings, later ones override earlier ones; each is the section's content as
    /// JSON (nested, or with dotted names). `folders` are the workspace's, absolute. Returns the
    /// settings and one message per refused setting.
    pub(crate) fn read(
        layers: &[(Origin, Value)],
        folders: &[String],
    ) -> (UserSettings, Vec<String>) {
        let mut settings = UserSettings::default();
        let mut complaints = Vec::new();
        for (origin, layer) in layers {
            match layer {
                Value::Null => {}
                Value::Object(object) => {
                    for (name, value) in flat(object) {
                        if let Err(why) = settings.take(&name, value, *origin, folders) {
                            complaints.push(why);
                        }
                    }
                }
                Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    let why = expected("an object", layer);
                    complaints.push(format!("settings of '{SECTION}': {why}"));
                }
            }
        }
        for path in [
            &mut settings.global_hiera_yaml,
            &mut settings.facts_file,
            &mut settings.pkcs7_private_key,
            &mut settings.pkcs7_public_key,
        ] {
            path.take_if(|path| path.is_empty());
        }
        for path in settings.paths_mut() {
            resolve(path, folders);
        }
        settings.resolve_patterns(folders);
        (settings, complaints)
    }

    /// Makes patterns absolute: a relative one applies to every folder.
    fn resolve_patterns(&mut self, folders: &[String]) {
        let absolute = |pattern: String| -> Vec<String> {
            if pattern.starts_with('/') {
                return vec![pattern];
            }
            let folders = folders.iter();
            folders.map(|folder| path::join(folder, &pattern)).collect()
        };
        let ignored = std::mem::take(&mut self.diagnostics_ignore).into_iter();
        self.diagnostics_ignore = ignored.flat_map(absolute).collect();
        let of_paths = std::mem::take(&mut self.diagnostics_paths).into_iter();
        let of_paths = of_paths.flat_map(|(pattern, severity)| {
            let patterns = absolute(pattern).into_iter();
            patterns.map(move |pattern| (pattern, severity.clone()))
        });
        self.diagnostics_paths = of_paths.collect();
    }

    /// Whether a file gets no diagnostics.
    pub(crate) fn ignores(&self, path: &str) -> bool {
        let mut patterns = self.diagnostics_ignore.iter();
        !self.diagnostics_enabled || patterns.any(|pattern| is_at_or_below(pattern, path))
    }

    fn take(
        &mut self,
        name: &str,
        value: Value,
        origin: Origin,
        folders: &[String],
    ) -> Result<(), String> {
        let Some(row) = TABLE.iter().find(|row| row.name == name) else {
            return Err(match nearest(name, TABLE.iter().map(|row| row.name)) {
                Some(known) => format!("unknown setting '{name}': did you mean '{known}'?"),
                None => format!("unknown setting '{name}'"),
            });
        };
        // Declarations of functions are merged by function.
        if origin == Origin::Project && row.name == "backends" {
            let project = Backends::deserialize(value).unwrap_or_default();
            self.backends = Arc::new(self.backends.or(&project));
            return Ok(());
        }
        let default = (row.get)(&UserSettings::default());
        if origin == Origin::Project && (row.get)(self) != default {
            return Ok(());
        }
        // An editor sends null for an unset setting.
        let value = if value.is_null() {
            default.clone()
        } else {
            value
        };
        let is_allowed = match (origin, row.trust) {
            (Origin::User, _) | (_, Trust::Anyone) => true,
            (_, Trust::WorkspaceInside) => stays_inside(&value, folders) && value != default,
            (_, Trust::User) => false,
        };
        if is_allowed {
            return (row.set)(self, value).map_err(|why| format!("setting '{name}': {why}"));
        }
        // An editor that sends all settings repeats the defaults.
        if value == (row.get)(self) || value == default {
            return Ok(());
        }
        Err(format!(
            "setting '{name}' can reach outside the workspace: it is only read from your own settings, or from 'initializationOptions' where the editor does not say where a setting is from"
        ))
    }

    /// Every path that may be relative to the workspace.
    fn paths_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.nodes_files
            .iter_mut()
            .chain(self.facts_file.iter_mut())
            .chain(self.path_map.values_mut())
            .chain(self.roots.iter_mut().flat_map(RootEntry::paths_mut))
            .chain(self.global_hiera_yaml.iter_mut())
    }

    /// The settings as JSON Schema with VS Code's `scope` for each: what an editor extension
    /// contributes as its configuration.
    #[cfg_attr(
        not(feature = "cli"),
        allow(dead_code, reason = "the command line prints it")
    )]
    pub(crate) fn schema() -> Value {
        let defaults = UserSettings::default();
        let mut properties = Map::new();
        for row in &TABLE {
            let mut property = (row.schema)();
            property["default"] = (row.get)(&defaults);
            property["markdownDescription"] = json!(row.about);
            property["scope"] = json!(match row.trust {
                Trust::Anyone => "resource",
                Trust::WorkspaceInside => "window",
                Trust::User => "machine",
            });
            properties.insert(format!("{SECTION}.{}", row.name), property);
        }
        json!({ "title": "Hiera", "type": "object", "properties": properties })
    }

    /// The settings about files, as the model's type.
    pub(crate) fn of_files(&self) -> crate::workspace::FileSettings {
        let mut path_map: Vec<(Arc<str>, Arc<str>)> = self
            .path_map
            .iter()
            .map(|(deployed, here)| (deployed.as_str().into(), here.as_str().into()))
            .collect();
        path_map.sort_by_key(|(deployed, _)| std::cmp::Reverse(deployed.len()));
        crate::workspace::FileSettings {
            global_hiera_yaml: self.global_hiera_yaml.as_deref().map(Into::into),
            chosen: self.roots.iter().map(RootEntry::chosen).collect(),
            path_map,
            ..crate::workspace::FileSettings::default()
        }
    }
}

fn resolve(path: &mut String, folders: &[String]) {
    if !path.starts_with('/')
        && let Some(folder) = folders.first()
    {
        *path = format!("{folder}/{path}");
    }
}

/// Whether every path in a value stays inside one of the folders, even with `..` and links.
fn stays_inside(value: &Value, folders: &[String]) -> bool {
    match value {
        Value::String(path) => {
            let mut path = path.clone();
            resolve(&mut path, folders);
            !path.split('/').any(|segment| segment == "..")
                && folders.iter().any(|folder| {
                    path::within(&path, folder).is_some() && !leads_outside(&path, folder)
                })
        }
        Value::Array(items) => items.iter().all(|item| stays_inside(item, folders)),
        Value::Object(items) => items.values().all(|item| stays_inside(item, folders)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// A section's content as dotted names and their values.
fn flat(object: &Map<String, Value>) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (name, value) in object {
        let prefix = format!("{name}.");
        let is_group = TABLE.iter().any(|row| row.name.starts_with(&prefix));
        match value {
            Value::Object(inner) if is_group => {
                for (rest, value) in inner {
                    found.push((format!("{name}.{rest}"), value.clone()));
                }
            }
            _ => found.push((name.clone(), value.clone())),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::severity_at;

    fn read(origin: Origin, value: Value) -> (UserSettings, Vec<String>) {
        UserSettings::read(&[(origin, value)], &["/w".to_owned()])
    }

    #[test]
    fn nested_and_dotted_names_are_the_same() {
        let (nested, complaints) = read(
            Origin::User,
            json!({ "hover": { "maxLines": 12 }, "puppetVersion": 7, "strict": null }),
        );
        assert_eq!(complaints, Vec::<String>::new());
        let (dotted, _) = read(
            Origin::User,
            json!({ "hover.maxLines": 12, "puppetVersion": "7" }),
        );
        assert_eq!(nested, dotted);
        assert_eq!(nested.hover_max_lines, 12);
        assert_eq!(nested.puppet_version, lookup::PuppetVersion::V7);
    }

    #[test]
    fn unreadable_settings_keep_their_defaults_and_are_named() {
        let (settings, complaints) = read(
            Origin::User,
            json!({
                "puppetVersion": 6, "hover": { "maxLine": 3, "maxLines": -1 },
                "strict": "loud", "nodesFiles": "x", "colour": true,
            }),
        );
        assert_eq!(settings, UserSettings::default());
        expect_test::expect![[r#"
            setting 'puppetVersion': expected 7, 8 or 9, got 6
            unknown setting 'hover.maxLine': did you mean 'hover.maxLines'?
            setting 'hover.maxLines': expected a number of lines, got -1
            setting 'strict': expected off, warning, error or null, got "loud"
            setting 'nodesFiles': expected a list of paths, got "x"
            unknown setting 'colour'"#]]
        .assert_eq(&complaints.join("\n"));
        let (settings, complaints) = read(Origin::User, json!([1]));
        assert_eq!(settings, UserSettings::default());
        assert_eq!(
            complaints,
            ["settings of 'hiera-ls': expected an object, got [1]"]
        );
    }

    #[test]
    fn a_workspace_cannot_reach_outside_or_open_secrets() {
        let reaching = json!({
            "globalHieraYaml": "/etc/x", "decrypt": true, "pkcs7PrivateKey": "/k",
            "nodesFiles": ["/elsewhere/nodes.json"], "roots": ["../x"],
            "pathMap": { "/etc": "/home/somebody" }, "factsFile": "/wide",
        });
        let (settings, complaints) = read(Origin::Workspace, reaching.clone());
        assert_eq!(settings, UserSettings::default());
        assert_eq!(complaints.len(), 7, "{complaints:?}");
        let (settings, complaints) = read(Origin::User, reaching);
        assert_eq!(complaints, Vec::<String>::new());
        assert!(settings.decrypt);
        let inside =
            json!({ "nodesFiles": ["nodes.json"], "roots": ["/w/spec"], "decrypt": false });
        let (settings, complaints) = read(Origin::Workspace, inside);
        assert_eq!(complaints, Vec::<String>::new());
        assert_eq!(settings.nodes_files, ["/w/nodes.json"]);
        assert_eq!(settings.roots, [RootEntry::Place("/w/spec".to_owned())]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_of_a_workspace_does_not_lead_outside() {
        let (here, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(outside.path(), here.path().join("link")).unwrap();
        let folders = [here.path().to_str().unwrap().to_owned()];
        let sent = json!({ "nodesFiles": ["nodes.json", "link/nodes.json"] });
        let layers = [(Origin::Workspace, sent.clone())];
        let (settings, complaints) = UserSettings::read(&layers, &folders);
        assert_eq!(settings, UserSettings::default());
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        // Also if its target may exist later.
        drop(outside);
        assert_eq!(
            UserSettings::read(&layers, &folders),
            (settings, complaints)
        );
        let inside = [(Origin::Workspace, json!({ "nodesFiles": ["nodes.json"] }))];
        let (settings, complaints) = UserSettings::read(&inside, &folders);
        assert_eq!(complaints, Vec::<String>::new());
        assert_eq!(settings.nodes_files.len(), 1);
    }

    #[test]
    fn a_workspace_takes_nothing_of_the_users_back() {
        let user = json!({ "decrypt": true, "pkcs7PrivateKey": "/k", "nodesFiles": ["/n.json"] });
        // Cases of an editor that sends everything: the user's values again, or the defaults.
        for sent in [
            user.clone(),
            json!({ "decrypt": false, "pkcs7PrivateKey": null, "nodesFiles": [] }),
        ] {
            let layers = [(Origin::User, user.clone()), (Origin::Workspace, sent)];
            let (settings, complaints) = UserSettings::read(&layers, &["/w".to_owned()]);
            assert_eq!(complaints, Vec::<String>::new());
            assert!(settings.decrypt);
            assert_eq!(settings.pkcs7_private_key.as_deref(), Some("/k"));
            assert_eq!(settings.nodes_files, ["/n.json"]);
        }
    }

    #[test]
    fn settings_have_the_origin_that_the_client_reports() {
        let section = json!({
            "decrypt": true, "nodesFiles": ["/elsewhere.json"], "hover": { "maxLines": 9 },
            "fromWorkspace": ["nodesFiles"],
        });
        let folders = ["/w".to_owned()];
        let sections = by_origin(section.clone(), true);
        let (settings, complaints) = UserSettings::read(&sections, &folders);
        assert!(settings.decrypt && settings.nodes_files.is_empty());
        assert_eq!(settings.hover_max_lines, 9);
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        let (settings, _) = UserSettings::read(&by_origin(section, false), &folders);
        assert!(!settings.decrypt && settings.nodes_files.is_empty());
        assert_eq!(settings.hover_max_lines, 9);
    }

    #[test]
    fn every_default_satisfies_its_own_row() {
        let defaults = UserSettings::default();
        let schema = UserSettings::schema();
        for row in &TABLE {
            let mut settings = UserSettings::default();
            (row.set)(&mut settings, (row.get)(&defaults)).unwrap();
            assert_eq!(settings, defaults, "{}", row.name);
            let property = &schema["properties"][format!("{SECTION}.{}", row.name)];
            assert!(
                property["markdownDescription"]
                    .as_str()
                    .unwrap()
                    .ends_with('.')
            );
            assert_eq!(property["default"], (row.get)(&defaults));
        }
    }

    #[test]
    fn the_file_of_a_workspace_applies_where_the_user_keeps_a_default() {
        let project = json!({ "puppetVersion": 7, "strictVariables": true, "rememberNode": false });
        let user = json!({ "puppetVersion": 8, "strictVariables": false });
        let layers = [(Origin::User, user), (Origin::Project, project)];
        let (settings, complaints) = UserSettings::read(&layers, &["/w".to_owned()]);
        assert_eq!(complaints, Vec::<String>::new());
        assert_eq!(settings.puppet_version, lookup::PuppetVersion::V7);
        assert_eq!(settings.strict_variables, Some(false));
    }

    #[test]
    fn patterns_of_paths_start_at_every_folder() {
        let user = json!({
            "diagnostics": { "ignore": ["old"], "paths": { "data/a.yaml": { "dup-key": "off" } } },
        });
        let folders = ["/v".to_owned(), "/w".to_owned()];
        let (settings, complaints) = UserSettings::read(&[(Origin::Workspace, user)], &folders);
        assert_eq!(complaints, Vec::<String>::new());
        assert!(settings.ignores("/v/old/a.yaml") && settings.ignores("/w/old/a.yaml"));
        assert!(!settings.ignores("/w/data/old.yaml"));
        let severity = |path| severity_at(&settings.diagnostics_paths, path, "dup-key");
        assert_eq!(severity("/w/data/a.yaml"), Some(ProjectSeverity::Off));
        assert_eq!(severity("/w/data/b.yaml"), None);
        let project = json!({ "diagnostics": { "ignore": ["/w/gone"] } });
        let (settings, _) = UserSettings::read(&[(Origin::Project, project)], &folders);
        assert!(settings.ignores("/w/gone/a.yaml"));
    }

    #[test]
    fn a_function_is_declared_by_the_user_before_the_workspace() {
        let user = json!({ "backends": { "a": { "like": "secret" } } });
        let project =
            json!({ "backends": { "a": { "like": "nothing" }, "b": { "like": "nothing" } } });
        let layers = [(Origin::User, user), (Origin::Project, project)];
        let (settings, complaints) = UserSettings::read(&layers, &["/w".to_owned()]);
        assert_eq!(complaints, Vec::<String>::new());
        let like = |name: &str| {
            settings
                .backends
                .get(name)
                .map(|backend| backend.like.name())
        };
        assert_eq!((like("a"), like("b")), (Some("secret"), Some("nothing")));
        let reaching =
            json!({ "backends": { "a": { "like": "yaml_data", "path": "/etc/{key}" } } });
        let (settings, complaints) = read(Origin::Workspace, reaching);
        assert_eq!((settings.backends.iter().count(), complaints.len()), (0, 1));
    }
}
