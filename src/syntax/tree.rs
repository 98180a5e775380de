//! The tree of one data file: every key, scalar, collection, anchor, alias, tag and comment with
//! its exact range.
//!
//! A [`Tree`] is an arena: nodes are numbered in the order they begin in the text, a parent before
//! its children. It holds the text's structure and its decoded scalars; their meaning belongs to
//! the room `value`.

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::text::TextRange;

/// `!!str`, resolved.
pub(crate) const STRING_TAG: &str = "tag:yaml.org,2002:str";

/// The number of a node in its [`Tree`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(NonZeroU32);

impl NodeId {
    pub(super) fn at(index: usize) -> NodeId {
        let number = u32::try_from(index).unwrap_or(u32::MAX - 1) + 1;
        NodeId(NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN))
    }

    /// The node's index in the arena: dense, from zero, for tables indexed by node.
    #[must_use]
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A piece of text with its range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spanned {
    /// The range, including the sigil (`&name`, `!!str`).
    pub range: TextRange,
    /// For an anchor its name; for a tag the resolved tag (`tag:yaml.org,2002:str`).
    pub text: Arc<str>,
}

/// How a scalar is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScalarStyle {
    /// `word` in YAML.
    Plain,
    /// `'word'` in YAML.
    SingleQuoted,
    /// `"word"` in YAML.
    DoubleQuoted,
    /// `|` and indented lines.
    Literal,
    /// `>` and indented lines.
    Folded,
    /// `"word"` in JSON, whose escapes differ from YAML's.
    JsonString,
    /// A number, `true`, `false` or `null` in JSON.
    JsonLiteral,
}

/// A leaf with text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scalar {
    /// How it is written.
    pub style: ScalarStyle,
    /// The decoded text. An absent value is an empty plain scalar.
    pub text: Arc<str>,
}

/// The kind of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// A leaf with text.
    Scalar(Scalar),
    /// Pairs of key and value, in the order written, duplicates included.
    Mapping(Box<[(NodeId, NodeId)]>),
    /// Elements, in the order written.
    Sequence(Box<[NodeId]>),
    /// `*name`
    Alias {
        /// Name of the anchor.
        name: Arc<str>,
        /// The node with the anchor at this point of the file, if there is one.
        target: Option<NodeId>,
    },
}

/// One node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeNode {
    /// The node's own bytes, without its anchor and tag: a scalar with its quotes or its block
    /// header up to its last non-blank line; a collection from its first indicator to the end of
    /// its last child or its closing bracket. Empty for an absent value.
    pub range: TextRange,
    /// Its kind and content.
    pub kind: NodeKind,
    /// The anchor before it.
    pub anchor: Option<Box<Spanned>>,
    /// The tag before it.
    pub tag: Option<Box<Spanned>>,
    pub(super) parent: Option<NodeId>,
}

impl TreeNode {
    /// The node's bytes with its anchor and tag.
    #[must_use]
    pub fn full_range(&self) -> TextRange {
        let mut range = self.range;
        for property in [&self.anchor, &self.tag].into_iter().flatten() {
            range = range.cover(property.range);
        }
        range
    }

    /// The scalar, if it is one.
    #[must_use]
    pub fn as_scalar(&self) -> Option<&Scalar> {
        if let NodeKind::Scalar(scalar) = &self.kind {
            Some(scalar)
        } else {
            None
        }
    }

    /// The pairs of a mapping.
    #[must_use]
    pub fn as_mapping(&self) -> Option<&[(NodeId, NodeId)]> {
        if let NodeKind::Mapping(pairs) = &self.kind {
            Some(pairs)
        } else {
            None
        }
    }

    /// The elements of a sequence.
    #[must_use]
    pub fn as_sequence(&self) -> Option<&[NodeId]> {
        if let NodeKind::Sequence(elements) = &self.kind {
            Some(elements)
        } else {
            None
        }
    }

    /// Whether the scalar is `quoted` in Psych's sense: neither plain nor tagged, so it is always a
    /// string.
    #[must_use]
    pub fn is_quoted(&self) -> bool {
        self.tag.is_none()
            && self
                .as_scalar()
                .is_some_and(|scalar| scalar.style != ScalarStyle::Plain)
    }

    /// Whether it is a merge key: quoted too, but not tagged as a string, and not in JSON
    /// (`Psych::Visitors::ToRuby#revive_hash`).
    #[must_use]
    pub fn is_merge_key(&self) -> bool {
        let is_string = |tag: &Spanned| *tag.text == *STRING_TAG;
        !self.tag.as_deref().is_some_and(is_string)
            && self.as_scalar().is_some_and(|scalar| {
                *scalar.text == *"<<" && scalar.style != ScalarStyle::JsonString
            })
    }
}

