//! Hovers on YAML's merge keys (`<<`), aliases and anchors.

use super::{Context, few};
use crate::page::yaml;
use crate::page::{Line, Page, Piece, Whole, code, joined, name, text};
use crate::syntax::{NodeId, NodeKind, Tree};
use crate::text::{TextRange, number_of};
use crate::value::{HashMap, Value, load_node};

/// Maximum number of places that are named.
const MAX_PLACES: usize = 8;

/// Maximum number of keys that are named in one line.
const MAX_KEYS: usize = 6;

pub(super) enum Joint {
    /// The merge key of a hash.
    Merge {
        hash: NodeId,
        key: NodeId,
        value: NodeId,
    },
    Alias(NodeId),
    /// The node with the anchor.
    Anchor(NodeId),
}

/// The merge key, alias or anchor at an offset; `nodes` lead from the root of the tree to it.
pub(super) fn find(tree: &Tree, nodes: &[NodeId], offset: usize) -> Option<(Joint, TextRange)> {
    let anchored = nodes.iter().find_map(|&id| {
        let range = tree.node(id).anchor.as_ref()?.range;
        range.touches(offset).then_some((Joint::Anchor(id), range))
    });
    if anchored.is_some() {
        return anchored;
    }
    let &inner = nodes.last()?;
    let node = tree.node(inner);
    match &node.kind {
        NodeKind::Alias { .. } => Some((Joint::Alias(inner), node.range)),
        NodeKind::Scalar(_) if node.is_merge_key() => {
            let hash = tree.parent(inner)?;
            let mut pairs = tree.node(hash).as_mapping()?.iter();
            let &(key, value) = pairs.find(|(key, _)| *key == inner)?;
            Some((Joint::Merge { hash, key, value }, node.full_range()))
        }
        NodeKind::Scalar(_) | NodeKind::Mapping(_) | NodeKind::Sequence(_) => None,
    }
}

/// The page of a merge key or an alias. `None` for an alias without an anchor, and for an anchor:
/// its key has a page.
pub(super) fn page(context: &Context<'_>, tree: &Tree, joint: &Joint) -> Option<Page> {
    match joint {
        Joint::Merge { hash, key, value } => merge(context, tree, *hash, (*key, *value)),
        Joint::Alias(alias) => of_alias(context, tree, *alias),
        Joint::Anchor(_) => None,
    }
}

/// The uses of an anchor; empty for others.
pub(super) fn uses(context: &Context<'_>, tree: &Tree, joint: &Joint) -> Line {
    let Joint::Anchor(anchored) = joint else {
        return Line::new();
    };
    let Some(anchor) = &tree.node(*anchored).anchor else {
        return Line::new();
    };
    let using = tree.nodes().filter(|(_, node)| {
        matches!(&node.kind, NodeKind::Alias { target, .. } if *target == Some(*anchored))
    });
    let using: Vec<NodeId> = using.map(|(id, _)| id).collect();
    let mut line = vec![code(format!("&{}", anchor.text))];
    line.push(text(match using.len() {
        0 => " is not used".to_owned(),
        1 => " is used once: ".to_owned(),
        count => format!(" is used {count} times: "),
    }));
    // The file is only named once.
    let places = using.iter().enumerate().map(|(at, id)| {
        let mut place = place(context, tree, *id);
        if let Piece::Place { label, line, .. } = &mut place
            && at > 0
        {
            *label = line.to_string();
        }
        vec![place]
    });
    line.extend(few(places, MAX_PLACES));
    line
}

fn of_alias(context: &Context<'_>, tree: &Tree, alias: NodeId) -> Option<Page> {
    let mut page = Page::default();
    let mut first = anchor_of(context, tree, alias)?;
    let NodeKind::Alias { name: anchor, .. } = &tree.node(alias).kind else {
        return None;
    };
    let mut line = vec![name(format!("*{anchor}")), text(" — the value of ")];
    line.append(&mut first);
    page.line(line);
    add_value(context, &mut page, &load_node(tree, alias).ok()?);
    Some(page)
}

