//! The pure functions of Puppet and of its standard library (`puppet/functions/*.rb`, `stdlib`). A
//! call in an unsupported form has an unknown value.

mod collections;
mod data;
mod iteration;
mod numbers;
mod patterns;
mod pure;
mod texts;
mod versions;

pub(super) use data::list_of_classes;
use pure::PURE;

use super::evaluator::Evaluator;
use super::stop::{Evaluated, Stop};
use crate::datatype;
use crate::syntax::puppet::Lambda;
use crate::value::Value;

/// The functions of Puppet itself that are evaluated.
const NAMES: [&str; 57] = [
    "abs",
    "all",
    "any",
    "assert_type",
    "break",
    "camelcase",
    "capitalize",
    "ceiling",
    "chomp",
    "chop",
    "convert_to",
    "defined",
    "dig",
    "downcase",
    "each",
    "empty",
    "fail",
    "filter",
    "flatten",
    "floor",
    "get",
    "getvar",
    "group_by",
    "hiera",
    "hiera_array",
    "hiera_hash",
    "index",
    "join",
    "keys",
    "length",
    "lest",
    "lookup",
    "lstrip",
    "map",
    "match",
    "max",
    "min",
    "new",
    "next",
    "partition",
    "reduce",
    "regsubst",
    "return",
    "round",
    "rstrip",
    "size",
    "sort",
    "split",
    "sprintf",
    "strip",
    "then",
    "unique",
    "unwrap",
    "upcase",
    "values",
    "versioncmp",
    "with",
];

/// The functions of the standard library that are evaluated.
const OF_LIBRARY: [&str; 26] = [
    "any2array",
    "bool2str",
    "concat",
    "count",
    "deep_merge",
    "delete",
    "delete_undef_values",
    "difference",
    "fact",
    "has_key",
    "intersection",
    "join_keys_to_values",
    "member",
    "merge",
    "pick",
    "pick_default",
    "prefix",
    "range",
    "reverse",
    "stdlib::any2array",
    "stdlib::end_with",
    "stdlib::merge",
    "stdlib::start_with",
    "str2bool",
    "suffix",
    "union",
];

/// Functions of Puppet that only log, declare or tag.
const STATEMENTS: [&str; 21] = [
    "alert",
    "contain",
    "create_resources",
    "crit",
    "debug",
    "emerg",
    "err",
    "hiera_include",
    "import",
    "include",
    "info",
    "notice",
    "realize",
    "require",
    "tag",
    "warning",
    "ensure_packages",
    "ensure_resource",
    "ensure_resources",
    "deprecation",
    "assert_private",
];

/// Those that only log.
const LOGGING: [&str; 8] = [
    "alert", "crit", "debug", "emerg", "err", "info", "notice", "warning",
];

/// Functions that are neither run nor able to set variables.
const NOT_RUN: [&str; 41] = [
    "binary_file",
    "call",
    "compare",
    "epp",
    "eyaml_lookup_key",
    "file",
    "find_file",
    "find_template",
    "fqdn_rand",
    "generate",
    "hocon_data",
    "inline_epp",
    "inline_template",
    "json_data",
    "loadjson",
    "loadyaml",
    "md5",
    "module_directory",
    "parsejson",
    "parseyaml",
    "puppetdb_query",
    "reverse_each",
    "scanf",
    "sha1",
    "sha256",
    "shellquote",
    "shuffle",
    "slice",
    "step",
    "strftime",
    "tagged",
    "template",
    "time",
    "to_json",
    "to_yaml",
    "tree_each",
    "type",
    "validate_array",
    "validate_re",
    "validate_string",
    "yaml_data",
];

/// Whether a function is Puppet's own, which no module can redefine.
pub(super) fn is_of_puppet(name: &str) -> bool {
    NAMES.contains(&name) || STATEMENTS[..16].contains(&name)
}

/// Whether a function's effects are known: it returns a value, and sets no variable.
pub(super) fn is_known(name: &str) -> bool {
    is_of_puppet(name)
        || is_of_library(name)
        || STATEMENTS.contains(&name)
        || NOT_RUN.contains(&name)
}

/// Whether a function is the standard library's, and is evaluated.
pub(super) fn is_of_library(name: &str) -> bool {
    OF_LIBRARY.contains(&name)
}

/// Whether a function may declare classes, judging by its name. False for functions known not to,
/// and for those that include or declare what their arguments name.
#[must_use]
pub fn may_declare_classes(name: &str) -> bool {
    // An argument of `call` names the called function.
    let is_harmless = is_known(name) || name.starts_with("stdlib::") || PURE.contains(&name);
    name == "call" || !is_harmless
}

