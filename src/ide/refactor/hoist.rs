//! Moves a key with the same value in all files of a level to the lower level that all nodes read,
//! with all comments.

use super::{Cursor, MOST_FILES, Refactoring, RefactoringKind, order};
use crate::ide::edit::Plan;
use crate::ide::edit::entry::Sheet;
use crate::text::TextEdit;
use crate::value::load_node;

pub(super) fn offer(cursor: &Cursor<'_>) -> Option<Refactoring> {
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
    let own_comments = cursor.sheet.comments_of(cursor.entry);
    // The distinct comments of the others.
    let mut more: Vec<String> = Vec::new();
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
            false => sheet.with_comments(entry)?,
        };
        for comment in sheet.comments_of(entry) {
            if !own_comments.contains(&comment) && !more.iter().any(|known| known == comment) {
                more.push(comment.to_owned());
            }
        }
        plan.add(file.path(), sheet.removal(lines));
    }
    let path = to.file.path();
    match to.entry(&cursor.key) {
        None if to.file.facts().key(&cursor.key).is_some() => return None,
        None => {
            let lines = above(&more) + &cursor.lines()?;
            plan.add(path, to.insertion(&cursor.key, &lines));
        }
        Some(entry) if load_node(to.tree(), entry.value).ok()? == value => {
            let known = to.comments_of(entry);
            let own = own_comments.iter().map(|comment| (*comment).to_owned());
            let all = own.chain(more);
            let new: Vec<String> = all.filter(|comment| !known.contains(&&**comment)).collect();
            if !new.is_empty() {
                let at = to.lines(entry)?.start as usize;
                let lines = to.style.with_ends(&above(&new));
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

fn above(comments: &[String]) -> String {
    comments
        .iter()
        .map(|comment| format!("{comment}\n"))
        .collect()
}
