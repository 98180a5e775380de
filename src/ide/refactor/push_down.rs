//! Moves a key into the files of the nearest level above that is not the same for all nodes.

use super::{Cursor, Kind, MOST_FILES, Offer, order};
use crate::ide::edit::Plan;
use crate::ide::edit::entry::Sheet;

pub(super) fn offer(cursor: &Cursor<'_>) -> Option<Offer> {
    let own = order(&cursor.reach.place);
    let places = cursor.places();
    let mut above = places.iter().rev().filter(|place| order(place) < own);
    let (place, files) = above.find_map(|place| {
        let mut files = cursor.files_of(place);
        files.retain(|file| cursor.is_read_with(place, file.path()));
        (!files.is_empty()).then_some((place, files))
    })?;
    if files.len() > MOST_FILES || files.iter().any(|file| file.path() == cursor.at()) {
        return None;
    }
    let mut plan = Plan::default();
    plan.add(cursor.at(), cursor.sheet.removal(cursor.whole()?));
    for file in &files {
        let sheet = Sheet::of(cursor.analysis().snapshot, file.path()).ok()?;
        // A value there counts already.
        if file.facts().key(&cursor.key).is_none() {
            plan.add(file.path(), sheet.insertion(&cursor.key, &cursor.lines()?));
        }
    }
    let mut into = plan.paths().filter(|path| *path != cursor.at());
    let to = match (into.next()?, into.count()) {
        (only, 0) => cursor.shown(only).to_owned(),
        (_, more) => format!("{} files of '{}'", more + 1, place.level),
    };
    Some(Offer {
        title: format!("Move '{}' into {to}", cursor.key),
        kind: Kind::Move,
        plan,
    })
}
