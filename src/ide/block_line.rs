//! Reads single lines of YAML in block style: indentation, dashes, key. For half-typed text without
//! a syntax tree.

/// The end of a line; it decides whether a trailing colon ends a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With a line break.
    Break,
    /// At the cursor: `profile:` may become `profile::web`.
    Cursor,
}

pub(super) struct BlockLine {
    /// The columns of dashes before the content.
    pub(super) dashes: Vec<usize>,
    /// The column of the content.
    pub(super) column: usize,
    /// The key, if the line has one.
    pub(super) key: Option<String>,
    /// The end of the key, with its quotes.
    pub(super) key_end: usize,
    /// The start of the value, or the end of the content.
    pub(super) rest: usize,
}

impl BlockLine {
    /// Reads a line without its line break.
    pub(super) fn read(line: &str, end: End) -> BlockLine {
        let mut column = indent(line);
        let mut dashes = Vec::new();
        while let Some(tail) = line.get(column..).and_then(|rest| rest.strip_prefix('-')) {
            let blanks = indent(tail);
            if blanks == 0 && !(tail.is_empty() && end == End::Break) {
                break;
            }
            dashes.push(column);
            column += 1 + blanks;
        }
        let content = line.get(column..).unwrap_or_default();
        let found = key_of(content, end);
        BlockLine {
            dashes,
            column,
            rest: column + found.as_ref().map_or(0, |found| found.value),
            key_end: column + found.as_ref().map_or(0, |found| found.end),
            key: found.map(|found| found.key),
        }
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The key at the start of a line's content.
struct FoundKey {
    key: String,
    /// The end of the key, with its quotes.
    end: usize,
    /// The start of the value.
    value: usize,
}

fn key_of(content: &str, end: End) -> Option<FoundKey> {
    let (key, behind) = match content.chars().next()? {
        quote @ ('"' | '\'') => {
            let close = 1 + content[1..].find(quote)?;
            (&content[1..close], close + 1)
        }
        '{' | '[' | '#' | '|' | '>' => return None,
        _ => {
            let is_end = |at: &usize| {
                let next = content[at + 1..].chars().next();
                next.map_or(end == End::Break, char::is_whitespace)
            };
            let colon = content.match_indices(':').map(|(at, _)| at).find(is_end)?;
            (&content[..colon], colon)
        }
    };
    let tail = content[behind..]
        .trim_start_matches(' ')
        .strip_prefix(':')?;
    let is_ended = tail.is_empty() && end == End::Break;
    if !is_ended && !tail.starts_with([' ', '\t']) {
        return None;
    }
    let value = content.len() - tail.trim_start_matches([' ', '\t']).len();
    Some(FoundKey {
        key: key.trim_end().to_owned(),
        end: behind,
        value,
    })
}
