//! Lists and hashes made from other values: `new` of `Array` and `Hash`.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::infer::infer;
use super::instance::rich;
use super::{ruby_inspect, strings};
use crate::value::{HashMap, Value};

/// Maximum length of a list made by counting up to a number.
const MAX_COUNT: i64 = 1_000_000;

/// Maximum nesting of lists that become hashes.
const MAX_DEPTH: usize = 50;

pub(super) fn listed(from: &Value) -> Result<Value, String> {
    Ok(match from {
        Value::Hash(hash) => Value::array(
            hash.iter()
                .map(|(k, v)| Value::array([k.clone(), v.clone()])),
        ),
        Value::String(text) => Value::array(text.chars().map(|c| Value::from(c.to_string()))),
        Value::Int(count) => {
            if *count > MAX_COUNT {
                return Err(format!("counting to {count} gives too long a list"));
            }
            Value::array((0..*count).map(Value::Int))
        }
        other => match rich(other, "Binary") {
            Some(text) => {
                let bytes = STANDARD.decode(text).unwrap_or_default();
                Value::array(bytes.into_iter().map(|b| Value::Int(b.into())))
            }
            None => other.clone(),
        },
    })
}

fn pairs(elements: &[Value]) -> Value {
    let entries = elements
        .iter()
        .filter_map(|element| match element.as_array() {
            Some([key, value]) => Some((key.clone(), value.clone())),
            _ => None,
        });
    Value::from(entries.collect::<HashMap>())
}

pub(super) fn hash(matched: usize, all: &[Value]) -> Result<Value, String> {
    let from = &all[0];
    let elements = from.as_array().unwrap_or_default();
    if let (0, Some(option)) = (matched, all.get(1)) {
        return tree(elements, option.as_str() == Some("hash_tree"));
    }
    if matched < 2 {
        return Ok(pairs(elements));
    }
    let odd = || "odd number of arguments for Hash".to_owned();
    let list = match from {
        Value::Hash(_) => return Ok(from.clone()),
        Value::Array(_) => from.clone(),
        Value::String(_) | Value::Int(0..) => listed(from)?,
        other => {
            return Err(format!(
                "Value of type {} cannot be converted to Hash",
                infer(other)?.generalize()
            ));
        }
    };
    let (list, rest) = list.as_array().unwrap_or_default().as_chunks();
    if !rest.is_empty() {
        return Err(odd());
    }
    let entries = list.iter().cloned().map(|[key, value]| (key, value));
    Ok(Value::from(entries.collect::<HashMap>()))
}

/// Turns arrays into hashes from index to element, recursively.
fn as_hash(value: &Value, depth: usize) -> Value {
    let Value::Array(elements) = value else {
        return value.clone();
    };
    if depth > MAX_DEPTH {
        return value.clone();
    }
    let entries = (0..).map(Value::Int).zip(elements.iter());
    let entries = entries.map(|(key, element)| (key, as_hash(element, depth + 1)));
    Value::from(entries.collect::<HashMap>())
}

fn tree(entries: &[Value], all_hashes: bool) -> Result<Value, String> {
    let mut root = Value::from(HashMap::default());
    for entry in entries {
        let Some([Value::Array(path), value]) = entry.as_array() else {
            continue;
        };
        let Some((last, parents)) = path.split_last() else {
            if let Value::Hash(root) = &mut root {
                let root = Arc::make_mut(root);
                match value {
                    Value::Array(elements) => {
                        root.extend((0..).map(Value::Int).zip(elements.iter().cloned()));
                    }
                    Value::Hash(hash) => root.extend(HashMap::clone(hash)),
                    other => {
                        return Err(format!(
                            "no implicit conversion of {} into Hash",
                            ruby_class(other)
                        ));
                    }
                }
            }
            continue;
        };
        let value = if all_hashes {
            as_hash(value, 0)
        } else {
            value.clone()
        };
        place(&mut root, parents, last, value)?;
    }
    Ok(root)
}

/// The class of a value, as Ruby's conversions show it: `nil` and booleans by their value.
fn ruby_class(value: &Value) -> String {
    match value {
        Value::Undef | Value::Bool(_) => value.inspect(),
        Value::Sensitive(_) | Value::Rich(_) | Value::Opaque(_) => "Object".to_owned(),
        other => other.ruby_class().to_owned(),
    }
}

fn place(root: &mut Value, parents: &[Value], last: &Value, value: Value) -> Result<(), String> {
    let mut at = root;
    for step in parents {
        at = match at {
            Value::Hash(hash) => Arc::make_mut(hash)
                .entry(step.clone())
                .or_insert_with(|| Value::from(HashMap::default())),
            Value::Array(elements) => {
                let index = match step {
                    Value::Int(index) => usize::try_from(*index).ok(),
                    _ => None,
                };
                let Some(found) = index.and_then(|i| Arc::make_mut(elements).get_mut(i)) else {
                    return Err("undefined method `[]=' for nil:NilClass".to_owned());
                };
                found
            }
            other => {
                return Err(format!(
                    "undefined method `has_key?' for {}",
                    receiver(other)
                ));
            }
        };
    }
    match at {
        Value::Hash(hash) => {
            Arc::make_mut(hash).insert(last.clone(), value);
        }
        Value::Array(elements) => {
            let Value::Int(index) = last else {
                return Err(format!(
                    "no implicit conversion of {} into Integer",
                    ruby_class(last)
                ));
            };
            let Ok(index) = usize::try_from(*index) else {
                return Err(format!("index {index} too small for array"));
            };
            if i64::try_from(index).map_or(true, |i| i > MAX_COUNT) {
                return Err(format!("index {index} too big"));
            }
            let elements = Arc::make_mut(elements);
            if elements.len() <= index {
                elements.resize(index + 1, Value::Undef);
            }
            elements[index] = value;
        }
        other => {
            return Err(format!("undefined method `[]=' for {}", receiver(other)));
        }
    }
    Ok(())
}

fn receiver(value: &Value) -> String {
    match value {
        Value::Undef | Value::Bool(_) => format!("{}:{}", value.inspect(), value.ruby_class()),
        Value::String(text) => format!("{}:String", ruby_inspect(text)),
        other => format!("{}:{}", strings::programmatic(other), ruby_class(other)),
    }
}
