//! Lists and hashes in flow style, on one line: `[a, b]`, `{k: v}`. Unchanged parts keep their text.

use super::style::Style;
use crate::syntax::{NodeId, Tree, TreeNode};
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
    let new = FlowWriter { tree, text, style }.text(Some(old), value)?;
    let is_short = new.len() <= WIDEST.max(own.len());
    let means_it = |read: Option<Value>| read.as_ref() == Some(value);
    (is_short && load_yaml_value(new.as_bytes()).is_ok_and(means_it)).then_some(new)
}

/// A scalar in flow style.
pub(super) fn scalar(style: Style, value: &Value) -> Option<String> {
    let plain = style.scalar(value)?;
    let is_quoted = plain.starts_with(['\'', '"']);
    if is_quoted || !plain.contains([',', '[', ']', '{', '}']) {
        Some(plain)
    } else {
        Some(format!("'{}'", plain.replace('\'', "''")))
    }
}

/// Writes values in flow style, with the text of unchanged parts.
struct FlowWriter<'f> {
    tree: &'f Tree,
    text: &'f str,
    style: Style,
}

impl FlowWriter<'_> {
    fn text(&self, old: Option<NodeId>, value: &Value) -> Option<String> {
        if let Some(old) = old
            && self.is(old, value)
        {
            return Some(self.tree.node(old).full_range().slice(self.text).to_owned());
        }
        let node = old.map(|old| self.tree.node(old));
        if let Some(elements) = value.as_array() {
            let known = node.and_then(TreeNode::as_sequence).unwrap_or_default();
            let parts = elements.iter().map(|element| {
                let same = known.iter().find(|known| self.is(**known, element));
                self.text(same.copied(), element)
            });
            let parts: Option<Vec<String>> = parts.collect();
            return Some(format!("[{}]", parts?.join(", ")));
        }
        let Some(hash) = value.as_hash() else {
            return scalar(self.style, value);
        };
        let known = node.and_then(TreeNode::as_mapping).unwrap_or_default();
        let parts = hash.iter().map(|(key, value)| {
            let own = known.iter().rev().find(|(known, _)| self.is(*known, key));
            let key = self.text(own.map(|own| own.0), key)?;
            let value = self.text(own.map(|own| own.1), value)?;
            Some(format!("{key}: {value}"))
        });
        let parts: Option<Vec<String>> = parts.collect();
        Some(format!("{{{}}}", parts?.join(", ")))
    }

    fn is(&self, node: NodeId, value: &Value) -> bool {
        load_node(self.tree, node).is_ok_and(|own| own == *value)
    }
}
