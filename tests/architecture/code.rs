//! Rust code as names and signs, without comments, contents of strings, and tests.

use super::after_cfg_test;

pub(crate) fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The tokens outside `#[cfg(test)]` items.
pub(crate) fn without_tests(tokens: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut rest = tokens;
    while let Some(after) = after_cfg_test(rest).next() {
        let marker = rest.len() - after.len();
        kept.extend_from_slice(&rest[..marker]);
        let mut depth = 0_usize;
        let end = after.iter().position(|token| {
            match token.as_str() {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && (token == "}" || token == ";")
        });
        rest = end.map_or(&[][..], |end| &after[end + 1..]);
    }
    kept.extend_from_slice(rest);
    kept
}

/// Names, `::` and single other characters.
pub(crate) fn tokens(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        if !first.is_whitespace() {
            found.push(rest[..length].to_owned());
        }
        rest = &rest[length..];
    }
    found
}

/// The code without comments and without the contents of strings and characters.
pub(crate) fn blank(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    let mut last = ' ';
    while let Some(first) = rest.chars().next() {
        let word_before = last.is_alphanumeric() || last == '_';
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if !word_before && let Some(length) = raw_string(rest) {
            length
        } else if first == '"' {
            quoted(rest, '"')
        } else if first == '\'' && is_character(rest) {
            quoted(rest, '\'')
        } else {
            code.push(first);
            last = first;
            rest = &rest[first.len_utf8()..];
            continue;
        };
        code.push(' ');
        last = ' ';
        rest = &rest[length..];
    }
    code
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of a raw string such as `r#"…"#` or `br"…"`; `None` if there is none here.
fn raw_string(text: &str) -> Option<usize> {
    let after = text
        .strip_prefix("br")
        .or_else(|| text.strip_prefix("cr"))
        .or_else(|| text.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let close = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(text.len() - body.len() + close)
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Whether the quote at the start opens a character rather than a lifetime.
fn is_character(text: &str) -> bool {
    let mut inside = text.chars().skip(1);
    match inside.next() {
        Some('\\') => true,
        Some(_) => inside.next() == Some('\''),
        None => false,
    }
}
