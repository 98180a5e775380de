//! Moves a key to the nearest file above or below that all readers of this one read.

use super::{Cursor, Kind, Offer, order};
use crate::ide::edit::Plan;
use crate::ide::edit::entry::Sheet;

pub(super) fn offers(cursor: &Cursor<'_>) -> Vec<Offer> {
    let own = order(&cursor.reach.place);
    let places = cursor.places();
    let above = places.iter().rev().filter(|place| order(place) < own);
    let below = places.iter().filter(|place| order(place) > own);
    let above = above.filter_map(|place| cursor.always(place)).next();
    let below = below.filter_map(|place| cursor.always(place)).next();
    let up = above.and_then(|to| offer(cursor, &to, "up"));
    let down = below.and_then(|to| offer(cursor, &to, "down"));
    up.into_iter().chain(down).collect()
}

fn offer(cursor: &Cursor<'_>, to: &Sheet<'_>, way: &str) -> Option<Offer> {
    if to.file.facts().key(&cursor.key).is_some() {
        return None;
    }
    let mut plan = Plan::default();
    plan.add(cursor.at(), cursor.sheet.removal(cursor.whole()?));
    let path = to.file.path();
    plan.add(path, to.insertion(&cursor.key, &cursor.lines()?));
    Some(Offer {
        title: format!("Move '{}' {way} to {}", cursor.key, cursor.shown(path)),
        kind: Kind::Move,
        plan,
    })
}
