//! The permitted content of `.hiera-ls.yaml`, as data: used to check the file and to make its JSON
//! schema. A new setting is a line here and a field of [`Project`](super::Project).
//!
//! It must not know texts or positions.

use serde_json::{Map, Value, json};

use crate::hierarchy::LIKE;

/// The permitted form of a value.
#[derive(Debug)]
pub(super) enum Shape {
    Record(&'static [ProjectSetting]),
    List(&'static Shape),
    /// A hash with keys chosen by the user.
    Table(TableKeys, &'static Shape),
    Version,
    Word(&'static [&'static str]),
    Switch,
    /// A path inside the workspace.
    Path,
    /// A path inside the workspace, or named settings, all required.
    PathOr(&'static [ProjectSetting]),
    /// A path made of a level's path and a key.
    KeyPath,
    /// A regular expression in Ruby's syntax.
    Pattern,
    /// A value, or a list of such values.
    OneOrMany(&'static Shape),
    Any,
}

#[derive(Debug)]
pub(super) struct ProjectSetting {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) shape: Shape,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TableKeys {
    /// Deployed folders.
    Folders,
    /// Data functions of levels.
    Functions,
    Rules,
    /// Patterns of files and folders in the workspace.
    Paths,
    /// Names of nodes, of variables or of facts.
    Names,
}

const fn setting(name: &'static str, about: &'static str, shape: Shape) -> ProjectSetting {
    ProjectSetting { name, about, shape }
}

pub(super) static PROJECT: &[ProjectSetting] = &[
    setting(
        "puppetVersion",
        "The major version of Puppet or OpenVox whose behaviour is shown.",
        Shape::Version,
    ),
    setting(
        "strict",
        "Puppet's setting `strict`.",
        Shape::Word(&["off", "warning", "error"]),
    ),
    setting(
        "strictVariables",
        "Puppet's setting `strict_variables`.",
        Shape::Switch,
    ),
    setting(
        "nodesFiles",
        "Files that describe nodes: certnames with `facts`, `trusted` and `variables`.",
        Shape::List(&Shape::Path),
    ),
    setting(
        "factsFile",
        "A file of facts for every node. A node's own facts take precedence.",
        Shape::Path,
    ),
    setting(
        "pathMap",
        "Maps deployed folders (`/etc/puppetlabs/code/data`) to the workspace folders that they are \
         deployed from.",
        Shape::Table(TableKeys::Folders, &Shape::Path),
    ),
    setting(
        "roots",
        "Configurations that take precedence over all that are found: a file, a folder with a \
         `hiera.yaml`, or a file and the folder that it is used for.",
        Shape::List(&Shape::PathOr(&[
            setting("hierarchy", "The configuration.", Shape::Path),
            setting("folder", "The folder that it is used for.", Shape::Path),
        ])),
    ),
    setting(
        "backends",
        "What functions of `hiera.yaml` do that are not Puppet's own, by name. They are never run; \
         answers that depend on a declaration are marked.",
        Shape::Table(TableKeys::Functions, &BACKEND),
    ),
    setting(
        "nodes",
        "Variables and facts that follow from a node's name, such as its role or its site. The first match is used; what is known about a node overrides it.",
        Shape::List(&NODES),
    ),
    setting(
        "diagnostics",
        "What is reported, and how.",
        Shape::Record(&[
            setting("enable", "False: nothing is reported.", Shape::Switch),
            setting(
                "severity",
                "The severity of a rule's findings, by code.",
                Shape::Table(TableKeys::Rules, &SEVERITY),
            ),
            setting(
                "ignore",
                "Files and folders in which nothing is reported, as patterns: `data/old`, `**/generated`.",
                Shape::List(&Shape::Path),
            ),
            setting(
                "paths",
                "Severities for some files and folders, by pattern: \
                 `{\"data/legacy/**\": {\"dup-key\": \"off\"}}`. If several patterns match, the longest one is used.",
                Shape::Table(TableKeys::Paths, &Shape::Table(TableKeys::Rules, &SEVERITY)),
            ),
        ]),
    ),
];

static SEVERITY: Shape = Shape::Word(&["off", "hint", "information", "warning", "error"]);

/// A declared function, see [`Backend`](crate::hierarchy::Backend).
static BACKEND: Shape = Shape::Record(BACKENDS);

pub(super) static BACKENDS: &[ProjectSetting] = &[
    setting(
        "like",
        "What the function does: it reads a file as `yaml_data`, `json_data`, `hocon_data` or \
         `eyaml_lookup_key` do, it returns a `secret`, or `nothing`.",
        Shape::Word(&LIKE),
    ),
    setting(
        "path",
        "The file that it reads, if that is not the level's own path. `{path}` is the level's path, \
         `{datadir}` its data directory, `{key}` the key, `{key_path}` the segments before the key's \
         last one joined by `/` (`profile/web` of `profile::web::port`), `{key_file}` all segments, \
         `{key_module}` the first, `{key_name}` the last. An empty segment of the path is removed with \
         the `/` before it. In a list, the first file with the key is used.",
        Shape::OneOrMany(&Shape::KeyPath),
    ),
    setting(
        "keys",
        "Patterns of the keys that the function has, with `like: secret`; it has no others.",
        Shape::OneOrMany(&Shape::Pattern),
    ),
];

/// Fields for some names, see [`NodeMeaning`](super::super::NodeMeaning).
static NODES: Shape = Shape::Record(MEANINGS);

/// The fields of an entry about names.
pub(super) static MEANINGS: &[ProjectSetting] = &[
    setting(
        "match",
        "A pattern that names match. Its named groups are variables, unless they are set otherwise here; \
         `%{group}` in a value is what a group matched.",
        Shape::Pattern,
    ),
    setting(
        "names",
        "The same for single names.",
        Shape::Table(TableKeys::Names, &Shape::Record(MEANING)),
    ),
    VARIABLES,
    FACTS,
    EXTENSIONS,
];

static MEANING: &[ProjectSetting] = &[VARIABLES, FACTS, EXTENSIONS];

const VARIABLES: ProjectSetting = setting(
    "variables",
    "Variables of the top scope, as a site manifest or a node classifier sets them.",
    Shape::Table(TableKeys::Names, &Shape::Any),
);

const FACTS: ProjectSetting = setting(
    "facts",
    "Facts, by their dotted paths.",
    Shape::Table(TableKeys::Names, &Shape::Any),
);

const EXTENSIONS: ProjectSetting = setting(
    "extensions",
    "Extensions of the certificate: `trusted.extensions`.",
    Shape::Table(TableKeys::Names, &Shape::Any),
);

/// Settings that only a user may give.
pub(super) const OF_USERS: [&str; 4] = [
    "globalHieraYaml",
    "decrypt",
    "pkcs7PrivateKey",
    "pkcs7PublicKey",
];

/// Settings, or groups of settings, that concern an editor.
pub(super) const OF_EDITORS: [&str; 5] = [
    "rememberNode",
    "logLevel",
    "hover",
    "codeLens",
    "inlayHints",
];

impl Shape {
    pub(super) fn expected(&self) -> String {
        match self {
            Shape::Record(settings) => {
                let names: Vec<&str> = settings.iter().map(|setting| setting.name).collect();
                format!("a hash of {}", names.join(", "))
            }
            Shape::List(each) => format!("a list, each {}", each.expected()),
            Shape::Table(TableKeys::Folders, _) => "a hash of deployed folders".to_owned(),
            Shape::Table(TableKeys::Functions, _) => "a hash of functions".to_owned(),
            Shape::Table(TableKeys::Rules, _) => "a hash of rules' codes".to_owned(),
            Shape::Table(TableKeys::Paths, _) => "a hash of paths".to_owned(),
            Shape::Table(TableKeys::Names, _) => "a hash of names".to_owned(),
            Shape::Version => "7, 8 or 9".to_owned(),
            Shape::Word(words) => match words {
                [] => String::new(),
                [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
            },
            Shape::Switch => "true or false".to_owned(),
            Shape::Path => "a path".to_owned(),
            Shape::PathOr(settings) => {
                format!("a path or {}", Shape::Record(settings).expected())
            }
            Shape::KeyPath => "a path with placeholders".to_owned(),
            Shape::Pattern => "a regular expression".to_owned(),
            Shape::OneOrMany(each) => format!("{}, or a list of such", each.expected()),
            Shape::Any => "a value".to_owned(),
        }
    }

    fn schema(&self, rules: &[(&str, &str)]) -> Value {
        match self {
            Shape::Record(settings) => record(settings, rules),
            Shape::List(each) => json!({ "type": "array", "items": each.schema(rules) }),
            Shape::Table(TableKeys::Rules, each) => {
                let codes = rules.iter().map(|(code, summary)| {
                    let mut property = each.schema(rules);
                    property["description"] = json!(summary);
                    ((*code).to_owned(), property)
                });
                let properties: Map<String, Value> = codes.collect();
                json!({
                    "type": "object", "properties": properties, "additionalProperties": false,
                })
            }
            Shape::Table(
                TableKeys::Folders | TableKeys::Functions | TableKeys::Paths | TableKeys::Names,
                each,
            ) => {
                json!({ "type": "object", "additionalProperties": each.schema(rules) })
            }
            Shape::Version => json!({ "enum": [7, 8, 9, "7", "8", "9"] }),
            Shape::Word(words) => json!({ "enum": words }),
            Shape::Switch => json!({ "type": "boolean" }),
            Shape::Path | Shape::KeyPath => json!({ "type": "string", "minLength": 1 }),
            Shape::PathOr(settings) => {
                let mut whole = record(settings, rules);
                let names = settings.iter().map(|setting| setting.name);
                whole["required"] = json!(names.collect::<Vec<_>>());
                json!({ "oneOf": [Shape::Path.schema(rules), whole] })
            }
            Shape::Pattern => json!({ "type": "string" }),
            Shape::Any => json!({}),
            Shape::OneOrMany(each) => {
                let one = each.schema(rules);
                json!({ "oneOf": [one.clone(), { "type": "array", "items": one }] })
            }
        }
    }
}

fn record(settings: &[ProjectSetting], rules: &[(&str, &str)]) -> Value {
    let properties = settings.iter().map(|setting| {
        let mut property = setting.shape.schema(rules);
        property["description"] = json!(setting.about.replace('`', ""));
        property["markdownDescription"] = json!(setting.about);
        (setting.name.to_owned(), property)
    });
    let properties: Map<String, Value> = properties.collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// The JSON schema of the file, for editors; `rules` are the codes and descriptions of all rules.
#[must_use]
pub fn schema(rules: &[(&str, &str)]) -> Value {
    let mut schema = record(PROJECT, rules);
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("hiera-ls: settings of a workspace");
    schema
}
