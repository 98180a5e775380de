//! The facts that a what-if can change, as JSON, for the server and for reports. The format is public.

use serde_json::{Map, Value, json};

use crate::analysis::{NodeSet, UsedVariable, ValueCounts};
use crate::value::{self, TaggedJson};

/// A variable that the hierarchy uses, with its values over the nodes and for a selected one. O(nodes).
#[must_use]
pub fn fact(
    known: &NodeSet,
    variable: &UsedVariable,
    selected: Option<&str>,
    overrides: &Map<String, Value>,
) -> Value {
    let path = known.fact_of(&variable.name);
    let counts = ValueCounts::of(&known.known, &variable.name);
    let member = selected.and_then(|name| known.known.find(name));
    let column = known.known.column(&variable.name);
    let current = member.and_then(|member| column.value(member)).map(json_of);
    let path_or_name = path.as_deref().unwrap_or(&variable.name);
    json!({
        "path": path_or_name,
        "name": &*variable.name,
        "settable": path.is_some(),
        "levels": variable.levels,
        "override": overrides.get(path_or_name),
        "current": current,
        "values": values(&counts),
        "more": counts.more,
    })
}

/// The distinct values of a variable, each with its number of nodes.
#[must_use]
pub fn values(counts: &ValueCounts) -> Vec<Value> {
    let values = counts.values.iter();
    values
        .map(|(value, nodes)| json!({ "value": json_of(value), "nodes": nodes }))
        .collect()
}

fn json_of(value: &value::Value) -> Value {
    json!(TaggedJson(value))
}
