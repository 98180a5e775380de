//! Parses a YAML text: strictly, like Psych, and for the editor.

use super::builder::{
    Builder, Checkpoint, Growth, MAX_DEPTH, break_width, line_length, line_start, plain_tree,
};
use super::json_scalar::character_width;
use super::libyaml::{EventKind, Parser, SyntaxError};
use super::recovery;
use super::tree::{NodeKind, ScalarStyle, Tree};
use super::{Parse, Problem, ProblemKind};
use crate::text::TextRange;

/// Parses the first document of `text` for the editor. A syntax error loses the top-level entry
/// that contains it, not the others. O(length), also with errors.
#[must_use]
pub fn parse_yaml(text: &str) -> Parse {
    let bytes = text.as_bytes();
    match read(bytes) {
        Ok(tree) => {
            let Some(range) = tree.ignored() else {
                return Parse {
                    tree,
                    ..Parse::default()
                };
            };
            let (problem, is_other_document) = ignored_problem(bytes, range);
            let problems = vec![problem];
            let salvaged = (!is_other_document)
                .then(|| recovery::salvage(bytes, YamlFailure::nothing_read(bytes)).0)
                .filter(|salvaged| salvaged.entries().next().is_some());
            let (tree, psych) = match salvaged {
                Some(salvaged) => (salvaged, Some(Box::new(tree))),
                None => (tree, None),
            };
            Parse {
                tree,
                problems,
                psych,
            }
        }
        Err(failure) => recovery::recover(bytes, failure),
    }
}

/// Parses the first document of a text as Psych does: all of it or nothing. Bytes that are not
/// UTF-8 are an error only if libyaml reads them.
///
/// # Errors
///
/// Psych's own message and position, or one of our limits.
pub fn read_document(bytes: &[u8]) -> Result<Tree, Problem> {
    read(bytes).map_err(|failure| failure.stop.problem(bytes, 0, 0))
}

#[derive(Debug)]
pub(super) enum YamlStop {
    Syntax(SyntaxError),
    /// A collection beyond the maximum depth opens at this offset.
    TooDeep(usize),
}

impl YamlStop {
    /// The byte where it stopped.
    pub(super) fn offset(&self) -> usize {
        match self {
            YamlStop::Syntax(error) => error.offset(),
            YamlStop::TooDeep(at) => *at,
        }
    }

    /// The problem for a person, if the parsed part starts at `shift` bytes and `lines` lines into
    /// `bytes`.
    pub(super) fn problem(&self, bytes: &[u8], shift: usize, lines: usize) -> Problem {
        match self {
            YamlStop::Syntax(error) => Problem {
                range: error_range(bytes, error, shift),
                message: error.message(lines),
                kind: ProblemKind::Syntax,
            },
            YamlStop::TooDeep(at) => Problem {
                range: rest_of_line(bytes, at + shift),
                message: format!("collections nested deeper than the limit of {MAX_DEPTH}"),
                kind: ProblemKind::Limit,
            },
        }
    }
}

/// A text that could not be parsed to the end, and its reliable part.
#[derive(Debug)]
pub(super) struct YamlFailure<'t> {
    pub(super) stop: YamlStop,
    pub(super) builder: Builder<'t>,
    /// The last key of the topmost mapping: everything before it is reliable.
    pub(super) last_key: Option<(Checkpoint, usize)>,
    /// Column of the topmost mapping if it is a block.
    pub(super) column: Option<usize>,
    /// After the `---`.
    pub(super) document_start: usize,
}

impl<'t> YamlFailure<'t> {
    /// As if parsing had stopped before the first byte.
    fn nothing_read(bytes: &'t [u8]) -> Box<YamlFailure<'t>> {
        Box::new(YamlFailure {
            stop: YamlStop::TooDeep(0),
            builder: Builder::new(bytes),
            last_key: None,
            column: None,
            document_start: 0,
        })
    }
}

fn read(bytes: &[u8]) -> Result<Tree, Box<YamlFailure<'_>>> {
    match plain_tree(bytes) {
        Some(mut tree) => {
            add_comments(&mut tree, bytes, 0, bytes.len());
            Ok(tree)
        }
        None => read_events(bytes),
    }
}

/// The full parser.
pub(super) fn read_events(bytes: &[u8]) -> Result<Tree, Box<YamlFailure<'_>>> {
    let mut parser = Parser::new(bytes);
    let mut builder = Builder::new(bytes);
    let (mut last_key, mut column, mut document_start) = (None, None, 0);
    loop {
        let stop = match parser.next_event() {
            Ok(None) => break,
            Ok(Some(event)) => {
                match &event.kind {
                    EventKind::DocumentStart { implicit: false } => {
                        document_start = event.end.index;
                    }
                    EventKind::DocumentEnd { implicit } => {
                        let end = if *implicit { event.start } else { event.end };
                        return Ok(finish(bytes, builder, document_start, end.index));
                    }
                    EventKind::MappingStart {
                        style: super::libyaml::CollectionStyle::Block,
                        ..
                    } if builder.depth() == 0 => column = Some(event.start.column),
                    _ => {}
                }
                if builder.expects_top_key() {
                    last_key = Some((builder.checkpoint(), event.start.index));
                }
                match builder.event(&event, 0) {
                    Growth::Grown => continue,
                    Growth::TooDeep => YamlStop::TooDeep(event.start.index),
                }
            }
            Err(error) => YamlStop::Syntax(error),
        };
        return Err(Box::new(YamlFailure {
            stop,
            builder,
            last_key,
            column,
            document_start,
        }));
    }
    Ok(finish(bytes, builder, 0, bytes.len()))
}

