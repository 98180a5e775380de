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
enum FlowBracket {
    /// A hash with its keys so far, and the key of the current value.
    Hash(Vec<String>, Option<String>),
    List,
}

/// Reads a text that starts with a bracket; `None` if all brackets are closed.
pub(super) fn scan(text: &str) -> Option<Flow> {
    let mut open: Vec<FlowBracket> = Vec::new();
    let word = read(text, &mut open)?;
    let blanks = text[word..].len() - text[word..].trim_start().len();
    let (slot, keys) = match open.last()? {
        FlowBracket::Hash(keys, Some(_)) => (Slot::Value, keys.clone()),
        FlowBracket::Hash(keys, None) => (Slot::Key, keys.clone()),
        FlowBracket::List => (Slot::Key, Vec::new()),
    };
    let steps = open.into_iter().filter_map(|open| match open {
        FlowBracket::Hash(_, key) => key.map(CursorStep::Key),
        FlowBracket::List => Some(CursorStep::Element),
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
    // The entry at the cursor, which is not one of them; its name may continue in the text.
    let mut open = vec![FlowBracket::Hash(Vec::new(), Some(String::new()))];
    read(text, &mut open);
    match open.into_iter().next() {
        Some(FlowBracket::Hash(keys, key)) => keys.into_iter().chain(key).skip(1).collect(),
        Some(FlowBracket::List) | None => Vec::new(),
    }
}

/// Reads a text inside of open brackets, and returns the offset of the last word; `None` at the
/// bracket that closes the outermost one, and in a comment.
fn read(text: &str, open: &mut Vec<FlowBracket>) -> Option<usize> {
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
                    '{' => FlowBracket::Hash(Vec::new(), None),
                    _ => FlowBracket::List,
                });
                (word, quoted) = (next, None);
            }
            '}' | ']' if open.len() <= 1 => return None,
            '}' | ']' => {
                open.pop();
                (word, quoted) = (next, None);
            }
            ',' => {
                if let Some(FlowBracket::Hash(keys, key)) = open.last_mut() {
                    keys.extend(key.take());
                }
                (word, quoted) = (next, None);
            }
            ':' if quoted.is_some() || behind.is_some_and(char::is_whitespace) => {
                if let Some(FlowBracket::Hash(_, key)) = open.last_mut()
                    && key.as_deref().unwrap_or_default().is_empty()
                {
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
    Some(word)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_behind_the_cursor_leave_out_the_entry_at_the_cursor() {
        for (behind, wanted) in [
            ("ths: [a.yaml, b.yaml], name: x}", &["name"][..]),
            ("th: \"nodes/%{fqdn}.yaml\", name: x}", &["name"]),
            (": {x: 1}, other: 2}, outside: 3", &["other"]),
            (": 'it, is: so', name: x}", &["name"]),
            ("\n name: [a, b], x: 1}", &["x"]),
            (", name: x, 'a b': {c: d}}", &["name", "a b"]),
            ("}", &[]),
            ("", &[]),
        ] {
            assert_eq!(keys_behind(behind), wanted, "{behind}");
        }
    }
}
