//! One line of YAML in block style, read alone: its indentation, its dashes, its key. For texts that are half
//! typed and have no tree.

/// How a line ends, which decides whether a colon at its end closes a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With a line break.
    Break,
    /// At the cursor: `profile:` may become `profile::web`.
    Cursor,
}

/// A line of block style.
pub(super) struct Line {
    /// Columns of the dashes before the content.
    pub(super) dashes: Vec<usize>,
    /// Column of the content.
    pub(super) column: usize,
    /// The key, if the line has one.
    pub(super) key: Option<String>,
    /// Where the key ends, its quotes included.
    pub(super) key_end: usize,
    /// Where the value starts, or the content ends.
    pub(super) rest: usize,
}

impl Line {
    /// Reads a line without its line break.
    pub(super) fn read(line: &str, end: End) -> Line {
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
        Line {
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

/// The key that a line's content starts with.
struct FoundKey {
    key: String,
    /// Where it ends, its quotes included.
    end: usize,
    /// Where its value starts.
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
