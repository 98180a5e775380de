//! Completion of values at the same place in other levels, and of anchors.

use std::collections::BTreeMap;

use super::cursor::{Cursor, CursorStep, DocumentStyle};
use super::keys::{in_files, parts, values_of};
use super::parameters::expected;
use super::{Item, ItemKind, TypingPlace};
use crate::datatype::Word;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::value::{Value, dump_for_hover, to_json};
use crate::workspace::Format;

/// Maximum number of files with values that are counted; this needs no parsing.
const MAX_FILES: usize = 2_000;

/// Maximum length of a value, in bytes.
const WIDEST: usize = 120;

/// Values for the place of the cursor, the most frequent first.
pub(super) fn items(
    typing: &TypingPlace<'_>,
    cursor: &Cursor,
    root: &str,
    steps: &[CursorStep],
) -> Vec<Item> {
    // The text of YAML files may not be JSON.
    let values = if steps.is_empty() && typing.style() == DocumentStyle::Yaml {
        in_yaml_files(typing, root)
    } else {
        read(typing, root, steps, &cursor.typed)
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for value in values
        .into_iter()
        .filter_map(|value| as_written(value, cursor))
    {
        *counts.entry(value).or_default() += 1;
    }
    // For a boolean, suggest both values.
    for (one, other) in [("true", "false"), ("false", "true")] {
        if counts.contains_key(one) {
            counts.entry(other.to_owned()).or_default();
        }
    }
    let mut found: Vec<(String, usize)> = counts.into_iter().collect();
    found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let words = expected(typing, root, steps).words().into_iter();
    let words = words.filter_map(|word| match word {
        Word::Text(text) => {
            let word = written(&Value::from(text.as_str()), typing.style());
            as_written(word, cursor)
        }
        Word::Truth(truth) => cursor.quote.is_none().then(|| truth.to_string()),
    });
    let mut items: Vec<Item> = words
        .map(|word| Item {
            detail: Some("by its type".to_owned()),
            ..Item::new(word, ItemKind::Value)
        })
        .collect();
    found.retain(|(value, _)| !items.iter().any(|item| item.label == *value));
    let others = found.into_iter().map(|(value, count)| Item {
        detail: (count > 0).then(|| in_files(count)),
        ..Item::new(value, ItemKind::Value)
    });
    items.extend(others);
    items
}

/// The values of a top-level key in the text of other files.
fn in_yaml_files(typing: &TypingPlace<'_>, root: &str) -> Vec<String> {
    let files = typing.analysis.snapshot.iter_files_with(root);
    let files = files.filter(|file| {
        file.id() != typing.file.id()
            && file.format() == Some(Format::Yaml)
            && typing.related.contains(file)
    });
    let values = files.take(MAX_FILES).filter_map(|file| {
        let value = file.facts().key(root)?.value.slice(file.text());
        // Encrypted values and aliases only work in their own file.
        let is_own = value.contains("ENC[") || value.starts_with(['*', '&', '|', '>']);
        let is_short = !value.is_empty() && value.len() <= WIDEST && !value.contains('\n');
        (is_short && !is_own).then(|| value.to_owned())
    });
    values.collect()
}

/// The strings, numbers and booleans at some steps of a key's value.
fn read(typing: &TypingPlace<'_>, root: &str, steps: &[CursorStep], typed: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (_, value) in values_of(typing, root) {
        for value in parts(&value, steps) {
            let is_leaf = value.as_hash().is_none() && value.as_array().is_none();
            let is_secret = value.as_str().is_some_and(|text| text.contains("ENC["));
            if !is_leaf || is_secret || value.is_undef() {
                continue;
            }
            let shown = written(value, typing.style());
            let is_short = shown.len() <= WIDEST && !shown.contains('\n');
            if is_short && shown.trim_matches(['"', '\'']) != typed {
                found.push(shown);
            }
        }
    }
    found
}

/// A scalar as text: in YAML plain if that means the same.
pub(super) fn written(value: &Value, style: DocumentStyle) -> String {
    if style == DocumentStyle::Json
        && let Ok(json) = to_json(value)
    {
        return json;
    }
    let is_plain = |text: &&str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_./:-".contains(c);
        let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric() || "_/".contains(c));
        let is_text = matches!(resolve_plain(text), Resolved::String);
        starts_well && text.chars().all(is_part) && !text.ends_with(':') && is_text
    };
    match value.as_str().filter(is_plain) {
        Some(text) => text.to_owned(),
        None => dump_for_hover(value),
    }
}

/// A value for the cursor: inside of quotes only its text, unless it needs other quotes.
fn as_written(value: String, cursor: &Cursor) -> Option<String> {
    if cursor.quote.is_none() {
        return Some(value);
    }
    let inner = value.trim_matches(['"', '\'']);
    (!inner.contains(['"', '\'', '\\'])).then(|| inner.to_owned())
}

/// The anchors of the file before the cursor, as aliases, the nearest first.
pub(super) fn anchors(typing: &TypingPlace<'_>) -> Vec<Item> {
    let before = typing.before();
    let mut names: Vec<&str> = Vec::new();
    for (at, _) in before.match_indices('&') {
        let is_start = before[..at].ends_with([' ', '\n', '[', '{', ',']);
        let rest = &before[at + 1..];
        let end = rest.find(|c: char| c.is_whitespace() || ",[]{}".contains(c));
        let name = &rest[..end.unwrap_or(rest.len())];
        if is_start && !name.is_empty() {
            names.retain(|known| *known != name);
            names.push(name);
        }
    }
    let items = names.into_iter().rev();
    items
        .map(|name| Item::new(format!("*{name}"), ItemKind::Anchor))
        .collect()
}
