//! What is left of a YAML text with a syntax error: every top-level entry that still reads.
//!
//! libyaml stops at the first error. Everything before the last key it saw is sure and kept. From
//! there on the text is cut into blocks, each from a line that can begin a top-level entry up to
//! the next such line, and each block is read on its own:
//!
//! - a line begins a block if it is indented no deeper than the topmost mapping and is neither
//!   blank nor a comment nor a continuation (`- element`, `: value`, a closing bracket, a tab);
//! - a block that cannot be read alone is tried with the following lines that don't look like
//!   keys (`"…"` of a list in brackets), then as libyaml reads on from its start, for quotes and
//!   brackets that really span lines that look like keys;
//! - a block that still doesn't read is broken; if its value is complete before the first such
//!   continuation, only what follows is.
//!
//! Aliases see the anchors of all entries that read. The work is O(length): reading on is paid
//! from a budget.

use std::ops::Range;

use super::builder::{Builder, Growth, break_width, line_length, line_start};
use super::libyaml::{CollectionStyle, EventKind, Parser};
use super::tree::{BrokenEntry, Spanned, Tree};
use super::yaml::{YamlFailure, YamlStop, add_comments};
use super::{Parse, Problem, ProblemKind};
use crate::text::TextRange;

/// Reading on from a broken block may cost this many times the length of the text in total.
const READ_ON_BUDGET: usize = 4;

/// Additional bytes that may be spent, so that small files can read on from every block.
const READ_ON_ALLOWANCE: usize = 1 << 20;

/// libyaml decodes this many bytes before it parses the first.
const READ_AHEAD: usize = 16 * 1024;

/// Maximum number of syntax problems reported for one file.
const MAX_PROBLEMS: usize = 100;

/// The kind of a line at the top level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RecoveryLine {
    /// It has a key and can begin an entry.
    Key,
    /// It could begin an entry, but has no key.
    Stray,
    /// It could begin an entry, but more likely continues the previous one: an element of a list
    /// that is not indented, a closing bracket.
    Continuation,
    /// It belongs to the lines above, or to nothing.
    Inner,
}

/// A line that begins a block, or a continuation.
#[derive(Clone, Copy, Debug)]
struct Start {
    at: usize,
    line: usize,
    is: RecoveryLine,
}

/// The tree and the problems of a text that libyaml refuses.
pub(super) fn recover<'t>(bytes: &'t [u8], failure: Box<YamlFailure<'t>>) -> Parse {
    let whole = failure.stop.problem(bytes, 0, 0);
    let (tree, mut problems) = salvage(bytes, failure);
    match problems.first_mut() {
        // The range is that of the broken block, the message is Puppet's.
        Some(first) => {
            first.message = whole.message;
            first.kind = whole.kind;
        }
        None => problems.push(whole),
    }
    Parse {
        tree,
        problems,
        psych: None,
    }
}

