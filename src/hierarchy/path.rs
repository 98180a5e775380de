//! Paths as Ruby's `Pathname` joins them: by text, without asking the file system.

/// `Pathname#+`: an absolute right side replaces the left; leading `.` and `..` of the right side
/// are resolved by text; everything else is kept verbatim.
///
/// ```
/// use hiera_ls::hierarchy::join;
///
/// assert_eq!(join("/env/data", "../x//y.yaml"), "/env/x//y.yaml");
/// assert_eq!(join("/env/data", "/abs"), "/abs");
/// ```
#[must_use]
pub fn join(left: &str, right: &str) -> String {
    if is_plain_end(left) && is_plain_start(right) {
        let mut joined = String::with_capacity(left.len() + 1 + right.len());
        joined.push_str(left);
        joined.push('/');
        joined.push_str(right);
        return joined;
    }
    join_with_dots(left, right)
}

/// Whether a path ends in a regular name.
fn is_plain_end(path: &str) -> bool {
    let last = path.rfind('/').map_or(path, |at| &path[at + 1..]);
    !matches!(last, "" | "." | "..")
}

/// Whether a path is relative and starts with a regular name.
fn is_plain_start(path: &str) -> bool {
    let first = path.find('/').map_or(path, |at| &path[..at]);
    !matches!(first, "" | "." | "..")
}

/// [`join`] for any paths.
fn join_with_dots(left: &str, right: &str) -> String {
    // Basenames of the right side with the offsets where they start.
    let mut parts: Vec<(usize, &str)> = Vec::new();
    let mut rest = right;
    while let Some((prefix, base)) = chop(rest) {
        parts.insert(0, (prefix.len(), base));
        rest = prefix;
    }
    if !rest.is_empty() {
        return right.to_string();
    }
    let mut parts = parts.into_iter().peekable();
    let mut prefix = left.to_string();
    loop {
        while parts.next_if(|part| part.1 == ".").is_some() {}
        let Some((head, base)) = chop(&prefix).map(|(head, base)| (head.len(), base.to_string()))
        else {
            break;
        };
        prefix.truncate(head);
        if base == "." {
            continue;
        }
        if base == ".." || parts.peek().is_none_or(|part| part.1 != "..") {
            prefix.push_str(&base);
            break;
        }
        parts.next();
    }
    let has_base = chop(&prefix).is_some();
    // The root's parent is the root.
    if !has_base && basename(&prefix).contains('/') {
        while parts.next_if(|part| part.1 == "..").is_some() {}
    }
    match parts.peek() {
        Some(&(start, _)) => {
            let suffix = &right[start..];
            if has_base {
                file_join(&prefix, suffix)
            } else {
                format!("{prefix}{suffix}")
            }
        }
        None if has_base => prefix,
        None => dirname(&prefix).to_string(),
    }
}

/// `Pathname#chop_basename`: the path up to its last name, and that name.
fn chop(path: &str) -> Option<(&str, &str)> {
    let base = basename(path);
    if base.is_empty() || base == "/" {
        return None;
    }
    let at = path.rfind(base)?;
    Some((&path[..at], base))
}

/// `File.join` of two parts: exactly one separator where they meet.
fn file_join(left: &str, right: &str) -> String {
    match (left.ends_with('/'), right.starts_with('/')) {
        (true, true) => format!("{}{right}", left.trim_end_matches('/')),
        (true, false) | (false, true) => format!("{left}{right}"),
        (false, false) => format!("{left}/{right}"),
    }
}

/// `File.basename`: the last name of a path, trailing separators ignored; `/` for the root.
#[must_use]
pub fn basename(path: &str) -> &str {
    if path.is_empty() {
        return "";
    }
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() {
        return "/";
    }
    trimmed.rsplit('/').next().unwrap_or(trimmed)
}

/// `File.dirname`: the path without its last name; `.` without a folder.
#[must_use]
pub fn dirname(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rfind('/') {
        None if trimmed.is_empty() && !path.is_empty() => "/",
        None => ".",
        Some(at) => {
            let head = trimmed[..at].trim_end_matches('/');
            if head.is_empty() { "/" } else { head }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_as_pathname_does() {
        let cases = [
            ("/e/data", "a.yaml", "/e/data/a.yaml"),
            ("/e/data", "./a.yaml", "/e/data/a.yaml"),
            ("/e/data", "../a.yaml", "/e/a.yaml"),
            ("/e/data", "../../../../a", "/a"),
            ("/e/data", "x/../a", "/e/data/x/../a"),
            ("/e/data", "x//a", "/e/data/x//a"),
            ("/e/data", "x/", "/e/data/x/"),
            ("/e/data/", "x", "/e/data/x"),
            ("/e", "..", "/"),
            ("/e", ".", "/e"),
            ("/e", "", "/e"),
            ("/", "a", "/a"),
            ("/", "..", "/"),
            ("/e", "/abs//x", "/abs//x"),
            ("/e//d", "a", "/e//d/a"),
            ("/e/.", "../a", "/a"),
            ("/e/..", "../a", "/e/../../a"),
            ("/e/data", "nodes/.yaml", "/e/data/nodes/.yaml"),
            ("/a/b", "../b/c", "/a/b/c"),
            ("//a", "../b", "//b"),
        ];
        for (left, right, expected) in cases {
            assert_eq!(join(left, right), expected, "{left:?} + {right:?}");
        }
    }

    #[test]
    fn plain_paths_are_joined_as_all_are() {
        let names = ["", "/", ".", "..", "a", "b.c", "..d", "a/", "/a", "//"];
        let mut paths = vec![String::new()];
        for _ in 0..3 {
            let longer = |path: &String| {
                let path = path.clone();
                names.map(|name| format!("{path}/{name}"))
            };
            let longer: Vec<String> = paths.iter().flat_map(longer).collect();
            paths.extend(names.map(str::to_string));
            paths.extend(longer);
            paths.sort();
            paths.dedup();
            paths.truncate(400);
        }
        for left in &paths {
            for right in &paths {
                let expected = join_with_dots(left, right);
                assert_eq!(join(left, right), expected, "{left:?} + {right:?}");
            }
        }
    }
}
