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
        "7 or 8",
        { "type": "integer", "enum": [7, 8] },
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
        "Files that map certnames to `facts`, `trusted` and `variables`."
    ),
    row!(
        "factsFile",
        WorkspaceInside,
        facts_file,
        "a path",
        { "type": ["string", "null"] },
        "A file of default facts; each node's own facts win."
    ),
    row!(
        "pathMap",
        WorkspaceInside,
        path_map,
        "an object of paths",
        { "type": "object", "additionalProperties": { "type": "string" } },
        "Deployed folders (`/etc/puppetlabs/code/data`) to the folders they are made from."
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
        "Configurations that come before all that are found: a file, the folder with its `hiera.yaml`, or `{\"hierarchy\": FILE, \"folder\": FOLDER}` with the folder that the file serves."
    ),
    Setting {
        name: "backends",
        trust: Trust::WorkspaceInside,
        about: "What functions of `hiera.yaml` do that are not Puppet's own, by their names: `{\"like\": \"yaml_data\", \"path\": \"{path}/{key_path}.yaml\"}`, `{\"like\": \"secret\"}`, `{\"like\": \"nothing\"}`. See `docs/configuration.md`.",
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
        "What a node's name means: `[{\"match\": \"^(?<role>[a-z]+)\"}]` sets the variable `role`. See `docs/configuration.md`."
    ),
    row!(
        "decrypt",
        User,
        decrypt,
        "true or false",
        { "type": "boolean" },
        "Let a command show the plain text of an encrypted value; needs the keys below."
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
        "How to show a diagnostic, by its code: off, hint, information, warning or error."
    ),
    row!(
        "diagnostics.ignore",
        Anyone,
        diagnostics_ignore,
        "a list of patterns",
        { "type": "array", "items": { "type": "string" } },
        "Files and folders in which nothing is reported, by patterns: `data/old`, `**/generated`."
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
        "Severities for some files and folders, by patterns of them: `{\"data/legacy/**\": {\"dup-key\": \"off\"}}`. Of several, the longest one applies."
    ),
    row!(
        "logLevel",
        Anyone,
        log_level,
        "off, error, warning, info or debug",
        { "enum": ["off", "error", "warning", "info", "debug"] },
        "What is written to the editor's log of this server."
    ),
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
        lenses.overrides,
        "Above a key: in how many files of higher and lower levels it is set too."
    ),
    switch!(
        "codeLens.uses",
        lenses.uses,
        "Above a key: how many tokens, manifests and class parameters look it up."
    ),
    switch!(
        "codeLens.impact",
        lenses.impact,
        "Above a key, while an edit is unsaved: for how many nodes it changes. The text moves down for each; `inlayHints.impact` says it at the end of the line."
    ),
    switch!(
        "inlayHints.overridden",
        hints.overridden,
        "Behind a key whose value loses on some nodes: the line that overrides it, and on how many nodes."
    ),
    switch!(
        "inlayHints.merged",
        hints.merged,
        "Behind a key: from how many levels its value is merged, for the selected node."
    ),
    switch!(
        "inlayHints.neverUsed",
        hints.never_used,
        "Behind a key: that no node that reads the file gets its value, and the line that overrides it."
    ),
    switch!(
        "inlayHints.tokenValues",
        hints.token_values,
        "Behind a `lookup` or `alias` token: its value (`= 8080`), where it is the same for all nodes that read the file."
    ),
    switch!(
        "inlayHints.impact",
        hints.impact,
        "Behind a key, while an edit is unsaved: for how many nodes the edit changes its effective value."
    ),
    switch!(
        "rememberNode",
        remember_node,
        "Keep the selected node of a workspace in your state folder, for the next time."
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
