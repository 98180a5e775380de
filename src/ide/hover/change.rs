//! The differences between two hashes or lists, in one line.

use super::few;
use super::key::CELL;
use crate::page::yaml;
use crate::page::{Line, code, joined, plain_words, text};
use crate::text::number_of;
use crate::value::Value;

/// Maximum number of differences of one kind that are named.
const MAX_CHANGES: usize = 3;

/// Maximum width of a key or element, in characters.
const SHORT: usize = 32;

pub(super) fn is_long(value: &Value) -> bool {
    yaml::whole_inline(value, CELL).is_none()
}

/// The only difference between two hashes, by its dotted path: `net.core.somaxconn: 1024`. `None`
/// if several keys differ.
fn only_change(base: &Value, value: &Value) -> Option<Line> {
    let (mut base, mut value) = (base, value);
    let mut steps: Vec<String> = Vec::new();
    while let (Some(old), Some(new)) = (base.as_hash(), value.as_hash()) {
        let mut differing = new.iter().filter(|(key, part)| old.get(*key) != Some(part));
        let first = differing.next();
        let is_kept = |key: &Value| new.contains_key(key);
        let (Some((key, part)), true) = (first, old.keys().all(is_kept)) else {
            break;
        };
        if differing.next().is_some() {
            break;
        }
        let Some(was) = old.get(key) else {
            break;
        };
        steps.push(step(key));
        (base, value) = (was, part);
    }
    if steps.is_empty() {
        return None;
    }
    let path = steps.join(".");
    if is_long(value)
        && let Some(line) = changes(base, value)
    {
        let mut whole = vec![code(path), text(" ")];
        whole.extend(line);
        return Some(whole);
    }
    Some(vec![code(format!("{path}: {}", yaml::inline(value, CELL)))])
}

fn step(key: &Value) -> String {
    match key.as_str() {
        Some(name) if name.contains(['.', ' ']) => format!("'{name}'"),
        Some(name) => name.to_owned(),
        None => yaml::inline(key, SHORT),
    }
}

/// The differences by top-level keys or elements: `adds strace · changes alice`.
pub(super) fn changes(base: &Value, value: &Value) -> Option<Line> {
    if let Some(line) = only_change(base, value) {
        return Some(line);
    }
    let (mut added, mut changed, mut removed) = (Vec::new(), Vec::new(), Vec::new());
    match (base, value) {
        (Value::Hash(base), Value::Hash(value)) => {
            for (key, part) in value.iter() {
                match base.get(key) {
                    None => added.push(key),
                    Some(other) if other != part => changed.push(key),
                    Some(_) => {}
                }
            }
            removed.extend(base.keys().filter(|key| !value.contains_key(*key)));
        }
        (Value::Array(base), Value::Array(value)) => {
            added.extend(value.iter().filter(|element| !base.contains(element)));
            removed.extend(base.iter().filter(|element| !value.contains(element)));
            if added.is_empty() && removed.is_empty() {
                return Some(vec![text("the same in another order")]);
            }
            // Removing one hash and adding another at the same index is a change.
            let pairs = base.iter().zip(value.iter());
            for (old, new) in pairs.filter(|(old, new)| old.as_hash().and(new.as_hash()).is_some())
            {
                if added.contains(&new) && removed.contains(&old) {
                    added.retain(|element| *element != new);
                    removed.retain(|element| *element != old);
                    changed.push(new);
                }
            }
        }
        _ => return None,
    }
    let kinds = [
        ("adds ", added),
        ("changes ", changed),
        ("removes ", removed),
    ];
    let kinds = kinds.into_iter().filter(|(_, parts)| !parts.is_empty());
    let shown = kinds.map(|(words, parts)| {
        if parts.iter().any(|part| part.is_collection()) {
            let count = number_of(parts.len(), "element");
            return vec![text(format!("{words}{count}"))];
        }
        let mut line = vec![text(words)];
        let named = parts.iter().map(|part| vec![code(in_a_list(part))]);
        line.extend(few(named, MAX_CHANGES));
        line
    });
    let line = joined(shown, ", ");
    // Hashes that differ in their order only are equal.
    (!line.is_empty()).then_some(line)
}

/// A key or an element in a list; quoted if it contains blanks.
fn in_a_list(part: &Value) -> String {
    let shown = yaml::inline(part, SHORT);
    if part.as_str().is_some_and(|text| *text == shown) && shown.contains(' ') {
        format!("'{shown}'")
    } else {
        shown
    }
}

/// The differences between long hashes or lists in words; `None` if both fit into `width` characters.
pub(in crate::ide) fn changes_in_words(
    base: &Value,
    value: &Value,
    width: usize,
) -> Option<String> {
    let is_long = |value| yaml::whole_inline(value, width).is_none();
    if !is_long(base) && !is_long(value) {
        return None;
    }
    changes(base, value).map(|line| plain_words(&line))
}
