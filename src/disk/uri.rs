//! `file` URIs for paths, as editors and reports use them.

use super::native::in_uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that RFC 3986 doesn't allow unescaped in a path; `:` is escaped, as in VS Code.
const OUTSIDE_PATHS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// The `file` URI of an absolute path; every byte that RFC 3986 doesn't allow in a path segment is
/// escaped.
#[must_use]
pub fn file_uri(path: &str) -> String {
    let (host, path) = in_uri(path);
    format!("file://{host}{}", encoded(path))
}

/// A path as it stands in a URI.
#[must_use]
pub fn encoded(path: &str) -> String {
    utf8_percent_encode(path, OUTSIDE_PATHS).to_string()
}
