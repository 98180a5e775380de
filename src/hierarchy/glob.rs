//! Globs as Ruby's `Pathname.glob` expands them (`dir.c`), over any listing of folders.
//!
//! Braces expand left to right in written order; inside a folder names come in byte order; `**/`
//! goes down depth first, never through symbolic links and never into names with a leading dot.

use std::cell::Cell;
use std::sync::Arc;

/// Maximum number of alternatives that one pattern's braces may make.
const MAX_ALTERNATIVES: usize = 4096;

/// Maximum number of folders on the way to a matched file.
const MAX_DEPTH: usize = 64;

/// One name in a folder, for [`glob`].
#[derive(Clone, Debug)]
pub struct GlobEntry {
    /// The name.
    pub name: Arc<str>,
    /// Whether `**/` may descend here: a folder that is not a symbolic link.
    pub is_real_folder: bool,
}

/// Expands `pattern` (absolute) to the existing paths that `is_wanted` accepts: for data, everything
/// that is not a folder.
///
/// `list` returns a folder's entries in byte order. Costs listing each folder that the pattern reaches.
///
/// # Errors
/// The exceeded limit.
pub fn glob(
    pattern: &str,
    list: &dyn Fn(&str) -> Vec<GlobEntry>,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for alternative in alternatives(pattern)? {
        let parts = parts(&alternative);
        if parts.is_empty() || has_brace(&alternative) {
            continue;
        }
        let walk = GlobWalk {
            list,
            is_wanted,
            too_deep: Cell::new(false),
        };
        // Names before the first wildcard are followed without listing.
        let magical = |part: &GlobPart| !matches!(part, GlobPart::Plain(_));
        let plain = parts.iter().position(magical).unwrap_or(0);
        let mut path = String::with_capacity(pattern.len());
        for part in &parts[..plain] {
            if let GlobPart::Plain(name) = part {
                path.push('/');
                path.push_str(name);
            }
        }
        walk.step(&path, &[&parts[plain..]], plain, &mut found);
        if walk.too_deep.get() {
            return Err(format!("leads into more than {MAX_DEPTH} folders"));
        }
    }
    Ok(found)
}

#[derive(Debug, PartialEq)]
enum GlobPart {
    /// `**/`
    Recursive,
    /// A name without wildcards, escapes resolved.
    Plain(String),
    Magical(String),
}

/// The parts of an absolute pattern. Empty names between separators are kept, as in the paths that
/// Ruby returns; a pattern that ends in a separator matches nothing here.
fn parts(pattern: &str) -> Vec<GlobPart> {
    let below_root = pattern.strip_prefix('/').unwrap_or(pattern);
    if below_root.ends_with('/') || below_root.is_empty() {
        return Vec::new();
    }
    let mut parts = Vec::new();
    let mut names = below_root.split('/').peekable();
    while let Some(name) = names.next() {
        // A `**` at the end of the pattern is a plain `*`.
        if name == "**" && names.peek().is_some() {
            if parts.last() != Some(&GlobPart::Recursive) {
                parts.push(GlobPart::Recursive);
            }
        } else if name.contains(['*', '?', '[']) {
            parts.push(GlobPart::Magical(name.to_string()));
        } else {
            parts.push(GlobPart::Plain(unescape(name)));
        }
    }
    parts
}

fn unescape(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    let mut characters = name.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => plain.extend(characters.next()),
            other => plain.push(other),
        }
    }
    plain
}

struct GlobWalk<'a> {
    list: &'a dyn Fn(&str) -> Vec<GlobEntry>,
    is_wanted: &'a dyn Fn(&str) -> bool,
    too_deep: Cell<bool>,
}

