//! Deep merging like the deep_merge gem (`deep_merge/core.rb`, version 1.1), quirks included.
//!
//! The gem changes its source while it knocks elements out, and Puppet has already recorded those
//! same objects: each change is reported as a [`Mutation`], so that a trace shows the same as
//! Puppet's.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "Ruby asks a value for one or two classes and treats all others alike"
)]

use std::sync::Arc;

use indexmap::IndexSet;

use super::error::{ErrorClass, Found, LookupError};
use super::knockout::KnockoutPrefix;
use super::sort::sort;
use crate::value::{HashMap, KeyHashing, StrKey, Value};

/// Maximum nesting that is merged; the loaders allow less.
const MAX_DEPTH: usize = 512;

/// Lists up to this length are compared element by element, longer ones with a table.
const FEW: usize = 12;

/// A collection that Ruby changes in place: before and after. The first is found by its identity.
pub(super) type Mutation = (Value, Value);

#[derive(Debug, Default)]
pub(super) struct DeepOptions {
    knockout: Option<KnockoutPrefix>,
    sort_merged_arrays: bool,
    merge_hash_arrays: bool,
    overwrite_arrays: bool,
    extend_existing_arrays: bool,
    preserve_unmergeables: bool,
    unpack_arrays: Option<Arc<str>>,
}

impl DeepOptions {
    pub(super) fn read(options: &HashMap) -> Result<DeepOptions, LookupError> {
        let truthy = |name: &str| {
            options
                .get(&StrKey(name))
                .is_some_and(|value| !value.is_falsey())
        };
        let text = |name: &str| match options.get(&StrKey(name)) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) | None => None,
        };
        let preserve_unmergeables = truthy("preserve_unmergeables");
        let prefix = options.get(&StrKey("knockout_prefix"));
        // An unknown prefix must not remove anything.
        let is_known = |prefix: &&Value| !prefix.is_falsey() && !prefix.has_opaque();
        let knockout = match prefix.filter(is_known) {
            None => None,
            Some(prefix) if prefix.as_str() == Some("") => {
                return Err(LookupError::new(
                    ErrorClass::DeepMergeParameter,
                    "knockout_prefix cannot be an empty string in deep_merge!",
                ));
            }
            Some(_) if preserve_unmergeables => {
                return Err(LookupError::new(
                    ErrorClass::DeepMergeParameter,
                    "overwrite_unmergeable must be true if knockout_prefix is specified in \
                     deep_merge!",
                ));
            }
            Some(prefix) => Some(KnockoutPrefix::new(prefix.clone())?),
        };
        Ok(DeepOptions {
            knockout,
            sort_merged_arrays: truthy("sort_merged_arrays"),
            merge_hash_arrays: truthy("merge_hash_arrays"),
            overwrite_arrays: truthy("overwrite_arrays"),
            extend_existing_arrays: truthy("extend_existing_arrays"),
            preserve_unmergeables,
            unpack_arrays: text("unpack_arrays"),
        })
    }
}

/// `DeepMerge.deep_merge!(source, dest)`: the source wins, elements of `dest` come first.
pub(super) fn deep_merge(
    source: &Value,
    dest: Value,
    options: &DeepOptions,
    mutated: Option<&mut Vec<Mutation>>,
) -> Found<Value> {
    // Puppet clones `dest` deeply first. Here values are shared until they are changed, which is
    // only visible where identity matters: with knock-outs, and in a trace.
    let dest = match (&options.knockout, &mutated) {
        (Some(_), _) | (_, Some(_)) => deep_copy(&dest),
        (None, None) => dest,
    };
    MergeRun { options, mutated }.merge(source, dest, 0)
}

/// `DeepMergeStrategy#deep_clone`
fn deep_copy(value: &Value) -> Value {
    match value {
        Value::Array(elements) => Value::array(elements.iter().map(deep_copy)),
        Value::Hash(hash) => {
            let copied = hash
                .iter()
                .map(|(key, value)| (key.clone(), deep_copy(value)));
            Value::from(copied.collect::<HashMap>())
        }
        _ => value.clone(),
    }
}

