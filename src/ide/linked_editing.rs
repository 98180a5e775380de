//! Linked editing ranges: the quotes of a key, an anchor with its aliases.

use super::named::{self, Named};
use super::references::of_anchor;
use crate::syntax::{ScalarStyle, Tree};
use crate::text::TextRange;
use crate::workspace::{File, Format, Snapshot};

/// Ranges with the same text, and a pattern for new text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkedRanges {
    /// The ranges, in order.
    pub ranges: Vec<TextRange>,
    /// The regular expression for new text.
    pub pattern: &'static str,
}

/// The name of an anchor.
const ANCHOR: &str = r"[^\s,\[\]{}*&]+";

const QUOTE: &str = "[\"']";

/// The linked ranges at the byte at `offset`.
#[must_use]
pub fn linked_ranges(snapshot: &Snapshot, path: &str, offset: usize) -> Option<LinkedRanges> {
    let file = snapshot.file(path)?;
    let parse = snapshot.parse_of(file, file.format().unwrap_or(Format::Yaml));
    quotes(&parse.tree, file, offset).or_else(|| anchor(snapshot, file, offset))
}

/// The quotes of a key, if the cursor touches one of them.
fn quotes(tree: &Tree, file: &File, offset: usize) -> Option<LinkedRanges> {
    let nodes = tree.path_at(offset);
    let (&at, outer) = nodes.split_last()?;
    let pairs = tree.node(*outer.last()?).as_mapping()?;
    let node = tree.node(at);
    let style = node.as_scalar()?.style;
    let is_key = pairs.iter().any(|&(key, _)| key == at);
    let is_quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
    if !is_key || !is_quoted || file.format() != Some(Format::Yaml) {
        return None;
    }
    let (start, end) = (node.range.start as usize, node.range.end as usize);
    let inner = file.text().get(start + 1..end.checked_sub(1)?)?;
    // The content would mean something else in other quotes.
    if inner.contains(['"', '\'', '\\']) {
        return None;
    }
    let ranges = vec![
        TextRange::new(start, start + 1),
        TextRange::new(end - 1, end),
    ];
    let is_touched = ranges.iter().any(|range| range.touches(offset));
    is_touched.then_some(LinkedRanges {
        ranges,
        pattern: QUOTE,
    })
}

fn anchor(snapshot: &Snapshot, file: &File, offset: usize) -> Option<LinkedRanges> {
    let mention = named::at(snapshot, file.path(), offset)?;
    let Named::Anchor { node, .. } = mention.named else {
        return None;
    };
    let names = of_anchor(snapshot, file, node).into_iter();
    let bare = names.map(|one| TextRange {
        start: one.name.start + 1,
        end: one.name.end,
    });
    let mut ranges: Vec<TextRange> = bare.collect();
    ranges.sort_unstable();
    (ranges.len() > 1).then_some(LinkedRanges {
        ranges,
        pattern: ANCHOR,
    })
}
