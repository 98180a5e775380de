//! Completion of keys: top-level keys from other levels, and nested keys from values in other levels.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::cursor::{Cursor, CursorStep, DocumentStyle};
use super::parameters::{self, expected, shortened};
use super::values::written;
use super::{Fit, Item, ItemKind, MAX_ITEMS, TypingPlace, fit};
use crate::analysis::quoted;
use crate::datatype::Presence;
use crate::ide::hover::Described;
use crate::text::number_of;
use crate::value::Value;
use crate::workspace::{File, Format, KeyState, LOOKUP_OPTIONS};

/// Maximum number of files that are read for nested keys and values.
const MAX_FILES: usize = 24;

/// Maximum number of bytes in these files.
const MAX_BYTES: usize = 256 << 10;

/// The items for top-level keys: those that the file does not set yet.
pub(super) fn top_level(typing: &TypingPlace<'_>, cursor: &Cursor) -> Vec<Item> {
    let facts = typing.file.facts();
    let is_here = |name: &str| {
        let mut keys = facts.keys.iter().filter(|fact| &*fact.name == name);
        keys.any(|fact| match fact.key.touches(typing.offset) {
            // Skip the half-typed key itself.
            true => typing.analysis.snapshot.count_with(name) == 1,
            false => fact.state == KeyState::Read,
        })
    };
    let mut items = parameters::items(typing, cursor, &is_here);
    let known: HashSet<String> = items.iter().map(|item| item.label.clone()).collect();
    let others = names(typing, &cursor.typed, &|name| {
        is_here(name) || known.contains(name)
    });
    let others = others.into_iter().map(|name| {
        let files = typing.analysis.snapshot.count_with(&name);
        Item {
            detail: Some(in_files(files)),
            about: Some(about(&name)),
            ..key_item(typing, cursor, &name)
        }
    });
    items.extend(others);
    if !is_here(LOOKUP_OPTIONS) && fit(LOOKUP_OPTIONS, &cursor.typed).is_some() {
        items.push(Item {
            documentation: Some("how values of several levels are merged and converted".to_owned()),
            ..key_item(typing, cursor, LOOKUP_OPTIONS)
        });
    }
    items
}

/// The key of an item, for its documentation.
pub(super) fn about(name: &str) -> Described {
    Described::Key(Arc::from(quoted(name)))
}

/// "in 3 files"
pub(super) fn in_files(files: usize) -> String {
    format!("in {}", number_of(files, "file"))
}

/// Names of keys in files that nodes read together with this one, the best match first.
pub(super) fn names(
    typing: &TypingPlace<'_>,
    typed: &str,
    is_left_out: &dyn Fn(&str) -> bool,
) -> Vec<Arc<str>> {
    let snapshot = typing.analysis.snapshot;
    let mut known: HashMap<&Arc<str>, bool> = HashMap::new();
    let mut is_ours = |name: &str| {
        let mut files = snapshot.iter_files_with(name);
        files.any(|file| {
            let is_related = || typing.related.contains(file);
            *known.entry(file.path()).or_insert_with(is_related)
        })
    };
    let mut wanted =
        |name: &Arc<str>| &**name != LOOKUP_OPTIONS && !is_left_out(name) && is_ours(name);
    let mut found: Vec<Arc<str>> = Vec::new();
    for name in snapshot.key_names(typed) {
        if found.len() > MAX_ITEMS {
            return found;
        }
        if wanted(name) {
            found.push(name.clone());
        }
    }
    // The typed part may also be in the middle of a name.
    let others = snapshot.key_names("");
    let others = others.filter(|name| !name.starts_with(typed));
    let others = others.filter_map(|name| Some((fit(name, typed)?, name)));
    let mut rest: Vec<(Fit, &Arc<str>)> = others.collect();
    rest.sort_unstable();
    for (_, name) in rest {
        if found.len() > MAX_ITEMS || (typing.analysis.is_cancelled)() {
            break;
        }
        if wanted(name) {
            found.push(name.clone());
        }
    }
    found
}

