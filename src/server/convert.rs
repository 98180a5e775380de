//! Converts between the protocol's types and ours: positions, ranges, and URIs of files.
//!
//! It must not know any feature.

use std::str::FromStr;

use percent_encoding::{
    AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode,
};
use tower_lsp::ls_types as lsp;

use crate::disk::{file_uri, of_uri};
use crate::text::{LineIndex, Position, PositionEncoding, TextRange};

pub(crate) fn place(position: lsp::Position) -> Position {
    Position {
        line: position.line,
        character: position.character,
    }
}

/// A byte range in the client's encoding.
pub(crate) fn range(lines: &LineIndex, range: TextRange, encoding: PositionEncoding) -> lsp::Range {
    let at = |offset: u32| {
        let place = lines.position(offset as usize, encoding);
        lsp::Position::new(place.line, place.character)
    };
    lsp::Range::new(at(range.start), at(range.end))
}

/// The absolute path of a `file` URI; `None` for any other scheme, another host, or a path that is
/// not UTF-8.
///
/// Accepts characters that a URI should have escaped: several clients send unescaped spaces and
/// umlauts.
pub(crate) fn path(uri: &str) -> Option<String> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let (host, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/')?),
        None => ("", rest),
    };
    // A fragment or query is not part of the path; a literal `#` or `?` is escaped.
    let path = path.split(['#', '?']).next().unwrap_or_default();
    let decoded = percent_decode_str(path).decode_utf8().ok()?.into_owned();
    if !decoded.starts_with('/') || decoded.contains('\0') {
        return None;
    }
    of_uri(host, &decoded)
}

/// Characters that RFC 3986 doesn't allow unescaped everywhere.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Characters that are not allowed unescaped anywhere in a URI.
const OUTSIDE_URIS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

pub(crate) fn uri(path: &str) -> Option<lsp::Uri> {
    lsp::Uri::from_str(&file_uri(path)).ok()
}

/// A client's URI, with characters escaped that a strict parser refuses; existing escapes are kept.
pub(crate) fn strict(uri: &str) -> String {
    utf8_percent_encode(uri, OUTSIDE_URIS).to_string()
}

/// A text escaped for one segment of a URI's path, or for its query.
pub(crate) fn escaped(words: &str) -> String {
    utf8_percent_encode(words, RESERVED).to_string()
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
