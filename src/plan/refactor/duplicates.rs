//! Removes duplicate entries of a key in a hash, the whole file's or one in a value; the last one
//! is effective.

use super::{EntryCursor, Refactoring, RefactoringKind};
use crate::edit::entry::with_comments;
use crate::edit::{Plan, entry_range, own_lines};
use crate::syntax::{NodeId, NodeKind};
use crate::text::{TextEdit, TextRange};

pub(super) fn offer(cursor: &EntryCursor<'_>) -> Option<Refactoring> {
    nested(cursor).or_else(|| top_level(cursor))
}

fn top_level(cursor: &EntryCursor<'_>) -> Option<Refactoring> {
    let sheet = &cursor.sheet;
    let all = sheet.all(&cursor.key);
    let (_, earlier) = all.split_last()?;
    let mut plan = Plan::default();
    for entry in earlier {
        // An anchor in it may be used below.
        let lines = sheet.lines(*entry).filter(|_| sheet.is_plain(*entry))?;
        plan.add(cursor.at(), sheet.removal(lines));
    }
    offered(plan, all.len(), &cursor.key)
}

/// The same for the innermost hash in the value in which the key at the cursor is duplicate.
fn nested(cursor: &EntryCursor<'_>) -> Option<Refactoring> {
    let tree = cursor.sheet.tree();
    let nodes = tree.path_at(cursor.offset);
    let mut names = vec![crate::analysis::quoted(&cursor.key)];
    let mut found: Option<(String, Vec<(NodeId, NodeId)>)> = None;
    for pair in nodes.windows(2).skip(1) {
        let NodeKind::Mapping(pairs) = &tree.node(pair[0]).kind else {
            continue;
        };
        let is_inner = |&&(key, value): &&(NodeId, NodeId)| pair[1] == key || pair[1] == value;
        let (key, _) = pairs.iter().find(is_inner)?;
        let name = tree.scalar_text(*key)?;
        names.push(crate::analysis::quoted(name));
        let same = pairs.iter().filter(|(key, _)| {
            let is_plain = !tree.node(*key).is_merge_key();
            is_plain && tree.scalar_text(*key) == Some(name)
        });
        let same: Vec<(NodeId, NodeId)> = same.copied().collect();
        if same.len() > 1 {
            found = Some((names.join("."), same));
        }
    }
    let (name, all) = found?;
    let mut plan = Plan::default();
    let [(first, value), ref middle @ .., (last, last_value)] = all[..] else {
        return None;
    };
    // The first entry determines the key's position in the hash.
    let text = cursor.sheet.text();
    let kept = lines(cursor, last, last_value)?;
    let kept = with_comments(text, kept).unwrap_or(kept);
    let mut moved = kept.slice(text).to_owned();
    if !moved.ends_with('\n') {
        moved.push_str(&cursor.sheet.style.with_ends("\n"));
    }
    let at = cursor.at();
    plan.add(at, TextEdit::replace(lines(cursor, first, value)?, moved));
    for &(key, value) in middle {
        plan.add(at, TextEdit::delete(lines(cursor, key, value)?));
    }
    plan.add(at, TextEdit::delete(kept));
    offered(plan, all.len(), &name)
}

/// The whole lines of an entry; `None` if the lines contain anything else, or the entry has an anchor.
fn lines(cursor: &EntryCursor<'_>, key: NodeId, value: NodeId) -> Option<TextRange> {
    let tree = cursor.sheet.tree();
    let range = entry_range(tree, (key, value));
    own_lines(cursor.sheet.text(), range).filter(|_| tree.stands_alone(range))
}

fn offered(plan: Plan, count: usize, name: &str) -> Option<Refactoring> {
    (!plan.is_empty()).then(|| Refactoring {
        title: format!("Keep only the last of {count} entries of '{name}'"),
        kind: RefactoringKind::Rewrite,
        plan,
    })
}
