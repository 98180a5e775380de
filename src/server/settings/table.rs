//! The table of settings: one row each, with its type, its description and its field in
//! [`UserSettings`].

use std::sync::Arc;

use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Trust, UserSettings};
use crate::hierarchy::{Backends, LIKE};

/// Maximum of the setting for lines of a hover.
const MAX_HOVER_LINES: usize = 10_000;

pub(super) struct Setting {
    /// The name in the section, with `.` between segments.
    pub(super) name: &'static str,
    pub(super) trust: Trust,
    pub(super) about: &'static str,
    /// Type and limits as JSON Schema.
    pub(super) schema: fn() -> Value,
    pub(super) get: fn(&UserSettings) -> Value,
    pub(super) set: fn(&mut UserSettings, Value) -> Result<(), String>,
}

/// A row that is deserialized as the type of its field.
macro_rules! row {
    ($name:literal, $trust:ident, $($field:ident).+, $wanted:literal, $schema:tt, $about:literal) => {
        Setting {
            name: $name,
            trust: Trust::$trust,
            about: $about,
            schema: || json!($schema),
            get: |settings| json!(settings.$($field).+),
            set: |settings, value| {
                settings.$($field).+ = typed(value, $wanted)?;
                Ok(())
            },
        }
    };
}

/// A boolean row that anyone may set.
macro_rules! switch {
    ($name:literal, $($field:ident).+, $about:literal) => {
        row!($name, Anyone, $($field).+, "true or false", { "type": "boolean" }, $about)
    };
}