fn finish(bytes: &[u8], builder: Builder<'_>, start: usize, end: usize) -> Tree {
    let end = end.min(bytes.len());
    let mut tree = builder.finish();
    add_comments(&mut tree, bytes, start, end);
    tree.ignored = ignored(bytes, end);
    tree
}

/// The text after the first document, unless it has only comments and markers.
fn ignored(bytes: &[u8], end: usize) -> Option<TextRange> {
    let mut at = end;
    while at < bytes.len() {
        let length = line_length(&bytes[at..]);
        let line = bytes[at..at + length].trim_ascii();
        if !(line.is_empty() || line.starts_with(b"#") || line == b"---" || line == b"...") {
            let solid = bytes.iter().rposition(|b| !b.is_ascii_whitespace());
            return Some(TextRange::new(
                at,
                solid.map_or(bytes.len(), |last| last + 1).max(at),
            ));
        }
        at += length;
        at += break_width(&bytes[at..]).max(1);
    }
    None
}

/// The problem for ignored text, and whether it is another document.
fn ignored_problem(bytes: &[u8], range: TextRange) -> (Problem, bool) {
    let before = bytes[..range.start as usize].split(|b| matches!(b, b'\n' | b'\r'));
    let behind_marker = before
        .rev()
        .find(|line| !matches!(line.trim_ascii(), [] | [b'#', ..]))
        .is_some_and(|line| line.starts_with(b"---") || line.starts_with(b"..."));
    let is_other_document = behind_marker || bytes[range.start as usize..].starts_with(b"---");
    let message = if is_other_document {
        "Puppet reads only the first document of a file and ignores this"
    } else if bytes.starts_with(b"\xEF\xBB\xBF") {
        "Puppet ignores everything from here on: the byte order mark at the start of the file \
         makes the first key indented deeper than this line"
    } else {
        "Puppet ignores everything from here on: what the file begins with is complete before \
         this line"
    };
    let problem = Problem {
        range,
        message: message.to_owned(),
        kind: ProblemKind::Ignored,
    };
    (problem, is_other_document)
}

/// Finds the comments, which libyaml doesn't report: everything starting with `#` in the gaps
/// between scalars, aliases, anchors and tags, and in the headers of block scalars.
pub(super) fn add_comments(tree: &mut Tree, bytes: &[u8], start: usize, end: usize) {
    if !bytes.contains(&b'#') {
        tree.comments = Vec::new();
        return;
    }
    let mut comments = Vec::new();
    let mut at = 0;
    let broken = std::mem::take(&mut tree.broken);
    let mut broken_ahead = broken.iter().map(|entry| entry.range).peekable();
    let mut leaf = |range: TextRange, at: &mut usize| {
        while let Some(hole) = broken_ahead.next_if(|hole| hole.start < range.start) {
            gap(bytes, *at..hole.start as usize, start, &mut comments);
            *at = (hole.end as usize).max(*at);
        }
        gap(bytes, *at..range.start as usize, start, &mut comments);
        *at = (range.end as usize).max(*at);
    };
    for node in &tree.nodes {
        let mut properties: Vec<TextRange> = [&node.anchor, &node.tag]
            .into_iter()
            .flatten()
            .map(|property| property.range)
            .collect();
        properties.sort_unstable();
        for range in properties {
            leaf(range, &mut at);
        }
        match &node.kind {
            NodeKind::Scalar(scalar) => {
                let mut range = node.range;
                if matches!(scalar.style, ScalarStyle::Literal | ScalarStyle::Folded) {
                    // The comment of the header, if any, lies within the node.
                    let header = range.as_usize();
                    let length = line_length(&bytes[header]);
                    let sign = TextRange::new(range.start as usize, range.start as usize + 1);
                    leaf(sign, &mut at);
                    let behind = range.start as usize + length;
                    leaf(TextRange::empty(behind), &mut at);
                    range.start = behind as u32;
                }
                leaf(range, &mut at);
            }
            NodeKind::Alias { .. } => leaf(node.range, &mut at),
            NodeKind::Mapping(_) | NodeKind::Sequence(_) => {}
        }
    }
    leaf(TextRange::empty(end), &mut at);
    tree.broken = broken;
    tree.comments = comments;
}

fn gap(
    bytes: &[u8],
    range: std::ops::Range<usize>,
    document_start: usize,
    comments: &mut Vec<TextRange>,
) {
    let mut at = range.start;
    while at < range.end {
        let Some(sharp) = bytes[at..range.end].iter().position(|&b| b == b'#') else {
            return;
        };
        let sharp = at + sharp;
        let end = sharp + line_length(&bytes[sharp..]);
        let line = line_start(bytes, sharp);
        // A directive may contain a `#` that is no comment.
        let in_directive = bytes[line] == b'%'
            && sharp < document_start
            && !bytes[sharp - 1].is_ascii_whitespace();
        if in_directive {
            at = sharp + 1;
            continue;
        }
        comments.push(TextRange::new(sharp, end));
        at = end;
    }
}

