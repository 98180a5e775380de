//! Escapes text for Markdown.

/// Escapes characters that would start emphasis, links or tags.
#[must_use]
pub fn in_markdown(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    let mut before = ' ';
    for (at, character) in words.char_indices() {
        let next = words[at + character.len_utf8()..].chars().next();
        // An underscore inside of a word needs no escape.
        let within_word =
            before.is_alphanumeric() && next.is_some_and(|next| next.is_alphanumeric());
        match character {
            '_' if within_word => {}
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' => out.push('\\'),
            _ => {}
        }
        out.push(character);
        before = character;
    }
    out
}

/// A text as inline code, even if it contains backticks.
pub(crate) fn code_span(words: &str) -> String {
    let words = words.replace(['\n', '\r'], " ");
    let ticks = "`".repeat(longest_run(&words) + 1);
    if words.starts_with('`') || words.ends_with('`') || words.is_empty() {
        format!("{ticks} {words} {ticks}")
    } else {
        format!("{ticks}{words}{ticks}")
    }
}

/// The length of the longest run of backticks.
pub(crate) fn longest_run(words: &str) -> usize {
    let runs = words.split(|letter| letter != '`');
    runs.map(str::len).max().unwrap_or_default()
}
