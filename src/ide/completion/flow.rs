//! Flow style before the cursor: the open brackets and the steps to the last word.

use super::cursor::{CursorStep, Slot};

/// The end of a text in flow style.
pub(super) struct Flow {
    /// The steps to the last word, outermost first.
    pub(super) steps: Vec<CursorStep>,
    pub(super) slot: Slot,
    /// The offset of the last word.
    pub(super) word: usize,
    /// The keys in the hash around it, before it.
    pub(super) keys: Vec<String>,
}

/// An open bracket.
enum Open {
    /// A hash with its keys so far, and the key of the current value.
    Hash(Vec<String>, Option<String>),
    List,
}

/// Reads a text that starts with a bracket; `None` if all brackets are closed.
pub(super) fn scan(text: &str) -> Option<Flow> {
    let mut open: Vec<Open> = Vec::new();
    let mut word = 0;
    let mut at = 0;
    // A quoted text that may be a key.
    let mut quoted: Option<&str> = None;
    while let Some(character) = text[at..].chars().next() {
        let next = at + character.len_utf8();
        let behind = text[next..].chars().next();
        match character {
            '"' | '\'' if text[word..at].trim().is_empty() => {
                let Some(close) = closing(&text[next..], character) else {
                    word = at;
                    break;
                };
                quoted = Some(&text[next..next + close]);
                at = next + close + character.len_utf8();
                continue;
            }
            '{' | '[' if text[word..at].trim().is_empty() => {
                open.push(match character {
                    '{' => Open::Hash(Vec::new(), None),
                    _ => Open::List,
                });
                (word, quoted) = (next, None);
            }
            '}' | ']' => {
                open.pop();
                (word, quoted) = (next, None);
                if open.is_empty() {
                    return None;
                }
            }
            ',' => {
                if let Some(Open::Hash(keys, key)) = open.last_mut() {
                    keys.extend(key.take());
                }
                (word, quoted) = (next, None);
            }
            ':' if quoted.is_some() || behind.is_some_and(char::is_whitespace) => {
                if let Some(Open::Hash(_, key @ None)) = open.last_mut() {
                    let plain = text[word..at].trim();
                    *key = Some(quoted.unwrap_or(plain).to_owned());
                    (word, quoted) = (next, None);
                }
            }
            '#' if text[..at].ends_with([' ', '\n']) => {
                let end = text[at..].find('\n')?;
                at += end;
                continue;
            }
            _ => {}
        }
        at = next;
    }
    let blanks = text[word..].len() - text[word..].trim_start().len();
    let slot = match open.last()? {
        Open::Hash(_, Some(_)) => Slot::Value,
        Open::Hash(_, None) | Open::List => Slot::Key,
    };
    let keys = match open.last() {
        Some(Open::Hash(keys, _)) => keys.clone(),
        Some(Open::List) | None => Vec::new(),
    };
    let steps = open.into_iter().filter_map(|open| match open {
        Open::Hash(_, key) => key.map(CursorStep::Key),
        Open::List => Some(CursorStep::Element),
    });
    Some(Flow {
        steps: steps.collect(),
        slot,
        word: word + blanks,
        keys,
    })
}

/// The further keys of the hash that continues in a text, up to its closing bracket.
pub(super) fn keys_behind(text: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let (mut depth, mut word, mut at) = (0_usize, 0, 0);
    let mut quoted: Option<&str> = None;
    // The cursor is in the first word.
    let mut is_first = true;
    while let Some(character) = text[at..].chars().next() {
        let next = at + character.len_utf8();
        let behind = text[next..].chars().next();
        match character {
            '"' | '\'' if text[word..at].trim().is_empty() => {
                let Some(close) = closing(&text[next..], character) else {
                    break;
                };
                quoted = Some(&text[next..next + close]);
                at = next + close + character.len_utf8();
                continue;
            }
            '{' | '[' => depth += 1,
            '}' | ']' if depth == 0 => break,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => (word, quoted, is_first) = (next, None, false),
            ':' if depth == 0 && (quoted.is_some() || behind.is_some_and(char::is_whitespace)) => {
                if !is_first {
                    keys.push(quoted.unwrap_or(text[word..at].trim()).to_owned());
                }
                (word, quoted, is_first) = (next, None, true);
            }
            _ => {}
        }
        at = next;
    }
    keys
}

/// The offset of the end of a quoted text, which starts after its first quote.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            '\n' if quote == '"' => return None,
            found if found == quote => return Some(at),
            _ => {}
        }
    }
    None
}

/// Whether any bracket in a text is still open at its end.
pub(super) fn is_open(text: &str) -> bool {
    scan(text).is_some()
}

/// Whether a line contains the start of a comment.
pub(super) fn has_comment(line: &str) -> bool {
    let mut quote = None;
    let mut before = ' ';
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '"' | '\'') if " :[{,-".contains(before) => quote = Some(character),
            (None, '#') if before.is_whitespace() => return true,
            (_, _) => {}
        }
        before = character;
    }
    false
}
