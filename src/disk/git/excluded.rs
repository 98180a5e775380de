//! What a repository does not version: `.gitignore` files and `info/exclude` (`gitignore`). The
//! user's own list is named by a configuration and not known here.

use std::collections::HashMap;
use std::path::PathBuf;

use super::list_file;

/// Patterns of one file that count.
const MOST_PATTERNS: usize = 10_000;

/// The patterns of a repository, read folder by folder as they are needed.
#[derive(Debug)]
pub(super) struct Excluded {
    top: PathBuf,
    /// By the folder's path below the top, `""` for the top.
    folders: HashMap<String, Vec<Pattern>>,
    /// Those of the repository as a whole.
    all: Vec<Pattern>,
}

impl Excluded {
    /// The patterns below `top`, and those of the file `all`.
    pub(super) fn new(top: PathBuf, all: &std::path::Path) -> Excluded {
        Excluded {
            top,
            folders: HashMap::new(),
            all: patterns(&list_file(all).ok().flatten().unwrap_or_default()),
        }
    }

    /// Whether a path below the top, or a folder around it, is excluded.
    pub(super) fn holds(&mut self, path: &str, is_folder: bool) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at);
        let ends: Vec<usize> = ends.chain([path.len()]).collect();
        ends.into_iter()
            .any(|end| self.decides(&path[..end], end < path.len() || is_folder))
    }

    fn decides(&mut self, path: &str, is_folder: bool) -> bool {
        let mut folder = Some(path);
        while let Some(here) = folder {
            folder = match here.rsplit_once('/') {
                Some((above, _)) => Some(above),
                None if here.is_empty() => None,
                None => Some(""),
            };
            let Some(folder) = folder else { break };
            let own = self.folders.entry(folder.to_string()).or_insert_with(|| {
                let at = self.top.join(folder).join(".gitignore");
                patterns(&list_file(&at).ok().flatten().unwrap_or_default())
            });
            let below = match folder {
                "" => path,
                folder => path.get(folder.len() + 1..).unwrap_or_default(),
            };
            if let Some(verdict) = verdict(own, below, is_folder) {
                return verdict;
            }
        }
        verdict(&self.all, path, is_folder).unwrap_or(false)
    }
}

/// What the last pattern that fits says.
fn verdict(patterns: &[Pattern], path: &str, is_folder: bool) -> Option<bool> {
    let mut fitting = patterns.iter().rev();
    let found = fitting.find(|pattern| pattern.fits(path, is_folder))?;
    Some(!found.includes)
}

#[derive(Debug)]
struct Pattern {
    /// Whether what fits is taken in again.
    includes: bool,
    only_folders: bool,
    /// Whether only the last segment of a path counts.
    only_name: bool,
    segments: Vec<String>,
}

fn patterns(text: &str) -> Vec<Pattern> {
    let lines = text.lines().take(MOST_PATTERNS);
    lines.filter_map(Pattern::parse).collect()
}

impl Pattern {
    fn parse(line: &str) -> Option<Pattern> {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let trimmed = line.trim_end_matches(' ');
        let line = match trimmed.ends_with('\\') && trimmed.len() < line.len() {
            // A blank behind a backslash stays.
            true => &line[..=trimmed.len()],
            false => trimmed,
        };
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (includes, line) = match line.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (only_folders, line) = match line.strip_suffix('/') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let only_name = !line.contains('/');
        let line = line.strip_prefix('/').unwrap_or(line);
        (!line.is_empty()).then(|| Pattern {
            includes,
            only_folders,
            only_name,
            segments: line.split('/').map(str::to_owned).collect(),
        })
    }

    fn fits(&self, path: &str, is_folder: bool) -> bool {
        if self.only_folders && !is_folder {
            return false;
        }
        if self.only_name {
            let name = path.rsplit('/').next().unwrap_or(path);
            return fits_segment(&self.segments[0], name);
        }
        let path: Vec<&str> = path.split('/').collect();
        fits_segments(&self.segments, &path)
    }
}