impl GlobWalk<'_> {
    /// `glob_helper`: `patterns` are the remaining parts of every way that led to `path`.
    fn step(&self, path: &str, patterns: &[&[GlobPart]], depth: usize, found: &mut Vec<String>) {
        if depth > MAX_DEPTH {
            self.too_deep.set(true);
            return;
        }
        if patterns.iter().any(|rest| rest.is_empty()) && (self.is_wanted)(path) {
            found.push(path.to_string());
        }
        let heads: Vec<&GlobPart> = patterns.iter().filter_map(|rest| head(rest)).collect();
        if heads.is_empty() {
            return;
        }
        let recursive = patterns
            .iter()
            .any(|rest| rest.first() == Some(&GlobPart::Recursive));
        if recursive
            || heads
                .iter()
                .any(|part| matches!(part, GlobPart::Magical(_)))
        {
            self.scan(path, patterns, depth, found);
        } else {
            self.follow(path, patterns, depth, found);
        }
    }

    /// Some part has wildcards: lists the folder and checks every name.
    fn scan(&self, path: &str, patterns: &[&[GlobPart]], depth: usize, found: &mut Vec<String>) {
        let folder = if path.is_empty() { "/" } else { path };
        for entry in (self.list)(folder) {
            let hidden = entry.name.starts_with('.');
            let mut next: Vec<&[GlobPart]> = Vec::new();
            for rest in patterns {
                let mut rest = *rest;
                if rest.first() == Some(&GlobPart::Recursive) {
                    if entry.is_real_folder && !hidden {
                        next.push(rest);
                    }
                    rest = &rest[1..];
                }
                let matches = match rest.first() {
                    Some(GlobPart::Plain(name)) => **name == *entry.name,
                    Some(GlobPart::Magical(pattern)) => name_matches(pattern, &entry.name),
                    Some(GlobPart::Recursive) | None => false,
                };
                if matches {
                    next.push(&rest[1..]);
                }
            }
            if !next.is_empty() {
                self.step(&format!("{path}/{}", entry.name), &next, depth + 1, found);
            }
        }
    }

    /// All next parts are plain names: follows each without listing the folder.
    fn follow(&self, path: &str, patterns: &[&[GlobPart]], depth: usize, found: &mut Vec<String>) {
        let mut names: Vec<&str> = Vec::new();
        for rest in patterns {
            if let Some(GlobPart::Plain(name)) = rest.first()
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        }
        for name in names {
            let next: Vec<&[GlobPart]> = patterns
                .iter()
                .filter(
                    |rest| matches!(rest.first(), Some(GlobPart::Plain(plain)) if plain == name),
                )
                .map(|rest| &rest[1..])
                .collect();
            self.step(&format!("{path}/{name}"), &next, depth + 1, found);
        }
    }
}

fn head(rest: &[GlobPart]) -> Option<&GlobPart> {
    match rest.first() {
        Some(GlobPart::Recursive) => rest.get(1),
        first => first,
    }
}

/// Whether a pattern matches a path, or a folder above it: each of `data/old`, `data/old/**` and
/// `**/old` matches `data/old/a.yaml`. `*` stays within one name, `**` is any number of folders.
/// O(names²) for each alternative of the pattern's braces.
#[must_use]
pub fn is_at_or_below(pattern: &str, path: &str) -> bool {
    let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    let Ok(alternatives) = alternatives(pattern) else {
        return false;
    };
    alternatives.iter().any(|pattern| {
        let parts = pattern.split('/').filter(|part| !part.is_empty());
        // Possible positions in the path after the parts matched so far.
        let mut ends = vec![false; names.len() + 1];
        ends[0] = true;
        for part in parts {
            let mut next = vec![false; names.len() + 1];
            for (at, _) in ends.iter().enumerate().filter(|(_, is_end)| **is_end) {
                match (part, names.get(at)) {
                    ("**", _) => next[at..].fill(true),
                    (part, Some(name)) if name_matches(part, name) => next[at + 1] = true,
                    (_, _) => {}
                }
            }
            ends = next;
        }
        ends.contains(&true)
    })
}

