//! Converts a HOCON file to the tree that editor features use.

use std::sync::Arc;

use super::super::tree::{NodeId, NodeKind, Scalar, ScalarStyle, Tree};
use super::super::{Parse, Problem, ProblemKind};
use super::document::{HoconElement, HoconField, HoconItem, HoconNode, HoconValue};
use super::parse::parse_hocon_document;
use super::token::{HoconToken, HoconTokenKind, NumberValue, tokenize};
use crate::text::TextRange;

/// Parses a HOCON text for the editor.
///
/// A dotted key `a.b` is a mapping in a mapping. Joined values are one scalar, or one collection
/// with all their entries; a scalar with `${…}` in it has its source as text. A text with an error
/// has no tree. `value::load_hocon` returns the merged values.
#[must_use]
pub fn parse_hocon(text: &str) -> Parse {
    let mut parse = Parse::default();
    let tokens = tokenize(text);
    let is_comment = |token: &&HoconToken| matches!(token.kind, HoconTokenKind::Comment(_));
    parse.tree.comments = tokens
        .iter()
        .filter(is_comment)
        .map(|token| token.range)
        .collect();
    match parse_hocon_document(text) {
        Ok(document) => {
            _ = Grower {
                text,
                tree: &mut parse.tree,
            }
            .node(&document.root, None)
        }
        Err(problem) => parse.problems.push(Problem {
            range: problem.range,
            message: problem.message,
            kind: ProblemKind::Syntax,
        }),
    }
    parse
}

struct Grower<'a> {
    text: &'a str,
    tree: &'a mut Tree,
}

impl Grower<'_> {
    fn node(&mut self, node: &HoconNode, parent: Option<NodeId>) -> NodeId {
        let pieces = match &node.value {
            HoconValue::Concatenation(pieces) => pieces.as_slice(),
            HoconValue::Simple(_) | HoconValue::Object(_) | HoconValue::Array(_) => {
                std::slice::from_ref(node)
            }
        };
        let is_object = pieces
            .iter()
            .any(|piece| matches!(piece.value, HoconValue::Object(_)));
        let is_array = pieces
            .iter()
            .any(|piece| matches!(piece.value, HoconValue::Array(_)));
        if !is_object && !is_array {
            let scalar = self.scalar(pieces, node.range);
            return self.tree.add(node.range, NodeKind::Scalar(scalar), parent);
        }
        let id = self
            .tree
            .add(node.range, NodeKind::Sequence(Box::default()), parent);
        let (mut pairs, mut elements) = (Vec::new(), Vec::new());
        for piece in pieces {
            match &piece.value {
                HoconValue::Object(items) if is_object => {
                    for item in items {
                        if let HoconItem::Field(field) = item {
                            pairs.push(self.field(field, id));
                        }
                    }
                }
                HoconValue::Array(parts) if !is_object => {
                    for part in parts {
                        if let HoconElement::Value(value) = part {
                            elements.push(self.node(value, Some(id)));
                        }
                    }
                }
                _ => {}
            }
        }
        self.tree.nodes[id.index()].kind = if is_object {
            NodeKind::Mapping(pairs.into())
        } else {
            NodeKind::Sequence(elements.into())
        };
        id
    }

    fn field(&mut self, field: &HoconField, mapping: NodeId) -> (NodeId, NodeId) {
        let last = field.path.elements.len() - 1;
        let mut parent = mapping;
        let mut outermost = None;
        // The mapping whose only entry is still to be set.
        let mut open: Option<NodeId> = None;
        for (index, element) in field.path.elements.iter().enumerate() {
            let kind = NodeKind::Scalar(Scalar {
                style: ScalarStyle::JsonString,
                text: Arc::from(element.as_str()),
            });
            let key = self.tree.add(field.path.ranges[index], kind, Some(parent));
            let value = if index == last {
                self.node(&field.value, Some(parent))
            } else {
                let range = field.path.ranges[index + 1].cover(field.value.range);
                self.tree
                    .add(range, NodeKind::Mapping(Box::default()), Some(parent))
            };
            if let Some(outer) = open {
                self.tree.nodes[outer.index()].kind = NodeKind::Mapping(Box::new([(key, value)]));
            }
            outermost.get_or_insert((key, value));
            open = Some(value);
            parent = value;
        }
        outermost.unwrap_or((mapping, mapping))
    }

    fn scalar(&self, pieces: &[HoconNode], range: TextRange) -> Scalar {
        let tokens: Vec<&HoconToken> = pieces
            .iter()
            .filter_map(|piece| match &piece.value {
                HoconValue::Simple(token) => Some(&**token),
                HoconValue::Object(_) | HoconValue::Array(_) | HoconValue::Concatenation(_) => None,
            })
            .collect();
        if let [token] = tokens[..] {
            let literal = match &token.kind {
                HoconTokenKind::Number(number) => match &number.value {
                    NumberValue::Integer(integer) => Some(integer.to_string()),
                    NumberValue::Float(_) => Some(number.text.clone()),
                },
                HoconTokenKind::Null | HoconTokenKind::Bool(_) => token.text().map(str::to_owned),
                _ => None,
            };
            if let Some(literal) = literal {
                return Scalar {
                    style: ScalarStyle::JsonLiteral,
                    text: Arc::from(literal),
                };
            }
        }
        let joined: Option<String> = tokens.iter().map(|token| token.text()).collect();
        let text = joined.unwrap_or_else(|| range.slice(self.text).to_owned());
        Scalar {
            style: ScalarStyle::JsonString,
            text: Arc::from(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_values_and_comments_have_places() {
        let text = "# c\na.b = 1\n\"x::y\" { k = [u v, ${z}] } // d\n";
        let parse = parse_hocon(text);
        let slice = |id: NodeId| parse.tree.node(id).range.slice(text);
        let entries: Vec<_> = parse
            .tree
            .entries()
            .map(|(k, v)| (slice(k), slice(v)))
            .collect();
        assert_eq!(
            entries,
            [("a", "b = 1"), ("\"x::y\"", "{ k = [u v, ${z}] }")]
        );
        let (_, inner) = parse.tree.entries().next().unwrap();
        let pairs = parse.tree.node(inner).as_mapping().unwrap();
        assert_eq!((slice(pairs[0].0), slice(pairs[0].1)), ("b", "1"));
        let texts: Vec<_> = parse
            .tree
            .nodes()
            .filter_map(|(_, node)| node.as_scalar())
            .collect();
        let texts: Vec<&str> = texts.into_iter().map(|scalar| &*scalar.text).collect();
        assert_eq!(texts, ["a", "b", "1", "x::y", "k", "u v", "${z}"]);
        let comments: Vec<_> = parse
            .tree
            .comments()
            .iter()
            .map(|range| range.slice(text))
            .collect();
        assert_eq!(comments, ["# c", "// d"]);
        let at = text.find("v,").unwrap();
        assert_eq!(
            parse.tree.path_at(at).last().map(|id| slice(*id)),
            Some("u v")
        );
    }

    #[test]
    fn an_error_is_a_problem() {
        let parse = parse_hocon("a = ]");
        assert!(parse.tree.is_empty());
        assert_eq!(parse.problems[0].range, TextRange::new(4, 5));
    }
}
