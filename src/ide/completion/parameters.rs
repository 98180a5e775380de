//! Class parameters: those that a file does not set yet, and the values that their types allow.

use std::sync::Arc;

use super::cursor::{Cursor, Step};
use super::keys::key_item;
use super::{Item, ItemKind, MOST_ITEMS, Question, fit};
use crate::analysis::ClassParameter;
use crate::ide::code_names::is_class;
use crate::ide::hover::Described;

/// Aliases of types that are followed, one through another.
const MOST_ALIASES: usize = 8;

/// Widest type or default beside a name, in characters.
const WIDEST: usize = 60;

/// Parameters of classes as keys, those that must be given first.
pub(super) fn items(
    question: &Question<'_>,
    cursor: &Cursor,
    is_here: &dyn Fn(&str) -> bool,
) -> Vec<Item> {
    let typed = &cursor.typed;
    // Classes whose name starts with what is typed, and the one that is typed already.
    let around = typed.rsplit_once("::").map(|(class, _)| class);
    let snapshot = question.analysis.snapshot;
    let names = snapshot.defined_names(typed).chain(
        around
            .into_iter()
            .flat_map(|class| snapshot.defined_names(class)),
    );
    let mut found: Vec<(bool, Item)> = Vec::new();
    let mut seen: Vec<&Arc<str>> = Vec::new();
    for name in names {
        if found.len() > MOST_ITEMS || (question.analysis.is_cancelled)() {
            break;
        }
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let root = snapshot.root_of(question.file.path());
        let Some(class) = question.analysis.class(root, name) else {
            continue;
        };
        for parameter in &class.definition.parameters {
            let key = format!("{name}::{}", parameter.name);
            if is_here(&key) || fit(&key, typed).is_none() {
                continue;
            }
            let one = ClassParameter { class, parameter };
            let item = Item {
                detail: Some(said(one)),
                documentation: parameter.documentation.as_deref().map(str::to_owned),
                about: Some(Described::Key(Arc::from(key.as_str()))),
                ..key_item(question, cursor, &key)
            };
            found.push((parameter.default.is_some(), item));
        }
    }
    found.sort_by_key(|(has_default, _)| *has_default);
    found.into_iter().map(|(_, item)| item).collect()
}

/// "Integer[1] = 80"
fn said(parameter: ClassParameter<'_>) -> String {
    let expected = parameter.expected().unwrap_or("Any");
    let said = match parameter.default() {
        Some(default) => format!("{expected} = {default}"),
        None => format!("{expected}, must be given"),
    };
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(WIDEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// The values that the type of a parameter names: of an enumeration, and truth values.
pub(super) fn values(question: &Question<'_>, key: &str, steps: &[Step]) -> Vec<Item> {
    let root = question.analysis.snapshot.root_of(question.file.path());
    let Some(parameter) = question.analysis.class_parameter(root, key) else {
        return Vec::new();
    };
    // Below the top only the elements of a list have a type that is that simple.
    if !steps.iter().all(|step| *step == Step::Element) {
        return Vec::new();
    }
    let mut words = Vec::new();
    let mut names = vec![parameter.expected().unwrap_or_default().to_owned()];
    for _ in 0..MOST_ALIASES {
        let Some(expected) = names.pop() else {
            break;
        };
        words.extend(named_values(&expected));
        names.extend(aliased(question, &expected));
    }
    let items = words.into_iter().map(|word| Item {
        detail: Some("by its type".to_owned()),
        ..Item::new(word, ItemKind::Value)
    });
    items.collect()
}

/// The words that a type as it is written names as values.
fn named_values(expected: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in expected.match_indices("Enum[") {
        let rest = &expected[at + "Enum[".len()..];
        let inner = &rest[..rest.find(']').unwrap_or(rest.len())];
        let words = inner
            .split(',')
            .map(|word| word.trim().trim_matches(['"', '\'']));
        found.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
    }
    let mut words = expected.split(|c: char| !c.is_alphanumeric());
    if words.any(|word| word == "Boolean") {
        found.extend(["true", "false"].map(str::to_owned));
    }
    found
}

/// The types that the aliases in a type stand for.
fn aliased(question: &Question<'_>, expected: &str) -> Vec<String> {
    let names = expected.split(|c: char| !c.is_alphanumeric() && c != ':' && c != '_');
    let aliases = names.filter(|name| name.contains("::")).flat_map(|name| {
        let lower = name.to_lowercase();
        let files = question.analysis.snapshot.files_defining(&lower);
        let found = files.filter_map(|file| {
            let code = file.facts().code.as_deref()?;
            let alias = code.aliases.iter().find(|alias| &*alias.name == name)?;
            Some(alias.expected.slice(file.text()).to_owned())
        });
        found.collect::<Vec<_>>()
    });
    aliases.collect()
}

/// Names of classes, for lists of them.
pub(super) fn classes(question: &Question<'_>, typed: &str) -> Vec<Item> {
    let snapshot = question.analysis.snapshot;
    let names = snapshot.defined_names(typed.trim_start_matches("::"));
    let is_class = |name: &&Arc<str>| is_class(snapshot, name);
    let names = names.filter(is_class).take(MOST_ITEMS);
    let items = names.map(|name| Item {
        detail: Some("class".to_owned()),
        ..Item::new(&**name, ItemKind::Value)
    });
    items.collect()
}