/// The tree and the problems of the blocks of a text that cannot be parsed, or only in part.
pub(super) fn salvage<'t>(bytes: &'t [u8], failure: Box<YamlFailure<'t>>) -> (Tree, Vec<Problem>) {
    let YamlFailure {
        mut builder,
        last_key,
        column,
        document_start,
        ..
    } = *failure;
    let is_sure = builder.depth() > 0 && column.is_some();
    let from = match last_key {
        Some((_, key)) if is_sure => line_start(bytes, key),
        Some(_) | None => first_line(bytes, document_start),
    };
    let mut lines = from..document_end(bytes, from);
    // An accidentally indented first line must not include all the following lines in its entry.
    let mut column = lowest_key_column(bytes, lines.clone())
        .into_iter()
        .chain(column)
        .min();
    // While it is being typed, text above the real document's marker forms a document of its own.
    while column.is_none() && lines.end < bytes.len() {
        lines = next_document(bytes, lines.end);
        column = lowest_key_column(bytes, lines.clone());
    }
    if column.is_none() {
        return (partial(bytes, builder, last_key), Vec::new());
    }
    match last_key {
        Some((checkpoint, _)) if is_sure => {
            builder.roll_back(checkpoint);
        }
        Some(_) | None => {
            builder = Builder::new(bytes);
            builder.open_top_mapping(from);
        }
    }
    let mut recovery = Recovery {
        bytes,
        builder,
        starts: Vec::new(),
        document_end: lines.end,
        budget: bytes.len() * READ_ON_BUDGET + READ_ON_ALLOWANCE,
        broken: Vec::new(),
        problems: Vec::new(),
    };
    loop {
        if let Some(column) = column {
            recovery.starts = starts(bytes, lines.clone(), column);
            recovery.document_end = lines.end;
            recovery.run();
        }
        if recovery.builder.has_children() || lines.end >= bytes.len() {
            break;
        }
        lines = next_document(bytes, lines.end);
        column = lowest_key_column(bytes, lines.clone());
    }
    let mut tree = recovery.builder.finish();
    tree.broken = recovery.broken;
    add_comments(&mut tree, bytes, document_start, lines.end);
    (tree, recovery.problems)
}

/// The tree up to the error, for a text that cannot be split at lines.
fn partial(
    bytes: &[u8],
    mut builder: Builder<'_>,
    last_key: Option<(super::builder::Checkpoint, usize)>,
) -> Tree {
    let mut broken = Vec::new();
    if let Some((checkpoint, key)) = last_key {
        builder.roll_back(checkpoint);
        broken.push(BrokenEntry {
            range: trimmed(bytes, key..bytes.len()),
            key: None,
        });
    }
    let mut tree: Tree = builder.finish();
    tree.broken = broken;
    let end = tree.nodes.first().map_or(0, |root| root.range.end as usize);
    add_comments(&mut tree, bytes, 0, end);
    tree
}

struct Recovery<'t> {
    bytes: &'t [u8],
    builder: Builder<'t>,
    starts: Vec<Start>,
    document_end: usize,
    /// Bytes that may still be spent on reading on.
    budget: usize,
    broken: Vec<BrokenEntry>,
    problems: Vec<Problem>,
}

