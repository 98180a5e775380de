//! Completion in `lookup_options`: keys and patterns, options, strategies, types.

use indexmap::IndexSet;

use super::cursor::{Cursor, Slot};
use super::keys::{about, key_item, names, quoted_if_needed};
use super::{Item, ItemKind, TypingPlace};
use crate::ide::hover::{meaning_of_key, meaning_of_value};
use crate::lookup::{MERGE_OPTIONS, STRATEGIES};

const MEMBERS: [&str; 2] = ["merge", "convert_to"];

/// Types for `convert_to`, with their meaning.
const TYPES: [(&str, &str); 16] = [
    (
        "Sensitive",
        "wraps the value, so that reports and logs do not show it",
    ),
    ("String", "the value as a string"),
    ("Integer", "a whole number, also from a string in any base"),
    ("Float", "a number with a fraction"),
    ("Numeric", "a whole number, or one with a fraction"),
    (
        "Boolean",
        "true or false, also from the usual words for them",
    ),
    ("Array", "a list; a hash becomes a list of pairs"),
    ("Hash", "a hash, also from a list of pairs"),
    ("Struct", "a hash with named members"),
    ("Timestamp", "a point in time, from a string"),
    ("Timespan", "a length of time, from a string"),
    ("Regexp", "a pattern, from a string"),
    ("SemVer", "a version, from a string"),
    ("SemVerRange", "a range of versions, from a string"),
    ("URI", "an address, from a string"),
    ("Binary", "bytes, from base64"),
];

/// The items for a place in `lookup_options`.
pub(super) fn items(typing: &TypingPlace<'_>, cursor: &Cursor) -> Vec<Item> {
    let steps: Vec<&str> = cursor.steps_as_words().collect();
    match (cursor.slot, steps.as_slice()) {
        (Slot::Key, [_]) => entries(typing, cursor),
        (Slot::Key, [_, _]) => words(typing, cursor, &MEMBERS),
        (Slot::Key, [_, _, "merge"]) => words(typing, cursor, &MERGE_OPTIONS),
        (_, [_, _, "merge"] | [_, _, "merge", "strategy"]) => STRATEGIES
            .iter()
            .rev()
            .map(|word| Item {
                documentation: meaning_of_value(word).map(str::to_owned),
                ..Item::new(*word, ItemKind::Word)
            })
            .collect(),
        (Slot::Value, [_, _, "merge", "sort_merged_arrays" | "merge_hash_arrays"]) => {
            ["true", "false"]
                .map(|word| Item::new(word, ItemKind::Word))
                .to_vec()
        }
        (Slot::Value, [_, _, "merge", "knockout_prefix"]) => {
            let item = |insert: &str| Item {
                insert: match cursor.quote {
                    Some(_) => insert.to_owned(),
                    None => format!("'{insert}'"),
                },
                documentation: meaning_of_key("knockout_prefix").map(str::to_owned),
                ..Item::new(insert, ItemKind::Value)
            };
            vec![item("--")]
        }
        (_, [_, _, "convert_to"] | [_, _, "convert_to", "-"]) => TYPES
            .iter()
            .map(|(name, meaning)| Item {
                documentation: Some((*meaning).to_owned()),
                ..Item::new(*name, ItemKind::Type)
            })
            .collect(),
        (Slot::Key | Slot::Value, _) => Vec::new(),
    }
}

/// Keys without an entry, and the patterns of their modules.
fn entries(typing: &TypingPlace<'_>, cursor: &Cursor) -> Vec<Item> {
    let options = &typing.file.facts().lookup_options;
    let has_entry = |name: &str| {
        let mut entries = options.iter();
        entries.any(|entry| &*entry.pattern == name && !entry.key.touches(typing.offset))
    };
    let typed = cursor.typed.trim_start_matches('^');
    let keys = names(typing, typed, &has_entry);
    let classes = keys.iter().filter_map(|name| name.rsplit_once("::"));
    let patterns = classes.map(|(class, _)| format!("^{class}::"));
    let patterns: IndexSet<String> = patterns.filter(|pattern| !has_entry(pattern)).collect();
    let mut items: Vec<Item> = Vec::new();
    if !cursor.typed.starts_with('^') {
        items.extend(keys.iter().map(|name| Item {
            about: Some(about(name)),
            ..key_item(typing, cursor, name)
        }));
    }
    items.extend(patterns.into_iter().map(|pattern| Item {
        documentation: Some("a pattern: the options are for every key that it matches".to_owned()),
        insert: match cursor.quote {
            Some(_) => pattern.clone(),
            None => format!("{}: ", quoted_if_needed(&pattern)),
        },
        ..Item::new(pattern, ItemKind::Pattern)
    }));
    items
}

/// Words as keys, except for those that the hash already has.
pub(super) fn words(typing: &TypingPlace<'_>, cursor: &Cursor, words: &[&str]) -> Vec<Item> {
    let siblings = cursor.sibling_keys(typing.file.text(), typing.offset);
    let has = |word: &str| {
        let mut keys = siblings.iter();
        keys.any(|key| key.trim_start_matches(':') == word)
    };
    let words = words.iter().filter(|word| !has(word));
    let items = words.map(|word| Item {
        kind: ItemKind::Word,
        documentation: meaning_of_key(word).map(str::to_owned),
        ..key_item(typing, cursor, word)
    });
    items.collect()
}
