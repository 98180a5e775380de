//! Functions for lists and hashes that take no block.

use super::Arguments;
use crate::puppet::access::position;
use crate::puppet::evaluator::Evaluator;
use crate::puppet::operators::{concatenated, same};
use crate::puppet::stop::{Evaluated, Stop};
use crate::value::{HashMap, Value};

/// Maximum nesting of hashes that is merged.
const MAX_MERGED: usize = 50;

const MAX_RANGE: i64 = 10_000;

pub(super) fn call(evaluator: &mut Evaluator<'_>, call: &Arguments<'_>) -> Option<Evaluated> {
    if call.lambda.is_some() {
        return None;
    }
    Some(match (call.name, call.values) {
        ("keys", [Value::Hash(hash)]) => Ok(Value::array(hash.keys().cloned())),
        ("values", [Value::Hash(hash)]) => Ok(Value::array(hash.values().cloned())),
        ("size" | "length", [value]) => length(value).ok_or_else(|| call.refused()),
        ("empty", [Value::Undef]) => Ok(Value::Bool(true)),
        ("empty", [Value::Int(_) | Value::Float(_)]) => Ok(Value::Bool(false)),
        ("empty", [value]) => {
            let length = length(value).ok_or_else(|| call.refused());
            length.map(|length| Value::Bool(length == Value::Int(0)))
        }
        ("flatten", values) => Ok(Value::from(flattened(values))),
        ("unique", [Value::Array(elements)]) => Ok(Value::from(unique(elements.iter()))),
        ("sort", [Value::Array(elements)]) => sorted(elements).ok_or_else(|| call.refused()),
        ("reverse", [Value::Array(elements)]) => Ok(Value::array(elements.iter().rev().cloned())),
        ("reverse", [Value::String(text)]) => {
            Ok(Value::from(text.chars().rev().collect::<String>()))
        }
        ("concat", [first @ Value::Array(_), rest @ ..]) if !rest.is_empty() => {
            rest.iter().try_fold(first.clone(), |all, more| match more {
                Value::Hash(_) => concatenated(&all, &Value::array([more.clone()])),
                more => concatenated(&all, &without_undef(more)),
            })
        }
        ("merge" | "stdlib::merge", hashes) => merged(evaluator, call, hashes, false),
        ("deep_merge", hashes) if hashes.len() > 1 => merged(evaluator, call, hashes, true),
        ("has_key", [Value::Hash(hash), key]) => {
            Ok(Value::Bool(hash.contains_key(&without_undef(key))))
        }
        ("member", [Value::Array(elements), Value::Array(wanted)]) if !wanted.is_empty() => {
            let has = |one: &Value| elements.contains(one);
            Ok(Value::Bool(wanted.iter().all(has)))
        }
        (
            "member",
            [
                Value::Array(elements),
                one @ (Value::String(_) | Value::Int(_)),
            ],
        ) => match one.as_str() {
            Some("") => Err(call.refused()),
            _ => Ok(Value::Bool(elements.contains(one))),
        },
        ("union", lists) if lists.len() > 1 => {
            let all: Option<Vec<&[Value]>> = lists.iter().map(Value::as_array).collect();
            let all = all.ok_or_else(|| call.refused());
            all.map(|all| Value::from(unique(all.into_iter().flatten())))
        }
        ("intersection", [Value::Array(one), Value::Array(other)]) => {
            let both = one.iter().filter(|each| other.contains(each));
            Ok(Value::from(unique(both)))
        }
        ("difference", [Value::Array(one), Value::Array(other)]) => {
            let rest = one.iter().filter(|each| !other.contains(each));
            Ok(Value::array(rest.cloned()))
        }
        ("delete", [from, what]) => deleted(from, what).ok_or_else(|| call.refused()),
        ("delete_undef_values", [Value::Array(elements)]) => {
            let kept = elements.iter().filter(|each| !each.is_undef());
            Ok(Value::array(kept.cloned()))
        }
        ("delete_undef_values", [Value::Hash(hash)]) => {
            let kept = hash.iter().filter(|(_, value)| !value.is_undef());
            let kept = kept.map(|(key, value)| (key.clone(), value.clone()));
            Ok(Value::from(kept.collect::<HashMap>()))
        }
        ("any2array", values) => {
            let values: Vec<Value> = values.iter().map(without_undef).collect();
            Ok(any_to_list(&values))
        }
        ("stdlib::any2array", values) => Ok(any_to_list(values)),
        ("count", [Value::Array(elements)]) => {
            let counts = |each: &&Value| !each.is_undef() && each.as_str() != Some("");
            Ok(Value::Int(elements.iter().filter(counts).count() as i64))
        }
        ("count", [Value::Array(elements), item]) if !item.is_falsey() => {
            let count = elements.iter().filter(|each| same(each, item)).count();
            Ok(Value::Int(count as i64))
        }
        ("range", [Value::Int(from), Value::Int(to)]) => match to.saturating_sub(*from) > MAX_RANGE
        {
            true => Err(Stop::unknown("the range is too long")),
            false if from > to => Err(call.refused()),
            false => Ok(Value::array((*from..=*to).map(Value::Int))),
        },
        ("pick", values) => picked(values),
        ("pick_default", values) => match picked(values) {
            Ok(value) => Ok(value),
            Err(_) => match values.last() {
                Some(Value::String(text)) => Ok(Value::String(text.clone())),
                _ => Err(call.refused()),
            },
        },
        ("dig", [value, path @ ..]) => dug(value, path),
        _ => return None,
    })
}

