//! Reads nodes from large JSON texts, such as exports of a fleet: parsed only down to the names of
//! the facts.
//!
//! Without this module the facts of 10,000 nodes take 11.1 bytes a byte of their file instead of 2.2
//! (floor: 4 bytes a byte + 25 MB).

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::facts::{Saved, ValuePosition};
use super::nodes::{Nodes, NodesError, not_a_hash};
use super::share::Share;
use super::sources::{GivenFacts, check_answer, name_of, node_of};
use super::{Facts, IMPORT, Imported, NodesForm, form_of, names_nodes, read_nodes};
use crate::value::{HashMap, JsonError, JsonPieces, Value, from_json, from_raw_json};

/// Reads saved data of any form from its JSON text, like [`read_nodes`] from its value. In an
/// inventory or a nodes file the facts stay text. O(bytes).
///
/// # Errors
/// As [`read_nodes`], or invalid JSON.
pub fn read_json_nodes(
    document: &Arc<str>,
    stem: &str,
    common: &HashMap,
) -> Result<Nodes, NodesError> {
    let is_addressable = u32::try_from(document.len()).is_ok();
    let pieces = JsonPieces::of(document).filter(|_| is_addressable);
    let mut reader = JsonReader {
        document,
        common: Arc::new(common.clone()),
        names: HashSet::new(),
        share: Share::default(),
        nodes: Nodes::default(),
    };
    match &pieces {
        Some(JsonPieces::Array(elements)) if is_inventory(elements)? => {
            for (at, element) in elements.iter().enumerate() {
                reader.add_listed(element, stem, at)?;
            }
            Ok(reader.nodes)
        }
        Some(JsonPieces::Object(entries)) if is_nodes_file(entries)? => {
            for (name, entry) in entries {
                if name == IMPORT {
                    let member = from_raw_json(entry).map_err(no_json)?;
                    reader.nodes.imported = Some(Arc::new(Imported::read(&member)));
                } else {
                    reader.add_entry(name, entry)?;
                }
            }
            Ok(reader.nodes)
        }
        _ => {
            let value = from_json(document).map_err(|error| not_json(document, error))?;
            read_nodes(&value, stem, common)
        }
    }
}

/// Like [`names_nodes`], for a JSON text: a few values decide for all. Invalid JSON may be a nodes
/// file with a mistake. O(bytes).
#[must_use]
pub fn json_names_nodes(document: &str) -> bool {
    /// Maximum number of examined values.
    const MOST: usize = 16;
    let read = |raw: &RawValue| from_raw_json(raw).unwrap_or_default();
    match JsonPieces::of(document) {
        Some(JsonPieces::Array(elements)) => {
            let first = elements.into_iter().take(MOST).map(read);
            names_nodes(&Value::array(first))
        }
        Some(JsonPieces::Object(entries)) => {
            let first: Vec<(String, Value)> = entries
                .into_iter()
                .take(MOST)
                .map(|(name, raw)| (name, read(raw)))
                .collect();
            let first = first.iter();
            names_nodes(&Value::hash(
                first.map(|(name, value)| (name.as_str(), value.clone())),
            ))
        }
        None => from_json(document).is_err(),
    }
}

fn no_json(error: JsonError) -> NodesError {
    NodesError {
        message: error.to_string(),
    }
}

/// The error of a whole text: an answer that is only a message is shown.
fn not_json(document: &str, error: JsonError) -> NodesError {
    /// Maximum number of characters of the message.
    const MOST: usize = 200;
    let text = document.trim_start();
    let is_message = text.starts_with(|first: char| first.is_alphabetic() || first == '<');
    if !is_message || ["true", "false", "null"].contains(&text.trim_end()) {
        return no_json(error);
    }
    let line = text.lines().next().unwrap_or_default();
    NodesError {
        message: format!(
            "this is a message, not JSON: '{}'",
            line.chars().take(MOST).collect::<String>()
        ),
    }
}

/// The first value decides what a list contains.
fn is_inventory(elements: &[&RawValue]) -> Result<bool, NodesError> {
    let first = first_of(elements.iter().copied())?;
    let form = first.and_then(|first| form_of(&Value::array([first])));
    Ok(form == Some(NodesForm::Inventory))
}

/// The names and one value decide what a hash is.
fn is_nodes_file(entries: &[(String, &RawValue)]) -> Result<bool, NodesError> {
    let Some(first) = first_of(entries.iter().map(|(_, entry)| *entry))? else {
        return Ok(false);
    };
    let sample = entries.iter();
    let sample = sample.map(|(name, _)| (name.as_str(), first.clone()));
    Ok(form_of(&Value::hash(sample)) == Some(NodesForm::NodesFile))
}

/// The first conclusive value.
fn first_of<'a>(
    mut pieces: impl Iterator<Item = &'a RawValue>,
) -> Result<Option<Value>, NodesError> {
    let first = pieces.find(|piece| piece.get() != "null");
    first.map(from_raw_json).transpose().map_err(no_json)
}

/// Collects nodes while reading.
struct JsonReader<'a> {
    document: &'a Arc<str>,
    common: Arc<HashMap>,
    names: HashSet<Arc<str>>,
    share: Share,
    nodes: Nodes,
}

/// The parts of an object; of equal names the last one is used.
type ObjectParts<'a> = Vec<(String, &'a RawValue)>;

fn part<'a>(parts: &ObjectParts<'a>, name: &str) -> Option<&'a RawValue> {
    let mut parts = parts.iter().rev();
    parts.find(|(known, _)| known == name).map(|(_, raw)| *raw)
}

