//! Converts the trace to data, as `puppet lookup --explain --render-as json` prints it
//! (`puppet/pops/lookup/explainer.rb`, `to_hash`).

use std::sync::Arc;

use super::explain::provider_name;
use super::trace::{Remark, TraceEvent, TraceKind, TraceNode};
use crate::value::{HashMap, Value};

/// The whole trace as nested hashes with symbol keys. A trace with one top node is that node.
#[must_use]
pub fn explain_data(root: &TraceNode) -> Value {
    match root.children.as_slice() {
        [only] => node(only),
        children => Value::from(branches(children)),
    }
}

fn symbol(name: &str) -> Value {
    Value::Symbol(name.into())
}

fn set(hash: &mut HashMap, key: &str, value: impl Into<Value>) {
    hash.insert(symbol(key), value.into());
}

fn branches(children: &[TraceNode]) -> HashMap {
    let mut hash = HashMap::default();
    if !children.is_empty() {
        set(
            &mut hash,
            "branches",
            children.iter().map(node).collect::<Vec<Value>>(),
        );
    }
    hash
}

fn node(this: &TraceNode) -> Value {
    match (&this.kind, this.children.as_slice()) {
        (TraceKind::MergeSource, _) => {
            let mut hash = HashMap::default();
            set(&mut hash, "type", symbol("merge_source"));
            set(&mut hash, "merge_source", "lookup_options");
            return Value::from(hash);
        }
        // A merge with one source is that source.
        (TraceKind::Merge(_), [only]) => return node(only),
        _ => {}
    }
    let mut hash = branches(&this.children);
    outcome(&mut hash, this);
    set(&mut hash, "type", symbol(kind_name(&this.kind)));
    details(&mut hash, &this.kind);
    Value::from(hash)
}

/// Key, value and event, in the order of Ruby's hash.
fn outcome(hash: &mut HashMap, this: &TraceNode) {
    let (key, value, event) = match &this.event {
        TraceEvent::None => (None, None, event_of(&this.kind)),
        TraceEvent::Found(key, value) => (Some(key), Some(value), Some("found")),
        TraceEvent::FoundInOverrides(key, value) => {
            (Some(key), Some(value), Some("found_in_overrides"))
        }
        TraceEvent::FoundInDefaults(key, value) => {
            (Some(key), Some(value), Some("found_in_defaults"))
        }
        TraceEvent::NotFound(key) => (Some(key), None, Some("not_found")),
        TraceEvent::Unknown(key, _) => (Some(key), None, Some("unknown")),
        TraceEvent::Result(value) => (None, Some(value), Some("result")),
        TraceEvent::LocationNotFound => (None, None, Some("location_not_found")),
    };
    if let Some(key) = key.map(String::as_str).or(this.kind.key()) {
        set(hash, "key", key);
    }
    if let Some(value) = value {
        set(hash, "value", value.clone());
    }
    if let Some(event) = event {
        set(hash, "event", symbol(event));
    }
    if let TraceEvent::Unknown(_, function) = &this.event {
        set(hash, "function", &**function);
    }
    if !this.remarks.is_empty() {
        let text = |remark: &Remark| Value::string(remark.to_string());
        let texts: Vec<Value> = this.remarks.iter().map(text).collect();
        set(hash, "texts", texts);
    }
}

/// The event of a kind that is one by itself.
fn event_of(kind: &TraceKind) -> Option<&'static str> {
    if matches!(kind, TraceKind::NoModule(_)) {
        return Some("module_not_found");
    }
    matches!(kind, TraceKind::NoModuleProvider(_)).then_some("module_provider_not_found")
}

fn kind_name(kind: &TraceKind) -> &'static str {
    match kind {
        TraceKind::Root | TraceKind::Data(_) | TraceKind::Options => "root",
        TraceKind::InvalidKey(_) => "invalid_key",
        TraceKind::MergeSource => "merge_source",
        TraceKind::Provider { .. } | TraceKind::Level { .. } => "data_provider",
        TraceKind::Location(location) if location.is_uri => "uri",
        TraceKind::Location(_) => "path",
        TraceKind::Merge(_) => "merge",
        TraceKind::Interpolation(_) => "interpolate",
        TraceKind::Scope(_) => "scope",
        TraceKind::SubKey(_) => "sub_key",
        TraceKind::Segment => "segment",
        TraceKind::NoModule(_) | TraceKind::NoModuleProvider(_) => "module",
    }
}

/// The additional entries of a node kind.
fn details(hash: &mut HashMap, kind: &TraceKind) {
    match kind {
        TraceKind::Provider {
            layer,
            version,
            config,
        } => {
            set(hash, "name", provider_name(layer, *version));
            if let Some(path) = config {
                set(hash, "configuration_path", &**path);
            }
            if let Some(module) = layer.module_name() {
                set(hash, "module", module);
            }
        }
        TraceKind::Level {
            name,
            legacy_function: true,
            ..
        } => set(hash, "name", format!("Deprecated API function \"{name}\"")),
        TraceKind::Level { name, .. } => set(hash, "name", format!("Hierarchy entry \"{name}\"")),
        TraceKind::Location(location) => {
            let (original, place) = if location.is_uri {
                ("original_uri", "uri")
            } else {
                ("original_path", "path")
            };
            set(hash, original, &*location.original);
            set(hash, place, &*location.place);
            if let Some(possible) = &location.possible {
                let text = |text: &Arc<str>| Value::string(&**text);
                let texts: Vec<Value> = possible.variables.iter().map(text).collect();
                set(hash, "unknown_variables", texts);
                let texts: Vec<Value> = possible.files.iter().map(text).collect();
                set(hash, "possible_paths", texts);
            }
        }
        TraceKind::Merge(strategy) => {
            set(hash, "merge", symbol(strategy.kind.name()));
            if let Some(options) = strategy.options_without_strategy() {
                set(hash, "options", options);
            }
        }
        TraceKind::Interpolation(text) => set(hash, "expression", &**text),
        TraceKind::Scope(name) => set(hash, "name", name.to_string()),
        TraceKind::Root
        | TraceKind::Data(_)
        | TraceKind::Options
        | TraceKind::InvalidKey(_)
        | TraceKind::MergeSource
        | TraceKind::SubKey(_)
        | TraceKind::Segment
        | TraceKind::NoModule(_)
        | TraceKind::NoModuleProvider(_) => {}
    }
}