pub(super) const TABLE: [Setting; 28] = [
    row!(
        "puppetVersion",
        Anyone,
        puppet_version,
        "7, 8 or 9",
        { "type": "integer", "enum": [7, 8, 9] },
        "The major version of Puppet or OpenVox whose behaviour is shown."
    ),
    row!(
        "strict",
        Anyone,
        strict,
        "off, warning, error or null",
        { "enum": ["off", "warning", "error", null] },
        "Puppet's setting `strict`; null is the default of the Puppet version."
    ),
    row!(
        "strictVariables",
        Anyone,
        strict_variables,
        "true, false or null",
        { "type": ["boolean", "null"] },
        "Puppet's setting `strict_variables`; null is the default of the Puppet version."
    ),
    row!(
        "globalHieraYaml",
        User,
        global_hiera_yaml,
        "a path",
        { "type": ["string", "null"] },
        "The `hiera.yaml` of the global layer, an absolute path."
    ),
    row!(
        "nodesFiles",
        WorkspaceInside,
        nodes_files,
        "a list of paths",
        { "type": "array", "items": { "type": "string" } },
        "Files that describe nodes: certnames with `facts`, `trusted` and `variables`. Later files take precedence. They are used instead of a `nodes.json` that is found."
    ),
    row!(
        "factsFile",
        WorkspaceInside,
        facts_file,
        "a path",
        { "type": ["string", "null"] },
        "A file of facts for every node. A node's own facts take precedence."
    ),
    row!(
        "pathMap",
        WorkspaceInside,
        path_map,
        "an object of paths",
        { "type": "object", "additionalProperties": { "type": "string" } },
        "Maps deployed folders (`/etc/puppetlabs/code/data`) to the workspace folders that they are deployed from."
    ),
    row!(
        "roots",
        WorkspaceInside,
        roots,
        "a list of paths, or of {hierarchy, folder}",
        {
            "type": "array",
            "items": {
                "anyOf": [
                    { "type": "string" },
                    {
                        "type": "object",
                        "properties": {
                            "hierarchy": { "type": "string" },
                            "folder": { "type": "string" }
                        },
                        "required": ["hierarchy", "folder"],
                        "additionalProperties": false
                    }
                ]
            }
        },
        "Configurations that take precedence over all that are found: a file, a folder with a `hiera.yaml`, or `{\"hierarchy\": FILE, \"folder\": FOLDER}` for a file and the folder that it is used for."
    ),
    Setting {
        name: "backends",
        trust: Trust::WorkspaceInside,
        about: "What functions of `hiera.yaml` do that are not Puppet's own, by name: `{\"like\": \"yaml_data\", \"path\": \"{path}/{key_path}.yaml\"}`, `{\"like\": \"secret\"}`, `{\"like\": \"nothing\"}`. See `docs/configuration.md`.",
        schema: || {
            let text = json!({ "type": "string" });
            let texts = json!({ "anyOf": [text.clone(), { "type": "array", "items": text }] });
            json!({ "type": "object", "additionalProperties": {
                "type": "object",
                "properties": { "like": { "enum": LIKE }, "path": texts, "keys": texts },
                "required": ["like"],
                "additionalProperties": false,
            } })
        },
        get: |settings| json!(*settings.backends),
        set: |settings, value| {
            let read = Backends::deserialize(&value);
            settings.backends = Arc::new(read.map_err(|error| error.to_string())?);
            Ok(())
        },
    },
    row!(
        "nodes",
        Anyone,
        nodes,
        "a list of objects with 'match' or 'names'",
        { "type": "array", "items": { "type": "object" } },
        "Variables that follow from a node's name: `[{\"match\": \"^(?<role>[a-z]+)\"}]` sets the variable `role`. See `docs/configuration.md`."
    ),
    row!(
        "decrypt",
        User,
        decrypt,
        "true or false",
        { "type": "boolean" },
        "Allow a command to show the plain text of an encrypted value. Needs the keys below."
    ),
    row!(
        "pkcs7PrivateKey",
        User,
        pkcs7_private_key,
        "a path",
        { "type": ["string", "null"] },
        "The private key of hiera-eyaml's PKCS#7 encryption, an absolute path."
    ),
    row!(
        "pkcs7PublicKey",
        User,
        pkcs7_public_key,
        "a path",
        { "type": ["string", "null"] },
        "The certificate of hiera-eyaml's PKCS#7 encryption, an absolute path."
    ),
    switch!("diagnostics.enable", diagnostics_enabled, "Show problems."),
    row!(
        "diagnostics.severity",
        Anyone,
        diagnostics_severity,
        "an object of off, hint, information, warning or error",
        { "type": "object", "additionalProperties": {
            "enum": ["off", "hint", "information", "warning", "error"]
        } },
        "The severity of diagnostics, by code: off, hint, information, warning or error."
    ),
    row!(
        "diagnostics.ignore",
        Anyone,
        diagnostics_ignore,
        "a list of patterns",
        { "type": "array", "items": { "type": "string" } },
        "Files and folders in which nothing is reported, as patterns: `data/old`, `**/generated`."
    ),
    row!(
        "diagnostics.paths",
        Anyone,
        diagnostics_paths,
        "an object of patterns, each with an object of severities",
        { "type": "object", "additionalProperties": {
            "type": "object",
            "additionalProperties": { "enum": ["off", "hint", "information", "warning", "error"] }
        } },
        "Severities for some files and folders, by pattern: `{\"data/legacy/**\": {\"dup-key\": \"off\"}}`. If several patterns match, the longest one is used."
    ),
    row!(
        "logLevel",
        Anyone,
        log_level,
        "off, error, warning, info or debug",
        { "enum": ["off", "error", "warning", "info", "debug"] },
        "Which messages the server writes to the editor's log."
    ),
    Setting {
        name: "hover.maxLines",
        trust: Trust::Anyone,
        about: "The maximum number of lines of a hover. A longer value is cut in the middle.",
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
        lenses.overrides,
        "Above a key: the number of files in higher and lower levels that also set it."
    ),
    switch!(
        "codeLens.uses",
        lenses.uses,
        "Above a key: the number of tokens, manifests and class parameters that look it up."
    ),
    switch!(
        "codeLens.impact",
        lenses.impact,
        "Above a key with an unsaved edit: the number of nodes whose value changes. Each lens moves the text down; `inlayHints.impact` shows the same at the end of the line."
    ),
    switch!(
        "inlayHints.overridden",
        hints.overridden,
        "After a key that is overridden on some nodes: the line that overrides it, and the number of nodes."
    ),
    switch!(
        "inlayHints.merged",
        hints.merged,
        "After a key: the number of levels that its value is merged from, for the selected node."
    ),
    switch!(
        "inlayHints.neverUsed",
        hints.never_used,
        "After a key whose value no node gets: the line that overrides it."
    ),
    switch!(
        "inlayHints.tokenValues",
        hints.token_values,
        "After a `lookup` or `alias` token: its value (`= 8080`), if it is the same for all nodes that read the file."
    ),
    switch!(
        "inlayHints.impact",
        hints.impact,
        "After a key with an unsaved edit: the number of nodes whose effective value changes."
    ),
    switch!(
        "rememberNode",
        remember_node,
        "Remember the selected node of each workspace, in your state folder."
    ),
];

fn typed<T: DeserializeOwned>(value: Value, wanted: &str) -> Result<T, String> {
    T::deserialize(&value).map_err(|_| expected(wanted, &value))
}

/// Maximum number of characters of a wrong value in a message.
const SHOWN: usize = 60;

pub(super) fn expected(wanted: &str, got: &Value) -> String {
    let got = got.to_string();
    match got.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("expected {wanted}, got {}…", &got[..cut]),
        None => format!("expected {wanted}, got {got}"),
    }
}
