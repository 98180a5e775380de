//! Completion of values at the same place in other levels, and of anchors.

use std::collections::HashMap;

use super::cursor::{Cursor, CursorStep, DocumentStyle};
use super::keys::{collect, in_files, values_of};
use super::parameters::expected;
use super::{Item, ItemKind, Question};
use crate::datatype::Word;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::value::{Value, dump_for_hover, to_json};
use crate::workspace::Format;

/// Maximum number of files with values that are counted; this needs no parsing.
const MOST_FILES: usize = 2_000;

/// Maximum length of a value, in bytes.
const WIDEST: usize = 120;

/// Values for the place of the cursor, the most frequent first.
pub(super) fn items(
    question: &Question<'_>,
    cursor: &Cursor,
    root: &str,
    steps: &[CursorStep],
) -> Vec<Item> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    // The text of YAML files may not be JSON.
    match steps.is_empty() && question.style() == DocumentStyle::Yaml {
        true => in_yaml_files(question, root, cursor, &mut counts),
        false => read(question, root, steps, cursor, &mut counts),
    }
    // For a boolean, suggest both values.
    for (one, other) in [("true", "false"), ("false", "true")] {
        if counts.contains_key(one) {
            counts.entry(other.to_owned()).or_default();
        }
    }
    let mut found: Vec<(String, usize)> = counts.into_iter().collect();
    found.sort_by(|(one, times), (other, other_times)| {
        other_times.cmp(times).then_with(|| one.cmp(other))
    });
    let words = expected(question, root, steps).words().into_iter();
    let words = words.filter_map(|word| match word {
        Word::Text(text) => as_written(
            written(&Value::from(text.as_str()), question.style()),
            cursor,
        ),
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

/// Counts the values of a top-level key in the text of other files.
fn in_yaml_files(
    question: &Question<'_>,
    root: &str,
    cursor: &Cursor,
    counts: &mut HashMap<String, usize>,
) {
    let files = question.analysis.snapshot.iter_files_with(root);
    let files = files.filter(|file| {
        file.id() != question.file.id()
            && file.format() == Some(Format::Yaml)
            && question.related.contains(file)
    });
    for file in files.take(MOST_FILES) {
        let Some(fact) = file.facts().key(root) else {
            continue;
        };
        let value = fact.value.slice(file.text());
        // Encrypted values and aliases only work in their own file.
        let is_own = value.contains("ENC[") || value.starts_with(['*', '&', '|', '>']);
        let is_short = !value.is_empty() && value.len() <= WIDEST && !value.contains('\n');
        if is_short && !is_own {
            add(value.to_owned(), cursor, counts);
        }
    }
}

/// Counts the strings, numbers and booleans at some steps of a key's value.
fn read(
    question: &Question<'_>,
    root: &str,
    steps: &[CursorStep],
    cursor: &Cursor,
    counts: &mut HashMap<String, usize>,
) {
    for (_, value) in values_of(question, root) {
        let mut at_place = Vec::new();
        collect(&value, steps, &mut at_place);
        for value in at_place {
            let is_leaf = value.as_hash().is_none() && value.as_array().is_none();
            let is_text = value.as_str().is_some_and(|text| text.contains("ENC["));
            if !is_leaf || is_text || matches!(value, Value::Undef) {
                continue;
            }
            let shown = written(&value, question.style());
            if shown.len() <= WIDEST
                && !shown.contains('\n')
                && shown.trim_matches(['"', '\'']) != cursor.typed
            {
                add(shown, cursor, counts);
            }
        }
    }
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

fn add(value: String, cursor: &Cursor, counts: &mut HashMap<String, usize>) {
    if let Some(value) = as_written(value, cursor) {
        *counts.entry(value).or_default() += 1;
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
pub(super) fn anchors(question: &Question<'_>) -> Vec<Item> {
    let text = question.file.text();
    let before = text.get(..question.offset).unwrap_or_default();
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
