//! Parses large YAML texts one part at a time: a tree of the whole text takes some twenty times the
//! text's memory. Without this module an open document of 32 MiB takes 1,100 MB; the floor is 400.
//!
//! A part is a number of top-level entries, each of which means the same on its own. If that is not
//! certain (an alias, a second document, an error) the text is parsed as a whole.

use std::ops::Range;

use memchr::memchr_iter;

use crate::syntax::{NodeKind, Parse, parse_yaml};
use crate::text::TextRange;

/// Maximum size of a text that is parsed as a whole, and whose tree is kept for an open document.
pub(super) const LARGE: usize = 4 << 20;

/// Size of a part in bytes, unless an entry is longer.
pub(super) const PART: usize = 1 << 20;

/// Parts of about `size` bytes that make up a text, each with whole top-level entries; `None` if a
/// line could be something else.
pub(super) fn parts(text: &str, size: usize) -> Option<Vec<Range<usize>>> {
    let bytes = text.as_bytes();
    let (mut parts, mut start, mut has_key) = (Vec::new(), 0, false);
    let breaks = memchr_iter(b'\n', bytes).map(|at| at + 1);
    for line in std::iter::once(0).chain(breaks) {
        match bytes.get(line) {
            None | Some(b' ' | b'#' | b'\n' | b'\r') => {}
            // An element of a list that is the value of the previous key.
            Some(b'-') if matches!(bytes.get(line + 1), Some(b' ' | b'\n')) => {}
            Some(b'-') if line == 0 && text.starts_with("---\n") => {}
            Some(first) => {
                let starts_key = first.is_ascii_alphanumeric() || b"_/'\":<".contains(first);
                starts_key.then_some(())?;
                if has_key && line - start >= size {
                    parts.push(start..line);
                    start = line;
                }
                has_key = true;
            }
        }
    }
    parts.push(start..text.len());
    Some(parts)
}

/// The tree of a part, with ranges in the whole text; `None` if the part on its own may have
/// another meaning.
pub(super) fn parse_part(text: &str, part: Range<usize>) -> Option<Parse> {
    let start = part.start;
    let mut parse = parse_yaml(&text[part]);
    let tree = &parse.tree;
    let root = tree.node(tree.root()?);
    let is_block = root.as_mapping().is_some()
        && root.full_range() == root.range
        && !text[start + root.range.start as usize..].starts_with('{');
    let is_alone = |kind: &NodeKind| !matches!(kind, NodeKind::Alias { .. });
    let is_sound = is_block
        && parse.problems.is_empty()
        && parse.psych.is_none()
        && tree.nodes().all(|(_, node)| is_alone(&node.kind));
    is_sound.then(|| {
        parse.tree.shift(start);
        parse
    })
}

/// The tree of the lines of a range, with ranges in the whole text.
pub(super) fn parse_lines(text: &str, range: TextRange) -> Parse {
    let line_start = |at: u32| {
        let before = &text[..at as usize];
        before.rfind('\n').map_or(0, |at| at + 1)
    };
    let start = line_start(range.start);
    let end = if range.end as usize == text.len() {
        text.len()
    } else {
        line_start(range.end)
    };
    let mut parse = parse_yaml(&text[start..end.max(start)]);
    parse.tree.shift(start);
    Parse {
        problems: Vec::new(),
        ..parse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_entries() {
        let text = "---\n# c\na: 1\nb:\n- x\n- y\n\n# d\n'c': |\n  t\n\nd: 2\n";
        let parts_of = |size| {
            let parts = parts(text, size)?;
            Some(
                parts
                    .into_iter()
                    .map(|part| &text[part])
                    .collect::<Vec<_>>(),
            )
        };
        let entries = vec![
            "---\n# c\na: 1\n",
            "b:\n- x\n- y\n\n# d\n",
            "'c': |\n  t\n\n",
            "d: 2\n",
        ];
        assert_eq!(parts_of(1), Some(entries));
        assert_eq!(parts_of(1_000), Some(vec![text]));
        for other in ["a: 1\n---\nb: 1\n", "a: 1\n...\n", "&x a: 1\n", "a: [\n]\n"] {
            assert_eq!(parts(other, 1), None, "{other:?}");
        }
    }

    #[test]
    fn a_part_that_depends_on_others_has_no_tree() {
        let parse = |text: &str| parse_part(text, 0..text.len());
        assert!(parse("a: &x 1\n").is_some());
        for text in ["a: *x\n", "a: 'b\n", "a\n", "{a: 1}\n", "", "# c\n"] {
            assert!(parse(text).is_none(), "{text:?}");
        }
    }
}
