//! Requests: keys of every shape, and all other arguments of `lookup()`.

use serde_json::{Map, Value, json};

use super::dice::Dice;
use super::options::{merge_hash, strategy};
use super::repo::Repo;
use super::scope::Scope;
use super::value::Kind;

/// One request to a repository, without the fields for its location.
pub fn request(dice: &mut Dice, repo: &Repo) -> Map<String, Value> {
    let scope = repo.scopes[dice.below(repo.scopes.len())].clone();
    let mut request = base(dice, &scope);
    let config = repo.files.get("env/hiera.yaml");
    if config.is_some_and(|text| !text.contains("version")) && dice.chance(40) {
        // It then counts as version 3, which is an error.
        request.insert("strict".into(), "error".into());
    }
    let key = if dice.chance(4) {
        dice.mark("request: several names");
        let names: Vec<Value> = (0..dice.between(0, 3))
            .map(|_| key(dice, repo).into())
            .collect();
        names.into()
    } else {
        Value::from(key(dice, repo))
    };
    let name = key.as_str().unwrap_or("alpha").to_string();
    request.insert("key".into(), key);
    arguments(dice, repo, &name, &mut request);
    if dice.chance(45) {
        dice.mark("request: explain");
        request.insert("explain".into(), true.into());
    }
    if dice.rarely(15) {
        dice.mark("request: explain_options");
        request.insert("explain_options".into(), true.into());
    }
    request
}

/// The fields of a request for its node and for Puppet's settings.
pub fn base(dice: &mut Dice, scope: &Scope) -> Map<String, Value> {
    let mut request = Map::new();
    request.insert("node".into(), scope.node.clone().into());
    request.insert("environment".into(), "production".into());
    request.insert("facts".into(), Value::Object(scope.facts.clone()));
    if let Some(trusted) = &scope.trusted {
        request.insert("trusted".into(), trusted.clone());
    }
    if !scope.variables.is_empty() {
        request.insert("variables".into(), Value::Object(scope.variables.clone()));
    }
    // The default folder of version 3 data lies below it.
    request.insert("codedir".into(), "@@ROOT@@/code".into());
    match dice.weighted(&[76, 9, 4, 5, 6]) {
        0 => {
            request.insert("puppet_version".into(), 7.into());
        }
        1 => {
            dice.mark("request: strict=error");
            request.insert("puppet_version".into(), 7.into());
            request.insert("strict".into(), "error".into());
        }
        2 => {
            dice.mark("request: strict=off");
            request.insert("puppet_version".into(), 7.into());
            request.insert("strict".into(), "off".into());
        }
        3 => {
            dice.mark("request: strict_variables");
            request.insert("puppet_version".into(), 7.into());
            request.insert("strict".into(), dice.pick(&["error", "warning"]).into());
            request.insert("strict_variables".into(), true.into());
        }
        _ => {
            dice.mark("request: version 8");
            request.insert("puppet_version".into(), 8.into());
            if dice.chance(50) {
                request.insert("strict".into(), "warning".into());
            }
        }
    }
    request
}

fn key(dice: &mut Dice, repo: &Repo) -> String {
    let names = &repo.keys.names;
    if names.is_empty() || dice.chance(5) {
        dice.mark("key: odd");
        return dice
            .pick(&[
                "",
                "a.b",
                "'a.b'",
                "\"a.b\".c",
                "with space",
                " alpha",
                "alpha ",
                "1",
                "1.5",
                "true",
                "a..b",
                ".a",
                "a.",
                "'q'",
                "it's",
                "lookup_options",
                "lookup_options.alpha",
                "'lookup_options'",
                "%{role}",
                "::m::a",
                "::alpha",
                "m::",
                "m::nothing",
                "q::none",
                "é",
                ":sym",
                "a'b'",
                "x\"y",
                "missing",
                "merged_key",
                "~",
                "''",
                "environment::x",
                "lookup_options .a",
                "alpha.b.c.d",
            ])
            .to_string();
    }
    let name = names[dice.below(names.len())].clone();
    let deep = matches!(repo.keys.kind(&name), Some(Kind::Hash | Kind::List));
    if !dice.chance(if deep { 45 } else { 5 }) {
        return name;
    }
    dice.mark("key: dotted");
    let segments = match repo.keys.kind(&name) {
        Some(Kind::List) if dice.chance(70) => {
            dice.pick(&["0", "1", "2", "0.a", "9", "-1", "00", "1.b"])
        }
        Some(Kind::Hash) if dice.chance(70) => dice.pick(&[
            "a", "b", "c", "n", "x", "list", "port", "list.0", "'a.b'", "missing", "1",
        ]),
        _ => odd_segments(dice),
    };
    if dice.chance(6) {
        format!("'{name}'.{segments}")
    } else {
        format!("{name}.{segments}")
    }
}

