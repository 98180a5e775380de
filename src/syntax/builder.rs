//! Builds a [`Tree`] from libyaml's events or the parser of plain YAML, with exact spans, anchors
//! and aliases.
//!
//! libyaml's marks differ from the spans people see: anchors and tags are part of a node's start,
//! the end of a block collection extends to the next token, and an absent value is placed where the
//! next token begins. This module corrects all of that.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::libyaml::{CollectionStyle, Event, EventKind};
use super::plain_yaml::{PlainScalar, Sink, read_plain};
use super::tree::{NodeId, NodeKind, Scalar, ScalarStyle, Spanned, Tree, TreeNode};
use crate::text::TextRange;

/// Deeper collections are refused, so that no recursion over a tree or a value can overflow the
/// stack. Psych itself fails between one and two thousand levels.
pub const MAX_DEPTH: usize = 500;

/// A typical number of bytes of text per tree node.
const BYTES_A_NODE: usize = 12;

/// The tree of a text, if it is plain: equal to that of libyaml's events. O(length)
pub(super) fn plain_tree(bytes: &[u8]) -> Option<Tree> {
    let mut builder = Builder::new(bytes);
    builder.nodes.reserve(bytes.len() / BYTES_A_NODE);
    read_plain(bytes, &mut builder)?;
    Some(Tree {
        is_plain: true,
        ..builder.finish()
    })
}

#[derive(Debug)]
struct OpenCollection {
    id: NodeId,
    /// Start of its children in `Builder::pending`.
    children: usize,
    is_mapping: bool,
    is_flow: bool,
}

/// A point to roll back to when a part of the text turns out to be broken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checkpoint {
    nodes: usize,
    pending: usize,
    anchors: usize,
    behind: usize,
}

#[derive(Debug)]
pub(super) struct Builder<'t> {
    bytes: &'t [u8],
    nodes: Vec<TreeNode>,
    open: Vec<OpenCollection>,
    /// Children of open collections.
    pending: Vec<NodeId>,
    /// The node with each anchor's name at this point of the text.
    anchors: HashMap<Arc<str>, NodeId>,
    /// The previous value of each definition in `anchors`, for rolling back.
    anchor_log: Vec<(Arc<str>, Option<NodeId>)>,
    /// End of the last token seen.
    behind: usize,
    empty: Arc<str>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Growth {
    Grown,
    /// The event would open a collection beyond the maximum depth.
    TooDeep,
}

