//! The ignored files of a repository: `.gitignore` files and `info/exclude` (`gitignore`). The
//! user's own list is named by git's configuration and not read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::list_file;

/// Maximum number of patterns of one file.
const MAX_PATTERNS: usize = 10_000;

/// The patterns of a repository, read folder by folder on demand.
#[derive(Debug)]
pub(super) struct Excluded {
    top: PathBuf,
    /// By the folder's path below the top, `""` for the top.
    folders: HashMap<String, Gitignore>,
    /// The patterns of the whole repository.
    all: Gitignore,
}

impl Excluded {
    /// The patterns below `top`, and those of the file `all`.
    pub(super) fn new(top: PathBuf, all: &Path) -> Excluded {
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

    /// The decision of the nearest matching patterns, ignoring the folders around the path.
    fn decides(&mut self, path: &str, is_folder: bool) -> bool {
        let ends = path.rmatch_indices('/').map(|(at, _)| at);
        for end in ends.chain([0]) {
            let folder = &path[..end];
            let own = self.folders.entry(folder.to_string()).or_insert_with(|| {
                let at = self.top.join(folder).join(".gitignore");
                patterns(&list_file(&at).ok().flatten().unwrap_or_default())
            });
            let below = path[end..].trim_start_matches('/');
            let verdict = own.matched(below, is_folder);
            if !verdict.is_none() {
                return verdict.is_ignore();
            }
        }
        self.all.matched(path, is_folder).is_ignore()
    }
}

/// The patterns of a text; an invalid line matches nothing.
fn patterns(text: &str) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    builder.allow_unclosed_class(false);
    for line in text.lines().take(MAX_PATTERNS) {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
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
