//! Functions for texts.

use super::Arguments;
use crate::datatype;
use crate::puppet::evaluator::Evaluator;
use crate::puppet::stop::{Evaluated, Stop};
use crate::value::{HashMap, Value};

pub(super) fn call(evaluator: &mut Evaluator<'_>, call: &Arguments<'_>) -> Option<Evaluated> {
    let change: Option<fn(&str) -> String> = match call.name {
        "downcase" => Some(|text| text.to_lowercase()),
        "upcase" => Some(|text| text.to_uppercase()),
        "capitalize" => Some(capitalized),
        "camelcase" => Some(|text| text.split('_').map(capitalized).collect()),
        "chomp" => Some(chomped),
        "chop" => Some(chopped),
        "lstrip" => Some(|text| text.trim_start_matches(is_space).to_owned()),
        "rstrip" => Some(|text| text.trim_end_matches(is_space).to_owned()),
        "strip" => Some(|text| {
            let text = text.trim_end_matches(is_space);
            text.trim_start_matches(is_space).to_owned()
        }),
        _ => None,
    };
    if let Some(change) = change {
        let [value] = call.values else {
            return Some(Err(call.refused()));
        };
        let hashes_too = matches!(call.name, "downcase" | "upcase");
        return Some(changed(value, change, hashes_too).ok_or_else(|| call.refused()));
    }
    Some(match (call.name, call.values) {
        ("join", [Value::Array(elements)]) => joined(evaluator, elements, ""),
        ("join", [Value::Array(elements), Value::String(between)]) => {
            joined(evaluator, elements, between)
        }
        ("join_keys_to_values", [Value::Hash(hash), Value::String(between)]) => {
            keys_and_values(evaluator, hash, between)
        }
        ("sprintf", [Value::String(format), rest @ ..]) => formatted(format, rest),
        ("versioncmp", [Value::String(one), Value::String(other)]) => {
            Ok(Value::Int(super::versions::compare(one, other) as i64))
        }
        ("stdlib::start_with" | "stdlib::end_with", [Value::String(text), with]) => {
            ends(call, text, with)
        }
        ("bool2str", [Value::Bool(truth)]) => Ok(Value::from(truth.to_string())),
        (
            "bool2str",
            [
                Value::Bool(truth),
                yes @ Value::String(_),
                no @ Value::String(_),
            ],
        ) => Ok(if *truth { yes.clone() } else { no.clone() }),
        ("str2bool", [Value::Bool(truth)]) => Ok(Value::Bool(*truth)),
        ("str2bool", [Value::String(text)]) => match text.to_ascii_lowercase().as_str() {
            "1" | "t" | "y" | "true" | "yes" => Ok(Value::Bool(true)),
            "" | "0" | "f" | "n" | "false" | "no" | "undef" | "undefined" => Ok(Value::Bool(false)),
            _ => Err(Stop::failed("str2bool(): Unknown type of boolean given")),
        },
        ("prefix" | "suffix", [Value::Array(elements), Value::String(part)]) => {
            let with = |element: &Value| {
                let text = element.as_str()?;
                Some(Value::from(match call.name {
                    "prefix" => format!("{part}{text}"),
                    _ => format!("{text}{part}"),
                }))
            };
            let all: Option<Vec<Value>> = elements.iter().map(with).collect();
            all.map(Value::from).ok_or_else(|| call.refused())
        }
        _ => return None,
    })
}

/// Characters that Ruby's `strip` removes.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r' | '\0')
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars.flat_map(char::to_lowercase)).collect()
}

fn chomped(text: &str) -> String {
    let ends = ["\r\n", "\n", "\r"];
    let found = ends.iter().find_map(|end| text.strip_suffix(end));
    found.unwrap_or(text).to_owned()
}

fn chopped(text: &str) -> String {
    let rest = text.strip_suffix("\r\n").unwrap_or_else(|| {
        let mut chars = text.chars();
        chars.next_back();
        chars.as_str()
    });
    rest.to_owned()
}

