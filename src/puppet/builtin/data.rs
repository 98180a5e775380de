//! Functions that read data or variables.

use std::sync::Arc;

use super::Arguments;
use super::collections::dug;
use crate::interpolation::Key;
use crate::puppet::evaluator::{Evaluator, not_known};
use crate::puppet::host::LookupCall;
use crate::puppet::stop::{Evaluated, Stop};
use crate::value::{HashMap, StrKey, Value};

pub(super) fn call(evaluator: &mut Evaluator<'_>, call: &Arguments<'_>) -> Option<Evaluated> {
    Some(match call.name {
        "lookup" => lookup(evaluator, call),
        "hiera" | "hiera_array" | "hiera_hash" => hiera(evaluator, call),
        "getvar" => getvar(evaluator, call),
        "fact" => match call.values {
            [Value::String(path)] => fact(evaluator, call, path),
            _ => Err(call.refused()),
        },
        "get" => match call.values {
            [value, Value::String(path)] => got(call, value, path, &Value::Undef),
            [value, Value::String(path), default] => got(call, value, path, default),
            _ => Err(call.refused()),
        },
        _ => return None,
    })
}

fn lookup(evaluator: &mut Evaluator<'_>, call: &Arguments<'_>) -> Evaluated {
    let refused = || call.refused();
    let (names, options) = match call.values {
        [Value::Hash(options)] => {
            let names = options.get(&StrKey("name")).ok_or_else(refused)?;
            (names, Some(options))
        }
        [names, Value::Hash(options)] => (names, Some(options)),
        [names, rest @ ..] if rest.len() <= 3 => (names, None),
        _ => return Err(refused()),
    };
    let mut request = LookupCall {
        names: named(names).ok_or_else(refused)?,
        ..LookupCall::default()
    };
    if let Some(options) = options {
        options_of(&mut request, options).ok_or_else(refused)?;
    } else {
        let rest = &call.values[1..];
        // Only a call with a default accepts `undef` for omitted arguments.
        if rest.len() < 3 && rest.iter().any(Value::is_undef) {
            return Err(Stop::failed(
                "The function 'lookup' was called with arguments it does not accept",
            ));
        }
        let given = |at: usize| rest.get(at).filter(|value| !value.is_undef());
        if let Some(expected) = given(0) {
            request.value_type = Some(type_text(expected).ok_or_else(refused)?);
        }
        request.merge = given(1).cloned();
        request.default_value = rest.get(2).cloned();
    }
    answer(evaluator, call, &request)
}

fn answer(evaluator: &mut Evaluator<'_>, call: &Arguments<'_>, request: &LookupCall) -> Evaluated {
    if call.lambda.is_some() {
        return Err(call.refused());
    }
    let scope = evaluator.variables.scope();
    let value = evaluator.host.lookup(request, &scope)?;
    if value.has_opaque() {
        Err(not_known(&value))
    } else {
        Ok(value)
    }
}

fn named(names: &Value) -> Option<Vec<Arc<str>>> {
    match names {
        Value::String(name) => Some(vec![name.clone()]),
        Value::Array(names) => names
            .iter()
            .map(|name| name.as_str().map(Arc::from))
            .collect(),
        _ => None,
    }
}

fn type_text(value: &Value) -> Option<Arc<str>> {
    let Value::Rich(rich) = value else {
        return None;
    };
    // Puppet shows an alias with what it stands for.
    let is_name = |name: &str| {
        name.bytes()
            .all(|it| it.is_ascii_alphanumeric() || b"_:".contains(&it))
    };
    let alias = rich.text.split_once(" = ").map(|(name, _)| name);
    let text = alias.filter(|name| is_name(name)).unwrap_or(&rich.text);
    (rich.ptype == "Type").then(|| Arc::from(text))
}

fn options_of(request: &mut LookupCall, options: &HashMap) -> Option<()> {
    for (name, value) in options {
        if value.is_undef() && name.as_str() != Some("default_value") {
            continue;
        }
        let hash = || value.as_hash().map(|hash| Arc::new(hash.clone()));
        match name.as_str()? {
            "name" => {}
            "value_type" => request.value_type = Some(type_text(value)?),
            "merge" => request.merge = Some(value.clone()),
            "default_value" => request.default_value = Some(value.clone()),
            "default_values_hash" => request.default_values = hash()?,
            "override" => request.overrides = hash()?,
            _ => return None,
        }
    }
    Some(())
}

/// Hiera 3's functions (`hiera/puppet_function.rb`).
fn hiera(evaluator: &mut Evaluator<'_>, call: &Arguments<'_>) -> Evaluated {
    let (name, default) = match call.values {
        [Value::String(name)] => (name, None),
        [Value::String(name), default] => (name, Some(default.clone())),
        _ => return Err(call.refused()),
    };
    // Each has its own merge, whatever `lookup_options` say.
    let merge = match call.name {
        "hiera_array" => "unique",
        "hiera_hash" => "hash",
        _ => "first",
    };
    let request = LookupCall {
        names: vec![name.clone()],
        merge: Some(Value::from(merge)),
        default_value: default,
        is_hiera: true,
        ..LookupCall::default()
    };
    answer(evaluator, call, &request)
}

/// The classes that `hiera_include` includes (`functions/hiera_include.rb`).
pub(in crate::puppet) fn list_of_classes(
    evaluator: &mut Evaluator<'_>,
    arguments: &[Value],
) -> Evaluated {
    let call = Arguments {
        name: "hiera_array",
        values: arguments,
        lambda: None,
    };
    hiera(evaluator, &call)
}

/// A variable, or a part of its value, by a dotted path.
fn getvar(evaluator: &mut Evaluator<'_>, call: &Arguments<'_>) -> Evaluated {
    let (path, default) = match call.values {
        [Value::String(path)] => (path, Value::Undef),
        [Value::String(path), default] => (path, default.clone()),
        _ => return Err(call.refused()),
    };
    let key = Key::parse(path).map_err(|_| call.refused())?;
    let name = key.root.as_name().ok_or_else(|| call.refused())?;
    let value = match evaluator.variables.get(name, &key.segments, true) {
        Err(Stop::Failed(_)) => return Ok(default),
        other => other?,
    };
    Ok(match dug_at(&value, &key)? {
        Value::Undef => default,
        found => found,
    })
}

fn fact(evaluator: &mut Evaluator<'_>, call: &Arguments<'_>, path: &str) -> Evaluated {
    let key = Key::parse(&format!("facts.{path}")).map_err(|_| call.refused())?;
    let value = evaluator.variables.get("facts", &key.segments, true)?;
    match dug_at(&value, &key) {
        Err(Stop::Failed(_)) => Ok(Value::Undef),
        other => other,
    }
}

fn got(call: &Arguments<'_>, value: &Value, path: &str, default: &Value) -> Evaluated {
    if value.is_undef() {
        return Ok(default.clone());
    }
    if path.is_empty() {
        return Ok(value.clone());
    }
    let key = Key::parse(&format!("x.{path}")).map_err(|_| call.refused())?;
    Ok(match dug_at(value, &key)? {
        Value::Undef => default.clone(),
        found => found,
    })
}

/// The part of a value at the segments of a key after its root.
fn dug_at(value: &Value, key: &Key) -> Evaluated {
    let rest: Vec<Value> = key.segments.iter().map(Value::from).collect();
    dug(value, &rest)
}
