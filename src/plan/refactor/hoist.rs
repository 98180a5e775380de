//! Moves a key with the same value in all files of a level to the lower level that all nodes read,
//! with all comments.

use indexmap::IndexSet;

use super::{EntryCursor, MAX_FILES, Refactoring, RefactoringKind};
use crate::edit::Plan;
use crate::edit::entry::Sheet;
use crate::text::TextEdit;
use crate::value::load_node;

pub(super) fn offer(cursor: &EntryCursor<'_>) -> Option<Refactoring> {
    let own = &cursor.reach.place;
    let files = cursor.files_of(own);
    if files.len() < 2 || files.len() > MAX_FILES {
        return None;
    }
    let value = load_node(cursor.sheet.tree(), cursor.entry.value).ok()?;
    let places = cursor.places();
    let mut below = places
        .iter()
        .filter(|place| place.rank() > own.rank() && place.template.is_constant());
    let to = below.find_map(|place| cursor.always(place))?;
    let own_comments = cursor.sheet.comments_of(cursor.entry);
    // The distinct comments of the others.
    let mut more: IndexSet<&str> = IndexSet::new();
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
        let lines = if file.path() == cursor.at() {
            cursor.whole()?
        } else {
            sheet.with_comments(entry)?
        };
        more.extend(sheet.comments_of(entry));
        plan.add(file.path(), sheet.removal(lines));
    }
    more.retain(|comment| !own_comments.contains(comment));
    let path = to.file.path();
    match to.entry(&cursor.key) {
        None if to.file.facts().key(&cursor.key).is_some() => return None,
        None => {
            let lines = above(more) + &cursor.lines()?;
            plan.add(path, to.insertion(&cursor.key, &lines));
        }
        Some(entry) if load_node(to.tree(), entry.value).ok()? == value => {
            let known = to.comments_of(entry);
            let all = own_comments.into_iter().chain(more);
            let new = above(all.filter(|comment| !known.contains(comment)));
            if !new.is_empty() {
                let at = to.lines(entry)?.start as usize;
                let lines = to.style.with_ends(&new);
                plan.add(path, TextEdit::insert(at, lines));
            }
        }
        Some(_) => return None,
    }
    Some(Refactoring {
        title: format!(
            "Move '{}' from all {} files of '{}' to {}",
            cursor.key,
            files.len(),
            own.level,
            cursor.shown(path)
        ),
        kind: RefactoringKind::Move,
        plan,
    })
}

fn above<'c>(comments: impl IntoIterator<Item = &'c str>) -> String {
    let comments = comments.into_iter();
    comments.map(|comment| format!("{comment}\n")).collect()
}