/// Changes a text, the texts of a list, or (for some functions) those of a hash; numbers are kept.
fn changed(value: &Value, change: fn(&str) -> String, hashes_too: bool) -> Option<Value> {
    match value {
        Value::String(text) => Some(Value::from(change(text))),
        Value::Int(_) | Value::Float(_) => Some(value.clone()),
        Value::Array(elements) => {
            let one = |element: &Value| match element {
                Value::Array(_) | Value::Hash(_) if !hashes_too => None,
                element => changed(element, change, hashes_too),
            };
            let all: Option<Vec<Value>> = elements.iter().map(one).collect();
            all.map(Value::from)
        }
        Value::Hash(hash) if hashes_too => {
            let entry = |(key, value): (&Value, &Value)| {
                Some((changed(key, change, true)?, changed(value, change, true)?))
            };
            let all: Option<HashMap> = hash.iter().map(entry).collect();
            all.map(Value::from)
        }
        _ => None,
    }
}

/// `Array#join`, which descends into nested lists.
fn joined(evaluator: &mut Evaluator<'_>, elements: &[Value], between: &str) -> Evaluated {
    let mut out = String::new();
    for (at, element) in Value::to_join(elements).into_iter().enumerate() {
        evaluator.step()?;
        out.push_str(if at > 0 { between } else { "" });
        match element {
            Value::Hash(_) | Value::Rich(_) => {
                return Err(Stop::unknown(
                    "'join' is not evaluated with these arguments",
                ));
            }
            plain => evaluator.write(&plain, &mut out)?,
        }
    }
    Ok(Value::from(out))
}

fn keys_and_values(evaluator: &mut Evaluator<'_>, hash: &HashMap, between: &str) -> Evaluated {
    let mut all = Vec::new();
    for (key, value) in hash {
        let key = evaluator.text_of(key)?;
        let values = match value {
            Value::Array(values) => values.to_vec(),
            other => vec![other.clone()],
        };
        for value in values {
            let value = evaluator.text_of(&value)?;
            all.push(Value::from(format!("{key}{between}{value}")));
        }
    }
    Ok(Value::from(all))
}

fn ends(call: &Arguments<'_>, text: &str, with: &Value) -> Evaluated {
    let parts = match with {
        Value::Array(parts) => parts.to_vec(),
        other => vec![other.clone()],
    };
    let is_one = |part: &Value| {
        let part = part.as_str()?;
        Some(match call.name {
            "stdlib::start_with" => text.starts_with(part),
            _ => text.ends_with(part),
        })
    };
    let all: Option<Vec<bool>> = parts.iter().map(is_one).collect();
    let all = all.ok_or_else(|| call.refused())?;
    Ok(Value::Bool(all.contains(&true)))
}

/// Ruby's `format` for texts and numbers.
fn formatted(format: &str, arguments: &[Value]) -> Evaluated {
    let refused = || Stop::unknown("'sprintf' is not evaluated with these arguments");
    let mut out = String::new();
    let mut arguments = arguments.iter();
    let mut rest = format;
    while let Some((before, from)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(after) = from.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let is_letter = |c: char| c.is_ascii_alphabetic();
        let end = from.find(is_letter).ok_or_else(refused)?;
        let (directive, after) = from.split_at(end + 1);
        rest = after;
        let is_plain = |c: char| c.is_ascii_digit() || matches!(c, '-' | '0' | '.' | '+');
        if !directive[..end].chars().all(is_plain) {
            return Err(refused());
        }
        let value = arguments.next().ok_or_else(refused)?;
        let value = match (&directive[end..], value) {
            ("s", Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Undef) => {
                Value::from(value.to_s())
            }
            ("s", Value::String(_)) => value.clone(),
            ("d" | "x" | "X" | "o", Value::Int(number)) if *number >= 0 => value.clone(),
            ("d", Value::Int(_)) => value.clone(),
            ("f", Value::Float(_)) => value.clone(),
            ("f", Value::Int(number)) => Value::Float(*number as f64),
            _ => return Err(refused()),
        };
        let directive = Value::from(format!("%{directive}"));
        let target = datatype::parse_known("String");
        let text = datatype::convert(&target, &value, &[directive], &datatype::NoAliases);
        let text = text.map_err(|_| refused())?;
        out.push_str(text.as_str().ok_or_else(refused)?);
    }
    out.push_str(rest);
    Ok(Value::from(out))
}
