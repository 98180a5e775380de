//! The keys of one file as an outline, and the keys of the workspace by what the user typed: the
//! simplest features over the index.

use std::collections::HashMap;
use std::sync::Arc;

use crate::analysis::{Analysis, HieraFiles};
use crate::syntax::{NodeId, Tree};
use crate::text::TextRange;
use crate::workspace::{File, Snapshot};

/// A key with its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// The key as Puppet sees it.
    pub name: Arc<str>,
    /// The key and its value.
    pub range: TextRange,
    /// The key alone.
    pub selection: TextRange,
    /// The keys of its value, one level down; searches leave them out.
    pub children: Vec<Symbol>,
}

/// Most nested keys of one file's outline.
const MOST_NESTED: usize = 20_000;

/// The outline of a file that a hierarchy reads; empty for any other.
#[must_use]
pub fn document_symbols(analysis: Analysis<'_>, path: &str) -> Vec<Symbol> {
    match analysis.reads(path) {
        true => outline(analysis.snapshot, path),
        false => Vec::new(),
    }
}

/// The top-level keys of a file in the order of its text, with the keys of their hashes; empty for
/// a file that is not known. Parses the file: O(bytes).
#[must_use]
pub fn outline(snapshot: &Snapshot, path: &str) -> Vec<Symbol> {
    let Some(file) = snapshot.file(path) else {
        return Vec::new();
    };
    let Some(format) = file.format() else {
        return Vec::new();
    };
    let parse = snapshot.parse_of(file, format);
    // The values of top-level keys by where the keys stand; those of merge keys are elsewhere.
    let values: HashMap<TextRange, NodeId> = parse
        .tree
        .entries()
        .map(|(key, value)| (parse.tree.node(key).range, value))
        .collect();
    let mut left = MOST_NESTED;
    let keys = file.facts().keys.iter();
    keys.map(|key| Symbol {
        name: Arc::clone(&key.name),
        range: key.key.cover(key.value),
        selection: key.key,
        children: values
            .get(&key.key)
            .map(|value| nested(&parse.tree, *value, &mut left))
            .unwrap_or_default(),
    })
    .collect()
}

/// The keys of a hash that stands here, not behind an alias; `left` counts down what may follow.
fn nested(tree: &Tree, value: NodeId, left: &mut usize) -> Vec<Symbol> {
    let pairs = tree.node(value).as_mapping().unwrap_or_default();
    let named = pairs.iter().filter_map(|&(key, value)| {
        let name = tree.scalar_text(key)?;
        let selection = tree.node(key).full_range();
        Some(Symbol {
            name: name.clone(),
            range: selection.cover(tree.node(value).full_range()),
            selection,
            children: Vec::new(),
        })
    });
    let found: Vec<Symbol> = named.take(*left).collect();
    *left -= found.len();
    found
}

/// Keys that match what the user typed, with the files that hold them, at most `limit`: names that
/// are it, then names that start with it, then names that hold it, then names that hold its
/// letters in order; each group by name. Case does not matter. O(keys of the workspace);
/// `is_stopped` is asked now and then.
#[must_use]
pub fn workspace_symbols<'a>(
    snapshot: &'a Snapshot,
    typed: &str,
    limit: usize,
    is_stopped: &dyn Fn() -> bool,
) -> Vec<(&'a Arc<File>, Symbol)> {
    /// How many names are looked at between two looks at the flag.
    const STEP: usize = 1024;
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
            let symbol = Symbol {
                name: Arc::clone(&key.name),
                range: key.key.cover(key.value),
                selection: key.key,
                children: Vec::new(),
            };
            found.push((file, symbol));
        }
    }
    found
}

/// How well a name matches, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    Whole,
    Start,
    Part,
    Letters,
}

pub(super) fn quality(name: &str, typed: &str) -> Option<Match> {
    let name = name.to_lowercase();
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

/// Keys of files that a hierarchy reads, by what a person has typed, best first, at most `limit`.
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
            let is_ours = || files.contains(file.path());
            *known.entry(file.path()).or_insert_with(is_ours)
        });
        let ours: Vec<_> = ours.take(limit).collect();
        if is_all || ours.len() == limit {
            return ours;
        }
        // Keys of other YAML files took the places.
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
        let open = |name: &str, text: &str| Change::Open {
            path: format!("/w/data/{name}.yaml").into(),
            text: text.into(),
            version: 1,
        };
        workspace.apply(open("a", "ntp::servers: [a]\nNTP: 1\n"));
        workspace.apply(open(
            "b",
            "my::ntp: x\nn_t_p: x\nother: x\nntp::servers: []\n",
        ))
    }

    #[test]
    fn an_outline_holds_the_keys_with_their_values() {
        let symbols = outline(&snapshot(), "/w/data/a.yaml");
        let names: Vec<_> = symbols.iter().map(|symbol| &*symbol.name).collect();
        assert_eq!(names, ["ntp::servers", "NTP"]);
        assert_eq!(symbols[0].selection, TextRange::new(0, 12));
        assert_eq!(symbols[0].range, TextRange::new(0, 17));
        assert!(outline(&snapshot(), "/nowhere").is_empty());
    }

    #[test]
    fn an_outline_is_two_levels_deep() {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/w".into()]));
        let snapshot = workspace.apply(Change::Open {
            path: "/w/data/a.yaml".into(),
            text: "users:\n  alice: {uid: 1}\n  \"bob\":\n    uid: 2\nlist: [{x: 1}]\nbroken: [\n"
                .into(),
            version: 1,
        });
        let symbols = outline(&snapshot, "/w/data/a.yaml");
        let shown: Vec<String> = symbols
            .iter()
            .map(|symbol| {
                let children = symbol.children.iter();
                let names: Vec<&str> = children.map(|child| &*child.name).collect();
                format!("{}: {}", symbol.name, names.join(" "))
            })
            .collect();
        assert_eq!(shown, ["users: alice bob", "list: ", "broken: "]);
        for symbol in &symbols {
            assert!(symbol.range.contains(symbol.selection));
            for child in &symbol.children {
                assert!(
                    symbol.range.contains(child.range),
                    "{child:?} in {symbol:?}"
                );
            }
        }
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
        assert_eq!(search("ntp", 2).len(), 2);
        assert_eq!(search("zzz", 10).len(), 0);
        assert_eq!(search("", 10).len(), 6);
        assert!(workspace_symbols(&snapshot, "", 10, &|| true).is_empty());
    }
}
