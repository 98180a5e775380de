//! Prints the trace byte for byte as `puppet lookup --explain` does
//! (`puppet/pops/lookup/explainer.rb`).

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "Ruby asks a value for one or two classes and treats all others alike"
)]

use super::merge::Strategy;
use super::trace::{Possible, TraceEvent, TraceKind, TraceLocation, TraceNode};
use crate::hierarchy::Layer;
use crate::value::Value;

/// The text of a whole trace.
#[must_use]
pub fn explain(root: &TraceNode) -> String {
    let mut out = String::new();
    for child in &root.children {
        node(&mut out, child, "");
    }
    remarks(&mut out, root, "");
    out
}

fn node(out: &mut String, this: &TraceNode, indent: &str) {
    let inner = format!("{indent}  ");
    let section = |out: &mut String, title: &str| {
        line(out, indent, title);
        children(out, this, &inner);
        outcome(out, this, &inner);
    };
    match &this.kind {
        TraceKind::Root => {}
        TraceKind::Data(key) => {
            line(out, indent, &format!("Searching for \"{key}\""));
            children(out, this, &inner);
        }
        TraceKind::Options => {
            line(out, indent, "Searching for \"lookup_options\"");
            children(out, this, &inner);
        }
        TraceKind::InvalidKey(key) => line(out, indent, &format!("Invalid key \"{key}\"")),
        TraceKind::MergeSource => {
            line(
                out,
                indent,
                "Using merge options from \"lookup_options\" hash",
            );
        }
        TraceKind::Provider {
            layer,
            version,
            config,
        } => {
            line(out, indent, &provider_name(layer, *version));
            if let Some(path) = config {
                line(out, &inner, &format!("Using configuration \"{path}\""));
            }
            children(out, this, &inner);
            outcome(out, this, &inner);
        }
        TraceKind::Level {
            name,
            legacy_function,
            ..
        } => {
            let title = if *legacy_function {
                format!("Deprecated API function \"{name}\"")
            } else {
                format!("Hierarchy entry \"{name}\"")
            };
            section(out, &title);
        }
        TraceKind::Location(place) => location(out, this, place, indent),
        TraceKind::Merge(strategy) => merge(out, this, strategy, indent),
        TraceKind::Interpolation(text) => {
            line(out, indent, &format!("Interpolation on \"{text}\""));
            children(out, this, &inner);
        }
        TraceKind::Scope(name) => section(out, &name.to_string()),
        TraceKind::SubKey(key) => section(out, &format!("Sub key: \"{key}\"")),
        TraceKind::Segment => outcome(out, this, indent),
        TraceKind::NoModule(name) => line(out, indent, &format!("Module \"{name}\" not found")),
        TraceKind::NoModuleProvider(name) => line(
            out,
            indent,
            &format!("Module data provider for module \"{name}\" not found"),
        ),
    }
}

fn location(out: &mut String, this: &TraceNode, location: &TraceLocation, indent: &str) {
    let inner = format!("{indent}  ");
    let (title, original) = if location.is_uri {
        ("URI", "uri")
    } else {
        ("Path", "path")
    };
    line(out, indent, &format!("{title} \"{}\"", location.place));
    line(
        out,
        &inner,
        &format!("Original {original}: \"{}\"", location.original),
    );
    children(out, this, &inner);
    match &location.possible {
        Some(possible) => unknown_place(out, title, possible, &inner),
        None if this.event == TraceEvent::LocationNotFound => {
            line(out, &inner, &format!("{title} not found"));
        }
        None => {}
    }
    outcome(out, this, &inner);
}

