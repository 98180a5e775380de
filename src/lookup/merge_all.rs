//! Merging all that was found at once, lowest first, where nobody can tell it from Puppet's merging
//! of one after another.
//!
//! Puppet takes the two highest values, merges what comes of it with the third, and so on: every
//! step copies all there is so far. From the low end each value is taken in once. Both ways give
//! the same where values of one kind meet everywhere; for everything else there is `None`, and the
//! caller goes Puppet's way.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "what is not merged here is Puppet's way's business"
)]

use std::collections::HashSet;
use std::sync::Arc;

use super::deep_merge::{DeepOptions, MAX_DEPTH};
use super::merge::{Strategy, StrategyKind};
use crate::value::{HashMap, KeyHashing, Value, hash_with_capacity};

/// Up to so many elements a list is compared element by element; beyond, by a table.
const FEW: usize = 12;

/// Whether merging this value can fail, or needs more than its kind to be understood. `false`
/// sends a lookup Puppet's way from here on.
pub(super) fn is_regular(strategy: &Strategy, value: &Value) -> bool {
    match strategy.kind {
        StrategyKind::Hash => is_hash_of_data(value),
        StrategyKind::Unique => match value {
            Value::Array(_) => is_data(value, 0),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::String(_) => true,
            _ => false,
        },
        StrategyKind::Deep => matches!(value, Value::Hash(_)),
        StrategyKind::First
        | StrategyKind::Default
        | StrategyKind::UnconstrainedDeep
        | StrategyKind::ReverseDeep => false,
    }
}

/// All values, of falling priority and each regular, merged; nothing where the order of merging
/// shows.
pub(super) fn merge_all(
    strategy: &Strategy,
    deep: &DeepOptions,
    values: &[Value],
) -> Option<Value> {
    match strategy.kind {
        StrategyKind::Hash => hashes(values),
        StrategyKind::Unique => Some(elements(values)),
        StrategyKind::Deep => deeply(values, deep),
        StrategyKind::First
        | StrategyKind::Default
        | StrategyKind::UnconstrainedDeep
        | StrategyKind::ReverseDeep => None,
    }
}

fn hashes(values: &[Value]) -> Option<Value> {
    let (lowest, higher) = values.split_last()?;
    let mut merged = copy_with_room(lowest.as_hash()?, higher);
    for value in higher.iter().rev() {
        for (key, value) in value.as_hash()? {
            merged.insert(key.clone(), value.clone());
        }
    }
    Some(Value::from(merged))
}

/// A copy of a hash with room for all entries of `others`.
fn copy_with_room(hash: &HashMap, others: &[Value]) -> HashMap {
    let others = others.iter().filter_map(Value::as_hash);
    let room = others.map(HashMap::len).sum::<usize>();
    let mut copy = hash_with_capacity(hash.len() + room);
    copy.extend(hash.iter().map(|(key, value)| (key.clone(), value.clone())));
    copy
}

fn elements(values: &[Value]) -> Value {
    fn add<'a>(value: &'a Value, all: &mut Vec<&'a Value>) {
        match value {
            Value::Array(inner) => inner.iter().for_each(|element| add(element, all)),
            element => all.push(element),
        }
    }
    let mut all = Vec::new();
    values.iter().for_each(|value| add(value, &mut all));
    Value::from(distinct(all.into_iter()))
}

/// The first of equal elements stays.
fn distinct<'a>(elements: impl ExactSizeIterator<Item = &'a Value>) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::with_capacity(elements.len());
    if elements.len() <= FEW {
        for element in elements {
            if !kept.contains(element) {
                kept.push(element.clone());
            }
        }
        return kept;
    }
    let mut seen: HashSet<&Value, KeyHashing> = HashSet::default();
    for element in elements {
        if seen.insert(element) {
            kept.push(element.clone());
        }
    }
    kept
}

fn are_distinct(elements: &[Value]) -> bool {
    if elements.len() <= FEW {
        let mut before = elements.iter().enumerate();
        return before.all(|(at, element)| !elements[..at].contains(element));
    }
    let mut seen: HashSet<&Value, KeyHashing> = HashSet::default();
    elements.iter().all(|element| seen.insert(element))
}

