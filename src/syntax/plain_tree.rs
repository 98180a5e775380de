//! Builds the tree of a plain YAML text, equal to the one that [`super::builder`] makes from
//! libyaml's events.

use std::sync::Arc;

use super::plain_yaml::{PlainScalar, Sink, read_plain};
use super::tree::{NodeId, NodeKind, Scalar, ScalarStyle, Tree, TreeNode};
use crate::text::TextRange;

/// A typical number of bytes of text per tree node.
const BYTES_A_NODE: usize = 12;

/// The nodes of a text, if it is plain. O(length)
pub(super) fn plain_tree(bytes: &[u8]) -> Option<Tree> {
    let mut nodes = Nodes {
        nodes: Vec::with_capacity(bytes.len() / BYTES_A_NODE),
        open: Vec::new(),
        pending: Vec::new(),
        behind: 0,
        empty: Arc::from(""),
    };
    read_plain(bytes, &mut nodes)?;
    nodes.nodes.shrink_to_fit();
    Some(Tree {
        nodes: nodes.nodes,
        is_plain: true,
        ..Tree::default()
    })
}

struct Nodes {
    nodes: Vec<TreeNode>,
    /// The open collections, with the start of each one's children in `pending`.
    open: Vec<(NodeId, usize)>,
    /// Children of open collections.
    pending: Vec<NodeId>,
    /// End of the last token.
    behind: usize,
    empty: Arc<str>,
}

impl Nodes {
    fn add(&mut self, range: TextRange, kind: NodeKind) -> NodeId {
        let id = NodeId::at(self.nodes.len());
        let parent = self.open.last().map(|&(parent, _)| parent);
        if parent.is_some() {
            self.pending.push(id);
        }
        self.nodes.push(TreeNode {
            range,
            kind,
            anchor: None,
            tag: None,
            parent,
        });
        self.behind = self.behind.max(range.end as usize);
        id
    }
}

impl Sink for Nodes {
    fn key(&mut self, scalar: PlainScalar<'_>) -> Option<()> {
        self.scalar(scalar)
    }

    fn scalar(&mut self, scalar: PlainScalar<'_>) -> Option<()> {
        let text = match scalar.text.is_empty() {
            true => Arc::clone(&self.empty),
            false => Arc::from(&*scalar.text),
        };
        let style = scalar.style;
        self.add(scalar.range, NodeKind::Scalar(Scalar { style, text }));
        Some(())
    }

    fn absent(&mut self, at: usize) {
        let text = Arc::clone(&self.empty);
        let style = ScalarStyle::Plain;
        self.add(
            TextRange::empty(at),
            NodeKind::Scalar(Scalar { style, text }),
        );
    }

    fn open(&mut self, at: usize, is_mapping: bool) {
        let kind = match is_mapping {
            true => NodeKind::Mapping(Box::default()),
            false => NodeKind::Sequence(Box::default()),
        };
        let id = self.add(TextRange::empty(at), kind);
        self.open.push((id, self.pending.len()));
    }

    fn close(&mut self, bracket: Option<usize>) {
        let Some((id, first)) = self.open.pop() else {
            return;
        };
        if let Some(end) = bracket {
            self.behind = end;
        }
        let node = &mut self.nodes[id.index()];
        let children = &self.pending[first..];
        node.kind = match node.kind {
            NodeKind::Mapping(_) => {
                let (pairs, _) = children.as_chunks::<2>();
                NodeKind::Mapping(pairs.iter().map(|&[key, value]| (key, value)).collect())
            }
            _ => NodeKind::Sequence(Box::from(children)),
        };
        node.range.end = TextRange::empty(self.behind).end.max(node.range.start);
        self.pending.truncate(first);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, prop, proptest};
    use proptest::sample::select;

    use super::super::yaml::{parse_yaml, read_events};
    use super::*;
    use crate::syntax::plain_yaml::testing::{PIECES, PLAIN};

    /// Checks that the tree equals that of libyaml's events, if the text is plain; returns whether
    /// it was.
    fn check(text: &str) -> bool {
        if plain_tree(text.as_bytes()).is_none() {
            return false;
        }
        let tree = parse_yaml(text).tree;
        let expected = read_events(text.as_bytes());
        let expected = expected.unwrap_or_else(|_| panic!("{text:?} is refused"));
        assert_eq!(tree.nodes, expected.nodes, "{text:?}");
        assert_eq!(tree.comments, expected.comments, "{text:?}");
        assert_eq!(tree.ignored, expected.ignored, "{text:?}");
        true
    }

    #[test]
    fn plain_texts_have_the_trees_of_their_events() {
        for text in PLAIN {
            assert!(check(text), "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 3_000, ..ProptestConfig::default() })]
        #[test]
        fn any_pieces_have_the_trees_of_their_events(pieces in prop::collection::vec(select(&PIECES[..]), 0..16)) {
            check(&format!("{}\n", pieces.concat()));
            check(&format!("a: {}\n", pieces.concat()));
            check(&format!("a:\n  b: 1\n  {}\nc: 1\n", pieces.concat()));
        }
    }
}
