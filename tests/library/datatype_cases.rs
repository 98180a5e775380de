//! Puppet's answers about data types (`tests/parity/datatype_cases.rb`) compared with ours.
use std::collections::HashMap;
use std::sync::Arc;

use hiera_ls::datatype::{self, Aliases};
use hiera_ls::value::{HashMap as ValueHash, Rich, Value};
use serde_json::Value as Json;

/// Known differences, as `kind type value`, each with its reason.
const KNOWN: &str = include_str!("../cases/datatype-differences.txt");

struct Modules(HashMap<String, String>);

impl Aliases for Modules {
    fn source(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    /// Puppet ran with a loader that has only these aliases.
    fn has_system_types(&self) -> bool {
        false
    }
}

#[test]
fn types_do_what_puppet_does() {
    let table = include_str!("../cases/datatype.jsonl");
    let cases: Vec<Json> = table
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let aliases = Modules(
        cases
            .iter()
            .filter(|case| case["k"] == "alias")
            .map(|case| {
                let name = case["name"].as_str().unwrap();
                (
                    name.to_owned(),
                    format!("# A type.\ntype {name} = {}\n", case["t"].as_str().unwrap()),
                )
            })
            .collect(),
    );
    let known: Vec<&str> = KNOWN
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split('\t').next())
        .collect();
    let mut agreed: HashMap<String, usize> = HashMap::new();
    let mut excused = 0;
    let mut problems = Vec::new();
    for case in &cases {
        let kind = case["k"].as_str().unwrap();
        let Some((ours, puppet)) = answers(kind, case, &aliases) else {
            continue;
        };
        if ours == puppet {
            *agreed.entry(kind.to_owned()).or_default() += 1;
            continue;
        }
        let id = format!("{kind} {} {} {}", case["t"], case["v"], case["a"]);
        if known.contains(&id.as_str()) {
            excused += 1;
        } else {
            problems.push(format!("{id}\n  ours:   {ours}\n  Puppet: {puppet}"));
        }
    }
    println!("agreed: {agreed:?}, excused: {excused}");
    assert!(
        problems.is_empty(),
        "{} differ:\n{}",
        problems.len(),
        problems.join("\n")
    );
}

/// Our answer and Puppet's, as texts.
fn answers(kind: &str, case: &Json, aliases: &dyn Aliases) -> Option<(String, String)> {
    let value = decode(&case["v"]);
    let expected = |field: &str| case[field].as_str().map(ToOwned::to_owned);
    let outcome = |ours: Result<String, String>| {
        let puppet = match expected("error") {
            Some(error) => Err(error),
            None => Ok(case["ok"]
                .as_str()
                .map_or_else(|| case["ok"].to_string(), ToOwned::to_owned)),
        };
        (format!("{ours:?}"), format!("{puppet:?}"))
    };
    Some(match kind {
        "parse" => {
            let parsed = datatype::parse(case["t"].as_str().unwrap(), aliases);
            outcome(parsed.map(|t| t.to_string()).map_err(|e| e.to_string()))
        }
        "check" => {
            let text = case["t"].as_str().unwrap();
            let t = datatype::parse(text, aliases)
                .map_err(|e| format!("{text}: {e}"))
                .unwrap();
            let checked = datatype::check(&t, &value);
            outcome(match checked {
                Ok(()) => Ok("true".to_owned()),
                Err(mismatches) => Err(mismatches.describe("Found value")),
            })
        }
        "infer" => {
            let inferred = datatype::infer(&value).unwrap();
            let ours = format!(
                "{inferred} / {} / {}",
                datatype::infer_set(&value),
                inferred.generalize()
            );
            let text = |field| expected(field).unwrap();
            (
                ours,
                format!("{} / {} / {}", text("infer"), text("set"), text("generic")),
            )
        }
        "print" => (datatype::puppet_string(&value), expected("text").unwrap()),
        "convert" => {
            let arguments: Vec<Value> = case["a"].as_array().unwrap().iter().map(decode).collect();
            let made = match case["t"].as_str() {
                Some(text) => {
                    let t = datatype::parse(text, aliases)
                        .map_err(|e| format!("{text}: {e}"))
                        .unwrap();
                    datatype::convert(&t, &value, &arguments, aliases)
                }
                None => datatype::convert_to(&decode(&case["t"]), &value, &arguments, aliases),
            };
            let puppet = match expected("error") {
                Some(error) => Err(error),
                None => Ok(decode(&case["ok"])),
            };
            (format!("{made:?}"), format!("{puppet:?}"))
        }
        _ => return None,
    })
}

/// A value from its tagged form.
fn decode(json: &Json) -> Value {
    match json {
        Json::Null => Value::Undef,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None if number.to_string().contains(['.', 'e', 'E']) => {
                Value::Float(number.as_f64().unwrap())
            }
            None => Value::BigInt(Arc::new(number.to_string().parse().unwrap())),
        },
        Json::String(text) => Value::string(text),
        Json::Array(elements) => Value::array(elements.iter().map(decode)),
        Json::Object(entries) => {
            if let Some(pairs) = entries.get("__pairs") {
                let mut hash = ValueHash::default();
                for pair in pairs.as_array().unwrap() {
                    hash.insert(decode(&pair[0]), decode(&pair[1]));
                }
                return Value::from(hash);
            }
            let Some(ptype) = entries.get("__ptype") else {
                let entries = entries.iter().map(|(k, v)| (k.as_str(), decode(v)));
                return Value::hash(entries.collect::<Vec<_>>());
            };
            let inner = &entries["value"];
            let text = inner.as_str().unwrap_or_default();
            let ptype = match ptype.as_str().unwrap() {
                "Sensitive" => return Value::Sensitive(Arc::new(decode(inner))),
                "Symbol" => return Value::Symbol(text.into()),
                "Integer" => return Value::BigInt(Arc::new(text.parse().unwrap())),
                "Default" => return Value::Default,
                "Float" => return Value::Float(text.replace("Infinity", "inf").parse().unwrap()),
                "Timestamp" => "Timestamp",
                "Timespan" => "Timespan",
                "Regexp" => return hiera_ls::datatype::regexp_value(text),
                "SemVer" => "SemVer",
                "SemVerRange" => "SemVerRange",
                "Binary" => "Binary",
                "URI" => "URI",
                "Type" => "Type",
                other => panic!("unknown tag {other}"),
            };
            Value::Rich(Arc::new(Rich {
                ptype,
                text: text.to_owned(),
            }))
        }
    }
}