impl<'t> Builder<'t> {
    pub(super) fn new(bytes: &'t [u8]) -> Builder<'t> {
        Builder {
            bytes,
            nodes: Vec::new(),
            open: Vec::new(),
            pending: Vec::new(),
            anchors: HashMap::new(),
            anchor_log: Vec::new(),
            behind: 0,
            empty: Arc::from(""),
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Whether a key of the topmost mapping (or its end) comes next.
    pub(super) fn expects_top_key(&self) -> bool {
        match self.open.as_slice() {
            [top] => top.is_mapping && (self.pending.len() - top.children).is_multiple_of(2),
            _ => false,
        }
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            nodes: self.nodes.len(),
            pending: self.pending.len(),
            anchors: self.anchor_log.len(),
            behind: self.behind,
        }
    }

    /// Rolls back to the checkpoint. The topmost mapping must be open now if it was then.
    pub(super) fn roll_back(&mut self, to: Checkpoint) {
        self.nodes.truncate(to.nodes);
        self.pending.truncate(to.pending);
        self.open.truncate(1.min(to.nodes));
        while self.anchor_log.len() > to.anchors {
            if let Some((name, replaced)) = self.anchor_log.pop() {
                match replaced {
                    Some(id) => self.anchors.insert(name, id),
                    None => self.anchors.remove(&name),
                };
            }
        }
        self.behind = to.behind;
    }

    /// Opens the topmost mapping without an event, for a text read in pieces.
    pub(super) fn open_top_mapping(&mut self, at: usize) {
        self.start(at, CollectionStyle::Block, true, None, None);
    }

    pub(super) fn has_children(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The last value of the topmost mapping, and whether it has bytes of its own.
    pub(super) fn last_value_is_written(&self) -> bool {
        self.pending
            .last()
            .is_some_and(|&id| !self.nodes[id.index()].full_range().is_empty())
    }

    /// Closes all open collections and returns the tree.
    pub(super) fn finish(mut self) -> Tree {
        while !self.open.is_empty() {
            if self.expects_value() {
                self.absent(self.behind);
            }
            self.close(None);
        }
        self.nodes.shrink_to_fit();
        Tree {
            nodes: self.nodes,
            ..Tree::default()
        }
    }

    fn expects_value(&self) -> bool {
        self.open.last().is_some_and(|collection| {
            collection.is_mapping && !(self.pending.len() - collection.children).is_multiple_of(2)
        })
    }

    /// Adds an event; its marks count from `shift` on in the text.
    pub(super) fn event(&mut self, event: &Event<'_>, shift: usize) -> Growth {
        let start = (event.start.index + shift).min(self.bytes.len());
        let end = (event.end.index + shift).clamp(start, self.bytes.len());
        match &event.kind {
            EventKind::StreamStart | EventKind::StreamEnd | EventKind::DocumentEnd { .. } => {}
            EventKind::DocumentStart { implicit } => {
                if !implicit {
                    self.behind = end;
                }
            }
            EventKind::Alias { anchor } => {
                let kind = NodeKind::Alias {
                    name: Arc::from(&**anchor),
                    target: self.anchors.get(&**anchor).copied(),
                };
                self.add(TextRange::new(start, end), kind, None, None);
                self.behind = end;
            }
            EventKind::Scalar {
                anchor,
                tag,
                value,
                style,
                ..
            } => {
                let (anchor, tag, content) =
                    self.properties(start..end, anchor.as_deref(), Some(tag.as_deref()));
                let range = self.scalar_range(content, end, *style, start == end);
                let text = self.shared(value);
                self.add_scalar(range, *style, text, anchor, tag);
            }
            EventKind::SequenceStart {
                anchor, tag, style, ..
            }
            | EventKind::MappingStart {
                anchor, tag, style, ..
            } => {
                if self.open.len() >= MAX_DEPTH {
                    return Growth::TooDeep;
                }
                let is_mapping = matches!(event.kind, EventKind::MappingStart { .. });
                // A block mapping starts at its first key, whose properties are not the mapping's.
                let tag = tag.as_deref().map(Some);
                let (anchor, tag, content) =
                    self.properties(start..self.bytes.len(), anchor.as_deref(), tag);
                self.start(content, *style, is_mapping, anchor, tag);
                self.behind = self.behind.max(content);
            }
            EventKind::SequenceEnd | EventKind::MappingEnd => {
                // Only a bracket has a width of its own; block ends and the end of a bare pair in a
                // flow list are marks of the next token.
                let bracket = matches!(self.bytes.get(start), Some(b']' | b'}'));
                let is_flow = self
                    .open
                    .last()
                    .is_some_and(|collection| collection.is_flow);
                self.close((is_flow && bracket && end > start).then_some(end));
            }
        }
        Growth::Grown
    }

    fn start(
        &mut self,
        at: usize,
        style: CollectionStyle,
        is_mapping: bool,
        anchor: Option<Box<Spanned>>,
        tag: Option<Box<Spanned>>,
    ) {
        let kind = if is_mapping {
            NodeKind::Mapping(Box::default())
        } else {
            NodeKind::Sequence(Box::default())
        };
        let id = self.add(TextRange::empty(at), kind, anchor, tag);
        self.open.push(OpenCollection {
            id,
            children: self.pending.len(),
            is_mapping,
            is_flow: style == CollectionStyle::Flow,
        });
    }

    fn close(&mut self, bracket_end: Option<usize>) {
        let Some(collection) = self.open.pop() else {
            return;
        };
        if let Some(end) = bracket_end {
            self.behind = end;
        }
        let children = &self.pending[collection.children..];
        let node = &mut self.nodes[collection.id.index()];
        node.kind = if collection.is_mapping {
            let (pairs, _) = children.as_chunks::<2>();
            NodeKind::Mapping(pairs.iter().map(|&[key, value]| (key, value)).collect())
        } else {
            NodeKind::Sequence(Box::from(children))
        };
        node.range.end = TextRange::empty(self.behind).end.max(node.range.start);
        self.pending.truncate(collection.children);
    }

    fn shared(&self, text: &str) -> Arc<str> {
        if text.is_empty() {
            self.empty.clone()
        } else {
            Arc::from(text)
        }
    }

    fn add_scalar(
        &mut self,
        range: TextRange,
        style: ScalarStyle,
        text: Arc<str>,
        anchor: Option<Box<Spanned>>,
        tag: Option<Box<Spanned>>,
    ) {
        let kind = NodeKind::Scalar(Scalar { style, text });
        self.add(range, kind, anchor, tag);
        self.behind = self.behind.max(range.end as usize);
    }

    fn add(
        &mut self,
        range: TextRange,
        kind: NodeKind,
        anchor: Option<Box<Spanned>>,
        tag: Option<Box<Spanned>>,
    ) -> NodeId {
        let id = NodeId::at(self.nodes.len());
        if let Some(anchor) = &anchor {
            let replaced = self.anchors.insert(anchor.text.clone(), id);
            self.anchor_log.push((anchor.text.clone(), replaced));
        }
        let parent = self.open.last().map(|collection| collection.id);
        if parent.is_some() {
            self.pending.push(id);
        }
        self.nodes.push(TreeNode {
            range,
            kind,
            anchor,
            tag,
            parent,
        });
        id
    }

    /// The spans of an anchor and a tag at the start of a node, and the start of the node itself.
    /// `tag` is `None` if no tag should be looked for, and `Some(None)` if a tag, if present, is
    /// `!`, which libyaml does not report for scalars.
    fn properties(
        &self,
        range: Range<usize>,
        anchor: Option<&str>,
        tag: Option<Option<&str>>,
    ) -> (Option<Box<Spanned>>, Option<Box<Spanned>>, usize) {
        let (mut found_anchor, mut found_tag) = (None, None);
        let mut at = range.start;
        loop {
            let begin = at;
            match self.bytes.get(at) {
                Some(b'&') if found_anchor.is_none() && at < range.end => {
                    let Some(name) = anchor else { break };
                    at += 1 + name.len();
                    found_anchor = Some(spanned(begin..at.min(range.end), name));
                }
                Some(b'!') if found_tag.is_none() && at < range.end => {
                    let Some(text) = tag else { break };
                    at += tag_length(&self.bytes[at..range.end]);
                    found_tag = Some(spanned(begin..at, text.unwrap_or("!")));
                }
                _ => break,
            }
            at = skip_blank(self.bytes, at.min(range.end), range.end);
        }
        (found_anchor, found_tag, at)
    }

    fn scalar_range(
        &self,
        start: usize,
        end: usize,
        style: ScalarStyle,
        absent: bool,
    ) -> TextRange {
        match style {
            ScalarStyle::Plain if absent => {
                // An absent value stands after its indicator, or at the end of the last token.
                let indicated =
                    start > self.behind && matches!(self.bytes[start - 1], b':' | b'-' | b'?');
                TextRange::empty(if indicated { start } else { self.behind })
            }
            ScalarStyle::Literal | ScalarStyle::Folded => {
                TextRange::new(start, trim_blank_lines(self.bytes, start, end))
            }
            _ => TextRange::new(start, end),
        }
    }
}

impl Sink for Builder<'_> {
    fn key(&mut self, scalar: PlainScalar<'_>) -> Option<()> {
        self.scalar(scalar)
    }

    fn scalar(&mut self, scalar: PlainScalar<'_>) -> Option<()> {
        let text = self.shared(&scalar.text);
        self.add_scalar(scalar.range, scalar.style, text, None, None);
        Some(())
    }

    fn absent(&mut self, at: usize) {
        let (range, empty) = (TextRange::empty(at), self.empty.clone());
        self.add_scalar(range, ScalarStyle::Plain, empty, None, None);
    }

    fn open(&mut self, at: usize, is_mapping: bool) {
        self.start(at, CollectionStyle::Block, is_mapping, None, None);
        self.behind = self.behind.max(at);
    }

    fn close(&mut self, bracket: Option<usize>) {
        Builder::close(self, bracket);
    }
}

fn spanned(range: Range<usize>, text: &str) -> Box<Spanned> {
    Box::new(Spanned {
        range: TextRange::new(range.start, range.end.max(range.start)),
        text: Arc::from(text),
    })
}

/// The length of a tag: `!<…>`, or up to a character that cannot be in a URI.
fn tag_length(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"!<") {
        return bytes
            .iter()
            .position(|&b| b == b'>')
            .map_or(bytes.len(), |at| at + 1);
    }
    bytes
        .iter()
        .position(|&b| !(b.is_ascii_alphanumeric() || b"-_;/?:@&=+$.%!~*'()".contains(&b)))
        .unwrap_or(bytes.len())
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The first byte in `at..end` that is neither white space nor in a comment.
fn skip_blank(bytes: &[u8], mut at: usize, end: usize) -> usize {
    while at < end {
        match bytes[at] {
            b' ' | b'\t' => at += 1,
            b'#' => at += line_length(&bytes[at..end]),
            // libyaml skips a byte order mark at the start of any line.
            0xEF if bytes[at..end].starts_with(BYTE_ORDER_MARK) && line_start(bytes, at) == at => {
                at += BYTE_ORDER_MARK.len();
            }
            _ => match break_width(&bytes[at..end]) {
                0 => break,
                width => at += width,
            },
        }
    }
    at
}

/// Number of bytes up to the next line break.
pub(super) fn line_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while at < bytes.len() {
        let may_be_break = bytes[at] < b' ' || bytes[at] >= 0xC2;
        if may_be_break && break_width(&bytes[at..]) > 0 {
            break;
        }
        at += 1;
    }
    at
}

/// The length of the line break at the start, or 0. YAML 1.1 also breaks lines at NEL and at
/// Unicode's two separators.
pub(super) fn break_width(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] | [0xC2, 0x85, ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        [0xE2, 0x80, 0xA8 | 0xA9, ..] => 3,
        _ => 0,
    }
}