struct MergeRun<'a> {
    options: &'a DeepOptions,
    /// Takes the changes; `None` if there is no trace.
    mutated: Option<&'a mut Vec<Mutation>>,
}

impl MergeRun<'_> {
    fn merge(&mut self, source: &Value, dest: Value, depth: usize) -> Found<Value> {
        if depth > MAX_DEPTH {
            let message = format!("values nested deeper than {MAX_DEPTH} are not merged");
            return Err(LookupError::new(ErrorClass::Limit, message).into());
        }
        if source.is_undef() {
            return Ok(dest);
        }
        if dest.is_falsey() && !self.options.preserve_unmergeables {
            return Ok(source.clone());
        }
        match source {
            Value::Hash(entries) => {
                // Inside a copy the inner objects of source and dest are identical, and so are both
                // after the source has overwritten dest: then a change of dest also changes the
                // source.
                let (merged, same) = self.merge_hash(source, entries, dest, depth)?;
                if !same {
                    return Ok(merged);
                }
                if merged == *source {
                    return Ok(source.clone());
                }
                self.record_mutation((source.clone(), merged.clone()));
                Ok(merged)
            }
            Value::Array(elements) => self.merge_array(elements, dest, depth),
            _ => match dest {
                Value::Array(elements) if self.options.extend_existing_arrays => {
                    Ok(pushed(&elements, source.clone()))
                }
                dest => self.overwrite(source, dest),
            },
        }
    }

    /// The merged value, and whether it was the source's own object when it was changed.
    fn merge_hash(
        &mut self,
        source: &Value,
        entries: &Arc<HashMap>,
        dest: Value,
        depth: usize,
    ) -> Found<(Value, bool)> {
        let is_source =
            |dest: &Value| matches!(dest, Value::Hash(hash) if Arc::ptr_eq(hash, entries));
        let mut same = is_source(&dest);
        let mut dest = dest;
        // The loop runs once per entry even if it overwrites all of `dest`, as in the gem: an empty
        // source leaves `dest` unchanged.
        for (key, value) in entries.iter() {
            match &mut dest {
                Value::Hash(hash) => {
                    let hash = Arc::make_mut(hash);
                    if let Err(error) = self.merge_entry(hash, (key, value), same, depth + 1) {
                        // Changes before the error are kept.
                        if same && dest != *source {
                            self.record_mutation((source.clone(), dest));
                        }
                        return Err(error);
                    }
                }
                Value::Array(elements) if self.options.extend_existing_arrays => {
                    dest = pushed(elements, source.clone());
                }
                _ if self.options.preserve_unmergeables => {}
                _ => {
                    dest = self.overwrite(source, std::mem::take(&mut dest))?;
                    same = is_source(&dest);
                }
            }
        }
        Ok((dest, same))
    }

    /// Sets or merges one entry of the source in `hash`, which may be the source itself.
    fn merge_entry(
        &mut self,
        hash: &mut HashMap,
        (key, value): (&Value, &Value),
        is_source: bool,
        depth: usize,
    ) -> Found<()> {
        if let Some(entry) = hash.get_mut(key) {
            let below = match &mut *entry {
                // The gem merges the value over a copy of itself, which strips knock-outs.
                below if below.is_falsey() => shallow_copy(value),
                // A trace also shows the source as it is after an error.
                below if is_source && self.mutated.is_some() => below.clone(),
                // A value without other holders is changed without a copy.
                below => std::mem::take(below),
            };
            *entry = self.merge(value, below, depth)?;
            return Ok(());
        }
        let merged = if self.is_unchanged_by_itself(value) {
            value.clone()
        } else {
            self.merge(value, shallow_copy(value), depth)?
        };
        hash.insert(key.clone(), merged);
        Ok(())
    }

    /// Whether merging a value over a copy of itself certainly changes nothing. Never true in a
    /// trace, where copies are visible.
    fn is_unchanged_by_itself(&self, value: &Value) -> bool {
        let knockout = self.options.knockout.as_ref();
        if self.mutated.is_some() || knockout.is_some_and(|knockout| knockout.prefix == *value) {
            return false;
        }
        match value {
            Value::Array(elements) => {
                let options = self.options;
                let is_plain = !options.sort_merged_arrays && options.unpack_arrays.is_none();
                is_plain
                    && elements.len() <= FEW
                    && elements.iter().enumerate().all(|(at, element)| {
                        let is_simple = match element {
                            Value::Array(_) => true,
                            Value::Hash(_) => !options.merge_hash_arrays,
                            element => self.is_unchanged_by_itself(element),
                        };
                        is_simple && !elements[..at].contains(element)
                    })
            }
            Value::Hash(hash) => {
                let mut values = hash.values();
                values.all(|value| self.is_unchanged_by_itself(value))
            }
            Value::String(text) => match &self.options.knockout {
                None => true,
                Some(knockout) => knockout.cannot_strip(text),
            },
            Value::Float(number) => !number.is_nan(),
            _ => true,
        }
    }

    fn merge_array(
        &mut self,
        original: &Arc<Vec<Value>>,
        dest: Value,
        depth: usize,
    ) -> Found<Value> {
        if self.options.overwrite_arrays {
            return Ok(Value::Array(original.clone()));
        }
        let mut source = original.clone();
        let mut dest = dest;
        if let Some(separator) = &self.options.unpack_arrays {
            source = Arc::new(unpack(&source, separator));
            if let Value::Array(elements) = &dest {
                dest = Value::from(unpack(elements, separator));
            }
        }
        let unpacked = source.clone();
        let same = matches!(&dest, Value::Array(elements) if Arc::ptr_eq(elements, &source));
        if same && let Some(knockout) = &self.options.knockout {
            let kept = Arc::new(knock_out_of_itself(&source, knockout)?);
            if kept != source {
                self.record(&unpacked, &kept);
            }
            source = kept.clone();
            dest = Value::Array(kept);
        } else if let Some(knockout) = &self.options.knockout {
            let naked = &knockout.prefix;
            if source.contains(naked) {
                dest = match dest {
                    Value::Array(_) => Value::array([]),
                    Value::Hash(_) => Value::hash([]),
                    // The same text object is emptied.
                    Value::String(_) => {
                        self.record_mutation((dest, Value::string("")));
                        Value::string("")
                    }
                    _ => Value::Undef,
                };
                source = Arc::new(source.iter().filter(|e| *e != naked).cloned().collect());
            }
        }
        let Value::Array(below) = &dest else {
            let (kept, result) = self.overwrite_with_array(source, dest)?;
            self.record(&unpacked, &kept);
            return Ok(result);
        };
        let mut below: Vec<Value> = below.to_vec();
        if !same && let Some(knockout) = &self.options.knockout {
            let mut kept = Vec::with_capacity(source.len());
            for element in source.iter() {
                match knockout.strip_element(element)? {
                    Some(stripped) => {
                        below.retain(|other| *other != stripped && other != element);
                    }
                    None => kept.push(element.clone()),
                }
            }
            if kept.len() < source.len() {
                source = Arc::new(kept);
            }
        }
        if !same {
            self.record(&unpacked, &source);
        }
        let all_hashes = |elements: &[Value]| elements.iter().all(|e| e.as_hash().is_some());
        let mut merged =
            if self.options.merge_hash_arrays && all_hashes(&source) && all_hashes(&below) {
                let mut list = Vec::with_capacity(below.len().max(source.len()));
                for (at, element) in below.iter().enumerate() {
                    let above = source.get(at).cloned().unwrap_or_else(|| Value::hash([]));
                    list.push(self.merge(&above, element.clone(), depth + 1)?);
                }
                list.extend(source.iter().skip(below.len()).cloned());
                list
            } else {
                distinct(&below, &source)
            };
        if self.options.sort_merged_arrays {
            sort(&mut merged)?;
        }
        Ok(Value::from(merged))
    }

    /// `overwrite_unmergeables` for a source that is no array.
    fn overwrite(&mut self, source: &Value, dest: Value) -> Found<Value> {
        if self.options.preserve_unmergeables {
            return Ok(dest);
        }
        if let (Some(knockout), Value::String(text)) = (&self.options.knockout, source) {
            // Either way the result is a new text, which only a trace shows.
            return Ok(match knockout.strip(text)? {
                Some(_) => Value::string(""),
                None if self.mutated.is_none() => source.clone(),
                None => Value::string(&**text),
            });
        }
        // A value that does not equal itself appears changed by the prefix.
        if let (Some(_), Value::Float(number)) = (&self.options.knockout, source)
            && number.is_nan()
        {
            return Ok(Value::string(""));
        }
        Ok(source.clone())
    }

    /// `overwrite_unmergeables` for an array: the remaining source, and the result.
    fn overwrite_with_array(
        &mut self,
        source: Arc<Vec<Value>>,
        dest: Value,
    ) -> Found<(Arc<Vec<Value>>, Value)> {
        if self.options.preserve_unmergeables {
            return Ok((source, dest));
        }
        let Some(knockout) = &self.options.knockout else {
            return Ok((source.clone(), Value::Array(source)));
        };
        let mut kept = Vec::with_capacity(source.len());
        for element in source.iter() {
            let out = match element {
                Value::String(text) => knockout.matches(text)?,
                _ => false,
            };
            if !out {
                kept.push(element.clone());
            }
        }
        let kept = if kept.len() < source.len() {
            Arc::new(kept)
        } else {
            source
        };
        Ok((kept.clone(), Value::Array(kept)))
    }

    fn record_mutation(&mut self, mutation: Mutation) {
        if let Some(mutated) = &mut self.mutated {
            mutated.push(mutation);
        }
    }

    fn record(&mut self, before: &Arc<Vec<Value>>, after: &Arc<Vec<Value>>) {
        if !Arc::ptr_eq(before, after) {
            self.record_mutation((Value::Array(before.clone()), Value::Array(after.clone())));
        }
    }
}

