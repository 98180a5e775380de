//! Moves a key to a higher or lower file that all readers of this file read.

use super::{EntryCursor, Refactoring, RefactoringKind};
use crate::edit::Plan;
use crate::edit::entry::Sheet;
use crate::lookup::Place;

pub(super) fn offers(cursor: &EntryCursor<'_>) -> Vec<Refactoring> {
    let own = cursor.reach.place.rank();
    let places = cursor.places();
    let above = places.iter().rev().filter(|place| place.rank() < own);
    let below = places.iter().filter(|place| place.rank() > own);
    let up = nearest(cursor, above).and_then(|to| offer(cursor, &to, "up"));
    let down = nearest(cursor, below).and_then(|to| offer(cursor, &to, "down"));
    up.into_iter().chain(down).collect()
}

/// The nearest file that the hierarchy names; a file of a glob only if there is no other.
fn nearest<'a, 'p>(
    cursor: &EntryCursor<'a>,
    places: impl Iterator<Item = &'p Place>,
) -> Option<Sheet<'a>> {
    let (globs, named): (Vec<&Place>, Vec<&Place>) = places.partition(|place| place.by_glob);
    let mut places = named.into_iter().chain(globs);
    places.find_map(|place| cursor.always(place))
}

fn offer(cursor: &EntryCursor<'_>, to: &Sheet<'_>, way: &str) -> Option<Refactoring> {
    if to.file.facts().key(&cursor.key).is_some() {
        return None;
    }
    let mut plan = Plan::default();
    plan.add(cursor.at(), cursor.sheet.removal(cursor.whole()?));
    let path = to.file.path();
    plan.add(path, to.insertion(&cursor.key, &cursor.lines()?));
    Some(Refactoring {
        title: format!("Move '{}' {way} to {}", cursor.key, cursor.shown(path)),
        kind: RefactoringKind::Move,
        plan,
    })
}