impl Recovery<'_> {
    fn run(&mut self) {
        let mut next = 0;
        while let Some(&start) = self.starts.get(next) {
            next = self.block(start, next);
        }
    }

    /// Parses the block at `start`, the start with number `index`; returns the number of the next
    /// start.
    fn block(&mut self, start: Start, index: usize) -> usize {
        let until = |from: usize, wanted: &[RecoveryLine]| {
            self.starts[from..]
                .iter()
                .position(|start| wanted.contains(&start.is))
                .map_or(self.starts.len(), |offset| from + offset)
        };
        let next = until(index + 1, &[RecoveryLine::Key, RecoveryLine::Stray]);
        let next_key = until(next, &[RecoveryLine::Key]);
        let continuation = until(
            index + 1,
            &[
                RecoveryLine::Key,
                RecoveryLine::Stray,
                RecoveryLine::Continuation,
            ],
        );
        let error = match self.attempt(start.at..self.offset(next)) {
            Ok(()) => return next,
            Err(stop) => stop,
        };
        if start.is == RecoveryLine::Key
            && next_key != next
            && self.attempt(start.at..self.offset(next_key)).is_ok()
        {
            return next_key;
        }
        let end = self.offset(next);
        let runs_off = error.as_ref().is_some_and(|stop| {
            let at = (start.at + stop.offset()).min(end);
            self.bytes[at..end].iter().all(u8::is_ascii_whitespace)
        });
        if start.is == RecoveryLine::Key
            && runs_off
            && let Some(behind) = self.read_on(start.at)
        {
            // The last line may have no line break, and still be part of the parsed text.
            let behind = if behind < self.document_end {
                line_start(self.bytes, behind)
            } else {
                behind
            };
            return self.starts.partition_point(|start| start.at < behind);
        }
        if continuation != next && start.is == RecoveryLine::Key {
            let checkpoint = self.builder.checkpoint();
            if self.attempt(start.at..self.offset(continuation)).is_ok() {
                if self.builder.last_value_is_written() {
                    self.report(self.starts[continuation], end, None);
                    return next;
                }
                self.builder.roll_back(checkpoint);
            }
        }
        self.report(start, end, error);
        next
    }

    fn offset(&self, index: usize) -> usize {
        self.starts
            .get(index)
            .map_or(self.document_end, |start| start.at)
    }

    /// Parses `range` as entries of the topmost mapping, or adds nothing. The error is `None` if
    /// the text is valid YAML, but no mapping.
    fn attempt(&mut self, range: Range<usize>) -> Result<(), Option<YamlStop>> {
        let checkpoint = self.builder.checkpoint();
        let result = self.entries(range, None).map(|_| ());
        if result.is_err() {
            self.builder.roll_back(checkpoint);
        }
        result
    }

    /// Parses one entry from `start` as far as it extends, and returns the start of the next key.
    /// The entry is kept only if another key or the end of the document follows.
    fn read_on(&mut self, start: usize) -> Option<usize> {
        let end = self.document_end.min(start.saturating_add(self.budget));
        if end < self.document_end {
            return None;
        }
        let checkpoint = self.builder.checkpoint();
        let mut spent = 0;
        let result = self.entries(start..end, Some(&mut spent));
        let spent = spent.max(READ_AHEAD.min(end - start));
        self.budget = self.budget.saturating_sub(spent);
        if result.is_err() {
            self.builder.roll_back(checkpoint);
        }
        result.ok()
    }

    /// Adds the entries of `range` to the builder; with `one`, only the first, and stores the
    /// number of parsed bytes there. Returns where it stopped.
    fn entries(
        &mut self,
        range: Range<usize>,
        mut one: Option<&mut usize>,
    ) -> Result<usize, Option<YamlStop>> {
        let piece = &self.bytes[range.clone()];
        let mut parser = Parser::new(piece);
        let mut depth = 0_usize;
        let mut children = 0_usize;
        let mut ended = false;
        loop {
            let event = match parser.next_event() {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(range.end),
                Err(error) => {
                    if let Some(spent) = one.as_deref_mut() {
                        *spent = error.offset().max(1);
                    }
                    return Err(Some(YamlStop::Syntax(error)));
                }
            };
            if let Some(spent) = one.as_deref_mut() {
                *spent = event.end.index.max(1);
            }
            match &event.kind {
                EventKind::StreamStart | EventKind::DocumentStart { implicit: true } => continue,
                EventKind::StreamEnd if ended => return Ok(range.end),
                EventKind::DocumentEnd { implicit: true } if depth == 0 => {
                    ended = true;
                    continue;
                }
                EventKind::MappingStart {
                    anchor: None,
                    tag: None,
                    style: CollectionStyle::Block,
                    ..
                } if depth == 0 && !ended => {
                    depth = 1;
                    continue;
                }
                EventKind::MappingEnd if depth == 1 => {
                    depth = 0;
                    continue;
                }
                EventKind::StreamEnd
                | EventKind::DocumentStart { .. }
                | EventKind::DocumentEnd { .. } => return Err(None),
                _ => {}
            }
            if depth == 0 {
                return Err(None);
            }
            if depth == 1 && children == 2 && one.is_some() {
                return Ok(range.start + event.start.index);
            }
            if depth == 1 {
                children += 1;
            }
            match &event.kind {
                EventKind::SequenceStart { .. } | EventKind::MappingStart { .. } => depth += 1,
                EventKind::SequenceEnd | EventKind::MappingEnd => depth -= 1,
                _ => {}
            }
            if self.builder.event(&event, range.start) == Growth::TooDeep {
                return Err(Some(YamlStop::TooDeep(event.start.index)));
            }
        }
    }

    fn report(&mut self, start: Start, end: usize, stop: Option<YamlStop>) {
        let range = without_comments(self.bytes, start.at..end);
        self.broken.push(BrokenEntry {
            range,
            key: key_of_line(self.bytes, start),
        });
        if self.problems.len() >= MAX_PROBLEMS {
            return;
        }
        let problem = match stop {
            Some(stop) => {
                // The block ends where the next begins: an error at its end belongs to it.
                let mut problem = stop.problem(&self.bytes[..end], start.at, start.line);
                problem.range.start = problem.range.start.max(range.start);
                problem.range.end = problem.range.end.max(problem.range.start);
                problem
            }
            None => {
                let what = match start.is {
                    RecoveryLine::Continuation => {
                        "did not find expected key while parsing a block mapping"
                    }
                    RecoveryLine::Key | RecoveryLine::Stray | RecoveryLine::Inner => {
                        "could not find expected ':' while scanning a simple key"
                    }
                };
                let line = line_length(&self.bytes[range.as_usize()]);
                Problem {
                    range: trimmed(self.bytes, start.at..start.at + line),
                    message: format!("{what} at line {} column 1", start.line + 1),
                    kind: ProblemKind::Syntax,
                }
            }
        };
        self.problems.push(problem);
    }
}