/// The elements of both, the first of equal ones.
fn distinct(below: &[Value], source: &[Value]) -> Vec<Value> {
    let all = below.iter().chain(source);
    if below.len() + source.len() > FEW {
        let set: IndexSet<&Value, KeyHashing> = all.collect();
        return set.into_iter().cloned().collect();
    }
    let mut kept: Vec<Value> = Vec::with_capacity(below.len() + source.len());
    for element in all {
        if !kept.contains(element) {
            kept.push(element.clone());
        }
    }
    kept
}

/// Ruby's `dup`: a new collection of the same elements.
fn shallow_copy(value: &Value) -> Value {
    match value {
        Value::Array(elements) => Value::from(elements.to_vec()),
        Value::Hash(hash) => Value::from(HashMap::clone(hash)),
        _ => value.clone(),
    }
}

/// Knocks elements out of an array that is both source and dest: a bare prefix empties it;
/// otherwise `delete_if` runs while its block deletes from the same array (Ruby's `array.c`,
/// `reject_bang_i` and `select_bang_ensure`).
fn knock_out_of_itself(source: &[Value], knockout: &KnockoutPrefix) -> Found<Vec<Value>> {
    if source.contains(&knockout.prefix) {
        return Ok(Vec::new());
    }
    let mut elements = source.to_vec();
    let (mut read, mut written) = (0, 0);
    while read < elements.len() {
        let element = elements[read].clone();
        if let Some(stripped) = knockout.strip_element(&element)? {
            elements.retain(|other| *other != stripped && *other != element);
        } else {
            if written != read {
                elements[written] = element;
            }
            written += 1;
        }
        read += 1;
    }
    if written < elements.len() && written < read {
        let tail = read.min(elements.len());
        elements.drain(written..tail);
    }
    Ok(elements)
}

fn pushed(elements: &[Value], element: Value) -> Value {
    Value::array(elements.iter().cloned().chain([element]))
}

/// `array.join(separator).split(separator)`
fn unpack(elements: &[Value], separator: &str) -> Vec<Value> {
    let texts = Value::to_join(elements).into_iter().map(|each| each.to_s());
    let joined = texts.collect::<Vec<String>>().join(separator);
    let mut parts: Vec<&str> = match separator {
        " " => joined.split_ascii_whitespace().collect(),
        "" => joined.split("").filter(|part| !part.is_empty()).collect(),
        _ => joined.split(separator).collect(),
    };
    while parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    parts.into_iter().map(Value::string).collect()
}

#[cfg(test)]
#[path = "deep_merge_tests.rs"]
mod tests;