fn value_of(parts: &ObjectParts<'_>, name: &str) -> Result<Option<Value>, NodesError> {
    let raw = part(parts, name);
    raw.map(from_raw_json).transpose().map_err(no_json)
}

/// The parts of an object; `None` for other values.
fn parts(raw: &RawValue) -> Option<ObjectParts<'_>> {
    match JsonPieces::of(raw.get())? {
        JsonPieces::Object(entries) => Some(entries),
        JsonPieces::Array(_) => None,
    }
}

impl JsonReader<'_> {
    /// Adds an element of a list of nodes, or of sets of facts.
    fn add_listed(&mut self, element: &RawValue, stem: &str, at: usize) -> Result<(), NodesError> {
        check(element)?;
        let all = parts(element).unwrap_or_default();
        if let Some(certname) = value_of(&all, "certname")? {
            check_answer(all.iter().map(|(name, _)| name.as_str()))?;
            let certname = certname.to_s();
            let facts = part(&all, "facts").map(|facts| listed(&certname, facts));
            return self.add(&certname, facts.transpose()?.flatten().as_ref(), &all);
        }
        let mut naming = HashMap::default();
        for name in ["clientcert", "fqdn", "networking"] {
            let value = value_of(&all, name)?;
            naming.extend(value.map(|value| (Value::string(name), value)));
        }
        let name = name_of(&Value::from(naming), &format!("{stem}-{}", at + 1));
        self.add(&name, Some(&all), &ObjectParts::new())
    }

    fn add_entry(&mut self, name: &str, entry: &RawValue) -> Result<(), NodesError> {
        check(entry)?;
        let Some(all) = parts(entry).or_else(|| (entry.get() == "null").then(ObjectParts::new))
        else {
            return Err(not_a_hash(name));
        };
        let facts = part(&all, "facts").map(|facts| facts_of(name, facts));
        self.add(name, facts.transpose()?.flatten().as_ref(), &all)
    }

    /// Adds a node with these facts, and the trusted data, variables and environment in `rest`.
    fn add(
        &mut self,
        certname: &str,
        facts: Option<&ObjectParts<'_>>,
        rest: &ObjectParts<'_>,
    ) -> Result<(), NodesError> {
        let given = match facts {
            Some(facts) => {
                let trusted = value_of(facts, "trusted")?;
                GivenFacts::All(self.saved(certname, facts), trusted)
            }
            None => GivenFacts::None,
        };
        let mut entry = HashMap::default();
        for (name, raw) in rest.iter().filter(|(name, _)| name != "facts") {
            entry.insert(Value::string(name), from_raw_json(raw).map_err(no_json)?);
        }
        let mut node = node_of(certname, given, &entry)?;
        node.trusted = self.share.hash(&node.trusted);
        node.variables = self.share.hash(&node.variables);
        node.environment = node.environment.map(|name| self.name(&name));
        self.nodes.insert(node);
        Ok(())
    }

    /// Facts as positions in the document.
    fn saved(&mut self, certname: &str, facts: &ObjectParts<'_>) -> Facts {
        let start = self.document.as_ptr().addr();
        let entries = facts.iter().map(|(name, raw)| ValuePosition {
            name: self.name(name),
            start: narrow(raw.get().as_ptr().addr() - start),
            length: narrow(raw.get().len()),
        });
        Facts::from(Saved {
            entries: entries.collect(),
            certname: Arc::from(certname),
            common: self.common.clone(),
            document: self.document.clone(),
            by_hand: Vec::new(),
        })
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let name: Arc<str> = Arc::from(name);
        self.names.insert(name.clone());
        name
    }
}

/// Documents are shorter than 4 GiB here.
fn narrow(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// The facts of a node; `None` for null.
fn facts_of<'a>(certname: &str, raw: &'a RawValue) -> Result<Option<ObjectParts<'a>>, NodesError> {
    match parts(raw) {
        None if raw.get() != "null" => Err(NodesError {
            message: format!("'facts' of node '{certname}' is not a hash"),
        }),
        facts => Ok(facts),
    }
}

/// Facts as parts: factsets list them as `{data: [{name, value}]}`, and name only an address if they
/// are not expanded.
fn listed<'a>(certname: &str, raw: &'a RawValue) -> Result<Option<ObjectParts<'a>>, NodesError> {
    let own = parts(raw);
    let data = own.as_ref().and_then(|own| part(own, "data"));
    let is_address = || {
        let href = own.as_ref().and_then(|own| part(own, "href"));
        href.is_some_and(|href| href.get().starts_with('"'))
    };
    if data.is_none() && is_address() {
        return Ok(None);
    }
    let Some(JsonPieces::Array(elements)) = JsonPieces::of(data.unwrap_or(raw).get()) else {
        return facts_of(certname, raw);
    };
    let pairs = elements.into_iter().filter_map(|element| {
        let fact = parts(element)?;
        let name = value_of(&fact, "name").ok()??;
        Some((name.as_str()?.to_owned(), part(&fact, "value")?))
    });
    Ok(Some(pairs.collect()))
}

/// Checks that everything in a piece can be parsed: splitting it misses some errors.
fn check(piece: &RawValue) -> Result<(), NodesError> {
    /// Maximum nesting of brackets before a full parse.
    const MAX_OPEN: usize = 100;
    let text = piece.get();
    let mut open = 0_usize;
    let mut deepest = 0;
    for byte in text.bytes() {
        match byte {
            b'{' | b'[' => open += 1,
            b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    // Only an escape can name half a surrogate pair.
    if deepest > MAX_OPEN || text.contains("\\u") {
        from_raw_json(piece).map_err(no_json)?;
    }
    Ok(())
}
