//! Symbols, and the search for keys in the workspace.

use std::collections::HashMap;
use std::sync::Arc;

use super::outline::of_key;
use crate::analysis::{Analysis, HieraFiles};
use crate::text::TextRange;
use crate::workspace::{File, Snapshot};

/// A key with its value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Symbol {
    /// The key as Puppet reads it.
    pub name: Arc<str>,
    /// The kind of its value.
    pub kind: SymbolKind,
    /// A description of the value; not in searches.
    pub detail: Option<String>,
    /// The key and its value.
    pub range: TextRange,
    /// The key alone.
    pub selection: TextRange,
    /// Nested symbols; not in searches.
    pub children: Vec<Symbol>,
}

/// The kind of a key's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SymbolKind {
    /// Unknown or not checked.
    #[default]
    Key,
    /// A hash.
    Hash,
    /// A list.
    List,
    /// A text.
    Text,
    /// A number.
    Number,
    /// True or false.
    Truth,
    /// No value.
    Nothing,
}

/// Keys that match the typed text, with their files, at most `limit`. The order is: equal names,
/// names that start with the text, names that contain it, names that contain its letters in order;
/// each group by name. Ignores case and blanks. O(keys in the workspace); `is_stopped` is called
/// regularly.
#[must_use]
pub fn workspace_symbols<'a>(
    snapshot: &'a Snapshot,
    typed: &str,
    limit: usize,
    is_stopped: &dyn Fn() -> bool,
) -> Vec<(&'a Arc<File>, Symbol)> {
    /// The number of names between calls of `is_stopped`.
    const STEP: usize = 1024;
    let typed: String = typed.split_whitespace().collect();
    let typed = typed.to_lowercase();
    let mut matches: Vec<(Match, &Arc<str>)> = Vec::new();
    for (count, name) in snapshot.key_names("").enumerate() {
        if count % STEP == 0 && is_stopped() {
            return Vec::new();
        }
        if let Some(quality) = quality(name, &typed) {
            matches.push((quality, name));
        }
    }
    matches.sort_unstable();
    let mut found = Vec::new();
    for (_, name) in matches {
        for (file, key) in snapshot.definitions(name) {
            if found.len() == limit {
                return found;
            }
            found.push((file, of_key(key)));
        }
    }
    found
}

/// How well a name matches, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    Whole,
    Start,
    Part,
    Letters,
}

/// Matches a name; `typed` is in lower case.
pub(super) fn quality(name: &str, typed: &str) -> Option<Match> {
    if !name.is_ascii() || !typed.is_ascii() {
        return quality_of_any(&name.to_lowercase(), typed);
    }
    // Avoid allocations for ASCII: a large workspace has a hundred thousand names.
    let (name, typed) = (name.as_bytes(), typed.as_bytes());
    let mut letters = name.iter();
    let in_order = |wanted: &u8| letters.any(|letter| letter.to_ascii_lowercase() == *wanted);
    if !typed.iter().all(in_order) {
        return None;
    }
    let starts = |at: usize| {
        let part = name.get(at..at + typed.len());
        part.is_some_and(|part| part.eq_ignore_ascii_case(typed))
    };
    Some(match starts(0) {
        true if name.len() == typed.len() => Match::Whole,
        true => Match::Start,
        false if (1..name.len()).any(starts) => Match::Part,
        false => Match::Letters,
    })
}

fn quality_of_any(name: &str, typed: &str) -> Option<Match> {
    if name == typed {
        return Some(Match::Whole);
    }
    if name.starts_with(typed) {
        return Some(Match::Start);
    }
    if name.contains(typed) {
        return Some(Match::Part);
    }
    let mut letters = name.chars();
    let in_order = |wanted| letters.any(|letter| letter == wanted);
    typed.chars().all(in_order).then_some(Match::Letters)
}

/// Keys that match the typed text in files that a hierarchy reads, the best first, at most `limit`.
#[must_use]
pub fn search<'a>(
    analysis: Analysis<'a>,
    typed: &str,
    limit: usize,
) -> Vec<(&'a Arc<File>, Symbol)> {
    let files = HieraFiles::of(analysis);
    let mut known: HashMap<&Arc<str>, bool> = HashMap::new();
    let mut most = limit;
    loop {
        let found = workspace_symbols(analysis.snapshot, typed, most, analysis.is_cancelled);
        let is_all = found.len() < most || (analysis.is_cancelled)();
        let ours = found.into_iter().filter(|(file, _)| {
            let is_ours = || files.contains(file);
            *known.entry(file.path()).or_insert_with(is_ours)
        });
        let ours: Vec<_> = ours.take(limit).collect();
        if is_all || ours.len() == limit {
            return ours;
        }
        // Keys of other YAML files used up the limit.
        most = most.saturating_mul(8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Change, Workspace};

    fn snapshot() -> Arc<Snapshot> {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/w".into()]));
        let open = |name: &str, text: &str| Change::open(format!("/w/data/{name}.yaml"), text);
        workspace.apply(open("a", "ntp::servers: [a]\nNTP: 1\n"));
        workspace.apply(open(
            "b",
            "my::ntp: x\nn_t_p: x\nother: x\nntp::servers: []\n",
        ))
    }

    #[test]
    fn the_best_matches_come_first() {
        let snapshot = snapshot();
        let search = |typed: &str, limit| -> Vec<String> {
            let found = workspace_symbols(&snapshot, typed, limit, &|| false);
            let shown = |(file, symbol): &(&Arc<File>, Symbol)| {
                format!(
                    "{} {}",
                    file.path().rsplit('/').next().unwrap(),
                    symbol.name
                )
            };
            found.iter().map(shown).collect()
        };
        expect_test::expect![[r#"
            a.yaml NTP
            a.yaml ntp::servers
            b.yaml ntp::servers
            b.yaml my::ntp
            b.yaml n_t_p"#]]
        .assert_eq(&search("ntp", 10).join("\n"));
        expect_test::expect![[r#"
            a.yaml ntp::servers
            b.yaml ntp::servers"#]]
        .assert_eq(&search("ntp serv", 10).join("\n"));
        assert_eq!(search("ntp", 2).len(), 2);
        assert_eq!(search("zzz", 10).len(), 0);
        assert_eq!(search("", 10).len(), 6);
        assert!(workspace_symbols(&snapshot, "", 10, &|| true).is_empty());
    }
}
