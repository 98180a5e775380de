//! Adds quotes around scalars of single lines, even if the whole text is not valid YAML.

/// A line of YAML with quotes added around those unquoted scalars for whose remaining text `begins`
/// returns true. Lines of block scalars are not recognised.
///
/// ```
/// use hiera_ls::syntax::quote_scalars;
///
/// let begins = |scalar: &str| scalar.starts_with('%');
/// let line = "hosts: [a, %{b}.c] # %{d}\n";
/// assert_eq!(quote_scalars(line, &begins), "hosts: [a, \"%{b}.c\"] # %{d}\n");
/// ```
#[must_use]
pub fn quote_scalars(line: &str, begins: &dyn Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(line.len() + 2);
    let mut rest = line;
    let mut depth = 0_usize;
    // Whether a scalar may begin here.
    let mut is_start = true;
    while let Some(next) = rest.chars().next() {
        let is_wanted = is_start && !matches!(next, ' ' | '\n' | '\r' | '#') && begins(rest);
        let is_comment = next == '#' && (out.is_empty() || out.ends_with(' '));
        let end = match next {
            _ if is_comment => rest.len(),
            '"' | '\'' if is_start => 1 + rest[1..].find(next).map_or(rest.len() - 1, |at| at + 1),
            _ if is_wanted => scalar_end(rest, depth > 0),
            _ if rest.starts_with("%{") => token_end(rest),
            _ => next.len_utf8(),
        };
        let (part, behind) = rest.split_at(end);
        let is_blank = behind.is_empty() || behind.starts_with([' ', '\n', '\r']);
        if is_wanted {
            out.push_str(&quoted(part))
        } else {
            out.push_str(part)
        }
        match next {
            '[' | '{' if is_start => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_start = match next {
            _ if is_wanted => false,
            ' ' => is_start,
            '-' => is_start && is_blank,
            ':' => is_blank,
            '[' | '{' => is_start,
            ',' => depth > 0,
            _ => false,
        };
        rest = behind;
    }
    out
}

/// The end of the token at the start of a text.
fn token_end(text: &str) -> usize {
    text.find('}').map_or(text.len(), |at| at + 1)
}

/// The end of the plain scalar at the start of a text; in a flow collection, before its
/// punctuation.
fn scalar_end(text: &str, in_flow: bool) -> usize {
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_end = match next {
            '\n' | '\r' => true,
            ' ' => rest.trim_start_matches(' ').starts_with('#'),
            ':' => rest[1..].is_empty() || rest[1..].starts_with([' ', '\n', '\r']),
            ',' | ']' | '}' => in_flow,
            _ => false,
        };
        if is_end {
            break;
        }
        at += if rest.starts_with("%{") {
            token_end(rest)
        } else {
            next.len_utf8()
        };
    }
    text[..at].trim_end().len()
}

/// A text in quotes: double ones, unless it contains something that would have to be escaped.
#[must_use]
pub fn quoted(text: &str) -> String {
    if text.contains(['"', '\\']) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        format!("\"{text}\"")
    }
}