/// A top-level entry that could not be read; see [`Tree::broken`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BrokenEntry {
    /// Its lines, up to the end of the last non-blank one.
    pub range: TextRange,
    /// Its key, if the first line still has one.
    pub key: Option<Spanned>,
}

/// The first document of a YAML file, or a JSON file.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub(super) nodes: Vec<TreeNode>,
    pub(super) comments: Vec<TextRange>,
    pub(super) broken: Vec<BrokenEntry>,
    pub(super) ignored: Option<TextRange>,
    pub(super) is_plain: bool,
}

impl Tree {
    /// Adds a node without anchor and tag.
    pub(super) fn add(
        &mut self,
        range: TextRange,
        kind: NodeKind,
        parent: Option<NodeId>,
    ) -> NodeId {
        let id = NodeId::at(self.nodes.len());
        self.nodes.push(TreeNode {
            range,
            kind,
            anchor: None,
            tag: None,
            parent,
        });
        id
    }

    /// The whole value; `None` for a text without any.
    #[must_use]
    pub fn root(&self) -> Option<NodeId> {
        (!self.nodes.is_empty()).then(|| NodeId::at(0))
    }

    /// Whether the text uses only the plain part of YAML: block collections, scalars on one line,
    /// literal blocks, small collections in brackets, without anchors, tags or odd indentation.
    /// False means unknown.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// The node with that number. O(1).
    ///
    /// # Panics
    ///
    /// If the number is from another, bigger tree.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &TreeNode {
        &self.nodes[id.index()]
    }

    /// The number of nodes; every smaller index is a node's.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the text has no value at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// All nodes in the order they begin in the text.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &TreeNode)> {
        self.nodes
            .iter()
            .enumerate()
            .map(|(index, node)| (NodeId::at(index), node))
    }

    /// A node and all nodes below it, in the same order. O(these nodes).
    pub fn nodes_from(&self, top: NodeId) -> impl Iterator<Item = (NodeId, &TreeNode)> {
        let first = top.index();
        let from = (first..).map(NodeId::at).zip(&self.nodes[first..]);
        // A collection is added before its content.
        from.take_while(move |(id, node)| *id == top || node.parent >= Some(top))
    }

    /// The collection that holds the node as key, value or element; `None` for the root. O(1).
    #[must_use]
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).parent
    }

    /// Key and value of every entry of the topmost mapping, in the order written, duplicates
    /// included; empty if the file is not a mapping.
    pub fn entries(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        self.nodes
            .first()
            .and_then(TreeNode::as_mapping)
            .unwrap_or_default()
            .iter()
            .copied()
    }

    /// The entry of the topmost mapping whose key contains a range of the text. O(log entries) for
    /// keys in the text itself.
    #[must_use]
    pub fn entry_at(&self, place: TextRange) -> Option<(NodeId, NodeId)> {
        let pairs = self.nodes.first().and_then(TreeNode::as_mapping)?;
        let is_it = |&&(key, _): &&(NodeId, NodeId)| self.node(key).full_range().contains(place);
        let behind =
            pairs.partition_point(|&(key, _)| self.node(key).full_range().start <= place.start);
        let near = behind.checked_sub(1).and_then(|at| pairs.get(at));
        // Aliases and recovered entries may be out of order.
        near.filter(is_it)
            .or_else(|| pairs.iter().find(is_it))
            .copied()
    }

    /// The key of a value in a mapping; `None` for other nodes. O(log entries) for a value, if the
    /// entries are in the order of the text, else O(entries).
    #[must_use]
    pub fn key_of(&self, mapping: NodeId, value: NodeId) -> Option<NodeId> {
        let pairs = self.node(mapping).as_mapping()?;
        // Nodes are numbered in the order of the text.
        let (key, _) = match pairs.binary_search_by_key(&value, |&(_, value)| value) {
            Ok(at) => &pairs[at],
            Err(_) => pairs.iter().find(|(_, its)| *its == value)?,
        };
        Some(*key)
    }

    /// The text of the key whose value a node is or is an element of, through lists; `None` within no entry or
    /// below a key that is no scalar. Costs a step for each list around the node.
    #[must_use]
    pub fn key_around(&self, mut node: NodeId) -> Option<&Arc<str>> {
        loop {
            let parent = self.parent(node)?;
            match &self.node(parent).kind {
                NodeKind::Mapping(_) => return self.scalar_text(self.key_of(parent, node)?),
                NodeKind::Sequence(_) => node = parent,
                NodeKind::Scalar(_) | NodeKind::Alias { .. } => return None,
            }
        }
    }

    /// Whether a part of the text means the same anywhere else: it contains no anchor, alias, tag
    /// or merge key. O(nodes).
    #[must_use]
    pub fn stands_alone(&self, part: TextRange) -> bool {
        let mut within = self.nodes.iter().filter(|node| part.contains(node.range));
        let is_special = |node: &TreeNode| {
            node.anchor.is_some()
                || node.tag.is_some()
                || node.is_merge_key()
                || matches!(node.kind, NodeKind::Alias { .. })
        };
        !within.any(is_special)
    }

    /// The target of an alias, through aliases of aliases; other nodes are returned unchanged.
    #[must_use]
    pub fn resolve(&self, id: NodeId) -> NodeId {
        let mut at = id;
        for _ in 0..self.len() {
            match &self.node(at).kind {
                NodeKind::Alias {
                    target: Some(target),
                    ..
                } if *target != at => at = *target,
                _ => break,
            }
        }
        at
    }

    /// The decoded text of a scalar, aliases followed.
    #[must_use]
    pub fn scalar_text(&self, id: NodeId) -> Option<&Arc<str>> {
        self.node(self.resolve(id))
            .as_scalar()
            .map(|scalar| &scalar.text)
    }

    /// Moves all ranges by `by` bytes, for a text that is part of a longer one.
    pub(crate) fn shift(&mut self, by: usize) {
        let shift = |range: &mut TextRange| *range = range.shift(by);
        for node in &mut self.nodes {
            shift(&mut node.range);
            let properties = [&mut node.anchor, &mut node.tag];
            for property in properties.into_iter().flatten() {
                shift(&mut property.range);
            }
        }
        self.comments.iter_mut().for_each(shift);
        self.ignored.iter_mut().for_each(shift);
        for broken in &mut self.broken {
            shift(&mut broken.range);
            if let Some(key) = &mut broken.key {
                shift(&mut key.range);
            }
        }
    }

    /// Every comment, from its `#` (`//`, `/*` in JSON) to its end, in order.
    #[must_use]
    pub fn comments(&self) -> &[TextRange] {
        &self.comments
    }

    /// Top-level entries that could not be parsed, in order. Empty without a syntax error.
    #[must_use]
    pub fn broken(&self) -> &[BrokenEntry] {
        &self.broken
    }

    /// Text after the first document, which Puppet never reads: further documents, or any text
    /// after the topmost collection ended early. Comments and white space don't count.
    #[must_use]
    pub fn ignored(&self) -> Option<TextRange> {
        self.ignored
    }

    /// The nodes at a byte offset, from the root to the innermost. A node is included if the offset
    /// lies in its full range or right after it; of two neighbours, the one that contains the
    /// offset. O(depth · log entries).
    #[must_use]
    pub fn path_at(&self, offset: usize) -> Vec<NodeId> {
        let mut path = Vec::new();
        let mut next = self.root();
        while let Some(id) = next {
            let node = self.node(id);
            if !node.full_range().touches(offset) {
                break;
            }
            path.push(id);
            next = self.child_at(node, offset);
        }
        path
    }

    fn child_at(&self, node: &TreeNode, offset: usize) -> Option<NodeId> {
        let starts_by = |id: NodeId| self.node(id).full_range().start as usize <= offset;
        let touching = |ids: [Option<NodeId>; 2]| {
            let mut ids = ids
                .into_iter()
                .flatten()
                .filter(|&id| self.node(id).full_range().touches(offset));
            let first = ids.next()?;
            let inside = |id: NodeId| offset < self.node(id).full_range().end as usize;
            Some(ids.find(|&id| inside(id)).unwrap_or(first))
        };
        match &node.kind {
            NodeKind::Scalar(_) | NodeKind::Alias { .. } => None,
            NodeKind::Sequence(elements) => {
                let last = elements.partition_point(|&id| starts_by(id));
                let before = |back: usize| last.checked_sub(back).map(|at| elements[at]);
                touching([before(1), before(2)])
            }
            NodeKind::Mapping(pairs) => {
                let last = pairs.partition_point(|&(key, _)| starts_by(key));
                let pair = pairs[last.checked_sub(1)?];
                touching([Some(pair.0), Some(pair.1).filter(|&id| starts_by(id))]).or_else(|| {
                    let value = pairs[last.checked_sub(2)?].1;
                    touching([Some(value), None])
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_small() {
        // Ten thousand files hold some millions of nodes.
        assert!(size_of::<TreeNode>() <= 64, "{}", size_of::<TreeNode>());
        assert_eq!(size_of::<Option<NodeId>>(), 4);
    }
}
