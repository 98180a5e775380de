//! Moves a key into the files of the nearest higher level that is not the same for all nodes.

use std::sync::Arc;

use super::{EntryCursor, MAX_FILES, Refactoring, RefactoringKind};
use crate::edit::Plan;
use crate::edit::entry::Sheet;
use crate::lookup::Place;
use crate::workspace::File;

pub(super) fn offer(cursor: &EntryCursor<'_>) -> Option<Refactoring> {
    let own = cursor.reach.place.rank();
    let places = cursor.places();
    let mut above = places.iter().rev().filter(|place| place.rank() < own);
    let (place, files) = above.find_map(|place| {
        let mut files = cursor.files_of(place);
        files.retain(|file| cursor.is_read_with(place, file.path()));
        (!files.is_empty()).then_some((place, files))
    })?;
    let is_own = |file: &&Arc<File>| file.path() == cursor.at();
    let is_read = || is_read_with_one(cursor, place, &files);
    if files.len() > MAX_FILES || files.iter().any(is_own) || !is_read() {
        return None;
    }
    let mut plan = Plan::default();
    plan.add(cursor.at(), cursor.sheet.removal(cursor.whole()?));
    for file in &files {
        let sheet = Sheet::of(cursor.analysis().snapshot, file.path()).ok()?;
        // The file's own value already wins.
        if file.facts().key(&cursor.key).is_none() {
            plan.add(file.path(), sheet.insertion(&cursor.key, &cursor.lines()?));
        }
    }
    let mut into = plan.paths().filter(|path| *path != cursor.at());
    let to = match (into.next()?, into.count()) {
        (only, 0) => cursor.shown(only).to_owned(),
        (_, more) => format!("{} files of '{}'", more + 1, place.level),
    };
    Some(Refactoring {
        title: format!("Move '{}' into {to}", cursor.key),
        kind: RefactoringKind::Move,
        plan,
    })
}

/// Whether a known node reads both this file and one of the higher files; else no known node would
/// get the key. True if no known node reads this file.
fn is_read_with_one(cursor: &EntryCursor<'_>, place: &Place, files: &[&Arc<File>]) -> bool {
    let view = &cursor.view;
    let own = view.readers(std::iter::once(&cursor.reach.place), cursor.at());
    let mut above = files
        .iter()
        .flat_map(|file| view.readers(std::iter::once(place), file.path()));
    own.is_empty() || above.any(|member| own.contains(&member))
}
