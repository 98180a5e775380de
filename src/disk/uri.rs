//! `file` URIs of paths, as editors and reports name files.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What RFC 3986 doesn't allow in a path as itself; `:` is escaped, as VS Code does it.
const OUTSIDE_PATHS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// The text of the `file` URI of an absolute path; every byte that RFC 3986 doesn't allow in a path
/// segment as itself is escaped.
#[must_use]
pub fn file_uri(path: &str) -> String {
    format!("file://{}", utf8_percent_encode(path, OUTSIDE_PATHS))
}
