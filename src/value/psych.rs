//! A YAML text or tree as `YAML.safe_load(text, permitted_classes: [Symbol], aliases: true)`
//! loads it: `psych/visitors/to_ruby.rb` and `puppet/util/yaml.rb`.
//!
//! ```
//! use hiera_ls::value::{Value, load_yaml};
//!
//! let value = load_yaml(b"base: &b {x: 1}\na: {x: 2, <<: *b}\n").unwrap();
//! assert_eq!(value.get("a").and_then(|a| a.get("x")), Some(&Value::from(1)));
//! assert_eq!(
//!     load_yaml(b"a: 2001-01-01\n").unwrap_err().message,
//!     "Tried to load unspecified class: Date"
//! );
//! ```

mod tags;

pub(crate) use self::tags::is_symbol_tag;

use std::collections::HashMap as Table;
use std::sync::Arc;

use super::{HashMap, LoadError, LoadErrorKind, Value};
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::tree::STRING_TAG;
use crate::syntax::{
    MAX_DEPTH, NodeId, NodeKind, Parse, Problem, ProblemKind, Scalar, ScalarStyle, Tree,
    read_document,
};
use crate::text::TextRange;

/// Maximum number of nodes of a value with its aliases expanded: every walk over such a value would
/// take that many steps, in Puppet as here. Real files stay below a hundredth of it.
pub const MAX_EXPANDED_NODES: usize = 1_000_000;

/// Loads the first document of a YAML text. An empty document is `false`.
///
/// # Errors
///
/// The errors of `Puppet::Util::Yaml.safe_load`, in the same words, and our limits on depth and on
/// the expansion of aliases.
pub fn load_yaml(text: &[u8]) -> Result<Value, LoadError> {
    load_tree(&read_document(text).map_err(|problem| syntax_error(&problem))?)
}

/// Loads the first document of a YAML text as the value of a key: `null` does not become `false`.
/// `None` for an empty document.
///
/// # Errors
///
/// As [`load_yaml`].
pub fn load_yaml_value(text: &[u8]) -> Result<Option<Value>, LoadError> {
    let tree = read_document(text).map_err(|problem| syntax_error(&problem))?;
    tree.root().map(|root| load_node(&tree, root)).transpose()
}

/// Loads a text that was parsed for the editor, with the same result as [`load_yaml`].
///
/// # Errors
///
/// As [`load_yaml`].
pub fn load_parse(parse: &Parse) -> Result<Value, LoadError> {
    match parse.error() {
        Some(problem) => Err(syntax_error(problem)),
        None => load_tree(parse.psych.as_deref().unwrap_or(&parse.tree)),
    }
}

/// Loads a whole tree. A tree without a value is `false`.
///
/// # Errors
///
/// Classes that Puppet refuses, unknown aliases, numbers that Ruby cannot convert, our limits.
pub fn load_tree(tree: &Tree) -> Result<Value, LoadError> {
    let Some(root) = tree.root() else {
        return Ok(Value::Bool(false));
    };
    let value = Loader::new(tree).load(root)?.value;
    Ok(if value.is_undef() {
        Value::Bool(false)
    } else {
        value
    })
}

/// Loads one node and everything below it. Its aliases see the anchors of the whole tree.
///
/// # Errors
///
/// As [`load_tree`], for parts of the node and nodes that it refers to.
pub fn load_node(tree: &Tree, node: NodeId) -> Result<Value, LoadError> {
    Ok(Loader::new(tree).load(node)?.value)
}

/// Loads every top-level entry that can be loaded, including merge keys, and leaves the others out.
/// A tree that is no mapping is loaded as a whole, or is `false`.
#[must_use]
pub fn load_recovered(tree: &Tree) -> Value {
    let Some(pairs) = tree.root().and_then(|root| tree.node(root).as_mapping()) else {
        return load_tree(tree).unwrap_or(Value::Bool(false));
    };
    let mut loader = Loader::new(tree);
    let mut size = Size::LEAF;
    let mut hash = super::hash_with_capacity(pairs.len());
    for &(key, value) in pairs {
        // An entry that fails to load does not affect the others.
        let _ = loader.entry(&mut hash, key, value, &mut size);
    }
    Value::Hash(Arc::new(hash))
}

/// `HieraConfig.symkeys_to_string` of puppet/pops/lookup/hiera_config.rb: symbols as keys become
/// strings, in hashes and arrays at any depth. Unchanged parts stay shared.
#[must_use]
pub fn symbol_keys_to_strings(value: Value) -> Value {
    without_symbol_keys(&value, &mut Table::new()).unwrap_or(value)
}

