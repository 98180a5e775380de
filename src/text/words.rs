//! Numbers and lists in sentences.

/// A number of things: `1 file`, `3 files`.
#[must_use]
pub fn number_of(count: usize, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    }
}

/// A text of at most `most` characters; a cut one ends in `…`.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    kept + "…"
}

/// Words on one line; after `most` characters, `…` stands for the rest.
#[must_use]
pub fn cut_words(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The first names of a list, with the number of the others: `a, b and 3 more`.
#[must_use]
pub fn few(names: &[impl AsRef<str>], most: usize) -> String {
    let (shown, rest) = names.split_at(names.len().min(most));
    let shown: Vec<&str> = shown.iter().map(AsRef::as_ref).collect();
    let shown = shown.join(", ");
    match rest.len() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Joins words into lines of at most `width` characters, with at least one word.
#[must_use]
pub fn folded(
    words: impl Iterator<Item = impl AsRef<str>>,
    separator: &str,
    width: usize,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        let word = word.as_ref();
        let fits = |line: &&mut String| {
            line.chars().count() + separator.len() + word.chars().count() <= width
        };
        match lines.last_mut().filter(fits) {
            Some(line) => {
                line.push_str(separator);
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}