fn odd_segments(dice: &mut Dice) -> &'static str {
    dice.pick(&[
        "a",
        "b",
        "0",
        "1",
        "n.x",
        "x",
        "'a.b'",
        "\"1\"",
        "'1'",
        "list.0",
        "9",
        "-1",
        "+1",
        "00",
        ":0",
        " a ",
        "a.b.c",
        "c",
        "port",
        "missing",
        "''",
        "1.5",
        "'with space'",
        "0.a",
        "1.a",
        "list",
        "<<",
        "0x1",
    ])
}

const VALUE_TYPES: [&str; 43] = [
    "String",
    "Integer",
    "Array",
    "Hash",
    "Numeric",
    "Boolean",
    "Array[String]",
    "Hash[String, Integer]",
    "Optional[String]",
    "Enum['one', 'two']",
    "Variant[String, Integer]",
    "Pattern[/^o/]",
    "Undef",
    "NotUndef",
    "Struct[{a => Integer}]",
    "Tuple[String, Integer]",
    "Integer[0, 10]",
    "String[1, 3]",
    "Sensitive",
    "Sensitive[String]",
    "Scalar",
    "Data",
    "Any",
    "Collection",
    "Float",
    "Array[Integer, 1]",
    "Bogus",
    "Integer[",
    "Struct[{a => String, Optional[b] => Any}]",
    "ScalarData",
    "RichData",
    "Regexp",
    "Default",
    "Array[Variant[String, Hash]]",
    "Hash[String, Any, 1, 2]",
    "Callable",
    "Type",
    "Optional[Array[Integer]]",
    "M::Port",
    "M::Word",
    "M::List",
    "Optional[M::Tree]",
    "M::Missing",
];

fn arguments(dice: &mut Dice, repo: &Repo, name: &str, request: &mut Map<String, Value>) {
    let kind = repo.keys.kind(name).unwrap_or(Kind::Any);
    if dice.chance(35) {
        dice.mark("request: merge");
        let merge = match dice.weighted(&[60, 35, 5]) {
            0 => Value::from(strategy(dice, kind)),
            1 => as_value(&merge_hash(dice, kind)),
            _ => {
                dice.mark("request: odd merge");
                dice.pick(&[&"bogus", &"Deep"]).to_string().into()
            }
        };
        let merge = if dice.rarely(20) {
            json!({"knockout_prefix": "--"})
        } else {
            merge
        };
        request.insert("merge".into(), merge);
    }
    if dice.chance(10) {
        dice.mark("request: value_type");
        let text = dice.pick(&VALUE_TYPES);
        request.insert("value_type".into(), text.into());
    }
    if dice.chance(12) {
        dice.mark("request: default_value");
        let value = match dice.below(5) {
            0 => Value::Null,
            1 => json!("D %{role}"),
            2 => json!([1, "x"]),
            3 => json!({"a": 1}),
            _ => json!(5),
        };
        request.insert("default_value".into(), value);
    }
    if dice.chance(7) {
        dice.mark("request: default_values_hash");
        let mut hash = json!({"role": "default role", "nope": "default nope", "missing": "M"});
        if dice.chance(50) {
            hash[name] = json!("from defaults %{role}");
        }
        request.insert("default_values_hash".into(), hash);
    }
    if dice.chance(7) {
        dice.mark("request: override");
        let mut hash = json!({"role": "override role", "beta": "overridden"});
        if dice.chance(50) {
            hash[name] = json!(["override"]);
        }
        if dice.chance(30) {
            hash["facts"] = json!({"role": "other", "os": {"family": "Other"}});
        }
        request.insert("override".into(), hash);
    }
    if repo.site && dice.chance(80) {
        let compile = if dice.chance(70) {
            dice.mark("request: as an agent");
            "agent"
        } else {
            dice.mark("request: puppet lookup --compile");
            "lookup"
        };
        request.insert("compile".into(), compile.into());
    } else if dice.rarely(25) {
        dice.mark("request: class scope");
        request.insert(
            "class_scope".into(),
            json!({"name": "m", "vars": {"nope": "local", "role": "local role", "tier": 3}}),
        );
    }
    if dice.rarely(25) && request["key"].is_string() {
        dice.mark("request: automatic parameter lookup");
        request.insert("facet".into(), "search_and_merge".into());
        for other in [
            "value_type",
            "default_value",
            "default_values_hash",
            "override",
        ] {
            request.shift_remove(other);
        }
    }
}

/// A merge built for a data file, in a request's form.
fn as_value(doc: &super::doc::Doc) -> Value {
    let text = super::doc::json(doc);
    serde_json::from_str(&text).expect("written as JSON")
}