/// The start of the line that contains `at`.
pub(super) fn line_start(bytes: &[u8], at: usize) -> usize {
    let mut start = at.min(bytes.len());
    while start > 0 {
        let is_break = match bytes[start - 1] {
            b'\n' | b'\r' => true,
            0x85 => bytes[..start].ends_with(b"\xC2\x85"),
            0xA8 | 0xA9 => bytes[..start - 1].ends_with(b"\xE2\x80"),
            _ => false,
        };
        if is_break {
            break;
        }
        start -= 1;
    }
    start
}

/// The end of the last line of `start..end` that is not blank, without its line break.
fn trim_blank_lines(bytes: &[u8], start: usize, end: usize) -> usize {
    let mut solid = end;
    while solid > start {
        let text = &bytes[start..solid];
        solid -= match text {
            [.., b' ' | b'\t' | b'\n' | b'\r'] => 1,
            [.., 0xC2, 0x85] => 2,
            [.., 0xE2, 0x80, 0xA8 | 0xA9] => 3,
            _ => break,
        };
    }
    solid + line_length(&bytes[solid..end])
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
            check(&format!("a:\n  b: 1\nc: {}", pieces.concat()));
            check(&format!("a: {}\n", pieces.concat()));
            check(&format!("a:\n  b: 1\n  {}\nc: 1\n", pieces.concat()));
        }
    }
}
