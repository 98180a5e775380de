//! Converts paths between the operating system's form and the model's: absolute, `/` between
//! segments.
//!
//! On Unix they are the same. On Windows `C:\a\b` is `/c:/a/b`, as editors write it in URIs, and
//! `\\server\share\a` is `/unc:/server/share/a`.

use std::borrow::Cow;
use std::path::Path;

/// The first segment of paths on other machines: no drive and no file can have this name.
const REMOTE: &str = "/unc:/";

/// The operating system's form of a path.
#[must_use]
pub fn native(path: &str) -> Cow<'_, str> {
    if cfg!(windows) {
        Cow::Owned(on_windows(path))
    } else {
        Cow::Borrowed(path)
    }
}

/// The model's form of a path; `None` if it is not UTF-8.
#[must_use]
pub fn model(path: &Path) -> Option<String> {
    let path = path.to_str()?;
    Some(if cfg!(windows) {
        from_windows(path)
    } else {
        path.to_owned()
    })
}

/// The model's form of the host and unescaped path of a `file` URI; `None` for a host whose files
/// cannot be read.
#[must_use]
pub fn of_uri(host: &str, path: &str) -> Option<String> {
    let is_local = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    match (cfg!(windows), is_local) {
        (true, _) => Some(from_uri_on_windows(host, path)),
        (false, true) => Some(path.to_owned()),
        (false, false) => None,
    }
}

/// The host and the path for a file's URI.
pub(super) fn in_uri(path: &str) -> (&str, &str) {
    let remote = path.strip_prefix(REMOTE).filter(|_| cfg!(windows));
    remote.map_or(("", path), split_host)
}

fn split_host(remote: &str) -> (&str, &str) {
    let end = remote.find('/').unwrap_or(remote.len());
    remote.split_at(end)
}

fn on_windows(path: &str) -> String {
    if let Some(remote) = path.strip_prefix(REMOTE) {
        return format!(r"\\{}", remote.replace('/', r"\"));
    }
    let rest = path.strip_prefix('/').unwrap_or(path);
    match rest.len() == 2 && drive(rest).is_some() {
        // The drive letter alone would mean its current folder.
        true => format!(r"{rest}\"),
        false => rest.replace('/', r"\"),
    }
}

fn from_windows(path: &str) -> String {
    let path = path.replace('\\', "/");
    // The form that `canonicalize` returns: no length limit, and no dots.
    let path = match path.strip_prefix("//?/") {
        Some(rest) => match rest
            .get(..4)
            .filter(|start| start.eq_ignore_ascii_case("unc/"))
        {
            Some(_) => format!("//{}", &rest[4..]),
            None => rest.to_owned(),
        },
        None => path,
    };
    match path.strip_prefix("//") {
        Some(remote) => format!("{REMOTE}{remote}"),
        None => with_small_drive(&path),
    }
}

fn from_uri_on_windows(host: &str, path: &str) -> String {
    if host.is_empty() || host.eq_ignore_ascii_case("localhost") {
        from_windows(path.strip_prefix('/').unwrap_or(path))
    } else {
        format!("{REMOTE}{}{path}", host.to_lowercase())
    }
}

/// Lower-cases a drive letter: editors and shells differ, and its case has no meaning.
fn with_small_drive(path: &str) -> String {
    match drive(path) {
        Some(letter) => format!("/{}{}", letter.to_ascii_lowercase(), &path[1..]),
        None => path.to_owned(),
    }
}

/// The drive letter at the start of a path: `C` of `C:/a`.
fn drive(path: &str) -> Option<char> {
    let mut letters = path.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    let is_drive = letters.next() == Some(':') && matches!(letters.next(), None | Some('/'));
    is_drive.then_some(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_windows_become_ours_and_back() {
        for (native, model) in [
            (r"C:\repo\data\a b.yaml", "/c:/repo/data/a b.yaml"),
            (r"c:\repo", "/c:/repo"),
            (r"D:\", "/d:/"),
            (r"\\?\C:\repo", "/c:/repo"),
            (r"\\server\share\repo", "/unc:/server/share/repo"),
            (r"\\?\UNC\server\share\repo", "/unc:/server/share/repo"),
            ("C:/repo/data", "/c:/repo/data"),
        ] {
            assert_eq!(from_windows(native), model);
        }
        for (model, native) in [
            ("/c:/repo/data/a b.yaml", r"c:\repo\data\a b.yaml"),
            ("/d:", r"d:\"),
            ("/d:/", r"d:\"),
            ("/unc:/server/share/repo", r"\\server\share\repo"),
        ] {
            assert_eq!(on_windows(model), native);
            let back = from_windows(native);
            assert_eq!(back.trim_end_matches('/'), model.trim_end_matches('/'));
        }
    }

    #[test]
    fn uris_of_windows_name_drives_and_hosts() {
        for (host, path, wanted) in [
            ("", "/C:/Repo/a.yaml", "/c:/Repo/a.yaml"),
            ("", "/c:/Repo/a.yaml", "/c:/Repo/a.yaml"),
            ("localhost", "/c:/a", "/c:/a"),
            ("Server", "/share/a", "/unc:/server/share/a"),
        ] {
            assert_eq!(from_uri_on_windows(host, path), wanted, "{host} {path}");
        }
        assert_eq!(split_host("server/share/a"), ("server", "/share/a"));
        assert_eq!(split_host("server"), ("server", ""));
    }

    #[test]
    fn only_letters_are_drives() {
        for (path, wanted) in [
            ("C:/a", Some('C')),
            ("C:", Some('C')),
            ("C:a", None),
            ("1:/", None),
            ("ä:/", None),
            ("", None),
        ] {
            assert_eq!(drive(path), wanted, "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn paths_of_unix_are_unchanged() {
        assert_eq!(native(r"/c:/a\b"), r"/c:/a\b");
        assert_eq!(model(Path::new(r"/C:/a\b")).as_deref(), Some(r"/C:/a\b"));
        assert_eq!(of_uri("", "/C:/a").as_deref(), Some("/C:/a"));
        assert_eq!(of_uri("host", "/a"), None);
        assert_eq!(in_uri("/unc:/host/a"), ("", "/unc:/host/a"));
    }
}