fn length(value: &Value) -> Option<Value> {
    let length = match value {
        Value::Array(elements) => elements.len(),
        Value::Hash(hash) => hash.len(),
        Value::String(text) => text.chars().count(),
        _ => return None,
    };
    Some(Value::Int(length as i64))
}

/// The elements of a list and of the lists in it.
fn flattened(values: &[Value]) -> Vec<Value> {
    fn collect(values: &[Value], out: &mut Vec<Value>) {
        for value in values {
            match value {
                Value::Array(inner) => collect(inner, out),
                other => out.push(other.clone()),
            }
        }
    }
    let mut flat = Vec::new();
    collect(values, &mut flat);
    flat
}

fn unique<'v>(values: impl Iterator<Item = &'v Value>) -> Vec<Value> {
    let set: indexmap::IndexSet<Value> = values.cloned().collect();
    set.into_iter().collect()
}

/// Sorts texts by bytes, or numbers.
fn sorted(elements: &[Value]) -> Option<Value> {
    let mut all = elements.to_vec();
    if all.iter().all(|each| each.as_str().is_some()) {
        all.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
        return Some(Value::from(all));
    }
    let number = |value: &Value| match value {
        Value::Int(number) => Some(*number),
        _ => None,
    };
    all.iter().all(|each| number(each).is_some()).then(|| {
        all.sort_by_key(|each| number(each));
        Value::from(all)
    })
}

fn merged(
    evaluator: &mut Evaluator<'_>,
    call: &Arguments<'_>,
    hashes: &[Value],
    deeply: bool,
) -> Evaluated {
    let mut all = HashMap::default();
    for hash in hashes {
        evaluator.step()?;
        match hash {
            Value::Hash(hash) => lay_over(&mut all, hash, if deeply { MAX_MERGED } else { 0 }),
            Value::Undef => {}
            Value::String(text) if text.is_empty() => {}
            _ => return Err(call.refused()),
        }
    }
    Ok(Value::from(all))
}

fn lay_over(below: &mut HashMap, above: &HashMap, depth: usize) {
    for (key, value) in above {
        let inner = below.get(key).and_then(Value::as_hash).cloned();
        let value = match (inner, value) {
            (Some(mut inner), Value::Hash(value)) if depth > 0 => {
                lay_over(&mut inner, value, depth - 1);
                Value::from(inner)
            }
            _ => value.clone(),
        };
        below.insert(key.clone(), value);
    }
}

fn deleted(from: &Value, what: &Value) -> Option<Value> {
    let gone = match what {
        Value::Array(all) => all.to_vec(),
        Value::Hash(_) | Value::Undef => return None,
        one => vec![one.clone()],
    };
    Some(match from {
        Value::Array(elements) => {
            let kept = elements.iter().filter(|each| !gone.contains(each));
            Value::array(kept.cloned())
        }
        Value::Hash(hash) => {
            let kept = hash.iter().filter(|(key, _)| !gone.contains(key));
            let kept = kept.map(|(key, value)| (key.clone(), value.clone()));
            Value::from(kept.collect::<HashMap>())
        }
        Value::String(text) => {
            let mut text = text.to_string();
            for part in &gone {
                text = text.replace(part.as_str().filter(|part| !part.is_empty())?, "");
            }
            Value::from(text)
        }
        _ => return None,
    })
}

/// An argument of a function of the old API: an empty text instead of `undef` (`runtime3_converter.rb`).
fn without_undef(value: &Value) -> Value {
    if value.is_undef() {
        Value::from("")
    } else {
        value.clone()
    }
}

fn any_to_list(values: &[Value]) -> Value {
    match values {
        [list @ Value::Array(_)] => list.clone(),
        [Value::String(text)] if text.is_empty() => Value::array([]),
        [Value::Hash(hash)] => {
            let parts = hash
                .iter()
                .flat_map(|(key, value)| [key.clone(), value.clone()]);
            Value::array(parts)
        }
        values => Value::array(values.iter().cloned()),
    }
}

fn picked(values: &[Value]) -> Evaluated {
    let mut there = values
        .iter()
        .filter(|value| !value.is_undef() && value.as_str() != Some(""));
    match there.next() {
        Some(Value::Array(elements)) if elements.is_empty() => Err(Stop::unknown(
            "'pick' is not evaluated with these arguments",
        )),
        Some(value) => Ok(value.clone()),
        None => Err(Stop::failed(
            "pick(): must receive at least one non empty value",
        )),
    }
}

/// `dig`, which stops at `undef`.
pub(super) fn dug(value: &Value, path: &[Value]) -> Evaluated {
    let mut value = value.clone();
    for key in path {
        value = match &value {
            Value::Undef => return Ok(Value::Undef),
            _ if key.is_undef() => return Ok(Value::Undef),
            Value::Hash(hash) => hash.get(key).cloned().unwrap_or_default(),
            Value::Array(elements) => match key {
                Value::Int(at) => {
                    let at = position(*at, elements.len());
                    at.map(|at| elements[at].clone()).unwrap_or_default()
                }
                _ => return Err(Stop::failed("The given data requires an Integer index")),
            },
            _ => return Err(Stop::failed("The given data does not contain a Collection")),
        };
    }
    Ok(value)
}
