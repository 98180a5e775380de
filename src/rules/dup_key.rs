//! `dup-key`: a key is set twice in one hash, so that the first value is lost.

use std::collections::HashMap;

use foldhash::quality::RandomState;

use super::{FileContext, Findings, Related};
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{ScalarStyle, TreeNode};
use crate::workspace::Format;

rule!("dup-key", Warning, [Node(check)]);

fn check(file: &FileContext<'_>, node: &TreeNode, findings: &mut Findings<'_>) {
    let Some(pairs) = node.as_mapping() else {
        return;
    };
    // HOCON merges or concatenates repeated values.
    if pairs.len() < 2 || file.format() == Format::Hocon {
        return;
    }
    let tree = file.tree();
    let mut seen: HashMap<&str, &TreeNode, RandomState> = HashMap::default();
    seen.reserve(pairs.len());
    for &(key, _) in pairs {
        let key = tree.node(key);
        let Some(scalar) = key.as_scalar() else {
            continue;
        };
        let Some(before) = seen.insert(&scalar.text, key) else {
            continue;
        };
        // Equal texts are rare: only their types are compared.
        let name = match (string(before), string(key)) {
            (Some(_), Some(name)) => name,
            (None, None) if is_bare(before) && is_bare(key) => &*scalar.text,
            (Some(_), None) => {
                seen.insert(&scalar.text, before);
                continue;
            }
            (None, _) => continue,
        };
        let first = before.range;
        let message = format!(
            "'{name}' is set twice in one hash: the last value counts, the others are lost"
        );
        findings.report(key.range, message).related = vec![Related {
            path: file.file.path().clone(),
            range: first,
            message: "lost".to_owned(),
        }];
    }
}

/// Whether a key is a plain scalar without a tag, and not a merge key.
fn is_bare(key: &TreeNode) -> bool {
    let plain = |style| matches!(style, ScalarStyle::Plain);
    let is_plain = |scalar: &crate::syntax::Scalar| plain(scalar.style) && &*scalar.text != "<<";
    key.tag.is_none() && key.as_scalar().is_some_and(is_plain)
}

/// The text of a key that is a string; `None` for merge keys, which may be repeated.
fn string(key: &TreeNode) -> Option<&str> {
    let scalar = key.as_scalar()?;
    let text = &*scalar.text;
    if text == "<<" || key.tag.is_some() {
        return None;
    }
    match scalar.style {
        ScalarStyle::Plain if matches!(resolve_plain(text), Resolved::String) => Some(text),
        ScalarStyle::Plain | ScalarStyle::JsonLiteral => None,
        ScalarStyle::SingleQuoted
        | ScalarStyle::DoubleQuoted
        | ScalarStyle::Literal
        | ScalarStyle::Folded
        | ScalarStyle::JsonString => Some(text),
    }
}
