//! Positions of keys, and of parts of their values, in files.

use crate::syntax::{NodeId, NodeKind, Tree};
use crate::text::{TextRange, line_at};
use crate::value::Value;
use crate::workspace::{File, Format, KeyFact, Snapshot};

/// Positions of keys.
pub struct KeyPositions<'a> {
    snapshot: &'a Snapshot,
}

impl<'a> KeyPositions<'a> {
    /// Positions in the files of a snapshot.
    #[must_use]
    pub fn new(snapshot: &'a Snapshot) -> KeyPositions<'a> {
        KeyPositions { snapshot }
    }

    /// The line (from 1) of a key, or of a part of its value; 1 if the file does not have the key.
    #[must_use]
    pub fn line(&self, file: &File, key: &str, steps: &[Value]) -> u32 {
        let Some(fact) = file.facts().key(key) else {
            return 1;
        };
        if !steps.is_empty()
            && let Some(found) = self.nested(file, fact, steps)
        {
            let start = fact.key.start as usize;
            let behind = file.text().get(start..).zip(found.checked_sub(start));
            return match behind {
                Some((text, behind)) => fact.line + line_at(text, behind) + 1,
                None => file.line(found) + 1,
            };
        }
        fact.line + 1
    }

    /// The ranges of a key or of a part of its value: its name, and the name with the value. For an
    /// element of a list both are the element. `None` if the file does not have it.
    #[must_use]
    pub fn place(&self, file: &File, key: &str, steps: &[Value]) -> Option<(TextRange, TextRange)> {
        let fact = file.facts().key(key)?;
        if steps.is_empty() {
            return Some((fact.key, fact.key.cover(fact.value)));
        }
        let format = file.format().unwrap_or(Format::Yaml);
        let start = fact.key.start as usize;
        let parse = self.snapshot.parse_around(file, format, start);
        dug(&parse.tree, fact.key, steps)
    }

    /// The start of a part of a key's value.
    fn nested(&self, file: &File, fact: &KeyFact, steps: &[Value]) -> Option<usize> {
        let format = file.format().unwrap_or(Format::Yaml);
        let start = fact.key.start as usize;
        let parse = self.snapshot.parse_around(file, format, start);
        Some(nested(&parse.tree, fact.key, steps)?.start as usize)
    }
}

/// The ranges of a part, found by following the steps from a top-level key: its name, and the name
/// with the value.
fn dug(tree: &Tree, key: TextRange, steps: &[Value]) -> Option<(TextRange, TextRange)> {
    let (_, mut at) = tree.entry_at(key)?;
    let mut found = None;
    for step in steps {
        let wanted = step.to_s();
        let (name, value) = match &tree.node(tree.resolve(at)).kind {
            NodeKind::Mapping(pairs) => {
                let is_it = |&&(key, _): &&(NodeId, NodeId)| {
                    let text = tree.scalar_text(key);
                    text.is_some_and(|text| text.strip_prefix(':').unwrap_or(text) == wanted)
                };
                let &(key, value) = pairs.iter().rev().find(is_it)?;
                (key, value)
            }
            NodeKind::Sequence(elements) => {
                let Value::Int(index) = step else {
                    return None;
                };
                let &element = elements.get(usize::try_from(*index).ok()?)?;
                (element, element)
            }
            NodeKind::Scalar(_) | NodeKind::Alias { .. } => return None,
        };
        let name = tree.node(name).full_range();
        found = Some((name, name.cover(tree.node(value).full_range())));
        at = value;
    }
    found
}

/// The range of a part's key, found by following the steps from a top-level key.
fn nested(tree: &Tree, key: TextRange, steps: &[Value]) -> Option<TextRange> {
    let (_, mut at) = tree.entry_at(key)?;
    let mut range = key;
    for step in steps {
        let wanted = step.to_s();
        match &tree.node(tree.resolve(at)).kind {
            NodeKind::Mapping(pairs) => {
                let is_it = |&&(key, _): &&(_, _)| {
                    tree.scalar_text(key).is_some_and(|text| {
                        **text == *wanted || text.strip_prefix(':') == Some(wanted.as_str())
                    })
                };
                let &(key, value) = pairs.iter().rev().find(is_it)?;
                range = tree.node(key).full_range();
                at = value;
            }
            NodeKind::Sequence(elements) => {
                let Value::Int(index) = step else {
                    return Some(range);
                };
                let &element = elements.get(usize::try_from(*index).ok()?)?;
                range = tree.node(element).full_range();
                at = element;
            }
            NodeKind::Scalar(_) | NodeKind::Alias { .. } => return Some(range),
        }
    }
    Some(range)
}
