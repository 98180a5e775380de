//! Converts a hash into keys of its own, and back; only if no lookup uses them, so that only names change.

use std::sync::Arc;

use super::{EntryCursor, Refactoring, RefactoringKind};
use crate::edit::{Plan, flattened};
use crate::syntax::NodeKind;
use crate::text::{TextEdit, TextRange};

pub(super) fn offers(cursor: &EntryCursor<'_>) -> Vec<Refactoring> {
    if cursor.is_of_module() {
        return Vec::new();
    }
    flat(cursor).into_iter().chain(nested(cursor)).collect()
}

/// Whether a segment of a name loads as the same string as a key of a hash.
fn is_plain_name(name: &str) -> bool {
    let is_lower = |c: char| c.is_ascii_lowercase();
    name.starts_with(is_lower)
        && name
            .chars()
            .all(|c| is_lower(c) || c.is_ascii_digit() || c == '_')
        && !matches!(
            name,
            "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
        )
}

/// From `a: {b: 1}` to `a::b: 1`.
fn flat(cursor: &EntryCursor<'_>) -> Option<Refactoring> {
    let (tree, text) = (cursor.sheet.tree(), cursor.sheet.text());
    let snapshot = cursor.analysis().snapshot;
    let node = tree.node(cursor.entry.value);
    let NodeKind::Mapping(pairs) = &node.kind else {
        return None;
    };
    let is_block = !node.range.slice(text).starts_with('{') && !pairs.is_empty();
    let is_only = snapshot.count_with(&cursor.key) == 1;
    let is_whole =
        cursor.sheet.lines(cursor.entry).is_some() && cursor.sheet.is_plain(cursor.entry);
    if !is_block || !is_only || !is_whole || cursor.is_looked_up(&cursor.key) {
        return None;
    }
    let mut intended = vec![cursor.key.clone()];
    for (key, _) in pairs {
        let name = tree.scalar_text(*key).filter(|name| is_plain_name(name))?;
        let new = format!("{}::{name}", cursor.key);
        if tree.node(*key).range.slice(text) != &**name
            || !cursor.is_free(&new)
            || intended.iter().any(|known| **known == *new)
        {
            return None;
        }
        intended.push(Arc::from(new));
    }
    // There would be no place for a comment beside the hash's key.
    let behind = tree.node(cursor.entry.key).range.end as usize;
    let head = text[behind..].lines().next()?.strip_prefix(':')?;
    let edit = flattened(tree, text, cursor.entry.value).filter(|_| head.trim().is_empty())?;
    let mut plan = Plan::default();
    plan.add(cursor.at(), edit);
    plan.unseen_classes = cursor.unseen_classes(&intended);
    plan.intended = intended;
    let keys = match pairs.len() {
        1 => "a key".to_owned(),
        count => format!("{count} keys"),
    };
    Some(Refactoring {
        title: format!("Split the hash '{}' into {keys}", cursor.key),
        kind: RefactoringKind::Rewrite,
        plan,
    })
}

/// From `a::b: 1` and `a::c: 2` to `a: {b: 1, c: 2}`.
fn nested(cursor: &EntryCursor<'_>) -> Option<Refactoring> {
    let sheet = &cursor.sheet;
    let text = sheet.text();
    let snapshot = cursor.analysis().snapshot;
    let (prefix, _) = cursor.key.rsplit_once("::")?;
    let start = format!("{prefix}::");
    let group = sheet.names().filter_map(|(name, entry)| {
        let rest = name.strip_prefix(&*start)?;
        Some((name.clone(), rest.to_owned(), entry))
    });
    let group: Vec<(Arc<str>, String, _)> = group.collect();
    if group.len() < 2 || !cursor.is_free(prefix) {
        return None;
    }
    let mut new = sheet.style.with_ends(&format!("{prefix}:\n"));
    let mut ranges: Vec<TextRange> = Vec::new();
    for (name, rest, entry) in &group {
        let range = sheet.tree().node(entry.key).range;
        let is_plain = is_plain_name(rest)
            && range.slice(text) == &**name
            && sheet.is_plain(*entry)
            && snapshot.count_with(name) == 1
            && sheet.all(name).len() == 1
            && !cursor.is_looked_up(name);
        if !is_plain {
            return None;
        }
        let lines = sheet.with_comments(*entry)?;
        let own = sheet.lines(*entry)?;
        let comments = &text[lines.start as usize..own.start as usize];
        let own = own.slice(text).strip_prefix(&*start)?;
        for line in comments
            .split_inclusive('\n')
            .chain(own.split_inclusive('\n'))
        {
            let is_blank = line.trim().is_empty();
            new.push_str(if is_blank { "" } else { "  " });
            new.push_str(line);
        }
        if !new.ends_with('\n') {
            new.push_str(&sheet.style.with_ends("\n"));
        }
        ranges.push(lines);
    }
    let mut plan = Plan::default();
    // The first place gets the hash, and the others are removed.
    for range in ranges {
        let edit = TextEdit::replace(range, std::mem::take(&mut new));
        plan.add(cursor.at(), edit);
    }
    plan.intended = group.iter().map(|(name, _, _)| name.clone()).collect();
    plan.intended.push(Arc::from(prefix));
    plan.unseen_classes = cursor.unseen_classes(&plan.intended);
    Some(Refactoring {
        title: format!("Combine {} keys into the hash '{prefix}'", group.len()),
        kind: RefactoringKind::Rewrite,
        plan,
    })
}
