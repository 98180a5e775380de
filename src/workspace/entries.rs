//! Single values of data files: what a lookup asks of most files is one key, and the facts know
//! whether a file has it, and where. So the others need not be loaded.

use std::sync::{Arc, Mutex, PoisonError};

use super::change::Content;
use super::facts::{KeyFact, KeyState};
use super::file::File;
use super::files::{Entry, Format, OneValue};
use super::generations::Generations;
use crate::value::{StrKey, load_plain_yaml};

/// Bytes of text whose values are remembered, before those that nobody asked for lately are
/// forgotten; a value takes about ten times its text.
const MOST_REMEMBERED: usize = 2 << 20;

/// Values by the prints of their texts: a print stands for the text of one value, the name decides
/// between keys of equal values.
pub(super) struct EntryCache {
    held: Mutex<Generations<u64, Remembered>>,
}

/// The name of a key and its value.
type Remembered = (Arc<str>, Arc<OneValue>);

impl Default for EntryCache {
    fn default() -> EntryCache {
        EntryCache {
            held: Mutex::new(Generations::new(MOST_REMEMBERED)),
        }
    }
}

impl EntryCache {
    /// What a file says of a key, where that is certain from its facts and the key's own lines.
    /// O(log keys) where the value is remembered, else O(keys + length of the value).
    pub(super) fn entry(&self, file: &File, key: &str, format: Format) -> Entry {
        let facts = &file.facts;
        let is_text = file.open.is_some() || matches!(file.disk, Some(Content::Text(_)));
        let is_sound = facts.error.is_none() && facts.problems.is_empty();
        if format != Format::Yaml || file.format() != Some(format) || !is_text || !is_sound {
            return Entry::Unknown;
        }
        if facts.keys.is_empty() {
            return Entry::Unknown;
        }
        let Some(fact) = facts.key(key) else {
            return if facts.has_odd_keys {
                Entry::Unknown
            } else {
                Entry::Absent
            };
        };
        let held = || self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((name, value)) = held().get(&fact.print)
            && **name == *key
        {
            return Entry::Value(value.clone());
        }
        let Some((value, bytes)) = load(file, fact) else {
            return Entry::Unknown;
        };
        let named = (fact.name.clone(), value.clone());
        held().insert(fact.print, named, bytes);
        Entry::Value(value)
    }
}

/// The value of a top-level key from its own lines, with their length. Not so where it is written
/// in ways for which the rest of the file could count.
fn load(file: &File, fact: &KeyFact) -> Option<(Arc<OneValue>, usize)> {
    let keys = &file.facts.keys;
    let text = &*file.text;
    let start = fact.key.start as usize;
    let starts_line = start == 0 || text.as_bytes().get(start - 1) == Some(&b'\n');
    if fact.state != KeyState::Read
        || !starts_line
        || !is_block(&text[..keys[0].key.start as usize])
    {
        return None;
    }
    let at = keys.partition_point(|key| key.key.start <= fact.key.start);
    let end = keys
        .get(at)
        .map_or(text.len(), |next| next.key.start as usize);
    if !keys.is_sorted_by_key(|key| key.key.start) {
        return None;
    }
    let lines = text.get(start..end)?;
    let value = load_plain_yaml(lines.as_bytes())?;
    let value = value.as_hash()?.get(&StrKey(&fact.name))?.clone();
    Some((Arc::new(OneValue::new(value)), lines.len()))
}

/// Whether nothing but comments and a document's start stands before the first key, so that the
/// keys at the start of a line are those of a block.
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
    use crate::workspace::{Change, Files, Snapshot, Workspace};

    fn snapshot(text: &str) -> Arc<Snapshot> {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec!["/w".into()]));
        workspace.apply(Change::Open {
            path: "/w/data/a.yaml".into(),
            text: text.into(),
            version: 1,
        })
    }

    /// How many of the keys were told without loading the file.
    fn check(text: &str) -> usize {
        let snapshot = snapshot(text);
        let data = snapshot.data("/w/data/a.yaml", Format::Yaml);
        let keys = ["a", "b", "c", "k", "<<", "1", "a b", "lookup_options"];
        let told = keys.iter().filter(|key| {
            let whole = data.loaded.as_ref().map(|value| value.get(key).cloned());
            match snapshot.entry("/w/data/a.yaml", key, Format::Yaml) {
                Entry::Unknown => return false,
                Entry::Absent => assert_eq!(whole, Ok(None), "{key} of {text:?}"),
                Entry::Value(one) => {
                    assert_eq!(whole, Ok(Some(one.value.clone())), "{key} of {text:?}");
                }
            }
            true
        });
        told.count()
    }

    #[test]
    fn keys_of_plain_files_are_told_alone() {
        let text = "# about\n---\na: 1\nb:\n  c: [1]\n\n# c\nc: |\n  x\n\n\n'a b': 1\n";
        assert_eq!(check(text), 8);
        assert_eq!(check("a: &x 1\nb: 2\nc: *x\n"), 6);
        assert_eq!(check("{a: 1,\nb: 2}\n"), 6);
        assert_eq!(check("a: 1\n:'b': 2\n"), 0);
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
        fn what_is_told_alone_is_what_the_whole_says(pieces in prop::collection::vec(select(&PIECES[..]), 0..14)) {
            check(&format!("a: 1\n{}\n", pieces.concat()));
            check(&format!("{}\n", pieces.concat()));
            check(&format!("k: &x {{a: 1}}\n{}\nb: 2\n", pieces.concat()));
        }
    }
}