/// `fnmatch` of one name without `FNM_DOTMATCH`: a leading dot needs a dot in the pattern.
fn name_matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') && !pattern.starts_with("\\.") {
        return false;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if p < pattern.len() && pattern[p] == '*' {
            retry = Some((p + 1, n));
            p += 1;
            continue;
        }
        if n == name.len() {
            return pattern[p..].iter().all(|&c| c == '*');
        }
        match one(&pattern, p, name[n]) {
            Some(next) => {
                p = next;
                n += 1;
            }
            None => {
                let Some((from, at)) = retry else {
                    return false;
                };
                if at >= name.len() {
                    return false;
                }
                retry = Some((from, at + 1));
                p = from;
                n = at + 1;
            }
        }
    }
}

/// The pattern's position after matching one character; `None` if it doesn't match.
fn one(pattern: &[char], at: usize, character: char) -> Option<usize> {
    match pattern.get(at)? {
        '?' => Some(at + 1),
        '[' => bracket(pattern, at + 1, character),
        '\\' if at + 1 < pattern.len() => (pattern[at + 1] == character).then_some(at + 2),
        &plain => (plain == character).then_some(at + 1),
    }
}

/// A set `[a-c]`, `[^x]`, `[!x]`; an unclosed one matches nothing.
fn bracket(pattern: &[char], mut at: usize, character: char) -> Option<usize> {
    let negated = matches!(pattern.get(at), Some('!' | '^'));
    if negated {
        at += 1;
    }
    let mut hit = false;
    while *pattern.get(at)? != ']' {
        let low = set_character(pattern, &mut at)?;
        if pattern.get(at) == Some(&'-') && pattern.get(at + 1).is_some_and(|&c| c != ']') {
            at += 1;
            let high = set_character(pattern, &mut at)?;
            hit |= (low..=high).contains(&character);
        } else {
            hit |= low == character;
        }
    }
    (hit != negated).then_some(at + 1)
}

fn set_character(pattern: &[char], at: &mut usize) -> Option<char> {
    if pattern.get(*at) == Some(&'\\') {
        *at += 1;
    }
    let character = *pattern.get(*at)?;
    *at += 1;
    Some(character)
}

/// `ruby_brace_expand`: every way to choose from the outermost braces, in written order.
fn alternatives(pattern: &str) -> Result<Vec<String>, String> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_string()];
    while let Some(next) = open.pop() {
        if done.len() + open.len() > MAX_ALTERNATIVES {
            return Err(format!(
                "has braces for more than {MAX_ALTERNATIVES} patterns"
            ));
        }
        match first_braces(&next) {
            None => done.push(next),
            Some((left, right)) => {
                let choices = split_choices(&next[left + 1..right]);
                for choice in choices.into_iter().rev() {
                    open.push(format!("{}{choice}{}", &next[..left], &next[right + 1..]));
                }
            }
        }
    }
    Ok(done)
}

/// Whether a brace is still open after all pairs are expanded: then Ruby finds nothing.
fn has_brace(pattern: &str) -> bool {
    unescaped(pattern).any(|(_, character)| character == '{')
}

/// The characters of a pattern with their places, without escapes.
fn unescaped(pattern: &str) -> impl Iterator<Item = (usize, char)> {
    let mut characters = pattern.char_indices();
    std::iter::from_fn(move || {
        loop {
            let next = characters.next()?;
            if next.1 != '\\' {
                return Some(next);
            }
            characters.next();
        }
    })
}

/// The first `{` and the `}` that closes it, escapes skipped.
fn first_braces(pattern: &str) -> Option<(usize, usize)> {
    let mut left = None;
    let mut depth = 0usize;
    for (at, character) in unescaped(pattern) {
        match character {
            '{' => {
                if depth == 0 {
                    left = Some(at);
                }
                depth += 1;
            }
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    return left.map(|left| (left, at));
                }
            }
            _ => {}
        }
    }
    None
}

