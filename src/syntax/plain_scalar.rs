//! Scalars and keys that the parser of plain YAML reads within a line.

use std::borrow::Cow;
use std::str::CharIndices;

use memchr::memchr2;

use super::ScalarStyle;
use super::plain_yaml::LONGEST_KEY;

/// The text after a leading ASCII byte.
pub(super) fn behind_byte(text: &str, byte: u8) -> Option<&str> {
    (text.as_bytes().first() == Some(&byte)).then(|| &text[1..])
}

/// A key at the start of a line's content.
pub(super) struct KeyAt<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) style: ScalarStyle,
    /// Its bytes, with quotes.
    pub(super) length: usize,
    /// The bytes before its colon: blanks may follow the key.
    pub(super) colon: usize,
    /// The text after its colon and blanks.
    pub(super) behind: &'t str,
}

pub(super) fn key(content: &str) -> Option<KeyAt<'_>> {
    let (text, style, length) = match content.as_bytes().first()? {
        b'"' | b'\'' => {
            let (text, rest) = quoted(content)?;
            // `<<` is not handled here.
            if text == "<<" {
                return None;
            }
            (text, quoted_style(content), content.len() - rest.len())
        }
        _ if !may_start(content) => return None,
        _ => {
            let PlainEnd::Colon(end) = plain_end(content) else {
                return None;
            };
            let text = before_blanks(&content[..end]);
            (Cow::Borrowed(text), ScalarStyle::Plain, text.len())
        }
    };
    let rest = behind_blanks(&content[length..]);
    let colon = content.len() - rest.len();
    let rest = behind_byte(rest, b':')?;
    let ends = matches!(rest.as_bytes().first(), None | Some(b' '));
    (ends && colon < LONGEST_KEY).then(|| KeyAt {
        text,
        style,
        length,
        colon,
        behind: behind_blanks(rest),
    })
}

/// The text without leading blanks.
pub(super) fn behind_blanks(text: &str) -> &str {
    let blanks = text.bytes().position(|byte| byte != b' ');
    &text[blanks.unwrap_or(text.len())..]
}

/// The text without trailing blanks.
pub(super) fn before_blanks(text: &str) -> &str {
    let end = text.bytes().rposition(|byte| byte != b' ');
    &text[..end.map_or(0, |end| end + 1)]
}

/// The end of a plain scalar outside of brackets.
pub(super) enum PlainEnd {
    /// A colon followed by a blank or the line's end: the scalar is a key.
    Colon(usize),
    /// The blank before a comment.
    Comment(usize),
    Line(usize),
}

pub(super) fn plain_end(content: &str) -> PlainEnd {
    let bytes = content.as_bytes();
    // Most scalars are too short for a vectorised search.
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b':' if matches!(bytes.get(at + 1), None | Some(b' ')) => return PlainEnd::Colon(at),
            b'#' if at > 0 && bytes[at - 1] == b' ' => return PlainEnd::Comment(at - 1),
            _ => {}
        }
    }
    PlainEnd::Line(bytes.len())
}

/// Whether a plain scalar can certainly start like this.
pub(super) fn may_start(content: &str) -> bool {
    match content.as_bytes() {
        [b'-', next, ..] => next.is_ascii_alphanumeric(),
        [first, ..] => {
            first.is_ascii_alphanumeric() || b"_/.+($~^=;\\".contains(first) || *first >= 0x80
        }
        [] => false,
    }
}

pub(super) fn quoted_style(content: &str) -> ScalarStyle {
    if content.starts_with('"') {
        ScalarStyle::DoubleQuoted
    } else {
        ScalarStyle::SingleQuoted
    }
}

/// A quoted scalar that ends on its line, and the text after it.
pub(super) fn quoted(content: &str) -> Option<(Cow<'_, str>, &str)> {
    let quote = *content.as_bytes().first()?;
    let inner = &content[1..];
    let end = memchr2(quote, b'\\', inner.as_bytes())?;
    if inner.as_bytes()[end] == quote && inner.as_bytes().get(end + 1) != Some(&b'\'') {
        return Some((Cow::Borrowed(&inner[..end]), &inner[end + 1..]));
    }
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.char_indices();
    while let Some((at, character)) = characters.next() {
        match (character, quote) {
            ('\'', b'\'') => {
                if !inner[at + 1..].starts_with('\'') {
                    return Some((Cow::Owned(text), &inner[at + 1..]));
                }
                characters.next();
                text.push('\'');
            }
            ('"', b'"') => return Some((Cow::Owned(text), &inner[at + 1..])),
            ('\\', b'"') => text.push(escaped(&mut characters)?),
            (character, _) => text.push(character),
        }
    }
    None
}

/// The character that an escape in double quotes means; `characters` begin behind its backslash
/// (`yaml_parser_scan_flow_scalar` of libyaml's `scanner.c`).
fn escaped(characters: &mut CharIndices<'_>) -> Option<char> {
    let digits = match characters.next()?.1 {
        '0' => return Some('\0'),
        'a' => return Some('\u{7}'),
        'b' => return Some('\u{8}'),
        't' => return Some('\t'),
        'n' => return Some('\n'),
        'v' => return Some('\u{b}'),
        'f' => return Some('\u{c}'),
        'r' => return Some('\r'),
        'e' => return Some('\u{1b}'),
        same @ (' ' | '"' | '/' | '\\') => return Some(same),
        'N' => return Some('\u{85}'),
        '_' => return Some('\u{a0}'),
        'L' => return Some('\u{2028}'),
        'P' => return Some('\u{2029}'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let mut code = 0_u32;
    for _ in 0..digits {
        code = code.checked_mul(16)? + characters.next()?.1.to_digit(16)?;
    }
    char::from_u32(code)
}
