//! Between the protocol's types and ours: places, ranges, and URIs of files.
//!
//! It knows LSP types and `text`, and no feature.

use std::str::FromStr;

use tower_lsp::ls_types as lsp;

use crate::text::{LineIndex, Position, PositionEncoding, TextRange};

/// The protocol's place as ours.
pub(crate) fn place(position: lsp::Position) -> Position {
    Position {
        line: position.line,
        character: position.character,
    }
}

/// A byte range as the client counts.
pub(crate) fn range(lines: &LineIndex, range: TextRange, encoding: PositionEncoding) -> lsp::Range {
    let at = |offset: u32| {
        let place = lines.position(offset as usize, encoding);
        lsp::Position::new(place.line, place.character)
    };
    lsp::Range::new(at(range.start), at(range.end))
}

/// The absolute path that a `file` URI names, or nothing for any other scheme, another host, or
/// a path that is no UTF-8.
///
/// Lenient about characters that a URI should have escaped: several clients send spaces and
/// umlauts as they are.
pub(crate) fn path(uri: &str) -> Option<String> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let slash = rest.find('/')?;
            let (host, path) = rest.split_at(slash);
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return None;
            }
            path
        }
        None => rest,
    };
    // A fragment or query is no part of the path; a literal `#` or `?` is escaped.
    let path = path.split(['#', '?']).next().unwrap_or_default();
    let decoded = percent_decoded(path)?;
    if !decoded.starts_with('/') || decoded.contains('\0') {
        return None;
    }
    Some(decoded)
}

fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten()
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).ok()
}

/// The `file` URI of an absolute path; every byte that RFC 3986 doesn't allow in a path segment
/// as itself is escaped, and so is `:`, as VS Code does it.
pub(crate) fn uri(path: &str) -> Option<lsp::Uri> {
    let mut text = String::with_capacity(path.len() + 8);
    text.push_str("file://");
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            push_escaped(&mut text, byte);
        }
    }
    lsp::Uri::from_str(&text).ok()
}

/// A URI as a client wrote it, with the characters escaped that stop a strict reader; escapes
/// that are there stay.
pub(crate) fn strict(uri: &str) -> String {
    let mut text = String::with_capacity(uri.len());
    for byte in uri.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte) {
            text.push(char::from(byte));
        } else {
            push_escaped(&mut text, byte);
        }
    }
    text
}

fn push_escaped(text: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    text.push('%');
    text.push(char::from(DIGITS[usize::from(byte >> 4)]));
    text.push(char::from(DIGITS[usize::from(byte & 15)]));
}

/// A text as one segment of a URI's path, or as its query.
pub(crate) fn escaped(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    for byte in words.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn file_uris_become_paths() {
        for (uri, wanted) in [
            ("file:///a/b%20c.yaml", Some("/a/b c.yaml")),
            ("file:///a/b c.yaml", Some("/a/b c.yaml")),
            ("file:///d%C3%A4ta/ä.yaml", Some("/däta/ä.yaml")),
            ("FILE://localhost/a", Some("/a")),
            ("file:/a", Some("/a")),
            ("file:///100%.yaml", Some("/100%.yaml")),
            ("file:///a%23b", Some("/a#b")),
            ("file:///%ff", None),
            ("file:///a%00b", None),
            ("file://host/a", None),
            ("file://", None),
            ("file:relative", None),
            ("untitled:Untitled-1", None),
            ("git:/a/b.yaml?x", None),
            ("", None),
        ] {
            assert_eq!(path(uri).as_deref(), wanted, "{uri}");
        }
    }

    #[test]
    fn a_lax_uri_becomes_strict_and_keeps_its_path() {
        let lax = "file:///a b/ü/%20{x}.yaml";
        assert!(lsp::Uri::from_str(lax).is_err());
        assert!(lsp::Uri::from_str(&strict(lax)).is_ok());
        assert_eq!(path(&strict(lax)), path(lax));
    }

    proptest! {
        #[test]
        fn a_path_survives_the_round_trip(name in "/[ -~äé😀/%#?]{0,20}") {
            let uri = uri(&name).unwrap();
            prop_assert_eq!(path(uri.as_str()), Some(name));
        }

        #[test]
        fn no_uri_panics(text in "(file:)?\\PC{0,30}") {
            let _ = path(&text);
            let _ = lsp::Uri::from_str(&strict(&text));
        }
    }
}
