//! One variable over all known nodes, as small numbers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::{Scope, Undefined, Variable};
use crate::interpolation::{Key, Segment};
use crate::value::{InOrder, KeyHashing, Value};

/// One variable over all nodes.
#[derive(Debug, Default)]
pub struct Column {
    /// For each node the index of its value.
    pub ids: Vec<u32>,
    /// The distinct values; `None` if the variable does not exist, or is unknown.
    pub values: Vec<Option<Value>>,
    /// For each value the number of nodes.
    pub counts: Vec<usize>,
    /// The index of the unknown value, if some nodes have it.
    pub unknown: Option<u32>,
    /// The nodes by the variable's text in a path.
    pub(crate) by_text: OnceLock<HashMap<String, Vec<u32>, KeyHashing>>,
}

impl Column {
    /// The value of a node's variable.
    pub fn value(&self, member: usize) -> Option<&Value> {
        let id = *self.ids.get(member)?;
        self.values.get(id as usize)?.as_ref()
    }

    /// Whether the variable certainly does not exist for a node.
    #[must_use]
    pub fn is_undefined(&self, member: usize) -> bool {
        let id = self.ids.get(member);
        id.is_some_and(|id| self.values[*id as usize].is_none() && self.unknown != Some(*id))
    }

    /// Whether the variable certainly does not exist for some node.
    #[must_use]
    pub fn is_undefined_for_some(&self) -> bool {
        let mut values = (0..).zip(&self.values);
        values.any(|(id, value)| value.is_none() && self.unknown != Some(id))
    }

    /// The variable's text in a path.
    pub fn text(&self, member: usize) -> Cow<'_, str> {
        in_path(self.value(member))
    }

    /// The nodes for which the variable has a text in a path, in their order. O(nodes) the first
    /// time.
    pub fn members_with(&self, text: &str) -> &[u32] {
        let by_text = self.by_text.get_or_init(|| {
            let texts: Vec<Cow<'_, str>> = self.texts().collect();
            let mut by_text: HashMap<String, Vec<u32>, KeyHashing> = HashMap::default();
            for (member, id) in (0..).zip(&self.ids) {
                match by_text.get_mut(&*texts[*id as usize]) {
                    Some(members) => members.push(member),
                    None => {
                        by_text.insert(texts[*id as usize].to_string(), vec![member]);
                    }
                }
            }
            by_text
        });
        by_text.get(text).map(Vec::as_slice).unwrap_or_default()
    }

    /// The text of each value in a path, in the order of the values.
    pub fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.values.iter().map(|value| in_path(value.as_ref()))
    }
}

fn in_path(value: Option<&Value>) -> Cow<'_, str> {
    match value {
        None => Cow::Borrowed(""),
        Some(value) => match value.as_str() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(value.to_s()),
        },
    }
}

/// A column to which the outcomes of the nodes are added one after the other.
#[derive(Default)]
pub(super) struct ColumnInWork {
    pub(super) column: Column,
    numbers: HashMap<VariableOutcome, u32, KeyHashing>,
}

impl ColumnInWork {
    pub(super) fn push(&mut self, outcome: VariableOutcome) {
        let ColumnInWork { column, numbers } = self;
        let next = column.values.len() as u32;
        let id = match numbers.get(&outcome) {
            Some(id) => *id,
            None => {
                column.values.push(outcome.value());
                column.counts.push(0);
                if outcome == VariableOutcome::Unknown {
                    column.unknown = Some(next);
                }
                numbers.insert(outcome, next);
                next
            }
        };
        column.ids.push(id);
        column.counts[id as usize] += 1;
    }
}

pub(super) struct Path {
    root: Option<(Arc<str>, Vec<Segment>)>,
}

/// Everything a lookup can learn of a variable: equal outcomes lead to equal answers.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum VariableOutcome {
    /// The value at the end of the path.
    Known(InOrder),
    Undefined,
    /// It may exist; answers mark it as unknown.
    Unknown,
    /// The path ends early, at a value that may be no collection: Puppet's message depends on that
    /// value.
    Stopped(usize, InOrder),
    /// The path is invalid: no two nodes share an outcome.
    Own(usize),
}

impl VariableOutcome {
    fn value(&self) -> Option<Value> {
        let VariableOutcome::Known(InOrder(value)) = self else {
            return None;
        };
        Some(value.clone())
    }
}

impl Path {
    pub(super) fn parse(text: &str) -> Path {
        let key = Key::parse(text).ok();
        let root = key.and_then(|key| Some((Arc::from(key.root.as_name()?), key.segments)));
        Path { root }
    }

    pub(super) fn outcome(&self, scope: &Scope, member: usize) -> VariableOutcome {
        let Some((root, segments)) = &self.root else {
            return VariableOutcome::Own(member);
        };
        let mut value = match scope.dotted(root, segments) {
            Variable::Known(value) => value,
            Variable::Undefined(Undefined { .. }) => return VariableOutcome::Undefined,
            Variable::Unknown => return VariableOutcome::Unknown,
        };
        for (depth, segment) in segments.iter().enumerate() {
            value = match segment.part_of(&value) {
                Some(next) => next.clone(),
                None if value.as_hash().is_some() => {
                    return VariableOutcome::Stopped(depth, InOrder(Value::Undef));
                }
                None => return VariableOutcome::Stopped(depth + 1, InOrder(value)),
            };
        }
        VariableOutcome::Known(InOrder(value))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::scope::{KnownNodes, read_nodes};
    use crate::value::from_json;

    #[test]
    fn values_with_another_order_are_others() {
        let json = r#"{"a": {"facts": {"h": {"x": 1, "y": [{"p": 1, "q": 2}]}}},
            "b": {"facts": {"h": {"y": [{"p": 1, "q": 2}], "x": 1}}},
            "c": {"facts": {"h": {"x": 1, "y": [{"q": 2, "p": 1}]}}},
            "d": {"facts": {"h": {"x": 1, "y": [{"p": 1, "q": 2}]}}}}"#;
        let json = from_json(json).unwrap();
        let nodes = KnownNodes::new(&read_nodes(&json, "nodes", &Default::default()).unwrap());
        let columns = nodes.columns([Arc::from("facts.h")].iter());
        assert_eq!(columns[0].ids, [0, 1, 2, 0], "{:?}", columns[0]);
    }
}