/// Whether segments fit; `**` stands for any number of them, at the end for one at least.
fn fits_segments(pattern: &[String], path: &[&str]) -> bool {
    let (mut at, mut here) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match pattern.get(at) {
            Some(segment) if segment == "**" => {
                if at + 1 == pattern.len() {
                    return here < path.len();
                }
                retry = Some((at + 1, here));
                at += 1;
                continue;
            }
            Some(segment)
                if path
                    .get(here)
                    .is_some_and(|name| fits_segment(segment, name)) =>
            {
                (at, here) = (at + 1, here + 1);
                continue;
            }
            None if here == path.len() => return true,
            Some(_) | None => {}
        }
        match retry {
            Some((behind, from)) if from < path.len() => {
                retry = Some((behind, from + 1));
                (at, here) = (behind, from + 1);
            }
            Some(_) | None => return false,
        }
    }
}

/// Whether a name fits a pattern without slashes: `*`, `?`, `[a-z]`, `\` before what means itself.
fn fits_segment(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut here) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if pattern.get(at) == Some(&'*') {
            retry = Some((at + 1, here));
            at += 1;
            continue;
        }
        if at == pattern.len() && here == name.len() {
            return true;
        }
        let next = name
            .get(here)
            .and_then(|c| one(&pattern[at.min(pattern.len())..], *c));
        if let Some(length) = next {
            (at, here) = (at + length, here + 1);
            continue;
        }
        match retry {
            Some((behind, from)) if from < name.len() => {
                retry = Some((behind, from + 1));
                (at, here) = (behind, from + 1);
            }
            Some(_) | None => return false,
        }
    }
}

/// How much of the pattern stands for one character, if that fits.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match pattern {
        ['?', ..] => Some(1),
        ['\\', escaped, ..] => (*escaped == c).then_some(2),
        ['[', rest @ ..] => set(rest, c).map(|length| length + 1),
        [plain, ..] => (*plain == c).then_some(1),
        [] => None,
    }
}

/// The length of a set behind its bracket, if the character is in it; a set that is not closed
/// fits nothing.
fn set(pattern: &[char], c: char) -> Option<usize> {
    let negated = matches!(pattern, ['!' | '^', ..]);
    let start = usize::from(negated);
    let (mut at, mut holds) = (start, false);
    loop {
        let first = match pattern.get(at)? {
            ']' if at > start => break,
            '\\' => {
                at += 1;
                *pattern.get(at)?
            }
            plain => *plain,
        };
        at += 1;
        let mut last = first;
        if pattern.get(at) == Some(&'-') && pattern.get(at + 1).is_some_and(|next| *next != ']') {
            last = *pattern.get(at + 1)?;
            at += 2;
        }
        holds |= (first..=last).contains(&c);
    }
    (holds != negated).then_some(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excludes(text: &str, path: &str, is_folder: bool) -> bool {
        let mut excluded = Excluded {
            top: PathBuf::from("/nowhere"),
            folders: HashMap::new(),
            all: patterns(text),
        };
        excluded.holds(path, is_folder)
    }

    #[test]
    fn patterns_fit_as_in_git() {
        for (text, path, expected) in [
            ("modules/", "modules/ntp/data/common.yaml", true),
            ("modules/", "site/modules/a.yaml", true),
            ("/modules/", "site/modules/a.yaml", false),
            ("modules", "modules", true),
            ("modules/", "modules", false),
            ("*.yaml", "a/b/c.yaml", true),
            ("a/*.yaml", "a/b/c.yaml", false),
            ("a/**/c.yaml", "a/c.yaml", true),
            ("a/**/c.yaml", "a/x/y/c.yaml", true),
            ("**/c.yaml", "x/c.yaml", true),
            ("a/**", "a", false),
            ("a/**", "a/b/c", true),
            ("*\n!keep", "keep", false),
            ("*\n!keep", "other", true),
            ("dir/\n!dir/keep", "dir/keep", true),
            ("# x\n\\#x", "#x", true),
            ("x[a-c]?.\\*", "xbz.*", true),
            ("x[!a-c]", "xb", false),
            ("x[!a-c]", "xd", true),
            ("x[", "x[", false),
            ("trailing  ", "trailing", true),
            ("blank\\ ", "blank ", true),
        ] {
            assert_eq!(excludes(text, path, false), expected, "{text:?} {path}");
        }
    }
}
