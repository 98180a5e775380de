//! What the user can set: one table that is read from, documented from and turned into the
//! editors' settings schema.
//!
//! A setting never makes the server fail: one that cannot be read keeps its default and is named
//! in a message, an unknown one is named with the nearest known name. The server never learns from
//! the protocol who wrote a setting, so each carries its [`Trust`]: the schema makes editors ignore
//! a workspace's word where only the user's counts, and [`Settings::read`] refuses it again where
//! the origin is known.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::text::nearest;

/// The section of the editor's configuration that holds our settings.
pub const SECTION: &str = "hiera-ls";

/// The most lines a hover may be set to.
const MAX_HOVER_LINES: usize = 10_000;

/// All settings, with their defaults where nothing else was said.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Whose behaviour is shown.
    pub puppet_version: PuppetVersion,
    /// Puppet's `strict`; nothing means that version's default.
    pub strict: Option<Strict>,
    /// Puppet's `strict_variables`; nothing means that version's default.
    pub strict_variables: Option<bool>,
    /// The `hiera.yaml` of the global layer.
    pub global_hiera_yaml: Option<String>,
    /// Files that name nodes with their facts, trusted facts and variables.
    pub nodes_files: Vec<String>,
    /// Facts that lie under every node's own.
    pub facts_file: Option<String>,
    /// Deployed folders to the folders that they are made from.
    pub path_map: BTreeMap<String, String>,
    /// `hiera.yaml` files or their folders that are roots whatever their place.
    pub roots: Vec<String>,
    /// Whether encrypted values are decrypted.
    pub decrypt: bool,
    /// The private key for decryption (PKCS#7, PEM).
    pub pkcs7_private_key: Option<String>,
    /// The certificate for decryption (PKCS#7, PEM).
    pub pkcs7_public_key: Option<String>,
    /// Whether problems are shown at all.
    pub diagnostics_enabled: bool,
    /// Severity by diagnostic code, where it is not the rule's own.
    pub diagnostics_severity: BTreeMap<String, Severity>,
    /// What is written to the client's log.
    pub log_level: LogLevel,
    /// How many lines a hover may have.
    pub hover_max_lines: usize,
    /// What is said above keys.
    pub lenses: Lenses,
    /// What is said beside keys and tokens.
    pub hints: Hints,
    /// Whether the selected node outlives the server.
    pub remember_node: bool,
}

/// Which lenses are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lenses {
    /// How many other files set a key.
    pub overrides: bool,
    /// How many tokens look a key up.
    pub uses: bool,
    /// What an unsaved edit changes.
    pub impact: bool,
}

/// Which hints are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hints {
    /// Where a value is overridden.
    pub overridden: bool,
    /// From how many places a value is merged.
    pub merged: bool,
    /// That a value is never used.
    pub never_used: bool,
    /// What a token becomes.
    pub token_values: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            puppet_version: PuppetVersion::Eight,
            strict: None,
            strict_variables: None,
            global_hiera_yaml: None,
            nodes_files: Vec::new(),
            facts_file: None,
            path_map: BTreeMap::new(),
            roots: Vec::new(),
            decrypt: false,
            pkcs7_private_key: None,
            pkcs7_public_key: None,
            diagnostics_enabled: true,
            diagnostics_severity: BTreeMap::new(),
            log_level: LogLevel::Info,
            hover_max_lines: 30,
            lenses: Lenses {
                overrides: true,
                uses: true,
                impact: true,
            },
            hints: Hints {
                overridden: true,
                merged: true,
                never_used: true,
                token_values: true,
            },
            remember_node: true,
        }
    }
}

/// A major version of Puppet or OpenVox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PuppetVersion {
    /// Puppet 7.
    Seven,
    /// Puppet 8, OpenVox 8.
    Eight,
}

/// Puppet's setting `strict`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Strict {
    /// Say nothing.
    Off,
    /// Warn.
    Warning,
    /// Fail.
    Error,
}

/// How a diagnostic is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
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

/// From which level on messages go to the client's log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What went wrong.
    Error,
    /// What may be wrong.
    Warning,
    /// What happens.
    Info,
    /// Every message.
    Debug,
}

/// Whose word counts for a setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trust {
    /// Anybody's: the setting cannot reach out of the workspace.
    Anyone,
    /// A workspace's only as far as it names places inside itself; the user's always.
    WorkspaceInside,
    /// Only the user's: it names a key or a place outside the workspace, or opens secrets.
    User,
}

/// Who wrote a layer of settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The user, in the editor's own settings.
    User,
    /// A file of the workspace.
    Workspace,
}

/// One row of the table.
struct Setting {
    /// The name in the section, with `.` between segments.
    name: &'static str,
    trust: Trust,
    /// What the setting does, for people.
    about: &'static str,
    /// Type and bounds as JSON Schema.
    schema: fn() -> Value,
    get: fn(&Settings) -> Value,
    set: fn(&mut Settings, Value) -> Result<(), String>,
}