fn split_choices(inner: &str) -> Vec<&str> {
    let mut choices = Vec::new();
    let mut depth = 0usize;
    let mut start = 0;
    for (at, character) in unescaped(inner) {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                choices.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    choices.push(&inner[start..]);
    choices
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn run(pattern: &str, files: &[&str]) -> Vec<String> {
        let mut folders: BTreeMap<String, BTreeMap<String, bool>> = BTreeMap::new();
        for file in files {
            let mut path = String::new();
            let names: Vec<&str> = file.trim_start_matches('/').split('/').collect();
            for (at, name) in names.iter().enumerate() {
                folders
                    .entry(path.clone())
                    .or_default()
                    .insert((*name).to_string(), at + 1 < names.len());
                path = format!("{path}/{name}");
            }
        }
        let list = |folder: &str| {
            let names = folders.get(folder.trim_end_matches('/'));
            let entries = names
                .into_iter()
                .flatten()
                .map(|(name, &is_folder)| GlobEntry {
                    name: Arc::from(name.as_str()),
                    is_real_folder: is_folder,
                });
            entries.collect()
        };
        let is_file = |path: &str| files.contains(&path.replace("//", "/").as_str());
        glob(pattern, &list, &is_file).unwrap()
    }

    #[test]
    fn recursion_goes_depth_first_in_byte_order() {
        let files = [
            "/d/A.yaml",
            "/d/a-b.yaml",
            "/d/aa/b.yaml",
            "/d/aa/z.yaml",
            "/d/aa.yaml",
            "/d/b.yaml",
            "/d/c/a.yaml",
            "/d/d.yaml",
            "/d/.h.yaml",
            "/d/.hid/x.yaml",
        ];
        // Hidden files and folders are left out.
        assert_eq!(run("/d/**/*.yaml", &files), &files[..8]);
    }

    #[test]
    fn a_path_is_named_by_patterns_for_it_and_for_folders_above() {
        for pattern in [
            "/w/data/old/a.yaml",
            "/w/data/old",
            "/w/data/old/",
            "/w/data/old/**",
            "/w/**/a.yaml",
            "/w/**/old",
            "/w/data/*/a.y?ml",
            "/w/data/{new,old}/*",
            "/**",
            "/w/data/**/old/**/a.yaml",
        ] {
            assert!(is_at_or_below(pattern, "/w/data/old/a.yaml"), "{pattern}");
        }
        for pattern in [
            "/w/data/ol",
            "/w/*.yaml",
            "/w/data/*/b.yaml",
            "/w/data/old/a.yaml/x",
            "/w/**/new",
        ] {
            assert!(!is_at_or_below(pattern, "/w/data/old/a.yaml"), "{pattern}");
        }
    }

    #[test]
    fn braces_keep_their_written_order() {
        let files = ["/d/a.yaml", "/d/b.yaml", "/d/x/c.yaml"];
        assert_eq!(run("/d/{b,a}.yaml", &files), ["/d/b.yaml", "/d/a.yaml"]);
        // As in Ruby 3.1.
        let open = ["/d/{a}.yaml", "/d/x{a.yaml"];
        for pattern in [
            "/d/{a*",
            "/d/{a[!b]*",
            "/d/x{a.yaml",
            "/d/[{]a*",
            "/d/{{a}*",
        ] {
            assert_eq!(run(pattern, &open), [""; 0], "{pattern}");
        }
        assert_eq!(run("/d/\\{a[!b]*", &open), ["/d/{a}.yaml"]);
        assert_eq!(run("/d/[\\{]a*", &open), ["/d/{a}.yaml"]);
        assert_eq!(
            run("/d/{x/,}*.yaml", &files),
            ["/d/x/c.yaml", "/d/a.yaml", "/d/b.yaml"]
        );
    }

    #[test]
    fn sets_questions_and_escapes() {
        let files = ["/d/1", "/d/10", "/d/9", "/d/Z", "/d/[x]"];
        assert_eq!(run("/d/?", &files), ["/d/1", "/d/9", "/d/Z"]);
        assert_eq!(run("/d/[0-9]*", &files), ["/d/1", "/d/10", "/d/9"]);
        assert_eq!(run("/d/[!0-9]", &files), ["/d/Z"]);
        assert_eq!(run("/d/\\[x\\]", &files), ["/d/[x]"]);
        assert_eq!(
            run("/d/**", &files),
            ["/d/1", "/d/10", "/d/9", "/d/Z", "/d/[x]"]
        );
    }
}
