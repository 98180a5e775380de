//! Reads an answer's trace for a key: which levels gave values, and how they were merged.

use std::sync::Arc;

use crate::interpolation::Key;
use crate::lookup::{
    Answer, OptionsEntry, Request, Strategy, StrategyKind, TraceEvent, TraceKind, TraceNode,
};
use crate::value::{StrKey, Value};

/// A value from a level.
#[derive(Clone, Debug)]
pub struct LevelValue {
    /// The file or URI; `None` for a function without a location.
    pub path: Option<Arc<str>>,
    /// The level's name.
    pub level: Arc<str>,
    /// The value, tokens evaluated.
    pub value: Value,
}

/// A name as one segment of a dotted key: quoted if it contains dots or blanks.
#[must_use]
pub fn quoted(segment: &str) -> String {
    let is_plain = Key::parse(segment)
        .is_ok_and(|key| key.segments.is_empty() && key.root.as_name() == Some(segment));
    match (is_plain, segment.contains('\'')) {
        (true, _) => segment.to_string(),
        (false, false) => format!("'{segment}'"),
        (false, true) => format!("\"{segment}\""),
    }
}

/// The request for a top-level key, with a trace.
#[must_use]
pub fn request(key: &str) -> Request {
    Request::key(&quoted(key)).with_sources()
}

/// The merge strategy of the lookup: from the trace, else from the options.
#[must_use]
pub fn strategy(answer: &Answer, key: &str) -> Strategy {
    if let Some(strategy) = merged_by(answer, &quoted(key)) {
        return strategy.clone();
    }
    let entry = answer.options.as_ref().and_then(|all| all.entry(key));
    let kind = entry.as_ref().and_then(merge_kind);
    Strategy::plain(kind.unwrap_or(StrategyKind::First))
}

/// The strategy in an entry of `lookup_options`.
#[must_use]
pub fn merge_kind(entry: &OptionsEntry) -> Option<StrategyKind> {
    kind_of(entry.value.get("merge")?)
}

/// The strategy in a `merge` value of options and requests.
#[must_use]
pub fn kind_of(merge: &Value) -> Option<StrategyKind> {
    let word = match merge.as_hash() {
        Some(hash) => hash.get(&StrKey("strategy"))?,
        None => merge,
    };
    StrategyKind::from_name(word.as_str()?)
}

pub(super) fn merged_by<'a>(answer: &'a Answer, key: &str) -> Option<&'a Strategy> {
    let mut found = None;
    search(data_node(answer, key)?, &mut |node| {
        if let TraceKind::Merge(strategy) = &node.kind {
            found = found.or(Some(strategy));
        }
    });
    found
}

/// The sources that gave values for a key, the highest first.
#[must_use]
pub fn sources(answer: &Answer, key: &str) -> Vec<LevelValue> {
    let mut found = Vec::new();
    if let Some(data) = data_node(answer, key) {
        collect(data, &Arc::from(""), &mut found);
    }
    found
}

fn data_node<'a>(answer: &'a Answer, key: &str) -> Option<&'a TraceNode> {
    let mut nodes = answer.trace.as_ref()?.children.iter();
    nodes.find(|node| matches!(&node.kind, TraceKind::Data(name) if **name == *key))
}

/// Visits a node and its children, without lookups caused by interpolation.
fn search<'a>(node: &'a TraceNode, visit: &mut dyn FnMut(&'a TraceNode)) {
    visit(node);
    for child in &node.children {
        if !matches!(child.kind, TraceKind::Interpolation(_) | TraceKind::Options) {
            search(child, visit);
        }
    }
}

fn collect(node: &TraceNode, level: &Arc<str>, found: &mut Vec<LevelValue>) {
    let mut level = level.clone();
    let mut path = None;
    let mut gives = false;
    if let TraceKind::Level { name, .. } = &node.kind {
        (level, gives) = (name.clone(), true);
    } else if let TraceKind::Location(location) = &node.kind {
        (path, gives) = (Some(location.place.clone()), true);
    }
    if let (true, TraceEvent::Found(_, value)) = (gives, &node.event) {
        found.push(LevelValue {
            path,
            level: level.clone(),
            value: value.clone(),
        });
    }
    for child in &node.children {
        if !matches!(child.kind, TraceKind::Interpolation(_) | TraceKind::Options) {
            collect(child, &level, found);
        }
    }
}

/// The part of a value at keys and indexes.
#[must_use]
pub fn dig<'v>(value: &'v Value, steps: &[Value]) -> Option<&'v Value> {
    let mut value = value;
    for step in steps {
        value = match (value, step) {
            (Value::Hash(hash), step) => hash.get(step)?,
            (Value::Array(elements), Value::Int(index)) => {
                elements.get(usize::try_from(*index).ok()?)?
            }
            _ => return None,
        };
    }
    Some(value)
}