/// The lines that begin blocks, and the dashes between them.
fn starts(bytes: &[u8], range: Range<usize>, column: usize) -> Vec<Start> {
    let mut line = count_lines(&bytes[..range.start]);
    let mut starts = Vec::new();
    for_each_line(bytes, range, |at, text| {
        // The first line with text begins a block even if it is indented.
        let column = if starts.is_empty() {
            usize::MAX
        } else {
            column
        };
        let is = classify(text, column);
        if is != RecoveryLine::Inner {
            starts.push(Start { at, line, is });
        }
        line += 1;
    });
    starts
}

fn classify(line: &[u8], column: usize) -> RecoveryLine {
    let indent = line.iter().take_while(|&&b| b == b' ').count();
    let text = &line[indent..];
    let is_alone = |rest: &[u8]| matches!(rest.first(), None | Some(b' ' | b'\t'));
    match text {
        [] | [b'#', ..] => RecoveryLine::Inner,
        _ if indent > column => RecoveryLine::Inner,
        [b'-' | b':', rest @ ..] if is_alone(rest) => RecoveryLine::Continuation,
        [b']' | b'}' | b',' | b'\t', ..] => RecoveryLine::Continuation,
        [b'?', rest @ ..] if is_alone(rest) => RecoveryLine::Key,
        _ if key_length(text).is_some() => RecoveryLine::Key,
        _ => RecoveryLine::Stray,
    }
}

/// The number of bytes before the `:` that makes the start of a line a key.
fn key_length(text: &[u8]) -> Option<usize> {
    let quote = text.first().copied().filter(|b| matches!(b, b'"' | b'\''));
    let mut at = 0;
    if let Some(quote) = quote {
        at = 1;
        while *text.get(at)? != quote {
            at += if text[at] == b'\\' && quote == b'"' {
                2
            } else {
                1
            };
        }
    }
    while at < text.len() {
        let ends = matches!(text.get(at + 1), None | Some(b' ' | b'\t'));
        match text[at] {
            b':' if ends => return Some(at),
            b'#' if at > 0 && matches!(text[at - 1], b' ' | b'\t') => return None,
            _ => at += 1,
        }
    }
    None
}

/// The key of a broken block, read from its first line alone.
fn key_of_line(bytes: &[u8], start: Start) -> Option<Spanned> {
    let line = &bytes[start.at..start.at + line_length(&bytes[start.at..])];
    let indent = line.iter().take_while(|&&b| b == b' ').count();
    let length = key_length(&line[indent..])?;
    let mut parser = Parser::new(&line[..indent + length]);
    while let Ok(Some(event)) = parser.next_event() {
        if let EventKind::Scalar { value, .. } = &event.kind {
            return Some(Spanned {
                range: TextRange::new(start.at + event.start.index, start.at + event.end.index),
                text: value.as_ref().into(),
            });
        }
    }
    None
}

