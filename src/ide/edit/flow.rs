//! Lists and hashes in flow style, on one line: `[a, b]`, `{k: v}`. Unchanged parts keep their text.

use super::render::Style;
use crate::syntax::{NodeId, NodeKind, Tree};
use crate::value::{Value, load_node, load_yaml_value};

/// Maximum length of a rewritten line that was shorter before.
const WIDEST: usize = 100;

/// The new text of a list or hash on one line; `None` if it is not on one line or the value does
/// not fit there.
pub(super) fn rewritten(
    tree: &Tree,
    text: &str,
    style: Style,
    (old, value): (NodeId, &Value),
) -> Option<String> {
    let own = tree.node(old).range.slice(text);
    let is_list_or_hash = matches!(value, Value::Array(_) | Value::Hash(_));
    if !is_list_or_hash || !own.starts_with(['[', '{']) || own.contains('\n') {
        return None;
    }
    let new = Flow { tree, text, style }.text(Some(old), value)?;
    let is_short = new.len() <= WIDEST.max(own.len());
    (is_short && means(&new, value)).then_some(new)
}

/// A scalar in flow style.
pub(super) fn scalar(style: Style, value: &Value) -> Option<String> {
    let plain = style.scalar(value)?;
    let is_quoted = plain.starts_with(['\'', '"']);
    Some(
        match is_quoted || !plain.contains([',', '[', ']', '{', '}']) {
            true => plain,
            false => format!("'{}'", plain.replace('\'', "''")),
        },
    )
}

fn means(text: &str, value: &Value) -> bool {
    load_yaml_value(text.as_bytes()).is_ok_and(|read| read.as_ref() == Some(value))
}

struct Flow<'f> {
    tree: &'f Tree,
    text: &'f str,
    style: Style,
}

impl Flow<'_> {
    fn text(&self, old: Option<NodeId>, value: &Value) -> Option<String> {
        if let Some(old) = old
            && self.is(old, value)
        {
            return Some(self.tree.node(old).full_range().slice(self.text).to_owned());
        }
        let kind = old.map(|old| &self.tree.node(old).kind);
        if let Some(elements) = value.as_array() {
            let known: &[NodeId] = match kind {
                Some(NodeKind::Sequence(known)) => known,
                Some(NodeKind::Mapping(_) | NodeKind::Scalar(_) | NodeKind::Alias { .. })
                | None => &[],
            };
            let parts = elements.iter().map(|element| {
                let same = known.iter().find(|known| self.is(**known, element));
                self.text(same.copied(), element)
            });
            return Some(format!(
                "[{}]",
                parts.collect::<Option<Vec<_>>>()?.join(", ")
            ));
        }
        let Some(hash) = value.as_hash() else {
            return scalar(self.style, value);
        };
        let known: &[(NodeId, NodeId)] = match kind {
            Some(NodeKind::Mapping(known)) => known,
            Some(NodeKind::Sequence(_) | NodeKind::Scalar(_) | NodeKind::Alias { .. }) | None => {
                &[]
            }
        };
        let parts = hash.iter().map(|(key, value)| {
            let own = known.iter().rev().find(|(known, _)| self.is(*known, key));
            let key = self.text(own.map(|own| own.0), key)?;
            let value = self.text(own.map(|own| own.1), value)?;
            Some(format!("{key}: {value}"))
        });
        Some(format!(
            "{{{}}}",
            parts.collect::<Option<Vec<_>>>()?.join(", ")
        ))
    }

    fn is(&self, node: NodeId, value: &Value) -> bool {
        load_node(self.tree, node).is_ok_and(|own| own == *value)
    }
}
