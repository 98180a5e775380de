//! Single values of data files: a lookup needs one key of most files, and the facts know whether a
//! file has it, and where. So the other keys need not be loaded.
//!
//! Without this module a lookup in a scope of its own takes 8.5 ms in a snapshot instead of 0.07
//! ms: the values of a whole workspace fit into no cache. A hover makes up to 64 such lookups
//! (floor: 1 ms). If files were never loaded whole ([`SEARCH`]), warm lookups would be 34 times as
//! fast as Puppet's instead of 65 times (floor: 40).

use std::sync::{Arc, Mutex, PoisonError};

use super::change::Content;
use super::facts::{KeyFact, KeyState};
use super::file::File;
use super::files::{Entry, Format};
use super::generations::Generations;
use super::reader;
use crate::syntax::{NodeKind, TreeNode};
use crate::text::TextRange;
use crate::value::{StrKey, Value, load_plain_entry, load_plain_yaml};

/// Maximum number of bytes of text with cached values, before the least recently used are evicted;
/// a value takes about ten times its text.
const MAX_REMEMBERED: usize = 1 << 20;

/// What a search for a key costs, in bytes of text that are loaded in the same time.
///
/// A scope reads keys one by one until it has spent what loading the whole file costs, so that it
/// never spends more than twice the better of the two ways.
const SEARCH: usize = 64;

/// What loading a whole file costs besides its text, in the same unit.
const LOAD: usize = 512;

/// Number of keys that a scope reads one by one from a file whose facts are not known: each is
/// searched from the start.
const MAX_ASKED_PLAIN: usize = 2;

/// Values by the hashes of their texts: a hash identifies the text of one value, the name
/// distinguishes keys of equal values.
pub(super) struct EntryCache {
    held: Mutex<Generations<u64, (Arc<str>, Value)>>,
}

impl Default for EntryCache {
    fn default() -> EntryCache {
        EntryCache {
            held: Mutex::new(Generations::new(MAX_REMEMBERED)),
        }
    }
}

impl EntryCache {
    /// The entry of a key in a YAML file, if it is certain from its facts and the key's own lines.
    /// O(log keys) if the value is cached, else O(length of the value). `spent` is what the scope has
    /// spent on keys of this file so far, in bytes of its text. `is_loaded` tells whether the whole
    /// file is cached: then that costs less than a value that is not.
    pub(super) fn entry(
        &self,
        file: &File,
        key: &str,
        spent: &mut usize,
        is_loaded: impl FnOnce() -> bool,
    ) -> Entry {
        let is_text = file.open.is_some() || matches!(file.content(), Some(Content::Text(_)));
        if file.format() != Some(Format::Yaml) || !is_text {
            return Entry::Unknown;
        }
        let Some(facts) = file.known_facts() else {
            return plain_entry(file.text(), key, spent);
        };
        // The values of a text that is parsed in parts take too much memory.
        if *spent > file.text().len() + LOAD && !facts.in_parts {
            return Entry::Unknown;
        }
        if !facts.is_whole {
            return Entry::Unknown;
        }
        *spent += SEARCH;
        let Some(fact) = facts.key(key) else {
            return if facts.keys.is_empty() || facts.has_odd_keys {
                Entry::Unknown
            } else {
                Entry::Absent
            };
        };
        let held = || self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((name, value)) = held().get(&fact.fingerprint)
            && **name == *key
        {
            return Entry::Value(value.clone());
        }
        if !facts.in_parts && is_loaded() {
            return Entry::Unknown;
        }
        let Some((value, bytes)) = load(file, fact) else {
            return Entry::Unknown;
        };
        *spent += bytes;
        let named = (fact.name.clone(), value.clone());
        held().insert(fact.fingerprint, named, bytes);
        Entry::Value(value)
    }
}

/// The entry of a key in a plain text without facts: a command reads a key and `lookup_options` from
/// most files, and ends. Without this function `lookup --explain` takes 15 ms instead of 10: 1/107 of
/// Puppet's time, and the floor is 1/20.
fn plain_entry(text: &str, key: &str, spent: &mut usize) -> Entry {
    if *spent >= MAX_ASKED_PLAIN * text.len() {
        return Entry::Unknown;
    }
    *spent += text.len();
    match load_plain_entry(text.as_bytes(), key) {
        Some(Some(value)) => Entry::Value(value),
        Some(None) => Entry::Absent,
        None => Entry::Unknown,
    }
}