/// The keys that a merge key adds, and those that the hash itself has.
fn merge(
    context: &Context<'_>,
    tree: &Tree,
    hash: NodeId,
    (key, value): (NodeId, NodeId),
) -> Option<Page> {
    let mut brought = merged(tree, value)?;
    let pairs = tree.node(hash).as_mapping()?;
    let at = pairs.iter().position(|(other, _)| *other == key)?;
    // As in Psych, later entries win.
    let replaced = own_keys(tree, &pairs[..at]);
    let replaced = replaced
        .into_iter()
        .filter(|(key, _)| brought.contains_key(key));
    let replaced: Vec<(Value, NodeId)> = replaced.collect();
    let own = own_keys(tree, &pairs[at + 1..]);
    let own = own.into_iter().filter(|(key, _)| brought.contains_key(key));
    let own: Vec<(Value, NodeId)> = own.collect();
    for (key, _) in &own {
        brought.shift_remove(key);
    }
    let sources: Vec<Line> = match &tree.node(value).kind {
        NodeKind::Sequence(elements) => {
            let elements = elements.iter();
            elements
                .filter_map(|element| anchor_of(context, tree, *element))
                .collect()
        }
        NodeKind::Alias { .. } | NodeKind::Mapping(_) | NodeKind::Scalar(_) => {
            anchor_of(context, tree, value).into_iter().collect()
        }
    };
    let mut page = Page::default();
    let keys = match brought.len() {
        0 => "no key".to_owned(),
        count => number_of(count, "key"),
    };
    let mut first = vec![name("<<"), text(format!(" — adds {keys}"))];
    if !sources.is_empty() {
        first.push(text(" of "));
        first.extend(joined(sources, ", "));
    }
    page.line(first);
    if !brought.is_empty() {
        add_value(context, &mut page, &Value::from(brought));
    }
    page.line(keys_line(context, tree, "overridden here: ", &own));
    page.line(keys_line(
        context,
        tree,
        "overrides, since it comes later: ",
        &replaced,
    ));
    Some(page)
}

/// The entries that a merge key adds; `None` if Psych reads it as an ordinary key.
fn merged(tree: &Tree, value: NodeId) -> Option<HashMap> {
    let loaded = load_node(tree, value).ok()?;
    if let Some(hash) = loaded.as_hash() {
        return Some(hash.clone());
    }
    tree.node(value).as_sequence()?;
    let mut all = HashMap::default();
    // The first one wins.
    for element in loaded.as_array()? {
        for (key, value) in element.as_hash()?.iter() {
            if !all.contains_key(key) {
                all.insert(key.clone(), value.clone());
            }
        }
    }
    Some(all)
}

/// The keys of some entries of a hash, including those of other merge keys, with the nodes of the keys.
fn own_keys(tree: &Tree, pairs: &[(NodeId, NodeId)]) -> Vec<(Value, NodeId)> {
    let mut found = Vec::new();
    for &(key, value) in pairs {
        if tree.node(key).is_merge_key()
            && let Some(brought) = merged(tree, value)
        {
            found.extend(brought.keys().map(|brought| (brought.clone(), key)));
        } else if let Ok(own) = load_node(tree, key) {
            found.push((own, key));
        }
    }
    found
}

fn keys_line(context: &Context<'_>, tree: &Tree, words: &str, keys: &[(Value, NodeId)]) -> Line {
    if keys.is_empty() {
        return Line::new();
    }
    let named = keys.iter().map(|(key, id)| {
        vec![
            code(yaml::inline(key, super::key::CELL)),
            text(" in "),
            place(context, tree, *id),
        ]
    });
    let mut line = vec![text(words)];
    line.extend(few(named, MAX_KEYS));
    line
}

/// The anchor of an alias, with a link.
fn anchor_of(context: &Context<'_>, tree: &Tree, alias: NodeId) -> Option<Line> {
    let NodeKind::Alias { name, target } = &tree.node(alias).kind else {
        return None;
    };
    Some(vec![
        code(format!("&{name}")),
        text(" in "),
        place(context, tree, (*target)?),
    ])
}

/// Links to a node of the file.
fn place(context: &Context<'_>, tree: &Tree, id: NodeId) -> Piece {
    let start = tree.node(id).full_range().start as usize;
    context.link(context.path(), context.file.line(start) + 1)
}

fn add_value(context: &Context<'_>, page: &mut Page, value: &Value) {
    let shown = yaml::lines(value, &Default::default(), context.shows_whole());
    let whole = Whole {
        link: None,
        words: vec!["see the file".to_owned()],
        is_shortened: shown.is_shortened,
    };
    page.value(shown.lines, whole);
}
