//! Classes whose typed parameters take their values from data.

use serde_json::{Value, json};

use super::dice::Dice;
use super::repo::Repo;
use super::value::Kind;

/// A class of a module.
pub struct Class {
    pub name: String,
    pub parameters: Vec<Parameter>,
}

/// A parameter of a class.
pub struct Parameter {
    pub name: String,
    /// The value of its default; a default of `undef` is `null`.
    pub default: Option<Value>,
}

/// Types for values of any kind.
const ANY: [&str; 8] = [
    "",
    "Any ",
    "Data ",
    "Optional[Data] ",
    "NotUndef ",
    "Variant[Scalar, Collection] ",
    "M::Tree ",
    "Optional[M::Tree] ",
];

/// Defaults, as Puppet reads them and as values.
const DEFAULTS: [(&str, &str); 7] = [
    ("undef", "null"),
    ("'d'", "\"d\""),
    ("5", "5"),
    ("[]", "[]"),
    ("['x', 'y']", "[\"x\",\"y\"]"),
    ("{ 'a' => 1 }", "{\"a\":1}"),
    ("true", "true"),
];

/// Adds classes to a repository's modules.
pub fn classes(dice: &mut Dice, repo: &mut Repo) -> Vec<Class> {
    let mut classes = Vec::new();
    for (name, path, chance) in [
        ("m", "m/manifests/init.pp", 55),
        ("m::deep", "m/manifests/deep.pp", 35),
        ("n", "n/manifests/init.pp", 40),
        ("o", "o/manifests/init.pp", 30),
        ("p", "p/manifests/init.pp", 30),
    ] {
        if !dice.chance(chance) {
            continue;
        }
        let (class, text) = class(dice, repo, name);
        let path = format!("{}/{path}", repo.modules);
        repo.files.insert(path, text);
        classes.push(class);
    }
    classes
}

fn class(dice: &mut Dice, repo: &Repo, name: &str) -> (Class, String) {
    let prefix = format!("{name}::");
    let mut known: Vec<(String, Kind)> = Vec::new();
    for (key, kind) in repo.keys.names.iter().zip(&repo.keys.kinds) {
        let own = key.strip_prefix(&prefix).filter(|own| !own.contains(':'));
        known.extend(own.map(|own| (own.to_owned(), *kind)));
    }
    if dice.chance(25) || known.is_empty() {
        known.push(("none".to_owned(), Kind::Any));
    }
    let has_aliases = repo
        .files
        .contains_key(&format!("{}/m/types/tree.pp", repo.modules));
    let mut parameters = Vec::new();
    let mut written = Vec::new();
    for (own, kind) in known {
        let expected = match typed(dice, kind) {
            alias if alias.contains("M::") && !has_aliases => "Any ",
            other => other,
        };
        let (text, default) = if dice.chance(if own == "none" { 90 } else { 75 }) {
            let (text, value) = DEFAULTS[dice.below(DEFAULTS.len())];
            let value = serde_json::from_str(value).unwrap_or(json!(null));
            (format!(" = {text}"), Some(value))
        } else {
            (String::new(), None)
        };
        written.push(format!("  {expected}${own}{text},\n"));
        parameters.push(Parameter { name: own, default });
    }
    let text = format!("class {name}(\n{}) {{ }}\n", written.concat());
    let name = name.to_owned();
    (Class { name, parameters }, text)
}

fn typed(dice: &mut Dice, kind: Kind) -> &'static str {
    if dice.chance(55) {
        return dice.pick(&ANY);
    }
    match kind {
        Kind::Scalar | Kind::Text => dice.pick(&[
            "String ",
            "String[1] ",
            "Optional[String] ",
            "Variant[String, Numeric, Boolean] ",
            "Scalar ",
            "Integer ",
            "Integer[1, 100] ",
            "Enum['one', 'web', 'x'] ",
            "Pattern[/^[a-z]/] ",
            "Boolean ",
            "M::Word ",
            "M::Port ",
        ]),
        Kind::List => dice.pick(&[
            "Array ",
            "Array[String] ",
            "Array[Data] ",
            "Array[Any, 1] ",
            "Optional[Array[String]] ",
            "Variant[Array, String] ",
            "Array[Scalar, 0, 2] ",
            "Tuple[Any, String] ",
            "M::List ",
        ]),
        Kind::Hash => dice.pick(&[
            "Hash ",
            "Hash[String, Data] ",
            "Struct[{a => Any}] ",
            "Hash[String, String] ",
            "Optional[Hash] ",
            "Hash[Enum['a', 'b'], Any] ",
            "Struct[{Optional[a] => String, Optional[b] => Any}] ",
        ]),
        Kind::Any => dice.pick(&["Data ", "Collection ", "Scalar ", "String ", "M::Tree "]),
    }
}
