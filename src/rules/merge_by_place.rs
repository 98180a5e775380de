//! `merge-by-place`: `merge_hash_arrays` merges two hashes of lists that have other names.

use std::sync::Arc;

use super::knockout::{nodes_of, only_reader, path_to};
use super::{FileContext, Findings, Related};
use crate::analysis::{KeyAnswer, LevelValue, ScopeView, option_fact};
use crate::syntax::NodeKind;
use crate::text::few;
use crate::value::{HashMap, StrKey, Value};
use crate::workspace::KeyFact;

rule!("merge-by-place", Warning, [Key(check)], WORKSPACE);

/// Keys whose values name a hash in a list.
const NAMES: [&str; 8] = [
    "name", "id", "title", "user", "username", "login", "host", "hostname",
];

/// Maximum number of keys that are named in a message.
const MAX_NAMED: usize = 3;

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let text = key.value.slice(file.file.text());
    if !NAMES.iter().any(|name| text.contains(name)) {
        return;
    }
    let reader = only_reader(file, key).filter(|reader| !reader.reached().is_empty());
    let Some(reader) = reader else {
        return;
    };
    let ask =
        |scoped: &mut ScopeView<'_>| (scoped.options_of(&key.name), scoped.key_answer(&key.name));
    let (options, found) = file.in_first_scope(reader, ask);
    let Some(options) = options.filter(|options| merges_hashes(&options.entry.value)) else {
        return;
    };
    let is_own = |source: &LevelValue| source.path.as_deref() == Some(&**file.file.path());
    let Some(own) = found.sources.iter().position(is_own) else {
        return;
    };
    let place = options.place.as_ref().and_then(|(path, _)| {
        let fact = option_fact(file.snapshot().file(path)?, &options.entry.name)?;
        Some(Related {
            path: Arc::clone(path),
            range: fact.key,
            message: "this sets 'merge_hash_arrays'".to_owned(),
        })
    });
    let tree = file.tree();
    for (node, list) in nodes_of(tree, key) {
        let NodeKind::Sequence(elements) = &list.kind else {
            continue;
        };
        let Some(path) = path_to(tree, node, key) else {
            continue;
        };
        for (at, element) in elements.iter().enumerate() {
            if let Some(message) = mixed(&found, own, (&path, at)) {
                let range = tree.node(tree.resolve(*element)).range;
                let finding = findings.report(range, message);
                finding.related.extend(place.clone());
            }
        }
    }
}

/// Whether an entry of `lookup_options` merges hashes of lists.
fn merges_hashes(entry: &Value) -> bool {
    let merge = entry.get("merge");
    merge.and_then(|merge| merge.get("merge_hash_arrays")) == Some(&Value::Bool(true))
}

/// What is wrong with an element of a list: a lower level has another one in its place, which is gone.
fn mixed(found: &KeyAnswer, own: usize, (path, at): (&[Arc<str>], usize)) -> Option<String> {
    let list = |value: &Value| -> Option<Vec<Arc<HashMap>>> {
        let mut names = path.iter();
        let part = names.try_fold(value.clone(), |value, name| value.get(name).cloned())?;
        let hashes = part.as_array()?.iter().map(|element| {
            if let Value::Hash(hash) = element {
                Some(Arc::clone(hash))
            } else {
                None
            }
        });
        hashes.collect()
    };
    let (above, below) = found.sources.split_at_checked(own + 1)?;
    let [.., own] = above else {
        return None;
    };
    let element = list(&own.value)?.get(at)?.clone();
    let mut lower = below.iter();
    let other = lower.find_map(|source| list(&source.value)?.get(at).cloned())?;
    let name_of = |hash: &HashMap, name: &str| {
        let name = hash.get(&StrKey(name))?;
        matches!(name, Value::String(_) | Value::Int(_)).then(|| name.to_s())
    };
    let mut names = NAMES.iter();
    let (by, one, gone) = names.find_map(|by| {
        let pair = (name_of(&element, by)?, name_of(&other, by)?);
        (pair.0 != pair.1).then_some((by, pair.0, pair.1))
    })?;
    let result = list(found.answer.result.as_ref().ok()?)?;
    let is_here = name_of(result.get(at)?, by)? == one;
    if !is_here
        || result
            .iter()
            .any(|it| name_of(it, by).as_deref() == Some(&gone))
    {
        return None;
    }
    let keys = other.keys().filter_map(Value::as_str);
    let keys = keys.filter(|key| element.get(&StrKey(key)).is_none());
    let keys: Vec<String> = keys.map(|key| format!("'{key}'")).collect();
    let gets = if keys.is_empty() {
        String::new()
    } else {
        format!("'{one}' gets {} of '{gone}', and ", few(&keys, MAX_NAMED))
    };
    Some(format!(
        "'merge_hash_arrays' goes by place: {gets}'{gone}' of a lower level is gone"
    ))
}
