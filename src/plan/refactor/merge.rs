//! Merges the values of two levels by an entry of `lookup_options`.

use super::{EntryCursor, Refactoring, RefactoringKind};
use crate::analysis::merge_kind;
use crate::edit::Plan;
use crate::lookup::Place;
use crate::scope::Scope;
use crate::value::{Value, load_node};

pub(super) fn offers(cursor: &EntryCursor<'_>) -> Vec<Refactoring> {
    let snapshot = cursor.analysis().snapshot;
    if snapshot.count_with(&cursor.key) < 2 {
        return Vec::new();
    }
    let Ok(value) = load_node(cursor.sheet.tree(), cursor.entry.value) else {
        return Vec::new();
    };
    let strategies: &[&str] = match (value.as_array(), value.as_hash()) {
        (Some(_), _) => &["unique"],
        (None, Some(_)) => &["hash", "deep"],
        (None, None) => return Vec::new(),
    };
    let scope = Scope::open();
    let options = cursor.view.in_scope(&scope).options_entry(&cursor.key);
    if options
        .as_ref()
        .is_some_and(|entry| merge_kind(entry).is_some())
    {
        return Vec::new();
    }
    let options = options.as_ref().map(|entry| &entry.value);
    let offer = |strategy: &&str| offer(cursor, strategy, options);
    strategies.iter().filter_map(offer).collect()
}

/// Puts the entry into the lowest file that the hierarchy names for all nodes, else into this one.
fn offer(cursor: &EntryCursor<'_>, strategy: &str, options: Option<&Value>) -> Option<Refactoring> {
    let places = cursor.places();
    let is_named = |place: &&Place| place.template.is_constant() && !place.by_glob;
    let mut named = places.iter().rev().filter(is_named);
    let lowest = named.find_map(|place| cursor.always(place));
    let sheet = lowest.as_ref().unwrap_or(&cursor.sheet);
    let path = sheet.file.path();
    let mut plan = Plan::default();
    let edit = sheet.with_merge(&cursor.key, &Value::from(strategy), options);
    plan.add(path, edit.ok()?);
    Some(Refactoring {
        title: format!(
            "Merge '{}' across all levels ({strategy}), in {}",
            cursor.key,
            cursor.shown(path)
        ),
        kind: RefactoringKind::Rewrite,
        plan,
    })
}