/// The item for a key: with a colon, unless there is one.
pub(super) fn key_item(typing: &TypingPlace<'_>, cursor: &Cursor, name: &str) -> Item {
    let text = typing.file.text();
    let behind = text.get(cursor.replace.end as usize..).unwrap_or_default();
    let behind = behind.trim_start_matches(['"', '\'']);
    let has_colon = behind.trim_start_matches(' ').starts_with(':');
    let is_last = behind.lines().next().unwrap_or_default().trim().is_empty();
    let mut insert = match cursor.quote {
        Some(_) => name.to_owned(),
        None if typing.style() == DocumentStyle::Json => {
            written(&Value::from(name), DocumentStyle::Json)
        }
        None => quoted_if_needed(name),
    };
    if !has_colon && cursor.quote.is_none() && (is_last || cursor.bracket.is_some()) {
        insert.push_str(": ");
    }
    Item {
        insert,
        ..Item::new(name, ItemKind::Key)
    }
}

/// A key in YAML, quoted unless the plain text means the same.
pub(super) fn quoted_if_needed(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_:.-/".contains(c);
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts_well && name.chars().all(is_plain) && !name.ends_with(':') {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', "''"))
    }
}

/// Nested keys: first those in the type of the class parameter, the required ones before others;
/// then those at the same place in other levels, the most frequent first. Without keys that the
/// hash already has.
pub(super) fn nested(
    typing: &TypingPlace<'_>,
    cursor: &Cursor,
    root: &str,
    steps: &[CursorStep],
) -> Vec<Item> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (_, value) in values_of(typing, root) {
        for value in parts(&value, steps) {
            let keys = value.as_hash().into_iter().flat_map(|hash| hash.keys());
            for key in keys.filter_map(Value::as_str) {
                *counts.entry(key.to_owned()).or_default() += 1;
            }
        }
    }
    let mut items: Vec<Item> = Vec::new();
    let item = |name: &str| Item {
        about: nested_name(root, steps, name).map(Described::Key),
        ..key_item(typing, cursor, name)
    };
    for member in expected(typing, root, steps).members() {
        counts.remove(&member.name);
        let detail = match member.presence {
            Presence::Required => format!("{}, required", member.expected),
            Presence::Optional => member.expected,
        };
        items.push(Item {
            detail: Some(shortened(&detail)),
            ..item(&member.name)
        });
    }
    let mut found: Vec<(String, usize)> = counts.into_iter().collect();
    found.retain(|(name, _)| *name != *cursor.typed);
    found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    items.extend(found.iter().map(|(name, _)| item(name)));
    let siblings = cursor.sibling_keys(typing.file.text(), typing.offset);
    items.retain(|item| !siblings.contains(&item.label));
    items
}

/// The name of a nested key in lookups; `None` in a list, since the element is unknown.
fn nested_name(root: &str, steps: &[CursorStep], name: &str) -> Option<Arc<str>> {
    let mut shown = quoted(root);
    for step in steps {
        let CursorStep::Key(key) = step else {
            return None;
        };
        shown.push('.');
        shown.push_str(&quoted(key));
    }
    Some(Arc::from(format!("{shown}.{}", quoted(name))))
}

/// The values of a top-level key in this file and the files that nodes read together with it,
/// within the limits.
pub(super) fn values_of<'a>(typing: &TypingPlace<'a>, root: &str) -> Vec<(&'a Arc<File>, Value)> {
    let snapshot = typing.analysis.snapshot;
    let others = snapshot.iter_files_with(root);
    let others = others.filter(|file| file.id() != typing.file.id());
    let others = others.filter(|file| typing.related.contains(file));
    let files = std::iter::once(typing.file).chain(others);
    let mut bytes = 0;
    let mut found = Vec::new();
    for file in files.take(MAX_FILES) {
        bytes += file.text().len();
        if bytes > MAX_BYTES && !found.is_empty() {
            break;
        }
        let format = file.format().unwrap_or(Format::Yaml);
        let value = snapshot.value_of(file, root, format);
        found.extend(value.map(|value| (file, value)));
    }
    found
}

/// The parts of a value at some steps; a step into a list leads to all elements.
pub(super) fn parts<'v>(value: &'v Value, steps: &[CursorStep]) -> Vec<&'v Value> {
    steps.iter().fold(vec![value], |outer, step| {
        let outer = outer.into_iter();
        match step {
            CursorStep::Key(key) => outer.filter_map(|value| value.get(key.as_str())).collect(),
            CursorStep::Element => outer.filter_map(Value::as_array).flatten().collect(),
        }
    })
}
