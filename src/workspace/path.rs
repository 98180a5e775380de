//! Absolute paths as text, `/` between segments: the only form of paths in the model.

use std::borrow::Cow;
use std::sync::Arc;

/// The folder that holds `path`: `/a` for `/a/b`, `/` for `/a`, `None` for `/`.
#[must_use]
pub fn parent(path: &str) -> Option<&str> {
    match path.rfind('/') {
        Some(0) if path.len() > 1 => Some("/"),
        Some(0) | None => None,
        Some(at) => Some(&path[..at]),
    }
}

/// The last segment of a path.
#[must_use]
pub fn name(path: &str) -> &str {
    path.rfind('/').map_or(path, |at| &path[at + 1..])
}

/// The extension of a path's last segment, without its dot; a leading dot starts no extension.
#[must_use]
pub fn extension(path: &str) -> Option<&str> {
    let name = name(path);
    match name.rfind('.') {
        Some(0) | None => None,
        Some(at) => Some(&name[at + 1..]),
    }
}

/// Whether a file's extension is that of data.
#[must_use]
pub fn is_called_data(path: &str) -> bool {
    matches!(
        extension(path),
        Some("yaml" | "yml" | "eyaml" | "json" | "conf" | "hocon")
    )
}

/// Whether a file is a template (ERB, EPP).
#[must_use]
pub fn is_template(path: &str) -> bool {
    matches!(extension(path), Some("erb" | "epp"))
}

/// `folder` and `rest` joined as Ruby's `Pathname#+` does for plain names: an absolute `rest`
/// replaces the folder.
#[must_use]
pub fn join(folder: &str, rest: &str) -> String {
    if rest.starts_with('/') {
        rest.to_owned()
    } else if folder.ends_with('/') {
        format!("{folder}{rest}")
    } else {
        format!("{folder}/{rest}")
    }
}

/// The rest of `path` after `folder`: empty for the folder itself, `None` for a path that is not in
/// the folder.
#[must_use]
pub fn within<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder == "/" {
        return path.strip_prefix('/');
    }
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix('/')
    }
}

/// The path at the same place in another folder; itself if it is not in the folder.
#[must_use]
pub fn onto<'p>(path: &'p str, from: &str, to: &str) -> Cow<'p, str> {
    match within(path, from) {
        Some(rest) if from != to => Cow::Owned(join(to, rest)),
        Some(_) | None => Cow::Borrowed(path),
    }
}

/// The path without `.`, empty segments and a trailing slash, with `..` resolved textually. A path
/// that climbs above `/` stays at `/`.
#[must_use]
pub fn normalise(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    format!("/{}", segments.join("/"))
}

/// Whether a path is already normalised.
#[must_use]
pub fn is_normal(path: &str) -> bool {
    path == "/"
        || path.strip_prefix('/').is_some_and(|rest| {
            rest.split('/')
                .all(|segment| !matches!(segment, "" | "." | ".."))
        })
}

/// A path as a shared text in normal form.
pub(crate) fn shared(path: &Arc<str>) -> Arc<str> {
    if is_normal(path) {
        Arc::clone(path)
    } else {
        Arc::from(normalise(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_no_prefix_of_its_neighbour() {
        assert_eq!(within("/a/bc", "/a/b"), None);
        assert_eq!(within("/a/b/c", "/a/b"), Some("c"));
        assert_eq!(within("/a/b", "/a/b"), Some(""));
        assert_eq!(within("/a", "/"), Some("a"));
    }

    #[test]
    fn names_and_folders_at_the_top() {
        assert_eq!(parent("/a"), Some("/"));
        assert_eq!(parent("/"), None);
        assert_eq!(extension("/a/.fixtures"), None);
        assert_eq!(extension("/a/x.example.yaml"), Some("yaml"));
        assert_eq!(normalise("/a//./b/../../../c/"), "/c");
    }
}
