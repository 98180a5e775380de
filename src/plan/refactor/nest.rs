//! Converts a hash into keys of its own, and back; only if no lookup uses them, so that only names change.

use std::sync::Arc;

use super::{EntryCursor, Refactoring, RefactoringKind};
use crate::edit::{Plan, column};
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
    if !is_block || !is_only || cursor.is_looked_up(&cursor.key) {
        return None;
    }
    let lines = cursor.sheet.lines(cursor.entry);
    let lines = lines.filter(|_| cursor.sheet.is_plain(cursor.entry))?;
    let mut intended = vec![cursor.key.clone()];
    let column = column(text, node.range.start as usize);
    let mut starts = Vec::new();
    for (key, _) in pairs {
        let name = tree.scalar_text(*key).filter(|name| is_plain_name(name))?;
        let range = tree.node(*key).range;
        let new = format!("{}::{name}", cursor.key);
        if range.slice(text) != &**name
            || !cursor.is_free(&new)
            || intended.iter().any(|known| **known == *new)
        {
            return None;
        }
        starts.push(range.start as usize);
        intended.push(Arc::from(new));
    }
    // There would be no place for a comment beside the hash's key.
    let behind = tree.node(cursor.entry.key).range.end as usize;
    let start = text[behind..].find('\n').map(|at| behind + at + 1)?;
    let head = text[behind..start].strip_prefix(':')?;
    if !head.trim().is_empty() {
        return None;
    }
    let mut new = String::new();
    let mut at = start;
    for line in text[start..lines.end as usize].split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let kept = &line[indent.min(column)..];
        if starts.contains(&(at + column)) {
            new.push_str(&format!("{}::", cursor.key));
        }
        new.push_str(kept);
        at += line.len();
    }
    let mut plan = Plan::default();
    plan.add(cursor.at(), TextEdit::replace(lines, new));
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