const PATH: fn() -> Value = || json!({ "type": ["string", "null"] });

/// A row of the table that is on unless somebody turns it off.
macro_rules! switch {
    ($name:literal, $about:literal, $($field:ident).+) => {
        Setting {
            name: $name,
            trust: Trust::Anyone,
            about: $about,
            schema: || json!({ "type": "boolean" }),
            get: |settings| json!(settings.$($field).+),
            set: |settings, value| {
                settings.$($field).+ = typed(value, "true or false")?;
                Ok(())
            },
        }
    };
}

const TABLE: [Setting; 23] = [
    Setting {
        name: "puppetVersion",
        trust: Trust::Anyone,
        about: "The major version of Puppet or OpenVox whose behaviour is shown.",
        schema: || json!({ "type": "integer", "enum": [7, 8] }),
        get: |settings| match settings.puppet_version {
            PuppetVersion::Seven => json!(7),
            PuppetVersion::Eight => json!(8),
        },
        set: |settings, value| {
            settings.puppet_version = match (value.as_u64(), value.as_str()) {
                (Some(7), _) | (_, Some("7")) => PuppetVersion::Seven,
                (Some(8), _) | (_, Some("8")) => PuppetVersion::Eight,
                _ => return Err(expected("7 or 8", &value)),
            };
            Ok(())
        },
    },
    Setting {
        name: "strict",
        trust: Trust::Anyone,
        about: "Puppet's setting `strict`; null is the default of the Puppet version.",
        schema: || json!({ "enum": ["off", "warning", "error", null] }),
        get: |settings| json!(settings.strict),
        set: |settings, value| {
            settings.strict = typed(value, "off, warning, error or null")?;
            Ok(())
        },
    },
    Setting {
        name: "strictVariables",
        trust: Trust::Anyone,
        about: "Puppet's setting `strict_variables`; null is the default of the Puppet version.",
        schema: || json!({ "type": ["boolean", "null"] }),
        get: |settings| json!(settings.strict_variables),
        set: |settings, value| {
            settings.strict_variables = typed(value, "true, false or null")?;
            Ok(())
        },
    },
    Setting {
        name: "globalHieraYaml",
        trust: Trust::User,
        about: "The `hiera.yaml` of the global layer, an absolute path.",
        schema: PATH,
        get: |settings| json!(settings.global_hiera_yaml),
        set: |settings, value| {
            settings.global_hiera_yaml = path(value)?;
            Ok(())
        },
    },
    Setting {
        name: "nodesFiles",
        trust: Trust::WorkspaceInside,
        about: "Files that map certnames to `facts`, `trusted` and `variables`.",
        schema: || json!({ "type": "array", "items": { "type": "string" } }),
        get: |settings| json!(settings.nodes_files),
        set: |settings, value| {
            settings.nodes_files = typed(value, "a list of paths")?;
            Ok(())
        },
    },
    Setting {
        name: "factsFile",
        trust: Trust::WorkspaceInside,
        about: "A file of facts that lie under every node's own.",
        schema: PATH,
        get: |settings| json!(settings.facts_file),
        set: |settings, value| {
            settings.facts_file = path(value)?;
            Ok(())
        },
    },
    Setting {
        name: "pathMap",
        trust: Trust::WorkspaceInside,
        about: "Deployed folders (`/etc/puppetlabs/code/data`) to the folders they are made from.",
        schema: || json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        get: |settings| json!(settings.path_map),
        set: |settings, value| {
            settings.path_map = typed(value, "an object of paths")?;
            Ok(())
        },
    },
    Setting {
        name: "roots",
        trust: Trust::WorkspaceInside,
        about: "`hiera.yaml` files, or their folders, that are roots whatever their place.",
        schema: || json!({ "type": "array", "items": { "type": "string" } }),
        get: |settings| json!(settings.roots),
        set: |settings, value| {
            settings.roots = typed(value, "a list of paths")?;
            Ok(())
        },
    },
    Setting {
        name: "decrypt",
        trust: Trust::User,
        about: "Let a command show the plain text of an encrypted value; needs the keys below.",
        schema: || json!({ "type": "boolean" }),
        get: |settings| json!(settings.decrypt),
        set: |settings, value| {
            settings.decrypt = typed(value, "true or false")?;
            Ok(())
        },
    },
    Setting {
        name: "pkcs7PrivateKey",
        trust: Trust::User,
        about: "The private key of hiera-eyaml's PKCS#7 encryption, an absolute path.",
        schema: PATH,
        get: |settings| json!(settings.pkcs7_private_key),
        set: |settings, value| {
            settings.pkcs7_private_key = path(value)?;
            Ok(())
        },
    },
    Setting {
        name: "pkcs7PublicKey",
        trust: Trust::User,
        about: "The certificate of hiera-eyaml's PKCS#7 encryption, an absolute path.",
        schema: PATH,
        get: |settings| json!(settings.pkcs7_public_key),
        set: |settings, value| {
            settings.pkcs7_public_key = path(value)?;
            Ok(())
        },
    },
    Setting {
        name: "diagnostics.enable",
        trust: Trust::Anyone,
        about: "Show problems.",
        schema: || json!({ "type": "boolean" }),
        get: |settings| json!(settings.diagnostics_enabled),
        set: |settings, value| {
            settings.diagnostics_enabled = typed(value, "true or false")?;
            Ok(())
        },
    },
    Setting {
        name: "diagnostics.severity",
        trust: Trust::Anyone,
        about: "How to show a diagnostic, by its code: off, hint, information, warning or error.",
        schema: || {
            let levels = ["off", "hint", "information", "warning", "error"];
            json!({ "type": "object", "additionalProperties": { "enum": levels } })
        },
        get: |settings| json!(settings.diagnostics_severity),
        set: |settings, value| {
            let wanted = "an object of off, hint, information, warning or error";
            settings.diagnostics_severity = typed(value, wanted)?;
            Ok(())
        },
    },
    Setting {
        name: "logLevel",
        trust: Trust::Anyone,
        about: "What is written to the editor's log of this server.",
        schema: || json!({ "enum": ["off", "error", "warning", "info", "debug"] }),
        get: |settings| json!(settings.log_level),
        set: |settings, value| {
            settings.log_level = typed(value, "off, error, warning, info or debug")?;
            Ok(())
        },
    },
    Setting {
        name: "hover.maxLines",
        trust: Trust::Anyone,
        about: "How many lines a hover may have before its value is cut in the middle.",
        schema: || json!({ "type": "integer", "minimum": 5, "maximum": MAX_HOVER_LINES }),
        get: |settings| json!(settings.hover_max_lines),
        set: |settings, value| {
            let lines: usize = typed(value.clone(), "a number of lines")?;
            if !(5..=MAX_HOVER_LINES).contains(&lines) {
                return Err(expected("a number of lines from 5 to 10000", &value));
            }
            settings.hover_max_lines = lines;
            Ok(())
        },
    },
    switch!(
        "codeLens.overrides",
        "Above a key: how many files of levels above and below set it too.",
        lenses.overrides
    ),
    switch!(
        "codeLens.uses",
        "Above a key: how many `lookup` and `alias` tokens use it.",
        lenses.uses
    ),
    switch!(
        "codeLens.impact",
        "While an edit is unsaved: which keys it changes, for how many nodes.",
        lenses.impact
    ),
    switch!(
        "inlayHints.overridden",
        "Beside a key: where its value is overridden.",
        hints.overridden
    ),
    switch!(
        "inlayHints.merged",
        "Beside a key: from how many places its value is merged, for the selected node.",
        hints.merged
    ),
    switch!(
        "inlayHints.neverUsed",
        "Beside a key: that no node that reads the file gets its value.",
        hints.never_used
    ),
    switch!(
        "inlayHints.tokenValues",
        "Behind a `lookup` or `alias` token: its value, where it is one for all nodes that read the file.",
        hints.token_values
    ),
    switch!(
        "rememberNode",
        "Keep the selected node of a workspace in your state folder, for the next time.",
        remember_node
    ),
];

