//! Single values of data files: what a lookup asks of most files is one key, and the facts know
//! whether a file has it, and where. So the others need not be loaded.

use std::sync::{Arc, Mutex, PoisonError};

use super::change::Content;
use super::facts::{KeyFact, KeyState};
use super::file::File;
use super::files::{Entry, Format, OneValue};
use super::generations::Generations;
use super::reader;
use crate::syntax::Parse;
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
        if format != Format::Yaml || !is_sound(file) || facts.keys.is_empty() {
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

/// Whether a file is YAML that is read without a word about it.
fn is_sound(file: &File) -> bool {
    let facts = &file.facts;
    let is_text = file.open.is_some() || matches!(file.disk, Some(Content::Text(_)));
    let is_sound = facts.error.is_none() && facts.problems.is_empty();
    file.format() == Some(Format::Yaml) && is_text && is_sound
}

/// The tree of a top-level key's own lines and where these start in the text, as far as they alone
/// say what the whole file says of the key. O(log keys + length of the value).
pub(super) fn tree(file: &File, key: &str) -> Option<(usize, Parse)> {
    if !is_sound(file) {
        return None;
    }
    let fact = file.facts.key(key)?;
    let lines = own_lines(file, fact)?;
    load_plain_yaml(lines.as_bytes())?;
    let start = fact.key.start as usize;
    Some((start, reader::parse(lines, Format::Yaml)))
}

/// The value of a top-level key from its own lines, with their length.
fn load(file: &File, fact: &KeyFact) -> Option<(Arc<OneValue>, usize)> {
    let lines = own_lines(file, fact)?;
    let value = load_plain_yaml(lines.as_bytes())?;
    let value = value.as_hash()?.get(&StrKey(&fact.name))?.clone();
    Some((Arc::new(OneValue::new(value)), lines.len()))
}

/// The lines of a top-level key. Not so where it is written in ways for which the rest of the file
/// could count.
fn own_lines<'f>(file: &'f File, fact: &KeyFact) -> Option<&'f str> {
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
    text.get(start..end)
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
    use crate::syntax::{NodeKind, Tree};
    use crate::text::TextRange;
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
                    check_tree(&snapshot, key);
                }
            }
            true
        });
        told.count()
    }

    /// The tree of a key's lines has every node where the whole tree has it.
    fn check_tree(snapshot: &Snapshot, key: &str) {
        let file = snapshot.file("/w/data/a.yaml").unwrap();
        let fact = file.facts().key(key).unwrap();
        let places = |tree: &Tree, start: usize| {
            let key = TextRange::new(
                fact.key.start as usize - start,
                fact.key.end as usize - start,
            );
            let (_, value) = tree.entry_at(key).unwrap();
            let mut waiting = vec![value];
            let mut places = Vec::new();
            while let Some(node) = waiting.pop() {
                let node = tree.node(node);
                let (from, to) = (node.range.start as usize, node.range.end as usize);
                places.push((from + start, to + start));
                match &node.kind {
                    NodeKind::Mapping(pairs) => {
                        waiting.extend(pairs.iter().flat_map(|&(key, value)| [key, value]));
                    }
                    NodeKind::Sequence(elements) => waiting.extend(elements.iter().copied()),
                    NodeKind::Scalar(_) | NodeKind::Alias { .. } => {}
                }
            }
            places
        };
        let whole = snapshot.parse_of(file, Format::Yaml);
        let (start, own) = tree(file, key).unwrap();
        assert_eq!(
            places(&own.tree, start),
            places(&whole.tree, 0),
            "{key} of {:?}",
            file.text()
        );
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
