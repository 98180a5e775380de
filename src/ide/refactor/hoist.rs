//! Moves a key that all files of a level set alike to the level below that all nodes read.

use super::{Cursor, Kind, MOST_FILES, Offer, order};
use crate::ide::edit::Plan;
use crate::ide::edit::entry::Sheet;
use crate::value::load_node;

pub(super) fn offer(cursor: &Cursor<'_>) -> Option<Offer> {
    let own = &cursor.reach.place;
    let files = cursor.files_of(own);
    if files.len() < 2 || files.len() > MOST_FILES {
        return None;
    }
    let value = load_node(cursor.sheet.tree(), cursor.entry.value).ok()?;
    let places = cursor.places();
    let mut below = places
        .iter()
        .filter(|place| order(place) > order(own) && place.template.is_constant());
    let to = below.find_map(|place| cursor.always(place))?;
    let mut plan = Plan::default();
    for file in &files {
        let sheet = Sheet::of(cursor.analysis().snapshot, file.path()).ok()?;
        let [entry] = sheet.all(&cursor.key)[..] else {
            return None;
        };
        let same = load_node(sheet.tree(), entry.value).ok()? == value;
        if !same || !sheet.is_plain(entry) {
            return None;
        }
        let lines = match file.path() == cursor.at() {
            true => cursor.whole()?,
            // Comments of the others are not of the entry that stays.
            false => sheet.lines(entry)?,
        };
        plan.add(file.path(), sheet.removal(lines));
    }
    let path = to.file.path();
    match to.entry(&cursor.key) {
        None if to.file.facts().key(&cursor.key).is_some() => return None,
        None => plan.add(path, to.insertion(&cursor.key, &cursor.lines()?)),
        Some(entry) if load_node(to.tree(), entry.value).ok()? == value => {}
        Some(_) => return None,
    }
    Some(Offer {
        title: format!(
            "Move '{}' from all {} files of '{}' to {}",
            cursor.key,
            files.len(),
            own.level,
            cursor.shown(path)
        ),
        kind: Kind::Move,
        plan,
    })
}
