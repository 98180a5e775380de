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
            && let Some((name, _)) = self.dug(file, fact, steps).and_then(|dug| dug.deepest)
        {
            let found = name.start as usize;
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
        let dug = self.dug(file, fact, steps)?;
        dug.deepest.filter(|_| dug.is_complete)
    }

    /// The range of the deepest part that steps lead to, see [`dug`].
    fn dug(&self, file: &File, fact: &KeyFact, steps: &[Value]) -> Option<DugNode> {
        let lacks = |name: &Value| file.certainly_lacks(fact, name);
        if steps.first().is_some_and(lacks) {
            return None;
        }
        let format = file.format().unwrap_or(Format::Yaml);
        let parse = self.snapshot.parse_entry(file, format, fact);
        dug(&parse.tree, fact.key, steps)
    }
}

/// The part of a value that steps lead to.
struct DugNode {
    /// The ranges of its name, and of the name with the value; `None` before the first step.
    deepest: Option<(TextRange, TextRange)>,
    /// Whether all steps lead there.
    is_complete: bool,
}

/// Follows steps from a top-level key up to a value that is no collection; `None` if a collection
/// lacks a part.
fn dug(tree: &Tree, key: TextRange, steps: &[Value]) -> Option<DugNode> {
    let (_, mut at) = tree.entry_at(key)?;
    let mut deepest = None;
    for step in steps {
        let wanted = step.to_s();
        let (name, value) = match (&tree.node(tree.resolve(at)).kind, step) {
            (NodeKind::Mapping(pairs), _) => {
                let is_it = |&&(key, _): &&(NodeId, NodeId)| {
                    tree.scalar_text(key).is_some_and(|text| {
                        **text == *wanted || text.strip_prefix(':') == Some(wanted.as_str())
                    })
                };
                *pairs.iter().rev().find(is_it)?
            }
            (NodeKind::Sequence(elements), Value::Int(index)) => {
                let &element = elements.get(usize::try_from(*index).ok()?)?;
                (element, element)
            }
            _ => {
                return Some(DugNode {
                    deepest,
                    is_complete: false,
                });
            }
        };
        let name = tree.node(name).full_range();
        deepest = Some((name, name.cover(tree.node(value).full_range())));
        at = value;
    }
    Some(DugNode {
        deepest,
        is_complete: true,
    })
}