fn deeply(values: &[Value], options: &DeepOptions) -> Option<Value> {
    let knockout = options.plain_knockout()?;
    let (lowest, higher) = values.split_last()?;
    let mut merged = Value::from(copy_with_room(lowest.as_hash()?, higher));
    for value in higher.iter().rev() {
        over(value, &mut merged, knockout, 0)?;
    }
    Some(merged)
}

/// Merges `source` into `dest`, which it has priority over.
fn over(source: &Value, dest: &mut Value, knockout: Option<&str>, depth: usize) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    match (source, &mut *dest) {
        (Value::Hash(entries), Value::Hash(below)) => {
            let below = Arc::make_mut(below);
            for (key, value) in entries.iter() {
                match below.get_mut(key) {
                    Some(below) => over(value, below, knockout, depth + 1)?,
                    None => {
                        below.insert(key.clone(), over_itself(value, knockout, depth + 1)?);
                    }
                }
            }
            Some(())
        }
        (Value::Array(elements), Value::Array(below)) => {
            if elements.iter().any(|element| knocks_out(element, knockout)) {
                return None;
            }
            let both: Vec<&Value> = below.iter().chain(elements.iter()).collect();
            *dest = Value::from(distinct(both.into_iter()));
            Some(())
        }
        (source, below) if is_simple(source) && is_simple(below) => {
            if knocks_out(source, knockout) {
                return None;
            }
            *dest = source.clone();
            Some(())
        }
        _ => None,
    }
}

/// What only one side has is merged with a copy of itself: lists lose what they hold twice.
fn over_itself(value: &Value, knockout: Option<&str>, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    match value {
        Value::Hash(entries) => {
            let mut changed: Option<HashMap> = None;
            for (at, (_, value)) in entries.iter().enumerate() {
                let merged = over_itself(value, knockout, depth + 1)?;
                if !is_same(&merged, value) {
                    changed.get_or_insert_with(|| HashMap::clone(entries))[at] = merged;
                }
            }
            Some(changed.map_or_else(|| value.clone(), Value::from))
        }
        Value::Array(elements) => {
            if elements.iter().any(|element| knocks_out(element, knockout)) {
                return None;
            }
            Some(if are_distinct(elements) {
                value.clone()
            } else {
                Value::from(distinct(elements.iter()))
            })
        }
        Value::Undef => Some(Value::Undef),
        value if is_simple(value) && !knocks_out(value, knockout) => Some(value.clone()),
        _ => None,
    }
}

/// Values of which the higher one wins, whatever the lower one is, if that is simple too.
fn is_simple(value: &Value) -> bool {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::String(_) => true,
        // What equals nothing, itself included, looks changed to the gem.
        Value::Float(number) => !number.is_nan(),
        _ => false,
    }
}

fn knocks_out(value: &Value, knockout: Option<&str>) -> bool {
    match (value, knockout) {
        (Value::String(text), Some(prefix)) => {
            text.starts_with(prefix)
                || text.contains('\n') && text.split('\n').any(|line| line.starts_with(prefix))
        }
        // What equals nothing looks changed.
        (Value::Float(number), Some(_)) => number.is_nan(),
        _ => false,
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => Arc::ptr_eq(one, other),
        (Value::Hash(one), Value::Hash(other)) => Arc::ptr_eq(one, other),
        _ => true,
    }
}

/// Whether Puppet's `Hash[String,Data]` takes the value for certain.
fn is_hash_of_data(value: &Value) -> bool {
    matches!(value, Value::Hash(_)) && is_data(value, 0)
}

/// Whether Puppet's `Data` takes the value for certain.
fn is_data(value: &Value, depth: usize) -> bool {
    match value {
        _ if depth > MAX_DEPTH => false,
        Value::Undef | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::String(_) => true,
        Value::Array(elements) => elements.iter().all(|element| is_data(element, depth + 1)),
        Value::Hash(hash) => hash
            .iter()
            .all(|(key, value)| matches!(key, Value::String(_)) && is_data(value, depth + 1)),
        _ => false,
    }
}

#[cfg(test)]
#[path = "merge_all_tests.rs"]
mod tests;