/// The converted value; `None` if it needs no change. Shared collections are visited once.
fn without_symbol_keys(value: &Value, seen: &mut ConvertedParts) -> Option<Value> {
    if let Some(elements) = value.as_array() {
        return once(seen, elements.as_ptr().cast(), |seen| {
            let converted: Vec<_> = elements
                .iter()
                .map(|element| without_symbol_keys(element, seen))
                .collect();
            converted.iter().any(Option::is_some).then(|| {
                let pairs = elements.iter().zip(converted);
                Value::array(pairs.map(|(old, new)| new.unwrap_or_else(|| old.clone())))
            })
        });
    }
    let hash = value.as_hash()?;
    once(seen, std::ptr::from_ref(hash).cast(), |seen| {
        let converted: Vec<_> = hash
            .values()
            .map(|value| without_symbol_keys(value, seen))
            .collect();
        let has_symbols = hash.keys().any(|key| matches!(key, Value::Symbol(_)));
        (has_symbols || converted.iter().any(Option::is_some)).then(|| {
            let mut strings = super::hash_with_capacity(hash.len());
            for ((key, old), new) in hash.iter().zip(converted) {
                let key = if let Value::Symbol(name) = key {
                    Value::String(name.clone())
                } else {
                    key.clone()
                };
                strings.insert(key, new.unwrap_or_else(|| old.clone()));
            }
            Value::Hash(Arc::new(strings))
        })
    })
}

/// Converted collections by the address of their content.
type ConvertedParts = Table<*const (), Option<Value>>;

fn once(
    seen: &mut ConvertedParts,
    address: *const (),
    convert: impl FnOnce(&mut ConvertedParts) -> Option<Value>,
) -> Option<Value> {
    if let Some(converted) = seen.get(&address) {
        return converted.clone();
    }
    let converted = convert(seen);
    seen.insert(address, converted.clone());
    converted
}

/// A value and its size with all aliases expanded.
#[derive(Clone, Debug)]
struct LoadedNode {
    value: Value,
    size: Size,
}

/// The number of nodes of a value, and its depth.
#[derive(Clone, Copy, Debug)]
struct Size {
    nodes: usize,
    depth: usize,
}

impl Size {
    const LEAF: Size = Size { nodes: 1, depth: 0 };

    fn add(&mut self, part: Size) {
        self.nodes = self.nodes.saturating_add(part.nodes);
        self.depth = self.depth.max(part.depth);
    }

    /// A collection of parts with this size.
    fn of_parts(self, value: Value) -> LoadedNode {
        let depth = self.depth + 1;
        let size = Size { depth, ..self };
        LoadedNode { value, size }
    }
}

struct Loader<'t> {
    tree: &'t Tree,
    /// Nodes with an anchor: their values, or `None` while they are being loaded.
    anchored: Table<NodeId, Option<Result<LoadedNode, LoadError>>>,
    /// The depth of the recursion, including aliases.
    depth: usize,
}

