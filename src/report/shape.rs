//! Replaces the values of data by what kind of value they are. Keys, tokens and `lookup_options` stay: they decide
//! which levels answer.

use std::collections::HashMap;
use std::sync::Arc;

use super::mask::{edited, keys_of, scalar_of};
use crate::interpolation::tokens;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{NodeKind, Scalar, ScalarStyle, Tree};
use crate::text::TextEdit;
use crate::workspace::LOOKUP_OPTIONS;

/// The values that were replaced, each with its number: equal ones stay equal.
#[derive(Debug, Default)]
pub(super) struct ValueShapes(HashMap<(Arc<str>, &'static str), usize>);

impl ValueShapes {
    /// A data file without values. O(bytes).
    pub(super) fn shaped(&mut self, text: &str, tree: &Tree) -> String {
        let keys = keys_of(tree);
        let options = tree.entries().filter(|(key, _)| {
            let name = tree.scalar_text(*key);
            name.is_some_and(|name| **name == *LOOKUP_OPTIONS)
        });
        let kept: Vec<_> = options.map(|(_, value)| tree.node(value).range).collect();
        let mut edits = Vec::new();
        for (id, node) in tree.nodes() {
            let NodeKind::Scalar(scalar) = &node.kind else {
                continue;
            };
            let is_kept = kept
                .iter()
                .any(|range| range.start <= node.range.start && node.range.end <= range.end);
            let is_encrypted = scalar.text.contains("ENC[");
            if keys.contains(&id) || is_kept || is_encrypted || scalar.text.is_empty() {
                continue;
            }
            let Some(new) = self.shape(scalar) else {
                continue;
            };
            edits.push(TextEdit {
                range: node.range,
                new_text: scalar_of(scalar, node.range.slice(text), &new),
            });
        }
        let without_comments = tree.comments().iter().map(|range| TextEdit {
            range: *range,
            new_text: "#".to_owned(),
        });
        edits.extend(without_comments);
        edited(text, edits)
    }

    /// The text that stands for a scalar; `None` if it is no value, or says nothing but where to look.
    fn shape(&mut self, scalar: &Scalar) -> Option<String> {
        let kind = kind(scalar)?;
        let found = tokens(&scalar.text);
        let whole = scalar.text.as_ref();
        if let [only] = found.as_slice()
            && only.range.as_usize() == (0..whole.len())
        {
            return None;
        }
        // A quote would end the text that is written.
        let inside = found.iter().map(|token| token.range.slice(whole));
        let inside: Vec<&str> = inside
            .filter(|token| !token.contains(['\'', '"']))
            .collect();
        let next = self.0.len() + 1;
        let number = *self.0.entry((scalar.text.clone(), kind)).or_insert(next);
        let inside = inside.concat();
        Some(format!("({kind} {number}){inside}"))
    }
}

/// The kind of a value; `None` for one that says nothing.
fn kind(scalar: &Scalar) -> Option<&'static str> {
    let is_plain = matches!(scalar.style, ScalarStyle::Plain | ScalarStyle::JsonLiteral);
    if !is_plain {
        return Some("a text");
    }
    match resolve_plain(&scalar.text) {
        Resolved::Null => None,
        Resolved::Bool(_) => Some("true or false"),
        Resolved::Int(_) | Resolved::BigInt(_) | Resolved::Float(_) => Some("a number"),
        Resolved::Symbol(_)
        | Resolved::Date
        | Resolved::Time
        | Resolved::String
        | Resolved::Invalid { .. } => Some("a text"),
    }
}
