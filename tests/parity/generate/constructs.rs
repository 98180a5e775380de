//! Everything the generator must have built, and everything Puppet must have met, by the end of a
//! run. A construct that a run never reached fails it.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

/// Constructs of repositories and requests.
pub const CONSTRUCTS: &[&str] = &[
    "backend: eyaml_lookup_key",
    "backend: function in Ruby",
    "backend: function of the environment",
    "backend: function that may refuse its call",
    "backend: hocon_data",
    "backend: json file read as yaml",
    "backend: json_data",
    "convert_to: odd",
    "convert_to: type",
    "convert_to: with arguments",
    "data: broken hocon",
    "data: broken json",
    "data: broken yaml",
    "data: odd top-level key",
    "data: yaml that is no hash",
    "data: top-level key that is no string",
    "datadir: absolute",
    "datadir: climbs out",
    "datadir: token",
    "datadir: undefined variable",
    "environment.conf: modulepath",
    "environment: without hiera.yaml",
    "glob: a folder with a file's name",
    "global: hiera3_backend",
    "global: version 5",
    "hiera 3: backend named twice",
    "hiera 3: default datadir",
    "hiera 3: structure error",
    "hiera 3: unknown backend",
    "hiera 4: structure error",
    "hiera.yaml: default hierarchy",
    "hiera.yaml: default options",
    "hiera.yaml: default_hierarchy of a module",
    "hiera.yaml: defaults without a function",
    "hiera.yaml: defaults",
    "hiera.yaml: duplicate level",
    "hiera.yaml: error at the top",
    "hiera.yaml: not a configuration",
    "hiera.yaml: semantic error in an entry",
    "hiera.yaml: structure error in an entry",
    "hiera.yaml: symbol keys",
    "hiera.yaml: token in a name",
    "hiera.yaml: version 3, global",
    "hiera.yaml: version 4",
    "hocon: nesting, substitution, comments",
    "json: comment",
    "json: duplicate key",
    "key: dotted",
    "key: odd",
    "location: glob",
    "location: globs",
    "location: mapped_paths",
    "location: none",
    "location: path",
    "location: paths",
    "location: uri",
    "location: uris",
    "lookup_options",
    "lookup_options: invalid regex",
    "lookup_options: literal key",
    "lookup_options: looks like a regex but is not anchored",
    "lookup_options: not a hash",
    "lookup_options: odd merge",
    "lookup_options: odd value",
    "lookup_options: outside the module's namespace",
    "lookup_options: regex",
    "lookup_options: token in a key",
    "lookup_options: token in a merge",
    "mapped_paths: not a list",
    "merge: deep",
    "merge: default",
    "merge: first",
    "merge: hash with options",
    "merge: hash",
    "merge: knockout_prefix",
    "merge: merge_hash_arrays",
    "merge: reverse_deep",
    "merge: sort_merged_arrays",
    "merge: unconstrained options",
    "merge: unconstrained_deep",
    "merge: unique",
    "merge: wrong option",
    "module: key outside its namespace",
    "module: key that is no string",
    "module: metadata.json",
    "module: type aliases",
    "module: without hiera.yaml",
    "environment.conf: environment_data_provider",
    "yaml: a scalar of the scalar cases",
    "path: a folder",
    "path: absolute",
    "path: climbs out",
    "path: fact that is absent, nil or empty",
    "path: fact that is no string",
    "path: no extension",
    "path: sub-key of a string",
    "path: token",
    "path: undefined variable",
    "request: automatic parameter lookup",
    "request: class scope",
    "request: default_value",
    "request: default_values_hash",
    "request: explain",
    "request: explain_options",
    "request: merge",
    "request: odd merge",
    "request: override",
    "request: several names",
    "request: strict=error",
    "request: strict=off",
    "request: strict_variables",
    "request: value_type",
    "request: version 8",
    "scope: trusted extensions",
    "scope: variables of a classifier",
    "token: alias inside a longer string",
    "token: alias",
    "token: alias, double quotes and blanks inside",
    "token: dig that cannot work",
    "token: empty",
    "token: hiera",
    "token: literal",
    "token: lookup of a dotted key",
    "token: lookup",
    "token: malformed",
    "token: possible loop",
    "token: scope",
    "token: undefined or absent",
    "token: unknown function",
    "token: variable",
    "value: date",
    "value: knockout marker in a list",
    "value: nested key that Puppet refuses",
    "value: nil",
    "value: number as a nested key",
    "value: odd plain scalar",
    "value: symbol",
    "value: token in a nested key",
    "yaml: CRLF",
    "yaml: alias as a key",
    "yaml: alias",
    "yaml: anchor",
    "yaml: byte order mark",
    "yaml: comments",
    "yaml: directive",
    "yaml: duplicate key",
    "yaml: folded block",
    "yaml: forbidden tag",
    "yaml: literal block",
    "yaml: merge key at the top",
    "yaml: merge key without a mapping",
    "yaml: merge key",
    "yaml: second document",
    "yaml: tag",
    "yaml: unknown alias",
];

