//! Every text of `cases/psych-scalars.jsonl` is loaded as by Puppet's loader (Psych 4.0.3): value
//! and type, or error class, message and position.
use hiera_ls::syntax::parse_yaml;
use hiera_ls::value::{LoadError, LoadErrorKind, Value, load_parse, load_yaml};
use serde_json::Value as Json;

/// The cases' notation of a value: `{"t": type, "v": text or children}`.
fn is_value(value: &Value, wanted: &Json) -> bool {
    let text = wanted["v"].as_str();
    match (value, wanted["t"].as_str().unwrap()) {
        (Value::Undef, "nil") => true,
        // `Puppet::Util::Yaml` turns an empty document into `false`.
        (Value::Bool(truth), "bool") => wanted["v"].as_bool() == Some(*truth),
        (Value::Int(number), "int") => text == Some(&number.to_string()),
        (Value::BigInt(number), "int") => text == Some(&number.to_string()),
        (Value::Float(number), "float") => match text.unwrap() {
            "NaN" => number.is_nan(),
            "Infinity" => *number == f64::INFINITY,
            "-Infinity" => *number == f64::NEG_INFINITY,
            text => text.parse() == Ok(*number),
        },
        (Value::String(string), "string") => text == Some(string),
        (Value::Symbol(name), "symbol") => text == Some(name),
        (Value::Bytes(bytes), "binary") => {
            use base64::Engine;
            let encoded = base64::engine::general_purpose::STANDARD.encode(bytes);
            text == Some(&encoded)
        }
        (Value::Array(elements), "array") => {
            let wanted = wanted["v"].as_array().unwrap();
            elements.len() == wanted.len()
                && elements.iter().zip(wanted).all(|(a, b)| is_value(a, b))
        }
        (Value::Hash(hash), "hash") => {
            let wanted = wanted["v"].as_array().unwrap();
            hash.len() == wanted.len()
                && hash.iter().zip(wanted).all(|((key, value), pair)| {
                    is_value(key, &pair[0]) && is_value(value, &pair[1])
                })
        }
        _ => false,
    }
}

fn is_error(error: &LoadError, case: &Json) -> bool {
    let wanted = case["error"].as_str().unwrap();
    match case["class"].as_str().unwrap() {
        "Psych::SyntaxError" => {
            let context = case["context"].as_str();
            let place = format!(
                "{}{}{} at line {} column {}",
                case["problem"].as_str().unwrap(),
                context.map_or("", |_| " "),
                context.unwrap_or_default(),
                case["line"],
                case["column"]
            );
            error.kind == LoadErrorKind::YamlSyntax
                && error.message == place
                && error.message("<unknown>") == wanted
        }
        "Psych::DisallowedClass" => {
            matches!(
                error.kind,
                LoadErrorKind::YamlDisallowedClass | LoadErrorKind::YamlDate
            ) && error.message("<unknown>") == wanted
        }
        "Psych::BadAlias" => {
            error.kind == LoadErrorKind::YamlUnknownAlias && error.message("p") == wanted
        }
        // Ruby overflows its stack; we name the anchor.
        "SystemStackError" => {
            error.kind == LoadErrorKind::YamlOther && error.message.starts_with(wanted)
        }
        _ => error.kind == LoadErrorKind::YamlOther && error.message("p") == wanted,
    }
}

#[test]
fn every_case_reads_as_in_puppet() {
    let cases = include_str!("../cases/psych-scalars.jsonl");
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in cases.lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let text = case["yaml"].as_str().unwrap();
        let loaded = load_yaml(text.as_bytes());
        let agrees = match &loaded {
            Ok(value) => {
                case["ok"] == true
                    && (is_value(value, &case["value"])
                        || case["value"]["t"] == "nil" && *value == Value::Bool(false))
            }
            Err(error) => case["ok"] == false && is_error(error, &case),
        };
        if !agrees {
            wrong.push(format!("{loaded:?} for {line}"));
        }
        // The editor's parse gives the same.
        assert_eq!(
            load_parse(&parse_yaml(text)),
            loaded.map_err(|mut error| {
                error.range = load_parse(&parse_yaml(text)).err().and_then(|e| e.range);
                error
            })
        );
        count += 1;
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert_eq!(count, 1613);
}

#[test]
fn an_error_is_marked_at_the_mistake() {
    for (text, marked) in [
        ("a: 1\nb: [1, 2\n", "[1, 2"),
        ("a: \"x\nb: 1\n", "\"x"),
        ("a: 1\nb: c: 1\nd: 1\n", ": 1"),
        ("a: 1\nb\nc: 1\n", "b"),
        ("a: 1\nb: 2001-01-01\n", "2001-01-01"),
        ("a: &x [1]\nb: *y\n", "*y"),
        ("a: 1\nb: @x\n", "@x"),
        ("a: 1\n\tb: 2\nc: 1\n", "\tb: 2"),
    ] {
        let error = load_parse(&parse_yaml(text)).unwrap_err();
        assert_eq!(
            error.range.unwrap().slice(text),
            marked,
            "{error:?} in {text:?}"
        );
    }
}