/// Whether a function that is not evaluated declares classes, or resources that may.
pub(super) fn declares_classes(name: &str) -> bool {
    declares(name) || may_declare_classes(name)
}

/// Whether a function of Puppet or its standard library declares classes, or resources that may.
pub(super) fn declares(name: &str) -> bool {
    matches!(
        name,
        "contain"
            | "create_resources"
            | "ensure_resource"
            | "ensure_resources"
            | "hiera_include"
            | "include"
            | "require"
    )
}

/// Whether a call of a function may fail, as far as it is evaluated. What functions do that are
/// called for their effect is not.
pub(super) fn may_fail(name: &str) -> bool {
    !is_statement(name) && name != "defined"
}

/// Whether a function is called for its effect.
pub(super) fn is_statement(name: &str) -> bool {
    STATEMENTS.contains(&name)
}

pub(super) fn asks_data(name: &str) -> bool {
    matches!(name, "lookup" | "hiera" | "hiera_array" | "hiera_hash")
}

pub(super) struct Arguments<'c> {
    pub(super) name: &'c str,
    pub(super) values: &'c [Value],
    pub(super) lambda: Option<&'c Lambda>,
}

impl Arguments<'_> {
    /// The stop for arguments with which the function is not evaluated.
    pub(super) fn refused(&self) -> Stop {
        Stop::unknown(format!(
            "'{}' is not evaluated with these arguments",
            self.name
        ))
    }
}

/// Calls a function of Puppet or of its standard library.
pub(super) fn call(
    evaluator: &mut Evaluator<'_>,
    name: &str,
    values: Vec<Value>,
    lambda: Option<&Lambda>,
) -> Evaluated {
    let arguments = Arguments {
        name,
        values: &values,
        lambda,
    };
    if LOGGING.contains(&name) {
        return Ok(Value::Undef);
    }
    if is_statement(name) {
        return Err(Stop::unknown(format!(
            "what '{name}' gives is not evaluated"
        )));
    }
    let groups = [
        control,
        texts::call,
        patterns::call,
        collections::call,
        iteration::call,
        numbers::call,
        data::call,
    ];
    for group in groups {
        if let Some(result) = group(evaluator, &arguments) {
            let value = result?;
            return evaluator.sized(value);
        }
    }
    Err(Stop::unknown(format!(
        "the function '{name}' is not evaluated"
    )))
}

/// Functions for control flow and types.
fn control(evaluator: &mut Evaluator<'_>, call: &Arguments<'_>) -> Option<Evaluated> {
    Some(match (call.name, call.values) {
        ("next", []) => Err(Stop::Next(Value::Undef)),
        ("next", [value]) => Err(Stop::Next(value.clone())),
        ("return", []) => Err(Stop::Return(Value::Undef)),
        ("return", [value]) => Err(Stop::Return(value.clone())),
        ("break", []) => Err(Stop::Break),
        ("fail", values) => {
            let mut words = Vec::new();
            for value in values {
                match evaluator.text_of(value) {
                    Ok(text) => words.push(text),
                    Err(stop) => return Some(Err(stop)),
                }
            }
            Err(Stop::failed(words.join(" ")))
        }
        ("new", [target, rest @ ..]) => match type_in(target) {
            Some(target) => evaluator.new_value(&target, rest, call.lambda),
            None => Err(call.refused()),
        },
        ("convert_to", [value, target, rest @ ..]) => match type_in(target) {
            Some(target) => {
                let all: Vec<Value> = [value].into_iter().chain(rest).cloned().collect();
                evaluator.new_value(&target, &all, call.lambda)
            }
            None => Err(call.refused()),
        },
        ("unwrap", [Value::Sensitive(inner)]) => match call.lambda {
            Some(lambda) => evaluator.yield_to(lambda, vec![Value::clone(inner)]),
            None => Ok(Value::clone(inner)),
        },
        ("unwrap", [value]) if call.lambda.is_none() => Ok(value.clone()),
        _ => return None,
    })
}

fn type_in(value: &Value) -> Option<datatype::Type> {
    datatype::type_of_value(value).filter(|read| !read.has_reference())
}

#[cfg(test)]
mod tests {
    use super::{NAMES, OF_LIBRARY};

    #[test]
    fn the_page_lists_every_function() {
        let page = include_str!("../../../docs/manifests.md");
        let listed = |start: &str| {
            let (_, list) = page.split_once(start).unwrap();
            let list = list.split("\n\n").next().unwrap();
            let names = list.split('`').skip(1).step_by(2);
            names.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(listed("Functions of Puppet:"), NAMES);
        assert_eq!(listed("unless another module defines them:"), OF_LIBRARY);
    }
}