/// What Puppet's answers show of a request's course: a name, the field of the answer, and a pattern
/// in that field's text.
const EVENTS: &[(&str, &str, &str)] = &[
    (
        "error: a type alias does not fit",
        "error",
        r"M::(Port|Word|List|Tree)",
    ),
    (
        "explain: path found",
        "explain",
        r#"Path "[^"]*"\n *Original path: "[^\n]*\n *Found key"#,
    ),
    ("explain: path not found", "explain", "Path not found"),
    ("explain: no such key", "explain", "No such key"),
    (
        "explain: several layers",
        "explain",
        "Global Data Provider[\\s\\S]*Environment Data Provider[\\s\\S]*Module",
    ),
    (
        "explain: module missing",
        "explain",
        r#"Module "p" not found"#,
    ),
    (
        "explain: module without data",
        "explain",
        "Module data provider for module",
    ),
    (
        "explain: default_hierarchy",
        "explain",
        "Searching default_hierarchy of module",
    ),
    (
        "explain: merge first shows no node",
        "explain",
        "Using merge options from",
    ),
    ("explain: merge unique", "explain", "Merge strategy unique"),
    ("explain: merge hash", "explain", "Merge strategy hash"),
    ("explain: merge deep", "explain", "Merge strategy deep"),
    ("explain: merge options", "explain", "Options: \\{"),
    ("explain: merged result", "explain", "Merged result: "),
    ("explain: interpolation", "explain", "Interpolation on"),
    ("explain: scope", "explain", "Global Scope\n *Found key"),
    ("explain: sub key", "explain", "Sub key: "),
    (
        "explain: nested lookup",
        "explain",
        r#"Interpolation on [^\n]*\n +Searching for ""#,
    ),
    ("explain: convert_to", "explain", "Applying convert_to"),
    ("explain: invalid key", "explain", "Invalid key"),
    ("explain: found in overrides", "explain", "in overrides"),
    ("explain: found in defaults", "explain", "in defaults"),
    ("explain: URI", "explain", "URI \""),
    (
        "explain: global configuration of version 3",
        "explain",
        "hiera configuration version 3",
    ),
    (
        "explain: configuration of version 4",
        "explain",
        "hiera configuration version 4",
    ),
    (
        "explain: two lookup_options sources",
        "explain",
        "Global and Environment",
    ),
    ("error: recursion", "error", "Recursive lookup detected"),
    (
        "error: recursion in lookup_options",
        "error",
        "Recursive lookup detected in \\[lookup_options",
    ),
    (
        "error: prefix of the global layer",
        "error",
        "^Lookup of key '",
    ),
    (
        "error: syntax error in a key",
        "error",
        "Syntax error in key",
    ),
    (
        "error: syntax error in a token",
        "error",
        "Syntax error in string",
    ),
    (
        "error: unknown interpolation method",
        "error",
        "Unknown interpolation method",
    ),
    (
        "error: alias inside a longer string",
        "error",
        "'alias' interpolation is only permitted",
    ),
    (
        "error: type mismatch while digging",
        "error",
        "Data Provider type mismatch",
    ),
    (
        "error: digging into a number",
        "error",
        "undefined method `include\\?'",
    ),
    (
        "error: unknown merge strategy",
        "error",
        "Unknown merge strategy",
    ),
    (
        "error: merge without a strategy",
        "error",
        "must contain the name of a strategy",
    ),
    (
        "error: merge options",
        "error",
        "The merge options has wrong type",
    ),
    (
        "error: empty knockout prefix",
        "error",
        "knockout_prefix cannot be an empty string",
    ),
    (
        "error: merge of a wrong type",
        "error",
        "element of the merge has wrong type",
    ),
    ("error: sort of mixed types", "error", "comparison of"),
    (
        "error: convert_to failed",
        "error",
        "The convert_to lookup_option for key",
    ),
    (
        "error: convert_to does not parse",
        "error",
        "Invalid data type in lookup_options",
    ),
    (
        "error: lookup_options is no hash",
        "error",
        "value of lookup_options must be a hash",
    ),
    ("error: lookup_options regex", "error", "/\\^"),
    (
        "error: lookup_options key outside the module",
        "error",
        "all lookup_options keys must start",
    ),
    (
        "error: lookup_options pattern outside the module",
        "error",
        "all lookup_options patterns must match",
    ),
    ("error: value type", "error", "Found value has wrong type"),
    (
        "error: default of a wrong type",
        "error",
        "Default value has wrong type",
    ),
    (
        "error: override of a wrong type",
        "error",
        "in override hash has wrong type",
    ),
    (
        "error: value that is no LookupValue",
        "error",
        "expects Puppet::LookupValue",
    ),
    ("error: date", "error", "Tried to load unspecified class"),
    ("error: unknown alias", "error", "Unknown alias"),
    ("error: yaml syntax", "error", "at line \\d+ column \\d+"),
    (
        "error: json syntax",
        "error",
        "unexpected token|unexpected end",
    ),
    ("error: data is no hash", "error", "expects a Hash value"),
    ("error: undefined variable", "error", "^Undefined variable"),
    (
        "error: undefined variable in hiera.yaml",
        "issue_code",
        "HIERA_UNDEFINED_VARIABLE",
    ),
    (
        "error: structure of hiera.yaml",
        "error",
        "The Lookup Configuration at",
    ),
    (
        "error: several structure errors",
        "error",
        "^ The Lookup Configuration[^\\n]*\\n  The Lookup",
    ),
    (
        "error: function missing",
        "issue_code",
        "HIERA_MISSING_DATA_PROVIDER_FUNCTION",
    ),
    (
        "error: several functions",
        "issue_code",
        "HIERA_MULTIPLE_DATA_PROVIDER_FUNCTIONS$",
    ),
    (
        "error: several locations",
        "issue_code",
        "HIERA_MULTIPLE_LOCATION_SPECS",
    ),
    (
        "error: reserved option",
        "issue_code",
        "HIERA_OPTION_RESERVED_BY_PUPPET",
    ),
    (
        "error: duplicate level",
        "issue_code",
        "HIERA_HIERARCHY_NAME_MULTIPLY_DEFINED",
    ),
    (
        "error: default_hierarchy outside a module",
        "issue_code",
        "HIERA_DEFAULT_HIERARCHY_NOT_IN_MODULE",
    ),
    (
        "error: hiera3_backend outside global",
        "issue_code",
        "HIERA_V3_BACKEND_NOT_GLOBAL",
    ),
    (
        "error: method call in hiera.yaml",
        "issue_code",
        "HIERA_INTERPOLATION_METHOD_SYNTAX_NOT_ALLOWED",
    ),
    (
        "error: unknown function",
        "issue_code",
        "HIERA_DATA_PROVIDER_FUNCTION_NOT_FOUND",
    ),
    (
        "error: version 3 under strict=error",
        "issue_code",
        "HIERA_VERSION_3_NOT_GLOBAL",
    ),
    (
        "error: version that is unsupported",
        "issue_code",
        "HIERA_UNSUPPORTED_VERSION$",
    ),
    ("error: a folder", "error", "Is a directory"),
    (
        "error: a function refuses its call",
        "error",
        "'environment::.*(expects|unrecognized)",
    ),
    (
        "error: return type of a function",
        "error",
        "Return type of '.*' is incorrect",
    ),
    (
        "error: mapped_paths of a number",
        "error",
        "undefined method `empty\\?'",
    ),
    (
        "error: data function without a path",
        "error",
        "must be declared in hiera.yaml when using this",
    ),
    ("warning: undefined variable", "logs", "Undefined variable"),
    (
        "warning: version 3 or 4",
        "logs",
        "It should be converted to version 5",
    ),
    ("warning: version 3 was ignored", "logs", "was ignored"),
    (
        "warning: no yaml hash in hiera.yaml",
        "logs",
        "Falling back to Hiera version 3",
    ),
    (
        "warning: no yaml hash in data",
        "logs",
        "file does not contain a valid yaml hash",
    ),
    (
        "warning: module key outside its namespace",
        "logs",
        "must use keys qualified",
    ),
    ("value: Sensitive", "value", "\"Sensitive\""),
    (
        "value: hash with a key that is no string",
        "value",
        "__pairs",
    ),
    ("value: array", "value", "^\\["),
    ("value: hash", "value", "^\\{\"[^_]"),
    ("value: float", "value", "^-?\\d+\\.\\d"),
    ("value: null", "value", "^null$"),
    ("value: boolean", "value", "^(true|false)$"),
    ("value: string that was built", "value", "[Dd]ebian|RedHat"),
];

/// Counts the events in Puppet's answers.
pub struct Events {
    patterns: Vec<(&'static str, &'static str, Regex)>,
    counts: BTreeMap<&'static str, u64>,
}

impl Events {
    /// No event has been seen yet.
    pub fn new() -> Events {
        let patterns: Vec<_> = EVENTS
            .iter()
            .map(|(name, field, pattern)| {
                (*name, *field, Regex::new(pattern).expect("a valid pattern"))
            })
            .collect();
        let counts = EVENTS.iter().map(|(name, ..)| (*name, 0)).collect();
        Events { patterns, counts }
    }

    /// Looks for every event in one answer.
    pub fn count(&mut self, answer: &Value) {
        for (name, field, pattern) in &self.patterns {
            let Some(part) = answer.get(*field) else {
                continue;
            };
            let text = match part {
                Value::String(text) if *field != "value" => text.clone(),
                other => other.to_string(),
            };
            if pattern.is_match(&text) {
                *self.counts.get_mut(name).expect("every event has a count") += 1;
            }
        }
    }

    /// How often each event was seen.
    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }
}