impl<'t> Loader<'t> {
    fn new(tree: &'t Tree) -> Loader<'t> {
        Loader {
            tree,
            anchored: Table::new(),
            depth: 0,
        }
    }

    fn load(&mut self, id: NodeId) -> Result<LoadedNode, LoadError> {
        let node = self.tree.node(id);
        if node.anchor.is_none() {
            return self.load_new(id);
        }
        match self.anchored.get(&id) {
            Some(Some(loaded)) => return loaded.clone(),
            Some(None) => {
                let message = format!(
                    "stack level too deep: anchor '{}' contains itself",
                    node.anchor.as_ref().map_or("", |anchor| &anchor.text)
                );
                return Err(tags::other(message, node.range));
            }
            None => {}
        }
        self.anchored.insert(id, None);
        let loaded = self.load_new(id);
        self.anchored.insert(id, Some(loaded.clone()));
        loaded
    }

    fn load_new(&mut self, id: NodeId) -> Result<LoadedNode, LoadError> {
        let node = self.tree.node(id);
        if self.depth > MAX_DEPTH {
            return Err(too_deep(node.range));
        }
        self.depth += 1;
        let tag = node.tag.as_ref().map(|tag| &*tag.text);
        let loaded = match &node.kind {
            NodeKind::Scalar(text) => scalar(text, tag, node.range).map(|value| LoadedNode {
                value,
                size: Size::LEAF,
            }),
            NodeKind::Alias { name, target } => match target {
                Some(target) => self.load(*target).map_err(|mut error| {
                    if error.kind == LoadErrorKind::YamlOther {
                        error.range = Some(node.range);
                    }
                    error
                }),
                None => Err(unknown_alias(name, node.range)),
            },
            NodeKind::Sequence(elements) => self.sequence(elements, tag, node.range),
            NodeKind::Mapping(pairs) => self.mapping(pairs, tag, node.range),
        };
        self.depth -= 1;
        let loaded = loaded?;
        if loaded.size.depth > MAX_DEPTH {
            return Err(too_deep(node.range));
        }
        // The text itself may have any number of nodes.
        if loaded.size.nodes > MAX_EXPANDED_NODES.max(self.tree.len()) {
            let message =
                format!("aliases expand to more than the limit of {MAX_EXPANDED_NODES} nodes");
            return Err(tags::other(message, node.range));
        }
        Ok(loaded)
    }

    fn sequence(
        &mut self,
        elements: &[NodeId],
        tag: Option<&str>,
        range: TextRange,
    ) -> Result<LoadedNode, LoadError> {
        match tag.map_or(Ok(tags::TaggedSequence::Array), |tag| {
            tags::sequence(tag, range)
        })? {
            tags::TaggedSequence::Array => {}
            tags::TaggedSequence::OrderedMap => return self.ordered_map(elements),
        }
        let mut size = Size::LEAF;
        let mut values = Vec::with_capacity(elements.len());
        for &element in elements {
            let loaded = self.load(element)?;
            size.add(loaded.size);
            values.push(loaded.value);
        }
        Ok(size.of_parts(Value::from(values)))
    }

    /// `!!omap [{a: 1}, {b: 2}]`: the first child of each element is a key, its last the value.
    fn ordered_map(&mut self, elements: &[NodeId]) -> Result<LoadedNode, LoadError> {
        let mut size = Size::LEAF;
        let mut hash = super::hash_with_capacity(elements.len());
        for &element in elements {
            let node = self.tree.node(element);
            let ends = match &node.kind {
                NodeKind::Mapping(pairs) => pairs
                    .first()
                    .zip(pairs.last())
                    .map(|(first, last)| (first.0, last.1)),
                NodeKind::Sequence(items) => items.first().copied().zip(items.last().copied()),
                NodeKind::Scalar(_) | NodeKind::Alias { .. } => None,
            };
            let Some((key, value)) = ends else {
                return Err(tags::other(
                    "undefined method `first' for nil:NilClass".to_owned(),
                    node.range,
                ));
            };
            let (key, value) = (self.load(key)?, self.load(value)?);
            size.add(key.size);
            size.add(value.size);
            hash.insert(key.value, value.value);
        }
        Ok(size.of_parts(Value::from(hash)))
    }

    fn mapping(
        &mut self,
        pairs: &[(NodeId, NodeId)],
        tag: Option<&str>,
        range: TextRange,
    ) -> Result<LoadedNode, LoadError> {
        let kind = tag.map_or(Ok(tags::TaggedMapping::Hash), |tag| {
            tags::mapping(tag, range)
        })?;
        let mut size = Size::LEAF;
        let mut hash = super::hash_with_capacity(pairs.len());
        for &(key, value) in pairs {
            self.entry(&mut hash, key, value, &mut size)?;
        }
        let value = match kind {
            tags::TaggedMapping::Hash => Value::from(hash),
            tags::TaggedMapping::Text => tags::text_of_mapping(&hash, range)?,
            tags::TaggedMapping::Elements => match hash.swap_remove(&Value::from("elements")) {
                Some(elements @ Value::Hash(_)) => elements,
                _ => Value::from(HashMap::default()),
            },
            tags::TaggedMapping::Refused(class) => return Err(tags::disallowed(&class, range)),
        };
        Ok(size.of_parts(value))
    }

    /// One iteration of `revive_hash`: sets a key, or merges. Adds the size of what it read.
    fn entry(
        &mut self,
        hash: &mut HashMap,
        key: NodeId,
        value: NodeId,
        size: &mut Size,
    ) -> Result<(), LoadError> {
        let (key_node, value_node) = (self.tree.node(key), self.tree.node(value));
        let (key, value) = (self.load(key)?, self.load(value)?);
        size.add(key.size);
        size.add(value.size);
        let is_text = key_node
            .tag
            .as_ref()
            .is_some_and(|tag| &*tag.text == STRING_TAG);
        let is_json = matches!(
            key_node.as_scalar().map(|scalar| scalar.style),
            Some(ScalarStyle::JsonString)
        );
        let merges = key.value.as_str() == Some("<<") && !is_text && !is_json;
        if merges && merge(hash, &value_node.kind, &value.value) {
            return Ok(());
        }
        let key = match &key.value {
            // In Ruby, ASCII bytes equal the same string as text.
            Value::Bytes(bytes) if bytes.is_ascii() => {
                Value::string(String::from_utf8_lossy(bytes))
            }
            _ => key.value,
        };
        hash.insert(key, value.value);
        Ok(())
    }
}

/// Merges the value of a `<<` key, overwriting existing entries. Returns false if it cannot be
/// merged and is an ordinary value: a scalar, or anything with a part that is not a hash.
fn merge(hash: &mut HashMap, kind: &NodeKind, value: &Value) -> bool {
    match (kind, value) {
        (NodeKind::Alias { .. } | NodeKind::Mapping(_), Value::Hash(merged)) => {
            insert_all(hash, merged);
            true
        }
        (NodeKind::Sequence(_), Value::Array(elements)) => {
            let mut merged = HashMap::default();
            for element in elements.iter().rev() {
                let Value::Hash(element) = element else {
                    return false;
                };
                insert_all(&mut merged, element);
            }
            insert_all(hash, &merged);
            true
        }
        (
            NodeKind::Alias { .. }
            | NodeKind::Mapping(_)
            | NodeKind::Sequence(_)
            | NodeKind::Scalar(_),
            _,
        ) => false,
    }
}

fn insert_all(into: &mut HashMap, from: &HashMap) {
    into.extend(from.iter().map(|(key, value)| (key.clone(), value.clone())));
}

/// The value of a scalar: `deserialize` of to_ruby.rb.
fn scalar(scalar: &Scalar, tag: Option<&str>, range: TextRange) -> Result<Value, LoadError> {
    match (scalar.style, tag) {
        (ScalarStyle::JsonString, _) => Ok(Value::String(scalar.text.clone())),
        (ScalarStyle::JsonLiteral, _) => Ok(super::json::literal(&scalar.text)),
        (_, Some(tag)) => tags::scalar(tag, &scalar.text, range),
        (ScalarStyle::Plain, None) => plain(&scalar.text, range),
        (
            ScalarStyle::SingleQuoted
            | ScalarStyle::DoubleQuoted
            | ScalarStyle::Literal
            | ScalarStyle::Folded,
            None,
        ) => Ok(Value::String(scalar.text.clone())),
    }
}

/// The value of an untagged plain scalar, or of one with a tag without effect.
fn plain(text: &Arc<str>, range: TextRange) -> Result<Value, LoadError> {
    Ok(match resolve_plain(text) {
        Resolved::Null => Value::Undef,
        Resolved::Bool(truth) => Value::Bool(truth),
        Resolved::Int(number) => Value::Int(number),
        Resolved::BigInt(number) => Value::from(number),
        Resolved::Float(number) => Value::Float(number),
        Resolved::Symbol(name) => Value::Symbol(Arc::from(name)),
        Resolved::Date => return Err(tags::disallowed("Date", range)),
        Resolved::Time => return Err(tags::disallowed("Time", range)),
        Resolved::String => Value::String(text.clone()),
        Resolved::Invalid { conversion, text } => {
            return Err(tags::invalid_number(conversion, &text, range));
        }
    })
}

fn unknown_alias(name: &str, range: TextRange) -> LoadError {
    let message = format!("Unknown alias: {name}");
    LoadError::new(LoadErrorKind::YamlUnknownAlias, message, Some(range))
}

fn too_deep(range: TextRange) -> LoadError {
    let message = format!("aliases nest collections deeper than the limit of {MAX_DEPTH}");
    tags::other(message, range)
}

fn syntax_error(problem: &Problem) -> LoadError {
    let kind = match problem.kind {
        ProblemKind::Syntax => LoadErrorKind::YamlSyntax,
        ProblemKind::Limit | ProblemKind::Ignored | ProblemKind::LaterError => {
            LoadErrorKind::YamlOther
        }
    };
    LoadError::new(kind, problem.message.as_str(), Some(problem.range))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbol_keys_become_strings_and_other_values_stay_shared() {
        let value = load_yaml(b"a: &a\n  :k: 1\nb: *a\nc: [x]\n").expect("it loads");
        let strings = symbol_keys_to_strings(value.clone());
        assert_eq!(
            strings.get("b"),
            Some(&Value::hash([("k", Value::from(1))]))
        );
        assert!(matches!(
            (strings.get("c"), value.get("c")),
            (Some(Value::Array(new)), Some(Value::Array(old))) if Arc::ptr_eq(new, old)
        ));
    }
}