/// The minimum indentation of a line with a key, unless the lines belong to a mapping in braces or
/// to a list.
fn lowest_key_column(bytes: &[u8], range: Range<usize>) -> Option<usize> {
    let (mut lowest, mut lowest_element) = (usize::MAX, usize::MAX);
    let mut in_braces = false;
    for_each_line(bytes, range, |_, line| {
        let indent = line.iter().take_while(|&&b| b == b' ').count();
        match classify(line, usize::MAX) {
            RecoveryLine::Key => {
                if indent <= lowest {
                    in_braces &= indent == lowest;
                    in_braces |= line.trim_ascii_end().ends_with(b",");
                    lowest = indent;
                }
            }
            RecoveryLine::Continuation => lowest_element = lowest_element.min(indent),
            RecoveryLine::Stray | RecoveryLine::Inner => {}
        }
    });
    (lowest < usize::MAX && lowest <= lowest_element && !in_braces).then_some(lowest)
}

/// The start of the first document's lines, which is not before `from`.
fn first_line(bytes: &[u8], from: usize) -> usize {
    let mut first = from;
    let mut is_before = from == 0;
    for_each_line(bytes, from..bytes.len(), |at, line| {
        if is_before && line.starts_with(b"---") && line[3..].trim_ascii().is_empty() {
            first = at + line.len();
        }
        is_before &= matches!(line, [] | [b'#' | b'%', ..]);
    });
    first
}

/// The end of the document that contains `from`: the next line `---` or `...`.
fn document_end(bytes: &[u8], from: usize) -> usize {
    let mut end = bytes.len();
    for_each_line(bytes, from..bytes.len(), |at, line| {
        let marker = line.starts_with(b"---") || line.starts_with(b"...");
        let alone = matches!(line.get(3), None | Some(b' ' | b'\t'));
        if marker && alone && at < end {
            end = at;
        }
    });
    end
}

/// The lines after the marker at `marker`, up to the next one.
fn next_document(bytes: &[u8], marker: usize) -> Range<usize> {
    let start = marker + line_length(&bytes[marker..]);
    start..document_end(bytes, start)
}

/// Calls `each` with the offset and the text of every line of the range, without line breaks.
fn for_each_line(bytes: &[u8], range: Range<usize>, mut each: impl FnMut(usize, &[u8])) {
    let mut at = range.start;
    while at < range.end {
        let length = line_length(&bytes[at..range.end]);
        each(at, &bytes[at..at + length]);
        at += length;
        at += break_width(&bytes[at..range.end]).max(1);
    }
}

fn count_lines(bytes: &[u8]) -> usize {
    let mut lines = 0;
    for_each_line(bytes, 0..bytes.len(), |_, _| lines += 1);
    lines
}

/// The range of a broken entry without trailing blanks, and without trailing comment lines that are
/// not indented further than it: they belong to the next entry.
fn without_comments(bytes: &[u8], entry: Range<usize>) -> TextRange {
    let column = entry.start - line_start(bytes, entry.start);
    let mut range = trimmed(bytes, entry.clone());
    loop {
        let line = line_start(bytes, range.end as usize);
        let last = &bytes[line..range.end as usize];
        let indent = last.iter().take_while(|byte| **byte == b' ').count();
        if line <= entry.start || indent > column || last.get(indent) != Some(&b'#') {
            return range;
        }
        range = trimmed(bytes, entry.start..line);
    }
}

/// A range without trailing blanks.
fn trimmed(bytes: &[u8], range: Range<usize>) -> TextRange {
    let length = bytes[range.clone()].trim_ascii_end().len();
    TextRange::new(range.start, range.start + length)
}