fn typed<T: DeserializeOwned>(value: Value, wanted: &str) -> Result<T, String> {
    T::deserialize(&value).map_err(|_| expected(wanted, &value))
}

fn path(value: Value) -> Result<Option<String>, String> {
    let path: Option<String> = typed(value, "a path")?;
    Ok(path.filter(|path| !path.is_empty()))
}

/// How much of a wrong value a message repeats, in characters.
const SHOWN: usize = 60;

fn expected(wanted: &str, got: &Value) -> String {
    let got = got.to_string();
    match got.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("expected {wanted}, got {}…", &got[..cut]),
        None => format!("expected {wanted}, got {got}"),
    }
}

impl Settings {
    /// Reads layers of settings, later ones over earlier ones, each the section's content as JSON
    /// (nested, or with dotted names). `folders` are the workspace's, absolute. Returns the
    /// settings and one message per setting that was not taken.
    #[must_use]
    pub fn read(layers: &[(Origin, Value)], folders: &[String]) -> (Settings, Vec<String>) {
        let mut settings = Settings::default();
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
        for path in settings.paths_mut() {
            resolve(path, folders);
        }
        (settings, complaints)
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
        // An editor sends null for what nobody has set.
        let value = if value.is_null() {
            (row.get)(&Settings::default())
        } else {
            value
        };
        let allowed = match (origin, row.trust) {
            (Origin::User, _) | (Origin::Workspace, Trust::Anyone) => true,
            (Origin::Workspace, Trust::WorkspaceInside) => stays_inside(&value, folders),
            (Origin::Workspace, Trust::User) => value == (row.get)(&Settings::default()),
        };
        if !allowed {
            return Err(format!(
                "setting '{name}' counts only from the user's own settings, not from the workspace's"
            ));
        }
        (row.set)(self, value).map_err(|why| format!("setting '{name}': {why}"))
    }

