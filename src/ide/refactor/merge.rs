//! Merges the values of two levels by an entry of `lookup_options`.

use super::{Cursor, Refactoring, RefactoringKind};
use crate::analysis::merge_kind;
use crate::ide::edit::Plan;
use crate::scope::Scope;
use crate::value::{Value, load_node};

pub(super) fn offers(cursor: &Cursor<'_>) -> Vec<Refactoring> {
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
    let options = cursor
        .view
        .in_scope(&Scope::open())
        .options_entry(&cursor.key);
    if options
        .as_ref()
        .is_some_and(|entry| merge_kind(entry).is_some())
    {
        return Vec::new();
    }
    let options = options.map(|entry| entry.value);
    let offers = strategies
        .iter()
        .filter_map(|strategy| offer(cursor, strategy, options.as_ref()));
    offers.collect()
}

/// Puts the entry into the lowest file that the hierarchy names for all nodes, else into this one.
fn offer(cursor: &Cursor<'_>, strategy: &str, options: Option<&Value>) -> Option<Refactoring> {
    let places = cursor.places();
    let mut constant = places
        .iter()
        .rev()
        .filter(|place| place.template.is_constant() && !place.by_glob);
    let lowest = constant.find_map(|place| cursor.always(place));
    let sheet = lowest.as_ref().unwrap_or(&cursor.sheet);
    let path = sheet.file.path();
    let mut plan = Plan::default();
    plan.add(
        path,
        sheet
            .with_merge(&cursor.key, &Value::from(strategy), options)
            .ok()?,
    );
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