fn merge(out: &mut String, this: &TraceNode, strategy: &Strategy, indent: &str) {
    match this.children.as_slice() {
        [] => return,
        [only] => return node(out, only, indent),
        _ => {}
    }
    let inner = format!("{indent}  ");
    line(
        out,
        indent,
        &format!("Merge strategy {}", strategy.kind.name()),
    );
    if let Some(options) = strategy.options_without_strategy() {
        out.push_str(&inner);
        out.push_str("Options: ");
        value(out, &inner, &options);
        out.push('\n');
    }
    children(out, this, &inner);
    if let TraceEvent::Result(result) = &this.event {
        out.push_str(&inner);
        out.push_str("Merged result: ");
        value(out, &inner, result);
        out.push('\n');
    }
}

/// A place that depends on unknown variables; Puppet never has such a place.
fn unknown_place(out: &mut String, title: &str, possible: &Possible, indent: &str) {
    let variables = possible.quoted_variables();
    let text = format!("{title} unknown: it depends on {variables}");
    line(out, indent, &text);
    if possible.files.is_empty() {
        let text = "No file of this workspace that it could be has the key";
        line(out, indent, text);
    }
    for file in possible.files.iter() {
        let text = format!("It could be \"{file}\", which has the key");
        line(out, indent, &text);
    }
}

/// `ConfiguredDataProvider#name`.
pub(super) fn provider_name(layer: &Layer, version: Option<u8>) -> String {
    let mut name = match layer {
        Layer::Global => "Global Data Provider".to_string(),
        Layer::Environment => "Environment Data Provider".to_string(),
        Layer::Module(module) => format!("Module \"{module}\" Data Provider"),
    };
    if let Some(version) = version {
        name += &format!(" (hiera configuration version {version})");
    }
    name
}

fn children(out: &mut String, this: &TraceNode, indent: &str) {
    for child in &this.children {
        node(out, child, indent);
    }
}

fn outcome(out: &mut String, this: &TraceNode, indent: &str) {
    let mut found = |key: &str, found: &Value, suffix: &str| {
        out.push_str(indent);
        out.push_str(&format!("Found key: \"{key}\" value: "));
        value(out, indent, found);
        out.push_str(suffix);
        out.push('\n');
    };
    match &this.event {
        TraceEvent::NotFound(key) => line(out, indent, &format!("No such key: \"{key}\"")),
        TraceEvent::Unknown(key, function) => line(
            out,
            indent,
            &format!("Unknown key: \"{key}\", the function \"{function}\" is not run here"),
        ),
        TraceEvent::Found(key, value) => found(key, value, ""),
        TraceEvent::FoundInOverrides(key, value) => found(key, value, " in overrides"),
        TraceEvent::FoundInDefaults(key, value) => found(key, value, " in defaults"),
        TraceEvent::None | TraceEvent::Result(_) | TraceEvent::LocationNotFound => {}
    }
    remarks(out, this, indent);
}

fn remarks(out: &mut String, this: &TraceNode, indent: &str) {
    for remark in &this.remarks {
        line(out, indent, &remark.to_string());
    }
}

fn line(out: &mut String, indent: &str, text: &str) {
    out.push_str(indent);
    out.push_str(text);
    out.push('\n');
}

/// `dump_value`: collections over several lines, other values like Ruby's `inspect`.
fn value(out: &mut String, indent: &str, this: &Value) {
    if this.inspect_simple(out) {
        return;
    }
    let inner = format!("{indent}  ");
    let start = |out: &mut String, at: usize| {
        out.push_str(if at > 0 { ",\n" } else { "\n" });
        out.push_str(&inner);
    };
    let (is_empty, end) = match this {
        Value::Hash(hash) => {
            out.push('{');
            for (at, (key, element)) in hash.iter().enumerate() {
                start(out, at);
                value(out, &inner, key);
                out.push_str(" => ");
                value(out, &inner, element);
            }
            (hash.is_empty(), '}')
        }
        Value::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                start(out, at);
                value(out, &inner, element);
            }
            (elements.is_empty(), ']')
        }
        other => return out.push_str(&other.inspect()),
    };
    if !is_empty {
        out.push('\n');
        out.push_str(indent);
    }
    out.push(end);
}