    /// Every path that may be relative to the workspace.
    fn paths_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.nodes_files
            .iter_mut()
            .chain(self.facts_file.iter_mut())
            .chain(self.path_map.values_mut())
            .chain(self.roots.iter_mut())
            .chain(self.global_hiera_yaml.iter_mut())
    }

    /// The settings as JSON Schema with VS Code's `scope` for each: what an editor extension
    /// contributes as its configuration.
    #[must_use]
    pub fn schema() -> Value {
        let defaults = Settings::default();
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

    /// The settings that concern files, in the model's terms.
    #[must_use]
    pub fn of_files(&self) -> crate::workspace::Settings {
        let mut path_map: Vec<(std::sync::Arc<str>, std::sync::Arc<str>)> = self
            .path_map
            .iter()
            .map(|(deployed, here)| (deployed.as_str().into(), here.as_str().into()))
            .collect();
        path_map.sort_by_key(|(deployed, _)| std::cmp::Reverse(deployed.len()));
        crate::workspace::Settings {
            global_hiera_yaml: self.global_hiera_yaml.as_deref().map(Into::into),
            hiera_yamls: self
                .roots
                .iter()
                .map(|root| {
                    if root.ends_with(".yaml") || root.ends_with(".yml") {
                        root.as_str().into()
                    } else {
                        format!("{}/hiera.yaml", root.trim_end_matches('/')).into()
                    }
                })
                .collect(),
            path_map,
            ..crate::workspace::Settings::default()
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

/// Whether every path in a value stays inside one of the folders, whatever `..` it holds.
fn stays_inside(value: &Value, folders: &[String]) -> bool {
    match value {
        Value::String(path) => {
            let mut path = path.clone();
            resolve(&mut path, folders);
            !path.split('/').any(|segment| segment == "..")
                && folders.iter().any(|folder| {
                    path.strip_prefix(folder.as_str())
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                })
        }
        Value::Array(items) => items.iter().all(|item| stays_inside(item, folders)),
        Value::Object(items) => items.values().all(|item| stays_inside(item, folders)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// A section's content as names with dots and their values.
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
            Value::Object(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => found.push((name.clone(), value.clone())),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(origin: Origin, value: Value) -> (Settings, Vec<String>) {
        Settings::read(&[(origin, value)], &["/w".to_owned()])
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
        assert_eq!(nested.puppet_version, PuppetVersion::Seven);
    }

    #[test]
    fn what_cannot_be_read_keeps_its_default_and_is_named() {
        let (settings, complaints) = read(
            Origin::User,
            json!({
                "puppetVersion": 9, "hover": { "maxLine": 3, "maxLines": -1 },
                "strict": "loud", "nodesFiles": "x", "colour": true,
            }),
        );
        assert_eq!(settings, Settings::default());
        expect_test::expect![[r#"
            setting 'puppetVersion': expected 7 or 8, got 9
            unknown setting 'hover.maxLine': did you mean 'hover.maxLines'?
            setting 'hover.maxLines': expected a number of lines, got -1
            setting 'strict': expected off, warning, error or null, got "loud"
            setting 'nodesFiles': expected a list of paths, got "x"
            unknown setting 'colour'"#]]
        .assert_eq(&complaints.join("\n"));
        let (settings, complaints) = read(Origin::User, json!([1]));
        assert_eq!(settings, Settings::default());
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
        assert_eq!(settings, Settings::default());
        assert_eq!(complaints.len(), 7, "{complaints:?}");
        let (settings, complaints) = read(Origin::User, reaching);
        assert_eq!(complaints, Vec::<String>::new());
        assert!(settings.decrypt);
        let inside =
            json!({ "nodesFiles": ["nodes.json"], "roots": ["/w/spec"], "decrypt": false });
        let (settings, complaints) = read(Origin::Workspace, inside);
        assert_eq!(complaints, Vec::<String>::new());
        assert_eq!(settings.nodes_files, ["/w/nodes.json"]);
        assert_eq!(settings.roots, ["/w/spec"]);
    }

    #[test]
    fn every_default_satisfies_its_own_row() {
        let defaults = Settings::default();
        let schema = Settings::schema();
        for row in &TABLE {
            let mut settings = Settings::default();
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
}
