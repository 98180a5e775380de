//! `knockout-empties-text`: a deep merge takes a text for a knock-out.

use std::sync::Arc;

use super::knockout::{may_hold_prefix, nodes_of, only_reader, path_to};
use super::option_list::knockout_prefix;
use super::{FileContext, Findings, Related};
use crate::analysis::{KeyAnswer, ScopeView, option_fact};
use crate::interpolation::has_tokens;
use crate::syntax::{NodeId, NodeKind};
use crate::value::Value;
use crate::workspace::KeyFact;

rule!("knockout-empties-text", Warning, [Key(check)], WORKSPACE);

/// A text that Puppet may take for a knock-out.
struct MistakenText {
    node: NodeId,
    /// The keys of the hashes around it, or around its list.
    path: Vec<Arc<str>>,
    is_element: bool,
}

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    if !may_hold_prefix(file, key, |prefix| !texts(file, key, prefix).is_empty()) {
        return;
    }
    let reader = only_reader(file, key).filter(|reader| !reader.reached().is_empty());
    let Some(reader) = reader else {
        return;
    };
    let ask =
        |scoped: &mut ScopeView<'_>| (scoped.key_answer(&key.name), scoped.options_of(&key.name));
    let (found, options) = file.in_first_scope(reader, ask);
    let prefix = options.as_ref();
    let Some(prefix) = prefix.and_then(|options| knockout_prefix(&options.entry.value)) else {
        return;
    };
    let place = options.as_ref().and_then(|options| {
        let (path, _) = options.place.as_ref()?;
        let fact = option_fact(file.snapshot().file(path)?, &options.entry.name)?;
        Some(Related {
            path: Arc::clone(path),
            range: fact.key,
            message: "this sets the prefix".to_owned(),
        })
    });
    for text in texts(file, key, prefix) {
        if !is_lost(file, &found, &text) {
            continue;
        }
        let effect = if text.is_element {
            "this element is removed"
        } else {
            "the value becomes an empty text"
        };
        let message =
            format!("a line starts with the 'knockout_prefix' '{prefix}', so that {effect}");
        let range = file.tree().node(text.node).range;
        findings
            .report(range, message)
            .related
            .extend(place.clone());
    }
}

/// The texts in a key's value of which a line starts with a prefix, and that are no knock-outs: the value itself, values of
/// hashes, and elements of lists.
fn texts(file: &FileContext<'_>, key: &KeyFact, prefix: &str) -> Vec<MistakenText> {
    let tree = file.tree();
    let mut found = Vec::new();
    let mut add = |node: NodeId, list: Option<NodeId>| {
        let text = tree.scalar_text(node);
        if text.is_some_and(|text| is_mistaken(text, prefix, list.is_some()))
            && let Some(path) = path_to(tree, list.unwrap_or(node), key)
        {
            found.push(MistakenText {
                node,
                path,
                is_element: list.is_some(),
            });
        }
    };
    for (at, node) in nodes_of(tree, key) {
        match &node.kind {
            NodeKind::Sequence(elements) => elements.iter().for_each(|id| add(*id, Some(at))),
            NodeKind::Mapping(pairs) => pairs.iter().for_each(|(_, id)| add(*id, None)),
            NodeKind::Scalar(_) if node.full_range() == key.value => add(at, None),
            NodeKind::Scalar(_) | NodeKind::Alias { .. } => {}
        }
    }
    found
}

/// Whether a text has the prefix at the start of a line, and can mean no knock-out: it has several lines or, as a value,
/// looks like options of a command.
fn is_mistaken(text: &str, prefix: &str, is_element: bool) -> bool {
    let is_command = || {
        let rest = text.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.trim_end().contains([' ', '=']))
    };
    if text.contains('\n') {
        text.lines().any(|line| line.starts_with(prefix))
    } else {
        !is_element && is_command()
    }
}

/// Whether nodes that read the file get the key's value without a text, and no higher level replaces it.
fn is_lost(file: &FileContext<'_>, found: &KeyAnswer, text: &MistakenText) -> bool {
    let is_own = |path: Option<&str>| path == Some(&**file.file.path());
    let mut sources = found.sources.iter();
    let Some(own) = sources.position(|source| is_own(source.path.as_deref())) else {
        return false;
    };
    let part = |value: &Value| {
        let mut names = text.path.iter();
        names.try_fold(value.clone(), |value, name| value.get(name).cloned())
    };
    let written = file.tree().scalar_text(text.node);
    let result = found.answer.result.as_ref().ok().and_then(part);
    let (Some(result), Some(written)) = (result, written) else {
        return false;
    };
    let above = found.sources[..own].iter();
    let mut above = above.filter_map(|source| part(&source.value));
    if text.is_element {
        let holds = |value: &Value| value.as_str() == Some(written);
        let is_kept = |list: &[Value]| list.iter().any(holds);
        let is_merged = above.all(|part| part.as_array().is_some());
        let is_gone = result.as_array().is_some_and(|list| !is_kept(list));
        return is_merged && is_gone && !has_tokens(written);
    }
    result.as_str() == Some("") && above.next().is_none()
}