/// The range to show: the word where the parser failed, or, if it reached the end of the text, the
/// line on which the unfinished construct begins.
fn error_range(bytes: &[u8], error: &SyntaxError, shift: usize) -> TextRange {
    let at = (error.offset() + shift).min(bytes.len());
    if error.reader {
        let rest = &bytes[at..];
        let width = if rest.is_empty() {
            0
        } else {
            character_width(rest)
        };
        return TextRange::new(at, at + width);
    }
    let context = (error.context_mark.index + shift).min(bytes.len());
    let unfinished = error
        .context
        .is_some_and(|context| context.contains("quoted scalar") || context.contains("simple key"));
    let at_end = bytes[at..].iter().all(u8::is_ascii_whitespace);
    let context_is_solid = bytes
        .get(context)
        .is_some_and(|byte| !byte.is_ascii_whitespace());
    let names_flow = error
        .context
        .is_some_and(|context| context.contains("flow"));
    if context_is_solid && (unfinished || at_end && names_flow) {
        return rest_of_line(bytes, context);
    }
    rest_of_line(bytes, at)
}

/// From `at` to the end of its line without trailing blanks and comments; if nothing is left on the
/// line, the last text before it.
fn rest_of_line(bytes: &[u8], at: usize) -> TextRange {
    let at = at.min(bytes.len());
    let line = &bytes[at..at + line_length(&bytes[at..])];
    let length = line.trim_ascii_end().len();
    if length > 0 {
        return TextRange::new(at, at + length);
    }
    let Some(last) = bytes[..at].iter().rposition(|b| !b.is_ascii_whitespace()) else {
        return TextRange::empty(at);
    };
    let start = line_start(bytes, last);
    let indent = bytes[start..=last]
        .iter()
        .take_while(|b| b.is_ascii_whitespace())
        .count();
    TextRange::new(start + indent, last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::NodeId;

    fn slices<'t>(text: &'t str, tree: &Tree, path: &[NodeId]) -> Vec<&'t str> {
        path.iter()
            .map(|&id| tree.node(id).range.slice(text))
            .collect()
    }

    #[test]
    fn every_node_covers_its_own_bytes() {
        let text = "# top\na: &x !!str 'b' # one\nc:\n- d\n-\n- [e: f, {g}] #two\n\nh: | # three\n  \
                    i # no\n\n# end\nj: *x\n";
        let tree = parse_yaml(text).tree;
        let all: Vec<_> = tree.nodes().map(|(id, _)| id).collect();
        assert_eq!(
            slices(text, &tree, &all)[1..],
            [
                "a",
                "'b'",
                "c",
                "- d\n-\n- [e: f, {g}]",
                "d",
                "",
                "[e: f, {g}]",
                "e: f",
                "e",
                "f",
                "{g}",
                "g",
                "",
                "h",
                "| # three\n  i # no",
                "j",
                "*x"
            ]
        );
        let b = tree.node(tree.entries().next().expect("an entry").1);
        assert_eq!(b.full_range().slice(text), "&x !!str 'b'");
        let comments: Vec<_> = tree
            .comments()
            .iter()
            .map(|range| range.slice(text))
            .collect();
        assert_eq!(comments, ["# top", "# one", "#two", "# three", "# end"]);
    }

    #[test]
    fn a_path_leads_to_the_innermost_node() {
        let text = "a:\n  b: [c, &d e]\nf: g\n";
        let tree = parse_yaml(text).tree;
        for (at, innermost) in [("b", "b"), ("c", "c"), ("&d", "e"), ("e]", "e"), ("g", "g")] {
            let offset = text.find(at).expect("it is there");
            let path = tree.path_at(offset);
            assert_eq!(slices(text, &tree, &path).last(), Some(&innermost), "{at}");
        }
        assert_eq!(slices(text, &tree, &tree.path_at(6)).last(), Some(&"b"));
        assert_eq!(
            tree.path_at(text.find("c").expect("it is there")).len(),
            5 - 1
        );
    }

    #[test]
    fn ignored_documents_are_reported() {
        for (text, ignored, keys) in [
            ("a: 1\n---\nb: 2\n", Some("b: 2"), 1),
            ("---\n---\nb: 2\n", Some("b: 2"), 0),
            ("  a: 1\nb: 2\n", Some("b: 2"), 2),
            ("\u{FEFF}a: 1\nb: 2\n", Some("b: 2"), 2),
            ("a: 1\n...\n# c\n", None, 1),
        ] {
            let parse = parse_yaml(text);
            let found = parse
                .problems
                .first()
                .map(|problem| problem.range.slice(text));
            assert_eq!(found, ignored, "{text:?}");
            assert_eq!(parse.tree.entries().count(), keys, "{text:?}");
            assert!(parse.error().is_none());
        }
    }
}