/// The value of a top-level key from its own lines, with their length.
fn load(file: &File, fact: &KeyFact) -> Option<(Value, usize)> {
    let lines = own_lines(file, fact)?.slice(file.text());
    let loaded = match load_plain_yaml(lines.as_bytes()) {
        Some(loaded) => loaded,
        None => {
            let parse = reader::parse(lines, Format::Yaml);
            // An alias refers to another place.
            let is_alias = |node: &TreeNode| matches!(node.kind, NodeKind::Alias { .. });
            if parse.tree.nodes().any(|(_, node)| is_alias(node)) {
                return None;
            }
            reader::load_parsed_yaml(&parse)?.loaded.ok()?
        }
    };
    let value = loaded.as_hash()?.get(&StrKey(&fact.name))?.clone();
    Some((value, lines.len()))
}

/// The lines of a top-level key; `None` if the rest of the file could affect them.
pub(super) fn own_lines(file: &File, fact: &KeyFact) -> Option<TextRange> {
    let keys = &file.facts().keys;
    let text = &**file.text();
    let start = fact.key.start as usize;
    let starts_line = start == 0 || text.as_bytes().get(start - 1) == Some(&b'\n');
    if fact.state != KeyState::Read
        || !starts_line
        || !is_block(&text[..keys[0].key.start as usize])
    {
        return None;
    }
    // Keys from a merge key are in another place.
    if !keys.is_sorted_by_key(|key| key.key.start) {
        return None;
    }
    let at = keys.partition_point(|key| key.key.start <= fact.key.start);
    let end = keys
        .get(at)
        .map_or(text.len(), |next| next.key.start as usize);
    text.get(start..end)?;
    Some(TextRange::new(start, end))
}

/// Whether only comments and a document start precede the first key, so that the keys at the start
/// of a line belong to a block mapping.
fn is_block(before: &str) -> bool {
    before
        .lines()
        .all(|line| line.is_empty() || line == "---" || line.trim_start().starts_with('#'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, prop, proptest};
    use proptest::sample::select;

    use super::*;
    use crate::workspace::{Change, Files, Format, Snapshot, Workspace};

    fn snapshot(text: &str) -> Arc<Snapshot> {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/w".into()]));
        workspace.apply(Change::open("/w/data/a.yaml", text))
    }

    /// The number of keys that were read without loading the file.
    fn check(text: &str) -> usize {
        // A file that is loaded is not read by keys.
        let data = snapshot(text).data("/w/data/a.yaml", Format::Yaml);
        let snapshot = snapshot(text);
        let keys = ["a", "b", "c", "k", "<<", "1", "a b", "lookup_options"];
        let certain = keys.iter().filter(|key| {
            let whole = data.loaded.as_ref().map(|value| value.get(key).cloned());
            match snapshot.entry("/w/data/a.yaml", key, &mut 0) {
                Entry::Unknown => return false,
                Entry::Absent => assert_eq!(whole, Ok(None), "{key} of {text:?}"),
                Entry::Value(value) => assert_eq!(whole, Ok(Some(value)), "{key} of {text:?}"),
            }
            true
        });
        certain.count()
    }

    #[test]
    fn keys_of_plain_files_are_read_one_by_one() {
        let text = "# about\n---\na: 1\nb:\n  c: [1]\n\n# c\nc: |\n  x\n\n\n'a b': 1\n";
        assert_eq!(check(text), 8);
        assert_eq!(check("a: &x 1\nb: 2\nc: *x\n"), 7);
        assert_eq!(check("{a: 1,\nb: 2}\n"), 6);
        assert_eq!(check("a: 1\n:'b': 2\n"), 1);
        assert_eq!(check("a: 1\n---\nb: 1\n"), 0);
        assert_eq!(check("a: 1\nb: [\n"), 0);
        assert_eq!(check(""), 0);
    }

    const PIECES: [&str; 36] = [
        "a: ",
        "b: ",
        "c: ",
        "\na: ",
        "\nb: ",
        "\nc: ",
        "\nk:\n",
        "\n  a: ",
        "\n- ",
        "- ",
        "x",
        "1",
        " ",
        "\n",
        "\n\n",
        "|\n  x\n",
        "|-\n  x\n  y\n\n",
        "&x ",
        "*x",
        "\n<<: *x\n",
        "\n: b",
        ":'a b': ",
        "{",
        "}",
        "[",
        "]",
        ",",
        "'",
        "\"",
        "#",
        "\n# c\n",
        "---\n",
        "\n---\n",
        "\n...\n",
        "!!str ",
        "? a\n",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 600, ..ProptestConfig::default() })]
        #[test]
        fn a_single_entry_equals_that_of_the_whole_file(pieces in prop::collection::vec(select(&PIECES[..]), 0..14)) {
            check(&format!("a: 1\n{}\n", pieces.concat()));
            check(&format!("{}\n", pieces.concat()));
            check(&format!("k: &x {{a: 1}}\n{}\nb: 2\n", pieces.concat()));
        }
    }
}
